//! The supervisor that ends a task's tree should its keeper be killed, and its restarts.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::ending::Tree;
use crate::link::{About, Helper, Link, Tier, own_file};
use crate::process::Identity;
use crate::tasks::record::length;
use crate::tasks::state::Who;

/// How long a supervisor may take to hear that it is not needed any more.
const PATIENCE: Duration = Duration::from_secs(2);
/// A supervisor is started again so often within this time; then a pause of this length follows.
const RESTARTS: usize = 5;
const WITHIN: Duration = Duration::from_secs(10);

/// The supervisor that ends the tree should this process be killed, and its restarts.
pub(super) struct Guard {
    helper: Option<Helper>,
    token: String,
    grace: Duration,
    owner: Who,
    /// Whom the task belongs to: the supervisor continues a keeper that was stopped and so does not see
    /// the end of that one.
    above: Option<Who>,
    link: Option<Link>,
    starts: VecDeque<Instant>,
    /// When another is to be started.
    pub(super) retry: Option<Instant>,
}

impl Guard {
    pub(super) fn new(token: &str, grace: f64, above: Option<Who>) -> Self {
        let helper = own_file().ok().map(|path| Helper {
            tier: Tier::Native,
            path,
        });
        Self {
            helper,
            token: token.to_owned(),
            grace: length(grace),
            owner: Who::own(),
            above,
            link: None,
            starts: VecDeque::new(),
            retry: None,
        }
    }

    /// Starts a supervisor that knows the tree; a failure is tried again later.
    pub(super) fn start(&mut self, tree: &Tree, notifier: Option<Identity>) {
        self.retry = None;
        self.link = None;
        while self
            .starts
            .front()
            .is_some_and(|first| first.elapsed() > WITHIN)
        {
            self.starts.pop_front();
        }
        if self.starts.len() >= RESTARTS {
            self.retry = Some(Instant::now() + WITHIN);
            return;
        }
        self.starts.push_back(Instant::now());
        let Some(helper) = &self.helper else { return };
        let main = tree.main();
        let mut lines = format!("+ {} {}\n", main.pid, main.start);
        if let Some(above) = self.above {
            lines.push_str(&above_line(above));
        }
        if let Some(leader) = notifier {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "+ {} {}", leader.pid, leader.start);
        }
        let about = About {
            helper,
            control_group: None,
            token: &self.token,
            grace: self.grace,
            owner: self.owner.pid,
            owner_start: self.owner.start,
        };
        match Link::start(&about, &lines) {
            Ok(link) if !link.stillborn => {
                tree.spare_supervisor(link.supervisor.get());
                self.link = Some(link);
            }
            Ok(_) | Err(_) => self.retry = Some(Instant::now() + WITHIN),
        }
    }

    pub(super) fn is(&self, pid: i32) -> bool {
        self.link
            .as_ref()
            .is_some_and(|link| link.supervisor.get() == pid)
    }

    /// The supervisor has ended: killed, it is started again; by itself, after a pause.
    pub(super) fn lost(&mut self, how: ExitStatus, tree: &Tree, notifier: Option<Identity>) {
        if how.code().is_some() {
            self.link = None;
            self.retry = Some(Instant::now() + WITHIN);
        } else {
            self.start(tree, notifier);
        }
    }

    /// The task belongs to another now.
    pub(super) fn belongs_to(&mut self, above: Who) {
        self.above = Some(above);
        if let Some(link) = &self.link {
            link.tell(&above_line(above), Duration::ZERO);
        }
    }

    /// Another group that must not outlive the keeper.
    pub(super) fn cover(&self, leader: Identity) {
        if let Some(link) = &self.link {
            link.tell(
                &format!("+ {} {}\n", leader.pid, leader.start),
                Duration::ZERO,
            );
        }
    }

    /// Nothing is left to be protected.
    pub(super) fn release(&self) {
        if let Some(link) = &self.link {
            link.tell(".\n", PATIENCE);
        }
    }
}

fn above_line(above: Who) -> String {
    format!("^ {} {}\n", above.pid, above.start)
}

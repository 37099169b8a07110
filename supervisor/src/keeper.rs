//! The keeper of a foreground command: the parent of all that the command starts, in a group of its own,
//! and without terminal in a session of its own, so that it is there when the front is killed with its
//! group.
//!
//! It is the front, gone on as two: nothing is loaded for it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::command::Prepared;
use crate::cookie::Marked;
use crate::first_step::FirstStep;
use crate::ledger::{self, Ledger};
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::sys::{self, Pid};
use crate::tasks::Who;
use crate::words::Words;

/// How long everything may take to be gone after it was killed.
const KILLED: Duration = Duration::from_secs(5);

/// What the front wants kept.
pub(crate) struct Task<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) token: &'a str,
    pub(crate) grace: Duration,
    /// The terminal that the front has.
    pub(crate) terminal: Option<&'a File>,
    /// Whose end ends everything, should the front be stopped and not see it.
    pub(crate) caller: BorrowedFd<'a>,
    /// The front's own number.
    pub(crate) front: i32,
    /// Why the command outlives whoever started the front; none if it does not.
    pub(crate) reason: Option<&'a str>,
}

struct Keeper<'a> {
    group: Group,
    marked: Marked,
    grace: Duration,
    /// Whether whatever is orphaned below becomes this process's child.
    adopts: bool,
    reports: &'a OwnedFd,
    ledger: Ledger,
}

/// The keeper's ends of its pipes to the front.
pub(crate) struct Ends {
    /// The front's words, whose end is the front's.
    pub(crate) line: File,
    /// What the front reads when it is said.
    pub(crate) reports: OwnedFd,
    /// Who the command is, which the front reads when it has to know: nobody is woken for it.
    pub(crate) name: OwnedFd,
}

/// Runs until nothing of the command is left. Returns the status of the process, which has one thread.
pub(crate) fn run(task: &Task<'_>, ends: Ends) -> u8 {
    sys::take_neutral_name();
    sys::take_neutral_arguments(b"spawn-owned\0keep");
    sys::continue_at(ends.line.as_fd());
    let adopts = sys::become_subreaper();
    let Ok(signals) = sys::signals_as_bytes(&[libc::SIGCHLD]) else {
        return 2;
    };
    let Some((leader, go)) = start(task) else {
        return 2;
    };
    // Before the command takes its first step the keeper leaves the front's group, which may be killed.
    // With a terminal it stays in the session: elsewhere nobody would look on when the command is
    // stopped, and the system would not let the terminal stop it.
    let left = if task.terminal.is_some() {
        sys::new_group()
    } else {
        sys::new_session()
    };
    if left.is_err() {
        return 2;
    }
    let keeper = Keeper {
        group: Group::hold(leader),
        marked: Marked::of(task.token),
        grace: task.grace,
        adopts,
        reports: &ends.reports,
        ledger: record(task, leader),
    };
    let name = format!("{} {}", leader.pid, leader.start);
    let _ = sys::write_quietly(ends.name.as_fd(), name.as_bytes(), KILLED);
    if let Some(terminal) = task.terminal {
        // One that is gone is nobody's.
        let _ = sys::give_terminal(terminal.as_fd(), leader.pid.get());
    }
    let _ = sys::write_quietly(go.as_fd(), b"!", KILLED);
    drop(go);
    keeper.attend(Words::new(ends.line), task, signals);
    0
}

/// Starts the command, which waits for its first step: who it is, and the pipe that lets it go.
fn start(task: &Task<'_>) -> Option<(Identity, OwnedFd)> {
    let step = FirstStep::of(task.prepared).ok()?;
    let (go_end, go) = sys::pipe().ok()?;
    let Some(pid) = sys::fork().ok()? else {
        drop(go);
        sys::leave(step.take(go_end, || ()));
    };
    sys::let_lead_group(pid).ok()?;
    Some((Identity::of(pid)?, go))
}

/// Notes the run where everything is noted that was started: it leads to what is left should front and
/// keeper be killed together.
fn record(task: &Task<'_>, command: Identity) -> Ledger {
    let program = task.prepared.path.to_string_lossy();
    let mut row = json!({"number": 1, "purpose": "owned run", "program": program});
    if let Some(reason) = task.reason {
        row["reason"] = json!(reason);
    }
    let path = ledger::default_path();
    Ledger::open_with(path, task.token, Who::own(), command.into(), row)
}

impl Keeper<'_> {
    fn report(&self, words: &str) {
        // A front that is gone is seen by the end of the lifeline.
        let _ = sys::write_quietly(
            self.reports.as_fd(),
            format!("{words}\n").as_bytes(),
            KILLED,
        );
    }

    /// Does what the front says and mourns what ends, until the command has ended, or whoever it belongs
    /// to: then ends everything.
    fn attend(&self, mut line: Words, task: &Task<'_>, mut signals: File) {
        loop {
            let asked = [line.as_fd(), task.caller, signals.as_fd()].map(|fd| (fd, false));
            let Ok(ready) = sys::poll_many(&asked, None) else {
                continue;
            };
            let said = |at: usize| ready.get(at).is_some_and(|ready| ready.read);
            if said(2) {
                let _ = signals.read(&mut [0; 256]);
                if let Some(status) = self.reap() {
                    self.end_rest();
                    self.report(&format!("ended {status}"));
                    return;
                }
            }
            if said(1) || said(0) && !self.hear(&mut line) {
                self.end_rest();
                continue_front(task.front);
                return;
            }
        }
    }

    /// Passes on what the front says; false if the front is gone.
    fn hear(&self, line: &mut Words) -> bool {
        let there = line.hear();
        while let Some(word) = line.take() {
            if let Some(signal) = word.strip_prefix("signal ") {
                self.group.pass_on(signal.parse().unwrap_or(0));
            }
        }
        there
    }

    /// Reaps the command and whatever was orphaned below it; the command's status, once it has ended.
    fn reap(&self) -> Option<i32> {
        let main = self.group.leader;
        let mut status = None;
        while let Ok(Some((pid, how))) = sys::reap_any() {
            match how.stopped_signal() {
                _ if pid != main.pid.get() || status.is_some() => {}
                Some(signal) => self.report(&format!("stopped {signal}")),
                None => {
                    self.ledger
                        .ended(main.pid.get(), main.start, &how.to_string());
                    status = Some(status_of(how));
                }
            }
        }
        status
    }

    /// Ends whatever there is. Most commands leave nothing, which is seen at once.
    fn end_rest(&self) {
        if self.adopts && sys::childless() {
            return;
        }
        // In a thread, as the ended must be reaped.
        std::thread::scope(|scope| {
            let end = scope.spawn(|| self.end());
            while !end.is_finished() {
                let _ = self.reap();
                let _ = sys::poll_one(None, Some(Duration::from_millis(1)));
            }
        });
        let _ = self.reap();
    }

    /// Whether nothing is left below: proven where whatever is orphaned comes back to this process.
    fn nothing_is_left(&self) -> bool {
        if self.adopts {
            return sys::childless();
        }
        process::below(sys::own_pid(), &[]).is_empty()
    }

    /// Ends everything: the group, what carries the mark, and every descendant.
    fn end(&self) {
        reap::end(&Plan {
            groups: &[&self.group],
            marked: Some(&self.marked),
            adopts: self.adopts,
            grace: self.grace,
            spared: &[sys::own_group()],
        });
        let limit = Instant::now() + KILLED;
        let own = sys::own_pid();
        // What has neither group nor mark has become a child of this process, or of one that has. A look
        // that finds nothing is no proof: what forks meanwhile may stand behind it, and before it itself.
        while !self.nothing_is_left() && Instant::now() < limit {
            for pid in process::below(own, &[]).into_iter().filter_map(Pid::new) {
                let _ = sys::signal_process(pid, libc::SIGKILL);
            }
            let _ = sys::poll_one(None, Some(Duration::from_millis(2)));
        }
    }
}

/// Continues a front that is there still: it was stopped, and so has not seen that it is over.
fn continue_front(front: i32) {
    if sys::parent() == front
        && let Some(front) = Pid::new(front)
    {
        let _ = sys::signal_process(front, libc::SIGCONT);
    }
}

/// As a shell says it.
fn status_of(how: ExitStatus) -> i32 {
    how.code()
        .unwrap_or_else(|| 128 + how.signal().unwrap_or(0))
}

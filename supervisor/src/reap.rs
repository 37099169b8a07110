//! The end of a set of groups: ask, wait, end, and look for what got away.
//!
//! One routine for every occasion: an owner that died, a handle that is stopped, a ledger that is swept.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::cookie::Marked;
use crate::process::{self, Identity};
use crate::sabotage::sabotaged;
use crate::sys::{self, Pid};

/// How long what got away from a dead owner is looked for as long as something is found. A chain of forks is
/// outrun by its group's signal, but where all wait for their turns that takes many looks.
const SEARCH: Duration = Duration::from_secs(10);
/// The same where a program waits for it; and how long what was killed may take to be gone.
const LAST_LOOKS: Duration = Duration::from_secs(2);

/// So many looks in a row must find nothing, with this pause between them.
const QUIET_LOOKS: usize = 4;
const QUIET: Duration = Duration::from_millis(100);

/// Nobody means to wait longer: ten years. A clock cannot hold every length of time.
pub(crate) const LONGEST: Duration = Duration::from_secs(10 * 366 * 86_400);

/// The moment at which `limit` is over.
pub(crate) fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(LONGEST)
}

/// A group to end.
pub(crate) struct Group {
    pub(crate) leader: Identity,
    /// The leader's own descriptor, taken while it surely had this number.
    pub(crate) handle: Option<OwnedFd>,
}

impl Group {
    /// The group led by `leader`, held by a descriptor if the system has such and the leader lives.
    pub(crate) fn hold(leader: Identity) -> Self {
        let handle = sys::open_process(leader.pid.get()).ok();
        // Looked at after opening: then the descriptor is the leader's, or is not kept.
        let handle = handle.filter(|_| Identity::of(leader.pid) == Some(leader));
        Self { leader, handle }
    }

    /// Whether its number still means it. With the leader gone the kernel keeps the number as long as
    /// the group has a member; a leader with another start time is somebody else.
    fn holds(&self) -> bool {
        sabotaged("identity")
            || process::look(self.leader.pid.get())
                .is_none_or(|now| now.start == self.leader.start || self.leader.start == 0)
    }

    /// Sends a signal that somebody else asked for.
    pub(crate) fn pass_on(&self, signal: i32) {
        self.signal(signal);
    }

    /// Sends `signal` to all members; nothing if the number means somebody else by now.
    fn signal(&self, signal: i32) {
        if let Some(handle) = &self.handle
            && !sabotaged("identity")
        {
            match sys::signal_through(handle.as_fd(), signal, true) {
                // An older kernel: the number has to do.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
                _ => return,
            }
        }
        if self.holds() {
            // What cannot be signalled has gone, or is not ours: both show in the next look.
            let _ = sys::signal_group(self.leader.pid, signal);
        }
    }
}

/// What is to be ended.
pub(crate) struct Plan<'a> {
    pub(crate) groups: &'a [&'a Group],
    pub(crate) marked: Option<&'a Marked>,
    /// Whether whatever is orphaned becomes this process's child: then the caller tells by its children
    /// that nothing is left, and need not look for what may show no mark just now.
    pub(crate) adopts: bool,
    /// How long to wait between asking and ending.
    pub(crate) grace: Duration,
    /// The groups that must never be signalled.
    pub(crate) spared: &'a [i32],
}

/// What the end was like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Processes outside the groups that were found by their mark and ended.
    pub(crate) found: usize,
    /// Processes that live on: unkillable, or not ours to signal.
    pub(crate) left: usize,
}

/// Asks all members of groups to end.
pub(crate) fn ask<'a>(groups: impl IntoIterator<Item = &'a Group>) {
    for group in groups {
        ask_by(|signal| group.signal(signal));
    }
}

/// Ends everything of the plan; returns when nothing of it lives, or nothing more can be done.
pub(crate) fn end(plan: &Plan<'_>) -> Outcome {
    if plan.grace > Duration::ZERO {
        ask(plan.groups.iter().copied());
    }
    end_asked(plan)
}

/// The same when the groups have been asked already.
pub(crate) fn end_asked(plan: &Plan<'_>) -> Outcome {
    let end = after(plan.grace);
    if plan.grace > Duration::ZERO {
        if !plan.groups.is_empty() {
            // Who was asked runs first: it wakes on this processor, which a look at all processes keeps.
            let _ = sys::poll_one(None, Some(Duration::from_millis(1)));
        }
        for stray in &look(plan).strays {
            ask_by(|signal| stray.signal(signal));
        }
        wait_until(end, || look(plan).empty());
    }
    let kill = || {
        for group in plan.groups {
            group.signal(libc::SIGKILL);
        }
    };
    kill();
    let found = end_strays(plan);
    let limit = Instant::now() + LAST_LOOKS;
    let mut left = Living::default();
    wait_until(limit, || {
        left = look(plan);
        // Once more, as long as anything lives: not every system tells all that fork just then.
        if !left.members.is_empty() {
            kill();
        }
        left.empty()
    });
    Outcome {
        found,
        left: left.members.len() + left.strays.len(),
    }
}

/// Whether a group has a member that has not ended.
pub(crate) fn group_lives(group: Pid) -> bool {
    if sys::signal_group(group, 0).is_err() {
        return false;
    }
    let mut seen = false;
    for pid in process::all() {
        seen = seen || process::look(pid).is_some();
        if process::group(pid) == Some(group.get()) && has_not_ended(pid) {
            return true;
        }
    }
    // Where processes cannot be looked at, the signal's word has to do.
    !seen
}

fn has_not_ended(pid: i32) -> bool {
    process::look(pid).is_some_and(|process| !process.ended)
}

/// Whether any process carries the mark.
pub(crate) fn any_marked(marked: &Marked) -> bool {
    process::all()
        .filter_map(process::environment)
        .any(|environment| marked.carried(&environment))
}

/// Asks to end. What is stopped cannot hear until it goes on.
fn ask_by(signal: impl Fn(i32)) {
    signal(libc::SIGTERM);
    if !sabotaged("cont") {
        signal(libc::SIGCONT);
    }
}

/// Looks again and again, ever less often, until `done` or `end`.
fn wait_until(end: Instant, mut done: impl FnMut() -> bool) {
    let mut pause = Duration::from_millis(1);
    while !done() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let _ = sys::poll_one(None, Some(pause.min(left)));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Ends what carries the mark, until nothing is found. What is just becoming another program has no
/// environment for a moment, so one look that finds nothing proves nothing where a whole owner ends.
fn end_strays(plan: &Plan<'_>) -> usize {
    let (looks, search) = match plan.marked {
        Some(marked) if marked.only.is_none() && !plan.adopts => (QUIET_LOOKS, SEARCH),
        _ => (1, LAST_LOOKS),
    };
    let mut ended = BTreeSet::new();
    let mut quiet = 0;
    let limit = Instant::now() + search;
    loop {
        let strays = look(plan).strays;
        for stray in &strays {
            stray.signal(libc::SIGKILL);
            ended.insert(stray.pid);
        }
        quiet = if strays.is_empty() { quiet + 1 } else { 0 };
        if quiet == looks || Instant::now() > limit {
            break;
        }
        // Time to die, or to become something that can be told: the same ones need not be found again
        // at once.
        let pause = if quiet == 0 {
            Duration::from_millis(2)
        } else {
            QUIET
        };
        let _ = sys::poll_one(None, Some(pause));
    }
    ended.len()
}

/// A process that carries the mark outside the plan's groups.
struct Stray {
    pid: Pid,
    handle: Option<OwnedFd>,
    /// Its group, if that is its own or of its kind: ended as a whole, since it may fork faster than
    /// anybody can look.
    group: Option<Pid>,
}

impl Stray {
    fn signal(&self, signal: i32) {
        let held = self.handle.as_ref().map(AsFd::as_fd);
        // Gone since it was found: then its number is nobody's that we know.
        if held.is_some_and(|held| sys::signal_through(held, 0, false).is_err()) {
            return;
        }
        let _ = match (self.group, held) {
            (Some(group), _) => sys::signal_group(group, signal),
            (None, Some(held)) => sys::signal_through(held, signal, false),
            (None, None) => sys::signal_process(self.pid, signal),
        };
    }
}

/// What lives of a plan.
#[derive(Default)]
struct Living {
    members: BTreeSet<i32>,
    strays: Vec<Stray>,
}

impl Living {
    fn empty(&self) -> bool {
        self.members.is_empty() && self.strays.is_empty()
    }
}

/// One look at all processes.
fn look(plan: &Plan<'_>) -> Living {
    let groups: BTreeSet<i32> = plan
        .groups
        .iter()
        .filter(|group| sys::signal_group(group.leader.pid, 0).is_ok() && group.holds())
        .map(|group| group.leader.pid.get())
        .collect();
    let mut living = Living::default();
    if groups.is_empty() && plan.marked.is_none() {
        return living;
    }
    let own = sys::own_pid();
    let mut found = Vec::new();
    let mut seen = false;
    for pid in process::all().filter(|pid| *pid != own) {
        seen = seen || process::look(pid).is_some();
        let Some(group) = process::group(pid) else {
            continue;
        };
        if groups.contains(&group) {
            living.members.extend(has_not_ended(pid).then_some(pid));
        } else if let Some(marked) = plan.marked
            && !sabotaged("cookie")
            && process::environment(pid).is_some_and(|environment| marked.carried(&environment))
        {
            found.push((pid, group));
        }
    }
    if !seen {
        living.members = unseen(groups);
    }
    let carriers: BTreeSet<i32> = found.iter().map(|(pid, _)| *pid).collect();
    living.strays = found
        .into_iter()
        .filter_map(|(pid, group)| stray(plan, &carriers, pid, group))
        .collect();
    living
}

/// The groups of which something lives, where processes cannot be looked at: there the signal's word has
/// to do, except for a leader that only waits for this process to reap it.
fn unseen(groups: BTreeSet<i32>) -> BTreeSet<i32> {
    let waits = |group: &i32| {
        let peek = Pid::new(*group).map(|group| sys::peek(group, false));
        matches!(peek, Some(Ok(sys::Peek::Ended)))
    };
    groups.into_iter().filter(|group| !waits(group)).collect()
}

/// Takes hold of a found process; none if it has gone or is somebody else by now.
fn stray(plan: &Plan<'_>, carriers: &BTreeSet<i32>, pid: i32, group: i32) -> Option<Stray> {
    let handle = sys::open_process(pid);
    if matches!(&handle, Err(error) if error.raw_os_error() == Some(libc::ESRCH)) {
        return None;
    }
    // Read again, now that the descriptor holds the one who has the number.
    let environment = process::environment(pid)?;
    if !plan.marked?.carried(&environment) {
        return None;
    }
    let of_its_kind = carriers.contains(&group) || process::look(group).is_none();
    let group = (of_its_kind && !plan.spared.contains(&group)).then(|| Pid::new(group));
    Some(Stray {
        pid: Pid::new(pid)?,
        handle: handle.ok(),
        group: group.flatten(),
    })
}

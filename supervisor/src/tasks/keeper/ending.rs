//! The end of a task's tree: its command first, so that it can end its own helpers in order, then what
//! survives, then proof that nothing does.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::cookie::Marked;
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::sys::{self, Pid};

/// How long everything may take to be gone after it was killed.
const KILLED: Duration = Duration::from_secs(2);

/// All that a task has started.
pub(super) struct Tree {
    group: Group,
    marked: Marked,
    own: i32,
    /// Helpers of the keeper, by the groups that they lead: they are not the task's.
    supervisor: AtomicI32,
    notifier: AtomicI32,
}

impl Tree {
    pub(super) fn new(main: Identity, token: &str) -> Self {
        Self {
            group: Group::hold(main),
            marked: Marked {
                only: Some([1].into()),
                ..Marked::of(token)
            },
            own: sys::own_pid(),
            supervisor: AtomicI32::new(0),
            notifier: AtomicI32::new(0),
        }
    }

    pub(super) fn main(&self) -> Identity {
        self.group.leader
    }

    pub(super) fn spare_supervisor(&self, pid: i32) {
        self.supervisor.store(pid, Ordering::Relaxed);
    }

    pub(super) fn spare_notifier(&self, pid: i32) {
        self.notifier.store(pid, Ordering::Relaxed);
    }

    /// What of it lives. Everything that it starts comes back to the keeper, its subreaper, so that
    /// nothing can be elsewhere; where there is no such thing the group has to do.
    pub(super) fn left(&self) -> Vec<i32> {
        let spared = [
            self.supervisor.load(Ordering::Relaxed),
            self.notifier.load(Ordering::Relaxed),
        ];
        let left = process::below(self.own, &spared);
        if !cfg!(target_os = "linux") && reap::group_lives(self.group.leader.pid) {
            return vec![self.group.leader.pid.get()];
        }
        left
    }

    /// Sends a signal to the command alone.
    fn signal_main(&self, signal: i32) {
        // What cannot be signalled has ended: that shows in the next look.
        let _ = match &self.group.handle {
            Some(handle) => sys::signal_through(handle.as_fd(), signal, false),
            None if Identity::of(self.group.leader.pid) == Some(self.group.leader) => {
                sys::signal_process(self.group.leader.pid, signal)
            }
            None => Ok(()),
        };
    }

    fn main_lives(&self) -> bool {
        let leader = self.group.leader;
        process::lives(leader.pid.get(), leader.start)
    }
}

/// Ends everything; returns what lives on although it was killed.
pub(super) fn end(tree: &Tree, grace: Duration) -> Vec<i32> {
    let begun = Instant::now();
    if !grace.is_zero() && tree.main_lives() {
        tree.signal_main(libc::SIGTERM);
        tree.signal_main(libc::SIGCONT);
        wait_for_main(tree, begun + grace);
    }
    // Survivors are asked too, also when the command has used up the time.
    let rest = grace.saturating_sub(begun.elapsed()).max(grace / 4);
    if !nothing_left(tree) {
        reap::end(&Plan {
            groups: &[&tree.group],
            marked: Some(&tree.marked),
            adopts: cfg!(target_os = "linux"),
            grace: rest,
            spared: &[sys::own_group()],
        });
    }
    let limit = Instant::now() + KILLED;
    let mut pause = Duration::from_millis(1);
    while !nothing_left(tree) && Instant::now() < limit {
        for pid in tree.left().into_iter().filter_map(Pid::new) {
            let _ = sys::signal_process(pid, libc::SIGKILL);
        }
        let _ = sys::poll_one(None, Some(pause));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    tree.left()
}

/// Proof that nothing lives. One look is none: what forks while all processes are looked at may stand
/// behind the look with its child, and before it itself.
fn nothing_left(tree: &Tree) -> bool {
    tree.left().is_empty() && tree.left().is_empty()
}

fn wait_for_main(tree: &Tree, end: Instant) {
    while tree.main_lives() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        let handle = tree.group.handle.as_ref().map(AsFd::as_fd);
        let pause = if handle.is_some() {
            left
        } else {
            left.min(Duration::from_millis(10))
        };
        if sys::poll_one(handle, Some(pause)).unwrap_or(true) {
            // Its descriptor says that it has ended.
            return;
        }
    }
}

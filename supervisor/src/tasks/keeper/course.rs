//! The course of a task: the end of its command, what it is called then, and the end of what is left.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::streams::LAST_OUTPUT;
use super::{Keeper, OVER, ending, wake_up};
use crate::ledger::now;
use crate::sys;
use crate::tasks::record::length;
use crate::tasks::state::State;

/// Why a task is ended before its command ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Stopped,
    Limit,
    OwnerEnded,
    NobodyCame,
    KeeperTold,
}

impl Keeper {
    /// Reaps whatever has ended: the command, orphans below it, helpers.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, how))) = sys::reap_any() {
            if how.stopped_signal().is_some() {
                continue;
            }
            if Some(pid) == self.record.main.map(|main| main.pid) {
                self.main_ended(how);
            } else if self.guard.is(pid) {
                self.guard.lost(how, &self.tree, self.notifier.leader());
            } else if self.notifier.ended(&self.folder, pid, how) {
                self.tree.spare_notifier(0);
                self.notify_next();
            }
        }
    }

    /// The command has ended: that, and nothing else, is the end of the task.
    pub(super) fn main_ended(&mut self, how: ExitStatus) {
        self.read_output(LAST_OUTPUT);
        if self.listing.look.is_some() {
            // What was removed while it ran gets the record of its end.
            self.see_to_listing();
        }
        self.record.ended = Some(now());
        self.record.status = how.code().and_then(|code| u8::try_from(code).ok());
        self.record.signal = how.signal();
        let (state, why) = match self.cause {
            None if how.success() => (State::Completed, None),
            None => (State::Failed, None),
            Some(Cause::Limit) => {
                let limit = self.record.limit.unwrap_or(0.0);
                (
                    State::TimedOut,
                    Some(format!("its limit of {limit} seconds was over")),
                )
            }
            Some(Cause::Stopped) => (State::Cancelled, Some("it was stopped".to_owned())),
            Some(Cause::OwnerEnded) => (State::Cancelled, Some("its owner ended".to_owned())),
            Some(Cause::NobodyCame) => (
                State::Cancelled,
                Some("no owner came to take it over".to_owned()),
            ),
            Some(Cause::KeeperTold) => (
                State::Cancelled,
                Some("its keeper was told to end".to_owned()),
            ),
        };
        self.record.state = state;
        self.record.why = why.or(self.log.fault.take());
        self.record.left = self.tree.left();
        self.input = None;
        self.notifier.claim(&self.folder);
        self.write();
        let main = self.tree.main();
        self.ledger
            .ended(main.pid.get(), main.start, &how.to_string());
        for peer in self.peers.values_mut().filter(|peer| peer.waits) {
            peer.say(&json!({"event": "ended"}));
        }
        self.notify_next();
        self.end_rest();
    }

    /// Ends what the command left. A task that must outlive may have become a daemon: what that left is
    /// its purpose.
    pub(super) fn end_rest(&mut self) {
        if !self.record.left.is_empty() && self.record.reason.is_none() {
            self.start_ending(self.grace(None));
        }
    }

    pub(super) fn grace(&self, asked: Option<f64>) -> Duration {
        length(asked.unwrap_or(self.record.grace))
    }

    /// The owner is gone: so is the task, unless another may take it over.
    pub(super) fn orphaned(&mut self) {
        if self.record.recover.is_some() && self.cause.is_none() {
            self.record.owner = None;
            self.write();
            let patience = length(self.record.patience);
            self.adoption = Some(Instant::now() + patience);
        } else {
            self.end(Cause::OwnerEnded, None);
        }
    }

    /// Ends the task, and whatever of it is left.
    pub(super) fn end(&mut self, cause: Cause, grace: Option<f64>) {
        if !self.record.state.is_final() && self.cause.is_none() {
            self.cause = Some(cause);
        }
        self.start_ending(self.grace(grace));
    }

    pub(super) fn start_ending(&mut self, grace: Duration) {
        if self.ending {
            return;
        }
        self.ending = true;
        let (tree, place) = (Arc::clone(&self.tree), Arc::clone(&self.ended));
        let wake = Arc::clone(&self.wake_write);
        let work = move || {
            let left = ending::end(&tree, grace);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = left;
            wake_up(&wake, OVER);
        };
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        if thread.spawn(work.clone()).is_err() {
            // No thread to be had: then nothing else is done meanwhile.
            work();
        }
    }

    /// An end is over: says what is left, to those who asked for it.
    pub(super) fn ended(&mut self) {
        self.ending = false;
        self.reap();
        let place = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let left = place.clone();
        drop(place);
        if left != self.record.left {
            self.record.left.clone_from(&left);
            self.write();
        }
        for peer in self.peers.values_mut().filter(|peer| peer.stops) {
            peer.stops = false;
            peer.say(&json!({"event": "stopped", "left": left}));
        }
    }
}

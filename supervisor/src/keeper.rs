//! The keeper of a foreground command: the parent of all that the command starts, in a group of its own,
//! and without terminal in a session of its own, so that it is there when the front is killed with its
//! group.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::command::{c_text, c_variable};
use crate::cookie::Marked;
use crate::foreground::words;
use crate::link::{NATIVE, own_file};
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::sys::{self, Leads, Order, Pid};

/// How long everything may take to be gone after it was killed.
const KILLED: Duration = Duration::from_secs(5);

struct Keeper {
    group: Group,
    marked: Marked,
    grace: Duration,
    /// Whether whatever is orphaned below becomes this process's child.
    adopts: bool,
    reports: File,
    /// Whether everything was ended; locked while that is done.
    ended: Mutex<bool>,
}

/// Runs until nothing of the command is left. Returns the status of the process.
///
/// Arguments: the token, the grace in milliseconds, then the command's path, name and arguments.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let text = |at: usize| arguments.get(at)?.to_str();
    let (Some(token), Some(grace)) = (text(0), text(1).and_then(|text| text.parse().ok())) else {
        return 2;
    };
    let (Some(line), Some(reports)) = (sys::received(3), sys::received(4)) else {
        return 2;
    };
    sys::take_neutral_name();
    let adopts = sys::become_subreaper();
    let Some((leader, go)) = start(&arguments[2..]) else {
        return 2;
    };
    // Before the command takes its first step the keeper leaves the front's group, which may be killed.
    // With a terminal it stays in the session: elsewhere nobody would look on when the command is
    // stopped, and the system would not let the terminal stop it.
    let left = if crate::foreground::terminal().is_some() {
        sys::new_group()
    } else {
        sys::new_session()
    };
    if left.is_err() {
        return 2;
    }
    let keeper = Arc::new(Keeper {
        group: Group::hold(leader),
        marked: Marked::of(token),
        grace: Duration::from_millis(grace),
        adopts,
        reports,
        ended: Mutex::new(false),
    });
    keeper.report("started", leader.pid.get());
    let listener = Arc::clone(&keeper);
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    if thread.spawn(move || listener.listen(line, go)).is_err() {
        keeper.end();
    }
    keeper.mourn();
    0
}

/// Starts the command, which waits for its first step: who it is, and the pipe that lets it go.
fn start(command: &[OsString]) -> Option<(Identity, OwnedFd)> {
    let (go_end, go) = sys::pipe().ok()?;
    let fixed = [NATIVE, "hold"].map(|text| c_text(crate::foreground::text(text)));
    let given = command.iter().map(|text| c_text(text));
    let arguments: Result<Vec<CString>, _> = fixed.into_iter().chain(given).collect();
    let environment: Result<Vec<CString>, _> = std::env::vars_os()
        .map(|(name, value)| c_variable(&name, &value))
        .collect();
    let pid = sys::spawn(&Order {
        path: &c_text(own_file().ok()?.as_os_str()).ok()?,
        arguments: &arguments.ok()?,
        environment: &environment.ok()?,
        directory: None,
        descriptors: &[(go_end.as_raw_fd(), 3)],
        closed: &[],
        leads: Leads::Group,
        shielded: false,
    })
    .ok()?;
    Some((Identity::of(pid)?, go))
}

impl Keeper {
    fn report(&self, word: &str, number: i32) {
        let words = format!("{word} {number}\n");
        // A front that is gone is seen by the end of the lifeline.
        let _ = sys::write_quietly(self.reports.as_fd(), words.as_bytes(), KILLED);
    }

    /// Does what the front says, and ends everything when the front is gone.
    fn listen(&self, line: File, go: OwnedFd) {
        let mut go = Some(go);
        for word in words(line) {
            if word == "go" {
                if let Some(go) = go.take() {
                    let _ = sys::write_quietly(go.as_fd(), b"!", KILLED);
                }
            } else if let Some(signal) = word.strip_prefix("signal ") {
                self.group.pass_on(signal.parse().unwrap_or(0));
            }
        }
        drop(go);
        self.end();
    }

    /// Waits for the command and for whatever is orphaned below it, until nothing is left.
    fn mourn(&self) {
        let main = self.group.leader.pid.get();
        let mut status = None;
        while let Ok(ended) = sys::reap_any(true) {
            let Some((pid, how)) = ended else { continue };
            if let (true, Some(signal)) = (pid == main, how.stopped_signal()) {
                self.report("stopped", signal);
            } else if pid == main && how.stopped_signal().is_none() {
                status = Some(
                    how.code()
                        .unwrap_or_else(|| 128 + how.signal().unwrap_or(0)),
                );
                // Most commands leave nothing, which is seen at once.
                if self.adopts && sys::childless() {
                    break;
                }
                // The command is over: so is what it left. In a thread, as the ended must be reaped.
                std::thread::scope(|scope| {
                    let end = scope.spawn(|| self.end());
                    while !end.is_finished() {
                        let _ = sys::reap_any(false);
                        let _ = sys::poll_one(None, Some(Duration::from_millis(1)));
                    }
                });
                break;
            }
        }
        self.report("ended", status.unwrap_or(0));
    }

    /// Ends everything: the group, what carries the mark, and every descendant.
    fn end(&self) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *ended, true) {
            return;
        }
        if self.adopts && sys::childless() {
            return;
        }
        reap::end(&Plan {
            groups: &[&self.group],
            marked: Some(&self.marked),
            adopts: self.adopts,
            grace: self.grace,
            spared: &[sys::own_group()],
        });
        let limit = Instant::now() + KILLED;
        let own = sys::own_pid();
        // What has neither group nor mark has become a child of this process, or of one that has.
        loop {
            let left = process::below(own, &[]);
            if left.is_empty() || Instant::now() > limit {
                return;
            }
            for pid in left.into_iter().filter_map(Pid::new) {
                let _ = sys::signal_process(pid, libc::SIGKILL);
            }
            let _ = sys::poll_one(None, Some(Duration::from_millis(2)));
        }
    }
}

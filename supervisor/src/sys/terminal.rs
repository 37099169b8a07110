//! The terminal, and the signals that a foreground command passes on.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::signal::set_of;

/// Which group has the terminal; none if `terminal` is no terminal of this session.
pub(crate) fn foreground(terminal: BorrowedFd<'_>) -> Option<i32> {
    // SAFETY: `terminal` is open while it is borrowed.
    let group = unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) };
    (group > 0).then_some(group)
}

/// Gives the terminal to a group of this session. The caller has SIGTTOU blocked, which would stop it.
pub(crate) fn give_terminal(terminal: BorrowedFd<'_>, group: i32) -> io::Result<()> {
    // SAFETY: `terminal` is open while it is borrowed; the system checks the group.
    if unsafe { libc::tcsetpgrp(terminal.as_raw_fd(), group) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Stops this process, as its shell expects of a job; returns when it is continued.
pub(crate) fn stop_here() {
    // SAFETY: a signal to this process, which cannot be handled.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// What a foreground command passes on to the command that it runs.
pub(crate) const PASSED_ON: &[i32] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGTSTP,
];

/// Blocks what is passed on, and what a change of the terminal would raise, for good.
pub(crate) fn hold_signals() {
    let mut held = PASSED_ON.to_vec();
    held.extend([libc::SIGTTOU, libc::SIGTTIN, libc::SIGPIPE]);
    let set = set_of(&held);
    // SAFETY: a valid set; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

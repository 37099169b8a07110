//! How children ended, and when.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::Pid;

/// What is known of a child that nobody has reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peek {
    /// It runs, or is stopped.
    Alive,
    /// It has ended; its number is kept for it until it is reaped.
    Ended,
    /// Somebody else has reaped it, or the system does: its status is lost.
    Taken,
}

/// Looks whether `pid` has ended, without reaping it; waits for that if `wait` says so.
/// [waitid(2)](https://man7.org/linux/man-pages/man2/waitid.2.html)
pub(crate) fn peek(pid: Pid, wait: bool) -> io::Result<Peek> {
    let mut flags = libc::WEXITED | libc::WNOWAIT;
    if !wait {
        flags |= libc::WNOHANG;
    }
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let id = libc::id_t::from(pid.get().unsigned_abs());
        // SAFETY: `info` has room for the answer, and is all zero where none was given.
        let (result, who) = unsafe {
            let result = libc::waitid(libc::P_PID, id, info.as_mut_ptr(), flags);
            (result, info.assume_init().si_pid())
        };
        if result == 0 {
            return Ok(if who == 0 { Peek::Alive } else { Peek::Ended });
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(Peek::Taken),
            _ => return Err(error),
        }
    }
}

/// Reaps `pid` if it has ended: its status, or none while it lives. After this its number is free.
pub(crate) fn reap(pid: Pid) -> io::Result<Option<ExitStatus>> {
    wait(pid.get(), libc::WNOHANG).map(|ended| ended.map(|(_, status)| status))
}

/// Whether this process has no children at all, not even ended ones. For the parent of all that is
/// orphaned below it, that is the proof that nothing is left.
pub(crate) fn childless() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` has room for the answer, which nobody reads.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) };
    result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD)
}

/// Reaps any child that has ended. No children at all is an error (`ECHILD`). Stopped children are
/// reported too.
pub(crate) fn reap_any() -> io::Result<Option<(i32, ExitStatus)>> {
    wait(-1, libc::WNOHANG | libc::WUNTRACED)
}

fn wait(pid: i32, flags: libc::c_int) -> io::Result<Option<(i32, ExitStatus)>> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        let who = unsafe { libc::waitpid(pid, &raw mut status, flags) };
        match who {
            0 => return Ok(None),
            1.. => return Ok(Some((who, ExitStatus::from_raw(status)))),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// Makes this process the new parent of its descendants whose own parent has ended.
/// [PR_SET_CHILD_SUBREAPER](https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html)
pub(crate) fn become_subreaper() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: one flag of this process is set.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

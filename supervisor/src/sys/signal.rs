//! Signals, and targets that cannot be wrong by construction.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The number of a process, or of the group that it leads: never 0, 1 or negative, which would mean
/// the own group, the first process, or everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pid(i32);

impl Pid {
    /// Nothing below 2 is a process that anybody here may signal.
    pub(crate) fn new(number: i32) -> Option<Self> {
        (number >= 2).then_some(Self(number))
    }

    /// Its number.
    pub(crate) fn get(self) -> i32 {
        self.0
    }
}

impl std::fmt::Display for Pid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Sends `signal` to one process. [kill(2)](https://man7.org/linux/man-pages/man2/kill.2.html)
pub(crate) fn signal_process(pid: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: no memory is passed; the target is one process by construction.
    answer(unsafe { libc::kill(pid.0, signal) })
}

/// Sends `signal` to every process of a group; 0 asks whether there is one.
pub(crate) fn signal_group(group: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: no memory is passed; the target is one group by construction, as `group` is above 1.
    answer(unsafe { libc::kill(-group.0, signal) })
}

fn answer(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// A descriptor that means this very process also after its number was given to another.
/// [pidfd_open(2)](https://man7.org/linux/man-pages/man2/pidfd_open.2.html)
pub(crate) fn open_process(pid: i32) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: two numbers; the kernel checks both.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let fd = i32::try_from(fd).unwrap_or(-1);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, closed in started programs, which is ours alone.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Sends `signal` to the process behind `process`, or to the group that it leads or led (Linux 6.9).
/// [pidfd_send_signal(2)](https://man7.org/linux/man-pages/man2/pidfd_send_signal.2.html)
pub(crate) fn signal_through(
    process: BorrowedFd<'_>,
    signal: i32,
    whole_group: bool,
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        const PROCESS_GROUP: libc::c_uint = 4;
        let flags = if whole_group { PROCESS_GROUP } else { 0 };
        // SAFETY: no signal information is passed, `process` is open while it is borrowed.
        let result = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                process.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                flags,
            )
        };
        answer(i32::try_from(result).unwrap_or(-1))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (process.as_raw_fd(), signal, whole_group);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A set of the given signals.
pub(super) fn set_of(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` fills the set, which `sigaddset` then changes.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

/// Signals that a terminal, a closed one, or somebody by habit sends: a supervisor minds none of them.
pub(super) const MEANT_FOR_OTHERS: &[i32] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Ignores what is meant for others.
pub(crate) fn ignore_terminal_signals() {
    for signal in MEANT_FOR_OTHERS {
        // detached-spawn: a supervisor must outlive the terminal's hangup to end what its owner left
        // SAFETY: no handler of ours is installed, only the one that ignores.
        unsafe { libc::signal(*signal, libc::SIG_IGN) };
    }
}

/// Keeps signals from this thread while it lives.
pub(crate) struct BlockedSignals {
    before: libc::sigset_t,
    pipe: bool,
}

impl BlockedSignals {
    /// All of them: a thread started meanwhile never runs somebody's handler.
    pub(crate) fn all() -> Self {
        let mut all = MaybeUninit::uninit();
        // SAFETY: `sigfillset` fills the set.
        let all = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            all.assume_init()
        };
        Self::block(&all, false)
    }

    /// The one that a write to a pipe without reader raises.
    pub(super) fn pipe() -> Self {
        Self::block(&set_of(&[libc::SIGPIPE]), true)
    }

    fn block(set: &libc::sigset_t, pipe: bool) -> Self {
        let mut before = MaybeUninit::uninit();
        // SAFETY: both sets are valid; the old one is filled by the call.
        let before = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, set, before.as_mut_ptr());
            before.assume_init()
        };
        Self { before, pipe }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: `before` was filled by the system; the pending signal is taken only where it was
        // not blocked before, so that it can only be our own.
        unsafe {
            #[cfg(target_os = "linux")]
            if self.pipe && libc::sigismember(&raw const self.before, libc::SIGPIPE) == 0 {
                let none = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                let set = set_of(&[libc::SIGPIPE]);
                libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const none);
            }
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}

//! Another process, system call by system call. [ptrace(2)](https://man7.org/linux/man-pages/man2/ptrace.2.html)
//!
//! The thread that traced first must do all that follows, and must end what it traces or let it go.

use std::io;
use std::time::{Duration, Instant};

use crate::witness::{DEADLINE, kill, pause};

/// The call by which a process writes.
pub(crate) const WRITE: u64 = libc::SYS_write.cast_unsigned();
/// The stream to which an owner answers.
pub(crate) const OUTPUT: u64 = 1;

/// The main thread of a traced process.
pub(crate) struct Traced {
    pid: i32,
}

/// A system call at whose beginning the process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) number: u64,
    /// The first of its arguments.
    pub(crate) first: u64,
}

/// What `PTRACE_GET_SYSCALL_INFO` says, as far as it is wanted.
#[repr(C)]
#[derive(Default)]
struct Info {
    operation: u8,
    _padding: [u8; 3],
    _architecture: u32,
    _instruction: u64,
    _stack: u64,
    number: u64,
    arguments: [u64; 6],
}

/// How C libraries write a request: glibc and musl differ.
#[cfg(target_env = "musl")]
pub(crate) type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
pub(crate) type Request = libc::c_uint;

/// How a traced process goes on.
const TO_THE_NEXT_CALL: Request = libc::PTRACE_SYSCALL;

impl Traced {
    /// Takes hold of a running process, and of what it starts if `children` says so. None where that is
    /// not permitted, which is said, and is a fault where everything must be tested.
    pub(crate) fn seize(pid: i32, children: bool) -> Option<Self> {
        let follow = libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACEFORK;
        let options = libc::PTRACE_O_TRACESYSGOOD | if children { follow } else { 0 };
        let seized = request(
            libc::PTRACE_SEIZE,
            pid,
            0,
            usize::try_from(options).expect("bits"),
        );
        if let Err(error) = seized {
            println!("not run: this system does not permit ptrace: {error}");
            assert!(std::env::var("CI").is_err(), "ptrace is needed: {error}");
            return None;
        }
        let traced = Self { pid };
        request(libc::PTRACE_INTERRUPT, pid, 0, 0).expect("a traced process");
        assert!(traced.stopped(None).is_some(), "it stops");
        Some(traced)
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Goes on to the beginning of the next call; none if it has ended.
    pub(crate) fn next_call(&self) -> Option<Call> {
        self.next_call_within(None).expect("no limit")
    }

    /// The same, and an error if it stays in a call for as long as `limit`.
    pub(crate) fn next_call_within(&self, limit: Option<Duration>) -> Result<Option<Call>, ()> {
        loop {
            if request(TO_THE_NEXT_CALL, self.pid, 0, self.pending()).is_err() {
                return Ok(None);
            }
            let Some(status) = self.stopped(limit) else {
                return Err(());
            };
            if !libc::WIFSTOPPED(status) {
                return Ok(None);
            }
            if libc::WSTOPSIG(status) == libc::SIGTRAP | 0x80
                && let Some(call) = self.call()
            {
                return Ok(Some(call));
            }
        }
    }

    /// Goes on to the end of the call that it is in; false if it ends before.
    pub(crate) fn to_the_end_of_the_call(&self) -> bool {
        request(TO_THE_NEXT_CALL, self.pid, 0, 0).is_ok()
            && self
                .stopped(None)
                .is_some_and(|status| libc::WIFSTOPPED(status))
    }

    /// A request about it, which fails if it has ended.
    pub(crate) fn request(&self, what: Request, data: usize) {
        let _ = request(what, self.pid, 0, data);
    }

    /// Goes on until it starts a process, which is held at its beginning; this one waits for it.
    pub(crate) fn next_child(&self) -> Option<Self> {
        loop {
            request(libc::PTRACE_CONT, self.pid, 0, self.pending()).ok()?;
            let status = self.stopped(None)?;
            if !libc::WIFSTOPPED(status) {
                return None;
            }
            let event = status >> 16;
            if [libc::PTRACE_EVENT_VFORK, libc::PTRACE_EVENT_FORK].contains(&event) {
                let mut pid: libc::c_ulong = 0;
                request(
                    libc::PTRACE_GETEVENTMSG,
                    self.pid,
                    0,
                    (&raw mut pid).expose_provenance(),
                )
                .ok()?;
                let child = Self {
                    pid: i32::try_from(pid).expect("a pid"),
                };
                assert!(child.stopped(None).is_some(), "it is held");
                request(libc::PTRACE_CONT, self.pid, 0, 0).ok()?;
                return Some(child);
            }
        }
    }

    /// Kills it where it stands, and takes note of its end, of which its parent hears after that.
    pub(crate) fn kill(self) {
        kill(self.pid, libc::SIGKILL);
        while self
            .stopped(None)
            .is_some_and(|status| libc::WIFSTOPPED(status))
        {}
    }

    /// Lets it go on alone.
    pub(crate) fn release(self) -> i32 {
        let detach = || request(libc::PTRACE_DETACH, self.pid, 0, 0);
        // One that is in a call has to be stopped for that.
        if detach().is_err() && request(libc::PTRACE_INTERRUPT, self.pid, 0, 0).is_ok() {
            self.stopped(None);
            let _ = detach();
        }
        self.pid
    }

    /// The signal that it is stopped for, to be handed on: none of ours.
    fn pending(&self) -> usize {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let asked = request(
            libc::PTRACE_GETSIGINFO,
            self.pid,
            0,
            info.as_mut_ptr().expose_provenance(),
        );
        // SAFETY: all zero, or filled by the kernel.
        let info = unsafe { info.assume_init() };
        let ours = info.si_signo & 0x7f == libc::SIGTRAP || info.si_code >> 8 != 0;
        if asked.is_err() || ours {
            0
        } else {
            usize::try_from(info.si_signo).unwrap_or(0)
        }
    }

    /// Waits until it stops or ends: its status; none if neither is so within `limit`.
    fn stopped(&self, limit: Option<Duration>) -> Option<i32> {
        let end = Instant::now() + limit.unwrap_or(DEADLINE);
        for round in 0.. {
            let mut status = 0;
            // SAFETY: a valid place for the answer.
            let who =
                unsafe { libc::waitpid(self.pid, &raw mut status, libc::__WALL | libc::WNOHANG) };
            if who == self.pid {
                return Some(status);
            }
            if who < 0 || Instant::now() > end {
                assert!(limit.is_some() || who < 0, "{} does not stop", self.pid);
                return None;
            }
            // Mostly it stops at once.
            if round < 100 {
                std::thread::yield_now();
            } else {
                pause();
            }
        }
        None
    }

    /// The call at whose beginning it stands; none at an end.
    fn call(&self) -> Option<Call> {
        const ENTRY: u8 = 1;
        let mut info = Info::default();
        let size = size_of::<Info>();
        request(
            GET_SYSCALL_INFO,
            self.pid,
            size,
            (&raw mut info).expose_provenance(),
        )
        .ok()?;
        (info.operation == ENTRY).then_some(Call {
            number: info.number,
            first: info.arguments[0],
        })
    }
}

const GET_SYSCALL_INFO: Request = 0x420e;

/// A request to the kernel about a traced process.
fn request(what: Request, pid: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: `data` is a number, or the address of a place that is large enough for the answer and
    // lives until this returns.
    let result = unsafe {
        libc::ptrace(
            what,
            pid,
            std::ptr::with_exposed_provenance_mut::<libc::c_void>(address),
            std::ptr::with_exposed_provenance_mut::<libc::c_void>(data),
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

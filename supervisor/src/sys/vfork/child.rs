//! The two sides of a lent memory: the thread that waits, and the child until it is its program.
//!
//! The child stands on a stack of its own and makes nothing but system calls: no allocation, no lock, no
//! handler of a signal, no call of the C library at which a thread may be cancelled.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use super::{REFUSED, Registered, Registering};
use crate::sys::register::{enter_control_group, register};
use crate::sys::signal::set_of;
use crate::sys::spawn::pointers;
use crate::sys::{BlockedSignals, Peek, Pid, parent, peek, reap};

/// The child's stack, in units of 16 bytes: many times what its few calls need.
const STACK: usize = 64 * 1024 / 16;

/// What both processes see: the child's orders, and what it has to say.
struct Lent<'a> {
    order: &'a Registering<'a>,
    arguments: &'a [*mut c_char],
    /// The arguments of the shell that runs a file which names no program in its first line.
    script: &'a [*mut c_char],
    environment: &'a [*mut c_char],
    start: u64,
    told: bool,
    failed: Option<io::Error>,
}

/// Starts a child; returns when it is its program, or has ended. None where the system does not let a
/// child be made in this way. [clone(2)](https://man7.org/linux/man-pages/man2/clone.2.html)
pub(super) fn spawn(order: &Registering<'_>) -> io::Result<Option<Registered>> {
    let arguments = pointers(order.arguments);
    let mut script = vec![c"sh".as_ptr().cast_mut(), order.path.as_ptr().cast_mut()];
    script.extend(arguments.iter().skip(1));
    let mut lent = Lent {
        order,
        arguments: &arguments,
        script: &script,
        environment: &pointers(order.environment),
        start: 0,
        told: false,
        failed: None,
    };
    let mut stack = Box::<[u128]>::new_uninit_slice(STACK);
    let top = stack.as_mut_ptr_range().end.cast();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // No handler may run in the child, where it would write to this process's memory.
    let unheard = BlockedSignals::all();
    // SAFETY: the stack is the child's alone. It lives, and so does what is lent, until this thread goes
    // on: when the child has left this memory for another program's, or has ended.
    let pid = unsafe { libc::clone(run, top, flags, (&raw mut lent).cast()) };
    let error = io::Error::last_os_error();
    drop(unheard);
    if pid < 0 {
        return match error.raw_os_error() {
            Some(libc::EPERM | libc::ENOSYS | libc::EINVAL) => {
                REFUSED.store(true, Ordering::Relaxed);
                Ok(None)
            }
            _ => Err(error),
        };
    }
    let Some(pid) = Pid::new(pid) else {
        return Err(io::Error::other("the system gave a process the number 1"));
    };
    if lent.failed.is_some() && matches!(peek(pid, true), Ok(Peek::Ended)) {
        reap(pid)?;
    }
    Ok(Some(Registered {
        pid,
        start: lent.start,
        told: lent.told,
        failed: lent.failed,
    }))
}

/// The whole life of the child as long as it is no program yet.
extern "C" fn run(lent: *mut c_void) -> c_int {
    // SAFETY: `spawn` gave its own, and does not look at it before this process is done with it.
    let lent = unsafe { &mut *lent.cast::<Lent<'_>>() };
    lent.failed = become_program(lent).err();
    // SAFETY: ends this process, and nothing of the one whose memory it was lent.
    unsafe { libc::_exit(127) }
}

/// Returns only to say why the child did not become its program.
fn become_program(lent: &mut Lent<'_>) -> io::Result<()> {
    let order = lent.order;
    // SAFETY: two numbers, which mean this process.
    // detached-spawn: the group that an owned child leads, which its supervisor ends as a whole
    made(unsafe { libc::setpgid(0, 0) })?;
    if let Some(members) = order.members {
        enter_control_group(members);
    }
    if order.speaks {
        (lent.start, lent.told) = register(order.line, None);
    }
    // Asked after the words went out: an owner that is still there then was alive when its supervisor could
    // hear them. For one that was not, nothing is started, as nobody might listen any more.
    if order.looks_up && parent() != order.owner {
        return Err(io::ErrorKind::NotFound.into());
    }
    if let Some(directory) = order.directory {
        // SAFETY: the path lives on.
        made(unsafe { libc::chdir(directory.as_ptr()) })?;
    }
    for (here, there) in order.descriptors {
        // SAFETY: two numbers in this process's own table.
        made(unsafe { libc::dup2(*here, *there) })?;
    }
    forget_handlers();
    let nothing = set_of(&[]);
    // SAFETY: a filled set; the path and the lists, which end with NULL, live on.
    unsafe {
        libc::sigprocmask(libc::SIG_SETMASK, &raw const nothing, std::ptr::null_mut());
        let environment = lent.environment.as_ptr().cast();
        let arguments = lent.arguments.as_ptr().cast();
        libc::execve(order.path.as_ptr(), arguments, environment);
        let error = io::Error::last_os_error();
        if error.raw_os_error() == Some(libc::ENOEXEC) {
            // As shells do it: a file without a first line that names a program is a script.
            libc::execve(
                c"/bin/sh".as_ptr(),
                lent.script.as_ptr().cast(),
                environment,
            );
        }
        Err(error)
    }
}

/// The answer of a call that says by -1 that it failed.
fn made(result: c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Gives every signal that the owner handles its default, as the coming program would anyway, and the one
/// of a pipe without reader in any case: a program expects it, and Rust's runtime ignores it.
fn forget_handlers() {
    let act = |signal: c_int, handler: usize| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all zero is an action: no flags, an empty set. A number that is no signal's is refused.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction = handler;
            libc::sigaction(signal, action.as_ptr(), std::ptr::null_mut());
        }
    };
    for signal in 1..=libc::SIGRTMAX() {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: `now` has room for the answer, and is all zero, the default, where there is none.
        let handler = unsafe {
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr());
            now.assume_init().sa_sigaction
        };
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler) {
            act(signal, libc::SIG_DFL);
        }
    }
    // To ignore it for a moment takes back the one that waits, raised by words that nobody heard.
    act(libc::SIGPIPE, libc::SIG_IGN);
    act(libc::SIGPIPE, libc::SIG_DFL);
}

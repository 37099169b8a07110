//! What is asked of the system in its own words: the one room with `unsafe` in it.
//!
//! Everything above speaks of [`Pid`]s that cannot be 0, 1 or negative, so that a signal to "all" or
//! to "my own group" cannot be written down.
#![expect(
    unsafe_code,
    reason = "the one room that calls the C library; each block says why it is sound"
)]

mod cgroup;
mod descriptor;
mod fork;
mod register;
mod signal;
mod single;
mod spawn;
mod task;
mod terminal;
mod vfork;
mod wait;

pub(crate) use cgroup::{ControlGroup, leave_control_groups};
pub(crate) use descriptor::{
    above_standard, inheritable, inherited, lock, never_wait, pipe, poll_one, poll_pair, received,
    say_that_it_works, silence, write_quietly, write_what_fits,
};
pub(crate) use fork::{Lifeline, forks};
pub(crate) use register::{enter_control_group, register_on};
pub(crate) use signal::{
    BlockedSignals, Pid, ignore_terminal_signals, open_process, signal_group, signal_process,
    signal_through,
};
pub(crate) use single::{
    block_nothing, continue_at, enter, fork, leave, let_go_of_code, let_lead_group, place,
    signals_as_bytes, take_neutral_arguments,
};
pub(crate) use spawn::{Leads, Order, exec, spawn};
pub(crate) use task::{
    Raw, Ready, hold_keeper_signals, next_keeper_signal, open_terminal, poll_many, resize, size,
    take_terminal, watch_folder,
};
pub(crate) use terminal::{PASSED_ON, foreground, give_terminal, hold_signals, stop_here};
pub(crate) use vfork::{Registered, Registering, refuses_registered, spawn_registered};
pub(crate) use wait::{Peek, become_subreaper, childless, peek, reap, reap_any};

use std::io;

/// The number of this process. [getpid(2)](https://man7.org/linux/man-pages/man2/getpid.2.html)
pub(crate) fn own_pid() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

/// The process group of this process. [getpgrp(2)](https://man7.org/linux/man-pages/man2/getpgrp.2.html)
pub(crate) fn own_group() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpgrp() }
}

/// The parent of this process.
pub(crate) fn parent() -> i32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getppid() }
}

/// The process group of a process, also of one that only waits to be reaped; none if there is no such
/// process. [getpgid(2)](https://man7.org/linux/man-pages/man2/getpgid.2.html)
pub(crate) fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: takes a number, which the system checks.
    let group = unsafe { libc::getpgid(pid) };
    (group >= 0).then_some(group)
}

/// Leaves the session and group of the starter.
pub(crate) fn new_session() -> io::Result<()> {
    // SAFETY: takes nothing; fails harmlessly in a group leader.
    // detached-spawn: a supervisor must live on when its owner's session is ended, to end the rest
    let session = unsafe { libc::setsid() };
    if session < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Leaves the group of the starter, but not its session: what this process starts there can still be
/// stopped from the terminal, which the system does only where a parent of the session looks on.
pub(crate) fn new_group() -> io::Result<()> {
    // SAFETY: takes two numbers, which mean this process.
    // detached-spawn: a keeper must live on when its front is killed with its group, to end the rest
    let result = unsafe { libc::setpgid(0, 0) };
    if result == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Raises the number of descriptors to what the system allows: a supervisor holds one for each group.
pub(crate) fn raise_descriptor_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the answer, and is read only after success.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Asks for short turns on a processor for the process or thread `pid`, 0 for this one: who wants little at
/// a time gets it sooner, also where many wait. Known from Linux 6.12 on, and without effect before.
/// [sched_setattr(2)](https://man7.org/linux/man-pages/man2/sched_setattr.2.html)
pub(crate) fn give_short_turns(pid: i32) {
    #[cfg(target_os = "linux")]
    {
        const NANOSECONDS: u64 = 100_000;
        let mut turns = std::mem::MaybeUninit::<libc::sched_attr>::zeroed();
        let (place, size) = (turns.as_mut_ptr(), size_of::<libc::sched_attr>());
        // SAFETY: all zero are attributes, which the system fills as far as it knows them. Nothing but the
        // turns is changed, and nothing where that is refused.
        unsafe {
            if libc::syscall(libc::SYS_sched_getattr, pid, place, size, 0) == 0 {
                (*place).sched_runtime = NANOSECONDS;
                libc::syscall(libc::SYS_sched_setattr, pid, place, 0);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
    }
}

/// Takes another name than that of the program's file, which a kill by name may be meant for.
pub(crate) fn take_neutral_name() {
    #[cfg(target_os = "linux")]
    // SAFETY: the name ends with NUL and is shorter than the 16 bytes that the kernel reads.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"lifeline".as_ptr());
    }
}

/// Closes every descriptor from `first` on.
/// [close_range(2)](https://man7.org/linux/man-pages/man2/close_range.2.html)
pub(crate) fn close_from(first: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: called at the start of a program of ours, which owns nothing above `first` yet.
    if unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) } == 0 {
        return;
    }
    for fd in descriptor::open_descriptors() {
        if fd >= first {
            // SAFETY: called at the start of a program of ours, which owns nothing above `first` yet.
            unsafe { libc::close(fd) };
        }
    }
}

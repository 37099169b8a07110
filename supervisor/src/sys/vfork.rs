//! A child that registers itself, with no other program in between.
//!
//! `posix_spawn` has no word for "and write this line". So here is done what the C library does inside it:
//! a `clone` lends the child this process's memory instead of copying it, and holds the calling thread
//! until the child is its program or has ended. What it costs does not grow with the memory that is lent.
//! Where the system does not let a child be made so, a launcher has to do.

#[cfg(target_os = "linux")]
mod child;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Pid;

/// What the system said once: a filter of its calls is there for good, and so is a kernel.
static REFUSED: AtomicBool = AtomicBool::new(cfg!(not(target_os = "linux")));

/// A program to start in a child that leads a group and registers itself.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nothing is started so here")
)]
pub(crate) struct Registering<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) arguments: &'a [CString],
    pub(crate) environment: &'a [CString],
    pub(crate) directory: Option<&'a CStr>,
    /// From a descriptor here to its number there, carried out in this order.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    /// This process: without it nothing is started.
    pub(crate) owner: i32,
    /// The lifeline.
    pub(crate) line: BorrowedFd<'a>,
    /// The file by which the child enters its control group.
    pub(crate) members: Option<&'a CStr>,
    /// What a test may turn off: the child's words on the lifeline, and its look at its parent.
    pub(crate) speaks: bool,
    pub(crate) looks_up: bool,
}

/// What became of it.
pub(crate) struct Registered {
    pub(crate) pid: Pid,
    /// When it started, as the child read it; 0 where it could not.
    pub(crate) start: u64,
    /// Whether its words went out.
    pub(crate) told: bool,
    /// Why it did not become its program. It has ended then, and is reaped.
    pub(crate) failed: Option<io::Error>,
}

/// Whether the system did not let a child be made in this way when it was asked: it is not asked again.
pub(crate) fn refuses_registered() -> bool {
    REFUSED.load(Ordering::Relaxed)
}

/// Starts a child; returns when it is its program, or has ended. None where the system does not let a
/// child be made in this way.
pub(crate) fn spawn_registered(order: &Registering<'_>) -> io::Result<Option<Registered>> {
    #[cfg(target_os = "linux")]
    {
        child::spawn(order)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = order;
        Ok(None)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::sys::{own_pid, peek, pipe, reap};

    fn order<'a>(path: &'a CStr, line: BorrowedFd<'a>) -> Registering<'a> {
        Registering {
            path,
            arguments: &[],
            environment: &[],
            directory: None,
            descriptors: &[],
            owner: own_pid(),
            line,
            members: None,
            speaks: true,
            looks_up: true,
        }
    }

    #[test]
    fn a_child_says_who_it_is() {
        let (read, write) = pipe().unwrap();
        let child = spawn_registered(&order(c"/bin/true", write.as_fd()));
        let child = child.unwrap().unwrap();
        assert!(child.told && child.failed.is_none());
        drop(write);
        let said = io::read_to_string(std::fs::File::from(read)).unwrap();
        assert_eq!(said, format!("+ {} {}\n", child.pid, child.start));
        let same = crate::process::Identity::of(child.pid).unwrap();
        assert_eq!(same.start, child.start);
        peek(child.pid, true).unwrap();
        assert!(reap(child.pid).unwrap().unwrap().success());
    }

    /// The signal of the pipe that broke does not end it.
    #[test]
    fn a_child_that_nobody_hears_lives() {
        let (_, write) = pipe().unwrap();
        let child = spawn_registered(&order(c"/bin/true", write.as_fd()));
        let child = child.unwrap().unwrap();
        assert!(!child.told && child.failed.is_none());
        peek(child.pid, true).unwrap();
        assert!(reap(child.pid).unwrap().unwrap().success());
    }

    #[test]
    fn what_cannot_be_done_says_why_and_leaves_nothing() {
        let (_read, write) = pipe().unwrap();
        let gone = order(c"/nowhere/at/all", write.as_fd());
        let mut nowhere = order(c"/bin/true", write.as_fd());
        nowhere.directory = Some(c"/nowhere/at/all");
        let mut orphan = order(c"/bin/true", write.as_fd());
        orphan.owner = 1;
        for order in [gone, nowhere, orphan] {
            let child = spawn_registered(&order).unwrap().unwrap();
            let why = child.failed.unwrap();
            assert_eq!(why.kind(), io::ErrorKind::NotFound);
            assert!(matches!(
                peek(child.pid, false),
                Ok(crate::sys::Peek::Taken)
            ));
        }
    }
}

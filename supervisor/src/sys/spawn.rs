//! The one place that starts programs.
//!
//! `posix_spawn`, not `fork`: its cost does not grow with the memory of the one who calls it. Keepers alone
//! fork, which are small: see `single`.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

use super::Pid;
use super::signal::{MEANT_FOR_OTHERS, set_of};

/// What a started process leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// A process group of its own.
    Group,
    /// A session of its own.
    Session,
}

/// A program to start, in the words of `posix_spawn`.
pub(crate) struct Order<'a> {
    pub(crate) path: &'a CStr,
    pub(crate) arguments: &'a [CString],
    pub(crate) environment: &'a [CString],
    pub(crate) directory: Option<&'a CStr>,
    /// From a descriptor here to its number there, carried out in this order.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    /// Closed there.
    pub(crate) closed: &'a [RawFd],
    pub(crate) leads: Leads,
    /// Whether it starts with the signals blocked that are meant for others.
    pub(crate) shielded: bool,
}

/// Lists of the C library that are destroyed on every path.
struct Lists {
    actions: libc::posix_spawn_file_actions_t,
    attributes: libc::posix_spawnattr_t,
}

impl Lists {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: both calls fill what they are given, or say that they did not.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Ok(Self {
                actions: actions.assume_init(),
                attributes: attributes.assume_init(),
            })
        }
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        // SAFETY: both were initialised by `new` and are destroyed once.
        unsafe {
            libc::posix_spawn_file_actions_destroy(&raw mut self.actions);
            libc::posix_spawnattr_destroy(&raw mut self.attributes);
        }
    }
}

fn check(code: libc::c_int) -> io::Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(code))
    }
}

/// Starts a program; returns when it runs, or says why it cannot.
/// [posix_spawn(3)](https://man7.org/linux/man-pages/man3/posix_spawn.3.html)
pub(crate) fn spawn(order: &Order<'_>) -> io::Result<Pid> {
    let mut lists = Lists::new()?;
    actions(&mut lists, order)?;
    attributes(&mut lists, order)?;
    let arguments = pointers(order.arguments);
    let environment = pointers(order.environment);
    let mut pid = 0;
    // SAFETY: every pointer lives until the call returns, and both lists of strings end with NULL.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            order.path.as_ptr(),
            &raw const lists.actions,
            &raw const lists.attributes,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Pid::new(pid).ok_or_else(|| io::Error::other("the system gave a process the number 1"))
}

fn actions(lists: &mut Lists, order: &Order<'_>) -> io::Result<()> {
    let actions = &raw mut lists.actions;
    // SAFETY: the list is initialised; the C library copies the path.
    unsafe {
        if let Some(directory) = order.directory {
            check(libc::posix_spawn_file_actions_addchdir_np(
                actions,
                directory.as_ptr(),
            ))?;
        }
        for fd in order.closed {
            check(libc::posix_spawn_file_actions_addclose(actions, *fd))?;
        }
        for (here, there) in order.descriptors {
            check(libc::posix_spawn_file_actions_adddup2(
                actions, *here, *there,
            ))?;
        }
    }
    Ok(())
}

fn attributes(lists: &mut Lists, order: &Order<'_>) -> io::Result<()> {
    let attributes = &raw mut lists.attributes;
    let blocked = if order.shielded {
        set_of(MEANT_FOR_OTHERS)
    } else {
        set_of(&[])
    };
    // As the standard library does: a program expects the signal that its own reader's end raises.
    let reset = set_of(&[libc::SIGPIPE]);
    // SAFETY: the attributes are initialised, the sets are filled, the numbers are plain.
    unsafe {
        check(libc::posix_spawnattr_setsigmask(
            attributes,
            &raw const blocked,
        ))?;
        check(libc::posix_spawnattr_setsigdefault(
            attributes,
            &raw const reset,
        ))?;
        // detached-spawn: the group that an owned child leads, which its supervisor ends as a whole
        check(libc::posix_spawnattr_setpgroup(attributes, 0))?;
        check(set_flags(attributes, order.leads))
    }
}

/// Says which of the attributes count.
///
/// # Safety
///
/// `attributes` must be initialised.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the flags are bits of the low byte"
)]
unsafe fn set_flags(attributes: *mut libc::posix_spawnattr_t, leads: Leads) -> libc::c_int {
    const SIGNALS: libc::c_short =
        (libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF) as libc::c_short;
    // SAFETY: the caller's promise; the flags are plain.
    unsafe {
        match leads {
            // detached-spawn: an owned child leads a group, which its supervisor ends as a whole
            Leads::Group => libc::posix_spawnattr_setflags(
                attributes,
                SIGNALS | libc::POSIX_SPAWN_SETPGROUP as libc::c_short,
            ),
            Leads::Session => {
                // detached-spawn: the supervisor, and what `spawn_detached` was given a reason for
                libc::posix_spawnattr_setflags(attributes, SIGNALS | libc::POSIX_SPAWN_SETSID)
            }
        }
    }
}

pub(super) fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    let pointers = texts.iter().map(|text| text.as_ptr().cast_mut());
    pointers
        .chain(std::iter::once(std::ptr::null_mut()))
        .collect()
}

/// Turns this process into another program; returns only to say why it could not. The program gets the
/// signal of a pipe without reader as it is by default, which Rust's runtime has turned off in this one, and
/// without an `environment` that of this process.
pub(crate) fn exec(
    path: &CStr,
    arguments: &[CString],
    environment: Option<&[CString]>,
) -> io::Error {
    let arguments = pointers(arguments);
    let environment = environment.map(pointers);
    let (path, arguments) = (path.as_ptr(), arguments.as_ptr().cast());
    // SAFETY: no handler is installed; the path and both lists, which end with NULL, live until the call
    // returns. Without an environment that of this process is read, which no other thread changes: a launcher
    // has one.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        match &environment {
            Some(environment) => libc::execve(path, arguments, environment.as_ptr().cast()),
            None => libc::execv(path, arguments),
        };
    }
    io::Error::last_os_error()
}

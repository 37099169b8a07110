//! The lifeline, and what a `fork` without `exec` must not keep of it.
//!
//! A forked child has a copy of every descriptor. Were the lifeline's write end among them, the owner's
//! death would not close it. So a handler runs in each forked child and closes all lifelines there,
//! and no fork can fall between the making of a pipe and its entry in the table.

use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use crate::sabotage::sabotaged;

/// How often this process is the child of a fork, counted since a program was loaded.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// The lifelines of this process, 0 where there is none. Its length bounds the owners of a process.
static LINES: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];
static LOCK: Mutex = Mutex(std::cell::UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
static HANDLERS: Once = Once::new();

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> libc::c_int;
}

/// A lock that may be taken in one callback and given back in another.
struct Mutex(std::cell::UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the C library's mutex is made to be used from several threads.
unsafe impl Sync for Mutex {}

unsafe extern "C" fn lock() {
    // SAFETY: the mutex is static and initialised.
    unsafe { libc::pthread_mutex_lock(LOCK.0.get()) };
}

unsafe extern "C" fn unlock() {
    // SAFETY: the thread that locked it gives it back: callers of `held`, or the one that forks.
    unsafe { libc::pthread_mutex_unlock(LOCK.0.get()) };
}

/// Runs in the forked child: only what is allowed after a fork of a program with threads.
unsafe extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    if !sabotaged("close-in-fork") {
        for line in &LINES {
            let fd = line.swap(0, Ordering::Relaxed);
            if fd > 0 {
                // SAFETY: the table holds descriptors of lifelines only, and `Lifeline` does not
                // close its number in a forked child.
                unsafe { libc::close(fd) };
            }
        }
    }
    // SAFETY: the child's one thread is the copy of the one that locked it.
    unsafe { unlock() };
}

/// How many forks lie between this process and the program that was loaded.
pub(crate) fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Gives the lock back also when `work` panics.
struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: `held` made this after locking, in the same thread.
        unsafe { unlock() };
    }
}

/// The write end of the pipe whose end is the proof of its owner's death.
pub(crate) struct Lifeline {
    fd: RawFd,
    made_after: u64,
}

impl Lifeline {
    /// Makes the write end known while `make` runs, so that no fork sees it in between. `make` gives
    /// the write end; what else it opens and closes is not seen by a fork either. None, and nothing is made,
    /// where this process has as many as it can have.
    pub(crate) fn new<T, E>(
        make: impl FnOnce() -> Result<(OwnedFd, T), E>,
    ) -> Result<Option<(Self, T)>, E> {
        HANDLERS.call_once(|| {
            // SAFETY: the three functions are safe to call around a fork, as they say.
            unsafe { pthread_atfork(Some(lock), Some(unlock), Some(forked)) };
        });
        // SAFETY: given back by `Held`.
        unsafe { lock() };
        let _held = Held;
        let free = LINES.iter().find(|line| line.load(Ordering::Relaxed) == 0);
        let Some(free) = free else {
            return Ok(None);
        };
        let (write, rest) = make()?;
        let fd = write.into_raw_fd();
        free.store(fd, Ordering::Relaxed);
        let made_after = forks();
        Ok(Some((Self { fd, made_after }, rest)))
    }

    /// The write end, if it is still open here: it is not in a forked child.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: open until `drop`, unless a fork closed it, which the count tells.
        (self.made_after == forks()).then(|| unsafe { BorrowedFd::borrow_raw(self.fd) })
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        // SAFETY: given back by `Held`.
        unsafe { lock() };
        let _held = Held;
        if self.made_after != forks() {
            return;
        }
        for line in &LINES {
            if line.load(Ordering::Relaxed) == self.fd {
                line.store(0, Ordering::Relaxed);
            }
        }
        // SAFETY: ours, open, and from here on in no table.
        unsafe { libc::close(self.fd) };
    }
}

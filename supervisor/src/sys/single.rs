//! What a process with one thread may do, and no other: go on as two, and run something at a signal.
//!
//! A fork of a process with several threads has the locks of threads that it has not. And it costs more
//! the more memory its process has; here that is little.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, IntoRawFd as _, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use super::Pid;
use super::signal::set_of;

/// Goes on as two processes: the child's number in the one that called, none in the child, which ends
/// with [`leave`] or becomes another program. Only for a process with one thread.
/// [fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller's promise: there is one thread, so that the child may do anything.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        number => Pid::new(number)
            .map(Some)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Ends this process, and nothing of what its program would do at its end.
pub(crate) fn leave(status: u8) -> ! {
    // SAFETY: never returns.
    unsafe { libc::_exit(status.into()) }
}

/// Lets a child of this process lead a process group, before it has become another program.
pub(crate) fn let_lead_group(child: Pid) -> io::Result<()> {
    // detached-spawn: the group of a foreground command, which its keeper ends as a whole
    // SAFETY: takes two numbers, which mean a child of this process.
    if unsafe { libc::setpgid(child.get(), child.get()) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Makes `fd` the descriptor of this number, in the program that this process becomes too.
pub(crate) fn place(fd: RawFd, number: RawFd) -> io::Result<()> {
    // SAFETY: the system checks both numbers; what was open at the second one belongs to the program that
    // this process is about to become.
    if unsafe { libc::dup2(fd, number) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Goes to a folder.
pub(crate) fn enter(folder: &CStr) -> io::Result<()> {
    // SAFETY: the path ends with NUL and lives until the call returns.
    if unsafe { libc::chdir(folder.as_ptr()) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Blocks no signal any more: what a program expects at its start.
pub(crate) fn block_nothing() {
    let none = set_of(&[]);
    // SAFETY: a valid set; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
}

/// Where the handler writes; none before [`signals_as_bytes`].
static SIGNALS: AtomicI32 = AtomicI32::new(-1);

/// The signals as bytes, each one's number, to be read and waited for like anything else; from now on
/// they are not blocked. For a process with one thread, once: a second call takes the first one's bytes.
pub(crate) fn signals_as_bytes(signals: &[i32]) -> io::Result<File> {
    let (read, write) = super::pipe()?;
    super::never_wait(&read);
    super::never_wait(&write);
    SIGNALS.store(write.into_raw_fd(), Ordering::Relaxed);
    let set = set_of(signals);
    // SAFETY: the handler does only what a handler may; the sets are valid, the old ones not asked for.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        for signal in signals {
            libc::sigaction(*signal, &raw const action, std::ptr::null_mut());
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
    Ok(read.into())
}

/// The handler: notes the signal. What it interrupted does not see a change.
extern "C" fn note(signal: libc::c_int) {
    let number = u8::try_from(signal).unwrap_or(0);
    // SAFETY: a valid byte; a pipe that is full has enough to say already. Both calls are allowed here.
    unsafe {
        let error = place_of_the_error();
        let before = *error;
        libc::write(
            SIGNALS.load(Ordering::Relaxed),
            (&raw const number).cast(),
            1,
        );
        *error = before;
    }
}

/// Where the C library keeps the number of the last error.
fn place_of_the_error() -> *mut libc::c_int {
    // SAFETY: the place of this thread, which is always there.
    unsafe {
        #[cfg(any(target_os = "macos", target_os = "ios", target_os = "freebsd"))]
        return libc::__error();
        #[cfg(any(target_os = "netbsd", target_os = "openbsd", target_os = "android"))]
        return libc::__errno();
        #[cfg(not(any(
            target_os = "macos",
            target_os = "ios",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd",
            target_os = "android"
        )))]
        return libc::__errno_location();
    }
}

/// Lets the end of a lifeline, and every word on it, continue this process should it have been stopped:
/// what sleeps would hear of neither. Where the system cannot do that a stopped process stays so.
/// [`F_SETSIG`](https://man7.org/linux/man-pages/man2/F_SETSIG.2const.html)
pub(crate) fn continue_at(line: BorrowedFd<'_>) {
    if crate::sabotage::sabotaged("continue") {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let line = line.as_raw_fd();
        // SAFETY: flags of a descriptor that is open while it is borrowed. The signal is one that a
        // running process passes over.
        unsafe {
            libc::fcntl(line, libc::F_SETOWN, libc::getpid());
            libc::fcntl(line, F_SETSIG, libc::SIGCONT);
            let flags = libc::fcntl(line, libc::F_GETFL);
            libc::fcntl(line, libc::F_SETFL, flags | libc::O_ASYNC);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = line;
}

/// As in the kernel's own header: the `libc` crate has it for some systems only.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// Lets the system take back what this process has read of programs: at its start it needed much of them,
/// and little for waiting. What it needs again comes back, from the file that is in memory anyhow.
/// [madvise(2)](https://man7.org/linux/man-pages/man2/madvise.2.html)
pub(crate) fn let_go_of_code() {
    #[cfg(target_os = "linux")]
    {
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let mut code = None;
        for line in text.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            match fields.as_slice() {
                [range, permissions, _, _, inode, ..] if range.contains('-') => {
                    let kept = ["r-xp", "r--p"].contains(permissions) && *inode != "0";
                    code = Some(*range).filter(|_| kept);
                }
                ["Anonymous:", "0", _] => {
                    if let Some(range) = code.and_then(addresses) {
                        // SAFETY: a part of a file that can be read and not written to, and of which nothing
                        // was changed, as the system has just told: what is read there later is the same.
                        unsafe {
                            let place = std::ptr::with_exposed_provenance_mut(range.start);
                            libc::madvise(place, range.len(), libc::MADV_DONTNEED);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// `55d0c000-55d0e000`.
#[cfg(target_os = "linux")]
fn addresses(text: &str) -> Option<std::ops::Range<usize>> {
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (begin, end) = text.split_once('-')?;
    Some(address(begin)?..address(end)?)
}

/// Takes other words than those that this process was started with, which a kill by what it runs may be
/// meant for.
pub(crate) fn take_neutral_arguments(words: &[u8]) {
    #[cfg(target_os = "linux")]
    {
        // The 48th and 49th field of all, the state being the third.
        let area = crate::process::field(super::own_pid(), 45)
            .zip(crate::process::field(super::own_pid(), 46));
        let Some((begin, end)) = area.filter(|(begin, end): &(usize, usize)| begin < end) else {
            return;
        };
        let length = words.len().min(end - begin - 1);
        // SAFETY: the place of this process's arguments, as the system tells it: on its first stack, its
        // own to write to, and still texts that end with NUL. Nobody else reads them: there is one thread.
        unsafe {
            let place = std::ptr::with_exposed_provenance_mut::<u8>(begin);
            place.write_bytes(0, end - begin);
            place.copy_from_nonoverlapping(words.as_ptr(), length);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = words;
}

//! Descriptors: pipes that no child inherits, waiting on them, the lock of a file.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// The first number that is safe from the fixed places of a child's descriptors.
const ABOVE: RawFd = 10;

/// A pipe, read end first, that is closed in every program which this process starts.
/// [pipe2(2)](https://man7.org/linux/man-pages/man2/pipe2.2.html)
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    #[cfg(target_os = "linux")]
    // SAFETY: `ends` has room for the two numbers.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    #[cfg(not(target_os = "linux"))]
    // SAFETY: `ends` has room for the two numbers, which are ours when the call succeeded.
    let made = unsafe {
        let made = libc::pipe(ends.as_mut_ptr());
        if made == 0 {
            libc::fcntl(ends[0], libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(ends[1], libc::F_SETFD, libc::FD_CLOEXEC);
        }
        made
    };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just given us both numbers, and nobody else knows them.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    Ok((above_standard(&read)?, above_standard(&write)?))
}

/// A copy of `fd` with a number that no fixed place of a child has, closed in started programs.
pub(crate) fn above_standard(fd: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: `fd` is open while it is borrowed.
    let copy = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, ABOVE) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new number, which is ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// The numbers that are open here.
pub(super) fn open_descriptors() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else {
        return (3..256).collect();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    names.collect()
}

/// The numbers from 3 on that programs started now would inherit.
pub(crate) fn inheritable() -> Vec<RawFd> {
    let all = open_descriptors().into_iter().filter(|fd| *fd >= 3);
    all.filter(|fd| inherited(*fd)).collect()
}

/// Whether a number is open, and in programs started now too.
pub(crate) fn inherited(number: RawFd) -> bool {
    // SAFETY: asks for a flag; a number that is not open is an error, and harmless.
    unsafe { libc::fcntl(number, libc::F_GETFD) == 0 }
}

/// Waits until `fd` has something to say: data, its end, or (for a write end) a reader that is gone.
/// Without `limit` for ever. With no `fd` this is a pause.
pub(crate) fn poll_one(fd: Option<BorrowedFd<'_>>, limit: Option<Duration>) -> io::Result<bool> {
    poll_pair(fd, None, limit).map(|(ready, _)| ready)
}

/// The same for two at once.
pub(crate) fn poll_pair(
    first: Option<BorrowedFd<'_>>,
    second: Option<BorrowedFd<'_>>,
    limit: Option<Duration>,
) -> io::Result<(bool, bool)> {
    let place = |fd: Option<BorrowedFd<'_>>| libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut places = [place(first), place(second)];
    let millis = limit.map_or(-1, |limit| {
        // Rounded up, so that a limit below one millisecond does not turn into a busy loop.
        i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
    });
    // SAFETY: `places` are two valid entries for the whole call; negative numbers are left out.
    let ready = unsafe { libc::poll(places.as_mut_ptr(), 2, millis) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok((false, false));
    }
    Ok((places[0].revents != 0, places[1].revents != 0))
}

/// Writes all of `bytes`, without the signal that a vanished reader would raise, for at most `limit`.
pub(crate) fn write_quietly(fd: BorrowedFd<'_>, bytes: &[u8], limit: Duration) -> io::Result<()> {
    let _quiet = super::BlockedSignals::pipe();
    let end = std::time::Instant::now() + limit;
    let mut rest = bytes;
    while !rest.is_empty() {
        // SAFETY: `rest` is valid for its length, `fd` is open while it is borrowed.
        let wrote = unsafe { libc::write(fd.as_raw_fd(), rest.as_ptr().cast(), rest.len()) };
        if let Ok(wrote) = usize::try_from(wrote) {
            rest = &rest[wrote..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => {}
            io::ErrorKind::WouldBlock if std::time::Instant::now() < end => {
                wait_for_room(fd, end.duration_since(std::time::Instant::now()));
            }
            _ => return Err(error),
        }
    }
    Ok(())
}

/// Writes as much as a pipe of ours holds on which nobody waits ([`never_wait`]): how many bytes.
pub(crate) fn write_what_fits(pipe: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let mut told = 0;
    while told < bytes.len() {
        let rest = &bytes[told..];
        // SAFETY: `rest` is valid for its length, and the pipe has a reader: this process.
        let wrote = unsafe { libc::write(pipe.as_raw_fd(), rest.as_ptr().cast(), rest.len()) };
        if let Ok(wrote) = usize::try_from(wrote) {
            told += wrote;
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::WouldBlock => break,
            io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
    Ok(told)
}

fn wait_for_room(fd: BorrowedFd<'_>, limit: Duration) {
    let mut place = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    let millis = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1);
    // SAFETY: one valid entry for the whole call.
    unsafe { libc::poll(&raw mut place, 1, millis) };
}

/// Makes writes fail instead of waiting when a pipe is full.
pub(crate) fn never_wait(fd: &impl AsRawFd) {
    let fd = fd.as_raw_fd();
    // SAFETY: changes a flag of a descriptor that is open while it is borrowed.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

/// Takes the lock of `file` if nobody holds it. It is given back when `file` is closed.
/// [flock(2)](https://man7.org/linux/man-pages/man2/flock.2.html)
pub(crate) fn lock(file: &File) -> io::Result<bool> {
    // SAFETY: `file` is open while it is borrowed.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
        _ => Err(error),
    }
}

/// Lets standard output and standard error lead nowhere: who reads them must not wait for this process.
pub(crate) fn silence() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    for number in [1, 2] {
        // SAFETY: `null` is open; what is replaced is written by number alone.
        if unsafe { libc::dup2(null.as_raw_fd(), number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Says on standard output that this process works, and lets it lead to where standard input does: to
/// nowhere, in a supervisor.
pub(crate) fn say_that_it_works() {
    // SAFETY: both numbers were given by the starter; whoever does not listen is no reason to end.
    unsafe {
        let _ = write_quietly(BorrowedFd::borrow_raw(1), b"!\n", Duration::ZERO);
        libc::dup2(0, 1);
    }
}

/// A descriptor that this program was started with at `number`, closed in what it starts; none if there
/// is nothing. Asked for once.
pub(crate) fn received(number: RawFd) -> Option<File> {
    // SAFETY: sets a flag; a number that is not open is an error, and harmless.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return None;
    }
    // SAFETY: open, and nothing else in this program knows the number.
    Some(unsafe { File::from_raw_fd(number) })
}

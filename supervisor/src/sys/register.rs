//! How a process says itself who it is, before it becomes its program: a child in memory that it is lent,
//! and a launcher.
//!
//! Nothing but system calls: where memory is lent, no allocation, no lock, no call of the C library at which
//! a thread may be cancelled. And a launcher spends its time on the pages that it touches, of its code and
//! of its memory, more than on calls.

use std::ffi::CStr;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use self::plain::{close, open, read, write};
use super::own_pid;
use crate::process;

/// Longer lines of `/proc/self/stat` are none: a name of 16 bytes and 51 numbers are shorter.
const LONGEST: usize = 1024;
/// The longest number has 20.
const DIGITS: usize = 20;

/// Enters a control group by its file of members: one more net, and none where this fails.
pub(crate) fn enter_control_group(members: &CStr) {
    let fd = open(members, libc::O_WRONLY | libc::O_CLOEXEC);
    // 0 is who writes it.
    write(fd, b"0");
    // SAFETY: the number is ours alone, or -1, which is nobody's.
    unsafe { close(fd) };
}

/// Says on the lifeline who this is, in one write, with the number in its mark where its words may be late:
/// when this process started, 0 where the system does not tell, and whether the words went out. That nobody
/// hears them is the owner's to see.
pub(super) fn register(line: BorrowedFd<'_>, number: Option<u64>) -> (u64, bool) {
    let mut status = [0; LONGEST];
    let length = read_start(c"/proc/self/stat", &mut status);
    let start = process::start_in(&status[..length]);
    let mut places = [[0; DIGITS]; 3];
    let [own, started, marked] = &mut places;
    let own = decimal(own_pid().unsigned_abs().into(), own);
    let started = decimal(start, started);
    let (verb, behind, marked): (&[u8], &[u8], &[u8]) = match number {
        Some(number) => (b"= ", b" ", decimal(number, marked)),
        None => (b"+ ", b"", b""),
    };
    let mut words = io::Cursor::new([0; 3 * DIGITS + 5]);
    for part in [verb, own, b" ", started, behind, marked, b"\n"] {
        // There is room for three numbers and what stands between them.
        let _ = words.write_all(part);
    }
    let length = usize::try_from(words.position()).unwrap_or(0);
    let wrote = write(line.as_raw_fd(), &words.get_ref()[..length]);
    (start, usize::try_from(wrote) == Ok(length))
}

/// The launcher's words, on a descriptor that ends with this program, with the `number` in its mark. An owner
/// that hears nothing of it starts another supervisor, which learns of this process.
pub(crate) fn register_on(line: RawFd, number: u64) {
    // SAFETY: no handler is installed; the owner put the lifeline at this number, which was read from digits
    // and so is none below 0, and nothing else in this program knows it.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::fcntl(line, libc::F_SETFD, libc::FD_CLOEXEC);
        register(BorrowedFd::borrow_raw(line), Some(number));
    }
}

/// Reads the beginning of a file: how many bytes; 0 where it cannot be read.
fn read_start(path: &CStr, buffer: &mut [u8]) -> usize {
    let fd = open(path, libc::O_RDONLY | libc::O_CLOEXEC);
    let length = read(fd, buffer);
    // SAFETY: the number is ours alone, or -1, which is nobody's.
    unsafe { close(fd) };
    usize::try_from(length).unwrap_or(0)
}

/// A number in digits. What formats texts is far away in a program, and writes more than that.
fn decimal(mut number: u64, place: &mut [u8; DIGITS]) -> &[u8] {
    let mut at = DIGITS;
    loop {
        at -= 1;
        place[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 || at == 0 {
            return &place[at..];
        }
    }
}

/// The calls themselves: those of the C library are places at which a thread may be cancelled.
#[cfg(target_os = "linux")]
mod plain {
    use std::ffi::{CStr, c_int, c_long};
    use std::os::fd::RawFd;

    pub(super) fn open(path: &CStr, flags: c_int) -> RawFd {
        // SAFETY: the path ends with NUL.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) };
        RawFd::try_from(fd).unwrap_or(-1)
    }

    pub(super) fn read(fd: RawFd, buffer: &mut [u8]) -> c_long {
        let (at, length) = (buffer.as_mut_ptr(), buffer.len());
        // SAFETY: the buffer is valid for its length.
        unsafe { libc::syscall(libc::SYS_read, fd, at, length) }
    }

    pub(super) fn write(fd: RawFd, text: &[u8]) -> c_long {
        // SAFETY: the text is valid for its length.
        unsafe { libc::syscall(libc::SYS_write, fd, text.as_ptr(), text.len()) }
    }

    /// # Safety
    ///
    /// `fd` must be the caller's alone.
    pub(super) unsafe fn close(fd: RawFd) {
        // SAFETY: the caller's promise.
        unsafe { libc::syscall(libc::SYS_close, fd) };
    }
}

/// Elsewhere a launcher alone registers itself, which has one thread.
#[cfg(not(target_os = "linux"))]
mod plain {
    use std::ffi::{CStr, c_int};
    use std::os::fd::RawFd;

    pub(super) fn open(path: &CStr, flags: c_int) -> RawFd {
        // SAFETY: the path ends with NUL.
        unsafe { libc::open(path.as_ptr(), flags) }
    }

    pub(super) fn read(fd: RawFd, buffer: &mut [u8]) -> isize {
        // SAFETY: the buffer is valid for its length.
        unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) }
    }

    pub(super) fn write(fd: RawFd, text: &[u8]) -> isize {
        // SAFETY: the text is valid for its length.
        unsafe { libc::write(fd, text.as_ptr().cast(), text.len()) }
    }

    /// # Safety
    ///
    /// `fd` must be the caller's alone.
    pub(super) unsafe fn close(fd: RawFd) {
        // SAFETY: the caller's promise.
        unsafe { libc::close(fd) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_as_it_is_read() {
        for number in [0, 7, 10, 4_194_304, u64::MAX] {
            let mut place = [0; DIGITS];
            let digits = decimal(number, &mut place);
            assert_eq!(process::plain_number(digits), Some(number));
        }
    }
}

//! What the keeper of a task asks of the system: many descriptors at once, its signals, and a terminal
//! for its command.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::time::Duration;

use super::signal::{MEANT_FOR_OTHERS, set_of};

/// What a descriptor is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    /// It has data, or has come to its end.
    pub(crate) read: bool,
    /// It has room.
    pub(crate) write: bool,
}

/// Waits until one of the descriptors has something to say, or room if that is asked for too; the
/// answers stand in the order of the questions. [poll(2)](https://man7.org/linux/man-pages/man2/poll.2.html)
pub(crate) fn poll_many(
    asked: &[(BorrowedFd<'_>, bool)],
    limit: Option<Duration>,
) -> io::Result<Vec<Ready>> {
    let mut places: Vec<libc::pollfd> = asked
        .iter()
        .map(|(fd, room)| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: if *room {
                libc::POLLIN | libc::POLLOUT
            } else {
                libc::POLLIN
            },
            revents: 0,
        })
        .collect();
    let millis = limit.map_or(-1, |limit| {
        // Rounded up, so that a limit below one millisecond does not turn into a busy loop.
        i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
    });
    let count = libc::nfds_t::try_from(places.len()).unwrap_or(0);
    // SAFETY: `places` are so many valid entries for the whole call.
    if unsafe { libc::poll(places.as_mut_ptr(), count, millis) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let ready = |place: &libc::pollfd| Ready {
        read: place.revents & !libc::POLLOUT != 0,
        write: place.revents & (libc::POLLOUT | libc::POLLERR) != 0,
    };
    Ok(places.iter().map(ready).collect())
}

/// Blocks what a keeper waits for and what is meant for others, for good. Blocked, not ignored: what is
/// ignored stays so in the command that the keeper starts.
pub(crate) fn hold_keeper_signals() {
    let mut held = MEANT_FOR_OTHERS.to_vec();
    held.push(libc::SIGCHLD);
    let set = set_of(&held);
    // SAFETY: a valid set; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Waits for the end of a child, or for the word to end; which of the two it is.
pub(crate) fn next_keeper_signal() -> Option<i32> {
    let set = set_of(&[libc::SIGCHLD, libc::SIGTERM]);
    let mut signal = MaybeUninit::uninit();
    // SAFETY: a valid set, and a place for the answer that is read only after success.
    unsafe {
        (libc::sigwait(&raw const set, signal.as_mut_ptr()) == 0).then(|| signal.assume_init())
    }
}

/// Tells, by having something to be read, that a file was removed from a folder, or the folder itself removed
/// or moved. [inotify(7)](https://man7.org/linux/man-pages/man7/inotify.7.html)
pub(crate) fn watch_folder(folder: &CStr) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        const GONE: u32 = libc::IN_DELETE | libc::IN_DELETE_SELF | libc::IN_MOVE_SELF;
        // SAFETY: the new number is ours alone; the path ends with NUL and lives until the call returns.
        unsafe {
            let fd = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let watch = OwnedFd::from_raw_fd(fd);
            if libc::inotify_add_watch(fd, folder.as_ptr(), GONE) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(watch)
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A terminal of our own: our end, and the one for a command.
/// [openpty(3)](https://man7.org/linux/man-pages/man3/openpty.3.html)
pub(crate) fn open_terminal(rows: u16, columns: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let (mut ours, mut theirs) = (0, 0);
    let size = window(rows, columns);
    // SAFETY: both numbers are filled on success; the size lives for the whole call.
    let (ours, theirs) = unsafe {
        let none = std::ptr::null_mut();
        let size = (&raw const size).cast_mut();
        if libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            none,
            std::ptr::null_mut(),
            size,
        ) != 0
        {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    };
    Ok((
        super::above_standard(&ours)?,
        super::above_standard(&theirs)?,
    ))
}

fn window(rows: u16, columns: u16) -> libc::winsize {
    libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Makes the terminal at standard input that of this session, which this process leads.
pub(crate) fn take_terminal() -> io::Result<()> {
    // SAFETY: one number and a flag; the system checks both.
    if unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Gives a terminal another size, which its foreground group is told.
pub(crate) fn resize(terminal: BorrowedFd<'_>, rows: u16, columns: u16) -> io::Result<()> {
    let size = window(rows, columns);
    // SAFETY: `terminal` is open while it is borrowed, the size lives for the whole call.
    if unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// A terminal's size: rows and columns; none if it is no terminal.
pub(crate) fn size(terminal: BorrowedFd<'_>) -> Option<(u16, u16)> {
    let mut size = window(0, 0);
    // SAFETY: `terminal` is open while it is borrowed, and the answer has a place.
    let asked = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (asked == 0 && size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

/// A terminal that passes every key on as it is, until this is dropped.
pub(crate) struct Raw<'a> {
    terminal: BorrowedFd<'a>,
    before: libc::termios,
}

impl<'a> Raw<'a> {
    /// None if `terminal` is no terminal.
    pub(crate) fn new(terminal: BorrowedFd<'a>) -> Option<Self> {
        let mut before = MaybeUninit::uninit();
        // SAFETY: the settings are read only after the call has filled them.
        unsafe {
            if libc::tcgetattr(terminal.as_raw_fd(), before.as_mut_ptr()) != 0 {
                return None;
            }
            let before: libc::termios = before.assume_init();
            let mut raw = before;
            libc::cfmakeraw(&raw mut raw);
            libc::tcsetattr(terminal.as_raw_fd(), libc::TCSADRAIN, &raw const raw);
            Some(Self { terminal, before })
        }
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // SAFETY: the terminal is open while it is borrowed; the settings are its own.
        unsafe {
            libc::tcsetattr(
                self.terminal.as_raw_fd(),
                libc::TCSADRAIN,
                &raw const self.before,
            )
        };
    }
}

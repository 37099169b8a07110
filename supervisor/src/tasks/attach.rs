//! A task's terminal, shown at another.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use serde_json::json;

use super::store::Store;
use super::wire::Line;
use crate::error::{Error, tried};
use crate::sys::{self, Raw};

/// Ctrl-\ leaves the task as it is.
const DETACH: u8 = 0x1c;
/// A terminal's size is looked at so often.
const LOOK: Duration = Duration::from_millis(500);

/// The rows and columns of a terminal
/// ([ioctl_tty(2)](https://man7.org/linux/man-pages/man2/ioctl_tty.2.html)); none if it is none.
///
/// ```
/// use std::os::fd::AsFd as _;
///
/// let file = std::fs::File::open("/dev/null")?;
/// assert_eq!(spawn_owned::tasks::terminal_size(file.as_fd()), None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn terminal_size(terminal: BorrowedFd<'_>) -> Option<(u16, u16)> {
    sys::size(terminal)
}

impl Store {
    /// Shows a task's terminal at `terminal` and gives it the keys, until Ctrl-\ or the task's end.
    /// Meanwhile `terminal` is raw ([termios(3)](https://man7.org/linux/man-pages/man3/termios.3.html)).
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// use std::os::fd::AsFd as _;
    ///
    /// let store = Store::open()?;
    /// let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty")?;
    /// store.attach(&store.find("editor")?.id, terminal.as_fd())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if the task has no terminal or has ended, [`Error::System`] if `terminal` is gone.
    pub fn attach(&self, id: &str, terminal: BorrowedFd<'_>) -> Result<(), Error> {
        let fault = |fault: &str| Error::Task {
            task: id.to_owned(),
            fault: fault.to_owned(),
        };
        let mut line = Line::connect(&self.folder(id)).map_err(|_| fault("it has ended"))?;
        let (rows, columns) = sys::size(terminal).unwrap_or((24, 80));
        let ask = json!({"do": "attach", "rows": rows, "columns": columns});
        line.say(&ask).map_err(self.failed(id))?;
        let end = Some(Instant::now() + Duration::from_secs(10));
        let answer = line.hear(end).map_err(self.failed(id))?;
        let answer = answer.ok_or_else(|| fault("it has ended"))?;
        if let Some(why) = answer["fault"].as_str() {
            return Err(fault(why));
        }
        let own = terminal
            .try_clone_to_owned()
            .map_err(tried("use the terminal"))?;
        let mut keys = std::fs::File::from(own);
        let mut known = (rows, columns);
        let _raw = Raw::new(terminal);
        let mut buffer = [0; 16 * 1024];
        // What came with the answer is output already.
        let mut first = line.rest();
        loop {
            keys.write_all(&first)
                .map_err(tried("write to the terminal"))?;
            first.clear();
            let ready = sys::poll_pair(Some(keys.as_fd()), Some(line.stream.as_fd()), Some(LOOK));
            let (typed, shown) = ready.map_err(tried("wait for the terminal"))?;
            if typed {
                let length = keys.read(&mut buffer).map_err(tried("read the terminal"))?;
                let leaves = buffer[..length].contains(&DETACH);
                let kept = buffer[..length]
                    .iter()
                    .copied()
                    .take_while(|key| *key != DETACH);
                let kept: Vec<u8> = kept.collect();
                if length == 0 || line.stream.write_all(&kept).is_err() || leaves {
                    return Ok(());
                }
            }
            if shown {
                match line.stream.read(&mut buffer) {
                    Ok(length @ 1..) => first.extend_from_slice(&buffer[..length]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => return Ok(()),
                }
            }
            if let Some(size) = sys::size(terminal).filter(|size| *size != known) {
                known = size;
                let ask = json!({"do": "resize", "rows": size.0, "columns": size.1});
                // One that has ended needs no size.
                let _ = super::wire::ask(&self.folder(id), &ask, Some(Instant::now() + LOOK));
            }
        }
    }
}

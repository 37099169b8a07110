//! `owned run` at a terminal: the command reads it, Ctrl-C and another size reach it, Ctrl-Z stops it as a job.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::process::{Child, Command, Stdio};

use crate::witness::{DEADLINE, heed_the_terminal, kill, state};

/// A shell at a terminal of its own, and what it has shown.
pub(crate) struct Terminal {
    ours: File,
    shell: Child,
    shown: String,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        heed_the_terminal();
        let (mut ours, mut theirs) = (0, 0);
        // SAFETY: both numbers are filled; nothing else is passed.
        let (ours, theirs) = unsafe {
            let none = std::ptr::null_mut();
            assert_eq!(
                libc::openpty(
                    &raw mut ours,
                    &raw mut theirs,
                    none,
                    none.cast(),
                    none.cast()
                ),
                0
            );
            libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(theirs, libc::F_SETFD, libc::FD_CLOEXEC);
            (File::from_raw_fd(ours), File::from_raw_fd(theirs))
        };
        let stream = || Stdio::from(theirs.try_clone().expect("a copy"));
        // detached-spawn: a shell needs a session for its terminal; it ends with the test
        let shell = Command::new("setsid")
            .args(["--ctty", "/bin/bash", "--norc", "--noediting", "-i"])
            .env("PS1", "")
            .env("TERM", "dumb")
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .expect("setsid of util-linux, and bash");
        Self {
            ours,
            shell,
            shown: String::new(),
        }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.ours.write_all(text.as_bytes()).expect("a terminal");
    }

    /// Gives it another size, as a person does who draws at its window.
    fn resize(&self, rows: u16, columns: u16) {
        let size = libc::winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: a valid size, for a terminal that is open.
        let resized =
            unsafe { libc::ioctl(self.ours.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(resized, 0);
    }

    /// Reads until the terminal has shown `text`, and forgets what came before.
    pub(crate) fn until(&mut self, text: &str) {
        let end = std::time::Instant::now() + DEADLINE;
        while !self.shown.contains(text) {
            assert!(
                std::time::Instant::now() < end,
                "no {text:?} in {:?}",
                self.shown
            );
            let mut place = libc::pollfd {
                fd: self.ours.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one valid entry.
            if unsafe { libc::poll(&raw mut place, 1, 100) } == 1 {
                let mut buffer = [0; 4096];
                let length = self.ours.read(&mut buffer).unwrap_or(0);
                self.shown
                    .push_str(&String::from_utf8_lossy(&buffer[..length]));
            }
        }
        let after = self.shown.find(text).map_or(0, |at| at + text.len());
        self.shown.drain(..after);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn a_command_at_a_terminal() {
    let owned = env!("CARGO_BIN_EXE_owned");
    let mut terminal = Terminal::new();
    terminal.write("stty -echo; echo rea''dy\n");
    terminal.until("ready");
    // It reads the terminal.
    terminal.write(&format!(
        "{owned} run -- sh -c 'echo as''king; read x; echo got:$x; exit 4'; echo st=$?\n"
    ));
    terminal.until("asking");
    terminal.write("an answer\n");
    terminal.until("got:an answer");
    terminal.until("st=4");
    // Ctrl-C reaches it.
    terminal.write(&format!(
        "{owned} run -- sh -c 'echo run''ning; exec sleep 1000'; echo st=$?\n"
    ));
    terminal.until("running");
    terminal.write("\x03");
    terminal.until("st=130");
    // It hears of another size.
    terminal.write(&format!(
        "{owned} run -- sh -c 'trap \"stty size; exit 6\" WINCH; echo wai''ting; while :; do sleep 0.05; done'; echo st=$?\n"
    ));
    terminal.until("waiting");
    terminal.resize(33, 101);
    terminal.until("33 101");
    terminal.until("st=6");
    // Ctrl-Z stops it, as a job of the shell, and it goes on in the foreground.
    terminal.write(&format!(
        "{owned} run -- sh -c 'echo pid=$$.; read x; echo got:$x'\n"
    ));
    terminal.until("pid=");
    terminal.until_number_then_stop();
    terminal.write("fg\n");
    terminal.until("owned run");
    terminal.write("once more\n");
    terminal.until("got:once more");
    terminal.write("echo st=$?\n");
    terminal.until("st=0");
}

impl Terminal {
    /// Reads the command's number, presses Ctrl-Z, and waits until the command and the job are stopped.
    fn until_number_then_stop(&mut self) {
        while !self.shown.contains('.') {
            let mut buffer = [0; 64];
            let length = self.ours.read(&mut buffer).unwrap_or(0);
            self.shown
                .push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        let pid: i32 = self
            .shown
            .split('.')
            .next()
            .and_then(|pid| pid.parse().ok())
            .expect("a number");
        self.write("\x1a");
        crate::witness::until("the command is stopped", || state(pid) == Some('T'));
        self.until("Stopped");
        kill(pid, 0);
    }
}

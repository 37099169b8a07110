//! `owned run`: a command in the foreground, of which nothing outlives the command itself, this process
//! or the one that called it.
//!
//! ```text
//!  caller ◀─ watched ─ front ──── lifeline ────▶ keeper (own group, adopts what is orphaned)
//!                        ▲ ◀───── reports ────────┘  └─ command, in the front's session: it has
//!                        └ terminal, signals             the terminal, and leads a group
//! ```
//!
//! The front is what the caller sees: it has the terminal, passes signals on, and ends with the command's
//! status. The keeper ends everything when the front is gone. It is the parent of all, so that also a
//! daemon with an empty environment comes back to it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::command::{Command, c_text};
use crate::cookie::{self, Marked, VARIABLE};
use crate::error::{Error, tried};
use crate::launch::{self, plain_arguments};
use crate::link::{NATIVE, own_file};
use crate::process::Identity;
use crate::reap::{self, Group, Plan};
use crate::sys::{self, Leads, Pid};

/// The status of a run whose keeper was killed.
const KEEPER_LOST: u8 = 125;
/// The status of a run whose caller is gone: nobody reads it.
const CALLER_GONE: u8 = 129;
/// How long a keeper may let the front wait for a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whose end ends the command.
#[derive(Clone, Copy, Debug)]
pub enum Caller {
    /// The process that started this one.
    Parent,
    /// The process with this number.
    Process(u32),
    /// The process with this number that started at this time.
    Started(u32, u64),
}

/// Runs `command` until it ends, with everything below it; returns the status to end with: the
/// command's own, or 128 and the signal that ended it.
///
/// # Errors
///
/// [`Error::Program`] if the command cannot be run, [`Error::System`] if the caller is gone, or if
/// there are no descriptors or no memory.
pub fn run(command: &Command, caller: Caller, grace: Duration) -> Result<u8, Error> {
    let caller = watch(caller)?;
    let grace = grace.min(reap::LONGEST);
    sys::hold_signals();
    let token = cookie::token().map_err(tried("read /dev/urandom"))?;
    let outer = std::env::var_os(VARIABLE);
    let mark = cookie::value(outer.as_deref(), &token, 1);
    let prepared = command.prepare((VARIABLE, Some(mark)))?;
    let (line_end, line) = sys::pipe().map_err(tried("make a pipe"))?;
    let (reports, reports_end) = sys::pipe().map_err(tried("make a pipe"))?;
    let mut arguments = vec![NATIVE.into(), "keep".into(), token.clone().into()];
    arguments.push(OsString::from(grace.as_millis().to_string()));
    let mut texts = arguments
        .iter()
        .map(|text| c_text(text))
        .collect::<Result<Vec<CString>, _>>()
        .map_err(tried("name the keeper's arguments"))?;
    texts.push(prepared.path.clone());
    texts.extend(plain_arguments(&prepared));
    let own_program = own_file().and_then(|path| c_text(path.as_os_str()));
    let own_program = own_program.map_err(tried("find this program's own file"))?;
    let descriptors = [(line_end.as_raw_fd(), 3), (reports_end.as_raw_fd(), 4)];
    launch::spawn(
        &prepared,
        &own_program,
        &texts,
        &descriptors,
        Leads::Nothing,
        true,
    )?;
    drop((line_end, reports_end));
    let front = Front {
        line,
        terminal: terminal(),
        token,
        grace,
    };
    Ok(front.attend(File::from(reports), &caller))
}

/// A descriptor of the caller, which surely was alive when it was taken.
fn watch(caller: Caller) -> Result<OwnedFd, Error> {
    let gone = || Error::System {
        tried: "watch the process that this command belongs to",
        source: std::io::Error::other("it has ended"),
    };
    let number = match caller {
        Caller::Parent => sys::parent(),
        Caller::Process(pid) | Caller::Started(pid, _) => i32::try_from(pid).map_err(|_| gone())?,
    };
    let handle = sys::open_process(number)
        .map_err(tried("watch the process that this command belongs to"))?;
    let now = crate::process::look(number).filter(|now| !now.ended);
    let same = match caller {
        Caller::Parent => sys::parent() == number,
        Caller::Process(_) => now.is_some(),
        Caller::Started(_, start) => now.is_some_and(|now| now.start == start),
    };
    if same { Ok(handle) } else { Err(gone()) }
}

/// The terminal, if this process has one and is in the foreground there.
pub(crate) fn terminal() -> Option<File> {
    let terminal = File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    (sys::foreground(terminal.as_fd()) == Some(sys::own_group())).then_some(terminal)
}

struct Front {
    line: OwnedFd,
    terminal: Option<File>,
    token: String,
    grace: Duration,
}

impl Front {
    /// Heeds the keeper's reports until the command has ended, the keeper, or the caller.
    fn attend(self, reports: File, caller: &OwnedFd) -> u8 {
        let mut reports = BufReader::new(reports);
        let mut group: Option<Group> = None;
        let mut text = String::new();
        loop {
            // What is buffered already is not announced again.
            if reports.buffer().is_empty() {
                let ready =
                    sys::poll_pair(Some(reports.get_ref().as_fd()), Some(caller.as_fd()), None);
                let Ok((report, gone)) = ready else { continue };
                if gone {
                    return CALLER_GONE;
                }
                if !report {
                    continue;
                }
            }
            text.clear();
            if !matches!(reports.read_line(&mut text), Ok(1..)) {
                return self.without_keeper(group.as_ref());
            }
            let (word, number) = text.trim_end().split_once(' ').unwrap_or_default();
            let number: i32 = number.parse().unwrap_or(0);
            match word {
                "started" => {
                    group = Pid::new(number).and_then(Identity::of).map(Group::hold);
                    self.begin(number);
                }
                "stopped" => self.stop(number, group.as_ref()),
                "ended" => {
                    self.terminal_to(sys::own_group());
                    return u8::try_from(number).unwrap_or(u8::MAX);
                }
                _ => {}
            }
        }
    }

    /// The command waits for its first step: gives it the terminal, and lets it go.
    fn begin(&self, group: i32) {
        self.terminal_to(group);
        self.say("go\n");
        let Ok(line) = self.line.try_clone() else {
            return;
        };
        // Ends with this process: it waits for signals, which come from outside.
        let _ = std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(move || {
                while let Some(signal) = sys::next_signal() {
                    say(line.as_fd(), &format!("signal {signal}\n"));
                }
            });
    }

    /// The command was stopped: so is this job of the caller's shell, until it is continued.
    fn stop(&self, signal: i32, group: Option<&Group>) {
        if self.terminal.is_none() && signal != libc::SIGTSTP {
            return;
        }
        self.terminal_to(sys::own_group());
        sys::stop_here();
        if let Some(group) = group {
            let in_front = self
                .terminal
                .as_ref()
                .and_then(|terminal| sys::foreground(terminal.as_fd()));
            if in_front == Some(sys::own_group()) {
                self.terminal_to(group.leader.pid.get());
            }
        }
        self.say(&format!("signal {}\n", libc::SIGCONT));
    }

    fn terminal_to(&self, group: i32) {
        if let Some(terminal) = &self.terminal {
            // A terminal that is gone is nobody's.
            let _ = sys::give_terminal(terminal.as_fd(), group);
        }
    }

    fn say(&self, words: &str) {
        say(self.line.as_fd(), words);
    }

    /// The keeper was killed: ends what can be found without being everybody's parent.
    fn without_keeper(&self, group: Option<&Group>) -> u8 {
        self.terminal_to(sys::own_group());
        let groups: Vec<&Group> = group.into_iter().collect();
        let marked = Marked::of(&self.token);
        reap::end(&Plan {
            groups: &groups,
            marked: Some(&marked),
            adopts: false,
            grace: self.grace,
            spared: &[sys::own_group()],
        });
        KEEPER_LOST
    }
}

fn say(line: BorrowedFd<'_>, words: &str) {
    // A keeper that is gone is seen by the end of its reports.
    let _ = sys::write_quietly(line, words.as_bytes(), PATIENCE);
}

/// The command before its first step. Arguments: its path, its name, its arguments. Descriptor 3 says
/// go; its end means that the keeper is gone. `ready` is what is left to do then.
pub(crate) fn hold(arguments: &[OsString], ready: impl FnOnce()) -> u8 {
    let (Some(path), Some(mut go)) = (arguments.first(), sys::received(3)) else {
        return launch::NOT_FOUND;
    };
    if !matches!(std::io::Read::read(&mut go, &mut [0]), Ok(1)) {
        return launch::NOT_FOUND;
    }
    launch::become_program(path, &arguments[1..], ready)
}

/// The words of the front to the keeper, one a line.
pub(crate) fn words(line: File) -> impl Iterator<Item = String> {
    BufReader::new(line).lines().map_while(Result::ok)
}

/// A text as an argument.
pub(crate) fn text(text: &str) -> &OsStr {
    OsStr::new(text)
}

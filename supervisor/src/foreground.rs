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

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use crate::command::Command;
use crate::cookie::{self, Marked, VARIABLE};
use crate::error::{Error, tried};
use crate::keeper::{self, Ends, Task};
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::reason;
use crate::sys::{self, Pid};
use crate::words::Words;

/// The status of a run whose keeper was killed.
const KEEPER_LOST: u8 = 125;
/// The status of a run whose caller is gone: nobody reads it.
const CALLER_GONE: u8 = 129;
/// How long a keeper may let the front wait for a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whose end ends the command.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// The process that started this one.
    Parent,
    /// The process with this number.
    Process(u32),
    /// The process with this number that started at this time.
    Started(u32, u64),
    /// Nobody's: the command outlives whoever started this process, for this reason.
    Nobody(&'a str),
}

/// Runs `command` until it ends, with everything below it; returns the status to end with: the
/// command's own, or 128 and the signal that ended it. Only for a process with one thread, since it goes
/// on as two.
///
/// # Errors
///
/// [`Error::Program`] if the command cannot be run, [`Error::Reason`] if what is given as reason is none,
/// [`Error::System`] if the caller is gone, or if there are no descriptors or no memory.
pub fn run(command: &Command, caller: Caller<'_>, grace: Duration) -> Result<u8, Error> {
    let reason = match caller {
        Caller::Nobody(reason) => Some(reason),
        _ => None,
    };
    if let Some(fault) = reason.and_then(reason::fault) {
        return Err(Error::Reason { fault });
    }
    let caller = watch(caller)?;
    let grace = grace.min(reap::LONGEST);
    sys::hold_signals();
    let token = cookie::token().map_err(tried("read /dev/urandom"))?;
    // What must outlive drops the marks of the owners above, which would end it.
    let outer = std::env::var_os(VARIABLE).filter(|_| reason.is_none());
    let mark = cookie::value(outer.as_deref(), &token, 1);
    let prepared = command.prepare((VARIABLE, Some(mark)))?;
    let (line_end, line) = sys::pipe().map_err(tried("make a pipe"))?;
    let (reports, reports_end) = sys::pipe().map_err(tried("make a pipe"))?;
    let (name, name_end) = sys::pipe().map_err(tried("make a pipe"))?;
    let terminal = terminal();
    let front = sys::own_pid();
    let Some(keeper) = sys::fork().map_err(tried("start a keeper"))? else {
        drop((line, reports, name));
        let ends = Ends {
            line: line_end.into(),
            reports: reports_end,
            name: name_end,
        };
        let task = Task {
            prepared: &prepared,
            token: &token,
            grace,
            terminal: terminal.as_ref(),
            caller: caller.as_fd(),
            front,
            reason,
        };
        sys::leave(keeper::run(&task, ends));
    };
    drop((line_end, reports_end, name_end));
    let mut signals = sys::signals_as_bytes(sys::PASSED_ON).map_err(tried("pass signals on"))?;
    let front = Front {
        line,
        terminal,
        token,
        grace,
        name: name.into(),
        group: None,
        keeper,
    };
    Ok(front.attend(&mut Words::new(reports.into()), &caller, &mut signals))
}

/// A descriptor of the caller, which surely was alive when it was taken.
fn watch(caller: Caller<'_>) -> Result<OwnedFd, Error> {
    let gone = || Error::System {
        tried: "watch the process that this command belongs to",
        source: io::Error::other("it has ended"),
    };
    let number = match caller {
        // A parent that cannot be seen from here, as the first process of a container has it, ends this
        // process with the container. Its own end is seen otherwise too.
        Caller::Parent if sys::parent() == 0 => sys::own_pid(),
        Caller::Nobody(_) => sys::own_pid(),
        Caller::Parent => sys::parent(),
        Caller::Process(pid) | Caller::Started(pid, _) => i32::try_from(pid).map_err(|_| gone())?,
    };
    let handle = sys::open_process(number)
        .map_err(tried("watch the process that this command belongs to"))?;
    let now = || process::look(number).filter(|now| !now.ended);
    let same = match caller {
        Caller::Nobody(_) => true,
        Caller::Parent => [number, 0].contains(&sys::parent()),
        Caller::Process(_) => now().is_some(),
        Caller::Started(_, start) => now().is_some_and(|now| now.start == start),
    };
    if same { Ok(handle) } else { Err(gone()) }
}

/// The terminal, if this process has one and is in the foreground there.
fn terminal() -> Option<File> {
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
    keeper: Pid,
    /// Where the keeper says who the command is.
    name: File,
    /// The command's group, once that was asked for.
    group: Option<Group>,
}

impl Front {
    /// Passes signals on and heeds the keeper's reports until the command has ended, the keeper, or the
    /// caller.
    fn attend(mut self, reports: &mut Words, caller: &OwnedFd, signals: &mut File) -> u8 {
        loop {
            let asked = [reports.as_fd(), caller.as_fd(), signals.as_fd()].map(|fd| (fd, false));
            let Ok(ready) = sys::poll_many(&asked, None) else {
                continue;
            };
            let said = |at: usize| ready.get(at).is_some_and(|ready| ready.read);
            if said(1) {
                return CALLER_GONE;
            }
            if said(2) {
                self.pass_on(signals);
            }
            if !said(0) {
                continue;
            }
            if !reports.hear() {
                return self.without_keeper();
            }
            while let Some(report) = reports.take() {
                if let Some(status) = self.heed(&report) {
                    return status;
                }
            }
        }
    }

    fn pass_on(&self, signals: &mut File) {
        let mut numbers = [0; 64];
        let length = signals.read(&mut numbers).unwrap_or(0);
        for number in numbers.iter().take(length) {
            self.say_signal(i32::from(*number));
        }
    }

    fn say_signal(&self, number: i32) {
        let words = format!("signal {number}\n");
        // A keeper that is gone is seen by the end of its reports.
        let _ = sys::write_quietly(self.line.as_fd(), words.as_bytes(), PATIENCE);
    }

    /// Does what follows from a report; the status to end with after the last one.
    fn heed(&mut self, report: &str) -> Option<u8> {
        let (word, number) = report.split_once(' ')?;
        match word {
            "stopped" => self.stop(number.parse().unwrap_or(0)),
            "ended" => {
                self.take_terminal_back();
                // It is about to end: then nothing is left, itself included.
                let _ = sys::peek(self.keeper, true);
                let _ = sys::reap(self.keeper);
                return Some(number.parse().unwrap_or(u8::MAX));
            }
            _ => {}
        }
        None
    }

    /// The command's group, as the keeper has named it before the first step.
    fn group(&mut self) -> Option<&Group> {
        if self.group.is_none() {
            let mut text = [0; 64];
            let length = self.name.read(&mut text).unwrap_or(0);
            let text = std::str::from_utf8(text.get(..length)?).ok()?;
            let (pid, start) = text.split_once(' ')?;
            self.group = Identity::named(pid.as_bytes(), start.as_bytes()).map(Group::hold);
        }
        self.group.as_ref()
    }

    /// The command was stopped: so is this job of the caller's shell, until it is continued.
    fn stop(&mut self, signal: i32) {
        if self.terminal.is_none() && signal != libc::SIGTSTP {
            return;
        }
        self.take_terminal_back();
        sys::stop_here();
        if let Some(group) = self.group().map(|group| group.leader.pid.get())
            && self.in_front() == Some(sys::own_group())
        {
            self.terminal_to(group);
        }
        self.say_signal(libc::SIGCONT);
    }

    /// The group that has the terminal.
    fn in_front(&self) -> Option<i32> {
        sys::foreground(self.terminal.as_ref()?.as_fd())
    }

    /// Takes the terminal back from the command's group; not from another job, that the shell has put in
    /// front meanwhile.
    fn take_terminal_back(&mut self) {
        if self.terminal.is_none() {
            return;
        }
        let in_front = self.in_front();
        let group = self.group().map(|group| group.leader.pid.get());
        if in_front == group {
            self.terminal_to(sys::own_group());
        }
    }

    fn terminal_to(&self, group: i32) {
        if let Some(terminal) = &self.terminal {
            // A terminal that is gone is nobody's.
            let _ = sys::give_terminal(terminal.as_fd(), group);
        }
    }

    /// The keeper was killed: ends what can be found without being everybody's parent.
    fn without_keeper(&mut self) -> u8 {
        self.take_terminal_back();
        self.group();
        let groups: Vec<&Group> = self.group.iter().collect();
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

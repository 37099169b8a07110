//! What a task can be, and what it can belong to.

use std::fmt;

use serde_json::{Value, json};

use crate::process::{self, Identity};
use crate::sys::{self, Pid};

/// What a task is.
///
/// ```
/// use spawn_owned::tasks::State;
///
/// assert_eq!(State::TimedOut.to_string(), "timed out"); // for people
/// assert_eq!(State::TimedOut.name(), "timed_out"); // in records
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is known, and its command has not taken its first step.
    Created,
    /// Its command runs.
    Running,
    /// Its command ended with status 0.
    Completed,
    /// Its command ended with another status or by a signal that nobody here sent, or never ran.
    Failed,
    /// It was ended at its time limit.
    TimedOut,
    /// It was ended by a stop, or because its owner ended.
    Cancelled,
    /// Its keeper was killed: how its command ended is not known, and is not invented.
    Lost,
}

/// Every state with its name in records.
const NAMES: [(State, &str); 7] = [
    (State::Created, "created"),
    (State::Running, "running"),
    (State::Completed, "completed"),
    (State::Failed, "failed"),
    (State::TimedOut, "timed_out"),
    (State::Cancelled, "cancelled"),
    (State::Lost, "lost"),
];

impl State {
    /// Whether nothing changes it any more.
    ///
    /// ```
    /// # use spawn_owned::tasks::State;
    /// assert!(State::Lost.is_final());
    /// assert!(!State::Running.is_final());
    /// ```
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Created | Self::Running)
    }

    /// Its name in records.
    ///
    /// ```
    /// # use spawn_owned::tasks::State;
    /// assert_eq!(State::Cancelled.name(), "cancelled");
    /// ```
    pub fn name(self) -> &'static str {
        let named = NAMES.iter().find(|(state, _)| *state == self);
        named.map_or("lost", |(_, name)| name)
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let named = NAMES.iter().find(|(_, known)| *known == name);
        named.map(|(state, _)| *state)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().replace('_', " "))
    }
}

/// A process as records name it: its number means nothing without its start, the 22nd field of
/// [proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
///
/// ```
/// use spawn_owned::tasks::Who;
///
/// let own = Who::own();
/// let successor = Who { start: own.start + 1, ..own }; // the same number, given again
/// assert!(own.lives() && !successor.lives());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did; 0 where the system does not say.
    pub start: u64,
}

impl Who {
    /// The process that has this number now; none if nobody has, or only a process that has ended.
    ///
    /// ```
    /// # use spawn_owned::tasks::Who;
    /// let own = i32::try_from(std::process::id())?;
    /// assert_eq!(Who::now(own), Some(Who::own()));
    /// # Ok::<(), std::num::TryFromIntError>(())
    /// ```
    pub fn now(pid: i32) -> Option<Self> {
        let process = process::look(pid).filter(|process| !process.ended)?;
        Some(Self {
            pid,
            start: process.start,
        })
    }

    /// This very process.
    ///
    /// ```
    /// # use spawn_owned::tasks::Who;
    /// let own = Who::own();
    /// println!("export OWNED_OWNER={}:{}", own.pid, own.start);
    /// ```
    pub fn own() -> Self {
        let pid = sys::own_pid();
        Self::now(pid).unwrap_or(Self { pid, start: 0 })
    }

    /// The process that called this program: its parent, or the one above that of which the parent is a
    /// mere fork. `id=$(owned start …)` in a shell is called by the shell, not by the subshell that
    /// ends with the line.
    ///
    /// ```
    /// # use spawn_owned::tasks::Who;
    /// if let Some(caller) = Who::caller() {
    ///     println!("called by {} ({})", caller.program(), caller.pid);
    /// }
    /// ```
    pub fn caller() -> Option<Self> {
        let mut pid = sys::parent();
        while process::forked_only(pid) {
            let above = process::look(pid)?.parent;
            // The first process was never anything else, and is no owner.
            if above < 2 {
                break;
            }
            pid = above;
        }
        Self::now(pid)
    }

    /// The program that it runs, for people.
    ///
    /// ```
    /// # use spawn_owned::tasks::Who;
    /// println!("this is {}", Who::own().program());
    /// ```
    pub fn program(self) -> String {
        let words = process::command_line(self.pid);
        let name = words
            .first()
            .map_or("?", |word| word.rsplit('/').next().unwrap_or(word));
        name.to_owned()
    }

    /// Whether it has not ended.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let server = Store::open()?.find("dev-server")?;
    /// if let Some(main) = server.main.filter(|main| main.lives()) {
    ///     println!("strace -p {}", main.pid); // never one that was given its number since
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn lives(self) -> bool {
        process::lives(self.pid, self.start)
    }

    pub(crate) fn identity(self) -> Option<Identity> {
        Some(Identity {
            pid: Pid::new(self.pid)?,
            start: self.start,
        })
    }

    pub(crate) fn value(self) -> Value {
        json!({"pid": self.pid, "start": self.start})
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        Some(Self {
            pid: i32::try_from(value["pid"].as_i64()?).ok()?,
            start: value["start"].as_u64()?,
        })
    }
}

impl From<Identity> for Who {
    fn from(identity: Identity) -> Self {
        Self {
            pid: identity.pid.get(),
            start: identity.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_known_by_its_name() {
        for (state, name) in NAMES {
            assert_eq!(State::named(name), Some(state));
            assert_eq!(state.name(), name);
        }
        assert_eq!(State::named("done"), None);
    }

    #[test]
    fn a_number_alone_is_nobody() {
        let own = Who::own();
        assert!(own.lives());
        let other = Who {
            start: own.start + 1,
            ..own
        };
        assert!(!other.lives());
        assert_eq!(Who::from_value(&own.value()), Some(own));
    }
}

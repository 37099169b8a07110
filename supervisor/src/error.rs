//! What can go wrong, said to people: what was tried, on which path, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why something was not done.
///
/// ```
/// use spawn_owned::{Command, Error, Owner};
///
/// let owner = Owner::builder().no_ledger().build()?;
/// let failed = owner.spawn_owned(Command::new("/no/such/program"), "it cannot be run");
/// match failed {
///     Err(Error::Program { program, source }) => {
///         assert_eq!(program.to_str(), Some("/no/such/program"));
///         assert_eq!(source.kind(), std::io::ErrorKind::NotFound); // a shell's status 127
///     }
///     other => drop(other?),
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The program cannot be run: nothing was started.
    Program {
        /// What was asked for, or the path it was found at.
        program: PathBuf,
        /// Why it cannot be run.
        source: io::Error,
    },
    /// The system did not start the process.
    Spawn {
        /// What was to be started.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no supervisor, so a child would not be ended with its owner: nothing was started.
    Unprotected {
        /// Why there is none.
        why: String,
    },
    /// A group was not taken, because ending it would end something else.
    Refused {
        /// The number of the group.
        group: i32,
        /// What is wrong with it.
        why: Refusal,
    },
    /// A reason is missing, too short, or a placeholder.
    Reason {
        /// What is wrong with it, to follow "the reason".
        fault: String,
    },
    /// The child's status was taken by another part of this program, or the system does not keep it, as
    /// `SIGCHLD` is ignored ([waitpid(2)](https://man7.org/linux/man-pages/man2/waitpid.2.html)).
    StatusLost {
        /// The child's number.
        id: u32,
    },
    /// The handle was made before this process was forked: the child is the other process's
    /// ([fork(2)](https://man7.org/linux/man-pages/man2/fork.2.html)).
    Forked,
    /// The child, or something it started, does not end although it was killed.
    StillAlive {
        /// How many processes live on.
        processes: usize,
    },
    /// The ledger cannot be read or written.
    Ledger {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A task is not known, not the only one, or not able to do what was asked.
    Task {
        /// What the task was called.
        task: String,
        /// What is wrong, to follow its name.
        fault: String,
    },
    /// What is recorded of tasks cannot be read or written.
    State {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused something that has no better name here.
    System {
        /// What was tried.
        tried: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

/// What is wrong with a group that was to be owned. What groups are, and who leads one, says
/// [credentials(7)](https://man7.org/linux/man-pages/man7/credentials.7.html).
///
/// ```
/// let owner = spawn_owned::Owner::builder().no_ledger().build()?;
/// let error = owner.own_process_groups([0]).unwrap_err();
/// let said = "cannot own process group 0: that is no number of a process group";
/// assert_eq!(error.to_string(), said);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// 0, 1 or negative: that means everybody, or the first process.
    NotAGroup,
    /// No process has this number.
    Gone,
    /// The process does not lead its group, so that its number is not the group's.
    NotALeader,
    /// The owner is in it.
    OwnGroup,
    /// A process above the owner is in it.
    AncestorsGroup,
    /// It belongs to another user.
    AnotherUser,
    /// It started before the owner, so the owner cannot have caused it.
    OlderThanOwner,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAGroup => "that is no number of a process group",
            Self::Gone => "no process leads it",
            Self::NotALeader => "the process does not lead a group",
            Self::OwnGroup => "it is the owner's own group",
            Self::AncestorsGroup => "a process above the owner is in it",
            Self::AnotherUser => "it belongs to another user",
            Self::OlderThanOwner => "it started before the owner",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program { program, source } => {
                write!(f, "cannot run `{}`: {source}", program.display())
            }
            Self::Spawn { program, source } => {
                write!(f, "cannot start `{}`: {source}", program.display())
            }
            Self::Unprotected { why } => {
                write!(f, "nothing was started, as it would outlive this process: {why}")
            }
            Self::Refused { group, why } => write!(f, "cannot own process group {group}: {why}"),
            Self::Reason { fault } => write!(
                f,
                "a process that outlives this one needs a reason, and the reason {fault}"
            ),
            Self::StatusLost { id } => write!(
                f,
                "the status of process {id} was taken by another part of this program (a handler of SIGCHLD, or a wait for any child)"
            ),
            Self::Forked => f.write_str(
                "this handle was made before the process was forked: only the process that started the child can wait for it",
            ),
            Self::StillAlive { processes } => write!(
                f,
                "{processes} processes live on although they were killed (waiting for a device, or of another user)"
            ),
            Self::Ledger { path, source } => {
                write!(f, "cannot use the ledger {}: {source}", path.display())
            }
            Self::Task { task, fault } => write!(f, "task `{task}`: {fault}"),
            Self::State { path, source } => {
                write!(f, "cannot use the records of tasks in {}: {source}", path.display())
            }
            Self::System { tried, source } => write!(f, "cannot {tried}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Program { source, .. }
            | Self::Spawn { source, .. }
            | Self::Ledger { source, .. }
            | Self::State { source, .. }
            | Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Names what was tried when the system refuses it.
pub(crate) fn tried(tried: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::System { tried, source }
}

//! # spawn-owned
//!
//! Child processes that end when their owner ends, whatever ended it: a return, a panic, `kill -9`,
//! the kernel out of memory, a service manager.
//!
//! ```no_run
//! use spawn_owned::{Command, Stdio, spawn_owned};
//!
//! fn main() -> Result<(), spawn_owned::Error> {
//!     spawn_owned::init();
//!     let mut command = Command::new("model-server");
//!     command.arg("--port").arg("8080").stdout(Stdio::null());
//!     let server = spawn_owned(command, "the model of this session")?;
//!     // … when this process ends now, by whatever means, the server ends too.
//!     server.stop(std::time::Duration::from_secs(5))?;
//!     Ok(())
//! }
//! ```
//!
//! ## How it works
//!
//! ```text
//!  owner ──────── lifeline: a pipe, its only write end here ────────▶ supervisor
//!    │                                                               (own session, reads lines,
//!    └─ clone ─▶ child ─────── "+ PID START" on the lifeline ──────▶  ends the groups at the end)
//!                  └─ exec ─▶ program, leader of its own group, mark in its environment
//! ```
//!
//! The child registers itself in the moment in which it shares the owner's memory
//! ([vfork(2)](https://man7.org/linux/man-pages/man2/vfork.2.html)), as
//! [posix_spawn(3)](https://man7.org/linux/man-pages/man3/posix_spawn.3.html) has it do its own work: no
//! other program stands in between, and the owner's size costs nothing. Where a system
//! permits no such child, a launcher is started in its place: the owner's own file, `owned`, or the shell. It may
//! be late, so it says `= PID START NUMBER`: that means nothing any more if the child with this number was
//! handed back.
//!
//! The system closes the lifeline when the owner ends, by any means, and a pipe without a writer is at its
//! end ([pipe(7)](https://man7.org/linux/man-pages/man7/pipe.7.html)). The supervisor then asks every
//! group that it was told of to end, waits at most the grace, kills, and looks for processes that carry
//! the owner's mark although they have left their group.
//!
//! ## The map
//!
//! | room | what it knows |
//! | --- | --- |
//! | `owner` | what a program talks to: [`Owner`], [`Builder`], [`Status`] |
//! | `owned`, `detached` | the handles of children: [`Owned`], [`Detached`] |
//! | `tokio` | the handle for programs on that runtime, around the other (feature `tokio`) |
//! | `command` | what to run, made ready for the system |
//! | `launch` | how a child is started that registers itself, and the launcher for where none can |
//! | `shared` | what is covered: the set that is the truth |
//! | `link`, `watch` | the lifeline, its supervisor, and what happens when that ends |
//! | `supervise`, `supervisor.sh` | the two supervisors, one protocol; `owned supervise` |
//! | `foreground`, `keeper` | `owned run`: a command that dies with its caller |
//! | `first_step` | a command that waits until its keeper is ready for it |
//! | `words` | what the front of a run and its keeper say to each other |
//! | `tasks` | work in the background: [`tasks::Tasks`], its keeper, its record on disk |
//! | `reap` | the end of a set of groups; the same for every occasion |
//! | `cookie`, `process` | the mark; what the system says of a process |
//! | `adopt` | which groups of others may be owned |
//! | `ledger`, `sweep` | the record, and what follows from it after a double death |
//! | `doctor` | what was orphaned on this machine, and whose it was |
//! | `sys` | the C library; all `unsafe` is there |
//!
//! ## Invariants
//!
//! 1. `sys` alone starts processes, and alone has `unsafe`.
//! 2. A signal goes to a number above 1 only, and to a group only while its identity holds.
//! 3. The lifeline's write end is closed in every program that is started and in every forked child.
//! 4. A child is told of on the lifeline before it runs anything.
//! 5. The set of covered groups is the truth; a supervisor only has a copy, and a new one finds it in its
//!    pipe when it begins.
//! 6. No call that a program makes waits for a supervisor longer than two seconds.
//!
//! ## What still escapes
//!
//! A process that left its group **and** whose mark is not found: it cleared its environment, dropped the
//! mark (`env -u SPAWN_OWNED`, as [`spawn_detached`] does), or may not be read (a set-user-id program,
//! `PR_SET_DUMPABLE` of [prctl(2)](https://man7.org/linux/man-pages/man2/prctl.2.html), unless the
//! supervisor is root's). In a control group
//! ([`Builder::control_group`]) these are ended too, and under `owned run`, for its keeper is the parent of
//! all below it; so it also ends what [`spawn_detached`] started in there. From all of it escapes what is no
//! descendant: work that is handed to a server that runs already (tmux, at, a service manager, containers).
//! The README has the table, as the tests measured it.
//!
//! A process that is just becoming another program shows no environment for a moment, and one that forks for
//! ever is another whenever it is looked at. So a supervisor believes that nothing got away only after several
//! looks in a row that found nothing: the native one after four, a tenth of a second apart, the shell's, which
//! cannot take hold of what it finds, after twenty; and it looks for ten seconds as long as it finds something.
//! `owned run` and the keepers of tasks are the parents of what is orphaned below them and need no such looks.
//!
//! And what is left when owner and supervisor are killed in the same instant: [`sweep`] ends that later.
//! A program that the owner turns itself into by `exec` counts as the owner's death.
//!
//! A child that is stopped when its owner dies is sent `SIGHUP` and `SIGCONT` by the system itself, before
//! anybody asks it to end, if nobody of its session is left above it
//! ([exit(3)](https://man7.org/linux/man-pages/man3/exit.3.html)): without a handler for `SIGHUP` it ends
//! of that.
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(not(unix))]
compile_error!(
    "spawn-owned works on Unix only: on Windows owned children need job objects, which are not built yet"
);

mod adopt;
mod command;
mod cookie;
mod detached;
pub mod doctor;
mod error;
mod first_step;
#[doc(hidden)]
pub mod foreground;
mod keeper;
mod launch;
mod ledger;
mod link;
mod owned;
mod owner;
mod process;
mod reap;
mod reason;
mod sabotage;
mod shared;
#[doc(hidden)]
pub mod supervise;
mod sweep;
mod sys;
pub mod tasks;
#[cfg(feature = "tokio")]
pub mod tokio;
mod watch;
mod words;

pub use command::{Command, Stdio};
pub use detached::Detached;
pub use error::{Error, Refusal};
pub use link::Tier;
pub use owned::Owned;
pub use owner::{Builder, Owner, Status};
pub use sweep::Swept;

/// Lets this program's own file serve as launcher and supervisor. To be called first in `main`.
///
/// In a process that was started as one of these it does its work and never returns. Without it the
/// system's shell serves, which needs more memory and time.
///
/// ```no_run
/// use spawn_owned::{Command, Error, init, spawn_owned};
///
/// fn main() -> Result<(), Error> {
///     init(); // before arguments are read and threads are started
///     let mut server = spawn_owned(Command::new("model-server"), "the model of this session")?;
///     server.wait()?;
///     Ok(())
/// }
/// ```
#[expect(
    clippy::exit,
    reason = "a launcher or supervisor must not run the program that it is made from"
)]
pub fn init() {
    let mut arguments = std::env::args_os();
    if arguments.next().is_some_and(|name| name == link::NATIVE) {
        let role = arguments.next().unwrap_or_default();
        std::process::exit(match role.as_encoded_bytes() {
            b"launch" => launch::launcher::run(arguments).into(),
            b"task" => tasks::keep().into(),
            b"supervise" => supervise::run(&arguments.collect::<Vec<_>>()).into(),
            _ => 2,
        });
    }
    link::initialised();
}

/// Starts a child that ends when this process ends. See [`Owner::spawn_owned`].
///
/// ```no_run
/// # use spawn_owned::{Command, spawn_owned};
/// let mut command = Command::new("sh");
/// command.arg("-c").arg("make test && make coverage");
/// let mut tests = spawn_owned(command, "the tests of this change")?;
/// println!("the tests ended with {}", tests.wait()?);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::spawn_owned`].
pub fn spawn_owned(command: Command, purpose: &str) -> Result<Owned, Error> {
    Owner::global()?.spawn_owned(command, purpose)
}

/// Owns process groups that somebody else started. See [`Owner::own_process_groups`].
///
/// ```no_run
/// # fn launch_browser() -> u32 { 4000 }
/// // A library starts a browser, which leads a group, and says no more than its number.
/// let browser = launch_browser();
/// spawn_owned::own_process_groups([browser])?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::own_process_groups`].
pub fn own_process_groups(groups: impl IntoIterator<Item = u32>) -> Result<(), Error> {
    Owner::global()?.own_process_groups(groups)
}

/// Hands process groups back. See [`Owner::release_process_groups`].
///
/// ```no_run
/// // This program is about to become its next version by `exec`: what it owns now is to live on.
/// let owned = spawn_owned::status()?.groups;
/// spawn_owned::release_process_groups(owned)?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::release_process_groups`].
pub fn release_process_groups(groups: impl IntoIterator<Item = u32>) -> Result<(), Error> {
    Owner::global()?.release_process_groups(groups)
}

/// Hands a group back once nobody is left in it. See [`Owner::release_process_group_once_empty`].
///
/// ```no_run
/// # let daemon = 4000;
/// spawn_owned::own_process_groups([daemon])?;
/// // The daemon was told to shut down. Until its last worker has ended, its group stays owned.
/// spawn_owned::release_process_group_once_empty(daemon)?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::release_process_group_once_empty`].
pub fn release_process_group_once_empty(group: u32) -> Result<(), Error> {
    Owner::global()?.release_process_group_once_empty(group)
}

/// Starts a process that outlives this one, and records why. See [`Owner::spawn_detached`].
///
/// ```no_run
/// # use spawn_owned::{Command, spawn_detached};
/// let mut command = Command::new("/opt/app/updater");
/// command.arg("--replace").arg(std::process::id().to_string());
/// spawn_detached(command, "the updater must outlive the process that it replaces")?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::spawn_detached`].
pub fn spawn_detached(command: Command, reason: &str) -> Result<Detached, Error> {
    Owner::global()?.spawn_detached(command, reason)
}

/// What the global owner covers. See [`Owner::status`].
///
/// ```no_run
/// if let Some(why) = spawn_owned::status()?.unprotected {
///     eprintln!("children would outlive this process: {why}");
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::status`].
pub fn status() -> Result<Status, Error> {
    Owner::global()?.status()
}

/// Ends what owners left that were killed together with their supervisors. See [`Owner::sweep`].
///
/// ```no_run
/// // When a service starts again: the kernel may have killed the last one and its supervisor at once.
/// let swept = spawn_owned::sweep()?;
/// println!("ended {} groups of {} dead owners", swept.groups, swept.owners);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// As [`Owner::sweep`].
pub fn sweep() -> Result<Swept, Error> {
    Owner::global()?.sweep()
}

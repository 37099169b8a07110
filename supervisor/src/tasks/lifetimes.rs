//! # Which lifetime, and when
//!
//! ## Owned
//!
//! The task ends with its owner, by whatever death: its command is asked (`SIGTERM`), what survives is
//! asked, and after the grace killed. Take it for everything that is of use only while somebody is there
//! to use it: a build, a test run, a development server, a model server of one session, a browser that
//! is driven by a program. `owned start` takes the calling shell as owner; an agent that runs each of
//! its commands in a shell of its own says once who it is (`OWNED_OWNER=PID:START`).
//!
//! ```no_run
//! # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
//! # fn main() -> Result<(), spawn_owned::Error> {
//! # spawn_owned::init();
//! let tasks = Tasks::of(Owner::global()?).build()?;
//! let server = tasks.start(Start::new(Command::new("model-server")))?;
//! assert_eq!(server.lifetime(), "owned");
//! # Ok(())
//! # }
//! ```
//!
//! ```sh
//! owned start --name server -- model-server      # ends with this shell
//! owned run -- model-server                      # the same, in the foreground
//! ```
//!
//! ## Persistent
//!
//! The task lives on when whoever started it ends, and says why: `--persist REASON`, [`Start::persist`].
//! A sweep of an owner passes it by; [`Store::stop`] ends it, and so does its time limit. Take it for a
//! service that is set up by a program which then leaves. What its command leaves, like the daemon that
//! it has become, is its purpose: it is listed as left, and stopped with the task. `owned run --persist REASON`
//! outlives its caller too, and ends with the process that `owned run` itself is.
//!
//! ```no_run
//! # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
//! # fn main() -> Result<(), spawn_owned::Error> {
//! # spawn_owned::init();
//! # let tasks = Tasks::of(Owner::global()?).build()?;
//! let start = Start::new(Command::new("dev-server"))
//!     .name("dev-server")
//!     .persist("the user keeps it open between sessions")?;
//! assert_eq!(tasks.start(start)?.lifetime(), "persistent");
//! // In a later process, by whoever wants it to end:
//! let store = tasks.store();
//! store.stop(&[store.find("dev-server")?.id], None);
//! # Ok(())
//! # }
//! ```
//!
//! ```sh
//! owned start --name dev-server --persist 'the user keeps it open between sessions' -- dev-server
//! owned stop dev-server
//! ```
//!
//! ## Adopted
//!
//! A task of an owner built to recover is not ended with it. It waits for the next owner of this name,
//! at most as long as was said (ten minutes with `owned start`), and belongs to that one then. Take it
//! for long work of a program that is restarted: an upgrade, a crash. The keeper is the command's parent
//! all along, so that the new owner learns the true status; if the keeper was killed too, nothing of the
//! task lives, and its status is not known.
//!
//! ```no_run
//! # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
//! # use std::time::Duration;
//! # fn main() -> Result<(), spawn_owned::Error> {
//! # spawn_owned::init();
//! let tasks = Tasks::of(Owner::global()?)
//!     // Takes over what the gateway before this one left, and lets what this one starts wait for the next.
//!     .recover("gateway", Duration::from_secs(600))
//!     .build()?;
//! tasks.start(Start::new(Command::new("long-build")))?;
//! while let Some(notice) = tasks.next_notice(Duration::from_secs(3600)) {
//!     println!("{}: {} ({})", notice.task.id, notice.task.state, notice.task.lifetime());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ```sh
//! owned start --recover gateway --patience 10m -- long-build
//! owned adopt gateway        # said by the shell that is its owner from now on
//! ```
//!
//! ## What is deliberately not owned
//!
//! | what | why | how |
//! | --- | --- | --- |
//! | background work of a gateway that recovers it | it is taken over after a crash, with its log | `Builder::recover`, `owned start --recover NAME` |
//! | a task that its user wants to keep | it must outlive the session | `owned start --persist REASON` |
//! | a virtual screen, a display | attached to again by the next session | `--recover NAME`: taken over by identity only |
//! | an updater, a restarter | it replaces the program that starts it | [`spawn_detached`](crate::spawn_detached) with the reason |
//! | a system service | the service manager owns it | a unit; nothing to be started from here |
//! | scheduled work | the scheduler owns it | `owned run -- CMD` in its table, so that nothing is left of it |
//! | a connection to a browser that a person started | it was there before | nothing: refused, as it is older than the owner |
//!
//! [`Start::persist`]: super::Start::persist
//! [`Store::stop`]: super::Store::stop

//! Work in the background: started at once with an id, listed, waited for, stopped, bounded in time,
//! announced once when it has ended, and never left behind.
//!
//! ```no_run
//! use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
//! use std::time::Duration;
//!
//! fn main() -> Result<(), spawn_owned::Error> {
//!     spawn_owned::init();
//!     let tasks = Tasks::of(Owner::global()?).build()?;
//!     let mut command = Command::new("make");
//!     command.arg("all");
//!     let build = tasks.start(Start::new(command).limit(Duration::from_secs(600)))?;
//!     // … other work …
//!     if let Some(notice) = tasks.next_notice(Duration::from_secs(60)) {
//!         println!("{} {}: {}", notice.task.id, notice.task.state, notice.tail);
//!     }
//!     tasks.stop(&build.id, None)?;
//!     Ok(())
//! }
//! ```
//!
//! ## Lifetimes
//!
//! | lifetime | ends with | how | when |
//! | --- | --- | --- | --- |
//! | owned | its owner, by whatever death | nothing to be said | nearly always |
//! | persistent | an explicit stop, its limit, or itself | [`Start::persist`] with a reason | a service that its starter sets up and leaves |
//! | adopted | the owner that took it over | [`Builder::recover`] with a name | long work of a program that may be started again |
//!
//! A task of an owner built to recover is not ended when that owner ends. It waits for another of the
//! same name, at most as long as was said; that one takes it over by identity, with its log, and learns
//! its true status, since the keeper is the command's parent all along. A task whose keeper was killed is
//! [`State::Lost`]: its status is nobody's to know, and is not invented.
//!
//! More in [`lifetimes`].
//!
//! ## On disk
//!
//! Everything is in [`Store`]: one folder for each task, so that any process of the user can ask. There
//! is no daemon: each task has one small keeper, which writes how it ended whoever lives to see it. It
//! becomes the parent of what is orphaned below it (`PR_SET_CHILD_SUBREAPER` of
//! [prctl(2)](https://man7.org/linux/man-pages/man2/prctl.2.html)).
//!
//! ## The map
//!
//! | room | what it knows |
//! | --- | --- |
//! | `state`, `record`, `store` | what a task is, what is recorded of it, and where |
//! | `start`, `tied`, `keeper` | how it is started; the process that keeps it |
//! | `log` | its output on disk |
//! | `notice`, `watching` | what is told, once, and not too often |
//! | `ask`, `attach`, `wire` | what anybody may ask of it, and in which words |
//! | `hub` | how an owner hears of its tasks |

mod ask;
mod attach;
mod hub;
mod keeper;
pub mod lifetimes;
mod log;
mod notice;
mod record;
mod start;
mod state;
mod store;
mod tied;
mod usage;
mod watching;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use self::hub::{Callback, Held, Hub};
use self::wire::Line;
use crate::error::Error;
use crate::link::Tier;
use crate::owner::Owner;
use crate::sys;

pub use self::ask::{Follow, Followed};
pub use self::attach::terminal_size;
pub(crate) use self::keeper::keep;
pub use self::log::Chunk;
pub use self::notice::{Event, Notice, Standing};
pub use self::record::Record;
pub use self::start::Start;
pub use self::state::{State, Who};
pub use self::store::Store;
pub use self::tied::Tied;
pub use self::usage::Usage;

/// The tasks of one owner.
///
/// Dropped, it ends the tasks that it has, unless it was built to recover them: then they wait.
///
/// ```no_run
/// use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
///
/// let tasks = Tasks::of(Owner::global()?).build()?;
/// for target in ["lint", "test", "docs"] {
///     let mut command = Command::new("make");
///     command.arg(target);
///     tasks.start(Start::new(command).name(target))?;
/// }
/// drop(tasks); // what of them still runs is ended
/// # Ok::<(), spawn_owned::Error>(())
/// ```
pub struct Tasks {
    store: Store,
    owner: Owner,
    hub: Arc<Hub>,
    limit: Option<Duration>,
    recover: Option<(String, Duration)>,
    forks: u64,
}

/// How the tasks of an owner are to be. Made by [`Tasks::of`].
///
/// ```no_run
/// use spawn_owned::{Owner, tasks::Tasks};
/// use std::time::Duration;
///
/// let tasks = Tasks::of(Owner::global()?)
///     .limit(Duration::from_secs(3600))
///     .recover("gateway", Duration::from_secs(600))
///     .build()?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
pub struct Builder {
    owner: Owner,
    store: Option<Store>,
    limit: Option<Duration>,
    recover: Option<(String, Duration)>,
    callback: Option<Callback>,
}

impl Builder {
    /// Where tasks are recorded, instead of the user's usual place.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::{Store, Tasks}};
    /// let builder = Tasks::of(Owner::global()?).store(Store::at("/var/lib/gateway/tasks")?);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// How long a task may run that has no limit of its own.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # use std::time::Duration;
    /// // Nothing runs longer than ten minutes by mistake.
    /// let builder = Tasks::of(Owner::global()?).limit(Duration::from_secs(600));
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Takes over what an owner of this name left, and lets its own tasks wait for at most `patience`
    /// for the next owner of this name.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # use std::time::Duration;
    /// let tasks = Tasks::of(Owner::global()?).recover("gateway", Duration::from_secs(600)).build()?;
    /// let adopted = tasks.store().list()?.into_iter().filter(|task| task.lifetime() == "adopted");
    /// println!("taken over: {}", adopted.count());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    #[must_use]
    pub fn recover(mut self, name: impl Into<String>, patience: Duration) -> Self {
        self.recover = Some((name.into(), patience));
        self
    }

    /// Calls `callback` with each notice, in a thread of its own, instead of keeping it for
    /// [`Tasks::next_notice`].
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// let builder = Tasks::of(Owner::global()?)
    ///     .on_notice(|notice| println!("{} {}", notice.task.id, notice.task.state));
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    #[must_use]
    pub fn on_notice(mut self, callback: impl FnMut(Notice) + Send + 'static) -> Self {
        self.callback = Some(Box::new(callback));
        self
    }

    /// The tasks of the owner, with those that it takes over.
    ///
    /// ```no_run
    /// # use spawn_owned::{Error, Owner, tasks::{Store, Tasks}};
    /// let owner = Owner::global()?;
    /// let tasks = match Tasks::of(owner).build() {
    ///     // A service without a home says where its records are.
    ///     Err(Error::State { .. }) => Tasks::of(owner).store(Store::at("/run/gateway/tasks")?).build(),
    ///     built => built,
    /// }?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if there is no place for records, [`Error::System`] if there are no descriptors
    /// or threads to be had.
    pub fn build(self) -> Result<Tasks, Error> {
        let store = self.store.map_or_else(Store::open, Ok)?;
        let hub = Hub::start(store.clone(), self.callback)?;
        let tasks = Tasks {
            store,
            owner: self.owner,
            hub,
            limit: self.limit,
            recover: self.recover,
            forks: sys::forks(),
        };
        if let Some((name, _)) = &tasks.recover {
            tasks.take_over(name)?;
        }
        Ok(tasks)
    }
}

impl Tasks {
    /// Tasks of `owner`, to be built.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// // For a program that does not call `spawn_owned::init()`: `owned` is the keeper of its tasks.
    /// let owner = Owner::builder().native("/usr/bin/owned").build()?;
    /// let tasks = Tasks::of(&owner).build()?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn of(owner: &Owner) -> Builder {
        Builder {
            owner: owner.clone(),
            store: None,
            limit: None,
            recover: None,
            callback: None,
        }
    }

    /// Where they are recorded: what can be asked of any task can be asked there.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// let running = tasks.store().list()?.into_iter().filter(|task| !task.state.is_final());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Starts a task; returns when its command runs.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
    /// # spawn_owned::init();
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// let mut command = Command::new("cargo");
    /// command.args(["build", "--release"]);
    /// let build = tasks.start(Start::new(command).name("release"))?;
    /// println!("{} runs: owned logs -f {}", build.command.join(" "), build.id);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Program`] if the command cannot be run, [`Error::Spawn`] if the system does not start
    /// it, [`Error::Unprotected`] if this program cannot serve as keeper, [`Error::State`] if it cannot
    /// be recorded. Nothing runs then.
    pub fn start(&self, mut start: Start) -> Result<Record, Error> {
        if self.forks != sys::forks() {
            return Err(Error::Forked);
        }
        let helper = self.owner.helper()?;
        if helper.tier != Tier::Native {
            return Err(Error::Unprotected {
                why: "a task needs a keeper: call `spawn_owned::init()` first in `main`, or build the \
                      owner with the path of `owned`"
                    .to_owned(),
            });
        }
        start.program = Some(helper.path);
        start.ledger = self.owner.ledger()?;
        if let (Some(limit), false) = (self.limit, start.has_limit()) {
            start = start.limit(limit);
        }
        if let Some((name, patience)) = &self.recover {
            start = start.recover(name, *patience);
        }
        let lifeline = !start.persists();
        let (record, line) = start::start(&self.store, &start, Who::own(), lifeline)?;
        self.hub.hold(Held {
            id: record.id.clone(),
            line,
        });
        Ok(record)
    }

    /// Waits until a task has ended; none if `limit` was over before. Who gets a record has the notice.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
    /// # use std::time::Duration;
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// # let build = tasks.start(Start::new(Command::new("make")))?;
    /// match tasks.wait(&build.id, Some(Duration::from_secs(60)))? {
    ///     Some(ended) => println!("{} after {:.1} s", ended.state, ended.seconds()),
    ///     None => println!("it still runs; its notice will tell"),
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if its record cannot be read.
    pub fn wait(&self, id: &str, limit: Option<Duration>) -> Result<Option<Record>, Error> {
        let ended = self.wait_for(&[id.to_owned()], false, limit)?;
        Ok(ended.into_iter().next())
    }

    /// Waits until one of the tasks has ended: those that have, none if `limit` was over before.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner, tasks::{Start, Tasks}};
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// let mut mirrors = Vec::new();
    /// for mirror in ["https://eu.example.org/set.tar", "https://us.example.org/set.tar"] {
    ///     let mut command = Command::new("curl");
    ///     command.args(["--fail", "--remote-name", mirror]);
    ///     mirrors.push(tasks.start(Start::new(command))?.id);
    /// }
    /// let first = tasks.wait_any(&mirrors, None)?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tasks::wait`].
    pub fn wait_any(&self, ids: &[String], limit: Option<Duration>) -> Result<Vec<Record>, Error> {
        self.wait_for(ids, false, limit)
    }

    /// Waits until all of the tasks have ended: those that have, in the order of their ends.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::{State, Tasks}};
    /// # use std::time::Duration;
    /// # let (tasks, shards) = (Tasks::of(Owner::global()?).build()?, vec![String::from("1f2e3d4c")]);
    /// let ended = tasks.wait_all(&shards, Some(Duration::from_secs(900)))?;
    /// let passed = ended.iter().filter(|shard| shard.state == State::Completed).count();
    /// println!("{passed} of {} shards passed", shards.len());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tasks::wait`].
    pub fn wait_all(&self, ids: &[String], limit: Option<Duration>) -> Result<Vec<Record>, Error> {
        self.wait_for(ids, true, limit)
    }

    fn wait_for(
        &self,
        ids: &[String],
        all: bool,
        limit: Option<Duration>,
    ) -> Result<Vec<Record>, Error> {
        let mut ended = Vec::new();
        self.hub.waits(ids, true);
        let waited = self.store.wait(ids, all, limit, &mut |record| {
            notice::consume(&self.store.folder(&record.id), "a wait");
            ended.push(record);
        });
        self.hub.waits(ids, false);
        waited.map(|_| ended)
    }

    /// Ends a task; returns when nothing of it is left. See [`Store::stop`].
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # use std::time::Duration;
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// let server = tasks.store().find("dev-server")?;
    /// let stopped = tasks.stop(&server.id, Some(Duration::from_secs(5)))?;
    /// println!("{}", stopped.state); // cancelled
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if something of it lives on.
    pub fn stop(&self, id: &str, grace: Option<Duration>) -> Result<Record, Error> {
        let stopped = self.store.stop(&[id.to_owned()], grace).pop();
        stopped.unwrap_or_else(|| {
            Err(Error::Task {
                task: id.to_owned(),
                fault: "nobody was asked".to_owned(),
            })
        })
    }

    /// Ends every task of this owner that runs, but none that must outlive it.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// for failed in tasks.stop_all(None)?.into_iter().filter_map(Result::err) {
    ///     eprintln!("{failed}"); // which task, and what of it lives on
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if tasks cannot be listed; for each task as [`Tasks::stop`].
    pub fn stop_all(&self, grace: Option<Duration>) -> Result<Vec<Result<Record, Error>>, Error> {
        Ok(self.store.stop(&self.store.of_owner(Who::own())?, grace))
    }

    /// The next notice, waited for at most `limit`. Each is told once: what [`Tasks::wait`] returned,
    /// and a task whose whole log was read after its end, is not told here.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::{Event, Tasks}};
    /// # use std::time::Duration;
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// while let Some(notice) = tasks.next_notice(Duration::from_secs(60)) {
    ///     match notice.event {
    ///         Event::Matched { lines, .. } => println!("{}: {}", notice.task.id, lines.join(" / ")),
    ///         _ => println!("{} is {}", notice.task.id, notice.task.state),
    ///     }
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn next_notice(&self, limit: Duration) -> Option<Notice> {
        self.hub.next(limit)
    }

    /// The notices that wait now.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// // Before an agent's next step: what has happened meanwhile.
    /// let news: Vec<_> = tasks.drain().iter().map(|notice| notice.value()).collect();
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn drain(&self) -> Vec<Notice> {
        std::iter::from_fn(|| self.hub.next(Duration::ZERO)).collect()
    }

    /// Takes over what an owner of this name left.
    fn take_over(&self, name: &str) -> Result<(), Error> {
        for record in self.store.list()? {
            let orphan = record.owner.is_none_or(|owner| !owner.lives());
            if record.recover.as_deref() != Some(name) || !orphan {
                continue;
            }
            if record.state.is_final() {
                if notice::waits(&self.store.folder(&record.id), &record) {
                    self.hub.queue_end(record.id);
                }
                continue;
            }
            let owner = Who::own().value();
            let adopt = json!({"do": "adopt", "owner": owner, "lifeline": true});
            // One that ends just now is told of, as one that ended before.
            let Ok(mut line) = Line::connect(&self.store.folder(&record.id)) else {
                self.hub.queue_end(record.id);
                continue;
            };
            let end = Some(std::time::Instant::now() + Duration::from_secs(10));
            let said = line.say(&adopt).and_then(|()| line.hear(end));
            if said.is_ok_and(|said| said.is_some_and(|said| said["ok"] == true)) {
                self.hub.hold(Held {
                    id: record.id,
                    line,
                });
            } else {
                self.hub.queue_end(record.id);
            }
        }
        Ok(())
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        if self.forks == sys::forks() {
            self.hub.close();
        }
    }
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

//! The owner: what a program talks to.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;

use crate::adopt;
use crate::command::Command;
use crate::detached::{self, Detached};
use crate::error::Error;
use crate::launch;
use crate::link::{Helper, Tier};
use crate::owned::Owned;
use crate::process::Identity;
use crate::reap;
use crate::shared::{Config, Shared};
use crate::sweep::Swept;
use crate::sys::{self, Pid};

/// The owner of child processes: when this process ends, by whatever means, they are ended.
///
/// A program needs one, and has it: the functions of the crate use [`Owner::global`]. Another is built
/// where a part of a program has a life of its own: dropped, together with every handle from it, it
/// ends what it owns while the program goes on.
///
/// ```no_run
/// use spawn_owned::{Command, Owner};
///
/// let window = Owner::builder().build()?;
/// let server = window.spawn_owned(Command::new("language-server"), "completions of one window")?;
/// // The window is closed. Its server ends, and the program goes on.
/// drop(server);
/// drop(window);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone)]
pub struct Owner(Arc<Life>);

/// What lives as long as an owner or a handle of it does.
pub(crate) struct Life {
    config: Config,
    here: Generation,
}

/// The owner's state in one process of a line of forks; a forked child adds its own.
struct Generation {
    shared: Arc<Shared>,
    next: OnceLock<Result<Box<Generation>, String>>,
}

impl Life {
    /// The state of this very process.
    fn shared(&self) -> Result<&Arc<Shared>, Error> {
        let mut generation = &self.here;
        while generation.shared.forks != sys::forks() {
            let next = generation
                .next
                .get_or_init(|| Generation::new(self.config.clone()));
            generation = match next {
                Ok(next) => next,
                Err(why) => return Err(Error::Unprotected { why: why.clone() }),
            };
        }
        Ok(&generation.shared)
    }
}

impl Generation {
    fn new(config: Config) -> Result<Box<Self>, String> {
        let shared = Shared::new(config).map_err(|error| error.to_string())?;
        Ok(Box::new(Self {
            shared,
            next: OnceLock::new(),
        }))
    }
}

impl Drop for Life {
    /// Only what this very process started is its to end; a forked copy that never owned anything has
    /// nothing to close.
    fn drop(&mut self) {
        let mut generation = Some(&self.here);
        while let Some(Generation { shared, next }) = generation {
            if shared.forks == sys::forks() {
                shared.close();
            }
            generation = next.get().and_then(|next| Some(&**next.as_ref().ok()?));
        }
    }
}

/// How an owner is to be. Made by [`Owner::builder`].
///
/// ```no_run
/// use std::time::Duration;
///
/// let owner = spawn_owned::Owner::builder()
///     .grace(Duration::from_secs(10))
///     .ledger("/var/lib/gateway/ledger.jsonl")
///     .control_group()
///     .build()?;
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    config: Config,
}

impl Builder {
    /// How long what is asked to end (`SIGTERM`) may take before it is ended (`SIGKILL`, which nobody can
    /// catch: [signal(7)](https://man7.org/linux/man-pages/man7/signal.7.html)): 3 seconds if nobody says
    /// otherwise, and never more than ten years. A shell as supervisor counts in whole seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// // A database writes its pages before it ends.
    /// let builder = spawn_owned::Owner::builder().grace(Duration::from_secs(30));
    /// ```
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.config.grace = grace.min(reap::LONGEST);
        self
    }

    /// How long the supervisor stays when there is nothing to protect: 30 seconds if nobody says
    /// otherwise.
    ///
    /// ```
    /// # use std::time::Duration;
    /// // Children come one after the other: each finds the supervisor of the one before.
    /// let builder = spawn_owned::Owner::builder().idle(Duration::from_secs(300));
    /// ```
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.config.idle = idle;
        self
    }

    /// The file that records starts and ends; `$XDG_STATE_HOME/spawn-owned/ledger.jsonl` if nobody says
    /// otherwise ([XDG base directories](https://specifications.freedesktop.org/basedir-spec/latest/)). Its
    /// folder is made. Owners that write to one file take turns
    /// ([flock(2)](https://man7.org/linux/man-pages/man2/flock.2.html)).
    ///
    /// ```
    /// // A service without a home.
    /// let builder = spawn_owned::Owner::builder().ledger("/var/lib/gateway/ledger.jsonl");
    /// ```
    #[must_use]
    pub fn ledger(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.ledger = Some(path.into());
        self
    }

    /// Records nothing.
    ///
    /// ```
    /// // A test leaves no trace, and needs no sweep.
    /// let builder = spawn_owned::Owner::builder().no_ledger();
    /// ```
    #[must_use]
    pub fn no_ledger(mut self) -> Self {
        self.config.ledger = None;
        self
    }

    /// Puts children in a control group of their own where the system lets this process make one (Linux,
    /// version 2, delegated: [cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html)), which is
    /// ended as a whole after everything else: nothing escapes it. Where
    /// it is not possible nothing changes, and [`Status::control_group`] says so. What is in it counts
    /// for the limits of a group, and as soon as something was handed back it is not ended any more.
    ///
    /// ```no_run
    /// let owner = spawn_owned::Owner::builder().control_group().build()?;
    /// # let server = owner.spawn_owned(spawn_owned::Command::new("model-server"), "the model")?;
    /// // After the first child it is known whether the system has let this process make one.
    /// if owner.status()?.control_group.is_none() {
    ///     eprintln!("a daemon that hides its mark would escape");
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    #[must_use]
    pub fn control_group(mut self) -> Self {
        self.config.control_group = true;
        self
    }

    /// Takes the `owned` program at `path` as launcher and supervisor.
    ///
    /// ```
    /// let builder = spawn_owned::Owner::builder().native("/usr/bin/owned");
    /// ```
    #[must_use]
    pub fn native(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.helper = Some(Helper {
            tier: Tier::Native,
            path: path.into(),
        });
        self
    }

    /// Takes the POSIX shell ([sh(1p)](https://man7.org/linux/man-pages/man1/sh.1p.html)) at `path` as
    /// launcher and supervisor.
    ///
    /// ```
    /// let builder = spawn_owned::Owner::builder().shell("/bin/dash");
    /// ```
    #[must_use]
    pub fn shell(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.helper = Some(Helper {
            tier: Tier::Shell,
            path: path.into(),
        });
        self
    }

    /// Makes the owner. Its supervisor starts with its first child.
    ///
    /// ```
    /// # use spawn_owned::Owner;
    /// let owner = Owner::builder().no_ledger().build()?;
    /// assert_eq!(owner.status()?.supervisor, None); // there is nothing to protect yet
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::System`] if there are no random numbers or no descriptors to be had.
    pub fn build(self) -> Result<Owner, Error> {
        let shared = Shared::new(self.config.clone())?;
        let here = Generation {
            shared,
            next: OnceLock::new(),
        };
        Ok(Owner(Arc::new(Life {
            config: self.config,
            here,
        })))
    }

    /// Makes the owner that [`Owner::global`] gives.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner, spawn_owned};
    /// # use std::time::Duration;
    /// spawn_owned::init();
    /// Owner::builder().grace(Duration::from_secs(1)).install()?;
    /// // The functions of the crate use this one from now on.
    /// let indexer = spawn_owned(Command::new("indexer"), "the search of this project")?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`], and [`Error::System`] if the program has its global owner already.
    pub fn install(self) -> Result<(), Error> {
        let owner = self.build()?;
        GLOBAL.set(Ok(owner)).map_err(|_| Error::System {
            tried: "install a global owner, as there is one already",
            source: std::io::ErrorKind::AlreadyExists.into(),
        })
    }
}

static GLOBAL: OnceLock<Result<Owner, String>> = OnceLock::new();

impl Owner {
    /// An owner to be built.
    ///
    /// ```
    /// # use spawn_owned::Owner;
    /// # use std::time::Duration;
    /// let owner = Owner::builder().no_ledger().idle(Duration::ZERO).build()?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn builder() -> Builder {
        let config = Config {
            grace: Duration::from_secs(3),
            idle: Duration::from_secs(30),
            ledger: crate::ledger::default_path(),
            helper: None,
            control_group: false,
        };
        Builder { config }
    }

    /// The owner of the whole program, made when it is first needed. It is never dropped: what it owns
    /// ends with the process.
    ///
    /// ```no_run
    /// # use spawn_owned::Owner;
    /// let recorded = Owner::global()?.status()?.ledger;
    /// println!("what this program starts is recorded in {recorded:?}");
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn global() -> Result<&'static Self, Error> {
        let made =
            GLOBAL.get_or_init(|| Self::builder().build().map_err(|error| error.to_string()));
        made.as_ref()
            .map_err(|why| Error::Unprotected { why: why.clone() })
    }

    /// Starts a child that ends when this process ends. `purpose` says in the ledger what it is for.
    ///
    /// The child leads a process group
    /// ([setpgid(2)](https://man7.org/linux/man-pages/man2/setpgid.2.html)), and is known to the supervisor
    /// before it runs anything. Dropping the handle ends it.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner, Stdio};
    /// use std::io::{BufRead as _, BufReader};
    ///
    /// let mut command = Command::new("model-server");
    /// command.args(["--port", "0"]).stdout(Stdio::piped());
    /// let mut server = Owner::global()?.spawn_owned(command, "the model of this session")?;
    /// let mut port = String::new(); // the server says it in its first line
    /// if let Some(output) = server.stdout.take() {
    ///     BufReader::new(output).read_line(&mut port)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Program`] if the program cannot be run, [`Error::Spawn`] if the system does not start it,
    /// [`Error::Unprotected`] if there is no supervisor. Nothing was started then, and nothing is left.
    /// Where a launcher has to do, what only the system finds wrong ends the child with status 126 or 127.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a command is started once: the files that it was given go with it"
    )]
    pub fn spawn_owned(&self, command: Command, purpose: &str) -> Result<Owned, Error> {
        let shared = self.0.shared()?;
        launch::start(shared, &command, purpose)
            .map(|started| Owned::new(Arc::clone(&self.0), Arc::clone(shared), started))
    }

    /// Owns process groups that somebody else started: an SDK, a daemon. All of them or none. A group has
    /// the number of the process that leads it
    /// ([credentials(7)](https://man7.org/linux/man-pages/man7/credentials.7.html)), which has to live.
    ///
    /// ```no_run
    /// # use spawn_owned::{Error, Owner, Refusal};
    /// # let (browser, driver) = (4000, 4001);
    /// // If one of them has ended already, the other is not taken either.
    /// match Owner::global()?.own_process_groups([browser, driver]) {
    ///     Err(Error::Refused { group, why: Refusal::Gone }) => println!("{group} has ended"),
    ///     owned => owned?,
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if ending one of them would end something else, [`Error::Unprotected`] if
    /// there is no supervisor.
    pub fn own_process_groups(&self, groups: impl IntoIterator<Item = u32>) -> Result<(), Error> {
        let shared = self.0.shared()?;
        let groups = groups.into_iter();
        let leaders: Result<Vec<Identity>, Error> =
            groups.map(|group| adopt::examine(shared, group)).collect();
        for leader in leaders? {
            shared.adopt(leader)?;
            shared
                .ledger
                .started("adopt", leader.pid.get(), leader.start, json!({}));
        }
        Ok(())
    }

    /// Hands process groups back: they live on when this process ends. A child of
    /// [`Owner::spawn_owned`] that is handed back is not ended with its handle either. Groups that are
    /// not owned are passed over.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner};
    /// let owner = Owner::global()?;
    /// let viewer = owner.spawn_owned(Command::new("image-viewer"), "the preview of the export")?;
    /// // "Keep open": from now on it is the user's to end.
    /// owner.release_process_groups([viewer.process_group()])?;
    /// drop(viewer);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`], in a forked child.
    pub fn release_process_groups(
        &self,
        groups: impl IntoIterator<Item = u32>,
    ) -> Result<(), Error> {
        let shared = self.0.shared()?;
        for pid in groups.into_iter().filter_map(adopt::pid) {
            if let Some(covered) = shared.forget(pid, true) {
                shared
                    .ledger
                    .released(pid.get(), covered.start, "handed back");
            }
        }
        Ok(())
    }

    /// Hands a process group back as soon as nobody is left in it, and not before.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Owner};
    /// # let (owner, browser) = (Owner::global()?, 4000);
    /// # let mut driver = owner.spawn_owned(Command::new("driver"), "drives the browser")?;
    /// driver.wait()?; // it has closed its browser, whose helpers may take a moment longer
    /// owner.release_process_group_once_empty(browser)?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`], in a forked child.
    pub fn release_process_group_once_empty(&self, group: u32) -> Result<(), Error> {
        let shared = self.0.shared()?;
        if let Some(pid) = adopt::pid(group) {
            shared.forget_once_empty(pid);
        }
        Ok(())
    }

    /// Starts a process that outlives this one, in a session of its own, so that no terminal hangs it up
    /// ([setsid(2)](https://man7.org/linux/man-pages/man2/setsid.2.html)), and records why. It carries no
    /// mark: neither this owner nor one above ends it. Below an `owned run` it ends with that, as all
    /// descendants do.
    ///
    /// ```
    /// # use spawn_owned::{Command, Error, Owner};
    /// let owner = Owner::builder().no_ledger().build()?;
    /// // Without a reason nothing is started.
    /// let refused = owner.spawn_detached(Command::new("updater"), "todo");
    /// assert!(matches!(refused, Err(Error::Reason { .. })));
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Reason`] if `reason` is none, [`Error::Program`] or [`Error::Spawn`] if it does not start.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a command is started once: the files that it was given go with it"
    )]
    pub fn spawn_detached(&self, command: Command, reason: &str) -> Result<Detached, Error> {
        detached::start(self.0.shared()?, &command, reason)
    }

    /// What is covered, and by whom.
    ///
    /// ```no_run
    /// # use spawn_owned::Owner;
    /// let status = Owner::global()?.status()?;
    /// println!("{} groups, {} supervisors were killed", status.groups.len(), status.restarted);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`], in a forked child.
    pub fn status(&self) -> Result<Status, Error> {
        let shared = self.0.shared()?;
        let state = shared.lock();
        let number = |pid: &Pid| pid.get().unsigned_abs();
        Ok(Status {
            groups: state.groups.keys().map(number).collect(),
            tier: shared.helper.tier,
            supervisor: state.link.as_ref().map(|link| number(&link.supervisor)),
            control_group: state
                .control_group
                .as_ref()
                .map(|group| group.folder().to_owned()),
            unprotected: state.unprotected.as_ref().map(|(why, _)| why.clone()),
            started: state.started,
            restarted: state.restarted,
            ledger: shared.config.ledger.clone(),
            ledger_fault: shared.ledger.fault(),
        })
    }

    /// What launcher, supervisor and keepers are started from.
    pub(crate) fn helper(&self) -> Result<Helper, Error> {
        Ok(self.0.shared()?.helper.clone())
    }

    /// Where starts and ends are recorded.
    pub(crate) fn ledger(&self) -> Result<Option<PathBuf>, Error> {
        Ok(self.0.shared()?.config.ledger.clone())
    }

    /// Ends what owners left that were killed together with their supervisors, as this owner's ledger
    /// tells it: only processes whose owner is provably dead, and which still are who they were, as their
    /// start says ([proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html)).
    ///
    /// ```no_run
    /// # use spawn_owned::Owner;
    /// let owner = Owner::builder().ledger("/var/lib/gateway/ledger.jsonl").build()?;
    /// let swept = owner.sweep()?;
    /// if swept.left > 0 {
    ///     eprintln!("{} processes do not end although they were killed", swept.left);
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ledger`] if the ledger cannot be read.
    pub fn sweep(&self) -> Result<Swept, Error> {
        let shared = self.0.shared()?;
        let none = Path::new("");
        let path = shared.config.ledger.as_deref().unwrap_or(none);
        crate::sweep::sweep(path, shared.config.grace)
    }
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owner")
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}

/// What an owner covers, and how well.
///
/// ```
/// let owner = spawn_owned::Owner::builder().no_ledger().build()?;
/// let status = owner.status()?;
/// assert!(status.groups.is_empty() && status.unprotected.is_none());
/// assert_eq!(status.ledger, None);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The process groups that end with this process, in ascending order.
    pub groups: Vec<u32>,
    /// What launcher and supervisor are made of.
    pub tier: Tier,
    /// The supervisor's process; none while there is nothing to protect.
    pub supervisor: Option<u32>,
    /// The folder of the control group that children are put in; none if that was not asked for or is
    /// not possible.
    pub control_group: Option<PathBuf>,
    /// Why there is no supervisor although one is needed.
    pub unprotected: Option<String>,
    /// How many supervisors were started.
    pub started: u64,
    /// How many of them replaced one that was killed.
    pub restarted: u64,
    /// Where starts and ends are recorded.
    pub ledger: Option<PathBuf>,
    /// How many rows could not be recorded and why, and why the last compaction failed.
    pub ledger_fault: Option<String>,
}

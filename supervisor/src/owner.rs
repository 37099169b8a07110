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
#[derive(Clone, Debug)]
pub struct Builder {
    config: Config,
}

impl Builder {
    /// How long what is asked to end (`SIGTERM`) may take before it is ended (`SIGKILL`): 3 seconds if
    /// nobody says otherwise, and never more than ten years. A shell as supervisor counts in whole
    /// seconds.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.config.grace = grace.min(reap::LONGEST);
        self
    }

    /// How long the supervisor stays when there is nothing to protect: 30 seconds if nobody says
    /// otherwise.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.config.idle = idle;
        self
    }

    /// The file that records starts and ends; `$XDG_STATE_HOME/spawn-owned/ledger.jsonl` if nobody says
    /// otherwise. Its folder is made.
    #[must_use]
    pub fn ledger(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.ledger = Some(path.into());
        self
    }

    /// Records nothing.
    #[must_use]
    pub fn no_ledger(mut self) -> Self {
        self.config.ledger = None;
        self
    }

    /// Puts children in a control group of their own where the system lets this process make one (Linux,
    /// cgroup v2, delegated), which is ended as a whole after everything else: nothing escapes it. Where
    /// it is not possible nothing changes, and [`Status::control_group`] says so. What is in it counts
    /// for the limits of a group, and as soon as something was handed back it is not ended any more.
    #[must_use]
    pub fn control_group(mut self) -> Self {
        self.config.control_group = true;
        self
    }

    /// Takes the `owned` program at `path` as launcher and supervisor.
    #[must_use]
    pub fn native(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.helper = Some(Helper {
            tier: Tier::Native,
            path: path.into(),
        });
        self
    }

    /// Takes the POSIX shell at `path` as launcher and supervisor.
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
    /// The child leads a process group, and is known to the supervisor before it runs anything. Dropping
    /// the handle ends it.
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

    /// Owns process groups that somebody else started: an SDK, a daemon. All of them or none.
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

    /// Starts a process that outlives this one, in a session of its own, and records why. It carries no
    /// mark: neither this owner nor one above ends it. Below an `owned run` it ends with that, as all
    /// descendants do.
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
    /// tells it: only processes whose owner is provably dead, and which still are who they were.
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

//! What an owner covers. The set is the truth; what its supervisor knows is a copy of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cookie::{self, Marked};
use crate::error::{Error, tried};
use crate::launch::Launched;
use crate::ledger::Ledger;
use crate::link::{About, Helper, Link};
use crate::process::{self, Identity};
use crate::reap::{self, Plan};
use crate::sabotage::sabotaged;
use crate::sys::{self, ControlGroup, Pid};

/// How an owner was built.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) grace: Duration,
    pub(crate) idle: Duration,
    pub(crate) ledger: Option<PathBuf>,
    pub(crate) helper: Option<Helper>,
    /// Whether children are put in a control group where that is possible.
    pub(crate) control_group: bool,
}

/// One owner in one process. A forked child gets another.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) token: String,
    pub(crate) pid: i32,
    pub(crate) start: u64,
    pub(crate) forks: u64,
    pub(crate) helper: Helper,
    pub(crate) ledger: Ledger,
    next: AtomicU64,
    state: Mutex<State>,
    /// Wakes the watcher: read end, write end.
    pub(crate) wake: (OwnedFd, OwnedFd),
}

/// What changes, under one lock: what is covered and who is told.
pub(crate) struct State {
    pub(crate) groups: BTreeMap<Pid, Covered>,
    /// Children that were handed back: what carries their number is not ours.
    pub(crate) kept: BTreeSet<u64>,
    /// The numbers of children that are over and may have left something outside their groups.
    pub(crate) over: BTreeSet<u64>,
    /// Since when there are such.
    pub(crate) over_since: Instant,
    /// Processes that ended, or will, and that nobody else waits for.
    pub(crate) unreaped: Vec<Pid>,
    pub(crate) link: Option<Link>,
    /// The control group of the children, which the supervisor removes at its end.
    pub(crate) control_group: Option<ControlGroup>,
    pub(crate) unprotected: Option<(String, Instant)>,
    /// When supervisors were started again.
    pub(crate) restarts: VecDeque<Instant>,
    pub(crate) restarted: u64,
    pub(crate) started: u64,
    pub(crate) empty_since: Instant,
    pub(crate) watched: bool,
    pub(crate) closing: bool,
}

/// A covered group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    pub(crate) start: u64,
    /// The number in its mark; none if somebody else started it.
    pub(crate) number: Option<u64>,
    /// Whether it is handed back when nobody is left in it.
    pub(crate) until_empty: bool,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Arc<Self>, Error> {
        let pid = sys::own_pid();
        let helper = Helper::choose(config.helper.as_ref());
        let token = cookie::token().map_err(tried("read /dev/urandom"))?;
        let start = process::look(pid).map_or(0, |own| own.start);
        let wake = sys::pipe().map_err(tried("make a pipe"))?;
        sys::never_wait(&wake.1);
        let ledger = Ledger::open(config.ledger.clone(), &token, pid, start, helper.tier);
        Ok(Arc::new(Self {
            token,
            pid,
            start,
            forks: sys::forks(),
            helper,
            ledger,
            next: AtomicU64::new(1),
            state: Mutex::new(State::new()),
            wake,
            config,
        }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is whole: a panic elsewhere does not make it wrong.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for the mark of the next child.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes the watcher look again.
    pub(crate) fn wake(&self) {
        let _ = sys::write_quietly(self.wake.1.as_fd(), b"!", Duration::ZERO);
    }

    /// Starts a supervisor that knows everything covered, and its watcher, unless there is one.
    pub(crate) fn protect(self: &Arc<Self>, state: &mut State) -> Result<(), Error> {
        const RETRY: Duration = Duration::from_secs(60);
        reap_others(state);
        if state.link.is_some() {
            return Ok(());
        }
        if let Some((why, since)) = &state.unprotected
            && since.elapsed() < RETRY
        {
            return Err(Error::Unprotected { why: why.clone() });
        }
        state.unprotected = None;
        self.start_supervisor(state)?;
        // One that ends at once protects nothing, and is seen before a child is started for it.
        while state.link.as_ref().is_some_and(|link| link.stillborn) {
            crate::watch::replace(self, state);
        }
        if let Some((why, _)) = &state.unprotected {
            return Err(Error::Unprotected { why: why.clone() });
        }
        if !state.watched {
            crate::watch::start(Arc::clone(self))?;
            state.watched = true;
        }
        Ok(())
    }

    pub(crate) fn start_supervisor(&self, state: &mut State) -> Result<(), Error> {
        let control_group = self.config.control_group;
        state.control_group = control_group
            .then(|| ControlGroup::make(&self.token))
            .flatten();
        let about = About {
            control_group: state.control_group.as_ref(),
            helper: &self.helper,
            token: &self.token,
            grace: self.config.grace,
            owner: self.pid,
            owner_start: self.start,
        };
        let lines = if sabotaged("replay") {
            String::new()
        } else {
            state.lines()
        };
        state.link = Some(Link::start(&about, &lines)?);
        state.started += 1;
        Ok(())
    }

    /// Starts a child and covers it in one step: `launch` gets the lifeline, which the child tells its
    /// own name before it runs anything, and the control group, which it enters.
    pub(crate) fn start(
        self: &Arc<Self>,
        number: u64,
        launch: impl FnOnce(BorrowedFd<'_>, Option<&ControlGroup>) -> Result<Launched, Error>,
    ) -> Result<Identity, Error> {
        let mut state = self.lock();
        self.protect(&mut state)?;
        let Some(line) = state.link.as_ref().map(|link| Arc::clone(&link.line)) else {
            return Err(Error::Forked);
        };
        let fd = line.fd().ok_or(Error::Forked)?;
        let Launched {
            leader,
            told,
            failed,
        } = launch(fd, state.control_group.as_ref())?;
        if let Some(error) = failed {
            state.tell(&format!("- {} {}\n", leader.pid, leader.start));
            return Err(error);
        }
        state.cover(leader, Some(number), told);
        Ok(leader)
    }

    /// Covers a group that somebody else started.
    pub(crate) fn adopt(self: &Arc<Self>, leader: Identity) -> Result<(), Error> {
        let mut state = self.lock();
        self.protect(&mut state)?;
        state.cover(leader, None, false);
        Ok(())
    }

    /// Forgets a group. With `keep`, what carries its mark is handed back too.
    pub(crate) fn forget(&self, pid: Pid, keep: bool) -> Option<Covered> {
        let mut state = self.lock();
        let covered = state.groups.remove(&pid)?;
        let line = match covered.number {
            Some(number) if keep => {
                state.kept.insert(number);
                format!("- {pid} {}\n~ {number}\n", covered.start)
            }
            _ => format!("- {pid} {}\n", covered.start),
        };
        state.tell(&line);
        if state.groups.is_empty() {
            state.empty_since = Instant::now();
            drop(state);
            self.wake();
        }
        Some(covered)
    }

    /// Hands a group back as soon as nobody is left in it.
    pub(crate) fn forget_once_empty(&self, pid: Pid) -> bool {
        let mut state = self.lock();
        let Some(covered) = state.groups.get_mut(&pid) else {
            return false;
        };
        covered.until_empty = true;
        drop(state);
        self.wake();
        true
    }

    pub(crate) fn covers(&self, leader: Identity) -> bool {
        let state = self.lock();
        state
            .groups
            .get(&leader.pid)
            .is_some_and(|covered| covered.start == leader.start)
    }

    /// What carries this owner's mark, or only that of some of its children.
    pub(crate) fn marked(&self, only: Option<BTreeSet<u64>>) -> Marked {
        let except = self.lock().kept.clone();
        Marked {
            token: self.token.clone(),
            only,
            except,
        }
    }

    /// Lets the watcher end what has left the group of a child that is over, with all that gathered.
    pub(crate) fn end_strays_soon(&self, number: u64) {
        let mut state = self.lock();
        state.over.insert(number);
        let first = state.over.len() == 1;
        if first {
            state.over_since = Instant::now();
        }
        let watched = state.watched;
        drop(state);
        if !watched {
            self.end_strays();
        } else if first {
            self.wake();
        }
    }

    /// Ends what has left the groups of children that are over.
    pub(crate) fn end_strays(&self) {
        let over = std::mem::take(&mut self.lock().over);
        if over.is_empty() {
            return;
        }
        let marked = self.marked(Some(over));
        reap::end(&Plan {
            groups: &[],
            marked: Some(&marked),
            adopts: false,
            grace: Duration::ZERO,
            spared: &[sys::own_group()],
        });
    }

    /// The owner is dropped: the lifeline closes, and the supervisor ends what is left.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.wake();
    }
}

impl State {
    fn new() -> Self {
        Self {
            groups: BTreeMap::new(),
            kept: BTreeSet::new(),
            over: BTreeSet::new(),
            over_since: Instant::now(),
            unreaped: Vec::new(),
            link: None,
            control_group: None,
            unprotected: None,
            restarts: VecDeque::new(),
            restarted: 0,
            started: 0,
            empty_since: Instant::now(),
            watched: false,
            closing: false,
        }
    }

    /// Covers a group, and tells the supervisor unless it was `told` already, over this very lifeline.
    fn cover(&mut self, leader: Identity, number: Option<u64>, told: bool) {
        let covered = Covered {
            start: leader.start,
            number,
            until_empty: false,
        };
        self.groups.insert(leader.pid, covered);
        if !told {
            let line = format!("+ {} {}\n", leader.pid, leader.start);
            self.tell(&line);
        }
    }

    fn tell(&self, line: &str) {
        if let Some(link) = &self.link {
            link.tell(line, Duration::ZERO);
        }
    }

    /// Everything that a supervisor must know.
    fn lines(&self) -> String {
        // Writing to a string cannot fail.
        let mut lines = String::new();
        // What was handed back first: it must be known however little is heard of the rest. Beyond what a pipe
        // holds, what comes last is told when there is a reader.
        for number in &self.kept {
            let _ = writeln!(lines, "~ {number}");
        }
        for (pid, covered) in &self.groups {
            let _ = writeln!(lines, "+ {pid} {}", covered.start);
        }
        lines
    }
}

/// Reaps what nobody waits for.
pub(crate) fn reap_others(state: &mut State) {
    state
        .unreaped
        .retain(|pid| matches!(sys::reap(*pid), Ok(None)));
}

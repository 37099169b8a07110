//! What any process of the user can ask of a task: to wait for it, to stop it, its output, input for it.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::log::{self, Chunk};
use super::notice::{self, Standing};
use super::record::{Record, pids};
use super::state::{State, Who};
use super::store::Store;
use super::wire::{self, Line};
use crate::cookie::Marked;
use crate::error::{Error, tried};
use crate::process;
use crate::reap::{self, Group, Plan};
use crate::sys;

/// How long a keeper may take beyond what the task is given.
const PATIENCE: Duration = Duration::from_secs(30);
/// A keeper that cannot be reached yet is asked again after this.
const AGAIN: Duration = Duration::from_millis(20);

/// What came next of a task's output.
///
/// ```no_run
/// use spawn_owned::tasks::{Followed, Store};
///
/// let store = Store::open()?;
/// let mut follow = store.follow(&store.find("build")?.id, 0);
/// let ended = loop {
///     match follow.next(None)? {
///         Followed::Output(chunk) => print!("{}", String::from_utf8_lossy(&chunk.bytes)),
///         Followed::Ended(record) => break record,
///         _ => {}
///     }
/// };
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Followed {
    /// Output.
    Output(Chunk),
    /// All was read, and the task has ended.
    Ended(Box<Record>),
    /// Nothing within the time.
    Nothing,
}

/// The output of a task as it comes.
///
/// ```no_run
/// # use spawn_owned::tasks::{Follow, Followed};
/// fn whole(mut follow: Follow) -> Result<Vec<u8>, spawn_owned::Error> {
///     let mut output = Vec::new();
///     while let Followed::Output(chunk) = follow.next(None)? {
///         output.extend(chunk.bytes);
///     }
///     Ok(output)
/// }
/// ```
pub struct Follow {
    store: Store,
    id: String,
    offset: u64,
    line: Option<Line>,
}

impl Store {
    /// Waits until one of the tasks has ended, or with `all` each of them; calls `each` with every one
    /// that has, in the order in which they end. False if `limit` was over before.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// let all: Vec<String> = store.list()?.into_iter().map(|task| task.id).collect();
    /// store.wait(&all, true, None, &mut |task| println!("{} {}", task.id, task.state))?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if a record cannot be read.
    pub fn wait(
        &self,
        ids: &[String],
        all: bool,
        limit: Option<Duration>,
        each: &mut dyn FnMut(Record),
    ) -> Result<bool, Error> {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut open: Vec<(&String, Option<Line>)> = ids.iter().map(|id| (id, None)).collect();
        loop {
            let mut still = Vec::new();
            let before = open.len();
            for (id, line) in open {
                let record = Record::read(&self.folder(id)).map_err(self.failed(id))?;
                if record.state.is_final() {
                    each(record);
                } else {
                    still.push((id, line.or_else(|| self.subscribe(id, "wait"))));
                }
            }
            open = still;
            if open.is_empty() || (!all && open.len() < before) {
                return Ok(true);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            listen(&mut open, left)?;
        }
    }

    /// A line on which the keeper tells; none if it cannot be reached now.
    fn subscribe(&self, id: &str, what: &str) -> Option<Line> {
        let line = Line::connect(&self.folder(id)).ok()?;
        line.say(&json!({"do": what})).ok()?;
        Some(line)
    }

    /// Ends tasks: each one's command first, then what survives. Returns when nothing of them is left.
    /// `grace` takes the place of what each was given at its start.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// let servers = [store.find("dev-server")?.id, store.find("model-server")?.id];
    /// for stopped in store.stop(&servers, None) {
    ///     println!("{}", stopped?.state);
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// For each task [`Error::Task`] if something of it lives on; it stays listed then, and can be
    /// stopped again.
    pub fn stop(&self, ids: &[String], grace: Option<Duration>) -> Vec<Result<Record, Error>> {
        let grace = grace.map(|grace| grace.as_secs_f64());
        let asked: Vec<(&String, Option<Line>)> = ids
            .iter()
            .map(|id| (id, self.ask_to_stop(id, grace)))
            .collect();
        let stopped = asked
            .into_iter()
            .map(|(id, line)| self.stopped(id, line, grace));
        stopped.collect()
    }

    fn ask_to_stop(&self, id: &str, grace: Option<f64>) -> Option<Line> {
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            if let Ok(line) = Line::connect(&self.folder(id)) {
                line.say(&json!({"do": "stop", "grace": grace})).ok()?;
                self.continue_keeper(id);
                return Some(line);
            }
            let record = Record::read(&self.folder(id)).ok()?;
            if record.state.is_final() || Instant::now() > end {
                return None;
            }
            // Its keeper is about to open its socket.
            let _ = sys::poll_one(None, Some(AGAIN));
        }
    }

    /// A keeper that somebody stopped hears nothing until it goes on.
    fn continue_keeper(&self, id: &str) {
        let keeper = Record::read(&self.folder(id)).ok();
        let keeper = keeper.and_then(|record| record.keeper.filter(|keeper| keeper.lives()));
        if let Some(keeper) = keeper.and_then(Who::identity) {
            // One that has ended since shows in its record.
            let _ = sys::signal_process(keeper.pid, libc::SIGCONT);
        }
    }

    fn stopped(&self, id: &str, line: Option<Line>, grace: Option<f64>) -> Result<Record, Error> {
        let read = || Record::read(&self.folder(id)).map_err(self.failed(id));
        let record = read()?;
        let grace = super::record::length(grace.unwrap_or(record.grace));
        let mut left = Vec::new();
        if let Some(mut line) = line {
            let end = Instant::now() + grace * 2 + PATIENCE;
            // Other words come before it; the end of the line means that nothing is left.
            loop {
                match line.hear(Some(end)) {
                    Ok(Some(said)) if said["event"] == "stopped" => {
                        left = pids(&said["left"]);
                        break;
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    // Told below, with its record.
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                    Err(error) => return Err(self.failed(id)(error)),
                }
            }
        }
        let record = read()?;
        if record.state == State::Lost {
            left = end_lost(&record, grace);
        }
        if left.is_empty() && record.state.is_final() {
            return Ok(record);
        }
        let fault = if left.is_empty() {
            "its keeper does not answer".to_owned()
        } else {
            format!(
                "killed, and lives on (waiting for a device?): {}",
                list(&left)
            )
        };
        Err(Error::Task {
            task: id.to_owned(),
            fault,
        })
    }

    /// Sends input to a task; with `end` there is none after it.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// let python = store.find("python")?;
    /// store.send(&python.id, b"print(6 * 7)\n", false)?;
    /// store.send(&python.id, b"", true)?; // its input has ended, and soon it has
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if it has no input, has ended, or does not read.
    pub fn send(&self, id: &str, bytes: &[u8], end: bool) -> Result<(), Error> {
        let text = wire::from_bytes(bytes);
        self.tell(id, &json!({"do": "send", "text": text, "end": end}))
    }

    /// Takes a task over that lost its owner, for the process `owner`.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::{Store, Who};
    /// let store = Store::open()?;
    /// // Started with `--recover gateway` by a program that was killed since.
    /// store.adopt(&store.find("long-build")?.id, Who::own())?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if its owner lives, or was not built to recover it.
    pub fn adopt(&self, id: &str, owner: Who) -> Result<(), Error> {
        self.tell(id, &json!({"do": "adopt", "owner": owner.value()}))
    }

    fn tell(&self, id: &str, what: &Value) -> Result<(), Error> {
        let fault = |fault: &str| Error::Task {
            task: id.to_owned(),
            fault: fault.to_owned(),
        };
        let end = Instant::now() + PATIENCE;
        let answer = wire::ask(&self.folder(id), what, Some(end)).map_err(self.failed(id))?;
        let answer = answer.ok_or_else(|| fault("it has ended"))?;
        answer["fault"]
            .as_str()
            .map_or(Ok(()), |why| Err(fault(why)))
    }

    /// At most `most` bytes of a task's output from `offset` on; none at the end. A read that reaches
    /// the end of an ended task's output takes the notice of its end.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let (store, mut offset) = (Store::open()?, 0);
    /// loop {
    ///     let chunk = store.read_log("1f2e3d4c", offset, 64 * 1024)?;
    ///     if chunk.bytes.is_empty() {
    ///         break;
    ///     }
    ///     offset = chunk.offset + chunk.bytes.len() as u64;
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if the log cannot be read.
    pub fn read_log(&self, id: &str, offset: u64, most: usize) -> Result<Chunk, Error> {
        let folder = self.folder(id);
        let ended = Record::read(&folder)
            .map_err(self.failed(id))?
            .state
            .is_final();
        let chunk = log::read(&folder, offset, most).map_err(self.failed(id))?;
        let end = log::end(&folder).map_err(self.failed(id))?;
        if ended && chunk.offset + chunk.bytes.len() as u64 >= end {
            notice::consume(&folder, "a reader of the whole log");
        }
        Ok(chunk)
    }

    /// The last bytes of a task's output, at most `most`: a look, which takes no notice.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// let end = store.tail_log(&store.find("build")?.id, 2000)?;
    /// println!("… {}", String::from_utf8_lossy(&end.bytes));
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Store::read_log`].
    pub fn tail_log(&self, id: &str, most: u64) -> Result<Chunk, Error> {
        log::tail(&self.folder(id), most).map_err(self.failed(id))
    }

    /// The output of a task from `offset` on, as it comes.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// // What comes from now on, without what was said before.
    /// let said = store.tail_log("1f2e3d4c", 0)?;
    /// let follow = store.follow("1f2e3d4c", said.offset);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn follow(&self, id: &str, offset: u64) -> Follow {
        Follow {
            store: self.clone(),
            id: id.to_owned(),
            offset,
            line: None,
        }
    }

    /// How it stands with the notice of a task's end.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::{Standing, Store};
    /// let store = Store::open()?;
    /// for task in store.list()?.iter().filter(|task| task.state.is_final()) {
    ///     if let Standing::Undelivered { why } = store.notice(&task.id) {
    ///         println!("nobody has heard of the end of {}: {why}", task.id);
    ///     }
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn notice(&self, id: &str) -> Standing {
        notice::standing(&self.folder(id))
    }

    /// Takes the notice of a task's end, so that it is told to nobody else; false if somebody has. Of
    /// several that try at once one succeeds ([link(2)](https://man7.org/linux/man-pages/man2/link.2.html)).
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::open()?;
    /// let build = store.find("build")?;
    /// if build.state.is_final() && store.take_notice(&build.id, "the status bar") {
    ///     println!("the build is {}", build.state); // said here, and nowhere else
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn take_notice(&self, id: &str, to: &str) -> bool {
        notice::consume(&self.folder(id), to)
    }
}

/// Waits until a keeper tells something, or for a moment where one cannot be reached.
fn listen(open: &mut [(&String, Option<Line>)], left: Option<Duration>) -> Result<(), Error> {
    let unreached = open.iter().any(|(_, line)| line.is_none());
    let pause = if unreached {
        Some(left.unwrap_or(AGAIN).min(AGAIN))
    } else {
        left
    };
    let lines: Vec<&Line> = open.iter().filter_map(|(_, line)| line.as_ref()).collect();
    let asked: Vec<(BorrowedFd<'_>, bool)> = lines
        .iter()
        .map(|line| (line.stream.as_fd(), false))
        .collect();
    let ready = sys::poll_many(&asked, pause).map_err(tried("wait for tasks"))?;
    let held = open.iter_mut().filter(|(_, line)| line.is_some());
    for ((_, place), ready) in held.zip(ready) {
        let Some(line) = place.as_mut().filter(|_| ready.read) else {
            continue;
        };
        let here = line.read().unwrap_or(false);
        while line.heard().is_some() {}
        if !here {
            *place = None;
        }
    }
    Ok(())
}

fn list(pids: &[i32]) -> String {
    let named = |pid: &i32| format!("{pid} ({})", process::command_line(*pid).join(" "));
    pids.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// Ends what a task left whose keeper was killed together with its supervisor: its group if it still
/// is the one that it was, and what carries its mark.
fn end_lost(record: &Record, grace: Duration) -> Vec<i32> {
    if record.boot != process::boot() {
        return Vec::new();
    }
    let main = record.main.filter(|main| main.lives());
    let group = main.and_then(Who::identity).map(Group::hold);
    let groups: Vec<&Group> = group.iter().collect();
    let marked = Marked::of(&record.token);
    reap::end(&Plan {
        groups: &groups,
        marked: Some(&marked),
        adopts: false,
        grace,
        spared: &[sys::own_group()],
    });
    main.filter(|main| main.lives())
        .map(|main| main.pid)
        .into_iter()
        .collect()
}

impl Follow {
    /// What comes next, waited for at most `limit`.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::{Followed, Store};
    /// # use std::time::Duration;
    /// # let mut follow = Store::open()?.follow("1f2e3d4c", 0);
    /// if let Followed::Nothing = follow.next(Some(Duration::from_secs(30)))? {
    ///     println!("silent for half a minute");
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if log or record cannot be read.
    pub fn next(&mut self, limit: Option<Duration>) -> Result<Followed, Error> {
        const PIECE: usize = 64 * 1024;
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            // Asked before the log is read: what was said before the end is in it then.
            let folder = self.store.folder(&self.id);
            let record = Record::read(&folder).map_err(self.store.failed(&self.id))?;
            let chunk = self.store.read_log(&self.id, self.offset, PIECE)?;
            if !chunk.bytes.is_empty() {
                self.offset = chunk.offset + chunk.bytes.len() as u64;
                return Ok(Followed::Output(chunk));
            }
            if record.state.is_final() {
                return Ok(Followed::Ended(Box::new(record)));
            }
            if end.is_some_and(|end| end <= Instant::now()) {
                return Ok(Followed::Nothing);
            }
            self.hear(end)?;
        }
    }

    /// Waits until the keeper tells of output, or of the end.
    fn hear(&mut self, end: Option<Instant>) -> Result<(), Error> {
        if self.line.is_none() {
            self.line = self.store.subscribe(&self.id, "follow");
        }
        let Some(line) = &mut self.line else {
            let _ = sys::poll_one(None, Some(AGAIN));
            return Ok(());
        };
        match line.hear(end) {
            Ok(Some(_)) => while line.heard().is_some() {},
            Ok(None) => self.line = None,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
            Err(error) => return Err(self.store.failed(&self.id)(error)),
        }
        Ok(())
    }
}

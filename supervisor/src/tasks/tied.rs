//! Tasks that are started for another process than this one, and tied to this one too where that is
//! wanted.

use std::time::{Duration, Instant};

use serde_json::json;

use super::record::Record;
use super::start::{self, Start};
use super::state::Who;
use super::store::Store;
use super::wire::Line;
use crate::error::Error;

/// A task that is tied to this process.
///
/// ```no_run
/// use spawn_owned::{Command, tasks::{Start, Store, Who}};
///
/// // A front that shows a task: until it lets go, the task ends with it too.
/// let caller = Who::caller().unwrap_or_else(Who::own);
/// let shown = Store::open()?.start_tied(&Start::new(Command::new("make")), caller)?;
/// println!("{} runs", shown.record.id);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
pub struct Tied {
    /// The task at its start.
    pub record: Record,
    line: Line,
}

impl Tied {
    /// Lets it go: from now on it has its owner alone.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, tasks::{Start, Store, Who}};
    /// # let (store, caller) = (Store::open()?, Who::own());
    /// let build = store.start_tied(&Start::new(Command::new("make")), caller)?;
    /// // It takes longer than anybody wants to watch: it goes on in the background.
    /// build.release()?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if it has ended meanwhile.
    pub fn release(mut self) -> Result<(), Error> {
        let end = Some(Instant::now() + Duration::from_secs(10));
        let said = self.line.say(&json!({"do": "release"}));
        let mut answer = said.and_then(|()| self.line.hear(end));
        // Matches in the output may have been told before.
        while let Ok(Some(value)) = &answer {
            if value["ok"] == true {
                return Ok(());
            }
            answer = self.line.hear(end);
        }
        Err(Error::Task {
            task: self.record.id,
            fault: "it has ended".to_owned(),
        })
    }
}

impl Store {
    /// Starts a task of the process `owner`, which this process need not be; returns when its command
    /// runs. This program must have called [`crate::init`].
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, tasks::{Start, Store, Who}};
    /// # spawn_owned::init();
    /// // A command of an agent's shell, for the agent.
    /// let agent = Who::now(4000).unwrap_or_else(Who::own);
    /// let server = Store::open()?.start(&Start::new(Command::new("dev-server")), agent)?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tasks::start`](super::Tasks::start).
    pub fn start(&self, start: &Start, owner: Who) -> Result<Record, Error> {
        start::start(self, start, owner, false).map(|(record, _)| record)
    }

    /// The same, tied to this process too: the task ends with what is returned, unless that lets it go.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, tasks::{Start, Store, Who}};
    /// # spawn_owned::init();
    /// let build = Start::new(Command::new("make"));
    /// let build = Store::open()?.start_tied(&build, Who::own())?;
    /// drop(build); // it is ended
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Tasks::start`](super::Tasks::start).
    pub fn start_tied(&self, start: &Start, owner: Who) -> Result<Tied, Error> {
        start::start(self, start, owner, true).map(|(record, line)| Tied { record, line })
    }

    /// The tasks that run and end with the process `owner`.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::{Store, Who};
    /// let store = Store::open()?;
    /// store.stop(&store.of_owner(Who::own())?, None);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Store::list`].
    pub fn of_owner(&self, owner: Who) -> Result<Vec<String>, Error> {
        let all = self.list()?.into_iter();
        let its = all.filter(|record| record.owner == Some(owner) && !record.state.is_final());
        Ok(its.map(|record| record.id).collect())
    }
}

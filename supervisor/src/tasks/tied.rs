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
pub struct Tied {
    /// The task at its start.
    pub record: Record,
    line: Line,
}

impl Tied {
    /// Lets it go: from now on it has its owner alone.
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
    /// # Errors
    ///
    /// As [`Tasks::start`](super::Tasks::start).
    pub fn start(&self, start: &Start, owner: Who) -> Result<Record, Error> {
        start::start(self, start, owner, false).map(|(record, _)| record)
    }

    /// The same, tied to this process too: the task ends with what is returned, unless that lets it go.
    ///
    /// # Errors
    ///
    /// As [`Tasks::start`](super::Tasks::start).
    pub fn start_tied(&self, start: &Start, owner: Who) -> Result<Tied, Error> {
        start::start(self, start, owner, true).map(|(record, line)| Tied { record, line })
    }

    /// The tasks that run and end with the process `owner`.
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

//! What is recorded of a task: one JSON object in its folder, replaced as a whole by its one writer.
//!
//! The starter writes it until it hands the task to its keeper; from then on the keeper alone does. So a
//! record that says "running" and whose keeper is dead means that the task is lost, now and for ever.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::state::{State, Who};
use crate::ledger::now;
use crate::{process, reap};

/// The record's file in the task's folder.
pub(super) const FILE: &str = "task.json";
/// Room for the record of the end.
const RESERVE: &str = "reserve";

/// What is known of a task.
///
/// ```no_run
/// let store = spawn_owned::tasks::Store::open()?;
/// for task in store.list()? {
///     let name = task.name.as_deref().unwrap_or("-");
///     println!("{} {name:12} {} {}", task.id, task.state, task.command.join(" "));
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// Eight hexadecimal digits; no two tasks of a state folder have the same.
    pub id: String,
    /// What its starter calls it. Several tasks may have the same.
    pub name: Option<String>,
    /// The program and its arguments, as text for people.
    pub command: Vec<String>,
    /// The folder it was started in.
    pub directory: String,
    /// What it is.
    pub state: State,
    /// When it was created, in seconds since 1970.
    pub created: f64,
    /// When its command took its first step.
    pub started: Option<f64>,
    /// When its command ended.
    pub ended: Option<f64>,
    /// The status that its command ended with, if it was not ended by a signal.
    pub status: Option<u8>,
    /// The signal that ended its command.
    pub signal: Option<i32>,
    /// What ended it, or what is wrong with it.
    pub why: Option<String>,
    /// The process whose end ends it; none for a task that must outlive, or that waits to be adopted.
    pub owner: Option<Who>,
    /// Who started it.
    pub starter: Who,
    /// Its keeper's process.
    pub keeper: Option<Who>,
    /// Its command's process, which leads a session and a group.
    pub main: Option<Who>,
    /// Why it must outlive whoever started it; none for a task that has an owner.
    pub reason: Option<String>,
    /// The name under which an owner that is started again takes it over.
    pub recover: Option<String>,
    /// How often it was taken over.
    pub adopted: u64,
    /// How many seconds it may run.
    pub limit: Option<f64>,
    /// How many seconds it may wait for another owner.
    pub patience: f64,
    /// How many seconds what is asked to end may take before it is killed.
    pub grace: f64,
    /// The command that is told of its end.
    pub notify: Option<String>,
    /// Texts whose appearance in the output is told.
    pub watch: Vec<String>,
    /// How many bytes of its output are kept.
    pub log_limit: u64,
    /// Whether it can be sent input.
    pub input: bool,
    /// Whether it has a terminal.
    pub terminal: bool,
    /// What of it lives on although it was ended, or after its command has ended.
    pub left: Vec<i32>,
    /// The token of its mark.
    pub(crate) token: String,
    /// The start of the machine in which numbers of processes mean something.
    pub(crate) boot: String,
}

/// Seconds as a length of time: none that is negative, or longer than anybody means.
pub(crate) fn length(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.min(reap::LONGEST.as_secs_f64())).unwrap_or_default()
}

impl Record {
    /// A task that nobody has given an id yet.
    pub(crate) fn new(token: String) -> Self {
        Self {
            id: String::new(),
            name: None,
            command: Vec::new(),
            directory: String::new(),
            state: State::Created,
            created: now(),
            started: None,
            ended: None,
            status: None,
            signal: None,
            why: None,
            owner: None,
            starter: Who::own(),
            keeper: None,
            main: None,
            reason: None,
            recover: None,
            adopted: 0,
            limit: None,
            patience: 0.0,
            grace: 2.0,
            notify: None,
            watch: Vec::new(),
            log_limit: 0,
            input: false,
            terminal: false,
            left: Vec::new(),
            token,
            boot: process::boot(),
        }
    }

    /// The lifetime that it has: `owned`, `persistent` or `adopted`.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let stays = store.list()?.into_iter().filter(|task| task.lifetime() == "persistent");
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn lifetime(&self) -> &'static str {
        match (&self.reason, self.adopted) {
            (Some(_), _) => "persistent",
            (None, 0) => "owned",
            (None, _) => "adopted",
        }
    }

    /// How many seconds it has run, or ran; 0 for a lost task, of which nobody knows it.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let task = store.find("build")?;
    /// println!("{} since {:.0} s", task.state, task.seconds());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn seconds(&self) -> f64 {
        if self.state == State::Lost {
            return 0.0;
        }
        let end = self.ended.unwrap_or_else(now);
        self.started.map_or(0.0, |start| (end - start).max(0.0))
    }

    /// The status that a shell would report: its command's own, or 128 and the signal
    /// ([bash(1)](https://man7.org/linux/man-pages/man1/bash.1.html)).
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// if store.find("tests")?.exit_status() == Some(137) {
    ///     println!("killed: out of memory?"); // 128 and SIGKILL
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn exit_status(&self) -> Option<u8> {
        let signal = self.signal.map(|signal| signal.saturating_add(128));
        self.status
            .or(signal.and_then(|code| u8::try_from(code).ok()))
    }

    /// Whether somebody is there who will write its end.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let task = store.find("tests")?;
    /// if task.state.is_final() && task.is_kept() {
    ///     println!("its command has ended, and what it left is kept: {:?}", task.left);
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn is_kept(&self) -> bool {
        // Until it is handed to its keeper, its starter is there for it.
        self.boot == process::boot() && self.keeper.unwrap_or(self.starter).lives()
    }

    /// Reads the record in a task's folder. What nobody will write the end of is lost.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut record = Self::read_plain(folder)?;
        if !record.state.is_final() && !record.is_kept() {
            // The keeper's last word may have come between the two looks.
            record = Self::read_plain(folder)?;
            if !record.state.is_final() {
                record.lose();
            }
        }
        Ok(record)
    }

    fn read_plain(folder: &Path) -> io::Result<Self> {
        let value: Value = serde_json::from_slice(&fs::read(folder.join(FILE))?)?;
        let what = "it is no record of a task";
        Self::from_value(&value).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn lose(&mut self) {
        let why = if self.boot != process::boot() {
            "the machine was started again"
        } else if self.keeper.is_none() {
            "its starter ended before the command was started"
        } else {
            "its keeper was killed, or could not write how it ended"
        };
        self.state = State::Lost;
        self.why = Some(why.to_owned());
        let lives = self.boot == process::boot() && self.main.is_some_and(Who::lives);
        self.left = self
            .main
            .filter(|_| lives)
            .map(|main| main.pid)
            .into_iter()
            .collect();
    }

    /// Sets room aside, so that how it ended can be written on a disk that is full by then.
    pub(crate) fn reserve(&self, folder: &Path) -> io::Result<()> {
        let room = 4096 + 2 * self.value().to_string().len();
        fs::write(folder.join(RESERVE), vec![b'\n'; room])
    }

    /// Gives the room back.
    pub(crate) fn give_back(folder: &Path) {
        // Not there any more where it was needed.
        let _ = fs::remove_file(folder.join(RESERVE));
    }

    /// Writes the record as a whole: a reader sees the one before or this one, never a part.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let written = self.write_whole(folder);
        if written.is_err() && self.state.is_final() {
            Self::give_back(folder);
            return self.write_whole(folder);
        }
        written
    }

    fn write_whole(&self, folder: &Path) -> io::Result<()> {
        let new = folder.join("task.json.new");
        write_private(&new, &self.value())?;
        fs::rename(new, folder.join(FILE))
    }

    /// As JSON.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let value = store.find("build")?.value();
    /// println!("{} {}", value["state"], value["lifetime"]); // "timed_out" "owned"
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn value(&self) -> Value {
        json!({
            "version": 1, "id": self.id, "name": self.name, "state": self.state.name(),
            "lifetime": self.lifetime(), "command": self.command, "directory": self.directory,
            "created": self.created, "started": self.started, "ended": self.ended,
            "seconds": self.seconds(), "status": self.status, "signal": self.signal,
            "exit_status": self.exit_status(), "why": self.why,
            "owner": self.owner.map(Who::value), "starter": self.starter.value(),
            "keeper": self.keeper.map(Who::value), "main": self.main.map(Who::value),
            "reason": self.reason, "recover": self.recover, "adopted": self.adopted,
            "limit": self.limit, "patience": self.patience, "grace": self.grace,
            "notify": self.notify, "watch": self.watch, "log_limit": self.log_limit,
            "input": self.input, "terminal": self.terminal, "left": self.left,
            "token": self.token, "boot": self.boot,
        })
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let number = |name: &str| value[name].as_f64();
        let texts = |name: &str| -> Vec<String> {
            let texts = value[name].as_array().into_iter().flatten();
            texts
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        Some(Self {
            id: text("id")?,
            name: text("name"),
            command: texts("command"),
            directory: text("directory")?,
            state: State::named(value["state"].as_str()?)?,
            created: number("created")?,
            started: number("started"),
            ended: number("ended"),
            status: value["status"]
                .as_u64()
                .and_then(|status| u8::try_from(status).ok()),
            signal: value["signal"]
                .as_i64()
                .and_then(|signal| i32::try_from(signal).ok()),
            why: text("why"),
            owner: Who::from_value(&value["owner"]),
            starter: Who::from_value(&value["starter"])?,
            keeper: Who::from_value(&value["keeper"]),
            main: Who::from_value(&value["main"]),
            reason: text("reason"),
            recover: text("recover"),
            adopted: value["adopted"].as_u64().unwrap_or(0),
            limit: number("limit"),
            patience: number("patience")?,
            grace: number("grace")?,
            notify: text("notify"),
            watch: texts("watch"),
            log_limit: value["log_limit"].as_u64()?,
            input: value["input"].as_bool()?,
            terminal: value["terminal"].as_bool()?,
            left: pids(&value["left"]),
            token: text("token")?,
            boot: text("boot")?,
        })
    }
}

/// The numbers of processes in a list.
pub(super) fn pids(value: &Value) -> Vec<i32> {
    let pids = value.as_array().into_iter().flatten();
    pids.filter_map(|pid| i32::try_from(pid.as_i64()?).ok())
        .collect()
}

/// Writes a file that is nobody else's to read, on a name that is not yet the one that readers look at.
pub(crate) fn write_private(path: &Path, value: &Value) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut record = Record::new("ab".to_owned());
        record.id = "12345678".to_owned();
        record.name = Some("a \"name\"".to_owned());
        record.signal = Some(9);
        record.left = vec![7];
        record.owner = Some(Who { pid: 5, start: 6 });
        let again = Record::from_value(&record.value()).unwrap();
        assert_eq!(again.value(), record.value());
        assert_eq!(again.exit_status(), Some(137));
    }

    #[test]
    fn what_is_no_record_is_none() {
        for text in [
            "null",
            "{}",
            "[]",
            r#"{"id": 7}"#,
            r#"{"id": "x", "state": "y"}"#,
        ] {
            assert!(
                Record::from_value(&serde_json::from_str(text).unwrap()).is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn without_a_keeper_a_running_task_is_lost() {
        let mut record = Record::new("ab".to_owned());
        let folder = std::env::temp_dir().join(format!("owned-record-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        record.state = State::Running;
        record.keeper = Some(Who {
            pid: 4_194_300,
            start: 1,
        });
        record.write(&folder).unwrap();
        let read = Record::read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            (read.state, read.status, read.signal),
            (State::Lost, None, None)
        );
        assert!(
            read.why
                .is_some_and(|why| why.starts_with("its keeper was killed"))
        );
    }
}

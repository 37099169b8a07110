//! The state folder: one folder for each task, readable by its user alone, with `cat`, `jq` and `ls`.
//!
//! `task.json` is the record, `output.*` the log, `control` the keeper's socket, `notice.json` who has
//! taken the notice of the end, `reserve` room for the record of the end on a full disk.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::record::Record;
use super::state::State;
use crate::error::Error;
use crate::ledger::{self, now};
use crate::{cookie, process, sys};

/// Ended tasks beyond this number are forgotten, the oldest first.
const KEPT: usize = 512;
/// Ended tasks are forgotten after so many seconds: seven days.
const KEPT_FOR: f64 = 7.0 * 86_400.0;
/// What a killed process left half made, or half removed, is removed after so many seconds.
const HALF_FOR: f64 = 3600.0;
/// How long the keeper of a task may take to end after the task has.
const LAST_STEPS: Duration = Duration::from_secs(5);
/// An id may be shortened to so many digits.
const SHORTEST: usize = 4;

/// Where tasks are recorded. Every process of a user sees the same.
///
/// ```no_run
/// use spawn_owned::tasks::Store;
///
/// let store = Store::open()?;
/// println!("{} tasks are known in {}", store.list()?.len(), store.path().display());
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The folder `$XDG_STATE_HOME/spawn-owned/tasks`, else `~/.local/state/spawn-owned/tasks`
    /// ([XDG base directories](https://specifications.freedesktop.org/basedir-spec/latest/)).
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let newest = Store::open()?.list()?.pop();
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] for a user without a home, or if the folder cannot be made, or is another's.
    pub fn open() -> Result<Self, Error> {
        let ledger = ledger::default_path();
        let folder = ledger
            .as_deref()
            .and_then(Path::parent)
            .map(|folder| folder.join("tasks"));
        let folder = folder.ok_or_else(|| Error::State {
            path: PathBuf::from("$XDG_STATE_HOME"),
            source: io::Error::new(io::ErrorKind::NotFound, "neither it nor HOME is set"),
        })?;
        Self::at(folder)
    }

    /// Another folder.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::Store;
    /// let store = Store::at("/var/lib/gateway/tasks")?;
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if it cannot be made, or others can write to it.
    pub fn at(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        let failed = |source| Error::State {
            path: folder.clone(),
            source,
        };
        let folder = std::path::absolute(&folder).map_err(failed)?;
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(failed)?;
        let data = folder.metadata().map_err(failed)?;
        let own = process::user(sys::own_pid());
        if data.mode() & 0o022 != 0 || own.is_some_and(|own| own != data.uid()) {
            let fault = "others can write to it: it must be yours, with mode 0700";
            return Err(failed(io::Error::new(
                io::ErrorKind::PermissionDenied,
                fault,
            )));
        }
        Ok(Self { folder })
    }

    /// Where the folders of its tasks are.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// println!("jq .state {}/*/task.json", store.path().display());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder of a task.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let build = store.find("build")?;
    /// println!("cat {}/output.*", store.folder(&build.id).display());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn folder(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    pub(crate) fn failed(&self, id: &str) -> impl FnOnce(io::Error) -> Error {
        let path = self.folder(id);
        move |source| Error::State { path, source }
    }

    /// Gives a task its id and its folder, which appears with the record in it.
    pub(crate) fn create(&self, record: &mut Record) -> Result<PathBuf, Error> {
        for _ in 0..100 {
            let id = cookie::token().map_err(self.failed(""))?;
            id.get(..8).unwrap_or(&id).clone_into(&mut record.id);
            let new = self.folder.join(format!(".new.{id}"));
            let made = fs::DirBuilder::new().mode(0o700).create(&new);
            let made = made.and_then(|()| record.write(&new));
            let made = made.and_then(|()| record.reserve(&new));
            let folder = self.folder(&record.id);
            match made.and_then(|()| fs::rename(&new, &folder)) {
                Ok(()) => return Ok(folder),
                Err(error) => {
                    let _ = fs::remove_dir_all(&new);
                    let taken = [
                        io::ErrorKind::DirectoryNotEmpty,
                        io::ErrorKind::AlreadyExists,
                    ];
                    if !taken.contains(&error.kind()) {
                        return Err(self.failed(&record.id)(error));
                    }
                }
            }
        }
        let full = io::Error::new(io::ErrorKind::AlreadyExists, "no id is free");
        Err(self.failed("")(full))
    }

    /// Every task, the oldest first.
    ///
    /// ```no_run
    /// # use spawn_owned::tasks::State;
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let tasks = store.list()?;
    /// let lost = tasks.iter().filter(|task| task.state == State::Lost);
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::State`] if the folder cannot be read. A task whose record cannot be read is left out.
    pub fn list(&self) -> Result<Vec<Record>, Error> {
        let entries = fs::read_dir(&self.folder).map_err(self.failed(""))?;
        let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut records: Vec<Record> = folders
            .filter_map(|folder| Record::read(&folder).ok())
            .collect();
        records.retain(|record| self.folder(&record.id).is_dir());
        records.sort_by(|a, b| {
            a.created
                .total_cmp(&b.created)
                .then_with(|| a.id.cmp(&b.id))
        });
        Ok(records)
    }

    /// The task that `text` means: an id, its first digits (four at least), or a name. Of several with
    /// one name the one that runs, if only one does, else the youngest.
    ///
    /// ```no_run
    /// # use spawn_owned::Error;
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// let by_name = store.find("dev-server")?;
    /// let by_digits = store.find("1f2e")?;
    /// if let Err(Error::Task { fault, .. }) = store.find("server") {
    ///     println!("{fault}"); // it means several: 1f2e3d4c, 5a6b7c8d
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if it means none or several.
    pub fn find(&self, text: &str) -> Result<Record, Error> {
        let plain = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if plain && let Ok(record) = Record::read(&self.folder(text)) {
            return Ok(record);
        }
        let all = self.list()?;
        let fault = |fault: String| Error::Task {
            task: text.to_owned(),
            fault,
        };
        let named = |record: &&Record| record.name.as_deref() == Some(text);
        let running: Vec<&Record> = all
            .iter()
            .filter(named)
            .filter(|record| !record.state.is_final())
            .collect();
        match running.as_slice() {
            [one] => return Ok((*one).clone()),
            [] => {}
            several => return Err(fault(ambiguous(several))),
        }
        if let Some(youngest) = all.iter().rev().find(named) {
            return Ok(youngest.clone());
        }
        let begins = |record: &&Record| text.len() >= SHORTEST && record.id.starts_with(text);
        match all.iter().filter(begins).collect::<Vec<_>>().as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(fault(
                "there is no such task (`owned list` shows all)".to_owned(),
            )),
            several => Err(fault(ambiguous(several))),
        }
    }

    /// Removes what was being made, or removed, by a process that was killed meanwhile.
    fn clean_up(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let half =
                [".new.", ".old."].map(|half| name.as_encoded_bytes().starts_with(half.as_bytes()));
            let old = || {
                Some(
                    entry
                        .metadata()
                        .ok()?
                        .modified()
                        .ok()?
                        .elapsed()
                        .ok()?
                        .as_secs_f64()
                        > HALF_FOR,
                )
            };
            if half.contains(&true) && old() == Some(true) {
                // Another process may do the same.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Forgets what ended long ago, and the oldest of too many. Never what runs.
    pub(crate) fn prune(&self) {
        self.clean_up();
        let Ok(all) = self.list() else { return };
        let over: Vec<&Record> = all
            .iter()
            .filter(|record| record.state.is_final() && record.left.is_empty() && !record.is_kept())
            .collect();
        let old = |record: &Record| now() - record.ended.unwrap_or(record.created) > KEPT_FOR;
        let many = over.len().saturating_sub(KEPT);
        for (at, record) in over.into_iter().enumerate() {
            if at < many || old(record) {
                // What cannot be forgotten now is forgotten another time.
                let _ = self.forget(&record.id);
            }
        }
    }

    /// Takes a task's folder away: out of sight at once, then file by file.
    fn forget(&self, id: &str) -> io::Result<()> {
        let aside = self.folder.join(format!(".old.{id}"));
        fs::rename(self.folder(id), &aside)?;
        fs::remove_dir_all(aside)
    }

    /// Forgets a task that has ended.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// for task in store.list()?.iter().filter(|task| task.state.is_final()) {
    ///     store.remove(task)?;
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Task`] if it has not, [`Error::State`] if its folder cannot be removed.
    pub fn remove(&self, record: &Record) -> Result<(), Error> {
        // One whose last word is written is about to end itself.
        let end = Instant::now() + LAST_STEPS;
        while record.state.is_final() && record.is_kept() && record.left.is_empty() {
            if record.state == State::Lost || Instant::now() > end {
                break;
            }
            let _ = sys::poll_one(None, Some(Duration::from_millis(2)));
        }
        if !record.state.is_final() || record.state != State::Lost && record.is_kept() {
            let fault = "it has not ended: stop it first".to_owned();
            return Err(Error::Task {
                task: record.id.clone(),
                fault,
            });
        }
        self.forget(&record.id).map_err(self.failed(&record.id))
    }
}

fn ambiguous(several: &[&Record]) -> String {
    let ids: Vec<&str> = several.iter().map(|record| record.id.as_str()).collect();
    format!("it means several: {}", ids.join(", "))
}

//! The start of a task: its record, its keeper, and the word that the command runs.

use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::log;
use super::record::Record;
use super::state::Who;
use super::store::Store;
use super::wire::{Line, from_bytes};
use crate::command::{Command, Prepared, c_text};
use crate::cookie::{self, VARIABLE};
use crate::error::{Error, tried};
use crate::link::{NATIVE, own_file};
use crate::sys::{self, Leads};
use crate::{launch, reason};

/// How long a keeper may take to start a command: loading a program from a slow disk counts.
const PATIENCE: Duration = Duration::from_secs(60);
/// How much of a task's output is kept if nobody says otherwise, in bytes.
const LOG: u64 = 16 << 20;

/// A task to be started.
///
/// ```
/// use spawn_owned::{Command, tasks::Start};
///
/// let mut command = Command::new("make");
/// command.arg("all");
/// let start = Start::new(command).name("build").limit(std::time::Duration::from_secs(600));
/// ```
#[derive(Debug)]
pub struct Start {
    command: Command,
    record: Record,
    pub(super) ledger: Option<PathBuf>,
    size: (u16, u16),
    /// The file that serves as keeper.
    pub(super) program: Option<PathBuf>,
}

impl Start {
    /// The task of running `command`. Its streams are the task's: its output goes to the log, and it has
    /// no input.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let mut command = Command::new("pytest");
    /// command.arg("-x").current_dir("/src/project");
    /// let start = Start::new(command);
    /// ```
    pub fn new(command: Command) -> Self {
        let mut record = Record::new(String::new());
        record.log_limit = LOG;
        let ledger = crate::ledger::default_path();
        Self {
            command,
            record,
            ledger,
            size: (24, 80),
            program: None,
        }
    }

    /// What it is called.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let start = Start::new(Command::new("vite")).name("preview"); // owned logs preview
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.record.name = Some(name.into());
        self
    }

    /// How long it may run: then it is ended, and has timed out.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// # use std::time::Duration;
    /// let start = Start::new(Command::new("fuzz")).limit(Duration::from_secs(3600));
    /// ```
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.record.limit = Some(limit.as_secs_f64());
        self
    }

    /// Whether it has a limit already.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// # use std::time::Duration;
    /// let mut start = Start::new(Command::new("fuzz"));
    /// if !start.has_limit() {
    ///     start = start.limit(Duration::from_secs(60));
    /// }
    /// assert!(start.has_limit());
    /// ```
    pub fn has_limit(&self) -> bool {
        self.record.limit.is_some()
    }

    /// Whether it outlives its owner.
    pub(super) fn persists(&self) -> bool {
        self.record.reason.is_some()
    }

    /// How long what is asked to end may take before it is killed: two seconds if nobody says otherwise.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// # use std::time::Duration;
    /// let start = Start::new(Command::new("postgres")).grace(Duration::from_secs(20));
    /// ```
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.record.grace = grace.as_secs_f64();
        self
    }

    /// A command for the shell, run once when the task has ended, and when a watched text appears. It
    /// gets the notice as JSON on its standard input, and `OWNED_TASK_ID`, `_NAME`, `_STATE`, `_STATUS`.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let start = Start::new(Command::new("make"))
    ///     .notify("notify-send \"build $OWNED_TASK_STATE\"");
    /// ```
    #[must_use]
    pub fn notify(mut self, command: impl Into<String>) -> Self {
        self.record.notify = Some(command.into());
        self
    }

    /// Tells when a line of the output holds `text`, but not too often.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let start = Start::new(Command::new("vite")).watch("ready in").watch("ERROR");
    /// ```
    #[must_use]
    pub fn watch(mut self, text: impl Into<String>) -> Self {
        self.record.watch.push(text.into());
        self
    }

    /// How many bytes of its output are kept, the last ones: 16 MiB if nobody says otherwise, and never
    /// less than 64 KiB.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let start = Start::new(Command::new("chatty-server")).log_limit(1 << 20);
    /// ```
    #[must_use]
    pub fn log_limit(mut self, bytes: u64) -> Self {
        self.record.log_limit = bytes.max(log::SMALLEST);
        self
    }

    /// Gives it input, to be sent with [`Store::send`].
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let mut command = Command::new("python3");
    /// command.args(["-i", "-q"]);
    /// let start = Start::new(command).name("python").input();
    /// ```
    #[must_use]
    pub fn input(mut self) -> Self {
        self.record.input = true;
        self
    }

    /// Gives it a terminal of so many rows and columns
    /// ([pty(7)](https://man7.org/linux/man-pages/man7/pty.7.html)).
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// let start = Start::new(Command::new("htop")).terminal(40, 120); // owned attach ID
    /// ```
    #[must_use]
    pub fn terminal(mut self, rows: u16, columns: u16) -> Self {
        self.record.terminal = true;
        self.record.input = true;
        self.size = (rows, columns);
        self
    }

    /// Lets it outlive whoever starts it, for a reason like that of [`crate::spawn_detached`].
    ///
    /// ```
    /// # use spawn_owned::{Command, Error, tasks::Start};
    /// let server = Start::new(Command::new("dev-server"));
    /// let server = server.persist("the user keeps it open between sessions")?;
    /// assert!(server.persist("because").is_err()); // that is no reason
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Reason`] if that is none.
    pub fn persist(mut self, reason: impl Into<String>) -> Result<Self, Error> {
        let reason = reason.into();
        if let Some(fault) = reason::fault(&reason) {
            return Err(Error::Reason { fault });
        }
        self.record.reason = Some(reason);
        Ok(self)
    }

    /// Lets it wait, for at most `patience`, for an owner of this name that is started again when its
    /// own has ended.
    ///
    /// ```
    /// # use spawn_owned::{Command, tasks::Start};
    /// # use std::time::Duration;
    /// let start = Start::new(Command::new("long-build")).recover("gateway", Duration::from_secs(600));
    /// ```
    #[must_use]
    pub fn recover(mut self, name: impl Into<String>, patience: Duration) -> Self {
        self.record.recover = Some(name.into());
        self.record.patience = patience.as_secs_f64();
        self
    }

    /// The record that the task begins with.
    fn record(&self, owner: Who, prepared: &Prepared) -> Result<Record, Error> {
        let mut record = self.record.clone();
        record.token = cookie::token().map_err(tried("read /dev/urandom"))?;
        record.starter = Who::own();
        record.owner = record.reason.is_none().then_some(owner);
        let text = |text: &std::ffi::CString| text.to_string_lossy().into_owned();
        record.command = launch::plain_arguments(prepared).iter().map(text).collect();
        let here = || {
            std::env::current_dir()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        record.directory = prepared.directory.as_ref().map_or_else(here, text);
        Ok(record)
    }
}

/// Starts a task of `owner`; returns when its command runs. With `lifeline` the connection that is
/// returned is the owner too: its end ends the task.
pub(super) fn start(
    store: &Store,
    start: &Start,
    owner: Who,
    lifeline: bool,
) -> Result<(Record, Line), Error> {
    store.prune();
    // A task that must outlive drops the marks of the owners above, which would end it.
    let outer = std::env::var_os(VARIABLE).filter(|_| !start.persists());
    let outer = outer.map(|outer| outer.as_bytes().to_vec());
    let prepared = start.command.prepare((VARIABLE, outer))?;
    let mut record = start.record(owner, &prepared)?;
    let folder = store.create(&mut record)?;
    let failed = |source| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source,
    };
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let first = keeper(start, &prepared, &theirs)?;
    drop(theirs);
    let mut line = Line::new(ours);
    let named = line.hear(Some(Instant::now() + PATIENCE));
    // What was started has gone on as the keeper, and has ended.
    let _ = sys::peek(first, true);
    let _ = sys::reap(first);
    let killed = || io::Error::other("its keeper was killed");
    let named = named.and_then(|named| named.ok_or_else(killed));
    let keeper = Who::from_value(&named.map_err(failed)?["keeper"]);
    // From here on the record names its keeper, so that it is never said to be lost while that lives.
    record.keeper = Some(keeper.ok_or_else(killed).map_err(failed)?);
    record.write(&folder).map_err(store.failed(&record.id))?;
    let order = json!({
        "folder": from_bytes(folder.as_os_str().as_bytes()),
        "path": from_bytes(prepared.path.as_bytes()),
        "arguments": arguments(&prepared),
        "ledger": start.ledger.as_ref().map(|path| from_bytes(path.as_os_str().as_bytes())),
        "lifeline": lifeline, "rows": start.size.0, "columns": start.size.1,
    });
    line.say(&order).map_err(failed)?;
    let answer = line.hear(Some(Instant::now() + PATIENCE)).map_err(failed)?;
    match answer {
        Some(answer) if answer["event"] == "started" => {
            let record = Record::read(&folder).map_err(store.failed(&record.id))?;
            Ok((record, line))
        }
        Some(answer) => Err(refused(&answer, &prepared)),
        None => Err(failed(killed())),
    }
}

fn refused(answer: &Value, prepared: &Prepared) -> Error {
    let program = prepared.path.to_string_lossy().into_owned().into();
    let fault = answer["fault"]
        .as_str()
        .unwrap_or("its keeper does not say why")
        .to_owned();
    match answer["status"].as_u64() {
        Some(127) => Error::Program {
            program,
            source: io::Error::new(io::ErrorKind::NotFound, fault),
        },
        Some(126) => Error::Program {
            program,
            source: io::Error::new(io::ErrorKind::PermissionDenied, fault),
        },
        _ => Error::Spawn {
            program,
            source: io::Error::other(fault),
        },
    }
}

fn arguments(prepared: &Prepared) -> Vec<Value> {
    let texts = launch::plain_arguments(prepared);
    texts
        .iter()
        .map(|text| from_bytes(text.as_bytes()))
        .collect()
}

/// Starts what becomes the keeper, which waits for its order.
fn keeper(start: &Start, prepared: &Prepared, stream: &UnixStream) -> Result<sys::Pid, Error> {
    let own = own_file().map_err(tried("find this program's own file"))?;
    let program = start.program.as_ref().unwrap_or(&own);
    let program = c_text(program.as_os_str()).map_err(tried("use this path for the keeper"))?;
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null");
    let null = null.and_then(|null| sys::above_standard(&null));
    let null = null.map_err(tried("open /dev/null"))?;
    let stream = sys::above_standard(stream).map_err(tried("pass a socket on"))?;
    let null = null.as_raw_fd();
    launch::spawn(
        prepared,
        &program,
        &[NATIVE, "task"].map(|text| std::ffi::CString::new(text).unwrap_or_default()),
        &[(null, 0), (null, 1), (null, 2), (stream.as_raw_fd(), 3)],
        Leads::Group,
        true,
    )
}

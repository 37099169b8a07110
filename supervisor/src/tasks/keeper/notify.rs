//! The command that is told of a task's end and of matches in its output: one at a time, each bounded.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{c_text, c_variable};
use crate::process::Identity;
use crate::sys::{self, Leads, Order};
use crate::tasks::notice::{self, Notice};
use crate::tasks::record::Record;

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Matches that wait for their turn.
const WAITING: usize = 16;

pub(super) struct Notifier {
    command: Option<String>,
    waiting: VecDeque<Value>,
    /// Set when the notice of the end is ours to tell, and was not.
    end_waits: bool,
    running: Option<Running>,
}

struct Running {
    leader: Identity,
    limit: Instant,
    tells_end: bool,
}

impl Notifier {
    pub(super) fn new(command: Option<String>) -> Self {
        Self {
            command,
            waiting: VecDeque::new(),
            end_waits: false,
            running: None,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || self.end_waits
    }

    pub(super) fn limit(&self) -> Option<Instant> {
        self.running.as_ref().map(|running| running.limit)
    }

    /// The process that tells, which leads a group.
    pub(super) fn leader(&self) -> Option<Identity> {
        self.running.as_ref().map(|running| running.leader)
    }

    /// A match to be told.
    pub(super) fn add(&mut self, value: Value) {
        if self.command.is_some() && self.waiting.len() < WAITING {
            self.waiting.push_back(value);
        }
    }

    /// Takes the notice of the end, before anybody can know of the end.
    pub(super) fn claim(&mut self, folder: &Path) {
        if let Some(command) = &self.command {
            self.end_waits = notice::claim(folder, command).unwrap_or(false);
        }
    }

    /// Starts the command for what is to be told next: its process, if one was started.
    pub(super) fn next(&mut self, folder: &Path, record: &Record) -> Option<Identity> {
        let command = self.command.clone()?;
        while self.running.is_none() {
            let (value, tells_end) = match self.waiting.pop_front() {
                Some(value) => (value, false),
                None if self.end_waits => (Notice::of(folder, record.clone()).value(), true),
                None => return None,
            };
            self.end_waits &= !tells_end;
            match start(&command, folder, record, &value) {
                Ok(leader) => {
                    let limit = Instant::now() + LIMIT;
                    self.running = Some(Running {
                        leader,
                        limit,
                        tells_end,
                    });
                    return Some(leader);
                }
                Err(error) if tells_end => {
                    let fault = format!("cannot run `{command}`: {error}");
                    let _ = notice::told(folder, &command, Some(&fault));
                }
                Err(_) => {}
            }
        }
        None
    }

    /// It takes too long.
    pub(super) fn overdue(&mut self) {
        if let Some(running) = &mut self.running {
            // Its end is told by the system, as ever.
            let _ = sys::signal_group(running.leader.pid, libc::SIGKILL);
            running.limit += LIMIT;
        }
    }

    /// A process has ended: whether it was the one that tells.
    pub(super) fn ended(&mut self, folder: &Path, pid: i32, how: ExitStatus) -> bool {
        let ours = |running: &mut Running| running.leader.pid.get() == pid;
        let Some(running) = self.running.take_if(ours) else {
            return false;
        };
        // What it left in its group is not the task's, and nobody else's.
        let _ = sys::signal_group(running.leader.pid, libc::SIGKILL);
        if running.tells_end {
            let command = self.command.as_deref().unwrap_or_default();
            let fault = (!how.success()).then(|| format!("`{command}`: {how}"));
            let _ = notice::told(folder, command, fault.as_deref());
        }
        true
    }
}

/// Starts the command in a shell, with the notice as JSON on its standard input.
fn start(
    command: &str,
    folder: &Path,
    record: &Record,
    value: &Value,
) -> std::io::Result<Identity> {
    let path = folder.join("notice.input");
    std::fs::write(&path, format!("{value}\n"))?;
    let input = sys::above_standard(&File::open(&path)?)?;
    std::fs::remove_file(path)?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let null = sys::above_standard(&null)?;
    let status = record.exit_status().map(|status| status.to_string());
    let more = [
        ("OWNED_TASK_ID", record.id.clone()),
        ("OWNED_TASK_NAME", record.name.clone().unwrap_or_default()),
        ("OWNED_TASK_STATE", record.state.name().to_owned()),
        ("OWNED_TASK_STATUS", status.unwrap_or_default()),
        ("OWNED_TASK_FOLDER", folder.to_string_lossy().into_owned()),
        (
            "OWNED_EVENT",
            value["event"].as_str().unwrap_or_default().to_owned(),
        ),
    ];
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os() {
        environment.push(c_variable(&name, &value)?);
    }
    for (name, value) in more {
        environment.push(c_variable(OsStr::new(name), OsStr::new(&value))?);
    }
    let pid = sys::spawn(&Order {
        path: c"/bin/sh",
        arguments: &[
            c"sh".to_owned(),
            c"-c".to_owned(),
            c_text(OsStr::new(command))?,
        ],
        environment: &environment,
        directory: None,
        descriptors: &[
            (input.as_raw_fd(), 0),
            (null.as_raw_fd(), 1),
            (null.as_raw_fd(), 2),
        ],
        closed: &[],
        leads: Leads::Group,
        shielded: false,
    })?;
    Ok(Identity::of(pid).unwrap_or(Identity { pid, start: 0 }))
}

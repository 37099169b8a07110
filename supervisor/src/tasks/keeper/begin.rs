//! The begin of a task: the order of its starter, and the command that waits for its first step.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ending::Tree;
use super::guard::Guard;
use super::listing::Listing;
use super::notify::Notifier;
use super::peers::Peer;
use super::streams::Input;
use super::{CHILD, Keeper, TOLD, wake_up};
use crate::command::{c_text, c_variable};
use crate::cookie::{self, VARIABLE};
use crate::first_step::FirstStep;
use crate::ledger::{Ledger, now};
use crate::process::Identity;
use crate::sys;
use crate::tasks::log;
use crate::tasks::record::{Record, length};
use crate::tasks::state::{State, Who};
use crate::tasks::watching::Watch;
use crate::tasks::wire::{self, Line};

/// How long a starter may take to say what is to be done.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is to be kept.
struct Task {
    folder: PathBuf,
    path: Vec<u8>,
    arguments: Vec<Vec<u8>>,
    ledger: Option<PathBuf>,
    lifeline: bool,
    size: (u16, u16),
}

impl Task {
    fn from_value(value: &Value) -> Option<Self> {
        let text = |value: &Value| wire::to_bytes(value);
        let path = |value: &Value| text(value).map(|path| OsString::from_vec(path).into());
        let side = |name: &str, usual| {
            let side = value[name]
                .as_u64()
                .and_then(|side| u16::try_from(side).ok());
            side.unwrap_or(usual)
        };
        Some(Self {
            folder: path(&value["folder"])?,
            path: text(&value["path"])?,
            arguments: value["arguments"]
                .as_array()?
                .iter()
                .map(text)
                .collect::<Option<_>>()?,
            ledger: path(&value["ledger"]),
            lifeline: value["lifeline"].as_bool()?,
            size: (side("rows", 24), side("columns", 80)),
        })
    }
}

/// The keeper of what the starter orders, with the command running; none if it does not run, which the
/// starter was told.
pub(super) fn begin(starter: UnixStream) -> Option<Keeper> {
    let mut line = Line::new(starter);
    line.say(&json!({"keeper": Who::own().value()})).ok()?;
    let order = line.hear(Some(Instant::now() + PATIENCE)).ok()??;
    let task = Task::from_value(&order)?;
    if task.lifeline {
        sys::continue_at(line.stream.as_fd());
    }
    let mut record = Record::read(&task.folder).ok()?;
    match run(&task, &mut record) {
        Ok(mut keeper) => {
            let _ = line.say(&json!({"event": "started"}));
            let _ = line.stream.set_nonblocking(true);
            let mut peer = Peer::new(line);
            (peer.waits, peer.lifeline) = (true, task.lifeline);
            keeper.add(peer);
            Some(keeper)
        }
        Err(fault) => {
            record.state = State::Failed;
            record.ended = Some(now());
            record.why = Some(fault.to_string());
            // Said to the starter in any case.
            let _ = record.write(&task.folder);
            let status = record.status.unwrap_or(0);
            let _ =
                line.say(&json!({"event": "failed", "fault": fault.to_string(), "status": status}));
            None
        }
    }
}

/// The ends of the command's streams: its own, and ours.
struct Streams {
    theirs: [OwnedFd; 2],
    output: File,
    input: Option<File>,
}

fn streams(record: &Record, size: (u16, u16)) -> io::Result<Streams> {
    if record.terminal {
        let (ours, theirs) = sys::open_terminal(size.0, size.1)?;
        sys::never_wait(&ours);
        let ours = File::from(ours);
        return Ok(Streams {
            theirs: [sys::above_standard(&theirs)?, theirs],
            input: Some(ours.try_clone()?),
            output: ours,
        });
    }
    let (output, output_end) = sys::pipe()?;
    sys::never_wait(&output);
    let (input_end, input) = if record.input {
        let (input_end, input) = sys::pipe()?;
        sys::never_wait(&input);
        (input_end, Some(File::from(input)))
    } else {
        let null = File::open("/dev/null")?;
        (sys::above_standard(&null)?, None)
    };
    Ok(Streams {
        theirs: [input_end, output_end],
        output: output.into(),
        input,
    })
}

/// Starts the command and everything around it.
fn run(task: &Task, record: &mut Record) -> io::Result<Keeper> {
    let owner = watch(record)?;
    let (wake, wake_write) = sys::pipe()?;
    sys::never_wait(&wake_write);
    let wake_write = Arc::new(wake_write);
    let streams = streams(record, task.size)?;
    let (report, report_end) = sys::pipe()?;
    let (leader, go) = hold(task, record, &streams, &report_end)?;
    drop(report_end);
    let tree = Arc::new(Tree::new(leader, &record.token));
    let mut guard = Guard::new(&record.token, record.grace, record.owner);
    guard.start(&tree, None);
    record.main = Some(leader.into());
    record.write(&task.folder)?;
    let listener = listen(&task.folder)?;
    let purpose = format!("task {}", record.id);
    let program = record.command.first();
    let row = json!({"number": 1, "purpose": purpose, "program": program, "task": record.id});
    let path = task.ledger.clone();
    let ledger = Ledger::open_with(path, &record.token, Who::own(), leader.into(), row);
    sys::write_quietly(go.as_fd(), b"!", PATIENCE)?;
    let mut status = Vec::new();
    File::from(report).read_to_end(&mut status)?;
    if let Some(status) = status.first() {
        record.status = Some(*status);
        guard.release();
        return Err(io::Error::other(match status {
            127 => "the program or its interpreter was not found",
            _ => "the system does not run the program",
        }));
    }
    pass_signals_on(Arc::clone(&wake_write))?;
    record.state = State::Running;
    record.started = Some(now());
    record.write(&task.folder)?;
    let limit = record.limit.map(length);
    Ok(Keeper {
        folder: task.folder.clone(),
        tree,
        guard,
        ledger,
        log: log::Writer::new(&task.folder, record.log_limit),
        output: Some(streams.output),
        input: streams.input.map(|file| Input {
            file,
            waiting: Vec::new(),
            closing: false,
        }),
        listener: Some(listener),
        listing: Listing::of(&task.folder),
        peers: std::collections::BTreeMap::new(),
        next_peer: 0,
        owner,
        wake: wake.into(),
        ended: Arc::new(Mutex::new(Vec::new())),
        wake_write,
        deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
        adoption: None,
        cause: None,
        ending: false,
        watch: Watch::new(record.watch.clone()),
        notifier: Notifier::new(record.notify.clone()),
        record: record.clone(),
    })
}

/// A descriptor of the owner, which surely was alive when it was taken; none for a task without owner.
pub(super) fn watch(record: &Record) -> io::Result<Option<OwnedFd>> {
    let Some(owner) = record.owner else {
        return Ok(None);
    };
    let handle = match sys::open_process(owner.pid) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
        Err(_) => None,
        Ok(handle) => Some(handle),
    };
    // Looked at after opening: then the descriptor is the owner's.
    if handle.is_some() && owner.lives() {
        Ok(handle)
    } else {
        Err(io::Error::other(format!(
            "its owner, process {}, has ended",
            owner.pid
        )))
    }
}

/// Starts the command, which waits for its first step: who it is, and the pipe that lets it go. `report`
/// hears the status of a failure, and nothing if it becomes its program.
fn hold(
    task: &Task,
    record: &Record,
    streams: &Streams,
    report: &OwnedFd,
) -> io::Result<(Identity, OwnedFd)> {
    let (go_end, go) = sys::pipe()?;
    let path = c_text(OsStr::from_bytes(&task.path))?;
    let arguments = task.arguments.iter();
    let arguments: io::Result<_> = arguments
        .map(|text| c_text(OsStr::from_bytes(text)))
        .collect();
    let [input, output] = &streams.theirs;
    let output = output.as_raw_fd();
    let step = FirstStep {
        path: &path,
        arguments: arguments?,
        environment: environment(record)?,
        directory: None,
        descriptors: vec![(input.as_raw_fd(), 0), (output, 1), (output, 2)],
    };
    // This process has one thread still.
    let Some(pid) = sys::fork()? else {
        drop(go);
        // It leads no group yet, so that this cannot fail.
        let _ = sys::new_session();
        let status = step.take(go_end, || {
            if record.terminal {
                // Without one the command has no job control, and runs.
                let _ = sys::take_terminal();
            }
        });
        let _ = sys::write_quietly(report.as_fd(), &[status], PATIENCE);
        sys::leave(status);
    };
    let gone = || io::Error::other("the command was killed before its first step");
    Ok((Identity::of(pid).ok_or_else(gone)?, go))
}

/// What the command finds in its environment: what its starter has, and the mark.
fn environment(record: &Record) -> io::Result<Vec<CString>> {
    let mark = cookie::value(std::env::var_os(VARIABLE).as_deref(), &record.token, 1);
    let mut environment = Vec::new();
    for (name, value) in std::env::vars_os().filter(|(name, _)| name != VARIABLE) {
        environment.push(c_variable(&name, &value)?);
    }
    environment.push(c_variable(OsStr::new(VARIABLE), OsStr::from_bytes(&mark))?);
    Ok(environment)
}

/// Opens the socket in the task's folder, from inside: an address holds about a hundred bytes.
pub(super) fn listen(folder: &std::path::Path) -> io::Result<UnixListener> {
    std::env::set_current_dir(folder)?;
    let listener = UnixListener::bind(wire::SOCKET)?;
    listener.set_nonblocking(true)?;
    // No folder of anybody's is in use by this process.
    std::env::set_current_dir("/")?;
    Ok(listener)
}

/// Starts the thread that waits for signals.
fn pass_signals_on(wake: Arc<OwnedFd>) -> io::Result<()> {
    // What has ended before is seen at the first look.
    wake_up(&wake, CHILD);
    let work = move || {
        while let Some(signal) = sys::next_keeper_signal() {
            wake_up(&wake, if signal == libc::SIGTERM { TOLD } else { CHILD });
        }
    };
    // Ends with this process: it waits for signals, which come from outside.
    std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(work)
        .map(drop)
}

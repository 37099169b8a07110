//! The start of an owned child: through a launcher that tells the supervisor its own name first.
//!
//! A child that somebody else registers is nobody's until that is done, and an owner killed in between
//! leaves it. So what is started is a launcher in the child's place. It holds the lifeline from birth,
//! writes its own line to it, and only then becomes the program: at no instant is there a program that
//! the supervisor will not hear of before it hears of the owner's death.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use serde_json::json;

use crate::command::{Command, Prepared, c_text, c_variable};
use crate::cookie::{self, VARIABLE};
use crate::error::{Error, tried};
use crate::link::{NATIVE, Tier};
use crate::process::{self, Identity};
use crate::sabotage::sabotaged;
use crate::shared::Shared;
use crate::sys::{self, Leads, Order, Pid};

/// The statuses by which shells say that a program was not found, or not run.
pub(crate) const NOT_FOUND: u8 = 127;
pub(crate) const NOT_RUN: u8 = 126;
/// The launcher as a program for a shell.
const SCRIPT: &str = include_str!("launcher.sh");
/// What a shell sets by itself, and a program must not have that did not get it.
const SHELLS_OWN: &[&str] = &["PWD", "OLDPWD", "SHLVL", "_"];
/// What a shell takes for itself, so that it does not pass it on as it was.
const SHELLS_WORDS: &[&str] = &[
    "IFS", "OPTIND", "PPID", "PS1", "PS2", "PS4", "LINENO", "UID", "EUID",
];

/// A child that was started.
pub(crate) struct Started {
    pub(crate) leader: Identity,
    pub(crate) number: u64,
    /// Our ends of its pipes.
    pub(crate) ends: [Option<OwnedFd>; 3],
}

/// Starts and covers a child.
pub(crate) fn start(
    shared: &Arc<Shared>,
    command: &Command,
    purpose: &str,
) -> Result<Started, Error> {
    let number = shared.number();
    let outer = std::env::var_os(VARIABLE);
    let mark = cookie::value(outer.as_deref(), &shared.token, number);
    let mark = (!sabotaged("cookie")).then_some(mark);
    let mut prepared = command.prepare((VARIABLE, mark))?;
    let leader = shared.start(number, |line| launch(shared, &prepared, line))?;
    shared.ledger.started(
        "start",
        leader.pid.get(),
        leader.start,
        json!({
            "number": number, "purpose": purpose, "program": prepared.path.to_string_lossy(),
        }),
    );
    let ends = std::mem::take(&mut prepared.ends);
    Ok(Started {
        leader,
        number,
        ends,
    })
}

/// Starts the launcher in the child's place.
fn launch(shared: &Shared, prepared: &Prepared, line: BorrowedFd<'_>) -> Result<Pid, Error> {
    let spare = spare_descriptor().ok_or_else(|| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source: std::io::Error::other("the descriptors 3 to 9 are all passed on to children"),
    })?;
    let (path, arguments) = match (sabotaged("launcher"), shared.helper.tier) {
        (true, _) => (prepared.path.clone(), plain_arguments(prepared)),
        (_, Tier::Native) => (
            helper_path(shared)?,
            native_arguments(shared, prepared, spare)?,
        ),
        (_, Tier::Shell) => (
            helper_path(shared)?,
            shell_arguments(shared, prepared, spare)?,
        ),
    };
    let mut descriptors = prepared.descriptors();
    if !sabotaged("launcher") {
        descriptors.push((line.as_raw_fd(), spare));
    }
    spawn(
        prepared,
        &path,
        &arguments,
        &descriptors,
        Leads::Group,
        false,
    )
}

/// Starts `path` with what a command says of environment and folder.
pub(crate) fn spawn(
    prepared: &Prepared,
    path: &CString,
    arguments: &[CString],
    descriptors: &[(i32, i32)],
    leads: Leads,
    shielded: bool,
) -> Result<Pid, Error> {
    let failed = |source| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source,
    };
    let variables = prepared.environment.iter();
    let environment: std::io::Result<Vec<CString>> = variables
        .map(|(name, value)| c_variable(name, value))
        .collect();
    sys::spawn(&Order {
        path,
        arguments,
        environment: &environment.map_err(failed)?,
        directory: prepared.directory.as_deref(),
        descriptors,
        closed: &[],
        leads,
        shielded,
    })
    .map_err(failed)
}

/// The program's own name and arguments.
pub(crate) fn plain_arguments(prepared: &Prepared) -> Vec<CString> {
    let name = std::iter::once(&prepared.name);
    name.chain(&prepared.arguments).cloned().collect()
}

fn helper_path(shared: &Shared) -> Result<CString, Error> {
    c_text(shared.helper.path.as_os_str()).map_err(tried("use this path for the launcher"))
}

/// A number that a shell can name and that means nothing to the child.
fn spare_descriptor() -> Option<RawFd> {
    let taken = sys::inheritable();
    (3..=9).rev().find(|fd| !taken.contains(fd))
}

fn native_arguments(
    shared: &Shared,
    prepared: &Prepared,
    spare: RawFd,
) -> Result<Vec<CString>, Error> {
    let mut arguments = texts(&[
        NATIVE,
        "launch",
        &shared.pid.to_string(),
        &spare.to_string(),
    ])?;
    arguments.push(prepared.path.clone());
    arguments.extend(plain_arguments(prepared));
    Ok(arguments)
}

fn shell_arguments(
    shared: &Shared,
    prepared: &Prepared,
    spare: RawFd,
) -> Result<Vec<CString>, Error> {
    let has = |name: &&&str| {
        prepared
            .environment
            .iter()
            .any(|(own, _)| own == OsStr::new(name))
    };
    let foreign: Vec<&str> = SHELLS_OWN
        .iter()
        .filter(|name| !has(name))
        .copied()
        .collect();
    let (owner, spare) = (shared.pid.to_string(), spare.to_string());
    let mut arguments = texts(&["sh", "-c", SCRIPT, "sh", &owner, &spare, &foreign.join(" ")])?;
    let lost = prepared
        .environment
        .iter()
        .filter(|(name, _)| lost_in_a_shell(name));
    let lost: std::io::Result<Vec<CString>> =
        lost.map(|(name, value)| c_variable(name, value)).collect();
    let lost = lost.map_err(tried("pass the environment on"))?;
    if !lost.is_empty() {
        arguments.extend(texts(&["/usr/bin/env"])?);
        arguments.extend(lost);
    }
    arguments.push(prepared.path.clone());
    arguments.extend(prepared.arguments.iter().cloned());
    Ok(arguments)
}

/// Whether a shell would drop or change the variable: then `env` sets it, right before the program.
fn lost_in_a_shell(name: &OsString) -> bool {
    let bytes = name.as_bytes();
    let plain = bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.first().is_some_and(|first| !first.is_ascii_digit());
    !plain || SHELLS_WORDS.iter().any(|word| name == OsStr::new(word))
}

fn texts(texts: &[&str]) -> Result<Vec<CString>, Error> {
    let texts = texts.iter().map(|text| c_text(OsStr::new(text)));
    let texts: std::io::Result<_> = texts.collect();
    texts.map_err(tried("name the launcher's arguments"))
}

/// The native launcher: registers itself, then becomes the program. Returns the status of a failure.
///
/// Arguments: the owner, the descriptor of its lifeline, the program's path, its name, its arguments.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let number = |at: usize| arguments.get(at)?.to_str()?.parse::<i32>().ok();
    let (Some(owner), Some(line), Some(path)) = (number(0), number(1), arguments.get(2)) else {
        return NOT_FOUND;
    };
    // An owner that died before could not be told apart from one that will: nothing is started for it.
    if sys::parent() != owner {
        return NOT_FOUND;
    }
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let start = process::look(own).map_or(0, |own| own.start);
    become_program(path, &arguments[3..], || {
        sys::register(line, format!("+ {own} {start}\n").as_bytes());
    })
}

/// Turns this process into the program at `path`, with its name and arguments, after `ready`. Returns
/// the status of a failure.
pub(crate) fn become_program(path: &OsStr, arguments: &[OsString], ready: impl FnOnce()) -> u8 {
    let texts = arguments.iter().map(|text| c_text(text));
    let environment = std::env::vars_os().map(|(name, value)| c_variable(&name, &value));
    let (Ok(path), Ok(texts), Ok(environment)) = (
        c_text(path),
        texts.collect::<Result<Vec<_>, _>>(),
        environment.collect::<Result<Vec<_>, _>>(),
    ) else {
        return NOT_RUN;
    };
    ready();
    let error = sys::exec(&path, &texts, &environment);
    if error.raw_os_error() == Some(libc::ENOEXEC) {
        // As shells do it: a file without a first line that names a program is a script.
        let script = [c"sh".to_owned(), path]
            .into_iter()
            .chain(texts.into_iter().skip(1));
        sys::exec(c"/bin/sh", &script.collect::<Vec<_>>(), &environment);
        return NOT_RUN;
    }
    if error.kind() == std::io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_RUN
    }
}

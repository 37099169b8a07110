//! The start of an owned child: through a launcher that tells the supervisor its own name first.
//!
//! A child that somebody else registers is nobody's until that is done, and an owner killed in between
//! leaves it. So what is started is a launcher in the child's place. It holds the lifeline from birth,
//! writes its own line to it, and only then becomes the program: at no instant is there a program that
//! the supervisor will not hear of before it hears of the owner's death.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::command::{Command, Prepared, c_text, c_variable};
use crate::cookie::{self, VARIABLE};
use crate::error::{Error, tried};
use crate::link::{NATIVE, Tier};
use crate::process::{self, Identity};
use crate::sabotage::sabotaged;
use crate::shared::Shared;
use crate::sys::{self, ControlGroup, Leads, Order, Pid};

/// The statuses by which shells say that a program was not found, or not run.
pub(crate) const NOT_FOUND: u8 = 127;
pub(crate) const NOT_RUN: u8 = 126;
/// The launcher as a program for a shell.
const SCRIPT: &str = include_str!("launcher.sh");
/// What becomes of variables on their way through it, a line each: a name, and `set`, `changed` or both.
const ENVIRONMENT: &str = include_str!("environment.txt");

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
    let leader = shared.start(number, |line, group| launch(shared, &prepared, line, group))?;
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
fn launch(
    shared: &Shared,
    prepared: &Prepared,
    line: BorrowedFd<'_>,
    group: Option<&ControlGroup>,
) -> Result<Pid, Error> {
    let spare = spare_descriptor().ok_or_else(|| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source: std::io::Error::other("the descriptors 3 to 9 are all passed on to children"),
    })?;
    let members = group.map_or_else(PathBuf::new, ControlGroup::members);
    let members = c_text(members.as_os_str()).map_err(tried("name the control group"))?;
    let (path, arguments) = match (sabotaged("launcher"), shared.helper.tier) {
        (true, _) => (prepared.path.clone(), plain_arguments(prepared)),
        (_, Tier::Native) => (
            helper_path(shared)?,
            native_arguments(shared, prepared, spare, members)?,
        ),
        (_, Tier::Shell) => (
            helper_path(shared)?,
            shell_arguments(shared, prepared, spare, members)?,
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
    members: CString,
) -> Result<Vec<CString>, Error> {
    let mut arguments = texts(&[
        NATIVE,
        "launch",
        &shared.pid.to_string(),
        &spare.to_string(),
    ])?;
    arguments.extend([members, prepared.path.clone()]);
    arguments.extend(plain_arguments(prepared));
    Ok(arguments)
}

fn shell_arguments(
    shared: &Shared,
    prepared: &Prepared,
    spare: RawFd,
    members: CString,
) -> Result<Vec<CString>, Error> {
    let (owner, spare) = (shared.pid.to_string(), spare.to_string());
    let mut arguments = texts(&["sh", "-c", SCRIPT, "sh", &owner, &spare])?;
    arguments.push(members);
    // In a name with `=` the next program would see a variable: there, what the shell leaves has to do.
    if !prepared.path.as_bytes().contains(&b'=') {
        arguments.extend(environment_arguments(prepared)?);
    }
    arguments.push(name_for_a_shell(prepared)?);
    arguments.extend(prepared.arguments.iter().cloned());
    Ok(arguments)
}

/// A shell cannot name a program otherwise than it is found; by its bare name it is found again. One
/// that begins with `-` would be an option to the shell or to `env`.
fn name_for_a_shell(prepared: &Prepared) -> Result<CString, Error> {
    let option = |text: &CString| text.as_bytes().starts_with(b"-");
    if prepared.found_in_path && !option(&prepared.name) {
        return Ok(prepared.name.clone());
    }
    if !option(&prepared.path) {
        return Ok(prepared.path.clone());
    }
    let path = [b"./", prepared.path.as_bytes()].concat();
    c_text(OsStr::from_bytes(&path)).map_err(tried("name the program"))
}

/// A call of `env` that makes the environment what it was before a shell had it.
fn environment_arguments(prepared: &Prepared) -> Result<Vec<CString>, Error> {
    let given = &prepared.environment;
    let has = |name: &&str| given.iter().any(|(own, _)| own == OsStr::new(*name));
    let mut arguments = texts(&["/usr/bin/env"])?;
    for name in on_the_way("set").filter(|name| !has(name)) {
        arguments.extend(texts(&["-u", name])?);
    }
    arguments.extend(texts(&["--"])?);
    let words: Vec<&str> = on_the_way("changed").collect();
    let changed = given
        .iter()
        .filter(|(name, _)| changed_by_a_shell(name, &words))
        .map(|(name, value)| c_variable(name, value));
    let changed: std::io::Result<Vec<CString>> = changed.collect();
    arguments.extend(changed.map_err(tried("pass the environment on"))?);
    Ok(arguments)
}

/// The variables to which `what` happens in a shell.
fn on_the_way(what: &str) -> impl Iterator<Item = &'static str> {
    let lines = ENVIRONMENT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| {
        let mut words = line.split(' ');
        let name = words.next()?;
        words.any(|word| word == what).then_some(name)
    })
}

/// Whether a shell would drop or change the variable: then `env` sets it, right before the program.
/// `words` are the names that are its own.
fn changed_by_a_shell(name: &OsString, words: &[&str]) -> bool {
    let bytes = name.as_bytes();
    let plain = bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.first().is_some_and(|first| !first.is_ascii_digit());
    let own = bytes.starts_with(b"BASH") || words.iter().any(|word| name == OsStr::new(word));
    !plain || own
}

fn texts(texts: &[&str]) -> Result<Vec<CString>, Error> {
    let texts = texts.iter().map(|text| c_text(OsStr::new(text)));
    let texts: std::io::Result<_> = texts.collect();
    texts.map_err(tried("name the launcher's arguments"))
}

/// The native launcher: registers itself, then becomes the program. Returns the status of a failure.
///
/// Arguments: the owner, the descriptor of its lifeline, the file to enter its control group by or
/// nothing, the program's path, its name, its arguments.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let number = |at: usize| arguments.get(at)?.to_str()?.parse::<i32>().ok();
    let (Some(owner), Some(line), Some(path)) = (number(0), number(1), arguments.get(3)) else {
        return NOT_FOUND;
    };
    // An owner that died before could not be told apart from one that will: nothing is started for it.
    if sys::parent() != owner {
        return NOT_FOUND;
    }
    let own = sys::own_pid();
    let start = process::look(own).map_or(0, |own| own.start);
    // One more net, and none where this fails.
    if !arguments[2].is_empty() {
        let _ = std::fs::write(&arguments[2], own.to_string());
    }
    become_program(path, &arguments[4..], || {
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

//! The start of an owned child, which tells the supervisor its own name first.
//!
//! A child that somebody else registers is nobody's until that is done, and an owner killed in between
//! leaves it. So the child does it: it holds the lifeline from birth, writes its own line to it, and only
//! then becomes the program. At no instant is there a program that the supervisor will not hear of before
//! it hears of the owner's death. Where the system lets no child register itself, a launcher is started in
//! its place, which does the same and costs the start of one more program.

pub(crate) mod launcher;

use std::ffi::{CStr, CString};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::command::{Command, Prepared, c_text, c_variable};
use crate::cookie::{self, VARIABLE};
use crate::error::{Error, tried};
use crate::process::Identity;
use crate::sabotage::sabotaged;
use crate::shared::Shared;
use crate::sys::{self, ControlGroup, Leads, Order, Pid, Registered, Registering};

/// The statuses by which shells say that a program was not found, or not run.
pub(crate) const NOT_FOUND: u8 = 127;
pub(crate) const NOT_RUN: u8 = 126;

/// A child that was started.
pub(crate) struct Started {
    pub(crate) leader: Identity,
    pub(crate) number: u64,
    /// Our ends of its pipes.
    pub(crate) ends: [Option<OwnedFd>; 3],
}

/// A child that runs, or a launcher in its place.
pub(crate) struct Launched {
    pub(crate) leader: Identity,
    /// Whether the supervisor was told of it by itself.
    pub(crate) told: bool,
    /// Why it did not become its program: then it has ended.
    pub(crate) failed: Option<Error>,
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

/// Starts the child, or a launcher in its place where it cannot register itself.
fn launch(
    shared: &Shared,
    prepared: &Prepared,
    line: BorrowedFd<'_>,
    group: Option<&ControlGroup>,
) -> Result<Launched, Error> {
    let members = group.map_or_else(PathBuf::new, ControlGroup::members);
    let members = c_text(members.as_os_str()).map_err(tried("name the control group"))?;
    if !sys::refuses_registered()
        && !sabotaged("direct")
        && let Some(launched) = directly(shared, prepared, line, &members)?
    {
        return Ok(launched);
    }
    launcher::start(shared, prepared, line, members).map(|pid| Launched {
        leader: Identity::of(pid).unwrap_or(Identity { pid, start: 0 }),
        told: false,
        failed: None,
    })
}

/// Starts the program in a child that registers itself; none where the system does not let one be made.
fn directly(
    shared: &Shared,
    prepared: &Prepared,
    line: BorrowedFd<'_>,
    members: &CString,
) -> Result<Option<Launched>, Error> {
    let failed = |source| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source,
    };
    let registered = sys::spawn_registered(&Registering {
        path: &prepared.path,
        arguments: &plain_arguments(prepared),
        environment: &environment(prepared).map_err(failed)?,
        directory: prepared.directory.as_deref(),
        descriptors: &prepared.descriptors(),
        owner: shared.pid,
        line,
        members: (!members.is_empty()).then_some(members),
        speaks: !sabotaged("launcher"),
        looks_up: !sabotaged("look-up"),
    });
    Ok(registered.map_err(failed)?.map(|child| Launched {
        leader: identity(&child),
        told: child.told,
        failed: child.failed.map(failed),
    }))
}

/// The child's own word counts. One that had none is looked at from here.
fn identity(child: &Registered) -> Identity {
    let (pid, start) = (child.pid, child.start);
    let said = (start > 0).then_some(Identity { pid, start });
    said.or_else(|| Identity::of(pid))
        .unwrap_or(Identity { pid, start })
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
    sys::spawn(&Order {
        path,
        arguments,
        environment: &environment(prepared).map_err(failed)?,
        directory: prepared.directory.as_deref(),
        descriptors,
        closed: &[],
        leads,
        shielded,
    })
    .map_err(failed)
}

/// The environment in the words of the system.
fn environment(prepared: &Prepared) -> std::io::Result<Vec<CString>> {
    let variables = prepared.environment.iter();
    variables
        .map(|(name, value)| c_variable(name, value))
        .collect()
}

/// The program's own name and arguments.
pub(crate) fn plain_arguments(prepared: &Prepared) -> Vec<CString> {
    let name = std::iter::once(&prepared.name);
    name.chain(&prepared.arguments).cloned().collect()
}

/// Turns this process into the program at `path`, with its name and arguments, and without an `environment`
/// with that of this process. Returns the status of a failure.
pub(crate) fn become_program(
    path: &CStr,
    arguments: &[CString],
    environment: Option<&[CString]>,
) -> u8 {
    let error = sys::exec(path, arguments, environment);
    if error.raw_os_error() == Some(libc::ENOEXEC) {
        // As shells do it: a file without a first line that names a program is a script.
        let script = [c"sh", path]
            .into_iter()
            .chain(arguments.iter().skip(1).map(CString::as_c_str));
        let script: Vec<CString> = script.map(CStr::to_owned).collect();
        sys::exec(c"/bin/sh", &script, environment);
        return NOT_RUN;
    }
    if error.kind() == std::io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_RUN
    }
}

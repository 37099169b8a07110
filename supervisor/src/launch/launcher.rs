//! The launcher: a program in the child's place that registers itself, and then becomes the program.
//!
//! It is for systems on which a child cannot register itself. What it is made of is its owner's choice: a
//! program, or a shell that knows how to give back what a shell changes.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::{NOT_FOUND, become_program, plain_arguments, spawn};
use crate::command::{Prepared, c_text, c_variable};
use crate::cookie::{self, VARIABLE};
use crate::error::{Error, tried};
use crate::link::{NATIVE, Tier};
use crate::process;
use crate::sabotage::sabotaged;
use crate::shared::Shared;
use crate::sys::{self, Leads, Pid};

/// The launcher as a program for a shell.
const SCRIPT: &str = include_str!("../launcher.sh");
/// What becomes of variables on their way through it, a line each: a name, and `set`, `changed` or both.
const ENVIRONMENT: &str = include_str!("../environment.txt");

/// Starts the launcher in the child's place.
pub(super) fn start(
    shared: &Shared,
    prepared: &Prepared,
    line: BorrowedFd<'_>,
    members: CString,
) -> Result<Pid, Error> {
    let spare = spare_descriptor().ok_or_else(|| Error::Spawn {
        program: prepared.path.to_string_lossy().into_owned().into(),
        source: std::io::Error::other("the descriptors 3 to 9 are all passed on to children"),
    })?;
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

fn helper_path(shared: &Shared) -> Result<CString, Error> {
    c_text(shared.helper.path.as_os_str()).map_err(tried("use this path for the launcher"))
}

/// A number that a shell can name and that means nothing to the child.
fn spare_descriptor() -> Option<RawFd> {
    (3..=9).rev().find(|fd| !sys::inherited(*fd))
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
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> u8 {
    let texts = arguments.map(|argument| CString::new(argument.into_vec()));
    let texts: Vec<CString> = texts.map_while(Result::ok).collect();
    let [owner, line, members, path, arguments @ ..] = &texts[..] else {
        return NOT_FOUND;
    };
    let (Some(owner), Some(line)) = (number(owner), number(line)) else {
        return NOT_FOUND;
    };
    // One more net, and none where this fails.
    if !members.is_empty() {
        sys::enter_control_group(members);
    }
    // The number in its mark stands behind its name: by that a supervisor knows what was handed back meanwhile.
    let number = cookie::last_number(std::env::var_os(VARIABLE).as_deref());
    sys::register_on(line, number);
    // Asked after that: an owner that is still there now was alive when its supervisor could hear it. For
    // one that was not, nothing is started, as nobody might listen any more.
    if sys::parent() != owner && !sabotaged("look-up") {
        return NOT_FOUND;
    }
    become_program(path, arguments, None)
}

fn number(text: &CString) -> Option<i32> {
    i32::try_from(process::plain_number(text.as_bytes())?).ok()
}

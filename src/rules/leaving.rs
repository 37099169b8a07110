//! Calls that move a process out of its session or group, by name; forks, and the daemon's dance.

use super::names::{is_own_group, is_started_child, last};
use super::raw_detach;
use super::{Certainty, Way};
use crate::facts::tree::Form;
use crate::facts::{Call, Facts, ScopeId};

/// In which way the function at `path` makes its caller leave, if its name says so.
pub(super) fn way_of(path: &str) -> Option<Way> {
    let (module, name) = path.rsplit_once('.')?;
    let way = way_of_name(name)?;
    let foreign = ["<", "?", "ctypes", "cffi"]
        .iter()
        .any(|root| module.starts_with(root));
    let known = matches!(module, "rustix.process" | "fork")
        || matches!(last(module), "os" | "posix" | "libc" | "unistd");
    (known && !foreign).then_some(way)
}

/// The way of the functions that have this name in every library that has them.
fn way_of_name(name: &str) -> Option<Way> {
    match name {
        "setsid" => Some(Way::NewSession),
        "setpgid" | "setpgrp" => Some(Way::NewGroup),
        _ => None,
    }
}

/// In which way a call by name makes a process leave.
pub(super) fn by_name(facts: &Facts, call: &Call) -> Option<Way> {
    if call.form != Form::Call {
        return None;
    }
    let way = own_way(call)
        .or_else(|| wrapped(facts, call))
        .or_else(|| forwarded(facts, call))?;
    (!stays(facts, call, 0)).then_some(way)
}

fn own_way(call: &Call) -> Option<Way> {
    call.paths.iter().find_map(|path| way_of(path))
}

/// The way of a function of this file that has the name of what it calls: `fn setsid()` around
/// `libc::setsid()` is one more name of it.
fn wrapped(facts: &Facts, call: &Call) -> Option<Way> {
    let target = call.target?;
    let own = facts.scopes.get(target.0 as usize)?;
    // Only of these names are the calls in a body looked at, for there may be many of both.
    if call.name != own.name || way_of_name(&own.name).is_none() {
        return None;
    }
    let named = |(_, other): (usize, &Call)| {
        let same = other.name == own.name && other.form == Form::Call;
        same.then(|| own_way(other)).flatten()
    };
    facts.calls_in(target).find_map(named)
}

/// The way of what a function of the same name hands on to another module of its own crate or package:
/// `fn setsid()` around `backend::setsid()` is a layer of the same thing.
fn forwarded(facts: &Facts, call: &Call) -> Option<Way> {
    let own = facts.scopes.get(call.scope.0 as usize)?;
    let way = way_of_name(&own.name)?;
    let inside = |path: &String| {
        let within = ["crate.", "self.", "super.", "."];
        path.rsplit_once('.').is_some_and(|(module, name)| {
            name == own.name
                && !module.ends_with("()")
                && within.iter().any(|root| path.starts_with(root))
        })
    };
    call.paths.iter().any(inside).then_some(way)
}

/// Whether a `setpgid` with its two arguments from position `from` on changes nothing: it joins the
/// own group, or comes after the child runs its program, when the kernel refuses it.
pub(super) fn stays(facts: &Facts, call: &Call, from: usize) -> bool {
    let mut args = call.positional().skip(from);
    let (Some(pid), Some(group)) = (args.next(), args.next()) else {
        return false;
    };
    is_started_child(&pid.value) || is_own_group(facts, &group.value, group.span)
}

/// Code made for another program only may run.
pub(super) fn certainty(call: &Call) -> Certainty {
    if call.quoted {
        Certainty::May
    } else {
        Certainty::Sure
    }
}

/// Whether a call forks. A method named `fork` of something unknown is no fork.
pub(super) fn is_fork(call: &Call) -> bool {
    call.form == Form::Call
        && call.is_one(&[
            "os.fork",
            "posix.fork",
            "libc.fork",
            "libc.vfork",
            "nix.libc.fork",
            "nix.unistd.fork",
            "fork.fork",
            "fork.fork.fork",
            "gevent.os.fork",
            "<extern>.fork",
            "ctypes.CDLL().fork",
        ])
}

/// The places in [`Facts::calls`] of each `setsid` with a fork before and after it in its function:
/// itself a fork, or a call of a function of this file that forks.
pub(super) fn daemons(facts: &Facts) -> Vec<usize> {
    let forking: Vec<ScopeId> = facts
        .calls
        .iter()
        .filter(|call| is_fork(call))
        .map(|call| call.scope)
        .collect();
    let forks =
        |call: &Call| is_fork(call) || call.target.is_some_and(|target| forking.contains(&target));
    let in_dance = |(index, call): &(usize, &Call)| {
        let all = || facts.calls_in(call.scope);
        !forking.is_empty()
            && by_name(facts, call) == Some(Way::NewSession)
            && all().any(|(at, other)| at < *index && forks(other))
            && all().any(|(at, other)| at >= *index && forks(other))
    };
    facts
        .calls
        .iter()
        .enumerate()
        .filter(in_dance)
        .map(|(index, _)| index)
        .collect()
}

/// Whether any call in a body leaves, by name or raw.
pub(super) fn leaves(facts: &Facts, scope: ScopeId) -> bool {
    let leaves =
        |call: &Call| by_name(facts, call).is_some() || raw_detach::way(facts, call).is_some();
    facts.calls_in(scope).any(|(_, call)| leaves(call))
}

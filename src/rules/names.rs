//! What names and values say, as several rules ask it: spawners, assertions, groups, mentions.

use super::Certainty;
use crate::facts::tree::{Form, Spread};
use crate::facts::{self, Arg, Call, Facts, Holder, ScopeId, Setting, Value};
use crate::source::Span;

/// The last name of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Whether one of a call's paths starts with one of `roots`.
pub(super) fn is_of(call: &Call, roots: &[&str]) -> bool {
    call.paths
        .iter()
        .any(|path| roots.iter().any(|root| path.starts_with(root)))
}

/// Whether one of a call's paths ends with one of `ends`, at the border of a name.
pub(super) fn ends(call: &Call, ends: &[&str]) -> bool {
    call.paths
        .iter()
        .any(|path| ends.iter().any(|end| ends_with(path, end)))
}

/// Whether `path` ends with the names of `end`.
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// How sure it is that one of `known` is called. By the bare name of its type, which a star import may
/// bring, it may be: only a type with its library's own name is looked at, `daemonize.Daemonize`.
pub(super) fn certainty_of(call: &Call, known: &[&str]) -> Option<Certainty> {
    if call.is_one(known) {
        return Some(Certainty::Sure);
    }
    let starred = |path: &String| {
        known.iter().any(|known| {
            let parts = known.split_once('.');
            parts.is_some_and(|(library, rest)| {
                let owner = rest.split(['.', '(']).next().unwrap_or_default();
                rest == path && owner.eq_ignore_ascii_case(&library.replace('_', ""))
            })
        })
    };
    call.paths.iter().any(starred).then_some(Certainty::May)
}

/// Whether the function or type that is called is defined in this file.
pub(super) fn is_here(call: &Call) -> bool {
    call.paths.iter().any(|path| path.starts_with("<here>"))
}

/// Whether a value may be, or contain, something of one of these names (whole words of its paths).
pub(super) fn mentions(value: &Value, names: &[&str]) -> bool {
    let says = |path: &str| path.split('.').any(|word| names.contains(&word));
    match value {
        Value::Path(paths) => paths.iter().any(|path| says(path)),
        Value::Made(path) => says(path),
        Value::Bits(values) | Value::OneOf(values) => values.iter().any(|one| mentions(one, names)),
        Value::List(items) => items.iter().any(|item| mentions(&item.value, names)),
        _ => false,
    }
}

/// Whether a function that starts processes is called, as far as its options count.
pub(super) fn is_spawner(call: &Call) -> bool {
    let partial = matches!(call.name.as_str(), "partial" | "partialmethod");
    let wrapped = || match call.positional().next().map(|arg| &arg.value) {
        Some(Value::Path(paths)) => paths.iter().any(|path| is_spawner_path(path)),
        _ => false,
    };
    call.paths.iter().any(|path| is_spawner_path(path)) || partial && wrapped()
}

/// The same for a path.
pub(super) fn is_spawner_path(path: &str) -> bool {
    let name = last(path);
    let known = [
        "create_subprocess_exec",
        "create_subprocess_shell",
        "subprocess_exec",
        "subprocess_shell",
        "open_process",
        "run_process",
        "PopenSpawn",
        "popen",
    ];
    let module = path.strip_suffix(name).unwrap_or_default();
    if module.starts_with("<here>") {
        return false;
    }
    let plain = ["run", "call", "check_call", "check_output"].contains(&name);
    name.ends_with("Popen")
        || known.contains(&name)
        || plain && (module.contains("subprocess") || module == "sarge.")
}

/// Whether a test asks about a call instead of making it.
pub(super) fn is_assertion(call: &Call) -> bool {
    let name = call.name.as_str();
    let double = |path: &String| {
        path == "call"
            || ends_with(path, "mock.call")
            || ends_with(path, "mocker.call")
            || path.split('.').any(|word| word == "patch")
    };
    name.starts_with("assert") || call.paths.iter().any(double)
}

/// The call that holds a setting.
pub(super) fn holder<'f>(facts: &'f Facts, setting: &Setting) -> Option<&'f Call> {
    match setting.holder {
        Holder::Call(index) | Holder::Through(index) => facts.calls.get(index),
        Holder::Dict { .. } | Holder::Default(_) => None,
    }
}

/// Whether a setting belongs to an assertion, or to a dictionary that only goes where nothing is
/// spawned: into assertions, comparisons, requests, a test's parameters.
pub(super) fn is_asserted(facts: &Facts, setting: &Setting) -> bool {
    match &setting.holder {
        Holder::Call(index) | Holder::Through(index) => {
            facts.calls.get(*index).is_some_and(is_assertion)
        }
        Holder::Dict { reaches, .. } => {
            let inert =
                |path: &String| last(path).starts_with("assert") || INERT.contains(&path.as_str());
            !reaches.is_empty() && reaches.iter().all(inert)
        }
        Holder::Default(_) => false,
    }
}

/// Where a dictionary may go without a spawn.
const INERT: &[&str] = &[facts::COMPARED, facts::REQUEST, facts::PARAMETERS];

/// Whether a dictionary's entry is an option of a spawn: it was seen to reach one, or an entry
/// beside it can belong to nothing else.
pub(super) fn is_spawn_option(keys: &[String], reaches: &[String]) -> bool {
    let beside = [
        "preexec_fn",
        "start_new_session",
        "shell",
        "stdin",
        "stdout",
        "stderr",
        "close_fds",
        "creationflags",
    ];
    reaches.iter().any(|path| is_spawner_path(path))
        || keys.iter().any(|key| beside.contains(&key.as_str()))
}

/// Whether a setting hands on a parameter of the same name whose default is `found` itself.
///
/// Facts do not say which name a value came from; the length of `name=name` does.
pub(super) fn is_handed_on(
    facts: &Facts,
    setting: &Setting,
    found: impl Fn(&Value) -> bool,
) -> bool {
    let twice = setting.span.len() > 2 * setting.name.len();
    let outer = |scope: &ScopeId| {
        facts
            .scopes
            .get(scope.0 as usize)
            .and_then(|scope| scope.parent)
    };
    let mut around = std::iter::successors(Some(setting.scope), outer).take(MAX_AROUND);
    let default = |other: &Setting| other.name == setting.name && found(&other.value);
    let given = |scope: ScopeId| facts.defaults_of(scope).any(default);
    twice && matches!(setting.holder, Holder::Call(_)) && around.any(given)
}

/// How many bodies around a call are asked for a default.
const MAX_AROUND: usize = 64;

/// Whether a process group is the spawner's own, or that of its parent.
pub(super) fn is_own_group(facts: &Facts, value: &Value, span: Span) -> bool {
    let calls = |name: &'static str| facts.calls_named(name);
    let inside = |name| calls(name).any(|call| span.contains(call.span));
    // Which `getpgid` gave the value is known only if it stands in the argument itself.
    let asks_for_self = || {
        let own = |call: &Call| call.args.first().is_none_or(|arg| is_self(&arg.value));
        let here: Vec<&Call> = calls("getpgid")
            .filter(|call| span.contains(call.span))
            .collect();
        if here.is_empty() {
            calls("getpgid").all(own)
        } else {
            here.into_iter().all(own)
        }
    };
    let own = |value: &Value| match value {
        Value::Made(path) if ends_with(path, "getpgrp()") || ends_with(path, "getppid()") => true,
        Value::Made(path) if ends_with(path, "getpgid()") => asks_for_self(),
        Value::Made(_) | Value::Unknown => inside("getpgrp") || inside("getppid"),
        _ => false,
    };
    value.each().iter().all(own)
}

/// Whether a process id means the caller.
fn is_self(pid: &Value) -> bool {
    match pid {
        Value::Int(0) | Value::Nothing => true,
        Value::Made(path) => ends_with(path, "getpid()") || ends_with(path, "Pid()"),
        Value::Path(paths) => paths.iter().any(|path| last(path) == "None"),
        _ => false,
    }
}

/// Whether a process id is that of a child which runs its program already.
pub(super) fn is_started_child(pid: &Value) -> bool {
    let says = |path: &str| {
        path.contains("Popen()")
            || path.contains("create_subprocess_")
            || path.contains("process.Command()")
            || path.contains("process.Child()")
    };
    pid.each().iter().all(|value| match value {
        Value::Path(paths) => paths.iter().any(|path| says(path)),
        Value::Made(path) => says(path),
        _ => false,
    })
}

/// Whether a method is called on something that is, or may be, a command: `Some(true)` if it is one.
pub(super) fn on_command(call: &Call) -> Option<bool> {
    if call.form != Form::Call || is_here(call) {
        return None;
    }
    let types = [
        "Command()",
        "CommandWrap()",
        "Exec()",
        "Pipeline()",
        "CommandExt",
        "CommandGroup",
        "CommandGroup()",
    ];
    let owner = |path: &String| path.rsplit_once('.').map(|(owner, _)| owner.to_owned());
    let owners: Vec<String> = call.paths.iter().filter_map(owner).collect();
    let is_type = |owner: &String| types.iter().any(|name| last(owner).ends_with(name));
    if owners.iter().any(is_type) {
        return Some(true);
    }
    let unknown = |owner: &String| owner == "?" || owner.ends_with("()");
    owners.iter().any(unknown).then_some(false)
}

/// The one argument of a method, or the second of the same function called with the receiver first.
pub(super) fn only_arg(call: &Call) -> Option<&Arg> {
    if call
        .args
        .iter()
        .any(|arg| arg.spread != Spread::No || arg.name.is_some())
    {
        return None;
    }
    match call.args.as_slice() {
        [one] => Some(one),
        [_, two]
            if ends(
                call,
                &[
                    "CommandExt.process_group",
                    "CommandExt.setsid",
                    "CommandExt.creation_flags",
                ],
            ) =>
        {
            Some(two)
        }
        _ => None,
    }
}

/// The call named `name` in whose arguments `span` stands.
pub(super) fn around<'f>(facts: &'f Facts, name: &'f str, span: Span) -> Option<&'f Call> {
    facts
        .calls_named(name)
        .find(|call| call.args.iter().any(|arg| arg.span.contains(span)))
}

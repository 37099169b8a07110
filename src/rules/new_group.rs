//! Rule `new-group`: an option that asks the spawner for another process group.

use super::hooks::Hooks;
use super::names::{
    around, ends, holder, is_asserted, is_handed_on, is_own_group, is_spawn_option, is_spawner,
    is_started_child, last, mentions, on_command, only_arg,
};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::tree::Form;
use crate::facts::{Call, Facts, Holder, Setting, Truth, Value};
use crate::source::{Language, Span};

pub(super) const RULE: Rule = Rule {
    id: "new-group",
    level: Level::Deny,
    summary: "an option that starts the child in another process group, such as `process_group=0`",
    help: "leave the option out, or start the child with `spawn_owned` (any program: `owned run -- CMD`), which makes the group and ends it with its owner; if it must outlive it, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

An option of a spawner that puts the child in a process group of its own or in a foreign one:
`process_group=0` of `subprocess` and its kin, `setpgroup=` of `os.posix_spawn`, `_new_group=True` of
`sh`, Rust's `.process_group(0)` on any command, `POSIX_SPAWN_SETPGROUP`, `group_spawn()` and kin of
`command-group`, `ProcessGroup::leader()` of `process-wrap`, `.setpgid()` and
`PopenConfig { setpgid: true }` of `subprocess`, and `SpawnOptions { grouped: true }`. `False` is 0 there
and makes a group too.

`process_group=` has other meanings: what is no spawner is found only with a literal 0. The own group
(`os.getpgrp()`), `None` and -1 are never found.

## Why it matters

Whoever cleans up by group misses it: each of these forms was run, and its child outlived SIGKILL to
the spawner's group. Ctrl-C in the terminal misses it as well.

## Bad

```python
import subprocess

subprocess.run(["server"], process_group=0)  #~ new-group
```

```rust
use std::os::unix::process::CommandExt;
use std::process::Command;

fn start() -> std::io::Result<()> {
    Command::new("server")
        .arg("--port")
        .process_group(0) //~ new-group
        .spawn()?;
    Ok(())
}
```

## Good

```python
import os
import subprocess

subprocess.run(["server"], process_group=os.getpgrp())
model = DistributedDataParallel(module, process_group=workers)
```

```rust
use std::os::unix::process::CommandExt;
use std::process::Command;

fn start() -> std::io::Result<()> {
    let group = unsafe { libc::getpgrp() };
    Command::new("server").process_group(group).spawn()?;
    Ok(())
}
```

## When it may stay

When the spawner itself ends that group on every way out, death by SIGKILL included: a supervisor
does, a `finally` does not.
"#,
    words: Words {
        both: &[
            &["process_group"],
            &["<_new_group>"],
            &["setpgroup"],
            &["SETPGROUP", "setflags|set_flags"],
        ],
        rust: &[
            &["<group_spawn>"],
            &["<group_status>"],
            &["<group_output>"],
            &["<group()>", "spawn|status|output"],
            &["<ProcessGroup>"],
            &["setpgid"],
            &["SpawnOptions"],
            &["make_group_leader"],
            &["set_pgroup"],
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let options = facts
        .settings
        .iter()
        .filter_map(|setting| option(facts, setting));
    // What a hook does to the command that it is given is the hook's matter.
    let calls = facts
        .calls
        .iter()
        .filter(|call| !hooks.prepares(call))
        .filter_map(|call| method(facts, call));
    let mut hits: Vec<Hit> = options.chain(calls).collect();
    for hit in &mut hits {
        if hooks.is_tethered(hit.act) {
            hit.certainty = Certainty::May;
        }
    }
    hits
}

/// A named option.
fn option(facts: &Facts, setting: &Setting) -> Option<Hit> {
    if is_asserted(facts, setting) || is_handed_on(facts, setting, is_zero) {
        return None;
    }
    let call = holder(facts, setting);
    let certainty = match setting.name.as_str() {
        "process_group" => asked(facts, setting, call)?,
        "_new_group" => true_as(&setting.value)?,
        "setpgroup" if call.is_some_and(|call| ends(call, &["posix_spawn", "posix_spawnp"])) => {
            group(facts, &setting.value, setting.span)?
        }
        "grouped" if is_field(call, "SpawnOptions") => true_as(&setting.value)?,
        "setpgid" if is_field(call, "PopenConfig") => true_as(&setting.value)?,
        _ => return None,
    };
    Some(Hit::new(setting.act, setting.span, Way::NewGroup).with(certainty))
}

/// Whether a struct literal of this type holds the setting.
fn is_field(call: Option<&Call>, name: &str) -> bool {
    call.is_some_and(|call| call.form == Form::Struct && ends(call, &[name]))
}

/// Whether a flag is set.
fn true_as(value: &Value) -> Option<Certainty> {
    match value.truth() {
        Truth::Yes => Some(Certainty::Sure),
        Truth::Maybe => Some(Certainty::May),
        Truth::No => None,
    }
}

/// Whether `process_group=` asks for a group: the word has other meanings elsewhere.
fn asked(facts: &Facts, setting: &Setting, call: Option<&Call>) -> Option<Certainty> {
    let spawns = match &setting.holder {
        Holder::Call(_) | Holder::Through(_) => call.is_some_and(is_spawner),
        Holder::Dict { keys, reaches } if is_spawn_option(keys, reaches) => true,
        Holder::Dict { .. } if is_partial(facts, setting) => false,
        Holder::Dict { .. } => return None,
        Holder::Default(_) => false,
    };
    // A field of a struct is no option of a spawn.
    if call.is_some_and(|call| call.form == Form::Struct) {
        return None;
    }
    if spawns {
        return group(facts, &setting.value, setting.span);
    }
    is_zero(&setting.value).then_some(Certainty::Sure)
}

/// Whether a value can only be the 0 that no other meaning of the word takes.
fn is_zero(value: &Value) -> bool {
    let zero = |value: &Value| matches!(value, Value::Int(0) | Value::Bool(false));
    value.each().iter().all(zero)
}

/// Whether a setting is given to `functools.partial`: it is held like an entry of a dictionary.
fn is_partial(facts: &Facts, setting: &Setting) -> bool {
    let inside = |name| around(facts, name, setting.span).is_some();
    inside("partial") || inside("partialmethod")
}

/// Whether a group that is asked for is another one.
pub(super) fn group(facts: &Facts, value: &Value, span: Span) -> Option<Certainty> {
    let one = |value: &Value| match value {
        Value::Int(number) if *number < 0 => None,
        Value::Int(_) | Value::Bool(_) => Some(Certainty::Sure),
        Value::Nothing | Value::Text(_) | Value::List(_) | Value::Dict(_) => None,
        _ if is_own_group(facts, value, span) => None,
        Value::Made(_) if is_started_child(value) => Some(Certainty::Sure),
        Value::Path(paths) => match paths.first().map(|path| last(path)) {
            Some("Inherit" | "None") => None,
            Some("New") => Some(Certainty::Sure),
            _ => Some(Certainty::May),
        },
        _ => Some(Certainty::May),
    };
    value.each().iter().filter_map(one).max()
}

/// Whether `.process_group(x)` asks a command of Rust for another group.
pub(super) fn process_group(facts: &Facts, call: &Call) -> Option<Certainty> {
    if facts.language != Language::Rust || call.name != "process_group" {
        return None;
    }
    let on_command = on_command(call)?;
    let arg = only_arg(call)?;
    match group(facts, &arg.value, arg.span)? {
        Certainty::Sure if on_command || is_unknown(call) => Some(Certainty::Sure),
        Certainty::Sure => Some(Certainty::May),
        Certainty::May => (on_command || is_unknown(call)).then_some(Certainty::May),
    }
}

/// A method of something whose type is not known; `CommandExt` is where this name comes from.
fn is_unknown(call: &Call) -> bool {
    call.paths.iter().any(|path| path.starts_with("?."))
}

/// Methods of `command-group` that spawn into a new group.
const GROUPED: &[&str] = &["group_spawn", "group_status", "group_output"];

/// Whether a method of this file with such a name does what its name says: it is one more of them.
fn wrapped(facts: &Facts, call: &Call) -> Option<bool> {
    let target = call.target?;
    let spawns = |(_, other): (usize, &Call)| {
        (other.name == "group" || is_one(other, GROUPED)) && on_command(other) == Some(true)
    };
    facts.calls_in(target).any(spawns).then_some(true)
}

/// A method or flag that asks for it.
fn method(facts: &Facts, call: &Call) -> Option<Hit> {
    if facts.language != Language::Rust {
        return None;
    }
    let certainty = match call.name.as_str() {
        "process_group" => process_group(facts, call)?,
        _ if is_one(call, GROUPED) => {
            on_command(call).or_else(|| wrapped(facts, call))?;
            Certainty::Sure
        }
        "group" | "setpgid" if call.args.is_empty() => {
            (on_command(call)? || call.name == "setpgid").then_some(Certainty::Sure)?
        }
        "make_group_leader" => {
            // The crate ties the child to its parent unless told otherwise.
            true_as(&call.args.first()?.value).map(|_| Certainty::May)?
        }
        "leader" if ends(call, &["ProcessGroup.leader"]) => Certainty::Sure,
        "attach_to" if ends(call, &["ProcessGroup.attach_to"]) => {
            let to = call.args.first()?;
            group(facts, &to.value, to.span)?
        }
        _ if is_one(call, SET_FLAGS) => flag(facts, call)?,
        _ if is_one(call, SET_GROUP) => attribute(facts, call)?,
        _ => return None,
    };
    let wrap = around(facts, "wrap", call.span);
    let act = wrap.map_or(call.act, |wrap| wrap.act);
    Some(
        Hit::new(act, call.evidence, Way::NewGroup)
            .with(certainty)
            .with(leaving::certainty(call)),
    )
}

/// `POSIX_SPAWN_SETPGROUP`, unless the attribute is set to the own group in the same function.
fn flag(facts: &Facts, call: &Call) -> Option<Certainty> {
    if !sets_flag(call) {
        return None;
    }
    let mut beside = facts.calls_in(call.scope);
    let group_set = beside.find(|(_, other)| is_one(other, SET_GROUP));
    match group_set.and_then(|(_, other)| other.args.last()) {
        Some(arg) => group(facts, &arg.value, arg.span),
        None => Some(Certainty::Sure),
    }
}

/// The attribute alone, where flags are set in the same function that nobody can read; where they
/// can, they say it.
fn attribute(facts: &Facts, call: &Call) -> Option<Certainty> {
    let beside = facts.calls_in(call.scope).map(|(_, other)| other);
    let flags: Vec<&Call> = beside.filter(|other| is_one(other, SET_FLAGS)).collect();
    let unread = |flags: &&Call| {
        let value = flags.args.last().map(|arg| &arg.value);
        value.is_none_or(|value| !matches!(value, Value::Int(_) | Value::Bits(_) | Value::Path(_)))
    };
    if flags.iter().any(|flags| sets_flag(flags)) || !flags.iter().any(unread) {
        return None;
    }
    let arg = call.args.last()?;
    group(facts, &arg.value, arg.span)
}

fn sets_flag(call: &Call) -> bool {
    call.args
        .iter()
        .any(|arg| mentions(&arg.value, &["POSIX_SPAWN_SETPGROUP"]))
}

fn is_one(call: &Call, names: &[&str]) -> bool {
    names.contains(&call.name.as_str())
}

/// Names of what sets the group of a spawn's attributes.
const SET_GROUP: &[&str] = &["posix_spawnattr_setpgroup", "set_pgroup"];
/// Names of what sets the flags of a spawn's attributes.
const SET_FLAGS: &[&str] = &["posix_spawnattr_setflags", "set_flags", "setflags"];

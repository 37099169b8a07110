//! Rule `new-session`: an option that asks the spawner for a session of the child's own.

use super::hooks::Hooks;
use super::names::{
    around, ends, holder, is_asserted, is_handed_on, is_of, is_spawn_option, mentions, on_command,
    only_arg,
};
use super::words::{WIDE_14, Words};
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::tree::Form;
use crate::facts::{Call, Facts, Holder, Setting, Truth, Value};
use crate::source::Language;

pub(super) const RULE: Rule = Rule {
    id: "new-session",
    level: Level::Deny,
    summary: "an option that starts the child in a session of its own, such as `start_new_session=True`",
    help: "leave the option out, or start the child with `spawn_owned` (any program: `owned run -- CMD`) so that it dies with its owner; if it must outlive it, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

An option of a spawner that makes the kernel put the child in a new session: `start_new_session=True`
of `subprocess`, `asyncio`, `psutil`, `anyio`, `trio` and their kin (by keyword, by position, in a
dictionary, as the default of a parameter), `setsid=True` of `os.posix_spawn`, `_new_session=True` of
`sh`, `POSIX_SPAWN_SETSID`, `ProcessSession` of `process-wrap`, `CommandExt::setsid(true)`, and
`SpawnOptions { session: true }`. A value that only the run knows is reported as one that may detach. What
the callers of a function in the same file give it, and it gives the spawner, is found at the callers.

A dictionary with the option is found where it is written, unless it only goes into comparisons, into a
request to a server (`json=`), or to the parameters of a test that spawns nothing with it.

## Why it matters

A new session is a new process group without a controlling terminal. A kill of the spawner's group,
a hangup and Ctrl-C all miss it: each of these forms was run, and its child outlived SIGKILL to the
spawner's group and the hangup of its terminal.

## Bad

```python
import subprocess

subprocess.Popen(["server"], start_new_session=True)  #~ new-session
options = {"start_new_session": True}  #~ new-session
```

```rust
use process_wrap::std::{CommandWrap, ProcessSession};

fn start() -> std::io::Result<()> {
    let mut command = CommandWrap::with_new("server", |_| ());
    command.wrap(ProcessSession); //~ new-session
    command.spawn()?;
    Ok(())
}
```

## Good

```python
import subprocess

subprocess.Popen(["server"], start_new_session=False)
subprocess.run(["owned", "run", "--", "server"])
```

```rust
use process_wrap::std::{CommandWrap, KillOnDrop};

fn start() -> std::io::Result<()> {
    let mut command = CommandWrap::with_new("server", |_| ());
    command.wrap(KillOnDrop);
    command.spawn()?;
    Ok(())
}
```

## When it may stay

When the child must outlive its spawner by design (an updater, a session manager's own child), or
when a supervisor that is named in the reason kills it by its session.
"#,
    words: Words {
        both: &[
            &["start_new_session"],
            &["<_new_session>"],
            &["setsid"],
            &["SETSID", "setflags|set_flags"],
        ],
        python: &[
            &["new_session", "plumbum"],
            &["subprocess|Popen", WIDE_14],
        ],
        rust: &[
            &["<ProcessSession>"],
            &["SpawnOptions"],
            &["create_session"],
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
    let calls = facts.calls.iter().filter_map(|call| method(facts, call));
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
    let call = holder(facts, setting);
    let is_option = match setting.name.as_str() {
        "start_new_session" | "_start_new_session" | "_new_session" => true,
        "new_session" => call.is_some_and(|call| is_of(call, &["plumbum."])),
        "setsid" => call.is_some_and(|call| ends(call, &["posix_spawn", "posix_spawnp"])),
        "session" => {
            call.is_some_and(|call| call.form == Form::Struct && ends(call, &["SpawnOptions"]))
        }
        _ => false,
    };
    if !is_option || is_asserted(facts, setting) || is_handed_on(facts, setting, is_true) {
        return None;
    }
    let may_count = match &setting.holder {
        Holder::Call(_) | Holder::Through(_) => true,
        Holder::Dict { keys, reaches } => {
            is_spawn_option(without(keys, &setting.name).as_slice(), reaches)
        }
        Holder::Default(_) => false,
    };
    let hit = Hit::new(setting.act, setting.span, Way::NewSession);
    match setting.value.truth() {
        Truth::Yes => Some(hit),
        Truth::Maybe if may_count => Some(hit.with(Certainty::May)),
        Truth::Maybe | Truth::No => None,
    }
}

fn is_true(value: &Value) -> bool {
    value.truth() == Truth::Yes
}

/// The other keys of a dictionary.
fn without(keys: &[String], name: &str) -> Vec<String> {
    keys.iter().filter(|key| *key != name).cloned().collect()
}

/// A method or flag that asks for it.
fn method(facts: &Facts, call: &Call) -> Option<Hit> {
    let hit = || Hit::new(call.act, call.evidence, Way::NewSession).with(leaving::certainty(call));
    match call.name.as_str() {
        "setsid" | "create_session" if facts.language == Language::Rust => {
            let on_command = on_command(call)?;
            let value = only_arg(call).map_or(&Value::Bool(true), |arg| &arg.value);
            match value.truth() {
                // On something unknown only a literal `true` tells the option from the call.
                Truth::Yes if on_command => Some(hit()),
                Truth::Yes if !call.args.is_empty() && *value == Value::Bool(true) => Some(hit()),
                Truth::Maybe if on_command => Some(hit().with(Certainty::May)),
                _ => None,
            }
        }
        "wrap" if facts.language == Language::Rust => {
            let asks = call
                .args
                .iter()
                .any(|arg| mentions(&arg.value, &["ProcessSession", "ProcessSession()"]));
            asks.then(hit)
        }
        "ProcessSession"
            if call.form == Form::Struct && around(facts, "wrap", call.span).is_none() =>
        {
            Some(hit())
        }
        "posix_spawnattr_setflags" | "set_flags" | "setflags" => call
            .args
            .iter()
            .any(|arg| mentions(&arg.value, &["POSIX_SPAWN_SETSID"]))
            .then(hit),
        _ => None,
    }
}

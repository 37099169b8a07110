//! Rule `preexec-detach`: a hook that leaves the session or group between fork and exec.

use super::hooks::{Hook, Hooks, is_tether};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving, new_group};
use crate::facts::{Call, Facts, ScopeId, Value};

pub(super) const RULE: Rule = Rule {
    id: "preexec-detach",
    level: Level::Deny,
    summary: "a hook run in the child that calls `setsid`, `setpgrp` or `setpgid`, such as `preexec_fn=os.setsid`",
    help: "drop the call from the hook, or start the child with `spawn_owned` (any program: `owned run -- CMD`) so that it dies with its owner; if it must outlive it, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

A function that a spawner runs in the child, between fork and exec, and that leaves the session or the
group there: `preexec_fn=`, the `initializer=` of a process pool, `os.register_at_fork(after_in_child=)`
in a file that forks, Rust's `pre_exec` and `before_exec`, `before_spawn` of `duct`. By reference
(`os.setsid`), `functools.partial`, lambda and closure it is found at the spawn; in a function of the
same file, at the call in its body. A hook from elsewhere is not judged.

A hook that also asks to die with its parent (`PR_SET_PDEATHSIG`) is reported as one that may detach:
the child dies then, its own children do not.

## Why it matters

It is the old spelling of a new session or group, with the same result: each of these forms was run,
and its child outlived SIGKILL to the spawner's group. A hook also forces a real fork, and Python code
between fork and exec can deadlock in a process with threads.

## Bad

```python
import os
import subprocess

subprocess.Popen(["server"], preexec_fn=os.setsid)  #~ preexec-detach


def prepare():
    os.umask(0o22)
    os.setpgrp()  #~ preexec-detach


subprocess.Popen(["server"], preexec_fn=prepare)
```

```rust
use std::os::unix::process::CommandExt;
use std::process::Command;

fn start() -> std::io::Result<()> {
    let mut command = Command::new("server");
    unsafe {
        command.pre_exec(|| { //~ preexec-detach
            libc::setsid();
            Ok(())
        });
    }
    command.spawn()?;
    Ok(())
}
```

## Good

```python
import os
import subprocess

subprocess.Popen(["server"], preexec_fn=lambda: os.nice(10))
```

```rust
use std::os::unix::process::CommandExt;
use std::process::Command;

fn start() -> std::io::Result<()> {
    let mut command = Command::new("server");
    unsafe {
        command.pre_exec(|| {
            libc::nice(10);
            Ok(())
        });
    }
    command.spawn()?;
    Ok(())
}
```

## When it may stay

When the child must outlive its spawner by design, or when a supervisor that is named in the reason
ends its session or group.
"#,
    words: Words {
        both: &[
            &["setsid"],
            &["setpgrp"],
            &["setpgid"],
        ],
        rust: &[
            &["before_spawn", "process_group"],
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let mut hits = Vec::new();
    for hook in hooks.all.iter().filter(|hook| hook.runs) {
        if let Some(way) = by_reference(hook.value) {
            hits.push(Hit::new(hook.act, hook.evidence, way));
        }
    }
    for call in &facts.calls {
        let uses: Vec<Hook<'_>> = hooks
            .uses(call.scope)
            .into_iter()
            .filter(|hook| hook.runs)
            .collect();
        if uses.is_empty() {
            continue;
        }
        let prepares = hooks.prepares(call);
        for hit in in_body(facts, call, &uses, prepares) {
            if !hits.contains(&hit) {
                hits.push(hit);
            }
        }
    }
    hits
}

/// A hook that is one of the calls itself, not called here.
fn by_reference(value: &Value) -> Option<Way> {
    let one = |value: &Value| match value {
        Value::Path(paths) => paths.iter().find_map(|path| leaving::way_of(path)),
        Value::Partial(inner, _) => by_reference(inner),
        _ => None,
    };
    value.each().iter().find_map(one)
}

/// A detaching call in a hook's body: at the spawn if the hook is written there, else at the call.
fn in_body(facts: &Facts, call: &Call, uses: &[Hook<'_>], prepares: bool) -> Vec<Hit> {
    let group = || new_group::process_group(facts, call).filter(|_| prepares);
    let command = || group().map(|_| Way::NewGroup);
    let Some(way) = leaving::by_name(facts, call).or_else(command) else {
        return Vec::new();
    };
    let certainty = leaving::certainty(call).min(tethered(facts, call.scope));
    let written_in = uses.iter().find(|hook| hook.act.contains(call.span));
    let Some(hook) = written_in else {
        let mut hit = Hit::new(call.act, call.evidence, way).with(certainty);
        hit.notes = uses
            .iter()
            .map(|hook| (hook.evidence, "run as a hook here".to_owned()))
            .collect();
        return vec![hit];
    };
    let mut hits = vec![Hit::new(hook.act, hook.evidence, way).with(certainty)];
    if !hook.evidence.contains(call.evidence) {
        hits.push(Hit::new(hook.act, call.evidence, way).with(certainty));
    }
    hits
}

/// What dies with its parent only may detach.
fn tethered(facts: &Facts, scope: ScopeId) -> Certainty {
    if facts.calls_in(scope).any(|(_, call)| is_tether(call)) {
        Certainty::May
    } else {
        Certainty::Sure
    }
}

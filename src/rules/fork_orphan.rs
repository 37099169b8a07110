//! Rule `fork-orphan`: a fork whose parent exits at once, so that init adopts the child.

use std::collections::BTreeSet;

use super::names::mentions;
use super::words::Words;
use super::{Hit, Level, Rule, Way, leaving};
use crate::facts::{Call, Facts, ScopeId, Value};

pub(super) const RULE: Rule = Rule {
    id: "fork-orphan",
    level: Level::Warn,
    summary: "a child that is no longer its spawner's: a double fork without `setsid`, `CLONE_PARENT`",
    help: "keep the child and wait for it, or start it with `spawn_owned` (any program: `owned run -- CMD`) so that it dies with its owner",
    doc: r#"## What it finds

A fork whose parent exits at once, a second fork right after the first, and `CLONE_PARENT`, in a
function that takes no new session or group (that would be `daemonize` or `self-detach`). A method
named `fork` of some other object is no fork.

## Why it matters

The process stays in the group and dies of a group kill (measured), but it is no longer its spawner's
child: nobody waits for it, and whoever kills by descent misses it.

## Bad

```python
import os


def start():
    if os.fork() == 0:
        if os.fork() == 0:  #~ fork-orphan
            os.execvp("server", ["server"])
        os._exit(0)
```

```rust
fn start() {
    if unsafe { libc::fork() } > 0 { //~ fork-orphan
        unsafe { libc::_exit(0) };
    }
    serve();
}
```

## Good

```python
import os


def start():
    child = os.fork()
    if child == 0:
        os.execvp("server", ["server"])
    os.waitpid(child, 0)
```

```rust
fn start() {
    let child = unsafe { libc::fork() };
    if child == 0 {
        serve();
        unsafe { libc::_exit(0) };
    }
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
}
```

## When it may stay

When the point is to hand the process to a reaper: a subreaper, or the init of a container.
"#,
    words: Words {
        both: &[
            &["CLONE_PARENT", "<clone>|<clone3>|<syscall>"],
            &["vfork"],
        ],
        python: &[
            &[".fork"],
        ],
        rust: &[
            &[".fork", "libc|nix|use os::|os::fork|posix::|fork::|use fork|fork as"],
            &["fork(|fork (", "extern \"|extern  \"|extern r\"|extern {"],
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let mut hits: Vec<Hit> = facts
        .calls
        .iter()
        .filter(|call| is_clone(call))
        .map(hit)
        .collect();
    let forks = facts.calls.iter().filter(|call| leaving::is_fork(call));
    let forking: BTreeSet<ScopeId> = forks.map(|call| call.scope).collect();
    let orphans = forking.into_iter().filter_map(|scope| orphan(facts, scope));
    hits.extend(orphans.map(hit));
    hits
}

fn hit(call: &Call) -> Hit {
    Hit::new(call.act, call.evidence, Way::Reparented).with(leaving::certainty(call))
}

/// A clone that gives the child to the caller's own parent.
fn is_clone(call: &Call) -> bool {
    matches!(call.name.as_str(), "clone" | "clone3" | "syscall")
        && call
            .args
            .iter()
            .any(|arg| mentions(&arg.value, &["CLONE_PARENT"]))
}

/// The fork in a body that leaves an orphan: one right after another, or one with an exit right
/// after it for which nobody waits.
fn orphan(facts: &Facts, scope: ScopeId) -> Option<&Call> {
    if leaving::leaves(facts, scope) {
        return None;
    }
    let calls = facts.calls_in(scope).map(|(_, call)| call);
    let calls: Vec<&Call> = calls.filter(|call| !is_report(call)).collect();
    for (index, call) in calls
        .iter()
        .enumerate()
        .filter(|(_, call)| leaving::is_fork(call))
    {
        let rest = calls.get(index + 1..).unwrap_or_default();
        match rest {
            [next, ..] if leaving::is_fork(next) => return Some(next),
            [next, rest @ ..] if is_exit(next) => {
                let until = rest
                    .iter()
                    .position(|call| leaving::is_fork(call))
                    .unwrap_or(rest.len());
                let waits = rest
                    .iter()
                    .take(until)
                    .any(|call| call.name.starts_with("wait"));
                if !waits {
                    return Some(call);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a call ends the process, all well.
fn is_exit(call: &Call) -> bool {
    matches!(call.name.as_str(), "_exit" | "exit" | "SystemExit") && !is_failure(call)
}

fn is_failure(call: &Call) -> bool {
    let code = call.args.first().map(|arg| &arg.value);
    matches!(code, Some(Value::Int(code)) if *code != 0) || matches!(code, Some(Value::Text(_)))
}

/// Calls that handle the failure of a fork, or only say what happens.
fn is_report(call: &Call) -> bool {
    let says = [
        "print",
        "println!",
        "eprintln!",
        "flush",
        "write",
        "format",
        "str",
        "error",
        "exception",
        "warning",
        "info",
        "debug",
        "log",
        "perror",
        "last_os_error",
        "expect",
        "unwrap",
    ];
    says.contains(&call.name.as_str()) || call.name == "exit" && is_failure(call)
}

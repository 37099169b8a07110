//! Rule `hup-ignore`: SIGHUP ignored or blocked, which every child inherits.

use super::hooks::Hooks;
use super::names::{holder, is_of, mentions};
use super::words::{BY_NAME, Words};
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::{Call, Facts, Setting, Truth, Value};

pub(super) const RULE: Rule = Rule {
    id: "hup-ignore",
    level: Level::Warn,
    summary: "SIGHUP ignored or blocked, which children inherit and keep over exec",
    help: "handle SIGHUP instead of ignoring it (a handler is reset at exec), or restore the default in the child before it runs its program",
    doc: r#"## What it finds

SIGHUP set to be ignored (`signal.signal`, `libc::signal`, `sigaction`, `nix`) or blocked
(`pthread_sigmask`), in the program or in a hook of the child, and `_bg=True` of `sh`, which does it
for its child. In a file that starts nothing it is reported as one that may detach.

## Why it matters

An ignored or blocked signal stays so over fork and exec, so the children no longer end with their
terminal (measured: they outlive the hangup). They stay in the group and die of a group kill.

## Bad

```python
import signal
import subprocess

signal.signal(signal.SIGHUP, signal.SIG_IGN)  #~ hup-ignore
subprocess.Popen(["server"])
```

```rust
fn start() -> std::io::Result<()> {
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) }; //~ hup-ignore
    std::process::Command::new("server").spawn()?;
    Ok(())
}
```

## Good

```python
import signal
import subprocess

signal.signal(signal.SIGHUP, reload)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
subprocess.Popen(["server"])
```

```rust
fn start() -> std::io::Result<()> {
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    std::process::Command::new("server").spawn()?;
    Ok(())
}
```

## When it may stay

In a program that is meant to go on after its terminal is gone, together with its children.
"#,
    words: Words {
        both: &[
            &["SIGHUP", "SIG_IGN|SigIgn|_sigmask|sigprocmask|thread_block", "<signal>|<sigset>|<bsd_signal>|<sigaction>|_sigmask|sigprocmask|thread_block"],
            &["SIG_IGN|SigIgn", "signal(…1|sigset(…1|sigaction(…1|signal (…1|HUP|in (1|in [1"],
            &["signal(1, 1|signal(1,1"],
            &["SIGHUP, 1|SIGHUP,1"],
            &["sigmask(0|procmask(0"],
        ],
        python: &[
            &["SIG_BLOCK|SIG_SETMASK", "1"],
            &["<_bg>", "@sh"],
            &["<_bg>", BY_NAME],
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let starts = facts.calls.iter().any(is_start) || facts.started().next().is_some();
    let calls = facts
        .calls
        .iter()
        .filter(|call| ignores(facts, call))
        .map(|call| {
            let inherited = starts || hooks.runs(call.scope);
            let certainty = if inherited {
                Certainty::Sure
            } else {
                Certainty::May
            };
            let hit = Hit::new(hooks.act(call), call.evidence, Way::HangupProof);
            hit.with(certainty).with(leaving::certainty(call))
        });
    let options = facts
        .settings
        .iter()
        .filter(|setting| is_background(facts, setting));
    calls
        .chain(options.map(|setting| Hit::new(setting.act, setting.span, Way::HangupProof)))
        .collect()
}

/// Whether a call may start a process.
fn is_start(call: &Call) -> bool {
    let name = call.name.as_str();
    leaving::is_fork(call)
        || matches!(
            name,
            "spawn" | "system" | "status" | "output" | "Process" | "Pool"
        )
        || [
            "Popen",
            "popen",
            "run",
            "call",
            "check_",
            "exec",
            "posix_spawn",
            "create_subprocess",
        ]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Whether a call makes SIGHUP ignored or blocked.
pub(super) fn ignores(facts: &Facts, call: &Call) -> bool {
    let arg = |index: usize| call.args.get(index).map(|arg| &arg.value);
    let first_is_hup = || arg(0).is_some_and(is_hup);
    let ignored = |value: &Value| mentions(value, IGNORE);
    match call.name.as_str() {
        "signal" | "bsd_signal" | "sigset" => {
            first_is_hup() && arg(1).is_some_and(|value| ignored(value) || *value == Value::Int(1))
        }
        "sigaction" => {
            let made = |other: &Call| other.args.iter().any(|arg| ignored(&arg.value));
            let set = facts.settings.iter().any(|setting| {
                let same = setting.scope == call.scope && setting.name == "sa_sigaction";
                same && ignored(&setting.value)
            });
            first_is_hup() && (arg(1).is_some_and(ignored) || near(facts, call, made) || set)
        }
        "pthread_sigmask" | "sigprocmask" => {
            let blocks = arg(0).is_some_and(|how| mentions(how, BLOCK) || *how == Value::Int(0));
            blocks && (arg(1).is_some_and(is_hup) || near(facts, call, adds_hup))
        }
        "thread_block" => near(facts, call, adds_hup),
        _ => false,
    }
}

const IGNORE: &[&str] = &["SIG_IGN", "SigIgn"];
const BLOCK: &[&str] = &["SIG_BLOCK", "SIG_SETMASK"];

/// Whether a signal is, or a set of signals holds, SIGHUP.
fn is_hup(value: &Value) -> bool {
    let one = |value: &Value| *value == Value::Int(1);
    let inside = |value: &Value| match value {
        Value::List(items) => items.iter().any(|item| one(&item.value)),
        _ => one(value),
    };
    mentions(value, &["SIGHUP"]) || value.each().iter().any(inside)
}

/// Whether a call in the same body does something.
fn near(facts: &Facts, call: &Call, does: impl Fn(&Call) -> bool) -> bool {
    facts.calls_in(call.scope).any(|(_, other)| does(other))
}

/// Whether a call puts SIGHUP into a set of signals.
fn adds_hup(call: &Call) -> bool {
    matches!(call.name.as_str(), "sigaddset" | "add" | "insert")
        && call
            .args
            .iter()
            .any(|arg| mentions(&arg.value, &["SIGHUP"]))
}

/// `_bg=True` of `sh`, whose child ignores SIGHUP.
fn is_background(facts: &Facts, setting: &Setting) -> bool {
    let of_sh = holder(facts, setting).is_some_and(|call| is_of(call, &["sh."]));
    setting.name == "_bg" && of_sh && setting.value.truth() == Truth::Yes
}

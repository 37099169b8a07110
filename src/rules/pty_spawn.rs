//! Rule `pty-spawn`: a child on a terminal of its own, in a session that the terminal ties.

use super::names::{certainty_of, holder, is_of, last};
use super::words::{BY_NAME, WIDE_8, Words};
use super::{Certainty, Hit, Level, Rule, Way, hup_ignore, leaving};
use crate::facts::{Call, Command, Facts, Holder, Setting, Truth, Value, Word};
use crate::source::{Language, Span};

pub(super) const RULE: Rule = Rule {
    id: "pty-spawn",
    level: Level::Warn,
    summary: "a child on a pseudo-terminal, in a session that ends with the terminal unless SIGHUP is ignored",
    help: "keep SIGHUP in force in the child, close the terminal on every way out, or use pipes instead of a terminal",
    doc: r#"## What it finds

Spawns on a pseudo-terminal: `pty.fork`, `pty.spawn`, `os.forkpty`, `os.login_tty`, `pexpect`,
`ptyprocess`, `pty=True` of `invoke` and `fabric`, `_tty_in=True` of `sh`, `usePTY` of Twisted; in Rust
`forkpty`, `login_tty`, `portable-pty`, `pty-process`, `ptyprocess`, `rexpect`, `expectrl`; and the
commands `script`, `unbuffer`, `expect`, `xterm -e` and `su -P`.

## Why it matters

The child is in a session of its own. It is tied to the spawner only by the terminal: the spawner's
death closes it, the child gets SIGHUP and ends (measured). Where SIGHUP is ignored
(`ignore_sighup=True`, `nohup` inside, `_bg=True`) nothing ties it, and it outlives SIGKILL to the
spawner's group (measured).

## Bad

```python
import pexpect
import pty

pty.spawn(["server"])  #~ pty-spawn
pexpect.spawn("server", ignore_sighup=True)  #~ pty-spawn
```

```rust
fn start() {
    let child = rexpect::spawn("server", None); //~ pty-spawn
}
```

## Good

```python
import os
import subprocess

master, slave = os.openpty()
subprocess.Popen(["server"], stdin=slave, stdout=slave)
```

```rust
fn start() -> std::io::Result<()> {
    std::process::Command::new("server").spawn()?;
    Ok(())
}
```

## When it may stay

When the program needs a terminal and honours SIGHUP; a test of a terminal program is the usual case.
"#,
    words: Words {
        both: &[
            &["forkpty"],
            &["login_tty"],
            &["ptyprocess|PtyProcess"],
        ],
        python: &[
            &["pexpect"],
            &["@pty", "fork|spawn"],
            &[BY_NAME, "'pty'", "fork|spawn"],
            &["<pty=>|<pty =>|'pty'", "run|local|sudo|set|invoke|fabric|shellous"],
            &["_tty_in"],
            &["usePTY", "spawnProcess"],
            &["spawnProcess", WIDE_8],
        ],
        rust: &[
            &["expectrl"],
            &["rexpect"],
            &["portable_pty"],
            &["spawn_command"],
            &["pty_process"],
            &["shellous"],
        ],
        programs: &[
            "script -c|--command", "unbuffer", "expect", "xterm", "su -P|--pty", "socat",
        ],
    },
    check,
};

const PYTHON: &[&str] = &[
    "gevent.os.forkpty",
    "os.forkpty",
    "os.login_tty",
    "pexpect.pty_spawn.spawn",
    "pexpect.replwrap.REPLWrapper",
    "pexpect.replwrap.bash",
    "pexpect.replwrap.python",
    "pexpect.replwrap.zsh",
    "pexpect.run",
    "pexpect.runu",
    "pexpect.spawn",
    "pexpect.spawnu",
    "posix.forkpty",
    "pty.fork",
    "pty.spawn",
    "ptyprocess.PtyProcess.spawn",
    "ptyprocess.PtyProcessUnicode.spawn",
];

const RUST: &[&str] = &[
    "expectrl.Session.spawn",
    "expectrl.spawn",
    "libc.forkpty",
    "libc.login_tty",
    "nix.libc.forkpty",
    "nix.libc.login_tty",
    "nix.pty.forkpty",
    "ptyprocess.PtyProcess.spawn",
    "ptyprocess.PtyProcess.spawn_cmd",
];

fn check(facts: &Facts) -> Vec<Hit> {
    let calls = facts.calls.iter().enumerate().filter_map(|(index, call)| {
        let certainty = spawn(facts, call)?;
        let way = way(facts, call, index);
        let hit = Hit::new(call.act, call.evidence, way).with(certainty);
        Some(hit.with(leaving::certainty(call)))
    });
    let options = facts
        .settings
        .iter()
        .filter_map(|setting| option(facts, setting));
    calls
        .chain(options)
        .chain(facts.started().filter_map(command))
        .collect()
}

/// How sure it is that a call spawns on a terminal.
fn spawn(facts: &Facts, call: &Call) -> Option<Certainty> {
    if facts.language == Language::Python {
        return call.is_one(PYTHON).then_some(Certainty::Sure);
    }
    // `spawn_stream` talks over a stream that is there already.
    let starts = || call.name.starts_with("spawn") && call.name != "spawn_stream";
    let rexpect = || is_of(call, &["rexpect."]) && starts();
    let portable = || {
        call.name == "spawn_command"
            && call.args.len() == 1
            && is_of(call, &["?.", "portable_pty."])
    };
    let process = || {
        is_of(call, &["pty_process."]) && matches!(call.name.as_str(), "spawn" | "spawn_borrowed")
    };
    let by_name = rexpect() || portable() || process();
    let sure = by_name.then_some(Certainty::Sure);
    sure.or_else(|| certainty_of(call, RUST))
}

/// Whether the terminal still ties the child: not if SIGHUP is ignored.
fn way(facts: &Facts, call: &Call, index: usize) -> Way {
    let option = facts
        .options_of(index)
        .any(|setting| setting.name == "ignore_sighup" && setting.value.truth() == Truth::Yes);
    let inside = facts
        .started()
        .any(|command| command.act == call.act && command.program == "nohup");
    let nohup = |value: &Value| match value {
        Value::List(items) => {
            matches!(items.first().map(|item| &item.value), Some(Value::Text(text)) if text.text == "nohup")
        }
        _ => false,
    };
    let mut beside = facts.calls_in(call.scope);
    let ignored = beside.any(|(_, other)| hup_ignore::ignores(facts, other));
    let proof = option || inside || ignored || call.args.iter().any(|arg| nohup(&arg.value));
    if proof {
        Way::NewSession
    } else {
        Way::Terminal
    }
}

/// An option that asks for a terminal.
fn option(facts: &Facts, setting: &Setting) -> Option<Hit> {
    let call = holder(facts, setting)?;
    let of = |roots: &[&str]| is_of(call, roots);
    let certainty = match setting.name.as_str() {
        "_tty_in" if of(&["sh."]) => Certainty::Sure,
        "usePTY" if call.name == "spawnProcess" => Certainty::Sure,
        "pty" if of(&["invoke.", "fabric.", "shellous."]) => Certainty::Sure,
        // A task's context is a parameter, so that its type is not known.
        "pty" if matches!(call.name.as_str(), "run" | "local" | "sudo") && of(&["?."]) => {
            Certainty::May
        }
        "pty" if call.name == "set" && of(&["?.", "shellous"]) => Certainty::May,
        _ => return None,
    };
    let background = |other: &Setting| other.name == "_bg" && other.value.truth() == Truth::Yes;
    let proof = match setting.holder {
        Holder::Call(call) => facts.options_of(call).any(background),
        Holder::Through(_) | Holder::Dict { .. } | Holder::Default(_) => false,
    };
    let way = if proof {
        Way::NewSession
    } else {
        Way::Terminal
    };
    let hit = Hit::new(setting.act, setting.span, way).with(certainty);
    match setting.value.truth() {
        Truth::Yes => Some(hit),
        Truth::Maybe => Some(hit.with(Certainty::May)),
        Truth::No => None,
    }
}

/// A program that runs another one on a terminal.
fn command(command: &Command) -> Option<Hit> {
    let words = command.words.as_slice();
    let hit = |span: Span, way: Way| Hit::new(command.act, span, way);
    let program = words.first()?.span;
    let option = |holds: &dyn Fn(&str) -> bool| {
        words
            .iter()
            .skip(1)
            .find(|word| holds(&word.text))
            .map(|word: &Word| word.span)
    };
    match command.program.as_str() {
        "script" => {
            let runs = option(&|word| word == "--command" || is_short(word, 'c'));
            let nohup = option(&|word| word.trim_start().starts_with("nohup "));
            let way = if nohup.is_some() {
                Way::NewSession
            } else {
                Way::Terminal
            };
            runs.map(|_| hit(program, way))
        }
        "unbuffer" if words.len() > 1 => Some(hit(program, Way::Terminal)),
        "expect" => {
            let code = command.code.as_ref().map_or("", |code| code.text.as_str());
            let ignores = code.contains("-ignore HUP");
            let spawns = code
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| word == "spawn");
            match (spawns, ignores) {
                (true, true) => Some(hit(program, Way::NewSession)),
                (true, false) => Some(hit(program, Way::Terminal)),
                // A script in a file most likely spawns: that is what the program is for.
                (false, _) if code.is_empty() && words.len() > 1 => {
                    Some(hit(program, Way::Terminal).with(Certainty::May))
                }
                _ => None,
            }
        }
        "xterm" => option(&|word| word == "-e").map(|_| hit(program, Way::Terminal)),
        "su" => {
            option(&|word| word == "--pty" || word == "-P").map(|span| hit(span, Way::Terminal))
        }
        "socat" => {
            let on_pty = |word: &str| {
                word.contains("EXEC:") && word.split(',').any(|part| last(part) == "pty")
            };
            option(&on_pty).map(|span| hit(span, Way::Terminal))
        }
        _ => None,
    }
}

/// Whether a word of short options holds `letter`: `-qc`.
fn is_short(word: &str, letter: char) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
}

//! Rule `raw-detach`: the calls of `self-detach` through a foreign function or a system call.

use super::hooks::Hooks;
use super::names::{ends, last, mentions};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::tree::{Form, Spread};
use crate::facts::{Arg, Call, Facts, Truth, Value};

pub(super) const RULE: Rule = Rule {
    id: "raw-detach",
    level: Level::Deny,
    summary: "`setsid` and its kin through ctypes, cffi, `extern`, `dlsym`, `syscall` or assembly",
    help: "drop the call, or start the child with `spawn_owned` (any program: `owned run -- CMD`) so that it dies with its owner; if it must outlive it, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

`setsid`, `setpgid`, `setpgrp` and `daemon` reached below the usual libraries: through `ctypes`, `cffi`,
a declaration in an `extern` block (`#[link_name]` included), `dlsym`, `syscall(SYS_setsid)` or its
number with the fitting count of arguments, inline assembly, and the private
`_posixsubprocess.fork_exec`. A `ctypes` function given as a hook is found at the spawn.

`SYS_setsid` anywhere else (a seccomp table denies it) is no finding, nor is a mere declaration.

## Why it matters

The kernel sees the same call, so the child gets away in the same way: each of these forms was run, and
the child outlived SIGKILL to the spawner's group. It also hides from a search for the usual names.

## Bad

```python
import ctypes

libc = ctypes.CDLL(None)
libc.setsid()  #~ raw-detach
libc.syscall(112)  #~ raw-detach
```

```rust
unsafe extern "C" {
    fn setsid() -> i32;
}

fn start() {
    unsafe { setsid() }; //~ raw-detach
    unsafe { libc::syscall(libc::SYS_setsid) }; //~ raw-detach
}
```

## Good

```python
import ctypes

libc = ctypes.CDLL(None)
libc.getsid(0)
libc.syscall(39)
```

```rust
unsafe extern "C" {
    fn getsid(pid: i32) -> i32;
}

fn session() -> i32 {
    deny(libc::SYS_setsid as u32);
    unsafe { getsid(0) }
}
```

## When it may stay

In a crate that implements the call itself, such as a binding to the C library.
"#,
    words: Words {
        both: &[
            &["setsid"],
            &["setpgrp"],
            &["setpgid"],
            &["<SETSID>"],
            &["<SETPGID>"],
        ],
        python: &[
            &[".daemon", "ctypes|cffi"],
            &["<syscall>", NUMBERS],
            &["fork_exec"],
        ],
        rust: &[
            &["<daemon>", "extern|dlsym|libloading"],
            &[CALLS, NUMBERS],
            &["asm!", "syscall|svc|0x80", IN_ASSEMBLY],
        ],
        ..Words::NONE
    },
    check,
};

/// How a raw system call is called.
const CALLS: &str = "<syscall>|<syscall0>|<syscall1>|<syscall2>|<syscall3>|<syscall4>|<syscall5>|<syscall6>";
/// Its numbers, as they may be written: see [`by_number`].
const NUMBERS: &str = "112|109|157|154|1_12|1_09|1_57|1_54|x70|X70|x6d|x6D|X6d|X6D|x9d|x9D|X9d|X9D|x9a|x9A|X9a|X9A|\
    x0070|x006d|x009d|x009a|o160|o155|o235|o232|b1110000|b1101101|b10011101|b10011010";
/// The same for [`assembly`].
const IN_ASSEMBLY: &str = "112|109|157|154|66|57|0x70|0x6d|0x6D|0x9d|0x9D|0x9a|0x9A|0x42|0x39";

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let references = hooks
        .all
        .iter()
        .filter(|hook| hook.runs)
        .filter_map(|hook| {
            let way = by_reference(hook.value)?;
            Some(Hit::new(hook.act, hook.evidence, way))
        });
    let calls = facts.calls.iter().filter_map(|call| {
        let (way, certainty) = sure(facts, call)?;
        let hit = Hit::new(hooks.act(call), call.evidence, way);
        Some(hit.with(certainty).with(leaving::certainty(call)))
    });
    references.chain(calls).collect()
}

/// In which way a raw call leaves.
pub(super) fn way(facts: &Facts, call: &Call) -> Option<Way> {
    sure(facts, call).map(|(way, _)| way)
}

fn sure(facts: &Facts, call: &Call) -> Option<(Way, Certainty)> {
    let way = match &call.form {
        Form::Macro { .. } if call.name.trim_end_matches('!') == "asm" => assembly(call),
        Form::Macro { .. } if !call.name.starts_with("syscall") => None,
        Form::Struct => None,
        _ if ends(
            call,
            &["_posixsubprocess.fork_exec", "subprocess._fork_exec"],
        ) =>
        {
            return fork_exec(call);
        }
        _ => foreign(facts, call)
            .or_else(|| looked_up(call))
            .or_else(|| system_call(facts, call)),
    };
    way.map(|way| (way, Certainty::Sure))
}

/// A function of a foreign library, or one declared in this file.
fn foreign(facts: &Facts, call: &Call) -> Option<Way> {
    let way = call.paths.iter().find_map(|path| foreign_way(path))?;
    (!leaving::stays(facts, call, 0)).then_some(way)
}

fn foreign_way(path: &str) -> Option<Way> {
    let foreign = ["ctypes.", "cffi.", "<extern>."]
        .iter()
        .any(|root| path.starts_with(root));
    match last(path) {
        _ if !foreign => None,
        "setsid" => Some(Way::NewSession),
        "setpgid" | "setpgrp" => Some(Way::NewGroup),
        "daemon" => Some(Way::Daemonised),
        _ => None,
    }
}

fn by_reference(value: &Value) -> Option<Way> {
    let one = |value: &Value| match value {
        Value::Path(paths) => paths.iter().find_map(|path| foreign_way(path)),
        Value::Partial(inner, _) => by_reference(inner),
        _ => None,
    };
    value.each().iter().find_map(one)
}

/// A symbol looked up by its name.
fn looked_up(call: &Call) -> Option<Way> {
    let looks_up = call.name == "dlsym"
        || call.name == "get"
            && call
                .paths
                .iter()
                .any(|path| path.starts_with("libloading."));
    if !looks_up {
        return None;
    }
    call.args.iter().find_map(|arg| match &arg.value {
        Value::Text(text) => by_symbol(text.text.trim_end_matches('\0')),
        _ => None,
    })
}

fn by_symbol(name: &str) -> Option<Way> {
    match name {
        "setsid" => Some(Way::NewSession),
        "setpgid" | "setpgrp" => Some(Way::NewGroup),
        "daemon" => Some(Way::Daemonised),
        _ => None,
    }
}

/// `syscall(SYS_setsid)`, by name or by number; a number counts only with its count of arguments, and
/// not in a macro of another name, `syscall_readonly!(__NR_setsid)`.
fn system_call(facts: &Facts, call: &Call) -> Option<Way> {
    let name = call.name.trim_end_matches('!');
    let rest = name.strip_prefix("syscall")?;
    let plain = rest.chars().all(|c| c.is_ascii_digit());
    let is_call = plain || call.name.ends_with('!') && rest.starts_with('_');
    let known = call
        .paths
        .iter()
        .all(|path| !path.starts_with("<here>") && !path.starts_with('?'));
    if !is_call || !known {
        return None;
    }
    let number = &call.args.first()?.value;
    let way = if mentions(number, &["SYS_setsid", "__NR_setsid", "setsid", "SETSID"]) {
        Way::NewSession
    } else if mentions(
        number,
        &["SYS_setpgid", "__NR_setpgid", "setpgid", "SETPGID"],
    ) {
        Way::NewGroup
    } else {
        by_number(number.int().filter(|_| plain)?, call.args.len())?
    };
    (!leaving::stays(facts, call, 1)).then_some(way)
}

/// The numbers of x86-64 and of the architectures with the generic table.
fn by_number(number: i128, args: usize) -> Option<Way> {
    match (number, args) {
        (112 | 157, 1) => Some(Way::NewSession),
        (109 | 154, 3) => Some(Way::NewGroup),
        _ => None,
    }
}

/// Inline assembly that traps into the kernel with one of the numbers in its operands or text.
fn assembly(call: &Call) -> Option<Way> {
    let text = |arg: &Arg| match &arg.value {
        Value::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    let code = call
        .args
        .iter()
        .filter_map(text)
        .collect::<Vec<_>>()
        .join("\n");
    let numbers: Vec<i128> = call.args.iter().filter_map(|arg| arg.value.int()).collect();
    let words: Vec<&str> = code.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let says =
        |number: i128| numbers.contains(&number) || words.contains(&number.to_string().as_str());
    let (session, group) = if words.contains(&"syscall") {
        (112, 109)
    } else if words.contains(&"svc") {
        (157, 154)
    } else if words.contains(&"int") && words.contains(&"0x80") {
        (66, 57)
    } else {
        return None;
    };
    match (says(session), says(group)) {
        (true, _) => Some(Way::NewSession),
        (_, true) => Some(Way::NewGroup),
        _ => None,
    }
}

/// The private function below `subprocess`: position 15 asks for a session, and 16 for a group
/// where there are as many arguments as since Python 3.11.
fn fork_exec(call: &Call) -> Option<(Way, Certainty)> {
    let args: Vec<&Arg> = call.positional().collect();
    if call.args.iter().any(|arg| arg.spread == Spread::List) && args.len() <= 15 {
        return Some((Way::NewSession, Certainty::May));
    }
    let session = args.get(15).map_or(Truth::No, |arg| arg.value.truth());
    let group = args.get(16).filter(|_| args.len() >= 22);
    match (session, group.and_then(|arg| arg.value.int())) {
        (Truth::Yes, _) => Some((Way::NewSession, Certainty::Sure)),
        (_, Some(0..)) => Some((Way::NewGroup, Certainty::Sure)),
        (Truth::Maybe, _) => Some((Way::NewSession, Certainty::May)),
        (Truth::No, _) => None,
    }
}

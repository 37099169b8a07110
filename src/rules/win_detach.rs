//! Rule `win-detach`: what takes a process out of its console, group or job on Windows.

use super::names::{is_asserted, is_here, mentions, only_arg};
use super::words::{WIDE_14, Words};
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::{Call, Command, Facts, Value, Word};
use crate::source::{Language, Span};

pub(super) const RULE: Rule = Rule {
    id: "win-detach",
    level: Level::Deny,
    summary: "Windows creation flags that leave the console, the group or the job, `P_DETACH`, `start`",
    help: "leave the flag out, or put the child into a job object that ends it with its owner; if it must outlive it, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

Creation flags with one of the bits `DETACHED_PROCESS` (8), `CREATE_NEW_PROCESS_GROUP` (0x200) and
`CREATE_BREAKAWAY_FROM_JOB` (0x01000000), by name or by number, in Python (`creationflags=`) and Rust
(`.creation_flags()`, `CreationFlags`); `CREATE_NEW_CONSOLE` too; `os.P_DETACH` and `os.startfile`;
`start`, `schtasks` and `Start-Process` in commands. `CREATE_NO_WINDOW` hides a window and is no finding.

## Why it matters

A process outside the console's group does not see Ctrl-C, and one outside the job survives the job's
end. These forms cannot be measured on a POSIX system, where the flags are an error or do nothing.

## Bad

```python
import subprocess

subprocess.Popen(["server"], creationflags=subprocess.DETACHED_PROCESS)  #~ win-detach
subprocess.Popen(["server"], creationflags=0x208)  #~ win-detach
```

```rust
use std::os::windows::process::CommandExt;
use std::process::Command;

const DETACHED_PROCESS: u32 = 0x8;

fn start() -> std::io::Result<()> {
    Command::new("server").creation_flags(DETACHED_PROCESS).spawn()?; //~ win-detach
    Ok(())
}
```

## Good

```python
import subprocess

subprocess.Popen(["server"], creationflags=subprocess.CREATE_NO_WINDOW)
```

```rust
use std::os::windows::process::CommandExt;
use std::process::Command;

fn start() -> std::io::Result<()> {
    Command::new("server").creation_flags(0x0800_0000).spawn()?;
    Ok(())
}
```

## When it may stay

When the child must outlive its spawner by design, or when the group is made only to send it
`CTRL_BREAK_EVENT` and a job object ends it.
"#,
    words: Words {
        both: &[&[
            "CreateProcess",
            "DETACHED_PROCESS|CREATE_NEW_CONSOLE|CREATE_NEW_PROCESS_GROUP|CREATE_BREAKAWAY_FROM_JOB",
        ]],
        python: &[
            &["<creationflags>"],
            &["P_DETACH"],
            &["startfile"],
            &["spawnl"],
            &["spawnv"],
            &["subprocess|Popen", WIDE_14],
        ],
        rust: &[
            &["creation_flags"],
            &["<CreationFlags>", "wrap"],
        ],
        programs: &[
            "schtasks", "powershell", "pwsh", "cmd /c|/C|/k|/K", "start",
        ],
    },
    check,
};

/// Bits of the creation flags that leave the console, the group or the job.
const BITS: i128 = 0x8 | 0x10 | 0x200 | 0x0100_0000;
/// Their names.
const NAMES: &[&str] = &[
    "DETACHED_PROCESS",
    "CREATE_NEW_CONSOLE",
    "CREATE_NEW_PROCESS_GROUP",
    "CREATE_BREAKAWAY_FROM_JOB",
];

fn check(facts: &Facts) -> Vec<Hit> {
    // The argument is Python's; what a binding to the system calls so starts nothing.
    let python = facts.language == Language::Python;
    let options = facts.settings.iter().filter(|setting| {
        python
            && setting.name == "creationflags" && !is_asserted(facts, setting) && detaches(&setting.value)
    });
    let options = options.map(|setting| Hit::new(setting.act, setting.span, Way::Windows));
    let calls =
        facts.calls.iter().filter(|call| asks(call)).map(|call| {
            Hit::new(call.act, call.evidence, Way::Windows).with(leaving::certainty(call))
        });
    let commands = facts.started().filter_map(|command| {
        let (evidence, certainty) = starts(command)?;
        Some(Hit::new(command.act, evidence, Way::Windows).with(certainty))
    });
    options.chain(calls).chain(commands).collect()
}

/// Whether creation flags have a bit that detaches.
fn detaches(flags: &Value) -> bool {
    has_bits(flags) || mentions(flags, NAMES)
}

fn has_bits(flags: &Value) -> bool {
    match flags {
        Value::Int(number) => number & BITS != 0,
        Value::Bits(values) | Value::OneOf(values) => values.iter().any(has_bits),
        _ => false,
    }
}

/// Whether a call detaches.
fn asks(call: &Call) -> bool {
    let name = call.name.as_str();
    let first = call.args.first().map(|arg| &arg.value);
    match name {
        "creation_flags" | "CreationFlags" => {
            !is_here(call) && only_arg(call).is_some_and(|arg| detaches(&arg.value))
        }
        "startfile" => call.is("os.startfile"),
        _ if name.starts_with("CreateProcess") => {
            call.args.iter().any(|arg| mentions(&arg.value, NAMES))
        }
        _ if call.paths.iter().any(|path| path.starts_with("os.spawn")) => {
            // `P_DETACH` is 4.
            first.is_some_and(|mode| mentions(mode, &["P_DETACH"]) || *mode == Value::Int(4))
        }
        _ => false,
    }
}

/// The word of a command that starts another one elsewhere.
fn starts(command: &Command) -> Option<(Span, Certainty)> {
    let program = command.program.to_ascii_lowercase();
    let words = command.words.as_slice();
    let is = |word: &str| find(words, |own| own == word);
    let evidence = match program.strip_suffix(".exe").unwrap_or(&program) {
        "schtasks" => is("/create").or_else(|| is("/run")),
        "powershell" | "pwsh" => {
            let waits = find(words, |word| {
                word.contains("-wait") || word.contains("-nonewwindow")
            });
            find(words, |word| word.contains("start-process")).filter(|_| waits.is_none())
        }
        "cmd" => {
            let at = words
                .iter()
                .position(|word| matches!(lower(word).as_str(), "/c" | "/k"))?;
            let text = words.get(at + 1)?;
            let starts = lower(text) == "start" || lower(text).starts_with("start ");
            let waits = words.iter().any(|word| lower(word).contains("/w"));
            (starts && !waits).then_some(text.span)
        }
        // In the text of some shell: cmd.exe has it, and little else. A switch leaves no doubt.
        "start" if !command.shell.name.is_empty() && words.len() > 1 => {
            let waits = is("/w").or_else(|| is("/wait"));
            let first = words.first().filter(|_| waits.is_none())?;
            // It is no file: a path that ends so is another program, or no command at all.
            if first.text.contains('/') {
                return None;
            }
            let switch = find(words, |word| word.starts_with('/') && word.len() == 2);
            let certainty = switch.map_or(Certainty::May, |_| Certainty::Sure);
            return Some((first.span, certainty));
        }
        _ => None,
    };
    evidence.map(|span| (span, Certainty::Sure))
}

fn lower(word: &Word) -> String {
    word.text.to_ascii_lowercase()
}

/// The argument for which, in lower case, something holds.
fn find(words: &[Word], holds: impl Fn(&str) -> bool) -> Option<Span> {
    words
        .iter()
        .skip(1)
        .find(|word| holds(&lower(word)))
        .map(|word| word.span)
}

//! Rule `shell-nohup`: a shell text or argv makes a command proof against a hangup.

use super::shell::{self, Sign, sure};
use super::words::Words;
use super::{Hit, Level, Rule, Way};
use crate::facts::{Command, Facts};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    id: "shell-nohup",
    level: Level::Warn,
    summary: "a shell text or argv runs `nohup` or ignores SIGHUP with `trap`",
    help: "Drop `nohup`, start it with `spawn_owned` or `owned run -- CMD…`, or write why it must outlive a hangup.",
    doc: DOC,
    words: Words {
        both: &[&["nohup"]],
        programs: &[
            "nohup", "trap",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

`nohup CMD` in command position, and `trap '' HUP` (also `SIGHUP` and `1`), which every later command
inherits. `nohup CMD` that is given to a function of which only the name is known, or joined to a
line, is reported as one that may survive. `disown` and zsh's `&!` change nothing outside job control: see `shell-background`.

## Why it matters

Of 17 forms that were run, `disown` and its like among them, none outlived a SIGKILL to the spawner's
group, but 11 outlived a hangup of its terminal: all that have `nohup` or `trap`. What ends its
children by closing their terminal does not end these.

## Bad

```python
import os

os.system("nohup sleep 60 >/dev/null 2>&1 &")  #~ shell-nohup, shell-background
```

```rust
use std::process::Command;

fn main() {
    Command::new("nohup").arg("sleep").arg("60").spawn().unwrap(); //~ shell-nohup
}
```

## Good

```python
import os

os.system("sleep 60 >/dev/null 2>&1")
```

```rust
use std::process::Command;

fn main() {
    Command::new("sleep").arg("60").spawn().unwrap();
}
```

## When it may stay

When the command must live on after its terminal closes and something else ends it. Say what.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    let evidence = match command.program.as_str() {
        _ if command.only_asks() => None,
        "nohup" => Some(command.head()),
        "trap" => trap(command),
        _ => None,
    };
    sure(evidence, Way::HangupProof)
}

/// `trap '' HUP`: an empty action is inherited.
fn trap(command: &Command) -> Option<Span> {
    let args = command.args();
    let at = usize::from(args.first().is_some_and(|word| word.text == "--"));
    let (action, signals) = args.get(at..)?.split_first()?;
    let hangup = |text: &str| matches!(text.to_ascii_uppercase().as_str(), "HUP" | "SIGHUP" | "1");
    let signal = signals.iter().find(|word| hangup(&word.text))?;
    action
        .text
        .is_empty()
        .then(|| command.head().to(signal.span))
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::count;
    use super::*;

    #[test]
    fn finds() {
        for text in [
            "nohup sleep 5",
            "nohup sh -c 'sleep 5' >/dev/null 2>&1 &",
            "exec nohup x",
            "trap '' HUP; x",
            "trap \"\" INT SIGHUP; x",
            "trap -- '' 1",
        ] {
            assert_eq!(count(check, text), 1, "{text}");
        }
    }

    #[test]
    fn finds_not() {
        for text in [
            "trap '' TERM; x",
            "trap 'x' HUP",
            "trap - HUP",
            "pgrep -f nohup",
            "nohup --version",
            "x & disown",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

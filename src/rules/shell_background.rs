//! Rule `shell-background`: a shell text runs a command in the background.

use super::shell::{self, Sign, sure};
use super::words::Words;
use super::{Hit, Level, Rule, Way};
use crate::facts::{Command, Facts};

pub(super) const RULE: Rule = Rule {
    id: "shell-background",
    level: Level::Allow,
    summary: "a shell text runs a command in the background with `&` or forgets it with `disown`",
    help: "Start it from the program itself, with `spawn_owned` or `owned start`, so that something waits for it.",
    doc: DOC,
    words: Words {
        programs: &[
            "&", "disown",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

`&` behind a command, list or group of a shell text, zsh's `&!` and `&|`, and `disown`. A `&` that is
an argument, is quoted, or stands in `&&`, `2>&1` or `&>` is not found.

## Why it matters

The shell ends and the command lives on as a child of init, still in its spawner's group. In all 16 forms
that were run it died of a SIGKILL to the group and of a hangup: so this is silent by default. Nothing
waits for the command, and nobody learns how it ended.

## Bad

```python
import os

os.system("sleep 60 &")  #~ shell-background
```

```rust
use std::process::Command;

fn main() {
    Command::new("sh").arg("-c").arg("sleep 60 &").spawn().unwrap(); //~ shell-background
}
```

## Good

```python
import os

os.system("sleep 60")
```

```rust
use std::process::Command;

fn main() {
    Command::new("sh").arg("-c").arg("sleep 60").spawn().unwrap();
}
```

## When it may stay

When the same text waits for it, or when the group is ended as a whole.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    // In tcsh it is a group of its own: see `shell-new-group`.
    let grouped = matches!(command.shell.name.as_str(), "tcsh" | "csh");
    let mut signs = sure(command.background.filter(|_| !grouped), Way::Reparented);
    if command.program == "disown" {
        signs.extend(sure(Some(command.head()), Way::Reparented));
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::count;
    use super::*;

    #[test]
    fn finds() {
        for (text, hits) in [
            ("sleep 5 &", 1),
            ("(sleep 5 &)", 1),
            ("( sleep 5 & ) &", 1),
            ("sleep 5 | cat &", 1),
            ("a & b & wait", 2),
            ("a & disown -h", 2),
            ("zsh -f -c 'a &! b'", 1),
            ("x=$(a & )", 1),
        ] {
            assert_eq!(count(check, text), hits, "{text}");
        }
    }

    #[test]
    fn finds_not() {
        for text in [
            "a && b || c",
            "echo 'a & b'",
            "a 2>&1 >&2 &> f",
            "coproc a; wait",
            "tcsh -c 'a & ; wait'",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

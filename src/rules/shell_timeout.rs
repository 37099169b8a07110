//! Rule `shell-timeout`: `timeout CMD` makes a process group.

use super::shell::{self, Sign, sure};
use super::words::Words;
use super::{Hit, Level, Rule, Way};
use crate::facts::{Command, Facts};

pub(super) const RULE: Rule = Rule {
    id: "shell-timeout",
    level: Level::Warn,
    summary: "a shell text or argv runs `timeout` without `--foreground`",
    help: "Write `timeout --foreground`, or use the time limit of the spawning call or of `owned start --timeout`.",
    doc: DOC,
    words: Words {
        programs: &[
            "timeout", "gtimeout",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

`timeout N CMD` in command position without `--foreground`.

## Why it matters

`timeout` makes itself the leader of a new process group, so that it can end the whole group when the
time is over. All 5 forms that were run outlived a SIGKILL to the spawner's group and a hangup of its
terminal; with `--foreground` the command died of both. It lives no longer than its limit: so this warns.

## Bad

```python
import subprocess

subprocess.Popen(["timeout", "600", "sleep", "60"])  #~ shell-timeout
```

```rust
use std::process::Command;

fn main() {
    Command::new("timeout").args(["600", "sleep", "60"]).spawn().unwrap(); //~ shell-timeout
}
```

## Good

```python
import subprocess

subprocess.Popen(["timeout", "--foreground", "600", "sleep", "60"])
```

```rust
use std::process::Command;

fn main() {
    Command::new("timeout").args(["--foreground", "600", "sleep", "60"]).spawn().unwrap();
}
```

## When it may stay

When the limit is short, or when the command starts children of its own that must end with it.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    if !matches!(command.program.as_str(), "timeout" | "gtimeout") || command.only_asks() {
        return Vec::new();
    }
    let (options, _) = command.options("ks");
    // Newer versions have `-f`; long options may be cut short.
    let foreground = options
        .iter()
        .any(|word| word.text.starts_with("--f") || word.text == "-f");
    // On Windows `timeout /t 5` waits.
    let windows = command
        .args()
        .first()
        .is_some_and(|word| word.text.starts_with('/'));
    sure(
        (!foreground && !windows).then(|| command.head()),
        Way::NewGroup,
    )
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::count;
    use super::*;

    #[test]
    fn finds() {
        for text in [
            "timeout 5 x",
            "timeout -k 5 10 x",
            "timeout 0 x",
            "a; timeout 5 x --foreground",
            "busybox timeout 5 x",
        ] {
            assert_eq!(count(check, text), 1, "{text}");
        }
    }

    #[test]
    fn finds_not() {
        for text in [
            "timeout --foreground 5 x",
            "timeout -k 5 --foreground 10 x",
            "timeout --help",
            "x --timeout 5",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

//! Rule `shell-remote`: `ssh HOST CMD` starts a process on another machine.

use super::shell::{self, Sign, flag, is_spread, options};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way};
use crate::facts::{Command, Facts, Word};

pub(super) const RULE: Rule = Rule {
    id: "shell-remote",
    level: Level::Warn,
    summary: "a shell text or argv runs a command on another machine with `ssh`",
    help: "Tie the remote command to the client with `ssh -tt`, or write what ends it there.",
    doc: DOC,
    words: Words {
        programs: &[
            "ssh", "autossh",
        ],
        ..Words::NONE
    },
    check,
};

/// Letters of options of `ssh` that take a value.
pub(super) const VALUED: &str = "BbcDEeFIiJLlmOopQRSWw";

const DOC: &str = r#"## What it finds

`ssh HOST CMD` in command position. A login without a command, a tunnel (`-N`), `scp` and `git` are
not found. With `-t` a terminal ties the command to the client: then it only may stay.

## Why it matters

The command is a child of the server on the other machine. In the 3 forms that were run without `-t` it
outlived a SIGKILL to the client's group and a hangup, and no supervisor on this machine can see it.
With `-tt` it died of both.

## Bad

```python
import subprocess

subprocess.run(["ssh", "build-host", "sleep 60"])  #~ shell-remote
```

```rust
use std::process::Command;

fn main() {
    Command::new("ssh").args(["build-host", "sleep 60"]).status().unwrap(); //~ shell-remote
}
```

## Good

```python
import subprocess

subprocess.run(["scp", "build-host:log", "."])
```

```rust
use std::process::Command;

fn main() {
    Command::new("scp").args(["build-host:log", "."]).status().unwrap();
}
```

## When it may stay

When the command ends by itself, or something on the other machine ends it. Say what.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    if !matches!(command.program.as_str(), "ssh" | "autossh") {
        return Vec::new();
    }
    let args = command.args();
    let (mut flags, host) = options(args, VALUED);
    let behind = args.get(host + 1..).unwrap_or_default();
    // Options may follow the host as well.
    let (more, at) = options(behind, VALUED);
    flags.extend(more);
    let remote = behind.get(at..).unwrap_or_default();
    // `-N`, `-W`, `-O` and kin run nothing there.
    let other = |word: &&Word| flag(word, "BbcDEeFIiJLlmopRSw", "NWOQVGs", &[]);
    if remote.is_empty() || flags.iter().any(other) {
        return Vec::new();
    }
    let tied = flags.iter().any(|word| flag(word, VALUED, "t", &[]));
    // A spread list may be empty: then what stands before it may be all there is.
    let unknown = remote.iter().all(is_spread);
    let certainty = if tied || unknown {
        Certainty::May
    } else {
        Certainty::Sure
    };
    vec![(command.head(), certainty, Way::OtherService)]
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::{certain, count};
    use super::*;

    #[test]
    fn finds() {
        for (text, sure) in [
            ("ssh host 'sleep 5'", true),
            ("ssh -o BatchMode=yes -p 22 host uptime", true),
            ("ssh host -p 22 uptime", true),
            ("ssh -tt host 'sleep 5'", false),
            ("ssh -f host x", true),
            ("ssh -oStrictHostKeyChecking=no host x", true),
        ] {
            assert_eq!(certain(check, text, "sh"), Some(sure), "{text}");
        }
    }

    #[test]
    fn finds_not() {
        for text in [
            "ssh host",
            "ssh -N -L 1:a:1 host",
            "ssh -fN host x",
            "ssh -V",
            "ssh -O exit host x",
            "scp a b:c",
            "git push",
            "ssh -p 22 host",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

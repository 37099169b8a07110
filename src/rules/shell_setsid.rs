//! Rule `shell-setsid`: a program that makes a session, in command position.

use super::shell::{self, Sign, is_option, named, sure};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way};
use crate::facts::{Command, Facts, Word};

pub(super) const RULE: Rule = Rule {
    id: "shell-setsid",
    level: Level::Deny,
    summary: "a shell text or argv runs `setsid` or another program that makes a session",
    help: "Drop `setsid`, start it with `spawn_owned` or `owned run -- CMD…`, or write why it must outlive its parent.",
    doc: DOC,
    words: Words {
        both: &[&["setsid"]],
        programs: &[
            "setsid", "pgrphack", "s6-setsid", "chpst", "bwrap --new-session", "socat",
            "perl setsid", "ruby setsid", "php setsid", "node detached", "nodejs detached",
            "bun detached", "deno detached",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

A program in command position that puts what it runs into a session of its own: `setsid`,
`busybox setsid`, `s6-setsid`, `chpst -P`, `pgrphack`, `bwrap --new-session`,
`socat EXEC:…,setsid`; and program text that does so: `python -c 'os.setsid()'`,
`perl -e 'POSIX::setsid()'`, node's `detached: true`. Shell text and argv are read, behind wrappers
such as `env`, `nice`, `sudo` and `sh -c`, and through quotes and constant variables; text that is put
together with `+=`, and text on the standard input of a shell too.

`setsid CMD` that is given to a function of which only the name is known
(`run_remote(["setsid", "server"])`), or joined to a line, is reported as one that may detach.

## Why it matters

A new session has a new process group, so no signal to the spawner's group and no hangup of its
terminal reaches it. Of 70 forms that were run, 69 outlived a SIGKILL to the spawner's group. The one
that did not was `bwrap --new-session --die-with-parent`, which is reported as "may".

## Bad

```python
import subprocess

subprocess.Popen(["setsid", "sleep", "60"])  #~ shell-setsid
```

```rust
use std::process::Command;

fn main() {
    Command::new("setsid").arg("sleep").arg("60").spawn().unwrap(); //~ shell-setsid
}
```

## Good

```python
import subprocess

subprocess.Popen(["owned", "run", "--", "sleep", "60"])
```

```rust
use std::process::Command;

fn main() {
    Command::new("sleep").arg("60").spawn().unwrap();
}
```

## When it may stay

When the process must outlive its spawner, as an updater does that replaces it, or when another
supervisor adopts it. Say which.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    let head = Some(command.head());
    let session = Way::NewSession;
    match command.program.as_str() {
        _ if command.python.is_some() => shell::python(command, |way| way != Way::NewGroup),
        _ if command.only_asks() => Vec::new(),
        "setsid" => sure(head, setsid(command)),
        "pgrphack" => sure(head, session),
        "s6-setsid"
            if !command
                .options("")
                .0
                .iter()
                .any(|word| is_option(word, "bf", &[])) =>
        {
            sure(head, session)
        }
        "chpst" => {
            let (options, _) = command.options("uUbe/nlLmdopfcrt");
            sure(
                options
                    .iter()
                    .find(|word| is_option(word, "P", &[]))
                    .map(|word| word.span),
                session,
            )
        }
        "bwrap" => bwrap(command),
        "socat" => sure(socat(command, "setsid").map(|word| word.span), session),
        program => sure(
            command
                .code
                .as_ref()
                .and_then(|code| in_code(program, code)),
            session,
        ),
    }
}

/// With a fork of its own, or in the background, the process is reparented as well.
fn setsid(command: &Command) -> Way {
    let forks = command
        .options("")
        .0
        .iter()
        .any(|word| is_option(word, "f", &["--fork"]));
    if forks || command.background.is_some() {
        Way::Daemonised
    } else {
        Way::NewSession
    }
}

fn bwrap(command: &Command) -> Vec<Sign> {
    let Some(word) = command.any(&["--new-session"]) else {
        return Vec::new();
    };
    let tied = command.any(&["--die-with-parent"]).is_some();
    vec![(
        word.span,
        if tied {
            Certainty::May
        } else {
            Certainty::Sure
        },
        Way::NewSession,
    )]
}

/// The address that runs a program with the option `name`, and not on a terminal of socat's.
pub(super) fn socat<'c>(command: &'c Command, name: &str) -> Option<&'c Word> {
    command.args().iter().find(|word| {
        let upper = word.text.to_ascii_uppercase();
        let mut options = word
            .text
            .split(',')
            .skip(1)
            .map(|own| own.split('=').next().unwrap_or_default());
        let runs = ["EXEC:", "SYSTEM:", "SHELL:"]
            .iter()
            .any(|kind| upper.starts_with(kind));
        runs && options.clone().any(|own| own == name) && !options.any(|own| own == "pty")
    })
}

fn in_code(program: &str, code: &Word) -> Option<crate::source::Span> {
    match program {
        "perl" => shell::called_in_perl(code, "setsid"),
        "ruby" => named(code, "Process.setsid"),
        "php" => named(code, "posix_setsid"),
        "node" | "nodejs" | "bun" | "deno" => shell::entry(code, "detached", &["true", "!0", "1"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::{count, ways};
    use super::*;

    #[test]
    fn finds() {
        for text in [
            "setsid sleep 5",
            "nohup setsid sleep 5 &",
            "env -S 'setsid sleep 5'",
            "busybox setsid sleep 5",
            "s6-setsid sleep 5",
            "chpst -P sleep 5",
            "pgrphack sleep 5",
            "bwrap --dev-bind / / --new-session sleep 5",
            "socat -u EXEC:'sleep 5',setsid -",
            "perl -MPOSIX -e 'POSIX::setsid(); exec q(sleep)'",
            "node -e \"require('child_process').spawn('x',[],{detached: true})\"",
            "ruby -e 'Process.setsid'",
            "echo 'setsid x' | sh",
        ] {
            assert_eq!(count(check, text), 1, "{text}");
        }
        assert_eq!(ways(check, "setsid -f x"), [Way::Daemonised]);
        assert_eq!(ways(check, "setsid x"), [Way::NewSession]);
    }

    #[test]
    fn finds_not() {
        for text in [
            "echo setsid",
            "setsid --version",
            "chpst sleep 5",
            "s6-setsid -b x",
            "socat EXEC:x,pty,setsid,ctty -",
            "socat -u EXEC:'sleep 5' -",
            "node -e \"spawn('x',[],{detached:false})\"",
            "command -v setsid",
            "perl -pe 's/setsid/nosid/' file",
            "perl -e 'print q(setsid x)'",
            "pgrep -f 'nohup setsid'",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

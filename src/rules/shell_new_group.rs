//! Rule `shell-new-group`: a program or shell mode that makes process groups.

use super::shell::{self, Sign, called_in_perl, entry, is_option, named, options, sure};
use super::shell_setsid::socat;
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way};
use crate::facts::{Command, Facts, Word};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    id: "shell-new-group",
    level: Level::Deny,
    summary: "a shell text or argv turns on job control or runs a program that makes a process group",
    help: "Turn job control off, start it with `spawn_owned` or `owned run -- CMD…`, or write why it must outlive its parent.",
    doc: DOC,
    words: Words {
        programs: &[
            "parallel", "sem", "s6-setsid", "socat", "tcsh", "csh", "set -m|monitor",
            "status job-control", "ksh -m|monitor", "ksh93 -m|monitor", "mksh -m|monitor",
            "lksh -m|monitor", "oksh -m|monitor", "sh -m|monitor", "bash -m|monitor",
            "dash -m|monitor", "zsh -m|monitor", "ash -m|monitor", "yash -m|monitor",
            "perl setpg", "php setpg", "ruby setpg|pgroup",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

A shell that gives each job a process group: `set -m` and `set -o monitor`, `bash -m`, `ksh -m`,
`tcsh -c '… &'`, fish with full job control. And programs that make a group for what they run:
GNU `parallel`, `s6-setsid -b`, `socat EXEC:…,setpgid=0`, perl's `setpgrp`, ruby's `pgroup: true`,
`python -c 'os.setpgid(0, 0)'`. `timeout` has a rule of its own, `shell-timeout`.

## Why it matters

A signal to the spawner's group does not reach another group. Of 28 forms that were run (those of
`timeout` among them), 19 outlived a SIGKILL to the spawner's group and 23 a hangup of its terminal.
Some leave the group only where there is a terminal: `set -m` in dash, zsh and busybox, `-m` on the
command line of bash, dash, zsh and busybox. Those are reported as "may".

## Bad

```python
import subprocess

subprocess.Popen(["bash", "-c", "set -m; sleep 60 & wait"])  #~ shell-new-group, shell-background
```

```rust
use std::process::Command;

fn main() {
    Command::new("mksh").args(["-m", "-c", "sleep 60 & wait"]).spawn().unwrap(); //~ shell-new-group, shell-background
}
```

## Good

```python
import subprocess

subprocess.Popen(["bash", "-c", "sleep 60"])
```

```rust
use std::process::Command;

fn main() {
    Command::new("bash").args(["-c", "sleep 60"]).spawn().unwrap();
}
```

## When it may stay

When the text ends its own jobs however it ends itself, or when they must outlive it. Say which.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    let mut signs = Vec::new();
    // tcsh has job control on even in a text.
    if matches!(command.shell.name.as_str(), "tcsh" | "csh") {
        signs.extend(sure(command.background, Way::NewGroup));
    }
    signs.extend(own(command));
    signs
}

fn own(command: &Command) -> Vec<Sign> {
    let group = Way::NewGroup;
    match command.program.as_str() {
        _ if command.python.is_some() => shell::python(command, |way| way == Way::NewGroup),
        _ if command.only_asks() => Vec::new(),
        "parallel" | "sem" if command.any(&["--citation"]).is_none() => {
            sure(Some(command.head()), group)
        }
        "s6-setsid" => {
            let (options, _) = command.options("");
            sure(
                options
                    .iter()
                    .find(|word| is_option(word, "bf", &[]))
                    .map(|word| word.span),
                group,
            )
        }
        "socat" => {
            let address = socat(command, "setpgid").or_else(|| socat(command, "pgid"));
            sure(address.map(|word| word.span), group)
        }
        "set" if command.shell.name != "fish" => {
            job_control(command.args(), set_certainty(&command.shell.name))
        }
        "status" if command.shell.name == "fish" => sure(fish(command), group),
        "ksh" | "ksh93" | "mksh" | "lksh" | "oksh" => job_control(command.args(), Certainty::Sure),
        "sh" | "bash" | "dash" | "zsh" | "ash" | "yash" => {
            job_control(command.args(), Certainty::May)
        }
        program => sure(
            command
                .code
                .as_ref()
                .and_then(|code| in_code(program, code)),
            group,
        ),
    }
}

/// Without a terminal, only these shells make groups after `set -m`.
fn set_certainty(shell: &str) -> Certainty {
    if matches!(shell, "bash" | "ksh" | "ksh93" | "mksh" | "lksh" | "oksh") {
        Certainty::Sure
    } else {
        Certainty::May
    }
}

/// `-m`, `-em`, `-o monitor`.
fn job_control(args: &[Word], certainty: Certainty) -> Vec<Sign> {
    let (found, _) = options(args, "oO");
    let named = |at: usize| args.get(at + 1).is_some_and(|word| word.text == "monitor");
    let monitor = args.iter().enumerate().find(|(at, word)| {
        let counts = found.iter().any(|own| std::ptr::eq(*own, *word));
        counts && (is_option(word, "m", &[]) || (word.text.ends_with('o') && named(*at)))
    });
    let Some((at, word)) = monitor else {
        return Vec::new();
    };
    let value = args.get(at + 1).filter(|_| !is_option(word, "m", &[]));
    vec![(
        value.map_or(word.span, |value| word.span.to(value.span)),
        certainty,
        Way::NewGroup,
    )]
}

fn fish(command: &Command) -> Option<Span> {
    let full = command
        .args()
        .iter()
        .find(|word| word.text == "full" || word.text == "--job-control=full")?;
    let about = |word: &Word| word.text.contains("job-control") || word.text == "-j";
    command
        .args()
        .iter()
        .any(about)
        .then(|| command.head().to(full.span))
}

fn in_code(program: &str, code: &Word) -> Option<Span> {
    let first = |names: &[&str]| names.iter().find_map(|name| named(code, name));
    match program {
        "perl" => ["setpgrp", "setpgid"]
            .iter()
            .find_map(|name| called_in_perl(code, name)),
        "php" => first(&["posix_setpgid"]),
        "ruby" => first(&["Process.setpgrp", "Process.setpgid"]).or_else(|| {
            let number = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
            entry(code, "pgroup", &["true"]).or_else(|| entry(code, "pgroup", &number))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::testing::{certain, count};
    use super::*;

    #[test]
    fn finds() {
        for (text, shell, sure) in [
            ("set -m; sleep 5 & wait", "bash", true),
            ("set -o monitor; sleep 5 & wait", "bash", true),
            ("set -em; a", "ksh", true),
            ("set -m; sleep 5", "sh", false),
            ("bash -c 'set -m; a'", "sh", true),
            ("bash -ic 'set -m; a & disown'", "sh", true),
            ("sh -m -c 'a & wait'", "sh", false),
            ("bash -m -c a", "sh", false),
            ("busybox sh -m -c a", "sh", false),
            ("mksh -m -c a", "sh", true),
            ("tcsh -f -c 'sleep 5 & ; wait'", "sh", true),
            ("fish -c 'status job-control full; a'", "sh", true),
            ("parallel -j1 sleep ::: 5", "sh", true),
            ("s6-setsid -b sleep 5", "sh", true),
            ("socat -u EXEC:'sleep 5',setpgid=0 -", "sh", true),
            ("perl -e 'setpgrp(0,0); exec q(x)'", "sh", true),
            ("ruby -e \"spawn('x', pgroup: true)\"", "sh", true),
        ] {
            assert_eq!(certain(check, text, shell), Some(sure), "{text}");
        }
    }

    #[test]
    fn finds_not() {
        for text in [
            "set -e",
            "set -- -m",
            "set +m",
            "bash -c 'sleep 5 & wait'",
            "bash -i -c a",
            "bash x.sh -m",
            "zsh -f -c a",
            "sh -c 'echo set -m'",
            "python -m http.server",
            "ruby -e \"spawn('x', pgroup: nil)\"",
            "s6-setsid x",
        ] {
            assert_eq!(count(check, text), 0, "{text}");
        }
    }
}

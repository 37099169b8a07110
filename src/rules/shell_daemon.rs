//! Rule `shell-daemon`: a program, or a flag of one, that daemonises.

use super::shell::{self, Sign, flag, is_hole, is_option, named, options, sure};
use super::shell_remote::VALUED as SSH_VALUED;
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way};
use crate::facts::{Command, Facts, HOLE, Word};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    id: "shell-daemon",
    level: Level::Deny,
    summary: "a shell text or argv runs a program that daemonises, by itself or by a flag",
    help: "Keep it in the foreground with its own flag, start it with `spawn_owned` or `owned run -- CMD…`, or write why it must outlive its parent.",
    doc: DOC,
    words: Words {
        both: &[&["start-stop-daemon"]],
        programs: &[
            "gunicorn", "celery worker|beat|events|multi", "uwsgi", "circusd", "gpg-agent",
            "zdaemon", "zdaemonctl", "forever", "redis-server", "valkey-server", "dbus-daemon",
            "emacs", "pm2", "adb", "sccache", "nginx", "cron", "crond", "twistd", "supervisord",
            "honcho", "dbus-launch", "ssh-agent", "daemonize", "daemon", "sudo -b|--background",
            "start-stop-daemon", "dtach", "abduco", "openvt", "strace -D|daemonize", "ssh",
            "autossh", "expect", "ruby daemon",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

Programs that make daemons of others: `daemonize`, `daemon`, `start-stop-daemon -b`, `sudo -b`, `dtach -n`,
`openvt`. Servers that go to the background: by a flag (`gunicorn -D`, `celery worker -D`, `celery multi
start`, `uwsgi --daemonize`, `redis-server --daemonize yes`, `circusd --daemon`, `zdaemon start`,
`dbus-daemon --fork`, `gpg-agent --daemon`, `ssh -f`, `ssh -o ControlPersist=…`, `emacs --daemon`,
`adb start-server`, `sccache --start-server`, `pm2 start`) or unless told not to (`nginx`, `cron`,
`twistd`, `supervisord`, `ssh-agent`, `dbus-launch`). `honcho start` and `supervisord -n` stay in the
foreground and put each of their programs in a session or group of its own.

## Why it matters

A daemon has a session of its own and is a child of init: nothing that cleans up by group, terminal or
parent finds it. Of 37 forms that were run, 33 outlived a SIGKILL to the spawner's group and 35 a hangup.

## Bad

```python
import subprocess

subprocess.run(["gunicorn", "--daemon", "app:app"])  #~ shell-daemon
```

```rust
use std::process::Command;

fn main() {
    Command::new("redis-server").args(["--daemonize", "yes"]).status().unwrap(); //~ shell-daemon
}
```

## Good

```python
import subprocess

subprocess.Popen(["gunicorn", "app:app"])
```

```rust
use std::process::Command;

fn main() {
    Command::new("redis-server").args(["--daemonize", "no"]).spawn().unwrap();
}
```

## When it may stay

When the program installs or starts a service of the machine, and something else stops it. Say what.
"#;

const DAEMON: Way = Way::Daemonised;

fn check(facts: &Facts) -> Vec<Hit> {
    shell::hits(facts, find)
}

fn find(command: &Command) -> Vec<Sign> {
    if command.only_asks() {
        return Vec::new();
    }
    by_flag(command)
        .or_else(|| by_default(command))
        .unwrap_or_else(|| launcher(command))
}

/// Servers that go to the background by a flag or verb; none for other programs.
fn by_flag(command: &Command) -> Option<Vec<Sign>> {
    let args = command.args();
    let long = |names: &[&str]| command.any(names).map(|word| word.span);
    let either = |letters: &str, names: &[&str]| {
        args.iter()
            .find(|word| exactly(word, letters) || is_option(word, "", names))
            .map(|word| word.span)
    };
    let evidence = match command.program.as_str() {
        "gunicorn" => either("D", &["--daemon"]),
        "celery" => celery(command),
        "uwsgi" => either("d", &["--daemonize", "--daemonize2"]),
        "circusd" | "gpg-agent" => long(&["--daemon"]),
        "zdaemon" | "zdaemonctl" | "forever" => verb(command, &["start", "restart"]),
        "redis-server" | "valkey-server" => redis(args),
        "dbus-daemon" => long(&["--fork"]),
        "emacs" => long(&["--daemon", "--bg-daemon"]),
        "pm2" if long(&["--no-daemon", "--attach"]).is_none() => {
            verb(command, &["start", "restart", "reload", "resurrect"])
        }
        "adb" => verb(command, &["start-server"]),
        "sccache" => long(&["--start-server"]),
        _ => return None,
    };
    Some(sure(evidence, DAEMON))
}

/// A word of dash and this one letter.
fn exactly(word: &Word, letters: &str) -> bool {
    let letter = word.text.strip_prefix('-').unwrap_or_default();
    letter.chars().count() == 1 && letters.contains(letter)
}

/// The first argument that is one of `names`.
fn verb(command: &Command, names: &[&str]) -> Option<Span> {
    command
        .args()
        .iter()
        .find(|word| names.contains(&word.text.as_str()))
        .map(|word| word.span)
}

fn celery(command: &Command) -> Option<Span> {
    let args = command.args();
    let at = args
        .iter()
        .position(|word| matches!(word.text.as_str(), "worker" | "beat" | "events" | "multi"))?;
    let behind = args.get(at + 1..)?;
    if args.get(at)?.text == "multi" {
        let first = behind
            .first()
            .filter(|word| matches!(word.text.as_str(), "start" | "restart"));
        return first.map(|word| word.span);
    }
    behind
        .iter()
        .find(|word| exactly(word, "D") || word.text == "--detach")
        .map(|word| word.span)
}

fn redis(args: &[Word]) -> Option<Span> {
    let at = args.iter().position(|word| word.text == "--daemonize")?;
    let (flag, value) = (args.get(at)?, args.get(at + 1)?);
    (value.text == "yes").then(|| flag.span.to(value.span))
}

/// Programs that go to the background unless they are told not to; none for other programs.
fn by_default(command: &Command) -> Option<Vec<Sign>> {
    let args = command.args();
    let head = Some(command.head());
    let has =
        |letters: &str, names: &[&str]| args.iter().any(|word| is_option(word, letters, names));
    let unless = |stays: bool, way: Way| if stays { Vec::new() } else { sure(head, way) };
    Some(match command.program.as_str() {
        "nginx" => nginx(command),
        "cron" | "crond" => unless(has("fn", &["--foreground"]), DAEMON),
        "twistd" => twistd(command),
        "supervisord" => {
            let front = has("n", &["--nodaemon"]);
            unless(has("v", &[]), if front { Way::NewGroup } else { DAEMON })
        }
        "honcho" => sure(verb(command, &["start"]), Way::NewSession),
        "dbus-launch" => sure(head, DAEMON),
        "ssh-agent" => {
            let (options, operand) = options(args, "aEtPO");
            let stays = options.iter().any(|word| is_option(word, "kdD", &[]));
            unless(
                stays,
                if operand < args.len() {
                    Way::NewSession
                } else {
                    DAEMON
                },
            )
        }
        _ => return None,
    })
}

fn nginx(command: &Command) -> Vec<Sign> {
    let args = command.args();
    if args
        .iter()
        .any(|word| exactly(word, "tTvVsh?") || word.text == "-tq")
    {
        return Vec::new();
    }
    let off = |word: &Word| {
        word.text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("daemon off")
    };
    if args.iter().any(off) {
        return Vec::new();
    }
    // A directive, or the whole list of options, may say so at run time.
    let unknown = args
        .iter()
        .any(|word| is_hole(word) || (word.text.contains(HOLE) && word.text.contains("daemon")));
    vec![(
        command.head(),
        if unknown {
            Certainty::May
        } else {
            Certainty::Sure
        },
        DAEMON,
    )]
}

fn twistd(command: &Command) -> Vec<Sign> {
    let (options, operand) = command.options("lpgudrsyf");
    let front = |word: &&Word| is_option(word, "n", &["--nodaemon", "--help-reactors"]);
    if options.iter().any(front) {
        return Vec::new();
    }
    let unknown = command.args().get(operand).is_some_and(is_hole);
    vec![(
        command.head(),
        if unknown {
            Certainty::May
        } else {
            Certainty::Sure
        },
        DAEMON,
    )]
}

/// Programs that put others in the background.
fn launcher(command: &Command) -> Vec<Sign> {
    let args = command.args();
    let head = Some(command.head());
    let own = |valued: &str, letters: &str, names: &[&str]| {
        let (options, _) = options(args, valued);
        options
            .into_iter()
            .find(|word| flag(word, valued, letters, names))
            .map(|word| word.span)
    };
    match command.program.as_str() {
        "daemonize" if !args.is_empty() => sure(head, DAEMON),
        "daemon" if !args.is_empty() => {
            let asks = [
                "--foreground",
                "--running",
                "--stop",
                "--restart",
                "--list",
                "--version",
            ];
            let stays = own("CnXPFuRDmeaLMlboOE", "f", &asks).is_some();
            sure(head.filter(|_| !stays), DAEMON)
        }
        "sudo" => sure(own("ugpCrthDRTU", "b", &["--background"]), Way::NewGroup),
        "start-stop-daemon" => {
            let other = args
                .iter()
                .any(|word| is_option(word, "KTH", &["--stop", "--status", "--help"]));
            sure(own_until_end(args).filter(|_| !other), DAEMON)
        }
        "dtach" | "abduco" => {
            let first = args.first().filter(|word| exactly(word, "nN"));
            let way = if first.is_some_and(|word| word.text == "-N") {
                Way::NewSession
            } else {
                DAEMON
            };
            sure(first.map(|word| word.span), way)
        }
        "openvt" => sure(head, DAEMON),
        "strace" => strace(args),
        "ssh" | "autossh" => ssh(args),
        "expect" => {
            let code = command
                .code
                .as_ref()
                .filter(|code| named(code, "fork").is_some());
            sure(code.and_then(|code| named(code, "disconnect")), DAEMON)
        }
        "ruby" => sure(
            command
                .code
                .as_ref()
                .and_then(|code| named(code, "Process.daemon")),
            DAEMON,
        ),
        _ => Vec::new(),
    }
}

/// `-b` of `start-stop-daemon`, which may stand behind other options and their values.
fn own_until_end(args: &[Word]) -> Option<Span> {
    let mut own = args.iter().take_while(|word| word.text != "--");
    own.find(|word| is_option(word, "b", &["--background"]))
        .map(|word| word.span)
}

/// The tracer leaves, and ends with what it traces.
fn strace(args: &[Word]) -> Vec<Sign> {
    let (found, _) = options(args, "abeEIoOpPsSuX");
    let way = |word: &&Word| match word.text.as_str() {
        "-DD" | "--daemonize=pgroup" | "--daemonize=pgrp" => {
            Some((word.span, Certainty::May, Way::NewGroup))
        }
        "-DDD" | "--daemonize=session" => Some((word.span, Certainty::May, Way::NewSession)),
        _ => None,
    };
    found.iter().filter_map(way).collect()
}

/// `ssh -f`, `ssh -o ControlPersist=…`: the client itself goes to the background.
fn ssh(args: &[Word]) -> Vec<Sign> {
    let (mut found, host) = options(args, SSH_VALUED);
    found.extend(options(args.get(host + 1..).unwrap_or_default(), SSH_VALUED).0);
    let forks = found.iter().find(|word| flag(word, SSH_VALUED, "f", &[]));
    let persists = args.iter().find(|word| {
        let option = word
            .text
            .trim_start_matches("-o")
            .trim_start()
            .to_ascii_lowercase();
        let value = option
            .strip_prefix("controlpersist")
            .map(|rest| rest.trim_start_matches(['=', ' ']));
        value.is_some_and(|value| !value.is_empty() && value != "no")
    });
    sure(
        forks
            .map(|word| word.span)
            .or_else(|| persists.map(|word| word.span)),
        DAEMON,
    )
}

#[cfg(test)]
mod tests;

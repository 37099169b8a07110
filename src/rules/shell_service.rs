//! Rule `shell-service`: work that is handed to a server of another tree of processes.

use super::names::last;
use super::shell::{self, Sign, is_hole, is_option, options, sure};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way};
use crate::facts::{Call, Command, Facts, Truth, Word};

pub(super) const RULE: Rule = Rule {
    id: "shell-service",
    level: Level::Deny,
    summary: "a shell text or argv hands work to another service: tmux, screen, at, cron, systemd, containers",
    help: "Run it in the foreground (`docker run` without `-d`), start it with `spawn_owned` or `owned start`, or write what ends it.",
    doc: DOC,
    words: Words {
        both: &[&["systemd-run"]],
        python: &[
            &["<detach>", "containers|docker|podman", ".run"],
        ],
        programs: &[
            "tmux", "byobu", "byobu-tmux", "screen", "byobu-screen", "at", "batch", "crontab",
            "systemd-run", "systemctl", "service start", "rc-service start", "invoke-rc.d start", "docker -d|--detach", "podman -d|--detach", "nerdctl -d|--detach",
            "docker-compose -d|--detach", "podman-compose -d|--detach", "kubectl run", "oc run",
            "launchctl",
        ],
        ..Words::NONE
    },
    check,
};

const DOC: &str = r#"## What it finds

Commands that ask a server to run something: `tmux new-session` (attached too), `new-window`,
`split-window`, `send-keys` and kin, `screen -dm`, `byobu`, `at`, `batch`, `crontab FILE`,
`systemd-run`, `systemctl start`, `service X start`, `docker|podman|nerdctl run -d`,
`docker compose up -d`, `docker exec -d`, `kubectl run`, `launchctl submit|bootstrap|load|start`;
and `containers.run(…, detach=True)` of the `docker` and `podman` packages.
What only asks or ends (`tmux ls`, `at -l`, `systemctl stop`) is not found.

## Why it matters

The work is not even a descendant of its spawner if the server runs already: no group, no session, no
walk over children finds it. All 16 forms that were run outlived a SIGKILL to the spawner's group and a
hangup; a subreaper missed what `at` started. Nothing local contains these.

## Bad

```python
import subprocess

subprocess.run(["tmux", "new-session", "-d", "sleep 60"])  #~ shell-service
```

```rust
use std::process::Command;

fn main() {
    Command::new("docker").args(["run", "-d", "image"]).status().unwrap(); //~ shell-service
}
```

## Good

```python
import subprocess

subprocess.run(["tmux", "kill-session", "-t", "work"])
```

```rust
use std::process::Command;

fn main() {
    Command::new("docker").args(["run", "--rm", "image"]).status().unwrap();
}
```

## When it may stay

When handing it over is the point (a deployment, a scheduler), and something else ends it. Say what.
"#;

fn check(facts: &Facts) -> Vec<Hit> {
    let calls = facts.calls.iter().filter_map(by_client);
    shell::hits(facts, find).into_iter().chain(calls).collect()
}

/// `containers.run(…, detach=True)` of a client for docker or podman.
fn by_client(call: &Call) -> Option<Hit> {
    let is_client = |path: &String| {
        let client = path.starts_with("docker.") || path.starts_with("podman.");
        path.ends_with("containers.run") || (client && last(path) == "run")
    };
    if !call.paths.iter().any(is_client) {
        return None;
    }
    let hit = Hit::new(call.act, call.evidence, Way::OtherService);
    match call.named("detach")?.value.truth() {
        Truth::Yes => Some(hit),
        Truth::Maybe => Some(hit.with(Certainty::May)),
        Truth::No => None,
    }
}

fn find(command: &Command) -> Vec<Sign> {
    let args = command.args();
    let head = command.head();
    let at = |word: Option<&Word>| sure(word.map(|word| word.span), Way::OtherService);
    match command.program.as_str() {
        // Without a command, and with nothing but `-V` or `-h`, tmux runs none.
        "tmux" | "byobu" | "byobu-tmux" => tmux(command),
        _ if command.only_asks() => Vec::new(),
        "screen" | "byobu-screen" => at(screen(args)),
        "at" => sure(
            (!args.is_empty() && !asks(args, "ldrcV", "fqt")).then_some(head),
            Way::OtherService,
        ),
        "batch" => sure(
            Some(head).filter(|_| !asks(args, "V", "fq")),
            Way::OtherService,
        ),
        "crontab" => at(crontab(args)),
        "systemd-run" => {
            let scope = options(args, "pEuHM")
                .0
                .iter()
                .any(|word| word.text == "--scope");
            vec![(
                head,
                if scope {
                    Certainty::May
                } else {
                    Certainty::Sure
                },
                Way::OtherService,
            )]
        }
        "systemctl" => at(systemctl(args)),
        "service" | "rc-service" | "invoke-rc.d" => at(args
            .iter()
            .skip(1)
            .find(|word| matches!(word.text.as_str(), "start" | "restart"))),
        "docker" | "podman" | "nerdctl" => at(container(args)),
        "docker-compose" | "podman-compose" => at(compose(args)),
        "kubectl" | "oc" => at(first_operand(args, "ns")
            .filter(|_| !dry(args))
            .filter(|word| word.text == "run")),
        "launchctl" => at(args.first().filter(|word| {
            matches!(
                word.text.as_str(),
                "submit" | "bootstrap" | "load" | "start" | "kickstart"
            )
        })),
        _ => Vec::new(),
    }
}

/// Whether one of the options has one of the letters.
fn asks(args: &[Word], letters: &str, valued: &str) -> bool {
    options(args, valued)
        .0
        .iter()
        .any(|word| is_option(word, letters, &[]))
}

fn first_operand<'w>(args: &'w [Word], valued: &str) -> Option<&'w Word> {
    args.get(options(args, valued).1)
}

fn dry(args: &[Word]) -> bool {
    args.iter().any(|word| is_option(word, "", &["--dry-run"]))
}

/// Commands of tmux that start something, with their short names; they may be cut short.
const TMUX: &[&str] = &[
    "new-session",
    "new-window",
    "split-window",
    "respawn-pane",
    "respawn-window",
    "send-keys",
    "run-shell",
    "if-shell",
    "pipe-pane",
    "neww",
    "splitw",
    "respawnp",
    "respawnw",
    "pipep",
];

fn tmux(command: &Command) -> Vec<Sign> {
    let args = command.args();
    let (flags, first) = options(args, "cfLST");
    if flags
        .iter()
        .any(|word| is_option(word, "Vh", &["--version", "--help"]))
    {
        return Vec::new();
    }
    let Some(word) = args.get(first) else {
        return vec![(command.head(), Certainty::Sure, Way::OtherService)];
    };
    if is_hole(word) {
        return vec![(command.head(), Certainty::May, Way::OtherService)];
    }
    let starts =
        |word: &&Word| word.text.len() > 2 && TMUX.iter().any(|name| name.starts_with(&word.text));
    // A word that ends in `;` ends a command.
    let begins = |at: usize| {
        at == first
            || args
                .get(at - 1)
                .is_some_and(|before| before.text.ends_with(';'))
    };
    let found = (first..args.len())
        .filter(|at| begins(*at))
        .filter_map(|at| args.get(at))
        .find(starts);
    sure(found.map(|word| word.span), Way::OtherService)
}

/// `-dm`, `-d -m`, `-D -m`, and commands sent to a running screen.
fn screen(args: &[Word]) -> Option<&Word> {
    let (flags, _) = options(args, "SceshpTtX");
    let clusters = || {
        flags
            .iter()
            .filter(|word| !matches!(word.text.as_str(), "-list" | "-wipe"))
    };
    let detached = clusters().any(|word| is_option(word, "dD", &[]));
    let made = clusters().find(|word| is_option(word, "m", &[])).copied();
    let sent = args
        .iter()
        .position(|word| word.text == "-X")
        .and_then(|at| args.get(at + 1));
    let sent = sent.filter(|word| matches!(word.text.as_str(), "stuff" | "screen" | "exec"));
    made.filter(|_| detached).or(sent)
}

/// A file of jobs, or `-`.
fn crontab(args: &[Word]) -> Option<&Word> {
    if asks(args, "lreVT", "u") {
        return None;
    }
    first_operand(args, "u")
}

fn systemctl(args: &[Word]) -> Option<&Word> {
    let verbs = [
        "start",
        "restart",
        "reload-or-restart",
        "try-restart",
        "isolate",
    ];
    let word = first_operand(args, "HMptnos")?;
    let now = matches!(word.text.as_str(), "enable" | "reenable")
        && args.iter().any(|own| own.text == "--now");
    (now || verbs.contains(&word.text.as_str())).then_some(word)
}

/// `run -d`, `exec -d`, `compose up -d`.
fn container(args: &[Word]) -> Option<&Word> {
    let (_, mut at) = docker_options(args, &["--debug", "--tls", "--tlsverify", "--remote"]);
    if args.get(at).is_some_and(|word| word.text == "container") {
        at += 1;
    }
    let behind = args.get(at + 1..)?;
    match args.get(at)?.text.as_str() {
        "run" | "exec" => docker_options(behind, FLAGS).0,
        "compose" => compose(behind),
        _ => None,
    }
}

/// Options of `run` and `exec` that take no value.
const FLAGS: &[&str] = &[
    "--detach",
    "--rm",
    "--init",
    "--privileged",
    "--interactive",
    "--tty",
    "--read-only",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--publish-all",
    "--sig-proxy",
    "--disable-content-trust",
    "--quiet",
    "--replace",
    "--tls-verify",
    "--no-hosts",
    "--http-proxy",
    "--env-host",
    "--rmi",
    "--systemd",
];

/// The option among docker's own that detaches, and the number of its own words.
fn docker_options<'w>(args: &'w [Word], flags: &[&str]) -> (Option<&'w Word>, usize) {
    let (mut found, mut at) = (None, 0);
    while let Some(word) = args.get(at) {
        let Some(letters) = word.text.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            break;
        };
        at += 1;
        if detaches(word) {
            found = Some(word);
        }
        let flag = if letters.starts_with('-') {
            word.text.contains('=') || flags.contains(&word.text.as_str())
        } else {
            letters.chars().all(|letter| "ditqPD".contains(letter)) || letters.contains('=')
        };
        at += usize::from(!flag);
    }
    (found, at)
}

/// `-d`, `-itd`, `--detach`, `--detach=true`.
fn detaches(word: &Word) -> bool {
    let letters = word.text.strip_prefix('-').unwrap_or_default();
    let cluster = !letters.is_empty() && letters.chars().all(|letter| "ditqP".contains(letter));
    matches!(word.text.as_str(), "--detach" | "--detach=true") || (cluster && letters.contains('d'))
}

fn compose(args: &[Word]) -> Option<&Word> {
    let at = args
        .iter()
        .position(|word| matches!(word.text.as_str(), "up" | "run" | "exec"))?;
    args.get(at + 1..)?.iter().find(|word| detaches(word))
}

#[cfg(test)]
mod tests;

//! Rule `daemonize`: daemon libraries, `daemon(3)`, and the fork, setsid, fork of the textbooks.

use super::hooks::Hooks;
use super::names::{certainty_of, is_here};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::{Call, Facts, Truth, Value};
use crate::source::Language;

pub(super) const RULE: Rule = Rule {
    id: "daemonize",
    level: Level::Deny,
    summary: "the program turns itself into a daemon: a library for it, `daemon(3)`, or fork, setsid, fork",
    help: "run in the foreground and let a service manager or `owned start` keep the program; if it must daemonise itself, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

Programs that turn themselves, or a command, into a daemon: `daemon.DaemonContext`, `daemonize`,
`daemonocle`, `pep3143daemon`, `celery.platforms`, `gunicorn.util.daemonize`, `daemonic_popen` of
`plumbum`; in Rust `daemonize`, `daemonize-me`, `daemonizr`, `fork::daemon`, `libc::daemon`,
`nix::unistd::daemon` and `open::that_detached`; and a `setsid` between two forks in one function.

Making such an object changes nothing: it is found where it is opened, by `with`, `.open()`, `.start()`.
`detach_process=False`, `foreground=True` and `fake=True` keep the program where it is.

## Why it matters

A daemon has a session of its own and init as its parent: nothing of its spawner reaches it any more.
Each of these forms was run, and outlived SIGKILL to the spawner's group and the hangup of its terminal.

## Bad

```python
import os
import daemon

with daemon.DaemonContext():  #~ daemonize
    serve()


def detach():
    if os.fork():
        os._exit(0)
    os.setsid()  #~ daemonize
    if os.fork():
        os._exit(0)
```

```rust
fn start() {
    nix::unistd::daemon(true, true).unwrap(); //~ daemonize
}
```

## Good

```python
import daemon
import threading

with daemon.DaemonContext(detach_process=False):
    serve()
threading.Thread(target=serve, daemon=True).start()
```

```rust
fn start() {
    std::process::Command::new("owned").args(["start", "--", "server"]).status().unwrap();
}
```

## When it may stay

In a program whose documented way to run is as a daemon, behind an option that is off by default.
"#,
    words: Words {
        both: &[
            &["setsid", "fork"],
        ],
        python: &[
            &["daemonize", "circus|gunicorn|luigi|Daemonize"],
            &["DaemonContext"],
            &["DaemonRunner"],
            &["daemoniker"],
            &["daemonocle"],
            &["detached", "celery"],
            &["detach_process"],
            &["daemonic_popen"],
        ],
        rust: &[
            &["aemonize|aemonizr"],
            &["daemonix"],
            &["that_detached"],
            &["with_detached"],
            &["checked_daemon"],
            &["daemon_redirect_stdio"],
            &["<daemon>", "libc|nix|fork"],
        ],
        ..Words::NONE
    },
    check,
};

/// Functions of Python that daemonise.
const PYTHON: &[&str] = &[
    "circus.circusd.daemonize",
    "daemon.daemon.detach_process_context",
    "gunicorn.util.daemonize",
    "luigi.process.daemonize",
];

/// What `with` and `.open()` call.
const CONTEXT: &[&str] = &["__enter__", "open"];

/// Objects of Python that daemonise, and by which of their methods: making one changes nothing.
const OBJECTS: &[(&str, &[&str])] = &[
    ("celery.platforms.detached", CONTEXT),
    ("celery.platforms.DaemonContext", CONTEXT),
    ("daemon.DaemonContext", CONTEXT),
    ("daemon.daemon.DaemonContext", CONTEXT),
    ("daemon.runner.DaemonRunner", &["do_action"]),
    ("daemoniker.Daemonizer", CONTEXT),
    ("daemonize.Daemonize", &["start"]),
    ("daemonocle.Daemon", DAEMONOCLE),
    ("daemonocle.core.Daemon", DAEMONOCLE),
    ("pep3143daemon.DaemonContext", CONTEXT),
    ("pep3143daemon.daemon.DaemonContext", CONTEXT),
];

const DAEMONOCLE: &[&str] = &["cli", "do_action", "restart", "start"];

/// The same of Rust.
const RUST: &[&str] = &[
    "daemonize.Daemonize().start",
    "daemonize.Daemonize().execute",
    "daemonize_me.Daemon().start",
    "daemonizr.Daemonizr().spawn",
    "daemonix.Daemonize().start",
    "fork.daemon",
    "fork.checked_daemon",
    "fork.daemon_redirect_stdio",
    "libc.daemon",
    "nix.libc.daemon",
    "nix.unistd.daemon",
    "open.that_detached",
    "open.with_detached",
];

fn check(facts: &Facts) -> Vec<Hit> {
    let hooks = Hooks::of(facts);
    let libraries = facts.calls.iter().enumerate().filter_map(|(index, call)| {
        let certainty = match facts.language {
            Language::Python => {
                let known = call.is_one(PYTHON) || opens(call) || is_popen(call);
                known.then_some(Certainty::Sure)?
            }
            Language::Rust => certainty_of(call, RUST)?,
        };
        (!stays(facts, index)).then_some((call, certainty))
    });
    let dances = leaving::daemons(facts).into_iter().filter_map(|index| {
        let call = facts.calls.get(index)?;
        (!hooks.runs(call.scope)).then_some((call, Certainty::Sure))
    });
    libraries
        .chain(dances)
        .map(|(call, certainty)| {
            Hit::new(call.act, call.evidence, Way::Daemonised)
                .with(certainty)
                .with(leaving::certainty(call))
        })
        .collect()
}

/// plumbum's spawn of a daemon, on whatever machine object.
fn is_popen(call: &Call) -> bool {
    call.name == "daemonic_popen" && !is_here(call)
}

/// Whether a method is called by which an object daemonises.
fn opens(call: &Call) -> bool {
    call.paths.iter().any(|path| {
        path.rsplit_once("().").is_some_and(|(object, method)| {
            let own = OBJECTS.iter().find(|(name, _)| *name == object);
            own.is_some_and(|(_, methods)| methods.contains(&method))
        })
    })
}

/// Whether options keep the program in front: those of the call at `index`, or, of a method, those
/// with which its object was made.
fn stays(facts: &Facts, index: usize) -> bool {
    let Some(call) = facts.calls.get(index) else {
        return false;
    };
    if call.made_by.is_empty() {
        return in_front(facts, index);
    }
    let makers = facts.makers_of(call).map(|(place, _)| place);
    let mut makers = makers.filter(|place| *place != index).peekable();
    makers.peek().is_some() && makers.all(|place| in_front(facts, place))
}

/// Whether an option of the call at `index` says so.
fn in_front(facts: &Facts, index: usize) -> bool {
    let mut options = facts.options_of(index);
    options.any(|setting| match setting.name.as_str() {
        "detach_process" => setting.value == Value::Bool(false),
        "foreground" | "fake" => setting.value.truth() == Truth::Yes,
        _ => false,
    })
}

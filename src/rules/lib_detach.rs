//! Rule `lib-detach`: library calls that detach with no option that says so, and declared ones.

use super::names::{holder, is_of, last};
use super::words::Words;
use super::{Certainty, Hit, Level, Rule, Way, leaving};
use crate::facts::{Arg, Call, Command, Facts, HOLE, Setting, Truth, Value, Word};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    id: "lib-detach",
    level: Level::Deny,
    summary: "a library call that starts its process detached, though no option says so",
    help: "end the process yourself on every way out, or start the program with `spawn_owned` (any program: `owned run -- CMD`); if it must outlive its spawner, say why in a `detached-spawn:` comment",
    doc: r#"## What it finds

Calls of libraries that start their process in a session or group of its own without being asked:
kernels of `jupyter_client`, executors of `mirakuru`, `honcho`, `circus`, `asyncssh` with a
`proxy_command`, `AutoRestartTrick` of `watchdog`, `xprocess.ensure`, the workers of `rq`, `.nohup()` of
`plumbum`, sessions and windows of `libtmux`. `debugpy.listen` leaves too, but ends with its client: it may
detach.

`spawn_detached(command, "reason")` of `spawn_owned` and `owned … --persist REASON` are found as well:
they carry their justification as an argument, which must be a literal and hold the rules for reasons.

## Why it matters

The call site shows nothing, and the library's cleanup does not run when its process is killed. Each of
these was run, and its child outlived SIGKILL to the spawner's group.

## Bad

```python
import mirakuru
import spawn_owned
from jupyter_client.launcher import launch_kernel

kernel = launch_kernel(["python", "-m", "ipykernel"])  #~ lib-detach
server = mirakuru.HTTPExecutor(["server"], url="http://localhost")  #~ lib-detach
spawn_owned.spawn_detached(["updater"], reason)  #~ lib-detach
```

```rust
fn start(why: &str) -> std::io::Result<()> {
    spawn_owned::spawn_detached(spawn_owned::Command::new("updater"), why).unwrap(); //~ lib-detach
    Ok(())
}
```

## Good

```python
import subprocess

subprocess.run(["owned", "run", "--", "server"])
```

```rust
fn start() -> std::io::Result<()> {
    spawn_owned::spawn_owned(spawn_owned::Command::new("server"), "the model of this session").unwrap();
    Ok(())
}
```

## When it may stay

When the library's process ends by itself, or is ended by a supervisor that the reason names; and with
`spawn_detached`, whose reason is the justification.
"#,
    words: Words {
        both: &[
            &["spawn_detached"],
            &["jupyter_client", "launch_kernel|start_kernel|start_new_kernel|start_new_async_kernel|run_kernel"],
            &["mirakuru"],
            &["honcho"],
            &["circus"],
            &["asyncssh"],
            &["AutoRestartTrick"],
            &["@rq|<rq::>|<use rq>|'rq'", "Worker|fork_work_horse"],
            &["plumbum", "nohup|NOHUP"],
            &["libtmux"],
            &["new_session", "session_name|window_command"],
            &["new-session"],
            &["new-window"],
            &["split-window"],
            &["respawn-pane"],
            &["xprocess"],
            &["debugpy", ".listen"],
        ],
        programs: &[
            "owned --persist",
        ],
        ..Words::NONE
    },
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let calls = facts
        .calls
        .iter()
        .filter_map(|call| declared(call).or_else(|| library(call)));
    let options = facts
        .settings
        .iter()
        .filter_map(|setting| proxy(facts, setting));
    let commands = facts.started().filter_map(persist);
    calls.chain(options).chain(commands).collect()
}

/// A library call that detaches.
fn library(call: &Call) -> Option<Hit> {
    let (way, certainty) = call
        .paths
        .iter()
        .filter(|path| !told_to_stay(path, call))
        .find_map(|path| known(path))
        .or_else(|| by_shape(call))?;
    let hit = Hit::new(call.act, call.evidence, way);
    Some(hit.with(certainty).with(leaving::certainty(call)))
}

/// honcho's `Popen` makes a session unless it is told not to; the other libraries ask nobody.
fn told_to_stay(path: &str, call: &Call) -> bool {
    let option = call.named("start_new_session").map(|arg| arg.value.truth());
    path == "honcho.process.Popen" && option == Some(Truth::No)
}

/// What is known of the function at `path`.
fn known(path: &str) -> Option<(Way, Certainty)> {
    let name = last(path);
    let root = path.split('.').next().unwrap_or_default();
    let way = match root {
        "jupyter_client" => match name {
            "launch_kernel"
            | "start_kernel"
            | "start_new_kernel"
            | "start_new_async_kernel"
            | "run_kernel" => Way::NewSession,
            _ => return None,
        },
        "mirakuru" if name.ends_with("Executor") => Way::NewSession,
        "honcho" if matches!(path, "honcho.process.Popen" | "honcho.manager.Manager") => {
            Way::NewSession
        }
        "circus" => match path {
            "circus.process.Process"
            | "circus.get_arbiter"
            | "circus.arbiter.Arbiter"
            | "circus.watcher.Watcher" => Way::NewSession,
            _ => return None,
        },
        "watchdog" if name == "AutoRestartTrick" => Way::NewSession,
        "rq" if name == "fork_work_horse"
            || path.ends_with("Worker().work") && !path.contains("SimpleWorker") =>
        {
            Way::NewGroup
        }
        // `plumbum.cmd.nohup` is the program of that name.
        "plumbum" if matches!(name, "nohup" | "NOHUP") && path != "plumbum.cmd.nohup" => {
            Way::Daemonised
        }
        "libtmux" => match name {
            "new_session" | "new_window" | "split_window" => Way::OtherService,
            "split" if is_of_tmux(path) => Way::OtherService,
            _ => return None,
        },
        "debugpy" if name == "listen" => return Some((Way::NewSession, Certainty::May)),
        _ => return None,
    };
    Some((way, Certainty::Sure))
}

/// Whether a path's last name is asked of an object of libtmux: the others that it gives are texts, which have
/// a `split` of their own.
fn is_of_tmux(path: &str) -> bool {
    let object = path.rsplit('.').nth(1).unwrap_or_default();
    let object = object.trim_end_matches("[]");
    let kind = object.rsplit('_').next().unwrap_or_default();
    object.ends_with("()") || matches!(kind.trim_end_matches('s'), "pane" | "window" | "session")
}

/// What is known by the shape of a call alone: the object comes from a fixture or a client.
fn by_shape(call: &Call) -> Option<(Way, Certainty)> {
    let given = |name: &str| call.named(name).is_some();
    let unknown = call.paths.iter().any(|path| path.starts_with("?."));
    let way = match call.name.as_str() {
        "new_session" if unknown && (given("session_name") || given("window_command")) => {
            Way::OtherService
        }
        // A server, session or window of libtmux that is told so in tmux's own words.
        "cmd" if is_tmux(call) => Way::OtherService,
        "ensure" if unknown && is_starter(call) => Way::NewGroup,
        _ => return None,
    };
    Some((way, Certainty::Sure))
}

/// Whether the first argument is a command of tmux that starts a process.
fn is_tmux(call: &Call) -> bool {
    let starts = ["new-session", "new-window", "split-window", "respawn-pane"];
    match call.positional().next().map(|arg| &arg.value) {
        Some(Value::Text(text)) => starts.contains(&text.text.as_str()),
        _ => false,
    }
}

/// `xprocess.ensure("name", Starter)`: a text, then a class of this file.
fn is_starter(call: &Call) -> bool {
    let mut args = call.positional().map(|arg| &arg.value);
    let text = matches!(args.next(), Some(Value::Text(_)));
    let starter = match args.next() {
        Some(Value::Path(paths)) => paths.iter().any(|path| path.starts_with("<here>")),
        _ => false,
    };
    text && starter
}

/// `proxy_command=` of asyncssh.
fn proxy(facts: &Facts, setting: &Setting) -> Option<Hit> {
    let of_asyncssh = holder(facts, setting).is_some_and(|call| is_of(call, &["asyncssh."]));
    if setting.name != "proxy_command" || !of_asyncssh {
        return None;
    }
    let hit = Hit::new(setting.act, setting.span, Way::NewSession);
    match setting.value.truth() {
        Truth::Yes => Some(hit),
        Truth::Maybe => Some(hit.with(Certainty::May)),
        Truth::No => None,
    }
}

/// `spawn_detached` of the supervisor crate, or of its Python package, with its reason.
fn declared(call: &Call) -> Option<Hit> {
    let is_declared =
        |path: &String| path.starts_with("spawn_owned.") && last(path) == "spawn_detached";
    if !call.paths.iter().any(is_declared) {
        return None;
    }
    let arg = call.arg(1, "reason");
    let mut hit = Hit::new(call.act, call.evidence, Way::NewSession).with(leaving::certainty(call));
    hit.reason = Some(arg.map_or_else(|| (String::new(), call.evidence), reason));
    Some(hit)
}

/// The reason that an argument gives: empty where it is no literal.
fn reason(arg: &Arg) -> (String, Span) {
    let text = match &arg.value {
        Value::Text(text) if !text.text.contains(HOLE) => text.text.clone(),
        _ => String::new(),
    };
    (text, arg.span)
}

/// `owned … --persist REASON -- CMD`, with its reason.
fn persist(command: &Command) -> Option<Hit> {
    if command.program != "owned" {
        return None;
    }
    let own: Vec<&Word> = command
        .words
        .iter()
        .take_while(|word| word.text != "--")
        .collect();
    let at = own
        .iter()
        .position(|word| word.text.split('=').next() == Some("--persist"))?;
    let option = own.get(at)?;
    let (text, span) = match option.text.split_once('=') {
        Some((_, text)) => (text.to_owned(), option.span),
        None => own
            .get(at + 1)
            .map_or((String::new(), option.span), |word| {
                (word.text.clone(), word.span)
            }),
    };
    let text = if text.contains(HOLE) {
        String::new()
    } else {
        text
    };
    let mut hit = Hit::new(command.act, option.span, Way::NewSession);
    hit.reason = Some((text, span));
    Some(hit)
}

//! The calls that start a program, and where each takes its argv or its shell text.

use super::argv::{Builder, ends_with_path, words};
use super::{File, gather_inner};
use crate::facts::shell::{self, Place};
use crate::facts::tree::Form;
use crate::facts::{Arg, Call, Command, Facts, HOLE, Holder, Text, Truth, Value, Word};
use crate::source::{Language, Source, Span};

/// How a call takes its command.
#[derive(Clone, Copy)]
enum How {
    /// As `subprocess.Popen`: a list, or a text for a shell if `shell=True`.
    Popen,
    /// Shell text at a position, or by keyword.
    Shell(usize, &'static str),
    /// A list or a text that is split into words without a shell.
    Words(usize, &'static str),
    /// Each argument from a position on is a word.
    Each(usize),
    /// The program at a position, its argv (with its own name first) as a list behind it.
    Exec(usize),
    /// The program at a position, its argv (with its own name first) behind it.
    ExecEach(usize),
    /// A program, then a list of its arguments.
    ProgramAndList(usize),
    /// The macro's own tokens are shell text.
    Tokens,
    /// The last part of the path is the program.
    NamedProgram,
}

/// Callables by the end of their path. Sources: the library reference, each package's own pages.
const SPAWNERS: &[(&[&str], How)] = &[
    (
        &[
            "subprocess.Popen",
            "subprocess.run",
            "subprocess.call",
            "subprocess.check_call",
            "subprocess.check_output",
            "psutil.Popen",
            "subprocess32.Popen",
            "trio.run_process",
            "trio.lowlevel.open_process",
            "anyio.open_process",
            "anyio.run_process",
            "subprocess_tee.run",
            "popen_spawn.PopenSpawn",
        ],
        How::Popen,
    ),
    (
        &[
            "os.system",
            "os.popen",
            "posix.system",
            "subprocess.getoutput",
            "subprocess.getstatusoutput",
            "commands.getoutput",
            "commands.getstatusoutput",
            "asyncio.create_subprocess_shell",
            "asyncio.subprocess.create_subprocess_shell",
            "invoke.run",
            "invoke.sudo",
            "sarge.run",
            "sarge.capture_stdout",
            "delegator.run",
            "executor.execute",
            "honcho.process.Popen",
            "Exec.shell",
            "?.exec_shell",
            "fabric.Connection().local",
            "fabric.Connection().run",
            "invoke.Context().run",
            "invoke.context.Context().run",
            "invoke.Context().sudo",
            "fabric.api.local",
            "fabric.api.run",
        ],
        How::Shell(0, "cmd"),
    ),
    (
        &["honcho.manager.Manager().add_process"],
        How::Shell(1, "cmd"),
    ),
    (
        &[
            "pexpect.run",
            "pexpect.runu",
            "easyprocess.EasyProcess",
            "pty.spawn",
            "ptyprocess.PtyProcess.spawn",
            "ptyprocess.PtyProcessUnicode.spawn",
            "jupyter_client.launcher.launch_kernel",
            "mirakuru.SimpleExecutor",
        ],
        How::Words(0, "command"),
    ),
    (
        &["rexpect.spawn", "expectrl.spawn"],
        How::Words(0, "command"),
    ),
    (
        &[
            "pexpect.spawn",
            "pexpect.spawnu",
            "pexpect.pty_spawn.spawn",
            "duct.cmd",
            "cmd.Command",
        ],
        How::ProgramAndList(0),
    ),
    (
        &[
            "asyncio.create_subprocess_exec",
            "asyncio.subprocess.create_subprocess_exec",
            "duct.cmd!",
        ],
        How::Each(0),
    ),
    (
        &[
            "os.execv",
            "os.execve",
            "os.execvp",
            "os.execvpe",
            "os.posix_spawn",
            "os.posix_spawnp",
        ],
        How::Exec(0),
    ),
    (
        &["os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe"],
        How::Exec(1),
    ),
    (
        &["os.execl", "os.execle", "os.execlp", "os.execlpe"],
        How::ExecEach(0),
    ),
    (
        &["os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe"],
        How::ExecEach(1),
    ),
    (
        &[
            "cmd_lib.run_cmd!",
            "cmd_lib.run_fun!",
            "cmd_lib.spawn!",
            "cmd_lib.spawn_with_output!",
            "run_cmd!",
            "run_fun!",
        ],
        How::Tokens,
    ),
    (&["xshell.cmd!"], How::Words(1, "")),
];

/// Methods by name, whatever they are called on: nothing else is called so.
const METHODS: &[(&str, How)] = &[
    ("create_subprocess_exec", How::Each(0)),
    ("create_subprocess_shell", How::Shell(0, "cmd")),
    ("subprocess_exec", How::Each(1)),
    ("subprocess_shell", How::Shell(1, "cmd")),
];

/// Fills `facts.commands` from its calls, and from the commands that were put together in steps.
pub(super) fn commands(file: &File<'_>, facts: &mut Facts, builders: Vec<Builder>) {
    let mut found = Vec::new();
    for (index, call) in facts.calls.iter().enumerate() {
        if let Some(how) = how(call) {
            found.extend(command(file, facts, index, call, how));
        }
    }
    for builder in builders {
        let place = Place {
            act: builder.act,
            scope: builder.scope,
        };
        found.extend(shell::argv(&builder.words, place));
    }
    found.sort_by_key(|command: &Command| command.words.first().map(|word| word.span));
    facts.commands = found;
}

fn how(call: &Call) -> Option<How> {
    for path in &call.paths {
        let bare = path.strip_prefix("gevent.").unwrap_or(path);
        let known = SPAWNERS.iter().find(|(names, _)| {
            names
                .iter()
                .any(|name| bare == *name || rust_end(path, name))
        });
        if let Some((_, how)) = known {
            return Some(*how);
        }
        let named = path
            .strip_prefix("sh.")
            .or_else(|| path.strip_prefix("plumbum.cmd."));
        if named.is_some_and(|program| !program.contains('.') && !program.is_empty()) {
            return Some(How::NamedProgram);
        }
    }
    METHODS
        .iter()
        .find(|(name, _)| *name == call.name)
        .map(|(_, how)| *how)
}

/// Rust types are known by their own name under any module: `Exec::shell`.
fn rust_end(path: &str, name: &str) -> bool {
    name.starts_with(char::is_uppercase) && ends_with_path(path, name)
}

fn command(file: &File<'_>, facts: &Facts, index: usize, call: &Call, how: How) -> Vec<Command> {
    let place = Place {
        act: call.act,
        scope: call.scope,
    };
    let at = |position, name: &str| call.arg(position, name).map(|arg| (&arg.value, arg.span));
    match how {
        How::Popen => popen(facts, index, call, place),
        How::Shell(position, name) => {
            match at(position, name).or_else(|| at(position, "command")) {
                Some((value, _)) => texts(value)
                    .into_iter()
                    .flat_map(|text| shell::read(text, "sh", place))
                    .collect(),
                None => Vec::new(),
            }
        }
        How::Words(position, name) => match at(position, name) {
            Some((value, span)) => split_or_list(value, span, place),
            None => Vec::new(),
        },
        How::ProgramAndList(position) => {
            match (at(position, "command"), at(position + 1, "args")) {
                (Some((program, span)), Some((Value::List(_), _)))
                | (Some((program, span)), None) => {
                    let rest = at(position + 1, "args")
                        .map(|(list, span)| words(list, span))
                        .unwrap_or_default();
                    if rest.is_empty() {
                        return split_or_list(program, span, place);
                    }
                    shell::argv(
                        &words(program, span)
                            .into_iter()
                            .chain(rest)
                            .collect::<Vec<_>>(),
                        place,
                    )
                }
                _ => Vec::new(),
            }
        }
        How::Each(from) => shell::argv(&each(call, from), place),
        How::Exec(position) => {
            let program = at(position, "path")
                .map(|(value, span)| words(value, span))
                .unwrap_or_default();
            let list = at(position + 1, "argv").or_else(|| at(position + 1, "args"));
            let rest = list
                .map(|(value, span)| words(value, span))
                .unwrap_or_default();
            shell::argv(
                &program
                    .into_iter()
                    .chain(rest.into_iter().skip(1))
                    .collect::<Vec<_>>(),
                place,
            )
        }
        How::ExecEach(position) => {
            let all = each(call, position);
            let program = all.iter().take(1);
            shell::argv(
                &program
                    .chain(all.iter().skip(2))
                    .cloned()
                    .collect::<Vec<_>>(),
                place,
            )
        }
        How::Tokens => match call.form {
            Form::Macro { tokens } => {
                let text = file.source.slice(tokens).to_owned();
                shell::read(
                    &Text {
                        text,
                        parts: vec![(0, tokens)],
                    },
                    "sh",
                    place,
                )
            }
            _ => Vec::new(),
        },
        How::NamedProgram => {
            let program = Word {
                text: call.name.replace('_', "-"),
                span: name_span(file, call),
                parts: Vec::new(),
            };
            shell::argv(
                &std::iter::once(program)
                    .chain(each(call, 0))
                    .collect::<Vec<_>>(),
                place,
            )
        }
    }
}

/// The last name of what is called, before its bracket.
fn name_span(file: &File<'_>, call: &Call) -> Span {
    let text = file.source.slice(call.evidence);
    let path = text.split('(').next().unwrap_or(text).trim_end();
    let start = call.evidence.start as usize + path.rfind('.').map_or(0, |dot| dot + 1);
    Span::new(start, call.evidence.start as usize + path.len())
}

fn each(call: &Call, from: usize) -> Vec<Word> {
    let plain = call.args.iter().filter(|arg| arg.name.is_none());
    plain
        .skip(from)
        .flat_map(|arg: &Arg| words(&arg.value, arg.span))
        .collect()
}

fn texts(value: &Value) -> Vec<&Text> {
    let text = |value| match value {
        &Value::Text(ref text) => Some(text),
        _ => None,
    };
    value.each().into_iter().filter_map(text).collect()
}

fn popen(facts: &Facts, index: usize, call: &Call, place: Place) -> Vec<Command> {
    let setting = |name: &str| {
        let own = |holder: &Holder| matches!(holder, Holder::Call(at) if *at == index);
        facts
            .settings
            .iter()
            .find(|setting| setting.name == name && own(&setting.holder))
    };
    let Some(arg) = call.arg(0, "args").or_else(|| call.arg(0, "command")) else {
        return Vec::new();
    };
    let by_string = call
        .paths
        .iter()
        .any(|path| path.starts_with("anyio.") || path.ends_with(".PopenSpawn"));
    let through = setting("shell").map_or(Truth::No, |setting| setting.value.truth());
    let executable = setting("executable").map(|setting| words(&setting.value, setting.span));
    let shell_name = shell_name(executable.as_deref());
    let mut found = Vec::new();
    for value in arg.value.each() {
        match value {
            Value::Text(text) if through != Truth::No || by_string => {
                found.extend(shell::read(text, &shell_name, place));
            }
            Value::List(items) if through == Truth::Yes => {
                let first = items
                    .first()
                    .map(|item| texts(&item.value))
                    .unwrap_or_default();
                found.extend(
                    first
                        .into_iter()
                        .flat_map(|text| shell::read(text, &shell_name, place)),
                );
            }
            Value::Text(_) | Value::List(_) | Value::Path(_) => {
                let mut argv = words(value, arg.span);
                if let Some(program) = executable.clone() {
                    argv.splice(0..argv.len().min(1), program);
                }
                found.extend(shell::argv(&argv, place));
            }
            _ => {}
        }
    }
    found
}

/// The shell of `shell=True`: `executable=`, or the system's.
fn shell_name(executable: Option<&[Word]>) -> String {
    let given = executable
        .and_then(<[Word]>::first)
        .map(|word| word.text.rsplit('/').next().unwrap_or_default());
    given
        .filter(|name| !name.is_empty() && !name.contains(HOLE))
        .unwrap_or("sh")
        .to_owned()
}

fn split_or_list(value: &Value, span: Span, place: Place) -> Vec<Command> {
    let mut found = Vec::new();
    for value in value.each() {
        match value {
            // Split as `shlex` does; the shell reader's words are the same, and none of its
            // operators are meant.
            Value::Text(text) if !text.text.contains(['&', ';', '|']) => {
                found.extend(shell::read(text, "", place))
            }
            Value::Text(_) | Value::Unknown => {}
            value => found.extend(shell::argv(&words(value, span), place)),
        }
    }
    found
}

/// Reads program text that is given to a Python interpreter, and puts its facts where it stands.
pub(super) fn read_programs(facts: &mut Facts, inner: usize) {
    for command in &mut facts.commands {
        let Some(code) = &command.code else { continue };
        let python = command.program.starts_with("python") || command.program.starts_with("pypy");
        if !python || code.text.contains(HOLE) {
            continue;
        }
        let source = Source::new("<string>", Language::Python, code.text.clone());
        let tree = crate::facts::python::read(&source);
        let mut read = gather_inner(&source, &tree, inner + 1);
        place_in(&mut read, code);
        command.python = Some(Box::new(read));
    }
}

/// Moves every span to where the program text is written: exactly if no escape stands in it.
fn place_in(facts: &mut Facts, code: &Word) {
    let exact = code.span.len() == code.text.len();
    let shift = |span: &mut Span| {
        *span = if exact {
            Span {
                start: code.span.start + span.start,
                end: code.span.start + span.end,
            }
        } else {
            code.span
        };
    };
    for call in &mut facts.calls {
        shift(&mut call.evidence);
        shift(&mut call.span);
        shift(&mut call.act);
    }
    for setting in &mut facts.settings {
        shift(&mut setting.span);
        shift(&mut setting.act);
    }
    for command in &mut facts.commands {
        shift(&mut command.act);
        command
            .words
            .iter_mut()
            .for_each(|word| shift(&mut word.span));
        command.background.iter_mut().for_each(shift);
    }
}

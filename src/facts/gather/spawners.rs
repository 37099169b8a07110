//! The calls that start a program, and where each takes its argv or its shell text.

mod known;
mod programs;

use super::File;
use super::argv::{Builder, words};
use crate::facts::shell::{self, Place};
use crate::facts::tree::Form;
use crate::facts::{Arg, Call, Command, Facts, HOLE, Holder, Text, Truth, Value, Word};
use crate::source::Span;
use known::{How, how};
pub(super) use programs::read_programs;

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
                (Some((program, span)), Some((Value::List(_), _)) | None) => {
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
    let all = value.each().into_iter();
    all.filter_map(|value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    })
    .collect()
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
                found.extend(shell::read(text, "", place));
            }
            Value::Text(_) | Value::Unknown => {}
            value => found.extend(shell::argv(&words(value, span), place)),
        }
    }
    found
}

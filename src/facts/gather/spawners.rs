//! The calls that start a program, and where each takes its argv or its shell text.

mod known;
mod programs;
mod stdin;
mod unknown;

use super::File;
use super::argv::{Builder, in_turn, ways, words};
use crate::facts::shell::{self, Place, argv};
use crate::facts::tree::{Form, Spread};
use crate::facts::{Arg, Call, Command, Facts, HOLE, ScopeId, Setting, Text, Truth, Value, Word};
use crate::source::Span;
use known::{How, how};
pub(super) use programs::read_programs;

/// Fills `facts.commands` from its calls, and from the commands that were put together in steps.
pub(super) fn commands(file: &File<'_>, facts: &mut Facts, builders: Vec<Builder>) {
    let mut found = Vec::new();
    for (index, call) in facts.calls.iter().enumerate() {
        if let Some(how) = how(facts.language, call) {
            found.extend(command(file, facts, index, call, how));
        }
    }
    found.extend(stdin::written(file, facts, &builders));
    found.extend(beside(file));
    for builder in builders {
        let place = Place {
            act: builder.act,
            scope: builder.scope,
        };
        found.extend(argvs(&builder.ways, place));
    }
    let more = unknown::given(file, facts, &found);
    found.extend(more);
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
                    argv(&[words(program, span), rest].concat(), place)
                }
                _ => Vec::new(),
            }
        }
        How::Each(from) => argvs(&each(call, from), place),
        How::Exec(position) => {
            let program = at(position, "path")
                .map(|(value, span)| words(value, span))
                .unwrap_or_default();
            let list = at(position + 1, "argv").or_else(|| at(position + 1, "args"));
            let rest = list
                .map(|(value, span)| words(value, span))
                .unwrap_or_default();
            argv(&[program.as_slice(), after(&rest, 1)].concat(), place)
        }
        How::ExecEach(position) => {
            let all = each(call, position).into_iter();
            all.flat_map(|all| {
                let program = all.get(..1).unwrap_or_default();
                argv(&[program, after(&all, 2)].concat(), place)
            })
            .collect()
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
            let all = each(call, 0).into_iter();
            all.flat_map(|rest| argv(&[vec![program.clone()], rest].concat(), place))
                .collect()
        }
    }
}

/// What a shell runs that is not written in the language: a notebook's `!command`. Each line is an act of its
/// own there, as it is in a cell.
fn beside(file: &File<'_>) -> Vec<Command> {
    let mut found = Vec::new();
    for (name, span) in file.source.shell_texts() {
        let text = Text {
            text: file.source.slice(*span).to_owned(),
            parts: vec![(0, *span)],
        };
        let place = Place {
            act: *span,
            scope: ScopeId(0),
        };
        for mut command in shell::read(&text, name, place) {
            if let Some(word) = command.words.first() {
                let line = file.source.line_span(file.source.line(word.span.start));
                command.act = line.within(*span);
            }
            found.push(command);
        }
    }
    found
}

/// The words behind the first `skip`.
fn after(words: &[Word], skip: usize) -> &[Word] {
    words.get(skip..).unwrap_or_default()
}

/// What is run, if each of these may be the argv.
fn argvs(all: &[Vec<Word>], place: Place) -> Vec<Command> {
    all.iter().flat_map(|words| argv(words, place)).collect()
}

/// The last name of what is called, before its bracket.
fn name_span(file: &File<'_>, call: &Call) -> Span {
    let text = file.source.slice(call.evidence);
    let path = text.split('(').next().unwrap_or(text).trim_end();
    let start = call.evidence.start as usize + path.rfind('.').map_or(0, |dot| dot + 1);
    Span::new(start, call.evidence.start as usize + path.len())
}

/// The arguments from a position on as one argv, in each way that they may read.
fn each(call: &Call, from: usize) -> Vec<Vec<Word>> {
    let is_plain = |arg: &&Arg| arg.name.is_none() && arg.spread != Spread::Dict;
    let parts = call.args.iter().filter(is_plain).skip(from).map(|arg| {
        let spread = arg.spread != Spread::No || matches!(arg.value, Value::List(_));
        (&arg.value, arg.span, spread)
    });
    in_turn(parts)
}

fn texts(value: &Value) -> Vec<&Text> {
    let all = value.each().iter();
    all.filter_map(|value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    })
    .collect()
}

/// The option `name` of the call at `index`.
fn option<'f>(facts: &'f Facts, index: usize, name: &str) -> Option<&'f Setting> {
    let mut own = facts.options_of(index);
    own.find(|setting| setting.name == name)
}

fn popen(facts: &Facts, index: usize, call: &Call, place: Place) -> Vec<Command> {
    let Some(arg) = call.arg(0, "args").or_else(|| call.arg(0, "command")) else {
        return Vec::new();
    };
    let by_string = call
        .paths
        .iter()
        .any(|path| path.starts_with("anyio.") || path.ends_with(".PopenSpawn"));
    let through = option(facts, index, "shell").map_or(Truth::No, |setting| setting.value.truth());
    let executable = option(facts, index, "executable");
    let executable = executable.map(|setting| words(&setting.value, setting.span));
    let shell_name = shell_name(executable.as_deref());
    let input = option(facts, index, "input").map(|setting| texts(&setting.value));
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
                for mut words in ways(value, arg.span, false) {
                    if let Some(program) = executable.clone() {
                        words.splice(0..words.len().min(1), program);
                    }
                    found.extend(argv(&words, place));
                    let fed = input.iter().flatten();
                    found.extend(fed.flat_map(|text| stdin::read(&words, text, place)));
                }
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
            value => found.extend(argvs(&ways(value, span, false), place)),
        }
    }
    found
}

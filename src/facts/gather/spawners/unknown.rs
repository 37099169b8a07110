//! Commands that are given to a function of which only the name is known, `run_remote(["setsid", "x"])`,
//! joined to a line for somebody else, `" ".join(["nohup", "x", "&"])`, or returned by a function that says
//! by its name that it makes one, `def start_command(): return "nohup x &"`.

use std::collections::BTreeSet;

use super::known::how;
use super::{argvs, in_turn, ways};
use crate::facts::gather::{File, fold};
use crate::facts::shell::{self, Place};
use crate::facts::tree::{Form, Spread};
use crate::facts::{Call, Command, Facts, Text, Value, Word};
use crate::source::{Language, Span};

/// Programs whose names mean nothing else. As the function may have any name, each stands among the
/// words of the rule that finds it.
const LOUD: &[&str] = &["nohup", "setsid", "start-stop-daemon", "systemd-run"];

/// Words of a name that say that a command is run.
const VERBS: &[&str] = &[
    "call", "exec", "execute", "launch", "popen", "run", "shell", "spawn", "start", "sudo",
    "system",
];

/// How many returns of one function are looked at.
const MAX_RETURNS: usize = 16;

/// Keywords that carry a command.
const KEYWORDS: &[&str] = &["args", "argv", "cmd", "command", "commands"];

/// Words of a name that say that a function makes a command.
const MADE: &[&str] = &["cmd", "cmds", "command", "commands", "script"];

/// What is given away in calls or returned, but for what is `started` anyhow.
pub(super) fn given(file: &File<'_>, facts: &Facts, started: &[Command]) -> Vec<Command> {
    let head = |command: &Command| command.words.first().map(|word| word.span);
    let known: BTreeSet<Span> = started.iter().filter_map(head).collect();
    let mut all = carried_away(facts);
    all.extend(returned(file));
    let is_new = |own: &Command| head(own).is_none_or(|span| !known.contains(&span));
    let loud = all.into_iter().filter(|commands| is_loud(commands));
    let mut found: Vec<Command> = loud.flatten().filter(is_new).collect();
    for command in &mut found {
        command.started = false;
    }
    found
}

/// What is given to functions.
fn carried_away(facts: &Facts) -> Vec<Vec<Command>> {
    let mut found = Vec::new();
    let names_loud = |call: &&Call| {
        let given = call.args.iter().map(|arg| &arg.value);
        given.chain(&call.receiver).any(names_loud)
    };
    for call in facts.calls.iter().filter(names_loud) {
        let new = if call.name == "join" {
            joined(call)
        } else if runs(facts.language, call) {
            carried(call)
        } else {
            continue;
        };
        found.extend(new);
    }
    found
}

/// What functions return that say by their names that they make a command.
fn returned(file: &File<'_>) -> Vec<Vec<Command>> {
    let says = |name: &str| {
        let lower = name.to_ascii_lowercase();
        lower.split('_').any(|word| MADE.contains(&word))
    };
    let makers = file.spaces.list.iter().enumerate();
    let makers = makers.filter(|(_, space)| !space.is_class && says(&space.name));
    let mut found = Vec::new();
    for (at, space) in makers {
        for id in space.returns.iter().take(MAX_RETURNS) {
            let span = file.node(*id).span;
            let place = Place {
                act: span,
                scope: space.scope,
            };
            for value in file.value(*id, at).each() {
                match value {
                    _ if !names_loud(value) => {}
                    Value::List(_) => {
                        let all = ways(value, span, true);
                        found.extend(all.iter().map(|words| shell::argv(words, place)));
                    }
                    Value::Text(text) if is_code(&text.text) => {
                        found.push(shell::read(text, "sh", place));
                    }
                    _ => {}
                }
            }
        }
    }
    found
}

/// Whether a program among the commands is loud, and has something to run.
fn is_loud(commands: &[Command]) -> bool {
    let loud = |word: &Word| LOUD.contains(&word.text.as_str());
    commands.iter().any(|command| {
        let args = command.words.get(1..).unwrap_or_default();
        // Names of programs alone are a list of names.
        LOUD.contains(&command.program.as_str()) && !args.iter().all(loud)
    })
}

/// Whether the name of what is called says that it runs a command, and how it does is not known.
fn runs(language: Language, call: &Call) -> bool {
    let says = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let has = |words: &[&str]| lower.split('_').any(|word| words.contains(&word));
        // What is owned ends with its owner, whatever it does: `spawn_owned`.
        has(VERBS) && !has(&["owned"])
    };
    let is_double = |path: &String| path == "call" || path.ends_with("mock.call");
    call.form == Form::Call
        && says(&call.name)
        && !call.name.starts_with("assert")
        && !call.paths.iter().any(is_double)
        && how(language, call).is_none()
}

/// The commands that a call's arguments may be: each list, each text, and all texts as one argv.
fn carried(call: &Call) -> Vec<Vec<Command>> {
    let place = place(call);
    let carries =
        |name: &Option<String>| name.as_deref().is_none_or(|name| KEYWORDS.contains(&name));
    let mut found = Vec::new();
    for arg in call.args.iter().filter(|arg| carries(&arg.name)) {
        for value in arg.value.each() {
            match value {
                Value::List(_) => {
                    let all = ways(value, arg.span, true);
                    found.extend(all.iter().map(|words| shell::argv(words, place)));
                }
                Value::Text(text) if is_code(&text.text) => {
                    found.push(shell::read(text, "sh", place));
                }
                _ => {}
            }
        }
    }
    let plain = call
        .args
        .iter()
        .filter(|arg| arg.name.is_none() && arg.spread != Spread::Dict);
    let parts = plain.map(|arg| (&arg.value, arg.span, arg.spread == Spread::List));
    found.push(argvs(&in_turn(parts), place));
    found
}

/// Whether a text has signs that prose seldom has: options, paths, operators of the shell.
fn is_code(text: &str) -> bool {
    text.contains(['&', '|', ';', '<', '>', '$', '/']) || text.contains(" -")
}

/// The lines that `" ".join(…)`, `shlex.join(…)` and Rust's `[…].join(" ")` may make.
fn joined(call: &Call) -> Vec<Vec<Command>> {
    let is_blank = |by: &Value| matches!(by, Value::Text(by) if by.text == " ");
    let (Some(arg), receiver) = (call.args.first(), &call.receiver) else {
        return Vec::new();
    };
    let list = match receiver {
        _ if call.is("shlex.join") => &arg.value,
        Some(by) if is_blank(by) => &arg.value,
        Some(list) if is_blank(&arg.value) => list,
        _ => return Vec::new(),
    };
    let lists = list.each().iter().filter(|list| names_loud(list));
    let all = lists.flat_map(|list| ways(list, call.span, true));
    all.map(|words| shell::read(&line(&words), "sh", place(call)))
        .collect()
}

fn line(words: &[Word]) -> Text {
    let mut line = Text::default();
    for word in words {
        if !line.text.is_empty() {
            line.text.push(' ');
        }
        let parts = match word.parts.as_slice() {
            [] => vec![(0, word.span)],
            parts => parts.to_vec(),
        };
        let text = word.text.clone();
        line = fold::joined(line, &Text { text, parts });
    }
    line
}

fn place(call: &Call) -> Place {
    Place {
        act: call.act,
        scope: call.scope,
    }
}

/// Whether a loud program's name stands anywhere in a value.
fn names_loud(value: &Value) -> bool {
    match value {
        Value::Text(text) => LOUD.iter().any(|name| text.text.contains(name)),
        Value::List(items) => items.iter().any(|item| names_loud(&item.value)),
        Value::OneOf(values) => values.iter().any(names_loud),
        _ => false,
    }
}

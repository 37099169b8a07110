//! Text that an interpreter is fed: `run(["sh"], input="…")`, `p.communicate("…")`,
//! `child.stdin.write_all(b"…")`.

use super::super::File;
use super::super::argv::Builder;
use super::known::{How, how};
use super::{each, option, texts, ways};
use crate::facts::shell::{self, Place};
use crate::facts::{Call, Command, Facts, Text, Truth, Word};

/// What `words` runs only because they are fed `text`.
pub(super) fn read(words: &[Word], text: &Text, place: Place) -> Vec<Command> {
    let plain = shell::argv(words, place);
    let fed = shell::fed(words, text, place).into_iter().enumerate();
    let new = |(at, command): &(usize, Command)| {
        let before = plain.get(*at);
        before.is_none_or(|before| before.code.is_none() && command.code.is_some())
    };
    fed.filter(new).map(|(_, command)| command).collect()
}

/// What is fed to processes that run already.
pub(super) fn written(file: &File<'_>, facts: &Facts, builders: &[Builder]) -> Vec<Command> {
    let mut found = Vec::new();
    for call in &facts.calls {
        let Some(arg) = fed(call) else { continue };
        let place = Place {
            act: call.act,
            scope: call.scope,
        };
        let fed_to = readers(file, facts, builders, call);
        for text in texts(&arg.value) {
            let commands = fed_to.iter().flat_map(|words| read(words, text, place));
            found.extend(commands);
        }
    }
    found
}

/// What the call feeds to a process, if it does.
fn fed(call: &Call) -> Option<&crate::facts::Arg> {
    if call.made_by.is_empty() {
        return None;
    }
    let into = |path: &String| path.ends_with("().stdin.write");
    match call.name.as_str() {
        "communicate" => call.arg(0, "input"),
        "write_all" => call.args.first(),
        "write" if call.paths.iter().any(into) => call.args.first(),
        _ => None,
    }
}

/// The argv of each process that the call's receiver may be.
fn readers(file: &File<'_>, facts: &Facts, builders: &[Builder], call: &Call) -> Vec<Vec<Word>> {
    let made = |span| call.made_by.contains(&span);
    let own = builders.iter().filter(|own| made(file.node(own.root).span));
    let mut found: Vec<Vec<Word>> = own.flat_map(|own| own.ways.clone()).collect();
    for (index, maker) in facts.makers_of(call) {
        let by_shell =
            || option(facts, index, "shell").is_some_and(|own| own.value.truth() != Truth::No);
        match how(facts.language, maker) {
            Some(How::Popen) if !by_shell() => {
                let arg = maker.arg(0, "args").or_else(|| maker.arg(0, "command"));
                found.extend(
                    arg.map(|arg| ways(&arg.value, arg.span, false))
                        .into_iter()
                        .flatten(),
                );
            }
            Some(How::Each(from)) => found.extend(each(maker, from)),
            _ => {}
        }
    }
    found
}

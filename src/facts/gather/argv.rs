//! Commands that are put together step by step: `Command::new("x").arg("y")`, on one variable too.

use super::{File, makers};
use crate::facts::tree::{Id, Kind};
use crate::facts::{Arg, HOLE, ScopeId, Value, Word};
use crate::source::{Language, Span};

/// A command that is being put together.
pub(super) struct Builder {
    /// The call that made it.
    pub root: Id,
    /// The program, then its arguments, in each way that they may read.
    pub ways: Vec<Vec<Word>>,
    pub act: Span,
    pub scope: ScopeId,
}

/// How many ways to read one argv are told apart.
const MAX_WAYS: usize = 8;

/// Ends of the paths whose call makes a command from its program.
const MAKERS: &[&str] = &[
    "Command.new",
    "CommandBuilder.new",
    "Exec.cmd",
    "CommandWrap.with_new",
    "Program.new",
    "Shell().cmd",
];

/// Notes what the call at `id` does to a command; `paths` says what is called.
pub(super) fn follow(
    file: &File<'_>,
    builders: &mut Vec<Builder>,
    (id, callee, space): (Id, Id, usize),
    paths: &[String],
    args: &[Arg],
    (act, scope): (Span, ScopeId),
) {
    let makes = file.source.language == Language::Rust
        && paths
            .iter()
            .any(|path| MAKERS.iter().any(|maker| ends_with_path(path, maker)));
    if makes {
        let ways = args
            .first()
            .map_or_else(|| vec![Vec::new()], |arg| ways(&arg.value, arg.span, false));
        builders.push(Builder {
            root: id,
            ways,
            act,
            scope,
        });
        return;
    }
    let Kind::Attr {
        base,
        name,
        path: false,
        ..
    } = &file.node(callee).kind
    else {
        return;
    };
    if name != "arg" && name != "args" && name != "raw_arg" {
        return;
    }
    let Some(root) = root_of(file, builders, *base, space) else {
        return;
    };
    if let Some(builder) = builders.iter_mut().find(|builder| builder.root == root)
        && let Some(arg) = args.first()
    {
        go_on(&mut builder.ways, ways(&arg.value, arg.span, false));
    }
}

/// Notes what indexing does to a command: `local["setsid"]["sleep", "1"]` of plumbum.
pub(super) fn follow_index(
    file: &File<'_>,
    builders: &mut Vec<Builder>,
    (id, base, index): (Id, Id, Id),
    space: usize,
    (act, scope): (Span, ScopeId),
) {
    let mut given = ways(&file.value(index, space), file.node(index).span, false);
    if let Some(program) = plumbum_program(file, base, space) {
        for words in &mut given {
            words.insert(0, program.clone());
        }
        builders.push(Builder {
            root: id,
            ways: given,
            act,
            scope,
        });
        return;
    }
    if file.value(base, space).is_path(&["plumbum.local"]) {
        builders.push(Builder {
            root: id,
            ways: given,
            act,
            scope,
        });
    } else if let Some(root) = root_of(file, builders, base, space)
        && let Some(builder) = builders.iter_mut().find(|builder| builder.root == root)
    {
        go_on(&mut builder.ways, given);
    }
}

/// The program that `from plumbum.cmd import setsid` names.
fn plumbum_program(file: &File<'_>, base: Id, space: usize) -> Option<Word> {
    let Value::Path(paths) = file.value(base, space) else {
        return None;
    };
    let program = paths
        .iter()
        .find_map(|path| path.strip_prefix("plumbum.cmd."))?;
    Some(Word {
        text: program.to_owned(),
        span: file.node(base).span,
        parts: Vec::new(),
    })
}

/// The builder that the chain, or the variable, at `id` goes on with.
fn root_of(file: &File<'_>, builders: &[Builder], id: Id, space: usize) -> Option<Id> {
    let is_root = |id: &Id| builders.iter().any(|builder| builder.root == *id);
    let found = makers::of(file, id, space, &is_root);
    found.into_iter().find(is_root)
}

/// Whether `path` is `end` or ends in `.end`.
pub(super) fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// The words that a value stands for: one, or as many as a list has; the most where it may be several.
pub(super) fn words(value: &Value, span: Span) -> Vec<Word> {
    let ways = ways(value, span, false).into_iter();
    // The first of those that are equally long.
    ways.rev().max_by_key(Vec::len).unwrap_or_default()
}

/// Every way in which a value may read as words: `[*(["setsid"] if x else []), "cmd"]` has two. With
/// `spread`, what is no list is any number of words.
pub(super) fn ways(value: &Value, span: Span, spread: bool) -> Vec<Vec<Word>> {
    match value {
        Value::List(items) => {
            let parts = items.iter();
            in_turn(parts.map(|item| (&item.value, item.span, item.spread)))
        }
        Value::OneOf(values) => {
            let known = |value: &&Value| is_list(value) || word(value, span).is_some();
            let known = values.iter().filter(|value| spread || known(value));
            let mut all: Vec<Vec<Word>> = known
                .flat_map(|value| ways(value, span, spread))
                .take(MAX_WAYS)
                .collect();
            if all.is_empty() {
                all.push(vec![hole(span)]);
            }
            all
        }
        _ if spread => vec![vec![any_number(span)]],
        value => vec![vec![word(value, span).unwrap_or_else(|| hole(span))]],
    }
}

/// Every way in which values, one behind the other, may read; each with its place and whether it is
/// spread.
pub(super) fn in_turn<'v>(parts: impl Iterator<Item = (&'v Value, Span, bool)>) -> Vec<Vec<Word>> {
    let mut all = vec![Vec::new()];
    for (value, span, spread) in parts {
        let next = match value {
            // A list inside of an argv is no word.
            Value::List(_) if !spread => vec![vec![hole(span)]],
            value => ways(value, span, spread),
        };
        go_on(&mut all, next);
    }
    all
}

/// Puts `next` behind each way: the first of them behind what is there, each other one behind a copy.
fn go_on(all: &mut Vec<Vec<Word>>, mut next: Vec<Vec<Word>>) {
    next.truncate((MAX_WAYS / all.len().max(1)).max(1));
    let mut next = next.into_iter();
    let first = next.next().unwrap_or_default();
    let others: Vec<Vec<Word>> = next
        .flat_map(|more| {
            all.iter()
                .map(move |words| [words.as_slice(), &more].concat())
                .collect::<Vec<_>>()
        })
        .collect();
    for words in all.iter_mut() {
        words.extend(first.iter().cloned());
    }
    all.extend(others);
}

fn is_list(value: &Value) -> bool {
    matches!(value, Value::List(_))
}

/// The word that a value is known to be.
fn word(value: &Value, span: Span) -> Option<Word> {
    value.each().iter().find_map(|value| match value {
        Value::Text(text) => {
            // A program that is named by a constant is run here, not where the constant stands;
            // shell text in a constant is judged where it is written.
            let written = place(text, span);
            let here = span.contains(written) || text.text.contains(char::is_whitespace);
            Some(Word {
                text: text.text.clone(),
                span: if here { written } else { span },
                parts: if here { text.parts.clone() } else { Vec::new() },
            })
        }
        Value::Int(number) => Some(Word {
            text: number.to_string(),
            span,
            parts: Vec::new(),
        }),
        Value::Path(paths) if paths.iter().any(|path| path == "sys.executable") => Some(Word {
            text: "python3".to_owned(),
            span,
            parts: Vec::new(),
        }),
        _ => None,
    })
}

/// Where a text is written; `otherwise` if it is put together at run time.
fn place(text: &crate::facts::Text, otherwise: Span) -> Span {
    if text.parts.is_empty() {
        otherwise
    } else {
        text.span(0, text.text.len())
    }
}

/// A spread list, which may be any number of words: two holes, where an unknown word is one.
fn any_number(span: Span) -> Word {
    Word {
        text: String::from_iter([HOLE, HOLE]),
        ..hole(span)
    }
}

fn hole(span: Span) -> Word {
    Word {
        text: HOLE.to_string(),
        span,
        parts: Vec::new(),
    }
}

//! Commands that are put together step by step: `Command::new("x").arg("y")`, on one variable too.

use super::{File, makers};
use crate::facts::tree::{Id, Kind};
use crate::facts::{Arg, HOLE, ScopeId, Value, Word};
use crate::source::Span;

/// A command that is being put together.
pub(super) struct Builder {
    /// The call that made it.
    root: Id,
    /// The program, then its arguments.
    pub words: Vec<Word>,
    pub act: Span,
    pub scope: ScopeId,
}

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
    let makes = paths
        .iter()
        .any(|path| MAKERS.iter().any(|maker| ends_with_path(path, maker)));
    if makes {
        let words = args
            .first()
            .map(|arg| words(&arg.value, arg.span))
            .unwrap_or_default();
        builders.push(Builder {
            root: id,
            words,
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
        builder.words.extend(words(&arg.value, arg.span));
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
    let given = words(&file.value(index, space), file.node(index).span);
    if let Some(program) = plumbum_program(file, base, space) {
        let words = std::iter::once(program).chain(given).collect();
        builders.push(Builder {
            root: id,
            words,
            act,
            scope,
        });
        return;
    }
    if file.value(base, space).is_path(&["plumbum.local"]) {
        builders.push(Builder {
            root: id,
            words: given,
            act,
            scope,
        });
    } else if let Some(root) = root_of(file, builders, base, space)
        && let Some(builder) = builders.iter_mut().find(|builder| builder.root == root)
    {
        builder.words.extend(given);
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

/// The words that a value stands for: one, or as many as a list has.
pub(super) fn words(value: &Value, span: Span) -> Vec<Word> {
    match value {
        Value::List(items) => items
            .iter()
            .flat_map(|item| {
                if item.spread {
                    vec![any_number(item.span)]
                } else {
                    word(&item.value, item.span)
                }
            })
            .collect(),
        value => word(value, span),
    }
}

fn word(value: &Value, span: Span) -> Vec<Word> {
    let known = value.each().into_iter().find_map(|value| match value {
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
    });
    vec![known.unwrap_or_else(|| hole(span))]
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

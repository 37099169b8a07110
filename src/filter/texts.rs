//! A file without a parser: its code, and the string literals that could be a text or an argv.

use std::collections::BTreeSet;

use super::escapes;
use super::terms::{UNREACHED, asking};
use crate::facts::python::Role;
use crate::facts::{python, rust};

/// A literal, or several side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    /// Escapes resolved; the holes of formats stand in it as they are written.
    pub(super) text: String,
    /// Whether something is joined before it, so that it may begin inside of a command.
    pub(super) goes_on: bool,
}

/// What a pass over a file gives.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Code without comments and without what stands in literals; in Rust the names of functions are
    /// left out where they are defined, too.
    pub(super) code: String,
    /// Literals that may go anywhere.
    pub(super) texts: Vec<Text>,
    /// Literals that are values only where a library makes programs of them.
    members: Vec<Text>,
    /// Literals that are only keys or messages.
    inert: Vec<String>,
    /// Calls with many positions: what is called, how many, and whether a list is spread behind them.
    calls: Vec<(String, usize, bool)>,
    /// The most items of a list whose last is no string.
    longest: usize,
}

/// Reads a Python file; none where it does not fit together, so that nothing can be left out.
pub(super) fn python(text: &str) -> Option<Read> {
    let literals = python::literals(text);
    if literals.odd {
        return None;
    }
    let name = |span: crate::source::Span| {
        let name = text.get(span.start as usize..span.end as usize);
        name.unwrap_or_default().to_owned()
    };
    let calls = literals.calls.into_iter();
    let mut read = Read {
        code: literals.code,
        calls: calls
            .map(|(span, positions, spreads)| (name(span), positions, spreads))
            .collect(),
        longest: literals.longest,
        ..Read::default()
    };
    for literal in literals.all {
        let text = literal.text;
        match read.texts.last_mut() {
            _ if literal.role == Role::Inert => read.inert.push(text),
            _ if literal.role == Role::Member => match read.members.last_mut() {
                Some(last) if literal.joins => last.text.push_str(&text),
                _ => read.members.push(Text {
                    text,
                    goes_on: false,
                }),
            },
            Some(last) if literal.joins => last.text.push_str(&text),
            _ => read.texts.push(Text {
                text,
                goes_on: literal.follows,
            }),
        }
    }
    read.resolve_what_is_left();
    Some(read)
}

/// Reads a Rust file.
pub(super) fn rust(text: &str) -> Read {
    let sketch = rust::sketch(text);
    let text = |(text, goes_on)| Text { text, goes_on };
    let mut read = Read {
        code: sketch.code,
        texts: sketch.texts.into_iter().map(text).collect(),
        ..Read::default()
    };
    read.resolve_what_is_left();
    read
}

/// The functions that are told of a terminal or of flags by a position.
const WITH_POSITIONS: &[&str] = &[
    "Popen",
    "call",
    "check_call",
    "check_output",
    "run",
    "spawnProcess",
];

/// Whether `getattr` is called with a module that matters, over several lines too.
fn gets(code: &str) -> bool {
    code.match_indices("getattr").any(|(at, name)| {
        let rest = code.get(at + name.len()..).unwrap_or_default().trim_start();
        let rest = rest.strip_prefix('(').unwrap_or_default().trim_start();
        let end = rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
        let own = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        ["os", "_os", "posix", "pty"].contains(&own)
    })
}

/// What is asked for a name that matters, or may be: all that is imported under another name.
const ASKED: &[&str] = &[
    "import_module",
    "__import__",
    "importorskip",
    "(sys.modules",
    "os as ",
    "posix as ",
    "pty as ",
    "os import",
    "ctypes",
    "cffi",
    "subprocess",
    "Popen",
    "click",
    "typer",
    "debugpy",
    "executor",
    "gevent",
];

impl Read {
    /// Whether a literal may be split into an argv.
    pub(super) fn splits(&self, by: &str) -> bool {
        self.code.contains(by)
    }

    /// Whether a call has so many positions, or may have them: of a function that matters, or of one
    /// that has got another name here.
    pub(super) fn is_wide(&self, positions: usize) -> bool {
        let many = self
            .calls
            .iter()
            .filter(|(_, own, spreads)| own + if *spreads { self.longest } else { 0 } >= positions);
        let names: BTreeSet<&str> = many.map(|(name, ..)| name.as_str()).collect();
        names.iter().any(|name| WITH_POSITIONS.contains(name))
            || names.contains("") && self.is_asked_for()
            || !names.is_empty() && !names.is_disjoint(&self.other_names())
    }

    /// Whether one of those functions may be asked for by its name: `getattr(subprocess, "Popen")(…)`.
    fn is_asked_for(&self) -> bool {
        let named = |text: &String| WITH_POSITIONS.contains(&text.as_str());
        self.code.contains("getattr") && self.all().any(named)
    }

    /// The names that those functions get: `import call as name`, `name = subprocess.call`.
    fn other_names(&self) -> BTreeSet<&str> {
        let part = |ch: char| ch.is_alphanumeric() || ch == '_';
        let names = self.code.lines().flat_map(move |line| {
            let words: Vec<&str> = line.split(move |ch| !part(ch)).collect();
            let imports = words.windows(3).filter_map(|words| match words {
                [own, "as", name] if WITH_POSITIONS.contains(own) => Some(*name),
                _ => None,
            });
            let (target, value) = line.split_once('=').unwrap_or_default();
            let last = value.trim_end().rsplit(|ch| !part(ch)).next();
            let assigned = last.filter(|last| WITH_POSITIONS.contains(last));
            let target = target.trim_end().rsplit(move |ch| !part(ch)).next();
            let all: Vec<&str> = imports.chain(assigned.and(target)).collect();
            all
        });
        names.collect()
    }

    /// Code and all literals, in quotes, so that a word in one has the borders that it has in the file.
    pub(super) fn whole(&self) -> String {
        self.with(&format!("{UNREACHED}\""), self.all())
    }

    /// Code, and the literals that may name something of it: `getattr(os, "system")`, a program.
    pub(super) fn named(&self) -> String {
        let asks = asking().any(|name| self.code.contains(name))
            && (ASKED.iter().any(|name| self.code.contains(name)) || gets(&self.code));
        let names = self
            .all()
            .filter(|text| asks && !text.contains(' ') || is_program_text(text));
        self.with("\n, \"", names)
    }

    /// Adds texts again whose escapes are for another reader: a program in a text.
    fn resolve_what_is_left(&mut self) {
        let left = self.texts.iter().filter_map(|text| {
            let goes_on = text.goes_on;
            escapes::left_in(&text.text).map(|text| Text { text, goes_on })
        });
        let left: Vec<Text> = left.collect();
        self.texts.extend(left);
    }

    /// Takes the names of members for values: a library makes programs of them.
    pub(super) fn members_are_values(&mut self) {
        self.texts.append(&mut self.members);
    }

    /// Every literal.
    fn all(&self) -> impl Iterator<Item = &String> {
        let texts = self.texts.iter().chain(&self.members);
        texts.map(|text| &text.text).chain(&self.inert)
    }

    fn with<'t>(&self, quote: &str, texts: impl Iterator<Item = &'t String>) -> String {
        let mut all = self.code.clone();
        for text in texts {
            all.push_str(quote);
            all.push_str(text);
            all.push('"');
        }
        all
    }
}

/// Whether a text may be a program of Python, whose own calls may run a command.
pub(super) fn is_program_text(text: &str) -> bool {
    (text.contains("import ") || text.contains("__import__")) && text.len() > "import ".len()
}

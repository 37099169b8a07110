//! One word, and what must stand beside it.

use std::cell::OnceCell;

use memchr::memmem;

use crate::rules::{GIVEN, OF_SYSTEM};
use crate::source::{Language, is_word};

/// What must stand beside a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    /// Anything.
    Any,
    /// No letter, digit or `_`.
    Whole,
    /// The same, and something that reaches it before.
    Reached,
    /// The same, and what reaches it may be the system's module, under whatever name.
    OfSystem,
    /// No letter, digit or `_`, in a list of imports.
    Listed,
}

/// Which bytes a word is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Bytes {
    /// A file as it is: comments may stand between a name and what reaches it.
    Raw,
    /// Code and texts, without comments.
    Code,
}

/// A word of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) letters: String,
    border: Border,
    /// Whether it does not count where it is called with nothing.
    given: bool,
    /// What must stand close behind it; often nothing.
    near: String,
}

impl Word {
    /// All that one in the rules' own notation stands for.
    pub(super) fn all(written: &str) -> Vec<Self> {
        let quoted = written
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''));
        match (written.strip_prefix('@'), quoted) {
            (Some(module), _) => {
                let imported = ["import ", "from "].map(|before| (before, Border::Whole));
                let listed = [", ", ","].map(|before| (before, Border::Listed));
                let all = imported.into_iter().chain(listed);
                all.map(|(before, border)| Self {
                    border,
                    ..Self::plain(&format!("{before}{module}"))
                })
                .collect()
            }
            (None, Some(text)) => vec![Self::plain(&format!("\"{text}\"")), Self::plain(written)],
            (None, None) => vec![Self::new(written)],
        }
    }

    fn new(written: &str) -> Self {
        let (written, near) = written.split_once('…').unwrap_or((written, ""));
        let (written, given) = match written.strip_suffix(GIVEN) {
            Some(written) => (written, true),
            None => (written, false),
        };
        let whole = written
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        let reached = written.strip_prefix('.').filter(|rest| !rest.is_empty());
        let (letters, border) = match (whole, reached, written.strip_prefix(OF_SYSTEM)) {
            (Some(letters), ..) => (letters, Border::Whole),
            (None, Some(letters), _) => (letters, Border::Reached),
            (None, None, Some(letters)) => (letters, Border::OfSystem),
            (None, None, None) => (written, Border::Any),
        };
        Self {
            letters: letters.to_owned(),
            border,
            given,
            near: near.to_owned(),
        }
    }

    /// One that is these letters, whatever signs they are.
    pub(super) fn plain(letters: &str) -> Self {
        Self {
            letters: letters.to_owned(),
            border: Border::Any,
            given: false,
            near: String::new(),
        }
    }

    /// Whether it stands at `at`, where its letters are.
    pub(super) fn is_at(&self, of: &In<'_>, at: usize) -> bool {
        let bytes = of.bytes;
        let before = bytes.get(..at).unwrap_or_default();
        let after = bytes.get(at + self.letters.len()..).unwrap_or_default();
        let letters = self.letters.as_bytes();
        let apart = |inside: Option<&u8>, outside: Option<&u8>| {
            !inside.copied().is_some_and(is_word) || !outside.copied().is_some_and(is_word)
        };
        let whole =
            || apart(letters.first(), before.last()) && apart(letters.last(), after.first());
        let close = after.get(..NEAR).unwrap_or(after);
        if !self.near.is_empty() && memmem::find(close, self.near.as_bytes()).is_none() {
            return false;
        }
        if self.given && after.starts_with(b"()") {
            return false;
        }
        match self.border {
            Border::Any => true,
            Border::Whole => whole(),
            Border::Reached => whole() && (is_reached(before, of) || of.starred()),
            Border::OfSystem => {
                // Where a point stands close before it, it is seen of what it is.
                let owner = before.strip_suffix(b".").map(<[u8]>::trim_ascii_end);
                let own = owner.is_none_or(|owner| {
                    SYSTEM.iter().any(|name| owner.ends_with(name.as_bytes())) || of.renamed()
                });
                whole() && (own && is_reached(before, of) || of.starred())
            }
            Border::Listed => whole() && may_import(before, of),
        }
    }

    /// Whether it stands at `at`.
    pub(super) fn stands_at(&self, of: &In<'_>, at: usize) -> bool {
        let there = of.bytes.get(at..).unwrap_or_default();
        there.starts_with(self.letters.as_bytes()) && self.is_at(of, at)
    }

    /// Whether it stands anywhere.
    pub(super) fn is_in(&self, of: &In<'_>) -> bool {
        memmem::find_iter(of.bytes, self.letters.as_bytes()).any(|at| self.is_at(of, at))
    }
}

/// What words are looked for in.
pub(super) struct In<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) kind: Bytes,
    language: Language,
    starred: OnceCell<bool>,
    asked: OnceCell<bool>,
    renamed: OnceCell<bool>,
}

impl<'b> In<'b> {
    pub(super) const fn new(bytes: &'b [u8], kind: Bytes, language: Language) -> Self {
        Self {
            bytes,
            kind,
            language,
            starred: OnceCell::new(),
            asked: OnceCell::new(),
            renamed: OnceCell::new(),
        }
    }

    /// Whether names may be reached without the module that they are of.
    fn starred(&self) -> bool {
        let starred = || is_starred(self.bytes, self.language);
        *self.starred.get_or_init(starred)
    }

    /// Whether names may be asked for by literals.
    fn asked(&self) -> bool {
        let asked = || {
            let named = |name: &&str| memmem::find(self.bytes, name.as_bytes()).is_some();
            self.language == Language::Rust || ASKING.iter().any(named)
        };
        *self.asked.get_or_init(asked)
    }

    /// Whether the system's module may have another name: it is spoken of where nothing is taken from it, or
    /// is one of `sys.modules`.
    fn renamed(&self) -> bool {
        let renamed = || {
            memmem::find(self.bytes, b"modules").is_some()
                || SYSTEM.iter().any(|name| is_renamed(name.as_bytes(), self))
        };
        *self.renamed.get_or_init(renamed)
    }
}

/// The names of the system's module in Python.
const SYSTEM: &[&str] = &["os", "posix"];

/// Whether a module is spoken of but where it is imported, or something is taken from it.
fn is_renamed(name: &[u8], of: &In<'_>) -> bool {
    memmem::find_iter(of.bytes, name).any(|at| {
        let before = of.bytes.get(..at).unwrap_or_default();
        let behind = of.bytes.get(at + name.len()..).unwrap_or_default();
        let inside = |byte: Option<&u8>| byte.copied().is_some_and(is_word);
        if inside(before.last()) || inside(behind.first()) {
            return false;
        }
        let next = behind.trim_ascii_start();
        if next.starts_with(b".") {
            return false;
        }
        // `import os`, `import sys, os`, `from os import`; with `as` it has another name from then on.
        let before = before.trim_ascii_end();
        let imported = before.ends_with(b"import")
            || before.ends_with(b"from")
            || before.ends_with(b",") && may_import(before, of);
        !imported || next.starts_with(b"as ") || next.starts_with(b"as\\")
    })
}

/// What asks for a name by a literal in Python.
pub(in crate::filter) const ASKING: &[&str] =
    &["import_module", "__import__", "importorskip", "getattr"];

/// How many bytes behind a word are close to it.
const NEAR: usize = 32;

/// Whether what ends here reaches the name that follows: `os.`, `libc::`, `import `, `(`, `"`.
fn is_reached(before: &[u8], of: &In<'_>) -> bool {
    ends_in_reach(before, of)
        || of.kind == Bytes::Raw && ends_in_reach(without_comments(before), of)
}

fn ends_in_reach(before: &[u8], of: &In<'_>) -> bool {
    let before = before.trim_ascii_end();
    // A line that goes on.
    let before = before
        .strip_suffix(b"\\")
        .unwrap_or(before)
        .trim_ascii_end();
    let Some(last) = before.last() else {
        return false;
    };
    let quoted = before
        .strip_suffix(b"\"")
        .or_else(|| before.strip_suffix(b"'"));
    if let Some(before) = quoted {
        // As in `getattr(os, "fork")` and `libc["fork"]`: any literal that is not said to be no name.
        return match of.kind {
            Bytes::Raw => of.asked(),
            Bytes::Code => !before.ends_with(UNREACHED.as_bytes()),
        };
    }
    match last {
        b'.' => true,
        // In code only a path has two of them: one names what a field or a key is.
        b':' => of.kind == Bytes::Raw || before.ends_with(b"::"),
        b',' | b'(' | b'{' | b'[' => may_import(before, of),
        _ => before.ends_with(b"import"),
    }
}

/// Whether a list of imported names may go on here: `from os import (path,`, `use libc::{getpid,`.
fn may_import(before: &[u8], of: &In<'_>) -> bool {
    let window = before.get(before.len().saturating_sub(LONGEST)..);
    let window = window.unwrap_or(before);
    let cut = window.len() < before.len();
    match (of.kind, of.language) {
        (Bytes::Code, _) => imports(window, cut),
        (Bytes::Raw, Language::Python) => {
            without_all_comments(window, cut).is_none_or(|code| imports(&code, cut))
        }
        (Bytes::Raw, Language::Rust) => true,
    }
}

/// The code of lines of Python, of which the first may be cut; none where a `#` may be no comment's.
fn without_all_comments(lines: &[u8], cut: bool) -> Option<Vec<u8>> {
    let mut code = Vec::with_capacity(lines.len());
    let lines = lines.split(|byte| *byte == b'\n');
    for line in lines.skip(usize::from(cut)) {
        let own = memchr::memchr(b'#', line).unwrap_or(line.len());
        let (own, comment) = line.split_at(own);
        if memmem::find(comment, b"import").is_some() {
            return None;
        }
        let own = own.strip_suffix(b"\r").unwrap_or(own);
        match own.strip_suffix(b"\\") {
            // It goes on with the next one.
            Some(own) if comment.is_empty() => {
                code.extend_from_slice(own);
                code.push(b' ');
            }
            _ => {
                code.extend_from_slice(own);
                code.push(b'\n');
            }
        }
    }
    // The last one goes on.
    code.pop();
    Some(code)
}

/// Whether such a list goes on behind these bytes, before which others may be `cut` off.
fn imports(window: &[u8], cut: bool) -> bool {
    let listed = |byte: &u8| is_word(*byte) || b" \t\x0c\r\n,({*:.".contains(byte);
    let list = match window.iter().rposition(|byte| !listed(byte)) {
        Some(at) => window.get(at + 1..).unwrap_or_default(),
        // It may have begun before.
        None if cut => return true,
        None => window,
    };
    let behind = |keyword: &[u8]| {
        let at = memmem::rfind(list, keyword)?;
        list.get(at + keyword.len()..).map(<[u8]>::trim_ascii_start)
    };
    behind(b"use ").is_some()
        || behind(b"import").is_some_and(|names| match names.strip_prefix(b"(") {
            Some(names) => !names.contains(&b'('),
            None => !names.contains(&b'\n'),
        })
}

/// Longest list of imported names that is looked through (bytes).
const LONGEST: usize = 1 << 14;

/// What stands before a literal that names nothing.
pub(in crate::filter) const UNREACHED: &str = ";\n";

/// The bytes without the comments that end them, each on the end of its line or on one of its own.
fn without_comments(before: &[u8]) -> &[u8] {
    let mut rest = before;
    while let Some(end) = memchr::memrchr2(b'\n', b'\r', rest) {
        // What stands behind the last break is no comment's line: it holds the name.
        if !rest.get(end..).unwrap_or_default().trim_ascii().is_empty() {
            break;
        }
        let lines = rest.get(..end).unwrap_or_default();
        let start = memchr::memrchr2(b'\n', b'\r', lines).map_or(0, |at| at + 1);
        let line = lines.get(start..).unwrap_or_default();
        let comment = memchr::memchr(b'#', line).or_else(|| memmem::find(line, b"//"));
        rest = match comment {
            Some(at) => lines.get(..start + at).unwrap_or_default(),
            None if line.trim_ascii().is_empty() => lines,
            None => break,
        };
        let code = comment.and_then(|at| line.get(..at)).unwrap_or_default();
        if !code.trim_ascii().is_empty() {
            break;
        }
    }
    rest
}

/// Modules of Python whose names a rule wants to be reached, and that are known to be imported whole.
const STARRED: &[&str] = &[
    "os",
    "posix",
    "pty",
    "click",
    "typer",
    "debugpy",
    "executor",
    "ctypes",
    "cmd",
    "gevent.os",
];

/// Whether the names of such a module are reached without it: `from os import *`, `use open::*`.
pub(super) fn is_starred(bytes: &[u8], language: Language) -> bool {
    let python = || {
        memmem::find_iter(bytes, b"import *").any(|at| {
            let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
            STARRED
                .iter()
                .any(|name| before.ends_with(format!("from {name}").as_bytes()))
        })
    };
    let rust = |path: &&[u8]| memmem::find(bytes, path).is_some();
    match language {
        Language::Python => python(),
        Language::Rust => STARRED_IN_RUST.iter().any(rust),
    }
}

/// The same for Rust.
const STARRED_IN_RUST: &[&[u8]] = &[
    b"open::*",
    b"opener::*",
    b"libc::*",
    b"unistd::*",
    b"fork::*",
    // Among others: `use libc::{self, *}`.
    b"*}",
    b"{*",
];

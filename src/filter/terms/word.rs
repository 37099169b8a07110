//! One word, and what must stand beside it.

use memchr::memmem;

use crate::source::is_word;

/// What must stand beside a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    /// Anything.
    Any,
    /// No letter, digit or `_`.
    Whole,
    /// The same, and something that reaches it before.
    Reached,
}

/// A word of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) letters: String,
    border: Border,
    /// What must stand close behind it; often nothing.
    near: String,
}

impl Word {
    /// One in the rules' own notation.
    pub(super) fn new(written: &str) -> Self {
        let (written, near) = written.split_once('…').unwrap_or((written, ""));
        let whole = written
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        let reached = written.strip_prefix('.').filter(|rest| !rest.is_empty());
        let (letters, border) = match (whole, reached) {
            (Some(letters), _) => (letters, Border::Whole),
            (None, Some(letters)) => (letters, Border::Reached),
            (None, None) => (written, Border::Any),
        };
        Self {
            letters: letters.to_owned(),
            border,
            near: near.to_owned(),
        }
    }

    /// One that is these letters, whatever signs they are.
    pub(super) fn plain(letters: &str) -> Self {
        Self {
            letters: letters.to_owned(),
            border: Border::Any,
            near: String::new(),
        }
    }

    /// Whether it stands at `at`, where its letters are.
    pub(super) fn is_at(&self, bytes: &[u8], at: usize, starred: &dyn Fn() -> bool) -> bool {
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
        match self.border {
            Border::Any => true,
            Border::Whole => whole(),
            Border::Reached => whole() && (is_reached(before) || starred()),
        }
    }

    /// Whether it stands anywhere.
    pub(super) fn is_in(&self, bytes: &[u8], starred: &dyn Fn() -> bool) -> bool {
        memmem::find_iter(bytes, self.letters.as_bytes()).any(|at| self.is_at(bytes, at, starred))
    }
}

/// How many bytes behind a word are close to it.
const NEAR: usize = 32;

/// Whether what ends here reaches the name that follows: `os.`, `libc::`, `import `, `(`, `"`.
fn is_reached(before: &[u8]) -> bool {
    ends_in_reach(before) || ends_in_reach(without_comments(before))
}

fn ends_in_reach(before: &[u8]) -> bool {
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
        return !before.ends_with(UNREACHED.as_bytes());
    }
    b".:,({[".contains(last) || before.ends_with(b"import")
}

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

/// Modules whose names a rule wants to be reached, and that are known to be imported whole.
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
pub(super) fn is_starred(bytes: &[u8]) -> bool {
    let python = || {
        memmem::find_iter(bytes, b"import *").any(|at| {
            let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
            STARRED
                .iter()
                .any(|name| before.ends_with(format!("from {name}").as_bytes()))
        })
    };
    python()
        || memmem::find(bytes, b"open::*").is_some()
        || memmem::find(bytes, b"opener::*").is_some()
}

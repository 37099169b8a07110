//! What reaches a name: a point, an import, a literal that asks for it.

use memchr::memmem;

use super::word::{Bytes, In};
use crate::rules::BY_NAME;
use crate::source::{Language, is_word};

/// What asks for a name by a literal in Python.
pub(in crate::filter) fn asking() -> impl Iterator<Item = &'static str> {
    BY_NAME.split('|').chain(["getattr"])
}

/// Whether what ends here reaches the name that follows: `os.`, `libc::`, `import `, `(`, `"`.
pub(super) fn is_reached(before: &[u8], of: &In<'_>) -> bool {
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
        // As in `getattr(os, "fork")`: in a whole file any literal where names are asked for by one, behind
        // the lexer's pass any that is not said to be no name.
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
pub(super) fn may_import(before: &[u8], of: &In<'_>) -> bool {
    let window = before.get(before.len().saturating_sub(LONGEST)..);
    let window = window.unwrap_or(before);
    let cut = window.len() < before.len();
    match (of.kind, of.language) {
        (Bytes::Code, language) => imports(window, cut, language),
        (Bytes::Raw, language @ Language::Python) if memmem::find(window, b"import").is_none() => {
            cut && imports(window, cut, language)
        }
        (Bytes::Raw, language @ Language::Python) => match list_before(window, cut) {
            Some((list, cut)) => imports(&list, cut, language),
            None => true,
        },
        (Bytes::Raw, Language::Rust) => true,
    }
}

/// What may be a list of names at the end of these lines of Python, without comments, and whether it may have
/// begun before them, where others are `cut` off; none where a `#` may be no comment's.
fn list_before(lines: &[u8], cut: bool) -> Option<(Vec<u8>, bool)> {
    let mut parts = Vec::new();
    let mut begins = !cut;
    // From the last line on, which goes on: most lists end there.
    let mut lines = lines.rsplit(|byte| *byte == b'\n').peekable();
    let mut ending: &[u8] = b"";
    while let Some(line) = lines.next() {
        if cut && lines.peek().is_none() {
            // Who knows what its first part was.
            break;
        }
        let own = memchr::memchr(b'#', line).unwrap_or(line.len());
        let (own, comment) = line.split_at(own);
        if memmem::find(comment, b"import").is_some() {
            return None;
        }
        let own = own.strip_suffix(b"\r").unwrap_or(own);
        let (own, ending_own): (&[u8], &[u8]) = match own.strip_suffix(b"\\") {
            // It goes on with the next one.
            Some(own) if comment.is_empty() => (own, b" "),
            _ => (own, ending),
        };
        parts.push(ending_own);
        ending = b"\n";
        if let Some(at) = own
            .iter()
            .rposition(|byte| !is_listed(*byte, Language::Python))
        {
            parts.push(own.get(at + 1..).unwrap_or_default());
            begins = true;
            break;
        }
        parts.push(own);
    }
    parts.reverse();
    Some((parts.concat(), !begins))
}

/// Whether a byte may stand in a list of imported names.
fn is_listed(byte: u8, language: Language) -> bool {
    // Behind a group of names that is closed the list may go on.
    let closes = byte == b'}' && language == Language::Rust;
    is_word(byte) || closes || b" \t\x0c\r\n,({*:.".contains(&byte)
}

/// Whether such a list goes on behind these bytes, before which others may be `cut` off.
fn imports(window: &[u8], cut: bool, language: Language) -> bool {
    let list = match window.iter().rposition(|byte| !is_listed(*byte, language)) {
        Some(at) => window.get(at + 1..).unwrap_or_default(),
        // It may have begun before.
        None if cut => return true,
        None => window,
    };
    // A name may have these letters in it: `path as import_path`.
    let stands_alone = |at: usize, keyword: &[u8]| {
        let before = at.checked_sub(1).and_then(|at| list.get(at));
        let behind = list.get(at + keyword.len());
        !before.into_iter().chain(behind).any(|byte| is_word(*byte))
    };
    let behind = |keyword: &[u8]| {
        let mut found = memmem::rfind_iter(list, keyword);
        let at = found.find(|at| stands_alone(*at, keyword))?;
        list.get(at + keyword.len()..).map(<[u8]>::trim_ascii_start)
    };
    behind(b"use").is_some()
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

//! Python string literals: prefixes, quotes, escapes, and the holes of f-strings.

use super::literals::ends::{end, is_format};
use crate::facts::tree::Piece;
use crate::source::Span;

/// A string literal taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal {
    /// `r`: backslashes stand for themselves.
    pub(super) raw: bool,
    /// `b`: each character is one byte.
    pub(super) bytes: bool,
    /// `f` or `t`: braces hold values.
    pub(super) format: bool,
    /// Between the quotes.
    pub(super) body: Span,
}

/// A value put into a format string.
#[derive(Clone, Debug)]
pub(super) struct Hole {
    /// From brace to brace.
    pub(super) span: Span,
    /// The expression.
    pub(super) value: Span,
    /// Holes of its format.
    pub(super) nested: Vec<Hole>,
}

/// Takes the literal at `span` apart. An unterminated one reaches to the span's end.
pub(super) fn open(text: &str, span: Span) -> Literal {
    let bytes = text
        .get(span.start as usize..span.end as usize)
        .unwrap_or_default()
        .as_bytes();
    let letters = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let prefix = bytes.get(..letters).unwrap_or_default();
    let has = |letter: u8| prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    let rest = bytes.get(letters..).unwrap_or_default();
    let quote = rest.first().copied().unwrap_or_default();
    let width = if rest.len() >= 6 && rest.iter().take(3).all(|byte| *byte == quote) {
        3
    } else {
        1
    };
    let start = (letters + width).min(bytes.len());
    let inner = bytes.get(start..).unwrap_or_default();
    let closed = inner.len() >= width && inner.iter().rev().take(width).all(|byte| *byte == quote);
    let end = if closed {
        bytes.len() - width
    } else {
        bytes.len()
    };
    let base = span.start as usize;
    Literal {
        raw: has(b'r'),
        bytes: has(b'b'),
        format: has(b'f') || has(b't'),
        body: Span::new(base + start, base + end),
    }
}

/// Adds the constant text at `span` of a literal to `pieces`, escapes resolved, each escape in a
/// piece of its own.
pub(super) fn cook(text: &str, literal: Literal, span: Span, pieces: &mut Vec<Piece>) {
    let (mut at, end) = (span.start as usize, span.end as usize);
    let mut run = at;
    while at < end {
        let rest = text.get(at..end).unwrap_or_default();
        let Some((cooked, length)) = special(rest, literal) else {
            at += rest.chars().next().map_or(end - at, char::len_utf8);
            continue;
        };
        constant(text, run, at, pieces);
        let span = Span::new(at, at + length);
        pieces.push(Piece::Text { text: cooked, span });
        at += length;
        run = at;
    }
    constant(text, run, end, pieces);
}

fn constant(text: &str, start: usize, end: usize, pieces: &mut Vec<Piece>) {
    match text.get(start..end) {
        None | Some("") => {}
        Some(run) => {
            let span = Span::new(start, end);
            pieces.push(Piece::Text {
                text: run.to_owned(),
                span,
            });
        }
    }
}

/// What the start of `rest` stands for, if not for itself, and its length.
fn special(rest: &str, literal: Literal) -> Option<(String, usize)> {
    let bytes = rest.as_bytes();
    let own = |text: &str, length| Some((text.to_owned(), length));
    match bytes {
        [b'\r', b'\n', ..] => own("\n", 2),
        [b'\r', ..] => own("\n", 1),
        [b'{', b'{', ..] if literal.format => own("{", 2),
        [b'}', b'}', ..] if literal.format => own("}", 2),
        [b'\\', second, ..] if !literal.raw => escape(rest, *second, literal.bytes),
        _ => None,
    }
}

fn escape(rest: &str, second: u8, bytes: bool) -> Option<(String, usize)> {
    let own = |text: &str| Some((text.to_owned(), 2));
    match second {
        b'\r' if rest.as_bytes().get(2) == Some(&b'\n') => Some((String::new(), 3)),
        b'\n' | b'\r' => own(""),
        b'\\' => own("\\"),
        b'\'' => own("'"),
        b'"' => own("\""),
        b'a' => own("\u{7}"),
        b'b' => own("\u{8}"),
        b'f' => own("\u{c}"),
        b'n' => own("\n"),
        b'r' => own("\r"),
        b't' => own("\t"),
        b'v' => own("\u{b}"),
        b'0'..=b'7' => {
            let digits = rest.bytes().skip(1).take(3);
            let length = digits
                .take_while(|byte| matches!(byte, b'0'..=b'7'))
                .count();
            code(rest.get(1..=length)?, 8, 1 + length)
        }
        b'x' => code(rest.get(2..4)?, 16, 4),
        b'u' if !bytes => code(rest.get(2..6)?, 16, 6),
        b'U' if !bytes => code(rest.get(2..10)?, 16, 10),
        b'N' if !bytes && rest.as_bytes().get(2) == Some(&b'{') => {
            // Names of characters would need a table; none of them is a word of a command.
            let mut name = rest.bytes().take(LONGEST_NAME);
            let end = name.position(|byte| byte == b'}');
            end.map(|end| ("\u{fffd}".to_owned(), end + 1))
        }
        _ => None,
    }
}

fn code(digits: &str, radix: u32, length: usize) -> Option<(String, usize)> {
    if digits.starts_with('+') {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((char.to_string(), length))
}

/// The longest name of a character is shorter (bytes, with `\N{` and `}`).
const LONGEST_NAME: usize = 128;

/// The holes of a format string, in order. A brace that does not close opens none, and nothing behind it
/// does: to look there again, for each brace, would take as long as there are ways to nest them.
pub(super) fn holes(text: &str, literal: Literal) -> Vec<Hole> {
    holes_and_rest(text, literal).0
}

/// The same, and whether one does not close.
pub(super) fn holes_and_rest(text: &str, literal: Literal) -> (Vec<Hole>, bool) {
    let mut found = (Vec::new(), false);
    if literal.format {
        let end = literal.body.end as usize;
        let bytes = text.as_bytes().get(..end).unwrap_or_default();
        let start = literal.body.start as usize;
        constant_part(bytes, start, literal.raw, false, &mut found);
    }
    found
}

/// Goes over constant text from `at`, collecting holes; in a format it ends before the `}` that
/// closes the hole around it. Gives the place where it ends.
fn constant_part(
    bytes: &[u8],
    mut at: usize,
    raw: bool,
    format: bool,
    found: &mut (Vec<Hole>, bool),
) -> usize {
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        at += match rest {
            [b'{', b'{', ..] if !format => 2,
            [b'}', ..] if format => return at,
            [b'\\', b'N', b'{', ..] if !raw => rest
                .iter()
                .take(LONGEST_NAME)
                .position(|byte| *byte == b'}')
                .map_or(3, |end| end + 1),
            [b'\\', next, ..] if !raw && *next != b'{' && *next != b'}' => 2,
            [b'{', ..] => {
                let Some(hole) = hole(bytes, at, raw) else {
                    found.1 = true;
                    return bytes.len();
                };
                let length = hole.span.len();
                found.0.push(hole);
                length
            }
            _ => 1,
        };
    }
    at
}

/// The hole whose brace opens at `start`; none if it does not close.
fn hole(bytes: &[u8], start: usize, raw: bool) -> Option<Hole> {
    let mut at = start + 1;
    let mut depth = 0_usize;
    loop {
        at += match (*bytes.get(at)?, bytes.get(at + 1)) {
            (b'"' | b'\'', _) => quoted(bytes, at),
            // A comment, which may hold anything.
            (b'#', _) => {
                let rest = bytes.get(at..)?;
                memchr::memchr2(b'\n', b'\r', rest)?
            }
            (b'!', Some(b'=')) => 2,
            (b'}' | b'!' | b':', _) if depth == 0 => break,
            (b'(' | b'[' | b'{', _) => {
                depth += 1;
                1
            }
            (b')' | b']' | b'}', _) => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
    }
    let value = trim(bytes, start + 1, at);
    let mut nested = (Vec::new(), false);
    if bytes.get(at) == Some(&b'!') {
        let rest = bytes.get(at..)?;
        at += rest.iter().position(|byte| matches!(byte, b':' | b'}'))?;
    }
    if bytes.get(at) == Some(&b':') {
        at = constant_part(bytes, at + 1, raw, true, &mut nested);
    }
    (bytes.get(at) == Some(&b'}')).then(|| Hole {
        span: Span::new(start, at + 1),
        value,
        nested: nested.0,
    })
}

/// Length of the string literal whose first quote stands at `at`.
fn quoted(bytes: &[u8], at: usize) -> usize {
    let format = is_format(bytes, at);
    end(bytes, at, format).0.saturating_sub(at).max(1)
}

/// The expression between `start` and `end`: without white space and the `=` that shows itself.
fn trim(bytes: &[u8], mut start: usize, mut end: usize) -> Span {
    let at = |at: usize| bytes.get(at).copied().unwrap_or_default();
    while start < end && at(start).is_ascii_whitespace() {
        start += 1;
    }
    while start < end && at(end - 1).is_ascii_whitespace() {
        end -= 1;
    }
    if end > start + 1 && at(end - 1) == b'=' && !matches!(at(end - 2), b'=' | b'!' | b'<' | b'>') {
        end -= 1;
        while start < end && at(end - 1).is_ascii_whitespace() {
            end -= 1;
        }
    }
    Span::new(start, end)
}

#[cfg(test)]
mod tests;

//! From comments to markers: signs taken off, continuation lines joined, other tools' words cut.

use super::grammar::{self, Reading};
use crate::facts::tree::{Comment, CommentKind, Tree};
use crate::source::{Source, Span};

/// What other tools read in a comment behind a `#` (or `//`) of its own, in lower case.
const PRAGMAS: &[&str] = &[
    "noqa",
    "type:",
    "pylint:",
    "nosec",
    "pragma:",
    "pyright:",
    "mypy:",
    "fmt:",
    "isort:",
    "ruff:",
    "flake8:",
    "yapf:",
    "ty:",
    "pyre-",
    "nosemgrep",
    "nosonar",
    "noinspection",
    "bandit:",
    "codespell:",
    "cspell:",
    "spellchecker:",
    "typos:",
    "~",
];

/// A comment that is or was meant to be a marker.
#[derive(Debug)]
pub(super) struct Note {
    /// The comment in which it opens.
    pub(super) comment: Comment,
    /// Its first line, from the comment's sign on.
    pub(super) span: Span,
    /// The last line of its reason.
    pub(super) last_line: u32,
    /// What it says.
    pub(super) reading: Reading,
}

/// Every marker and near miss of a file, in source order.
pub(super) fn notes(source: &Source, tree: &Tree) -> Vec<Note> {
    let mut found = Vec::new();
    for (index, comment) in tree.comments.iter().enumerate() {
        let following = tree.comments.get(index + 1..).unwrap_or_default();
        found.extend(match comment.kind {
            CommentKind::Line => line_note(source, *comment, following),
            CommentKind::Block => block_note(source, *comment),
            CommentKind::Doc => None,
        });
    }
    found
}

fn line_note(source: &Source, comment: Comment, following: &[Comment]) -> Option<Note> {
    let first = line_body(source, comment);
    if grammar::read(first) == Reading::Other {
        return None;
    }
    let mut text = cut(first).to_owned();
    let mut last_line = source.line(comment.span.start);
    for next in following {
        let body = cut(line_body(source, *next));
        if !continues(source, comment, *next, last_line) || !is_reason(body) {
            break;
        }
        last_line += 1;
        text = format!("{} {body}", text.trim_end());
    }
    Some(Note {
        comment,
        span: comment.span,
        last_line,
        reading: grammar::read(&text),
    })
}

/// Whether `next` stands where a continuation line of `comment` does. That of a trailing comment is
/// aligned with it: else it speaks of the code below.
fn continues(source: &Source, comment: Comment, next: Comment, last_line: u32) -> bool {
    let place = source.position(next.span.start);
    next.kind == CommentKind::Line
        && next.own_line
        && place.line == last_line + 1
        && (comment.own_line || place.column == source.position(comment.span.start).column)
}

fn block_note(source: &Source, comment: Comment) -> Option<Note> {
    let text = source.slice(comment.span);
    let inner = text.strip_prefix("/*").unwrap_or(text);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let mut lines = inner
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            0 => line.trim(),
            _ => line.trim_start().trim_start_matches('*').trim(),
        });
    let first = lines.find(|line| !line.is_empty())?;
    if grammar::read(first) == Reading::Other {
        return None;
    }
    let mut text = cut(first).to_owned();
    for body in lines.map(cut).take_while(|body| is_reason(body)) {
        text = format!("{} {body}", text.trim_end());
    }
    let first_line = source
        .slice(comment.span)
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end()
        .len();
    let span = Span::new(
        comment.span.start as usize,
        comment.span.start as usize + first_line,
    );
    let last_line = source.line(comment.span.end.saturating_sub(1));
    Some(Note {
        comment,
        span,
        last_line,
        reading: grammar::read(&text),
    })
}

/// Whether a line goes on with the reason: not blank, no marker, no other tool's.
fn is_reason(body: &str) -> bool {
    !body.is_empty() && !is_pragma(body) && grammar::read(body) == Reading::Other
}

fn line_body(source: &Source, comment: Comment) -> &str {
    let text = source.slice(comment.span);
    text.strip_prefix("//")
        .or_else(|| text.strip_prefix('#'))
        .unwrap_or(text)
        .trim()
}

/// A line up to the sign of another tool's pragma.
fn cut(line: &str) -> &str {
    let signs = line.match_indices('#').chain(line.match_indices("//"));
    let pragma = signs.filter(|(at, sign)| {
        let before = line.get(..*at).unwrap_or_default();
        (before.is_empty() || before.ends_with([' ', '\t', ':']))
            && line
                .get(at + sign.len()..)
                .is_some_and(|after| is_pragma(after.trim_start()))
    });
    let end = pragma.map(|(at, _)| at).min().unwrap_or(line.len());
    line.get(..end).unwrap_or(line).trim_end()
}

fn is_pragma(text: &str) -> bool {
    PRAGMAS.iter().any(|pragma| {
        let Some((start, rest)) = text.split_at_checked(pragma.len()) else {
            return false;
        };
        let whole = !pragma.ends_with(char::is_alphanumeric)
            || !rest.starts_with(|char: char| char.is_alphanumeric());
        start.eq_ignore_ascii_case(pragma) && whole
    })
}

/// Lines of documentation that open with the marker: where, and where their documentation ends.
pub(super) fn documented(source: &Source, tree: &Tree) -> Vec<(Span, u32)> {
    let comments = tree
        .comments
        .iter()
        .filter(|comment| comment.kind == CommentKind::Doc)
        .map(|comment| comment.span);
    let mut spans: Vec<Span> = comments.chain(tree.docs.iter().copied()).collect();
    spans.sort_unstable();
    let mut found = Vec::new();
    for span in spans {
        for line in
            source.line(span.start)..=source.line(span.end.saturating_sub(1).max(span.start))
        {
            let line = source.line_span(line);
            let part = Span {
                start: line.start.max(span.start),
                end: line.end.min(span.end),
            };
            let text = source.slice(part);
            let body = text.trim_start_matches(|char: char| {
                char.is_whitespace() || "/*!#:\"'rRuU".contains(char)
            });
            if matches!(grammar::read(body), Reading::Marker(_)) {
                let start = part.end as usize - body.len();
                found.push((Span::new(start, start + body.trim_end().len()), span.end));
            }
        }
    }
    found
}

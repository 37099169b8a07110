//! From comments to markers: signs taken off, continuation lines joined, other tools' words cut.

use super::grammar::{self, Reading};
use crate::facts::tree::{Comment, CommentKind, Tree};
use crate::source::{Source, Span};

/// What other tools read in a comment behind a `#` (or `//`) of its own, in lower case.
pub(super) const PRAGMAS: &[&str] = &[
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
    /// All of it, to the end of its reason and without another tool's words behind it; none where
    /// such words stand in between.
    pub(super) whole: Option<Span>,
    /// What it says.
    pub(super) reading: Reading,
}

/// Every marker and near miss of a file, in source order.
pub(super) fn notes(source: &Source, tree: &Tree, marker: &str) -> Vec<Note> {
    let mut found = Vec::new();
    for (index, comment) in tree.comments.iter().enumerate() {
        let following = tree.comments.get(index + 1..).unwrap_or_default();
        found.extend(match comment.kind {
            CommentKind::Line => line_note(source, *comment, following, marker),
            CommentKind::Block => block_note(source, *comment, marker),
            CommentKind::Doc => None,
        });
    }
    found
}

fn line_note(
    source: &Source,
    comment: Comment,
    following: &[Comment],
    marker: &str,
) -> Option<Note> {
    let first = line_body(source, comment);
    if grammar::read(marker, first) == Reading::Other {
        return None;
    }
    let mut text = cut(first).to_owned();
    let mut last_line = source.line(comment.span.start);
    let mut whole = Some(before_pragma(source, comment));
    for next in following {
        let line = line_body(source, *next);
        let body = cut(line);
        if !continues(source, comment, *next, last_line) || !is_reason(body, marker) {
            break;
        }
        last_line += 1;
        text = format!("{} {body}", text.trim_end());
        let uncut = before_pragma(source, comment) == comment.span && body == line;
        whole = whole.filter(|_| uncut).map(|own| own.to(next.span));
    }
    Some(Note {
        comment,
        span: comment.span,
        last_line,
        whole,
        reading: grammar::read(marker, &text),
    })
}

/// A comment up to the sign of another tool's pragma.
fn before_pragma(source: &Source, comment: Comment) -> Span {
    let body = line_body(source, comment);
    let kept = cut(body);
    if kept.len() == body.len() {
        return comment.span;
    }
    let text = source.slice(comment.span);
    let start = text.find(body).unwrap_or_default();
    let blank = body.get(kept.len()..).unwrap_or_default();
    let blank = blank.len() - blank.trim_start().len();
    let end = comment.span.start as usize + start + kept.len() + blank;
    Span::new(comment.span.start as usize, end)
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

fn block_note(source: &Source, comment: Comment, marker: &str) -> Option<Note> {
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
    if grammar::read(marker, first) == Reading::Other {
        return None;
    }
    let mut text = cut(first).to_owned();
    for body in lines.map(cut).take_while(|body| is_reason(body, marker)) {
        text = format!("{} {body}", text.trim_end());
    }
    let whole = inner.lines().all(|line| {
        let line = line.trim_start().trim_start_matches('*').trim();
        cut(line).len() == line.len()
    });
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
        whole: whole.then_some(comment.span),
        reading: grammar::read(marker, &text),
    })
}

/// Whether a line goes on with the reason: not blank, no marker, no other tool's.
fn is_reason(body: &str, marker: &str) -> bool {
    !body.is_empty() && !is_pragma(body) && grammar::read(marker, body) == Reading::Other
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
pub(super) fn documented(source: &Source, tree: &Tree, marker: &str) -> Vec<(Span, u32)> {
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
            if matches!(grammar::read(marker, body), Reading::Marker(_)) {
                let start = part.end as usize - body.len();
                found.push((Span::new(start, start + body.trim_end().len()), span.end));
            }
        }
    }
    found
}

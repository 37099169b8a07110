//! The lines of a source that a finding shows: safe to print, of bearable length, marks in place.

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::report::summary::{is_bidi, plain};
use crate::source::{Position, Source, Span};

/// Longer lines are cut around their first mark.
const LONGEST: usize = 240;
/// How much of a cut line stands before its first mark.
const BEFORE: usize = 60;
/// Marks that end further below the first one are not shown.
const MOST_LINES: u32 = 400;

/// A place to underline.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) span: Span,
    pub(super) label: Option<String>,
}

/// Some lines of a source, cleaned, with marks that fit the cleaned text.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    first_line: u32,
    marks: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    offset: usize,
    len: usize,
    at: Position,
    label: Option<String>,
}

impl Excerpt {
    /// The lines from the one before the first mark to the one after the last; none without marks.
    pub(super) fn new(source: &Source, mut marks: Vec<Mark>) -> Option<Self> {
        marks.sort_by_key(|mark| mark.span);
        let first = source.line(marks.first()?.span.start);
        let limit = first.saturating_add(MOST_LINES);
        let ends = |mark: &Mark| source.line(last_byte(mark.span));
        let mut index = 0;
        marks.retain(|mark| {
            index += 1;
            index == 1 || ends(mark) < limit
        });
        let last = marks.iter().map(ends).max().unwrap_or(first).min(limit);
        let first_line = source.line_before(source.line_span(first).start);
        let last_line = source.line_after(source.line_span(last).start);
        let mut text = String::new();
        let mut map = Vec::new();
        for line in first_line..=last_line {
            if line > first_line {
                text.push('\n');
            }
            push_line(source, line, &marks, &mut text, &mut map);
        }
        if text.is_empty() {
            text.push(' '); // Nothing can be read of an empty text.
        }
        let place = |at: u32| {
            let index = map.partition_point(|(from, _)| *from < at);
            map.get(index).map_or(text.len(), |(_, to)| *to)
        };
        let placed = marks.iter().map(|mark| {
            let offset = place(mark.span.start);
            let len = place(mark.span.end).saturating_sub(offset);
            Placed {
                offset,
                len,
                at: source.position(mark.span.start),
                label: mark.label.clone(),
            }
        });
        // What lies in the cut part of a long line has no length here.
        let marks = placed
            .enumerate()
            .filter(|(index, mark)| *index == 0 || mark.len > 0);
        let marks = marks.map(|(_, mark)| mark).collect();
        // A notebook's lines are counted in their cell, as people see them.
        let (cell, number) = match source.cell(source.line_span(first_line).start) {
            Some((cell, line)) => (format!(":cell {cell}"), line),
            None => (String::new(), first_line),
        };
        Some(Self {
            name: plain(&source.path) + &cell,
            text,
            first_line: number,
            marks,
        })
    }

    /// What is underlined; the first mark gives the place in the header.
    pub(super) fn labels(&self) -> Box<dyn Iterator<Item = LabeledSpan> + '_> {
        Box::new(self.marks.iter().enumerate().map(|(index, mark)| {
            let span = (mark.offset, mark.len);
            if index == 0 {
                LabeledSpan::new_primary_with_span(mark.label.clone(), span)
            } else {
                LabeledSpan::new_with_span(mark.label.clone(), span)
            }
        }))
    }
}

const fn last_byte(span: Span) -> u32 {
    let last = span.end.saturating_sub(1);
    if last > span.start { last } else { span.start }
}

/// Adds one line, and for each of its characters where it went.
fn push_line(
    source: &Source,
    line: u32,
    marks: &[Mark],
    text: &mut String,
    map: &mut Vec<(u32, usize)>,
) {
    let span = source.line_span(line);
    let whole = source.slice(span);
    let body = whole.trim_end_matches(['\n', '\r']);
    let window = window(span, body, marks);
    let mut cut = false;
    for (at, char) in body.char_indices() {
        let at_source = span.start + u32::try_from(at).unwrap_or(u32::MAX);
        if !window.contains(&at) {
            if !std::mem::replace(&mut cut, true) {
                text.push('…');
            }
            continue;
        }
        cut = false;
        map.push((at_source, text.len()));
        if char != '\u{feff}' {
            text.push(shown(char));
        }
    }
    map.push((
        span.start + u32::try_from(body.len()).unwrap_or(u32::MAX),
        text.len(),
    ));
}

/// Which bytes of a long line are shown: those around its first mark.
fn window(span: Span, body: &str, marks: &[Mark]) -> std::ops::Range<usize> {
    if body.len() <= LONGEST {
        return 0..body.len();
    }
    let inside = |mark: &&Mark| mark.span.end >= span.start && mark.span.start < span.end;
    let first = marks.iter().find(inside).map_or(0, |mark| {
        mark.span.start.saturating_sub(span.start) as usize
    });
    let start = first.saturating_sub(BEFORE);
    start..start + LONGEST
}

/// A character as it may go to a terminal: nothing that moves the cursor or turns the writing.
fn shown(char: char) -> char {
    match char {
        '\t' => char,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if char.is_control() || is_bidi(char) => '\u{fffd}',
        _ => char,
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        // The place in the header is the source's, not that of the excerpt, whose lines may be cut.
        let mark = self
            .marks
            .iter()
            .find(|mark| mark.offset == span.offset() && before == 0 && mark.len == span.len());
        let column = mark.map_or(inner.column(), |mark| {
            mark.at.column.saturating_sub(1) as usize
        });
        let line = inner.line() + self.first_line.saturating_sub(1) as usize;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            line,
            column,
            inner.line_count(),
        )))
    }
}

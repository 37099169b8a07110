//! Findings and problems as diagnostics of the protocol. What is accounted for is none.

use serde_json::{Value, json};

use super::document::{Document, Judged};
use super::lines::Lines;
use crate::report::FileReport;
use crate::report::summary::{Entry, Weight, entries};
use crate::source::{Position, Source, Span};

/// Everything that a document's editor shows; `related`, if it shows other places too.
pub(super) fn all(document: &Document, related: bool) -> Vec<Value> {
    let lines = Lines::new(&document.text);
    let report = match document.judged() {
        Judged::Nothing => return Vec::new(),
        // Without a configuration nothing is known, as for a run, which would stop here.
        Judged::Fault(fault) => {
            return vec![json!({
                "range": lines.range(Span::default()),
                "severity": severity(Weight::Error),
                "source": env!("CARGO_PKG_NAME"),
                "message": fault,
            })];
        }
        Judged::Report(_, report) => report,
    };
    let uri = related.then_some(document.uri.as_str());
    let entries = entries(report);
    let all = entries.iter().map(|entry| one(entry, &lines, uri));
    all.collect()
}

/// One of them; `uri` is the document's, if other places are shown.
pub(super) fn one(entry: &Entry<'_>, lines: &Lines<'_>, uri: Option<&str>) -> Value {
    let mut diagnostic = json!({
        "range": lines.range(place(entry)),
        "severity": severity(entry.weight()),
        "code": entry.title(),
        "source": env!("CARGO_PKG_NAME"),
        "message": entry.told("\n"),
    });
    let notes = match entry {
        Entry::Finding(_, finding) => finding.notes.as_slice(),
        Entry::Problem(..) => &[],
    };
    if let (Some(uri), false, Some(own)) = (uri, notes.is_empty(), diagnostic.as_object_mut()) {
        let related = notes.iter().map(|(span, message)| {
            let location = json!({ "uri": uri, "range": lines.range(*span) });
            json!({ "location": location, "message": message })
        });
        own.insert("relatedInformation".to_owned(), related.collect());
    }
    diagnostic
}

const fn severity(weight: Weight) -> u8 {
    match weight {
        Weight::Error => 1,
        Weight::Warning => 2,
        Weight::Info => 3,
    }
}

/// A finding's evidence; the place of a problem, which has no end.
fn place(entry: &Entry<'_>) -> Span {
    match entry {
        Entry::Finding(_, finding) => finding.place(),
        Entry::Problem(Some(FileReport { source, .. }), problem) => {
            let at = problem.position.map(|position| offset(source, position));
            let at = at.unwrap_or_default();
            Span { start: at, end: at }
        }
        Entry::Problem(None, _) => Span::default(),
    }
}

/// The byte offset of a position, which counts code points and no byte order mark.
fn offset(source: &Source, position: Position) -> u32 {
    let line = source.line_span(position.line);
    let text = source.slice(line);
    let mark = usize::from(line.start == 0 && text.starts_with('\u{feff}'));
    let before = text
        .chars()
        .take((position.column as usize).saturating_sub(1) + mark);
    let bytes: usize = before.map(char::len_utf8).sum();
    line.start
        .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX))
}

//! Puts markers in, without a reason: a person gives it.

use super::{Edit, Edited, Sense, line_break, replaced, sense, senses};
use crate::justify::Terms;
use crate::report::summary::fails;
use crate::report::{FileReport, Finding, FindingId, Verdict};
use crate::source::{Language, Source, Span};

/// Puts a marker to each spawn that fails for want of one, so that it reaches that spawn alone;
/// `judge` judges a text in place of the file's own. Where no place does that, nothing changes.
pub fn add(file: &FileReport, terms: &Terms, judge: impl Fn(String) -> FileReport) -> Edited {
    let mut edited = Edited {
        text: file.source.text.clone(),
        changes: 0,
        left: Vec::new(),
    };
    let mut now: Option<FileReport> = None;
    for index in 0..file.findings.len() {
        let current = now.as_ref().unwrap_or(file);
        let failing = |own: &&Finding| is_bare(own) && fails(own);
        let Some(finding) = current.findings.get(index).filter(failing) else {
            continue;
        };
        match add_to(current, index, terms, &judge) {
            Some(edit) => {
                edited.text.clone_from(&edit.after.source.text);
                edited.changes += 1;
                now = Some(edit.after);
            }
            None => edited.left.push(current.source.line(finding.place().start)),
        }
    }
    edited
}

/// Puts a marker to the spawn at `index` of the findings, so that it reaches that spawn alone; none
/// where something speaks of it already, or no place does that.
pub fn add_to(
    file: &FileReport,
    index: usize,
    terms: &Terms,
    judge: impl Fn(String) -> FileReport,
) -> Option<Edit> {
    let finding = file.findings.get(index).filter(|own| is_bare(own))?;
    let mut expected = senses(file);
    expected.get_mut(index)?.0 = FindingId::EmptyJustification;
    let places = places(&file.source, finding, terms);
    let mut tried = places.into_iter().filter_map(|(at, with)| {
        let span = Span::new(at, at);
        let after = judge(replaced(&file.source.text, span, &with)?);
        Some(Edit { span, with, after })
    });
    tried.find(|edit| fits(&edit.after, file, &expected, index))
}

/// A spawn of which nothing speaks.
fn is_bare(finding: &Finding) -> bool {
    finding.id == FindingId::DetachingSpawn && finding.verdict == Verdict::Unjustified
}

/// Whether nothing but the finding at `index` is different, and that by its missing reason alone.
fn fits(after: &FileReport, before: &FileReport, expected: &[Sense], index: usize) -> bool {
    let empty = after.findings.get(index).map(sense);
    empty.as_ref() == expected.get(index)
        && senses(after) == expected
        && after.problems.len() == before.problems.len()
}

/// Where a marker may go and what is put there, the best place first: above the statement and above
/// the argument, which formatters leave alone, then behind the line of the evidence and behind the
/// statement; the same with the mechanisms named, which chooses among several spawns.
fn places(source: &Source, finding: &Finding, terms: &Terms) -> Vec<(usize, String)> {
    let sign = match source.language {
        Language::Python => "#",
        Language::Rust => "//",
    };
    let rules: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
    let bare = format!("{sign} {}:", terms.marker);
    let named = format!("{sign} {}[{}]:", terms.marker, rules.join(", "));
    let words = if terms.require_mechanism {
        vec![named]
    } else {
        vec![bare, named]
    };
    let evidence = finding.place();
    let statement = finding.statement;
    let last = |span: Span| source.line(span.end.saturating_sub(1).max(span.start));
    let mut places = Vec::new();
    for words in words {
        places.extend(above(source, statement.span.start, &words));
        places.extend(above(source, evidence.start, &words));
        places.extend(behind(source, last(evidence), &words));
        places.extend(behind(source, last(statement.header), &words));
    }
    places
}

/// A line of its own above the one on which `at` is the first code. A chain's dot may stand before.
fn above(source: &Source, at: u32, words: &str) -> Option<(usize, String)> {
    let line = source.line_span(source.line(at));
    let mark = if source.slice(line).starts_with('\u{feff}') {
        3
    } else {
        0
    };
    let start = line.start as usize + mark;
    let before = source.text.get(start..at as usize)?;
    let indent = before.trim_end_matches(['.', '?']);
    if !indent.trim().is_empty() || goes_on(&source.text, line.start as usize) {
        return None;
    }
    let end = line_break(&source.text, source.slice(line));
    Some((start, format!("{indent}{words}{end}")))
}

/// Whether the line that ends at `start` goes on in the next one, by a backslash: nothing may be put
/// between them.
fn goes_on(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.trim_end_matches(['\n', '\r']).ends_with('\\')
}

/// The end of line `line`, as far as anything stands on it.
fn behind(source: &Source, line: u32, words: &str) -> Option<(usize, String)> {
    let line = source.line_span(line);
    let code = source.slice(line).trim_end();
    let gap = match source.language {
        Language::Python => "  ",
        Language::Rust => " ",
    };
    let at = line.start as usize + code.len();
    (!code.is_empty()).then(|| (at, format!("{gap}{words}")))
}

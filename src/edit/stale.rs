//! Takes out markers that speak of nothing.

use super::{Edit, Edited, replaced, senses};
use crate::report::FileReport;
use crate::source::{Source, Span};

/// Takes each removable marker out; `judge` judges a text in place of the file's own.
pub fn remove(file: &FileReport, judge: impl Fn(String) -> FileReport) -> Edited {
    let mut edited = Edited {
        text: file.source.text.clone(),
        changes: 0,
        left: Vec::new(),
    };
    let mut now: Option<FileReport> = None;
    loop {
        let current = now.as_ref().unwrap_or(file);
        // Those that could not be taken out stand first, in order.
        let removable = current.findings.iter().enumerate();
        let mut removable = removable.filter(|(_, finding)| finding.removable.is_some());
        let Some((index, finding)) = removable.nth(edited.left.len()) else {
            return edited;
        };
        if let Some(edit) = remove_one(current, index, &judge) {
            edited.text.clone_from(&edit.after.source.text);
            edited.changes += 1;
            now = Some(edit.after);
        } else {
            let line = current.source.line(finding.place().start);
            edited.left.push(line);
        }
    }
}

/// Takes the marker at `index` of the findings out; none if it speaks of something, or if more than
/// that would change.
pub fn remove_one(
    file: &FileReport,
    index: usize,
    judge: impl Fn(String) -> FileReport,
) -> Option<Edit> {
    let comment = file.findings.get(index)?.removable?;
    let span = whole_lines(&file.source, comment);
    let after = judge(replaced(&file.source.text, span, "")?);
    let mut expected = senses(file);
    expected.remove(index);
    let same = senses(&after) == expected && after.problems.len() == file.problems.len();
    same.then(|| Edit {
        span,
        with: String::new(),
        after,
    })
}

/// A comment with what goes with it: its lines if it is alone on them, else the blanks before it;
/// the blanks behind it where something follows.
fn whole_lines(source: &Source, comment: Span) -> Span {
    let first = source.line_span(source.line(comment.start));
    let last = source.line_span(source.line(comment.end.saturating_sub(1).max(comment.start)));
    let before = source.slice(Span {
        start: first.start,
        end: comment.start,
    });
    let behind = source.slice(Span {
        start: comment.end,
        end: last.end,
    });
    let mark = if before.starts_with('\u{feff}') { 3 } else { 0 };
    let blank = before.trim_start_matches('\u{feff}').trim().is_empty();
    if !behind.trim().is_empty() {
        let kept = behind.trim_start_matches([' ', '\t']);
        let end = comment.end as usize + behind.len() - kept.len();
        return Span::new(comment.start as usize, end);
    }
    if blank {
        return Span::new(first.start as usize + mark, last.end as usize);
    }
    let start = first.start as usize + before.trim_end().len();
    Span::new(start, comment.end as usize)
}

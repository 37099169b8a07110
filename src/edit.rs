//! Changes of source text: markers put in without a reason, markers taken out that speak of nothing.
//!
//! Pure: what is written to files is the text that comes out. Every byte outside of a change stays.
//! Each change is judged before it is kept: the file is read again with it, and nothing else about
//! its findings may be different.

mod marker;
mod patch;
mod stale;

pub use marker::{add, add_to};
pub use patch::patch;
pub use stale::{remove, remove_one};

use crate::report::{FileReport, Finding, FindingId, Verdict};
use crate::source::Span;

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its text.
    pub text: String,
    /// How many markers were put in or taken out.
    pub changes: usize,
    /// Lines of what was to be changed and could not be.
    pub left: Vec<u32>,
}

/// One change of a text that is kept, and the file as it is judged with it.
#[derive(Debug)]
pub struct Edit {
    /// The bytes that go.
    pub span: Span,
    /// What comes in their place.
    pub with: String,
    /// The file afterwards.
    pub after: FileReport,
}

/// What a finding comes to, as far as a change elsewhere may not touch it.
type Sense = (FindingId, Verdict, Vec<&'static str>);

fn sense(finding: &Finding) -> Sense {
    let rules = finding.rules.iter().map(|rule| rule.id).collect();
    (finding.id, finding.verdict, rules)
}

fn senses(file: &FileReport) -> Vec<Sense> {
    file.findings.iter().map(sense).collect()
}

/// `text` with the bytes of `span` replaced; none where it does not fall on character borders.
fn replaced(text: &str, span: Span, with: &str) -> Option<String> {
    let before = text.get(..span.start as usize)?;
    let after = text.get(span.end as usize..)?;
    Some([before, with, after].concat())
}

/// The line break that ends the line of `span`, or that the file has first, or a line feed.
fn line_break<'a>(text: &'a str, line: &'a str) -> &'a str {
    let own = |text: &'a str| {
        let end = text.find(['\r', '\n'])?;
        let rest = text.get(end..)?;
        let length = if rest.starts_with("\r\n") { 2 } else { 1 };
        rest.get(..length)
    };
    own(line).or_else(|| own(text)).unwrap_or("\n")
}

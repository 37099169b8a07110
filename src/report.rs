//! What a run found, as plain data; the writers beside it turn it into text and decide nothing.

pub mod concise;
pub mod fingerprint;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod markdown;
pub mod paths;
pub mod rdjsonl;
#[cfg(test)]
pub(crate) mod sample;
pub mod sarif;
pub mod statistics;
pub mod summary;
pub mod xml;

use std::path::PathBuf;

use crate::facts::tree::Statement;
use crate::rules::{Certainty, Level, Rule};
use crate::source::{Position, Source, Span};

/// Everything that one run has to say.
#[derive(Debug, Default)]
pub struct Report {
    /// Files with something to say, sorted by path.
    pub files: Vec<FileReport>,
    /// What could not be read, without a file's text: sorted by path.
    pub problems: Vec<Problem>,
    /// How many files were looked at.
    pub seen: usize,
    /// How many of them were parsed, since a rule could match.
    pub scanned: usize,
    /// Whether it is the inventory of what is accounted for: then that is what writers list.
    pub inventory: bool,
}

/// What writers need to know besides.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The working directory from the repository's root, with `/`; empty at the root.
    pub prefix: &'a str,
    /// How many annotations are sent to GitHub.
    pub max_annotations: usize,
    /// Whether what people read ends in a line of counts.
    pub counts: bool,
}

/// One file's part of a report.
#[derive(Debug)]
pub struct FileReport {
    /// Its text.
    pub source: Source,
    /// Sorted by evidence, then id.
    pub findings: Vec<Finding>,
    /// Sorted by place.
    pub problems: Vec<Problem>,
    /// Its comments, in order: they do not count in a statement's text.
    pub comments: Vec<Span>,
    /// How it is opened.
    pub file: PathBuf,
}

/// One detaching spawn, or one fault of a justification.
#[derive(Debug)]
pub struct Finding {
    /// What kind of finding it is.
    pub id: FindingId,
    /// The mechanisms, in the order of [`crate::rules::ALL`]; none for a fault that stands alone.
    pub rules: Vec<&'static Rule>,
    /// The highest level of its mechanisms.
    pub level: Level,
    /// Whether it does or may detach.
    pub certainty: Certainty,
    /// What became of it.
    pub verdict: Verdict,
    /// The tokens that say so, in source order; at least one (a fault's: its comment).
    pub evidence: Vec<Span>,
    /// The call, chain or dictionary that it is part of.
    pub act: Span,
    /// The statement that holds it.
    pub statement: Statement,
    /// One sentence, no full stop.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Other places that matter.
    pub notes: Vec<(Span, String)>,
    /// The reason given for it, faulty or not.
    pub justification: Option<Justification>,
    /// What can be deleted without loss: a justification that speaks of nothing.
    pub removable: Option<Span>,
}

impl Finding {
    /// The one place that a report gives it: its first evidence.
    pub fn place(&self) -> Span {
        self.evidence.first().copied().unwrap_or(self.act)
    }
}

/// Ids of findings: a detaching spawn, and what can be wrong with a justification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingId {
    /// A detaching spawn; whether it fails the run is a matter of its verdict and level.
    DetachingSpawn,
    /// The reason is missing, too short or a placeholder.
    EmptyJustification,
    /// The brackets name other mechanisms than the finding has.
    MechanismMismatch,
    /// Several findings lie in the marker's reach.
    AmbiguousJustification,
    /// The day in `until=` has passed.
    ExpiredJustification,
    /// No finding lies in the marker's reach.
    UnusedJustification,
    /// It looks like a marker and is none.
    MalformedMarker,
}

impl FindingId {
    /// All of them, in the order of `--list-rules`.
    pub const ALL: [Self; 7] = [
        Self::DetachingSpawn,
        Self::EmptyJustification,
        Self::MechanismMismatch,
        Self::AmbiguousJustification,
        Self::ExpiredJustification,
        Self::UnusedJustification,
        Self::MalformedMarker,
    ];

    /// The id in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DetachingSpawn => "detaching-spawn",
            Self::EmptyJustification => "empty-justification",
            Self::MechanismMismatch => "mechanism-mismatch",
            Self::AmbiguousJustification => "ambiguous-justification",
            Self::ExpiredJustification => "expired-justification",
            Self::UnusedJustification => "unused-justification",
            Self::MalformedMarker => "malformed-marker",
        }
    }
}

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No valid justification.
    Unjustified,
    /// A valid justification.
    Justified,
    /// Covered by an `[[allow]]` of the configuration.
    Allowed,
    /// Known from the baseline.
    Baselined,
    /// A fault of a justification that stands alone.
    Fault,
}

impl Verdict {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unjustified => "unjustified",
            Self::Justified => "justified",
            Self::Allowed => "allowed",
            Self::Baselined => "baselined",
            Self::Fault => "fault",
        }
    }
}

/// A written reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Justification {
    /// The comment's first line, from its sign on; or the argument; for a reason of the
    /// configuration the evidence.
    pub span: Span,
    /// The reason, continuation lines joined by one space.
    pub reason: String,
    /// What stands in the brackets, in order.
    pub mechanisms: Vec<String>,
    /// The last day on which it holds.
    pub until: Option<Date>,
    /// Where it stands.
    pub origin: Origin,
}

/// Where a reason stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a comment.
    Comment,
    /// In an argument of `spawn_detached` or `--persist`.
    Argument,
    /// In the configuration.
    Configuration,
}

impl Origin {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Argument => "argument",
            Self::Configuration => "configuration",
        }
    }
}

/// A day of the Gregorian calendar, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// Something that could not be read or understood. It fails the run at every level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem it is.
    pub id: ProblemId,
    /// The file or folder, relative to the working directory, with `/`.
    pub path: String,
    /// Where in the file.
    pub position: Option<Position>,
    /// Lower case, no full stop: what was tried and what to do.
    pub message: String,
}

/// Ids of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemId {
    /// No parser understands all of it; the rest was judged.
    UnparsedFile,
    /// Its bytes are no text in its encoding.
    UndecodableFile,
    /// It cannot be opened, listed or read.
    UnreadablePath,
    /// It was left out: too large, no regular file.
    SkippedFile,
}

impl ProblemId {
    /// All of them, in the order of `--list-rules`.
    pub const ALL: [Self; 4] = [
        Self::UnparsedFile,
        Self::UndecodableFile,
        Self::UnreadablePath,
        Self::SkippedFile,
    ];

    /// The id in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnparsedFile => "unparsed-file",
            Self::UndecodableFile => "undecodable-file",
            Self::UnreadablePath => "unreadable-path",
            Self::SkippedFile => "skipped-file",
        }
    }
}

//! What a report comes to: counts, the exit status, and one line that says so.

use super::{FileReport, Finding, FindingId, Problem, Report, Verdict};
use crate::rules::Level;
use crate::source::{Position, Unit};

/// How much a report holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings that fail the run.
    pub denied: usize,
    /// Findings that do not.
    pub warnings: usize,
    /// Detaching spawns that no reason covers; those whose reason is faulty too.
    pub unjustified: usize,
    /// Detaching spawns that a reason, the configuration or the baseline covers.
    pub justified: usize,
    /// Those of them that the configuration covers.
    pub allowed: usize,
    /// Those of them that only the baseline covers.
    pub baselined: usize,
    /// What could not be read or understood.
    pub problems: usize,
}

impl Counts {
    /// Counts a report.
    pub fn of(report: &Report) -> Self {
        let mut counts = Self {
            problems: problems(report).count(),
            ..Self::default()
        };
        for finding in report.files.iter().flat_map(|file| &file.findings) {
            if is_covered(finding) {
                counts.justified += 1;
                counts.allowed += usize::from(finding.verdict == Verdict::Allowed);
                counts.baselined += usize::from(finding.verdict == Verdict::Baselined);
                continue;
            }
            counts.unjustified += usize::from(finding.verdict == Verdict::Unjustified);
            if fails(finding) {
                counts.denied += 1;
            } else {
                counts.warnings += 1;
            }
        }
        counts
    }

    /// Findings that no reason covers, and faults of reasons.
    pub const fn findings(self) -> usize {
        self.denied + self.warnings
    }

    /// Whether the run fails.
    pub const fn fails(self) -> bool {
        self.denied > 0 || self.problems > 0
    }
}

/// Whether a finding is in any output: a spawn whose mechanisms are all allowed is not, a fault of
/// its justification is.
pub fn is_shown(finding: &Finding) -> bool {
    finding.level != Level::Allow || finding.id != FindingId::DetachingSpawn
}

/// Whether a finding fails the run: at level deny, and each fault of a justification.
pub fn fails(finding: &Finding) -> bool {
    match finding.verdict {
        Verdict::Fault => true,
        Verdict::Unjustified => {
            finding.id != FindingId::DetachingSpawn || finding.level == Level::Deny
        }
        Verdict::Justified | Verdict::Allowed | Verdict::Baselined => false,
    }
}

/// Whether a finding is accounted for.
pub const fn is_covered(finding: &Finding) -> bool {
    matches!(
        finding.verdict,
        Verdict::Justified | Verdict::Allowed | Verdict::Baselined
    )
}

/// Every problem, sorted by path and place.
pub fn problems(report: &Report) -> impl Iterator<Item = &Problem> {
    let of_files = report.files.iter().flat_map(|file| &file.problems);
    let mut all: Vec<&Problem> = report.problems.iter().chain(of_files).collect();
    all.sort_by(|a, b| {
        (&a.path, a.position, a.id, &a.message).cmp(&(&b.path, b.position, b.id, &b.message))
    });
    all.into_iter()
}

/// Why a finding is accounted for.
pub fn why(finding: &Finding) -> &str {
    match (&finding.justification, finding.verdict) {
        (_, Verdict::Baselined) => "known from before, no reason given",
        (Some(given), _) => &given.reason,
        (None, verdict) => verdict.name(),
    }
}

/// How grave an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It is accounted for.
    Info,
    /// It does not fail the run.
    Warning,
    /// It fails the run.
    Error,
}

/// What a line of output is about.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// A finding that no reason covers.
    Finding(&'a FileReport, &'a Finding),
    /// A problem, with its file's text if it was read.
    Problem(Option<&'a FileReport>, &'a Problem),
}

impl<'a> Entry<'a> {
    /// The file, relative to the working directory.
    pub fn path(&self) -> &'a str {
        match self {
            Self::Finding(file, _) => &file.source.path,
            Self::Problem(_, problem) => &problem.path,
        }
    }

    /// Where in the file.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::Finding(file, finding) => {
                let start = finding.place().start;
                Some(file.source.told(start, Unit::CodePoints))
            }
            Self::Problem(_, problem) => problem.position,
        }
    }

    /// Its id, with the mechanisms if it has some.
    pub fn title(&self) -> String {
        match self {
            Self::Finding(_, finding) => title(finding),
            Self::Problem(_, problem) => problem.id.name().to_owned(),
        }
    }

    /// What is the matter, or why it is none; one sentence, no full stop.
    pub fn message(&self) -> &'a str {
        match self {
            Self::Finding(_, finding) if is_covered(finding) => why(finding),
            Self::Finding(_, finding) => &finding.message,
            Self::Problem(_, problem) => &problem.message,
        }
    }

    /// The message, then what to do; a problem's message says that already.
    pub fn told(&self, separator: &str) -> String {
        match self {
            Self::Finding(_, finding) if is_covered(finding) => {
                [finding.verdict.name(), ": ", why(finding)].concat()
            }
            Self::Finding(_, finding) => [&finding.message, separator, &finding.help].concat(),
            Self::Problem(_, problem) => problem.message.clone(),
        }
    }

    /// Whether it fails the run.
    pub fn fails(&self) -> bool {
        self.weight() == Weight::Error
    }

    /// How grave it is.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Problem(..) => Weight::Error,
            Self::Finding(_, finding) if fails(finding) => Weight::Error,
            Self::Finding(_, finding) if is_covered(finding) => Weight::Info,
            Self::Finding(..) => Weight::Warning,
        }
    }
}

/// Everything that people must look at, by path and place; of an inventory what is accounted for.
pub fn entries(report: &Report) -> Vec<Entry<'_>> {
    let unread = report.problems.iter();
    let mut entries: Vec<Entry<'_>> = unread
        .map(|problem| Entry::Problem(None, problem))
        .collect();
    for file in &report.files {
        let listed = |finding: &&Finding| is_covered(finding) == report.inventory;
        let open = file.findings.iter().filter(listed);
        entries.extend(open.map(|finding| Entry::Finding(file, finding)));
        let problems = file.problems.iter();
        entries.extend(problems.map(|problem| Entry::Problem(Some(file), problem)));
    }
    entries.sort_by_cached_key(|entry| (entry.path(), entry.position()));
    entries
}

/// The last line: `2 files, 1 finding (1 denied, 0 warnings), 0 justified, 0 problems`. What is
/// covered by something else than a reason in the source is said apart: `2 justified (1 allowed)`.
pub fn line(report: &Report) -> String {
    let counts = Counts::of(report);
    format!(
        "{}, {} ({} denied, {}), {} justified{}, {}",
        plural(report.seen, "file"),
        plural(counts.findings(), "finding"),
        counts.denied,
        plural(counts.warnings, "warning"),
        counts.justified,
        apart(counts),
        plural(counts.problems, "problem"),
    )
}

fn apart(counts: Counts) -> String {
    let parts = [(counts.allowed, "allowed"), (counts.baselined, "baselined")];
    let some = parts.iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> = some
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({})", said.join(", "))
    }
}

/// `1 file`, `2 files`.
pub fn plural(number: usize, word: &str) -> String {
    if number == 1 {
        format!("1 {word}")
    } else {
        format!("{number} {word}s")
    }
}

/// A finding's id with its mechanisms: `detaching-spawn[new-session]`.
pub fn title(finding: &Finding) -> String {
    let mechanisms: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
    if mechanisms.is_empty() {
        return finding.id.name().to_owned();
    }
    format!("{}[{}]", finding.id.name(), mechanisms.join(","))
}

/// Text for a terminal or a log: what would move the cursor, break the line or turn the writing
/// around is escaped, as names and sources may hold anything.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() || is_bidi(char) {
            plain.extend(char.escape_default());
        } else {
            plain.push(char);
        }
    }
    plain
}

/// Whether a character changes the direction of writing, and so can make text look like other text.
pub const fn is_bidi(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn levels_do_not_hide_faults() {
        let mut finding = sample::report().files.remove(0).findings.remove(1);
        assert!(is_shown(&finding) && fails(&finding));
        finding.level = Level::Warn;
        assert!(is_shown(&finding) && !fails(&finding));
        finding.level = Level::Allow;
        assert!(!is_shown(&finding) && !fails(&finding));
        finding.id = FindingId::EmptyJustification;
        assert!(is_shown(&finding) && fails(&finding));
    }

    #[test]
    fn text_cannot_move_the_cursor() {
        assert_eq!(plain("a\u{1b}[2J\nb\u{202e}é"), "a\\u{1b}[2J\\nb\\u{202e}é");
    }
}

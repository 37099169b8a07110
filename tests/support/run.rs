//! Collects the fixtures and runs the linter over them, as a library.

use std::path::Path;
use std::thread;

use check_detached_spawns::check::check;
use check_detached_spawns::decode::decode;
use check_detached_spawns::policy::Policy;
use check_detached_spawns::report::{
    Date, FileReport, Finding, FindingId, Problem, ProblemId, Verdict,
};
use check_detached_spawns::rules::Certainty;
use check_detached_spawns::source::{Language, Position, Source};

/// A source file under `fixtures/`.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    /// Relative to the repository, with `/`.
    pub(crate) path: String,
    /// How it is read.
    pub(crate) language: Language,
    /// What it says, decoded.
    pub(crate) text: String,
    /// The line on which it is no text, and why.
    pub(crate) fault: Option<(u32, String)>,
}

impl Fixture {
    /// Its text, with lines.
    pub(crate) fn source(&self) -> Source {
        Source::new(self.path.clone(), self.language, self.text.clone())
    }
}

/// The day on which fixtures are judged, for `until=`.
pub(crate) const TODAY: Date = Date {
    year: 2027,
    month: 1,
    day: 15,
};

/// Every Python and Rust file under `fixtures/`, sorted by path.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("fixtures")).sort_by_file_name() {
        let entry = entry.unwrap_or_else(|error| panic!("cannot list fixtures: {error}"));
        let language = match entry.path().extension().and_then(|end| end.to_str()) {
            Some("py" | "pyw") => Language::Python,
            Some("rs") => Language::Rust,
            _ => continue,
        };
        let bytes = std::fs::read(entry.path())
            .unwrap_or_else(|error| panic!("{}: {error}", entry.path().display()));
        let decoded = decode(language, &bytes);
        let line = |at: usize| 1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count();
        let fault = decoded
            .fault
            .map(|(at, why)| (u32::try_from(line(at)).unwrap_or(u32::MAX), why));
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let path = path.to_string_lossy().replace('\\', "/");
        found.push(Fixture {
            path,
            language,
            text: decoded.text,
            fault,
        });
    }
    found
}

/// Judges one text with the default levels: what decides of a finding depends on them, what is found
/// does not. The stack is as large as the one that the program
/// gives to its own threads; a panic comes back as an error, so that one file cannot hide the rest.
pub(crate) fn judge(fixture: &Fixture) -> Result<FileReport, String> {
    let source = fixture.source();
    let policy = Policy::default();
    let worker = thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || check(source, &policy, TODAY))
        .map_err(|error| error.to_string())?;
    let mut report = worker
        .join()
        .map_err(|_| "the linter panicked".to_owned())?;
    // Decoding comes before judging, and so does what it has to say.
    report
        .problems
        .extend(fixture.fault.clone().map(|(line, message)| Problem {
            id: ProblemId::UndecodableFile,
            path: fixture.path.clone(),
            position: Some(Position { line, column: 1 }),
            message,
        }));
    Ok(report)
}

/// The line of its first evidence.
pub(crate) fn line(report: &FileReport, finding: &Finding) -> u32 {
    report
        .source
        .position(finding.evidence.first().map_or(0, |span| span.start))
        .line
}

/// What it is, in the words of a marker.
pub(crate) fn text(finding: &Finding) -> String {
    let mut ids: Vec<String> = finding
        .rules
        .iter()
        .map(|rule| rule.id.to_owned())
        .collect();
    if finding.id != FindingId::DetachingSpawn {
        ids.push(finding.id.name().to_owned());
    }
    ids.sort_unstable();
    let may = finding.certainty == Certainty::May && !finding.rules.is_empty();
    describe(&ids, may, finding.verdict == Verdict::Justified, false)
}

/// One text for a wanted or a found thing, so that the two can be compared and printed.
pub(crate) fn describe(ids: &[String], may: bool, justified: bool, problem: bool) -> String {
    let mut words = vec![ids.join(",")];
    if problem {
        words.insert(0, "problem".to_owned());
    }
    if may {
        words.push("may".to_owned());
    }
    if justified {
        words.push("justified".to_owned());
    }
    words.join(" ")
}

//! Justifications over real readers and rules: formatters change no verdict, levels change no match.

use std::path::Path;

use check_detached_spawns::check::{Levels, check};
use check_detached_spawns::policy::Policy;
use check_detached_spawns::report::{Date, Finding, FindingId, Verdict};
use check_detached_spawns::rules::Level;
use check_detached_spawns::source::{Language, Source};

const TODAY: Date = Date {
    year: 2027,
    month: 1,
    day: 15,
};

fn policy(levels: &Levels) -> Policy {
    Policy {
        levels: levels.clone(),
        ..Policy::default()
    }
}

/// Ids, mechanisms and verdicts of a fixture, in source order.
fn verdicts(name: &str, levels: &Levels) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/justified")
        .join(name);
    let language = if Path::new(name).extension().is_some_and(|end| end == "py") {
        Language::Python
    } else {
        Language::Rust
    };
    let text = std::fs::read_to_string(path).unwrap();
    let report = check(Source::new(name, language, text), &policy(levels), TODAY);
    assert!(report.problems.is_empty(), "{name}: {:?}", report.problems);
    report.findings.iter().map(describe).collect()
}

fn describe(finding: &Finding) -> String {
    let rules: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
    format!(
        "{}[{}] {}",
        finding.id.name(),
        rules.join(","),
        finding.verdict.name()
    )
}

#[test]
fn formatters_change_no_verdict() {
    for (written, formatted) in [
        ("places.py", "places_black.py"),
        ("places.py", "places_ruff.py"),
        ("places.rs", "places_rustfmt.rs"),
    ] {
        let (before, after) = (
            verdicts(written, &Levels::default()),
            verdicts(formatted, &Levels::default()),
        );
        assert!(before.len() > 5, "{written}: {before:?}");
        assert_eq!(before, after, "{formatted}");
    }
}

#[test]
fn levels_change_no_match() {
    for name in ["places.py", "places.rs", "faults.py"] {
        let usual = verdicts(name, &Levels::default());
        for level in [Level::Allow, Level::Warn, Level::Deny] {
            let levels = Levels {
                set: vec![("all".to_owned(), level)],
            };
            assert_eq!(verdicts(name, &levels), usual, "{name}: {level:?}");
        }
    }
}

#[test]
fn a_fault_fails_at_every_level() {
    let text =
        "import subprocess\n# detached-spawn: todo\nsubprocess.Popen(a, start_new_session=True)\n";
    let levels = Levels {
        set: vec![("all".to_owned(), Level::Allow)],
    };
    let source = Source::new("x.py", Language::Python, text.to_owned());
    let report = check(source, &policy(&levels), TODAY);
    let [finding] = report.findings.as_slice() else {
        panic!("{:?}", report.findings)
    };
    assert_eq!(finding.id, FindingId::EmptyJustification);
    assert_eq!(finding.verdict, Verdict::Unjustified);
    assert_eq!(finding.level, Level::Deny);
}

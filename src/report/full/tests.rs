use super::*;
use crate::report::sample;

fn drawn(report: &Report, unicode: bool) -> String {
    let mut out = Vec::new();
    write(
        &mut out,
        report,
        &sample::context(""),
        &Look {
            color: false,
            unicode,
            terminal: false,
        },
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

fn one(text: &str, tokens: &[&str]) -> String {
    let files = vec![sample::file(text, tokens)];
    drawn(
        &Report {
            inventory: false,
            files,
            problems: Vec::new(),
            seen: 1,
            scanned: 1,
        },
        false,
    )
}

#[test]
fn everything_is_said() {
    let drawn = drawn(&sample::report(), true);
    for part in [
        "detaching-spawn[",
        "it leaves",
        "help: do not",
        "a/b.py:2:7",
        "spawn(setsid=True)",
        "─────",
        "unused-justification",
        "unparsed-file",
        "a/b.py:2:1",
        "unreadable-path",
        "a/c.py: shut",
        "3 files, 3 findings",
    ] {
        assert!(drawn.contains(part), "{part} is not in\n{drawn}");
    }
    assert!(
        !drawn.contains("a/b.py:4"),
        "what is justified is counted, not drawn\n{drawn}"
    );
}

#[test]
fn line_ends_and_tabs_are_drawn() {
    for text in [
        "a\r\n\tb(x=1)\r\nc\r\n",
        "a\n\tb(x=1)\nc",
        "a\r\tb(x=1)\rc\r",
        "\u{feff}a\n\tb(x=1)",
    ] {
        let drawn = one(text, &["x=1"]);
        assert!(drawn.contains("a/b.py:2:4"), "{drawn}");
        assert!(drawn.contains("b(x=1)"), "{drawn}");
        assert!(!drawn.contains(['\r', '\u{feff}']), "{drawn:?}");
    }
}

#[test]
fn evidence_may_stand_anywhere() {
    let far = format!("first(\n{}last)", "  x,\n".repeat(300));
    let drawn = one(&far, &["first", "last"]);
    assert!(
        drawn.contains("first(") && drawn.contains("last)"),
        "{drawn}"
    );
    assert!(drawn.lines().count() < 30, "{drawn}");
    let long = one(
        &format!("{} here {}", "é".repeat(5_000), "b".repeat(5_000)),
        &["here"],
    );
    assert!(
        long.contains(" here ") && long.contains("a/b.py:1:5002"),
        "{long}"
    );
    assert!(
        long.lines().all(|line| line.chars().count() < 330),
        "{long}"
    );
    let whole = format!("f(\n{})", "  x,\n".repeat(900));
    assert!(one(&whole, &[&whole]).contains("a/b.py:1:1"));
}

#[test]
fn a_problem_may_stand_at_the_end() {
    let mut report = sample::report();
    for text in ["", "\n", "x", "x\n", "x(\r"] {
        let mut file = sample::file("x", &["x"]);
        file.findings.clear();
        file.source =
            crate::source::Source::new("a/b.py", crate::source::Language::Python, text.to_owned());
        let position = Some(file.source.position(u32::MAX));
        let (path, message) = (file.source.path.clone(), "it ends".to_owned());
        file.problems.push(Problem {
            id: crate::report::ProblemId::UnparsedFile,
            path,
            position,
            message,
        });
        report.files = vec![file];
        let drawn = drawn(&report, false);
        assert!(
            drawn.contains("it ends") && !drawn.contains("Failed"),
            "{drawn}"
        );
    }
}

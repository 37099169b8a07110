//! Every rule's documentation is true: its bad fences are found where they say so, its good ones not.

use super::{ALL, Hit, Rule};
use crate::facts;
use crate::source::{Language, Source};

/// Headings of a rule's documentation, in order.
const HEADINGS: [&str; 5] = [
    "## What it finds",
    "## Why it matters",
    "## Bad",
    "## Good",
    "## When it may stay",
];

/// A fence of a rule's documentation.
struct Fence {
    rule: &'static str,
    bad: bool,
    language: Language,
    text: String,
}

fn fences(rule: &Rule) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut bad = false;
    let mut open: Option<(Language, String)> = None;
    for line in rule.doc.lines() {
        match (&mut open, line) {
            (Some(_), "```") => {
                if let Some((language, text)) = open.take() {
                    found.push(Fence {
                        rule: rule.id,
                        bad,
                        language,
                        text,
                    });
                }
            }
            (Some((_, text)), line) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, "```python") => open = Some((Language::Python, String::new())),
            (None, "```rust") => open = Some((Language::Rust, String::new())),
            (None, line) => {
                bad = if line.starts_with("## ") {
                    line == "## Bad"
                } else {
                    bad
                }
            }
        }
    }
    found
}

/// Line and mechanisms of each finding that the fence's markers expect.
fn expected(fence: &Fence) -> Vec<(u32, Vec<String>)> {
    let sign = if fence.language == Language::Python {
        "#~"
    } else {
        "//~"
    };
    let marked = fence.text.lines().zip(1..).filter_map(|(line, number)| {
        let ids = line.split_once(sign)?.1;
        Some((
            number,
            ids.split([' ', ','])
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect(),
        ))
    });
    marked.collect()
}

/// Line and mechanisms of each finding: hits with the same act are one.
fn found(fence: &Fence) -> Vec<(u32, Vec<String>)> {
    let source = Source::new("doc", fence.language, fence.text.clone());
    let tree = match fence.language {
        Language::Python => facts::python::read(&source),
        Language::Rust => facts::rust::read(&source),
    };
    assert!(tree.fault.is_none(), "{}: {:?}", fence.rule, tree.fault);
    let facts = facts::gather::gather(&source, &tree);
    let mut acts: Vec<(Hit, Vec<String>)> = Vec::new();
    for rule in ALL {
        for hit in (rule.check)(&facts) {
            match acts.iter_mut().find(|(first, _)| first.act == hit.act) {
                Some((first, ids)) => {
                    first.evidence = first.evidence.min(hit.evidence);
                    if !ids.iter().any(|id| id == rule.id) {
                        ids.push(rule.id.to_owned());
                    }
                }
                None => acts.push((hit, vec![rule.id.to_owned()])),
            }
        }
    }
    let mut lines: Vec<_> = acts
        .into_iter()
        .map(|(hit, ids)| (source.line(hit.evidence.start), ids))
        .collect();
    lines.sort();
    lines
}

#[test]
fn documentation_has_its_shape() {
    for rule in ALL.iter().filter(|rule| !rule.doc.is_empty()) {
        let headings: Vec<&str> = rule
            .doc
            .lines()
            .filter(|line| line.starts_with("## "))
            .collect();
        assert_eq!(headings, HEADINGS, "{}", rule.id);
        assert!(
            !rule.summary.ends_with('.') && !rule.summary.contains('\n'),
            "{}",
            rule.id
        );
        assert!(
            !rule.help.is_empty() && !rule.words.is_empty(),
            "{}",
            rule.id
        );
    }
}

#[test]
fn examples_are_found_where_they_say_so() {
    let mut wrong = Vec::new();
    for fence in ALL.iter().flat_map(|rule| fences(rule)) {
        let (expected, found) = (expected(&fence), found(&fence));
        assert_eq!(fence.bad, !expected.is_empty(), "{}: markers", fence.rule);
        if expected != found {
            wrong.push(format!(
                "{}: expected {expected:?}, found {found:?}\n{}",
                fence.rule, fence.text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

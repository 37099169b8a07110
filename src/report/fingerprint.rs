//! What stays the same about a finding when lines move: a hash that other tools keep.
//!
//! Version 1 is fixed: a hash of the id, the mechanisms, the path from the repository's root, the
//! statement's text and how many equal ones stand before it in the file. Of the text count neither
//! comments nor white space, nor a comma before a closing bracket: formatters move them.

use std::collections::BTreeMap;

use super::paths::from_root;
use super::{FileReport, Finding, Problem, Report};
use crate::source::Span;

/// Every finding of a report with its file and its fingerprint, in order.
pub fn of_findings<'a>(
    report: &'a Report,
    prefix: &str,
) -> impl Iterator<Item = (&'a FileReport, &'a Finding, String)> {
    report.files.iter().flat_map(move |file| {
        let mut fingerprints = Fingerprints::new(file, prefix);
        let findings = file.findings.iter();
        findings.map(move |finding| (file, finding, fingerprints.next(finding)))
    })
}

/// Gives the findings of one file their fingerprints, in order.
struct Fingerprints<'a> {
    file: &'a FileReport,
    path: String,
    seen: BTreeMap<String, u32>,
}

impl<'a> Fingerprints<'a> {
    fn new(file: &'a FileReport, prefix: &str) -> Self {
        Self {
            file,
            path: from_root(prefix, &file.source.path),
            seen: BTreeMap::new(),
        }
    }

    /// The fingerprint of the next finding.
    fn next(&mut self, finding: &Finding) -> String {
        let mechanisms: Vec<&str> = finding.rules.iter().map(|rule| rule.id).collect();
        let text = self.normalised(finding.statement.header);
        let key = [
            "v1",
            finding.id.name(),
            &mechanisms.join(","),
            &self.path,
            &text,
        ]
        .join("\0");
        let ordinal = self.seen.entry(key.clone()).or_default();
        let whole = format!("{key}\0{ordinal}");
        *ordinal += 1;
        format!("{:032x}", fnv1a(whole.as_bytes()))
    }

    fn normalised(&self, span: Span) -> String {
        let mut kept = String::new();
        let mut from = span.start;
        let inside = |comment: &&Span| span.contains(**comment);
        for comment in self.file.comments.iter().filter(inside) {
            push_dense(
                &mut kept,
                self.file.source.slice(Span {
                    start: from,
                    end: comment.start,
                }),
            );
            from = from.max(comment.end);
        }
        push_dense(
            &mut kept,
            self.file.source.slice(Span {
                start: from,
                end: span.end,
            }),
        );
        kept
    }
}

fn push_dense(kept: &mut String, text: &str) {
    for char in text.chars().filter(|char| !char.is_whitespace()) {
        if matches!(char, ')' | ']' | '}') && kept.ends_with(',') {
            kept.pop();
        }
        kept.push(char);
    }
}

/// The fingerprint of a problem at `path` from the repository's root; its line does not count.
pub(super) fn of_problem(problem: &Problem, path: &str) -> String {
    let key = ["v1", problem.id.name(), path, &problem.message].join("\0");
    format!("{:032x}", fnv1a(key.as_bytes()))
}

/// FNV-1a, 128 bits.
fn fnv1a(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(
            format!("{:032x}", fnv1a(b"")),
            "6c62272e07bb014262b821756295c58d"
        );
        assert_eq!(
            format!("{:032x}", fnv1a(b"a")),
            "d228cb696f1a8caf78912b704e4a8964"
        );
    }

    #[test]
    fn layout_does_not_count() {
        let dense = |text: &str| {
            let mut kept = String::new();
            push_dense(&mut kept, text);
            kept
        };
        assert_eq!(dense("f(\n    a,\n    b,\n)"), dense("f(a, b)"));
    }
}

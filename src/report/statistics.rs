//! How much of what there is: a table of mechanisms, faults and problems.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::summary::{line, problems};
use super::{FindingId, ProblemId, Report, Verdict};
use crate::rules;

/// Findings of one kind, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    open: usize,
    justified: usize,
    allowed: usize,
    baselined: usize,
}

/// Writes the table and the summary. A spawn counts for each of its mechanisms, and once more for the
/// fault of its justification.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    for finding in report.files.iter().flat_map(|file| &file.findings) {
        let fault = (finding.id != FindingId::DetachingSpawn).then(|| finding.id.name());
        let mechanisms = finding.rules.iter().map(|rule| rule.id);
        for id in mechanisms.chain(fault) {
            let row = rows.entry(id).or_default();
            *match finding.verdict {
                Verdict::Unjustified | Verdict::Fault => &mut row.open,
                Verdict::Justified => &mut row.justified,
                Verdict::Allowed => &mut row.allowed,
                Verdict::Baselined => &mut row.baselined,
            } += 1;
        }
    }
    for problem in problems(report) {
        rows.entry(problem.id.name()).or_default().open += 1;
    }
    if !rows.is_empty() {
        let heads = ["open", "justified", "allowed", "baselined"];
        writeln!(
            out,
            "{:24} {}",
            "",
            heads.map(|head| format!("{head:>9}")).join(" ")
        )?;
    }
    for id in ids() {
        let Some(row) = rows.get(id) else { continue };
        let counts = [row.open, row.justified, row.allowed, row.baselined];
        writeln!(
            out,
            "{id:24} {}",
            counts.map(|count| format!("{count:>9}")).join(" ")
        )?;
    }
    writeln!(out, "{}", line(report))
}

/// Every kind, in the order of the documentation.
fn ids() -> impl Iterator<Item = &'static str> {
    let mechanisms = rules::ALL.iter().map(|rule| rule.id);
    let faults = FindingId::ALL.into_iter().map(FindingId::name);
    let problems = ProblemId::ALL.into_iter().map(ProblemId::name);
    mechanisms.chain(faults).chain(problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn each_kind_has_a_row() {
        let mut out = Vec::new();
        write(&mut out, &sample::report()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(rows[0], ["open", "justified", "allowed", "baselined"]);
        assert_eq!(rows[1], [rules::ALL[0].id, "2", "1", "0", "0"]);
        assert_eq!(rows[2], ["unused-justification", "1", "0", "0", "0"]);
        assert_eq!(rows[3], ["unparsed-file", "1", "0", "0", "0"]);
        assert_eq!(rows[4], ["unreadable-path", "1", "0", "0", "0"]);
        assert_eq!(rows.len(), 6);
    }
}

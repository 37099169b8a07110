//! Gradual adoption: what was there before is told apart from what is new, by fingerprint.
//!
//! A finding is open if nothing accounts for it. What a baseline or an earlier state of the file
//! knows as open is [`Verdict::Baselined`], and does not fail the run; what was justified there and
//! is open now is new.

mod baseline;

pub use baseline::{Baseline, Entry};

use std::collections::BTreeSet;

use crate::report::fingerprint::of_findings;
use crate::report::{FindingId, Report, Verdict, summary};

/// The fingerprints of all open findings of a report; `prefix` is the working directory from the
/// repository's root.
pub fn open(report: &Report, prefix: &str) -> BTreeSet<String> {
    let open = of_findings(report, prefix).filter(|(_, finding, _)| is_open(finding.verdict));
    open.map(|(_, _, fingerprint)| fingerprint).collect()
}

/// Gives open findings that are `known` the verdict that says so.
pub fn mark(report: &mut Report, prefix: &str, known: &BTreeSet<String>) {
    let found: Vec<bool> = of_findings(report, prefix)
        .map(|(_, finding, fingerprint)| is_open(finding.verdict) && known.contains(&fingerprint))
        .collect();
    let all = report.files.iter_mut().flat_map(|file| &mut file.findings);
    for (finding, known) in all.zip(found) {
        if known {
            finding.verdict = Verdict::Baselined;
        }
    }
}

/// Whether nothing accounts for a finding.
pub const fn is_open(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Unjustified | Verdict::Fault)
}

/// Takes every reason away, in the code and in the configuration: all that detaches is open.
pub fn ignore_reasons(report: &mut Report) {
    for file in &mut report.files {
        // What is only wrong with a reason is wrong with nothing then.
        file.findings
            .retain(|finding| finding.verdict != Verdict::Fault);
        for finding in &mut file.findings {
            finding.id = FindingId::DetachingSpawn;
            finding.verdict = Verdict::Unjustified;
            finding.justification = None;
        }
        file.findings.retain(summary::is_shown);
    }
    report
        .files
        .retain(|file| !file.findings.is_empty() || !file.problems.is_empty());
}

/// Leaves the inventory: everything that outlives its parent and why, and what could not be read.
pub fn inventory(report: &mut Report) {
    for file in &mut report.files {
        file.findings.retain(|finding| !is_open(finding.verdict));
    }
    report
        .files
        .retain(|file| !file.findings.is_empty() || !file.problems.is_empty());
    report.inventory = true;
}

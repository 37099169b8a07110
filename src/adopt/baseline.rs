//! The baseline: what was open when a team began, as a file that changes only where findings do.
//!
//! It holds fingerprints, never lines: moved code keeps its entry. The path is there for people, and
//! to tell what is stale from what was not read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::is_open;
use crate::report::Report;
use crate::report::fingerprint::of_findings;
use crate::report::paths::from_root;
use crate::report::summary::title;

/// The entries of a baseline, sorted by fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeSet<Entry>,
}

/// A finding that was open when the baseline was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its id, with the mechanisms.
    pub rule: String,
    /// Its file, from the repository's root.
    pub path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it, and where.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if file.version != 1 {
            return Err(format!("its version is {}, not 1", file.version));
        }
        Ok(Self {
            entries: file.findings.into_iter().collect(),
        })
    }

    /// What is open in a report.
    pub fn of(report: &Report, prefix: &str) -> Self {
        let open = of_findings(report, prefix).filter(|(_, finding, _)| is_open(finding.verdict));
        let entry = |(file, finding, fingerprint): (&crate::report::FileReport, _, _)| Entry {
            fingerprint,
            rule: title(finding),
            path: from_root(prefix, &file.source.path),
        };
        Self {
            entries: open.map(entry).collect(),
        }
    }

    /// The fingerprints.
    pub fn known(&self) -> BTreeSet<String> {
        let all = self.entries.iter();
        all.map(|entry| entry.fingerprint.clone()).collect()
    }

    /// Entries that are not in `now`, as far as this can be told: `settled` says of a path that all
    /// of it was read, or that it is gone.
    pub fn stale(&self, now: &Self, settled: impl Fn(&str) -> bool) -> Vec<&Entry> {
        let known = now.known();
        let gone = |entry: &&Entry| !known.contains(&entry.fingerprint) && settled(&entry.path);
        self.entries.iter().filter(gone).collect()
    }

    /// `now`, and what this one knows of files that were not read.
    #[must_use]
    pub fn renewed(&self, now: &Self, settled: impl Fn(&str) -> bool) -> Self {
        let kept = self.entries.iter().filter(|entry| !settled(&entry.path));
        Self {
            entries: now.entries.iter().chain(kept).cloned().collect(),
        }
    }

    /// The file, an entry a line, so that a change of one finding is a change of one line.
    pub fn write(&self) -> String {
        let line = |entry: &Entry| {
            // An entry is plain strings: it can be written.
            let entry = serde_json::to_string(entry).unwrap_or_default();
            format!("    {entry}")
        };
        let lines: Vec<String> = self.entries.iter().map(line).collect();
        let findings = if lines.is_empty() {
            "[]".to_owned()
        } else {
            format!("[\n{}\n  ]", lines.join(",\n"))
        };
        format!("{{\n  \"version\": 1,\n  \"findings\": {findings}\n}}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn what_is_written_is_read() {
        let baseline = Baseline::of(&sample::report(), "sub");
        assert_eq!(baseline.entries.len(), 3);
        let text = baseline.write();
        assert_eq!(Baseline::read(text.as_bytes()), Ok(baseline.clone()));
        let prints: Vec<&str> = text
            .split("\"fingerprint\":\"")
            .skip(1)
            .map(|rest| &rest[..32])
            .collect();
        assert!(prints.is_sorted() && prints.len() == 3, "{text}");
        let empty = Baseline::default();
        assert_eq!(Baseline::read(empty.write().as_bytes()), Ok(empty));
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        for (text, said) in [
            ("", "EOF"),
            ("{\"version\": 2, \"findings\": []}", "version is 2"),
            (
                "{\"version\": 1, \"findings\": [], \"x\": 1}",
                "unknown field `x`",
            ),
            ("[]", "line 1"),
        ] {
            let fault = Baseline::read(text.as_bytes()).unwrap_err();
            assert!(fault.contains(said), "{text}: {fault}");
        }
    }

    #[test]
    fn only_what_was_read_can_be_stale() {
        let old = Baseline::of(&sample::report(), "sub");
        let now = Baseline::default();
        assert_eq!(old.stale(&now, |_| false).len(), 0);
        assert_eq!(old.stale(&now, |path| path == "sub/a/b.py").len(), 3);
        assert_eq!(old.stale(&old, |_| true).len(), 0);
        assert_eq!(old.renewed(&now, |_| false), old);
        assert_eq!(old.renewed(&now, |_| true), now);
    }
}

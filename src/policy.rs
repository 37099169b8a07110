//! What decides of a finding besides the code: levels, what a reason must be, what is allowed where,
//! and what a team's own helpers do. Plain data, an input like any other: `config` reads it.

use std::path::Path;

use crate::check::Levels;
use crate::globs::Globs;
use crate::justify::Terms;
use crate::met::Met;
use crate::report::{Date, FileReport, Finding, FindingId, Justification, Origin, Verdict};
use crate::rules::{Certainty, Level, Rule};

/// The rules of one project.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Levels of mechanisms.
    pub levels: Levels,
    /// What a justification must be.
    pub terms: Terms,
    /// Helpers whose callers, or whose definition, are findings though no rule knows them.
    pub detaching: Vec<Helper>,
    /// Helpers that own what they start: what is written in their calls is no finding.
    pub owning: Vec<Helper>,
    /// Where spawns may detach without a comment.
    pub allows: Vec<Allow>,
}

impl Policy {
    /// Whether what a mechanism alone finds may be told, or may be what an `[[allow]]` speaks of.
    pub fn tells_of(&self, rule: &Rule) -> bool {
        self.levels.of(rule, Certainty::Sure) != Level::Allow
            || self.allows.iter().any(|allow| allow.names(rule))
    }
}

/// A function or method of the team's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// Its dotted path from the package or crate on, in parts: `team`, `proc`, `Runner`, `start`.
    pub path: Vec<String>,
    /// Whether its definition is the finding, not its callers.
    pub at_definition: bool,
    /// Whether any code calls or defines it.
    pub met: Met,
}

impl Helper {
    /// The helper at a dotted path; Rust's `::` separates too.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub fn new(dotted: &str) -> Result<Self, String> {
        let path: Vec<String> = dotted
            .replace("::", ".")
            .split('.')
            .map(str::to_owned)
            .collect();
        let name = |part: &String| {
            let starts = part.starts_with(|char: char| char.is_alphabetic() || char == '_');
            starts
                && part
                    .chars()
                    .all(|char| char.is_alphanumeric() || char == '_')
        };
        if path.len() < 2 || !path.iter().all(name) {
            return Err(format!(
                "`{dotted}` is no dotted path of a function, such as `package.module.function`"
            ));
        }
        Ok(Self {
            path,
            at_definition: false,
            met: Met::default(),
        })
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// An `[[allow]]` of the configuration: a reason for all spawns of some kind in some files.
#[derive(Clone, Debug)]
pub struct Allow {
    /// Files, as ignore files name them, from the configuration's folder.
    pub paths: Globs,
    /// The same, as written.
    pub written: Vec<String>,
    /// Ids of mechanisms; `all` is all of them.
    pub mechanisms: Vec<String>,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub until: Option<Date>,
    /// Where it is written: `check-detached-spawns.toml:7`.
    pub place: String,
    /// Whether it covered anything, or would if it had not ended.
    pub met: Met,
}

impl Allow {
    fn names(&self, rule: &Rule) -> bool {
        let mut own = self.mechanisms.iter();
        own.any(|own| own == rule.id || own == "all")
    }

    fn speaks_of(&self, inside: &Path, finding: &Finding) -> bool {
        finding.rules.iter().all(|rule| self.names(rule)) && self.paths.covers(inside, false)
    }
}

/// Gives unjustified spawns of a file the verdict of the first `[[allow]]` that speaks of them;
/// `inside` is the file from the configuration's folder. A spawn with a faulty comment stays: the
/// comment is what is wrong. One whose `[[allow]]` has ended says so.
pub(crate) fn allow(file: &mut FileReport, inside: &Path, allows: &[Allow], today: Date) {
    for finding in &mut file.findings {
        let open = finding.verdict == Verdict::Unjustified;
        if !open || finding.id != FindingId::DetachingSpawn {
            continue;
        }
        let speaking = || allows.iter().filter(|own| own.speaks_of(inside, finding));
        let holds = |own: &&Allow| own.until.is_none_or(|until| today <= until);
        if let Some(allow) = speaking().find(holds) {
            allow.met.mark();
            let given = Justification {
                span: finding.place(),
                reason: allow.reason.clone(),
                mechanisms: Vec::new(),
                until: allow.until,
                origin: Origin::Configuration,
            };
            finding.verdict = Verdict::Allowed;
            finding.justification = Some(given);
        } else if let Some((until, place)) =
            speaking().find_map(|own| Some((own.until?, own.place.clone())))
        {
            speaking().for_each(|own| own.met.mark());
            finding.help = format!(
                "the [[allow]] at {place} held until {until}: look at its reason again, or {}",
                finding.help
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_dotted_paths() {
        let helper = Helper::new("team::proc.Runner.start").unwrap();
        assert_eq!(helper.path, ["team", "proc", "Runner", "start"]);
        for wrong in [
            "",
            "launch",
            "team.",
            ".team.launch",
            "team.la unch",
            "team.*",
            "a.1b",
        ] {
            assert!(Helper::new(wrong).is_err(), "{wrong}");
        }
    }
}

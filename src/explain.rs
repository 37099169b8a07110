//! What each id means: the pages of `--explain` and the table of `--list-rules`.

use std::fmt::Write as _;

use crate::report::{FindingId, ProblemId};
use crate::rules::{self, Level};

/// Every id that can be explained: mechanisms, findings, problems.
pub fn ids() -> Vec<&'static str> {
    let mechanisms = rules::ALL.iter().map(|rule| rule.id);
    let findings = FindingId::ALL.into_iter().map(FindingId::name);
    let problems = ProblemId::ALL.into_iter().map(ProblemId::name);
    mechanisms.chain(findings).chain(problems).collect()
}

/// The page of one id; none if there is no such id.
pub fn page(id: &str) -> Option<String> {
    if let Some(rule) = rules::ALL.iter().find(|rule| rule.id == id) {
        let page = format!(
            "{} ({})\n{}\n\n{}\n",
            rule.id,
            level(rule.level),
            rule.summary,
            rule.doc.trim()
        );
        return Some(page);
    }
    let finding = FindingId::ALL
        .into_iter()
        .find(|finding| finding.name() == id);
    if let Some(finding) = finding {
        return Some(format!(
            "{id} (finding)\n{}\n\n{}\n",
            of_finding(finding),
            help_of_finding(finding)
        ));
    }
    let problem = ProblemId::ALL
        .into_iter()
        .find(|problem| problem.name() == id)?;
    Some(format!(
        "{id} (problem)\n{}\n\n{}\n",
        of_problem(problem),
        help_of_problem(problem)
    ))
}

/// One line on an id; none if there is no such id.
pub fn summary(id: &str) -> Option<&'static str> {
    let rule = rules::ALL.iter().find(|rule| rule.id == id);
    let finding = || FindingId::ALL.into_iter().find(|own| own.name() == id);
    let problem = || ProblemId::ALL.into_iter().find(|own| own.name() == id);
    rule.map(|rule| rule.summary)
        .or_else(|| finding().map(of_finding))
        .or_else(|| problem().map(of_problem))
}

/// Every id, one a line, with its level and summary.
pub fn table() -> String {
    let mut table = String::from("Mechanisms (deny fails, warn is reported, allow is silent)\n");
    for rule in rules::ALL {
        row(
            &mut table,
            rule.id,
            &format!("{:<5}  {}", level(rule.level), rule.summary),
        );
    }
    table.push_str("\nFindings\n");
    for id in FindingId::ALL {
        row(&mut table, id.name(), of_finding(id));
    }
    table.push_str("\nProblems (always fail)\n");
    for id in ProblemId::ALL {
        row(&mut table, id.name(), of_problem(id));
    }
    table
}

fn row(table: &mut String, id: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(table, "  {id:<24}  {}", text.trim_end());
}

/// The word for a level, in options and output.
pub const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "deny",
        Level::Warn => "warn",
        Level::Allow => "allow",
    }
}

const fn of_finding(id: FindingId) -> &'static str {
    match id {
        FindingId::DetachingSpawn => {
            "a process is started in a way that outlives those who clean up"
        }
        FindingId::EmptyJustification => "a justification gives no reason, or too short a one",
        FindingId::MechanismMismatch => "a justification names other mechanisms than its spawn has",
        FindingId::AmbiguousJustification => "a justification may speak of several spawns",
        FindingId::ExpiredJustification => "the day until which a justification holds has passed",
        FindingId::UnusedJustification => "a justification speaks of no spawn",
        FindingId::MalformedMarker => "a comment looks like a justification and is none",
    }
}

const fn help_of_finding(id: FindingId) -> &'static str {
    match id {
        FindingId::DetachingSpawn => {
            "Let the child die with its owner: `spawn_owned` in Rust, `owned run -- CMD` anywhere.\n\
             If it must outlive its parent, say why in a comment above the statement:\n\n    \
             # detached-spawn: the updater must outlive the process that it replaces\n\n\
             Whole files that may detach go to `[[allow]]` in the configuration, with a reason too.\n\
             The mechanisms in brackets after the id say how it detaches; each has a page of its own."
        }
        FindingId::EmptyJustification => {
            "A reason says what must outlive its parent and what ends it instead. It has at least 10\n\
             characters and is no placeholder (\"todo\", \"needed\", \"see above\"). A configuration may ask for\n\
             more: `min-reason-length`, `reason-pattern`."
        }
        FindingId::MechanismMismatch => {
            "The brackets in `detached-spawn[new-group]: reason` are optional. If they are there, they\n\
             name exactly the mechanisms that the finding has, so that a spawn cannot change its nature\n\
             under an old reason. With `require-mechanism` in the configuration they must be there."
        }
        FindingId::AmbiguousJustification => {
            "One comment justifies one spawn. Give each its own comment, directly above its statement\n\
             or argument, or name the mechanisms in brackets so that they fit exactly one."
        }
        FindingId::ExpiredJustification => {
            "`detached-spawn(until=2027-06-30): reason` holds through that day (UTC). Remove the spawn,\n\
             or think again and give a new day."
        }
        FindingId::UnusedJustification => {
            "The spawn that it spoke of is gone, or stands where the comment does not reach: a comment\n\
             speaks of the statement right below it, or of the one on its own line. Remove or move it."
        }
        FindingId::MalformedMarker => {
            "Write `detached-spawn: reason`, `detached-spawn[mechanism]: reason` or\n\
             `detached-spawn(until=YYYY-MM-DD): reason` in a plain comment: a documentation comment or a\n\
             string justifies nothing."
        }
    }
}

const fn of_problem(id: ProblemId) -> &'static str {
    match id {
        ProblemId::UnparsedFile => "no parser understands all of a file; the rest was judged",
        ProblemId::UndecodableFile => {
            "a file's bytes are no text in its encoding; the rest was judged"
        }
        ProblemId::UnreadablePath => "a file or folder cannot be opened, listed or read",
        ProblemId::SkippedFile => "a file was left out: too large, or no regular file",
    }
}

const fn help_of_problem(id: ProblemId) -> &'static str {
    match id {
        ProblemId::UnparsedFile => {
            "What stands in the part that was not understood is unknown, so the run fails. Repair the\n\
             file, or leave it out with `--exclude` or an ignore file. An unused justification is not\n\
             reported in such a file."
        }
        ProblemId::UndecodableFile => {
            "Save the file as UTF-8, or declare its encoding in the first two lines as PEP 263 says. A\n\
             file that is no source can be left out with `--exclude` or an ignore file."
        }
        ProblemId::UnreadablePath => {
            "Nothing is known of what was not read, so the run fails. Grant the permission, or leave the\n\
             path out. A path that is named and does not exist makes the exit status 2."
        }
        ProblemId::SkippedFile => {
            "Only regular files are opened, never pipes, sockets or devices, and none over the limit of\n\
             `--max-file-size`. Leave the path out with `--exclude` or an ignore file, or raise the limit."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_page_and_a_row() {
        let table = table();
        for id in ids() {
            assert!(page(id).is_some_and(|page| page.starts_with(id)), "{id}");
            assert!(table.contains(&format!("  {id} ")), "{id}");
        }
        assert_eq!(page("no-such-id"), None);
    }
}

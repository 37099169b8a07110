//! Changing source files: `--fix` and `--add-markers`.

use check_detached_spawns::edit::{self, Edited};
use check_detached_spawns::notebook::is_notebook;
use check_detached_spawns::report::summary::plural;
use check_detached_spawns::report::{FileReport, Report};
use check_detached_spawns::walk::Walk;
use check_detached_spawns::{replace, run};

use crate::say::note;

/// What is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Markers that speak of nothing are taken out.
    Fix,
    /// Markers without a reason are put in.
    AddMarkers,
}

/// Changes the files of a report. Says what was done, and whether anything was: then the report is
/// no longer true.
pub(crate) fn amend(
    change: Change,
    report: &Report,
    walk: &Walk,
    options: &run::Options,
) -> Result<bool, String> {
    let (mut markers, mut files) = (0, 0);
    for file in &report.files {
        if is_notebook(&file.file) {
            note(&format!(
                "{}: not changed, it is a notebook; a reason is a comment in the cell",
                file.source.path
            ));
            continue;
        }
        let edited = edited(change, file, walk, options)?;
        let shown = &file.source.path;
        let what = match change {
            Change::Fix => "this justification cannot be taken out without changing more",
            Change::AddMarkers => "no place for a justification that speaks of this spawn alone",
        };
        for line in &edited.left {
            note(&format!("{shown}:{line}: {what}"));
        }
        if edited.changes == 0 {
            continue;
        }
        match replace::source(&file.file, &file.source, &edited.text) {
            Ok(()) => {
                markers += edited.changes;
                files += 1;
            }
            Err(why) => note(&format!("{shown}: not changed, it {why}")),
        }
    }
    let done = match change {
        Change::Fix => "taken out",
        Change::AddMarkers => "added, without a reason yet",
    };
    let markers = plural(markers, "justification");
    note(&format!("{markers} in {} {done}", plural(files, "file")));
    Ok(files > 0)
}

/// What a change would be, as a patch; empty where nothing would be changed.
pub(crate) fn diff(
    change: Change,
    report: &Report,
    walk: &Walk,
    options: &run::Options,
) -> Result<String, String> {
    let mut all = String::new();
    for file in &report.files {
        if is_notebook(&file.file) {
            continue;
        }
        let edited = edited(change, file, walk, options)?;
        all += &edit::patch(&file.source.path, &file.source.text, &edited.text);
    }
    Ok(all)
}

/// A file with the change in it, by the rules that hold there.
fn edited(
    change: Change,
    file: &FileReport,
    walk: &Walk,
    options: &run::Options,
) -> Result<Edited, String> {
    let rules = walk.configs.of(&file.file);
    let judge =
        |text: String| run::check_shown(file.source.with(text), &file.file, &rules, options.today);
    run::on_large_stack(|| match change {
        Change::Fix => edit::remove(file, judge),
        Change::AddMarkers => edit::add(file, &rules.config.policy.terms, judge),
    })
}

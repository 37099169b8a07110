//! What the configuration says of nothing, told after a run over everything that it may speak of.

use std::path::Path;

use check_detached_spawns::walk::{Found, Input, Walk};

use crate::before::TOLD;
use crate::cli::Cli;
use crate::say::note;

/// Notes what is stale in the configuration, if all was read and read whole: a part says nothing of
/// the rest, and a comparison only tells what is new.
pub(crate) fn tell(cli: &Cli, walk: &Walk, found: &Found, inputs: &[Input]) {
    let narrowed = cli.staged
        || cli.diff_base.is_some()
        || cli.files_from.is_some()
        || cli.stdin_filename.is_some()
        || cli.paths.iter().any(|path| path == Path::new("-"))
        || !cli.exclude.is_empty()
        || cli.languages().len() < 2;
    if narrowed || found.missing || !found.problems.is_empty() {
        return;
    }
    let stale = walk.configs.dead(&cli.named(), inputs);
    for stale in stale.iter().take(TOLD) {
        note(&format!("{stale}; mend it or take it out"));
    }
    if stale.len() > TOLD {
        let more = stale.len() - TOLD;
        note(&format!(
            "{more} more entries of the configuration are stale"
        ));
    }
}

//! Files that git tracks although its ignore files leave them out: what is in a repository is judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use check_detached_spawns::git::Git;
use check_detached_spawns::walk::{Place, Walk};

/// The files of one named folder.
pub(crate) struct Tracked<'a> {
    /// The folder, as it was named.
    pub(crate) named: &'a Path,
    /// Files below it, by paths that begin with it.
    pub(crate) files: Vec<PathBuf>,
}

/// Those at and below what is named, and what kept git from telling. Where no ignore file holds there is
/// nothing to ask for.
pub(crate) fn tracked<'a>(walk: &Walk, named: &'a [PathBuf]) -> (Vec<Tracked<'a>>, Vec<String>) {
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    // Of several folders in one repository git is asked once.
    let mut known: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let folders = named.iter().filter(|path| !walk.no_ignore && path.is_dir());
    for named in folders {
        let place = Place::new(named);
        if !place.root.join(".git").exists() {
            continue;
        }
        let root = place.root.clone();
        let ask = || ask(&place.root, &mut notes);
        let paths = known.entry(root).or_insert_with(ask);
        let inside = |path: &PathBuf| {
            let full = place.root.join(path);
            Some(named.join(full.strip_prefix(&place.cwd).ok()?))
        };
        let files: Vec<PathBuf> = paths.iter().filter_map(inside).collect();
        // Mostly there are none, and folders need not be read again.
        if !files.is_empty() {
            all.push(Tracked { named, files });
        }
    }
    (all, notes)
}

/// Those of a repository; none where git cannot tell, which is noted.
fn ask(root: &Path, notes: &mut Vec<String>) -> Vec<PathBuf> {
    match Git::tracked_all_the_same(root) {
        Ok(paths) => paths,
        // A folder of that name need not be git's.
        Err(why) if why.contains("not a git repository") => Vec::new(),
        Err(why) => {
            notes.push(format!(
                "whether git tracks what is ignored in {} is not known: {why}",
                root.display()
            ));
            Vec::new()
        }
    }
}

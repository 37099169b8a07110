//! A folder's files, without what ignore files and proven build output leave out.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::FileType;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

use super::{Found, Walk, language};

/// How a folder is known to hold only what a tool made.
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Takes every file below `named`. Links are not followed; `.git` is never read.
pub(super) fn walk(walk: &Walk, named: &Path, found: &mut Found) {
    if walk.no_ignore {
        all(walk, named, found);
    } else {
        wanted(walk, named, found);
    }
}

/// Folders are read on several threads, each of which gathers for itself: what is found is sorted in
/// the end.
fn wanted(walk: &Walk, named: &Path, found: &mut Found) {
    let all = Mutex::new(Found::default());
    let threads = walk.jobs.map_or(0, NonZeroUsize::get);
    let walker = entries(walk, named, None).threads(threads).build_parallel();
    walker.run(|| {
        let mut own = Share {
            all: &all,
            found: Found::default(),
        };
        Box::new(move |entry| {
            match entry {
                Ok(entry) => met(walk, entry.path(), entry.file_type(), &mut own.found),
                Err(error) => failed(walk, named, &error, &mut own.found),
            }
            WalkState::Continue
        })
    });
    found.join(all.into_inner().unwrap_or_else(PoisonError::into_inner));
}

/// What one thread finds; it joins the others at the thread's end.
struct Share<'a> {
    all: &'a Mutex<Found>,
    found: Found,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.join(std::mem::take(&mut self.found));
    }
}

/// Whether a walk of `named` comes to `path` below it. Of what does not exist, the folders around it
/// tell; ignore files cannot speak of its own name yet.
pub(super) fn comes_to(walk: &Walk, named: &Path, path: &Path) -> bool {
    let exists = |one: &&Path| std::fs::symlink_metadata(one).is_ok();
    let Some(last) = path.ancestors().find(exists) else {
        return false;
    };
    let entries = entries(walk, named, Some(ways([last])));
    let mut entries = entries.build().flatten();
    entries.any(|entry| entry.path() == last)
}

/// Takes those of `paths`, each below `named`, that nothing but git's ignore files leaves out.
pub(super) fn whatever_git_ignores(
    walk: &Walk,
    named: &Path,
    paths: &[PathBuf],
    found: &mut Found,
) {
    let wanted: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let mut entries = entries(walk, named, Some(ways(wanted.iter().copied())));
    entries.git_ignore(false).git_exclude(false);
    for entry in entries.build().flatten() {
        if wanted.contains(entry.path()) {
            met(walk, entry.path(), entry.file_type(), found);
        }
    }
}

/// Paths and the folders around them.
fn ways<'a>(paths: impl IntoIterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let around = paths.into_iter().flat_map(Path::ancestors);
    around.map(Path::to_owned).collect()
}

/// Everything below `named` that is not left out; with `only`, those paths alone. Ignore files are
/// honoured as git does, from the repository's root whatever `named` is. What one machine alone knows
/// (the global ignore file) is not: the same tree is judged alike everywhere.
pub(super) fn entries(walk: &Walk, named: &Path, only: Option<BTreeSet<PathBuf>>) -> WalkBuilder {
    let mut builder = WalkBuilder::new(named);
    builder.hidden(false).git_global(false);
    let (place, excludes, top) = (walk.place.clone(), walk.excludes.clone(), named.to_owned());
    let configs = std::sync::Arc::clone(&walk.configs);
    builder.filter_entry(move |entry| {
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let on_the_way = || only.as_ref().is_none_or(|only| only.contains(entry.path()));
        entry.depth() == 0
            || on_the_way()
                && !(excludes.meets(&place, &top, entry.path(), folder)
                    || configs.meets(entry.path(), folder)
                    || folder && (is_git(entry.file_name()) || is_made(entry.path())))
    });
    builder
}

fn all(walk: &Walk, named: &Path, found: &mut Found) {
    let entries = walkdir::WalkDir::new(named)
        .into_iter()
        .filter_entry(|entry| {
            let folder = entry.file_type().is_dir();
            entry.depth() == 0
                || !(walk
                    .excludes
                    .meets(&walk.place, named, entry.path(), folder)
                    || walk.configs.meets(entry.path(), folder)
                    || folder && is_git(entry.file_name()))
        });
    for entry in entries {
        match entry {
            Ok(entry) => met(walk, entry.path(), Some(entry.file_type()), found),
            Err(error) => {
                let path = error.path().unwrap_or(named).to_owned();
                found.unreadable(walk.place.shown(&path), &error.into());
            }
        }
    }
}

fn met(walk: &Walk, path: &Path, kind: Option<FileType>, found: &mut Found) {
    let Some(kind) = kind else { return };
    if kind.is_dir() || kind.is_symlink() {
        return;
    }
    if !kind.is_file() {
        if language::of_suffix(path).is_some() {
            found.skipped(
                walk.place.shown(path),
                "not read: it is no regular file".to_owned(),
            );
        }
        return;
    }
    let language = match walk.language(path, false) {
        Ok(Some(language)) => language,
        Ok(None) => return,
        Err(error) => return found.unreadable(walk.place.shown(path), &error),
    };
    match std::fs::symlink_metadata(path) {
        Ok(meta) => {
            let key = found.resolve(path);
            walk.take((path, key), language, meta.len(), found);
        }
        Err(error) => found.unreadable(walk.place.shown(path), &error),
    }
}

pub(super) fn is_git(name: &OsStr) -> bool {
    name == ".git"
}

/// Build output or a virtual environment, with proof: names alone say nothing (`src/target/`).
fn is_made(folder: &Path) -> bool {
    made(folder).is_some()
}

/// What a folder is that only a tool made, and how that is known.
pub(super) fn made(folder: &Path) -> Option<&'static str> {
    if folder.file_name() == Some(OsStr::new("target")) {
        let signed = has_signature(&folder.join("CACHEDIR.TAG")).unwrap_or(false);
        return signed.then_some("build output, by its CACHEDIR.TAG");
    }
    let is_environment = folder.join("pyvenv.cfg").is_file();
    is_environment.then_some("a virtual environment, by its pyvenv.cfg")
}

fn has_signature(tag: &Path) -> io::Result<bool> {
    if !std::fs::symlink_metadata(tag)?.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    std::fs::File::open(tag)?.take(64).read_to_end(&mut start)?;
    Ok(start.starts_with(CACHE_SIGNATURE))
}

fn failed(walk: &Walk, named: &Path, error: &ignore::Error, found: &mut Found) {
    let path = path_of(error).unwrap_or_else(|| named.to_owned());
    let shown = walk.place.shown(&path);
    match error.io_error() {
        Some(error) => found.unreadable(shown, error),
        None => found.unreadable(shown, &io::Error::other(error.to_string())),
    }
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

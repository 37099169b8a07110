//! Why what lies in a folder is not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::patterns::Patterns;
use super::{Walk, folder};
use crate::notebook::is_notebook;

/// A file or folder that is not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// How it is shown; a folder stands for all that is in it.
    pub shown: String,
    /// Why it is not read.
    pub why: String,
    /// Whether it is in none of the languages, whatever is asked for; git's own files are not either.
    pub foreign: bool,
}

impl Walk {
    /// What is not read at and below `named`, and why; `read` are the files that are. What could not be
    /// read is a problem, and not told here.
    pub fn skips(&self, named: &[PathBuf], read: &BTreeSet<&Path>) -> Vec<Skip> {
        let mut skips = Vec::new();
        for path in named {
            if path.is_dir() {
                self.skips_below(path, read, &mut skips);
            } else if path.is_file() && !read.contains(path.as_path()) {
                skips.extend(self.file(path, true));
            }
        }
        skips.sort();
        skips.dedup();
        skips
    }

    /// Walks without leaving anything out, beside a walk that does: what that one does not come to is left
    /// out, and only the words for it are looked for here.
    fn skips_below(&self, named: &Path, read: &BTreeSet<&Path>, skips: &mut Vec<Skip>) {
        let walked = folder::entries(self, named, None).build().flatten();
        let walked: BTreeSet<PathBuf> = walked.map(ignore::DirEntry::into_path).collect();
        let mut patterns = Patterns::new(&self.place);
        let mut all = walkdir::WalkDir::new(named).min_depth(1).into_iter();
        while let Some(entry) = all.next() {
            let Ok(entry) = entry else { continue };
            let (path, kind) = (entry.path(), entry.file_type());
            let folder = kind.is_dir();
            if read.contains(path) {
                continue;
            }
            let own = self.own(named, path, folder);
            if own.is_some() || !self.no_ignore && !walked.contains(path) {
                let why = own.unwrap_or_else(|| patterns.of(path, folder));
                let foreign = folder && entry.file_name() == ".git";
                let skip = self.skip(path, why);
                skips.push(Skip { foreign, ..skip });
                if folder {
                    all.skip_current_dir();
                }
            } else if kind.is_symlink() {
                skips.push(self.skip(path, "a link, and only named ones are followed"));
            } else if kind.is_file() {
                skips.extend(self.file(path, false));
            }
        }
    }

    fn skip(&self, path: &Path, why: impl Into<String>) -> Skip {
        Skip {
            shown: self.place.shown(path),
            why: why.into(),
            foreign: false,
        }
    }

    /// What leaves out a file or folder, other than ignore files.
    fn own(&self, named: &Path, path: &Path, folder: bool) -> Option<String> {
        if folder && path.file_name().is_some_and(folder::is_git) {
            return Some("git's own".to_owned());
        }
        if self.excludes.meets(&self.place, named, path, folder) {
            return Some("left out by --exclude".to_owned());
        }
        if self.configs.meets(path, folder) {
            let file = self.configs.of(path).config.file.clone();
            let file = file.map(|file| format!(" of {}", self.place.shown(&file)));
            return Some(format!("left out by `exclude`{}", file.unwrap_or_default()));
        }
        let made = (folder && !self.no_ignore).then(|| folder::made(path))?;
        made.map(str::to_owned)
    }

    /// Why a file is not read that no folder around it explains; nothing if it is, or is a problem.
    fn file(&self, path: &Path, named: bool) -> Option<Skip> {
        if named && self.force_exclude && self.leaves_out(path, false) {
            return Some(self.skip(
                path,
                "left out, and --force-exclude holds for named files too",
            ));
        }
        if is_notebook(path) && !named && !self.notebooks {
            return Some(self.skip(path, "a notebook: --notebooks reads it"));
        }
        match self.language(path, named) {
            Ok(Some(language)) if self.languages.contains(&language) => None,
            Ok(Some(language)) => {
                let why = format!("{}, and --lang names others", language.name());
                Some(self.skip(path, why))
            }
            Ok(None) => Some(Skip {
                foreign: true,
                ..self.skip(path, "neither Python nor Rust by its name or first line")
            }),
            Err(_) => None,
        }
    }
}

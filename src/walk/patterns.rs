//! Which line of which ignore file leaves out a path. The walk itself does not ask: this finds the words for
//! what it did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::Place;

/// Ignore files, each read once.
pub(super) struct Patterns<'a> {
    place: &'a Place,
    read: BTreeMap<PathBuf, Gitignore>,
}

impl<'a> Patterns<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        let read = BTreeMap::new();
        Self { place, read }
    }

    /// What leaves out a path of which it is known that an ignore file does: the innermost file counts.
    pub(super) fn of(&mut self, path: &Path, folder: bool) -> String {
        let full = self.place.full(path);
        for around in full.ancestors().skip(1) {
            let is_root = around.join(".git").exists();
            let mut files = vec![around.join(".ignore"), around.join(".gitignore")];
            if is_root {
                files.push(around.join(".git/info/exclude"));
            }
            for file in files {
                if let Some(pattern) = self.matched(around, &file, &full, folder) {
                    let file = self.place.shown(&file);
                    return format!("left out by `{pattern}` of {file}");
                }
            }
            if is_root {
                break;
            }
        }
        "left out by an ignore file".to_owned()
    }

    fn matched(&mut self, root: &Path, file: &Path, full: &Path, folder: bool) -> Option<String> {
        if !self.read.contains_key(file) {
            let mut builder = GitignoreBuilder::new(root);
            if file.is_file() {
                // What of it is no pattern leaves nothing out.
                let _ = builder.add(file);
            }
            let patterns = builder.build().unwrap_or_else(|_| Gitignore::empty());
            self.read.insert(file.to_owned(), patterns);
        }
        match self.read.get(file)?.matched(full, folder) {
            ignore::Match::Ignore(glob) => Some(glob.original().to_owned()),
            ignore::Match::None | ignore::Match::Whitelist(_) => None,
        }
    }
}

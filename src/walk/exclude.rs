//! What the caller leaves out, in the language of ignore files.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::Place;

/// Globs of `--exclude`, relative to the working directory.
#[derive(Clone, Debug)]
pub struct Excludes(Gitignore);

impl Excludes {
    /// Reads globs.
    ///
    /// # Errors
    ///
    /// Says which one is none.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            builder
                .add_line(None, glob)
                .map_err(|error| format!("cannot read the glob {glob:?}: {error}"))?;
        }
        builder.build().map(Self).map_err(|error| error.to_string())
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path met below a named folder is left out; what stands above it was asked already.
    pub(super) fn meets(&self, place: &Place, named: &Path, path: &Path, folder: bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let full = place.full(path);
        // Outside the working directory a glob speaks of what lies below the named folder: no
        // folder above it may match by chance.
        let inside = full
            .strip_prefix(&place.cwd)
            .or_else(|_| path.strip_prefix(named));
        inside.is_ok_and(|inside| self.0.matched(inside, folder).is_ignore())
    }

    /// Whether a path that the caller names is left out, by itself or by a folder around it.
    pub fn covers(&self, place: &Place, path: &Path, folder: bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let full = place.full(path);
        let inside = match full.strip_prefix(&place.cwd) {
            Ok(inside) => inside,
            Err(_) => Path::new(full.file_name().unwrap_or_default()),
        };
        !inside.as_os_str().is_empty()
            && self
                .0
                .matched_path_or_any_parents(inside, folder)
                .is_ignore()
    }
}

//! Patterns for paths, in the language of ignore files.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Patterns, the last one that matches counts; a path is given relative to where they hold.
#[derive(Clone, Debug)]
pub struct Globs(Gitignore);

impl Globs {
    /// Reads patterns.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether they match a path itself; what stands above it is not asked.
    pub fn meets(&self, inside: &Path, folder: bool) -> bool {
        self.may_meet(inside) && self.0.matched(inside, folder).is_ignore()
    }

    /// Whether they match a path or a folder around it.
    pub fn covers(&self, inside: &Path, folder: bool) -> bool {
        self.may_meet(inside)
            && self
                .0
                .matched_path_or_any_parents(inside, folder)
                .is_ignore()
    }

    /// Whether a path lies where the patterns hold at all.
    fn may_meet(&self, inside: &Path) -> bool {
        let outside = inside.has_root() || inside.starts_with("..");
        !self.is_empty() && !inside.as_os_str().is_empty() && !outside
    }
}

impl Default for Globs {
    /// None.
    fn default() -> Self {
        Self(Gitignore::empty())
    }
}

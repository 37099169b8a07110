//! What the caller leaves out, by flags and by the configuration.

use std::path::Path;

use super::Place;
use crate::globs::Globs;

/// Globs of `--exclude`, relative to the working directory.
#[derive(Clone, Debug)]
pub struct Excludes(Globs);

impl Excludes {
    /// Reads globs.
    ///
    /// # Errors
    ///
    /// Says which one is none.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        Globs::new(globs).map(Self)
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
        inside.is_ok_and(|inside| self.0.meets(inside, folder))
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
        self.0.covers(inside, folder)
    }
}

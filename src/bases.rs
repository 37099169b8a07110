//! What each file was at a base: of a file in a submodule, at the commit that the base names for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use check_detached_spawns::git::Git;
use check_detached_spawns::walk::{Place, Walk};

use crate::say::note;

/// The commits to compare with, by the roots of their repositories; none where there was no repository.
pub(crate) struct Bases<'a> {
    walk: &'a Walk,
    known: BTreeMap<PathBuf, Option<Base>>,
}

/// A commit to compare with.
struct Base {
    git: Git,
    commit: String,
    /// Former names of files that were renamed since.
    renamed: BTreeMap<PathBuf, PathBuf>,
}

impl Base {
    fn new(git: Git, commit: String) -> Result<Self, String> {
        let renamed = git.renamed(&commit)?;
        Ok(Self {
            git,
            commit,
            renamed,
        })
    }
}

impl<'a> Bases<'a> {
    /// The base `reference` of the repository in which a run stands.
    pub(crate) fn new(walk: &'a Walk, reference: &str) -> Result<Self, String> {
        let git = Git::of(&walk.place)?;
        let (commit, parted) = git.base(reference)?;
        if !parted {
            note(&format!(
                "it is not known where the history parted from {reference}, as in a shallow clone: compared with {reference} itself"
            ));
        }
        let base = Base::new(git, commit)?;
        let known = BTreeMap::from([(walk.place.root.clone(), Some(base))]);
        Ok(Self { walk, known })
    }

    /// The earlier texts of files, by what they are opened by; those that were not there are left out.
    pub(crate) fn earlier<'f>(
        &mut self,
        files: impl Iterator<Item = &'f Path>,
    ) -> Result<BTreeMap<&'f Path, Vec<u8>>, String> {
        let mut former: BTreeMap<PathBuf, Vec<(&Path, PathBuf)>> = BTreeMap::new();
        for file in files {
            let full = self.walk.place.full(file);
            // What lies outside of the repository was never in it.
            let Some(root) = self.root_around(&full) else {
                continue;
            };
            self.learn(&root)?;
            if let (Some(Some(base)), Ok(path)) = (self.known.get(&root), full.strip_prefix(&root))
            {
                let was = base.renamed.get(path).map_or(path, PathBuf::as_path);
                former.entry(root).or_default().push((file, was.to_owned()));
            }
        }
        let mut earlier = BTreeMap::new();
        for (root, files) in former {
            let Some(Some(base)) = self.known.get(&root) else {
                continue;
            };
            let paths: Vec<PathBuf> = files.iter().map(|(_, was)| was.clone()).collect();
            let blobs = base.git.blobs(&base.commit, &paths)?;
            for (file, was) in files {
                if let Some(blob) = blobs.get(&was) {
                    earlier.insert(file, base.git.content(blob)?);
                }
            }
        }
        Ok(earlier)
    }

    /// The root of the innermost repository around a path, this one or a submodule of it.
    fn root_around(&self, full: &Path) -> Option<PathBuf> {
        let inside = full.starts_with(&self.walk.place.root);
        let mut around = full.ancestors().skip(1).filter(|_| inside);
        around
            .find(|one| one.join(".git").exists())
            .map(Path::to_owned)
    }

    /// Finds the base of a repository by the one around it.
    fn learn(&mut self, root: &Path) -> Result<(), String> {
        if self.known.contains_key(root) {
            return Ok(());
        }
        let base = match self.root_around(root) {
            Some(outer) => {
                self.learn(&outer)?;
                match (self.known.get(&outer), root.strip_prefix(&outer)) {
                    (Some(Some(base)), Ok(path)) => base.git.submodule(&base.commit, path)?,
                    _ => None,
                }
            }
            None => None,
        };
        let base = match base {
            Some(commit) => {
                let git = Git::of(&Place::new(root))?;
                let shown = self.walk.place.shown(root);
                if !git.has(&commit) {
                    return Err(format!(
                        "the submodule {shown} has not the commit {commit}, with which it is compared: \
                         fetch its history too (`git -C {shown} fetch --unshallow`)"
                    ));
                }
                Some(Base::new(git, commit)?)
            }
            None => None,
        };
        self.known.insert(root.to_owned(), base);
        Ok(())
    }
}

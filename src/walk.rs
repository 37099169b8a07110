//! Paths to files: what is read, what is left out, what could not be read.

mod exclude;
mod folder;
mod language;
mod patterns;
mod place;
pub mod size;
mod why;

pub use exclude::Excludes;
pub use language::{of_shebang, of_suffix, of_text};
pub use place::{Place, path_of};
pub use why::Skip;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Configs, Rules};
use crate::notebook::is_notebook;
use crate::report::{Problem, ProblemId};
use crate::source::Language;

/// What to look for, and where.
#[derive(Debug)]
pub struct Walk {
    /// Where paths start and how they are shown.
    pub place: Place,
    /// What the caller leaves out.
    pub excludes: Excludes,
    /// Which configuration holds where: it leaves out paths too.
    pub configs: Arc<Configs>,
    /// Whether that holds for paths that the caller names, too.
    pub force_exclude: bool,
    /// Reads what ignore files, tags of caches and virtual environments leave out.
    pub no_ignore: bool,
    /// Whether notebooks are read that the caller does not name.
    pub notebooks: bool,
    /// Languages to read.
    pub languages: Vec<Language>,
    /// Bytes of a file, at most: a larger one is a problem, not read.
    pub max_file_size: u64,
    /// Number of threads; as many as the machine has, if none is given.
    pub jobs: Option<NonZeroUsize>,
}

/// A file to judge.
#[derive(Clone, Debug)]
pub struct Input {
    /// How it is opened.
    pub path: PathBuf,
    /// How it is shown: relative to the working directory, with `/`.
    pub shown: String,
    /// How it is read.
    pub language: Language,
    /// What is judged.
    pub content: Content,
    /// What the configuration says of it.
    pub rules: Rules,
}

/// What is judged of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// What lies on disk.
    Disk,
    /// Bytes that are here already: standard input, or what is staged.
    Bytes(Vec<u8>),
    /// What an editor shows: text, whatever encoding it declares.
    Text(String),
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Found {
    /// Files to judge, with their resolved paths.
    files: Vec<(PathBuf, Input)>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Remarks that change nothing: a named file in no known language.
    pub notes: Vec<String>,
    /// Whether a path that the caller named does not exist.
    pub missing: bool,
    /// The folder of the last file below one that was named, and where it lies: the next file is
    /// mostly beside it.
    folder: Option<(PathBuf, PathBuf)>,
}

impl Found {
    /// The files to judge, sorted by how they are shown; each is read once.
    pub fn take_files(&mut self) -> Vec<Input> {
        let mut files = std::mem::take(&mut self.files);
        // By bytes: to order paths by their parts takes longer than to read some of the files.
        files.sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        files.dedup_by(|(a, _), (b, _)| a.as_os_str() == b.as_os_str());
        let mut files: Vec<Input> = files.into_iter().map(|(_, input)| input).collect();
        files.sort_by(|a, b| a.shown.cmp(&b.shown).then_with(|| a.path.cmp(&b.path)));
        files
    }

    /// Adds what another one found.
    fn join(&mut self, other: Self) {
        self.files.extend(other.files);
        self.problems.extend(other.problems);
        self.notes.extend(other.notes);
        self.missing |= other.missing;
    }

    /// The resolved path of a file that is no link itself.
    fn resolve(&mut self, path: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return resolved(path);
        };
        match &self.folder {
            Some((known, lies)) if known.as_os_str() == folder.as_os_str() => lies.join(name),
            _ => {
                // The folder of a name alone is the working one.
                let lies = resolved(if folder == Path::new("") {
                    Path::new(".")
                } else {
                    folder
                });
                let path = lies.join(name);
                self.folder = Some((folder.to_owned(), lies));
                path
            }
        }
    }

    fn unreadable(&mut self, shown: String, error: &io::Error) {
        let message = format!("cannot be read: {}", reason(error));
        self.problems.push(Problem {
            id: ProblemId::UnreadablePath,
            path: shown,
            position: None,
            message,
        });
    }

    fn skipped(&mut self, shown: String, message: String) {
        self.problems.push(skipped(shown, message));
    }
}

fn skipped(path: String, message: String) -> Problem {
    Problem {
        id: ProblemId::SkippedFile,
        path,
        position: None,
        message,
    }
}

impl Walk {
    /// Finds the files at and below what the caller names.
    pub fn find<'a>(&self, named: impl IntoIterator<Item = &'a Path>) -> Found {
        let mut found = Found::default();
        for path in named {
            self.named(path, &mut found);
        }
        found
            .problems
            .sort_by(|a, b| (&a.path, a.id, &a.message).cmp(&(&b.path, b.id, &b.message)));
        found.problems.dedup();
        found.notes.sort();
        found.notes.dedup();
        found
    }

    /// Takes files below the folder `named` that git tracks although its ignore files leave them out: what is
    /// in the repository is judged. Whatever else leaves them out holds.
    pub fn tracked(&self, named: &Path, files: &[PathBuf], found: &mut Found) {
        if !(self.force_exclude && self.leaves_out(named, true)) {
            folder::whatever_git_ignores(self, named, files, found);
        }
    }

    /// A path that the caller names is read whatever its name is, through symbolic links too.
    fn named(&self, path: &Path, found: &mut Found) {
        let shown = self.place.shown(path);
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => {
                found.missing |= is_missing(&error);
                return found.unreadable(shown, &error);
            }
        };
        if self.force_exclude && self.leaves_out(path, meta.is_dir()) {
            return;
        }
        if meta.is_dir() {
            folder::walk(self, path, found);
        } else if meta.is_file() {
            match self.language(path, true) {
                Ok(Some(language)) => {
                    let key = resolved(path);
                    self.take((path, key), language, meta.len(), found);
                }
                Ok(None) => found.notes.push(format!(
                    "{shown} is neither Python nor Rust by its name or first line: not read"
                )),
                Err(error) => found.unreadable(shown, &error),
            }
        } else {
            found.skipped(shown, "not read: it is no regular file".to_owned());
        }
    }

    /// The language that a file's name says, whether or not it is there; of a notebook Python, if it is to be
    /// read: where the caller names it, or wants them all.
    pub fn of_name(&self, path: &Path, named: bool) -> Option<Language> {
        if is_notebook(path) {
            return (named || self.notebooks).then_some(Language::Python);
        }
        of_suffix(path)
    }

    /// The language of a regular file; only a file without suffix is opened.
    fn language(&self, path: &Path, named: bool) -> io::Result<Option<Language>> {
        if path.extension().is_some() {
            return Ok(self.of_name(path, named));
        }
        language::of_first_line(path)
    }

    /// Whether a path that the caller names is left out, by a flag or by the configuration.
    pub fn leaves_out(&self, path: &Path, folder: bool) -> bool {
        self.excludes.covers(&self.place, path, folder) || self.configs.covers(path, folder)
    }

    /// Whether a run in the working directory reads `path`, which lies below it, or would if it existed.
    pub fn comes_to(&self, path: &Path) -> bool {
        !self.leaves_out(path, false) && folder::comes_to(self, &self.place.cwd, path)
    }

    /// What is said of a file that is too large; its size in bytes, if it is known.
    pub fn too_large(&self, shown: String, size: Option<u64>) -> Problem {
        let most = size::show(self.max_file_size);
        let own = size.map_or_else(
            || "larger than".to_owned(),
            |size| format!("{}, over", size::show(size)),
        );
        skipped(
            shown,
            format!("not read: {own} the limit of {most}; raise --max-file-size or exclude it"),
        )
    }

    /// Takes a file, and its resolved path.
    fn take(
        &self,
        (path, key): (&Path, PathBuf),
        language: Language,
        size: u64,
        found: &mut Found,
    ) {
        if !self.languages.contains(&language) {
            return;
        }
        let shown = self.place.shown(path);
        if size > self.max_file_size {
            return found.problems.push(self.too_large(shown, Some(size)));
        }
        let input = Input {
            path: path.to_owned(),
            shown,
            language,
            content: Content::Disk,
            rules: self.configs.of(path),
        };
        found.files.push((key, input));
    }
}

/// The path without links in it, or as it is where it cannot be followed.
fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_missing(error: &io::Error) -> bool {
    // A path through a file ("a.py/b") names nothing either.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// What the system says of an error, without its number, nor what a library says around it.
pub fn reason(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(std::error::Error::source);
    let text = inner.map_or_else(|| error.to_string(), ToString::to_string);
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_system_s() {
        let plain = io::Error::from_raw_os_error(2);
        assert_eq!(reason(&plain), "no such file or directory");
        let mut walk = walkdir::WalkDir::new("/no/such/folder").into_iter();
        let wrapped = walk.next().unwrap().unwrap_err();
        assert_eq!(reason(&wrapped.into()), "no such file or directory");
        let own = io::Error::other("it is no regular file");
        assert_eq!(reason(&own), "it is no regular file");
    }
}

//! Configuration files: which one holds for a path, and what it says.
//!
//! The nearest one wins, and nothing is merged: from a file's folder upwards to the repository's root
//! the first folder that has one of [`NAMES`]. Paths in it are relative to its own folder. What flags
//! say comes after it.

mod dead;
mod keys;
mod read;
mod show;

pub use keys::{ALLOW_KEYS, HELPER_KEYS, KEYS, Key};

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check::Levels;
use crate::globs::Globs;
use crate::policy::Policy;
use crate::walk::{Place, reason};
use read::Section;

/// Files that may hold a configuration, the first one of a folder counts. The last two belong to
/// others, and count only if they have a table of ours.
pub const NAMES: [&str; 4] = [
    "check-detached-spawns.toml",
    ".check-detached-spawns.toml",
    "pyproject.toml",
    "Cargo.toml",
];

/// The name of our tables in files of others.
pub const TABLE: &str = "check-detached-spawns";
/// Bytes of a configuration, at most: far more than people write, or other tools put beside it.
const LARGEST: u64 = 16 << 20;

/// One configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file; none where the defaults hold.
    pub file: Option<PathBuf>,
    /// The folder that its paths are relative to, resolved.
    pub folder: PathBuf,
    /// What it leaves out, as written.
    pub exclude: Vec<String>,
    /// The same, to ask.
    pub excludes: Globs,
    /// What it decides.
    pub policy: Arc<Policy>,
}

/// What a configuration says of a folder and the files in it.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The configuration that holds.
    pub config: Arc<Config>,
    /// The folder, from the configuration's own; shared, as runs see tens of thousands of files.
    folder: Arc<Path>,
}

impl Rules {
    /// The path from the configuration's folder, of what these rules were asked for.
    pub fn inside(&self, path: &Path) -> PathBuf {
        match path.file_name() {
            Some(name) => self.folder.join(name),
            None => self.folder.to_path_buf(),
        }
    }
}

/// Which configurations there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// None: the defaults hold.
    Nothing,
    /// This file, for all paths.
    File(PathBuf),
    /// The nearest one.
    Nearest,
}

/// Finds configurations, and keeps those that were read.
#[derive(Debug)]
pub struct Configs {
    place: Place,
    flags: Levels,
    /// What holds where there is no file, and everywhere if it was chosen.
    fallback: Arc<Config>,
    nearest: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By folder as named: what holds for its entries, and the folder from that one's folder.
    folders: BTreeMap<PathBuf, Rules>,
    /// By resolved folder.
    configs: BTreeMap<PathBuf, Arc<Config>>,
    /// What was wrong with some, in the order in which they were met.
    faults: Vec<String>,
}

impl Configs {
    /// Configurations as `choice` says; `flags` are levels that come after those of a file.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the file that was chosen: file, line, column, and what to do.
    pub fn new(choice: &Choice, place: &Place, flags: &Levels) -> Result<Self, String> {
        let fallback = match choice {
            Choice::File(file) => chosen(file, place, flags)?,
            Choice::Nothing | Choice::Nearest => defaults(&place.root, flags),
        };
        Ok(Self {
            place: place.clone(),
            flags: flags.clone(),
            fallback: Arc::new(fallback),
            nearest: *choice == Choice::Nearest,
            known: Mutex::default(),
        })
    }

    /// No configuration at all.
    pub fn none(place: &Place) -> Self {
        Self {
            place: place.clone(),
            flags: Levels::default(),
            fallback: Arc::new(defaults(&place.root, &Levels::default())),
            nearest: false,
            known: Mutex::default(),
        }
    }

    /// What holds for a file or folder; the file itself need not exist.
    pub fn of(&self, path: &Path) -> Rules {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(_)) => self.of_folder(folder),
            _ => self.of_folder(path),
        }
    }

    /// Whether a path met below a named folder is left out; what stands above it was asked already.
    pub fn meets(&self, path: &Path, folder: bool) -> bool {
        if !self.nearest && self.fallback.exclude.is_empty() {
            return false;
        }
        let rules = self.of(path);
        rules.config.excludes.meets(&rules.inside(path), folder)
    }

    /// Whether a path that the caller names is left out, by itself or by a folder around it.
    pub fn covers(&self, path: &Path, folder: bool) -> bool {
        let full = self.place.full(path);
        let mut top = self.top(&full);
        if top == full {
            // A root that is named is read. A file that is in no repository has its folder's rules.
            let (false, Some(around)) = (folder, full.parent()) else {
                return false;
            };
            around.clone_into(&mut top);
        }
        let inside = full.ancestors().take_while(|one| *one != top);
        inside
            .enumerate()
            .any(|(above, one)| self.meets(one, folder || above > 0))
    }

    /// What was wrong with the configurations that were met.
    pub fn fault(&self) -> Option<String> {
        let known = self.known();
        known.faults.first().cloned()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What holds for the entries of a folder.
    fn of_folder(&self, folder: &Path) -> Rules {
        let mut known = self.known();
        if let Some(rules) = known.folders.get(folder) {
            return rules.clone();
        }
        let full = self.place.cwd.join(folder);
        let full = std::fs::canonicalize(&full).unwrap_or(full);
        let config = if self.nearest {
            self.nearest(&full, &mut known)
        } else {
            Arc::clone(&self.fallback)
        };
        let inside = full.strip_prefix(&config.folder).map(Path::to_owned);
        // Outside of the folder of a chosen file no pattern of it can speak of a path.
        let inside = inside.unwrap_or_else(|_| PathBuf::from("..").join(file_name(&full)));
        let rules = Rules {
            config,
            folder: Arc::from(inside),
        };
        known.folders.insert(folder.to_owned(), rules.clone());
        rules
    }

    /// The configuration of the nearest folder from `folder` upwards that has one.
    fn nearest(&self, folder: &Path, known: &mut Known) -> Arc<Config> {
        let top = self.top(folder);
        let mut passed = Vec::new();
        let mut found = None;
        for own in folder.ancestors() {
            if let Some(config) = known.configs.get(own) {
                found = Some(Arc::clone(config));
                break;
            }
            passed.push(own.to_owned());
            match self.read(own) {
                Ok(None) => {}
                Ok(Some(config)) => {
                    found = Some(Arc::new(config));
                    break;
                }
                Err(fault) => {
                    known.faults.push(fault);
                    break;
                }
            }
            if own == top {
                break;
            }
        }
        let config = found.unwrap_or_else(|| Arc::new(defaults(&top, &self.flags)));
        for folder in passed {
            known.configs.insert(folder, Arc::clone(&config));
        }
        config
    }

    /// Where the search for `path` ends: the root of its repository; without one the working
    /// directory, outside of which only the folder itself is asked.
    fn top(&self, path: &Path) -> PathBuf {
        let repository = path.ancestors().find(|one| one.join(".git").exists());
        match repository {
            Some(root) => root.to_owned(),
            None if path.starts_with(&self.place.root) => self.place.root.clone(),
            None => path.to_owned(),
        }
    }

    fn read(&self, folder: &Path) -> Result<Option<Config>, String> {
        for name in NAMES {
            let file = folder.join(name);
            let text = match read_file(&file, LARGEST) {
                Ok(bytes) => bytes,
                // A link of ours that leads nowhere was meant to hold something.
                Err(error)
                    if is_nothing(&error) && !(name.contains(TABLE) && file.is_symlink()) =>
                {
                    continue;
                }
                Err(error) => return Err(unreadable(&self.place.shown(&file), &error)),
            };
            if let Some(config) = self.parse(&file, &text)? {
                return Ok(Some(config));
            }
        }
        Ok(None)
    }

    fn parse(&self, file: &Path, bytes: &[u8]) -> Result<Option<Config>, String> {
        parse(file, bytes, &self.place, &self.flags)
    }
}

/// Reads a file that anybody may have put there, of at most `largest` bytes: no pipe that never ends, and
/// no device.
///
/// # Errors
///
/// Those of the system, and where it is no such file.
pub fn read_file(file: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(file)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    if about.is_file() {
        let mut start = std::fs::File::open(file)?.take(largest + 1);
        start.read_to_end(&mut bytes)?;
    }
    if !about.is_file() || bytes.len() as u64 > largest {
        let why = format!("it is no regular file of at most {} MiB", largest >> 20);
        return Err(io::Error::other(why));
    }
    Ok(bytes)
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory
    )
}

fn unreadable(shown: &str, error: &io::Error) -> String {
    format!(
        "cannot read the configuration {shown}: {}; --no-config does without",
        reason(error)
    )
}

fn file_name(path: &Path) -> &Path {
    path.file_name().map_or(Path::new(""), Path::new)
}

/// The configuration that the caller names.
fn chosen(file: &Path, place: &Place, flags: &Levels) -> Result<Config, String> {
    let shown = place.shown(file);
    let bytes = read_file(file, LARGEST).map_err(|error| unreadable(&shown, &error))?;
    parse(&place.full(file), &bytes, place, flags)?.ok_or_else(|| {
        format!("the configuration {shown} has no table for us: write [tool.{TABLE}] in pyproject.toml, [package.metadata.{TABLE}] or [workspace.metadata.{TABLE}] in Cargo.toml")
    })
}

fn defaults(folder: &Path, flags: &Levels) -> Config {
    let policy = Policy {
        levels: flags.clone(),
        ..Policy::default()
    };
    Config {
        file: None,
        folder: folder.to_owned(),
        exclude: Vec::new(),
        excludes: Globs::default(),
        policy: Arc::new(policy),
    }
}

/// Reads one file; nothing if it is a file of others without a table of ours.
fn parse(
    file: &Path,
    bytes: &[u8],
    place: &Place,
    flags: &Levels,
) -> Result<Option<Config>, String> {
    let shown = place.shown(file);
    let sections = Section::of(file);
    let ours = bytes
        .windows(TABLE.len())
        .any(|part| part == TABLE.as_bytes());
    if sections != [Section::Whole] && !ours {
        return Ok(None);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = 1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count();
        format!("{shown}:{line}: the configuration is no UTF-8: save it as UTF-8")
    })?;
    let name = file_name(file).to_string_lossy().into_owned();
    let settings = read::read(text, sections, &name).map_err(|fault| fault.tell(&shown, text))?;
    let Some(mut settings) = settings else {
        return Ok(None);
    };
    settings.policy.levels.set.extend(flags.set.iter().cloned());
    Ok(Some(Config {
        file: Some(file.to_owned()),
        folder: file.parent().map(Path::to_owned).unwrap_or_default(),
        exclude: settings.exclude,
        excludes: settings.excludes,
        policy: Arc::new(settings.policy),
    }))
}

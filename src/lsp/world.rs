//! What surrounds a document: the folders that are open, the configuration, the day.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::Levels;
use crate::config::{Choice, Configs, Rules};
use crate::report::Date;
use crate::source::Language;
use crate::walk::{Excludes, Place, Walk};

/// What a server is told when it is started.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which configuration is read; a file by its whole path.
    pub choice: Choice,
    /// Where it was started: what has no file is judged there if no folder is open.
    pub cwd: PathBuf,
    /// The day, asked whenever something is judged: a server may run over midnight.
    pub today: fn() -> Date,
}

#[derive(Debug)]
pub(super) struct World {
    settings: Settings,
    /// Folders that are open, resolved.
    folders: Vec<PathBuf>,
}

/// Where a document stands.
#[derive(Debug)]
pub(super) struct Site {
    /// Its path, with links in its folder resolved.
    pub(super) path: PathBuf,
    /// As a run in the open folder shows it.
    pub(super) shown: String,
    /// What holds for it.
    pub(super) rules: Rules,
    /// Whether a run in the open folder reads it.
    pub(super) wanted: bool,
}

impl World {
    pub(super) const fn new(settings: Settings) -> Self {
        Self {
            settings,
            folders: Vec::new(),
        }
    }

    pub(super) fn today(&self) -> Date {
        (self.settings.today)()
    }

    pub(super) fn open(&mut self, folders: &[PathBuf]) {
        self.folders.extend(folders.iter().map(|own| resolved(own)));
    }

    pub(super) fn close(&mut self, folders: &[PathBuf]) {
        let closed: Vec<PathBuf> = folders.iter().map(|own| resolved(own)).collect();
        self.folders.retain(|folder| !closed.contains(folder));
    }

    /// Where the file `path` stands, or a text without a file. Configurations and ignore files are
    /// read anew: nobody need tell that they changed.
    ///
    /// # Errors
    ///
    /// Says what is wrong with a configuration.
    pub(super) fn site(&self, path: Option<&Path>) -> Result<Site, String> {
        let cwd = self.folders.first().unwrap_or(&self.settings.cwd);
        let file = path.map_or_else(|| cwd.join("-"), Path::to_owned);
        let place = self.place(&file);
        let path_in = place.full(&file);
        let configs = Configs::new(&self.settings.choice, &place, &Levels::default())?;
        let walk = Walk {
            excludes: Excludes::new(&[])?,
            configs: Arc::new(configs),
            force_exclude: true,
            no_ignore: false,
            languages: vec![Language::Python, Language::Rust],
            place,
        };
        let rules = walk.configs.of(&path_in);
        let wanted = path.is_none() || walk.comes_to(&path_in);
        match walk.configs.fault() {
            Some(fault) => Err(fault),
            None => Ok(Site {
                shown: walk.place.shown(&path_in),
                path: path_in,
                rules,
                wanted,
            }),
        }
    }

    /// The open folder around a file, the innermost one; else the file's repository, else its folder.
    fn place(&self, file: &Path) -> Place {
        let folder = resolved(file.parent().unwrap_or(file));
        let around = self.folders.iter().filter(|own| folder.starts_with(own));
        match around.max_by_key(|own| own.as_os_str().len()) {
            Some(open) => Place::new(open),
            None => Place::new(&Place::new(&folder).root),
        }
    }
}

fn resolved(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

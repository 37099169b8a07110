//! What surrounds a document: the folders that are open, the configuration, the day.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::Levels;
use crate::config::{Choice, Configs, Rules};
use crate::report::Date;
use crate::source::Language;
use crate::walk::{Excludes, Place, Walk, size};

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
    /// Whether the editor tells of files that change in them.
    told: bool,
    /// Where files stand, until that is told.
    sites: BTreeMap<PathBuf, Result<Site, String>>,
}

/// Where a document stands.
#[derive(Clone, Debug)]
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
            told: false,
            sites: BTreeMap::new(),
        }
    }

    pub(super) fn today(&self) -> Date {
        (self.settings.today)()
    }

    /// From now on the editor tells of files that change.
    pub(super) const fn is_told(&mut self) {
        self.told = true;
    }

    /// Configurations, or what is left out, may be other ones now.
    pub(super) fn forget(&mut self) {
        self.sites.clear();
    }

    pub(super) fn open(&mut self, folders: &[PathBuf]) {
        self.forget();
        self.folders.extend(folders.iter().map(|own| resolved(own)));
    }

    pub(super) fn close(&mut self, folders: &[PathBuf]) {
        self.forget();
        let closed: Vec<PathBuf> = folders.iter().map(|own| resolved(own)).collect();
        self.folders.retain(|folder| !closed.contains(folder));
    }

    /// Where the file `path` stands, or a text without a file. Configurations and ignore files are read
    /// once where the editor tells of their changes, else anew: nobody need tell.
    ///
    /// # Errors
    ///
    /// Says what is wrong with a configuration.
    pub(super) fn site(&mut self, path: Option<&Path>) -> Result<Site, String> {
        if let Some(known) = path.and_then(|path| self.sites.get(path)) {
            return known.clone();
        }
        let site = self.look(path);
        if let Some(path) = path.filter(|path| self.hears_of(path)) {
            self.sites.insert(path.to_owned(), site.clone());
        }
        site
    }

    /// Whether the editor tells of all that decides where a file stands: it lies in an open folder, and so
    /// does its repository. Of a file that is not there yet, ignore files may say more once it is.
    fn hears_of(&self, path: &Path) -> bool {
        let root = self.place(path).root;
        let open = self.folders.iter().any(|folder| root.starts_with(folder));
        let chosen = matches!(self.settings.choice, Choice::File(_));
        self.told && open && !chosen && path.exists()
    }

    fn look(&self, path: Option<&Path>) -> Result<Site, String> {
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
            notebooks: false,
            max_file_size: size::DEFAULT,
            languages: vec![Language::Python, Language::Rust],
            jobs: None,
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

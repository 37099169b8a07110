//! The task's folder, by which it is known: made again if somebody removes it while the task runs. What is
//! not listed cannot be stopped by anybody who does not know it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Keeper, begin};
use crate::command::c_text;
use crate::sys;
use crate::tasks::{notice, wire};

/// Whoever removes a folder may take so long, and is not interfered with.
const REMOVAL: Duration = Duration::from_millis(300);
/// A folder that cannot be made is tried again after this.
const AGAIN: Duration = Duration::from_secs(10);

/// The watch over a task's folder.
pub(super) struct Listing {
    /// Tells that something was removed; none where the system cannot.
    pub(super) watch: Option<File>,
    /// When the folder is looked at.
    pub(super) look: Option<Instant>,
}

impl Listing {
    pub(super) fn of(folder: &Path) -> Self {
        let watch = c_text(folder.as_os_str()).and_then(|path| sys::watch_folder(&path));
        Self {
            watch: watch.ok().map(File::from),
            look: None,
        }
    }

    /// Something was removed.
    pub(super) fn heed(&mut self) {
        if let Some(watch) = &mut self.watch {
            let _ = watch.read(&mut [0; 4096]);
        }
        self.look_soon();
    }

    /// What was looked for is not there.
    pub(super) fn look_soon(&mut self) {
        self.look.get_or_insert_with(|| Instant::now() + REMOVAL);
    }
}

impl Keeper {
    /// Sees that the task is listed, and lists it again if it is not.
    pub(super) fn see_to_listing(&mut self) {
        self.listing.look = None;
        if self.record.state.is_final() && self.record.left.is_empty() {
            // Nothing of it runs: whoever removes it then wants it gone.
            return;
        }
        let there = |name: &str| self.folder.join(name).exists();
        if there(crate::tasks::record::FILE) && there(wire::SOCKET) {
            return;
        }
        if self.list_again().is_err() {
            self.listing.look = Some(Instant::now() + AGAIN);
        }
    }

    fn list_again(&mut self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.folder)?;
        // One whose file is there still, and nobody else's.
        let _ = fs::remove_file(self.folder.join(wire::SOCKET));
        self.listener = Some(begin::listen(&self.folder)?);
        self.log.begin_again();
        self.record.reserve(&self.folder)?;
        self.record.write(&self.folder)?;
        if self.record.state.is_final() {
            // Who was told of the end, if anybody was, is not known any more: nobody is told twice.
            notice::consume(&self.folder, "nobody, as the task's folder was removed");
        }
        self.listing = Listing::of(&self.folder);
        Ok(())
    }
}

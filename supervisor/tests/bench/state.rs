//! Folders of the bench's own: what it starts is noted there, and gone at its end.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The folder.
pub(crate) struct State(PathBuf);

impl State {
    pub(crate) fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("owned-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&folder, mode).expect("ours");
        Self(folder)
    }

    /// A file there.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A program that keeps its state there.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("XDG_STATE_HOME", &self.0).stdin(Stdio::null());
        command
    }

    /// One that keeps everything there.
    pub(crate) fn enclosed(&self, program: &str) -> Command {
        let mut command = self.command(program);
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, &self.0);
        }
        command
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! Idle processes, each the leader of a group, that end with the list of them.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// The list.
#[derive(Default)]
pub(crate) struct Members(pub(crate) Vec<Child>);

impl Members {
    /// Starts more until there are so many.
    pub(crate) fn grow_to(&mut self, count: usize) {
        while self.0.len() < count {
            let mut command = Command::new("/bin/sleep");
            // detached-spawn: groups for an owner to adopt or to look at, ended with the list of them
            let child = command.arg("1000").process_group(0).spawn();
            self.0.push(child.expect("sleep"));
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

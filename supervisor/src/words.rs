//! What front and keeper of a run say to each other, a line each.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};

/// The end of a pipe at which words arrive.
pub(crate) struct Words {
    from: File,
    /// What was read and not taken yet.
    text: String,
}

impl Words {
    pub(crate) fn new(from: File) -> Self {
        Self {
            from,
            text: String::new(),
        }
    }

    /// Reads what is there; false when the other side is gone.
    pub(crate) fn hear(&mut self) -> bool {
        let mut buffer = [0; 256];
        match self.from.read(&mut buffer) {
            Ok(length @ 1..) => {
                let said = buffer.get(..length).unwrap_or_default();
                self.text.push_str(&String::from_utf8_lossy(said));
                true
            }
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
            Ok(_) => false,
        }
    }

    /// Takes the first whole line of what was read.
    pub(crate) fn take(&mut self) -> Option<String> {
        let (line, rest) = self.text.split_once('\n')?;
        let (line, rest) = (line.to_owned(), rest.to_owned());
        self.text = rest;
        Some(line)
    }
}

impl AsFd for Words {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }
}

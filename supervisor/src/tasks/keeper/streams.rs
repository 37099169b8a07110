//! What a command says and hears.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::Instant;

use super::Keeper;
use crate::tasks::notice::Notice;

/// Output that is read after the command's end, at most: a descendant may write for ever.
pub(super) const LAST_OUTPUT: usize = 1 << 20;
/// How much is read at once.
pub(super) const PIECE: usize = 16 * 1024;

/// What waits to be read by the command.
pub(super) struct Input {
    pub(super) file: File,
    pub(super) waiting: Vec<u8>,
    pub(super) closing: bool,
}

impl Keeper {
    /// Reads output, at most so much of it: whether there was any.
    pub(super) fn read_output(&mut self, most: usize) {
        let mut buffer = [0; PIECE];
        let mut done = 0;
        while done < most {
            let Some(output) = &mut self.output else {
                return;
            };
            match output.read(&mut buffer) {
                Ok(length @ 1..) => {
                    done += length;
                    self.said(&buffer[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The end; a terminal says it by an error.
                _ => self.output = None,
            }
        }
    }

    pub(super) fn said(&mut self, bytes: &[u8]) {
        self.log.append(bytes);
        for peer in self.peers.values_mut() {
            peer.output(bytes);
        }
        for event in self.watch.look(bytes, Instant::now()) {
            let notice = Notice {
                event,
                task: self.record.clone(),
                tail: String::new(),
                cut: 0,
            };
            let value = notice.value();
            for peer in self.peers.values_mut().filter(|peer| peer.waits) {
                peer.say(&value);
            }
            self.notifier.add(value);
        }
        self.notify_next();
    }

    /// Writes the input that waits, as far as there is room.
    pub(super) fn feed(&mut self) {
        let Some(input) = &mut self.input else { return };
        match io::Write::write(&mut input.file, &input.waiting) {
            Ok(length) => drop(input.waiting.drain(..length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.input = None,
        }
        let Some(input) = &self.input else { return };
        if input.waiting.is_empty() && input.closing && !self.record.terminal {
            self.input = None;
        }
    }
}

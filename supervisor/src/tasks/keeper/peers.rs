//! Those who are connected to a keeper, and what they may ask of it.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;

use serde_json::{Value, json};

use super::course::Cause;
use super::{Keeper, begin};
use crate::sys::{self, Ready};
use crate::tasks::state::Who;
use crate::tasks::wire::{self, Line};

/// What may wait to be read by a peer: one that reads slower is let go.
const WAITING: usize = 256 * 1024;
/// What may wait to be read by the command.
const INPUT: usize = 1 << 20;

/// Somebody who is connected.
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub(super) struct Peer {
    pub(super) line: Line,
    /// What has not been sent yet.
    pub(super) out: Vec<u8>,
    /// Wants to hear of the end, and of matches.
    pub(super) waits: bool,
    /// Wants to hear what is left after a stop.
    pub(super) stops: bool,
    /// Is the task's owner: its end is the task's.
    pub(super) lifeline: bool,
    /// Wants to hear that there is output.
    follows: bool,
    /// Gets the output itself, and gives input.
    pub(super) attached: bool,
}

impl Peer {
    pub(super) fn new(line: Line) -> Self {
        Self {
            line,
            out: Vec::new(),
            waits: false,
            stops: false,
            lifeline: false,
            follows: false,
            attached: false,
        }
    }

    pub(super) fn say(&mut self, value: &Value) {
        if !self.attached {
            self.out.extend_from_slice(format!("{value}\n").as_bytes());
            self.flush();
        }
    }

    /// There was output.
    pub(super) fn output(&mut self, bytes: &[u8]) {
        if self.attached {
            self.out.extend_from_slice(bytes);
            self.flush();
        } else if self.follows && self.out.is_empty() {
            // Once is enough until it is read: the output itself is in the log.
            self.say(&json!({"event": "output"}));
        }
    }

    /// Sends what waits, as far as there is room; whoever is gone is seen by the end of the line.
    fn flush(&mut self) {
        while !self.out.is_empty() {
            match self.line.stream.write(&self.out) {
                Ok(length) => drop(self.out.drain(..length)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.out.clear(),
            }
        }
        if self.out.len() > WAITING {
            self.out.clear();
            let _ = self.line.stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

impl Keeper {
    pub(super) fn add(&mut self, peer: Peer) {
        self.peers.insert(self.next_peer, peer);
        self.next_peer += 1;
    }

    /// Somebody connects.
    pub(super) fn welcome(&mut self) {
        let Some(listener) = &self.listener else {
            return;
        };
        while let Ok((stream, _)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.peers
                    .insert(self.next_peer, Peer::new(Line::new(stream)));
                self.next_peer += 1;
            }
        }
    }

    /// A peer has said something, has room, or is gone.
    pub(super) fn attend(&mut self, number: u64, ready: Ready) {
        let Some(peer) = self.peers.get_mut(&number) else {
            return;
        };
        if ready.write {
            peer.flush();
        }
        let mut here = true;
        if ready.read && peer.attached {
            here = self.pass_keys_on(number);
        } else if ready.read {
            here = match peer.line.read() {
                Ok(here) => here,
                Err(error) => error.kind() == io::ErrorKind::WouldBlock,
            };
            while let Some(asked) = self
                .peers
                .get_mut(&number)
                .and_then(|peer| peer.line.heard())
            {
                let answer = self.answer(number, &asked);
                if let (Some(answer), Some(peer)) = (answer, self.peers.get_mut(&number)) {
                    peer.say(&answer);
                    peer.attached = asked["do"] == "attach" && answer["ok"] == true;
                }
            }
        }
        if !here && self.peers.remove(&number).is_some_and(|peer| peer.lifeline) {
            self.owner = None;
            self.orphaned();
        }
    }

    /// What an attached peer types; whether it is still there.
    fn pass_keys_on(&mut self, number: u64) -> bool {
        let mut keys = [0; 4096];
        let Some(peer) = self.peers.get_mut(&number) else {
            return false;
        };
        match peer.line.stream.read(&mut keys) {
            Ok(length @ 1..) => {
                self.input(&keys[..length], false);
                true
            }
            Ok(_) => false,
            Err(error) => {
                matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                )
            }
        }
    }

    /// Takes input for the command; why not, if not.
    fn input(&mut self, bytes: &[u8], end: bool) -> Option<&'static str> {
        let terminal = self.record.terminal;
        let Some(input) = &mut self.input else {
            return Some(match (self.record.input, self.record.state.is_final()) {
                (_, true) => "it has ended",
                (true, _) => "its input was closed",
                (false, _) => "it has no input: start it with `--stdin` or `--pty`",
            });
        };
        if input.waiting.len() + bytes.len() > INPUT {
            return Some("it does not read: a megabyte waits already");
        }
        input.waiting.extend_from_slice(bytes);
        input.closing |= end;
        if end && terminal {
            // What a person presses for it.
            input.waiting.push(4);
        }
        self.feed();
        None
    }

    /// Does what a peer asks, and says what came of it; nothing where the answer comes later.
    fn answer(&mut self, number: u64, asked: &Value) -> Option<Value> {
        let done = |fault: Option<&str>| {
            Some(fault.map_or_else(|| json!({"ok": true}), |fault| json!({"fault": fault})))
        };
        match asked["do"].as_str().unwrap_or_default() {
            "stop" => {
                self.end(Cause::Stopped, asked["grace"].as_f64());
                self.peers.get_mut(&number)?.stops = true;
                None
            }
            "wait" if self.record.state.is_final() => Some(json!({"event": "ended"})),
            "wait" => {
                self.peers.get_mut(&number)?.waits = true;
                None
            }
            "follow" => {
                let peer = self.peers.get_mut(&number)?;
                (peer.follows, peer.waits) = (true, true);
                let ended = self.record.state.is_final();
                Some(json!({"event": if ended { "ended" } else { "output" }}))
            }
            "send" => {
                let Some(bytes) = wire::to_bytes(&asked["text"]) else {
                    return done(Some("there is no text to send"));
                };
                done(self.input(&bytes, asked["end"] == true))
            }
            "resize" => done(self.resize(asked)),
            "attach" if !self.record.terminal => {
                done(Some("it has no terminal: start it with `--pty`"))
            }
            "attach" if self.record.state.is_final() => done(Some("it has ended")),
            "attach" => {
                self.resize(asked);
                done(None)
            }
            "release" => {
                self.peers.get_mut(&number)?.lifeline = false;
                done(None)
            }
            "adopt" => {
                let fault = self.adopt(number, asked);
                done(fault.as_deref())
            }
            _ => done(Some("the keeper does not know what that means")),
        }
    }

    fn resize(&mut self, asked: &Value) -> Option<&'static str> {
        let side = |name: &str| u16::try_from(asked[name].as_u64()?).ok();
        let (Some(rows), Some(columns)) = (side("rows"), side("columns")) else {
            return Some("a size has rows and columns");
        };
        let terminal = self.output.as_ref().filter(|_| self.record.terminal);
        let Some(terminal) = terminal else {
            return Some("it has no terminal");
        };
        match sys::resize(terminal.as_fd(), rows, columns) {
            Ok(()) => None,
            Err(_) => Some("its terminal does not take this size"),
        }
    }

    /// Another owner takes the task over, if the one it had is gone: why not, if not.
    fn adopt(&mut self, number: u64, asked: &Value) -> Option<String> {
        let owner = Who::from_value(&asked["owner"]);
        let Some(owner) = owner else {
            return Some("an owner has a number and a start".to_owned());
        };
        if self.record.recover.is_none() {
            return Some("its owner was not built to recover it".to_owned());
        }
        if let Some(before) = self.record.owner.filter(|before| before.lives()) {
            return Some(format!("its owner, process {}, lives", before.pid));
        }
        if self.record.state.is_final() {
            return Some("it has ended".to_owned());
        }
        let before = self.record.owner.replace(owner);
        match begin::watch(&self.record) {
            Ok(handle) => self.owner = handle,
            Err(error) => {
                self.record.owner = before;
                return Some(error.to_string());
            }
        }
        self.record.adopted += 1;
        self.adoption = None;
        self.guard.belongs_to(owner);
        for peer in self.peers.values_mut() {
            peer.lifeline = false;
        }
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.waits = true;
            peer.lifeline = asked["lifeline"] == true;
            if peer.lifeline {
                sys::continue_at(peer.line.stream.as_fd());
            }
        }
        self.write();
        None
    }
}

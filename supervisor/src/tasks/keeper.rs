//! The keeper of a task: one small process that is the parent of all that the task starts, and outlives
//! the task's owner just long enough to end the tree and to write how it ended.
//!
//! ```text
//!  owner ◀─ watched ─ keeper ── lifeline ──▶ supervisor (ends the tree if the keeper is killed)
//!                       │ ▲ socket `control`: stop, send, wait, follow, adopt, attach
//!                       │ └ output ── log
//!                       └─ command, in a session of its own; its orphans come back to the keeper
//! ```
//!
//! One thread waits for everything; a second one passes signals to it, a third one is there while
//! something is ended.

mod begin;
mod course;
mod ending;
mod guard;
mod listing;
mod notify;
mod peers;
mod streams;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::course::Cause;
use self::ending::Tree;
use self::guard::Guard;
use self::listing::Listing;
use self::notify::Notifier;
use self::peers::Peer;
use self::streams::{Input, PIECE};
use super::log;
use super::record::Record;
use super::watching::Watch;
use crate::ledger::Ledger;
use crate::sys::{self, Ready};

/// What a keeper was told of by another thread.
const CHILD: u8 = b'c';
const TOLD: u8 = b't';
const OVER: u8 = b'o';

/// Runs until the task has ended and nothing of it is left. Returns the status of the process.
pub(crate) fn keep() -> u8 {
    let Some(starter) = sys::received(3) else {
        return 2;
    };
    let starter = UnixStream::from(OwnedFd::from(starter));
    // Nobody's child: who starts a task, and who owns it, has no keeper to reap.
    match sys::fork() {
        Ok(None) => {}
        Ok(Some(_)) => return 0,
        Err(_) => return 2,
    }
    if sys::new_session().is_err() {
        return 2;
    }
    sys::hold_keeper_signals();
    sys::take_neutral_name();
    sys::become_subreaper();
    sys::close_from(4);
    match begin::begin(starter) {
        Some(keeper) => keeper.serve(),
        None => 2,
    }
}

struct Keeper {
    folder: PathBuf,
    record: Record,
    tree: Arc<Tree>,
    guard: Guard,
    ledger: Ledger,
    log: log::Writer,
    output: Option<File>,
    input: Option<Input>,
    listener: Option<UnixListener>,
    listing: Listing,
    peers: BTreeMap<u64, Peer>,
    next_peer: u64,
    owner: Option<OwnedFd>,
    wake: File,
    /// What is left, told by the thread that ends.
    ended: Arc<Mutex<Vec<i32>>>,
    wake_write: Arc<OwnedFd>,
    deadline: Option<Instant>,
    adoption: Option<Instant>,
    cause: Option<Cause>,
    ending: bool,
    watch: Watch,
    notifier: Notifier,
}

/// What can become ready.
#[derive(Clone, Copy)]
enum Source {
    Wake,
    Output,
    Input,
    Listener,
    Folder,
    Owner,
    Peer(u64),
}

impl Keeper {
    fn serve(mut self) -> u8 {
        sys::let_go_of_code();
        while !self.is_done() {
            let ready = self.wait();
            for (source, ready) in ready {
                self.heed(source, ready);
            }
            self.heed_time();
        }
        self.finish();
        0
    }

    /// Whether nothing is left to be done or told.
    fn is_done(&mut self) -> bool {
        if !self.record.state.is_final() || self.ending || self.notifier.is_busy() {
            return false;
        }
        // The reply to whoever is still connected; a terminal that shows nothing is not waited for.
        if self
            .peers
            .values()
            .any(|peer| !peer.attached && !peer.out.is_empty())
        {
            return false;
        }
        let mut left = self.tree.left();
        if left.is_empty() {
            // One look is no proof: see `ending`.
            left = self.tree.left();
        }
        if !left.is_empty() && self.record.left.is_empty() {
            self.record.left.clone_from(&left);
            self.end_rest();
        }
        left.is_empty()
    }

    /// Waits until something happens: what it is.
    fn wait(&self) -> Vec<(Source, Ready)> {
        let hungry = self
            .input
            .as_ref()
            .filter(|input| !input.waiting.is_empty());
        let fixed = [
            (Source::Wake, Some(self.wake.as_fd()), false),
            (Source::Output, self.output.as_ref().map(AsFd::as_fd), false),
            (Source::Input, hungry.map(|input| input.file.as_fd()), true),
            (
                Source::Listener,
                self.listener.as_ref().map(AsFd::as_fd),
                false,
            ),
            (
                Source::Folder,
                self.listing.watch.as_ref().map(AsFd::as_fd),
                false,
            ),
            (Source::Owner, self.owner.as_ref().map(AsFd::as_fd), false),
        ];
        let peers = self.peers.iter().map(|(number, peer)| {
            let fd = peer.line.stream.as_fd();
            (Source::Peer(*number), Some(fd), !peer.out.is_empty())
        });
        let mut sources = Vec::new();
        let mut asked: Vec<(BorrowedFd<'_>, bool)> = Vec::new();
        for (source, fd, room) in fixed.into_iter().chain(peers) {
            if let Some(fd) = fd {
                sources.push(source);
                asked.push((fd, room));
            }
        }
        let limit = self
            .next_time()
            .map(|at| at.saturating_duration_since(Instant::now()));
        let ready = sys::poll_many(&asked, limit).unwrap_or_default();
        let happened = |ready: &Ready| ready.read || ready.write;
        sources
            .into_iter()
            .zip(ready)
            .filter(|(_, ready)| happened(ready))
            .collect()
    }

    fn next_time(&self) -> Option<Instant> {
        let running = !self.record.state.is_final();
        let times = [
            // Also of what a command left that must outlive.
            self.deadline,
            self.adoption.filter(|_| running),
            self.notifier.limit(),
            self.guard.retry,
            self.listing.look,
        ];
        times.into_iter().flatten().min()
    }

    fn heed(&mut self, source: Source, ready: Ready) {
        match source {
            Source::Wake => self.heed_words(),
            Source::Output => {
                self.read_output(PIECE);
            }
            Source::Input => self.feed(),
            Source::Listener => self.welcome(),
            Source::Folder => self.listing.heed(),
            Source::Owner => {
                self.owner = None;
                self.orphaned();
            }
            Source::Peer(number) => self.attend(number, ready),
        }
    }

    fn heed_time(&mut self) {
        let over = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
        if over(self.deadline) {
            self.deadline = None;
            self.end(Cause::Limit, None);
        }
        if over(self.adoption) {
            self.adoption = None;
            self.end(Cause::NobodyCame, None);
        }
        if over(self.notifier.limit()) {
            self.notifier.overdue();
        }
        if over(self.listing.look) {
            self.see_to_listing();
        }
        if over(self.guard.retry) {
            self.guard.start(&self.tree, self.notifier.leader());
        }
    }

    /// Does what other threads said.
    fn heed_words(&mut self) {
        let mut words = [0; 64];
        let length = self.wake.read(&mut words).unwrap_or(0);
        let words = &words[..length];
        if words.contains(&CHILD) {
            self.reap();
        }
        if words.contains(&TOLD) {
            self.end(Cause::KeeperTold, None);
        }
        if words.contains(&OVER) {
            self.ended();
        }
    }

    fn notify_next(&mut self) {
        if let Some(leader) = self.notifier.next(&self.folder, &self.record) {
            self.guard.cover(leader);
            self.tree.spare_notifier(leader.pid.get());
        }
    }

    fn write(&mut self) {
        if let Err(error) = self.record.write(&self.folder) {
            if error.kind() == std::io::ErrorKind::NotFound {
                self.listing.look_soon();
                return;
            }
            // A full disk: it is tried again with every later change.
            self.record
                .why
                .get_or_insert(format!("its record cannot be written: {error}"));
        }
    }

    fn finish(mut self) {
        self.record.left.clear();
        self.write();
        Record::give_back(&self.folder);
        self.listener = None;
        let _ = std::fs::remove_file(self.folder.join(super::wire::SOCKET));
        self.guard.release();
    }
}

/// Tells the keeper's one thread something.
fn wake_up(wake: &OwnedFd, word: u8) {
    let _ = sys::write_quietly(wake.as_fd(), &[word], Duration::ZERO);
}

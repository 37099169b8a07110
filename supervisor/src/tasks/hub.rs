//! Where an owner's tasks tell it of their ends and matches: one thread that holds their lifelines.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::notice::{self, Event, Notice};
use super::record::Record;
use super::store::Store;
use super::watching::Gate;
use super::wire::Line;
use crate::error::{Error, tried};
use crate::sys;

/// What is called with each notice.
pub(super) type Callback = Box<dyn FnMut(Notice) + Send>;

/// The connection to a task's keeper.
pub(super) struct Held {
    pub(super) id: String,
    pub(super) line: Line,
}

/// What is shared with the thread.
pub(super) struct Hub {
    store: Store,
    state: Mutex<State>,
    changed: Condvar,
    wake: OwnedFd,
}

#[derive(Default)]
struct State {
    /// Tasks that the thread does not hold yet.
    new: Vec<Held>,
    queue: VecDeque<Queued>,
    /// Tasks that somebody waits for, who will take the notice.
    waited: BTreeMap<String, usize>,
    closing: bool,
}

enum Queued {
    /// A task has ended; whoever takes the notice tells it.
    End(String),
    Other(Box<Notice>),
}

impl Hub {
    /// Starts the thread.
    pub(super) fn start(store: Store, callback: Option<Callback>) -> Result<Arc<Self>, Error> {
        let (wake_read, wake) = sys::pipe().map_err(tried("make a pipe"))?;
        sys::never_wait(&wake);
        let hub = Arc::new(Self {
            store,
            state: Mutex::default(),
            changed: Condvar::new(),
            wake,
        });
        let mut listener = Listener {
            hub: Arc::clone(&hub),
            wake: wake_read.into(),
            held: Vec::new(),
            gate: Gate::default(),
            callback,
        };
        // Ends with the `Tasks` that it serves. No handler of the program's signals runs in it.
        let blocked = sys::BlockedSignals::all();
        let thread = std::thread::Builder::new().name("spawn-owned tasks".to_owned());
        let started = thread.spawn(move || listener.listen());
        drop(blocked);
        started.map(|_| hub).map_err(tried("start a thread"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is whole: a panic elsewhere does not make it wrong.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let _ = sys::write_quietly(self.wake.as_fd(), b"!", Duration::ZERO);
    }

    /// Holds a task from now on.
    pub(super) fn hold(&self, held: Held) {
        self.lock().new.push(held);
        self.wake();
    }

    /// Lets every task go: they end.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.wake();
    }

    /// A task has ended that nobody was told of.
    pub(super) fn queue_end(&self, id: String) {
        self.lock().queue.push_back(Queued::End(id));
        self.changed.notify_all();
    }

    /// Somebody waits for tasks, or does not any more.
    pub(super) fn waits(&self, ids: &[String], begins: bool) {
        let mut state = self.lock();
        for id in ids {
            let count = state.waited.entry(id.clone()).or_default();
            *count = if begins {
                *count + 1
            } else {
                count.saturating_sub(1)
            };
        }
        state.waited.retain(|_, count| *count > 0);
    }

    /// The next notice that nobody was told of, waited for at most `limit`.
    pub(super) fn next(&self, limit: Duration) -> Option<Notice> {
        let end = Instant::now() + super::record::length(limit.as_secs_f64());
        let mut state = self.lock();
        loop {
            while let Some(queued) = state.queue.pop_front() {
                drop(state);
                if let Some(notice) = self.take(queued) {
                    return Some(notice);
                }
                state = self.lock();
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The notice, if it is still to be told.
    fn take(&self, queued: Queued) -> Option<Notice> {
        let id = match queued {
            Queued::Other(notice) => return Some(*notice),
            Queued::End(id) => id,
        };
        let folder = self.store.folder(&id);
        let record = Record::read(&folder).ok()?;
        notice::consume(&folder, "its owner").then(|| Notice::of(&folder, record))
    }
}

/// The thread's own.
struct Listener {
    hub: Arc<Hub>,
    wake: File,
    held: Vec<Held>,
    gate: Gate,
    callback: Option<Callback>,
}

impl Listener {
    fn listen(&mut self) {
        loop {
            let mut asked: Vec<(BorrowedFd<'_>, bool)> = vec![(self.wake.as_fd(), false)];
            asked.extend(
                self.held
                    .iter()
                    .map(|held| (held.line.stream.as_fd(), false)),
            );
            let ready = sys::poll_many(&asked, None).unwrap_or_default();
            let woken = ready.first().is_some_and(|ready| ready.read);
            let spoke: Vec<usize> = (0..self.held.len())
                .filter(|at| ready.get(at + 1).is_some_and(|r| r.read))
                .collect();
            // From the last on, so that the numbers of the others stay.
            for at in spoke.into_iter().rev() {
                self.hear(at);
            }
            if woken {
                let _ = self.wake.read(&mut [0; 64]);
                let known = self.held.len();
                let mut state = self.hub.lock();
                self.held.append(&mut state.new);
                if state.closing {
                    return;
                }
                drop(state);
                // What was read together with the answer to the start is not announced again.
                for at in known..self.held.len() {
                    self.heed(at);
                }
            }
        }
    }

    /// A keeper has said something, or is gone.
    fn hear(&mut self, at: usize) {
        let Some(held) = self.held.get_mut(at) else {
            return;
        };
        let here = held.line.read().unwrap_or(false);
        let id = held.id.clone();
        self.heed(at);
        if !here {
            self.held.swap_remove(at);
            // A keeper that was killed has not said it.
            self.ended(&id);
        }
    }

    /// Does what the whole lines say that were read from a keeper.
    fn heed(&mut self, at: usize) {
        let Some(held) = self.held.get_mut(at) else {
            return;
        };
        let id = held.id.clone();
        let said: Vec<Value> = std::iter::from_fn(|| held.line.heard()).collect();
        for value in said {
            match value["event"].as_str() {
                Some("ended") => self.ended(&id),
                Some("matched" | "watch_ended") => self.matched(&value),
                _ => {}
            }
        }
    }

    fn ended(&mut self, id: &str) {
        let folder = self.hub.store.folder(id);
        let Ok(record) = Record::read(&folder) else {
            return;
        };
        if !notice::waits(&folder, &record) {
            return;
        }
        let waited = self.hub.lock().waited.contains_key(id);
        match &mut self.callback {
            Some(_) if waited => {}
            Some(callback) => {
                if notice::claim(&folder, "its owner").unwrap_or(false) {
                    callback(Notice::of(&folder, record));
                    let _ = notice::told(&folder, "its owner", None);
                }
            }
            None => self.hub.queue_end(id.to_owned()),
        }
    }

    fn matched(&mut self, value: &Value) {
        let Some(task) = Record::from_value(&value["task"]) else {
            return;
        };
        let lines = value["lines"].as_array().into_iter().flatten();
        let lines = lines
            .filter_map(|line| Some(line.as_str()?.to_owned()))
            .collect();
        let event = if value["event"] == "matched" {
            Event::Matched {
                lines,
                more: value["more"].as_u64().unwrap_or(0),
            }
        } else {
            Event::WatchEnded
        };
        for event in self.gate.pass(event, Instant::now()) {
            let notice = Notice {
                event,
                task: task.clone(),
                tail: String::new(),
                cut: 0,
            };
            if let Some(callback) = &mut self.callback {
                callback(notice);
            } else {
                self.hub
                    .lock()
                    .queue
                    .push_back(Queued::Other(Box::new(notice)));
                self.hub.changed.notify_all();
            }
        }
    }
}

//! The handle of an owned child.

use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, tried};
use crate::launch::Started;
use crate::owner::Life;
use crate::process::Identity;
use crate::reap::{self, Group, Outcome, Plan};
use crate::shared::Shared;
use crate::sys::{self, Peek};

/// How long a killed child may take to be gone.
const KILLED: Duration = Duration::from_secs(2);

/// A child that ends with its owner, and with this handle.
///
/// Dropping the handle ends the child's process group, and what of it has left the group, at once
/// (`SIGKILL`); [`Owned::stop`] asks first. After a child that has ended, and its group with it, what has
/// left the group is looked for within a second: to look at all processes costs more than many a child.
/// Whether the child has ended is told by its own end, never by
/// the end of its output, which a descendant may hold open.
///
/// ```no_run
/// use spawn_owned::{Command, spawn_owned};
///
/// let watcher = spawn_owned(Command::new("watcher"), "reloads the page while it is open")?;
/// // … the page is open …
/// drop(watcher);
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[must_use = "dropping the handle ends the child"]
pub struct Owned {
    /// Keeps the owner, which ends everything when it is dropped.
    _life: Arc<Life>,
    shared: Arc<Shared>,
    leader: Identity,
    number: u64,
    status: Option<ExitStatus>,
    /// Set when nothing of it can be left but what has left its group.
    over: bool,
    /// Set when the child ended by itself, so that nobody has looked for that.
    strays: bool,
    group: Group,
    /// The pipe to its standard input, if that was asked for.
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output, if that was asked for.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error, if that was asked for.
    pub stderr: Option<ChildStderr>,
}

impl Owned {
    pub(crate) fn new(life: Arc<Life>, shared: Arc<Shared>, started: Started) -> Self {
        let [stdin, stdout, stderr] = started.ends;
        Self {
            _life: life,
            shared,
            leader: started.leader,
            number: started.number,
            status: None,
            over: false,
            strays: false,
            group: Group {
                leader: started.leader,
                handle: None,
            },
            stdin: stdin.map(ChildStdin::from),
            stdout: stdout.map(ChildStdout::from),
            stderr: stderr.map(ChildStderr::from),
        }
    }

    /// The child's process.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_owned};
    /// let server = spawn_owned(Command::new("model-server"), "the model of this session")?;
    /// println!("the server is process {}", server.id());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn id(&self) -> u32 {
        self.leader.pid.get().unsigned_abs()
    }

    /// The child's process group: the same number, as the child leads it. A signal to the negative number
    /// reaches all of it ([kill(2)](https://man7.org/linux/man-pages/man2/kill.2.html)).
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_owned};
    /// let server = spawn_owned(Command::new("web-server"), "the preview of this branch")?;
    /// // To the server and its workers: open your logs again.
    /// println!("kill -USR1 -- -{}", server.process_group());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn process_group(&self) -> u32 {
        self.id()
    }

    /// Waits until the child has ended ([waitid(2)](https://man7.org/linux/man-pages/man2/waitid.2.html)).
    /// Says the same again when asked again. The pipe to its standard input is closed first, so that it
    /// does not wait for us in turn.
    ///
    /// What the child started may live on: it stays covered until it ends, this handle is dropped, or
    /// the owner dies.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_owned};
    /// let mut make = spawn_owned(Command::new("make"), "the build of this change")?;
    /// if !make.wait()?.success() {
    ///     println!("the build failed: {}", make.wait()?); // asked again, it says the same
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StatusLost`] if another part of the program reaped the child, [`Error::Forked`] in a
    /// process that did not start it.
    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        drop(self.stdin.take());
        self.look(true)?.ok_or(Error::StatusLost { id: self.id() })
    }

    /// The child's status if it has ended.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_owned};
    /// let mut server = spawn_owned(Command::new("model-server"), "the model of this session")?;
    /// // Before each request:
    /// if let Some(status) = server.try_wait()? {
    ///     eprintln!("the server has ended by itself: {status}");
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Owned::wait`].
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.look(false)
    }

    /// Waits until the child has ended or `limit` has passed: by a descriptor of the child
    /// ([pidfd_open(2)](https://man7.org/linux/man-pages/man2/pidfd_open.2.html)), where there is none by
    /// looking every hundredth of a second.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_owned};
    /// # use std::time::Duration;
    /// let mut tests = spawn_owned(Command::new("pytest"), "the tests of this change")?;
    /// match tests.wait_timeout(Duration::from_secs(600))? {
    ///     Some(status) => println!("{status}"),
    ///     None => drop(tests), // it hangs, and is ended
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Owned::wait`].
    pub fn wait_timeout(&mut self, limit: Duration) -> Result<Option<ExitStatus>, Error> {
        let end = reap::after(limit);
        self.hold();
        loop {
            if let Some(status) = self.look(false)? {
                return Ok(Some(status));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let handle = self.group.handle.as_ref().map(OwnedFd::as_fd);
            let pause = if handle.is_some() {
                left
            } else {
                left.min(Duration::from_millis(10))
            };
            sys::poll_one(handle, Some(pause)).map_err(tried("wait for the child"))?;
        }
    }

    /// Ends the child, its group, and what of it has left the group: asks (`SIGTERM`, and `SIGCONT` for
    /// what is stopped: [signal(7)](https://man7.org/linux/man-pages/man7/signal.7.html)), waits at most
    /// `grace`, then kills. Returns when all of it is gone.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Error, spawn_owned};
    /// # use std::time::Duration;
    /// let database = spawn_owned(Command::new("postgres"), "the database of the tests")?;
    /// match database.stop(Duration::from_secs(10)) {
    ///     Ok(status) => println!("it has ended with {status}, and its workers with it"),
    ///     Err(Error::StillAlive { processes }) => eprintln!("{processes} wait for a device"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StillAlive`] if something does not end although it was killed; else as [`Owned::wait`].
    pub fn stop(mut self, grace: Duration) -> Result<ExitStatus, Error> {
        self.check_process()?;
        let outcome = self.end(grace);
        let status = self.wait_timeout(KILLED);
        self.finish("stopped");
        if outcome.left > 0 {
            return Err(Error::StillAlive {
                processes: outcome.left,
            });
        }
        status?.ok_or(Error::StillAlive { processes: 1 })
    }

    fn check_process(&self) -> Result<(), Error> {
        if self.shared.forks == sys::forks() {
            Ok(())
        } else {
            Err(Error::Forked)
        }
    }

    /// Takes a descriptor of the child while its number is surely its own: it is not reaped yet.
    fn hold(&mut self) {
        if self.status.is_none() && self.group.handle.is_none() {
            self.group.handle = sys::open_process(self.leader.pid.get()).ok();
        }
    }

    /// A descriptor that has something to say when the child has ended; none where there is no such.
    #[cfg(feature = "tokio")]
    pub(crate) fn watchable(&mut self) -> Option<OwnedFd> {
        self.hold();
        self.group.handle.as_ref()?.try_clone().ok()
    }

    /// Waits until the child has ended, and leaves its status to be taken.
    #[cfg(feature = "tokio")]
    pub(crate) fn awaiter(&self) -> impl FnOnce() + Send + use<> {
        let pid = self.leader.pid;
        move || drop(sys::peek(pid, true))
    }

    /// Looks whether the child has ended, and reaps it then.
    fn look(&mut self, wait: bool) -> Result<Option<ExitStatus>, Error> {
        self.check_process()?;
        if self.status.is_some() {
            return Ok(self.status);
        }
        let lost = Error::StatusLost { id: self.id() };
        match sys::peek(self.leader.pid, wait).map_err(tried("wait for the child"))? {
            Peek::Alive => return Ok(None),
            Peek::Taken => return Err(lost),
            Peek::Ended => {}
        }
        // Before the number is given free: the descriptor goes on to mean the child's group.
        self.hold();
        self.status = sys::reap(self.leader.pid).map_err(tried("reap the child"))?;
        self.note_end();
        Ok(self.status)
    }

    /// The child has ended; its group may have members left, and stays covered then.
    fn note_end(&mut self) {
        let how = self
            .status
            .map_or_else(String::new, |status| status.to_string());
        let pid = self.leader.pid;
        if sys::signal_group(pid, 0).is_err() {
            (self.over, self.strays) = (true, true);
            self.shared.forget(pid, false);
            self.shared.ledger.ended(pid.get(), self.leader.start, &how);
        } else {
            self.shared.forget_once_empty(pid);
        }
    }

    fn end(&mut self, grace: Duration) -> Outcome {
        self.hold();
        let marked = self.shared.marked(Some([self.number].into()));
        reap::end(&Plan {
            groups: &[&self.group],
            marked: Some(&marked),
            adopts: false,
            grace,
            spared: &[sys::own_group()],
        })
    }

    /// Forgets the child after its end.
    fn finish(&mut self, how: &str) {
        self.strays = false;
        if !self.over {
            self.over = true;
            if self.shared.forget(self.leader.pid, false).is_some() {
                self.shared
                    .ledger
                    .ended(self.leader.pid.get(), self.leader.start, how);
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            return;
        }
        if self.over {
            if self.strays {
                self.shared.end_strays_soon(self.number);
            }
            return;
        }
        if self.status.is_none() && !self.shared.covers(self.leader) {
            // Handed back: it lives on, and somebody has to reap it one day.
            self.shared.lock().unreaped.push(self.leader.pid);
            return;
        }
        self.end(Duration::ZERO);
        // What cannot be killed now, is reaped when it can be.
        if self.status.is_none() && !matches!(self.wait_timeout(KILLED), Ok(Some(_))) {
            self.shared.lock().unreaped.push(self.leader.pid);
        }
        self.finish("dropped");
    }
}

impl std::fmt::Debug for Owned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("Owned");
        f.field("id", &self.id())
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

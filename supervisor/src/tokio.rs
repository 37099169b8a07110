//! Owned children for programs on [tokio](https://docs.rs/tokio): the same start, supervisor and end,
//! with a wait that is a future, and with streams of the runtime.
//!
//! ```no_run
//! # async fn of_a_session() -> Result<(), spawn_owned::Error> {
//! use spawn_owned::{Command, tokio::spawn_owned};
//!
//! let mut server = spawn_owned(Command::new("model-server"), "the model of this session")?;
//! let status = server.wait().await?;
//! # Ok(())
//! # }
//! ```

use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::time::Duration;

use ::tokio::io::Interest;
use ::tokio::io::unix::AsyncFd;
use ::tokio::net::unix::pipe;
use ::tokio::runtime::Handle;
use ::tokio::task::spawn_blocking;

use crate::command::Command;
use crate::error::{Error, tried};

/// A child that ends with its owner, and with this handle: [`crate::Owned`] in a runtime.
///
/// Dropping the handle ends the child and what of it has left its group, on a thread of the runtime
/// where one may wait; after the runtime's end, in place.
///
/// ```no_run
/// # async fn page() -> Result<(), spawn_owned::Error> {
/// use spawn_owned::{Command, Stdio, tokio::spawn_owned};
///
/// let mut command = Command::new("tail");
/// command.args(["-f", "server.log"]).stdout(Stdio::piped());
/// let mut tail = spawn_owned(command, "the log on the page")?;
/// let lines = tail.stdout.take(); // a receiver of the runtime, to be read with its `AsyncReadExt`
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the handle ends the child"]
#[derive(Debug)]
pub struct Owned {
    id: u32,
    /// There until the handle is dropped or the child stopped.
    child: Option<crate::Owned>,
    /// The descriptor of the child's process, once somebody has waited for it.
    ends: Option<AsyncFd<OwnedFd>>,
    /// The pipe to its standard input, if that was asked for.
    pub stdin: Option<pipe::Sender>,
    /// The pipe from its standard output, if that was asked for.
    pub stdout: Option<pipe::Receiver>,
    /// The pipe from its standard error, if that was asked for.
    pub stderr: Option<pipe::Receiver>,
}

/// Starts a child that ends when this process ends. See [`crate::Owner::spawn_owned`]; like the start of
/// any process, it takes a moment in which the runtime's thread does nothing else.
///
/// ```no_run
/// # async fn build() -> Result<(), spawn_owned::Error> {
/// # use spawn_owned::{Command, tokio::spawn_owned};
/// let mut lint = spawn_owned(Command::new("lint"), "the remarks on this change")?;
/// let mut tests = spawn_owned(Command::new("pytest"), "the tests of this change")?;
/// // Both run now.
/// let clean = lint.wait().await?.success() && tests.wait().await?.success();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`crate::Owner::spawn_owned`] and [`Owned::new`].
///
/// # Panics
///
/// Outside a runtime of tokio with its I/O driver, if the child has pipes.
pub fn spawn_owned(command: Command, purpose: &str) -> Result<Owned, Error> {
    Owned::new(crate::spawn_owned(command, purpose)?)
}

impl Owned {
    /// Hands a child to the runtime: one of another owner than the global one, for instance.
    ///
    /// ```no_run
    /// # async fn window() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, Owner, tokio::Owned};
    /// let window = Owner::builder().build()?;
    /// let server = window.spawn_owned(Command::new("language-server"), "completions of one window")?;
    /// let mut server = Owned::new(server)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the runtime does not take its pipes. The child is ended then.
    ///
    /// # Panics
    ///
    /// Outside a runtime of tokio with its I/O driver, if the child has pipes.
    pub fn new(mut child: crate::Owned) -> Result<Self, Error> {
        let stdin = child.stdin.take().map(OwnedFd::from);
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        let refused = || tried("hand the child's pipes to the runtime");
        let receiver = |fd: Option<OwnedFd>| fd.map(pipe::Receiver::from_owned_fd).transpose();
        let sender = stdin.map(pipe::Sender::from_owned_fd).transpose();
        Ok(Self {
            id: child.id(),
            child: Some(child),
            ends: None,
            stdin: sender.map_err(refused())?,
            stdout: receiver(stdout).map_err(refused())?,
            stderr: receiver(stderr).map_err(refused())?,
        })
    }

    /// The child's process.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, tokio::spawn_owned};
    /// let server = spawn_owned(Command::new("model-server"), "the model of this session")?;
    /// println!("{} bytes are shared at /dev/shm/model.{}", 1 << 30, server.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The child's process group: the same number, as the child leads it.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, tokio::spawn_owned};
    /// let daemon = spawn_owned(Command::new("daemon"), "it is kept when this program is replaced")?;
    /// spawn_owned::release_process_groups([daemon.process_group()])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn process_group(&self) -> u32 {
        self.id
    }

    /// Waits until the child has ended: its descriptor is ready to be read then
    /// ([pidfd_open(2)](https://man7.org/linux/man-pages/man2/pidfd_open.2.html)). Says the same again when
    /// asked again, and loses nothing when it is cancelled. The pipe to its standard input is closed first.
    /// See [`crate::Owned::wait`].
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, tokio::spawn_owned};
    /// # use std::time::Duration;
    /// let mut fetch = spawn_owned(Command::new("fetch"), "the data of this page")?;
    /// if tokio::time::timeout(Duration::from_secs(30), fetch.wait()).await.is_err() {
    ///     println!("it takes long; it can be waited for again");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`crate::Owned::wait`].
    pub async fn wait(&mut self) -> Result<ExitStatus, Error> {
        drop(self.stdin.take());
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            self.ended().await.map_err(tried("wait for the child"))?;
        }
    }

    /// The child's status if it has ended.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, tokio::spawn_owned};
    /// let mut server = spawn_owned(Command::new("model-server"), "the model of this session")?;
    /// let is_up = server.try_wait()?.is_none();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`crate::Owned::wait`].
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        let lost = Error::StatusLost { id: self.id };
        self.child.as_mut().ok_or(lost)?.try_wait()
    }

    /// Ends the child, its group, and what of it has left the group; returns when all of it is gone. See
    /// [`crate::Owned::stop`].
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), spawn_owned::Error> {
    /// # use spawn_owned::{Command, tokio::spawn_owned};
    /// # use std::time::Duration;
    /// let database = spawn_owned(Command::new("postgres"), "the database of the tests")?;
    /// let status = database.stop(Duration::from_secs(10)).await?;
    /// println!("it has written everything: {status}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`crate::Owned::stop`], and [`Error::System`] if the runtime ends meanwhile.
    pub async fn stop(mut self, grace: Duration) -> Result<ExitStatus, Error> {
        let child = self.child.take().ok_or(Error::StatusLost { id: self.id })?;
        let stopped = spawn_blocking(move || child.stop(grace)).await;
        stopped.map_err(|error| tried("stop the child")(io::Error::other(error)))?
    }

    /// Waits for the child's end, and leaves its status to be taken.
    async fn ended(&mut self) -> io::Result<()> {
        let Some(child) = &mut self.child else {
            return Ok(());
        };
        if self.ends.is_none()
            && let Some(handle) = child.watchable()
        {
            self.ends = Some(watched(handle)?);
        }
        if let Some(ends) = &self.ends {
            // Stays so: the end of a process is not taken back.
            ends.readable().await?.retain_ready();
            return Ok(());
        }
        // Where processes have no descriptors, a thread waits.
        let wait = child.awaiter();
        spawn_blocking(wait).await.map_err(io::Error::other)
    }
}

/// A descriptor in the hands of the runtime.
#[expect(
    deprecated,
    reason = "the form that replaces it is unsafe, since a type may give away a descriptor that it does \
              not keep open: this one does keep it"
)]
fn watched(handle: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else {
            return;
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(child));
        }
    }
}

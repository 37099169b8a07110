//! What must outlive its owner, and why.

use std::process::ExitStatus;
use std::sync::Arc;

use serde_json::json;

use crate::command::Command;
use crate::cookie::VARIABLE;
use crate::error::{Error, tried};
use crate::launch::{plain_arguments, spawn};
use crate::process::Identity;
use crate::reason;
use crate::shared::{Shared, reap_others};
use crate::sys::{self, Leads, Peek};

/// A process that outlives its owner. Dropping the handle leaves it running.
///
/// ```no_run
/// use spawn_owned::{Command, spawn_detached};
///
/// let updater = spawn_detached(
///     Command::new("/opt/app/updater"),
///     "the updater must outlive the process that it replaces",
/// )?;
/// drop(updater); // it goes on
/// # Ok::<(), spawn_owned::Error>(())
/// ```
pub struct Detached {
    shared: Arc<Shared>,
    leader: Identity,
    status: Option<ExitStatus>,
}

/// Starts a process without mark, in a session of its own.
pub(crate) fn start(
    shared: &Arc<Shared>,
    command: &Command,
    reason: &str,
) -> Result<Detached, Error> {
    if let Some(fault) = reason::fault(reason) {
        return Err(Error::Reason { fault });
    }
    reap_others(&mut shared.lock());
    let prepared = command.prepare((VARIABLE, None))?;
    let (path, arguments) = (prepared.path.clone(), plain_arguments(&prepared));
    let pid = spawn(
        &prepared,
        &path,
        &arguments,
        &prepared.descriptors(),
        Leads::Session,
        false,
    )?;
    sys::leave_control_groups(pid);
    let leader = Identity::of(pid).unwrap_or(Identity { pid, start: 0 });
    shared.ledger.started(
        "detached",
        pid.get(),
        leader.start,
        json!({
            "reason": reason, "program": path.to_string_lossy(),
        }),
    );
    Ok(Detached {
        shared: Arc::clone(shared),
        leader,
        status: None,
    })
}

impl Detached {
    /// Its process, which leads its session and group
    /// ([credentials(7)](https://man7.org/linux/man-pages/man7/credentials.7.html)).
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_detached};
    /// let player = spawn_detached(Command::new("player"), "the music goes on when the shell is closed")?;
    /// println!("to end it with all it started: kill -- -{}", player.id());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn id(&self) -> u32 {
        self.leader.pid.get().unsigned_abs()
    }

    /// Waits until it has ended ([waitid(2)](https://man7.org/linux/man-pages/man2/waitid.2.html)). Nobody
    /// has to.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_detached};
    /// let reason = "a backup that is cut off by a logout is none";
    /// let mut backup = spawn_detached(Command::new("backup"), reason)?;
    /// println!("saved: {}", backup.wait()?.success());
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::StatusLost`] if another part of the program reaped it, or a fork lies in between.
    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        self.look(true)?.ok_or(Error::StatusLost { id: self.id() })
    }

    /// Its status if it has ended.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, spawn_detached};
    /// let mut agent = spawn_detached(Command::new("ssh-agent"), "the user's later shells use the agent")?;
    /// // One that goes to the background by itself has ended soon, which is no failure.
    /// if let Some(status) = agent.try_wait()? {
    ///     println!("it has ended with {status}");
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Detached::wait`].
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.look(false)
    }

    fn look(&mut self, wait: bool) -> Result<Option<ExitStatus>, Error> {
        if self.status.is_none() {
            match sys::peek(self.leader.pid, wait).map_err(tried("wait for the process"))? {
                Peek::Alive => {}
                Peek::Taken => return Err(Error::StatusLost { id: self.id() }),
                Peek::Ended => {
                    self.status = sys::reap(self.leader.pid).map_err(tried("reap the process"))?;
                }
            }
        }
        Ok(self.status)
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if self.status.is_none() && self.shared.forks == sys::forks() {
            self.shared.lock().unreaped.push(self.leader.pid);
        }
    }
}

impl std::fmt::Debug for Detached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("Detached");
        f.field("id", &self.id())
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Error, Owner};

    #[test]
    fn without_a_reason_nothing_is_started() {
        let owner = Owner::builder().no_ledger().build().unwrap();
        let refused = owner.spawn_detached(Command::new("/bin/true"), "todo");
        assert!(matches!(refused, Err(Error::Reason { .. })));
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("`todo` is a placeholder")
        );
    }
}

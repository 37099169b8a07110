//! `owned run`: a command in the foreground of which nothing outlives its caller.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use spawn_owned::foreground::{self, Caller};
use spawn_owned::tasks::{Start, Who};
use spawn_owned::{Command, Error};

use crate::{environment, show, tasks, time};

#[derive(Args)]
pub(crate) struct Run {
    /// The process whose end ends the command, instead of the caller. The variable `OWNED_OWNER`
    /// (`PID:START`) says the same.
    #[arg(long, value_name = "PID")]
    owner: Option<u32>,
    /// How long what is asked to end may take before it is killed: seconds, or `500ms`.
    #[arg(long, value_name = "TIME", default_value = "3", value_parser = time::length)]
    grace: Duration,
    /// Lets it go on as a task after so long: `30s`. It has no input then, and its output comes
    /// through the task's log.
    #[arg(long, value_name = "TIME", value_parser = time::length)]
    background_after: Option<Duration>,
    /// Lets it outlive whoever starts it, for this reason. It still ends with this process.
    #[arg(long, value_name = "REASON", conflicts_with = "owner")]
    persist: Option<String>,
    /// Tells of the task as JSON, on standard error.
    #[arg(long, requires = "background_after")]
    json: bool,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(self) -> Result<u8, Error> {
        let mut words = self.command.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        if let Some(after) = self.background_after {
            let owner = self.owner.and_then(|owner| i32::try_from(owner).ok());
            let start = Start::new(command).grace(self.grace);
            return match self.persist {
                Some(reason) => tasks::run(start.persist(reason)?, Who::own(), after, self.json),
                None => tasks::run(start, tasks::owner(owner)?, after, self.json),
            };
        }
        let caller = match (&self.persist, self.owner, environment::owner()) {
            (Some(reason), ..) => Caller::Nobody(reason),
            (None, Some(owner), _) => Caller::Process(owner),
            (None, None, None) => Caller::Parent,
            (None, None, Some(Ok((pid, start)))) => Caller::Started(pid, start),
            (None, None, Some(Err(fault))) => {
                show::complain(&fault);
                return Ok(125);
            }
        };
        foreground::run(&command, caller, self.grace)
    }
}

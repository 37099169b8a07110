//! `owned run`: a command in the foreground of which nothing outlives its caller.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use spawn_owned::foreground::{self, Caller};
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
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(self) -> Result<u8, Error> {
        let caller = match caller(self.owner) {
            Ok(caller) => caller,
            Err(fault) => {
                show::complain(&fault);
                return Ok(125);
            }
        };
        let mut words = self.command.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        match self.background_after {
            Some(after) => {
                let owner = self.owner.and_then(|owner| i32::try_from(owner).ok());
                tasks::run(command, owner, self.grace, after)
            }
            None => foreground::run(&command, caller, self.grace),
        }
    }
}

/// Whose end ends the command.
fn caller(owner: Option<u32>) -> Result<Caller, String> {
    if let Some(owner) = owner {
        return Ok(Caller::Process(owner));
    }
    environment::owner().map_or(Ok(Caller::Parent), |named| {
        named.map(|(pid, start)| Caller::Started(pid, start))
    })
}

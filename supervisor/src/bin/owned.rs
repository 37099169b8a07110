//! The `owned` command: owned children for any language and any shell.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use spawn_owned::foreground::{Caller, run};
use spawn_owned::{Command, Error};

/// Runs commands of which nothing outlives its owner.
#[derive(Parser)]
#[command(version, about, after_help = AFTER)]
struct Arguments {
    #[command(subcommand)]
    order: Order,
}

const AFTER: &str = "Exit status: the command's own; 128 and the number of the signal that ended it; \
    125 if `owned` itself failed; 126 or 127 if the command could not be run or found.";

#[derive(Subcommand)]
enum Order {
    /// Runs a command in the foreground. Nothing that it starts outlives it, this process, or the caller.
    Run {
        /// The process whose end ends the command, instead of the caller. The variable `OWNED_OWNER`
        /// (`PID:START`) says the same.
        #[arg(long, value_name = "PID")]
        owner: Option<u32>,
        /// How many seconds what is asked to end may take before it is killed.
        #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
        grace: f64,
        /// The command and its arguments.
        #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
        command: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    spawn_owned::init();
    let Order::Run {
        owner,
        grace,
        command,
    } = Arguments::parse().order;
    let Ok(grace) = Duration::try_from_secs_f64(grace) else {
        return fail("--grace is no length of time", 125);
    };
    let caller = match caller(owner) {
        Ok(caller) => caller,
        Err(fault) => return fail(&fault, 125),
    };
    let mut words = command.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    match run(&command, caller, grace) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let status = status(&error);
            fail(&error.to_string(), status)
        }
    }
}

/// Whose end ends the command.
fn caller(owner: Option<u32>) -> Result<Caller, String> {
    if let Some(owner) = owner {
        return Ok(Caller::Process(owner));
    }
    let Ok(text) = std::env::var("OWNED_OWNER") else {
        return Ok(Caller::Parent);
    };
    let parsed = text
        .split_once(':')
        .and_then(|(pid, start)| Some(Caller::Started(pid.parse().ok()?, start.parse().ok()?)));
    parsed.ok_or_else(|| format!("OWNED_OWNER is `{text}`: it must be PID:START"))
}

fn status(error: &Error) -> u8 {
    match error {
        Error::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
        Error::Program { .. } => 126,
        _ => 125,
    }
}

#[expect(clippy::print_stderr, reason = "the one place that speaks to people")]
fn fail(fault: &str, status: u8) -> ExitCode {
    eprintln!("owned: {fault}");
    ExitCode::from(status)
}

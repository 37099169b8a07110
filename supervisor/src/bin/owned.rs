//! The `owned` command: owned children for any language and any shell.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use spawn_owned::foreground::{Caller, run};
use spawn_owned::supervise::serve;
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
        #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
        grace: Duration,
        /// The command and its arguments.
        #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
        command: Vec<OsString>,
    },
    /// Ends what its owner names when the owner has ended, by whatever means: for programs in any language.
    #[command(after_help = LINES)]
    Supervise {
        /// The process that is watched beside the lifeline, instead of the caller.
        #[arg(long, value_name = "PID")]
        owner: Option<u32>,
        /// How many seconds what is asked to end may take before it is killed.
        #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
        grace: Duration,
        /// Also ends what has `SPAWN_OWNED=TOKEN.NUMBER:` in its environment, wherever it went.
        #[arg(long, value_name = "TOKEN", value_parser = mark)]
        mark: Option<String>,
    },
}

const LINES: &str = "Standard input is the lifeline: a pipe whose only write end the owner holds, so that \
    any end of the owner closes it. On it come lines:\n  \
    + PID START  a process group to end with the owner; START is the 22nd field of /proc/PID/stat\n  \
    - PID START  it is handed back\n  \
    ~ NUMBER     what carries this number behind the mark is handed back\n  \
    .            the owner needs nobody any more\n\
    Other lines mean nothing. A Rust program has all of this in `spawn_owned::Owner::builder().native(PATH)`, \
    where PATH is this program.";

fn main() -> ExitCode {
    spawn_owned::init();
    match Arguments::parse().order {
        Order::Run {
            owner,
            grace,
            command,
        } => in_foreground(owner, grace, command),
        Order::Supervise { owner, grace, mark } => supervise(owner, grace, mark),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let length = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    length.ok_or_else(|| "it must be a number of seconds, such as 3 or 0.5".to_owned())
}

/// A token of the owner's that nobody else has.
fn mark(text: &str) -> Result<String, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain && (8..=64).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err("it must be 8 to 64 letters and digits that nobody else has".to_owned())
}

fn supervise(owner: Option<u32>, grace: Duration, mark: Option<String>) -> ExitCode {
    if std::io::stdin().is_terminal() {
        let fault = "standard input is a terminal, and must be a pipe from the owner: see `owned supervise --help`";
        return fail(fault, 125);
    }
    match serve(owner, grace, mark) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string(), 125),
    }
}

fn in_foreground(owner: Option<u32>, grace: Duration, command: Vec<OsString>) -> ExitCode {
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

//! The `owned` command: owned children for any language and any shell.

#[path = "owned/attach.rs"]
mod attach;
#[path = "owned/doctor.rs"]
mod doctor;
#[path = "owned/environment.rs"]
mod environment;
#[path = "owned/help.rs"]
mod help;
#[path = "owned/orders.rs"]
mod orders;
#[path = "owned/run.rs"]
mod run;
#[path = "owned/screen.rs"]
mod screen;
#[path = "owned/show.rs"]
mod show;
#[path = "owned/supervise.rs"]
mod supervise;
#[path = "owned/tasks.rs"]
mod tasks;
#[path = "owned/time.rs"]
mod time;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use spawn_owned::Error;

/// Runs commands of which nothing outlives its owner.
#[derive(Parser)]
#[command(name = "owned", version, about, after_help = AFTER)]
struct Arguments {
    #[command(subcommand)]
    order: Order,
}

const AFTER: &str = "Exit status: the command's own; 128 and the number of the signal that ended it; \
    75 if it still runs after `--background-after` or a wait's `--timeout`; 125 if `owned` itself failed, \
    was asked what makes no sense, or could not write its answer; \
    126 or 127 if the command could not be run or found.";

#[derive(Subcommand)]
enum Order {
    /// Runs a command in the foreground. Nothing that it starts outlives it, this process, or the caller.
    Run(run::Run),
    /// Ends what its owner names when the owner has ended, by whatever means: for programs in any language.
    Supervise(supervise::Supervise),
    #[command(flatten)]
    Tasks(orders::Order),
    /// Shows what this user's owners started and saw the end of.
    Ledger(doctor::Ledger),
    /// Finds processes that lost whoever started them: since when, whose they were, what they hold.
    Doctor(doctor::Doctor),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: help::Shell,
    },
    /// Prints the manual page.
    Man,
}

fn main() -> ExitCode {
    spawn_owned::init();
    obey()
}

/// Does what was ordered: apart from `main`, so that its large frame is none of a launcher's.
#[inline(never)]
fn obey() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(help) => return explain(&help),
    };
    let done = match arguments.order {
        Order::Run(order) => order.run(),
        Order::Supervise(order) => order.serve(),
        Order::Tasks(order) => tasks::obey(order),
        Order::Ledger(ledger) => ledger.show(),
        Order::Doctor(doctor) => doctor.look(),
        Order::Completions { shell } => Ok(help::completions(shell, &mut Arguments::command())),
        Order::Man => Ok(help::manual(Arguments::command())),
    };
    match done {
        Ok(status) => ExitCode::from(show::settled(status)),
        Err(error) => {
            show::complain(&error.to_string());
            ExitCode::from(status(&error))
        }
    }
}

/// Shows the help that was asked for, or what is wrong with the words: then with the status that no
/// command is likely to have.
fn explain(help: &clap::Error) -> ExitCode {
    // Whoever cannot be told knows it by the status.
    let _ = help.print();
    ExitCode::from(if help.use_stderr() { 125 } else { 0 })
}

/// The status of an order that failed.
fn status(error: &Error) -> u8 {
    match error {
        Error::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
        Error::Program { .. } => 126,
        _ => 125,
    }
}

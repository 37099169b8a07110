//! The words of the subcommands that speak of tasks.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::time;

#[derive(Subcommand)]
pub(crate) enum Order {
    /// Starts a command in the background and prints its id. It ends with its owner.
    Start(Starting),
    /// Lists tasks: state, age, time, memory.
    List {
        /// Only those that run.
        #[arg(long)]
        running: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows all that is known of a task.
    Show {
        /// Its id, its first digits, or its name.
        task: String,
        /// What its terminal shows, for a task with `--pty`.
        #[arg(long)]
        screen: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Prints what a task has said.
    Logs(Logs),
    /// Waits until tasks have ended; ends with the status of the one, or 1 if one of several failed.
    Wait(Waiting),
    /// Ends tasks: the command first, then what survives. Returns when nothing of them is left.
    Stop {
        /// Ids, their first digits, or names.
        #[arg(required_unless_present = "all")]
        tasks: Vec<String>,
        /// Every task that runs and has the same owner, but none with `--persist`.
        #[arg(long, conflicts_with = "tasks")]
        all: bool,
        /// The owner meant by `--all`, instead of the caller.
        #[arg(long, value_name = "PID", requires = "all")]
        owner: Option<i32>,
        /// How long what is asked to end may take before it is killed.
        #[arg(long, value_name = "TIME", value_parser = time::length)]
        grace: Option<Duration>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sends a line of input to a task that has `--stdin` or `--pty`.
    Send {
        /// Its id, its first digits, or its name.
        task: String,
        /// What to send; `-` is standard input, to its end.
        #[arg(allow_hyphen_values = true)]
        text: Option<OsString>,
        /// Without a line end after it.
        #[arg(long)]
        raw: bool,
        /// There is no input after it.
        #[arg(long)]
        end: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows a task's terminal here and gives it the keys, until Ctrl-\ is pressed.
    Attach {
        /// Its id, its first digits, or its name.
        task: String,
    },
    /// Takes tasks over that lost their owner.
    Adopt {
        /// The name that they were started with `--recover` under.
        name: String,
        /// The new owner, instead of the caller.
        #[arg(long, value_name = "PID")]
        owner: Option<i32>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forgets tasks that have ended, with their logs.
    Forget {
        /// Ids, their first digits, or names.
        #[arg(required = true)]
        tasks: Vec<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct Starting {
    /// The process whose end ends it, instead of the calling shell. The variable `OWNED_OWNER`
    /// (`PID:START`) says the same.
    #[arg(long, value_name = "PID")]
    pub(crate) owner: Option<i32>,
    /// What it is called.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// How long it may run: `30s`, `10m`. The variable `OWNED_TIMEOUT` says it for all.
    #[arg(long, value_name = "TIME", value_parser = time::length)]
    pub(crate) timeout: Option<Duration>,
    /// How long what is asked to end may take before it is killed.
    #[arg(long, value_name = "TIME", value_parser = time::length, default_value = "2s")]
    pub(crate) grace: Duration,
    /// A shell command that is run once when it has ended; the notice is its standard input.
    #[arg(long, value_name = "CMD")]
    pub(crate) notify: Option<String>,
    /// Tells too, but not too often, when a line of the output holds this text.
    #[arg(long, value_name = "TEXT", requires = "notify")]
    pub(crate) watch: Vec<String>,
    /// Lets it outlive whoever starts it, for this reason.
    #[arg(long, value_name = "REASON", conflicts_with_all = ["owner", "recover"])]
    pub(crate) persist: Option<String>,
    /// Lets it wait for an owner of this name when its own has ended.
    #[arg(long, value_name = "NAME")]
    pub(crate) recover: Option<String>,
    /// How long it waits.
    #[arg(long, value_name = "TIME", value_parser = time::length, default_value = "10m", requires = "recover")]
    pub(crate) patience: Duration,
    /// Gives it input, for `owned send`.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Gives it a terminal, for `owned attach` and `owned send`.
    #[arg(long)]
    pub(crate) pty: bool,
    /// How many bytes of its output are kept, the last ones.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    pub(crate) log_limit: u64,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args)]
pub(crate) struct Logs {
    /// Its id, its first digits, or its name.
    pub(crate) task: String,
    /// Goes on until the task has ended.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only the last lines.
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "offset")]
    pub(crate) lines: Option<usize>,
    /// From this byte on.
    #[arg(long, value_name = "BYTE")]
    pub(crate) offset: Option<u64>,
    /// As JSON: one object for each part.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Waiting {
    /// Ids, their first digits, or names.
    #[arg(required = true)]
    pub(crate) tasks: Vec<String>,
    /// Until one has ended.
    #[arg(long)]
    pub(crate) any: bool,
    /// No longer than this; then the status is 75.
    #[arg(long, value_name = "TIME", value_parser = time::length)]
    pub(crate) timeout: Option<Duration>,
    /// As JSON: one object for each task.
    #[arg(long)]
    pub(crate) json: bool,
}

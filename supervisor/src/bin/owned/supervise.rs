//! `owned supervise`: the native supervisor, for owners in any language.

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use spawn_owned::Error;
use spawn_owned::supervise::serve;

use crate::{show, time};

const LINES: &str = "Standard input is the lifeline: a pipe whose only write end the owner holds, so that \
    any end of the owner closes it. On it come lines:\n  \
    + PID START  a process group to end with the owner; START is the 22nd field of /proc/PID/stat\n  \
    - PID START  it is handed back\n  \
    ^ PID START  whom the owner belongs to: its end continues an owner that is stopped\n  \
    ~ NUMBER     what carries this number behind the mark is handed back\n  \
    = PID START NUMBER  as `+`, unless that number is handed back: said by a child itself, which may be late\n  \
    .            the owner needs nobody any more\n\
    Other lines mean nothing. A Rust program has all of this in `spawn_owned::Owner::builder().native(PATH)`, \
    where PATH is this program.";

#[derive(Args)]
#[command(after_help = LINES)]
pub(crate) struct Supervise {
    /// The process that is watched beside the lifeline, instead of the caller.
    #[arg(long, value_name = "PID")]
    owner: Option<u32>,
    /// How long what is asked to end may take before it is killed: seconds, or `500ms`.
    #[arg(long, value_name = "TIME", default_value = "3", value_parser = time::length)]
    grace: Duration,
    /// Also ends what has `SPAWN_OWNED=TOKEN.NUMBER:` in its environment, wherever it went.
    #[arg(long, value_name = "TOKEN", value_parser = mark)]
    mark: Option<String>,
}

impl Supervise {
    pub(crate) fn serve(self) -> Result<u8, Error> {
        if std::io::stdin().is_terminal() {
            show::complain(
                "standard input is a terminal, and must be a pipe from the owner: see `owned supervise --help`",
            );
            return Ok(125);
        }
        serve(self.owner, self.grace, self.mark).map(|()| 0)
    }
}

/// A token of the owner's that nobody else has.
fn mark(text: &str) -> Result<String, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain && (8..=64).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err("it must be 8 to 64 letters and digits that nobody else has".to_owned())
}

//! The command `lsp`: standard input and output lent to the language server.

use std::io::{self, IsTerminal};

use check_detached_spawns::config::Choice;
use check_detached_spawns::lsp::{self, Ended, Settings};
use check_detached_spawns::walk::reason;

use crate::cli::Lsp;
use crate::say::note;
use crate::{CLEAN, FOUND, today};

/// Serves one editor. The statuses are the protocol's: 0 if it was told to stop, then to exit, else 1.
pub(crate) fn serve(lsp: &Lsp) -> Result<u8, String> {
    let cwd = std::env::current_dir()
        .map_err(|error| format!("cannot tell the working directory: {}", reason(&error)))?;
    let choice = match lsp.configuration.choice() {
        Choice::File(file) => Choice::File(cwd.join(file)),
        other => other,
    };
    if io::stdin().is_terminal() {
        note("`lsp` speaks with editors; a file or folder of that name is `./lsp`");
    }
    let settings = Settings { choice, cwd, today };
    let mut out = io::BufWriter::new(io::stdout().lock());
    match lsp::serve(io::stdin(), &mut out, settings)? {
        Ended::Orderly => Ok(CLEAN),
        Ended::Abrupt => Ok(FOUND),
        // Whoever wants a file judged must not take silence for praise.
        Ended::NeverBegun => Err(
            "no editor speaks on standard input; a file or folder named lsp is `./lsp`".to_owned(),
        ),
    }
}

//! What is told on standard output and standard error, and how much of it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use check_detached_spawns::report::Problem;
use check_detached_spawns::report::summary::plain;
use check_detached_spawns::walk::reason;

/// Whether remarks are left out. A switch of the whole process, as its standard error is one.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From here on nothing is told that changes nothing.
pub(crate) fn keep_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Says what went wrong.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "error: {}", plain(message));
}

/// Says what could not be read, where no report does.
pub(crate) fn problems(problems: &[Problem]) {
    for problem in problems {
        complain(&format!("{}: {}", problem.path, problem.message));
    }
}

/// Says something that changes nothing.
pub(crate) fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        let _ = writeln!(io::stderr(), "note: {}", plain(text));
    }
}

/// Writes to standard output. A reader that has gone away has seen enough: that is no fault.
pub(crate) fn print(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match text(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write the report: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}

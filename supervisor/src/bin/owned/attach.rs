//! `owned attach`: the terminal of this command lent to a task.

use std::fs::File;
use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;

use spawn_owned::Error;
use spawn_owned::tasks::{Record, Store, terminal_size};

use crate::show;

/// The size of the terminal of this command, or the usual one.
pub(crate) fn size() -> (u16, u16) {
    // Where nobody looks on, the terminal of the session says nothing.
    if !std::io::stderr().is_terminal() {
        return (24, 80);
    }
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok();
    terminal
        .and_then(|terminal| terminal_size(terminal.as_fd()))
        .unwrap_or((24, 80))
}

/// Shows a task's terminal until the task ends, or Ctrl-\ is pressed.
pub(crate) fn attach(store: &Store, record: &Record) -> Result<u8, Error> {
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let terminal = terminal.map_err(|source| Error::System {
        tried: "attach, as there is no terminal here (`owned show --screen` shows it anyhow)",
        source,
    })?;
    // What the task's terminal shows now, then what comes.
    show::print(&show::screen(&store.tail_log(&record.id, 64 * 1024)?.bytes).replace('\n', "\r\n"));
    store.attach(&record.id, terminal.as_fd())?;
    let now = store.find(&record.id)?;
    show::print("\r\n");
    if now.state.is_final() {
        show::ended(&now, false);
        return Ok(now.exit_status().unwrap_or(125));
    }
    show::complain(&format!("task {} goes on", record.id));
    Ok(0)
}

//! What people and programs see of tasks.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use spawn_owned::Error;
use spawn_owned::tasks::{Record, State, Store};

use crate::{tasks, time};

pub(crate) use crate::screen::screen;

/// Whether something could not be written to standard output, and is lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes a text to standard output.
pub(crate) fn print(text: &str) {
    write(text.as_bytes());
}

/// Writes to standard output; false if no more can be written. A reader that is gone wants no more;
/// anything else that is in the way is said, and remembered for the status.
pub(crate) fn write(bytes: &[u8]) -> bool {
    let mut out = std::io::stdout().lock();
    let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else {
        return true;
    };
    if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
        complain(&format!("cannot write to standard output: {error}"));
    }
    false
}

/// The status of an order that was done: not that of a success if its answer is lost.
pub(crate) fn settled(status: u8) -> u8 {
    if status == 0 && LOST.load(Ordering::Relaxed) {
        return 125;
    }
    status
}

/// Says something to people.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "owned: {text}");
}

/// Says something of a task to programs that read standard error.
pub(crate) fn complain_as_json(record: &Record) {
    let _ = writeln!(std::io::stderr().lock(), "{}", record.value());
}

/// Something was done that has no other result.
pub(crate) fn done(json: bool, id: &str) {
    if json {
        print(&format!("{}\n", tasks::ok(id)));
    }
}

fn command(record: &Record) -> String {
    let plain = |word: &String| {
        let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,+@%".contains(char);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            let visible = |char: char| {
                if char.is_control() {
                    char.escape_default().to_string()
                } else {
                    char.to_string()
                }
            };
            let quoted = word.replace('\'', "'\\''");
            format!("'{}'", quoted.chars().map(visible).collect::<String>())
        }
    };
    record
        .command
        .iter()
        .map(plain)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A list of tasks.
pub(crate) fn list(records: &[Record], as_json: bool) {
    if as_json {
        let values: Vec<_> = records
            .iter()
            .map(|record| {
                let mut value = record.value();
                let usage = record.usage();
                value["usage"] = json!({
                    "processes": usage.processes, "memory": usage.memory, "cpu": usage.cpu,
                });
                value
            })
            .collect();
        print(&format!("{}\n", json!(values)));
        return;
    }
    let mut text = format!(
        "{:8}  {:12}  {:9}  {:10}  {:>8}  {:>8}  COMMAND\n",
        "ID", "NAME", "STATE", "LIFETIME", "TIME", "MEMORY"
    );
    for record in records {
        let usage = record.usage();
        let memory = if usage.processes == 0 {
            "-".to_owned()
        } else {
            time::size(usage.memory)
        };
        let name = record.name.as_deref().unwrap_or("-");
        let line = format!(
            "{:8}  {name:12}  {:9}  {:10}  {:>8}  {memory:>8}  {}\n",
            record.id,
            record.state,
            record.lifetime(),
            time::seconds(record.seconds()),
            command(record).chars().take(200).collect::<String>(),
        );
        text.push_str(&line);
    }
    print(&text);
}

/// All that is known of a task.
pub(crate) fn show(store: &Store, record: &Record, as_json: bool) -> Result<(), Error> {
    let usage = record.usage();
    let notice = store.notice(&record.id).describe();
    let tail = store.tail_log(&record.id, 1000)?;
    let end = tail.offset + tail.bytes.len() as u64;
    let folder = store.folder(&record.id);
    if as_json {
        let mut value = record.value();
        value["usage"] =
            json!({"processes": usage.processes, "memory": usage.memory, "cpu": usage.cpu});
        value["notice"] = json!(notice);
        value["output"] = json!(end);
        value["folder"] = json!(folder.to_string_lossy());
        print(&format!("{value}\n"));
        return Ok(());
    }
    let mut lines = vec![
        ("id", record.id.clone()),
        ("command", command(record)),
        ("folder", record.directory.clone()),
        ("state", record.state.to_string()),
        ("time", time::seconds(record.seconds())),
        ("lifetime", record.lifetime().to_owned()),
    ];
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    add("name", record.name.clone());
    add(
        "status",
        record.exit_status().map(|status| status.to_string()),
    );
    add("why", record.why.clone());
    add("reason", record.reason.clone());
    add(
        "owner",
        record
            .owner
            .map(|owner| format!("{} ({})", owner.pid, owner.program())),
    );
    add("recover", record.recover.clone());
    add("limit", record.limit.map(time::seconds));
    add(
        "left",
        (!record.left.is_empty()).then(|| format!("{:?}", record.left)),
    );
    let uses = || {
        format!(
            "{} processes, {}, {:.1}s of processor",
            usage.processes,
            time::size(usage.memory),
            usage.cpu
        )
    };
    add("uses", (usage.processes > 0).then(uses));
    add("notice", Some(notice));
    add(
        "log",
        Some(format!(
            "{} ({})",
            folder.join("output.*").display(),
            time::size(end)
        )),
    );
    let mut text = String::new();
    for (name, value) in lines {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{name:9} {value}\n"));
    }
    if !tail.bytes.is_empty() {
        text.push_str("---\n");
        text.push_str(&String::from_utf8_lossy(&tail.bytes));
    }
    print(&text);
    Ok(())
}

/// That a task has ended.
pub(crate) fn ended(record: &Record, as_json: bool) {
    if as_json {
        print(&format!("{}\n", record.value()));
        return;
    }
    let how = match (record.status, record.signal) {
        (_, Some(signal)) => format!(" by signal {signal}"),
        (Some(status), _) if status > 0 => format!(" with status {status}"),
        _ => String::new(),
    };
    let why = record
        .why
        .as_ref()
        .map_or(String::new(), |why| format!(": {why}"));
    let name = record
        .name
        .as_ref()
        .map_or(String::new(), |name| format!(" ({name})"));
    let length = time::seconds(record.seconds());
    print(&format!(
        "{}{name} {}{how} after {length}{why}\n",
        record.id, record.state
    ));
}

/// How several tasks ended.
pub(crate) fn summary(ended: &[Record], running: usize) {
    let mut parts = Vec::new();
    for state in [
        State::Completed,
        State::Failed,
        State::TimedOut,
        State::Cancelled,
        State::Lost,
    ] {
        let count = ended.iter().filter(|record| record.state == state).count();
        if count > 0 {
            parts.push(format!("{count} {state}"));
        }
    }
    if running > 0 {
        parts.push(format!("{running} running"));
    }
    complain(&parts.join(", "));
}

/// A line that tells a person at a terminal that a wait goes on.
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            shown: std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    pub(crate) fn show(&self, count: usize, since: Duration) {
        if self.shown {
            let length = time::seconds(since.as_secs_f64());
            let _ = write!(
                std::io::stderr().lock(),
                "\r\x1b[Kwaiting for {count} for {length}"
            );
        }
    }

    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

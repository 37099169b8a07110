//! The notice of a task's end: told once, to one. It is claimed on disk before it is told, so that a
//! crash in between leaves it visibly undelivered, and never told twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::log;
use super::record::{Record, write_private};
use super::state::Who;
use crate::ledger::now;

/// Bytes of output that a notice carries.
const CARRIED: u64 = 2000;
/// Who has taken the notice.
const FILE: &str = "notice.json";

/// What is told of a task's end.
///
/// ```
/// use spawn_owned::tasks::Notice;
///
/// fn show(notice: &Notice) {
///     println!("{} {}: {}", notice.task.id, notice.task.state, notice.tail);
///     if notice.cut > 0 {
///         println!("{} bytes stand before that", notice.cut);
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notice {
    /// What is told.
    pub event: Event,
    /// The task as it is.
    pub task: Record,
    /// The end of its output, at most 2000 bytes, as text.
    pub tail: String,
    /// How many bytes stand before that.
    pub cut: u64,
}

/// What a notice tells.
///
/// ```
/// use spawn_owned::tasks::Event;
///
/// fn headline(event: &Event) -> String {
///     match event {
///         Event::Matched { lines, more } => format!("{} lines match", lines.len() as u64 + more),
///         Event::Ended => "it has ended".to_owned(),
///         _ => "it says too much to be watched".to_owned(),
///     }
/// }
/// let event = Event::Matched { lines: vec!["error: no space left".to_owned()], more: 2 };
/// assert_eq!(headline(&event), "3 lines match");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The task has ended.
    Ended,
    /// Lines of its output in which a watched text stands, at most twenty, and how many more there were.
    Matched {
        /// The lines.
        lines: Vec<String>,
        /// How many were left out since the notice before.
        more: u64,
    },
    /// Its output is not watched any more: it matched too often. The end is told as ever.
    WatchEnded,
    /// So many notices of matches came at once that there are none for half a minute.
    Flood,
    /// The half minute is over.
    FloodOver,
}

impl Notice {
    /// What is to be told of the end of a task.
    pub(crate) fn of(folder: &Path, task: Record) -> Self {
        let tail = log::tail(folder, CARRIED).unwrap_or_default();
        let mut text = String::from_utf8_lossy(&tail.bytes).into_owned();
        if tail.offset > 0 {
            // Half a letter at its begin says nothing.
            text = text
                .trim_start_matches(char::REPLACEMENT_CHARACTER)
                .to_owned();
        }
        Self {
            event: Event::Ended,
            task,
            tail: text,
            cut: tail.offset,
        }
    }

    /// As JSON.
    ///
    /// ```no_run
    /// # use spawn_owned::{Owner, tasks::Tasks};
    /// # use std::time::Duration;
    /// # let tasks = Tasks::of(Owner::global()?).build()?;
    /// if let Some(notice) = tasks.next_notice(Duration::ZERO) {
    ///     println!("{}", notice.value()); // {"cut":0,"event":"ended","tail":"…","task":{…}}
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn value(&self) -> Value {
        let event = match &self.event {
            Event::Ended => "ended",
            Event::Matched { .. } => "matched",
            Event::WatchEnded => "watch_ended",
            Event::Flood => "flood",
            Event::FloodOver => "flood_over",
        };
        let mut value = json!({
            "event": event, "task": self.task.value(), "tail": self.tail, "cut": self.cut,
        });
        if let Event::Matched { lines, more } = &self.event {
            value["lines"] = json!(lines);
            value["more"] = json!(more);
        }
        value
    }
}

/// How it stands with the notice of a task's end.
///
/// ```
/// use spawn_owned::tasks::Standing;
///
/// fn is_open(standing: &Standing) -> bool {
///     matches!(standing, Standing::Waiting | Standing::Undelivered { .. })
/// }
/// assert!(!is_open(&Standing::Claimed));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// Nobody has taken it.
    Waiting,
    /// It is being told.
    Claimed,
    /// It was told.
    Delivered {
        /// To whom or what.
        to: String,
    },
    /// Who had taken it ended before it was told, or could not tell it.
    Undelivered {
        /// Why.
        why: String,
    },
}

impl Standing {
    /// In words.
    ///
    /// ```
    /// # use spawn_owned::tasks::Standing;
    /// let standing = Standing::Delivered { to: "a wait".to_owned() };
    /// assert_eq!(standing.describe(), "delivered to a wait");
    /// ```
    pub fn describe(&self) -> String {
        match self {
            Self::Waiting => "waiting".to_owned(),
            Self::Claimed => "being delivered".to_owned(),
            Self::Delivered { to } => format!("delivered to {to}"),
            Self::Undelivered { why } => format!("undelivered: {why}"),
        }
    }
}

/// Takes the notice for `to`, before it is told; false if somebody else has.
pub(crate) fn claim(folder: &Path, to: &str) -> io::Result<bool> {
    let new = temporary(folder);
    write_private(
        &new,
        &json!({"to": to, "by": Who::own().value(), "claimed": now()}),
    )?;
    // Of several that link at once, one succeeds, with everything in the file.
    let linked = fs::hard_link(&new, folder.join(FILE));
    let _ = fs::remove_file(new);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// The notice that this process had claimed was told, or why not.
pub(crate) fn told(folder: &Path, to: &str, fault: Option<&str>) -> io::Result<()> {
    let new = temporary(folder);
    let by = Who::own().value();
    let value = json!({"to": to, "by": by, "delivered": now(), "fault": fault});
    write_private(&new, &value)?;
    fs::rename(new, folder.join(FILE))
}

/// A name that no other thread of any process writes to.
fn temporary(folder: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("notice.{}.{number}.new", std::process::id()))
}

/// Takes and tells the notice in one step, where being there is all that telling needs.
pub(crate) fn consume(folder: &Path, to: &str) -> bool {
    let claimed = claim(folder, to).unwrap_or(false);
    if claimed {
        // Claimed is told here: what the file says of it is for people.
        let _ = told(folder, to, None);
    }
    claimed
}

/// How it stands with the notice.
pub(crate) fn standing(folder: &Path) -> Standing {
    let Ok(bytes) = fs::read(folder.join(FILE)) else {
        return Standing::Waiting;
    };
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let to = value["to"].as_str().unwrap_or("somebody").to_owned();
    if let Some(why) = value["fault"].as_str() {
        return Standing::Undelivered {
            why: why.to_owned(),
        };
    }
    if value["delivered"].is_number() {
        return Standing::Delivered { to };
    }
    match Who::from_value(&value["by"]) {
        Some(by) if by.lives() => Standing::Claimed,
        _ => Standing::Undelivered {
            why: format!("whoever told {to} ended before it was done"),
        },
    }
}

/// Whether the notice of an ended task waits for somebody.
pub(crate) fn waits(folder: &Path, task: &Record) -> bool {
    task.state.is_final() && standing(folder) == Standing::Waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_one_gets_it() {
        let folder = std::env::temp_dir().join(format!("owned-notice-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(standing(&folder), Standing::Waiting);
        assert!(claim(&folder, "a test").unwrap());
        assert_eq!(standing(&folder), Standing::Claimed);
        assert!(!claim(&folder, "another").unwrap());
        told(&folder, "a test", None).unwrap();
        assert_eq!(
            standing(&folder),
            Standing::Delivered {
                to: "a test".to_owned()
            }
        );
        assert!(!consume(&folder, "another"));
        let dead = json!({"to": "x", "by": {"pid": 4_194_300, "start": 1}, "claimed": 1});
        write_private(&folder.join(FILE), &dead).unwrap();
        assert!(matches!(standing(&folder), Standing::Undelivered { .. }));
        fs::remove_dir_all(folder).unwrap();
    }
}

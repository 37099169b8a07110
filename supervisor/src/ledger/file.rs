//! The ledger's file: a lock beside it, lines appended with one write, and what is done about torn ones.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sabotage::sabotaged;
use crate::sys;

/// How long a writer waits for the lock. After this its one line is appended without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Appends rows with one write. A line that a killed writer left unfinished is closed first.
pub(crate) fn append(path: &Path, rows: &[Value]) -> io::Result<()> {
    let lock = take_lock(path);
    let _lock = match (lock, path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(folder)?;
            take_lock(path)?
        }
        (lock, _) => lock?,
    };
    // Only without the lock can the file be replaced in between; then the row is written again.
    for _ in 0..3 {
        let mut file = options().append(true).read(true).create(true).open(path)?;
        let mut lines = String::new();
        if !ends_with_line_end(&mut file)? {
            lines.push('\n');
        }
        for row in rows {
            lines.push_str(&row.to_string());
            lines.push('\n');
        }
        file.write_all(lines.as_bytes())?;
        if path
            .metadata()
            .is_ok_and(|now| Some(now.ino()) == file.metadata().ok().map(|data| data.ino()))
        {
            return Ok(());
        }
    }
    Err(io::Error::other("it is replaced again and again"))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

fn ends_with_line_end(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The lock, on a file of its own since the ledger is replaced; none if it cannot be had in time.
fn take_lock(path: &Path) -> io::Result<Option<File>> {
    let file = options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(beside(path, ".lock"))?;
    if sabotaged("ledger-lock") {
        return Ok(Some(file));
    }
    let end = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(1);
    while !sys::lock(&file)? {
        if Instant::now() >= end {
            return Ok(None);
        }
        sys::poll_one(None, Some(pause))?;
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    Ok(Some(file))
}

/// What a ledger holds.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Value>,
    /// Lines that are no rows: torn by a writer's death, or somebody else's.
    pub(crate) torn: Vec<Vec<u8>>,
}

/// Reads a ledger. One that does not exist is empty.
pub(crate) fn read(path: &Path) -> io::Result<Rows> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Rows::default()),
        bytes => Ok(parse(&bytes?)),
    }
}

fn parse(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    for line in bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        match serde_json::from_slice(line) {
            Ok(row @ Value::Object(_)) => rows.rows.push(row),
            _ => rows.torn.push(line.to_owned()),
        }
    }
    rows
}

/// Writes the ledger anew with the rows of living owners and living children; torn lines go to a file
/// beside it. Never without the lock. A writer that could not wait for the lock may append meanwhile:
/// what the old file has got until it was replaced is carried over, and who writes to it later sees
/// that it was replaced and writes again.
pub(crate) fn compact(path: &Path) -> io::Result<()> {
    let Some(_lock) = take_lock(path)? else {
        return Ok(());
    };
    let mut old = File::open(path)?;
    let mut bytes = Vec::new();
    old.read_to_end(&mut bytes)?;
    let Rows { rows, torn } = parse(&bytes);
    if !torn.is_empty() {
        let aside = beside(path, ".torn");
        let mut file = options().append(true).create(true).open(aside)?;
        let mut lines = torn.join(&b'\n');
        lines.push(b'\n');
        file.write_all(&lines)?;
    }
    let new = beside(path, &format!(".new.{}", std::process::id()));
    let mut text = String::new();
    let mut matters = crate::sweep::matters();
    for row in rows.iter().filter(|row| matters(row)) {
        text.push_str(&row.to_string());
        text.push('\n');
    }
    let mut file = options().append(true).create(true).open(&new)?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(&new, path)?;
    let mut late = Vec::new();
    old.read_to_end(&mut late)?;
    file.write_all(&late)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::process;

    /// A ledger of the test's own, gone at its end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("owned-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn path(&self) -> PathBuf {
            self.0.join("ledger.jsonl")
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_torn_line_is_kept_aside_and_hides_nothing() {
        let folder = Temporary::new("torn");
        let path = folder.path();
        append(
            &path,
            &[json!({"kind": "a", "owner": {"boot": process::boot()}})],
        )
        .unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"kind\": \"tor").unwrap();
        append(
            &path,
            &[json!({"kind": "b", "owner": {"boot": process::boot()}})],
        )
        .unwrap();
        let rows = read(&path).unwrap();
        assert_eq!((rows.rows.len(), rows.torn.len()), (2, 1));
        compact(&path).unwrap();
        let rows = read(&path).unwrap();
        assert_eq!((rows.rows.len(), rows.torn.len()), (2, 0));
        assert_eq!(
            std::fs::read(beside(&path, ".torn")).unwrap(),
            b"{\"kind\": \"tor\n"
        );
    }

    #[test]
    fn writers_and_compaction_at_once_lose_nothing() {
        let folder = Temporary::new("many");
        let path = folder.path();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for row in 0..50 {
                        let row = json!({"writer": writer, "row": row, "owner": {"boot": process::boot()}});
                        append(path, std::slice::from_ref(&row)).unwrap();
                        if row["row"] == 25 {
                            compact(path).unwrap();
                        }
                    }
                });
            }
        });
        let rows = read(&path).unwrap();
        // On a busy machine a writer may have gone without the lock, and have written twice.
        let different: std::collections::BTreeSet<String> =
            rows.rows.iter().map(Value::to_string).collect();
        assert_eq!((different.len(), rows.torn.len()), (400, 0));
    }

    #[test]
    fn a_held_lock_makes_nobody_wait_for_ever() {
        let folder = Temporary::new("held");
        let path = folder.path();
        append(&path, &[json!({"first": 1})]).unwrap();
        let held = take_lock(&path).unwrap();
        assert!(held.is_some());
        let start = Instant::now();
        append(&path, &[json!({"second": 2})]).unwrap();
        assert!(start.elapsed() >= PATIENCE);
        assert_eq!(read(&path).unwrap().rows.len(), 2);
    }
}

//! The file that records every start and end: one JSON object a line, appended with one write.
//!
//! It says what runs, since when, whose it is and why it may stay, to people and to `jq`, and lets
//! [`sweep`](crate::sweep) find what an owner left that was killed together with its supervisor. It is
//! never the reason for a failed spawn: what could not be written is in
//! [`Status::ledger_fault`](crate::Status::ledger_fault).

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::link::Tier;
use crate::process;
use crate::sabotage::sabotaged;
use crate::sys;

/// How long a writer waits for the lock. After this its one line is appended without it.
const PATIENCE: Duration = Duration::from_secs(2);
/// Files above this size are compacted when an owner starts.
const LARGE: u64 = 1024 * 1024;

/// Where the ledger is if nobody says otherwise: `$XDG_STATE_HOME/spawn-owned/ledger.jsonl`, else
/// `~/.local/state/spawn-owned/ledger.jsonl`; nowhere for a user without a home.
pub(crate) fn default_path() -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("spawn-owned/ledger.jsonl"))
}

/// The ledger of one owner.
pub(crate) struct Ledger {
    path: Option<PathBuf>,
    /// What every row says of its owner.
    owner: Value,
    faults: Mutex<Faults>,
}

/// What went wrong. A success of one kind of work takes no other's fault back, and a row that was lost
/// stays lost.
#[derive(Default)]
struct Faults {
    rows_lost: usize,
    /// Why the last of them was.
    row: Option<String>,
    /// Why the last compaction failed.
    compaction: Option<String>,
}

impl Ledger {
    /// Notes the owner itself first: its mark leads to everything it will have started.
    pub(crate) fn open(
        path: Option<PathBuf>,
        token: &str,
        pid: i32,
        start: u64,
        tier: Tier,
    ) -> Self {
        let owner = json!({
            "pid": pid, "start": start, "token": token,
            "boot": process::boot(), "space": process::space(),
        });
        let ledger = Self {
            path,
            owner,
            faults: Mutex::default(),
        };
        if let Some(path) = &ledger.path {
            let large = path.metadata().is_ok_and(|data| data.len() > LARGE);
            if large || sabotaged("ledger-size") {
                let fault = compact(path).err().map(|error| error.to_string());
                ledger.faults().compaction = fault;
            }
        }
        let program = std::env::current_exe().unwrap_or_default();
        ledger.add(
            "owner",
            json!({"tier": tier.name(), "program": program.to_string_lossy()}),
        );
        ledger
    }

    /// A child was started.
    pub(crate) fn started(&self, kind: &str, pid: i32, start: u64, mut what: Value) {
        what["child"] = json!({"pid": pid, "start": start});
        self.add(kind, what);
    }

    /// A child has ended.
    pub(crate) fn ended(&self, pid: i32, start: u64, how: &str) {
        self.started("end", pid, start, json!({"how": how}));
    }

    /// A group was handed back.
    pub(crate) fn released(&self, pid: i32, start: u64, how: &str) {
        self.started("release", pid, start, json!({"how": how}));
    }

    /// There is no supervisor any more.
    pub(crate) fn unprotected(&self, why: &str) {
        self.add("unprotected", json!({"why": why}));
    }

    fn add(&self, kind: &str, mut row: Value) {
        let Some(path) = &self.path else { return };
        row["version"] = json!(1);
        row["kind"] = json!(kind);
        row["at"] = json!(now());
        row["owner"] = self.owner.clone();
        if let Err(error) = append(path, &row) {
            let mut faults = self.faults();
            faults.rows_lost += 1;
            faults.row = Some(error.to_string());
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What could not be done, and why.
    pub(crate) fn fault(&self) -> Option<String> {
        let path = self.path.as_ref()?.display();
        let faults = self.faults();
        let row = faults.row.as_ref().map(|why| {
            let lost = faults.rows_lost;
            format!(
                "{lost} rows could not be written to the ledger {path}, the last because: {why}"
            )
        });
        let compaction = faults.compaction.as_ref();
        let compaction =
            compaction.map(|why| format!("the ledger {path} could not be compacted: {why}"));
        let all: Vec<String> = row.into_iter().chain(compaction).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// Appends one row with one write. A line that a killed writer left unfinished is closed first.
pub(crate) fn append(path: &Path, row: &Value) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let _lock = take_lock(path)?;
    // Only without the lock can the file be replaced in between; then the row is written again.
    for _ in 0..3 {
        let mut file = options().append(true).read(true).create(true).open(path)?;
        let mut line = row.to_string();
        if !ends_with_line_end(&mut file)? {
            line.insert(0, '\n');
        }
        line.push('\n');
        file.write_all(line.as_bytes())?;
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
    use super::*;

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
            &json!({"kind": "a", "owner": {"boot": process::boot()}}),
        )
        .unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"kind\": \"tor").unwrap();
        append(
            &path,
            &json!({"kind": "b", "owner": {"boot": process::boot()}}),
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
    fn a_fault_is_not_taken_back_by_another_success() {
        let folder = Temporary::new("fault");
        let path = folder.path();
        let open = || Ledger::open(Some(path.clone()), "token", 2, 1, Tier::Shell);
        // Large, and its folder holds what stands in the way of the new file.
        let line = "x".repeat(1000) + "\n";
        std::fs::write(&path, line.repeat(1100)).unwrap();
        let in_the_way = beside(&path, &format!(".new.{}", std::process::id()));
        std::fs::create_dir(&in_the_way).unwrap();
        let ledger = open();
        ledger.ended(3, 1, "after the compaction");
        let fault = ledger.fault().unwrap();
        assert!(fault.contains("could not be compacted"), "{fault}");
        assert!(!fault.contains("rows"), "{fault}");
        std::fs::remove_dir(&in_the_way).unwrap();
        let ledger = open();
        assert_eq!(ledger.fault(), None);
        // A row that was lost stays lost, whatever is written after it.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        ledger.ended(3, 1, "lost");
        std::fs::remove_dir(&path).unwrap();
        ledger.ended(3, 1, "written");
        let fault = ledger.fault().unwrap();
        assert!(fault.starts_with("1 rows could not be written"), "{fault}");
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
                        append(path, &row).unwrap();
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
        append(&path, &json!({"first": 1})).unwrap();
        let held = take_lock(&path).unwrap();
        assert!(held.is_some());
        let start = Instant::now();
        append(&path, &json!({"second": 2})).unwrap();
        assert!(start.elapsed() >= PATIENCE);
        assert_eq!(read(&path).unwrap().rows.len(), 2);
    }
}

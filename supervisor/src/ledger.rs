//! The file that records every start and end: one JSON object a line, appended with one write.
//!
//! It says what runs, since when, whose it is and why it may stay, to people and to `jq`, and lets
//! [`sweep`](crate::sweep) find what an owner left that was killed together with its supervisor. It is
//! never the reason for a failed spawn: what could not be written is in
//! [`Status::ledger_fault`](crate::Status::ledger_fault).

mod file;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::link::Tier;
use crate::process;
use crate::sabotage::sabotaged;
use crate::tasks::Who;

pub(crate) use self::file::read;
use self::file::{append, compact};

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
        let ledger = Self::new(path, token, pid, start);
        ledger.add(vec![owner_row(tier)]);
        ledger
    }

    /// The ledger of an owner of one child, noted together with it.
    pub(crate) fn open_with(
        path: Option<PathBuf>,
        token: &str,
        owner: Who,
        child: Who,
        what: Value,
    ) -> Self {
        let ledger = Self::new(path, token, owner.pid, owner.start);
        let child = of_child("start", child.pid, child.start, what);
        ledger.add(vec![owner_row(Tier::Native), child]);
        ledger
    }

    fn new(path: Option<PathBuf>, token: &str, pid: i32, start: u64) -> Self {
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
        ledger
    }

    /// A child was started.
    pub(crate) fn started(&self, kind: &'static str, pid: i32, start: u64, what: Value) {
        self.add(vec![of_child(kind, pid, start, what)]);
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
        self.add(vec![("unprotected", json!({"why": why}))]);
    }

    fn add(&self, rows: Vec<(&'static str, Value)>) {
        let Some(path) = &self.path else { return };
        let count = rows.len();
        let rows = rows.into_iter().map(|(kind, mut row)| {
            row["version"] = json!(1);
            row["kind"] = json!(kind);
            row["at"] = json!(now());
            row["owner"] = self.owner.clone();
            row
        });
        if let Err(error) = append(path, &rows.collect::<Vec<_>>()) {
            let mut faults = self.faults();
            faults.rows_lost += count;
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

/// The row of an owner.
fn owner_row(tier: Tier) -> (&'static str, Value) {
    let program = std::env::current_exe().unwrap_or_default();
    let row = json!({"tier": tier.name(), "program": program.to_string_lossy()});
    ("owner", row)
}

/// A row that speaks of a child.
fn of_child(kind: &'static str, pid: i32, start: u64, mut what: Value) -> (&'static str, Value) {
    what["child"] = json!({"pid": pid, "start": start});
    (kind, what)
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_not_taken_back_by_another_success() {
        let folder = std::env::temp_dir().join(format!("owned-fault-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("ledger.jsonl");
        let open = || Ledger::open(Some(path.clone()), "token", 2, 1, Tier::Shell);
        // Large, and its folder holds what stands in the way of the new file.
        let line = "x".repeat(1000) + "\n";
        std::fs::write(&path, line.repeat(1100)).unwrap();
        let in_the_way = path.with_file_name(format!("ledger.jsonl.new.{}", std::process::id()));
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
        std::fs::remove_dir_all(folder).unwrap();
    }
}

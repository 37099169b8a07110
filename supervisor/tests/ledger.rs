//! The ledger, with several owners at once, some of which are killed, and compactions meanwhile.

use std::collections::BTreeSet;

use crate::witness::{Witness, check_all, tiers};

/// A ledger of the test's own, gone at its end.
struct Ledger(String);

impl Ledger {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("owned-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path.to_str().expect("a plain path").to_owned())
    }

    fn path(&self) -> String {
        format!("{}/ledger.jsonl", self.0)
    }

    /// Its different rows; every line must be one. Who could not wait for the lock may write one twice.
    fn rows(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path()).expect("a ledger");
        let lines: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        lines
            .into_iter()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}")))
            .collect()
    }

    /// How many rows of this kind speak of this owner.
    fn count(&self, owner: &Witness, kind: &str) -> usize {
        let pid = u64::from(owner.owner.id());
        let of = |row: &&serde_json::Value| {
            row["owner"]["pid"].as_u64() == Some(pid) && row["kind"] == kind
        };
        self.rows().iter().filter(of).count()
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads what an owner that counts says, until it is killed after `last`; what it said last.
fn kill_after(owner: &mut Witness, last: usize) -> usize {
    let mut said = 0;
    while said < last {
        said = owner.answer().parse().expect("a count");
    }
    owner.kill();
    // What it had said when it was killed, and nobody had read.
    loop {
        match owner.answer().parse() {
            Ok(more) => said = more,
            Err(_) => return said,
        }
    }
}

fn until_counted(owner: &mut Witness) {
    while owner.answer() != "counted" {}
}

/// Rows written are rows read: of owners that live, and of those that were killed as they wrote.
#[test]
fn no_row_is_lost_and_none_is_torn() {
    let (owners, spawns) = if check_all() { (50, 100) } else { (3, 15) };
    let ledger = Ledger::new("rows");
    let tier = tiers()[0].clone();
    let path = ledger.path();
    let start = || Witness::with(&tier, &[("LEDGER", &path)]);
    let mut living: Vec<Witness> = (0..owners).map(|_| start()).collect();
    let mut killed: Vec<Witness> = (0..3).map(|_| start()).collect();
    for owner in killed.iter_mut().chain(&mut living) {
        owner.order(&format!("count {spawns}"));
    }
    for (number, owner) in killed.iter_mut().enumerate() {
        let said = kill_after(owner, 3 + number);
        let written = ledger.count(owner, "start");
        // One more may have been written before it could be said.
        assert!(
            [said, said + 1].contains(&written),
            "said {said}, written {written}"
        );
        assert!(ledger.count(owner, "end") >= said.min(written));
    }
    for owner in &mut living {
        until_counted(owner);
    }
    for owner in &living {
        let counts = ["owner", "start", "end"].map(|kind| ledger.count(owner, kind));
        assert_eq!(counts, [1, spawns, spawns], "rows are lost");
    }
    let mode = std::fs::metadata(&path).expect("a ledger").permissions();
    let mode = std::os::unix::fs::PermissionsExt::mode(&mode);
    assert_eq!(mode & 0o777, 0o600);
    let all = ledger.rows();
    assert!(
        all.iter()
            .all(|row| row["version"] == 1 && row["owner"]["boot"].is_string())
    );
    println!(
        "{} rows of {owners} owners with {spawns} children each, and of 3 that were killed: none lost, none torn",
        all.len()
    );
}

/// The same while others compact the ledger again and again, one of which is killed.
#[test]
fn rows_and_compactions_at_once() {
    let (owners, spawns, times) = if check_all() {
        (10, 100, 100)
    } else {
        (3, 15, 30)
    };
    let ledger = Ledger::new("compactions");
    let tier = tiers()[0].clone();
    let path = ledger.path();
    // Beside what is off already: an owner compacts whatever the size is.
    let off = std::env::var("SPAWN_OWNED_SABOTAGE").unwrap_or_default();
    let off = format!("{off},ledger-size");
    let start = || Witness::with(&tier, &[("LEDGER", &path), ("SPAWN_OWNED_SABOTAGE", &off)]);
    let mut compacting: Vec<Witness> = (0..2).map(|_| start()).collect();
    let mut living: Vec<Witness> = (0..owners).map(|_| start()).collect();
    let mut killed = start();
    killed.order(&format!("owners {}", 1000 * times));
    for owner in &mut living {
        owner.order(&format!("count {spawns}"));
    }
    for owner in &mut compacting {
        owner.order(&format!("owners {times}"));
    }
    assert_eq!(living[0].answer(), "1");
    killed.kill();
    for owner in &mut living {
        until_counted(owner);
    }
    for owner in &mut compacting {
        assert_eq!(owner.answer(), "built");
    }
    let counts = |owner: &Witness| ["owner", "start", "end"].map(|kind| ledger.count(owner, kind));
    for owner in &living {
        assert_eq!(counts(owner), [1, spawns, spawns], "rows are lost");
    }
    for owner in &compacting {
        assert_eq!(counts(owner), [1 + times, 0, 0], "rows are lost");
    }
    println!(
        "{} rows and {} compactions at once: none lost, none torn",
        ledger.rows().len(),
        2 * times
    );
}

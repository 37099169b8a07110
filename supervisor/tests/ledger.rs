//! The ledger, with several owners at once, some of which are killed.

use crate::witness::{Witness, tiers, until};

/// The rows of a ledger; every line must be one.
fn rows(path: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("a ledger");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}")))
        .collect()
}

#[test]
fn no_row_is_lost_and_none_is_torn() {
    let path = std::env::temp_dir().join(format!("owned-ledger-{}.jsonl", std::process::id()));
    let path = path.to_str().expect("a plain path").to_owned();
    let tier = tiers()[0].clone();
    let mut owners: Vec<Witness> = (0..3)
        .map(|_| Witness::with(&tier, &[("LEDGER", &path)]))
        .collect();
    // One more is killed while it writes.
    let mut killed = Witness::with(&tier, &[("LEDGER", &path)]);
    killed.order("loop");
    assert_eq!(killed.answer(), "looping");
    for owner in &mut owners {
        owner.order("many 15");
    }
    until("the killed one has written", || rows_of(&path, &killed) > 5);
    killed.kill();
    for owner in &mut owners {
        assert_eq!(owner.answer(), "many");
    }
    for owner in &owners {
        assert_eq!(rows_of(&path, owner), 16, "the owner and 15 starts");
    }
    let all = rows(&path);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&path).expect("a ledger").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        all.iter()
            .all(|row| row["version"] == 1 && row["owner"]["boot"].is_string())
    );
    println!(
        "{} rows of 4 owners, one of them killed: none lost, none torn",
        all.len()
    );
    drop(owners);
    for suffix in ["", ".lock"] {
        std::fs::remove_file(format!("{path}{suffix}")).expect("ours");
    }
}

/// How many rows speak of this owner.
fn rows_of(path: &str, owner: &Witness) -> usize {
    let pid = u64::from(owner.owner.id());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let rows = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    rows.filter(|row| row["owner"]["pid"].as_u64() == Some(pid))
        .count()
}

//! Who holds a copy of the lifeline: nobody who was started in an ordinary way, and whoever was handed one
//! on purpose hides the owner's death only from a supervisor that cannot look at the owner itself.

use crate::witness::{Witness, is_shell, kill, lives, runs, tiers, until, until_runs};

/// How an owner starts a child that it does not own, and whether that holds the lifeline then.
const WAYS: &[(&str, bool)] = &[
    ("beside spawn", false),
    ("beside fork-exec", false),
    ("beside session", false),
    ("beside system", false),
    ("beside terminal", false),
    ("fork", false),
    ("beside closing", false),
    ("beside inherited", true),
    ("beside copied", true),
];

#[test]
fn the_owners_death_is_seen_whatever_else_it_has_started() {
    for tier in tiers() {
        for (way, holds) in WAYS {
            let mut witness = Witness::new(&tier);
            let owned = witness.number("spawn exec sleep 1000");
            until_runs(owned, "sleep");
            let beside = match witness.number(way) {
                fork if *way == "fork" => fork,
                _ => the_other(&witness, owned),
            };
            let supervisor = witness.supervisor();
            let line = std::fs::read_link(format!("/proc/{supervisor}/fd/3")).expect("its end");
            // A child that is just becoming its program has not closed everything yet.
            until("it holds what it will hold", || {
                open(beside).contains(&line) == *holds
            });
            witness.kill();
            if *holds && is_shell(&tier) {
                assert!(lives(owned) && lives(supervisor), "{tier}, {way}");
                kill(beside, libc::SIGKILL);
                witness.until_only(&[]);
            } else {
                witness.until_only(&[beside]);
            }
        }
    }
}

/// The other one that sleeps: it has become its program, and whoever started it has gone.
fn the_other(witness: &Witness, owned: i32) -> i32 {
    let mut found = 0;
    until("both sleep", || {
        let living = witness.living();
        let sleeps = |pid: &&i32| **pid != owned && runs(**pid, "sleep");
        found = living.iter().find(sleeps).copied().unwrap_or(0);
        found > 0 && living.len() == 2
    });
    found
}

/// What a process has open.
fn open(pid: i32) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .collect()
}

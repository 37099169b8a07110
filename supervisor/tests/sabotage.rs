//! Each mechanism turned off in turn: the test that is named beside it must fail then, in each tier that
//! has the mechanism.
//!
//! Mechanisms stand in for each other, which is what they are for. So a row also names what must be off
//! for the mechanism to be the only one; with that alone off, the named test must still pass. What belongs to
//! the start of a child is turned off in both ways to start one.

use crate::suite::one_test;
use crate::witness::{both_ways, is_shell, tiers};

/// A row of the matrix.
struct Row {
    mechanism: &'static str,
    /// What would stand in for it, by tier: shells, native.
    stands_in: [&'static str; 2],
    /// The test that holds it.
    test: &'static str,
    /// What a run says that fails for the right reason.
    says: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        mechanism: "launcher",
        stands_in: ["cookie", "cookie,owner-pidfd"],
        test: "calls::the_owner_is_killed_at_each_call",
        says: "survivors",
    },
    Row {
        mechanism: "look-up",
        stands_in: ["-", ""],
        test: "calls::a_child_that_is_late_runs_nothing",
        says: "survivors",
    },
    Row {
        mechanism: "cookie",
        stands_in: ["", ""],
        test: "deaths::what_left_its_group",
        says: "survivors",
    },
    Row {
        mechanism: "owner-pidfd",
        stands_in: ["-", "close-in-fork"],
        test: "deaths::a_fork_that_holds_everything_open",
        says: "survivors",
    },
    Row {
        mechanism: "close-in-fork",
        stands_in: ["", "owner-pidfd"],
        test: "deaths::a_fork_that_holds_everything_open",
        says: "survivors",
    },
    Row {
        mechanism: "replay",
        stands_in: ["cookie", "cookie"],
        test: "supervisors::the_supervisor_is_killed",
        says: "survivors",
    },
    Row {
        mechanism: "cont",
        stands_in: ["", ""],
        test: "deaths::what_is_stopped_can_end_in_its_own_way",
        says: "survivors",
    },
    Row {
        mechanism: "identity",
        stands_in: ["", ""],
        test: "numbers::a_number_that_was_given_again",
        says: "a stranger",
    },
    Row {
        mechanism: "ledger-lock",
        stands_in: ["", ""],
        test: "ledger::rows_and_compactions_at_once",
        says: "rows are lost",
    },
];

/// Runs the rows of one mechanism. A tier in which nothing stands in is tested without anything off by
/// the suite itself.
fn check(mechanism: &str) {
    let row = ROWS.iter().find(|row| row.mechanism == mechanism);
    let row = row.expect("a row");
    let of_a_start = ["launcher", "look-up"].contains(&mechanism);
    let tiers = if of_a_start { both_ways() } else { tiers() };
    for tier in tiers {
        let stands_in = row.stands_in[usize::from(!is_shell(&tier))];
        if stands_in == "-" {
            continue;
        }
        if !stands_in.is_empty() {
            let (passed, said) = run(row, &tier, stands_in);
            assert!(passed, "{tier}: {} without {stands_in}: {said}", row.test);
        }
        let off = format!("{stands_in},{mechanism}");
        let (passed, said) = run(row, &tier, &off);
        assert!(
            !passed && said.contains(row.says),
            "{tier}: {} must fail without {off}, and say `{}`: {said}",
            row.test,
            row.says
        );
        println!("without {mechanism}, {tier}: {} fails", row.test);
        // The ledger is the same in every tier.
        if mechanism == "ledger-lock" {
            break;
        }
    }
}

/// Runs the named test in one tier without some mechanisms: whether it passed, and what it said.
fn run(row: &Row, tier: &str, off: &str) -> (bool, String) {
    let mut command = one_test(row.test);
    command.env("SPAWN_OWNED_SABOTAGE", off);
    command.env("TIER", tier);
    // What lives for so long after an owner's death, lives on.
    if off.split(',').any(|name| name == row.mechanism) {
        command.env("PATIENCE", "4");
    }
    let output = command.output().expect("this program");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        said.contains("running 1 test"),
        "there is no test {}",
        row.test
    );
    (output.status.success(), said)
}

macro_rules! each {
    ($($name:ident $mechanism:literal)*) => {
        $(#[test] fn $name() { check($mechanism); })*

        #[test]
        fn every_row_is_run() {
            let rows: Vec<&str> = ROWS.iter().map(|row| row.mechanism).collect();
            assert_eq!(rows, [$($mechanism),*]);
        }
    };
}

each! {
    launcher "launcher"
    look_up "look-up"
    cookie "cookie"
    owner_pidfd "owner-pidfd"
    close_in_fork "close-in-fork"
    replay "replay"
    cont "cont"
    identity "identity"
    ledger_lock "ledger-lock"
}

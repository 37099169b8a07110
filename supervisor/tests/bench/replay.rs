//! A supervisor is killed: how soon another knows all groups.

use std::process::Child;
use std::time::{Duration, Instant};

use spawn_owned::Owner;

use super::members::Members;

/// Kills of each measurement: fewer than a supervisor may be started again in a row.
const KILLS: usize = 4;

/// Prints a row for each tier: the time with one group, with many, and the ratio of the two.
pub(crate) fn print(tiers: &[String], groups: usize) {
    println!(
        "kill of the supervisor to another that knows 1 and {groups} groups, ms, {KILLS} kills: p50 each, ratio"
    );
    let mut members = Members::default();
    members.grow_to(groups);
    for tier in tiers {
        let one = restarts(tier, &members.0[..1]);
        let many = restarts(tier, &members.0);
        let ratio = many / one;
        let goal = super::beside(tier, ratio, 4.0);
        println!(
            "  {:15} {one:9.1} {many:9.1} {ratio:6.2}{goal}",
            super::name(tier)
        );
    }
}

/// The median time in milliseconds from a kill to the next supervisor that was told everything.
fn restarts(tier: &str, groups: &[Child]) -> f64 {
    let owner = super::build(tier);
    let numbers = groups.iter().map(Child::id);
    owner
        .own_process_groups(numbers.clone())
        .expect("groups of ours");
    let times: Vec<Duration> = (0..KILLS).map(|_| restart(&owner)).collect();
    owner.release_process_groups(numbers).expect("an owner");
    super::figures(times).0 / 1000.0
}

fn restart(owner: &Owner) -> Duration {
    let supervisor = |owner: &Owner| owner.status().expect("a status").supervisor;
    let first = supervisor(owner).expect("a supervisor");
    let killed = Instant::now();
    // SAFETY: one process by number: the supervisor, which its owner has not reaped.
    unsafe { libc::kill(first.cast_signed(), libc::SIGKILL) };
    while supervisor(owner).is_none_or(|now| now == first) {
        std::thread::yield_now();
    }
    killed.elapsed()
}

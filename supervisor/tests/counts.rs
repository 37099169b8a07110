//! What must hold however often it is done: a few times by default, as often as it takes to believe it with
//! `CHECK_ALL=1`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::moments::{number, spin};
use crate::numbers::{Stranger, give_numbers_from, in_a_space};
use crate::witness::{Witness, count, lives, tiers, until, until_runs};

/// Some hundred numbers are given again and again, to children of owners that are killed among them. The number
/// of a group that each supervisor knows is a stranger's, which is never hit.
#[test]
fn numbers_are_used_up_again_and_again() {
    if !in_a_space("counts::numbers_are_used_up_again_and_again") {
        return;
    }
    let tiers = tiers();
    let spawns = count(1000, 100_000) / tiers.len();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for tier in &tiers {
        let (mut spawned, mut deaths) = (0, 0);
        while spawned < spawns {
            give_numbers_from(1000);
            let mut witness = Witness::new(tier);
            let mut stranger = Stranger::in_place_of_a_group(&mut witness);
            until_runs(witness.number("program /bin/sleep 1000"), "sleep");
            let last = 50 + usize::try_from(number(&mut seed, 400)).expect("small");
            witness.order("count 1000000");
            for round in 1..=last {
                assert_eq!(witness.answer(), round.to_string(), "{tier}");
                if round % 100 == 0 {
                    give_numbers_from(1000);
                }
            }
            witness.kill();
            witness.until_only(&[]);
            assert!(stranger.lives(), "{tier}: a stranger was hit");
            spawned += last;
            deaths += 1;
        }
        println!(
            "{tier}: {spawned} spawns and {deaths} deaths of owners: 0 survivors, 0 strangers hit"
        );
    }
}

/// Supervisors are killed at moments that nobody chose, while many groups live and more come. Each owner bears
/// five in ten seconds, and says so at the sixth, not before.
#[test]
fn supervisors_are_killed_again_and_again() {
    const BORNE: usize = 5;
    let tiers = tiers();
    let owners = count(2 * tiers.len(), 1000 / BORNE) / tiers.len();
    let groups = count(20, 100);
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for tier in &tiers {
        for owner in 0..owners {
            let mut witness = Witness::new(tier);
            assert_eq!(witness.tell(&format!("many {groups}")), "many");
            let begin = Instant::now();
            let mut last = 0;
            for _ in 0..BORNE {
                last = another_supervisor(&mut witness, last);
                witness.order("many 3");
                spin(number(&mut seed, 10_000));
                crate::witness::kill(last, libc::SIGKILL);
                assert_eq!(witness.answer(), "many", "{tier}");
            }
            last = another_supervisor(&mut witness, last);
            let status = witness.tell("status");
            let numbers: Vec<&str> = status.split(' ').skip(1).take(2).collect();
            assert_eq!(numbers, ["6", "5"], "{tier}: {status}");
            until("all have become their program", || {
                witness.living().len() == groups + 3 * BORNE
            });
            if owner + 1 == owners && begin.elapsed() < Duration::from_secs(8) {
                it_is_said_at_the_next(witness, last);
            } else {
                if owner + 1 == owners {
                    println!("{tier}: too slow here to see that no other is started");
                }
                witness.kill();
                witness.until_only(&[]);
            }
        }
        println!(
            "{tier}: {} kills of supervisors, {groups} groups and more each: 0 survivors",
            owners * BORNE
        );
    }
}

/// The supervisor after the one that was killed.
fn another_supervisor(witness: &mut Witness, last: i32) -> i32 {
    let mut now = 0;
    until("another supervisor", || {
        now = witness.supervisor();
        ![0, last].contains(&now)
    });
    now
}

fn it_is_said_at_the_next(mut witness: Witness, supervisor: i32) {
    crate::witness::kill(supervisor, libc::SIGKILL);
    until("it gives up, and says so", || {
        witness.tell("status").contains("was killed 6 times")
    });
    let answer = witness.tell("program /bin/sleep 1000");
    assert!(answer.contains("Unprotected"), "{answer}");
}

/// Children that many threads start at once have no copy of the lifeline, and neither has a fork of their owner,
/// from before or after.
#[test]
fn many_threads_hand_out_no_lifeline() {
    let threads = count(8, 250);
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let before = witness.number("fork");
        let children = witness.tell(&format!("threads {threads}"));
        assert_eq!(children, (threads * 8).to_string(), "{tier}");
        let after = witness.number("fork");
        let supervisor = witness.supervisor();
        let line = std::fs::read_link(format!("/proc/{supervisor}/fd/3")).expect("its end");
        let all = witness.until_living(threads * 8 + 2);
        for pid in all {
            // One that is just becoming its program has not closed everything yet.
            until("it holds no lifeline", || !open(pid).contains(&line));
        }
        let killed = Instant::now();
        witness.kill();
        let mut forks = [before, after];
        forks.sort_unstable();
        witness.until_only(&forks);
        assert!(forks.into_iter().all(lives), "{tier}");
        println!(
            "{tier}: {children} children of {threads} threads without lifeline, ended after {} ms",
            killed.elapsed().as_millis()
        );
    }
}

/// What a process has open.
fn open(pid: i32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let links = entries.into_iter().flatten().flatten();
    links
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .collect()
}

//! Kills at moments that nobody chose: no instant leaves a child that is not ended.

use std::time::{Duration, Instant};

use crate::witness::{DEADLINE, Witness, carrying, lives, tiers, until};

/// How many kills the default run makes in all, and the long one.
fn rounds(tiers: usize) -> usize {
    let all = if std::env::var("CHECK_ALL").is_ok() {
        3000
    } else {
        100
    };
    all / tiers
}

/// A number below `bound`, another at each call, the same in each run.
fn number(seed: &mut u64, bound: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % bound
}

/// Kills an owner that starts and ends children, after `micros`; how many survive it.
fn kill_after(tier: &str, micros: u64, variables: &[(&str, &str)]) -> Vec<i32> {
    let mut witness = Witness::with(tier, variables);
    witness.order("loop");
    assert_eq!(witness.answer(), "looping");
    let moment = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
    witness.kill();
    let end = Instant::now()
        + if variables.is_empty() {
            DEADLINE
        } else {
            Duration::from_secs(2)
        };
    loop {
        let living = witness.living();
        if living.is_empty() || Instant::now() > end {
            return living;
        }
        crate::witness::pause();
    }
}

#[test]
fn kills_at_random_moments_leave_nothing() {
    let bystander = Witness::new("own");
    let tiers = tiers();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for tier in &tiers {
        let mut worst = 0;
        for round in 0..rounds(tiers.len()) {
            let micros = number(&mut seed, if round % 2 == 0 { 6_000 } else { 60_000 });
            let start = Instant::now();
            let living = kill_after(tier, micros, &[]);
            assert!(
                living.is_empty(),
                "{tier}, after {micros} us: {living:?} live on"
            );
            worst = worst.max(start.elapsed().as_millis());
        }
        println!(
            "{tier}: {} kills, 0 survivors, the slowest round took {worst} ms",
            rounds(tiers.len())
        );
    }
    assert!(
        lives(i32::try_from(bystander.owner.id()).expect("a pid")),
        "a stranger was hit"
    );
}

/// Without launcher and mark, the same kills leave children: the test above can fail.
#[test]
fn the_control_loses() {
    let tier = tiers()[0].clone();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    let off = [("SPAWN_OWNED_SABOTAGE", "launcher,cookie")];
    let rounds = 20;
    let lost = (0..rounds)
        .filter(|_| !kill_after(&tier, 6_000 + number(&mut seed, 30_000), &off).is_empty())
        .count();
    println!("registered after its start, without mark: {lost} of {rounds} kills left a child");
    assert!(
        lost > 0,
        "children that are registered after their start are never lost here"
    );
}

#[test]
fn a_thousand_groups() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let count = if std::env::var("CHECK_ALL").is_ok() {
            1000
        } else {
            60
        };
        assert_eq!(witness.tell(&format!("many {count}")), "many");
        until("all have become their program", || {
            witness.living().len() == count
        });
        let supervisor = witness.supervisor();
        let killed = Instant::now();
        crate::witness::kill(supervisor, libc::SIGKILL);
        until("another supervisor", || {
            ![0, supervisor].contains(&witness.supervisor())
        });
        println!(
            "{tier}: {count} groups known again after {} ms",
            killed.elapsed().as_millis()
        );
        witness.kill();
        let killed = Instant::now();
        witness.until_only(&[]);
        println!(
            "{tier}: {count} groups ended after {} ms",
            killed.elapsed().as_millis()
        );
    }
}

/// A number that means somebody else by now is never signalled.
#[test]
fn a_number_that_was_given_again() {
    if std::fs::write("/proc/sys/kernel/ns_last_pid", "100").is_err() {
        println!("not run: numbers can be chosen by root only");
        return;
    }
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let group = witness.number("plain exec sleep 1000");
        witness.tell(&format!("adopt {group}"));
        // Start times are counted in hundredths of a second: two processes of one are told apart by the
        // native tier alone, and a number is given again so soon in a test only.
        let adopted = Instant::now();
        until("another tick of the clock", || {
            adopted.elapsed() > Duration::from_millis(50)
        });
        // The leader ends, and its number is given to a stranger that leads a group too.
        crate::witness::kill(group, libc::SIGKILL);
        witness.tell(&format!("reap {group}"));
        until("the number is free", || {
            crate::witness::state(group).is_none()
        });
        let stranger = take_number(group);
        let Some(mut stranger) = stranger else {
            println!("not run: the number {group} could not be had again");
            continue;
        };
        assert!(witness.tell("status").contains(&format!("[{group}]")));
        let supervisor = witness.supervisor();
        witness.kill();
        until("the supervisor has done its work", || !lives(supervisor));
        let alive = stranger.try_wait().expect("a child").is_none();
        stranger.kill().expect("a child");
        stranger.wait().expect("a child");
        assert!(
            alive,
            "{tier}: a stranger with a number that was given again was ended"
        );
    }
}

/// A process that leads a group and has this very number; none if others were faster each time.
fn take_number(number: i32) -> Option<std::process::Child> {
    use std::os::unix::process::CommandExt as _;
    for _ in 0..200 {
        std::fs::write("/proc/sys/kernel/ns_last_pid", format!("{}", number - 1)).ok()?;
        let mut command = std::process::Command::new("/bin/sleep");
        // detached-spawn: a stranger with a group of its own, ended by the test
        let mut child = command.arg("1000").process_group(0).spawn().ok()?;
        if child.id().cast_signed() == number {
            return Some(child);
        }
        child.kill().ok()?;
        child.wait().ok()?;
    }
    None
}

#[test]
fn owner_and_supervisor_are_killed_together() {
    let folder = std::env::temp_dir().join(format!("owned-sweep-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (number, tier) in tiers().iter().enumerate() {
        let path = folder.join(format!("ledger-{number}.jsonl"));
        let path = path.to_str().expect("a plain path");
        let mut witness = Witness::with(tier, &[("LEDGER", path), ("GRACE", "1000")]);
        witness.number("spawn setsid sleep 1000 & wait");
        witness.number("spawn exec sleep 1000");
        let lives_on = witness.number("detach exec sleep 1000");
        until("all live", || witness.living().len() == 4);
        // Another owner with the same ledger, alive: nothing of its own is touched.
        let mut other = Witness::with(tier, &[("LEDGER", path), ("GRACE", "1000")]);
        let theirs = other.number("spawn exec sleep 1000");
        let supervisor = witness.supervisor();
        witness.owner.kill().expect("a child");
        crate::witness::kill(supervisor, libc::SIGKILL);
        witness.owner.wait().expect("a child");
        if lives(supervisor) {
            until("the supervisor is dead", || !lives(supervisor));
        }
        let swept = other.tell("sweep");
        witness.until_only(&[lives_on]);
        assert!(lives(theirs));
        println!("{tier}: {swept}");
        let again = other.tell("sweep");
        assert!(again.contains("owners: 0"), "{again}");
        let text = std::fs::read_to_string(path).expect("a ledger");
        assert!(
            text.contains("it must live on for the test"),
            "the ledger says why"
        );
    }
    std::fs::remove_dir_all(folder).expect("ours");
    assert!(carrying("WITNESS=never").is_empty());
}

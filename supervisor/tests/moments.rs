//! Kills at moments that nobody chose: no instant leaves a child that is not ended.

use std::time::{Duration, Instant};

use crate::numbers::{Stranger, give_numbers_from, in_a_space};
use crate::trace::{Call, OUTPUT, Traced, WRITE};
use crate::witness::{DEADLINE, Witness, both_ways, carrying, count, lives, tiers, until};

/// How many kills the default run makes in all, and the long one.
fn rounds(tiers: usize) -> usize {
    count(100, 3000) / tiers
}

/// A number below `bound`, another at each call, the same in each run.
pub(crate) fn number(seed: &mut u64, bound: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % bound
}

/// Waits for a moment: a kill is to fall on no other.
pub(crate) fn spin(micros: u64) {
    let moment = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

/// What random kills did in one tier.
#[derive(Default)]
struct Record {
    kills: usize,
    survivors: usize,
    /// Strangers that were hit: a wrong signal each.
    strangers_hit: usize,
    slowest: Duration,
}

impl Record {
    /// Kills an owner that starts and ends children, with a stranger beside it that has the number of a
    /// group which the supervisor knows.
    fn kill_at_random(&mut self, tier: &str, micros: u64) {
        let begin = Instant::now();
        let mut witness = Witness::new(tier);
        let mut stranger = Stranger::in_place_of_a_group(&mut witness);
        witness.order("loop");
        assert_eq!(witness.answer(), "looping");
        spin(micros);
        witness.kill();
        let end = Instant::now() + DEADLINE;
        let mut living = witness.living();
        while !living.is_empty() && Instant::now() < end {
            crate::witness::pause();
            living = witness.living();
        }
        self.kills += 1;
        self.survivors += living.len();
        self.strangers_hit += usize::from(!stranger.lives());
        self.slowest = self.slowest.max(begin.elapsed());
    }

    /// For people and programs.
    fn print(&self, tier: &str) {
        let record = serde_json::json!({
            "test": "kills at random moments", "tier": tier, "kills": self.kills,
            "survivors": self.survivors, "strangers_hit": self.strangers_hit,
            "slowest_ms": self.slowest.as_millis(),
        });
        println!("{record}");
    }
}

/// In a space of numbers of their own, which are given again in each round.
#[test]
fn kills_at_random_moments_leave_nothing() {
    if !in_a_space("moments::kills_at_random_moments_leave_nothing") {
        return;
    }
    let control = Witness::new("own");
    let tiers = both_ways();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for tier in &tiers {
        let mut record = Record::default();
        for round in 0..rounds(tiers.len()) {
            let micros = number(&mut seed, if round % 2 == 0 { 6_000 } else { 60_000 });
            give_numbers_from(1000);
            record.kill_at_random(tier, micros);
            assert_eq!(
                (record.survivors, record.strangers_hit),
                (0, 0),
                "{tier}, after {micros} us: survivors, or a stranger was hit"
            );
        }
        record.print(tier);
    }
    assert!(
        lives(control.owner.id().cast_signed()),
        "the control group was hit"
    );
}

/// An owner whose children carry no mark, and that registers them itself after their start; the first is.
/// With it its supervisor.
fn late(tier: &str) -> (Witness, i32) {
    let off = [("SPAWN_OWNED_SABOTAGE", "launcher,cookie")];
    let mut witness = Witness::with(tier, &off);
    let first = witness.number("spawn exec sleep 1000");
    crate::witness::until_runs(first, "sleep");
    let supervisor = witness.supervisor();
    (witness, supervisor)
}

/// Kills an owner; whether a child of it is lost.
fn loses(witness: &mut Witness, supervisor: i32) -> bool {
    witness.kill();
    until("the supervisor has done its work", || !lives(supervisor));
    // All that was registered has been ended: what lives was not.
    !witness.living().is_empty()
}

/// The control, without which the tests of kills would prove nothing: a kill between the start of a child
/// and its registration by the owner loses the child. So the owner is killed where it stands at the very call
/// by which it registers: each of these kills must lose.
#[test]
fn the_control_loses() {
    let tier = tiers()[0].clone();
    let rounds = 10;
    let mut lost = 0;
    for _ in 0..rounds {
        let (mut witness, supervisor) = late(&tier);
        let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), false) else {
            return;
        };
        witness.order("program /bin/sleep 1000");
        let registers = |call: Call| call.number == WRITE && call.first != OUTPUT;
        let call = std::iter::from_fn(|| traced.next_call()).find(|call| registers(*call));
        assert!(call.is_some(), "the owner ended");
        lost += usize::from(loses(&mut witness, supervisor));
    }
    println!(
        "of {rounds} kills between a child's start and its registration {lost} lost the child"
    );
    assert_eq!(lost, rounds);
}

/// How many of the kills at random moments are such ones is a matter of chance and of the machine, so it is
/// only said: mostly more than half.
#[test]
fn how_much_the_control_loses_by_chance() {
    let tier = tiers()[0].clone();
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    let rounds = 20;
    let mut lost = 0;
    for _ in 0..rounds {
        let (mut witness, supervisor) = late(&tier);
        witness.order("storm");
        assert_eq!(witness.answer(), "looping");
        spin(number(&mut seed, 30_000));
        lost += usize::from(loses(&mut witness, supervisor));
    }
    println!(
        "of {rounds} kills at random moments {lost} fell between a child's start and its registration, and lost it"
    );
}

#[test]
fn a_thousand_groups() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let count = count(60, 1000);
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

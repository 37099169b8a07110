//! Kills at each system call of a start: of the owner, also while its child or launcher stands at one of
//! its own calls, and of its supervisor.
//!
//! A run of the same call counts as one. By default each tier takes some of the calls, others in each
//! tier; `CHECK_ALL=1` takes all of them.

use std::time::Duration;

use crate::trace::{Call, OUTPUT, Traced, WRITE};
use crate::witness::{
    Witness, both_ways, carrying, count, is_shell, lives, runs, tiers, until, until_runs,
};

/// Which of the calls of a start a kill is to fall on.
pub(crate) struct Steps {
    at: usize,
    seen: usize,
    last: Option<u64>,
}

impl Steps {
    pub(crate) fn to(at: usize) -> Self {
        Self {
            at,
            seen: 0,
            last: None,
        }
    }

    /// Whether this is the call to kill at.
    pub(crate) fn reached(&mut self, call: Call) -> bool {
        if self.last.replace(call.number) != Some(call.number) {
            self.seen += 1;
        }
        self.seen > self.at
    }
}

/// Tries `kill_at` with 0, 1, 2 … until it says that there was no such call; waits for the end of what
/// each left, and says how many there were. By default only every `stride`th is tried.
fn at_each_call(what: &str, stride: usize, mut kill_at: impl FnMut(&str, usize) -> Option<Kill>) {
    let stride = count(stride, 1);
    for (number, tier) in both_ways().iter().enumerate() {
        let (mut calls, mut killed) = (0, Vec::new());
        for at in (number % stride..).step_by(stride) {
            match kill_at(tier, at) {
                Some(Kill::At(witness)) => killed.push((at, witness)),
                Some(Kill::After) => break,
                None => return,
            }
            calls = at;
            // What others are still ending is waited for a few at a time.
            if killed.len() > 5 {
                left(tier, what, &mut killed);
            }
        }
        left(tier, what, &mut killed);
        println!(
            "{tier}: {what} killed at {} of its {} calls: 0 survivors",
            calls / stride + 1,
            calls + 1
        );
    }
}

enum Kill {
    At(Witness),
    /// All that there was to see went by.
    After,
}

fn left(tier: &str, what: &str, killed: &mut Vec<(usize, Witness)>) {
    for (at, witness) in killed.drain(..) {
        println!("{tier}: {what} was killed at call {at}");
        witness.until_only(&[]);
    }
}

pub(crate) const CHILD: &str = "program /bin/sleep 1000";

#[test]
fn the_owner_is_killed_at_each_call() {
    at_each_call("the owner", 4, |tier, at| {
        let mut witness = Witness::new(tier);
        witness.tell("status");
        let traced = Traced::seize(witness.owner.id().cast_signed(), false)?;
        witness.order(CHILD);
        let mut steps = Steps::to(at);
        while let Some(call) = traced.next_call() {
            if call.number == WRITE && call.first == OUTPUT {
                break;
            }
            if steps.reached(call) {
                witness.kill();
                return Some(Kill::At(witness));
            }
        }
        traced.release();
        Some(Kill::After)
    });
}

#[test]
fn the_owner_is_killed_at_each_call_of_its_child() {
    at_each_call("the owner, by its child's calls,", 8, |tier, at| {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let traced = Traced::seize(witness.owner.id().cast_signed(), true)?;
        witness.order(CHILD);
        let child = traced.next_child().expect("a child, or a launcher");
        let mut steps = Steps::to(at);
        while let Some(call) = child.next_call() {
            if call.number == SLEEP {
                break;
            }
            if steps.reached(call) {
                witness.owner.kill().expect("a child");
                child.release();
                witness.kill();
                return Some(Kill::At(witness));
            }
        }
        child.release();
        traced.release();
        Some(Kill::After)
    });
}

#[test]
fn the_supervisor_is_killed_at_each_call_of_a_registration() {
    at_each_call("the supervisor", 1, |tier, at| {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let supervisor = witness.supervisor();
        let traced = Traced::seize(supervisor, false)?;
        witness.order(CHILD);
        let mut steps = Steps::to(at);
        // It stays in its last call when it has heard all there is to hear.
        while let Ok(Some(call)) = traced.next_call_within(Some(Duration::from_millis(500))) {
            if steps.reached(call) {
                traced.kill();
                let second: i32 = witness.answer().parse().expect("a child");
                until("another supervisor", || {
                    ![0, supervisor].contains(&witness.supervisor())
                });
                assert!(lives(first) && lives(second), "{tier}: call {at}");
                witness.kill();
                return Some(Kill::At(witness));
            }
        }
        traced.kill();
        Some(Kill::After)
    });
}

/// A native supervisor that sees its owner's death reads what was said before, also if it has no turn meanwhile.
#[test]
fn a_supervisor_without_a_turn_reads_the_last_words() {
    for tier in tiers().iter().filter(|tier| !is_shell(tier)) {
        let mut witness = Witness::new(tier);
        let spared = witness.number("plain exec sleep 1000");
        let last = witness.number("plain exec sleep 1000");
        until_runs(witness.number(CHILD), "sleep");
        let Some(traced) = Traced::seize(witness.supervisor(), false) else {
            return;
        };
        // More than it reads at once, while it is held.
        for _ in 0..150 {
            assert_eq!(witness.tell(&format!("adopt {spared}")), "adopted");
            assert_eq!(witness.tell(&format!("release {spared}")), "released");
        }
        assert_eq!(witness.tell(&format!("adopt {last}")), "adopted");
        witness.kill();
        let reads = |call: &Call| call.number == libc::SYS_read.cast_unsigned() && call.first == 3;
        let read = std::iter::from_fn(|| traced.next_call()).find(reads);
        assert!(read.is_some() && traced.next_call().is_some(), "{tier}");
        let held = std::time::Instant::now();
        until("far longer than it waits for words", || {
            held.elapsed() > Duration::from_millis(300)
        });
        traced.release();
        witness.until_only(&[spared]);
    }
}

/// A supervisor whose owner dies while it is being started knows what was handed back before.
#[test]
fn the_owner_is_killed_as_it_starts_another_supervisor() {
    for tier in tiers() {
        let mut kills = 0;
        for at in 0.. {
            let mut witness = Witness::with(&tier, &[("IDLE", "20")]);
            let kept = witness.number(CHILD);
            until_runs(kept, "sleep");
            let token = token(kept);
            witness.tell(&format!("release {kept}"));
            until("the supervisor goes", || witness.supervisor() == 0);
            let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), false) else {
                return;
            };
            witness.order(CHILD);
            let mut calls = std::iter::from_fn(|| traced.next_call());
            let mut seen = 0;
            let call = calls.find(|call| {
                let speaks = call.number == WRITE;
                let counts = speaks || WAITS.contains(&call.number);
                seen += usize::from(counts);
                counts && seen > at || speaks && call.first == OUTPUT
            });
            witness.kill();
            until("no supervisor is left", || supervising(&token).is_none());
            assert_eq!(witness.living(), [kept], "{tier}: call {at}");
            if call.is_none_or(|call| call.number == WRITE && call.first == OUTPUT) {
                break;
            }
            kills = at + 1;
        }
        assert!(kills > 1, "{tier}");
        println!("{tier}: the owner killed where it writes or waits, {kills} times: 0 wrong ends");
    }
}

/// The name by which a supervisor knows what its owner started.
pub(crate) fn token(child: i32) -> String {
    let environment = std::fs::read(format!("/proc/{child}/environ")).expect("a child");
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let marked = |variable: &str| {
        let (token, _) = variable.strip_prefix("SPAWN_OWNED=")?.split_once('.')?;
        Some(token.to_owned())
    };
    environment.split('\0').find_map(marked).expect("a mark")
}

/// A supervisor of the owner with this name.
fn supervising(token: &str) -> Option<i32> {
    let entries = std::fs::read_dir("/proc").expect("proc");
    let mut pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(token)
    })
}

/// A child that gets no turn until its owner is dead and its supervisor has gone: nobody would end it, so it
/// becomes no program. A shell does not go before: it waits for the end of the lifeline, which the child holds.
#[test]
fn a_child_that_is_late_runs_nothing() {
    for tier in both_ways().iter().filter(|tier| !is_shell(tier)) {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let supervisor = witness.supervisor();
        let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), true) else {
            return;
        };
        witness.order(CHILD);
        let child = traced.next_child().expect("a child, or a launcher");
        witness.owner.kill().expect("a child");
        until("the supervisor has done its work", || !lives(supervisor));
        let late = child.release();
        // While it becomes a program it carries no mark, and a look would not find it.
        until("the late one has ended or runs", || {
            !lives(late) || runs(late, "sleep")
        });
        witness.kill();
        witness.until_only(&[]);
    }
}

/// The control: registered by its owner after its start, and without mark, a child is lost at each
/// call between the two, and at no other.
#[test]
fn the_control_loses_between_start_and_registration() {
    let tier = tiers()[0].clone();
    let off = [("SPAWN_OWNED_SABOTAGE", "launcher,cookie")];
    let mut lost = Vec::new();
    for at in 0.. {
        let mut witness = Witness::with(&tier, &off);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let supervisor = witness.supervisor();
        let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), false) else {
            return;
        };
        witness.order(CHILD);
        let mut steps = Steps::to(at);
        let mut over = true;
        while let Some(call) = traced.next_call() {
            if call.number == WRITE && call.first == OUTPUT {
                break;
            }
            if steps.reached(call) {
                over = false;
                break;
            }
        }
        witness.kill();
        if over {
            println!("lost at calls {lost:?} of {at}");
            break;
        }
        until("the supervisor has done its work", || !lives(supervisor));
        if !carrying(&witness.mark).is_empty() {
            lost.push(at);
        }
    }
    assert!(!lost.is_empty(), "the control loses nothing");
    assert!(
        lost.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{lost:?}"
    );
}

/// The calls by which a process waits for another.
const WAITS: &[u64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll.cast_unsigned(),
    libc::SYS_ppoll.cast_unsigned(),
];

const SLEEP: u64 = libc::SYS_clock_nanosleep.cast_unsigned();

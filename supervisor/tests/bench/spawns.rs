//! A child that ends at once: owned, against a plain one, and beside the crates that put a child in a group
//! to end it as a whole. Theirs live on when their owner is killed.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use spawn_owned::Owner;

use crate::refused::refuse_shared_memory;
use crate::{Subject, beside, build, compare, name, tiers};

/// Rounds of each measurement.
const ROUNDS: usize = 300;

/// Prints the figures from this process, from one of `large` MB, and from one that must use launchers.
pub(crate) fn print(tiers: &[String], large: usize) {
    println!("spawn and wait of `true`, {ROUNDS} rounds, microseconds: p50, p99, ratio of p50");
    let small = all(tiers);
    println!("the same from an owner of {large} MB");
    // Written to, so that it is there.
    let memory = std::hint::black_box(vec![1_u8; large << 20]);
    let beside_small = all(tiers).last().expect("a tier") / small.last().expect("a tier");
    let goal = beside("", beside_small, 1.25);
    println!("  the last row, against the same without that memory: {beside_small:.2}{goal}");
    drop(memory);
    println!(
        "the same through a launcher, where the system permits no child that registers itself"
    );
    let launched = Command::new(std::env::current_exe().expect("a path"))
        .arg("launched")
        .status();
    if !launched.expect("this program").success() {
        println!("  left out, as this system cannot be had to refuse it");
    }
}

/// All that start by a launcher.
pub(crate) fn launched() {
    refuse_shared_memory();
    let tiers = tiers();
    let mut subjects = vec![plain()];
    for tier in &tiers {
        subjects.push(owned(name(tier), build(tier)).with_goal(tier, 1.5));
    }
    compare(subjects, ROUNDS);
}

/// Prints a row for each way; the medians, of which the last is that of the last tier with a ledger.
fn all(tiers: &[String]) -> Vec<f64> {
    let mut subjects = vec![plain(), process_wrap(), command_group()];
    for tier in tiers {
        subjects.push(owned(name(tier), build(tier)).with_goal(tier, 1.15));
    }
    let ledger = Ledger::new();
    subjects.push(owned("with a ledger", ledger.owner(tiers)));
    compare(subjects, ROUNDS)
}

fn plain() -> Subject<'static> {
    Subject::new("plain", || {
        let start = Instant::now();
        let mut child = Command::new("/bin/true").spawn().expect("true");
        child.wait().expect("a child");
        start.elapsed()
    })
}

fn process_wrap() -> Subject<'static> {
    use process_wrap::std::{CommandWrap, ProcessGroup};
    Subject::new("process-wrap", || {
        let start = Instant::now();
        let mut command = CommandWrap::with_new("/bin/true", |_| ());
        // detached-spawn: measured beside ours, and waited for at once
        let mut child = command.wrap(ProcessGroup::leader()).spawn().expect("true");
        child.wait().expect("a child");
        start.elapsed()
    })
}

fn command_group() -> Subject<'static> {
    use command_group::CommandGroup as _;
    Subject::new("command-group", || {
        let start = Instant::now();
        // detached-spawn: measured beside ours, and waited for at once
        let mut child = Command::new("/bin/true").group_spawn().expect("true");
        child.wait().expect("a child");
        start.elapsed()
    })
}

/// A ledger of the measurement's own, gone at its end.
struct Ledger(PathBuf);

impl Ledger {
    fn new() -> Self {
        let name = format!("owned-bench-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// An owner that records what it starts, as owners do unless they are told otherwise.
    fn owner(&self, tiers: &[String]) -> Owner {
        let native = tiers.last().expect("a tier");
        let builder = Owner::builder().native(native);
        let path = self.0.join("ledger.jsonl");
        builder.ledger(path).build().expect("an owner")
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn owned(name: &str, owner: Owner) -> Subject<'static> {
    Subject::new(name, move || {
        let start = Instant::now();
        let child = owner.spawn_owned(spawn_owned::Command::new("/bin/true"), "a measurement");
        child.expect("true").wait().expect("a child");
        start.elapsed()
    })
}

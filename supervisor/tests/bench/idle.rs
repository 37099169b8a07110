//! What a supervisor needs while nothing happens: memory, and how often it wakes.

use std::time::{Duration, Instant};

/// How long nothing happens, and how long before that.
const IDLE: Duration = Duration::from_secs(2);
const BEFORE: Duration = Duration::from_millis(500);

/// Prints a row for each tier; the first, the system's shell, is what the others are compared with.
pub(crate) fn print(tiers: &[String]) {
    println!(
        "an idle supervisor: RSS and PSS in KiB, wake-ups in {} s (goal: none), ratio of RSS",
        IDLE.as_secs()
    );
    let mut first = None;
    for tier in tiers {
        let owner = super::build(tier);
        let mut command = spawn_owned::Command::new("sleep");
        command.arg("1000");
        let child = owner.spawn_owned(command, "a measurement").expect("sleep");
        let supervisor = owner
            .status()
            .expect("a status")
            .supervisor
            .expect("a supervisor");
        pass(BEFORE);
        let before = wakeups(supervisor);
        pass(IDLE);
        let woken = wakeups(supervisor) - before;
        let memory = |name| field(supervisor, "smaps_rollup", name);
        let (rss, pss) = (memory("Rss:"), memory("Pss:"));
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let ratio = rss as f64 / *first.get_or_insert(rss) as f64;
        let goal = super::beside(tier, ratio, 0.27);
        println!(
            "  {:15} {rss:9} {pss:9} {woken:6} {ratio:6.2}{goal}",
            super::name(tier)
        );
        drop(child);
    }
}

fn pass(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
    }
}

fn wakeups(pid: u32) -> u64 {
    field(pid, "status", "voluntary_ctxt_switches:")
}

/// A number that the system says of a process, in the file of this name.
pub(crate) fn field(pid: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("a process");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    number.expect("a number")
}

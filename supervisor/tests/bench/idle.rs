//! What a supervisor needs while nothing happens: memory, and how often it wakes.

use std::time::{Duration, Instant};

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(2);

/// Prints a row for each tier, beside a shell that waits.
pub(crate) fn print(tiers: &[String]) {
    println!(
        "an idle supervisor: RSS and PSS in KiB, wake-ups in {} s",
        IDLE.as_secs()
    );
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
        let before = wakeups(supervisor);
        let end = Instant::now() + IDLE;
        while Instant::now() < end {
            std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
        }
        let woken = wakeups(supervisor) - before;
        let memory = |name| field(supervisor, "smaps_rollup", name);
        let (rss, pss) = (memory("Rss:"), memory("Pss:"));
        let name = tier.rsplit('/').next().unwrap_or(tier);
        println!("  {name:10} {rss:9} {pss:9} {woken:6}");
        drop(child);
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

//! What a supervisor costs by itself: from its start to its end, and for each line that it is told.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{SHELLS, figures, name};

/// Rounds without a line, and with many.
const ROUNDS: usize = 50;
const LONG_ROUNDS: usize = 5;
/// Pairs of lines: a group that comes and goes.
const PAIRS: u32 = 2000;
const PAIR: &str = "+ 4194303 1234567\n- 4194303 1234567\n";
/// The supervisor as a shell reads it.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/supervisor.sh");

/// Prints a row for each tier; the first, the system's shell, is what the others are compared with.
pub(crate) fn print(tiers: &[String]) {
    println!(
        "a supervisor from its start to its end, microseconds: p50, p99, ratio of p50; then what a line costs, the same"
    );
    let mut first = None;
    for tier in tiers {
        let median =
            |rounds: usize, pairs: u32| figures((0..rounds).map(|_| life(tier, pairs)).collect());
        let (start, start_99) = median(ROUNDS, 0);
        let (many, _) = median(LONG_ROUNDS, PAIRS);
        let each = |time: f64| (time - start).max(0.0) / f64::from(2 * PAIRS);
        let line = each(many);
        let (of_start, of_line) = *first.get_or_insert((start, line));
        println!(
            "  {:14} {start:9.0} {start_99:9.0} {:6.2} {line:9.2} {:6.3}",
            name(tier),
            start / of_start,
            line / of_line
        );
    }
}

/// The life of one supervisor that is told so many pairs of lines, and then that nobody needs it.
fn life(tier: &str, pairs: u32) -> Duration {
    let pairs = PAIR.repeat(usize::try_from(pairs).expect("not many"));
    let own = std::process::id().to_string();
    let mut command = Command::new(tier);
    if SHELLS.contains(&tier) {
        command.arg0("sh").args([SCRIPT, "token", "3", "0"]);
    } else {
        command.arg0("spawn-owned");
        command.args(["supervise", "token", "3000", "0", &own, "0"]);
    }
    command.stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: one system call, on two numbers of a child that is about to become another program.
    unsafe {
        command.pre_exec(|| {
            libc::dup2(0, 3);
            Ok(())
        });
    }
    let begun = Instant::now();
    let mut supervisor = command.spawn().expect("a supervisor");
    let mut line = supervisor.stdin.take().expect("a pipe");
    let told = line.write_all((pairs + ".\n").as_bytes());
    told.expect("it reads");
    let ended = supervisor.wait().expect("a child");
    assert!(ended.success(), "{tier}: {ended}");
    begun.elapsed()
}

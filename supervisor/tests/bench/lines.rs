//! What a supervisor costs by itself: from its start to its end, and for each line that it is told.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::FromRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{SHELLS, beside, figures, name};

/// Rounds without a line, and with many.
const ROUNDS: usize = 100;
const LONG_ROUNDS: usize = 5;
/// Pairs of lines: a group that comes and goes.
const PAIRS: u32 = 10_000;
const PAIR: &str = "+ 4194303 1234567\n- 4194303 1234567\n";
/// The supervisor as a shell reads it.
const SCRIPT: &str = include_str!("../../src/supervisor.sh");

/// Prints a row for each tier; the first, the system's shell, is what the others are compared with. Behind
/// a native one stands what its program takes to do nothing: less than that no start can cost.
pub(crate) fn print(tiers: &[String]) {
    println!(
        "a supervisor from its start to its end, {ROUNDS} rounds, microseconds: p50, p99, ratio of p50, and doing nothing"
    );
    let mut starts = Vec::new();
    for tier in tiers {
        let (p50, p99) = figures(told(tier, ROUNDS, 0));
        starts.push(p50);
        let nothing = if SHELLS.contains(&tier.as_str()) {
            format!("{:9}", "")
        } else {
            format!("{:9.0}", figures(told(tier, ROUNDS, NOTHING)).0)
        };
        let ratio = p50 / starts[0];
        let goal = beside(tier, ratio, 0.45);
        println!(
            "  {:15} {p50:9.0} {p99:9.0} {ratio:6.2} {nothing}{goal}",
            name(tier)
        );
    }
    println!(
        "what one of {} lines costs it, nanoseconds, and ratio",
        2 * PAIRS
    );
    let mut first = None;
    for (tier, start) in tiers.iter().zip(starts) {
        let (many, _) = figures(told(tier, LONG_ROUNDS, PAIRS));
        let line = (many - start).max(0.0) / f64::from(2 * PAIRS);
        let ratio = line / *first.get_or_insert(line);
        let goal = beside(tier, ratio, 1.0 / 50.0);
        println!(
            "  {:15} {:9.0} {ratio:6.3}{goal}",
            name(tier),
            line * 1000.0
        );
    }
}

/// Stands for a program that is started, and ends at once.
const NOTHING: u32 = u32::MAX;

/// The lives of so many supervisors, as a process tells of them that has the descriptor to spare which is theirs.
fn told(tier: &str, rounds: usize, pairs: u32) -> Vec<Duration> {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["lives", tier, &rounds.to_string(), &pairs.to_string()]);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .expect("this program");
    assert!(output.status.success(), "{tier}");
    let said = String::from_utf8(output.stdout).expect("numbers");
    let times = said.lines().map(|line| line.parse().expect("a number"));
    times.map(Duration::from_nanos).collect()
}

/// Says how long each of these lives took.
pub(crate) fn lives(arguments: &[String]) {
    let [tier, rounds, pairs] = arguments else {
        panic!("a tier, rounds and pairs")
    };
    let rounds: usize = rounds.parse().expect("a number");
    let pairs: u32 = pairs.parse().expect("a number");
    let lines = PAIR.repeat(if pairs == NOTHING { 0 } else { pairs } as usize);
    // The first ones find nothing in any cache.
    for round in 0..rounds + 2 {
        let life = life(tier, pairs == NOTHING, &lines);
        if round >= 2 {
            println!("{}", life.as_nanos());
        }
    }
}

/// The life of one supervisor that is told these lines, and then that nobody needs it.
fn life(tier: &str, nothing: bool, lines: &str) -> Duration {
    let own = std::process::id().to_string();
    let shell = SHELLS.contains(&tier);
    let mut command = Command::new(tier);
    if shell {
        command.arg0("sh").args(["-s", "token", "3", "0"]);
    } else {
        let role = if nothing { "nothing" } else { "supervise" };
        command.arg0("spawn-owned");
        command.args([role, "token", "3000", "0", &own, "0"]);
    }
    command.stdin(if shell { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (read, mut write) = pipe_from_three();
    let begun = Instant::now();
    let mut supervisor = command.spawn().expect("a supervisor");
    drop(read);
    if let Some(mut script) = supervisor.stdin.take() {
        script.write_all(SCRIPT.as_bytes()).expect("it reads");
    }
    // What does nothing may have ended.
    let told = write.write_all((lines.to_owned() + ".\n").as_bytes());
    assert!(nothing || told.is_ok(), "{tier} does not read");
    drop(write);
    let ended = supervisor.wait().expect("a child");
    assert!(nothing || ended.success(), "{tier}: {ended}");
    begun.elapsed()
}

/// A pipe whose read end is where a supervisor has it, and in what is started meanwhile.
fn pipe_from_three() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: room for two numbers, which are ours alone after that.
    let (read, write) = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        assert_eq!(ends[0], 3, "a process with nothing else open");
        libc::fcntl(ends[0], libc::F_SETFD, 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    };
    (read, write)
}

//! An owner is killed: how long until its child is asked to end, against the kernel's own signal.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Subject, build, compare, name};

/// How long an owner lives before it is killed: what its start left to be done is done then.
const LIFE: Duration = Duration::from_millis(100);

/// Prints a row for the kernel, and one for each tier; then the same for owners of `large` MB, whose memory
/// the system takes back before it tells anybody of their end.
pub(crate) fn print(tiers: &[String], large: usize) {
    for (size, rounds) in [(0, 100), (large, 30)] {
        println!(
            "kill of an owner with {size} MB more than it needs to TERM in its child, {rounds} rounds, microseconds: p50, p99, ratio of p50"
        );
        let mut subjects = vec![Subject::new("PDEATHSIG", move || death("kernel", size))];
        for tier in tiers {
            subjects.push(Subject::new(name(tier), move || death(tier, size)));
        }
        compare(subjects, rounds);
    }
}

/// Kills one owner; how long until its child was told.
fn death(tier: &str, size: usize) -> Duration {
    let mut owner = Command::new(std::env::current_exe().expect("a path"))
        .args(["owner", tier, &size.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("a line"), "ready");
    let end = Instant::now() + LIFE;
    while Instant::now() < end {
        std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
    }
    let killed = now();
    owner.kill().expect("a child");
    owner.wait().expect("a child");
    let told: u128 = lines
        .next()
        .expect("a line")
        .expect("a line")
        .parse()
        .expect("a time");
    Duration::from_nanos(u64::try_from(told - killed).unwrap_or(0))
}

/// Owns a victim until it is killed, with so many MB that are written to.
pub(crate) fn own(tier: &str, size: &str) -> ! {
    let size: usize = size.parse().expect("a number");
    let _memory = std::hint::black_box(vec![1_u8; size << 20]);
    let program = std::env::current_exe().expect("a path");
    if tier == "kernel" {
        Command::new(program)
            .args(["victim", "kernel"])
            .spawn()
            .expect("a victim");
    } else {
        let mut command = spawn_owned::Command::new(program);
        command.arg("victim");
        Box::leak(Box::new(
            build(tier)
                .spawn_owned(command, "a measurement")
                .expect("a victim"),
        ));
    }
    loop {
        std::thread::park();
    }
}

/// Says when it was asked to end.
pub(crate) fn victim(by_the_kernel: bool) -> ! {
    // SAFETY: plain calls on a set that the first one fills.
    unsafe {
        let mut set = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        if by_the_kernel {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        }
        println!("ready");
        let mut signal = 0;
        libc::sigwait(set.as_ptr(), &raw mut signal);
    }
    println!("{}", now());
    std::process::exit(0)
}

/// Nanoseconds of the clock that all processes share.
fn now() -> u128 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    u128::from(time.tv_sec.unsigned_abs()) * 1_000_000_000 + u128::from(time.tv_nsec.unsigned_abs())
}

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
        compare(all(tiers, size, 1, 1.5), rounds);
    }
}

/// The same with many children, until the last of them was told.
pub(crate) fn print_many(tiers: &[String], children: usize) {
    let rounds = 5;
    println!(
        "kill of an owner of {children} children to TERM in the last, {rounds} rounds, microseconds: p50, p99, ratio of p50"
    );
    compare(all(tiers, 0, children, 1.2), rounds);
}

/// The kernel, and each tier, of which the native ones have a goal.
fn all(tiers: &[String], size: usize, children: usize, goal: f64) -> Vec<Subject<'_>> {
    let kernel = Subject::new("PDEATHSIG", move || death("kernel", size, children));
    let tiers = tiers.iter().map(|tier| {
        let subject = Subject::new(name(tier), move || death(tier, size, children));
        subject.with_goal(tier, goal)
    });
    std::iter::once(kernel).chain(tiers).collect()
}

/// Kills one owner; how long until the last of its children was told.
fn death(tier: &str, size: usize, children: usize) -> Duration {
    let mut owner = Command::new(std::env::current_exe().expect("a path"))
        .args(["owner", tier, &size.to_string(), &children.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    for _ in 0..children {
        assert_eq!(lines.next().expect("a line").expect("a line"), "ready");
    }
    let end = Instant::now() + LIFE;
    while Instant::now() < end {
        std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
    }
    let killed = now();
    owner.kill().expect("a child");
    owner.wait().expect("a child");
    let told = lines.map(|line| line.expect("a line").parse().expect("a time"));
    let told: Vec<u128> = told.collect();
    assert_eq!(told.len(), children);
    let last = told.into_iter().max().unwrap_or(killed);
    Duration::from_nanos(u64::try_from(last - killed).unwrap_or(0))
}

/// Owns so many victims until it is killed, with so many MB that are written to.
pub(crate) fn own(tier: &str, size: &str, children: &str) -> ! {
    let [size, children]: [usize; 2] =
        [size, children].map(|number| number.parse().expect("a number"));
    let _memory = std::hint::black_box(vec![1_u8; size << 20]);
    let program = std::env::current_exe().expect("a path");
    let owner = (tier != "kernel").then(|| build(tier));
    for _ in 0..children {
        if let Some(owner) = &owner {
            let mut command = spawn_owned::Command::new(&program);
            command.arg("victim");
            let victim = owner.spawn_owned(command, "a measurement");
            Box::leak(Box::new(victim.expect("a victim")));
        } else {
            let mut command = Command::new(&program);
            let victim = command.args(["victim", "kernel"]).spawn();
            victim.expect("a victim");
        }
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

//! `cargo bench -p spawn-owned`: what protection costs, as ratios in one run on one machine.
//!
//! Spawn: an owned child that ends at once, against a plain one. Death: from the kill of an owner to the
//! `SIGTERM` in its child, against the kernel's own signal at a parent's death. Then what a supervisor
//! needs while nothing happens, and how soon another knows all that one knew which was killed.
//!
//! `OWNER_MB=1024` is how much memory the large owner has; `GROUPS=1000` how many groups are replayed.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::exit,
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "a program that measures, and fails where it stands"
)]

mod idle;
mod replay;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use spawn_owned::Owner;

/// Rounds of each measurement.
const ROUNDS: usize = 100;

fn main() {
    spawn_owned::init();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("victim") => victim(arguments.get(2).is_some()),
        Some("owner") => own(&arguments[2]),
        _ => {}
    }
    let shells = ["/bin/dash", "/bin/bash", "/bin/busybox"].map(str::to_owned);
    let tiers = shells
        .into_iter()
        .filter(|path| std::path::Path::new(path).exists());
    let tiers: Vec<String> = tiers
        .chain([env!("CARGO_BIN_EXE_owned").to_owned()])
        .collect();
    all_spawns(&tiers);
    let large = number("OWNER_MB", 1024);
    println!("the same from an owner of {large} MB");
    // Written to, so that it is there.
    let memory = std::hint::black_box(vec![1_u8; large << 20]);
    all_spawns(&tiers);
    drop(memory);
    println!(
        "kill of the owner to TERM in the child, {ROUNDS} rounds, microseconds: p50, p99, ratio of p50"
    );
    let kernel = deaths("kernel");
    row("PDEATHSIG", kernel, kernel);
    for tier in &tiers {
        row(tier, deaths(tier), kernel);
    }
    idle::print(&tiers);
    replay::print(&tiers, number("GROUPS", 1000));
}

/// A number from the environment.
fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn all_spawns(tiers: &[String]) {
    println!("spawn and wait of `true`, {ROUNDS} rounds, microseconds: p50, p99, ratio of p50");
    let plain = spawns(|| {
        Command::new("/bin/true")
            .spawn()
            .expect("true")
            .wait()
            .expect("a child");
    });
    row("plain", plain, plain);
    for tier in tiers {
        let owner = build(tier);
        let figures = spawns(|| {
            let child = owner.spawn_owned(spawn_owned::Command::new("/bin/true"), "a measurement");
            child.expect("true").wait().expect("a child");
        });
        row(tier, figures, plain);
    }
    let owned = env!("CARGO_BIN_EXE_owned");
    let run = spawns(|| {
        let status = Command::new(owned)
            .args(["run", "--", "/bin/true"])
            .status();
        status.expect("owned");
    });
    row("owned run", run, plain);
}

fn build(tier: &str) -> Owner {
    let builder = Owner::builder().no_ledger();
    let builder = if tier.ends_with("owned") {
        builder.native(tier)
    } else {
        builder.shell(tier)
    };
    builder.build().expect("an owner")
}

fn row(name: &str, (p50, p99): (f64, f64), base: (f64, f64)) {
    let name = name.rsplit('/').next().unwrap_or(name);
    println!("  {name:10} {p50:9.0} {p99:9.0} {:6.2}", p50 / base.0);
}

/// The median and the 99th percentile, in microseconds.
fn figures(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e6;
    (at(50), at(99))
}

fn spawns(mut spawn: impl FnMut()) -> (f64, f64) {
    for _ in 0..5 {
        spawn();
    }
    let time = |(): ()| {
        let start = Instant::now();
        spawn();
        start.elapsed()
    };
    figures(std::iter::repeat_n((), ROUNDS).map(time).collect())
}

fn deaths(tier: &str) -> (f64, f64) {
    figures((0..ROUNDS).map(|_| death(tier)).collect())
}

/// Kills one owner; how long until its child was told.
fn death(tier: &str) -> Duration {
    let mut owner = Command::new(std::env::current_exe().expect("a path"))
        .args(["owner", tier])
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("a line"), "ready");
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

/// Owns a victim until it is killed.
fn own(tier: &str) -> ! {
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
fn victim(by_the_kernel: bool) -> ! {
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

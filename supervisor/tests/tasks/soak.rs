//! Many tasks, four at a time: started, ended, stopped, their owners killed at any moment. Nothing lost,
//! nothing left, and nothing gathers in the program that starts them.

use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use spawn_owned::tasks::{Start, State, Tasks};

use super::{Home, sleeper};
use crate::suite::one_test;
use crate::witness::{count, until};

/// In a process of its own, so that what it holds is what the tasks cost it.
#[test]
fn nothing_is_lost_and_nothing_left() {
    if std::env::var("ALONE").is_err() {
        let mut alone = one_test("tasks::soak::nothing_is_lost_and_nothing_left");
        let output = alone.env("ALONE", "1").output().expect("this program");
        let said = [output.stdout, output.stderr].concat();
        println!("{}", String::from_utf8_lossy(&said));
        assert!(output.status.success(), "it fails");
        return;
    }
    let rounds = count(60, 10_000);
    let home = Home::new("soak");
    let next = AtomicU32::new(0);
    let early = OnceLock::new();
    let tasks = home.tasks();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= rounds {
                        return;
                    }
                    if round == rounds / 3 {
                        early.get_or_init(held);
                    }
                    one(&home, &tasks, round);
                }
            });
        }
    });
    home.nothing_is_left();
    for task in home.store().list().expect("a list") {
        assert!(task.state.is_final(), "{task:?}");
        assert_ne!(task.state, State::Lost, "{task:?}");
    }
    let (early, late) = (early.get().expect("a third"), held());
    println!(
        "{rounds} tasks in {} s; this process holds {} kB and {} descriptors after a third of them, {} kB and {} at the end",
        begun.elapsed().as_secs(),
        early.0,
        early.1,
        late.0,
        late.1
    );
    assert!(late.0 < early.0 + 2048, "memory gathers");
    until("no descriptor is left", || held().1 <= early.1);
}

/// The memory of this process that is in use, in KiB, and how many descriptors it has.
fn held() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").expect("proc");
    let mut lines = status.lines();
    let memory = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    let open = std::fs::read_dir("/proc/self/fd").expect("proc").count();
    (memory.expect("a size"), open)
}

/// One task, whose end depends on its number.
fn one(home: &Home, tasks: &Tasks, round: u32) {
    let start = |text: &str| tasks.start(Start::new(home.shell(text))).expect("a task");
    // detached-spawn: what a task must end
    let long = "setsid sleep 1000 & exec sleep 1000";
    match round % 4 {
        0 | 1 => {
            let task = start(&format!("echo {round}; exit {}", round % 100));
            let ended = tasks
                .wait(&task.id, None)
                .expect("a record")
                .expect("an end");
            assert_eq!(ended.exit_status(), u8::try_from(round % 100).ok());
            let log = tasks.store().read_log(&task.id, 0, 100).expect("a log");
            assert_eq!(log.bytes, format!("{round}\n").as_bytes());
        }
        2 => {
            let task = start(long);
            let ended = tasks.stop(&task.id, None).expect("a stop");
            assert_eq!(ended.state, State::Cancelled);
            tasks.store().take_notice(&task.id, "the test");
            // What others are just stopping may be among them.
            drop(tasks.drain());
        }
        _ => owner_is_killed(home, long, round.wrapping_mul(2_654_435_761) % 60_000),
    }
}

/// Kills the owner so many microseconds after somebody began to start its task.
fn owner_is_killed(home: &Home, text: &str, micros: u32) {
    let mut owner = sleeper();
    let pid = owner.id().to_string();
    // Only `owned` itself can serve as keeper for another's task.
    let mut start = home.command(&["start", "--owner", &pid, "--", "/bin/sh", "-c", text]);
    let start = start.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let begun = Instant::now();
    until("the moment", || {
        begun.elapsed() >= Duration::from_micros(u64::from(micros))
    });
    owner.kill().expect("a child");
    owner.wait().expect("a child");
    let output = start.and_then(std::process::Child::wait_with_output);
    let output = output.expect("owned");
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(125), "its owner was dead");
        return;
    }
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let state = || home.store().find(&id).expect("a task").state;
    until("it has ended with its owner", || state().is_final());
    assert_eq!(state(), State::Cancelled, "{id}");
}

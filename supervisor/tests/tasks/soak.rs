//! Many tasks, four at a time: started, ended, stopped, their owners killed. Nothing lost, nothing left.

use std::sync::atomic::{AtomicU32, Ordering};

use spawn_owned::tasks::{Start, State, Who};

use super::{Home, count, sleeper};
use crate::witness::until;

#[test]
fn nothing_is_lost_and_nothing_left() {
    let rounds = count(50, 10_000);
    let home = Home::new("soak");
    let next = AtomicU32::new(0);
    let tasks = home.tasks();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    if round >= rounds {
                        return;
                    }
                    one(&home, &tasks, round);
                }
            });
        }
    });
    home.nothing_is_left();
    let memory = std::fs::read_to_string("/proc/self/status").expect("proc");
    let line = memory
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    println!("{rounds} tasks; this process: {line}");
}

/// One task, whose end depends on its number.
fn one(home: &Home, tasks: &spawn_owned::tasks::Tasks, round: u32) {
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
        }
        _ => {
            let mut owner = sleeper();
            let who = Who::now(owner.id().cast_signed()).expect("alive");
            // Only `owned` itself can serve as keeper for another's task.
            let pid = owner.id().to_string();
            let (id, status) = home.say(&["start", "--owner", &pid, "--", "/bin/sh", "-c", long]);
            assert_eq!(status, 0);
            owner.kill().expect("a child");
            owner.wait().expect("a child");
            let id = id.trim().to_owned();
            let state = || tasks.store().find(&id).expect("a task").state;
            until("it has ended with its owner", || state().is_final());
            assert_eq!(state(), State::Cancelled, "of {who:?}");
        }
    }
}

//! Kills at any moment: no survivor, and nothing that runs without being listed.

use super::{Home, group, sleeper, supervisor};
use crate::witness::{count, kill, lives, state, until};

/// A tree with a member, a session, a daemon and one that does not want to end.
// detached-spawn: what a task must end
const TREE: &str = "sleep 1000 & setsid sleep 1000 & (setsid -f sh -c 'trap \"\" TERM HUP; sleep 1000; sleep 1000'); wait; sleep 1000";

#[test]
fn the_owner_is_killed() {
    let mut home = Home::new("owner");
    let id = home.start(TREE);
    until("the tree stands", || home.living().len() >= 6);
    home.kill_owner();
    home.nothing_is_left();
    let record = home.show(&id);
    assert_eq!(
        (&record["state"], &record["why"]),
        (&"cancelled".into(), &"its owner ended".into())
    );
}

#[test]
fn the_keeper_is_killed() {
    let home = Home::new("keeper");
    let id = home.start(TREE);
    until("the tree stands", || home.living().len() >= 6);
    kill(home.pid(&id, "keeper"), libc::SIGKILL);
    until("nothing is left", || home.living().is_empty());
    let record = home.show(&id);
    assert_eq!(
        (&record["state"], &record["exit_status"]),
        (&"lost".into(), &serde_json::Value::Null)
    );
    assert_eq!(home.say(&["wait", &id]).1, 125);
}

#[test]
fn the_keeper_is_told_to_end() {
    let home = Home::new("told");
    let id = home.start(TREE);
    until("the tree stands", || home.living().len() >= 6);
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        kill(home.pid(&id, "keeper"), signal);
    }
    assert_eq!(home.state(&id), "running");
    kill(home.pid(&id, "keeper"), libc::SIGTERM);
    home.nothing_is_left();
    assert_eq!(home.state(&id), "cancelled");
}

/// The supervisor of a keeper is started again, and does its work then.
#[test]
fn the_supervisor_is_killed() {
    let home = Home::new("supervisor");
    let id = home.start("sleep 1000 & wait");
    until("the tree stands", || home.living().len() >= 3);
    let keeper = home.pid(&id, "keeper");
    let first = supervisor(keeper).expect("a supervisor");
    kill(first, libc::SIGKILL);
    until("another supervisor", || {
        supervisor(keeper).is_some_and(|pid| pid != first)
    });
    assert_eq!(home.state(&id), "running");
    kill(keeper, libc::SIGKILL);
    home.nothing_is_left();
}

/// Kills a keeper and its supervisor so that neither can do anything about the other.
pub(super) fn kill_both(keeper: i32, supervisor: i32) {
    kill(keeper, libc::SIGSTOP);
    until("the keeper is stopped", || state(keeper) == Some('T'));
    kill(supervisor, libc::SIGKILL);
    kill(keeper, libc::SIGKILL);
}

/// A keeper that was stopped sees no end of an owner by itself: its supervisor continues it.
#[test]
fn a_stopped_keeper_sees_the_end_of_its_owner() {
    let mut home = Home::new("stopped-keeper");
    let id = home.start(TREE);
    until("the tree stands", || home.living().len() >= 6);
    let keeper = home.pid(&id, "keeper");
    until("a supervisor", || supervisor(keeper).is_some());
    kill(keeper, libc::SIGSTOP);
    until("the keeper is stopped", || state(keeper) == Some('T'));
    home.kill_owner();
    home.nothing_is_left();
    assert_eq!(home.state(&id), "cancelled");
}

/// The same with an owner that took the task over, and with one that lets it go and lives.
#[test]
fn a_stopped_keeper_sees_the_end_of_other_owners() {
    let mut home = Home::new("stopped-adopted");
    let id = home.start_with(&["--recover", "x", "--patience", "1s"], "exec sleep 1000");
    home.kill_owner();
    until("it waits", || home.show(&id)["owner"].is_null());
    let mut next = sleeper();
    let pid = next.id().to_string();
    assert_eq!(home.say(&["adopt", "x", "--owner", &pid]).1, 0);
    kill(home.pid(&id, "keeper"), libc::SIGSTOP);
    next.kill().expect("a child");
    next.wait().expect("a child");
    home.nothing_is_left();
    let tasks = home.tasks();
    let start = spawn_owned::tasks::Start::new(home.shell("exec sleep 1000"));
    let task = tasks.start(start).expect("a task");
    kill(task.keeper.expect("a keeper").pid, libc::SIGSTOP);
    drop(tasks);
    home.nothing_is_left();
}

/// Nor does one that was stopped keep a supervisor from its work when the keeper is killed.
#[test]
fn a_stopped_supervisor_does_its_work() {
    let home = Home::new("stopped-supervisor");
    let id = home.start(TREE);
    until("the tree stands", || home.living().len() >= 6);
    let keeper = home.pid(&id, "keeper");
    let supervisor = supervisor(keeper).expect("a supervisor");
    kill(supervisor, libc::SIGSTOP);
    until("the supervisor is stopped", || {
        state(supervisor) == Some('T')
    });
    kill(keeper, libc::SIGKILL);
    home.nothing_is_left();
}

/// Both at once: the task is lost, listed with what lives of it, and can still be stopped.
#[test]
fn keeper_and_supervisor_are_killed() {
    let home = Home::new("both");
    let id = home.start("exec sleep 1000");
    let (keeper, main) = (home.pid(&id, "keeper"), home.pid(&id, "main"));
    let supervisor = supervisor(keeper).expect("a supervisor");
    kill_both(keeper, supervisor);
    until("both are dead", || !lives(keeper) && !lives(supervisor));
    let record = home.show(&id);
    assert_eq!(
        (&record["state"], &record["left"][0]),
        (&"lost".into(), &main.into()),
        "{record}"
    );
    assert_eq!(home.say(&["stop", &id]).1, 0);
    home.nothing_is_left();
}

/// An owned task carries the marks of the owners above, and ends with them.
#[test]
fn an_outer_owner_ends_the_tasks_below() {
    let home = Home::new("outer");
    let owned = env!("CARGO_BIN_EXE_owned");
    let text = format!("{owned} start --name inner -- sleep 1000 && sleep 1000; exit");
    let mut run = home.command(&["run", "--grace", "5", "--", "/bin/sh", "-c", &text]);
    let mut run = run.spawn().expect("owned");
    until("the task runs", || {
        home.say(&["list", "--running"]).0.contains("inner") && home.state("inner") == "running"
    });
    run.kill().expect("a child");
    run.wait().expect("a child");
    home.nothing_is_left();
    let state = home.state("inner");
    assert!(
        ["cancelled", "lost", "failed"].contains(&state.as_str()),
        "{state}"
    );
}

/// Owner, starter, keeper or supervisor is killed at a moment of chance.
#[test]
fn kills_at_any_moment() {
    let rounds = count(12, 400);
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut number = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let home = Home::new("moments");
    for round in 0..rounds {
        let mut owner = sleeper();
        let pid = owner.id().to_string();
        let text = "sleep 1000 & setsid sleep 1000 & wait";
        let mut start = home.command(&["start", "--owner", &pid, "--", "/bin/sh", "-c", text]);
        let mut start = start.spawn().expect("owned");
        let moment = std::time::Duration::from_micros(number(80_000));
        let begun = std::time::Instant::now();
        until("the moment", || begun.elapsed() >= moment);
        // What carries the mark now: the starter, the keeper, the command, in any order.
        let victims = home.living();
        match (round % 3, victims.len()) {
            (0, _) | (_, 0) => {}
            (_, length) => {
                let at = usize::try_from(number(length as u64)).expect("small");
                kill(victims[at], libc::SIGKILL);
            }
        }
        if round % 3 == 1 {
            let _ = start.kill();
        }
        let _ = start.wait();
        // What runs is listed: looked for first, so that its record is older than the look.
        let leads = |pid: &i32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"/bin/sh\0-c\0sleep") && group(*pid) == *pid
        };
        let leaders: Vec<i32> = home.living().into_iter().filter(leads).collect();
        let listed = home.store().list().expect("a list");
        for pid in leaders {
            let main =
                |task: &spawn_owned::tasks::Record| task.main.is_some_and(|main| main.pid == pid);
            assert!(listed.iter().any(main), "{pid} runs and is not listed");
        }
        owner.kill().expect("a child");
        owner.wait().expect("a child");
        home.nothing_is_left();
    }
    // A keeper that is dying shows no mark any more, and counts as alive until it is dead.
    until("each task has ended", || {
        let listed = home.store().list().expect("a list");
        listed.iter().all(|task| task.state.is_final())
    });
}

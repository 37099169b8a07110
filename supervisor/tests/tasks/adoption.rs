//! Tasks whose owner is started again: taken over by identity, with their log and true status.

use std::time::Duration;

use spawn_owned::Owner;
use spawn_owned::tasks::{State, Tasks};

use super::{Home, sleeper};
use crate::witness::until;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn restarted_twice_then_ended() {
    let mut home = Home::new("twice");
    let text = "echo begin; while :; do sleep 0.1; done";
    let id = home.start_with(&["--recover", "gateway", "--patience", "5m"], text);
    home.kill_owner();
    until("it waits for another owner", || {
        home.show(&id)["owner"].is_null()
    });
    assert_eq!(home.state(&id), "running");
    let mut second = sleeper();
    assert_eq!(
        home.say(&["adopt", "gateway", "--owner", &second.id().to_string()])
            .1,
        0
    );
    let record = home.show(&id);
    assert_eq!(
        (&record["lifetime"], &record["adopted"]),
        (&"adopted".into(), &1.into())
    );
    // Nobody takes over what has an owner.
    let third = sleeper();
    let refused = home.store().adopt(&id, spawn_owned::tasks::Who::own());
    assert!(refused.is_err_and(|error| error.to_string().contains("lives")));
    second.kill().expect("a child");
    second.wait().expect("a child");
    until("it waits again", || home.show(&id)["owner"].is_null());
    let mut third = third;
    assert_eq!(
        home.say(&["adopt", "gateway", "--owner", &third.id().to_string()])
            .1,
        0
    );
    assert_eq!(home.show(&id)["adopted"], 2);
    assert_eq!(home.say(&["stop", &id]).1, 0);
    home.nothing_is_left();
    let record = home.show(&id);
    assert_eq!(
        (&record["state"], &record["signal"]),
        (&"cancelled".into(), &15.into())
    );
    assert!(home.say(&["logs", &id]).0.starts_with("begin\n"));
    third.kill().expect("a child");
    third.wait().expect("a child");
}

#[test]
fn a_new_owner_learns_the_true_status() {
    let mut home = Home::new("status");
    let recover = ["--recover", "agent", "--patience", "5m", "--stdin"];
    let runs = home.start_with(&recover, "echo before; read x; echo after; exit 5");
    let ended = home.start_with(&recover, "read x; exit 6");
    let other = home.start_with(
        &["--recover", "another", "--patience", "5m"],
        "exec sleep 1000",
    );
    home.kill_owner();
    until("both wait", || {
        home.show(&runs)["owner"].is_null() && home.show(&ended)["owner"].is_null()
    });
    assert_eq!(home.say(&["send", &ended, "go"]).1, 0);
    until("one has ended meanwhile", || home.state(&ended) == "failed");
    let owner = Owner::builder()
        .no_ledger()
        .native(env!("CARGO_BIN_EXE_owned"))
        .build();
    let tasks = Tasks::of(&owner.expect("an owner")).store(home.store());
    let tasks = tasks.recover("agent", LONG).build().expect("tasks");
    // What ended while nobody was there is told now, once.
    let notice = tasks.next_notice(LONG).expect("a notice");
    assert_eq!(
        (notice.task.id.as_str(), notice.task.exit_status()),
        (ended.as_str(), Some(6))
    );
    assert_eq!(home.show(&runs)["adopted"], 1);
    tasks.store().send(&runs, b"go\n", false).expect("sent");
    let notice = tasks.next_notice(LONG).expect("a notice");
    assert_eq!(
        (notice.task.id.as_str(), notice.task.exit_status()),
        (runs.as_str(), Some(5))
    );
    assert_eq!(notice.tail, "before\nafter\n");
    assert!(
        home.show(&other)["owner"].is_null(),
        "another's is not taken over"
    );
    assert_eq!(home.say(&["stop", &other]).1, 0);
    drop(tasks);
    home.nothing_is_left();
}

#[test]
fn nobody_comes() {
    let mut home = Home::new("nobody");
    let id = home.start_with(
        &["--recover", "never", "--patience", "300ms"],
        "exec sleep 1000",
    );
    home.kill_owner();
    home.nothing_is_left();
    let record = home.show(&id);
    assert_eq!(record["state"], "cancelled");
    assert_eq!(record["why"], "no owner came to take it over");
}

/// An owner of the library that is dropped ends what it has, and leaves what it was built to recover.
#[test]
fn a_dropped_owner() {
    let home = Home::new("dropped");
    let tasks = home.tasks();
    let start = spawn_owned::tasks::Start::new(home.shell("exec sleep 1000"));
    let task = tasks.start(start).expect("a task");
    drop(tasks);
    home.nothing_is_left();
    assert_eq!(home.state(&task.id), "cancelled");
    let owner = || {
        Owner::builder()
            .no_ledger()
            .native(env!("CARGO_BIN_EXE_owned"))
            .build()
    };
    let build = || {
        let tasks = Tasks::of(&owner().expect("an owner")).store(home.store());
        tasks.recover("agent", LONG).build().expect("tasks")
    };
    let tasks = build();
    let start = spawn_owned::tasks::Start::new(home.shell("exec sleep 1000"));
    let task = tasks.start(start).expect("a task");
    drop(tasks);
    until("it waits", || home.show(&task.id)["owner"].is_null());
    let tasks = build();
    until("it is taken over", || home.show(&task.id)["adopted"] == 1);
    let ended = tasks.stop(&task.id, None).expect("a stop");
    assert_eq!(ended.state, State::Cancelled);
    home.nothing_is_left();
}

//! The notice of an end is told once, to one.

use std::sync::mpsc;
use std::time::Duration;

use spawn_owned::Owner;
use spawn_owned::tasks::{Event, Standing, Start, State, Tasks};

use super::Home;
use crate::witness::until;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_look_takes_no_notice_and_a_wait_does() {
    let home = Home::new("once");
    let tasks = home.tasks();
    // Looked at, then drained: one.
    let task = tasks
        .start(Start::new(home.shell("exit 3")))
        .expect("a task");
    until("it has failed", || home.state(&task.id) == "failed");
    home.say(&["list"]);
    let notice = tasks.next_notice(LONG).expect("a notice");
    assert_eq!(
        (notice.task.id, notice.task.state),
        (task.id.clone(), State::Failed)
    );
    assert!(tasks.drain().is_empty());
    assert!(matches!(
        tasks.store().notice(&task.id),
        Standing::Delivered { .. }
    ));
    // Waited for, then drained: none.
    let task = tasks
        .start(Start::new(home.shell("exit 0")))
        .expect("a task");
    let ended = tasks
        .wait(&task.id, Some(LONG))
        .expect("a record")
        .expect("an end");
    assert_eq!(ended.state, State::Completed);
    // The owner's thread may hear of it later than the wait.
    assert!(tasks.next_notice(Duration::from_millis(500)).is_none());
    // Waited for by another process: none either.
    let task = tasks
        .start(Start::new(home.shell("read x")))
        .expect("a task");
    assert_eq!(home.say(&["wait", &task.id]).1, 1);
    assert!(tasks.next_notice(Duration::from_millis(500)).is_none());
    // Its whole log was read after its end: none.
    let task = tasks
        .start(Start::new(home.shell("echo text")))
        .expect("a task");
    until("it has completed", || home.state(&task.id) == "completed");
    let chunk = tasks.store().read_log(&task.id, 0, 1000).expect("a log");
    assert_eq!(chunk.bytes, b"text\n");
    assert!(tasks.next_notice(Duration::from_millis(500)).is_none());
    home.nothing_is_left();
}

#[test]
fn a_callback_is_called_once_for_each() {
    let home = Home::new("callback");
    let owner = Owner::builder()
        .no_ledger()
        .native(env!("CARGO_BIN_EXE_owned"))
        .build();
    let (tell, heard) = mpsc::channel();
    let tasks = Tasks::of(&owner.expect("an owner")).store(home.store());
    let tasks = tasks.on_notice(move |notice| tell.send(notice.task.id).expect("heard"));
    let tasks = tasks.build().expect("tasks");
    let mut ids: Vec<String> = (0..4)
        .map(|code| {
            tasks
                .start(Start::new(home.shell(&format!("exit {code}"))))
                .expect("a task")
                .id
        })
        .collect();
    let mut told: Vec<String> = (0..4)
        .map(|_| heard.recv_timeout(LONG).expect("a notice"))
        .collect();
    ids.sort();
    told.sort();
    assert_eq!(ids, told);
    drop(tasks);
    home.nothing_is_left();
    assert!(heard.try_recv().is_err());
}

#[test]
fn a_command_is_told_once() {
    let home = Home::new("command");
    let told = home.folder.join("told");
    let place = told.to_str().expect("plain");
    let notify = format!("cat >> {place}; echo $OWNED_TASK_STATE $OWNED_TASK_STATUS >> {place}");
    let id = home.start_with(&["--notify", &notify], "echo last words; exit 8");
    home.say(&["wait", &id]);
    home.nothing_is_left();
    let text = std::fs::read_to_string(&told).expect("told");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.ends_with("failed 8\n"), "{text}");
    let notice: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&notice["event"], &notice["tail"]),
        (&"ended".into(), &"last words\n".into())
    );
    let shown = home.notice(&id);
    assert!(shown.starts_with("delivered to"), "{shown}");
    // One that fails is said to be undelivered, and not run again.
    let id = home.start_with(&["--notify", "exit 1"], "exit 0");
    home.say(&["wait", &id]);
    home.nothing_is_left();
    let shown = home.notice(&id);
    assert!(shown.starts_with("undelivered"), "{shown}");
}

/// Killed between claim and word: undelivered for ever, and never told twice.
#[test]
fn a_teller_that_is_killed_leaves_it_undelivered() {
    let home = Home::new("killed");
    let id = home.start_with(&["--notify", "sleep 1000"], "exit 0");
    until("it has completed", || home.state(&id) == "completed");
    until("it is being told", || home.notice(&id) == "being delivered");
    crate::witness::kill(home.pid(&id, "keeper"), libc::SIGKILL);
    home.nothing_is_left();
    // Who has no environment any more may still be ending.
    until("it is undelivered", || {
        home.notice(&id).starts_with("undelivered")
    });
    assert!(!home.store().take_notice(&id, "another"));
    assert_eq!(home.state(&id), "completed", "its end was recorded before");
}

#[test]
fn a_watched_text_is_told() {
    let home = Home::new("watched");
    let tasks = home.tasks();
    let text = "echo starting; echo 'server is ready on 8080'; echo ready again; read x";
    let start = Start::new(home.shell(text)).watch("ready").input();
    let task = tasks.start(start).expect("a task");
    let notice = tasks.next_notice(LONG).expect("a notice");
    let Event::Matched { lines, .. } = notice.event else {
        panic!("{:?}", notice.event)
    };
    assert_eq!(lines[0], "server is ready on 8080");
    tasks.store().send(&task.id, b"go\n", false).expect("sent");
    let notice = tasks.next_notice(LONG).expect("a notice");
    assert_eq!(notice.event, Event::Ended);
    drop(tasks);
    home.nothing_is_left();
}

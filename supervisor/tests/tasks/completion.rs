//! The end of a task is the end of its command, never that of its output.

use std::time::{Duration, Instant};

use super::Home;
use crate::witness::until;

/// What holds the output, or has become a daemon, or writes for ever, does not delay the end.
#[test]
fn whoever_holds_the_output_delays_nothing() {
    let home = Home::new("holds");
    for (text, status) in [
        ("sleep 1000 & exit 3", 3),
        ("setsid sleep 1000 & exit 4", 4),
        (
            "setsid -f sh -c 'trap \"\" TERM; while :; do sleep 1000; done'; exit 5",
            5,
        ),
        ("yes & exit 6", 6),
        ("env -i setsid -f sleep 1000; exit 7", 7),
    ] {
        let id = home.start(text);
        assert_eq!(home.say(&["wait", &id]).1, status, "{text}");
        let record = home.show(&id);
        let seconds = record["seconds"].as_f64().expect("a time");
        println!("{text}: {seconds:.3} s");
        // The command itself takes no time; ten seconds are a machine that stands still.
        assert!(seconds < 10.0, "{record}");
        home.nothing_is_left();
    }
}

/// With a task that must outlive, what its command left is its purpose, and is stopped with it.
#[test]
fn a_persistent_daemon_stays_until_it_is_stopped() {
    let mut home = Home::new("daemon");
    let reason = ["--persist", "a daemon that the test stops"];
    // detached-spawn: the test ends it itself
    let id = home.start_with(&reason, "setsid -f sleep 1000; exit 0");
    assert_eq!(home.say(&["wait", &id]).1, 0);
    home.kill_owner();
    let record = home.show(&id);
    assert_eq!(
        (&record["state"], &record["lifetime"]),
        (&"completed".into(), &"persistent".into())
    );
    assert_eq!(record["left"].as_array().map(Vec::len), Some(1), "{record}");
    assert_eq!(home.living().len(), 2);
    assert_eq!(home.say(&["stop", &id]).1, 0);
    home.nothing_is_left();
    assert_eq!(home.state(&id), "completed");
}

/// A reader in the same program hears of the end although nobody asks.
#[test]
fn the_end_is_told_to_the_owner() {
    let home = Home::new("told");
    let tasks = home.tasks();
    let start = spawn_owned::tasks::Start::new(home.shell("sleep 1000 & echo words; exit 9"));
    let task = tasks.start(start).expect("a task");
    let begun = Instant::now();
    let notice = tasks
        .next_notice(Duration::from_secs(60))
        .expect("a notice");
    println!("told after {} ms", begun.elapsed().as_millis());
    assert_eq!(
        (notice.task.id.as_str(), notice.task.exit_status()),
        (task.id.as_str(), Some(9))
    );
    assert_eq!(notice.tail, "words\n");
    until("nothing is left", || home.living().is_empty());
}

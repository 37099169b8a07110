//! What becomes of tasks that are started, listed, waited for and stopped.

use super::Home;
use crate::witness::until;

#[test]
fn a_task_is_known_at_once_and_stopped() {
    let home = Home::new("known");
    let id = home.start_with(&["--name", "a name"], "sleep 1000");
    assert_eq!(id.len(), 8);
    let (list, _) = home.say(&["list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list[0]["id"], id.as_str());
    assert_eq!(list[0]["state"], "running");
    assert!(list[0]["usage"]["processes"].as_u64() > Some(0), "{list}");
    let (table, _) = home.say(&["list"]);
    assert!(
        table.contains("running") && table.contains("sleep 1000"),
        "{table}"
    );
    for name in [&id, &id[..5], "a name"] {
        assert_eq!(home.show(name)["id"], id.as_str());
    }
    let (_, status) = home.say(&["show", "no such task"]);
    assert_eq!(status, 125);
    assert_eq!(home.pid(&id, "owner"), home.owner.id().cast_signed());
    let (said, status) = home.say(&["stop", "a name"]);
    assert_eq!(status, 0);
    assert!(said.contains("cancelled by signal 15"), "{said}");
    home.nothing_is_left();
    let (_, status) = home.say(&["stop", &id]);
    assert_eq!(status, 0, "what has ended can be stopped");
    assert!(home.say(&["list"]).0.contains("cancelled"));
    assert_eq!(home.say(&["forget", &id]).1, 0);
    assert_eq!(home.say(&["show", &id]).1, 125);
}

#[test]
fn every_end_has_its_state_and_status() {
    let home = Home::new("states");
    for (options, text, state, status) in [
        (&[][..], "exit 0", "completed", 0),
        (&[], "exit 7", "failed", 7),
        (&[], "kill -KILL $$", "failed", 137),
        (&["--timeout", "300ms"], "exec sleep 1000", "timed_out", 143),
        (
            &["--timeout", "300ms", "--grace", "200ms"],
            "trap '' TERM; sleep 1000 & wait; sleep 1000",
            "timed_out",
            137,
        ),
    ] {
        let id = home.start_with(options, text);
        let (_, code) = home.say(&["wait", &id]);
        assert_eq!(code, status, "{text}");
        let record = home.show(&id);
        assert_eq!(record["state"], state, "{record}");
        assert_eq!(record["exit_status"], status, "{record}");
    }
    home.nothing_is_left();
}

#[test]
fn what_cannot_run_is_an_error_at_the_start() {
    let home = Home::new("cannot");
    assert_eq!(home.say(&["start", "--", "/nowhere"]).1, 127);
    assert_eq!(home.say(&["start", "--", "/etc/passwd"]).1, 126);
    // Found only when the program is loaded.
    let script = home.folder.join("script");
    std::fs::write(&script, "#!/etc/passwd\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).expect("ours");
    assert_eq!(
        home.say(&["start", "--", script.to_str().expect("plain")])
            .1,
        126
    );
    let (list, _) = home.say(&["list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list[0]["state"], "failed", "{list}");
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    let owner = home.owner.id().to_string();
    let gone = ["start", "--owner", "4194300", "--", "true"];
    assert_eq!(home.say(&gone).1, 125);
    for reason in ["todo", "", "short"] {
        assert_eq!(
            home.say(&["start", "--persist", reason, "--", "true"]).1,
            125,
            "{reason}"
        );
    }
    assert_eq!(
        home.say(&[
            "start",
            "--owner",
            &owner,
            "--timeout",
            "soon",
            "--",
            "true"
        ])
        .1,
        125
    );
    home.nothing_is_left();
}

#[test]
fn several_are_waited_for() {
    let home = Home::new("several");
    let long = home.start("exec sleep 1000");
    let good = home.start("exit 0");
    let bad = home.start("exit 3");
    let (said, status) = home.say(&["wait", &good, &bad]);
    assert_eq!(status, 1);
    assert_eq!(said.lines().count(), 2, "{said}");
    let (_, status) = home.say(&["wait", "--timeout", "100ms", &long]);
    assert_eq!(status, 75);
    let (said, status) = home.say(&["wait", "--any", "--json", &long, &bad]);
    assert_eq!(status, 3);
    let ended: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(ended["id"], bad.as_str());
    let owner = home.owner.id().to_string();
    let kept = home.start_with(&["--persist", "the test of stop --all"], "exec sleep 1000");
    let (said, status) = home.say(&["stop", "--all", "--owner", &owner]);
    assert_eq!((status, said.lines().count()), (0, 1), "{said}");
    assert_eq!(home.state(&kept), "running");
    assert_eq!(home.say(&["stop", &kept]).1, 0);
    home.nothing_is_left();
}

#[test]
fn stubborn_trees_end_and_it_is_proved() {
    let home = Home::new("stubborn");
    for text in [
        // Deaf to being asked, with children of its kind, one of them elsewhere.
        // detached-spawn: what a task must end
        "trap '' TERM HUP; sleep 1000 & setsid sleep 1000 & while :; do sleep 1000; done",
        // Stopped.
        "sleep 1000 & kill -STOP $!; kill -STOP $$",
        // With children that nobody reaps.
        "sh -c 'sleep 0 & exec sleep 1000' & exec sleep 1000",
        // Without environment, daemonised.
        "env -i setsid sh -c 'sleep 1000 & exit'; exec sleep 1000",
    ] {
        let id = home.start_with(&["--grace", "300ms"], text);
        until("the tree stands", || {
            home.show(&id)["usage"]["processes"].as_u64() >= Some(2)
        });
        let (said, status) = home.say(&["stop", &id]);
        assert_eq!(status, 0, "{text}: {said}");
        // What was stopped is gone when the command returns, but for the keeper's own last step.
        let record = home.show(&id);
        assert_eq!(record["left"].as_array().map(Vec::len), Some(0), "{record}");
        home.nothing_is_left();
    }
}

/// A parent that ends its own helpers when it is asked does so before anybody else does.
#[test]
fn the_parent_is_asked_first() {
    let home = Home::new("parent");
    let text = "sh -c 'trap \"echo helper was signalled\" TERM; while :; do sleep 0.05; done' &
        helper=$!; trap 'kill -KILL $helper; wait; echo orderly; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    let id = home.start_with(&["--grace", "20s"], text);
    until("it is ready", || {
        home.say(&["logs", &id]).0.contains("ready")
    });
    assert_eq!(home.say(&["stop", &id]).1, 0);
    let (log, _) = home.say(&["logs", &id]);
    assert!(
        log.contains("orderly") && !log.contains("signalled"),
        "{log}"
    );
    assert_eq!(home.show(&id)["exit_status"], 5);
    assert_eq!(home.state(&id), "cancelled");
}

#[test]
fn many_tasks_leave_no_descriptor() {
    let home = Home::new("many");
    let tasks = home.tasks();
    let open = || std::fs::read_dir("/proc/self/fd").expect("proc").count();
    let one = tasks
        .start(spawn_owned::tasks::Start::new(home.shell("exit 0")))
        .expect("a task");
    tasks.wait(&one.id, None).expect("an end");
    home.nothing_is_left();
    let before = open();
    let rounds = 200;
    for _ in 0..rounds {
        let task = tasks.start(spawn_owned::tasks::Start::new(home.shell("exit 0")));
        tasks.wait(&task.expect("a task").id, None).expect("an end");
    }
    home.nothing_is_left();
    // Other tests of this program run at the same time, and open what they need.
    until("no descriptor is left", || open() < before + 20);
    let own = std::process::id().cast_signed();
    let entries = std::fs::read_dir("/proc").expect("proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let unreaped = pids
        .filter(|pid| super::parent(*pid) == own && crate::witness::state(*pid) == Some('Z'))
        .count();
    assert!(unreaped < 5, "{unreaped} keepers are not reaped");
}

#[test]
fn a_foreground_command_goes_on_in_the_background() {
    let home = Home::new("foreground");
    let owner = home.owner.id().to_string();
    let run = |after: &str, text: &str| {
        home.run(&[
            "run",
            "--owner",
            &owner,
            "--background-after",
            after,
            "--",
            "/bin/sh",
            "-c",
            text,
        ])
    };
    let output = run("60s", "echo said; sleep 1000 & exit 6");
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(6), &b"said\n"[..])
    );
    home.nothing_is_left();
    let go = home.folder.join("go");
    let waits = format!("while ! test -e {}; do sleep 0.05; done", go.display());
    let output = run(
        "500ms",
        &format!("echo before; {waits}; echo after; exit 4"),
    );
    assert_eq!(output.status.code(), Some(75));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let id = said.trim().rsplit(' ').next().expect("an id").to_owned();
    std::fs::write(go, "").expect("a file");
    assert_eq!(home.say(&["wait", &id]).1, 4, "{said}");
    let (log, _) = home.say(&["logs", &id]);
    assert_eq!(log, "before\nafter\n");
    // For programs, and for what must outlive.
    let reason = "the test stops it as a task";
    let output = home.run(&[
        "run",
        "--background-after",
        "300ms",
        "--json",
        "--persist",
        reason,
        "--",
        "sleep",
        "1000",
    ]);
    assert_eq!(output.status.code(), Some(75));
    let record: serde_json::Value = serde_json::from_slice(&output.stderr).expect("JSON");
    assert_eq!(
        (&record["state"], &record["reason"]),
        (&"running".into(), &reason.into())
    );
    assert_eq!(
        home.say(&["stop", record["id"].as_str().expect("an id")]).1,
        0
    );
    home.nothing_is_left();
}

#[test]
fn help_for_readers_and_shells() {
    let home = Home::new("help");
    let (manual, status) = home.say(&["man"]);
    assert_eq!(status, 0);
    assert!(manual.contains(".TH owned") && manual.contains("OWNED START"));
    for shell in ["bash", "zsh", "fish"] {
        let (text, status) = home.say(&["completions", shell]);
        assert_eq!(status, 0);
        assert!(text.contains("background-after"), "{shell}");
    }
}

//! Whose a task is: its owner, found and said, and what of it ends with whom.

use spawn_owned::tasks::{Start, Who};

use super::{Home, sleeper};
use crate::witness::{kill, lives, until};

#[test]
fn the_owner_is_the_calling_shell() {
    let home = Home::new("caller");
    let owned = env!("CARGO_BIN_EXE_owned");
    let mut shell = home.command(&[]);
    let text = format!(
        "id=$({owned} start -- sleep 1000); ({owned} start --name second -- sleep 1000 >/dev/null); echo $$ $id; read x"
    );
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &text]);
    for (name, value) in shell.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    shell.stdin(std::process::Stdio::null());
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut shell = command.spawn().expect("a shell");
    let mut said = String::new();
    let out = shell.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut said).expect("a line");
    let (pid, id) = said.trim().split_once(' ').expect("two words");
    let pid: i32 = pid.parse().expect("a number");
    assert_eq!(
        (home.pid(id, "owner"), home.pid("second", "owner")),
        (pid, pid)
    );
    assert_eq!(home.state(id), "running");
    kill(pid, libc::SIGKILL);
    shell.wait().expect("a child");
    home.nothing_is_left();
    assert!(!lives(pid));
    let record = home.show(id);
    assert_eq!(
        (&record["state"], &record["why"]),
        (&"cancelled".into(), &"its owner ended".into())
    );
}

#[test]
fn owner_and_limit_come_from_the_environment() {
    let home = Home::new("environment");
    let owner = Who::now(home.owner.id().cast_signed()).expect("alive");
    let start = |owner: &str| {
        let mut command = home.command(&["start", "--", "/bin/sleep", "1000"]);
        command
            .env("OWNED_OWNER", owner)
            .env("OWNED_TIMEOUT", "300ms")
            .output()
            .expect("owned")
    };
    let output = start(&format!("{}:{}", owner.pid, owner.start));
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert_eq!(home.pid(&id, "owner"), owner.pid);
    assert_eq!(home.say(&["wait", &id]).1, 143);
    assert_eq!(home.state(&id), "timed_out");
    // A number that means somebody else by now owns nothing.
    let other = format!("{}:{}", owner.pid, owner.start + 1);
    for wrong in [other.as_str(), "", "12", "a:b"] {
        assert_eq!(start(wrong).status.code(), Some(125), "{wrong}");
    }
    home.nothing_is_left();
}

/// Whatever sweeps over a task that must outlive passes it by: only a stop is for it.
#[test]
fn what_must_outlive_survives_every_sweep() {
    let mut home = Home::new("sweeps");
    let reason = ["--persist", "the test of every sweep"];
    let owned = env!("CARGO_BIN_EXE_owned");
    let id = home.start_with(&reason, "exec sleep 1000");
    let kept = home.pid(&id, "main");
    let mut mains = vec![kept];
    // Its owner's tasks are all stopped.
    let pid = std::process::id().to_string();
    assert_eq!(home.say(&["stop", "--all"]).1, 0);
    assert_eq!(home.say(&["stop", "--all", "--owner", &pid]).1, 0);
    // The owner of the library lets all go, by a stop of all and by its end.
    let tasks = home.tasks();
    let start = |text: &str| Start::new(home.shell(text));
    let persistent = start("exec sleep 1000").persist("the test of every sweep");
    let task = tasks.start(persistent.expect("a reason")).expect("a task");
    mains.push(task.main.expect("a process").pid);
    let owned_one = tasks.start(start("exec sleep 1000")).expect("a task");
    let stopped = tasks.stop_all(None).expect("a list");
    assert_eq!(stopped.len(), 1);
    assert_eq!(stopped[0].as_ref().expect("a stop").id, owned_one.id);
    drop(tasks);
    // It is started below an outer owner, and sweeps look for what owners left.
    let text = format!(
        "{owned} start --persist 'the test of every sweep' -- sleep 1000 >&2; exec sleep 1000"
    );
    let mut outer = home.command(&[
        "start",
        "--name",
        "outer",
        "--owner",
        &home.owner.id().to_string(),
        "--",
        "/bin/sh",
        "-c",
        &text,
    ]);
    assert!(outer.output().expect("owned").status.success());
    home.kill_owner();
    until("the outer one has ended", || {
        home.state("outer") == "cancelled"
    });
    assert_eq!(home.say(&["doctor", "--stop", "--grace", "100ms"]).1, 0);
    for pid in mains {
        assert!(lives(pid), "{pid} was to outlive");
    }
    assert_eq!(home.say(&["stop", &id, &task.id]).1, 0);
    home.nothing_is_left();
}

/// Each owner ends its own tasks: neither its parent's, nor its child's, nor those beside it.
#[test]
fn owners_do_not_end_each_others_tasks() {
    let home = Home::new("owners");
    let mut others = [sleeper(), sleeper()];
    let start = |owner: u32| {
        let words = [
            "start",
            "--owner",
            &owner.to_string(),
            "--",
            "sleep",
            "1000",
        ];
        home.say(&words).0.trim().to_owned()
    };
    let ids = [
        start(home.owner.id()),
        start(others[0].id()),
        start(others[1].id()),
    ];
    let tasks = home.tasks();
    let task = Start::new(home.shell("exec sleep 1000"));
    let own = tasks.start(task).expect("a task").id;
    let first = others[0].id().to_string();
    let (said, status) = home.say(&["stop", "--all", "--owner", &first]);
    assert_eq!((said.lines().count(), status), (1, 0), "{said}");
    let states = || {
        ids.iter()
            .chain([&own])
            .map(|id| home.state(id))
            .collect::<Vec<_>>()
    };
    assert_eq!(states(), ["running", "cancelled", "running", "running"]);
    others[1].kill().expect("a child");
    others[1].wait().expect("a child");
    until("its task has ended", || home.state(&ids[2]) == "cancelled");
    drop(tasks);
    until("the library's has ended", || {
        home.state(&own) == "cancelled"
    });
    assert_eq!(states()[0], "running");
    others[0].kill().expect("a child");
    others[0].wait().expect("a child");
    assert_eq!(home.say(&["stop", &ids[0]]).1, 0);
    home.nothing_is_left();
}

/// Owners of tasks come and go, and leave neither a thread nor a descriptor.
#[test]
fn many_owners_leave_nothing() {
    let home = Home::new("sessions");
    let count = |name: &str| {
        std::fs::read_dir(format!("/proc/self/{name}"))
            .expect("proc")
            .count()
    };
    let before = [count("fd"), count("task")];
    for _ in 0..50 {
        let tasks = home.tasks();
        let start = Start::new(home.shell("exec sleep 1000"));
        tasks.start(start).expect("a task");
    }
    home.nothing_is_left();
    // Other tests of this program run at the same time.
    until("no descriptor is left", || count("fd") < before[0] + 25);
    until("no thread is left", || count("task") < before[1] + 25);
}

/// A task that needs limits of its own gets them from the service manager, and is a task all the same.
#[test]
fn a_task_may_be_in_a_scope_of_its_own() {
    let scope = ["--user", "--scope", "--quiet", "-p", "MemoryMax=64M", "--"];
    // detached-spawn: a scope is a child like any other, and this one only tells whether there are scopes
    let mut probe = std::process::Command::new("systemd-run");
    let probe = probe.args(scope).arg("/bin/true").output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("not run: there is no user's service manager to ask (systemd-run --user --scope)");
        return;
    }
    let home = Home::new("scope");
    // detached-spawn: a scope of its own is what the task asks for; its keeper ends it
    let id = home.start(&format!("exec systemd-run {} sleep 1000", scope.join(" ")));
    until("it runs", || {
        crate::witness::runs(home.pid(&id, "main"), "sleep")
    });
    let group = |who: &str| {
        let path = format!("/proc/{}/cgroup", home.pid(&id, who));
        std::fs::read_to_string(path).expect("a process")
    };
    assert_ne!(group("main"), group("keeper"));
    assert_eq!(home.say(&["stop", &id]).1, 0);
    home.nothing_is_left();
}

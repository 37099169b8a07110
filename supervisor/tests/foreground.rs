//! `owned run`: nothing of a command outlives it, the front, or the caller.

use std::process::{Child, Command, Stdio};

use crate::witness::{carrying, heed_hangups, kill, lives, until};

struct Run {
    mark: String,
    front: Child,
}

impl Run {
    /// `owned run -- sh -c TEXT`, started by `caller` if there is one.
    fn new(name: &str, caller: Option<&str>, text: &str) -> Self {
        heed_hangups();
        let mark = format!("WITNESS={}.run-{name};", std::process::id());
        let (variable, value) = mark.split_once('=').expect("made so");
        let owned = env!("CARGO_BIN_EXE_owned");
        let mut command = Command::new(caller.unwrap_or(owned));
        if let Some(caller) = caller {
            assert_eq!(caller, "/bin/sh");
            command.args(["-c", "\"$@\"; exit $?", "sh", owned]);
        }
        command.args(["run", "--grace", "1", "--", "/bin/sh", "-c", text]);
        command.env(variable, value).stdin(Stdio::null());
        Self {
            front: command.spawn().expect("owned"),
            mark,
        }
    }

    fn living(&self) -> Vec<i32> {
        carrying(&self.mark)
    }

    fn nothing_is_left(&self) {
        until("nothing is left", || self.living().is_empty());
    }

    fn pid(&self) -> i32 {
        self.front.id().cast_signed()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.front.kill();
        let _ = self.front.wait();
        for pid in self.living() {
            kill(pid, libc::SIGKILL);
        }
    }
}

#[test]
fn the_status_is_the_commands_own() {
    for (text, status) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -TERM $$", 128 + 15),
        ("kill -KILL $$", 128 + 9),
        ("kill -PIPE $$", 128 + 13),
        ("sleep 1000 & setsid sleep 1000 & exit 3", 3),
        ("env -i setsid sh -c 'sleep 1000 & exit' ; exit 4", 4),
    ] {
        let mut run = Run::new("status", None, text);
        until("it ends", || {
            run.front.try_wait().expect("a child").is_some()
        });
        let ended = run.front.wait().expect("a child");
        assert_eq!(ended.code(), Some(status), "{text}");
        assert!(run.living().is_empty(), "{text}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_owned"))
        .args(["run", "--", "/nowhere"])
        .output();
    assert_eq!(output.expect("owned").status.code(), Some(127));
    let output = Command::new(env!("CARGO_BIN_EXE_owned"))
        .args(["run", "--", "/etc/passwd"])
        .output();
    assert_eq!(output.expect("owned").status.code(), Some(126));
}

/// A tree with a member, a session, a daemon and one that does not want to end.
const TREE: &str =
    "sleep 1000 & setsid sleep 1000 & (setsid -f sh -c 'trap \"\" TERM HUP; sleep 1000'); wait";

#[test]
fn the_front_is_killed() {
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let mut run = Run::new("front", None, TREE);
        until("all live", || run.living().len() >= 7);
        kill(run.pid(), signal);
        until("the front ends", || {
            run.front.try_wait().expect("a child").is_some()
        });
        run.nothing_is_left();
    }
}

#[test]
fn the_caller_is_killed() {
    let mut run = Run::new("caller", Some("/bin/sh"), TREE);
    until("all live", || run.living().len() >= 8);
    // The caller is the shell alone; front and keeper learn of its death.
    run.front.kill().expect("a child");
    run.front.wait().expect("a child");
    run.nothing_is_left();
}

#[test]
fn the_keeper_is_killed() {
    let mut run = Run::new("keeper", None, "setsid sleep 1000 & exec sleep 1000");
    until("all live", || run.living().len() == 4);
    let parent = |pid: i32| -> i32 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit(") ").next().unwrap_or_default().to_owned();
        rest.split(' ')
            .nth(1)
            .and_then(|parent| parent.parse().ok())
            .unwrap_or(0)
    };
    let front = run.pid();
    let keeper = run
        .living()
        .into_iter()
        .find(|pid| parent(*pid) == front)
        .expect("a keeper");
    kill(keeper, libc::SIGKILL);
    until("the front ends", || {
        run.front.try_wait().expect("a child").is_some()
    });
    assert_eq!(run.front.wait().expect("a child").code(), Some(125));
    run.nothing_is_left();
}

#[test]
fn another_process_is_the_owner() {
    let mut owner = Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .expect("sleep");
    let mark = format!("WITNESS={}.run-other;", std::process::id());
    let (variable, value) = mark.split_once('=').expect("made so");
    let mut front = Command::new(env!("CARGO_BIN_EXE_owned"))
        .args([
            "run",
            "--owner",
            &owner.id().to_string(),
            "--",
            "/bin/sleep",
            "1000",
        ])
        .env(variable, value)
        .spawn()
        .expect("owned");
    until("all live", || carrying(&mark).len() == 3);
    owner.kill().expect("a child");
    owner.wait().expect("a child");
    until("the front ends", || {
        front.try_wait().expect("a child").is_some()
    });
    until("nothing is left", || carrying(&mark).is_empty());
    let gone = owner.id().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_owned"))
        .args(["run", "--owner", &gone, "--", "true"])
        .output();
    assert_eq!(output.expect("owned").status.code(), Some(125));
    assert!(!lives(front.id().cast_signed()));
}

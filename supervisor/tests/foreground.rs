//! `owned run`: nothing of a command outlives it, the front, or the caller.

use std::os::fd::AsRawFd as _;
use std::process::{Child, Command, Stdio};

use crate::below::words;
use crate::processes::below;
use crate::witness::{carrying, heed_the_terminal, kill, lives, state, until};

struct Run {
    mark: String,
    front: Child,
}

impl Run {
    /// `owned run -- sh -c TEXT`, started by `caller` if there is one.
    fn new(name: &str, caller: Option<&str>, text: &str) -> Self {
        let owned = env!("CARGO_BIN_EXE_owned");
        let words = ["-c", "\"$@\"; exit $?", "sh", owned];
        match caller {
            None => Self::start(name, owned, &[], &[], text),
            Some(caller) => Self::start(name, caller, &words, &[], text),
        }
    }

    /// The same with options and without another caller than the test.
    fn of(name: &str, options: &[&str], text: &str) -> Self {
        Self::start(name, env!("CARGO_BIN_EXE_owned"), &[], options, text)
    }

    fn start(name: &str, program: &str, words: &[&str], options: &[&str], text: &str) -> Self {
        heed_the_terminal();
        let mark = format!("WITNESS={}.run-{name};", std::process::id());
        let (variable, value) = mark.split_once('=').expect("made so");
        let mut command = Command::new(program);
        command
            .args(words)
            .args(["run", "--grace", "1"])
            .args(options);
        command.args(["--", "/bin/sh", "-c", text]);
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

/// Of what forks faster than anybody looks, and has dropped its mark, a look may find nothing, which proves
/// nothing: so it holds a pipe. It ends by itself, should nobody end it.
#[test]
fn a_chain_of_forks_does_not_outrun_its_keeper() {
    let text = "setsid env -u SPAWN_OWNED python3 -c 'import os; \
        any(os.fork() and os._exit(0) for hop in range(20000))' & wait $!; exit 3";
    for _ in 0..6 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_owned"));
        command.args(["run", "--grace", "1", "--", "/bin/sh", "-c", text]);
        let mut front = command.stdout(Stdio::piped()).spawn().expect("owned");
        let ended = front.wait().expect("a child");
        assert_eq!(ended.code(), Some(3));
        let mut held = libc::pollfd {
            fd: front.stdout.as_ref().expect("a pipe").as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor, which is open.
        let over = unsafe { libc::poll(&raw mut held, 1, 1000) };
        assert_eq!(over, 1, "a link of the chain lives");
    }
}

/// The keeper of a run: the front's one child.
fn keeper(front: i32) -> i32 {
    let all = below(front).into_iter();
    let keeper = all
        .map(|one| (one.parent, one.pid))
        .find(|one| one.0 == front);
    keeper.expect("a keeper").1
}

/// A tree with a member, a session, a daemon and one that does not want to end.
// detached-spawn: what `owned run` must end
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
    let keeper = keeper(run.pid());
    kill(keeper, libc::SIGKILL);
    until("the front ends", || {
        run.front.try_wait().expect("a child").is_some()
    });
    assert_eq!(run.front.wait().expect("a child").code(), Some(125));
    run.nothing_is_left();
}

/// A keeper that was stopped hears nothing by itself, and still ends everything: the system continues it.
#[test]
fn a_stopped_keeper_sees_the_end() {
    for caller in [None, Some("/bin/sh")] {
        let mut run = Run::new("stopped-keeper", caller, TREE);
        until("all live", || run.living().len() >= 7);
        // What has just ended, or becomes another program, has no words at all.
        let runs = |pid: i32| words(pid).get(1).is_some_and(|word| word == "run");
        let front = below(run.pid()).into_iter().find(|one| runs(one.pid));
        let keeper = keeper(front.map_or(run.pid(), |front| front.pid));
        kill(keeper, libc::SIGSTOP);
        until("the keeper is stopped", || state(keeper) == Some('T'));
        run.front.kill().expect("a child");
        run.front.wait().expect("a child");
        run.nothing_is_left();
    }
}

/// A front that was stopped does not see the end of its caller. The keeper does.
#[test]
fn a_stopped_front_hides_no_end() {
    let mut owner = Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .expect("sleep");
    let run = Run::of("stopped-front", &["--owner", &owner.id().to_string()], TREE);
    until("all live", || run.living().len() >= 7);
    kill(run.pid(), libc::SIGSTOP);
    until("the front is stopped", || state(run.pid()) == Some('T'));
    owner.kill().expect("a child");
    owner.wait().expect("a child");
    run.nothing_is_left();
}

/// Nobody who kills by what a process runs, or by the name of `owned`, means the keeper.
#[test]
fn a_keeper_has_neutral_words() {
    let run = Run::new("words", None, "exec sleep 1000");
    until("it runs", || run.living().len() == 3);
    let keeper = keeper(run.pid());
    let name = std::fs::read_to_string(format!("/proc/{keeper}/comm"));
    assert_eq!(name.expect("a name"), "lifeline\n");
    let words = words(keeper);
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(words, ["spawn-owned", "keep"]);
}

/// As the first process of a container, whose parent cannot be seen from inside: what is orphaned below is
/// ended too, and the status is the command's.
#[test]
fn the_first_process_of_a_container() {
    let owned = env!("CARGO_BIN_EXE_owned");
    let inside = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let text = "setsid sleep 1000 & setsid -f sleep 1000; echo $$; exit 6";
    for way in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let mut command = Command::new("unshare");
        command
            .args(way)
            .args(inside)
            .args([owned, "run", "--", "/bin/sh", "-c", text]);
        let output = command.output().expect("unshare");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.starts_with("unshare:") {
            continue;
        }
        assert_eq!(output.status.code(), Some(6), "{said}");
        // Behind the front and the keeper.
        assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n", "{said}");
        return;
    }
    println!("not run: this system does not permit a space of its own (unshare)");
    assert!(std::env::var("CI").is_err(), "unshare --pid is needed");
}

/// What must outlive its caller says why, and ends with the front all the same.
#[test]
fn a_run_that_must_outlive_its_caller() {
    let reason = ["--persist", "the test ends it by its front"];
    let words = ["-c", "\"$@\" & read x", "sh", env!("CARGO_BIN_EXE_owned")];
    let mut run = Run::start("persist", "/bin/sh", &words, &reason, TREE);
    until("all live", || run.living().len() >= 7);
    run.front.kill().expect("a child");
    run.front.wait().expect("a child");
    let runs = |pid: &i32| self::words(*pid).get(1).is_some_and(|word| word == "run");
    let front = run.living().into_iter().find(runs).expect("a front");
    // What was to end with the caller would have done so by now in every other test: an event shows that.
    let witness = Run::new("persist-witness", Some("/bin/sh"), "exec sleep 1000");
    until("the witness runs", || witness.living().len() == 4);
    kill(witness.pid(), libc::SIGKILL);
    until("the witness has ended", || witness.living().is_empty());
    assert!(run.living().len() >= 6);
    kill(front, libc::SIGKILL);
    run.nothing_is_left();
    let output = Command::new(env!("CARGO_BIN_EXE_owned"))
        .args(["run", "--persist", "todo", "--", "true"])
        .output();
    assert_eq!(output.expect("owned").status.code(), Some(125));
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

//! What is said to `owned` that makes little sense, and readers that do not read.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use super::Home;
use crate::witness::{kill, until};

#[test]
fn what_makes_no_sense_has_a_status_of_its_own() {
    let home = Home::new("sense");
    for words in [
        &["nonsense"][..],
        &[],
        &["run"],
        &["run", "--grace=-5", "--", "true"],
        &["run", "--owner", "0", "--", "true"],
        &["run", "--owner", "4294967295", "--", "true"],
        &["start", "--timeout", "soon", "--", "true"],
        &["stop", ""],
        &["wait", "../tasks"],
    ] {
        assert_eq!(home.say(words).1, 125, "{words:?}");
    }
    assert_eq!(home.say(&["run", "--", ""]).1, 127);
    assert_eq!(home.say(&["--help"]).1, 0);
}

#[test]
fn a_variable_that_is_no_text_is_not_passed_over() {
    let home = Home::new("variables");
    let texts: [&[u8]; 4] = [b"\xff", b"", b"1", b"99999999999:1"];
    for (name, words) in [
        ("OWNED_OWNER", &["run", "--", "true"][..]),
        ("OWNED_OWNER", &["start", "--", "true"]),
        ("OWNED_TIMEOUT", &["start", "--", "true"]),
    ] {
        // `1` and more are lengths of time.
        let count = if name == "OWNED_TIMEOUT" { 2 } else { 4 };
        for text in texts.iter().take(count) {
            let output = home
                .command(words)
                .env(name, OsStr::from_bytes(text))
                .output();
            let output = output.expect("owned");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(125), "{name}={text:?}: {said}");
            assert!(said.contains(name), "{said}");
        }
    }
    home.nothing_is_left();
}

#[test]
fn a_grace_of_any_length() {
    let home = Home::new("grace");
    for grace in ["1e17", "1e19"] {
        let words = [
            "run",
            "--grace",
            grace,
            "--",
            "sh",
            "-c",
            "setsid sleep 1000 & exit 4",
        ];
        assert_eq!(home.say(&words).1, 4, "{grace}");
        let id = home.start_with(&["--grace", grace], "exec sleep 1000");
        assert_eq!(home.say(&["stop", &id]).1, 0);
    }
    home.nothing_is_left();
}

#[test]
fn a_reader_that_is_gone_wants_no_more() {
    let home = Home::new("readers");
    let id = home.start("while :; do echo x; sleep 0.05; done");
    for words in [&["logs", "-f", &id][..], &["logs", "-f", "--json", &id]] {
        let mut logs = home
            .command(words)
            .stdout(Stdio::piped())
            .spawn()
            .expect("owned");
        let mut lines = BufReader::new(logs.stdout.take().expect("a pipe")).lines();
        assert!(lines.next().is_some());
        drop(lines);
        let mut ended = || logs.try_wait().expect("a child").is_some();
        until("it ends although the task runs", &mut ended);
    }
    home.say(&["stop", &id]);
    home.nothing_is_left();
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let home = Home::new("full");
    for words in [&["list"][..], &["man"], &["completions", "bash"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = home.command(words).stdout(full.expect("a device")).output();
        let output = output.expect("owned");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{words:?}: {said}");
        assert!(said.contains("standard output"), "{said}");
    }
}

#[test]
fn a_task_that_is_named_twice_is_one() {
    let home = Home::new("twice");
    let (one, other) = (home.start("exit 3"), home.start("exit 0"));
    let (said, status) = home.say(&["wait", &one, &other, &one]);
    assert_eq!((said.lines().count(), status), (2, 1), "{said}");
    assert_eq!(home.say(&["stop", &one, &one]).0.lines().count(), 1);
    assert_eq!(home.say(&["forget", &one, &one]).1, 0);
}

#[test]
fn a_keeper_that_was_stopped_is_continued_to_stop_its_task() {
    let home = Home::new("stopped");
    let id = home.start("exec sleep 1000");
    kill(home.pid(&id, "keeper"), libc::SIGSTOP);
    let (said, status) = home.say(&["stop", &id]);
    assert!(status == 0 && said.contains("cancelled"), "{said}");
    home.nothing_is_left();
}

/// Whoever removes a task's folder, or all of them, takes nothing of it out of sight while it runs.
#[test]
fn a_folder_that_is_removed_comes_again() {
    let home = Home::new("removed");
    let text = "echo before; read x; echo after; read x; exit 5";
    let id = home.start_with(&["--stdin", "--name", "it"], text);
    until("it has spoken", || home.say(&["logs", &id]).0 == "before\n");
    let listed = || home.say(&["list", "--json", "--running"]).0.contains(&id);
    let (one, file) = (
        home.store().folder(&id),
        home.store().folder(&id).join("task.json"),
    );
    std::fs::remove_file(file).expect("a record");
    until("it is listed again", &listed);
    // One who removes a folder may find that it is filled meanwhile.
    until("it is gone", || std::fs::remove_dir_all(&one).is_ok());
    until("it is listed once more", &listed);
    until("it hears", || home.say(&["send", &id, "go"]).1 == 0);
    until("it has spoken again", || {
        home.say(&["logs", &id]).0.ends_with("after\n")
    });
    until("all is gone", || {
        std::fs::remove_dir_all(home.store().path()).is_ok()
    });
    until("it is listed for the third time", &listed);
    until("it hears again", || home.say(&["send", "it", "go"]).1 == 0);
    assert_eq!(home.say(&["wait", "it"]).1, 5);
    home.nothing_is_left();
    assert_eq!(home.state(&id), "failed");
    // Of an ended one nothing comes again.
    assert_eq!(home.say(&["forget", &id]).1, 0);
    assert_eq!(home.say(&["show", &id]).1, 125);
}

/// A user that no system gives anything to.
const NOBODY: u32 = 65534;

/// What cannot be ended is said, and stays listed until it is gone: here it belongs to another user.
#[test]
fn what_cannot_be_ended_stays_listed() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        println!("not run: only root can have two users here");
        return;
    }
    let home = Home::new("refused");
    let ours = |path: &std::path::Path| {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
    };
    ours(&home.folder);
    // What this program runs, it runs as root, whoever starts it.
    let root = home.folder.join("as-root");
    std::fs::copy("/usr/bin/setpriv", &root).expect("setpriv of util-linux");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    std::fs::set_permissions(&root, mode).expect("ours");
    let text = format!("{} --reuid 0 sleep 1000 & exec sleep 1000", root.display());
    let as_nobody = |words: &[&str]| {
        let mut command = home.command_of("setpriv");
        let user = NOBODY.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_owned")).args(words);
        let output = command.output().expect("setpriv");
        let said = [output.stdout, output.stderr].concat();
        (
            String::from_utf8_lossy(&said).into_owned(),
            output.status.code(),
        )
    };
    let owner = home.owner.id().to_string();
    let words = [
        "start", "--name", "it", "--owner", &owner, "--grace", "100ms",
    ];
    let (said, status) = as_nobody(&[&words[..], &["--", "/bin/sh", "-c", &text]].concat());
    assert_eq!(status, Some(0), "{said}");
    let user = |pid: &i32| {
        std::fs::metadata(format!("/proc/{pid}"))
            .map(|data| std::os::unix::fs::MetadataExt::uid(&data))
    };
    let of_root = || {
        home.living()
            .into_iter()
            .find(|pid| matches!(user(pid), Ok(0)) && crate::witness::runs(*pid, "sleep"))
    };
    until("root's process runs", || of_root().is_some());
    let left = of_root().expect("it runs");
    for _ in 0..2 {
        let (said, status) = as_nobody(&["stop", "it"]);
        assert_eq!(status, Some(1), "{said}");
        assert!(
            said.contains("lives on") && said.contains(&left.to_string()),
            "{said}"
        );
        let (said, _) = as_nobody(&["show", "--json", "it"]);
        let shown: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(
            (&shown["state"], &shown["left"]),
            (&"cancelled".into(), &serde_json::json!([left])),
            "{said}"
        );
        assert_eq!(
            as_nobody(&["forget", "it"]).1,
            Some(125),
            "what lives is not forgotten"
        );
    }
    kill(left, libc::SIGKILL);
    home.nothing_is_left();
    let (said, status) = as_nobody(&["stop", "it"]);
    assert_eq!(status, Some(0), "{said}");
}

/// A disk that is full before the task has ended takes none of its output, and still how it ended.
#[test]
fn a_full_disk() {
    let home = Home::new("disk");
    let text =
        "mount -t tmpfs -o size=256k none \"$XDG_STATE_HOME\" || exit 9; cd \"$XDG_STATE_HOME\"
        id=$($OWNED start --owner $$ -- sh -c 'head -c 1000000 /dev/zero; \
            for line in $(seq 100); do echo $line; done; exit 4')
        $OWNED wait $id; echo $?
        $OWNED start -- true; echo $?
        ls -A spawn-owned/tasks spawn-owned/tasks/$id | grep -c -e ^.new -e ^output";
    let owned = env!("CARGO_BIN_EXE_owned");
    let mounts = [&["--mount"][..], &["--user", "--map-root-user", "--mount"]];
    for way in mounts {
        let mut command = home.command_of("unshare");
        command
            .args(way)
            .args(["sh", "-c", text])
            .env("OWNED", owned);
        let output = command.output().expect("unshare");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.is_empty() {
            continue;
        }
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].contains("failed with status 4"), "{said}");
        assert_eq!(lines[1..3], ["4", "125"], "{said}");
        let files: usize = lines[3].parse().expect("a number");
        assert!(files < 6, "{said}");
        home.nothing_is_left();
        return;
    }
    println!("not run: this system does not permit mounts (unshare)");
    assert!(std::env::var("CI").is_err(), "unshare --mount is needed");
}

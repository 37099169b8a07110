//! `owned doctor`: what was left behind is found by proof, and only that is ended.

use std::process::Command;

use super::deaths::kill_both;
use super::{Home, supervisor};
use crate::below::words;
use crate::processes::below;
use crate::witness::{kill, lives, state, until};

#[test]
fn what_a_dead_owner_left_is_found_and_ended() {
    let home = Home::new("doctor");
    let look = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["doctor", "--json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let (text, _) = home.say(&arguments);
        serde_json::from_str::<Vec<serde_json::Value>>(&text).expect("JSON")
    };
    let of = |found: &[serde_json::Value], pid: i32| {
        found.iter().find(|orphan| orphan["pid"] == pid).cloned()
    };
    let snapshot = home.folder.join("snapshot");
    let snapshot = snapshot.to_str().expect("plain");
    assert_eq!(home.say(&["doctor", "--snapshot", snapshot]).1, 0);
    let declared = home.start_with(&["--persist", "the test of the doctor"], "exec sleep 1000");
    let declared_main = home.pid(&declared, "main");
    let text = "exec python3 -c \"import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(1000)\"";
    let id = home.start(text);
    until("it listens", || home.say(&["logs", &id]).0.ends_with('\n'));
    let port: u16 = home.say(&["logs", &id]).0.trim().parse().expect("a port");
    let (keeper, main) = (home.pid(&id, "keeper"), home.pid(&id, "main"));
    assert!(
        of(&look(&[]), main).is_none(),
        "what has its keeper is no orphan"
    );
    let guard = supervisor(keeper).expect("a supervisor");
    kill_both(keeper, guard);
    until("both are dead", || !lives(keeper) && !lives(guard));
    // A stranger that was orphaned: nobody here knows whose it is.
    let stranger = Command::new("/bin/sh")
        // detached-spawn: an orphan is what the test looks for, and it kills that one at its end
        .args(["-c", "setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'"])
        .output();
    let stranger = String::from_utf8(stranger.expect("sh").stdout).expect("text");
    let stranger: i32 = stranger.trim().parse().expect("a pid");
    let found = look(&[]);
    let ours = of(&found, main).expect("found");
    assert_eq!(
        (&ours["whose"], &ours["ports"]),
        (&"ours".into(), &serde_json::json!([port])),
        "{ours}"
    );
    assert_eq!(
        of(&found, declared_main).expect("found")["whose"],
        "declared"
    );
    assert_eq!(of(&found, stranger).expect("found")["whose"], "unknown");
    assert!(of(&look(&["--diff", snapshot]), main).is_some());
    let (_, status) = home.say(&["doctor", "--stop", "--grace", "200ms"]);
    assert_eq!(status, 0);
    assert!(!lives(main));
    assert!(
        lives(declared_main) && lives(stranger),
        "only what is provably ours is ended"
    );
    kill(stranger, libc::SIGKILL);
    assert_eq!(home.say(&["stop", &declared]).1, 0);
    home.nothing_is_left();
    let (rows, _) = home.say(&["ledger"]);
    assert!(rows.contains(&format!("task {id}")), "{rows}");
}

/// A foreground run is in the ledger, from its begin to its end; and what is left when front and keeper
/// are killed together is known to be its.
#[test]
fn a_foreground_run_is_recorded() {
    let home = Home::new("recorded");
    assert_eq!(home.say(&["run", "--", "/bin/sh", "-c", "exit 3"]).1, 3);
    let (rows, _) = home.say(&["ledger", "--json"]);
    let rows: Vec<serde_json::Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = rows.iter().filter_map(|row| row["kind"].as_str()).collect();
    assert_eq!(kinds, ["owner", "start", "end"]);
    assert_eq!(rows[1]["purpose"], "owned run");
    assert_eq!(rows[2]["how"], "exit status: 3");
    assert_eq!(rows[1]["child"], rows[2]["child"]);
    let mut run = home.command(&["run", "--", "/bin/sh", "-c", "setsid sleep 1000 & wait"]);
    let mut run = run.spawn().expect("owned");
    let front = run.id().cast_signed();
    let left = || {
        let sleeps = |pid: &i32| words(*pid).first().is_some_and(|word| word == "sleep");
        home.living().into_iter().find(sleeps)
    };
    until("it runs", || left().is_some());
    let left = left().expect("it runs");
    let keeper = below(front).into_iter().find(|one| one.parent == front);
    kill(front, libc::SIGSTOP);
    until("the front is stopped", || state(front) == Some('T'));
    let keeper = keeper.expect("a keeper").pid;
    kill(keeper, libc::SIGKILL);
    run.kill().expect("a child");
    run.wait().expect("a child");
    // Of an owner that still dies nothing is an orphan.
    let dead = || state(keeper).is_none_or(|state| state == 'Z');
    until("the keeper is dead", dead);
    let (found, status) = home.say(&["doctor", "--json"]);
    let found: Vec<serde_json::Value> = serde_json::from_str(&found).expect("JSON");
    let found = found.iter().find(|orphan| orphan["pid"] == left);
    assert_eq!(found.expect("found")["whose"], "ours");
    assert_eq!(status, 1);
    assert_eq!(home.say(&["doctor", "--stop", "--grace", "200ms"]).1, 0);
    home.nothing_is_left();
}

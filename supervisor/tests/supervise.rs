//! `owned supervise`: the native supervisor by its path, for a Rust program that is not its own, and for
//! one in another language.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::below::Reaper;
use crate::processes;
use crate::witness::{Witness, example, kill, lives, until};

const OWNED: &str = env!("CARGO_BIN_EXE_owned");

#[test]
fn a_builder_with_this_path_makes_a_native_owner() {
    let ledger = std::env::temp_dir().join(format!("owned-path-{}", std::process::id()));
    let path = ledger.to_string_lossy().into_owned();
    let mut witness = Witness::with(OWNED, &[("LEDGER", &path)]);
    let child = witness.number("spawn exec sleep 1000");
    let supervisor = witness.supervisor();
    // The owner never called `init`: another program serves it.
    let program = |pid: i32| std::fs::read_link(format!("/proc/{pid}/exe")).expect("a program");
    assert_eq!(program(supervisor), Path::new(OWNED));
    let owner = witness.owner.id().cast_signed();
    assert_eq!(program(owner), example("owner"));
    let rows = std::fs::read_to_string(&ledger).expect("a ledger");
    assert!(rows.contains("\"tier\":\"native\""), "{rows}");
    witness.kill();
    witness.until_only(&[]);
    until("the supervisor ends", || {
        !lives(supervisor) && !lives(child)
    });
    for end in ["", ".lock"] {
        let _ = std::fs::remove_file(format!("{path}{end}"));
    }
}

/// An owner in another language. It names two groups and hands one back; what it never named lives on,
/// and so does what the mark is not for. A fork that holds the lifeline open hides nothing.
const PYTHON: &str = r"
import os, signal, subprocess, sys
token = 'abcdefgh12345678'
order = [sys.argv[1], 'supervise', '--grace', '1', '--mark', token]
supervisor = subprocess.Popen(order, stdin=subprocess.PIPE, bufsize=0)
def sleeper(mark):
    environment = {**os.environ, 'SPAWN_OWNED': mark}
    return subprocess.Popen(['sleep', '1000'], process_group=0, env=environment).pid
def tell(verb, pid):
    with open(f'/proc/{pid}/stat') as stat:
        start = stat.read().rpartition(') ')[2].split()[19]
    supervisor.stdin.write(f'{verb} {pid} {start}\n'.encode())
named, back, other = [sleeper('') for each in range(3)]
marked = sleeper(f'{token}.1:')
kept = sleeper(f'{token}.2:')
tell('+', named)
tell('+', back)
tell('-', back)
supervisor.stdin.write(b'~ 2\nnonsense\n')
fork = os.fork()
if fork == 0:
    signal.pause()
print(named, marked, supervisor.pid, back, other, kept, fork, flush=True)
signal.pause()
";

#[test]
fn an_owner_in_another_language() {
    let mut reaper = Reaper::new(&["python3", "-c", PYTHON, OWNED], &[], None);
    let answer = reaper.answer();
    let numbers: Vec<i32> = answer
        .split(' ')
        .map(|number| number.parse().expect("numbers"))
        .collect();
    let (ended, spared) = numbers.split_at(3);
    // The supervisor stands when it has left the owner's session.
    reaper.until("a supervisor", |living| {
        let supervisor = living.iter().find(|one| one.pid == ended[2]);
        supervisor.is_some_and(|one| one.session == one.pid)
    });
    // What is for others is not for it.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        kill(ended[2], signal);
    }
    kill(reaper.program, libc::SIGKILL);
    reaper.until_only("what was named is gone", spared);
    reaper.spared(spared);
}

#[test]
fn an_owner_that_needs_nobody_any_more() {
    let sleeper = || Command::new("sleep").arg("1000").spawn().expect("sleep");
    let mut named = sleeper();
    let mut supervisor = Command::new(OWNED)
        .args(["supervise", "--grace", "0"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("owned");
    // A number that leads no group, as the child is in this one: it must not be signalled.
    let lines = format!("+ {} 0\n.\n", named.id());
    let mut line = supervisor.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut line, lines.as_bytes()).expect("a reader");
    // It goes although the lifeline is open.
    until("the supervisor goes", || {
        supervisor.try_wait().expect("a child").is_some()
    });
    assert!(supervisor.wait().expect("a child").success());
    assert!(processes::look(named.id().cast_signed()).is_some_and(|one| one.lives()));
    named.kill().expect("a child");
    named.wait().expect("a child");
}

#[test]
fn what_is_wrong_is_said_to_people() {
    let (ours, name) = crate::below::open_terminal();
    let terminal = File::open(name).expect("a terminal");
    let refused = [
        (
            Stdio::from(terminal),
            vec![],
            125,
            "standard input is a terminal",
        ),
        (
            Stdio::null(),
            vec!["--mark", "short"],
            125,
            "8 to 64 letters and digits",
        ),
        (
            Stdio::null(),
            vec!["--grace", "soon"],
            125,
            "no length of time",
        ),
    ];
    for (input, words, status, says) in refused {
        let mut command = Command::new(OWNED);
        let output = command.arg("supervise").args(words).stdin(input).output();
        let output = output.expect("owned");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(says), "{said}");
    }
    drop(ours);
    let help = Command::new(OWNED).args(["supervise", "--help"]).output();
    let help = String::from_utf8_lossy(&help.expect("owned").stdout).into_owned();
    let words = [
        "+ PID START",
        "- PID START",
        "= PID START NUMBER",
        "^ PID START",
        "~ NUMBER",
    ];
    for says in words.iter().chain(&["lifeline", "native(PATH)"]) {
        assert!(help.contains(says), "{help}");
    }
}

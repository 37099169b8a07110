//! Whom a supervisor signals, as the system sees it: nobody but those whom it was told of in whole lines,
//! whatever else stands on the lifeline.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use crate::processes;
use crate::trace::Traced;
use crate::witness::{Witness, lives, tiers, until_runs};

/// What is no line, with a number that must not be hit in the place of each `N`.
const NONSENSE: &[&str] = &[
    "",
    " ",
    "+",
    "-",
    "~",
    "^",
    "*",
    "+ ",
    "+ N",
    "+N 0",
    " + N 0",
    "+  N 0",
    "+ N  0",
    "+ N 0 ",
    "+ N 0 0",
    "+ N x",
    "+ N -1",
    "+ N +0",
    "+ N 0x0",
    "+ 0N 0",
    "+ -N 0",
    "+ +N 0",
    "+ N\t0",
    "+\tN 0",
    "+ N. 0",
    "+ N 00000000000000000000",
    "+ 0000000000000000000N 0",
    "++ N 0",
    "+ N;0 0",
    "+ $N 0",
    "+ `N` 0",
    "+ 'N' 0",
    "+ * 0",
    "+ ? 0",
    "+ 0 0",
    "+ 1 0",
    "+ -1 0",
    "+ - 0",
    "+ 99999999999999999999 0",
    "+ 4294967295 0",
    "+ 4294967296 0",
    "+ 2147483648 0",
    "~ N x",
    "~ -1",
    "- N",
    "+ N 0\r",
    "=",
    "= N 0",
    "= N 0 x",
    "= N 0 07",
    "= N 0 7 7",
    "= N 0 7 ",
    "= N  7",
];

/// A process that leads a group, is known to no supervisor, and ends with this value.
pub(crate) struct Bystander(Child);

impl Bystander {
    /// One with this mark, if any.
    pub(crate) fn with(mark: Option<(&str, &String)>) -> Self {
        let mut command = Command::new("/bin/sleep");
        command.arg("1000").env_remove("SPAWN_OWNED").envs(mark);
        // detached-spawn: whom only its own words may end, in a group of its own; ended with this value
        Self(command.process_group(0).spawn().expect("sleep"))
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    pub(crate) fn lives(&mut self) -> bool {
        self.0.try_wait().expect("a child").is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nobody_but_those_of_whole_lines_is_signalled() {
    for tier in tiers() {
        let mut bystander = Bystander::with(None);
        let number = bystander.pid().to_string();
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        let child = witness.number("program /bin/sleep 1000");
        until_runs(child, "sleep");
        let supervisor = witness.supervisor();
        say(supervisor, &number);
        // It has heard all of that when it has heard of another.
        let Some(traced) = Traced::seize(supervisor, false) else {
            return;
        };
        witness.order("kill");
        let mut targets = Vec::new();
        while let Some(call) = traced.next_call() {
            if call.number == libc::SYS_kill.cast_unsigned() {
                #[expect(clippy::cast_possible_truncation, reason = "as the kernel reads it")]
                targets.push(call.first as i32);
            }
        }
        witness.ended();
        witness.until_only(&[]);
        assert!(!lives(supervisor));
        let meant = |target: &i32| [-child, child].contains(target);
        assert!(targets.iter().all(meant), "{tier}: {targets:?}");
        assert!(bystander.lives(), "{tier}");
        println!(
            "{tier}: {} calls of kill, each with its target",
            targets.len()
        );
    }
}

/// The lifeline of a supervisor, to be written on.
pub(crate) fn lifeline(supervisor: i32) -> std::fs::File {
    let line = format!("/proc/{supervisor}/fd/3");
    let line = std::fs::OpenOptions::new().write(true).open(line);
    line.expect("its lifeline")
}

/// Writes nonsense on the lifeline, with the bystander's number, the numbers of the supervisor's own group
/// and of its owner's, and ends with a line that has no end.
fn say(supervisor: i32, bystander: &str) {
    let mut line = lifeline(supervisor);
    let of_the_owner = processes::look(std::process::id().cast_signed())
        .expect("this process")
        .group;
    for nonsense in NONSENSE {
        writeln!(line, "{}", nonsense.replace('N', bystander)).expect("it reads");
    }
    for group in [supervisor, of_the_owner] {
        writeln!(line, "+ {group} 0").expect("it reads");
    }
    let long = format!("+ {}{bystander} 0", " ".repeat(100_000));
    writeln!(line, "{long}").expect("it reads");
    write!(line, "+ {bystander} 0").expect("it reads");
}

//! Numbers of processes that are given again: a signal goes to the one who was meant, or to nobody.
//!
//! In a space of numbers of its own a test says which number is given next, and nobody is faster.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::suite::one_test;
use crate::witness::{DEADLINE, Witness, kill, lives, state, tiers, until, until_runs};

/// The number that was given last in this space. [pid_namespaces(7)](https://man7.org/linux/man-pages/man7/pid_namespaces.7.html)
const LAST: &str = "/proc/sys/kernel/ns_last_pid";

/// Whether this process is in a space of numbers made for the named test. Else runs the test in one, and
/// fails if it fails there.
pub(crate) fn in_a_space(name: &str) -> bool {
    if std::env::var("IN_A_SPACE").is_ok() {
        return true;
    }
    let Some(mut command) = into_a_space() else {
        return false;
    };
    let inside = one_test(name);
    command.arg(inside.get_program()).args(inside.get_args());
    command.env("IN_A_SPACE", "1").stdin(Stdio::null());
    let output = command.output().expect("unshare");
    let said = [output.stdout, output.stderr].concat();
    println!("{}", String::from_utf8_lossy(&said));
    assert!(output.status.success(), "{name} fails");
    false
}

/// What starts the program that its arguments end with as the first in a space of numbers; none where the
/// system permits none, which is said.
pub(crate) fn into_a_space() -> Option<Command> {
    let new = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let user = ["--user", "--map-root-user"];
    // Where that is not for everybody, it may be in a space of users.
    let ways = [new.to_vec(), [&user[..], &new[..]].concat()];
    let works = |way: &Vec<&str>| {
        let mut command = Command::new("unshare");
        let output = command.args(way).args(["test", "-w", LAST]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let Some(way) = ways.iter().find(|way| works(way)) else {
        println!("not run: this system permits no space of numbers (unshare)");
        assert!(std::env::var("CI").is_err(), "unshare --pid is needed");
        return None;
    };
    let mut command = Command::new("unshare");
    command.args(way);
    Some(command)
}

/// Lets the next numbers follow `number`.
pub(crate) fn give_numbers_from(number: i32) {
    std::fs::write(LAST, number.to_string()).expect("a space of our own");
}

/// A process that leads a group, has nothing to do with any owner, and must not be hit.
pub(crate) struct Stranger(Child);

impl Stranger {
    /// One that has this very number, which must be free.
    pub(crate) fn with_number(number: i32) -> Self {
        use std::os::unix::process::CommandExt as _;
        let end = Instant::now() + DEADLINE;
        loop {
            give_numbers_from(number - 1);
            let mut command = Command::new("/bin/sleep");
            // detached-spawn: a stranger with a group of its own, ended with its handle
            let stranger = Self(command.arg("1000").process_group(0).spawn().expect("sleep"));
            if stranger.number() == number {
                return stranger;
            }
            assert!(Instant::now() < end, "{number} could not be had");
        }
    }

    /// One with the number of a group that the supervisor of `witness` knows, and whose leader is dead
    /// and reaped.
    pub(crate) fn in_place_of_a_group(witness: &mut Witness) -> Self {
        let group = witness.number("plain exec sleep 1000");
        assert_eq!(witness.tell(&format!("adopt {group}")), "adopted");
        another_tick();
        kill(group, libc::SIGKILL);
        witness.tell(&format!("reap {group}"));
        Self::with_number(group)
    }

    fn number(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// Whether it has not been hit.
    pub(crate) fn lives(&mut self) -> bool {
        self.0.try_wait().expect("a child").is_none()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_number_that_was_given_again() {
    if !in_a_space("numbers::a_number_that_was_given_again") {
        return;
    }
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let mut stranger = Stranger::in_place_of_a_group(&mut witness);
        let group = stranger.number();
        assert!(witness.tell("status").contains(&format!("[{group}]")));
        let supervisor = witness.supervisor();
        witness.kill();
        until("the supervisor has done its work", || !lives(supervisor));
        assert!(stranger.lives(), "{tier}: a stranger was ended by number");
    }
}

/// What the owner itself does with a handle whose child's number means a stranger.
#[test]
fn a_handle_whose_number_was_given_again() {
    if !in_a_space("numbers::a_handle_whose_number_was_given_again") {
        return;
    }
    for tier in tiers() {
        for order in ["drop", "stop"] {
            let mut witness = Witness::new(&tier);
            let child = witness.number("spawn exit 0");
            witness.tell(&format!("wait {child}"));
            let mut stranger = Stranger::with_number(child);
            witness.tell(&format!("{order} {child}"));
            assert!(stranger.lives(), "{tier}: a stranger was ended by {order}");
            witness.kill();
            witness.until_only(&[]);
            assert!(
                stranger.lives(),
                "{tier}: a stranger was ended after {order}"
            );
        }
    }
}

/// The ledger's rows are data: numbers in them that mean somebody else license nothing.
#[test]
fn a_ledger_with_numbers_that_were_given_again() {
    if !in_a_space("numbers::a_ledger_with_numbers_that_were_given_again") {
        return;
    }
    let path = std::env::temp_dir().join(format!("owned-numbers-{}", std::process::id()));
    let path = path.to_str().expect("a plain path").to_owned();
    let tier = tiers()[0].clone();
    let mut witness = Witness::with(&tier, &[("LEDGER", &path)]);
    let child = witness.number("program /bin/sleep 1000");
    until_runs(child, "sleep");
    let (owner, supervisor) = (witness.owner.id().cast_signed(), witness.supervisor());
    another_tick();
    kill(supervisor, libc::SIGSTOP);
    witness.kill();
    for pid in [supervisor, child] {
        kill(pid, libc::SIGKILL);
        until("its number is free", || state(pid).is_none());
    }
    // Both the dead owner's number and its child's mean strangers.
    let mut strangers = [owner, child].map(Stranger::with_number);
    let mut other = Witness::with(&tier, &[("LEDGER", &path)]);
    let swept = other.tell("sweep");
    assert!(swept.contains("owners: 0, groups: 0, strays: 0"), "{swept}");
    assert!(
        strangers.iter_mut().all(Stranger::lives),
        "a stranger was swept"
    );
    drop(other);
    for suffix in ["", ".lock"] {
        std::fs::remove_file(format!("{path}{suffix}")).expect("ours");
    }
}

/// The number of a group stays its own while it has members: they are ended although nobody leads them.
#[test]
fn a_group_without_leader_is_ended() {
    if !in_a_space("numbers::a_group_without_leader_is_ended") {
        return;
    }
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("SPAWN_OWNED_SABOTAGE", "cookie")]);
        let owned = witness.number("spawn sleep 1000 & exit 0");
        witness.tell(&format!("wait {owned}"));
        let adopted = witness.number("plain sleep 1000 & exec sleep 1000");
        until("both have started", || witness.living().len() == 3);
        assert_eq!(witness.tell(&format!("adopt {adopted}")), "adopted");
        kill(adopted, libc::SIGKILL);
        witness.tell(&format!("reap {adopted}"));
        for leader in [owned, adopted] {
            assert!(state(leader).is_none(), "it is reaped");
            // Nobody else gets the number while the group has a member.
            give_numbers_from(leader - 1);
            let next = Command::new("/bin/sh").args(["-c", "echo $$"]).output();
            let next = String::from_utf8_lossy(&next.expect("a shell").stdout).into_owned();
            assert_ne!(next.trim(), leader.to_string());
        }
        until("what they left lives on", || witness.living().len() == 2);
        witness.kill();
        witness.until_only(&[]);
    }
}

/// Start times are counted in hundredths of a second: two processes of one are told apart by a descriptor
/// alone, and a number is given again so soon in a test only.
fn another_tick() {
    let start = Instant::now();
    until("another tick of the clock", || {
        start.elapsed() > Duration::from_millis(30)
    });
}

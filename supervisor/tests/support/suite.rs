//! The suite as a whole: after its last test no process of it may be left.
//!
//! Tests run beside each other, so none of them can tell what the others will leave. So before anything
//! else this program forks: the child runs the tests, and the parent is the reaper of all that is
//! orphaned below, supervisors and daemons too. When the tests are over it waits until it has no child
//! at all, which is the proof that nothing is left, and fails the suite if that takes too long.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::witness::{DEADLINE, describe, lives, pause};

/// Run by the loader before `main`, while there is one thread only.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = watch_over;

extern "C" fn watch_over() {
    // What tests start notes it in a folder that ends with the suite, not among what its user has started.
    let state = std::env::temp_dir().join(format!("owned-suite-{}", std::process::id()));
    // SAFETY: plain calls in a program with one thread.
    let tests = unsafe {
        std::env::set_var("XDG_STATE_HOME", &state);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        libc::fork()
    };
    match tests {
        // SAFETY: as above. Tests do not go on without anybody who looks after them.
        0 => unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        },
        1.. => reap(tests, &state),
        _ => std::process::abort(),
    }
}

/// Reaps until nothing is left, and ends with the status of the tests.
fn reap(tests: i32, state: &Path) -> ! {
    let mut status = 0;
    let mut end = None;
    loop {
        let mut how = 0;
        let flags = if end.is_some() { libc::WNOHANG } else { 0 };
        // SAFETY: a valid place for the answer.
        let who = unsafe { libc::waitpid(-1, &raw mut how, flags) };
        if who == tests {
            let code = libc::WEXITSTATUS(how);
            status = if libc::WIFEXITED(how) { code } else { 128 };
            end = Some(Instant::now() + patience());
        }
        if who < 0 && errno() == libc::ECHILD {
            break;
        }
        if who == 0 && end.is_some_and(|end| Instant::now() > end) {
            status = 101;
            end_what_is_left();
            break;
        }
        if who == 0 {
            pause();
        }
    }
    let _ = std::fs::remove_dir_all(state);
    // SAFETY: ends this process, which has not run what a program does before its end.
    unsafe { libc::_exit(status) }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// How long what is left may take to go.
fn patience() -> Duration {
    std::env::var("SUITE_PATIENCE").map_or(DEADLINE, |_| Duration::from_secs(1))
}

/// Names what is left, and ends it.
#[expect(clippy::print_stderr, reason = "the suite has no other way to say it")]
fn end_what_is_left() {
    let left: Vec<i32> = children().into_iter().filter(|pid| lives(*pid)).collect();
    eprintln!("left after the last test: {}", describe(&left));
    // SAFETY: signals to children of this process, which nobody else reaps.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } >= 0 {
        for pid in children() {
            crate::witness::kill(pid, libc::SIGKILL);
        }
        pause();
    }
}

/// The children of this process.
fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parent = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(stat.rsplit(") ").next()?.split(' ').nth(1)? == own)
    };
    pids.filter(|pid| parent(pid) == Some(true)).collect()
}

/// This very program, to run one test of it in another process.
pub(crate) fn one_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", name, "--nocapture"]);
    command
}

#[test]
#[ignore = "leaves a process behind on purpose: the next test runs it"]
fn a_process_is_left() {
    // detached-spawn: what the next test must find, ended by the suite
    let mut command = Command::new("setsid");
    command.args(["--fork", "sleep", "1000"]);
    assert!(command.status().expect("setsid").success());
}

#[test]
fn what_is_left_is_found() {
    let mut command = one_test("suite::a_process_is_left");
    let output = command
        .arg("--ignored")
        .env("SUITE_PATIENCE", "short")
        .output();
    let output = output.expect("this program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("left after the last test") && said.contains("sleep"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(101));
}

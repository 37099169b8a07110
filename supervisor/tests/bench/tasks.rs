//! What a task costs, beside pueue, whose tasks a daemon has: to start it, to start and wait for it, and the
//! memory of whoever keeps it.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::State;
use super::runs::{build_of, on_path, owned};

const ROUNDS: usize = 100;
/// `pueue wait` looks once in two seconds.
const SLOW_ROUNDS: usize = 3;
/// Tasks that run at once while memory is looked at.
const MANY: usize = 10;

/// Prints a row for each.
pub(crate) fn print(state: &State) {
    println!("a task of `true`, microseconds: p50, p99; started, then started and waited for");
    let pueue = Pueue::start(state);
    for owned in owned() {
        let name = format!("owned{}", build_of(&owned));
        let start = || start(state, &owned, &["/bin/true"]);
        row(
            &name,
            times(ROUNDS, || drop(start())),
            &times(ROUNDS, || {
                let id = start();
                let waited = state.command(&owned).args(["wait", &id]).output();
                assert!(waited.expect("owned").status.success());
            }),
        );
    }
    match &pueue {
        Ok(_) => row(
            "pueue",
            times(ROUNDS, || drop(add(state))),
            &times(SLOW_ROUNDS, || {
                let id = add(state);
                let waited = state
                    .enclosed("pueue")
                    .args(["wait", "--quiet", &id])
                    .status();
                assert!(waited.expect("pueue").success());
            }),
        ),
        Err(why) => println!("  pueue: left out, {why}"),
    }
    println!("memory of who keeps {MANY} tasks that sleep, PSS in KiB: alone, then for each task");
    for owned in owned() {
        let name = format!("keeper{}", build_of(&owned));
        memory(state, &name, &owned);
    }
    if let Ok(pueue) = &pueue {
        let pss = super::idle::field(pueue.daemon.id(), "smaps_rollup", "Pss:");
        println!("  {:32} {pss:9}   the daemon, for all of them", "pueued");
    }
}

fn row(name: &str, started: Vec<Duration>, waited: &[Duration]) {
    let (start, start_99) = super::figures(started);
    let (wait, wait_99) = super::figures(waited.to_vec());
    println!("  {name:32} {start:9.0} {start_99:9.0} {wait:12.0} {wait_99:9.0}");
}

fn times(rounds: usize, mut once: impl FnMut()) -> Vec<Duration> {
    once();
    let time = |_| {
        let start = Instant::now();
        once();
        start.elapsed()
    };
    (0..rounds).map(time).collect()
}

/// Starts a task of this process; its id.
fn start(state: &State, owned: &str, words: &[&str]) -> String {
    let own = std::process::id().to_string();
    let mut command = state.command(owned);
    command.args(["start", "--owner", &own, "--"]).args(words);
    let output = command.stderr(Stdio::null()).output().expect("owned");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// What keepers and their supervisors need: of one task, and of each of many.
fn memory(state: &State, name: &str, owned: &str) {
    let mut ids = Vec::new();
    let mut alone = (0, 0);
    while ids.len() < MANY {
        ids.push(start(state, owned, &["/bin/sleep", "1000"]));
        if ids.len() == 1 {
            alone = of_all(state, owned, &ids);
        }
    }
    let all = of_all(state, owned, &ids);
    let each = |sum: u64| sum / MANY as u64;
    println!("  {name:32} {:9} {:9}", alone.0, each(all.0));
    println!(
        "  {:32} {:9} {:9}",
        "  its supervisor",
        alone.1,
        each(all.1)
    );
    let stopped = state.command(owned).arg("stop").args(&ids).output();
    assert!(stopped.expect("owned").status.success());
}

/// The memory of the keepers of these tasks, and of their supervisors.
fn of_all(state: &State, owned: &str, ids: &[String]) -> (u64, u64) {
    let mut sums = (0, 0);
    for id in ids {
        let shown = state.command(owned).args(["show", "--json", id]).output();
        let shown = String::from_utf8(shown.expect("owned").stdout).expect("text");
        let task: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        let pid =
            |who: &str| u32::try_from(task[who]["pid"].as_u64().expect("a pid")).expect("a pid");
        let (keeper, main) = (pid("keeper"), pid("main"));
        let children = format!("/proc/{keeper}/task/{keeper}/children");
        let children = std::fs::read_to_string(children).expect("a keeper");
        let pss = |pid: u32| super::idle::field(pid, "smaps_rollup", "Pss:");
        sums.0 += pss(keeper);
        let pids = children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok());
        sums.1 += pids.filter(|pid| *pid != main).map(pss).sum::<u64>();
    }
    sums
}

/// A daemon of pueue, with folders of its own, that ends with this value.
struct Pueue {
    daemon: Child,
}

impl Pueue {
    /// Why not, if not.
    fn start(state: &State) -> Result<Self, String> {
        if on_path("pueued").and(on_path("pueue")).is_none() {
            return Err("as it is not on PATH (`cargo install pueue --locked`)".to_owned());
        }
        let mut command = state.enclosed("pueued");
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let pueue = Self {
            daemon: daemon.map_err(|error| format!("as it does not start ({error})"))?,
        };
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            let mut status = state.enclosed("pueue");
            let status = status.arg("status").output().expect("pueue");
            if status.status.success() {
                return Ok(pueue);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("as its daemon does not answer".to_owned())
    }
}

impl Drop for Pueue {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Adds a task that starts at once; its number.
fn add(state: &State) -> String {
    let mut command = state.enclosed("pueue");
    command.args(["add", "--print-task-id", "--immediate", "--", "/bin/true"]);
    let output = command.output().expect("pueue");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

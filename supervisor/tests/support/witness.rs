//! The witness: starts an owner, talks to it, and counts what lives.
//!
//! Everything that descends from an owner under test carries a variable of the witness, which nobody
//! takes out, in its environment; only supervisors do not. So survivors are found however they got
//! away. The witness waits for events with a deadline, and never for time to pass.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What tests wait at most: far more than anything takes, also on a busy machine, where a start of a
/// program may stand still for seconds.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Behind the name of a tier: its children are started through a launcher, and do not register themselves.
const LAUNCHER: &str = "+launcher";

/// The supervisors to be tested: those that this machine has. Children register themselves.
pub(crate) fn tiers() -> Vec<String> {
    let all = both_ways();
    // For a closer look at one of them.
    if std::env::var("TIER").is_ok() {
        return all;
    }
    let through_a_launcher = |tier: &String| tier.ends_with(LAUNCHER);
    all.into_iter()
        .filter(|tier| !through_a_launcher(tier))
        .collect()
}

/// The same, and each again with its launcher, which starts children where the system lets none register
/// itself.
pub(crate) fn both_ways() -> Vec<String> {
    let shells = ["/bin/dash", "/bin/bash", "/bin/busybox"];
    let present = shells.into_iter().filter(|path| Path::new(path).exists());
    let mut tiers: Vec<String> = present.map(str::to_owned).collect();
    if tiers.len() < 3 {
        println!("not run for every shell: this machine has {tiers:?} only");
        assert!(
            std::env::var("CI").is_err(),
            "dash, bash and busybox are needed"
        );
    }
    tiers.push(env!("CARGO_BIN_EXE_owned").to_owned());
    tiers.push("own".to_owned());
    let through_launchers = tiers.clone().into_iter();
    tiers.extend(through_launchers.map(|tier| tier + LAUNCHER));
    if let Ok(only) = std::env::var("TIER") {
        tiers.retain(|tier| tier.ends_with(&only));
    }
    tiers
}

/// The file of a tier, and what is turned off for it beside what is turned off anyway.
fn file_and_off(tier: &str) -> (&str, String) {
    let off = std::env::var("SPAWN_OWNED_SABOTAGE").unwrap_or_default();
    match tier.strip_suffix(LAUNCHER) {
        Some(file) => (file, off + ",direct"),
        None => (tier, off),
    }
}

/// Whether the tier is a shell.
pub(crate) fn is_shell(tier: &str) -> bool {
    let (file, _) = file_and_off(tier);
    !file.ends_with("own") && !file.ends_with("owned")
}

/// Whether children of the tier register themselves.
pub(crate) fn is_direct(tier: &str) -> bool {
    !tier.ends_with(LAUNCHER)
}

/// Where the examples of this package were built.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    own.parent()
        .and_then(Path::parent)
        .expect("a folder")
        .join("examples")
        .join(name)
}

/// An owner under test, and everything below it.
pub(crate) struct Witness {
    pub(crate) mark: String,
    pub(crate) owner: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Witness {
    /// Starts an owner with the given helper.
    pub(crate) fn new(tier: &str) -> Self {
        Self::with(tier, &[])
    }

    /// The same, with more in its environment.
    pub(crate) fn with(tier: &str, variables: &[(&str, &str)]) -> Self {
        Self::below(Command::new(example("owner")), tier, variables)
    }

    /// The same, started by another program: `command` ends with the owner's.
    pub(crate) fn below(mut command: Command, tier: &str, variables: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("WITNESS={}.{number};", std::process::id());
        let (name, value) = mark.split_once('=').expect("made so");
        let (file, off) = file_and_off(tier);
        command
            .arg(file)
            .env(name, value)
            .env("SPAWN_OWNED_SABOTAGE", off)
            .envs(variables.iter().copied());
        command
            .env("RUST_BACKTRACE", "0")
            .env_remove("SPAWN_OWNED")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if std::env::var("LOUD").is_err() {
            command.stderr(Stdio::null());
        }
        let mut owner = command
            .spawn()
            .expect("an owner (cargo test builds it as an example)");
        let orders = owner.stdin.take();
        let answers = BufReader::new(owner.stdout.take().expect("a pipe"));
        Self {
            mark,
            owner,
            orders,
            answers,
        }
    }

    /// Gives an order that is not answered.
    pub(crate) fn order(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("open");
        if let Err(error) = writeln!(orders, "{order}") {
            let ended = self.owner.wait();
            panic!("{order}: the owner does not read ({error}): {ended:?}");
        }
    }

    /// The owner's answer.
    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    /// Gives an order and returns the answer.
    pub(crate) fn tell(&mut self, order: &str) -> String {
        self.order(order);
        self.answer()
    }

    /// Gives an order that is answered with a number.
    pub(crate) fn number(&mut self, order: &str) -> i32 {
        let answer = self.tell(order);
        answer
            .parse()
            .unwrap_or_else(|_| panic!("{order}: {answer}"))
    }

    /// The supervisor's process, 0 if there is none.
    pub(crate) fn supervisor(&mut self) -> i32 {
        let status = self.tell("status");
        let first = status
            .split(' ')
            .next()
            .and_then(|first| first.parse().ok());
        first.unwrap_or_else(|| panic!("{status}"))
    }

    /// Kills the owner, as nothing can be done against, and reaps it.
    pub(crate) fn kill(&mut self) {
        self.owner.kill().expect("a child");
        self.owner.wait().expect("a child");
    }

    /// Waits for the owner's own end.
    pub(crate) fn ended(&mut self) {
        until("the owner ends", || {
            self.owner.try_wait().expect("a child").is_some()
        });
    }

    /// What lives and carries the mark, without the owner.
    pub(crate) fn living(&self) -> Vec<i32> {
        let owner = i32::try_from(self.owner.id()).expect("a pid");
        carrying(&self.mark)
            .into_iter()
            .filter(|pid| *pid != owner)
            .collect()
    }

    /// Waits until so many live and carry the mark, and gives them as they were then: one that becomes its
    /// program carries no mark for a moment, and another look would not find it.
    pub(crate) fn until_living(&self, count: usize) -> Vec<i32> {
        let mut living = Vec::new();
        until("so many live", || {
            living = self.living();
            living.len() == count
        });
        living
    }

    /// Waits until nothing lives but `but`.
    pub(crate) fn until_only(&self, but: &[i32]) {
        let mut but = but.to_vec();
        but.sort_unstable();
        let end = Instant::now() + patience();
        loop {
            let living = self.living();
            if living == but {
                return;
            }
            assert!(
                Instant::now() < end,
                "survivors: {}, wanted {but:?}",
                describe(&living)
            );
            pause();
        }
    }
}

impl Drop for Witness {
    /// Whatever a test left is ended, found by its mark: a test that failed leaves nothing either.
    fn drop(&mut self) {
        let _ = self.owner.kill();
        let _ = self.owner.wait();
        for _ in 0..100 {
            let living = self.living();
            if living.is_empty() {
                break;
            }
            for pid in living {
                kill(pid, libc::SIGKILL);
            }
        }
    }
}

/// How long survivors may take to go: less where a mechanism is turned off, and they will not.
fn patience() -> Duration {
    let seconds = std::env::var("PATIENCE").ok();
    seconds.map_or(DEADLINE, |text| {
        Duration::from_secs(text.parse().expect("seconds"))
    })
}

/// Looks again until it is so, and fails after a deadline.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !so() {
        assert!(Instant::now() < end, "not in time: {what}");
        pause();
    }
}

/// A moment for others: events of processes that are not ours can only be looked for.
pub(crate) fn pause() {
    // SAFETY: no descriptor is passed.
    unsafe { libc::poll(std::ptr::null_mut(), 0, 3) };
}

/// Sends a signal to one process, found by its mark right before.
pub(crate) fn kill(pid: i32, signal: i32) {
    assert!(pid > 1);
    // SAFETY: one process, by number.
    unsafe { libc::kill(pid, signal) };
}

/// Whether the long counts are to be run.
pub(crate) fn check_all() -> bool {
    std::env::var("CHECK_ALL").is_ok()
}

/// The one by default, the other in a long run.
pub(crate) fn count<T>(usual: T, all: T) -> T {
    if check_all() { all } else { usual }
}

/// Lets the signals of a terminal end what is started from now on: whoever started the tests may ignore them,
/// as nohup does, and a shell for what it runs in the background.
pub(crate) fn heed_the_terminal() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the default of a signal that nobody here handles.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Processes that have not ended and carry `mark` in their environment, in ascending order.
pub(crate) fn carrying(mark: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let mut pids: Vec<i32> = pids
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .windows(mark.len())
                .any(|part| part == mark.as_bytes())
                && lives(*pid)
        })
        .collect();
    pids.sort_unstable();
    pids
}

/// Whether a process is there and has not ended.
pub(crate) fn lives(pid: i32) -> bool {
    state(pid).is_some_and(|state| state != 'Z' && state != 'X')
}

/// Whether a process has become this program: a launcher, or a fork of a shell, has not yet.
pub(crate) fn runs(pid: i32, program: &str) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split('\0')
        .next()
        .is_some_and(|name| name.ends_with(program))
}

/// Waits until a launcher has become its program: one that has not starts nothing for a dead owner.
pub(crate) fn until_runs(pid: i32, program: &str) {
    until("the program runs", || runs(pid, program));
}

/// The letter of a process's state.
pub(crate) fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

/// Processes with their command lines, for people.
pub(crate) fn describe(pids: &[i32]) -> String {
    let of = |pid: &i32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("{pid} `{}`", line.replace('\0', " "))
    };
    pids.iter().map(of).collect::<Vec<_>>().join(", ")
}

//! The test's side of the reaper: what lives below it, and what was expected to.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::FromRawFd as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::processes::{self, Process};
use crate::witness::{DEADLINE, example, pause};

/// What is awaited here takes several starts of programs, of Python too: on a machine that is starved each
/// of them has taken half a minute.
const LONG: Duration = Duration::from_secs(5 * DEADLINE.as_secs());

/// A reaper, the program that it started, and a bystander that nobody is to end.
pub(crate) struct Reaper {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    bystander: i32,
    /// The program: the leader of a session and a group.
    pub(crate) program: i32,
}

impl Reaper {
    /// Starts `words` below a reaper; at the terminal with this path, if there is one.
    pub(crate) fn new(words: &[&str], variables: &[(&str, &str)], terminal: Option<&str>) -> Self {
        let mut command = Command::new(example("reaper"));
        command.args(terminal.iter().flat_map(|path| ["--terminal", path]));
        command.args(words).env("PATH", path());
        command.envs(variables.iter().copied());
        command.env_remove("SPAWN_OWNED").env_remove("OWNED_OWNER");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if std::env::var("LOUD").is_err() {
            command.stderr(Stdio::null());
        }
        let mut reaper = command
            .spawn()
            .expect("a reaper (cargo test builds it as an example)");
        let mut started = Self {
            orders: reaper.stdin.take(),
            answers: BufReader::new(reaper.stdout.take().expect("a pipe")),
            process: reaper,
            bystander: 0,
            program: 0,
        };
        let line = started.answer();
        let mut numbers = line
            .split(' ')
            .map(|number| number.parse().expect("numbers"));
        started.bystander = numbers.next().expect("a bystander");
        started.program = numbers.next().expect("a program");
        started
    }

    /// The reaper's own number: the parent of what lost its own.
    pub(crate) fn pid(&self) -> i32 {
        self.process.id().cast_signed()
    }

    /// The program's next line.
    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    /// Gives the program an order.
    pub(crate) fn order(&mut self, order: &str) {
        let orders = self.orders.as_mut().expect("open");
        writeln!(orders, "{order}").expect("a program that reads");
    }

    /// Gives the program an order, and returns its answer.
    pub(crate) fn tell(&mut self, order: &str) -> String {
        self.order(order);
        self.answer()
    }

    /// What lives below the reaper, without the bystander.
    pub(crate) fn living(&self) -> Vec<Process> {
        let mut living = processes::below(self.pid());
        living.retain(|one| one.pid != self.bystander);
        living
    }

    /// Looks again until it is so, twice in a row: what loses its parent while it is looked for is
    /// missed once.
    pub(crate) fn until(&self, what: &str, so: impl Fn(&[Process]) -> bool) -> Vec<Process> {
        let end = Instant::now() + LONG;
        let mut before = false;
        loop {
            let living = self.living();
            let now = so(&living);
            if now && before {
                return living;
            }
            before = now;
            assert!(
                Instant::now() < end,
                "not in time: {what}; there are\n{}",
                describe(&living)
            );
            pause();
        }
    }

    /// Waits until nothing is left but `but`, and sees that the bystander lives.
    pub(crate) fn until_only(&self, what: &str, but: &[i32]) {
        self.until(what, |living| {
            living.iter().all(|one| but.contains(&one.pid))
        });
        self.spared(but);
    }

    /// Sees that the bystander lives, and what else was not to be ended.
    pub(crate) fn spared(&self, others: &[i32]) {
        for pid in others.iter().chain([&self.bystander]) {
            let lives = processes::look(*pid).is_some_and(|one| one.lives());
            assert!(lives, "process {pid} was not to be ended");
        }
    }
}

impl Drop for Reaper {
    /// The reaper ends everything when the test lets it go.
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}

/// Where programs are looked up: `owned`, and the Python that `python3` comes to, since what stands under
/// that name may be a script which takes its time to find it.
fn path() -> &'static OsStr {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let where_it_is = ["-c", "import sys; print(sys.executable)"];
        let python = Command::new("python3").args(where_it_is).output();
        let python = String::from_utf8(python.expect("python3").stdout).expect("a path");
        let folder = |file: &str| Path::new(file).parent().map(Path::to_owned);
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let first = [folder(env!("CARGO_BIN_EXE_owned")), folder(&python)];
        let all = first
            .into_iter()
            .flatten()
            .chain(std::env::split_paths(&usual));
        std::env::join_paths(all).expect("folders without colons")
    })
}

/// A terminal: our end, and the path of the other.
pub(crate) fn open_terminal() -> (File, String) {
    // SAFETY: opens a descriptor that nothing else knows, asks for its name and reads it at once.
    unsafe {
        let ours = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(ours >= 0 && libc::grantpt(ours) == 0 && libc::unlockpt(ours) == 0);
        let mut name = [0; 64];
        assert_eq!(libc::ptsname_r(ours, name.as_mut_ptr(), name.len()), 0);
        let name = std::ffi::CStr::from_ptr(name.as_ptr());
        let name = name.to_string_lossy().into_owned();
        (File::from_raw_fd(ours), name)
    }
}

/// The words that a process was started with.
pub(crate) fn words(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let words = line.split_terminator('\0').map(str::to_owned);
    words.collect()
}

/// Whether a process ignores a signal.
pub(crate) fn ignores(pid: i32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let set = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:\t"));
    let set = set.and_then(|set| u64::from_str_radix(set, 16).ok());
    set.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

fn describe(processes: &[Process]) -> String {
    let line = |one: &Process| format!("{one:?} `{}`", words(one.pid).join(" "));
    processes.iter().map(line).collect::<Vec<_>>().join("\n")
}

//! Tasks in the background, through the command and through the library: real processes, real kills.

mod adoption;
mod completion;
mod deaths;
mod doctor;
mod lifecycle;
mod notices;
mod oddities;
mod output;
mod owners;
mod soak;
mod terminals;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use spawn_owned::Owner;
use spawn_owned::tasks::{Store, Tasks};

use crate::witness::{carrying, heed_the_terminal, kill, lives, until};

/// A state folder of the test's own, a mark that everything below carries, and an owner for tasks: all
/// gone at the end.
pub(crate) struct Home {
    folder: PathBuf,
    mark: String,
    pub(crate) owner: Child,
}

impl Home {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let folder = std::env::temp_dir().join(format!("owned-tasks-{name}-{own}-{number}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mark = format!("WITNESS={own}.task-{name}-{number};");
        Self {
            folder,
            mark,
            owner: sleeper(),
        }
    }

    /// `owned` with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_of(env!("CARGO_BIN_EXE_owned"));
        command.args(arguments);
        command
    }

    /// Another program, in the same surroundings.
    pub(crate) fn command_of(&self, program: &str) -> Command {
        heed_the_terminal();
        let (variable, value) = self.mark.split_once('=').expect("made so");
        let mut command = Command::new(program);
        command
            .env(variable, value)
            .env("XDG_STATE_HOME", &self.folder)
            .env_remove("SPAWN_OWNED")
            .env_remove("OWNED_OWNER")
            .env_remove("OWNED_TIMEOUT")
            .stdin(Stdio::null());
        command
    }

    /// Runs `owned` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("owned")
    }

    /// What `owned` prints, and its status.
    pub(crate) fn say(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() == Some(125) {
            println!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        (text, output.status.code().expect("no signal"))
    }

    /// Starts a shell's text as a task of the test's owner; its id.
    pub(crate) fn start(&self, text: &str) -> String {
        self.start_with(&[], text)
    }

    pub(crate) fn start_with(&self, options: &[&str], text: &str) -> String {
        let owner = self.owner.id().to_string();
        let mut arguments = vec!["start"];
        if !options.contains(&"--persist") {
            arguments.extend(["--owner", &owner]);
        }
        arguments.extend(options);
        arguments.extend(["--", "/bin/sh", "-c", text]);
        let output = self.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// All that is known of a task.
    pub(crate) fn show(&self, task: &str) -> Value {
        let (text, status) = self.say(&["show", "--json", task]);
        assert_eq!(status, 0, "{text}");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(crate) fn state(&self, task: &str) -> String {
        self.show(task)["state"]
            .as_str()
            .expect("a state")
            .to_owned()
    }

    /// How it stands with the notice of a task's end.
    pub(crate) fn notice(&self, task: &str) -> String {
        self.show(task)["notice"]
            .as_str()
            .expect("a text")
            .to_owned()
    }

    pub(crate) fn pid(&self, task: &str, who: &str) -> i32 {
        let pid = self.show(task)[who]["pid"].as_i64().expect("a number");
        i32::try_from(pid).expect("a pid")
    }

    /// What of the test's tasks lives, with their keepers.
    pub(crate) fn living(&self) -> Vec<i32> {
        carrying(&self.mark)
    }

    pub(crate) fn nothing_is_left(&self) {
        until("nothing is left", || self.living().is_empty());
    }

    pub(crate) fn store(&self) -> Store {
        Store::at(self.folder.join("spawn-owned/tasks")).expect("a store")
    }

    /// This process as the owner of tasks, without `init`.
    pub(crate) fn tasks(&self) -> Tasks {
        let owner = Owner::builder()
            .no_ledger()
            .native(env!("CARGO_BIN_EXE_owned"))
            .build();
        Tasks::of(&owner.expect("an owner"))
            .store(self.store())
            .build()
            .expect("tasks")
    }

    /// A shell's text for the library, which inherits no mark from this process.
    pub(crate) fn shell(&self, text: &str) -> spawn_owned::Command {
        let (variable, value) = self.mark.split_once('=').expect("made so");
        let mut command = spawn_owned::Command::new("/bin/sh");
        command
            .args(["-c", text])
            .env(variable, value)
            .env("XDG_STATE_HOME", &self.folder);
        command
    }

    /// Ends the owner, as nothing can be done against.
    pub(crate) fn kill_owner(&mut self) {
        self.owner.kill().expect("a child");
        self.owner.wait().expect("a child");
    }
}

/// A process to own tasks.
pub(crate) fn sleeper() -> Child {
    Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .expect("sleep")
}

impl Drop for Home {
    /// A test that failed leaves nothing either.
    fn drop(&mut self) {
        let _ = self.owner.kill();
        let _ = self.owner.wait();
        for _ in 0..1000 {
            let living = self.living();
            if living.is_empty() {
                break;
            }
            for pid in living {
                kill(pid, libc::SIGKILL);
            }
            crate::witness::pause();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The parent of a process.
pub(crate) fn parent(pid: i32) -> i32 {
    stat(pid, 1)
}

/// The process group of a process.
pub(crate) fn group(pid: i32) -> i32 {
    stat(pid, 2)
}

fn stat(pid: i32, field: usize) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit(") ").next().unwrap_or_default().to_owned();
    let field = rest.split(' ').nth(field);
    field.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The supervisor of a keeper: its child that carries no mark.
pub(crate) fn supervisor(keeper: i32) -> Option<i32> {
    let entries = std::fs::read_dir("/proc").expect("proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let is = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        parent(*pid) == keeper && line.starts_with(b"spawn-owned\0supervise\0")
    };
    pids.into_iter().filter(|pid| lives(*pid)).find(is)
}

//! The live fixtures, run: of each mechanism the bad program leaves a survivor of the kill that its rule
//! names, its plain twin dies of that kill, and the good one, which is owned, leaves nothing.
//!
//! The spawner is a shell that leads a session and a group and runs the fixture in it, so that a program
//! which leaves by itself can. Each fixture comes to one `sleep 1000`; where that stands is looked at
//! before the kill. A bystander lives through every kill.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::below::{Reaper, ignores, open_terminal, words};
use crate::processes::{self, Process};
use crate::witness::{example, kill};

/// The kill that a rule names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kill {
    /// `SIGKILL` to the spawner's process group.
    Group,
    /// The spawner's terminal is closed.
    Hangup,
    /// `SIGKILL` to the spawner and everything that descends from it.
    Descent,
}

/// Mechanisms that are run, and their kill.
const RUN: &[(&str, Kill)] = &[
    ("new-session", Kill::Group),
    ("new-group", Kill::Group),
    ("preexec-detach", Kill::Group),
    ("self-detach", Kill::Group),
    ("raw-detach", Kill::Group),
    ("daemonize", Kill::Group),
    ("lib-detach", Kill::Group),
    ("shell-setsid", Kill::Group),
    ("shell-new-group", Kill::Group),
    ("shell-daemon", Kill::Group),
    ("shell-service", Kill::Group),
    ("pty-spawn", Kill::Group),
    ("hup-ignore", Kill::Hangup),
    ("shell-nohup", Kill::Hangup),
    ("fork-orphan", Kill::Descent),
    ("opener", Kill::Group),
    ("shell-timeout", Kill::Group),
    ("shell-background", Kill::Group),
];

/// Silent by default, because its bad program dies of the kill as well.
const HARMLESS: &str = "shell-background";

/// Mechanisms that cannot be run here, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("win-detach", "its flags mean something on Windows only"),
    ("shell-remote", "its command runs on another machine"),
];

/// Programs that a fixture needs and a machine may not have.
const NEEDED: &[(&str, &str)] = &[("shell-service", "tmux")];

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/live");

/// One fixture: its words, and its form.
#[derive(Debug)]
struct Fixture {
    mechanism: &'static str,
    kill: Kill,
    form: &'static str,
    words: Vec<String>,
}

/// The fixtures of a form: one or two for each mechanism.
fn fixtures(form: &'static str) -> Vec<Fixture> {
    let mut found = Vec::new();
    for &(mechanism, kill) in RUN {
        let before = found.len();
        let needed = NEEDED.iter().find(|(id, _)| *id == mechanism);
        if let Some((_, tool)) = needed.filter(|(_, tool)| !is_present(tool)) {
            println!("not run: {tool} missing, for {mechanism}");
            assert!(std::env::var("CI").is_err(), "{tool} is needed");
            continue;
        }
        let python = format!("{FOLDER}/{mechanism}/{form}.py");
        let rust = format!("{FOLDER}/{mechanism}/{form}.rs");
        let program = example("live").to_string_lossy().into_owned();
        let both = [
            (rust, vec![program, mechanism.to_owned(), form.to_owned()]),
            (python.clone(), vec!["python3".to_owned(), python]),
        ];
        let present = both
            .into_iter()
            .filter(|(path, _)| Path::new(path).exists());
        found.extend(present.map(|(_, words)| Fixture {
            mechanism,
            kill,
            form,
            words,
        }));
        assert!(found.len() > before, "no {form} program for {mechanism}");
    }
    found
}

/// Whether a program is in the path.
fn is_present(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).exists())
}

/// A fixture at work, all of it in place.
struct Scene {
    reaper: Reaper,
    /// Our end of its terminal: closed, it is hung up.
    terminal: Option<File>,
    spawner: i32,
    /// What the fixture comes to.
    sleeper: i32,
    /// Dropped last, when nobody writes there any more.
    _folder: Folder,
}

impl Scene {
    fn new(fixture: &Fixture) -> Self {
        let folder = Folder::new();
        let place = folder.0.to_string_lossy().into_owned();
        let variables = [
            ("XDG_STATE_HOME", place.as_str()),
            ("TMUX_TMPDIR", &place),
            ("SHELL", "/bin/sh"),
        ];
        let (terminal, name) = match fixture.kill {
            Kill::Hangup => Some(open_terminal()).unzip(),
            Kill::Group | Kill::Descent => (None, None),
        };
        let mut words = vec!["sh", "-c", "\"$@\"; exit", "sh"];
        words.extend(fixture.words.iter().map(String::as_str));
        let reaper = Reaper::new(&words, &variables, name.as_deref());
        let spawner = reaper.program;
        let what = format!("{fixture:?} is in place");
        let living = reaper.until(&what, |living| {
            let mut sleepers = living.iter().filter(|one| is_sleeper(one.pid));
            let first = sleepers.next();
            first.is_some_and(|one| stands(fixture, one, spawner, &reaper))
                && sleepers.next().is_none()
        });
        let sleeper = living.iter().find(|one| is_sleeper(one.pid));
        Self {
            sleeper: sleeper.expect("looked at").pid,
            reaper,
            terminal,
            spawner,
            _folder: folder,
        }
    }

    /// The kill. Returns when nothing of the spawner's group is left but what is proof against it.
    fn kill(&mut self, how: Kill) {
        match how {
            // SAFETY: the group of a leader that lives, which is the reaper's to reap.
            Kill::Group => assert_eq!(unsafe { libc::kill(-self.spawner, libc::SIGKILL) }, 0),
            Kill::Hangup => drop(self.terminal.take()),
            Kill::Descent => {
                for one in processes::below(self.spawner) {
                    kill(one.pid, libc::SIGKILL);
                }
                kill(self.spawner, libc::SIGKILL);
            }
        }
        let whole = how == Kill::Group;
        self.reaper.until("the spawner has ended", |living| {
            let of_it =
                |one: &Process| one.pid == self.spawner || whole && one.group == self.spawner;
            !living.iter().any(of_it)
        });
    }
}

/// A folder for what a fixture writes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("owned-live-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a process is what each fixture comes to.
fn is_sleeper(pid: i32) -> bool {
    let words = words(pid);
    words.len() == 2 && words[0].ends_with("sleep") && words[1] == "1000"
}

/// Whether the sleeper stands where its form puts it.
fn stands(fixture: &Fixture, sleeper: &Process, spawner: i32, reaper: &Reaper) -> bool {
    let in_group = sleeper.group == spawner;
    let proof = ignores(sleeper.pid, libc::SIGHUP);
    let lost = sleeper.parent == reaper.pid();
    match (fixture.form, fixture.kill) {
        ("bad", _) if fixture.mechanism == HARMLESS => in_group && lost,
        ("bad", Kill::Hangup) => in_group && proof,
        ("bad", Kill::Descent) => in_group && lost,
        ("plain", Kill::Group) if fixture.mechanism == "pty-spawn" => !in_group && !proof,
        ("plain", _) => in_group && !lost && !proof,
        // The bad one has left the group, and so has what is owned: the kill alone would not end it.
        _ => !in_group,
    }
}

#[test]
fn bad_ones_leave_a_survivor() {
    for fixture in fixtures("bad") {
        let mut scene = Scene::new(&fixture);
        scene.kill(fixture.kill);
        if fixture.mechanism == HARMLESS {
            scene.reaper.until_only("it dies too", &[]);
            println!("live: {} leaves nothing", fixture.mechanism);
            continue;
        }
        let survivors = scene.reaper.living();
        scene.reaper.spared(&[scene.sleeper]);
        println!("live: {} leaves {}", fixture.mechanism, survivors.len());
        assert!(
            survivors.iter().any(|one| one.pid == scene.sleeper),
            "{fixture:?} leaves no survivor"
        );
    }
}

#[test]
fn their_plain_twins_die() {
    for fixture in fixtures("plain") {
        let mut scene = Scene::new(&fixture);
        scene.kill(fixture.kill);
        let what = format!("{fixture:?} dies");
        scene.reaper.until_only(&what, &[]);
    }
}

#[test]
fn owned_ones_leave_nothing() {
    for fixture in fixtures("good") {
        let mut scene = Scene::new(&fixture);
        scene.kill(fixture.kill);
        let what = format!("{fixture:?} leaves nothing");
        scene.reaper.until_only(&what, &[]);
    }
}

/// The rules of the linter are those of the README, which a test of the linter holds to be so.
#[test]
fn every_mechanism_is_run_or_has_a_reason() {
    let readme = include_str!("../../README.md");
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter(|row| {
        ["| deny |", "| warn |", "| allow |"]
            .iter()
            .any(|level| row.contains(level))
    });
    let mut rules: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let run = RUN.iter().map(|(id, _)| *id);
    let mut told: Vec<&str> = run.chain(NOT_RUN.iter().map(|(id, _)| *id)).collect();
    rules.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, rules, "the mechanisms of the README, each once");
    let entries = std::fs::read_dir(FOLDER).expect("fixtures/live");
    let mut folders: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    folders.sort_unstable();
    let mut run: Vec<&str> = RUN.iter().map(|(id, _)| *id).collect();
    run.sort_unstable();
    assert_eq!(folders, run, "each mechanism that is run has its folder");
    for (id, why) in NOT_RUN {
        println!("live: {id} is not run: {why}");
    }
}

//! Ways to get away from an owner: what each level ends, and what it does not.
//!
//! Everything is counted below a child subreaper, which nothing leaves. Each way is first shown to work
//! where nobody owns anything. The table that comes out is the one of the crate's README:
//! `UPDATE=1 cargo test -p spawn-owned escapes` writes it there.

use std::fmt::Write as _;

use crate::below::{Reaper, words};
use crate::processes::{self, Process};
use crate::witness::{example, kill};

/// A way to get away.
struct Way {
    name: &'static str,
    /// A shell's text. What is to get away has `1000` as its last word.
    text: &'static str,
    /// Whether it leaves the session.
    leaves: bool,
    /// What else it is when it is in place.
    settled: fn(&Process) -> bool,
}

/// Its parent, a shell, has ended.
const LOST: fn(&Process) -> bool = |one| name(one.parent) != "sh";
/// It has become its program.
const SLEEPS: fn(&Process) -> bool = |one| name(one.pid) == "sleep";

/// It has another number before anybody has looked twice.
const FORKS: &str = "daemon that forks for ever";
/// Its owner is one that may not read everything.
const UNREADABLE: &str = "left its session, and may not be read";
/// Started by [`spawn_owned::spawn_detached`], not by a shell: it is to live on.
const DECLARED: &str = "`spawn_detached`";

const WAYS: &[Way] = &[
    Way {
        name: "a child",
        text: "sleep 1000; exit",
        leaves: false,
        settled: SLEEPS,
    },
    Way {
        name: "a child whose leader has ended",
        text: "sleep 1000 & exit",
        leaves: false,
        settled: LOST,
    },
    Way {
        name: "ignores SIGTERM and SIGHUP",
        text: "trap '' TERM HUP; sleep 1000; exit",
        leaves: false,
        settled: SLEEPS,
    },
    Way {
        name: "is stopped",
        // The system itself hangs up what is stopped when a session loses its leader.
        text: "trap '' HUP; sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; wait",
        leaves: false,
        settled: |one| one.state == 'T',
    },
    Way {
        name: "is traced",
        text: "python3 -c 'import ctypes, os, signal; os.fork() or (ctypes.CDLL(None).ptrace(0, 0, 0, 0), \
               os.execvp(\"sleep\", [\"sleep\", \"1000\"])); signal.pause()'; exit",
        leaves: false,
        settled: |one| one.state == 't',
    },
    Way {
        name: "cleared its environment",
        text: "env -i sleep 1000; exit",
        leaves: false,
        settled: SLEEPS,
    },
    Way {
        name: "left its group",
        text: "timeout 2000 sleep 1000; exit",
        leaves: false,
        settled: |one| name(one.group) == "timeout",
    },
    Way {
        name: "left its session",
        text: "setsid sleep 1000; exit",
        leaves: true,
        settled: SLEEPS,
    },
    Way {
        name: "daemon (session, double fork)",
        text: "setsid sh -c 'sleep 1000 & exit'; exec tail -f /dev/null",
        leaves: true,
        settled: LOST,
    },
    Way {
        name: FORKS,
        text: "setsid python3 -c 'import os, time; any(os.fork() and os._exit(0) or time.sleep(0.02) \
               for hop in iter(int, 1))' 1000; exec tail -f /dev/null",
        leaves: true,
        settled: |one| one.session != one.pid,
    },
    Way {
        name: "another user's, left its session",
        text: "setsid setpriv --reuid 65534 --clear-groups sleep 1000; exit",
        leaves: true,
        settled: SLEEPS,
    },
    Way {
        name: "left its session, and dropped the mark",
        text: "setsid env -u SPAWN_OWNED sleep 1000; exit",
        leaves: true,
        settled: SLEEPS,
    },
    Way {
        name: "left its session, and cleared its environment",
        text: "setsid env -i sleep 1000; exit",
        leaves: true,
        settled: SLEEPS,
    },
    Way {
        name: UNREADABLE,
        text: "setsid python3 -c 'import ctypes, signal; call = ctypes.CDLL(None).prctl; call(4, 0); \
               call(15, b\"unreadable\"); signal.pause()' 1000; exit",
        leaves: true,
        settled: |one| comm(one.pid) == "unreadable",
    },
    Way {
        name: "daemon without environment and descriptors",
        text: "setsid env -i sh -c 'sleep 1000 <&- >&- 2>&- & exit'; exec tail -f /dev/null",
        leaves: true,
        settled: |one| LOST(one) && SLEEPS(one),
    },
    Way {
        name: DECLARED,
        text: "exec sleep 1000",
        leaves: true,
        settled: SLEEPS,
    },
];

/// Ways that only root can go.
const ROOTS: &[&str] = &["another user's, left its session"];

/// What an owner is, one for each column.
const LEVELS: [&str; 4] = [
    "nobody",
    "/bin/sh",
    env!("CARGO_BIN_EXE_owned"),
    "owned run",
];

/// Starts an owner of this level, whose number is that of the reaper's program: for `owned run` that
/// runs a program which owns nothing itself.
fn owner(level: &str, readable: bool) -> Reaper {
    let owner = example("owner").to_string_lossy().into_owned();
    let mut line = Vec::new();
    if !readable && is_root() {
        // Root may read everything. As others have it, so it is for this one.
        line.extend(["setpriv", "--bounding-set=-all"]);
    }
    if level == "owned run" {
        line.extend([env!("CARGO_BIN_EXE_owned"), "run", "--grace", "1", "--"]);
    }
    let helper = if level.starts_with('/') {
        level
    } else {
        "/bin/sh"
    };
    line.extend([owner.as_str(), helper]);
    Reaper::new(&line, &[("GRACE", "1000")], None)
}

/// What has become of each after the owner's death. They go their ways at the same time.
fn outcomes(ways: &[&Way], level: &str) -> Vec<&'static str> {
    let readable = ways.iter().all(|way| way.name != UNREADABLE);
    let mut reaper = owner(level, readable);
    let owned = level.starts_with('/');
    if owned {
        // So that there is a supervisor, whatever else there is.
        assert!(reaper.tell("spawn exec sleep 3000").parse::<u32>().is_ok());
    }
    for (at, way) in ways.iter().enumerate() {
        let verb = match way.name {
            DECLARED => "detach",
            _ if owned => "spawn",
            _ => "plain",
        };
        let text = way.text.replace("1000", &number(at));
        let answer = reaper.tell(&format!("{verb} {text}"));
        assert!(answer.parse::<u32>().is_ok(), "{}: {answer}", way.name);
    }
    let places = |living: &[Process]| -> Vec<bool> {
        let each = ways.iter().enumerate();
        each.map(|(at, way)| in_place(way, at, reaper.program, living))
            .collect()
    };
    let living = reaper.until(
        &format!("all have gone their ways with {level}"),
        |living| places(living).iter().all(|there| *there),
    );
    let guards: Vec<i32> = living
        .iter()
        .map(|one| one.pid)
        .filter(|pid| is_guard(*pid))
        .collect();
    assert_eq!(
        guards.is_empty(),
        level == "nobody",
        "{level}: who looks on"
    );
    kill(reaper.program, libc::SIGKILL);
    let ended = |pid: i32| processes::look(pid).is_none_or(|one| !one.lives());
    reaper.until(&format!("the work is done, {level}"), |_| {
        ended(reaper.program) && guards.iter().all(|guard| ended(*guard))
    });
    reaper.spared(&[]);
    let lives = |at: usize| {
        // What forks for ever may be missed by many looks, the more so where a look takes its time.
        let looks = if ways[at].name == FORKS { 300 } else { 10 };
        (0..looks).any(|_| reaper.living().iter().any(|one| is_victim(one, at)))
    };
    let outcome = |at| if lives(at) { "lives" } else { "ended" };
    (0..ways.len()).map(outcome).collect()
}

/// The last word of what goes the way with this index.
fn number(at: usize) -> String {
    format!("{}", 1001 + at)
}

fn is_victim(one: &Process, at: usize) -> bool {
    words(one.pid).last() == Some(&number(at))
}

/// Whether what is to get away stands where its way leads.
fn in_place(way: &Way, at: usize, owner: i32, living: &[Process]) -> bool {
    let mut victims = living.iter().filter(|one| is_victim(one, at)).peekable();
    victims.peek().is_some()
        && victims.all(|one| (one.session != owner) == way.leaves && (way.settled)(one))
}

/// Whether a process is a supervisor or a keeper.
fn is_guard(pid: i32) -> bool {
    let words = words(pid);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "spawn-owned" => matches!(word(1), "supervise" | "keep"),
        "sh" => word(1) == "-s",
        _ => false,
    }
}

/// The name by which a process was started.
fn name(pid: i32) -> String {
    let words = words(pid);
    let first = words.first().map_or("", String::as_str);
    first.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The name that a process gave itself.
fn comm(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn escapes_are_ended_as_the_table_says() {
    let possible = |way: &&Way| is_root() || !ROOTS.contains(&way.name);
    let ways: Vec<&Way> = WAYS.iter().filter(possible).collect();
    let (unreadable, readable): (Vec<&Way>, Vec<&Way>) =
        ways.into_iter().partition(|way| way.name == UNREADABLE);
    // One level beside the other: most of the time they wait.
    let columns: Vec<Vec<&str>> = std::thread::scope(|scope| {
        let column = |level| {
            let groups = [&readable, &unreadable];
            move || groups.map(|ways| outcomes(ways, level)).concat()
        };
        let threads = LEVELS.map(|level| scope.spawn(column(level)));
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|column| column.expect("a column")).collect()
    });
    assert!(
        columns[0].iter().all(|outcome| *outcome == "lives"),
        "each lives on where nobody owns it: {columns:?}"
    );
    let mut table = String::from(
        "| what it does | nobody's | `spawn_owned`, `sh` | `spawn_owned`, native | `owned run` |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for (row, way) in readable.iter().chain(&unreadable).enumerate() {
        let _ = write!(table, "| {} |", way.name);
        for column in &columns {
            let _ = write!(table, " {} |", column[row]);
        }
        table.push('\n');
    }
    let not_run: &[&str] = if is_root() { &[] } else { ROOTS };
    for row in not_run {
        println!("not run: root alone can go this way: {row}");
    }
    crate::tables::is_in_the_readme("escapes", &table, not_run);
}

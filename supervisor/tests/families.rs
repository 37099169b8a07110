//! Fourteen families of child processes, each started in the way of its kind, plain and owned; their
//! owner, one for all of them, is killed, is ended, and returns. Every family stands as it is described
//! before that.
//!
//! The table that comes out of it is the one of the crate's README: `UPDATE=1 cargo test -p spawn-owned families`
//! writes it there.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::path::Path;

use crate::below::{Reaper, ignores, words};
use crate::processes::Process;
use crate::witness::{example, kill};

/// A family, as it stands before its owner's end.
struct Family {
    name: &'static str,
    /// How such programs are started, for the table.
    started: &'static str,
    /// Each process: its program, `<` its parent (`-` if that is gone), where its input comes from, and
    /// the signals that it ignores. In alphabetic order.
    members: &'static [&'static str],
    /// How many of the plain ones live on; the others end with their input.
    survivors: usize,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "stdio tool server",
        started: "two pipes, through a shell; ends with its input, its cache does not",
        members: &["sh<owner pipe", "sh<sh pipe", "sleep<sh null INT"],
        survivors: 1,
    },
    Family {
        name: "model router",
        started: "two pipes; its models do not heed SIGTERM",
        members: &[
            "sh<owner pipe INT",
            "sleep<sh null INT TERM",
            "sleep<sh null INT TERM",
        ],
        survivors: 3,
    },
    Family {
        name: "browser daemon",
        started: "leaves its launcher for a session with helpers; adopted by its number",
        members: &["sh<- null INT", "sleep<sh null INT", "sleep<sh null INT"],
        survivors: 3,
    },
    Family {
        name: "language server",
        started: "two pipes; stays when its input ends",
        members: &["sh<owner pipe PIPE"],
        survivors: 1,
    },
    Family {
        name: "code kernel",
        started: "two pipes; ends with its input, what a cell started does not",
        members: &[
            "python3<owner pipe PIPE",
            "python3<python3 pipe PIPE",
            "sleep<- null INT PIPE",
            "sleep<python3 null",
        ],
        survivors: 3,
    },
    Family {
        name: "slash-command worker",
        started: "two pipes; busy, and proof against Ctrl-C",
        members: &["sleep<owner pipe INT"],
        survivors: 1,
    },
    Family {
        name: "foreground command",
        started: "at a terminal, proof against its hangup",
        members: &["sh<owner pts HUP", "sleep<sh pts HUP"],
        survivors: 2,
    },
    Family {
        name: "background command",
        started: "`nohup … &` in a shell that ends at once",
        members: &[
            "cat<sh pipe HUP INT",
            "sh<- null HUP INT",
            "sleep<sh null HUP INT",
        ],
        survivors: 3,
    },
    Family {
        name: "chat bridges",
        started: "two of them; one proof against a hangup, one against SIGTERM",
        members: &["sleep<owner null HUP", "sleep<owner null TERM"],
        survivors: 2,
    },
    Family {
        name: "verify app server",
        started: "through a shell; workers by fork share its port",
        members: &[
            "python3<owner null PIPE",
            "python3<python3 null PIPE",
            "python3<python3 null PIPE",
        ],
        survivors: 3,
    },
    Family {
        name: "speech command",
        started: "a pipeline in a shell",
        members: &["cat<sh pipe", "sh<owner pipe", "sleep<sh pipe"],
        survivors: 3,
    },
    Family {
        name: "embedded driver",
        started: "by a thread that ends at once, on a device",
        members: &["sleep<owner zero"],
        survivors: 1,
    },
    Family {
        name: "pairing bridge",
        started: "says a code on a pipe; proof against its end",
        members: &["sleep<owner null PIPE"],
        survivors: 1,
    },
    Family {
        name: "git maintenance",
        started: "goes to the background by itself",
        members: &["sh<- null INT", "sleep<sh null INT"],
        survivors: 2,
    },
];

/// The ends of an owner, in the words of the table.
const ENDS: [&str; 3] = ["kill -9", "SIGTERM", "return"];

/// What owns them, one for each column.
const HELPERS: [&str; 3] = ["plain", "/bin/sh", env!("CARGO_BIN_EXE_owned")];

/// How many of each family live on after their owner's end.
fn survivors(helper: &str, end: &str) -> Vec<usize> {
    let program = example("family").to_string_lossy().into_owned();
    let mut line = vec![program.as_str(), helper];
    line.extend(FAMILIES.iter().map(|family| family.name));
    let mut reaper = Reaper::new(&line, &[], None);
    let answer = reaper.answer();
    let numbers: Option<Vec<i32>> = answer.split(' ').map(|word| word.parse().ok()).collect();
    let Some([control, supervisor, port]) = numbers.as_deref() else {
        panic!("{helper}: {answer}");
    };
    let what = format!("the families with {helper}");
    reaper.until(&what, |living| {
        let stands = |family: &Family| standing(&reaper, living, family) == family.members;
        FAMILIES.iter().all(stands)
    });
    match end {
        "kill -9" => kill(reaper.program, libc::SIGKILL),
        "SIGTERM" => kill(reaper.program, libc::SIGTERM),
        _ => reaper.order("return"),
    }
    // With a supervisor: when that has done its work. Without: when all have ended that do.
    let plain = helper == "plain";
    let left = |family: &Family| if plain { family.survivors } else { 0 };
    let count = |living: &[Process]| -> Vec<usize> {
        let of = |family: &Family| standing(&reaper, living, family).len();
        FAMILIES.iter().map(of).collect()
    };
    let expected: Vec<usize> = FAMILIES.iter().map(left).collect();
    let what = format!("what the families with {helper} leave after {end}: {expected:?}");
    let living = reaper.until(&what, |living| {
        let here = |pid| living.iter().any(|one| one.pid == pid);
        let over = !here(reaper.program) && (plain || !here(*supervisor));
        over && count(living) == expected
    });
    reaper.spared(&[*control]);
    assert_eq!(living.len(), expected.iter().sum::<usize>() + 1, "{what}");
    let port = u16::try_from(*port).expect("a port");
    let open = TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert_eq!(open, plain, "the port of a server, {helper} after {end}");
    count(&living)
}

/// What stands of a family, in the words of the table.
fn standing(reaper: &Reaper, living: &[Process], family: &Family) -> Vec<String> {
    let mark = format!("FAMILY={}\0", family.name);
    let members = living.iter().filter(|one| {
        let environment = std::fs::read(format!("/proc/{}/environ", one.pid)).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    });
    let mut standing: Vec<String> = members.map(|one| describe(reaper, one)).collect();
    standing.sort_unstable();
    standing
}

fn describe(reaper: &Reaper, one: &Process) -> String {
    let parent = match one.parent {
        parent if parent == reaper.program => "owner".to_owned(),
        parent if parent == reaper.pid() => "-".to_owned(),
        parent => name(parent),
    };
    let input = std::fs::read_link(format!("/proc/{}/fd/0", one.pid)).unwrap_or_default();
    let input = input.to_string_lossy();
    let input = match input.strip_prefix("/dev/") {
        Some(device) => device.split('/').next().unwrap_or_default(),
        None => input.split(':').next().unwrap_or_default(),
    };
    let mut text = format!("{}<{parent} {input}", name(one.pid));
    let signals = [
        (libc::SIGHUP, " HUP"),
        (libc::SIGINT, " INT"),
        (libc::SIGPIPE, " PIPE"),
        (libc::SIGTERM, " TERM"),
    ];
    let ignored = signals
        .iter()
        .filter(|(signal, _)| ignores(one.pid, *signal));
    text.extend(ignored.map(|(_, word)| *word));
    text
}

/// The name of a process's program.
fn name(pid: i32) -> String {
    let words = words(pid);
    let name = words.first().map(|word| Path::new(word).file_name());
    let name = name.flatten().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[test]
fn families_end_with_their_owner_and_not_without() {
    // By owner, end and family. One owner beside the other: most of the time they wait.
    let numbers: Vec<Vec<Vec<usize>>> = std::thread::scope(|scope| {
        let ends = |helper| move || ENDS.map(|end| survivors(helper, end)).into();
        let threads = HELPERS.map(|helper| scope.spawn(ends(helper)));
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|numbers| numbers.expect("a column")).collect()
    });
    let mut table = String::from(
        "| family | how it is started, and what it withstands | processes | plain | owned, `sh` | owned, native |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (at, family) in FAMILIES.iter().enumerate() {
        let Family {
            name,
            started,
            members,
            ..
        } = family;
        let _ = write!(table, "| {name} | {started} | {} |", members.len());
        for ends in &numbers {
            let ends: Vec<String> = ends.iter().map(|end| end[at].to_string()).collect();
            let _ = write!(table, " {} |", ends.join(", "));
        }
        table.push('\n');
    }
    crate::tables::is_in_the_readme("families", &table, &[]);
}

//! An owner that does what it is told, a line at a time: what the tests start and kill.
//!
//! `owner SHELL|PROGRAM` takes its orders from standard input and answers each with one line. A file
//! named `owned` serves as native launcher and supervisor, another as shell, `own` means this program.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program of the tests: it fails where it stands"
)]

#[path = "owner/beside.rs"]
mod beside;

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

use spawn_owned::{Command, Detached, Error, Owned, Owner, Stdio, spawn_detached};

/// What was started and not dropped.
#[derive(Default)]
struct Held {
    owned: BTreeMap<u32, Owned>,
    detached: Vec<Detached>,
}

fn main() {
    let started_by_itself = std::env::args().next().unwrap() == "spawn-owned";
    let helper = std::env::args().nth(1).unwrap();
    if started_by_itself || helper == "own" {
        spawn_owned::init();
    }
    if let Some(folder) = std::env::var_os("FOLDER") {
        std::env::set_current_dir(folder).unwrap();
    }
    install(&helper);
    let owner = Owner::global().unwrap();
    let mut held = Held::default();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (order, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if order == "return" {
            return;
        }
        let answer = obey(owner, &mut held, order, rest);
        println!(
            "{}",
            answer.unwrap_or_else(|error| format!("error {error:?}"))
        );
        std::io::stdout().flush().unwrap();
    }
}

fn install(helper: &str) {
    let builder = Owner::builder();
    let builder = match Path::new(helper).file_name().unwrap().to_str().unwrap() {
        "own" => builder,
        "owned" => builder.native(helper),
        _ => builder.shell(helper),
    };
    let millis = |name: &str| {
        let text = std::env::var(name).ok()?;
        let millis = text.parse().map(Duration::from_millis);
        Some(if text == "for ever" {
            Duration::MAX
        } else {
            millis.unwrap()
        })
    };
    let builder = match std::env::var_os("LEDGER") {
        Some(path) => builder.ledger(path),
        None => builder.no_ledger(),
    };
    let builder = match std::env::var_os("CONTROL_GROUP") {
        Some(_) => builder.control_group(),
        None => builder,
    };
    let builder = builder.idle(millis("IDLE").unwrap_or(Duration::from_secs(30)));
    builder
        .grace(millis("GRACE").unwrap_or(Duration::from_secs(3)))
        .install()
        .unwrap();
}

fn shell(text: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text).stdin(Stdio::null());
    command
}

fn obey(owner: &Owner, held: &mut Held, order: &str, rest: &str) -> Result<String, Error> {
    match order {
        "spawn" | "program" | "output" | "surroundings" | "plain" | "detach" | "async" => {
            begin(owner, held, order, rest)
        }
        "fork" | "loop" | "storm" | "count" | "owners" | "many" | "threads" => {
            many(owner, held, order, rest)
        }
        "drop" | "stop" | "wait" | "adopt" | "release" | "once-empty" => {
            finish(owner, held, order, rest.parse().unwrap())
        }
        "beside" => Ok(beside::start(rest)),
        "unanswered" => beside::unanswered(owner, rest.parse().unwrap()),
        _ => tell(owner, order, rest),
    }
}

/// Starts one child.
fn begin(owner: &Owner, held: &mut Held, order: &str, rest: &str) -> Result<String, Error> {
    Ok(match order {
        "spawn" => {
            let child = owner.spawn_owned(shell(rest), "a test")?;
            let id = child.id();
            held.owned.insert(id, child);
            format!("{id}")
        }
        "program" => {
            let mut words = rest.split(' ');
            let mut command = Command::new(words.next().unwrap());
            command.args(words);
            let child = owner.spawn_owned(command, "a test")?;
            let id = child.id();
            held.owned.insert(id, child);
            format!("{id}")
        }
        // What a program has on its output, read to the end.
        "output" => {
            let mut command = shell(rest);
            command.stdout(Stdio::piped());
            let mut child = owner.spawn_owned(command, "a test")?;
            let mut text = String::new();
            std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
            child.wait()?;
            text.replace('\n', "|")
        }
        // The name and the sorted environment that a program gets which is given these variables.
        "surroundings" => {
            let mut command = Command::new("cat");
            command.arg("/proc/self/cmdline").arg("/proc/self/environ");
            command.env_clear().stdout(Stdio::piped());
            for (name, value) in rest.split(' ').filter_map(|word| word.split_once('=')) {
                command.env(name, value);
            }
            let mut child = owner.spawn_owned(command, "a test")?;
            let mut text = String::new();
            std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
            let mut words = text.split('\0');
            let name = words.next().unwrap();
            let mut variables: Vec<&str> = words.skip(2).collect();
            variables.sort_unstable();
            format!("{name}|{}", variables.join("|"))
        }
        "plain" => {
            let mut command = std::process::Command::new("/bin/sh");
            command.arg("-c").arg(rest);
            plain(command)
        }
        "detach" => {
            let child = spawn_detached(shell(rest), "it must live on for the test")?;
            held.detached.push(child);
            format!("{}", held.detached.last().unwrap().id())
        }
        "async" => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = Box::leak(Box::new(runtime.unwrap()));
            let child = spawn_owned::tokio::spawn_owned(shell(rest), "of a runtime");
            let child = runtime.block_on(async { child })?;
            // It is to live until the owner is killed.
            format!("{}", Box::leak(Box::new(child)).id())
        }
        _ => die(order),
    })
}

/// What becomes of a child, or of a group of another's.
fn finish(owner: &Owner, held: &mut Held, order: &str, number: u32) -> Result<String, Error> {
    Ok(match order {
        "drop" => {
            drop(held.owned.remove(&number).unwrap());
            "dropped".to_owned()
        }
        "stop" => format!(
            "{:?}",
            held.owned
                .remove(&number)
                .unwrap()
                .stop(Duration::from_secs(3))
        ),
        "wait" => {
            let child = held.owned.get_mut(&number).unwrap();
            format!("{:?} {:?}", child.wait(), child.wait())
        }
        "adopt" => {
            owner.own_process_groups([number])?;
            "adopted".to_owned()
        }
        "release" => {
            owner.release_process_groups([number])?;
            "released".to_owned()
        }
        "once-empty" => {
            owner.release_process_group_once_empty(number)?;
            "later".to_owned()
        }
        _ => die(order),
    })
}

/// What there is to be said.
fn tell(owner: &Owner, order: &str, rest: &str) -> Result<String, Error> {
    Ok(match order {
        "reap" => {
            let pid = rest.parse().unwrap();
            // SAFETY: waits for a child of this process, whose status nobody wants.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            "reaped".to_owned()
        }
        "status" => {
            let status = owner.status()?;
            let supervisor = status.supervisor.unwrap_or(0);
            let why = status.unprotected.unwrap_or_default();
            format!(
                "{supervisor} {} {} {:?} {why}",
                status.started, status.restarted, status.groups
            )
        }
        "control-group" => format!("{:?}", owner.status()?.control_group),
        "hide-processes" => hide_processes(),
        "sweep" => format!("{:?}", owner.sweep()?),
        "pid" => format!("{}", std::process::id()),
        "leak" => beside::leak(),
        "all-owners" => beside::all_owners(rest)?,
        _ => die(order),
    })
}

/// Makes `/proc` an empty folder for this thread, where the system permits it.
fn hide_processes() -> String {
    let (proc, private) = (c"/proc".as_ptr(), libc::MS_REC | libc::MS_PRIVATE);
    // SAFETY: plain calls with texts that live on, for this thread's own view of the files.
    let done = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                private,
                std::ptr::null(),
            ) == 0
            && libc::mount(
                c"none".as_ptr(),
                proc,
                c"tmpfs".as_ptr(),
                0,
                std::ptr::null(),
            ) == 0
    };
    if done { "hidden" } else { "not permitted" }.to_owned()
}

/// Starts many children, or owners.
fn many(owner: &Owner, held: &mut Held, order: &str, rest: &str) -> Result<String, Error> {
    let number = || rest.parse::<u32>().unwrap();
    Ok(match order {
        "fork" => format!("{}", fork(owner, rest)),
        "loop" => spawn_for_ever(owner, held, 8),
        // Only starts, ends nothing.
        "storm" => spawn_for_ever(owner, held, usize::MAX),
        // Starts and ends children, and says each time how many there were.
        "count" => {
            for count in 1..=number() {
                let mut child = owner.spawn_owned(Command::new("/bin/true"), "a row")?;
                child.wait()?;
                println!("{count}");
            }
            "counted".to_owned()
        }
        // Owners one after the other, each with a row of its own.
        "owners" => {
            let path = std::env::var_os("LEDGER").unwrap();
            for _ in 0..number() {
                Owner::builder().ledger(&path).build()?;
            }
            "built".to_owned()
        }
        "many" => {
            for _ in 0..number() {
                let child = owner.spawn_owned(shell("exec sleep 1000"), "a test")?;
                held.owned.insert(child.id(), child);
            }
            "many".to_owned()
        }
        "threads" => threads(owner, number()),
        _ => die(order),
    })
}

#[expect(clippy::disallowed_methods, reason = "the control that is not owned")]
fn plain(mut command: std::process::Command) -> String {
    use std::os::unix::process::CommandExt as _;
    // detached-spawn: a group that somebody else started, for the tests of adoption
    format!("{}", command.process_group(0).spawn().unwrap().id())
}

/// A child by fork alone, which has every descriptor of this process. It may own a child itself.
fn fork(owner: &Owner, text: &str) -> i32 {
    let (tell, say) = std::io::pipe().unwrap();
    // SAFETY: the child starts programs and reads a pipe; this process has one thread of its own.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        drop(tell);
        let child =
            (!text.is_empty()).then(|| owner.spawn_owned(shell(text), "of a fork").unwrap());
        writeln!(&say, "ready").unwrap();
        loop {
            // SAFETY: waits for a signal.
            unsafe { libc::pause() };
            let _ = &child;
        }
    }
    drop(say);
    let mut line = String::new();
    std::io::BufReader::new(tell).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    pid
}

/// Starts children until it is killed, and ends one when it has more than `most`.
fn spawn_for_ever(owner: &Owner, held: &mut Held, most: usize) -> ! {
    println!("looping");
    std::io::stdout().flush().unwrap();
    let command = || {
        let mut command = Command::new("/bin/sleep");
        command.arg("1000");
        command
    };
    loop {
        let child = owner.spawn_owned(command(), "a loop").unwrap();
        held.owned.insert(child.id(), child);
        if held.owned.len() > most {
            // Ends one, so that releases are killed in the middle too.
            held.owned.pop_first();
        }
    }
}

fn threads(owner: &Owner, number: u32) -> String {
    let children: Vec<Owned> = std::thread::scope(|scope| {
        let starts = || {
            (0..8).map(|_| {
                owner
                    .spawn_owned(shell("exec sleep 1000"), "of a thread")
                    .unwrap()
            })
        };
        let threads: Vec<_> = (0..number)
            .map(|_| scope.spawn(move || starts().collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let answer = format!("{}", children.len());
    // They are to live until the owner is killed.
    Box::leak(Box::new(children));
    answer
}

/// Needs more stack than there is.
#[expect(unconditional_recursion, reason = "one of the ways to end")]
fn overflow(depth: u64) -> u64 {
    let place = std::hint::black_box([depth; 512]);
    overflow(depth + 1) + place[0]
}

/// Ends in the named way.
#[expect(clippy::exit, reason = "one of the ways to end")]
fn die(way: &str) -> String {
    use std::os::unix::process::CommandExt as _;
    match way {
        "panic" => panic!("as it was told"),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        "overflow" => format!("{}", overflow(1)),
        "thread" => beside::exit_in_a_thread(),
        "no-memory" => beside::ask_for_too_much(),
        "all-memory" => beside::take_all_memory(),
        "exec" => panic!(
            "{}",
            std::process::Command::new("/bin/sleep").arg("1000").exec()
        ),
        // With whatever else is in its group.
        "group" => {
            // SAFETY: numbers, which mean this process and the group that it leads then.
            // detached-spawn: it must not take the test with it
            let ended = unsafe { libc::setpgid(0, 0) == 0 && libc::kill(0, libc::SIGKILL) == 0 };
            format!("alive {ended}")
        }
        "segv" | "ill" | "kill" | "term" | "hup" => {
            let signal = match way {
                "segv" => libc::SIGSEGV,
                "ill" => libc::SIGILL,
                "kill" => libc::SIGKILL,
                "hup" => libc::SIGHUP,
                _ => libc::SIGTERM,
            };
            // SAFETY: the signal does what it does by default, to this process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
            "alive".to_owned()
        }
        _ => format!("unknown order {way}"),
    }
}

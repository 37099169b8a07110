//! What an owner starts beside what it owns: children of nobody, in each way by which a descriptor may get
//! to them, and servers that never answer.

use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use spawn_owned::{Error, Owner, Stdio};

/// The numbers among which this program's descriptors are, without its three streams.
const NUMBERS: std::ops::Range<i32> = 3..256;

/// Starts a child that nobody owns, in the named way; its number, 0 where that is not told.
pub(crate) fn start(way: &str) -> String {
    let mut command = Command::new("/bin/sleep");
    command.arg("1000");
    let pid = match way {
        "spawn" => spawn(command),
        "fork-exec" => spawn(hooked(command, || {})),
        "session" => spawn(hooked(command, leave)),
        "inherited" => with_inheritable(|| spawn(command)),
        "closing" => with_inheritable(|| spawn(hooked(command, close))),
        "copied" => with_copies(|| spawn(command)),
        "system" => {
            // SAFETY: a text that ends with NUL.
            unsafe { libc::system(c"sleep 1000 &".as_ptr()) };
            0
        }
        "terminal" => at_a_terminal(),
        _ => panic!("no way {way}"),
    };
    format!("{pid}")
}

#[expect(clippy::disallowed_methods, reason = "it is to be nobody's")]
fn spawn(mut command: Command) -> i32 {
    command.spawn().unwrap().id().cast_signed()
}

/// The same command with a hook: it is started by a fork then.
fn hooked(mut command: Command, hook: fn()) -> Command {
    let hook = move || {
        hook();
        Ok(())
    };
    // SAFETY: the hooks here make a system call, or nothing.
    unsafe { command.pre_exec(hook) };
    command
}

/// Leaves the session.
fn leave() {
    // SAFETY: takes nothing; a leader's failure changes nothing here.
    // detached-spawn: it must be nobody's, whom no kill of a group reaches; the test ends it
    unsafe { libc::setsid() };
}

/// Closes all but the three streams, as Python does with `close_fds`.
fn close() {
    // SAFETY: the numbers of a child that is about to become another program.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
}

/// Does something while what is started inherits every descriptor.
fn with_inheritable(work: impl FnOnce() -> i32) -> i32 {
    let all = NUMBERS;
    // SAFETY: asks for flags and sets them; numbers that are not open are errors, and harmless.
    let flags = all.map(|fd| (fd, unsafe { libc::fcntl(fd, libc::F_GETFD) }));
    let flags: Vec<(i32, i32)> = flags.filter(|(_, flags)| *flags >= 0).collect();
    let set = |fd: i32, flags: i32| {
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_SETFD, flags) };
    };
    for (fd, _) in &flags {
        set(*fd, 0);
    }
    let pid = work();
    for (fd, flags) in flags {
        set(fd, flags);
    }
    pid
}

/// Does something while there is a copy of each descriptor, which is inherited as copies are.
fn with_copies(work: impl FnOnce() -> i32) -> i32 {
    // SAFETY: numbers that are not open are errors, and harmless.
    let copies = NUMBERS.map(|fd| unsafe { libc::dup(fd) });
    let copies: Vec<i32> = copies.filter(|copy| *copy >= 0).collect();
    let pid = work();
    for copy in copies {
        // SAFETY: made above, and nobody else knows it.
        unsafe { libc::close(copy) };
    }
    pid
}

/// At a terminal of its own, whose hangup it does not heed.
fn at_a_terminal() -> i32 {
    let (shell, text) = (
        c"/bin/sh".as_ptr(),
        c"trap '' HUP; exec sleep 1000".as_ptr(),
    );
    let mut terminal = 0;
    let none = std::ptr::null_mut();
    // SAFETY: the child makes one system call, with texts that end with NUL.
    unsafe {
        // detached-spawn: it must be nobody's; the test ends it
        let pid = libc::forkpty(&raw mut terminal, none, std::ptr::null(), std::ptr::null());
        if pid == 0 {
            let end = std::ptr::null::<libc::c_char>();
            libc::execl(shell, c"sh".as_ptr(), c"-c".as_ptr(), text, end);
            libc::_exit(127);
        }
        pid
    }
}

/// Tries a server that hears and never answers so many times, and gives it up each time.
pub(crate) fn unanswered(owner: &Owner, tries: u32) -> Result<String, Error> {
    for _ in 0..tries {
        let mut command = spawn_owned::Command::new("/bin/sh");
        command.args(["-c", "cat >/dev/null; exec sleep 1000"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = owner.spawn_owned(command, "a server that never answers")?;
        let asked = server.stdin.as_mut().unwrap();
        asked.write_all(b"who are you?\n").unwrap();
        let mut answer = libc::pollfd {
            fd: server.stdout.as_ref().unwrap().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid entry for the whole call.
        assert_eq!(unsafe { libc::poll(&raw mut answer, 1, 5) }, 0);
        server.stop(Duration::from_secs(3))?;
    }
    Ok(format!("{tries}"))
}

/// Makes owners by the shell at `path` until there can be no more, and kills the supervisor of the last: how many
/// there are, and how it stands with that one and its child.
pub(crate) fn all_owners(path: &str) -> Result<String, Error> {
    let mut all = Vec::new();
    loop {
        let owner = Owner::builder().no_ledger().shell(path).build()?;
        let mut command = spawn_owned::Command::new("/bin/sleep");
        command.arg("1000");
        match owner.spawn_owned(command, "one of many") {
            Ok(child) => all.push((owner, child)),
            Err(Error::Unprotected { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    let count = all.len();
    let (owner, child) = all.last_mut().unwrap();
    let killed = owner.status()?.supervisor.unwrap();
    // SAFETY: a process that this one started and has not reaped.
    unsafe { libc::kill(killed.cast_signed(), libc::SIGKILL) };
    let status = loop {
        let status = owner.status()?;
        if status.restarted > 0 || status.unprotected.is_some() {
            break status;
        }
        std::thread::yield_now();
    };
    // A supervisor that takes its owner for dead asks its children to end within this time.
    let ended = child.wait_timeout(Duration::from_millis(300))?;
    let found = format!("{count} {} {ended:?}", status.restarted);
    for (_owner, child) in all {
        child.stop(Duration::from_secs(3))?;
    }
    Ok(found)
}

/// Makes a pipe that whatever is started inherits; what it is called among a process's descriptors.
pub(crate) fn leak() -> String {
    let mut ends = [0; 2];
    // SAFETY: room for two numbers, which stay open as long as this process.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let link = std::fs::read_link(format!("/proc/self/fd/{}", ends[1]));
    link.unwrap().to_string_lossy().into_owned()
}

/// Ends this process by a thread of it.
pub(crate) fn exit_in_a_thread() -> String {
    // SAFETY: ends the process at once.
    let ends = std::thread::spawn(|| unsafe { libc::_exit(0) });
    format!("{:?}", ends.join())
}

/// Asks for more memory than this process may have, as a program does that takes this for impossible.
pub(crate) fn ask_for_too_much() -> String {
    let limit = libc::rlimit {
        rlim_cur: 1 << 30,
        rlim_max: 1 << 30,
    };
    // SAFETY: a filled limit, for this process alone.
    let limited = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(limited, 0);
    format!("{}", std::hint::black_box(vec![1_u8; 2 << 30]).len())
}

/// Takes memory until there is none, or so much that nobody limits it.
pub(crate) fn take_all_memory() -> String {
    const MOST: usize = 512;
    let all: Vec<Vec<u8>> = (0..MOST)
        .map(|_| std::hint::black_box(vec![1_u8; 1 << 20]))
        .collect();
    format!("has {} MiB", all.len())
}

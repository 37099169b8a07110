//! A child subreaper: what descends from it stays below it, however it gets away, so that survivors
//! can be counted.
//!
//! `reaper [--terminal PATH] PROGRAM ARGUMENT…` starts a bystander, which nobody is to end, and the
//! program, each in a session of its own, says both numbers on a line, and reaps. When the other end of
//! its standard input is closed, on purpose or by the death of the test, it ends everything.
#![expect(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::unwrap_used,
    reason = "a program of the tests: it starts what is counted, and fails where it stands"
)]

#[expect(dead_code, reason = "the tests look at all of it")]
#[path = "support/processes.rs"]
mod processes;

use std::ffi::{CString, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

fn main() {
    let mut words = std::env::args_os().skip(1).peekable();
    let terminal = words.next_if(|word| word == "--terminal");
    let terminal = terminal.map(|_| CString::new(words.next().unwrap().into_vec()).unwrap());
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let bystander = start("sleep".into(), vec!["2000".into()], || {
        // SAFETY: closes descriptors that this child has no use for.
        unsafe {
            libc::close(0);
            libc::close(1);
        }
    });
    start(words.next().unwrap(), words.collect(), move || {
        // One write: what the program says cannot come in between.
        let line = format!("{bystander} {}\n", std::process::id());
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        if let Some(path) = &terminal {
            // SAFETY: the path ends with NUL; the numbers are the standard ones.
            unsafe {
                let terminal = libc::open(path.as_ptr(), libc::O_RDWR);
                for fd in [0, 1, 2] {
                    libc::dup2(terminal, fd);
                }
                libc::close(terminal);
            }
        }
    });
    std::thread::spawn(end_with_the_test);
    loop {
        // SAFETY: waits for any child, whose status nobody wants.
        if unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } < 0 {
            std::thread::park();
        }
    }
}

/// Starts a program that leads a session, after `prepare` in the child.
fn start(
    program: OsString,
    arguments: Vec<OsString>,
    prepare: impl Fn() + Send + Sync + 'static,
) -> u32 {
    let mut command = Command::new(program);
    command.args(arguments).stderr(Stdio::inherit());
    // SAFETY: this process has one thread when it forks, so that the child may do anything.
    unsafe {
        // detached-spawn: the test kills this session as a whole, and this process ends what is left
        command.pre_exec(move || {
            libc::setsid();
            // As a program has them, however the test was started.
            for signal in [
                libc::SIGHUP,
                libc::SIGINT,
                libc::SIGQUIT,
                libc::SIGTERM,
                libc::SIGPIPE,
            ] {
                libc::signal(signal, libc::SIG_DFL);
            }
            prepare();
            Ok(())
        });
    }
    command.spawn().unwrap().id()
}

/// Waits until nobody holds the other end of standard input, and ends everything below.
fn end_with_the_test() {
    let mut place = libc::pollfd {
        fd: 0,
        events: 0,
        revents: 0,
    };
    // SAFETY: one valid entry; asked for nothing, it tells of the end alone.
    while unsafe { libc::poll(&raw mut place, 1, -1) } < 1 {}
    let own = i32::try_from(std::process::id()).unwrap();
    while !childless() {
        for one in processes::below(own) {
            // SAFETY: one process, which is below this one and stays so until this one reaps it.
            unsafe { libc::kill(one.pid, libc::SIGKILL) };
        }
    }
    std::process::exit(0);
}

/// Whether nothing is left, not even to be reaped: a look may miss what forks for ever.
fn childless() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let mut info = std::mem::MaybeUninit::uninit();
    // SAFETY: `info` has room for the answer, which nobody reads.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) };
    result < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD)
}

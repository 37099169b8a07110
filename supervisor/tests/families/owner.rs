//! The owner of families of child processes: `family plain|SHELL|PROGRAM NAME…` starts each in the way in
//! which such programs do, as plain children or as owned ones, and says when they stand.
//!
//! It answers `CONTROL SUPERVISOR PORT`: a child that nobody owns, the supervisor's process and the port
//! of a server among them, each 0 if there is none. Then it waits for the word `return`, or for what
//! kills it. What belongs to a family has its name in the variable `FAMILY`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program of the tests: it starts what is not owned too, and fails where it stands"
)]

#[path = "start.rs"]
mod start;

use std::fs::File;
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::FromRawFd as _;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use spawn_owned::Owner;
use start::{Child, Start, Stream, line};

fn main() {
    let mut words = std::env::args().skip(1);
    let helper = words.next().unwrap();
    let mut families = Families {
        owner: (helper != "plain").then(|| owner(&helper)),
        name: String::new(),
        members: Vec::new(),
        port: 0,
        terminal: None,
    };
    // A child that nobody owns, and that no end of this process is to end.
    let mut control = std::process::Command::new("sleep");
    let control = control.arg("3000").stdout(std::process::Stdio::null());
    let control = control.spawn().unwrap().id();
    for name in words {
        families.start(&name);
    }
    let owner = families.owner.as_ref();
    let status = owner.map(|owner| owner.status().unwrap());
    let supervisor = status.and_then(|status| status.supervisor).unwrap_or(0);
    println!("{control} {supervisor} {}", families.port);
    assert_eq!(line(&mut std::io::stdin().lock()), "return");
}

fn owner(helper: &str) -> Owner {
    let builder = Owner::builder().no_ledger().grace(Duration::from_secs(1));
    let builder = if Path::new(helper).file_name().unwrap() == "owned" {
        builder.native(helper)
    } else {
        builder.shell(helper)
    };
    builder.build().unwrap()
}

/// The families at work. What they hold, they hold until this process ends.
struct Families {
    owner: Option<Owner>,
    /// The one that is being started.
    name: String,
    members: Vec<Child>,
    port: u16,
    terminal: Option<File>,
}

/// Answers each line; its cache outlives the end of its input.
const TOOL_SERVER: &str = "sleep 1000 </dev/null >/dev/null & \
    while read -r line; do echo \"{\\\"result\\\":$line}\"; done";
/// Loads a model for each name; models are busy, and do not heed a request to end.
const ROUTER: &str = "trap '' INT; \
    for slot in 1 2; do read -r model; sh -c 'trap \"\" TERM; exec sleep 1000' $model & \
    echo loaded $model; done; wait";
/// Leaves its launcher, says its number, and starts helpers.
const BROWSER: &str =
    "setsid sh -c 'echo $$; exec >/dev/null; sleep 1000 & sleep 1000 & wait' & exit";
/// Speaks the protocol's frames, and stays when its input ends.
const LANGUAGE_SERVER: &str = "trap '' PIPE; read -r length; read -r empty; read -r body; \
    printf 'Content-Length: 2\\r\\n\\r\\n{}\\n'; while read -r line; do :; done; exec sleep 1000";
/// Runs cells, and ends hard at the end of its input.
const KERNEL: &str = "import os, sys\nspace = {}\nfor cell in sys.stdin:\n \
    exec(cell, space)\n print('done', flush=True)\nos._exit(0)";
/// Three ways in which a cell starts a process.
const CELL: &str = "import multiprocessing, os, signal, subprocess; \
    subprocess.Popen(['sleep', '1000'], stdin=subprocess.DEVNULL); \
    os.system('sleep 1000 & exit'); \
    multiprocessing.get_context('fork').Process(target=signal.pause).start()";
/// Answers, and then is busy with one command.
const WORKER: &str = "trap '' INT; while read -r command; do case $command in \
    ping) echo pong ;; work) echo working; exec sleep 1000 ;; esac; done";
const FOREGROUND: &str = "trap '' HUP; echo started; sleep 1000; exit";
/// A command that its shell forgets.
const BACKGROUND: &str = "nohup sh -c 'sleep 1000 | cat; exit' >/dev/null 2>&1 & echo $!";
const BRIDGES: [&str; 2] = [
    "trap '' HUP; exec sleep 1000",
    "trap '' TERM; exec sleep 1000",
];
/// A server that forks workers, which share its port.
const APP: &str = "import os, signal, socket\n\
    server = socket.create_server(('127.0.0.1', 0))\n\
    print(server.getsockname()[1], flush=True)\n\
    for worker in range(2):\n \
    if os.fork() == 0:\n  \
    while True:\n   \
    server.accept()[0].sendall(b'HTTP/1.0 204 No Content\\r\\n\\r\\n')\n\
    signal.pause()";
const SPEECH: &str = "sleep 1000 | cat >/dev/null; exit";
const PAIRING: &str = "trap '' PIPE; echo CODE-1234; exec sleep 1000";
/// Goes to the background by itself.
const MAINTENANCE: &str = "(setsid sh -c 'sleep 1000; exit' </dev/null >/dev/null 2>&1 &); exit";

impl Families {
    fn start(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        match name {
            "stdio tool server" => {
                let wrapped = ["-c", "sh -c \"$1\"; exit", "wrapper", TOOL_SERVER];
                let (mut input, mut output) = self.talk("sh", &wrapped);
                writeln!(input, "1").unwrap();
                assert_eq!(line(&mut output), "{\"result\":1}");
                self.keep(input, output);
            }
            "model router" => {
                let (mut input, mut output) = self.talk("sh", &["-c", ROUTER]);
                for model in ["small", "large"] {
                    writeln!(input, "{model}").unwrap();
                    assert_eq!(line(&mut output), format!("loaded {model}"));
                }
                self.keep(input, output);
            }
            "browser daemon" => self.browser(),
            "language server" => {
                let (mut input, mut output) = self.talk("sh", &["-c", LANGUAGE_SERVER]);
                writeln!(input, "Content-Length: 2\r\n\r\n{{}}").unwrap();
                assert_eq!(line(&mut output), "Content-Length: 2");
                self.keep(input, output);
            }
            "code kernel" => {
                let (mut input, mut output) = self.talk("python3", &["-c", KERNEL]);
                writeln!(input, "{CELL}").unwrap();
                assert_eq!(line(&mut output), "done");
                self.keep(input, output);
            }
            "slash-command worker" => {
                let (mut input, mut output) = self.talk("sh", &["-c", WORKER]);
                for (order, answer) in [("ping", "pong"), ("work", "working")] {
                    writeln!(input, "{order}").unwrap();
                    assert_eq!(line(&mut output), answer);
                }
                self.keep(input, output);
            }
            "foreground command" => self.foreground(),
            "background command" => {
                let mut output = self.listen("sh", &["-c", BACKGROUND]);
                assert!(line(&mut output).parse::<u32>().unwrap() > 1);
                self.members.last_mut().unwrap().wait();
            }
            "chat bridges" => {
                for text in BRIDGES {
                    self.run(&Start::new("sh", &["-c", text]));
                }
            }
            "verify app server" => {
                let mut output = self.listen("sh", &["-c", "exec python3 -c \"$1\"", "sh", APP]);
                self.port = line(&mut output).parse().unwrap();
                let mut answer = [0; 8];
                let mut peer = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
                peer.read_exact(&mut answer).unwrap();
                assert_eq!(&answer, b"HTTP/1.0");
            }
            "speech command" => {
                let speech = Start::new("sh", &["-c", SPEECH]).stdin(Stream::Piped);
                self.run(&speech);
            }
            "embedded driver" => {
                // Started by a thread that ends at once, on a device.
                let device = File::open("/dev/zero").unwrap();
                let driver = Start::new("sleep", &["1000"]).stdin(Stream::File(device));
                std::thread::scope(|scope| scope.spawn(|| self.run(&driver)).join()).unwrap();
            }
            "pairing bridge" => {
                let mut output = self.listen("sh", &["-c", PAIRING]);
                assert_eq!(line(&mut output), "CODE-1234");
            }
            "git maintenance" => {
                self.run(&Start::new("sh", &["-c", MAINTENANCE]));
                self.members.last_mut().unwrap().wait();
            }
            other => panic!("no family {other}"),
        }
    }

    fn run(&mut self, start: &Start) {
        let child = start.run(self.owner.as_ref(), &self.name);
        self.members.push(child);
    }

    /// Starts a program at two pipes.
    fn talk(&mut self, program: &str, words: &[&str]) -> (ChildStdin, BufReader<ChildStdout>) {
        self.run(
            &Start::new(program, words)
                .stdin(Stream::Piped)
                .stdout(Stream::Piped),
        );
        let (input, output) = self.members.last_mut().unwrap().pipes();
        (input.unwrap(), BufReader::new(output.unwrap()))
    }

    /// Starts a program that is listened to.
    fn listen(&mut self, program: &str, words: &[&str]) -> BufReader<ChildStdout> {
        self.run(&Start::new(program, words).stdout(Stream::Piped));
        let (_, output) = self.members.last_mut().unwrap().pipes();
        BufReader::new(output.unwrap())
    }

    fn keep(&mut self, input: ChildStdin, output: BufReader<ChildStdout>) {
        self.members
            .last_mut()
            .unwrap()
            .give_back(input, output.into_inner());
    }

    /// The daemon has left its launcher long before anybody can own it: it is adopted by its number.
    fn browser(&mut self) {
        let owner = self.owner.take();
        let mut output = self.listen("sh", &["-c", BROWSER]);
        let daemon: u32 = line(&mut output).parse().unwrap();
        self.members.last_mut().unwrap().wait();
        self.owner = owner;
        if let Some(owner) = &self.owner {
            owner.own_process_groups([daemon]).unwrap();
        }
    }

    /// At a terminal, of which this process holds the other end.
    fn foreground(&mut self) {
        let (mut ours, mut theirs) = (0, 0);
        let none = std::ptr::null_mut();
        // SAFETY: both numbers are filled and nothing else knows them; no sizes are passed.
        let (ours, theirs) = unsafe {
            let opened = libc::openpty(
                &raw mut ours,
                &raw mut theirs,
                none,
                none.cast(),
                none.cast(),
            );
            assert_eq!(opened, 0);
            libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(theirs, libc::F_SETFD, libc::FD_CLOEXEC);
            (File::from_raw_fd(ours), File::from_raw_fd(theirs))
        };
        let command = Start::new("sh", &["-c", FOREGROUND])
            .stdin(Stream::File(theirs.try_clone().unwrap()))
            .stdout(Stream::File(theirs));
        self.run(&command);
        let mut shown = BufReader::new(ours);
        assert_eq!(line(&mut shown), "started");
        self.terminal = Some(shown.into_inner());
    }
}

//! One way to start a child, plain or owned, so that nothing else differs.

use std::fs::File;
use std::io::BufRead;
use std::process::{ChildStdin, ChildStdout};

use spawn_owned::{Owned, Owner};

/// Where a stream leads.
pub(crate) enum Stream {
    Null,
    Piped,
    File(File),
}

/// What is started.
pub(crate) struct Start {
    program: String,
    words: Vec<String>,
    input: Stream,
    output: Stream,
}

impl Start {
    /// A program and its words, with streams that lead nowhere.
    pub(crate) fn new(program: &str, words: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            input: Stream::Null,
            output: Stream::Null,
        }
    }

    pub(crate) fn stdin(mut self, stream: Stream) -> Self {
        self.input = stream;
        self
    }

    pub(crate) fn stdout(mut self, stream: Stream) -> Self {
        self.output = stream;
        self
    }

    /// Starts it for a family: as an owned child where there is an owner.
    pub(crate) fn run(&self, owner: Option<&Owner>, family: &str) -> Child {
        if let Some(owner) = owner {
            use spawn_owned::Stdio;
            let stream = |stream: &Stream| match stream {
                Stream::Null => Stdio::null(),
                Stream::Piped => Stdio::piped(),
                Stream::File(file) => Stdio::from(file.try_clone().unwrap()),
            };
            let mut command = spawn_owned::Command::new(&self.program);
            command.args(&self.words).env("FAMILY", family);
            command.stdin(stream(&self.input));
            command.stdout(stream(&self.output)).stderr(Stdio::null());
            return Child::Owned(owner.spawn_owned(command, "a family").unwrap());
        }
        let stream = |stream: &Stream| match stream {
            Stream::Null => std::process::Stdio::null(),
            Stream::Piped => std::process::Stdio::piped(),
            Stream::File(file) => std::process::Stdio::from(file.try_clone().unwrap()),
        };
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.words).env("FAMILY", family);
        command.stdin(stream(&self.input));
        command
            .stdout(stream(&self.output))
            .stderr(std::process::Stdio::null());
        Child::Plain(command.spawn().unwrap())
    }
}

/// A child, plain or owned.
pub(crate) enum Child {
    Plain(std::process::Child),
    Owned(Owned),
}

impl Child {
    /// Its pipes, taken out.
    pub(crate) fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>) {
        match self {
            Self::Plain(child) => (child.stdin.take(), child.stdout.take()),
            Self::Owned(child) => (child.stdin.take(), child.stdout.take()),
        }
    }

    /// Puts its pipes back: they are open as long as it is held.
    pub(crate) fn give_back(&mut self, input: ChildStdin, output: ChildStdout) {
        match self {
            Self::Plain(child) => (child.stdin, child.stdout) = (Some(input), Some(output)),
            Self::Owned(child) => (child.stdin, child.stdout) = (Some(input), Some(output)),
        }
    }

    /// Waits for its own end.
    pub(crate) fn wait(&mut self) {
        match self {
            Self::Plain(child) => assert!(child.wait().unwrap().success()),
            Self::Owned(child) => assert!(child.wait().unwrap().success()),
        }
    }
}

/// The next line, without its end.
pub(crate) fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

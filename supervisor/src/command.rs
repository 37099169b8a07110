//! What to run, in the words of the standard library's `Command`, whose own cannot be read back.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::sys;

/// A program to start: arguments, environment, folder and standard streams.
///
/// ```
/// let mut command = spawn_owned::Command::new("sh");
/// command.arg("-c").arg("exit 3").env("LANG", "C").stdout(spawn_owned::Stdio::null());
/// ```
#[derive(Debug)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    environment: BTreeMap<OsString, Option<OsString>>,
    cleared: bool,
    directory: Option<PathBuf>,
    streams: [Stdio; 3],
}

/// Where a standard stream of a child leads.
///
/// ```no_run
/// use spawn_owned::{Command, Stdio};
///
/// let log = std::fs::File::create("server.log")?;
/// let mut command = Command::new("model-server");
/// command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Stdio(Stream);

#[derive(Debug)]
enum Stream {
    Inherit,
    Null,
    Piped,
    File(OwnedFd),
}

impl Stdio {
    /// To where the owner's own stream leads.
    ///
    /// ```
    /// # use spawn_owned::{Command, Stdio};
    /// let mut command = Command::new("git");
    /// command.stderr(Stdio::inherit()); // its progress is the user's to see
    /// ```
    pub fn inherit() -> Self {
        Self(Stream::Inherit)
    }

    /// To nowhere ([null(4)](https://man7.org/linux/man-pages/man4/null.4.html)).
    ///
    /// ```
    /// # use spawn_owned::{Command, Stdio};
    /// let mut command = Command::new("dev-server");
    /// command.stdin(Stdio::null()); // it asks nobody anything
    /// ```
    pub fn null() -> Self {
        Self(Stream::Null)
    }

    /// To a pipe, whose other end is in the handle. A child that writes waits while the pipe is full
    /// ([pipe(7)](https://man7.org/linux/man-pages/man7/pipe.7.html)): somebody has to read.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Stdio, spawn_owned};
    /// use std::io::Write as _;
    ///
    /// let mut command = Command::new("sort");
    /// command.stdin(Stdio::piped());
    /// let mut sort = spawn_owned(command, "the order of the report")?;
    /// if let Some(input) = &mut sort.stdin {
    ///     input.write_all(b"pear\napple\n")?;
    /// }
    /// sort.wait()?; // closes the pipe first
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn piped() -> Self {
        Self(Stream::Piped)
    }
}

impl From<OwnedFd> for Stdio {
    fn from(fd: OwnedFd) -> Self {
        Self(Stream::File(fd))
    }
}

impl From<File> for Stdio {
    fn from(file: File) -> Self {
        Self(Stream::File(file.into()))
    }
}

impl Command {
    /// The program `program`, looked up in the child's `PATH` unless it holds a `/`, as
    /// [exec(3)](https://man7.org/linux/man-pages/man3/exec.3.html) has it; no arguments, the owner's
    /// environment, folder and streams.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let by_name = Command::new("python3"); // the first one in `PATH`
    /// let by_path = Command::new("./build/server"); // this file and no other
    /// ```
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            cleared: false,
            directory: None,
            streams: [Stdio::inherit(), Stdio::inherit(), Stdio::inherit()],
        }
    }

    /// Adds an argument, which the program gets as it is: no shell reads it
    /// ([execve(2)](https://man7.org/linux/man-pages/man2/execve.2.html)).
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("git");
    /// command.arg("commit").arg("--message").arg("one argument, $HOME and 'quotes' too");
    /// ```
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("cargo");
    /// command.args(["test", "--locked"]).args(std::env::args_os().skip(1));
    /// ```
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        let arguments = arguments.into_iter();
        self.arguments
            .extend(arguments.map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the environment
    /// ([environ(7)](https://man7.org/linux/man-pages/man7/environ.7.html)).
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("model-server");
    /// command.env("PORT", 8080.to_string()).env("RUST_LOG", "info");
    /// ```
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        let value = Some(value.as_ref().to_owned());
        self.environment.insert(name.as_ref().to_owned(), value);
        self
    }

    /// Takes a variable out of the environment.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("git");
    /// command.arg("status").env_remove("GIT_DIR"); // a hook's own repository is not the child's
    /// ```
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.environment.insert(name.as_ref().to_owned(), None);
        self
    }

    /// Starts from an empty environment. The mark by which an owned child is found stays.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("plugin");
    /// command.env_clear().env("PATH", "/usr/bin:/bin"); // it sees none of our keys
    /// ```
    pub fn env_clear(&mut self) -> &mut Self {
        self.cleared = true;
        self.environment.clear();
        self
    }

    /// Sets the folder it starts in ([chdir(2)](https://man7.org/linux/man-pages/man2/chdir.2.html)). A
    /// program that is named by a relative path is looked for from there.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("make");
    /// command.arg("all").current_dir("/src/project");
    /// ```
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets where its standard input comes from.
    ///
    /// ```no_run
    /// # use spawn_owned::{Command, Stdio, spawn_owned};
    /// let mut list = Command::new("find");
    /// list.arg(".").stdout(Stdio::piped());
    /// let mut list = spawn_owned(list, "what is to be counted")?;
    /// let mut count = Command::new("wc");
    /// if let Some(names) = list.stdout.take() {
    ///     count.arg("-l").stdin(std::os::fd::OwnedFd::from(names)); // find . | wc -l
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[0] = stream.into();
        self
    }

    /// Sets where its standard output goes.
    ///
    /// ```no_run
    /// # use spawn_owned::Command;
    /// let mut command = Command::new("pg_dump");
    /// command.arg("shop").stdout(std::fs::File::create("shop.sql")?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[1] = stream.into();
        self
    }

    /// Sets where its standard error goes.
    ///
    /// ```
    /// # use spawn_owned::{Command, Stdio};
    /// let mut command = Command::new("ffmpeg");
    /// command.args(["-i", "in.wav", "out.mp3"]).stderr(Stdio::null());
    /// ```
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[2] = stream.into();
        self
    }

    /// The program as it was named.
    ///
    /// ```
    /// # use spawn_owned::Command;
    /// let command = Command::new("./build/server");
    /// assert_eq!(command.get_program(), "./build/server");
    /// ```
    pub fn get_program(&self) -> &OsStr {
        &self.program
    }

    /// Everything made ready for the system; `mark` is set or, without a value, taken out.
    pub(crate) fn prepare(&self, mark: (&str, Option<Vec<u8>>)) -> Result<Prepared, Error> {
        let refused = |source| Error::Program {
            program: self.program.clone().into(),
            source,
        };
        let mut environment = self.environment();
        environment.remove(OsStr::new(mark.0));
        if let Some(value) = mark.1 {
            environment.insert(mark.0.into(), OsString::from_vec(value));
        }
        let path = self.find(&environment).map_err(refused)?;
        runnable(&path, self.directory.as_deref()).map_err(|source| Error::Program {
            program: path.clone(),
            source,
        })?;
        let texts = |texts: &[OsString]| texts.iter().map(|text| c_text(text)).collect();
        let arguments: io::Result<Vec<_>> = texts(&self.arguments);
        let directory = self
            .directory
            .as_deref()
            .map(|path| c_text(path.as_os_str()));
        let (places, ends) = self.open_streams().map_err(refused)?;
        Ok(Prepared {
            name: c_text(&self.program).map_err(refused)?,
            path: c_text(path.as_os_str()).map_err(refused)?,
            found_in_path: self.found_in_path(&environment),
            arguments: arguments.map_err(refused)?,
            environment: environment.into_iter().collect(),
            directory: directory.transpose().map_err(refused)?,
            places,
            ends,
        })
    }

    /// The variables that the child gets.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut all = BTreeMap::new();
        if !self.cleared {
            all.extend(std::env::vars_os());
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => all.insert(name.clone(), value.clone()),
                None => all.remove(name),
            };
        }
        all
    }

    /// The program's path: as it is named if that holds a `/`, else from the child's `PATH`.
    fn find(&self, environment: &BTreeMap<OsString, OsString>) -> io::Result<PathBuf> {
        if self.program.as_bytes().contains(&b'/') {
            return Ok(self.program.clone().into());
        }
        let missing = |why| io::Error::new(io::ErrorKind::NotFound, why);
        if self.program.is_empty() {
            return Err(missing("no program is named"));
        }
        let own = std::env::var_os("PATH");
        let path = environment.get(OsStr::new("PATH")).cloned().or(own);
        let path = path.unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut fault = missing("no such program in PATH");
        for folder in std::env::split_paths(&path) {
            let candidate = std::path::absolute(folder.join(&self.program))?;
            match runnable(&candidate, None) {
                Ok(()) => return Ok(candidate),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => fault = error,
            }
        }
        Err(fault)
    }

    /// Whether the child would find the program by its name as [`Command::find`] does: it has a `PATH`,
    /// which means the same from its folder.
    fn found_in_path(&self, environment: &BTreeMap<OsString, OsString>) -> bool {
        let bare = !self.program.as_bytes().contains(&b'/');
        let path = environment.get(OsStr::new("PATH"));
        bare && path
            .is_some_and(|path| std::env::split_paths(path).all(|folder| folder.is_absolute()))
    }

    /// The child's streams, by number, and our ends of those that are pipes.
    fn open_streams(&self) -> io::Result<(Places, Ends)> {
        let mut places = Vec::new();
        let mut ends = [None, None, None];
        for ((number, stream), end) in (0..).zip(&self.streams).zip(&mut ends) {
            let theirs = match &stream.0 {
                Stream::Inherit => continue,
                Stream::Null => {
                    sys::above_standard(&File::options().read(true).write(true).open("/dev/null")?)?
                }
                Stream::File(fd) => sys::above_standard(fd)?,
                Stream::Piped => {
                    let (read, write) = sys::pipe()?;
                    let (theirs, ours) = if number == 0 {
                        (read, write)
                    } else {
                        (write, read)
                    };
                    *end = Some(ours);
                    theirs
                }
            };
            places.push((theirs, number));
        }
        Ok((places, ends))
    }
}

/// A child's streams: what becomes which number.
type Places = Vec<(OwnedFd, i32)>;
/// Our ends of a child's pipes, by the number of the stream.
type Ends = [Option<OwnedFd>; 3];

/// A command in the words of the system.
pub(crate) struct Prepared {
    /// The program as it was named: the first of its arguments.
    pub(crate) name: CString,
    pub(crate) path: CString,
    /// Whether a look-up of the name in the child's own `PATH` gives the path.
    pub(crate) found_in_path: bool,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: Option<CString>,
    places: Places,
    /// Our ends of its pipes.
    pub(crate) ends: Ends,
}

impl Prepared {
    /// The descriptors that become its streams.
    pub(crate) fn descriptors(&self) -> Vec<(i32, i32)> {
        let places = self.places.iter();
        places
            .map(|(fd, number)| (fd.as_raw_fd(), *number))
            .collect()
    }
}

/// A text for the system; it may not hold NUL.
pub(crate) fn c_text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "a text for a program holds NUL",
        )
    })
}

/// `NAME=VALUE` for the system.
pub(crate) fn c_variable(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let mut text = name.to_owned();
    text.push("=");
    text.push(value);
    c_text(&text)
}

/// Whether a file can be run: found before anything is started, so that the error is the caller's.
fn runnable(path: &Path, directory: Option<&Path>) -> io::Result<()> {
    let path = directory.map_or_else(|| path.to_owned(), |directory| directory.join(path));
    let data = path.metadata()?;
    if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // What may be run but not read is left to the system.
    let Ok(mut file) = File::open(&path) else {
        return Ok(());
    };
    let mut start = [0; 256];
    let length = file.read(&mut start)?;
    let line = start[..length].strip_prefix(b"#!");
    let Some(line) = line.and_then(|line| line.split(|byte| *byte == b'\n').next()) else {
        return Ok(());
    };
    let words = line.split(u8::is_ascii_whitespace);
    let Some(interpreter) = words.into_iter().find(|word| !word.is_empty()) else {
        return Ok(());
    };
    Path::new(OsStr::from_bytes(interpreter))
        .metadata()
        .map(drop)
}

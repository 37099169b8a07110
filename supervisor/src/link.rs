//! The lifeline of an owner and the supervisor at its other end.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::command::c_text;
use crate::error::{Error, tried};
use crate::sabotage::sabotaged;
use crate::sys::{self, ControlGroup, Leads, Lifeline, Order, Pid};

/// The supervisor as a program for a shell.
const SCRIPT: &str = include_str!("supervisor.sh");
/// How long a supervisor may let its owner wait.
const PATIENCE: Duration = Duration::from_secs(2);
/// Whether this program called [`crate::init`], so that its own file can serve.
static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Remembers that this program's own file can be started as launcher and supervisor.
pub(crate) fn initialised() {
    INITIALISED.store(true, Ordering::Relaxed);
}

/// This program's own file, as a path that can be started.
pub(crate) fn own_file() -> io::Result<PathBuf> {
    // Also right when the file was replaced since: it means the program that runs.
    let linux = Path::new("/proc/self/exe");
    if linux.exists() {
        Ok(linux.to_owned())
    } else {
        std::env::current_exe()
    }
}

/// What a launcher and a supervisor are made of.
///
/// ```
/// use spawn_owned::{Owner, Tier};
///
/// let owner = Owner::builder().no_ledger().build()?;
/// assert_eq!(owner.status()?.tier, Tier::Shell); // nobody has called `spawn_owned::init()`
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tier {
    /// A POSIX shell. Needs nothing that is not there.
    Shell,
    /// A program: holds processes by descriptors that cannot mean another
    /// ([pidfd_open(2)](https://man7.org/linux/man-pages/man2/pidfd_open.2.html)), and watches the owner
    /// itself.
    Native,
}

impl Tier {
    /// Its name in the ledger.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::Native => "native",
        }
    }
}

/// The tier and the file it is started from.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    pub(crate) tier: Tier,
    pub(crate) path: PathBuf,
}

impl Helper {
    /// What was asked for, else this program itself if it can, else the system's shell.
    pub(crate) fn choose(asked: Option<&Self>) -> Self {
        if let Some(asked) = asked {
            return asked.clone();
        }
        if INITIALISED.load(Ordering::Relaxed)
            && let Ok(path) = own_file()
        {
            return Self {
                tier: Tier::Native,
                path,
            };
        }
        Self {
            tier: Tier::Shell,
            path: "/bin/sh".into(),
        }
    }
}

/// What a supervisor is told about its owner.
pub(crate) struct About<'a> {
    pub(crate) helper: &'a Helper,
    /// Ended as a whole after everything else.
    pub(crate) control_group: Option<&'a ControlGroup>,
    pub(crate) token: &'a str,
    pub(crate) grace: Duration,
    pub(crate) owner: i32,
    pub(crate) owner_start: u64,
}

/// A supervisor at work.
pub(crate) struct Link {
    pub(crate) line: Arc<Lifeline>,
    pub(crate) supervisor: Pid,
    pub(crate) since: Instant,
    /// Whether it ended before it said that it works: nothing may be started for it to protect.
    pub(crate) stillborn: bool,
}

/// A supervisor that was just started.
struct Started {
    pid: Pid,
    /// Where it reads its script from.
    script: Option<OwnedFd>,
    /// Where it says that it works.
    word: OwnedFd,
}

impl Link {
    /// Starts a supervisor and tells it `lines`.
    pub(crate) fn start(about: &About<'_>, lines: &str) -> Result<Self, Error> {
        let made = Lifeline::new(|| {
            let (read, write) = sys::pipe()?;
            // No write on it waits, of this process or of a child that says who it is.
            sys::never_wait(&write);
            // Before there is a supervisor: one whose owner dies meanwhile is to know what was handed back.
            let told = sys::write_what_fits(&write, lines.as_bytes())?;
            let started = start_supervisor(about, &read)?;
            io::Result::Ok((write, (started, told)))
        })
        .map_err(|source| Error::Spawn {
            program: about.helper.path.clone(),
            source,
        })?;
        let (line, (started, told)) = made.ok_or_else(|| Error::Unprotected {
            why: "this process has as many owners as it can have".to_owned(),
        })?;
        let mut link = Self {
            line: Arc::new(line),
            supervisor: started.pid,
            since: Instant::now(),
            stillborn: false,
        };
        if let Some(script) = started.script {
            let text = sabotaged_script();
            let written = sys::write_quietly(script.as_fd(), text.as_bytes(), PATIENCE);
            // A reader that is gone is seen by the watcher, which says why.
            if let Err(error) = written
                && error.kind() != io::ErrorKind::BrokenPipe
            {
                return Err(tried("hand the supervisor its script")(error));
            }
        }
        link.tell(&lines[told..], PATIENCE);
        link.stillborn = ended_at_once(started.word);
        Ok(link)
    }

    /// Writes lines to the supervisor. One that does not read is ended: its end is seen by the watcher,
    /// which starts another and tells that one everything.
    pub(crate) fn tell(&self, lines: &str, patience: Duration) {
        let Some(fd) = self.line.fd() else { return };
        let told = sys::write_quietly(fd, lines.as_bytes(), patience);
        if told.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            let _ = sys::signal_process(self.supervisor, libc::SIGKILL);
        }
    }
}

/// Whether a supervisor closed its output without a word. One that says nothing for long is slow, not
/// broken: its end is seen later.
fn ended_at_once(word: OwnedFd) -> bool {
    matches!(sys::poll_one(Some(word.as_fd()), Some(PATIENCE)), Ok(true))
        && !matches!(File::from(word).read(&mut [0; 8]), Ok(1..))
}

/// Starts the program at the read end, in a session, folder and environment of its own.
fn start_supervisor(about: &About<'_>, read: &OwnedFd) -> io::Result<Started> {
    let null = sys::above_standard(&File::options().read(true).write(true).open("/dev/null")?)?;
    let grace = about.grace;
    let group = sys::own_group();
    let (arguments, script) = match about.helper.tier {
        Tier::Shell => {
            let seconds = grace.as_millis().div_ceil(1000);
            let arguments = format!("sh -s {} {seconds} {group}", about.token);
            (arguments, Some(sys::pipe()?))
        }
        Tier::Native => {
            let (token, millis) = (about.token, grace.as_millis());
            let owner = format!("{} {}", about.owner, about.owner_start);
            (
                format!("{NATIVE} supervise {token} {millis} {group} {owner}"),
                None,
            )
        }
    };
    let input = script.as_ref().map_or(&null, |(read, _)| read);
    let (word, say) = sys::pipe()?;
    let mut descriptors = vec![(input.as_raw_fd(), 0), (say.as_raw_fd(), 1)];
    descriptors.extend([(null.as_raw_fd(), 2), (read.as_raw_fd(), 3)]);
    let mut arguments: Vec<CString> = words(&arguments)?;
    let folder = about
        .control_group
        .map(|group| c_text(group.folder().as_os_str()));
    arguments.extend(folder.transpose()?);
    let environment =
        words("LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin")?;
    let pid = sys::spawn(&Order {
        path: &c_text(about.helper.path.as_os_str())?,
        arguments: &arguments,
        environment: &with_sabotage(environment),
        directory: Some(c"/"),
        descriptors: &descriptors,
        closed: &sys::inheritable(),
        leads: Leads::Session,
        shielded: true,
    })?;
    sys::give_short_turns(pid.get());
    Ok(Started {
        pid,
        script: script.map(|(_, write)| write),
        word,
    })
}

/// The first argument of this program where it is launcher or supervisor.
pub(crate) const NATIVE: &str = "spawn-owned";

fn words(text: &str) -> io::Result<Vec<CString>> {
    text.split(' ')
        .map(|word| c_text(OsStr::new(word)))
        .collect()
}

/// In a debug build the switches reach the supervisor too.
fn with_sabotage(mut environment: Vec<CString>) -> Vec<CString> {
    if cfg!(debug_assertions)
        && let Ok(off) = std::env::var("SPAWN_OWNED_SABOTAGE")
        && let Ok(variable) = CString::new(format!("SPAWN_OWNED_SABOTAGE={off}"))
    {
        environment.push(variable);
    }
    environment
}

/// The script, with one mechanism taken out where a test asks for it.
fn sabotaged_script() -> String {
    let mut script = SCRIPT.to_owned();
    let mut without = |name: &str, from: &str, to: &str| {
        if sabotaged(name) {
            script = script.replace(from, to);
        }
    };
    without("cont", "TERM CONT", "TERM");
    without("identity", "look \"$1\" || return 0", "return 0");
    without(
        "cookie",
        "grep -lsF \"$token.\"",
        "grep -lsF \"none of them\"",
    );
    script
}

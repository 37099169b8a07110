//! What lost whoever started it: found by evidence, told with what it holds, ended only where it is
//! provably ours.
//!
//! That a process hangs below the first one proves nothing: services do, and an orphan may hang below a
//! subreaper. Proof is a mark of an owner that is provably dead, or a session that its parent is not in:
//! a process gets its session from whoever started it, unless it leads one
//! ([setsid(2)](https://man7.org/linux/man-pages/man2/setsid.2.html)).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cookie::Marked;
use crate::error::{Error, tried};
use crate::tasks::{State, Store, Who};
use crate::{ledger, process, sweep, sys};

/// Whose an orphan is.
///
/// ```
/// use spawn_owned::doctor::Whose;
///
/// fn may_be_ended(whose: &Whose) -> bool {
///     matches!(whose, Whose::Ours { .. }) // what nobody knows may be somebody's
/// }
/// assert!(!may_be_ended(&Whose::Unknown));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whose {
    /// It carries the mark of an owner that is dead: it should have been ended.
    Ours {
        /// The owner as the ledger names it.
        owner: String,
    },
    /// It outlives whoever started it, for a reason that was given.
    Declared {
        /// The reason.
        reason: String,
    },
    /// Its starter is gone, and nobody here knows who that was.
    Unknown,
}

/// A process that lost whoever started it.
///
/// ```no_run
/// use spawn_owned::{doctor, tasks::Store};
///
/// for orphan in doctor::orphans(&Store::open()?)? {
///     if orphan.ports.contains(&8080) {
///         println!("{} holds the port: {}", orphan.who.pid, orphan.command.join(" "));
///     }
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Orphan {
    /// Who it is.
    pub who: Who,
    /// What it runs.
    pub command: Vec<String>,
    /// Whose it is.
    pub whose: Whose,
    /// When it started, in seconds since 1970.
    pub since: f64,
    /// Below whom it hangs now.
    pub parent: i32,
    /// Its memory in bytes: its resident set.
    pub memory: u64,
    /// The TCP ports that it listens on.
    pub ports: Vec<u16>,
    /// Graphics processors that it has open.
    pub devices: Vec<String>,
    /// Its control group.
    pub cgroup: String,
}

impl Orphan {
    /// As JSON.
    ///
    /// ```no_run
    /// # use spawn_owned::{doctor, tasks::Store};
    /// for orphan in doctor::orphans(&Store::open()?)? {
    ///     println!("{}", orphan.value()); // one object a line
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn value(&self) -> Value {
        let (whose, owner, reason) = match &self.whose {
            Whose::Ours { owner } => ("ours", Some(owner), None),
            Whose::Declared { reason } => ("declared", None, Some(reason)),
            Whose::Unknown => ("unknown", None, None),
        };
        json!({
            "pid": self.who.pid, "start": self.who.start, "command": self.command, "whose": whose,
            "owner": owner, "reason": reason, "since": self.since, "parent": self.parent,
            "memory": self.memory, "ports": self.ports, "devices": self.devices, "cgroup": self.cgroup,
        })
    }
}

/// The rows of the user's ledger, and how many lines of it are torn.
///
/// ```no_run
/// let (rows, torn) = spawn_owned::doctor::ledger_rows()?;
/// let starts = rows.iter().filter(|row| row["kind"] == "start");
/// println!("{} children were started; {torn} lines are torn", starts.count());
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Ledger`] if it cannot be read.
pub fn ledger_rows() -> Result<(Vec<Value>, usize), Error> {
    let path = ledger::default_path().unwrap_or_default();
    let rows = ledger::read(&path).map_err(|source| Error::Ledger { path, source })?;
    Ok((rows.rows, rows.torn.len()))
}

/// What is known of owners.
struct Known {
    dead: Vec<(Marked, String)>,
    /// What was started to outlive, with the reason.
    declared: BTreeMap<(i32, u64), String>,
}

impl Known {
    fn read(store: &Store) -> Result<Self, Error> {
        let (rows, _) = ledger_rows()?;
        let mut names = BTreeMap::new();
        let mut declared = BTreeMap::new();
        for row in &rows {
            let token = row["owner"]["token"].as_str().unwrap_or_default();
            if let Some(program) = row["program"].as_str().filter(|_| row["kind"] == "owner") {
                names.insert(
                    token.to_owned(),
                    format!("{program} ({})", row["owner"]["pid"]),
                );
            }
            let child = Who::from_value(&row["child"]);
            if let (Some(reason), Some(child)) = (row["reason"].as_str(), child) {
                declared.insert((child.pid, child.start), reason.to_owned());
            }
        }
        for task in store
            .list()?
            .into_iter()
            .filter(|task| task.state != State::Lost)
        {
            if let (Some(reason), Some(main)) = (task.reason, task.main) {
                declared.insert((main.pid, main.start), reason);
            }
        }
        let dead = sweep::owners(&rows).into_iter().map(|(token, left)| {
            let name = names
                .get(&token)
                .cloned()
                .unwrap_or_else(|| "an owner".to_owned());
            (
                Marked {
                    token,
                    only: None,
                    except: left.kept,
                },
                name,
            )
        });
        Ok(Self {
            dead: dead.collect(),
            declared,
        })
    }

    fn whose(&self, who: Who) -> Option<Whose> {
        // What it started belongs to it: the reason is asked of the leader of its session too.
        let leader = process::session(who.pid).and_then(Who::now);
        for who in [Some(who), leader].into_iter().flatten() {
            if let Some(reason) = self.declared.get(&(who.pid, who.start)) {
                return Some(Whose::Declared {
                    reason: reason.clone(),
                });
            }
        }
        let environment = process::environment(who.pid)?;
        let dead = self
            .dead
            .iter()
            .find(|(marked, _)| marked.carried(&environment));
        dead.map(|(_, owner)| Whose::Ours {
            owner: owner.clone(),
        })
    }
}

/// Finds the orphans of this user.
///
/// ```no_run
/// # use spawn_owned::{doctor::{self, Whose}, tasks::Store};
/// for orphan in doctor::orphans(&Store::open()?)? {
///     if let Whose::Ours { owner } = &orphan.whose {
///         println!("{} was left by {owner}", orphan.who.pid);
///     }
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Ledger`] or [`Error::State`] if what is recorded cannot be read.
pub fn orphans(store: &Store) -> Result<Vec<Orphan>, Error> {
    let known = Known::read(store)?;
    let mut found = Vec::new();
    for who in own_processes() {
        let whose = known.whose(who);
        if let Some(whose) = whose.or_else(|| reparented(who.pid).then_some(Whose::Unknown)) {
            found.extend(orphan(who, whose));
        }
    }
    Ok(found)
}

/// The processes of this user, but this one and those above it.
fn own_processes() -> Vec<Who> {
    let own = sys::own_pid();
    let user = process::user(own);
    let mut above: BTreeSet<i32> = process::ancestors(own)
        .into_iter()
        .map(|(pid, _)| pid)
        .collect();
    above.insert(own);
    let all = process::all().filter(|pid| *pid > 1 && !above.contains(pid));
    all.filter(|pid| process::user(*pid) == user)
        .filter_map(Who::now)
        .collect()
}

/// Whether whoever started it has surely gone: it does not lead its session, and its parent is not in it.
fn reparented(pid: i32) -> bool {
    let parent = process::look(pid).map_or(0, |process| process.parent);
    let session = process::session(pid).filter(|session| *session != pid);
    parent > 0 && session.is_some_and(|session| process::session(parent) != Some(session))
}

/// All that is told of an orphan; none if it has ended meanwhile.
fn orphan(who: Who, whose: Whose) -> Option<Orphan> {
    let (memory, _) = process::usage(who.pid)?;
    let cgroup = fs::read_to_string(format!("/proc/{}/cgroup", who.pid)).unwrap_or_default();
    let cgroup = cgroup
        .lines()
        .last()
        .and_then(|line| line.rsplit(':').next())
        .unwrap_or_default();
    let open = open_files(who.pid);
    let gpu = |name: &&String| name.starts_with("/dev/nvidia") || name.starts_with("/dev/dri/");
    let devices: BTreeSet<String> = open.iter().filter(gpu).cloned().collect();
    Some(Orphan {
        who,
        command: process::command_line(who.pid),
        whose,
        since: process::started_at(who.start),
        parent: process::look(who.pid)?.parent,
        memory,
        ports: ports(who.pid, &open),
        devices: devices.into_iter().collect(),
        cgroup: cgroup.to_owned(),
    })
}

/// What a process has open, as the system names it.
fn open_files(pid: i32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links
        .map(|link| link.to_string_lossy().into_owned())
        .collect()
}

/// The TCP ports that it listens on, of the tables of its own network.
fn ports(pid: i32, open: &[String]) -> Vec<u16> {
    let mut ports = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let (Some(local), Some(&"0A"), Some(inode)) =
                (fields.get(1), fields.get(3), fields.get(9))
            else {
                continue;
            };
            let socket = format!("socket:[{inode}]");
            let port = local
                .rsplit(':')
                .next()
                .and_then(|port| u16::from_str_radix(port, 16).ok());
            ports.extend(port.filter(|_| open.contains(&socket)));
        }
    }
    ports.into_iter().collect()
}

/// What runs now, to be compared with later.
///
/// ```
/// let before = spawn_owned::doctor::snapshot();
/// assert_eq!(before["version"], 1);
/// assert!(before["processes"].is_array());
/// ```
pub fn snapshot() -> Value {
    let all = own_processes().into_iter();
    let values = all.map(|who| {
        json!({"pid": who.pid, "start": who.start, "command": process::command_line(who.pid)})
    });
    json!({"version": 1, "boot": process::boot(), "processes": values.collect::<Vec<_>>()})
}

/// What runs now and did not when `snapshot` was taken. It is of this start of the machine if that has the
/// same `boot_id` ([random(4)](https://man7.org/linux/man-pages/man4/random.4.html)).
///
/// ```no_run
/// # use spawn_owned::{doctor, tasks::Store};
/// let before = doctor::snapshot();
/// // … a test suite runs …
/// let new = doctor::since(&Store::open()?, &before)?;
/// println!("{} processes were left by the tests", new.len());
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::System`] if that is no snapshot of this start of the machine, else as [`orphans`].
pub fn since(store: &Store, snapshot: &Value) -> Result<Vec<Orphan>, Error> {
    let processes = snapshot["processes"]
        .as_array()
        .filter(|_| snapshot["boot"] == process::boot());
    let fault = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not of this start of the machine",
        )
    };
    let processes = processes
        .ok_or_else(fault)
        .map_err(tried("compare with the snapshot"))?;
    let before: BTreeSet<Who> = processes.iter().filter_map(Who::from_value).collect();
    let known = Known::read(store)?;
    let new = own_processes()
        .into_iter()
        .filter(|who| !before.contains(who));
    Ok(new
        .filter_map(|who| orphan(who, known.whose(who).unwrap_or(Whose::Unknown)))
        .collect())
}

/// Ends what is provably ours: what dead owners left. How many processes live on although they were
/// killed.
///
/// ```no_run
/// # use std::time::Duration;
/// let left = spawn_owned::doctor::end_ours(Duration::from_secs(3))?;
/// if left > 0 {
///     eprintln!("{left} processes live on although they were killed");
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Ledger`] if the ledger cannot be read.
pub fn end_ours(grace: Duration) -> Result<usize, Error> {
    let path = ledger::default_path().unwrap_or_default();
    Ok(sweep::sweep(Path::new(&path), grace)?.left)
}

/// Ends one process that somebody said may end, if it still is the one that was shown: asks it, and
/// kills it after `grace`. False if it lives on. The signal goes to the process and never to its number
/// ([pidfd_send_signal(2)](https://man7.org/linux/man-pages/man2/pidfd_send_signal.2.html)).
///
/// ```no_run
/// # use spawn_owned::{doctor, tasks::Store};
/// # use std::time::Duration;
/// let orphans = doctor::orphans(&Store::open()?)?;
/// // The user was shown the first one, and said yes. If its number is another's by now, that one is safe.
/// if let Some(orphan) = orphans.first() {
///     doctor::end_one(orphan.who, Duration::from_secs(3))?;
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::System`] if it may not be signalled.
pub fn end_one(who: Who, grace: Duration) -> Result<bool, Error> {
    use std::os::fd::AsFd as _;
    let Ok(handle) = sys::open_process(who.pid) else {
        return Ok(!who.lives());
    };
    // Looked at after opening: then the descriptor is its own.
    if !who.lives() {
        return Ok(true);
    }
    for signal in [libc::SIGTERM, libc::SIGCONT, libc::SIGKILL] {
        if signal == libc::SIGKILL
            && sys::poll_one(Some(handle.as_fd()), Some(grace)).map_err(tried("wait for it"))?
        {
            return Ok(true);
        }
        let sent = sys::signal_through(handle.as_fd(), signal, false);
        match sent {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(true),
            sent => sent.map_err(tried("signal the process"))?,
        }
    }
    let gone = sys::poll_one(Some(handle.as_fd()), Some(Duration::from_secs(2)));
    gone.map_err(tried("wait for it"))
}

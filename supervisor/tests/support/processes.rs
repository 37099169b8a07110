//! The processes below one, as the system tells them: everything, whatever it did to get away, where
//! that one is a child subreaper.

use std::collections::{BTreeMap, BTreeSet};

/// A process at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// The letter of its state.
    pub(crate) state: char,
}

impl Process {
    /// Whether it has not ended.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// The process with this number, if there is one.
pub(crate) fn look(pid: i32) -> Option<Process> {
    let line = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut fields = line.rsplit(") ").next()?.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    Some(Process {
        pid,
        state,
        parent: number()?,
        group: number()?,
        session: number()?,
    })
}

/// Every living process below `root`, in ascending order.
pub(crate) fn below(root: i32) -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let all: BTreeMap<i32, Process> = pids.filter_map(|pid| Some((pid, look(pid)?))).collect();
    let mut below = BTreeSet::from([root]);
    let mut before = 0;
    // Parents may have higher numbers than their children: as often as something new is found.
    while below.len() > before {
        before = below.len();
        let found = all.values().filter(|one| below.contains(&one.parent));
        below.extend(found.map(|one| one.pid).collect::<Vec<_>>());
    }
    below.remove(&root);
    let found = all.into_values();
    found
        .filter(|one| one.lives() && below.contains(&one.pid))
        .collect()
}

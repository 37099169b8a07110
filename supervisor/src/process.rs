//! What the system says of a process: who it is, whose, and in which group.
//!
//! On Linux from [proc(5)](https://man7.org/linux/man-pages/man5/proc.5.html). Elsewhere nothing is
//! known here, and what needs it falls back to numbers.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt;

use crate::sys::{self, Pid};

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) parent: i32,
    pub(crate) group: i32,
    /// When it started, in clock ticks since the machine did: with the number, its identity.
    pub(crate) start: u64,
    /// Whether it only waits to be reaped.
    pub(crate) ended: bool,
}

/// A process that stays the same one although numbers are given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: Pid,
    /// 0 where the system does not say.
    pub(crate) start: u64,
}

impl Identity {
    /// Who has the number now; none if nobody has.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let start = look(pid.get())?.start;
        Some(Self { pid, start })
    }

    /// The process that two words of a line name, in plain digits.
    pub(crate) fn named(pid: &[u8], start: &[u8]) -> Option<Self> {
        Some(Self {
            pid: Pid::new(i32::try_from(plain_number(pid)?).ok()?)?,
            start: plain_number(start)?,
        })
    }
}

/// The number that is written in digits and in nothing else, as numbers are: without a zero before it.
pub(crate) fn plain_number(text: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    match text {
        [] | [b'0', _, ..] => None,
        digits => digits.iter().try_fold(0_u64, |number, byte| {
            number.checked_mul(10)?.checked_add(digit(byte)?)
        }),
    }
}

/// The process with this number, if there is one.
pub(crate) fn look(pid: i32) -> Option<Process> {
    parse(&status_line(pid)?)
}

/// The process group of a process; none if there is no such process. Asked of every process there is, so not
/// of its file where the system tells it at once.
pub(crate) fn group(pid: i32) -> Option<i32> {
    sys::group_of(pid).or_else(|| Some(look(pid)?.group))
}

/// Whether the process that started at `start` has not ended: its number alone may mean another.
pub(crate) fn lives(pid: i32, start: u64) -> bool {
    look(pid).is_some_and(|now| now.start == start && !now.ended)
}

/// The start of the process that a line of `/proc/PID/stat` tells of; 0 where it says none. Safe where
/// nothing may be allocated.
pub(crate) fn start_in(line: &[u8]) -> u64 {
    // The 22nd field of all; the 3rd is the first behind the name, which may hold anything.
    let close = line.iter().rposition(|byte| *byte == b')');
    let behind = close.and_then(|close| line.get(close + 1..));
    let start = behind.and_then(|fields| fields.split(|byte| *byte == b' ').nth(20));
    start.and_then(plain_number).unwrap_or(0)
}

/// `/proc/PID/stat`, in as few steps as can be: this is read of every process there is.
fn status_line(pid: i32) -> Option<Vec<u8>> {
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    // The numbers of one line, and a name of 64 bytes at most.
    let mut line = vec![0; 2048];
    let length = file.read(&mut line).ok()?;
    line.truncate(length);
    Some(line)
}

/// A line of `/proc/PID/stat`.
fn parse(line: &[u8]) -> Option<Process> {
    let mut fields = behind_the_name(line)?;
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let start = fields.nth(16)?.parse().ok()?;
    let ended = matches!(state, "Z" | "X" | "x");
    Some(Process {
        parent,
        group,
        start,
        ended,
    })
}

/// The numbers of all processes that can be seen.
pub(crate) fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The numbers of all processes below `pid` that have not ended, without those of the groups in `spared`.
pub(crate) fn below(pid: i32, spared: &[i32]) -> Vec<i32> {
    let all = all().filter_map(|pid| Some((pid, look(pid)?)));
    let all: Vec<(i32, Process)> = all.collect();
    let mut below = std::collections::BTreeSet::from([pid]);
    let mut before = 0;
    // Parents may stand behind their children in the list: as often as something new is found.
    while below.len() > before {
        before = below.len();
        let found = all
            .iter()
            .filter(|(_, process)| below.contains(&process.parent));
        below.extend(found.map(|(pid, _)| *pid).collect::<Vec<_>>());
    }
    let living = all.iter().filter(|(other, process)| {
        !process.ended && *other != pid && below.contains(other) && !spared.contains(&process.group)
    });
    living.map(|(pid, _)| *pid).collect()
}

/// The session of a process.
pub(crate) fn session(pid: i32) -> Option<i32> {
    field(pid, 3)
}

/// Seconds since 1970 at which a process started, from its start in ticks.
pub(crate) fn started_at(start: u64) -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = text
        .lines()
        .find_map(|line| line.strip_prefix("btime ")?.parse().ok());
    boot.unwrap_or(0.0) + seconds(start)
}

/// Clock ticks, of which the system tells a hundred a second, as seconds.
#[expect(clippy::cast_precision_loss, reason = "a time for people")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / 100.0
}

/// A field of `/proc/PID/stat`, counted from the one behind the name.
pub(crate) fn field<T: std::str::FromStr>(pid: i32, at: usize) -> Option<T> {
    let line = status_line(pid)?;
    behind_the_name(&line)?.nth(at)?.parse().ok()
}

/// The fields of a line of `/proc/PID/stat` from the state on. The name before them may hold anything, so
/// they count from its last bracket.
fn behind_the_name(line: &[u8]) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    Some(rest.split_ascii_whitespace())
}

/// Whether a process is a fork that has not become another program: a subshell is one.
pub(crate) fn forked_only(pid: i32) -> bool {
    const PF_FORKNOEXEC: u64 = 0x40;
    field(pid, 6).is_some_and(|flags: u64| flags & PF_FORKNOEXEC != 0)
}

/// What a process has used: bytes of memory that are its own or shared in part (its resident set), and
/// seconds of processor time.
pub(crate) fn usage(pid: i32) -> Option<(u64, f64)> {
    let line = status_line(pid)?;
    let mut fields = behind_the_name(&line)?;
    let mut next = |skipped: usize| -> Option<u64> { fields.nth(skipped)?.parse().ok() };
    // The 14th and 15th field of all, ticks in the program and in the system, and the 24th.
    let (own, system, pages) = (next(11)?, next(0)?, next(8)?);
    Some((pages * 4096, seconds(own + system)))
}

/// The words that a process was started with.
pub(crate) fn command_line(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    if line.is_empty() {
        return Vec::new();
    }
    let words = line.split(|byte| *byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The environment that a process was started with; none if it may not be read. In few steps too: with room
/// for nearly all from the start, as the system tells no length, and each step of reading costs.
pub(crate) fn environment(pid: i32) -> Option<Vec<u8>> {
    let file = fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    let mut text = Vec::with_capacity(8 << 10);
    // A file by itself would be asked for its length first.
    file.take(u64::MAX).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Whose process it is.
pub(crate) fn user(pid: i32) -> Option<u32> {
    Some(fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

/// The numbers of `pid`'s parent, its parent, and so on, with their groups.
pub(crate) fn ancestors(pid: i32) -> Vec<(i32, i32)> {
    let mut found: Vec<(i32, i32)> = Vec::new();
    let mut next = look(pid).map_or(0, |process| process.parent);
    // A loop cannot be, but numbers may be given again while they are read.
    while next > 0 && found.len() < 1000 {
        let Some(process) = look(next) else { break };
        found.push((next, process.group));
        next = process.parent;
    }
    found
}

/// Names this start of the machine: numbers and start times mean nothing in another.
pub(crate) fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// Names the space in which numbers of processes count: a container has its own.
pub(crate) fn space() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let line = b"42 (a) S 1 (\n) Z) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let process = parse(line).unwrap();
        assert_eq!(
            process,
            Process {
                parent: 7,
                group: 42,
                start: 987_654,
                ended: false
            }
        );
        assert_eq!(start_in(line), process.start);
    }

    #[test]
    fn what_is_no_line_is_no_process() {
        for line in [
            "",
            "1",
            "1 (x)",
            "1 (x) S",
            "1 (x) S a b",
            "(((",
            "1 (x) S 1 1 1",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
            assert_eq!(start_in(line.as_bytes()), 0, "{line}");
        }
    }

    #[test]
    fn this_process_is_found() {
        let own = i32::try_from(std::process::id()).unwrap();
        let process = look(own).unwrap();
        assert_eq!(process.parent, sys::parent());
        assert!(all().any(|pid| pid == own));
        assert!(ancestors(own).iter().any(|(pid, _)| *pid == process.parent));
    }
}

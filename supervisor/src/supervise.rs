//! The native supervisor: the same lines as the script reads, and two things that a shell cannot do.
//!
//! It holds each group by a descriptor of its leader, which never means another process. And it watches
//! the owner itself, so that a descendant which holds the lifeline open cannot hide the owner's death.
//! It does its work although somebody has stopped it: the end of the lifeline continues it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cookie::Marked;
use crate::error::{Error, tried};
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::sabotage::sabotaged;
use crate::sys::{self, ControlGroup, Pid};

/// How long lines are still read after the owner's death was seen otherwise than by their end.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Who has heard nothing for so long waits for long.
const SETTLED: Duration = Duration::from_millis(50);
/// How long a control group may take to be empty after it was killed.
const LAST_MEMBERS: Duration = Duration::from_secs(2);
/// What a pipe holds unless somebody made it larger ([pipe(7)](https://man7.org/linux/man-pages/man7/pipe.7.html)).
const PIPE: usize = 64 * 1024;
/// Longer lines are nobody's.
const LONGEST: usize = 128;

/// What the owner said when it started this process.
struct Owner {
    /// The mark of what it started; none if nothing carries one.
    token: Option<String>,
    grace: Duration,
    group: i32,
    pid: i32,
    /// What is ended as a whole after everything else.
    control_group: Option<ControlGroup>,
}

/// What is known.
#[derive(Default)]
struct Known {
    groups: BTreeMap<(Pid, u64), Group>,
    kept: BTreeSet<u64>,
    released: bool,
    /// Whom the owner belongs to, and whether that has ended.
    above: Option<Above>,
}

/// Somebody whose end the owner must see, though it may be stopped.
enum Above {
    Lives(OwnedFd),
    Ended,
}

impl Above {
    fn of(process: Identity) -> Self {
        Group::hold(process).handle.map_or(Self::Ended, Self::Lives)
    }
}

/// Runs until the owner has ended, or needs nobody any more. Returns the status of the process.
///
/// Arguments: the owner's token, its grace in milliseconds, its group, its number, its start time,
/// and the folder of its children's control group if there is one.
pub(crate) fn run(arguments: &[OsString]) -> u8 {
    let Some(owner) = owner(arguments) else {
        return 2;
    };
    sys::ignore_terminal_signals();
    sys::take_neutral_name();
    sys::raise_descriptor_limit();
    sys::close_from(4);
    let Some(line) = sys::received(3) else {
        return 3;
    };
    // An owner that is not the parent any more has ended before it could be watched.
    let watched = watch(owner.pid, sys::parent);
    sys::say_that_it_works();
    attend(&owner, &line, &watched);
    0
}

/// The supervisor of a program in any language: standard input is its lifeline, `owner` (the parent if
/// there is none) the process that is watched beside it. What carries `mark` is ended with it. Returns
/// when everything has been done, or the owner needs nobody any more.
///
/// # Errors
///
/// [`Error::System`] if there is no standard input, or if this process would be ended with the owner's
/// group.
pub fn serve(owner: Option<u32>, grace: Duration, mark: Option<String>) -> Result<(), Error> {
    let number = owner.and_then(|number| i32::try_from(number).ok());
    let pid = number.unwrap_or_else(sys::parent);
    let owner = Owner {
        token: mark,
        grace,
        group: process::look(pid).map_or(0, |owner| owner.group),
        pid,
        control_group: None,
    };
    // Before it leaves: who sees it in its own session may send what is for others.
    sys::ignore_terminal_signals();
    // The leader of a group cannot leave it, and need not: nobody's owner is in there.
    if let Err(source) = sys::new_session()
        && sys::own_group() == owner.group
    {
        return Err(tried("leave the group of the owner")(source));
    }
    sys::take_neutral_name();
    sys::give_short_turns(0);
    sys::raise_descriptor_limit();
    sys::close_from(3);
    sys::silence().map_err(tried("open /dev/null"))?;
    std::env::set_current_dir("/").map_err(tried("go to the root folder"))?;
    let line = sys::received(0).ok_or_else(|| std::io::ErrorKind::NotFound.into());
    let line = line.map_err(tried("read the owner's lines from standard input"))?;
    let living = || process::look(pid).map_or(0, |now| if now.ended { 0 } else { pid });
    attend(&owner, &line, &watch(pid, living));
    Ok(())
}

/// Listens until the owner has ended, and ends what it named. `watched` is what [`watch`] said of it.
/// What was listened to is closed when there is time for that: groups are asked to end first.
fn attend(owner: &Owner, line: &std::fs::File, watched: &Result<Option<OwnedFd>, ()>) {
    sys::continue_at(line.as_fd());
    let mut known = Known::default();
    if let Ok(watched) = watched {
        let watched = watched.as_ref().map(OwnedFd::as_fd);
        listen(owner, &mut known, line, watched, None);
    } else {
        // There may be last words, and nothing to wait for.
        let end_of_words = Some(Instant::now() + LAST_WORDS);
        listen(owner, &mut known, line, None, end_of_words);
    }
    if !known.released {
        end(owner, &known);
    } else if let Some(group) = &owner.control_group {
        group.remove();
    }
}

fn owner(arguments: &[OsString]) -> Option<Owner> {
    let text = |at: usize| arguments.get(at)?.to_str();
    Some(Owner {
        token: Some(text(0)?.to_owned()),
        grace: Duration::from_millis(text(1)?.parse().ok()?),
        group: text(2)?.parse().ok()?,
        pid: text(3)?.parse().ok()?,
        control_group: arguments
            .get(5)
            .and_then(|folder| ControlGroup::at(Path::new(folder))),
    })
}

/// A descriptor of the owner; none where there is no such thing. An error means that it is dead.
fn watch(owner: i32, now: impl Fn() -> i32) -> Result<Option<OwnedFd>, ()> {
    if sabotaged("owner-pidfd") {
        return Ok(None);
    }
    let handle = sys::open_process(owner).ok();
    // Asked after opening: an owner that is still there now was alive when it was opened.
    if now() != owner {
        return Err(());
    }
    Ok(handle)
}

/// Reads lines until there are no more, or the owner is dead.
fn listen(
    owner: &Owner,
    known: &mut Known,
    mut line: &std::fs::File,
    mut watched: Option<BorrowedFd<'_>>,
    mut end: Option<Instant>,
) {
    let mut text: Vec<u8> = Vec::new();
    let mut buffer = [0; 4096];
    let mut settled = false;
    let mut late_reads = PIPE / buffer.len();
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        // Who had no turn meanwhile has not read yet what was said in time, at most what a pipe holds.
        let overdue = left.is_some_and(|left| left.is_zero());
        if overdue && late_reads == 0 {
            return;
        }
        late_reads -= usize::from(overdue);
        if let Some(Above::Ended) = known.above {
            known.above = None;
            let_go_on(owner, watched);
        }
        let mut asked = vec![(line.as_fd(), false)];
        asked.extend(watched.map(|owner| (owner, false)));
        if let Some(Above::Lives(above)) = &known.above {
            asked.push((above.as_fd(), false));
        }
        let limit = left.or((!settled).then_some(SETTLED));
        let Ok(ready) = sys::poll_many(&asked, limit) else {
            return;
        };
        if left.is_none() && !settled && !ready.iter().any(|ready| ready.read) {
            sys::let_go_of_code();
            settled = true;
        }
        let is = |at: usize| ready.get(at).is_some_and(|ready| ready.read);
        let owners = usize::from(watched.is_some());
        let (said, died, above_ended) = (is(0), owners == 1 && is(1), is(1 + owners));
        if above_ended {
            known.above = Some(Above::Ended);
        }
        if died {
            watched = None;
            end = Some(Instant::now() + LAST_WORDS);
        }
        if !said {
            if overdue {
                return;
            }
            continue;
        }
        match line.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => text.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        heed(owner, known, &mut text);
        if known.released {
            return;
        }
    }
}

/// Continues an owner that was stopped, and so has not seen the end of whom it belongs to.
fn let_go_on(owner: &Owner, handle: Option<BorrowedFd<'_>>) {
    // One that has ended has no need of it.
    let _ = match (handle, Pid::new(owner.pid)) {
        (Some(handle), _) => sys::signal_through(handle, libc::SIGCONT, false),
        (None, Some(pid)) if sys::parent() == owner.pid => sys::signal_process(pid, libc::SIGCONT),
        _ => Ok(()),
    };
}

/// Does what the whole lines of `text` say, and leaves the unfinished rest.
fn heed(owner: &Owner, known: &mut Known, text: &mut Vec<u8>) {
    // Groups that are never ended: the owner's, and ours.
    let spared = [owner.group, sys::own_group()];
    let whole = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    for line in text[..whole]
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() < LONGEST)
    {
        heed_line(spared, known, line);
    }
    text.drain(..whole);
    // What has no end for so long is no line, and must not grow for ever.
    if text.len() > LONGEST {
        text.truncate(LONGEST);
    }
}

fn heed_line(spared: [i32; 2], known: &mut Known, line: &[u8]) {
    let mut words = line.split(|byte| *byte == b' ');
    let words: [Option<&[u8]>; 5] = std::array::from_fn(|_| words.next());
    match words {
        [Some(b"."), None, ..] => known.released = true,
        [Some(b"^"), Some(pid), Some(start), None, _] => {
            let above = Identity::named(pid, start).map(Above::of);
            known.above = above.or(known.above.take());
        }
        [Some(b"~"), Some(number), None, ..] => known.kept.extend(process::plain_number(number)),
        [Some(b"-"), Some(pid), Some(start), None, _] => {
            if let Some(leader) = Identity::named(pid, start) {
                known.groups.remove(&(leader.pid, leader.start));
            }
        }
        [Some(b"+"), Some(pid), Some(start), None, _] => cover(spared, known, pid, start),
        // A launcher speaks for itself, and may be late: what was handed back meanwhile stays handed back.
        [Some(b"="), Some(pid), Some(start), Some(number), None]
            if process::plain_number(number)
                .is_some_and(|number| !known.kept.contains(&number)) =>
        {
            cover(spared, known, pid, start);
        }
        _ => {}
    }
}

/// Takes hold of the group that two words name, unless it is one that is never ended.
fn cover(spared: [i32; 2], known: &mut Known, pid: &[u8], start: &[u8]) {
    let leader = Identity::named(pid, start);
    if let Some(leader) = leader.filter(|leader| !spared.contains(&leader.pid.get())) {
        let hold = || Group::hold(leader);
        let key = (leader.pid, leader.start);
        known.groups.entry(key).or_insert_with(hold);
    }
}

fn end(owner: &Owner, known: &Known) {
    // Before anything else, also before anything is made ready: this is what the owner's death waits for.
    if owner.grace > Duration::ZERO {
        reap::ask(known.groups.values());
    }
    let groups: Vec<&Group> = known.groups.values().collect();
    let marked = owner.token.as_ref().map(|token| Marked {
        token: token.clone(),
        only: None,
        except: known.kept.clone(),
    });
    reap::end_asked(&Plan {
        groups: &groups,
        marked: marked.as_ref(),
        adopts: false,
        grace: owner.grace,
        spared: &[owner.group, sys::own_group()],
    });
    if let Some(group) = &owner.control_group {
        end_control_group(group, known);
    }
}

/// Ends what has neither group nor mark any more. Not where something was handed back: it is in there.
fn end_control_group(group: &ControlGroup, known: &Known) {
    let end = Instant::now() + LAST_MEMBERS;
    while known.kept.is_empty() && Instant::now() < end && !group.remove() {
        let _ = group.kill();
        let _ = sys::poll_one(None, Some(Duration::from_millis(2)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Known {
        let owner = Owner {
            token: Some("t".to_owned()),
            grace: Duration::ZERO,
            group: 77,
            pid: 76,
            control_group: None,
        };
        let mut known = Known::default();
        heed(&owner, &mut known, &mut text.as_bytes().to_vec());
        known
    }

    #[test]
    fn lines_that_mean_nothing_are_passed_over() {
        let text = "\n+\n+ 5\n+ -1 5\n+ 0 5\n+ 1 5\n+ 77 5\n+ 05 5\n+  5 5\n+ 5 5 5\n+ 99999999999 5\n\
                    + 5 x\n+ \0 1\n* 5 5\n~\n~ x\n= 5 5\n= 5 5 x\n= 5 5 05\n= 5 5 5 5\n= 77 5 5\n+ 5 5";
        let known = heard(text);
        assert!(known.groups.is_empty() && known.kept.is_empty() && !known.released);
    }

    #[test]
    fn groups_come_and_go() {
        let known = heard("+ 4194300 1\n+ 4194301 1\n+ 4194300 1\n- 4194301 2\n- 4194300 1\n~ 7\n");
        assert_eq!(known.groups.len(), 1);
        assert!(known.kept.contains(&7));
        assert!(heard(".\n").released);
    }

    #[test]
    fn a_launcher_that_is_late_changes_nothing() {
        assert_eq!(heard("= 4194300 1 7\n").groups.len(), 1);
        assert_eq!(heard("~ 8\n= 4194300 1 7\n").groups.len(), 1);
        let late = "+ 4194300 1\n- 4194300 1\n~ 7\n= 4194300 1 7\n";
        assert!(heard(late).groups.is_empty());
    }

    #[test]
    fn a_line_without_end_does_not_grow() {
        let owner = Owner {
            token: Some("t".to_owned()),
            grace: Duration::ZERO,
            group: 77,
            pid: 76,
            control_group: None,
        };
        let mut text = vec![b'+'; 1 << 20];
        heed(&owner, &mut Known::default(), &mut text);
        assert!(text.len() <= LONGEST);
    }
}

//! What an owner left that died together with its supervisor.
//!
//! A row of the ledger is data, never a licence: only children of an owner that is provably dead, in this
//! start of this machine, are ended, and only where the number still means the one who had it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cookie::{self, Marked};
use crate::error::Error;
use crate::ledger;
use crate::process::{self, Identity};
use crate::reap::{self, Group, Plan};
use crate::sys::{self, Pid};

/// What a [`sweep`](crate::sweep) did.
///
/// ```no_run
/// let swept = spawn_owned::sweep()?;
/// if swept != spawn_owned::Swept::default() {
///     println!("{} groups and {} strays were left", swept.groups, swept.strays);
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Owners that are dead, and of which something was left.
    pub owners: usize,
    /// Groups that were ended.
    pub groups: usize,
    /// Processes outside these groups that were ended.
    pub strays: usize,
    /// Processes that live on although they were killed.
    pub left: usize,
    /// Lines of the ledger that could not be read. They are kept.
    pub torn: usize,
}

/// An owner as the rows tell it.
#[derive(Default)]
pub(crate) struct Left {
    groups: BTreeMap<(i32, u64), Option<u64>>,
    /// The numbers of those that were handed back.
    pub(crate) kept: BTreeSet<u64>,
}

/// Ends what dead owners left, as recorded in the ledger at `path`.
pub(crate) fn sweep(path: &Path, grace: Duration) -> Result<Swept, Error> {
    let rows = ledger::read(path).map_err(|source| Error::Ledger {
        path: path.to_owned(),
        source,
    })?;
    let mut swept = Swept {
        torn: rows.torn.len(),
        ..Swept::default()
    };
    let carried = carried();
    for (token, left) in owners(&rows.rows) {
        let identities = left.groups.keys().filter_map(|(pid, start)| {
            let leader = Identity {
                pid: Pid::new(*pid)?,
                start: *start,
            };
            let holds = Identity::of(leader.pid) == Some(leader);
            (holds && reap::group_lives(leader.pid)).then_some(leader)
        });
        let groups: Vec<Group> = identities.map(Group::hold).collect();
        let marked = Marked {
            token,
            only: None,
            except: left.kept,
        };
        let marks = carried.contains(&marked.token) && reap::any_marked(&marked);
        if groups.is_empty() && !marks {
            continue;
        }
        let all: Vec<&Group> = groups.iter().collect();
        let outcome = reap::end(&Plan {
            groups: &all,
            marked: Some(&marked),
            adopts: false,
            grace,
            spared: &[sys::own_group()],
        });
        swept.owners += 1;
        swept.groups += groups.len();
        swept.strays += outcome.found;
        swept.left += outcome.left;
    }
    Ok(swept)
}

/// What each dead owner had started and not seen the end of, by token.
pub(crate) fn owners(rows: &[Value]) -> BTreeMap<String, Left> {
    let mut owners: BTreeMap<String, Left> = BTreeMap::new();
    let mut living = BTreeMap::new();
    for row in rows {
        let Some(token) = row["owner"]["token"]
            .as_str()
            .filter(|token| token.len() == 32)
        else {
            continue;
        };
        let dead = living
            .entry(token.to_owned())
            .or_insert_with(|| provably_dead(&row["owner"]));
        if !*dead {
            continue;
        }
        let left = owners.entry(token.to_owned()).or_default();
        let Some(child) = identity(&row["child"]) else {
            continue;
        };
        match row["kind"].as_str() {
            Some("start" | "adopt") => {
                left.groups.insert(child, row["number"].as_u64());
            }
            Some("end") => {
                left.groups.remove(&child);
            }
            Some("release") => {
                let number = left.groups.remove(&child).flatten();
                let handed_back = row["how"].as_str() == Some("handed back");
                left.kept.extend(number.filter(|_| handed_back));
            }
            _ => {}
        }
    }
    owners
}

fn identity(value: &Value) -> Option<(i32, u64)> {
    Some((
        i32::try_from(value["pid"].as_i64()?).ok()?,
        value["start"].as_u64()?,
    ))
}

/// Whether the owner of a row has ended for certain: recorded in this start of this machine, among the
/// processes that can be seen from here, and its number is free, or somebody else's, or only waits to
/// be reaped. What is not known is no licence to kill.
fn provably_dead(owner: &Value) -> bool {
    let here = !process::boot().is_empty()
        && owner["boot"].as_str() == Some(&process::boot())
        && owner["space"].as_str() == Some(&process::space());
    let Some((pid, start)) = identity(owner).filter(|(pid, start)| here && *pid > 0 && *start > 0)
    else {
        return false;
    };
    !process::lives(pid, start)
}

/// Tells of one row after the other whether it still says something: of an owner or a child that may
/// live. For compaction, which asks of many rows: each owner is looked at once, and all processes are.
pub(crate) fn matters() -> impl FnMut(&Value) -> bool {
    let (boot, mut owners, carried) = (process::boot(), BTreeMap::new(), carried());
    move |row| {
        let owner = &row["owner"];
        let dead = *owners
            .entry(owner.to_string())
            .or_insert_with(|| provably_dead(owner));
        if !dead {
            // Rows of another start of the machine are over too.
            return owner["boot"].as_str() == Some(&boot);
        }
        let child = identity(&row["child"]);
        child.is_some_and(|(pid, start)| process::lives(pid, start))
            // The row of an owner leads to what carries its mark, as long as there is some.
            || row["kind"].as_str() == Some("owner")
                && owner["token"].as_str().is_some_and(|token| carried.contains(token))
    }
}

/// The tokens of all marks that processes carry: one look for any number of owners.
fn carried() -> BTreeSet<String> {
    let environments = process::all().filter_map(process::environment);
    environments
        .flat_map(|environment| {
            let marks = cookie::marks(&environment);
            marks.map(|(token, _)| token.to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

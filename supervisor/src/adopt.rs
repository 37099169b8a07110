//! Which groups of others may be owned: never one whose end would end something else.

use crate::error::{Error, Refusal};
use crate::process::{self, Identity};
use crate::shared::Shared;
use crate::sys::{self, Pid};

/// The number as one that can be signalled.
pub(crate) fn pid(group: u32) -> Option<Pid> {
    Pid::new(i32::try_from(group).ok()?)
}

/// Who leads `group`, if it may be owned.
pub(crate) fn examine(shared: &Shared, group: u32) -> Result<Identity, Error> {
    refusal(shared, group).map_err(|why| Error::Refused {
        group: i32::try_from(group).unwrap_or(i32::MAX),
        why,
    })
}

fn refusal(shared: &Shared, group: u32) -> Result<Identity, Refusal> {
    let pid = pid(group).ok_or(Refusal::NotAGroup)?;
    let number = pid.get();
    if number == sys::own_group() {
        return Err(Refusal::OwnGroup);
    }
    let own = shared.pid;
    if process::ancestors(own)
        .iter()
        .any(|(above, group)| *group == number || *above == number)
    {
        return Err(Refusal::AncestorsGroup);
    }
    let leader = process::look(number).ok_or(Refusal::Gone)?;
    if leader.group != number {
        return Err(Refusal::NotALeader);
    }
    if process::user(number) != process::user(own) {
        return Err(Refusal::AnotherUser);
    }
    if leader.start < shared.start {
        return Err(Refusal::OlderThanOwner);
    }
    Ok(Identity {
        pid,
        start: leader.start,
    })
}

//! The rules, each of which may be broken.

/// What holds, and which rule does not.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Rules {
    /// Whether supervisors watch the owner itself beside the lifeline.
    pub(in super::super) native: bool,
    /// Whether launchers stand in for children that register themselves, for which the owner waits.
    pub(in super::super) launcher: bool,
    /// Whether processes are found by their mark.
    pub(in super::super) marks: bool,
    /// So many children are started, at most two.
    pub(in super::super) children: usize,
    /// So many supervisors are started at most, and so many of them killed.
    pub(in super::super) supervisors: usize,
    pub(in super::super) kills: u8,
    pub(in super::super) broken: Option<Broken>,
}

/// A rule of the protocol, broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Broken {
    /// A new supervisor is told what it must know when it has been started.
    ToldAfterItsStart,
    /// A new supervisor is told nothing.
    NoReplay,
    /// A new supervisor is told what was covered before the lock was taken.
    ReplayOfAnOldCopy,
    /// A new supervisor is told what is covered, and not what was handed back.
    KeptIsNotReplayed,
    /// The lifeline is closed for want of anything to cover, without the lock that covers.
    IdleWithoutLock,
    /// A child says nothing: its owner does, when it has been started.
    OwnerRegisters,
    /// A child looks whether its owner lives before it says who it is.
    LooksFirst,
    /// A supervisor that has seen its owner's death reads no more.
    WordsAreLeftUnread,
    /// What a launcher says counts although its child was handed back.
    LateWordsCount,
}

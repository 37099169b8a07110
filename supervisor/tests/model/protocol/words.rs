//! What is said on a lifeline, and what whoever hears it knows then.

use super::GROUPS;

/// A set of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Set(u8);

impl Set {
    pub(super) fn has(self, group: usize) -> bool {
        self.0 & 1 << group != 0
    }

    pub(super) fn add(&mut self, group: usize) {
        self.0 |= 1 << group;
    }

    pub(super) fn remove(&mut self, group: usize) {
        self.0 &= !(1 << group);
    }

    pub(super) fn all(self) -> impl Iterator<Item = usize> {
        (0..GROUPS).filter(move |group| self.has(*group))
    }
}

/// A line on a lifeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Word {
    /// `+ PID START`
    Cover(usize),
    /// `= PID START NUMBER`
    CoverUnlessKept(usize),
    /// `- PID START`
    Forget(usize),
    /// `~ NUMBER`
    Keep(usize),
    /// `.`
    Leave,
}

/// What a supervisor knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Known {
    covered: Set,
    kept: Set,
}

impl Known {
    /// Does what a word says.
    pub(in super::super) fn heed(&mut self, word: Word) {
        match word {
            Word::CoverUnlessKept(group) if self.kept.has(group) => {}
            Word::Cover(group) | Word::CoverUnlessKept(group) => self.covered.add(group),
            Word::Forget(group) => self.covered.remove(group),
            Word::Keep(group) => self.kept.add(group),
            Word::Leave => {}
        }
    }

    /// Whether it ends a group that is there, and of which a process may be found by its mark.
    pub(in super::super) fn ends(self, group: usize, marked: bool) -> bool {
        self.covered.has(group) || marked && !self.kept.has(group)
    }
}

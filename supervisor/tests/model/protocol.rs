//! The protocol as a machine of small steps: an owner, its lifelines, their supervisors, three groups.
//!
//! A step is what nothing else can fall into: one call by which somebody changes what another sees, or all
//! that happens under the owner's lock between two such calls.

mod others;
mod owner;
mod rules;
mod words;

pub(super) use rules::{Broken, Rules};
use words::Set;
pub(super) use words::{Known, Word};

/// Groups that the owner starts; the one behind them is somebody else's and may be adopted.
pub(super) const SPAWNED: usize = 2;
const GROUPS: usize = SPAWNED + 1;
const ADOPTED: usize = SPAWNED;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Group {
    Absent,
    /// A child that holds the lifeline of this supervisor, and has said nothing yet.
    Silent(usize),
    /// It has looked, but not spoken: only where that order is broken.
    Looked(usize),
    Spoke(usize),
    /// It becomes its program, whatever happens.
    Cleared(usize),
    Runs,
    Ended,
}

/// What the thread does that starts children. All but `Free` is under the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Program {
    Free,
    /// There is a new supervisor, which is taken up next.
    TakesUp(usize),
    /// Starts a child that gets this lifeline.
    Starts(usize, usize),
    /// Covers a group as soon as it is its program.
    Covers(usize),
}

/// What the thread does that watches the lifeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Watcher {
    Free,
    /// There is a new supervisor, which is taken up next. Under the lock.
    Replaces,
    /// Broken rules.
    SawIdle,
    Copied(Set),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Life {
    Works,
    Killed,
    /// It was let go, or has done its work.
    Over,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Supervisor {
    life: Life,
    /// Whether the owner holds the write end.
    open: bool,
    line: Vec<Word>,
    known: Known,
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    /// It lives on although its owner is dead.
    Lost(usize),
    /// It was ended, and its owner lives or had handed it back.
    Wrong(usize),
    /// A supervisor never ends.
    Stuck,
}

/// Who did what.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "for people, who read the way to a fault")]
pub(super) enum Step {
    OwnerDies,
    SupervisorIsKilled,
    SupervisorReads(usize),
    SupervisorEnds(usize),
    Child(usize),
    Starts(usize),
    Adopts,
    HandsBack(usize),
    Ends(usize),
    ProgramGoesOn,
    Replaces,
    LetsGo,
}

/// All there is to know at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    owner: bool,
    program: Program,
    watcher: Watcher,
    covered: Set,
    handed_back: Set,
    /// Those of whom the supervisor has heard from themselves.
    heard: Set,
    groups: [Group; GROUPS],
    link: Option<usize>,
    supervisors: Vec<Supervisor>,
    kills: u8,
    /// The owner died in the moment in which its supervisor was dead too: that is for the ledger.
    both_dead: bool,
    pub(super) fault: Option<Fault>,
}

/// Takes what may happen next, and how that changes the world.
type May<'a> = dyn FnMut(Step, &dyn Fn(&mut World)) + 'a;

impl World {
    pub(super) fn new() -> Self {
        let mut groups = [Group::Absent; GROUPS];
        groups[ADOPTED] = Group::Runs;
        Self {
            owner: true,
            program: Program::Free,
            watcher: Watcher::Free,
            covered: Set::default(),
            handed_back: Set::default(),
            heard: Set::default(),
            groups,
            link: None,
            supervisors: Vec::new(),
            kills: 0,
            both_dead: false,
            fault: None,
        }
    }

    /// Everything that may happen next.
    pub(super) fn next(&self, rules: Rules) -> Vec<(Step, Self)> {
        let mut steps = Vec::new();
        let mut may = |step: Step, change: &dyn Fn(&mut World)| {
            let mut next = self.clone();
            change(&mut next);
            steps.push((step, next));
        };
        if self.owner {
            self.program_steps(rules, &mut may);
            self.watcher_steps(rules, &mut may);
            may(Step::OwnerDies, &World::owner_dies);
        }
        for group in 0..SPAWNED {
            self.child_step(rules, group, &mut may);
        }
        for at in 0..self.supervisors.len() {
            self.supervisor_steps(rules, at, &mut may);
        }
        steps
    }

    /// What is wrong where nothing more happens.
    pub(super) fn fault_at_the_end(&self) -> Option<Fault> {
        if self.supervisors.iter().any(|one| one.life == Life::Works) {
            return Some(Fault::Stuck);
        }
        let lost = |group: &usize| {
            let owned = *group < SPAWNED || self.covered.has(*group);
            owned && self.groups[*group] == Group::Runs && !self.handed_back.has(*group)
        };
        let lost = (0..GROUPS).find(lost).filter(|_| !self.both_dead);
        lost.map(Fault::Lost)
    }

    /// Whether owner and supervisor were dead at once.
    pub(super) fn both_dead(&self) -> bool {
        self.both_dead
    }

    fn locked(&self) -> bool {
        self.program != Program::Free || self.watcher == Watcher::Replaces
    }
}

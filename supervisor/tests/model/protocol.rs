//! The protocol as a machine of small steps: an owner, its lifelines, their supervisors, three groups.
//!
//! A step is what nothing else can fall into: one call by which somebody changes what another sees, or all
//! that happens under the owner's lock between two such calls.

/// Groups that the owner starts; the one behind them is somebody else's and may be adopted.
pub(super) const SPAWNED: usize = 2;
const GROUPS: usize = SPAWNED + 1;
const ADOPTED: usize = SPAWNED;

/// A set of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Set(u8);

impl Set {
    pub(super) fn has(self, group: usize) -> bool {
        self.0 & 1 << group != 0
    }

    fn add(&mut self, group: usize) {
        self.0 |= 1 << group;
    }

    fn remove(&mut self, group: usize) {
        self.0 &= !(1 << group);
    }

    fn all(self) -> impl Iterator<Item = usize> {
        (0..GROUPS).filter(move |group| self.has(*group))
    }
}

/// A line on a lifeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Word {
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
pub(super) struct Known {
    covered: Set,
    kept: Set,
}

impl Known {
    /// Does what a word says.
    pub(super) fn heed(&mut self, word: Word) {
        match word {
            Word::CoverUnlessKept(group) if self.kept.has(group) => {}
            Word::Cover(group) | Word::CoverUnlessKept(group) => self.covered.add(group),
            Word::Forget(group) => self.covered.remove(group),
            Word::Keep(group) => self.kept.add(group),
            Word::Leave => {}
        }
    }

    /// Whether it ends a group that is there, and of which a process may be found by its mark.
    pub(super) fn ends(self, group: usize, marked: bool) -> bool {
        self.covered.has(group) || marked && !self.kept.has(group)
    }
}

/// What holds, and which rule does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether supervisors watch the owner itself beside the lifeline.
    pub(super) native: bool,
    /// Whether launchers stand in for children that register themselves, for which the owner waits.
    pub(super) launcher: bool,
    /// Whether processes are found by their mark.
    pub(super) marks: bool,
    /// So many children are started, at most two.
    pub(super) children: usize,
    /// So many supervisors are started at most, and so many of them killed.
    pub(super) supervisors: usize,
    pub(super) kills: u8,
    pub(super) broken: Option<Broken>,
}

/// A rule of the protocol, broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
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

    fn program_steps(&self, rules: Rules, may: &mut May<'_>) {
        match self.program {
            Program::Free if self.locked() => {}
            Program::Free => {
                let absent = |group: &usize| self.groups[*group] == Group::Absent;
                if let Some(group) = (0..rules.children).find(absent) {
                    self.begin(rules, Step::Starts(group), group, may);
                }
                if !self.covered.has(ADOPTED) && !self.handed_back.has(ADOPTED) {
                    self.begin(rules, Step::Adopts, ADOPTED, may);
                }
                for group in self.covered.all() {
                    may(Step::HandsBack(group), &|next| next.hand_back(group));
                    if group < SPAWNED && self.groups[group] != Group::Ended {
                        may(Step::Ends(group), &|next| next.end(group));
                    }
                }
            }
            Program::TakesUp(group) => may(Step::ProgramGoesOn, &|next| {
                next.take_up(rules, next.covered);
                next.program = next.first_step(group);
            }),
            Program::Starts(group, line) => may(Step::ProgramGoesOn, &|next| {
                next.groups[group] = Group::Silent(line);
                next.program = Program::Covers(group);
            }),
            Program::Covers(group) => {
                if rules.launcher || matches!(self.groups[group], Group::Runs | Group::Ended) {
                    may(Step::ProgramGoesOn, &|next| next.cover(group));
                }
            }
        }
    }

    /// Takes the lock, and makes a supervisor if there is none.
    fn begin(&self, rules: Rules, step: Step, group: usize, may: &mut May<'_>) {
        if self.link.is_some() {
            may(step, &|next| next.program = next.first_step(group));
        } else if self.supervisors.len() < rules.supervisors {
            may(step, &|next| {
                next.make_supervisor(rules, next.covered);
                next.program = Program::TakesUp(group);
            });
        }
    }

    fn first_step(&self, group: usize) -> Program {
        match self.link {
            Some(line) if group != ADOPTED => Program::Starts(group, line),
            _ => Program::Covers(group),
        }
    }

    fn cover(&mut self, group: usize) {
        self.covered.add(group);
        if !self.heard.has(group) {
            self.tell(Word::Cover(group));
        }
        self.program = Program::Free;
    }

    fn hand_back(&mut self, group: usize) {
        self.covered.remove(group);
        self.handed_back.add(group);
        self.tell(Word::Forget(group));
        if group < SPAWNED {
            self.tell(Word::Keep(group));
        }
    }

    fn end(&mut self, group: usize) {
        self.groups[group] = Group::Ended;
        self.covered.remove(group);
        self.tell(Word::Forget(group));
    }

    fn watcher_steps(&self, rules: Rules, may: &mut May<'_>) {
        let broken = |rule| rules.broken == Some(rule);
        match self.watcher {
            Watcher::Replaces => may(Step::Replaces, &|next| {
                next.take_up(rules, next.covered);
                next.watcher = Watcher::Free;
            }),
            Watcher::SawIdle => may(Step::LetsGo, &|next| {
                next.let_go();
                next.watcher = Watcher::Free;
            }),
            Watcher::Copied(covered) if !self.locked() => may(Step::Replaces, &|next| {
                next.make_supervisor(rules, covered);
                next.take_up(rules, covered);
                next.watcher = Watcher::Free;
            }),
            Watcher::Free | Watcher::Copied(_) => {}
        }
        let (Watcher::Free, Some(link)) = (self.watcher, self.link) else {
            return;
        };
        let works = self.supervisors[link].life == Life::Works;
        if !works && self.supervisors.len() < rules.supervisors {
            if broken(Broken::ReplayOfAnOldCopy) {
                may(Step::Replaces, &|next| {
                    next.watcher = Watcher::Copied(next.covered);
                });
            } else if !self.locked() {
                may(Step::Replaces, &|next| {
                    next.make_supervisor(rules, next.covered);
                    next.watcher = Watcher::Replaces;
                });
            }
        }
        if works && self.is_idle(rules) {
            if broken(Broken::IdleWithoutLock) {
                may(Step::LetsGo, &|next| next.watcher = Watcher::SawIdle);
            } else if !self.locked() {
                may(Step::LetsGo, &World::let_go);
            }
        }
    }

    /// Nothing is covered, and nothing carries the mark that was not handed back.
    fn is_idle(&self, rules: Rules) -> bool {
        let marked = |group: usize| {
            rules.marks && self.groups[group] == Group::Runs && !self.handed_back.has(group)
        };
        self.covered == Set::default() && !(0..SPAWNED).any(marked)
    }

    fn let_go(&mut self) {
        self.tell(Word::Leave);
        if let Some(link) = self.link.take() {
            self.supervisors[link].open = false;
        }
    }

    /// Starts a supervisor. What it must know stands on its lifeline before that.
    fn make_supervisor(&mut self, rules: Rules, covered: Set) {
        if let Some(link) = self.link.take() {
            self.supervisors[link].open = false;
        }
        let mut line = Vec::new();
        if rules.broken != Some(Broken::ToldAfterItsStart) {
            line = self.everything(rules, covered);
        }
        self.supervisors.push(Supervisor {
            life: Life::Works,
            open: true,
            line,
            known: Known::default(),
        });
    }

    /// The newest supervisor is told from now on what comes.
    fn take_up(&mut self, rules: Rules, covered: Set) {
        self.link = self.supervisors.len().checked_sub(1);
        if rules.broken == Some(Broken::ToldAfterItsStart) {
            for word in self.everything(rules, covered) {
                self.tell(word);
            }
        }
    }

    /// All that a supervisor must know.
    fn everything(&self, rules: Rules, covered: Set) -> Vec<Word> {
        if rules.broken == Some(Broken::NoReplay) {
            return Vec::new();
        }
        let forgotten = rules.broken == Some(Broken::KeptIsNotReplayed);
        let kept = self.handed_back.all();
        let kept = kept.filter(|group| *group < SPAWNED && !forgotten);
        let covered = covered.all().map(Word::Cover);
        kept.map(Word::Keep).chain(covered).collect()
    }

    fn tell(&mut self, word: Word) {
        if let Some(link) = self.link {
            self.say(link, word);
        }
    }

    /// Writes on a lifeline; whether somebody has its other end.
    fn say(&mut self, line: usize, word: Word) -> bool {
        let supervisor = &mut self.supervisors[line];
        let works = supervisor.life == Life::Works;
        if works {
            supervisor.line.push(word);
        }
        works
    }

    fn child_step(&self, rules: Rules, group: usize, may: &mut May<'_>) {
        let looks_first = rules.broken == Some(Broken::LooksFirst);
        let change: &dyn Fn(&mut World) = match self.groups[group] {
            Group::Silent(line) if looks_first => &move |next| {
                next.groups[group] = next.looked(Group::Looked(line));
            },
            Group::Silent(line) => &move |next| {
                next.speak(rules, group, line);
                next.groups[group] = Group::Spoke(line);
            },
            Group::Looked(line) => &move |next| {
                next.speak(rules, group, line);
                next.groups[group] = Group::Cleared(line);
            },
            Group::Spoke(line) => &move |next| {
                next.groups[group] = next.looked(Group::Cleared(line));
            },
            Group::Cleared(_) => &move |next| next.groups[group] = Group::Runs,
            Group::Absent | Group::Runs | Group::Ended => return,
        };
        may(Step::Child(group), change);
    }

    /// A child looks whether its owner lives.
    fn looked(&self, goes_on: Group) -> Group {
        if self.owner { goes_on } else { Group::Ended }
    }

    fn speak(&mut self, rules: Rules, group: usize, line: usize) {
        let word = match rules.broken {
            Some(Broken::OwnerRegisters) => return,
            Some(Broken::LateWordsCount) => Word::Cover(group),
            _ if rules.launcher => Word::CoverUnlessKept(group),
            _ => Word::Cover(group),
        };
        if self.say(line, word) && !rules.launcher {
            self.heard.add(group);
        }
    }

    fn owner_dies(&mut self) {
        self.both_dead = match self.link {
            Some(link) => self.supervisors[link].life == Life::Killed,
            None => self.watcher == Watcher::Replaces,
        };
        self.owner = false;
        self.program = Program::Free;
        self.watcher = Watcher::Free;
        for supervisor in &mut self.supervisors {
            supervisor.open = false;
        }
    }

    fn supervisor_steps(&self, rules: Rules, at: usize, may: &mut May<'_>) {
        let supervisor = &self.supervisors[at];
        if supervisor.life != Life::Works {
            return;
        }
        if self.owner && self.kills < rules.kills && at + 1 == self.supervisors.len() {
            may(Step::SupervisorIsKilled, &|next| {
                next.kills += 1;
                next.over(at, Life::Killed);
            });
        }
        if !supervisor.line.is_empty() {
            may(Step::SupervisorReads(at), &|next| next.read(at));
        }
        let holds = |group: &Group| {
            matches!(group, Group::Silent(line) | Group::Looked(line)
                | Group::Spoke(line) | Group::Cleared(line) if *line == at)
        };
        let ended = !supervisor.open && !self.groups.iter().any(holds);
        let reads_no_more = rules.broken == Some(Broken::WordsAreLeftUnread) && !self.owner;
        let has_read = supervisor.line.is_empty() || reads_no_more;
        if has_read && (ended || rules.native && !self.owner) {
            may(Step::SupervisorEnds(at), &|next| {
                next.do_last_work(rules, at);
            });
        }
    }

    /// Reads all that there is.
    fn read(&mut self, at: usize) {
        let words = std::mem::take(&mut self.supervisors[at].line);
        if words.contains(&Word::Leave) {
            self.over(at, Life::Over);
        }
        for word in words {
            self.supervisors[at].known.heed(word);
        }
    }

    fn do_last_work(&mut self, rules: Rules, at: usize) {
        let known = self.supervisors[at].known;
        for group in 0..GROUPS {
            let here = match self.groups[group] {
                Group::Absent | Group::Ended => false,
                Group::Runs => known.ends(group, rules.marks && group < SPAWNED),
                // It carries no mark yet.
                _ => known.ends(group, false),
            };
            if here {
                self.groups[group] = Group::Ended;
                if self.owner || self.handed_back.has(group) {
                    self.fault = Some(Fault::Wrong(group));
                }
            }
        }
        self.over(at, Life::Over);
    }

    fn over(&mut self, at: usize, life: Life) {
        let supervisor = &mut self.supervisors[at];
        supervisor.life = life;
        supervisor.line.clear();
        supervisor.known = Known::default();
    }
}

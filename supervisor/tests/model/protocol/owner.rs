//! What the owner does: the thread that starts children, and the one that watches the lifeline.

use super::{
    ADOPTED, Broken, Group, Known, Life, May, Program, Rules, SPAWNED, Set, Step, Supervisor,
    Watcher, Word, World,
};

impl World {
    pub(super) fn program_steps(&self, rules: Rules, may: &mut May<'_>) {
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

    pub(super) fn watcher_steps(&self, rules: Rules, may: &mut May<'_>) {
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
    pub(super) fn say(&mut self, line: usize, word: Word) -> bool {
        let supervisor = &mut self.supervisors[line];
        let works = supervisor.life == Life::Works;
        if works {
            supervisor.line.push(word);
        }
        works
    }

    pub(super) fn owner_dies(&mut self) {
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
}

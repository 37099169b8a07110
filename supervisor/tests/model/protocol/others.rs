//! What children and supervisors do.

use super::{Broken, Fault, GROUPS, Group, Known, Life, May, Rules, SPAWNED, Step, Word, World};

impl World {
    pub(super) fn child_step(&self, rules: Rules, group: usize, may: &mut May<'_>) {
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

    pub(super) fn supervisor_steps(&self, rules: Rules, at: usize, may: &mut May<'_>) {
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

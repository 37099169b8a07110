//! The protocol of owner, lifeline and supervisor, in every order in which its steps can come.
//!
//! What kills at random moments hit by chance is gone through here without a gap, in a model: whoever may do
//! something next does it, each in turn, from every state that can be reached, until nothing more can happen.
//! Wherever the owner dies, exactly what it covers then is ended, in the end; what it had handed back lives.
//! Only where owner and supervisor are dead at once nobody is left to do that: the ledger tells of it later.
//!
//! The owner's own steps have no functions without system calls in the crate, so the model says them again. What
//! lines mean is said by [`protocol::Known`], and real supervisors must be of the same mind.

mod protocol;

use std::collections::HashMap;
use std::io::Write as _;

use protocol::{Broken, Fault, Known, Rules, Step, Word, World};

use crate::calls::{CHILD, token};
use crate::targets::{Bystander, lifeline};
use crate::witness::{Witness, check_all, count, lives, tiers, until, until_runs};

/// What was gone through.
struct Explored {
    states: usize,
    /// How many steps the longest way to a state has that none leads to sooner.
    depth: usize,
    /// Ends in which the ledger is needed.
    both_dead: usize,
    /// The first fault, and a shortest way to it.
    fault: Option<(Fault, Vec<Step>)>,
}

/// Goes through all states, nearest first.
fn explore(rules: Rules) -> Explored {
    let mut seen = HashMap::from([(World::new(), 0)]);
    let mut ways: Vec<(usize, Option<Step>, usize)> = vec![(0, None, 0)];
    let mut waiting = std::collections::VecDeque::from([World::new()]);
    let mut both_dead = 0;
    let mut found = None;
    for at in 0.. {
        let Some(world) = waiting.pop_front() else {
            break;
        };
        let next = world.next(rules);
        let at_the_end = || world.fault_at_the_end().filter(|_| next.is_empty());
        if let Some(fault) = world.fault.or_else(at_the_end) {
            found = Some((fault, at));
            break;
        }
        both_dead += usize::from(next.is_empty() && world.both_dead());
        let depth = ways[at].2 + 1;
        for (step, world) in next {
            if let std::collections::hash_map::Entry::Vacant(free) = seen.entry(world) {
                waiting.push_back(free.key().clone());
                free.insert(ways.len());
                ways.push((at, Some(step), depth));
            }
        }
    }
    Explored {
        states: ways.len(),
        depth: ways.last().map_or(0, |way| way.2),
        both_dead,
        fault: found.map(|(fault, at)| (fault, way_to(&ways, at))),
    }
}

/// The steps to a state.
fn way_to(ways: &[(usize, Option<Step>, usize)], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let (before, Some(step), _) = ways[at] {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}

/// Each kind of supervisor, each way to start a child, with and without marks.
fn all_rules() -> impl Iterator<Item = Rules> {
    let all = check_all();
    (0..8).map(move |bits| Rules {
        native: bits & 1 != 0,
        launcher: bits & 2 != 0,
        marks: bits & 4 != 0,
        // Two launchers at once have two thousand thousand states and nothing to do with each other.
        children: if bits & 2 != 0 { 1 } else { 2 },
        supervisors: if all { 3 } else { 2 },
        kills: 1,
        broken: None,
    })
}

#[test]
fn no_order_of_steps_loses_a_group_or_ends_another() {
    for rules in all_rules() {
        let explored = explore(rules);
        println!(
            "{rules:?}: {} states, {} steps deep, {} ends with both dead",
            explored.states, explored.depth, explored.both_dead
        );
        assert!(explored.fault.is_none(), "{rules:?}: {:?}", explored.fault);
        assert!(explored.depth > 12 && explored.both_dead > 0);
    }
}

/// For which owners a broken rule is a fault: for others something else stands in for it.
type IsFault = fn(Rules) -> bool;

const BROKEN: &[(Broken, IsFault)] = &[
    (Broken::ToldAfterItsStart, |rules| rules.marks),
    (Broken::NoReplay, |_| true),
    (Broken::ReplayOfAnOldCopy, |_| true),
    (Broken::KeptIsNotReplayed, |rules| rules.marks),
    (Broken::IdleWithoutLock, |_| true),
    // A mark stands in, but not of what is just becoming its program.
    (Broken::OwnerRegisters, |rules| !rules.marks || rules.native),
    // A shell waits for the end of the lifeline, which the child holds.
    (Broken::LooksFirst, |rules| rules.native),
    (Broken::WordsAreLeftUnread, |_| true),
    (Broken::LateWordsCount, |rules| rules.launcher),
];

/// The control: a model that finds nothing proves nothing.
#[test]
fn each_rule_broken_is_found() {
    for (broken, is_fault) in BROKEN {
        for rules in all_rules() {
            let broken = Some(*broken);
            let explored = explore(Rules { broken, ..rules });
            let found = explored.fault.is_some();
            assert_eq!(found, is_fault(rules), "{rules:?}: {broken:?}");
            if let Some((fault, steps)) = explored.fault {
                println!("{broken:?}: {fault:?} after {steps:?}");
            }
        }
    }
}

/// All sequences of at most so many words about one group.
fn sequences(most: usize) -> Vec<Vec<Word>> {
    let words = [
        Word::Cover(0),
        Word::CoverUnlessKept(0),
        Word::Forget(0),
        Word::Keep(0),
    ];
    let mut all = vec![vec![]];
    let mut first = 0;
    for _ in 0..most {
        let last = all.len();
        for at in first..last {
            all.extend(words.map(|word| [&all[at][..], &[word]].concat()));
        }
        first = last;
    }
    all
}

/// A group of which a supervisor is told something, and what the model says of its end.
struct Told {
    group: Bystander,
    ends: bool,
    words: Vec<Word>,
    marked: bool,
}

/// Starts a group and says the words of it on the lifeline.
fn tell(
    mut line: &std::fs::File,
    token: &str,
    number: usize,
    words: Vec<Word>,
    marked: bool,
) -> Told {
    let mark = format!("{token}.{number}:");
    let group = Bystander::with(marked.then_some(("SPAWN_OWNED", &mark)));
    let mut known = Known::default();
    let who = format!("{} {}", group.pid(), start(group.pid()));
    for word in &words {
        known.heed(*word);
        let said = match word {
            Word::Cover(_) => writeln!(line, "+ {who}"),
            Word::CoverUnlessKept(_) => writeln!(line, "= {who} {number}"),
            Word::Forget(_) => writeln!(line, "- {who}"),
            Word::Keep(_) => writeln!(line, "~ {number}"),
            Word::Leave => Ok(()),
        };
        said.expect("it reads");
    }
    let ends = known.ends(0, marked);
    Told {
        group,
        ends,
        words,
        marked,
    }
}

/// When a process started.
fn start(pid: i32) -> u64 {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let fields = line.rsplit(") ").next().expect("a name");
    let start = fields
        .split(' ')
        .nth(19)
        .and_then(|start| start.parse().ok());
    start.expect("a start")
}

#[test]
fn supervisors_take_words_as_the_model_does() {
    let most = count(2, 3);
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        let child = witness.number(CHILD);
        until_runs(child, "sleep");
        let supervisor = witness.supervisor();
        let line = lifeline(supervisor);
        let token = token(child);
        let all = sequences(most).into_iter();
        let all = all.flat_map(|words| [(words.clone(), false), (words, true)]);
        let all = all.enumerate();
        let mut told: Vec<Told> = all
            .map(|(at, (words, marked))| tell(&line, &token, 1000 + at, words, marked))
            .collect();
        drop(line);
        witness.kill();
        until("the supervisor has done its work", || !lives(supervisor));
        for one in &mut told {
            let (words, marked) = (&one.words, one.marked);
            assert_eq!(
                !one.group.lives(),
                one.ends,
                "{tier}: {words:?}, marked {marked}"
            );
        }
        println!(
            "{tier}: {} sequences of words, each as in the model",
            told.len()
        );
    }
}

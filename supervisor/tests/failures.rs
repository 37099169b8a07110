//! System calls that fail, each in turn, as they do where memory, descriptors or processes are short: the
//! failure is told or made up for, nothing is lost, and nobody tries for ever.
//!
//! As with kills, by default each tier takes some of the calls, others in each tier.

use std::time::Duration;

use crate::calls::{CHILD, Steps};
use crate::failing::ERRORS;
use crate::trace::{Call, OUTPUT, Traced, WRITE};
use crate::witness::{
    Witness, both_ways, check_all, is_direct, lives, runs, tiers, until, until_runs,
};

/// So many calls more are made for one that failed, at most.
const ENOUGH: usize = 200_000;

/// Whether there was a call to fail.
#[derive(PartialEq)]
enum Tried {
    Failed,
    /// All that there was to see went by.
    After,
    /// It cannot be tried here.
    Cannot,
}

/// Tries of a tier by default, at most.
const TRIES: usize = 8;

/// Lets call 0, 1, 2 … fail, each with another error, until there is no such call. By default only every
/// so-manieth: the second number is for launchers, which make many.
fn each_fails(
    tiers: &[String],
    what: &str,
    strides: [usize; 2],
    fail: impl Fn(&str, usize, i32) -> Tried,
) {
    let all = check_all();
    for (number, tier) in tiers.iter().enumerate() {
        let stride = if all {
            1
        } else {
            strides[usize::from(!is_direct(tier))]
        };
        let mut failed = 0;
        let most = if all { usize::MAX } else { TRIES };
        for at in (number % stride..).step_by(stride).take(most) {
            let error = ERRORS[(at + number) % ERRORS.len()];
            println!("{tier}: call {at} of {what} fails with {error}");
            match fail(tier, at, error) {
                Tried::Failed => failed += 1,
                Tried::After => break,
                Tried::Cannot => return,
            }
        }
        println!("{tier}: {failed} calls of {what} failed: nothing is lost");
    }
}

/// Lets the call fail at which `steps` are done, and all others go by until one is `last`.
fn fail_one(traced: &Traced, mut steps: Steps, error: i32, last: impl Fn(Call) -> bool) -> Tried {
    let mut failed = Tried::After;
    for _ in 0..ENOUGH {
        let Some(call) = traced.next_call() else {
            return failed;
        };
        if last(call) {
            return failed;
        }
        if failed == Tried::After && call.may_fail() && steps.reached(call) {
            if !traced.fail(error) {
                return Tried::Cannot;
            }
            failed = Tried::Failed;
        }
    }
    panic!("it tries for ever")
}

/// What an owner says of a start of which something failed is true, whatever it is. It may have ended too.
fn what_is_said_is_true(witness: &mut Witness, first: i32, tier: &str, at: usize) {
    let answer = witness.answer();
    let owner = witness.owner.id().cast_signed();
    if let Ok(second) = answer.parse::<i32>() {
        until_runs(second, "sleep");
        assert!(lives(first), "{tier}: call {at}");
    } else if lives(owner) {
        assert!(answer.starts_with("error"), "{tier}: call {at}: {answer}");
        until("nothing of it is left", || witness.living() == [first]);
    }
    // One that could not go on has ended, as its tracer saw.
    if lives(owner) {
        witness.kill();
    }
    witness.until_only(&[]);
}

#[test]
fn a_call_of_the_owner_fails() {
    each_fails(&both_ways(), "an owner", [3, 7], |tier, at, error| {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), false) else {
            return Tried::Cannot;
        };
        witness.order(CHILD);
        let answers = |call: Call| call.number == WRITE && call.first == OUTPUT;
        let tried = fail_one(&traced, Steps::to(at), error, answers);
        traced.release();
        what_is_said_is_true(&mut witness, first, tier, at);
        tried
    });
}

#[test]
fn a_call_of_a_child_that_registers_fails() {
    each_fails(&both_ways(), "a child", [3, 23], |tier, at, error| {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let Some(traced) = Traced::seize(witness.owner.id().cast_signed(), true) else {
            return Tried::Cannot;
        };
        witness.order(CHILD);
        let child = traced.next_child().expect("a child, or a launcher");
        // A launcher of which a call failed may be no more, and the owner has been told that it runs.
        let pid = child.pid();
        let tried = fail_one(&child, Steps::to(at), error, |_| runs(pid, "sleep"));
        let second = child.release();
        traced.release();
        let answer = witness.answer();
        if answer.starts_with("error") {
            until("nothing of it is left", || !lives(second));
        }
        assert!(lives(first), "{tier}: call {at}");
        witness.kill();
        witness.until_only(&[]);
        tried
    });
}

/// A supervisor that cannot go on does its work at once, rather than never: the owner is told, or has another.
#[test]
fn a_call_of_the_supervisor_fails() {
    each_fails(&tiers(), "a supervisor", [1, 1], |tier, at, error| {
        let mut witness = Witness::new(tier);
        let first = witness.number(CHILD);
        until_runs(first, "sleep");
        let Some(traced) = Traced::seize(witness.supervisor(), false) else {
            return Tried::Cannot;
        };
        witness.order(CHILD);
        let mut steps = Steps::to(at);
        let mut failed = Tried::After;
        // It stays in its last call when it has heard all there is to hear.
        while let Ok(Some(call)) = traced.next_call_within(Some(Duration::from_millis(500))) {
            if failed == Tried::After && call.may_fail() && steps.reached(call) {
                if !traced.fail(error) {
                    return Tried::Cannot;
                }
                failed = Tried::Failed;
                break;
            }
        }
        traced.release();
        witness.answer();
        witness.kill();
        witness.until_only(&[]);
        failed
    });
}

/// The same when the owner is dead. What does not want to end is ended all the same.
#[test]
fn a_call_of_the_last_work_fails() {
    each_fails(&tiers(), "the last work", [7, 7], |tier, at, error| {
        let mut witness = Witness::with(tier, &[("GRACE", "1000")]);
        witness.number("spawn trap '' TERM; while :; do sleep 1000; done");
        until("it does not heed", || witness.living().len() == 2);
        let Some(traced) = Traced::seize(witness.supervisor(), false) else {
            return Tried::Cannot;
        };
        witness.kill();
        let mut steps = Steps::to(at);
        let mut calls = std::iter::from_fn(|| traced.next_call());
        let call = calls.find(|call| call.may_fail() && steps.reached(*call));
        let failed = call.is_some() && traced.fail(error);
        traced.release();
        witness.until_only(&[]);
        match call {
            None => Tried::After,
            Some(_) if failed => Tried::Failed,
            Some(_) => Tried::Cannot,
        }
    });
}

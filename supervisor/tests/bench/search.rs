//! What a look at every process costs: the search for an owner's mark, which finds what has left its group.

use std::time::{Duration, Instant};

use spawn_owned::Owner;

use super::State;
use super::members::Members;

/// Looks of each measurement.
const LOOKS: usize = 30;

/// Prints a row for a tenth, half and all of `most` idle processes. [`Owner::sweep`] reads a ledger, here
/// an empty one, and looks once at every process; what that takes beyond a look without them is theirs.
pub(crate) fn print(state: &State, most: usize) {
    println!(
        "a search for marks with idle processes, {LOOKS} looks, microseconds: p50, p99, for each process"
    );
    let owner = Owner::builder().ledger(state.path("search.jsonl"));
    let owner = owner.build().expect("an owner");
    let look = || {
        let start = Instant::now();
        owner.sweep().expect("a ledger");
        start.elapsed()
    };
    let looks = || super::figures((0..LOOKS).map(|_| look()).collect::<Vec<Duration>>());
    looks();
    let (without, without_99) = looks();
    println!("  {:15} {without:9.0} {without_99:9.0}", "none");
    let mut members = Members::default();
    for count in [most / 10, most / 2, most] {
        members.grow_to(count);
        let (p50, p99) = looks();
        let count = u32::try_from(count).expect("not that many");
        let each = (p50 - without) / f64::from(count);
        let goal = super::beside("", each, 20.0);
        println!("  {count:<15} {p50:9.0} {p99:9.0} {each:6.1}{goal}");
    }
}

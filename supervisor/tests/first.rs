//! An owner that is the first process of a space of numbers, as that of a container is: whatever is orphaned
//! becomes its child, signals by default do nothing to it, and its end is everybody's.

use std::time::{Duration, Instant};

use crate::children::children;
use crate::numbers::into_a_space;
use crate::witness::{Witness, both_ways, example, kill, lives, until};

/// An owner with the number 1 there, and its number here.
fn first(tier: &str) -> Option<(Witness, i32)> {
    let mut command = into_a_space()?;
    command.arg(example("owner"));
    let mut witness = Witness::below(command, tier, &[("GRACE", "10000")]);
    assert_eq!(witness.tell("pid"), "1");
    let owner = witness.until_living(1)[0];
    Some((witness, owner))
}

#[test]
fn it_owns_as_any_other() {
    for tier in both_ways() {
        let Some((mut witness, owner)) = first(&tier) else {
            return;
        };
        let child = witness.number("spawn exit 3");
        assert!(
            witness.tell(&format!("wait {child}")).contains("768"),
            "{tier}"
        );
        let adopted = witness.number("plain exec sleep 1000");
        assert_eq!(witness.tell(&format!("adopt {adopted}")), "adopted");
        assert!(witness.tell("status").contains(&format!("[{adopted}]")));
        let supervisor = witness.supervisor();
        // One that took the number 1 for another's would be gone by then.
        let begin = Instant::now();
        until("it has settled", || {
            begin.elapsed() > Duration::from_millis(500)
        });
        assert_eq!(witness.supervisor(), supervisor, "{tier}");
        // Another one takes the place of one that is killed.
        witness.number(&format!("plain kill -9 {supervisor}"));
        until("another supervisor", || {
            ![0, supervisor].contains(&witness.supervisor())
        });
        let child = witness.number("program /bin/sleep 1000");
        until("both sleep", || witness.living().len() == 3);
        witness.tell(&format!("drop {child}"));
        witness.until_living(2);
        kill(owner, libc::SIGKILL);
        witness.ended();
        witness.until_only(&[]);
    }
}

/// What is orphaned there becomes its child. The crate takes no status that is not its own, and what nobody has
/// reaped keeps it waiting for nothing.
#[test]
fn the_orphans_are_left_to_it() {
    for tier in both_ways() {
        let Some((mut witness, owner)) = first(&tier) else {
            return;
        };
        // A member of the child's group is orphaned, and then killed: nobody reaps it.
        let child = witness.number("spawn sleep 1000 & exec sleep 1000");
        until("both are there", || witness.living().len() == 3);
        let begin = Instant::now();
        assert!(
            witness.tell(&format!("stop {child}")).starts_with("Ok"),
            "{tier}"
        );
        assert!(
            begin.elapsed() < Duration::from_secs(3),
            "{tier}: it waits for the dead"
        );
        let left = children(owner).into_iter().filter(|pid| !lives(*pid));
        assert_eq!(left.count(), 1, "{tier}: whose status was that?");
        // A stranger, whose status the program itself gets.
        let stranger = witness.tell("output setsid sleep 0.1 >/dev/null & echo $!");
        let stranger = stranger.trim_end_matches('|');
        assert_eq!(
            witness.tell(&format!("reap {stranger}")),
            "reaped",
            "{tier}"
        );
        let child = witness.number("spawn exec sleep 1000");
        assert!(
            witness.tell(&format!("stop {child}")).starts_with("Ok"),
            "{tier}"
        );
        // Its end by itself is everybody's end too.
        witness.number("spawn trap '' TERM; sleep 1000 & setsid sleep 1000");
        until("all are there", || witness.living().len() == 4);
        witness.order("return");
        witness.ended();
        witness.until_only(&[]);
    }
}

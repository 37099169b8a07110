//! A supervisor comes, goes, is killed and does not work: what is owned stays protected, or that is said.

use crate::witness::{Witness, lives, tiers, until};

#[test]
fn the_supervisor_is_killed() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let child = witness.number("spawn exec sleep 1000");
        let first = witness.supervisor();
        for signal in [
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGPIPE,
            libc::SIGTSTP,
        ] {
            crate::witness::kill(first, signal);
        }
        assert_eq!(witness.supervisor(), first, "it minds none of these");
        let killed = std::time::Instant::now();
        crate::witness::kill(first, libc::SIGKILL);
        until("another supervisor", || {
            ![0, first].contains(&witness.supervisor())
        });
        println!(
            "{tier}: another supervisor after {} ms",
            killed.elapsed().as_millis()
        );
        assert!(lives(child));
        witness.kill();
        witness.until_only(&[]);
    }
}

#[test]
fn a_supervisor_that_is_killed_again_and_again() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        witness.number("spawn exec sleep 1000");
        let mut last = 0;
        for _ in 0..6 {
            until("another supervisor", || {
                ![0, last].contains(&witness.supervisor())
            });
            last = witness.supervisor();
            crate::witness::kill(last, libc::SIGKILL);
        }
        until("it gives up, and says so", || {
            witness.tell("status").contains("was killed 6 times")
        });
        let answer = witness.tell("spawn exec sleep 1000");
        assert!(answer.contains("Unprotected"), "{answer}");
        assert_eq!(witness.living().len(), 1);
    }
}

#[test]
fn a_supervisor_that_cannot_work() {
    let mut witness = Witness::new("/bin/false");
    // Seen before the first child is started, and not tried again.
    for _ in 0..2 {
        let answer = witness.tell("spawn exec sleep 1000");
        assert!(answer.contains("Unprotected"), "{answer}");
        assert!(
            answer.contains("exited by itself with status 1"),
            "{answer}"
        );
        assert!(witness.living().is_empty());
    }
    let status = witness.tell("status");
    assert!(status.starts_with("0 1 0 []"), "one start: {status}");
}

#[test]
fn it_comes_with_the_first_child_and_goes_when_there_is_none() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("IDLE", "100")]);
        assert_eq!(witness.supervisor(), 0);
        let child = witness.number("spawn exec sleep 1000");
        let supervisor = witness.supervisor();
        assert!(lives(supervisor));
        witness.tell(&format!("drop {child}"));
        until("it goes", || witness.supervisor() == 0);
        assert!(!lives(supervisor));
        // And comes again.
        witness.number("spawn exec sleep 1000");
        witness.kill();
        witness.until_only(&[]);
    }
}

#[test]
fn what_has_escaped_keeps_the_supervisor() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("IDLE", "100")]);
        let child = witness.number("spawn setsid -f sleep 1000");
        witness.tell(&format!("wait {child}"));
        until("it has escaped", || witness.living().len() == 1);
        // Far longer than it may be idle: three more children come and go.
        for _ in 0..3 {
            let child = witness.number("spawn sleep 0.1");
            witness.tell(&format!("wait {child}"));
        }
        witness.kill();
        witness.until_only(&[]);
    }
}

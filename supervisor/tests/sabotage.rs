//! Each mechanism turned off in turn: what it is for is lost, so that the test of it can fail.

use std::time::{Duration, Instant};

use crate::witness::{Witness, is_shell, kill, lives, runs, state, tiers, until, until_runs};

/// An owner without the named mechanisms.
fn without(tier: &str, mechanisms: &str) -> Witness {
    Witness::with(
        tier,
        &[("SPAWN_OWNED_SABOTAGE", mechanisms), ("GRACE", "1000")],
    )
}

/// What is left when the owner was killed and its supervisor has done what it does.
fn left_after_death(witness: &mut Witness) -> usize {
    let supervisor = witness.supervisor();
    assert!(lives(supervisor));
    witness.kill();
    until("the supervisor has done its work", || !lives(supervisor));
    witness.living().len()
}

#[test]
fn without_the_mark_what_left_its_group_lives_on() {
    for tier in tiers() {
        for (mechanisms, left) in [("", 0), ("cookie", 1)] {
            let mut witness = without(&tier, mechanisms);
            witness.number("spawn setsid sleep 1000 & wait");
            // It has left the group when it has become its program.
            until("both live", || {
                let living = witness.living();
                living.len() == 2 && living.iter().any(|pid| runs(*pid, "sleep"))
            });
            assert_eq!(
                left_after_death(&mut witness),
                left,
                "{tier} without {mechanisms}"
            );
        }
    }
}

#[test]
fn without_replay_a_new_supervisor_knows_nobody() {
    for tier in tiers() {
        for (mechanisms, left) in [("cookie", 0), ("replay,cookie", 1)] {
            let mut witness = without(&tier, mechanisms);
            let child = witness.number("spawn exec sleep 1000");
            until_runs(child, "sleep");
            let first = witness.supervisor();
            kill(first, libc::SIGKILL);
            until("another supervisor", || {
                ![0, first].contains(&witness.supervisor())
            });
            assert_eq!(
                left_after_death(&mut witness),
                left,
                "{tier} without {mechanisms}"
            );
        }
    }
}

#[test]
fn without_the_second_signal_what_is_stopped_says_nothing() {
    let path = std::env::temp_dir().join(format!("owned-sabotage-{}", std::process::id()));
    for tier in tiers() {
        let mut witness = without(&tier, "cont");
        let text = crate::deaths::says_good_bye(&path);
        witness.number(&format!("spawn {text}"));
        until("it is stopped", || {
            witness
                .living()
                .into_iter()
                .any(|pid| state(pid) == Some('T'))
        });
        assert_eq!(
            left_after_death(&mut witness),
            0,
            "it is killed all the same"
        );
        assert!(!path.exists(), "{tier}: it went on although nobody said so");
    }
}

#[test]
fn without_closing_in_forks_a_fork_hides_the_death() {
    for tier in tiers() {
        // The native supervisor watches the owner too: only without both is it deceived.
        let mechanisms = if is_shell(&tier) {
            "close-in-fork"
        } else {
            "close-in-fork,owner-pidfd"
        };
        let mut witness = without(&tier, mechanisms);
        let child = witness.number("spawn exec sleep 1000");
        until_runs(child, "sleep");
        let fork = witness.number("fork");
        witness.kill();
        let killed = Instant::now();
        until("time enough for an end", || {
            killed.elapsed() > Duration::from_secs(1)
        });
        assert!(lives(child), "{tier} without {mechanisms}");
        kill(fork, libc::SIGKILL);
        witness.until_only(&[]);
        if !is_shell(&tier) {
            let mut witness = without(&tier, "close-in-fork");
            witness.number("spawn exec sleep 1000");
            let fork = witness.number("fork");
            witness.kill();
            witness.until_only(&[fork]);
        }
    }
}

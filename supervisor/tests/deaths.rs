//! Whatever ends the owner ends what it owns, and nothing else.

use crate::witness::{Witness, both_ways, lives, runs, state, tiers, until, until_runs};

/// A tree of three: a shell, its child, and a child in the background of that.
const TREE: &str = "sh -c 'sleep 1000 & sleep 1000' & sleep 1000";

#[test]
fn every_way_to_die() {
    for tier in both_ways() {
        for way in [
            "kill", "return", "panic", "abort", "exit", "segv", "ill", "term", "hup", "exec",
            "overflow", "thread", "group",
        ] {
            let mut witness = Witness::new(&tier);
            let child = witness.number(&format!("spawn {TREE}"));
            until("the tree stands", || witness.living().len() == 5);
            // The control: an equal child that nobody owns.
            let control = witness.number("plain exec sleep 1000");
            let supervisor = witness.supervisor();
            assert!(lives(child) && lives(supervisor));
            witness.order(way);
            if way == "exec" {
                witness.until_only(&[control]);
                witness.kill();
            } else {
                witness.ended();
            }
            witness.until_only(&[control]);
            until("the supervisor ends too", || !lives(supervisor));
        }
    }
}

#[test]
fn what_does_not_want_to_end() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        let stopped = witness.number("spawn sleep 1000 & kill -STOP $$; wait");
        until("it is stopped", || state(stopped) == Some('T'));
        witness.number("spawn trap '' TERM HUP INT; while :; do sleep 1000; done");
        // A leader that has ended and left a member.
        let leader = witness.number("spawn trap '' TERM; sleep 1000 & exit 3");
        until("the leader has ended", || !lives(leader));
        witness.kill();
        witness.until_only(&[]);
    }
}

/// In a session of its own, as the system itself continues what is stopped in its owner's session.
#[test]
fn what_is_stopped_can_end_in_its_own_way() {
    for tier in tiers() {
        let folder = std::env::temp_dir().join(format!("owned-cont-{}", std::process::id()));
        let mut witness = Witness::with(&tier, &[("GRACE", "30000")]);
        witness.number(&format!("spawn {}", says_good_bye(&folder)));
        until("it is stopped", || {
            witness
                .living()
                .into_iter()
                .any(|pid| state(pid) == Some('T'))
        });
        witness.kill();
        witness.until_only(&[]);
        assert!(
            folder.exists(),
            "{tier}: it was killed before it could say good-bye"
        );
        std::fs::remove_file(&folder).expect("just made");
    }
}

/// A shell's text: a session whose leader is stopped, and makes `file` when it is asked to end.
fn says_good_bye(file: &std::path::Path) -> String {
    let file = file.display();
    let text =
        format!("trap \"echo bye > {file}; exit\" TERM; kill -STOP $$; while :; do sleep 1; done");
    format!("setsid sh -c '{text}' & exit 0")
}

#[test]
fn a_fork_that_holds_everything_open() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let fork = witness.number("fork");
        let before = witness.number("spawn exec sleep 1000");
        until_runs(before, "sleep");
        let late = witness.number("fork");
        witness.kill();
        // The forked children were not owned: they live on, and hide nothing.
        let mut forks = [fork, late];
        forks.sort_unstable();
        witness.until_only(&forks);
        until("the owned child ends", || !lives(before));
    }
}

#[test]
fn a_fork_has_an_owner_of_its_own() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let mine = witness.number("spawn exec sleep 1000");
        let fork = witness.number("fork exec sleep 1000");
        let all = witness.until_living(3);
        let theirs = all.into_iter().find(|pid| *pid != mine && *pid != fork);
        let theirs = theirs.expect("three");
        until_runs(theirs, "sleep");
        // The fork's death ends the fork's child alone.
        crate::witness::kill(fork, libc::SIGKILL);
        until("the fork's child ends", || !lives(theirs));
        assert!(lives(mine));
        witness.kill();
        witness.until_only(&[]);
    }
}

#[test]
fn what_left_its_group() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        for text in [
            "setsid sleep 1000 & wait",
            "(setsid sh -c 'sleep 1000 & exit' &) ; sleep 1000",
            "(trap '' TERM HUP; setsid setsid -f sleep 1000); sleep 1000",
            "setsid sh -c 'while :; do (sleep 0.05); setsid -f sh -c \"sleep 1000\"; break; done' & exit",
        ] {
            witness.number(&format!("spawn {text}"));
        }
        let outlives = witness.number("detach sleep 1000 & wait");
        let kept = |witness: &Witness| -> Vec<i32> {
            let living = witness.living().into_iter();
            living.filter(|pid| session(*pid) == outlives).collect()
        };
        let mut keep = Vec::new();
        until("all have started", || {
            keep = kept(&witness);
            witness.living().len() >= 9 && keep.len() == 2
        });
        witness.kill();
        witness.until_only(&keep);
    }
}

/// What has neither group nor mark nor any descriptor of ours: only a control group holds it.
#[test]
fn what_is_in_a_control_group() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("CONTROL_GROUP", "1"), ("GRACE", "1000")]);
        // The witness finds it by its own variable, which the daemon keeps.
        let mark = witness.mark.clone();
        witness.number(&format!("spawn exec env -i '{mark}' setsid -f sleep 1000"));
        let folder = witness.tell("control-group");
        if folder == "None" {
            println!("not run: this process may not make control groups");
            return;
        }
        until("it has left", || {
            let living = witness.living();
            living.len() == 1 && runs(living[0], "sleep")
        });
        let outlives = witness.number("detach exec sleep 1000");
        witness.kill();
        witness.until_only(&[outlives]);
        let folder = folder.trim_start_matches("Some(\"").trim_end_matches("\")");
        until("its folder is removed", || {
            !std::path::Path::new(folder).exists()
        });
    }
}

/// The session of a process.
fn session(pid: i32) -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::getsid(pid) }
}

#[test]
fn handed_back_is_not_ended() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        let kept = witness.number("spawn setsid sleep 1000 & wait");
        let other = witness.number("spawn exec sleep 1000");
        let adopted = witness.number("plain exec sleep 1000");
        let back = witness.number("plain exec sleep 1000");
        until("all live", || witness.living().len() == 5);
        assert_eq!(witness.tell(&format!("adopt {adopted}")), "adopted");
        assert_eq!(witness.tell(&format!("adopt {back}")), "adopted");
        witness.tell(&format!("release {kept}"));
        witness.tell(&format!("release {back}"));
        // Also a new supervisor knows it.
        let supervisor = witness.supervisor();
        crate::witness::kill(supervisor, libc::SIGKILL);
        until("another supervisor", || {
            ![0, supervisor].contains(&witness.supervisor())
        });
        let ours = [other, adopted];
        let all = witness.until_living(5).into_iter();
        let kept: Vec<i32> = all.filter(|pid| !ours.contains(pid)).collect();
        assert_eq!(kept.len(), 3);
        witness.kill();
        witness.until_only(&kept);
    }
}

/// Also a child of which a launcher has not said yet that it runs.
#[test]
fn handed_back_at_once_is_not_ended() {
    for tier in both_ways() {
        let mut witness = Witness::with(&tier, &[("GRACE", "1000")]);
        let kept = witness.number("program /bin/sleep 1000");
        assert_eq!(witness.tell(&format!("release {kept}")), "released");
        until_runs(kept, "sleep");
        let supervisor = witness.supervisor();
        witness.kill();
        until("the supervisor has done its work", || !lives(supervisor));
        assert!(lives(kept), "{tier}: it was handed back, and ended");
    }
}

#[test]
fn a_group_is_handed_back_once_it_is_empty() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let group = witness.number("plain sleep 1000 & exec sleep 1000");
        until("both have started", || witness.living().len() == 2);
        witness.tell(&format!("adopt {group}"));
        witness.tell(&format!("once-empty {group}"));
        assert!(witness.tell("status").contains(&format!("[{group}]")));
        let both = witness.until_living(2);
        let member = both.into_iter().find(|pid| *pid != group).expect("two");
        crate::witness::kill(member, libc::SIGKILL);
        until("one is left", || witness.living() == [group]);
        assert!(
            witness.tell("status").contains(&format!("[{group}]")),
            "not yet empty"
        );
        crate::witness::kill(group, libc::SIGKILL);
        until("it is handed back", || {
            witness.tell("status").contains("[]")
        });
    }
}

#[test]
fn what_must_not_be_owned_is_refused() {
    let mut witness = Witness::new(&tiers()[0]);
    let pid = witness.number("pid");
    // SAFETY: asks for numbers.
    let own = unsafe { libc::getpgrp() };
    let child = witness.number("plain sleep 1000 & wait");
    let both = witness.until_living(2);
    let member = both.into_iter().find(|one| *one != child).expect("two");
    for (group, why) in [
        (0, "NotAGroup"),
        (1, "NotAGroup"),
        (own, "OwnGroup"),
        (pid, "NotALeader"),
        (member, "NotALeader"),
        (i32::MAX, "Gone"),
    ] {
        let answer = witness.tell(&format!("adopt {group}"));
        assert!(answer.contains(why), "{group}: {answer}");
    }
    assert!(witness.tell("adopt 4294967295").contains("NotAGroup"));
    assert_eq!(
        witness.supervisor(),
        0,
        "nothing was started for what is refused"
    );
    let older = i32::try_from(std::process::id()).expect("a pid");
    assert!(witness.tell(&format!("adopt {older}")).contains("Refused"));
}

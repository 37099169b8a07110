//! Whatever ends the owner ends what it owns, and nothing else.

use crate::witness::{Witness, lives, state, tiers, until};

/// A tree of three: a shell, its child, and a child in the background of that.
const TREE: &str = "sh -c 'sleep 1000 & sleep 1000' & sleep 1000";

#[test]
fn every_way_to_die() {
    for tier in tiers() {
        for way in [
            "kill", "return", "panic", "abort", "exit", "segv", "term", "hup", "exec",
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
pub(crate) fn says_good_bye(file: &std::path::Path) -> String {
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
        until("both children live", || witness.living().len() == 3);
        let theirs = witness
            .living()
            .into_iter()
            .find(|pid| *pid != mine && *pid != fork);
        let theirs = theirs.expect("three");
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
        until("all have started", || {
            witness.living().len() >= 9 && kept(&witness).len() == 2
        });
        let kept = kept(&witness);
        witness.kill();
        witness.until_only(&kept);
    }
}

/// The session of a process.
fn session(pid: i32) -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::getsid(pid) }
}

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
    // The first child may be started before the supervisor is seen to have gone.
    witness.order("spawn exit 0");
    witness.answer();
    until("it is not tried again", || {
        witness
            .tell("status")
            .contains("exited by itself with status 1")
    });
    let status = witness.tell("status");
    assert!(status.starts_with("0 1 0 "), "one start: {status}");
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
        let kept: Vec<i32> = witness
            .living()
            .into_iter()
            .filter(|pid| !ours.contains(pid))
            .collect();
        assert_eq!(kept.len(), 3);
        witness.kill();
        witness.until_only(&kept);
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
        let member = witness
            .living()
            .into_iter()
            .find(|pid| *pid != group)
            .expect("two");
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
    until("a member", || witness.living().len() == 2);
    let member = witness
        .living()
        .into_iter()
        .find(|one| *one != child)
        .expect("two");
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

#[test]
fn handles() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let child = witness.number("spawn sleep 1000 & exit 7");
        let answer = witness.tell(&format!("wait {child}"));
        assert_eq!(
            answer
                .matches("Ok(ExitStatus(unix_wait_status(1792)))")
                .count(),
            2,
            "{answer}"
        );
        assert_eq!(
            witness.living().len(),
            1,
            "what it left lives while the handle does"
        );
        witness.tell(&format!("drop {child}"));
        witness.until_only(&[]);
        let child = witness
            .number("spawn trap 'exit 5' TERM; setsid sleep 1000 & while :; do sleep 0.1; done");
        until("it has started", || witness.living().len() >= 2);
        let answer = witness.tell(&format!("stop {child}"));
        assert!(answer.contains("1280"), "{answer}");
        assert!(
            witness.living().is_empty(),
            "{tier}: stop returns when all of it is gone"
        );
        let child = witness.number("spawn exec sleep 1000");
        witness.tell(&format!("drop {child}"));
        assert!(witness.living().is_empty());
        assert!(state(child).is_none(), "no zombie is left");
        assert!(witness.tell("status").contains("[]"));
    }
}

#[test]
fn what_cannot_run_is_an_error_and_leaves_nothing() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        for program in [
            "/nowhere/at/all",
            "no-such-program-anywhere",
            "/etc/passwd",
            "/",
        ] {
            let answer = witness.tell(&format!("program {program}"));
            assert!(answer.contains("error Program"), "{answer}");
        }
        assert!(witness.tell("status").contains("[]"));
    }
}

#[test]
fn a_child_gets_what_it_was_given() {
    for tier in tiers() {
        let variables = [
            ("a.b", "1 \n2"),
            ("IFS", "x"),
            ("start", "s"),
            ("OWN", "a'b\"c $d"),
        ];
        let mut witness = Witness::with(&tier, &variables);
        let answer = witness.tell("output tr '\\0' '\\n' < /proc/$$/environ");
        for want in ["a.b=1 |2|", "IFS=x|", "start=s|", "OWN=a'b\"c $d|"] {
            assert!(answer.contains(want), "{tier}: {want} in {answer}");
        }
        assert!(!answer.contains("_o_start"), "{answer}");
        // The descriptors that any child gets here, and no lifeline.
        let list = "exec ls /proc/self/fd";
        let plain = std::process::Command::new("/bin/sh")
            .args(["-c", list])
            .output();
        let plain = String::from_utf8_lossy(&plain.expect("a shell").stdout).replace('\n', "|");
        assert_eq!(witness.tell(&format!("output {list}")), plain, "{tier}");
        let answer = witness.tell("output cut -d' ' -f5 /proc/$$/stat; echo $$");
        let words: Vec<&str> = answer.split('|').collect();
        assert_eq!(words[0], words[1], "{tier}: it leads its group");
    }
}

#[test]
fn threads_that_end_at_once() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        assert_eq!(witness.tell("threads 8"), "64");
        until("all have become their program", || {
            witness.living().len() == 64
        });
        witness.kill();
        witness.until_only(&[]);
    }
}

//! What a child is given, what its handle says, and what cannot be started.

use crate::witness::{Witness, both_ways, is_direct, is_shell, state, tiers, until};

#[test]
fn handles() {
    for tier in both_ways() {
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
        until("what it left lives while the handle does", || {
            witness.living().len() == 1
        });
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

/// A child that has ended, its group with it, and what it left elsewhere.
#[test]
fn the_end_of_a_handle_ends_what_a_waited_child_left() {
    let text = "setsid sleep 1000 & while [ \"$(cut -d' ' -f5 /proc/$!/stat)\" = $$ ]; do :; done";
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        // Another child's is not touched.
        let other = witness.number(&format!("spawn {text}"));
        let child = witness.number(&format!("spawn {text}"));
        for child in [other, child] {
            assert!(witness.tell(&format!("wait {child}")).contains("Ok"));
        }
        until("both have left a process", || witness.living().len() == 2);
        witness.tell(&format!("drop {child}"));
        until("one of them is ended", || witness.living().len() == 1);
        witness.tell(&format!("drop {other}"));
        witness.until_only(&[]);
    }
}

#[test]
fn what_is_asked_to_end_gets_its_time_although_no_process_can_be_seen() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let child =
            witness.number("spawn trap 'sleep 0.3; exit 5' TERM; while :; do sleep 0.1; done");
        until("it has started", || witness.living().len() == 2);
        let hidden = witness.tell("hide-processes");
        if hidden != "hidden" {
            println!("not run: this system does not permit to hide processes");
            assert!(std::env::var("CI").is_err(), "mounts are needed");
            return;
        }
        let answer = witness.tell(&format!("stop {child}"));
        assert!(answer.contains("1280"), "{tier}: {answer}");
        assert!(witness.living().is_empty());
    }
}

#[test]
fn a_grace_may_be_longer_than_any_clock() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("GRACE", "for ever")]);
        let child = witness.number("spawn exec sleep 1000");
        crate::witness::until_runs(child, "sleep");
        witness.kill();
        witness.until_only(&[]);
    }
    let child = spawn_owned::Owner::builder().no_ledger().build();
    let child =
        child.and_then(|owner| owner.spawn_owned(spawn_owned::Command::new("/bin/true"), "a test"));
    let ended = child.expect("true").wait_timeout(std::time::Duration::MAX);
    assert!(matches!(ended, Ok(Some(status)) if status.success()));
}

/// Names that a shell, or `env`, could take for an option or a variable.
#[test]
fn a_program_may_have_any_name() {
    let folder = std::env::temp_dir().join(format!("owned-names-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("-d")).expect("a folder");
    for name in ["-x", "-", "-a=b", "a=b", "--", "-d/p", "-d/a=b"] {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh --\nexit 7\n").expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("ours");
    }
    let folder = folder.to_str().expect("a plain path");
    for tier in both_ways() {
        let path = format!("{folder}:/usr/bin:/bin");
        let mut witness = Witness::with(&tier, &[("PATH", &path), ("FOLDER", folder)]);
        for name in ["-x", "-", "-a=b", "a=b", "--", "-d/p", "-d/a=b"] {
            let child = witness.number(&format!("program {name}"));
            let answer = witness.tell(&format!("wait {child}"));
            assert!(answer.contains("1792"), "{tier}, {name}: {answer}");
        }
    }
    std::fs::remove_dir_all(folder).expect("ours");
}

#[test]
fn what_cannot_run_is_an_error_and_leaves_nothing() {
    for tier in both_ways() {
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

/// What no look at a file can tell: the system refuses it when it is to be run.
#[test]
fn what_the_system_does_not_run_is_an_error_and_leaves_nothing() {
    let path = std::env::temp_dir().join(format!("owned-refused-{}", std::process::id()));
    std::fs::write(&path, "#!/tmp\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("ours");
    for tier in both_ways() {
        let mut witness = Witness::new(&tier);
        let answer = witness.tell(&format!("program {}", path.display()));
        if is_direct(&tier) {
            assert!(answer.contains("error Spawn"), "{tier}: {answer}");
            assert!(answer.contains("PermissionDenied"), "{tier}: {answer}");
        } else {
            // Its launcher has begun by then, and ends as shells do.
            let answer = witness.tell(&format!("wait {answer}"));
            assert!(answer.contains("32256"), "{tier}: {answer}");
        }
        assert!(witness.living().is_empty());
        assert!(witness.tell("status").contains("[]"), "{tier}");
    }
    std::fs::remove_file(path).expect("ours");
}

#[test]
fn a_child_gets_what_it_was_given() {
    for tier in both_ways() {
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
        // The descriptors that any child gets here, and no lifeline.
        let list = "exec ls /proc/self/fd";
        let plain = std::process::Command::new("/bin/sh")
            .args(["-c", list])
            .output();
        let plain = String::from_utf8_lossy(&plain.expect("a shell").stdout).replace('\n', "|");
        assert_eq!(witness.tell(&format!("output {list}")), plain, "{tier}");
        // Signals too: none blocked, and ignored what any child ignores here.
        let list = "exec cat /proc/self/status";
        let plain = std::process::Command::new("/bin/sh")
            .args(["-c", list])
            .output();
        let plain = String::from_utf8_lossy(&plain.expect("a shell").stdout).replace('\n', "|");
        let answer = witness.tell(&format!("output {list}"));
        assert_eq!(signals(&answer), signals(&plain), "{tier}");
        let answer = witness.tell("output cut -d' ' -f5 /proc/$$/stat; echo $$");
        let words: Vec<&str> = answer.split('|').collect();
        assert_eq!(words[0], words[1], "{tier}: it leads its group");
    }
}

/// Which signals a process blocks, ignores and handles, without those that the C library keeps for itself.
fn signals(status: &str) -> Vec<u64> {
    let lines = status.split('|').filter_map(|line| line.split_once(":\t"));
    let sets = lines.filter(|(name, _)| ["SigBlk", "SigIgn", "SigCgt"].contains(name));
    let sets = sets.map(|(_, set)| u64::from_str_radix(set, 16).expect("a set"));
    let own = 1 << (32 - 1) | 1 << (33 - 1);
    sets.map(|set| set & !own).collect()
}

/// Its name and its environment, to the last byte: what the system would have given it without us.
#[test]
fn a_child_is_called_and_surrounded_as_was_asked() {
    let some = [
        ("_", "u"),
        ("_o_", "mine"),
        ("_o_start", "too"),
        ("PATH", "/usr/bin:/bin"),
        ("PWD", "/nowhere"),
        ("OLDPWD", "x"),
        ("SHLVL", "5"),
        ("BASH", "b"),
        ("SHELLOPTS", "s"),
        ("PS1", ">"),
        ("PPID", "1"),
        ("OPTIND", "7"),
        ("RANDOM", "4"),
        ("A", "1"),
        ("B.c", "2"),
        ("EMPTY", ""),
    ];
    let no_path: &[(&str, &str)] = &[("A", "1")];
    let only_path: &[(&str, &str)] = &[("PATH", "/usr/bin:/bin")];
    for tier in both_ways() {
        let mut witness = Witness::new(&tier);
        for variables in [&some[..], no_path, only_path] {
            let given: Vec<String> = variables
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let answer = witness.tell(&format!("surroundings {}", given.join(" ")));
            let mut words: Vec<&str> = answer.split('|').filter(|word| !word.is_empty()).collect();
            let name = words.remove(0);
            let found: Vec<&str> = words
                .iter()
                .filter(|word| !word.starts_with("SPAWN_OWNED="))
                .copied()
                .collect();
            let mut wanted = given.clone();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{tier}");
            // Without `PATH` a launcher in a shell has no other name for it than where it is.
            let path = variables != no_path || !is_shell(&tier) || is_direct(&tier);
            assert!(
                if path {
                    name == "cat"
                } else {
                    name.ends_with("/cat")
                },
                "{tier}: {name}"
            );
        }
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

/// The first children of an owner, started by many threads at once, find one supervisor.
#[test]
fn first_children_at_once_have_one_supervisor() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        assert_eq!(witness.tell("threads 8"), "64");
        let status = witness.tell("status");
        let started: Vec<&str> = status.split(' ').skip(1).take(2).collect();
        assert_eq!(started, ["1", "0"], "{tier}: {status}");
        witness.kill();
        witness.until_only(&[]);
    }
}

/// A server that never answers is given up and tried again, and one that is not there too: no try leaves
/// a process, a zombie or a descriptor.
#[test]
fn a_try_that_fails_leaves_nothing() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let owner = witness.owner.id().cast_signed();
        let open = || {
            let entries = std::fs::read_dir(format!("/proc/{owner}/fd"));
            entries.expect("an owner").count()
        };
        // Whatever an owner needs once is there after the first.
        assert_eq!(witness.tell("unanswered 1"), "1");
        let before = open();
        assert_eq!(witness.tell("unanswered 50"), "50");
        for _ in 0..50 {
            assert!(witness.tell("program /nowhere/at/all").starts_with("error"));
        }
        assert_eq!(open(), before, "{tier}: descriptors are left");
        assert!(witness.living().is_empty(), "{tier}");
        let supervisor = witness.supervisor();
        assert_eq!(children(owner), [supervisor], "{tier}: or a zombie is left");
    }
}

/// The children of a process, zombies too.
pub(crate) fn children(parent: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all = pids.filter_map(crate::processes::look);
    all.filter_map(|one| (one.parent == parent).then_some(one.pid))
        .collect()
}

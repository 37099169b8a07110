//! A supervisor comes, goes, is killed and does not work: what is owned stays protected, or that is said.

use crate::numbers::in_a_space;
use crate::witness::{Witness, is_shell, lives, tiers, until, until_runs};

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

/// As an external `kill` takes `-15 -123` for everybody, a shell without its own is refused. In a space of
/// numbers of its own: were it not refused, everybody in there would be ended, and nobody else.
#[test]
fn a_shell_without_its_own_kill() {
    use std::os::unix::fs::PermissionsExt as _;
    if !in_a_space("supervisors::a_shell_without_its_own_kill") {
        return;
    }
    let file = std::env::temp_dir().join(format!("owned-no-kill-{}", std::process::id()));
    let text = "#!/bin/bash\nenable -n kill\nsource /dev/stdin \"${@:2}\"\n";
    std::fs::write(&file, text).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&file, mode).expect("ours");
    let mut witness = Witness::new(file.to_str().expect("a plain path"));
    let answer = witness.tell("spawn exec sleep 1000");
    assert!(answer.contains("with status 3"), "{answer}");
    assert!(witness.living().is_empty());
    std::fs::remove_file(file).expect("ours");
}

/// A supervisor that does not read is replaced by one that knows everything when the lifeline is full. A
/// native one that is stopped goes on as soon as there is something to read.
#[test]
fn a_supervisor_that_is_stuck() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let child = witness.number("spawn exec sleep 1000");
        let adopted = witness.number("plain exec sleep 1000");
        until_runs(child, "sleep");
        let first = witness.supervisor();
        crate::witness::kill(first, libc::SIGSTOP);
        // Two lines of some twenty bytes each; a pipe holds 65536.
        for _ in 0..2500 {
            assert_eq!(witness.tell(&format!("adopt {adopted}")), "adopted");
            assert_eq!(witness.tell(&format!("release {adopted}")), "released");
        }
        if is_shell(&tier) {
            until("another supervisor", || {
                ![0, first].contains(&witness.supervisor())
            });
            assert!(!lives(first), "{tier}: two at once");
        }
        assert!(witness.tell("status").contains(&format!("[{child}]")));
        witness.kill();
        witness.until_only(&[adopted]);
    }
}

/// A process can have so many owners. The supervisor of the last one is replaced as any other's is, and its
/// children live on.
#[test]
fn as_many_owners_as_there_can_be() {
    let mut witness = Witness::new("/bin/sh");
    assert_eq!(witness.tell("all-owners /bin/sh"), "256 1 None");
    witness.kill();
    witness.until_only(&[]);
}

/// What happens to be inheritable when the first child is started does not stay open in its supervisor.
#[test]
fn a_supervisor_holds_nothing_of_its_owners() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        let pipes = [witness.tell("leak"), witness.tell("leak")];
        witness.number("spawn exec sleep 1000");
        let supervisor = witness.supervisor();
        let open = std::fs::read_dir(format!("/proc/{supervisor}/fd")).expect("a supervisor");
        let links = open.map(|entry| std::fs::read_link(entry.expect("proc").path()));
        let links: Vec<String> = links
            .filter_map(|link| Some(link.ok()?.to_string_lossy().into_owned()))
            .collect();
        assert!(links.len() >= 4, "{tier}: {links:?}");
        for pipe in &pipes {
            assert!(
                pipe.starts_with("pipe:") && !links.contains(pipe),
                "{tier}: {links:?}"
            );
        }
        let session = std::fs::read_link(format!("/proc/{supervisor}/cwd"));
        assert_eq!(session.expect("a supervisor"), std::path::Path::new("/"));
        witness.kill();
        witness.until_only(&[]);
    }
}

/// A child that comes in the moment in which its supervisor is let go has one.
#[test]
fn a_child_comes_as_the_supervisor_goes() {
    for tier in tiers() {
        let mut witness = Witness::with(&tier, &[("IDLE", "20")]);
        let (mut went, mut stayed) = (0, 0);
        for round in 0..40_u64 {
            let child = witness.number("program /bin/sleep 1000");
            let supervisor = witness.supervisor();
            assert!(lives(supervisor), "{tier}: in round {round}");
            witness.tell(&format!("drop {child}"));
            // From well before to well after the end of its time.
            let moment = std::time::Instant::now() + std::time::Duration::from_millis(round * 3);
            while std::time::Instant::now() < moment {
                std::hint::spin_loop();
            }
            let child = witness.number("program /bin/sleep 1000");
            if witness.supervisor() == supervisor {
                stayed += 1;
            } else {
                went += 1;
            }
            assert!(lives(child) && lives(witness.supervisor()), "{tier}");
            witness.tell(&format!("drop {child}"));
        }
        println!("{tier}: the next child found it {stayed} times, and came after it {went} times");
        assert!(stayed > 0 && went > 0, "{tier}");
        witness.number("program /bin/sleep 1000");
        witness.kill();
        witness.until_only(&[]);
    }
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

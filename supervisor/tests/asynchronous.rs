//! Owned children on tokio: the same promises, and futures that wait for them.

use std::future::Future;
use std::time::Duration;

use spawn_owned::tokio::Owned;
use spawn_owned::{Command, Error, Owner, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::witness::{DEADLINE, Witness, is_shell, lives, tiers, until};

/// Runs a test with an owner of each tier, in a runtime.
fn in_each_tier<T: Future<Output = ()>>(test: impl Fn(Owner) -> T) {
    for tier in tiers().into_iter().filter(|tier| tier != "own") {
        let builder = Owner::builder().no_ledger();
        let builder = if is_shell(&tier) {
            builder.shell(&tier)
        } else {
            builder.native(&tier)
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        let test = test(builder.build().expect("an owner"));
        runtime.block_on(async { timeout(DEADLINE, test).await.expect("in time") });
    }
}

fn shell(owner: &Owner, text: &str) -> Result<Owned, Error> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Owned::new(owner.spawn_owned(command, "a test")?)
}

fn pid(child: &Owned) -> i32 {
    child.id().cast_signed()
}

#[test]
fn streams_and_status() {
    in_each_tier(|owner| async move {
        let mut child =
            shell(&owner, "read -r line; echo \"heard $line\"; exit 3").expect("a child");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(b"a word\n").await.expect("a reader");
        let mut said = String::new();
        let stdout = child.stdout.as_mut().expect("a pipe");
        stdout.read_to_string(&mut said).await.expect("text");
        assert_eq!(said, "heard a word\n");
        for _ in 0..2 {
            assert_eq!(child.wait().await.expect("a status").code(), Some(3));
        }
    });
}

#[test]
fn a_wait_that_is_cancelled_loses_nothing() {
    in_each_tier(|owner| async move {
        let mut child = shell(&owner, "read -r line; exit 4").expect("a child");
        // Its input is what it waits for, and waiting for it would close that.
        let stdin = child.stdin.take();
        let soon = Duration::from_millis(20);
        assert!(timeout(soon, child.wait()).await.is_err(), "it runs");
        assert_eq!(child.try_wait().expect("a child"), None);
        drop(stdin);
        assert_eq!(child.wait().await.expect("a status").code(), Some(4));
    });
}

#[test]
fn a_wait_keeps_nobody_waiting() {
    in_each_tier(|owner| async move {
        let mut first = shell(&owner, "read -r line; exit 7").expect("a child");
        let held = first.stdin.take();
        let first = tokio::spawn(async move { first.wait().await });
        let mut second = shell(&owner, "exit 5").expect("a child");
        assert_eq!(second.wait().await.expect("a status").code(), Some(5));
        assert!(!first.is_finished());
        drop(held);
        let status = first.await.expect("a task").expect("a status");
        assert_eq!(status.code(), Some(7));
    });
}

#[test]
fn stopped_or_dropped_it_is_gone() {
    in_each_tier(|owner| async move {
        let child =
            shell(&owner, "trap 'exit 6' TERM; while :; do sleep 0.1; done").expect("a child");
        let stopped = child.stop(Duration::from_secs(20)).await;
        assert!(stopped.is_ok(), "{stopped:?}");
        let child = shell(&owner, "exec sleep 1000").expect("a child");
        let pid = pid(&child);
        drop(child);
        until("it is gone", || !lives(pid));
    });
}

#[test]
fn the_owner_is_killed() {
    for tier in tiers() {
        let mut witness = Witness::new(&tier);
        witness.number("async setsid sleep 1000 & sleep 1000");
        until("both live", || witness.living().len() == 3);
        witness.kill();
        witness.until_only(&[]);
    }
}

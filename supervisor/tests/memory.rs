//! Owners that end for want of memory: refused more, which a program takes for a reason to abort, and killed by the
//! kernel, where a control group has no more.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use crate::witness::{Witness, lives, tiers, until};

/// What an owner under test may have: far more than it needs, far less than it asks for.
const LIMIT: &str = "67108864";

/// A control group with little memory; gone at its end.
struct Little(PathBuf);

impl Little {
    /// None where there is no such controller, or it is not ours.
    fn new() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mounts = mounts.lines().filter_map(|line| line.split_once(" - "));
        // [cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html): the first version has one for each
        // controller, the second one for all.
        let holds = |kind: &str| match kind.split(' ').next() {
            Some("cgroup") => kind.split([' ', ',']).any(|word| word == "memory"),
            kind => kind == Some("cgroup2"),
        };
        let points = mounts.filter(|(_, kind)| holds(kind));
        points
            .filter_map(|(place, _)| place.split(' ').nth(4))
            .find_map(|point| Self::below(Path::new(point)))
    }

    fn below(point: &Path) -> Option<Self> {
        let folder = point.join(format!("owned-memory-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let set = |name, value| std::fs::write(group.0.join(name), value).is_ok();
        let limited = set("memory.max", LIMIT) || set("memory.limit_in_bytes", LIMIT);
        // Nothing is to be put elsewhere, where that could be.
        let _ = set("memory.swap.max", "0") || set("memory.memsw.limit_in_bytes", LIMIT);
        limited.then_some(group)
    }

    fn take(&self, pid: u32) -> bool {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).is_ok()
    }

    /// How many processes the kernel has killed in it.
    fn kills(&self) -> usize {
        let files = ["memory.events", "memory.oom_control"];
        let texts = files.map(|name| std::fs::read_to_string(self.0.join(name)));
        let texts = texts.map(Result::unwrap_or_default).concat();
        let kills = texts
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        kills.map_or(0, |kills| kills.parse().expect("a number"))
    }
}

impl Drop for Little {
    fn drop(&mut self) {
        until("the control group is empty", || {
            std::fs::remove_dir(&self.0).is_ok()
        });
    }
}

/// An owner with a tree of children, and a child that nobody owns.
fn owner(tier: &str) -> (Witness, i32) {
    let mut witness = Witness::new(tier);
    witness.number("spawn sh -c 'sleep 1000 & sleep 1000' & exec sleep 1000");
    until("the tree stands", || witness.living().len() == 4);
    let control = witness.number("plain exec sleep 1000");
    (witness, control)
}

/// Lets it ask for memory, of which it ends, by this signal; and sees that all is done.
fn ends_by(mut witness: Witness, order: &str, signal: i32, control: i32, tier: &str) {
    let supervisor = witness.supervisor();
    witness.order(order);
    witness.ended();
    let status = witness.owner.wait().expect("a child");
    assert_eq!(status.signal(), Some(signal), "{tier}: {status}");
    witness.until_only(&[control]);
    until("the supervisor ends too", || !lives(supervisor));
}

#[test]
fn an_owner_that_gets_no_more_memory_aborts() {
    for tier in tiers() {
        let (witness, control) = owner(&tier);
        ends_by(witness, "no-memory", libc::SIGABRT, control, &tier);
    }
}

/// The owner alone is in the group: what kills a group as a whole is nobody's to outlive.
#[test]
fn an_owner_that_is_killed_for_its_memory() {
    let Some(group) = Little::new() else {
        println!("not run: no memory controller that this process may use");
        return;
    };
    for (before, tier) in tiers().iter().enumerate() {
        let (witness, control) = owner(tier);
        if !group.take(witness.owner.id()) {
            println!("not run: this process may put none in a control group");
            return;
        }
        ends_by(witness, "all-memory", libc::SIGKILL, control, tier);
        assert_eq!(
            group.kills(),
            before + 1,
            "{tier}: it ended of something else"
        );
    }
    println!(
        "{} owners killed for their memory: 0 survivors",
        group.kills()
    );
}

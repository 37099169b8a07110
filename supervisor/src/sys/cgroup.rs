//! Control groups of version 2: all children of an owner in one, which is ended as a whole.
//!
//! Nothing leaves a control group by itself, and the kernel ends all of one at once, forks in flight too
//! ([cgroup.kill](https://docs.kernel.org/admin-guide/cgroup-v2.html), Linux 5.14). But a process may
//! make groups only where that was left to it, so this is tried, never assumed: the tests run it where
//! the machine permits, and everywhere against a folder that looks like one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the folders of owners begin.
const OURS: &str = "spawn-owned.";

/// A control group of ours.
#[derive(Clone, Debug)]
pub(crate) struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Makes a group below the one of this process; none where that is not ours to do.
    pub(crate) fn make(name: &str) -> Option<Self> {
        let folder = own_folder()?.join(format!("{OURS}{name}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return None,
            _ => {}
        }
        let usable = Self::at(&folder);
        if usable.is_none() {
            let _ = fs::remove_dir(&folder);
        }
        usable
    }

    /// The group at `folder`, if processes can be put in and ended there.
    pub(crate) fn at(folder: &Path) -> Option<Self> {
        let works = |name| {
            let file = fs::OpenOptions::new().write(true).open(folder.join(name));
            file.is_ok()
        };
        (works("cgroup.procs") && works("cgroup.kill")).then(|| Self(folder.to_owned()))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The file that takes the numbers of new members.
    pub(crate) fn members(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    /// Ends every process in it and below.
    pub(crate) fn kill(&self) -> io::Result<()> {
        fs::write(self.0.join("cgroup.kill"), "1")
    }

    /// Removes it and the groups of owners in it; false while somebody is in them.
    pub(crate) fn remove(&self) -> bool {
        let inside = fs::read_dir(&self.0).into_iter().flatten().flatten();
        for entry in inside.filter(|entry| entry.path().is_dir()) {
            Self(entry.path()).remove();
        }
        fs::remove_dir(&self.0).is_ok() || !self.0.exists()
    }
}

/// Takes a process out of the groups of all owners above.
pub(crate) fn leave_control_groups(pid: super::Pid) {
    if let Some(folder) = own_folder()
        && let Some(outside) = outside(&folder)
    {
        // Where this is refused the process could not have been put in either.
        let _ = fs::write(outside.join("cgroup.procs"), pid.to_string());
    }
}

/// The folder above the outermost group of an owner; none if there is no such group.
fn outside(folder: &Path) -> Option<PathBuf> {
    let ours = |part: &Path| {
        let name = part.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(OURS))
    };
    let outermost = folder.ancestors().filter(|part| ours(part)).last();
    Some(outermost?.parent()?.to_owned())
}

/// The folder of the control group that this process is in.
fn own_folder() -> Option<PathBuf> {
    let group = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    folder_of(&group, &mounts)
}

/// The same from the texts of `/proc/PID/cgroup` and `/proc/PID/mountinfo`.
/// [cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html)
fn folder_of(group: &str, mounts: &str) -> Option<PathBuf> {
    let group = group.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = place.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let below = Path::new(group).strip_prefix(root).ok()?;
        // A name in which the kernel masks a letter is not one that is looked for.
        (!point.contains('\\')).then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 0:20 / /proc rw - proc proc rw\n\
        30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_folder_is_told_from_two_texts() {
        let folder = |group, mounts| folder_of(group, mounts);
        let path = PathBuf::from("/sys/fs/cgroup/user.slice/a b");
        assert_eq!(folder("1:cpu:/x\n0::/user.slice/a b\n", MOUNTS), Some(path));
        assert_eq!(folder("0::/\n", MOUNTS), Some("/sys/fs/cgroup".into()));
        // A container sees a part of the tree as all of it.
        let part = MOUNTS.replace("0:26 / ", "0:26 /box ");
        let path = PathBuf::from("/sys/fs/cgroup/in");
        assert_eq!(folder("0::/box/in\n", &part), Some(path));
        assert_eq!(folder("0::/elsewhere\n", &part), None);
        for (group, mounts) in [
            ("", MOUNTS),
            ("1:cpu:/\n", MOUNTS),
            ("0::/\n", ""),
            ("0::/\n", "30 22 0:26 / - cgroup2"),
            ("0::/\n", "- - - cgroup2 x"),
        ] {
            assert_eq!(folder(group, mounts), None, "{group:?} {mounts:?}");
        }
    }

    #[test]
    fn what_outlives_goes_above_all_owners() {
        let outside = |path| outside(Path::new(path));
        let found = outside("/c/a/spawn-owned.1/b/spawn-owned.2");
        assert_eq!(found, Some("/c/a".into()));
        assert_eq!(outside("/c/a"), None);
    }

    #[test]
    fn only_a_folder_with_both_files_is_a_group() {
        let folder = std::env::temp_dir().join(format!("owned-cgroup-{}", std::process::id()));
        fs::create_dir_all(folder.join("spawn-owned.inner")).unwrap();
        assert!(ControlGroup::at(&folder).is_none());
        fs::write(folder.join("cgroup.procs"), "").unwrap();
        assert!(ControlGroup::at(&folder).is_none());
        fs::write(folder.join("cgroup.kill"), "").unwrap();
        let group = ControlGroup::at(&folder).unwrap();
        group.kill().unwrap();
        assert_eq!(fs::read_to_string(folder.join("cgroup.kill")).unwrap(), "1");
        // A folder of another kind keeps its files, so it is not removed; the inner one was empty.
        assert!(!group.remove() && !folder.join("spawn-owned.inner").exists());
        fs::remove_dir_all(&folder).unwrap();
        assert!(group.remove());
    }
}

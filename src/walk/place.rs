//! Where a run stands: how paths are shown, and what they are relative to.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The working directory and the repository around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The working directory, resolved.
    pub cwd: PathBuf,
    /// The repository's root, resolved; the working directory where there is none.
    pub root: PathBuf,
}

impl Place {
    /// The place of a run in `cwd`.
    pub fn new(cwd: &Path) -> Self {
        let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
        let root = cwd
            .ancestors()
            .find(|folder| folder.join(".git").exists())
            .unwrap_or(&cwd)
            .to_owned();
        Self { cwd, root }
    }

    /// The working directory from the repository's root, with `/`; empty at the root.
    pub fn prefix(&self) -> String {
        match self.cwd.strip_prefix(&self.root) {
            Ok(inside) if !inside.as_os_str().is_empty() => slashed(inside),
            _ => String::new(),
        }
    }

    /// How `path` is shown: relative to the working directory if it is in the same repository,
    /// else as it was given. Names that are no Unicode are shown with U+FFFD.
    pub fn shown(&self, path: &Path) -> String {
        // What is named below the working directory is shown as it is named, through links too.
        let below = path.strip_prefix(&self.cwd).unwrap_or(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if below.components().all(plain) {
            return slashed(below);
        }
        let full = self.full(path);
        if let Ok(inside) = full.strip_prefix(&self.cwd) {
            return if inside.as_os_str().is_empty() {
                ".".to_owned()
            } else {
                slashed(inside)
            };
        }
        let Some((up, common)) = self
            .cwd
            .ancestors()
            .enumerate()
            .find(|(_, folder)| full.starts_with(folder))
        else {
            return slashed(path);
        };
        match full.strip_prefix(common) {
            Ok(rest) if common.starts_with(&self.root) => {
                let rest = if rest.as_os_str().is_empty() {
                    String::new()
                } else {
                    slashed(rest)
                };
                ("../".repeat(up) + &rest).trim_end_matches('/').to_owned()
            }
            _ => slashed(path),
        }
    }

    /// The whole path, with links in its folder resolved but not one at its end: what the caller
    /// names keeps its name.
    pub fn full(&self, path: &Path) -> PathBuf {
        let joined = self.cwd.join(path);
        let resolved = match (joined.parent(), joined.file_name()) {
            (Some(folder), Some(name)) => {
                std::fs::canonicalize(folder).map(|folder| folder.join(name))
            }
            _ => std::fs::canonicalize(&joined),
        };
        resolved.unwrap_or(joined)
    }
}

/// A path from its bytes, as lists of paths and git give it.
///
/// # Errors
///
/// Where not all bytes are a path.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> Result<PathBuf, String> {
    use std::os::unix::ffi::OsStringExt;
    Ok(OsString::from_vec(bytes.to_vec()).into())
}

/// A path from its bytes, as lists of paths and git give it.
///
/// # Errors
///
/// Where not all bytes are a path.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> Result<PathBuf, String> {
    let text = String::from_utf8(bytes.to_vec());
    text.map(|text| OsString::from(text).into())
        .map_err(|error| format!("a path is no UTF-8: {error}"))
}

/// The path with `/` between its parts, without `.` parts.
fn slashed(path: &Path) -> String {
    let mut shown = String::new();
    for part in path.components() {
        let text = match part {
            Component::CurDir => continue,
            Component::RootDir => {
                shown.push('/');
                continue;
            }
            Component::Prefix(prefix) => prefix.as_os_str().to_string_lossy(),
            Component::ParentDir => "..".into(),
            Component::Normal(name) => name.to_string_lossy(),
        };
        if !shown.is_empty() && !shown.ends_with('/') {
            shown.push('/');
        }
        shown.push_str(&text);
    }
    if shown.is_empty() {
        ".".to_owned()
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_the_working_directory() {
        let place = Place {
            cwd: "/r/sub/dir".into(),
            root: "/r".into(),
        };
        let cases = [
            ("a.py", "a.py"),
            ("./x/./a.py", "x/a.py"),
            (".", "."),
            ("/r/sub/dir/a.py", "a.py"),
            ("/r/other/a.py", "../../other/a.py"),
            ("/r", "../.."),
            ("/elsewhere/a.py", "/elsewhere/a.py"),
        ];
        for (path, shown) in cases {
            assert_eq!(place.shown(Path::new(path)), shown, "{path}");
        }
        assert_eq!(place.prefix(), "sub/dir");
        assert_eq!(
            Place {
                cwd: "/r".into(),
                root: "/r".into()
            }
            .prefix(),
            ""
        );
    }
}

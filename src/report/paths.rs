//! Paths as other tools want them: from the repository's root, and as a URI.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays as it is in a path of a URI: RFC 3986's unreserved characters, and the slash.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// A path as it is from the repository's root; `prefix` is the working directory from there.
pub fn from_root(prefix: &str, path: &str) -> String {
    if is_absolute(path) {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = prefix.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The same as a relative reference of a URI; absolute paths become `file://`.
pub(super) fn uri(prefix: &str, path: &str) -> String {
    let path = from_root(prefix, path);
    let encoded = utf8_percent_encode(&path, KEPT);
    match path.starts_with('/') {
        true => format!("file://{encoded}"),
        false if is_absolute(&path) => format!("file:///{encoded}"),
        false => encoded.to_string(),
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || cfg!(windows) && has_drive(path)
}

/// `C:/a.py`, as Windows has it; elsewhere that is a folder `C:`.
const fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_root() {
        assert_eq!(from_root("", "a/b.py"), "a/b.py");
        assert_eq!(from_root("sub/dir", "b.py"), "sub/dir/b.py");
        assert_eq!(from_root("sub/dir", "../../x/b.py"), "x/b.py");
        assert_eq!(from_root("sub", "/else/b.py"), "/else/b.py");
    }

    #[test]
    fn uris_are_encoded() {
        assert_eq!(uri("", "a b/ü%:,#?.py"), "a%20b/%C3%BC%25%3A%2C%23%3F.py");
        assert_eq!(uri("sub", "/else/b c.py"), "file:///else/b%20c.py");
    }

    /// C 63: the one sign between parts is `/`; another one is part of a name.
    #[test]
    fn backslashes_and_drives_are_told_apart() {
        assert_eq!(uri("", r"a\b.py"), "a%5Cb.py");
        assert_eq!(from_root("sub", r"..\b.py"), r"sub/..\b.py");
        let drives = [
            "C:/a.py", "c:/", "C:a.py", "CC:/a", "1:/a", "/C:/a", "a:b.py",
        ];
        assert_eq!(
            drives.map(has_drive),
            [true, true, false, false, false, false, false]
        );
        let elsewhere = if cfg!(windows) {
            "file:///C%3A/a.py"
        } else {
            "sub/C%3A/a.py"
        };
        assert_eq!(uri("sub", "C:/a.py"), elsewhere);
    }
}

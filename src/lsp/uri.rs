//! Paths out of `file` URIs (RFC 8089), which editors percent-encode each in its own way.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::walk::path_of;

/// The path of a file on this machine; none for everything else, such as a text that was never saved.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = match rest.strip_prefix("//") {
        Some(after) => {
            let (host, _) = after.split_once('/')?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            after.get(host.len()..)?
        }
        None => rest,
    };
    let bytes: Vec<u8> = percent_decode_str(rest).collect();
    let path = local(&bytes)?;
    // No system has names with NUL, and a name for one must not end at it.
    (!path.contains(&0)).then(|| path_of(path).ok()).flatten()
}

/// `/c:/x` is `c:/x` on Windows.
fn local(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [b'/', drive, b':', ..] if cfg!(windows) && drive.is_ascii_alphabetic() => bytes.get(1..),
        [b'/', ..] => Some(bytes),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_have_paths() {
        for (uri, expected) in [
            ("file:///a/b.py", "/a/b.py"),
            ("FILE:///a%20b/%C3%A9%25.py", "/a b/é%.py"),
            ("file://localhost/a[1].py", "/a[1].py"),
            ("file:/a", "/a"),
        ] {
            assert_eq!(path(uri), Some(expected.into()), "{uri}");
        }
        let none = [
            "untitled:a.py",
            "file://host/a",
            "file:a",
            "file://",
            "file",
            "",
            "file:///a%00b",
            "https://x/a.py",
        ];
        for uri in none {
            assert_eq!(path(uri), None, "{uri}");
        }
    }
}

//! The mark in a child's environment by which it is found when it has left its group.
//!
//! `SPAWN_OWNED` holds one entry for each owner above: `TOKEN.NUMBER:`, where the token names the owner
//! and the number its child. Descendants inherit it. An owner inside an owned tree adds its entry to the
//! list, so that the outer owner still finds everything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

/// The name of the variable.
pub(crate) const VARIABLE: &str = "SPAWN_OWNED";

/// A name that no other owner has.
pub(crate) fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut token = String::with_capacity(32);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

/// The variable's value for child `number` of the owner `token`, below what `outer` says.
pub(crate) fn value(outer: Option<&OsStr>, token: &str, number: u64) -> Vec<u8> {
    let mut value = outer.map_or(Vec::new(), |outer| outer.as_bytes().to_vec());
    if value.last().is_some_and(|last| *last != b':') {
        value.push(b':');
    }
    value.extend_from_slice(format!("{token}.{number}:").as_bytes());
    value
}

/// The child's number in a value of the variable; 0, which no child has, where there is none.
pub(crate) fn last_number(value: Option<&OsStr>) -> u64 {
    let text = value.map(OsStr::to_string_lossy).unwrap_or_default();
    let number = text.trim_end_matches(':').rsplit('.').next();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The marks in an environment, entries ended by NUL: token and number each.
pub(crate) fn marks(environment: &[u8]) -> impl Iterator<Item = (&str, u64)> {
    let entries = environment.split(|byte| *byte == 0);
    let values =
        entries.filter_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
    let entries = values.flat_map(|value| value.split(|byte| *byte == b':'));
    entries.filter_map(|entry| {
        let (token, number) = std::str::from_utf8(entry).ok()?.split_once('.')?;
        Some((token, number.parse().ok()?))
    })
}

/// Which processes are meant.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
    /// Those of this owner,
    pub(crate) token: String,
    /// or of these children of it only,
    pub(crate) only: Option<BTreeSet<u64>>,
    /// but not those of children that were handed back.
    pub(crate) except: BTreeSet<u64>,
}

impl Marked {
    /// Everything of one owner.
    pub(crate) fn of(token: &str) -> Self {
        Self {
            token: token.to_owned(),
            only: None,
            except: BTreeSet::new(),
        }
    }

    /// Whether an environment, entries ended by NUL, carries the mark.
    pub(crate) fn carried(&self, environment: &[u8]) -> bool {
        marks(environment).any(|(token, number)| self.names(token, number))
    }

    fn names(&self, token: &str, number: u64) -> bool {
        if token != self.token {
            return false;
        }
        let meant = self.only.as_ref().is_none_or(|only| only.contains(&number));
        meant && !self.except.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(only: Option<u64>, except: &[u64]) -> Marked {
        Marked {
            token: "ab".to_owned(),
            only: only.map(|only| BTreeSet::from([only])),
            except: except.iter().copied().collect(),
        }
    }

    #[test]
    fn the_number_of_the_innermost_mark() {
        let number = |text: &str| last_number(Some(OsStr::new(text)));
        assert_eq!(number("ab.3:cd.17:"), 17);
        assert_eq!([number(""), number("ab"), number("ab.x:")], [0, 0, 0]);
        assert_eq!(last_number(None), 0);
    }

    #[test]
    fn tokens_differ() {
        assert_eq!(token().unwrap().len(), 32);
        assert_ne!(token().unwrap(), token().unwrap());
    }

    #[test]
    fn outer_owners_stay_in_the_list() {
        let value = value(Some(OsStr::new("ff.1:")), "ab", 12);
        assert_eq!(value, b"ff.1:ab.12:");
        let environment = [b"HOME=/\0SPAWN_OWNED=", value.as_slice(), b"\0X=1\0"].concat();
        assert!(marked(None, &[]).carried(&environment));
        assert!(marked(Some(12), &[]).carried(&environment));
        assert!(!marked(Some(1), &[]).carried(&environment));
        assert!(!marked(None, &[12]).carried(&environment));
    }

    #[test]
    fn another_variable_is_no_mark() {
        for environment in [
            &b"X_SPAWN_OWNED=ab.1:\0"[..],
            b"SPAWN_OWNED=abc.1:\0",
            b"SPAWN_OWNED=ab:\0",
            b"",
        ] {
            assert!(!marked(None, &[]).carried(environment));
        }
    }
}

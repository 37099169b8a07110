//! Patterns for paths, in the language of ignore files.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::met::Met;

/// Patterns, the last one that matches counts; a path is given relative to where they hold.
#[derive(Clone, Debug)]
pub struct Globs {
    matcher: Gitignore,
    /// Each as it is matched, and whether it ever decided of a path.
    met: Vec<(String, Met)>,
}

impl Globs {
    /// Reads patterns.
    ///
    /// # Errors
    ///
    /// Says which one is none, or can match nothing.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new("");
        let mut met = Vec::new();
        for glob in globs {
            let unread = |why: String| format!("cannot read the glob {glob:?}: {why}");
            let normal = normal(glob).map_err(unread)?;
            let added = builder.add_line(None, &normal);
            added.map_err(|error| unread(error.to_string()))?;
            met.push((normal, Met::default()));
        }
        let matcher = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { matcher, met })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.matcher.is_empty()
    }

    /// Whether they match a path itself; what stands above it is not asked.
    pub fn meets(&self, inside: &Path, folder: bool) -> bool {
        self.may_meet(inside) && self.decides(&self.matcher.matched(inside, folder))
    }

    /// Whether they match a path or a folder around it.
    pub fn covers(&self, inside: &Path, folder: bool) -> bool {
        let matched = || self.matcher.matched_path_or_any_parents(inside, folder);
        self.may_meet(inside) && self.decides(&matched())
    }

    /// Which of them, by their numbers in the list, decided of no path that was asked about.
    pub fn unmet(&self) -> impl Iterator<Item = usize> {
        let all = self.met.iter().enumerate();
        all.filter(|(_, (_, met))| !met.is()).map(|(at, _)| at)
    }

    fn decides(&self, found: &Match<&Glob>) -> bool {
        if let Some(glob) = found.inner() {
            let same = self.met.iter().filter(|(own, _)| own == glob.original());
            same.for_each(|(_, met)| met.mark());
        }
        found.is_ignore()
    }

    /// Whether a path lies where the patterns hold at all.
    fn may_meet(&self, inside: &Path) -> bool {
        let outside = inside.has_root() || inside.starts_with("..");
        !self.is_empty() && !inside.as_os_str().is_empty() && !outside
    }
}

impl Default for Globs {
    /// None.
    fn default() -> Self {
        Self {
            matcher: Gitignore::empty(),
            met: Vec::new(),
        }
    }
}

/// A pattern as it is matched: `./a.py` means the one at the top, as it does for a shell. The error says
/// why it can match nothing; ignore files would take it in silence.
fn normal(glob: &str) -> Result<String, String> {
    let (not, path) = match glob.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", glob),
    };
    let mut bare = path;
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest.trim_start_matches('/');
    }
    let top = if bare.len() < path.len() { "/" } else { "" };
    let has = |part: &str| bare.split('/').any(|own| own == part);
    let why = if path.is_empty() {
        "it is empty"
    } else if bare.is_empty() || bare == "." {
        "it is the folder itself; all that is in it is `*`"
    } else if has("..") {
        "`..` leads out of the folder from which on it holds"
    } else if has(".") {
        "no path has a part `.`"
    } else if glob.starts_with('#') {
        "it is a comment, as in ignore files; a name that begins so is `\\#…`"
    } else if splits(bare) {
        "the parts of a path are separated by `/`, on Windows too"
    } else {
        return Ok([not, top, bare].concat());
    };
    Err(why.to_owned())
}

/// Whether a backslash stands where it takes no sign its meaning: it was meant to separate.
fn splits(glob: &str) -> bool {
    let mut chars = glob.chars();
    while let Some(char) = chars.next() {
        let plain = |next: char| next.is_alphanumeric() || matches!(next, '_' | '-' | '.');
        if char == '\\' && chars.next().is_none_or(plain) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(all: &[&str]) -> Result<Globs, String> {
        let all: Vec<String> = all.iter().map(|glob| (*glob).to_owned()).collect();
        Globs::new(&all)
    }

    /// C 63: what Windows writes is never taken in silence for something else.
    #[test]
    fn what_can_match_nothing_is_refused() {
        for (glob, said) in [
            (r"vendored\a.py", "separated by `/`"),
            (r"vendored\", "separated by `/`"),
            (r"!a\.hidden", "separated by `/`"),
            ("../a.py", "`..` leads out"),
            ("a/../b.py", "`..` leads out"),
            ("a/./b.py", "no path has a part `.`"),
            (".", "the folder itself"),
            ("./", "the folder itself"),
            ("", "it is empty"),
            ("!", "it is empty"),
            ("#a.py", "a comment"),
            ("a{b", "cannot read the glob \"a{b\""),
        ] {
            let fault = globs(&[glob]).unwrap_err();
            assert!(fault.contains(said), "{glob}: {fault}");
        }
        for (glob, path) in [(r"\#a.py", "#a.py"), (r"a\*.py", "a*.py"), (r"a\ ", "a ")] {
            assert!(globs(&[glob]).unwrap().meets(Path::new(path), false));
        }
    }

    #[test]
    fn a_dot_before_it_is_the_top() {
        let globs = globs(&["./a.py", "*.rs", "!././/keep.rs"]).unwrap();
        let meets = |path| globs.meets(Path::new(path), false);
        let all = ["a.py", "x/a.py", "b.rs", "x/b.rs", "keep.rs", "x/keep.rs"];
        assert_eq!(all.map(meets), [true, false, true, true, false, true]);
        assert!(!meets("../a.py") && !meets("/a.py"));
    }

    #[test]
    fn what_decided_of_nothing_is_known() {
        let globs = globs(&["a/", "b.py", "!c.py", "d.py"]).unwrap();
        globs.meets(Path::new("a"), true);
        globs.clone().covers(Path::new("x/c.py"), false);
        globs.meets(Path::new("e.py"), false);
        assert_eq!(globs.unmet().collect::<Vec<_>>(), [1, 3]);
    }
}

//! What git knows of the working tree: a base to compare with, renamed files, what is staged.
//!
//! git is run as a reader: without hooks, file system monitor, external diffs, text conversion,
//! prompts, locks or network. Nothing reads the working tree, so that no filter of the repository
//! is run either: renames are those between the base and the index.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::report::summary::plain;
use crate::walk::{Place, path_of, reason};

/// Paths given to one run of git; the system limits how long a command line may be.
const AT_ONCE: usize = 200;

/// A repository.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    /// Whether this process runs in another repository, or in none: the index and the folder that a hook is
    /// given are those of its own.
    elsewhere: bool,
}

/// A file that is staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// Its path from the repository's root.
    pub path: PathBuf,
    /// What is staged: the id of a blob.
    pub now: String,
    /// What was committed, under this or its former name.
    pub before: Option<String>,
}

impl Git {
    fn at(root: &Path) -> Self {
        let here = std::env::current_dir().map(|cwd| Place::new(&cwd).root);
        Self {
            root: root.to_owned(),
            elsewhere: !here.is_ok_and(|here| here == root),
        }
    }

    /// The repository in which a run stands.
    ///
    /// # Errors
    ///
    /// Says so where there is none, or none that git reads.
    pub fn of(place: &Place) -> Result<Self, String> {
        let git = Self::at(&place.root);
        if git.root.join(".git").exists() {
            // Where git reads none, some of its commands do something else in silence.
            git.words(&["rev-parse", "--git-dir"])?;
            return Ok(git);
        }
        let here = place.cwd.display();
        Err(format!(
            "{here} is in no git repository: there is nothing to compare with"
        ))
    }

    /// The commit to compare with: where the history of `reference` and of the working tree part. The
    /// commit itself where that is not known, as in a shallow clone: then it is false.
    ///
    /// # Errors
    ///
    /// Says how to get a commit that is not here.
    pub fn base(&self, reference: &str) -> Result<(String, bool), String> {
        if reference.is_empty() {
            return Err("the base is empty: name a commit or a branch".to_owned());
        }
        let named = format!("{reference}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", named.as_str()];
        let commit = if reference.starts_with('-') {
            None // It would be read as an option.
        } else {
            self.words(&args).ok()
        };
        let Some(commit) = commit.filter(|commit| !commit.is_empty()) else {
            let name = plain(reference);
            let branch = name.strip_prefix("origin/").unwrap_or(&name);
            return Err(format!(
                "cannot find the base `{name}` in this repository: fetch it (`git fetch origin {branch}`), \
                 or check out the history too (`fetch-depth: 0` of actions/checkout)"
            ));
        };
        let parting = self.words(&["merge-base", commit.as_str(), "HEAD"]);
        Ok(match parting.ok().filter(|own| !own.is_empty()) {
            Some(parting) => (parting, true),
            None => (commit, false),
        })
    }

    /// Former names of files that were renamed since `base`, by their names now.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn renamed(&self, base: &str) -> Result<BTreeMap<PathBuf, PathBuf>, String> {
        let args = ["--diff-filter=R", base, "--"];
        let entries = self.changes(&args)?;
        let former = |change: Change| Some((change.path, change.former?));
        Ok(entries.into_iter().filter_map(former).collect())
    }

    /// The ids of files in `base`, by their paths from the root; those that it has not are left out.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn blobs(
        &self,
        base: &str,
        paths: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, String>, String> {
        let mut blobs = BTreeMap::new();
        for entry in self.entries(base, paths)? {
            if entry.kind == "blob" && is_file(&entry.mode) {
                blobs.insert(entry.path, entry.id);
            }
        }
        Ok(blobs)
    }

    /// The commit of the submodule that stood at `path` in `base`, if one did.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn submodule(&self, base: &str, path: &Path) -> Result<Option<String>, String> {
        let mut entries = self.entries(base, &[path.to_owned()])?.into_iter();
        let entry = entries.find(|entry| entry.kind == "commit");
        Ok(entry.map(|entry| entry.id))
    }

    fn entries(&self, base: &str, paths: &[PathBuf]) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        for paths in paths.chunks(AT_ONCE) {
            let fixed = ["ls-tree", "-z", "--full-tree", base, "--"];
            let args = fixed.iter().map(OsStr::new);
            let out = self.run(args.chain(paths.iter().map(|path| path.as_os_str())))?;
            for entry in out.split(|byte| *byte == 0) {
                let mut parts = entry.splitn(2, |byte| *byte == b'\t');
                let (Some(head), Some(path)) = (parts.next(), parts.next()) else {
                    continue;
                };
                let head = String::from_utf8_lossy(head);
                let mut words = head.split(' ').map(str::to_owned);
                if let (Some(mode), Some(kind), Some(id)) =
                    (words.next(), words.next(), words.next())
                {
                    let path = path_of(path)?;
                    entries.push(Entry {
                        mode,
                        kind,
                        id,
                        path,
                    });
                }
            }
        }
        Ok(entries)
    }

    /// Whether a commit is here.
    pub fn has(&self, commit: &str) -> bool {
        let named = format!("{commit}^{{commit}}");
        let asked = self.words(&["rev-parse", "--verify", "--quiet", &named]);
        asked.is_ok_and(|commit| !commit.is_empty())
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn content(&self, blob: &str) -> Result<Vec<u8>, String> {
        self.run(["cat-file", "blob", blob].iter().map(OsStr::new))
    }

    /// The size of a blob, in bytes.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn size(&self, blob: &str) -> Result<u64, String> {
        let size = self.words(&["cat-file", "-s", blob])?;
        size.parse()
            .map_err(|_| format!("git cat-file told no size of {blob}, but: {}", plain(&size)))
    }

    /// What is staged and not deleted.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn staged(&self) -> Result<Vec<Staged>, String> {
        let entries = self.changes(&["--diff-filter=AMRT", "--"])?;
        let files = entries.into_iter().filter(|change| is_file(&change.mode));
        let staged = |change: Change| Staged {
            path: change.path,
            now: change.now,
            // A file that is new, or was a link, has no earlier text.
            before: is_file(&change.former_mode).then_some(change.before),
        };
        Ok(files.map(staged).collect())
    }

    /// Files of the repository at `root` that are tracked although its ignore files leave them out, by their
    /// paths from there: git was told to add them all the same.
    ///
    /// # Errors
    ///
    /// Those of git.
    pub fn tracked_all_the_same(root: &Path) -> Result<Vec<PathBuf>, String> {
        let git = Self::at(root);
        let args = [
            "ls-files",
            "-z",
            "--cached",
            "--ignored",
            "--exclude-standard",
        ];
        let out = git.run(args.iter().map(OsStr::new))?;
        let paths = out.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        paths.map(path_of).collect()
    }

    /// Changes of the index, as `git diff --raw -z` tells them.
    fn changes(&self, args: &[&str]) -> Result<Vec<Change>, String> {
        let fixed = [
            "diff",
            "--cached",
            "--raw",
            "-z",
            "--no-abbrev",
            "--find-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
        ];
        let out = self.run(fixed.iter().chain(args).map(OsStr::new))?;
        let mut fields = out.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let Some(head) = fields.next().filter(|head| head.starts_with(b":")) {
            let head = String::from_utf8_lossy(head).into_owned();
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let &[former_mode, mode, before, now, status] = words.as_slice() else {
                break;
            };
            let first = path_of(fields.next().unwrap_or_default())?;
            let (path, former) = if status.starts_with(['R', 'C']) {
                (path_of(fields.next().unwrap_or_default())?, Some(first))
            } else {
                (first, None)
            };
            changes.push(Change {
                path,
                former,
                former_mode: former_mode.to_owned(),
                mode: mode.to_owned(),
                before: before.to_owned(),
                now: now.to_owned(),
            });
        }
        Ok(changes)
    }

    /// The output of git as one word.
    fn words(&self, args: &[&str]) -> Result<String, String> {
        let out = self.run(args.iter().map(OsStr::new))?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }

    fn run<'a>(&self, args: impl Iterator<Item = &'a OsStr>) -> Result<Vec<u8>, String> {
        let args: Vec<&OsStr> = args.collect();
        let output = reader(&self.root, self.elsewhere).args(&args).output();
        let output = output.map_err(|error| format!("cannot run git: {}", reason(&error)))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.fault(&args, &output))
    }

    /// What to do about a git that failed; its own words only where we have none.
    fn fault(&self, args: &[&OsStr], output: &Output) -> String {
        let said = String::from_utf8_lossy(&output.stderr);
        let root = self.root.display();
        if said.contains("dubious ownership") {
            return format!(
                "git does not read {root}, which is another user's: \
                 `git config --global --add safe.directory {root}` says that it may"
            );
        }
        if self.is_partial() {
            return format!(
                "{root} is a clone with a filter, and nothing is fetched here: what is compared with is not \
                 all there. Clone without `--filter` (`filter` of actions/checkout), or complete it: \
                 `git fetch --refetch --no-filter origin`"
            );
        }
        let what = args.first().map(|own| own.to_string_lossy());
        let what = what.unwrap_or_default();
        format!("git {what} failed in {root}: {}", said.trim())
    }

    /// Whether git was told to leave objects out until they are asked for (git-clone(1), `--filter`).
    fn is_partial(&self) -> bool {
        let keys = r"^(remote\..*\.promisor|extensions\.partialclone)$";
        let asked = reader(&self.root, self.elsewhere)
            .args(["config", "--get-regexp", keys])
            .output();
        asked.is_ok_and(|output| output.status.success())
    }
}

/// What a tree holds under a path.
struct Entry {
    mode: String,
    kind: String,
    id: String,
    path: PathBuf,
}

struct Change {
    path: PathBuf,
    former: Option<PathBuf>,
    former_mode: String,
    mode: String,
    before: String,
    now: String,
}

/// A regular file, executable or not.
fn is_file(mode: &str) -> bool {
    mode.starts_with("100")
}

/// git, able to read its own database and nothing else.
fn reader(root: &Path, elsewhere: bool) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .args(["--no-optional-locks", "--literal-pathspecs", "--no-pager"])
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(["-c", "protocol.allow=never"])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .env_remove("GIT_EXTERNAL_DIFF")
        .env_remove("GIT_TRACE")
        .stdin(std::process::Stdio::null());
    if elsewhere {
        for name in [
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_WORK_TREE",
            "GIT_COMMON_DIR",
            "GIT_PREFIX",
        ] {
            command.env_remove(name);
        }
    }
    command
}

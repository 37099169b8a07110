//! Comparing with before: a baseline, an earlier commit, what was committed of what is staged.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use check_detached_spawns::adopt::{self, Baseline, is_open};
use check_detached_spawns::config::read_file;
use check_detached_spawns::git::{Git, Staged};
use check_detached_spawns::report::paths::from_root;
use check_detached_spawns::report::summary::plural;
use check_detached_spawns::report::{FileReport, Report};
use check_detached_spawns::walk::{Content, Found, Input, Walk, of_shebang, reason};
use check_detached_spawns::{replace, run};

use crate::bases::Bases;
use crate::say::note;

/// How many stale entries are told one by one.
pub(crate) const TOLD: usize = 10;
/// Bytes of a baseline, at most: some hundred thousand findings.
const LARGEST: u64 = 64 << 20;

/// What is staged, as files to judge, and what was committed of each.
pub(crate) struct Index {
    git: Git,
    files: BTreeMap<PathBuf, Staged>,
}

impl Index {
    /// The staged files at and below `named`, without what is left out. What is staged counts,
    /// whatever the working tree holds. What is too large is a problem of `found`.
    pub(crate) fn inputs(
        walk: &Walk,
        named: &[PathBuf],
        found: &mut Found,
    ) -> Result<(Self, Vec<Input>), String> {
        let git = Git::of(&walk.place)?;
        let named: Vec<PathBuf> = named.iter().map(|path| walk.place.full(path)).collect();
        let all = git.staged()?;
        for path in &named {
            let staged = |own: &Staged| walk.place.root.join(&own.path).starts_with(path);
            if path.symlink_metadata().is_err() && !all.iter().any(staged) {
                let shown = walk.place.shown(path);
                return Err(format!("{shown} is neither there nor staged"));
            }
        }
        let mut index = Self {
            git,
            files: BTreeMap::new(),
        };
        let mut inputs = Vec::new();
        for staged in all {
            let path = walk.place.root.join(&staged.path);
            let wanted = named.iter().any(|named| path.starts_with(named));
            if !wanted || walk.leaves_out(&path, false) {
                continue;
            }
            let by_suffix = walk.of_name(&path, false);
            if by_suffix.is_none() && path.extension().is_some() {
                continue;
            }
            let size = index.git.size(&staged.now)?;
            let too_large = size > walk.max_file_size;
            // What has no suffix is told by how it begins.
            let bytes = if too_large && by_suffix.is_some() {
                Vec::new()
            } else {
                index.git.content(&staged.now)?
            };
            let language = by_suffix.or_else(|| of_shebang(&bytes));
            let Some(language) = language.filter(|own| walk.languages.contains(own)) else {
                continue;
            };
            let shown = walk.place.shown(&path);
            if too_large {
                found.problems.push(walk.too_large(shown, Some(size)));
                continue;
            }
            inputs.push(Input {
                shown,
                language,
                content: Content::Bytes(bytes),
                rules: walk.configs.of(&path),
                path: path.clone(),
            });
            index.files.insert(path, staged);
        }
        inputs.sort_by(|a, b| a.shown.cmp(&b.shown).then_with(|| a.path.cmp(&b.path)));
        Ok((index, inputs))
    }

    /// Marks what was open in the last commit already.
    pub(crate) fn compare(
        &self,
        walk: &Walk,
        report: &mut Report,
        options: &run::Options,
    ) -> Result<(), String> {
        let mut before = Vec::new();
        for file in open_files(report) {
            let blob = self
                .files
                .get(&file.file)
                .and_then(|own| own.before.as_ref());
            if let Some(blob) = blob {
                before.push(earlier(walk, file, self.git.content(blob)?));
            }
        }
        mark(walk, report, &before, options)
    }
}

/// Marks what was open in the commit `reference`, or where history parted from it.
pub(crate) fn compare_with(
    reference: &str,
    walk: &Walk,
    report: &mut Report,
    options: &run::Options,
) -> Result<(), String> {
    let mut bases = Bases::new(walk, reference)?;
    let open = open_files(report).map(|file| file.file.as_path());
    let mut texts = bases.earlier(open)?;
    let with_text = open_files(report).filter_map(|file| {
        let bytes = texts.remove(file.file.as_path())?;
        Some(earlier(walk, file, bytes))
    });
    let before: Vec<Input> = with_text.collect();
    mark(walk, report, &before, options)
}

fn open_files(report: &Report) -> impl Iterator<Item = &FileReport> {
    let open = |file: &&FileReport| file.findings.iter().any(|own| is_open(own.verdict));
    report.files.iter().filter(open)
}

/// An earlier text of a file, under its name of today: then fingerprints compare.
fn earlier(walk: &Walk, file: &FileReport, bytes: Vec<u8>) -> Input {
    Input {
        path: file.file.clone(),
        shown: file.source.path.clone(),
        language: file.source.language,
        content: Content::Bytes(bytes),
        rules: walk.configs.of(&file.file),
    }
}

fn mark(
    walk: &Walk,
    report: &mut Report,
    before: &[Input],
    options: &run::Options,
) -> Result<(), String> {
    let earlier = run::run(before, Vec::new(), options);
    if earlier.failed {
        return Err("internal error while the base was judged; please report it".to_owned());
    }
    let prefix = walk.place.prefix();
    adopt::mark(report, &prefix, &adopt::open(&earlier.report, &prefix));
    Ok(())
}

/// Marks what the baseline in `file` knows, and tells what of it is stale; with `renew` it is written
/// anew first.
pub(crate) fn baseline(
    file: &Path,
    renew: bool,
    walk: &Walk,
    inputs: &[Input],
    report: &mut Report,
) -> Result<(), String> {
    let prefix = walk.place.prefix();
    let old = read(file, renew)?;
    let now = Baseline::of(report, &prefix);
    let read: BTreeSet<String> = inputs
        .iter()
        .map(|input| from_root(&prefix, &input.shown))
        .collect();
    let settled = |path: &str| read.contains(path) || is_gone(&walk.place.root.join(path));
    if renew {
        let renewed = old.renewed(&now, settled);
        replace::write(file, renewed.write().as_bytes())?;
        let entries = plural(renewed.known().len(), "finding");
        note(&format!("{entries} written to {}", file.display()));
        adopt::mark(report, &prefix, &renewed.known());
        return Ok(());
    }
    adopt::mark(report, &prefix, &old.known());
    let mut stale = old.stale(&now, settled);
    stale.sort_by_key(|entry| (&entry.path, &entry.rule));
    for entry in stale.iter().take(TOLD) {
        note(&format!(
            "stale in {}: {} {}",
            file.display(),
            entry.path,
            entry.rule
        ));
    }
    if !stale.is_empty() {
        let count = stale.len();
        note(&format!(
            "{count} stale in {}: --write-baseline drops what is fixed",
            file.display()
        ));
    }
    Ok(())
}

/// Whether a file of a baseline is no more. A name that is not Unicode cannot be asked for.
fn is_gone(path: &Path) -> bool {
    !path.to_string_lossy().contains('\u{fffd}') && !path.exists()
}

fn read(file: &Path, may_miss: bool) -> Result<Baseline, String> {
    let shown = file.display();
    match read_file(file, LARGEST) {
        Ok(bytes) => Baseline::read(&bytes)
            .map_err(|fault| format!("{shown} is no baseline of ours: {fault}; write a new one with --write-baseline, to a new file")),
        Err(error) if may_miss && error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        Err(error) => Err(format!(
            "cannot read the baseline {shown}: {}; --write-baseline makes one",
            reason(&error)
        )),
    }
}

//! What a configuration says of nothing, as a run over all that it may speak of can tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::Gitignore;

use super::{Config, Configs};
use crate::policy::{Allow, Helper};
use crate::walk::Input;

impl Configs {
    /// What is stale in the configurations that were met: one line each, with its file. `named` are the
    /// folders that were read, whole, and `inputs` what was judged of them. Of a configuration that may
    /// speak of other files besides nothing can be told.
    pub fn dead(&self, named: &[PathBuf], inputs: &[Input]) -> Vec<String> {
        let full = |path: &PathBuf| std::fs::canonicalize(self.place.cwd.join(path)).ok();
        let named: Vec<PathBuf> = named.iter().filter_map(full).collect();
        let within = |folder: &Path| named.iter().any(|named| folder.starts_with(named));
        let mut told = Vec::new();
        for config in self.met() {
            // A file that was chosen holds for all paths.
            let all = self.nearest || within(&self.place.root);
            let file = config.file.as_deref().filter(|_| all);
            let Some(file) = file.filter(|_| within(&config.folder)) else {
                continue;
            };
            let file = self.place.shown(file);
            let own = |input: &&Input| Arc::ptr_eq(&input.rules.config, &config);
            let inside = inputs.iter().filter(own);
            let inside = inside.map(|input| input.rules.inside(&input.path));
            let inside: Vec<PathBuf> = inside.collect();
            told.extend(excludes(&config, &self.place.root, &file));
            let allows = config.policy.allows.iter().filter(|own| !own.met.is());
            told.extend(allows.map(|own| allow(own, &file, &inside)));
            let detaching = ("detaching-calls", "calls or defines");
            told.extend(helpers(&config.policy.detaching, detaching, &file));
            let owning = ("owning-calls", "calls");
            told.extend(helpers(&config.policy.owning, owning, &file));
        }
        told
    }

    /// The configurations that were met, each once.
    fn met(&self) -> Vec<Arc<Config>> {
        if !self.nearest {
            return vec![Arc::clone(&self.fallback)];
        }
        let mut all: Vec<Arc<Config>> = self.known().configs.values().cloned().collect();
        all.sort_by(|a, b| a.file.cmp(&b.file));
        all.dedup_by(|a, b| Arc::ptr_eq(a, b));
        all
    }
}

fn excludes(config: &Config, root: &Path, file: &str) -> Vec<String> {
    let unmet = config.excludes.unmet();
    unmet
        .filter_map(|at| config.exclude.get(at))
        .filter(|glob| !is_left_out_anyway(glob, &config.folder, root))
        .map(|glob| format!("stale in {file}: exclude: `{glob}` leaves nothing out"))
        .collect()
}

/// Whether an ignore file leaves out what a glob without wildcards names, be it there or not: nobody asked
/// about it then, and a build folder that only some machines have is stale on none.
fn is_left_out_anyway(glob: &str, folder: &Path, root: &Path) -> bool {
    let path = folder.join(glob.trim_matches('/'));
    let ignores = |of: &Path| {
        let (ignore, _) = Gitignore::new(of.join(".gitignore"));
        let inside = path.strip_prefix(of);
        inside.is_ok_and(|inside| ignore.matched_path_or_any_parents(inside, true).is_ignore())
    };
    path.symlink_metadata().is_ok() || ignores(folder) || ignores(root)
}

fn allow(allow: &Allow, file: &str, inside: &[PathBuf]) -> String {
    let line = allow.place.rsplit(':').next().unwrap_or_default();
    let why = if inside.iter().any(|path| allow.paths.covers(path, false)) {
        let mechanisms = allow.mechanisms.join("`, `");
        format!("nothing in its files detaches by `{mechanisms}` without a reason of its own")
    } else {
        let paths = allow.written.join("`, `");
        format!("no file that was read matches `{paths}`")
    };
    format!("stale in {file}:{line}: [[allow]]: {why}")
}

fn helpers(helpers: &[Helper], (key, does): (&str, &str), file: &str) -> Vec<String> {
    let unmet = helpers.iter().filter(|own| !own.met.is());
    unmet
        .map(|own| {
            let path = own.path.join(".");
            format!("stale in {file}: {key}: nothing that was read {does} `{path}`")
        })
        .collect()
}

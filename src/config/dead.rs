//! What a configuration says of nothing, as a run over all that it may speak of can tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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
            let inside: Vec<&Path> = inside.map(|input| input.rules.inside.as_path()).collect();
            told.extend(excludes(&config, &file));
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

fn excludes(config: &Config, file: &str) -> Vec<String> {
    let unmet = config.excludes.unmet();
    let written = unmet.filter_map(|at| config.exclude.get(at));
    // What an ignore file leaves out as well was not asked about.
    let there = |glob: &str| {
        let name = glob.trim_start_matches('!').trim_matches('/');
        config.folder.join(name).symlink_metadata().is_ok()
    };
    written
        .filter(|glob| !there(glob))
        .map(|glob| format!("stale in {file}: exclude: `{glob}` leaves nothing out"))
        .collect()
}

fn allow(allow: &Allow, file: &str, inside: &[&Path]) -> String {
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

//! The team's own helpers: calls and definitions that the configuration speaks of.

use std::path::Path;

use crate::facts::{Call, Facts, Scope, ScopeId, Value};
use crate::policy::{Helper, Policy};
use crate::rules::{ALL, Hit, Rule, Way};
use crate::source::{Language, Source, Span};

/// What the configuration says of one file.
pub(super) struct Helpers<'a> {
    source: &'a Source,
    facts: &'a Facts,
    policy: &'a Policy,
    /// Names of the file's module, outermost first: `src`, `team`, `proc`.
    module: Vec<String>,
}

impl<'a> Helpers<'a> {
    /// None where the configuration names no helpers. `inside` is the file from its folder.
    pub(super) fn of(
        source: &'a Source,
        facts: &'a Facts,
        policy: &'a Policy,
        inside: &Path,
    ) -> Option<Self> {
        let named = !policy.detaching.is_empty() || !policy.owning.is_empty();
        named.then(|| Self {
            source,
            facts,
            policy,
            module: module(inside),
        })
    }

    /// Drops what is written in a call that owns what it starts, and adds the calls and definitions
    /// that detach though no rule knows them. Gives the bodies whose callers are the findings: what
    /// detaches in them is accounted for there.
    pub(super) fn apply(&self, hits: &mut Vec<(&'static Rule, Hit)>) -> Vec<(Span, String)> {
        let owning = self.calls(&self.policy.owning);
        let owned = |hit: &Hit| owning.iter().any(|call| call.span.contains(hit.evidence));
        hits.retain(|(_, hit)| !owned(hit));
        let Some(rule) = ALL.iter().find(|rule| rule.id == "lib-detach") else {
            return Vec::new();
        };
        let own = self.policy.detaching.iter().cloned();
        let (by_definition, by_call): (Vec<Helper>, Vec<Helper>) =
            own.partition(|helper| helper.at_definition);
        let bodies = self.definitions(&by_call);
        for call in self.calls(&by_call) {
            // A spawn is one finding: what its own words say is enough.
            if !hits.iter().any(|(_, hit)| call.span.contains(hit.evidence)) {
                hits.push((rule, Hit::new(call.act, call.evidence, Way::Declared)));
            }
        }
        for (act, evidence) in self.handed_on(&by_call, &bodies) {
            hits.push((rule, Hit::new(act, evidence, Way::Declared)));
        }
        for scope in self.definitions(&by_definition) {
            if !hits
                .iter()
                .any(|(_, hit)| scope.span.contains(hit.evidence))
            {
                let header = self.header(scope);
                hits.push((rule, Hit::new(header, header, Way::Declared)));
            }
        }
        let answered = bodies.into_iter();
        answered
            .map(|scope| (scope.span, scope.name.clone()))
            .collect()
    }

    fn calls(&self, helpers: &[Helper]) -> Vec<&'a Call> {
        let means = |path: &String| self.meets(helpers, path);
        let calls = self.facts.calls.iter();
        calls.filter(|call| call.paths.iter().any(means)).collect()
    }

    /// Where a helper is given to another function, which calls it: `Thread(target=launch)`. The act, and
    /// the argument. `bodies` are those of the helpers that this file defines.
    fn handed_on(&self, helpers: &[Helper], bodies: &[&Scope]) -> Vec<(Span, Span)> {
        let means = |path: &String| self.meets(helpers, path);
        let is_body = |id: &ScopeId| {
            let own = self.facts.scopes.get(id.0 as usize);
            own.is_some_and(|own| bodies.iter().any(|body| std::ptr::eq(*body, own)))
        };
        let refers = |value: &Value| match value {
            Value::Path(paths) => paths.iter().any(means),
            Value::Code(scope) => is_body(scope),
            _ => false,
        };
        let calls = self.facts.calls.iter();
        let args = calls.flat_map(|call| call.args.iter().map(|arg| (call.act, arg)));
        args.filter(|(_, arg)| arg.value.each().iter().any(refers))
            .map(|(act, arg)| (act, arg.span))
            .collect()
    }

    /// Whether a canonical path means one of the helpers, which is then met.
    fn meets(&self, helpers: &[Helper], path: &str) -> bool {
        let met = helpers.iter().filter(|own| self.is(&own.path, path));
        met.inspect(|own| own.met.mark()).count() > 0
    }

    /// Whether a canonical path means the helper: written in full, or as it is seen from a module of
    /// the same package or crate, or from the file that defines it.
    fn is(&self, helper: &[String], path: &str) -> bool {
        let parts = parts(path);
        match path.split('.').next() {
            Some("<here>") => {
                let own: Vec<String> = self.module.iter().cloned().chain(parts).collect();
                self.ends(&own, helper)
            }
            Some("" | "crate" | "self" | "super") => !parts.is_empty() && helper.ends_with(&parts),
            _ => parts == helper,
        }
    }

    /// Whether `own`, from the repository's folders on, ends with `helper`. The folders of a crate do
    /// not say its name.
    fn ends(&self, own: &[String], helper: &[String]) -> bool {
        let without_crate = helper.get(1..).unwrap_or_default();
        own.ends_with(helper)
            || self.source.language == Language::Rust
                && own.ends_with(without_crate)
                && own.iter().any(|part| part == "src")
    }

    fn definitions(&self, helpers: &[Helper]) -> Vec<&'a Scope> {
        let is_one = |scope: &&Scope| {
            helpers.iter().any(|helper| {
                // A scope does not say its class; a helper's path may.
                let classless = |part: &&String| !part.starts_with(char::is_uppercase);
                let path: Vec<String> = helper.path.iter().filter(classless).cloned().collect();
                let own = self.module.iter().chain([&scope.name]).cloned();
                let own: Vec<String> = own.collect();
                let is = !scope.inline && scope.name == helper.name() && self.ends(&own, &path);
                if is {
                    helper.met.mark();
                }
                is
            })
        };
        self.facts.scopes.iter().filter(is_one).collect()
    }

    /// The first line of a definition.
    fn header(&self, scope: &Scope) -> Span {
        let line = self.source.line_span(self.source.line(scope.span.start));
        let start = scope.span.start as usize;
        let text = self.source.slice(Span {
            start: scope.span.start,
            end: line.end.min(scope.span.end),
        });
        Span::new(start, start + text.trim_end().len())
    }
}

/// The names of a canonical path; marks of values and of where it starts are left out.
fn parts(path: &str) -> Vec<String> {
    let starts = ["<here>", "crate", "self", "super", ""];
    path.split('.')
        .skip_while(|part| starts.contains(part))
        .map(|part| part.trim_end_matches("()").to_owned())
        .collect()
}

/// The names of a file's module: its folders and its own name, unless that is the folder's.
fn module(inside: &Path) -> Vec<String> {
    let whole = ["__init__", "__main__", "lib", "main", "mod"];
    let stem = inside.with_extension("");
    let names = stem.components();
    let mut names: Vec<String> = names
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if names
        .last()
        .is_some_and(|last| whole.contains(&last.as_str()))
    {
        names.pop();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_names() {
        assert_eq!(
            parts("team.proc.Runner().start"),
            ["team", "proc", "Runner", "start"]
        );
        assert_eq!(parts("<here>.launch"), ["launch"]);
        assert_eq!(parts("..proc.launch"), ["proc", "launch"]);
        assert_eq!(parts("crate.proc.launch"), ["proc", "launch"]);
    }

    #[test]
    fn files_are_modules() {
        assert_eq!(
            module(Path::new("src/team/proc.py")),
            ["src", "team", "proc"]
        );
        assert_eq!(module(Path::new("team/proc/__init__.py")), ["team", "proc"]);
        assert_eq!(module(Path::new("src/lib.rs")), ["src"]);
    }
}

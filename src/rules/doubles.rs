//! Test doubles: whether what would detach is replaced around a call, so that nothing does.

use super::names::last;
use super::{Hit, Rule};
use crate::facts::{Call, Facts, Replaced};

/// Modules whose functions are the same wherever they are named.
const SHARED: &[&str] = &["os", "subprocess", "pty", "posix", "asyncio"];

/// Functions of `subprocess` that start a `Popen`.
const BY_POPEN: &[&str] = &[
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "getstatusoutput",
];

/// Whether a test replaces the function through which a call would detach.
pub(crate) fn is_replaced(facts: &Facts, rule: &Rule, hit: &Hit) -> bool {
    if facts.replaced.is_empty() {
        return false;
    }
    let mut calls = facts.calls.iter().filter(|call| call.act == hit.act);
    calls.any(|call| {
        let here = |own: &&Replaced| own.reach.contains(call.span);
        let mut near = facts.replaced.iter().filter(here);
        near.any(|own| goes_through(rule, call, &own.path))
    })
}

/// Whether a call detaches through the function that a test names `replaced`.
fn goes_through(rule: &Rule, call: &Call, replaced: &str) -> bool {
    // `tool.runner.os.setsid` is `os.setsid`, for everybody; `tool.runner.os` for that module alone.
    let words: Vec<&str> = replaced.split('.').collect();
    let shared = words.iter().rposition(|word| SHARED.contains(word));
    let shared = shared.and_then(|at| words.get(at..).filter(|words| words.len() > 1));
    let function = shared.map_or_else(|| replaced.to_owned(), |words| words.join("."));
    call.paths.iter().any(|path| {
        is_part(path, &function)
            || function == "subprocess.Popen" && runs(path)
            || rule.id == "daemonize" && function == "os.setsid"
            || inside(rule, path, replaced)
    })
}

/// Whether `path` is `function`, or something of it or of an object of it.
fn is_part(path: &str, function: &str) -> bool {
    let rest = path.strip_prefix(function);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '(']))
}

fn runs(path: &str) -> bool {
    let name = path.strip_prefix("subprocess.");
    name.is_some_and(|name| BY_POPEN.contains(&name))
}

/// Whether a function of a module is called in which its way to detach is replaced: `tool.runner.start`
/// with `tool.runner.subprocess`, `celery.platforms.DaemonContext` with `celery.platforms.os`.
fn inside(rule: &Rule, path: &str, replaced: &str) -> bool {
    let Some((module, name)) = replaced.rsplit_once('.') else {
        return false;
    };
    let own = path.split("()").next().unwrap_or(path);
    let own = own.rsplit_once('.').map(|(module, _)| module);
    let way = match rule.id {
        "daemonize" => name == "os",
        "new-session" | "new-group" | "preexec-detach" | "win-detach" => {
            matches!(last(name), "subprocess" | "Popen") || BY_POPEN.contains(&name)
        }
        _ => false,
    };
    // In the standard library each function is replaced for itself.
    way && own == Some(module) && !SHARED.contains(&last(module))
}

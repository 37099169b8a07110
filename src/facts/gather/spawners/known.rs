//! What is known of each callable: how it takes its command.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::facts::Call;
use crate::facts::gather::argv::ends_with_path;
use crate::source::Language;

/// How a call takes its command.
#[derive(Clone, Copy)]
pub(super) enum How {
    /// As `subprocess.Popen`: a list, or a text for a shell if `shell=True`.
    Popen,
    /// Shell text at a position, or by keyword.
    Shell(usize, &'static str),
    /// A list or a text that is split into words without a shell.
    Words(usize, &'static str),
    /// Each argument from a position on is a word.
    Each(usize),
    /// The program at a position, its argv (with its own name first) as a list behind it.
    Exec(usize),
    /// The program at a position, its argv (with its own name first) behind it.
    ExecEach(usize),
    /// A program, then a list of its arguments.
    ProgramAndList(usize),
    /// The macro's own tokens are shell text.
    Tokens,
    /// The last part of the path is the program.
    NamedProgram,
}

/// Callables by the end of their path. Sources: the library reference, each package's own pages.
const SPAWNERS: &[(&[&str], How)] = &[
    (
        &[
            "subprocess.Popen",
            "subprocess.run",
            "subprocess.call",
            "subprocess.check_call",
            "subprocess.check_output",
            "psutil.Popen",
            "subprocess32.Popen",
            "trio.run_process",
            "trio.lowlevel.open_process",
            "anyio.open_process",
            "anyio.run_process",
            "subprocess_tee.run",
            "popen_spawn.PopenSpawn",
        ],
        How::Popen,
    ),
    (
        &[
            "os.system",
            "os.popen",
            "posix.system",
            "subprocess.getoutput",
            "subprocess.getstatusoutput",
            "commands.getoutput",
            "commands.getstatusoutput",
            "asyncio.create_subprocess_shell",
            "asyncio.subprocess.create_subprocess_shell",
            "invoke.run",
            "invoke.sudo",
            "sarge.run",
            "sarge.capture_stdout",
            "delegator.run",
            "executor.execute",
            "honcho.process.Popen",
            "Exec.shell",
            "?.exec_shell",
            "fabric.Connection().local",
            "fabric.Connection().run",
            "invoke.Context().run",
            "invoke.context.Context().run",
            "invoke.Context().sudo",
            "fabric.api.local",
            "fabric.api.run",
        ],
        How::Shell(0, "cmd"),
    ),
    (
        &["honcho.manager.Manager().add_process"],
        How::Shell(1, "cmd"),
    ),
    (
        &[
            "pexpect.run",
            "pexpect.runu",
            "easyprocess.EasyProcess",
            "pty.spawn",
            "ptyprocess.PtyProcess.spawn",
            "ptyprocess.PtyProcessUnicode.spawn",
            "jupyter_client.launcher.launch_kernel",
            "mirakuru.SimpleExecutor",
        ],
        How::Words(0, "command"),
    ),
    (
        &["rexpect.spawn", "expectrl.spawn"],
        How::Words(0, "command"),
    ),
    (
        &[
            "pexpect.spawn",
            "pexpect.spawnu",
            "pexpect.pty_spawn.spawn",
            "duct.cmd",
            "cmd.Command",
        ],
        How::ProgramAndList(0),
    ),
    (
        &[
            "asyncio.create_subprocess_exec",
            "asyncio.subprocess.create_subprocess_exec",
            "duct.cmd!",
        ],
        How::Each(0),
    ),
    (
        &[
            "os.execv",
            "os.execve",
            "os.execvp",
            "os.execvpe",
            "os.posix_spawn",
            "os.posix_spawnp",
        ],
        How::Exec(0),
    ),
    (
        &["os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe"],
        How::Exec(1),
    ),
    (
        &["os.execl", "os.execle", "os.execlp", "os.execlpe"],
        How::ExecEach(0),
    ),
    (
        &["os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe"],
        How::ExecEach(1),
    ),
    (
        &[
            "cmd_lib.run_cmd!",
            "cmd_lib.run_fun!",
            "cmd_lib.spawn!",
            "cmd_lib.spawn_with_output!",
            "run_cmd!",
            "run_fun!",
        ],
        How::Tokens,
    ),
    (&["xshell.cmd!"], How::Words(1, "")),
];

/// Methods by name, whatever they are called on: nothing else is called so.
const METHODS: &[(&str, How)] = &[
    ("create_subprocess_exec", How::Each(0)),
    ("create_subprocess_shell", How::Shell(0, "cmd")),
    ("subprocess_exec", How::Each(1)),
    ("subprocess_shell", How::Shell(1, "cmd")),
];

/// Crates whose functions are no methods of a type.
const CRATES: &[&str] = &["cmd_lib.", "duct.", "expectrl.", "rexpect.", "xshell."];

/// Whether a name of [`SPAWNERS`] is Rust's: a type's, a macro's, a crate's. The others are Python's.
fn is_of_rust(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
        || name.contains('!')
        || CRATES.iter().any(|own| name.starts_with(own))
}

/// How the call in a file of this language takes its command, if it starts one.
pub(super) fn how(language: Language, call: &Call) -> Option<How> {
    let rust = language == Language::Rust;
    for path in &call.paths {
        let bare = path.strip_prefix("gevent.").unwrap_or(path);
        let known = KNOWN.get(bare).filter(|(of_rust, _)| *of_rust == rust);
        let known = known.map(|(_, how)| *how);
        let known = known.or_else(|| if rust { of_type(path) } else { None });
        if known.is_some() {
            return known;
        }
        let named = path
            .strip_prefix("sh.")
            .or_else(|| path.strip_prefix("plumbum.cmd."));
        if !rust && named.is_some_and(|program| !program.contains('.') && !program.is_empty()) {
            return Some(How::NamedProgram);
        }
    }
    let mut methods = METHODS.iter().filter(|_| !rust);
    methods
        .find(|(name, _)| *name == call.name)
        .map(|(_, how)| *how)
}

/// [`SPAWNERS`] by name, each with whether it is Rust's: every call of a file is looked up.
static KNOWN: LazyLock<HashMap<&str, (bool, How)>> = LazyLock::new(|| {
    let each = |(names, how): &(&'static [&'static str], How)| {
        let how = *how;
        names
            .iter()
            .map(move |name| (*name, (is_of_rust(name), how)))
    };
    SPAWNERS.iter().flat_map(each).collect()
});

/// Rust types are known by their own name under any module: `Exec::shell`.
fn of_type(path: &str) -> Option<How> {
    let ends = |name: &&str| name.starts_with(char::is_uppercase) && ends_with_path(path, name);
    let known = SPAWNERS.iter().find(|(names, _)| names.iter().any(&ends));
    known.map(|(_, how)| *how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    #[test]
    fn the_filter_knows_every_spawner() {
        let filter = Filter::new(std::iter::empty());
        let mut missed = Vec::new();
        let paths = SPAWNERS.iter().flat_map(|(names, _)| names.iter());
        for path in paths.chain(METHODS.iter().map(|(name, _)| name)) {
            let of_rust = is_of_rust(path);
            let (language, text) = if of_rust {
                (
                    Language::Rust,
                    format!("{}(\"nginx\")", path.replace('.', "::")),
                )
            } else {
                let root = path.split(['.', '(']).next().unwrap_or_default();
                (
                    Language::Python,
                    format!("import {root}\n{path}(\"nginx\", \"nginx\")"),
                )
            };
            if !filter.wants(language, text.as_bytes()) {
                missed.push(text);
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }
}

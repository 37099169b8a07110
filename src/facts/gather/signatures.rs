//! Positions of well-known functions that have a name: `Popen`'s sixteenth is `start_new_session`.

/// Names of positions.
type Named = &'static [(usize, &'static str)];

/// Last names of functions, and the options at their positions (from 0, the object not counted).
/// Sources: the Python library reference and the packages' own signatures.
const POSITIONS: &[(&[&str], Named)] = &[
    (
        &[
            "subprocess.Popen",
            "subprocess.run",
            "subprocess.call",
            "subprocess.check_call",
            "subprocess.check_output",
        ],
        &[
            (2, "executable"),
            (6, "preexec_fn"),
            (8, "shell"),
            (13, "creationflags"),
            (15, "start_new_session"),
        ],
    ),
    (
        &[
            "psutil.Popen",
            "gevent.subprocess.Popen",
            "subprocess32.Popen",
            "gevent.subprocess.call",
        ],
        &[
            (2, "executable"),
            (6, "preexec_fn"),
            (8, "shell"),
            (13, "creationflags"),
            (15, "start_new_session"),
        ],
    ),
    (
        &[
            "multiprocessing.Pool",
            "multiprocessing.pool.Pool",
            "billiard.Pool",
            "multiprocessing.get_context().Pool",
        ],
        &[(1, "initializer"), (2, "initargs")],
    ),
    (
        &[
            "concurrent.futures.ProcessPoolExecutor",
            "concurrent.futures.process.ProcessPoolExecutor",
        ],
        &[(2, "initializer"), (3, "initargs")],
    ),
    (
        &[
            "loky.ProcessPoolExecutor",
            "loky.process_executor.ProcessPoolExecutor",
        ],
        &[(5, "initializer"), (6, "initargs")],
    ),
    (
        &[
            "twisted.internet.reactor.spawnProcess",
            "reactor.spawnProcess",
        ],
        &[(7, "usePTY")],
    ),
    (
        &["pexpect.spawn", "pexpect.spawnu", "pexpect.pty_spawn.spawn"],
        &[(8, "ignore_sighup"), (10, "preexec_fn")],
    ),
    (&["pexpect.popen_spawn.PopenSpawn"], &[(8, "preexec_fn")]),
    (
        &["daemon.DaemonContext", "daemon.daemon.DaemonContext"],
        &[(7, "detach_process")],
    ),
    (&["celery.platforms.detached"], &[(6, "fake")]),
    (&["daemonize.Daemonize"], &[(9, "foreground")]),
];

/// The name of the argument at `position` in a call of one of `paths`.
pub(super) fn name_of(paths: &[String], position: usize) -> Option<&'static str> {
    let known = POSITIONS
        .iter()
        .find(|(names, _)| paths.iter().any(|path| names.contains(&path.as_str())))?;
    known
        .1
        .iter()
        .find(|(at, _)| *at == position)
        .map(|(_, name)| *name)
}

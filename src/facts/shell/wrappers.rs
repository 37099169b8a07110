//! Programs that run the program named after their options: one row each.

use super::Token;
use super::unfold::Inner;

/// A program that runs another one.
struct Wrapper {
    /// Its names, blanks between.
    names: &'static str,
    /// Letters of options that take a value.
    short: &'static str,
    /// Long options that take a value as a word of its own, blanks between.
    long: &'static str,
    /// Operands before the program.
    skip: usize,
}

const fn row(names: &'static str, short: &'static str, long: &'static str, skip: usize) -> Wrapper {
    Wrapper {
        names,
        short,
        long,
        skip,
    }
}

const TABLE: &[Wrapper] = &[
    row(
        "nohup setsid builtin pgrphack s6-setsid unbuffer catchsegv linux32 linux64",
        "",
        "",
        0,
    ),
    row(
        "torsocks tsocks eatmydata firejail valgrind noglob nocorrect",
        "",
        "",
        0,
    ),
    row("command", "", "", 0),
    row("exec", "a", "", 0),
    row("nice", "n", "adjustment", 0),
    row("ionice", "cnpPu", "class classdata pid pgid uid", 0),
    row(
        "chrt",
        "TPD",
        "sched-runtime sched-period sched-deadline",
        1,
    ),
    row("stdbuf", "ioe", "input output error", 0),
    row("taskset", "", "", 1),
    row(
        "numactl",
        "mNCpPi",
        "membind cpunodebind physcpubind interleave preferred",
        0,
    ),
    row("time", "fo", "format output", 0),
    row("chroot", "", "userspec groups", 1),
    row(
        "unshare",
        "SGRw",
        "setuid setgid root wd map-user map-group map-users map-groups propagation",
        0,
    ),
    row("nsenter", "tSG", "target setuid setgid", 0),
    row("setpriv", "", SETPRIV, 0),
    row("prlimit", "po", "pid output", 0),
    row("choom", "np", "adjust pid", 0),
    row(
        "strace ltrace",
        "abeEIoOpPsSuX",
        "output attach user env string-limit columns trace-path",
        0,
    ),
    row("dbus-run-session", "", "dbus-daemon config-file", 0),
    row("dbus-launch", "", "autolaunch", 0),
    row(
        "xvfb-run",
        "efnpsw",
        "server-num error-file auth-file xauth-protocol server-args wait",
        0,
    ),
    row("ssh-agent", "aEtPO", "", 0),
    row(
        "gpg-agent",
        "",
        "homedir options log-file pinentry-program default-cache-ttl",
        0,
    ),
    row("daemon", "CnXPFuRDmeaLMlboOEptTS", DAEMON, 0),
    row("daemonize", "acelopuE", "", 0),
    row("chpst", "uUbe/nlLmdopfcrt", "", 0),
    row("dtach abduco", "nNAcaerp", "", 0),
    row("openvt", "c", "console", 0),
    row("tini", "pe", "", 0),
    row("dumb-init", "r", "rewrite", 0),
    row("caffeinate", "tw", "", 0),
    row("doas", "uC", "", 0),
    row("sudo", "ugpCrthDRTU", SUDO, 0),
    row("gosu su-exec setuidgid envdir setlock faketime", "", "", 1),
    row("timeout gtimeout", "ks", "kill-after signal", 1),
    row(
        "xargs gxargs",
        "adEILnPsJRS",
        "arg-file delimiter max-args max-procs max-chars process-slot-var",
        0,
    ),
    row("entr", "", "", 0),
    row("sshpass", "fdpP", "", 0),
    row("proxychains proxychains4", "f", "", 0),
    row("fakeroot", "lsi", "lib faked", 0),
    row("cgexec", "g", "", 0),
    row("systemd-cat", "tp", "identifier priority", 0),
    row("systemd-inhibit", "", "what who why mode", 0),
    row("rlwrap", "bcefghHlmMnNpPqsSt", "", 0),
];

const SETPRIV: &str = "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups \
    securebits pdeathsig selinux-label apparmor-profile landlock-access landlock-rule";
const DAEMON: &str = "config name command pidfiles pidfile user chroot chdir umask env attempts \
    delay limit errlog dbglog output stdout stderr";
const SUDO: &str =
    "user group prompt close-from role type host chdir chroot command-timeout other-user";

/// Names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|row| row.names.split(' '))
}

/// What the wrapper `name` runs; nothing for other programs.
pub(super) fn inner(name: &str, words: &[Token]) -> Vec<Inner> {
    let Some(wrapper) = TABLE
        .iter()
        .find(|row| row.names.split(' ').any(|own| own == name))
    else {
        return Vec::new();
    };
    let args = words.get(1..).unwrap_or_default();
    let options = operand(args, wrapper.short, wrapper.long);
    if only_asks(name, args.get(..options).unwrap_or_default()) {
        return Vec::new();
    }
    let mut at = options + wrapper.skip;
    if name == "sudo" || name == "doas" {
        at += args
            .iter()
            .skip(at)
            .take_while(|arg| is_assignment(&arg.text()))
            .count();
    }
    let rest = args.get(at..).unwrap_or_default();
    if rest.is_empty() {
        Vec::new()
    } else {
        vec![Inner::Words(rest.to_vec())]
    }
}

/// `command -v`, `taskset -p`, `sudo -l`: they run nothing.
fn only_asks(name: &str, options: &[Token]) -> bool {
    let letters = match name {
        "command" => "vV",
        "chrt" | "taskset" | "ionice" => "p",
        "sudo" => "lev",
        _ => return false,
    };
    options.iter().any(|option| {
        let text = option.text();
        text.strip_prefix('-')
            .is_some_and(|own| !own.starts_with('-') && own.starts_with(|ch| letters.contains(ch)))
    })
}

/// `NAME=value`.
pub(super) fn is_assignment(text: &str) -> bool {
    !text.starts_with('-') && text.contains('=')
}

/// How many of `args` are options and their values; `--` ends them.
pub(super) fn operand(args: &[Token], short: &str, long: &str) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text();
        if text == "--" {
            return at + 1;
        }
        let Some(name) = text.strip_prefix('-').filter(|name| !name.is_empty()) else {
            break;
        };
        let takes = name.strip_prefix('-').map_or_else(
            || takes_value(name, short),
            |name| long.split(' ').any(|own| own == name),
        );
        at += 1 + usize::from(takes);
    }
    at.min(args.len())
}

/// Whether the next word is the value of the last letter of a cluster.
pub(super) fn takes_value(letters: &str, short: &str) -> bool {
    let first = letters
        .char_indices()
        .find(|(_, letter)| short.contains(*letter));
    first.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

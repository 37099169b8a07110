//! Tests of the shell reader: what stands in command position, and what does not.

use super::{Place, argv, read};
use crate::facts::{Command, HOLE, ScopeId, Text, Word};
use crate::source::Span;

const PLACE: Place = Place {
    act: Span { start: 0, end: 0 },
    scope: ScopeId(0),
};

fn run(text: &str, shell: &str) -> Vec<Command> {
    let parts = vec![(0, Span::new(0, text.len()))];
    read(
        &Text {
            text: text.to_owned(),
            parts,
        },
        shell,
        PLACE,
    )
}

fn shown(commands: &[Command]) -> String {
    let name = |own: &Command| {
        format!(
            "{}{}",
            own.program,
            if own.background.is_some() { "&" } else { "" }
        )
    };
    commands.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn words(all: &[&str]) -> Vec<Command> {
    let word = |text: &&str| Word {
        text: (*text).to_owned(),
        span: Span::default(),
        parts: Vec::new(),
    };
    argv(&all.iter().map(word).collect::<Vec<_>>(), PLACE)
}

/// Text (`~` stands for a hole) and the programs in command position, `&` for the background.
const TEXTS: &[(&str, &str)] = &[
    ("", ""),
    ("setsid sleep 5", "setsid sleep"),
    ("setsid sleep 5 &", "setsid& sleep&"),
    ("(setsid sleep 5 &)", "setsid& sleep&"),
    ("( ( setsid sleep 5 ) & )", "setsid& sleep&"),
    ("((setsid sleep 5) & )", "setsid& sleep&"),
    ("/usr/bin/setsid sleep 5", "setsid sleep"),
    ("setsid -f -w sleep 5", "setsid sleep"),
    ("exec setsid sleep 5", "exec setsid sleep"),
    ("exec -a x setsid sleep 5", "exec setsid sleep"),
    (
        "exec nohup setsid sleep 5 >/dev/null 2>&1",
        "exec nohup setsid sleep",
    ),
    ("env -i FOO=1 /usr/bin/setsid sleep 5", "env setsid sleep"),
    ("env -u A B=1 setsid sleep 5", "env setsid sleep"),
    ("env -S 'setsid sleep 5'", "env setsid sleep"),
    ("env '-SA=1 setsid' sleep", "env setsid sleep"),
    ("env --split-string='setsid sleep 5'", "env setsid sleep"),
    ("command setsid sleep 5", "command setsid sleep"),
    ("\\setsid sleep 5", "setsid sleep"),
    ("FOO=1 setsid sleep 5", "setsid sleep"),
    ("\"setsid\" sleep 5", "setsid sleep"),
    ("set''sid sleep 5", "setsid sleep"),
    ("$'set\\x73id' sleep 5", "setsid sleep"),
    ("set\\\nsid sleep", "setsid sleep"),
    ("nice -n 5 setsid sleep 5", "nice setsid sleep"),
    (
        "echo 5 | xargs -n 1 -P2 setsid sleep",
        "echo xargs setsid sleep",
    ),
    (
        "find . -maxdepth 0 -exec setsid sleep 5 \\;",
        "find setsid sleep",
    ),
    ("find . -execdir a {} + -exec b ';'", "find a b"),
    ("find . -exec a -exec b ';' -ok c \\;", "find a c"),
    ("stdbuf -oL setsid sleep 5", "stdbuf setsid sleep"),
    (
        "if true; then setsid sleep 5; else a; fi",
        "true setsid sleep a",
    ),
    ("if a; then b; elif c; then d; fi &", "a& b& c& d&"),
    ("while a; do b & done; c", "a b& c"),
    ("for i in setsid b; do c $i; done | d", "c d"),
    ("for i do a; done", "a"),
    ("for ((i=0; i<3; i++)); do a; done", "a"),
    ("until a; do b; done", "a b"),
    ("time setsid sleep 5", "time setsid sleep"),
    ("time -f %e a", "time a"),
    ("time (a; b)", "a b"),
    ("! a", "a"),
    ("case x in setsid) a;; y|z) b;; *) c & esac", "a b c&"),
    ("case $x in (a) b ;& (c) d;; esac; e", "b d e"),
    ("f() { setsid sleep 5; }; f", "setsid sleep"),
    ("function f { nohup x; }; f", "nohup x"),
    ("setsid() { \"$@\"; }; setsid sleep 5", ""),
    ("setsid x; setsid() { y; }; setsid z", "setsid x y"),
    ("setsid() { command setsid \"$@\"; }", "command setsid"),
    ("eval 'setsid sleep 5'", "eval setsid sleep"),
    ("s=setsid; $s sleep 5", "setsid sleep"),
    ("s='nohup setsid'; ${s} sleep 5", "nohup setsid sleep"),
    ("export s=setsid; \"$s\" sleep 5", "export setsid sleep"),
    ("$(command -v setsid) sleep 5", "command setsid sleep"),
    ("`which setsid` sleep 5", "which setsid sleep"),
    ("bash <<'EOT'\nsetsid sleep 5\nEOT", "bash setsid sleep"),
    ("bash <<EOT && b\na $(c)\nEOT\nd", "c bash a b d"),
    ("cat <<A | sh -s x\nsetsid y\nA\nz", "cat sh setsid y z"),
    ("cat <<A <<B\nsetsid\nA\nsetsid\nB\nz", "cat z"),
    ("bash <<< 'setsid x'", "bash setsid x"),
    ("echo 'setsid sleep 5' | sh", "echo sh setsid sleep"),
    (
        "printf 'a\\nsetsid b\\n' | bash -s",
        "printf bash a setsid b",
    ),
    ("echo 'sleep 5' | at now", "echo at"),
    ("trap 'setsid x' EXIT", "trap setsid x"),
    ("trap '' HUP; a", "trap a"),
    ("sh -c 'setsid x &'", "sh setsid& x&"),
    ("bash -lc \"nohup x >/dev/null 2>&1 &\"", "bash nohup& x&"),
    ("bash -euo pipefail -c 'a'", "bash a"),
    ("bash -c -e a", "bash a"),
    ("sudo -u bob -E A=1 setsid x", "sudo setsid x"),
    ("doas -n setsid x", "doas setsid x"),
    ("su root -c 'setsid x'", "su setsid x"),
    ("su --command='setsid x' bob", "su setsid x"),
    ("runuser -u root -- setsid x", "runuser setsid x"),
    ("runuser root -c 'setsid x'", "runuser setsid x"),
    ("script -qc 'nohup x' /dev/null", "script nohup x"),
    ("script -q /dev/null setsid x", "script setsid x"),
    ("watch -n 5 setsid x", "watch setsid x"),
    ("parallel -j1 setsid sleep ::: 1 2", "parallel setsid sleep"),
    ("flock -w 5 /tmp/l setsid x", "flock setsid x"),
    ("flock /tmp/l -c 'setsid x'", "flock setsid x"),
    ("timeout -k 5 10 setsid x", "timeout setsid x"),
    ("timeout --foreground 10 x", "timeout x"),
    ("busybox setsid x", "busybox setsid x"),
    ("busybox sh -c 'setsid x'", "busybox sh setsid x"),
    ("chroot / setsid x", "chroot setsid x"),
    ("chrt -b 0 setsid x", "chrt setsid x"),
    ("taskset -c 0 setsid x", "taskset setsid x"),
    ("taskset -p 5", "taskset"),
    ("ionice -c3 setsid x", "ionice setsid x"),
    ("unshare --pid --fork setsid x", "unshare setsid x"),
    ("nsenter -t $$ -u setsid x", "nsenter setsid x"),
    ("setpriv --pdeathsig KILL setsid x", "setpriv setsid x"),
    ("prlimit --nofile=99 setsid x", "prlimit setsid x"),
    ("setarch x86_64 -R setsid x", "setarch setsid x"),
    ("strace -f -o /dev/null setsid x", "strace setsid x"),
    (
        "bwrap --dev-bind / / --new-session setsid x",
        "bwrap setsid x",
    ),
    ("dbus-run-session -- setsid x", "dbus-run-session setsid x"),
    ("xvfb-run -a -s '-screen 0' setsid x", "xvfb-run setsid x"),
    ("ssh-agent setsid x", "ssh-agent setsid x"),
    ("gpg-agent --daemon setsid x", "gpg-agent setsid x"),
    (
        "start-stop-daemon -S -b -x /usr/bin/setsid -- x",
        "start-stop-daemon setsid x",
    ),
    ("daemon -- setsid x", "daemon setsid x"),
    ("daemonize -c / setsid x", "daemonize setsid x"),
    ("chpst -P -u bob setsid x", "chpst setsid x"),
    ("dtach -n /tmp/s setsid x", "dtach setsid x"),
    ("openvt -f -- setsid x", "openvt setsid x"),
    ("uv run --with x gunicorn -D app", "uv gunicorn"),
    ("cat <(setsid x) >(y)", "setsid x y cat"),
    ("a > >(tee b)", "tee a"),
    ("x=$(setsid y & )", "setsid& y&"),
    ("echo \"$(setsid y)\" `z`", "setsid y z echo"),
    ("echo $((1 + $(a))) ${x:-$(b)}", "a b echo"),
    ("coproc sleep 5; wait", "sleep wait"),
    ("sleep 5 & ; wait", "sleep& wait"),
    ("sleep 5 &! a", "sleep& a"),
    ("sleep 5 &| a", "sleep& a"),
    ("sleep 5 | cat &", "sleep& cat&"),
    ("a && b & c", "a& b& c"),
    ("a; b & c", "a b& c"),
    ("{ a & }; b", "a& b"),
    ("{ a; b; } &", "a& b&"),
    ("a |& b", "a b"),
    ("a &> f", "a"),
    ("a >&2 b 2>&1 3<&- < c", "a"),
    ("2>/dev/null setsid a", "setsid a"),
    ("[[ -n $x && setsid == a ]] && b", "b"),
    ("[ -n a ] && b", "[ b"),
    ("((x = 1 & 2)); a", "a"),
    ("a=(setsid x); b", "b"),
    // Near misses.
    ("echo setsid", "echo"),
    ("true # setsid x\na", "true a"),
    ("a#setsid b", "a#setsid"),
    ("echo 'a & setsid b'", "echo"),
    ("a && b || c", "a b c"),
    ("pgrep -f 'nohup setsid'", "pgrep"),
    ("command -v setsid", "command"),
    ("ssh host 'setsid x &'", "ssh setsid& x&"),
    ("ssh -tt host setsid x", "ssh setsid x"),
    ("owned run -- setsid x", "owned"),
    ("python -m setsid", "python"),
    ("docker run -d image setsid x", "docker"),
    ("cat <<EOF\nsetsid x\nEOF", "cat"),
    ("bash script.sh <<EOF\nsetsid x\nEOF", "bash"),
    // Values that only the run knows.
    ("~ setsid x", ""),
    ("~ a &", "~&"),
    ("cd ~ && setsid x", "cd setsid x"),
    ("~/bin/setsid x", "setsid x"),
    ("sudo ~ setsid x", "sudo"),
    ("$x setsid y", ""),
    ("set~ x", ""),
    ("timeout ~ setsid x", "timeout setsid x"),
    ("bash -c ~", "bash"),
    ("nohup ~ >~ 2>&1 &", "nohup& ~&"),
    // Not closed.
    ("echo 'a", "echo"),
    ("echo \"a $(b", "b echo"),
    ("if a; then b", "a b"),
    ("a ) b } c ; fi d", "a"),
    ("case x in", ""),
    ("cat <<", "cat"),
    ("cat <<EOF", "cat"),
];

#[test]
fn command_positions() {
    let mut wrong = Vec::new();
    for (text, expected) in TEXTS {
        let text = text.replace('~', &HOLE.to_string());
        let found = shown(&run(&text, "sh")).replace(HOLE, "~");
        if found != *expected {
            wrong.push(format!("{text}: {found} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_shells() {
    assert_eq!(
        shown(&run("begin; not setsid x; end; and y", "fish")),
        "setsid x end y"
    );
    assert_eq!(shown(&run("echo (setsid x)", "fish")), "setsid x echo");
    assert_eq!(shown(&run("a & b && start \"t\" c", "cmd")), "a b start");
    assert_eq!(
        shown(&run(
            "if ($x == 1) then\n a\nendif\nsleep 5 & ; wait",
            "tcsh"
        )),
        "a endif sleep& wait"
    );
}

#[test]
fn the_shell_is_known() {
    let found = run("tcsh -f -c 'sleep 5 & ; wait'; set -m", "bash");
    let shells: Vec<&str> = found.iter().map(|own| own.shell.name.as_str()).collect();
    assert_eq!(shells, ["bash", "tcsh", "tcsh", "bash"]);
}

#[test]
fn argvs() {
    assert_eq!(
        shown(&words(&["/usr/bin/nohup", "setsid", "sleep", "5", "&"])),
        "nohup setsid sleep"
    );
    assert_eq!(
        shown(&words(&["bash", "-c", "setsid x & y"])),
        "bash setsid& x& y"
    );
    assert_eq!(shown(&words(&["C:\\bin\\tmux.EXE", "new"])), "tmux");
    assert_eq!(shown(&words(&["echo", "setsid"])), "echo");
    assert_eq!(shown(&words(&["cmd", "/c", "start", "x"])), "cmd start");
    assert_eq!(
        shown(&words(&["find", ".", "-exec", "setsid", "x", ";"])),
        "find setsid x"
    );
    assert_eq!(shown(&words(&["\u{fffc}", "setsid"])), "");
    assert_eq!(shown(&words(&["env", "\u{fffc}", "setsid"])), "env");
    assert_eq!(shown(&words(&["setsid", "\u{fffc}"])), "setsid");
    assert_eq!(shown(&words(&[])), "");
}

#[test]
fn program_texts() {
    let code = |text: &str| {
        run(text, "sh")
            .iter()
            .find_map(|own| own.code.clone())
            .map(|own| own.text)
    };
    assert_eq!(
        code("python3 -u -W ignore -c 'import os' x").as_deref(),
        Some("import os")
    );
    assert_eq!(code("python3.11 -Ic 'a'").as_deref(), Some("a"));
    assert_eq!(code("pypy3 -cimport").as_deref(), Some("import"));
    assert_eq!(code("python - <<'E'\na\nE").as_deref(), Some("a\n"));
    assert_eq!(code("python x.py -c b"), None);
    assert_eq!(code("python -m x -c b"), None);
    assert_eq!(code("perl -MPOSIX -e 'setsid'").as_deref(), Some("setsid"));
    assert_eq!(code("node --eval a").as_deref(), Some("a"));
    assert_eq!(code("ruby -rx -e a").as_deref(), Some("a"));
    assert_eq!(code("expect -c a").as_deref(), Some("a"));
}

#[test]
fn words_know_where_they_are_written() {
    let text = "bash -c \"nohup 'x y' z &\""; // detached-spawn: it is only read
    let found = run(text, "sh");
    let nohup = found
        .iter()
        .find(|own| own.program == "nohup")
        .expect("nohup");
    let at = |span: Span| &text[span.start as usize..span.end as usize];
    let shown: Vec<&str> = nohup.words.iter().map(|word| at(word.span)).collect();
    assert_eq!(shown, ["nohup", "x y", "z"]);
    assert_eq!(nohup.background.map(at), Some("&"));
}

/// No text makes the reader panic or hang, whatever is missing or put in.
#[test]
fn broken_texts() {
    for (text, _) in TEXTS {
        for (at, _) in text.char_indices() {
            run(&text[..at], "bash");
            for put in ["(", "'", "\"", "`", "$(", "<<", "\u{fffc}"] {
                run(&format!("{}{put}{}", &text[..at], &text[at + 1..]), "bash");
            }
        }
    }
}

#[test]
fn large_texts_end() {
    for part in [
        "(",
        "$(",
        "((",
        "`",
        "{ ",
        "'",
        "<<a ",
        "if ",
        "case x in a) ",
        "sh -c \"",
        "nohup ",
        "a & ",
        "${",
        "\"$(",
    ] {
        run(&part.repeat(5_000), "bash");
    }
    let doubling = (0..2000).map(|at| format!("a{}=$a{at}$a{at}; ", at + 1));
    run(&doubling.collect::<Vec<_>>().concat(), "sh");
}

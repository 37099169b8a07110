use super::*;
use crate::facts::MAX_ITEMS;
use crate::globs::Globs;
use crate::met::Met;
use crate::policy::{Allow, Helper};
use crate::rules::Level;

fn wants(language: Language, text: &str) -> bool {
    Filter::new(std::iter::empty()).wants(language, text.as_bytes())
}

fn check(language: Language, texts: &[&str], wanted: bool) {
    let wrong = texts.iter().filter(|text| wants(language, text) != wanted);
    let wrong: Vec<&&str> = wrong.collect();
    assert!(wrong.is_empty(), "not so ({wanted}): {wrong:#?}");
}

#[test]
fn words_of_rules_let_a_file_in() {
    let python = [
        "os.setsid()",
        "Popen(x, start_new_session=True)",
        "import subprocess\nsubprocess.run(['nginx'])",
        "import subprocess as s\ns.run(\n    ['nginx']\n)",
        "os.system('cd x && at now')",
        "from os import (\n    path,\n    system,\n)\nsystem('x &')",
        "from os import a, \\\n    b, \\\r\n    system\nsystem('nginx')",
        "from os import (  # two!\n    path,  # and (these)\n    system,\n)\nsystem('nginx')",
        "x = '#'; from os import path, system\nsystem('nginx')",
        "getattr(os, 'system')('nginx')",
        "import os as o\no.system('nginx')",
        "import sys, os as o\no.system('nginx')",
        "import os\nx = os\nx.system('nginx')",
        "import os \\\n    as o\no.system('nginx')",
        "import os as\to\no.system('nginx')",
        "from shutil import (os  # c\n    as o)\no.system('nginx')",
        "__import__('o' + 's').system('nginx')",
        "from os import (\n    import_x,\n    aa,\n    fork,\n)\nfork()",
        "import subprocess\nx = f\"\"\"{n  # the user's\n} {subprocess.run('nginx')}\"\"\"",
        "import subprocess\nx = f\"\"\"{f\"{\"{\"}\"} {subprocess.run('nginx')}\"\"\"",
        "import subprocess\nx = rf\"{a}\\{subprocess.getoutput('nginx')}\"",
        "import subprocess\nx = f\"\"\"{a {subprocess.run('nginx')}\"\"\"",
        "from os import (\n    path as import_path,\n    system,\n)\nsystem('nginx')",
        "import os\n(os).system('nginx')",
        "import os\nos .system('nginx')",
        "import os\nself.os.system('nginx')",
        "import sys\nsys.modules['os'].system('nginx')",
        "__import__('os').system('nginx')",
        "from os import *\nsystem('nginx')",
        "import os\ndef f(run=os.system):\n    run('nginx')",
        "import posix\nposix.system('nginx')",
        "import os, sh\nsh.nginx()",
        "import os\nos. \\\n  system('nginx')",
        "os.system('FOO=1 at now')",
        "os.system('sudo -u me at now')",
        "os.system('timeout ' + n + 's at now')",
        "os.system(f'{folder}/nginx')",
        "os.system('p=ngi; ${p}nx')",
        "def script():\n    return 'systemd-\\\nrun x'",
        "os.system(\"'ngi'nx\")",
        "os.system('ngi' 'nx')",
        "os.system('ngi' + 'nx')",
        "os.system('\\x6eginx')",
        "import subprocess\nsubprocess.run([sys.executable, '-c', 'import os; os.system(\"at now\")'])",
        "import subprocess\nsubprocess.run(['sh', '-c', 'at now'])",
        "import subprocess\nsubprocess.Popen(x, 0, None, None, None, None, None, True, True, None, None, False, None, 8)",
        "from subprocess import Popen as P\nP(x, 0, None, None, None, None, None, True, True, None, None, False, None, 8)",
        "import subprocess\nR = (0, None, None, None, None, None, True, True, None, None, False, None, F)\nsubprocess.Popen(x, *R)",
        "import sh\nsh.nginx()",
        "from plumbum.cmd import nginx\nnginx()",
        "# detached-spawn: reason",
        "# Detached-spwan: reason",
        "if x:\n    os.fork()\nos._exit(0)",
    ];
    check(Language::Python, &python, true);
    check(Language::Python, REACHED, true);
    check(Language::Python, IN_LITERALS, true);
    check(Language::Python, IN_TEXTS, true);
    check(Language::Rust, OF_RUST, true);
    let rust = [
        "libc::setsid();",
        "Command::new(\"nginx\");",
        "Command::new(\"sh\").arg(\"-c\").arg(\"x &\");",
        "c.group().spawn()",
        "fn f() { libc::syscall(112); }",
        "use libc::fork as f; fn g() { unsafe { f() } }",
        "run_cmd!(nginx);",
        "open::that(url)",
        "/* detached-spawn: x */",
        "fn main() { let x = \"unterminated\n; libc::setsid(); }",
    ];
    check(Language::Rust, &rust, true);
}

/// Names that are reached in a roundabout way.
const REACHED: &[&str] = &[
    "from os import *\nsystem('nginx')",
    "from os import *\nif fork():\n    _exit(0)",
    "from os import (\n    path,  # noqa\n    system,\n)\nsystem('nginx')",
    "from os import (\n    # why\n    # so\n    system as s)\ns('nginx')",
    "getattr(os, r'system')('nginx -c x')",
    "N = 'system'\ngetattr(os, N)('nginx -c x')",
    "__import__('pty').spawn('sh')",
    "import importlib\nimportlib.import_module('sh').nginx()",
    "import os,rq\nrq.Worker([]).work()",
    "\u{feff}import sh\nsh.nginx()",
    "import sh\nsh.docker('run', '-d', 'x')",
    "from os import path, \\\n    system\nsystem('nginx')",
    "from os import (path,  # (so)\n\n    _exit as leave, system)\nsystem('nginx')",
    "import executor as e\ne.execute('nginx')",
    "import time, delegator\ndelegator.run('nginx')",
    "from cmd import Command\nCommand('nginx')",
    "getattr(subprocess, 'Popen')(x, 0, None, None, None, None, None, True, True, None, None, False, None, 8)",
    "from plumbum.cmd import docker\ndocker['run', '-d', 'x']()",
];

/// Code and texts where a pass over literals could overlook them.
const IN_LITERALS: &[&str] = &[
    "x = f\"{subprocess.run(['nginx'])}\"",
    "x = f'{1:{os.system(\"at now\")}}'",
    "x = f'{f'{subprocess.run([\"nginx\"])}'}'",
    "subprocess.run([f'{ d }/nginx'])",
    "subprocess.run([f'nginx{EXE}'])",
    "subprocess.run(['/opt/my dir/nginx'])",
    "subprocess.run('nginx -c x'.split())",
    "C = 'sudo -u me at now'\nsubprocess.run(C.split())",
    "def log(cmd='at now'):\n    os.system(cmd)",
    "log(lambda c='at now': os.system(c))",
    "print(c := 'at now')\nos.system(c)",
    "o = dict(help='at now')\nos.system(o['help'])",
    "subprocess.run([\n<<<<<<< a\n'ls'\n=======\n'nginx'\n>>>>>>> b\n])",
    "subprocess.run([sys.executable, '-c', 'import os; os.execvp(\"nginx\", [])'])",
    "import signal\nsignal.signal(\n    1, signal.SIG_IGN)",
    "import signal\nsignal.pthread_sigmask(0, [1])",
    "import ctypes\nctypes.CDLL(None).syscall(0o160)",
    "from plumbum import local\nlocal['nginx']()",
    "import sh\ngetattr(sh, 'nginx')()",
    "subprocess.run({'a': 1}['a'] or ['nginx'])",
    "def f(x):\n    return ['nginx']\nsubprocess.run(f(1))",
    "C = 'nginx'\nnot x\nsubprocess.run(C)",
    "subprocess.run(C['a':'b'], 'nginx')",
    "subprocess.run([n['a'], 'nginx'])",
    "subprocess.run(getattr(x, 'y', 'nginx'))",
    "for c in 'nginx', 'ls':\n    subprocess.run(c)",
    "subprocess.run(['nginx'] if 'a' in x else [])",
    "D = {'a': lambda c='at now': os.system(c)}",
    "print(c := 'sudo ' 'nginx')\nos.system(c)",
    "print(c := x or 'at now')\nos.system(c)",
    "with ['nginx'] as c:\n    subprocess.run(c)",
    "import sh\ngetattr(sh, 'ngi' 'nx')()",
    "getattr(\n    os, 'system'\n)('nginx -c x')",
    "getattr (os, 'system')('nginx -c x')",
    "d = {'start_new\\\n\\\n_session': True}\nPopen(x, **d)",
    "subprocess.run(['python', '-c', 'import os; getattr(os, \"set\\\\x73id\")()'])",
];

/// Commands where a shell's text begins one.
const IN_TEXTS: &[&str] = &[
    "os.system('time -p at now')",
    "os.system('function f { at now; }; f')",
    "os.system('echo \"at now\" | sh')",
    "os.system('$(which at) now')",
    "os.system('ngi\\\\\nnx -c')",
    "os.system('env -S\"at now\"')",
    "os.system('OPTS=-d; docker run $OPTS x')",
    "os.system('%s screen -dmS x' % 'sudo')",
    "os.system(' '.join(['sudo', '-u me at now']))",
    "c = 'sudo -u'\nc += ' me at now'\nos.system(c)",
    "os.system('fish -c \"if x; not at now; end\"')",
    "os.system('python -c \"x = 1; y = \\'at now\\'; import os; os.system(y)\"')",
];

/// The same in Rust.
const OF_RUST: &[&str] = &[
    "fn f() { match os::fork() { _ => os::fork() } }",
    "use nix::{\n    sys::wait::{waitpid, WaitStatus},\n    unistd::{fork, ForkResult},\n};\nfn f() { fork(); fork(); }",
    "use {std::fs::{read, write}, opener::{open, OpenError}};\nfn f() { open(\"x\"); }",
    "\u{feff}Command::new(\"nginx\");",
    "Command::new(\"sudo\").args(shlex::split(\"nginx -c x\"));",
    "let mut s = \"sudo -u \".to_owned(); s.push_str(\"me at now\"); Command::new(\"sh\").arg(s);",
    "Command::new(\"sh\").arg(\"sudo -u \".to_owned() + \"me at now\");",
    "Command::new(\"sh\").arg(concat!(\"sudo -u\", \" me at now\"));",
    "extern { fn fork() -> i32; } fn f() { fork(); fork(); }",
    "use nix::{sys::wait::wait, unistd::{getpid, fork}}; fn f() { match fork() { _ => fork() } }",
    "use nix::unistd::*; fn f() { match fork() { _ => fork() } }",
    "fn f() { server.cmd(\"new-session\"); }",
    "fn f() { libc::syscall(0x70i64); }",
    "fn f() { dlsym(h, \"\\u{7_3}etsid\\0\"); }",
    "fn f() { dlsym(h, \"set\\\n  \\\n  sid\\0\"); }",
];

#[test]
fn what_only_looks_so_is_left_out() {
    let python = [
        "",
        "import subprocess\nsubprocess.run(['ls'])",
        "import subprocess\n'''nginx at now'''\nsubprocess.run(['ls'])",
        "import subprocess\n# nginx\nsubprocess.run(['ls'], shell=x)",
        "import subprocess\nsubprocess.run(['ls'])\nraise ValueError('nginx')",
        "import subprocess\nsubprocess.run(['ls'], shell=True)\nx = {'nginx': 1}",
        "import subprocess\nsubprocess.run('ls', shell=True)\nx = 'look at that'",
        "import subprocess\nsubprocess.run('a && b > /dev/null 2>&1', shell=True)",
        "x = 'the system runs nginx'",
        "import os\nself.system.get('nginx')",
        "import sys, os\nfrom os import path\ncolumn.system('nginx', os.path)",
        "a, sh = f()\nsh('nginx')",
        "f(a, cmd, x.Command, 'nginx')",
        "np.array(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)\nimport subprocess",
        "if platform.system() == 'Linux':\n    x = 'nginx at now'",
        "solve(system, 'at least')",
        "import a\nsolve(b,\n    system, 'at least')",
        "import os\nos.system('/api/clusters/start now')",
        "x.execute('nginx')  # an executor",
        "f = dict[executor]\nf.execute('nginx')",
        "read(fork=1, a=[fork])",
        "get_context('fork')",
        "m.group().spawn",
        "x = empty",
        "import subprocess\nsubprocess.run(o['timeout'], o['nginx'])",
        "import subprocess\no['nginx'] = subprocess.run('ls')",
        "import subprocess\nf(hasattr(o, 'nginx'), getattr(o, 'nginx', None))",
        "import subprocess\nmonkeypatch.setattr(o, 'nginx', f)",
        "import subprocess\nif 'nginx' in o or 'nginx' not in o or 'nginx' == o:\n    pass",
    ];
    check(Language::Python, &python, false);
    let rust = [
        "// libc::setsid()",
        "pub fn setsid() -> pid_t;",
        "pub const CLONE_PARENT: i32 = 1; fn clone(&self) {}",
        "Command::new(\"ls\");",
        "fn system_call(a: u32) -> u32 { 112 }",
        "workgroup_status",
        "use libc::c_int; pub union Message { pub fork: Fork, }",
        "use libc::c_int; fn f(a: A, fork: B) { g(fork, [fork]) }",
        "bind_group().output()",
    ];
    check(Language::Rust, &rust, false);
}

/// What stands beyond the items that are read of a list counts in no way.
#[test]
fn tables_of_words_are_not_wanted() {
    let table = |words: usize, open: &str| format!("X = {open}{}'setsid')", "'a', ".repeat(words));
    for open in ["(", "frozenset(["] {
        assert!(wants(
            Language::Python,
            &table(MAX_ITEMS - 1, open).replace(')', ",)")
        ));
    }
    assert!(!wants(Language::Python, &table(MAX_ITEMS, "(")));
    let keys = "'a': 1, ".repeat(MAX_ITEMS);
    assert!(wants(
        Language::Python,
        &format!("X = {{{keys}'setsid': 1}}")
    ));
    assert!(wants(
        Language::Python,
        &format!("X = {{{keys}'a': 'setsid x'}}")
    ));
}

#[test]
fn every_example_of_a_rule_is_wanted() {
    for rule in rules::ALL {
        let bad = rule.doc.split("## Bad").nth(1).unwrap_or_default();
        let bad = bad.split("## Good").next().unwrap_or_default();
        let fences = bad.split("```").skip(1).step_by(2);
        for fence in fences {
            let (info, code) = fence.split_once('\n').unwrap_or_default();
            let language = if info.contains("rust") {
                Language::Rust
            } else {
                Language::Python
            };
            assert!(wants(language, code), "{}: {code}", rule.id);
        }
    }
}

#[test]
fn every_rule_names_what_it_needs() {
    for rule in rules::ALL {
        assert!(!rule.words.is_empty(), "{}", rule.id);
    }
    assert!(Filter::of(vec![&Words::NONE], Vec::new()).is_none());
    assert!(Filter::open().wants(Language::Rust, b""));
}

#[test]
fn what_the_configuration_adds_is_wanted() {
    let mut policy = Policy::default();
    policy.terms.marker = "must-outlive".to_owned();
    policy.detaching = vec![Helper::new("team.proc.launch_far").unwrap()];
    let filter = Filter::new(std::iter::once(&policy));
    for text in [
        "launch_far()",
        "fn launch_far() {}",
        "# must-outlive: x",
        "# MUST_OUTLIVE: x",
        "# mustoutlve: x",
        "# mst‐outlivee: x",
    ] {
        assert!(filter.wants(Language::Rust, text.as_bytes()), "{text}");
    }
    assert!(!filter.wants(Language::Rust, b"fn begin() {}"));
}

/// What runs in the background asks for a file only where somebody is told of it; what other rules name may be
/// what another one leans on.
#[test]
fn what_is_told_of_is_wanted() {
    let background = b"import os\nos.system('x &')";
    let session = b"import os\nos.setsid()";
    let wants = |policies: &[&Policy], text| {
        Filter::new(policies.iter().copied()).wants(Language::Python, text)
    };
    let mut allowed = Policy::default();
    allowed.levels.set = vec![("all".to_owned(), Level::Allow)];
    let mut told = allowed.clone();
    told.levels
        .set
        .push(("shell-background".to_owned(), Level::Warn));
    let mut spoken = allowed.clone();
    spoken.allows = vec![Allow {
        paths: Globs::new(&["a".to_owned()]).unwrap(),
        written: Vec::new(),
        mechanisms: vec!["shell-background".to_owned()],
        reason: String::new(),
        until: None,
        place: String::new(),
        met: Met::default(),
    }];
    let usual = Policy::default();
    assert!(!wants(&[&usual], background) && wants(&[&usual], session));
    assert!(!wants(&[&allowed], background) && wants(&[&allowed], session));
    assert!(wants(
        &[&allowed],
        b"run(['sh', '-c', 'nohup docker run -d x'])"
    ));
    for wanting in [&told, &spoken] {
        assert!(wants(&[&usual, wanting], background));
    }
}

#[test]
fn what_python_reads_otherwise_is_seen_through() {
    let filter = Filter::new(std::iter::empty());
    let wants = |text: &[u8]| filter.wants(Language::Python, text);
    assert!(wants("os.ｓｅｔｓｉｄ()".as_bytes()));
    assert!(wants("os.\u{17f}etsid()".as_bytes()));
    assert!(!wants("# äöü 日本語 “x”".as_bytes()));
    assert!(wants(b"\xff\xfeo\0s\0"));
    assert!(wants(
        b"# coding: utf-7\nimport os\nos.+AHMAZQB0AHMAaQBk-()"
    ));
    assert!(!wants(b"# coding: latin-1\nx = 1"));
    assert!(wants(b"d = {'start_new_sess\\x69on': True}\nP(**d)"));
    assert!(wants(b"d = {'start_new_\\\nsession': True}\nP(**d)"));
}

#[test]
fn what_may_fold_is_known_by_its_block() {
    let folding = (0..=u32::from(char::MAX))
        .filter_map(char::from_u32)
        .filter(|char| folds(*char));
    let missed: std::collections::BTreeSet<u32> = folding
        .filter(|char| !may_fold(*char))
        .map(|char| u32::from(char) >> 8)
        .collect();
    assert!(missed.is_empty(), "{missed:x?}");
}

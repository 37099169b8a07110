//! Nothing that a file holds can stop the run: deep nesting, cut files, random bytes.
//! `CHECK_ALL=1` cuts each fixture at every byte instead of at a sample of them.

use std::path::{Path, PathBuf};

use check_detached_spawns::check::check;
use check_detached_spawns::decode::decode;
use check_detached_spawns::policy::Policy;
use check_detached_spawns::report::{Date, FileReport};
use check_detached_spawns::source::{Language, Source};

const TODAY: Date = Date {
    year: 2026,
    month: 1,
    day: 1,
};

/// Judges `bytes` on a stack as large as the program's own workers have.
fn judge(language: Language, bytes: Vec<u8>) -> FileReport {
    let work = move || {
        check(
            Source::new("x", language, decode(language, &bytes).text),
            &Policy::default(),
            TODAY,
        )
    };
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .expect("no panic")
}

const DEEP: usize = 10_000;

/// Openers and closers that nest, by language.
const PYTHON: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{1:", "}"),
    ("f(", ")"),
    ("not ", ""),
    ("-", ""),
    ("lambda: ", ""),
    ("x if ", " else y"),
    ("f'{", "}'"),
    ("1+", ""),
    ("x**", ""),
    ("x.a.", "b"),
    ("f(x)(", ")"),
    ("await ", ""),
    ("*", ""),
    ("x[", "]"),
    ("f(a=", ")"),
    ("{**", "}"),
    ("x and ", ""),
    ("x == ", ""),
    ("(yield ", ")"),
    ("(y := ", ")"),
];
const RUST: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("f(", ")"),
    ("-", ""),
    ("!", ""),
    ("&", ""),
    ("*", ""),
    ("|| ", ""),
    ("if a { ", "}"),
    ("m!(", ")"),
    ("1+", ""),
    ("x.f(", ")"),
    ("match x { _ => ", "}"),
    ("unsafe { ", "}"),
    ("loop { ", "}"),
    ("move || ", ""),
    ("S { a: ", "}"),
    ("x[", "]"),
    ("return ", ""),
    ("Vec::<", ">"),
    ("async { ", "}"),
];

#[test]
fn deep_nesting_ends() {
    for (open, close) in PYTHON {
        let text = format!("x = {}1{}\n", open.repeat(DEEP), close.repeat(DEEP));
        judge(Language::Python, text.into_bytes());
    }
    for (open, close) in RUST {
        let text = format!(
            "fn f() {{ {}1{} }}\n",
            open.repeat(DEEP),
            close.repeat(DEEP)
        );
        judge(Language::Rust, text.into_bytes());
    }
}

#[test]
fn deep_blocks_end() {
    for word in [
        "if x:",
        "def f():",
        "class A:",
        "with x:",
        "for x in y:",
        "try:",
    ] {
        let lines = (0..2_000).map(|depth| format!("{}{word}\n", " ".repeat(depth)));
        judge(Language::Python, lines.collect::<String>().into_bytes());
    }
    let chain = format!("if x:\n pass\n{}", "elif x:\n pass\n".repeat(DEEP));
    judge(Language::Python, chain.into_bytes());
    for word in ["fn f() {", "mod m {", "impl X {", "trait T {", "struct S {"] {
        judge(Language::Rust, word.repeat(DEEP).into_bytes());
    }
    let chain = format!("fn f() {{ if x {{}} {} }}", "else if x {} ".repeat(DEEP));
    judge(Language::Rust, chain.into_bytes());
}

/// What no one writes by hand is read as far as memory and time allow, and the rest is told.
#[test]
fn the_rest_of_a_huge_file_is_told() {
    const PYTHON: &str = "import os\nos.setsid()\n";
    const RUST: &str = "fn f() { unsafe { libc::setsid(); } }\n";
    for (language, code, most) in [
        (Language::Python, PYTHON, 4 << 20),
        (Language::Rust, RUST, 4 << 20),
    ] {
        let fits = format!("{}{code}", "\n".repeat(most - code.len()));
        let report = judge(language, fits.into_bytes());
        assert_eq!((report.findings.len(), report.problems.len()), (1, 0));
        let over = format!("{code}{}{code}", "\n".repeat(most));
        let report = judge(language, over.into_bytes());
        assert_eq!((report.findings.len(), report.problems.len()), (1, 1));
        let problem = &report.problems[0];
        let line = problem.position.map(|at| at.line as usize);
        assert_eq!(line, Some(most - code.len() + code.lines().count() + 1));
        assert!(
            problem.message.contains("is not judged"),
            "{}",
            problem.message
        );
    }
    // A parser of Rust would need a gigabyte: what it says is told by the tokens.
    let many = format!("{}{RUST}", ";".repeat(1 << 21));
    let report = judge(Language::Rust, many.into_bytes());
    assert_eq!((report.findings.len(), report.problems.len()), (1, 1));
    assert!(report.problems[0].message.contains("2097152 tokens"));
}

/// rustpython's lexer would take minutes for these lines.
#[test]
fn lines_without_code_cost_nothing_much() {
    let text = format!("{}import os\nos.setsid()\n", "\n  # why\n".repeat(100_000));
    let report = judge(Language::Python, text.into_bytes());
    assert_eq!((report.findings.len(), report.problems.len()), (1, 0));
}

/// What a method sets an attribute to holds behind that, however many others set it too.
#[test]
fn an_attribute_that_many_set_is_what_was_set_last() {
    let method = |number: usize| {
        let flag = if number.is_multiple_of(5) {
            "True"
        } else {
            "False"
        };
        format!(
            "    def f{number}(self):\n        self.new = {flag}\n        Popen(x, start_new_session=self.new)\n"
        )
    };
    let methods: String = (0..600).map(method).collect();
    let text = format!("from subprocess import Popen\nclass A:\n{methods}");
    let file = judge(Language::Python, text.into_bytes());
    assert_eq!(file.findings.len(), 120);
    let sets = "        self.new = False\n".repeat(600);
    let text = format!(
        "from subprocess import Popen\nclass A:\n    def f(self):\n{sets}        self.new = True\n        Popen(x, start_new_session=self.new)\n"
    );
    let file = judge(Language::Python, text.into_bytes());
    assert_eq!(file.findings.len(), 1);
}

#[test]
fn random_bytes_end() {
    // A fixed xorshift: the same bytes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: &[&[u8]] = &[
        b"Popen(",
        b"start_new_session=True",
        b"'",
        b"\"\"\"",
        b"f'{",
        b"}",
        b"(",
        b")",
        b"\n",
        b"# detached-spawn: ",
        b"process_group(0)",
        b"Command::new(",
        b"r#\"",
        b"/*",
        b"m!{",
        b"\xff\xfe",
        b"\0",
        b"    ",
        b"os.setsid",
        b"&",
    ];
    for round in 0..60 {
        let mut bytes = Vec::new();
        for _ in 0..200 {
            let pick = next();
            if round % 3 == 0 {
                bytes.extend_from_slice(&pick.to_le_bytes());
            } else {
                bytes.extend_from_slice(words[usize::try_from(pick % words.len() as u64).unwrap()]);
            }
        }
        judge(Language::Python, bytes.clone());
        judge(Language::Rust, bytes);
    }
}

fn fixtures(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            fixtures(&path, found);
        } else if path
            .extension()
            .is_some_and(|suffix| suffix == "py" || suffix == "rs")
        {
            found.push(path);
        }
    }
}

#[test]
fn cut_fixtures_end() {
    let mut paths = Vec::new();
    fixtures(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"),
        &mut paths,
    );
    assert!(!paths.is_empty());
    let all = std::env::var_os("CHECK_ALL").is_some();
    let work = move || {
        for path in paths {
            let bytes = std::fs::read(&path).unwrap();
            let language = if path.extension().is_some_and(|suffix| suffix == "rs") {
                Language::Rust
            } else {
                Language::Python
            };
            let step = if all { 1 } else { bytes.len() / 5 + 1 };
            for end in (0..bytes.len()).step_by(step) {
                let text = decode(language, &bytes[..end]).text;
                check(Source::new("x", language, text), &Policy::default(), TODAY);
            }
        }
    };
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(work)
        .unwrap()
        .join()
        .expect("no panic");
}

/// Names that lead to names in more ways than can be tried, and values that double at each step.
#[test]
fn names_made_of_names_end() {
    let itself = "x = x[0]\nx = x.y['k']\nx = x or [*x]\nx['k'] = x\nf(**x)\n".repeat(24);
    let step = |to: String| {
        move |at: usize| {
            to.replace("N1", &format!("n{}", at + 1))
                .replace("N0", &format!("n{at}"))
        }
    };
    let chain = |from: &str, to: &str, times: usize| {
        let lines = (0..times).map(step(to.to_owned()));
        from.to_owned() + &lines.collect::<String>() + &format!("f(n{times}, **n{times})\n")
    };
    let many = chain("", &"N0 = N1 or dict(N1) or N1.copy()\n".repeat(20), 12) + "f(**n0)\n";
    for text in [
        itself,
        many,
        chain("n0 = [1, 2]\n", "N1 = [N0, N0]\n", 60),
        chain("n0 = {'a': 1}\n", "N1 = {'a': N0, 'b': N0}\n", 60),
        chain("n0 = 'ab'\n", "N1 = N0 + N0\n", 60),
        chain("n0 = 1\n", "N1 = partial(N0, N0)\n", 60),
        chain("", "def N0(): return N1() if a else N1()\n", 60) + "f(**n0())\n",
        chain("n0 = a\n", "N1 = N0.b\n", 5_000),
    ] {
        judge(Language::Python, text.into_bytes());
    }
    for line in [
        "let c = if a { c } else { c.arg(\"x\") };",
        "let c = [c, c];",
        "c = c[0].arg(c);",
    ] {
        let body = line.repeat(60);
        let text = format!("fn f() {{ let mut c = Command::new(\"x\"); {body} c.spawn(); }}\n");
        judge(Language::Rust, text.into_bytes());
    }
}

//! `cargo bench -p check-detached-spawns`: how time grows with what is judged, and how long a start takes.
//!
//! Each row is one, four and sixteen times as much of the same; what is linear takes four times as long from
//! one column to the next. The last rows are inputs that are the worst of their kind. Speed beside other tools
//! is measured by `tests/support/speed.py`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that measures, and fails where it stands"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINTER: &str = env!("CARGO_BIN_EXE_check-detached-spawns");

/// What is measured: its name, and how much of it makes which files.
type Input = (&'static str, usize, fn(usize) -> Vec<(String, String)>);

const GROWING: &[Input] = &[
    ("findings in one Python file", 1000, |many| {
        one(
            "a.py",
            "import subprocess\n",
            "def f(x):\n    subprocess.Popen(x, start_new_session=True)\n",
            many,
        )
    }),
    ("findings in one Rust file", 1000, |many| {
        one(
            "a.rs",
            "use std::os::unix::process::CommandExt;\nuse std::process::Command;\n",
            "fn f() { Command::new(\"x\").process_group(0).spawn().unwrap(); }\n",
            many,
        )
    }),
    ("justified findings in one file", 1000, |many| {
        one(
            "a.py",
            "import os\n",
            "# detached-spawn: it must outlive the one that is replaced\nos.setsid()\n",
            many,
        )
    }),
    ("calls in one file, none detaches", 4000, |many| {
        one(
            "a.py",
            "import os\nos.setsid()\n",
            "print(f(x, y=[1, 2], z=g()))\n",
            many,
        )
    }),
    ("shell texts in one file", 500, |many| {
        one(
            "a.py",
            "import os\n",
            "os.system('cd /x && nohup y > z 2>&1 &')\n",
            many,
        )
    }),
    ("commands built in steps", 500, |many| {
        one(
            "a.rs",
            "use std::process::Command;\n",
            "fn f() { let mut c = Command::new(\"setsid\"); c.arg(\"x\"); c.spawn(); }\n",
            many,
        )
    }),
    ("small files without a word", 2000, |many| {
        let file = |number: usize| {
            (
                format!("m{}/f{number}.py", number % 50),
                "def f(x):\n    return x + 1\n".to_owned(),
            )
        };
        (0..many).map(file).collect()
    }),
    ("small files with a finding", 250, |many| {
        let text = "import os\nos.setsid()\n";
        (0..many)
            .map(|number| (format!("f{number}.py"), text.to_owned()))
            .collect()
    }),
    ("one file without a word, lines", 20_000, |many| {
        one(
            "a.py",
            "",
            "value = compute(value, 'a text', [1, 2, 3])\n",
            many,
        )
    }),
    ("one line", 4000, |many| {
        one("a.py", "import os; os.setsid()", "; x = f(1, 'a')", many)
    }),
    ("one line of Rust", 4000, |many| {
        one("a.rs", FOUND_RUST, "fn f() { x(1, \"a\"); } ", many)
    }),
    ("one literal", 100_000, |many| {
        around(
            "a.py",
            "x = '",
            "abc def ",
            "'\nimport os\nos.setsid()\n",
            many,
        )
    }),
    ("one literal of Rust", 100_000, |many| {
        around("a.rs", "const X: &str = \"", "abc def ", "\";\n", many)
    }),
    ("a list of numbers", 20_000, |many| {
        around(
            "a.py",
            "import os\nos.setsid()\nx = [",
            "12345, ",
            "]\n",
            many,
        )
    }),
    ("a list of texts in Rust", 20_000, |many| {
        around("a.rs", "const X: &[&str] = &[", "\"abc\", ", "];\n", many)
    }),
    ("lines without code", 10_000, |many| {
        one("a.py", "import os\nos.setsid()\n", "\n# why\n", many)
    }),
    ("functions that call one another", 2000, |many| {
        let function = |at: usize| format!("def f{at}(a):\n    return f{}(a)\n", at + 1);
        let text: String = (0..many).map(function).collect();
        one("a.py", "import os\nos.setsid()\n", &text, 1)
    }),
    ("macros in one Rust function", 2000, |many| {
        around(
            "a.rs",
            "fn f() {\n",
            "println!(\"{}\", f(x));\n",
            "}\n",
            many,
        )
    }),
    ("a variable that is set again", 1000, |many| {
        around("a.py", SPAWNS, "x = f(x)\n", "Popen(x)\n", many)
    }),
    ("a variable of Rust that is set again", 1000, |many| {
        around("a.rs", "fn f() {\n", "x = f(x);\n", "}\n", many)
    }),
    ("an attribute that is set again", 1000, |many| {
        let head = "import os\nos.setsid()\nclass A:\n    def f(self):\n";
        one("a.py", head, "        self.x = f(self.x)\n", many)
    }),
    ("a variable that is set in branches", 1000, |many| {
        around("a.py", SPAWNS, "if x: x = f(x)\n", "Popen(x)\n", many)
    }),
    ("a variable that functions set for all", 500, |many| {
        let function = |at: usize| format!("def f{at}():\n    global x\n    x = g(x)\n");
        let text: String = (0..many).map(function).collect();
        around("a.py", SPAWNS, &text, "Popen(x)\n", 1)
    }),
    ("keys of one dictionary", 1000, |many| {
        let key = |at: usize| format!("d['k{at}'] = {at}\n");
        let text: String = (0..many).map(key).collect();
        around("a.py", SPAWNS, &text, "Popen('x', **d)\n", 1)
    }),
    ("open brackets", 10_000, |many| {
        let text = format!("x = {}1{}\n", "(".repeat(many), ")".repeat(many));
        one("a.py", "import os\nos.setsid()\n", &text, 1)
    }),
];

/// What starts programs, and what is found.
const SPAWNS: &str = "import os\nfrom subprocess import Popen\nos.setsid()\nx = d = {}\n";

/// A finding in Rust.
const FOUND_RUST: &str = "fn z() { unsafe { libc::setsid(); } }\n";

/// One file: a head, a part so many times, a tail; in Rust with a finding behind it.
fn around(name: &str, head: &str, part: &str, tail: &str, many: usize) -> Vec<(String, String)> {
    let rust = Path::new(name).extension().is_some_and(|own| own == "rs");
    let found = if rust { FOUND_RUST } else { "" };
    vec![(
        name.to_owned(),
        [head, &part.repeat(many), tail, found].concat(),
    )]
}

/// One file: a head, and a part so many times.
fn one(name: &str, head: &str, part: &str, many: usize) -> Vec<(String, String)> {
    vec![(name.to_owned(), [head, &part.repeat(many)].concat())]
}

fn main() {
    println!(
        "one, four and sixteen times as much, milliseconds, and the growth of the last step (4 is linear)"
    );
    for (name, unit, make) in GROWING {
        let mut row = String::new();
        let mut times = Vec::new();
        for many in [1, 4, 16].map(|times| times * unit) {
            let folder = written(make(many));
            let time = best(3, &[folder.path.as_os_str()]);
            let _ = write!(row, " {:8.1}", millis(time));
            times.push(millis(time));
        }
        let growth = times
            .get(2)
            .zip(times.get(1))
            .map_or(0.0, |(last, before)| last / before);
        println!("  {name:34} {unit:6}{row} {growth:6.2}");
    }
    println!("start, milliseconds");
    let three = written(
        (0..3)
            .map(|number| (format!("f{number}.py"), "import os\n".to_owned()))
            .collect(),
    );
    println!(
        "  {:34} {:8.1}",
        "three files",
        millis(best(30, &[three.path.as_os_str()]))
    );
    println!(
        "  {:34} {:8.1}",
        "--help",
        millis(best(30, &["--help".as_ref()]))
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A folder of files, gone at its end.
struct Folder {
    path: PathBuf,
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn written(files: Vec<(String, String)>) -> Folder {
    let name = format!("check-detached-spawns-bench-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&path);
    for (name, text) in files {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    Folder { path }
}

/// A run of this length is not repeated.
const LONG: Duration = Duration::from_secs(1);

/// The shortest of so many runs: what else the machine does only makes them longer.
fn best(runs: usize, arguments: &[&std::ffi::OsStr]) -> Duration {
    let once = || {
        let mut command = Command::new(LINTER);
        command
            .arg("--no-config")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().expect("the linter");
        assert!(
            matches!(status.code(), Some(0 | 1)),
            "it ended with {status}"
        );
        start.elapsed()
    };
    // What takes long is told well enough by one run.
    let first = once();
    let more = if first > LONG {
        0
    } else {
        runs.saturating_sub(1)
    };
    (0..more)
        .map(|_| once())
        .min()
        .map_or(first, |best| best.min(first))
}

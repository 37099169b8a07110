//! What `owned run` costs beside a bare run, and beside programs that keep a command in the foreground too:
//! tini and dumb-init pass signals on and reap, `systemd-run --scope` puts it into a control group.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each, one after the other in each round: what else the machine does meets all of them.
const ROUNDS: usize = 200;

/// A program that runs another, and what it took.
struct Runner {
    name: String,
    words: Vec<String>,
    times: Vec<Duration>,
}

/// Prints a row for each.
pub(crate) fn print(state: &super::State) {
    println!("a run of `true`, {ROUNDS} rounds, microseconds: p50, p99, ratio of p50");
    let mut runners = vec![runner("bare", &[])];
    for owned in owned() {
        let name = format!("owned run{}", build_of(&owned));
        runners.push(runner(&name, &[&owned, "run", "--"]));
    }
    for words in [
        &["tini", "-s", "--"][..],
        &["dumb-init"],
        &["systemd-run", "--scope", "--quiet", "--"],
        &["systemd-run", "--user", "--scope", "--quiet", "--"],
    ] {
        let name = words
            .iter()
            .take_while(|word| **word != "--" && **word != "-s");
        let name = name.copied().collect::<Vec<_>>().join(" ");
        match missing(words) {
            Some(why) => println!("  {name}: left out, {why}"),
            None => runners.push(runner(&name, words)),
        }
    }
    for round in 0..ROUNDS + 3 {
        for runner in &mut runners {
            let start = Instant::now();
            let status = state
                .command(&runner.words[0])
                .args(&runner.words[1..])
                .status();
            assert!(status.expect("a program").success(), "{}", runner.name);
            // The first rounds find nothing in any cache.
            if round >= 3 {
                runner.times.push(start.elapsed());
            }
        }
    }
    let mut base = None;
    for runner in runners {
        let (p50, p99) = super::figures(runner.times);
        let ratio = p50 / *base.get_or_insert(p50);
        println!("  {:32} {p50:9.0} {p99:9.0} {ratio:6.2}", runner.name);
    }
}

fn runner(name: &str, words: &[&str]) -> Runner {
    let words = words.iter().chain(&["/bin/true"]);
    Runner {
        name: name.to_owned(),
        words: words.map(|word| (*word).to_owned()).collect(),
        times: Vec::new(),
    }
}

/// The `owned` of this build, and another one that `NATIVE` names: a static one for example.
pub(crate) fn owned() -> Vec<String> {
    let own = super::OWN.to_owned();
    std::iter::once(own).chain(super::other_build()).collect()
}

/// Which of the builds it is.
pub(crate) fn build_of(owned: &str) -> &'static str {
    if owned == super::OWN {
        ""
    } else {
        " ($NATIVE)"
    }
}

/// Why a runner cannot be measured here; none if it can.
fn missing(words: &[&str]) -> Option<String> {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .arg("/bin/true")
        .stdin(Stdio::null());
    match command.output() {
        Err(error) => Some(format!("as it does not start ({error})")),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = said.trim().lines().last().unwrap_or_default().to_owned();
            Some(format!("as it fails: {last}"))
        }
        Ok(_) => None,
    }
}

/// Whether a program is on `PATH`.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

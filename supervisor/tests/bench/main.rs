//! `cargo bench -p spawn-owned`: what protection costs, as ratios in one run on one machine.
//!
//! Spawn: an owned child that ends at once, against a plain one. Death: from the kill of an owner to the
//! `SIGTERM` in its child, against the kernel's own signal at a parent's death. Then what a supervisor
//! needs while nothing happens, what its start and a line cost, how soon another knows all that one knew
//! which was killed, and what a look at every process costs. Then what `owned run` and tasks cost, beside
//! others that do such work and are here: tini, dumb-init, systemd-run, pueue.
//!
//! `-- spawns` runs that part alone, and so on: `spawns`, `deaths`, `idle`, `lines`, `replay`, `search`, `runs`,
//! `tasks`. `OWNER_MB=1024` is how much memory the large owner has, four times that of one which is killed;
//! `GROUPS=1000` how many groups are replayed, and end with one owner, and how many processes are searched.
//!
//! Beside a figure stands its goal, and whether it is kept. The goals of a start, of a line and of memory are those
//! of a static build, which `NATIVE` names to be measured too:
//!
//! ```text
//! rustup target add x86_64-unknown-linux-musl
//! cargo build --locked --release -p spawn-owned --target x86_64-unknown-linux-musl
//! NATIVE=target/x86_64-unknown-linux-musl/release/owned cargo bench --locked -p spawn-owned
//! ```
//!
//! Built with `RUSTFLAGS="-C relocation-model=static"` it has no addresses to fill in at its start, and a launcher
//! costs 0.05 of a plain spawn less; its code then lies at the same address in each process.
//!
//! What else the machine does weighs on medians, least with `chrt --fifo 10` before the last line.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::exit,
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "a program that measures, and fails where it stands"
)]

mod deaths;
mod idle;
mod lines;
mod members;
mod refused;
mod replay;
mod runs;
mod search;
mod spawns;
mod state;
mod tasks;

use std::path::Path;
use std::time::Duration;

use spawn_owned::Owner;

use self::state::State;

fn main() {
    spawn_owned::init();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("victim") => deaths::victim(arguments.get(2).is_some()),
        Some("owner") => deaths::own(&arguments[2], &arguments[3], &arguments[4]),
        Some("lives") => return lines::lives(&arguments[2..]),
        Some("launched") => return spawns::launched(),
        _ => {}
    }
    let parts = [
        "spawns", "deaths", "idle", "lines", "replay", "search", "runs", "tasks",
    ];
    let named: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let some = parts.iter().any(|part| named.contains(part));
    let wanted = |part: &str| !some || named.contains(&part);
    let tiers = tiers();
    if wanted("spawns") {
        spawns::print(&tiers, number("OWNER_MB", 1024));
    }
    if wanted("deaths") {
        deaths::print(&tiers, number("OWNER_MB", 1024) / 4);
        deaths::print_many(&tiers, number("GROUPS", 1000));
    }
    if wanted("idle") {
        idle::print(&tiers);
    }
    if wanted("lines") {
        lines::print(&tiers);
    }
    if wanted("replay") {
        replay::print(&tiers, number("GROUPS", 1000));
    }
    if wanted("search") {
        search::print(&State::new(), number("GROUPS", 1000));
    }
    if wanted("runs") {
        runs::print(&State::new());
    }
    if wanted("tasks") {
        tasks::print(&State::new());
    }
}

/// The shells that are here.
const SHELLS: [&str; 3] = ["/bin/dash", "/bin/bash", "/bin/busybox"];

/// The shells, the `owned` program, and other builds of it.
fn tiers() -> Vec<String> {
    let shells = SHELLS.iter().filter(|path| Path::new(path).exists());
    let mut tiers: Vec<String> = shells.map(|path| (*path).to_owned()).collect();
    tiers.push(OWN.to_owned());
    tiers.extend(other_build());
    tiers
}

/// The `owned` of this build.
const OWN: &str = env!("CARGO_BIN_EXE_owned");

/// Another one, that `NATIVE` names. Whole, as what is started may be in another folder.
fn other_build() -> Option<String> {
    let path = std::env::var("NATIVE").ok()?;
    // Cargo runs a bench in the folder of its package, and people name files from that of the workspace.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let whole = std::fs::canonicalize(&path).or_else(|_| above.join(&path).canonicalize());
    Some(whole.expect("$NATIVE").to_string_lossy().into_owned())
}

/// A number from the environment.
fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn build(tier: &str) -> Owner {
    let builder = Owner::builder().no_ledger();
    let builder = if SHELLS.contains(&tier) {
        builder.shell(tier)
    } else {
        builder.native(tier)
    };
    builder.build().expect("an owner")
}

/// The name of a tier: its file's.
fn name(tier: &str) -> &str {
    match tier.rsplit('/').next() {
        Some("owned") if tier != OWN => "owned ($NATIVE)",
        name => name.unwrap_or(tier),
    }
}

/// What stands behind a figure of `tier` that is to be at most `goal`: nothing for a shell.
fn beside(tier: &str, figure: f64, goal: f64) -> String {
    if SHELLS.contains(&tier) {
        return String::new();
    }
    let kept = if figure <= goal { "kept" } else { "missed" };
    format!("   goal {goal}: {kept}")
}

/// What is measured beside others, and how long it took each time.
struct Subject<'a> {
    name: String,
    goal: Option<f64>,
    once: Box<dyn FnMut() -> Duration + 'a>,
    times: Vec<Duration>,
}

impl<'a> Subject<'a> {
    fn new(name: &str, once: impl FnMut() -> Duration + 'a) -> Self {
        Self {
            name: name.to_owned(),
            goal: None,
            once: Box::new(once),
            times: Vec::new(),
        }
    }

    /// That its ratio is to be at most `goal`, if `tier` is native.
    fn with_goal(self, tier: &str, goal: f64) -> Self {
        let goal = (!SHELLS.contains(&tier)).then_some(goal);
        Self { goal, ..self }
    }
}

/// Measures all in turn, round for round, so that whatever else the machine does meets all of them, and
/// prints a row for each. The first is what the others are compared with. Returns the medians.
fn compare(mut subjects: Vec<Subject<'_>>, rounds: usize) -> Vec<f64> {
    for round in 0..rounds + 3 {
        for subject in &mut subjects {
            let time = (subject.once)();
            // The first rounds find nothing in any cache.
            if round >= 3 {
                subject.times.push(time);
            }
        }
    }
    let mut medians = Vec::new();
    for subject in subjects {
        let (p50, p99) = figures(subject.times);
        medians.push(p50);
        let ratio = p50 / medians[0];
        let goal = subject.goal.map(|goal| beside("", ratio, goal));
        let goal = goal.unwrap_or_default();
        println!(
            "  {:15} {p50:9.0} {p99:9.0} {ratio:6.2}{goal}",
            subject.name
        );
    }
    medians
}

/// The median and the 99th percentile, in microseconds.
fn figures(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e6;
    (at(50), at(99))
}

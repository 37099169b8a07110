//! The fixtures: what the linter says of each file under `fixtures/` is what its markers say, and
//! the markers agree with what was measured (`fixtures/truth.csv`).
use std::collections::BTreeMap;

use check_detached_spawns::report::{FileReport, Finding};
use check_detached_spawns::rules::Level;

use crate::markers::{self, Marker, Want};
use crate::run::{self, Fixture};

#[test]
fn findings_are_what_the_markers_say() {
    let fixtures = run::fixtures();
    let mut faults: Vec<String> = Vec::new();
    let mut wanted = 0;
    for fixture in &fixtures {
        let outcome = markers::read(&fixture.source())
            .map_err(|why| format!("{}:{why}", fixture.path))
            .and_then(|markers| {
                let report =
                    run::judge(fixture).map_err(|why| format!("{}: {why}", fixture.path))?;
                wanted += markers
                    .iter()
                    .filter(|marker| marker.want == Want::Finding)
                    .count();
                Ok(compare(fixture, &markers, &report))
            });
        match outcome {
            Ok(found) => faults.extend(found),
            Err(why) => faults.push(why),
        }
    }
    println!("fixtures: {} files, {wanted} findings", fixtures.len());
    assert!(
        faults.is_empty(),
        "{} differences\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Every difference between what the markers want and what was found, one a line.
fn compare(fixture: &Fixture, markers: &[Marker], report: &FileReport) -> Vec<String> {
    let path = &fixture.path;
    let mut faults = Vec::new();
    let clean = markers
        .iter()
        .any(|marker| marker.want == Want::Clean && marker.at == 1);
    if markers.is_empty() || (clean && markers.iter().any(|marker| marker.want == Want::Finding)) {
        faults.push(format!(
            "{path}: a fixture has markers, or the first line `~ clean`"
        ));
    }
    let mut found: BTreeMap<u32, Vec<(String, &str)>> = BTreeMap::new();
    for finding in &report.findings {
        found
            .entry(run::line(report, finding))
            .or_default()
            .push((run::text(finding), &finding.message));
    }
    for problem in &report.problems {
        let line = problem.position.map_or(1, |position| position.line);
        let text = run::describe(&[problem.id.name().to_owned()], false, false, true);
        found
            .entry(line)
            .or_default()
            .push((text, &problem.message));
    }
    for marker in markers
        .iter()
        .filter(|m| matches!(m.want, Want::Finding | Want::Problem))
    {
        let here = found.entry(marker.line).or_default();
        let says = marker.says.as_deref().unwrap_or_default();
        match here
            .iter()
            .position(|(text, said)| *text == marker.text() && said.contains(says))
        {
            Some(index) => drop(here.remove(index)),
            None => faults.push(format!("{path}:{}: wanted {}", marker.line, marker.text())),
        }
    }
    for marker in markers.iter().filter(|marker| marker.want == Want::Nothing) {
        let loud =
            |finding: &&Finding| run::line(report, finding) == marker.line && is_loud(finding);
        if let Some(finding) = report.findings.iter().find(loud) {
            faults.push(format!(
                "{path}:{}: wanted none, got {}",
                marker.line,
                run::text(finding)
            ));
        }
    }
    let rest = found
        .iter()
        .flat_map(|(line, here)| here.iter().map(move |(text, _)| (line, text)));
    faults.extend(rest.map(|(line, text)| format!("{path}:{line}: got {text}")));
    faults.sort_by_key(|fault| {
        fault
            .split(':')
            .nth(1)
            .and_then(|line| line.parse::<u32>().ok())
    });
    faults
}

/// Whether it is shown by default.
fn is_loud(finding: &Finding) -> bool {
    finding.rules.is_empty() || finding.rules.iter().any(|rule| rule.level > Level::Allow)
}

/// A row of the truth table: one idiom that was run.
#[derive(Debug)]
struct Row {
    id: String,
    rule: String,
    killpg: String,
    ran: String,
}

/// Ids of the table that are ids of ours under another name: forms that got an id of their own, or
/// that are told by another mechanism.
const RENAMED: &[(&str, &str, &str)] = &[
    (
        "py.popen.preexec_fork",
        "fork-orphan",
        "a fork in a hook leaves no group",
    ),
    (
        "py.os.openpty.popen_slave_ctty",
        "new-session",
        "the option says it, the terminal tethers it",
    ),
    (
        "sh.bash.disown",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
    (
        "sh.bash.disown_h",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
    (
        "sh.bash.disown_a",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
    (
        "sh.fish.disown",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
    (
        "sh.zsh.bg_disown",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
    (
        "sh.zsh.bg_pipe_disown",
        "shell-background",
        "a job that is disowned stays in the group",
    ),
];

/// Mechanisms that are only warned of, though a process may outlive the kill of the group. Openers
/// are one more: what they do depends on the desktop.
const WARNED: &[&str] = &["shell-timeout", "shell-remote", "pty-spawn"];

/// Rows whose verdict does not follow from the one measurement, and why.
const ARGUED: &[(&str, &str)] = &[
    (
        "py.popen.creationflags_getattr",
        "nothing on POSIX, where it ran; it detaches on Windows",
    ),
    (
        "py.getattr_os_P_DETACH",
        "nothing on POSIX, where it ran; it detaches on Windows",
    ),
    (
        "py.os.setpgid_join_group_of_parent",
        "it left and came back: order and failure matter",
    ),
    (
        "rs.libc.setsid.leader",
        "whether the caller leads its group is not written in the call",
    ),
    (
        "sh.busybox_timeout",
        "the command stays, but the watchdog leaves",
    ),
    (
        "sh.ssh_agent_cmd",
        "the command stays, but the agent leaves",
    ),
    (
        "sh.gpg_agent_daemon_cmd",
        "the command stays, but the agent leaves",
    ),
    (
        "sh.dbus_run_session_daemon",
        "the bus stays in the group, like the command",
    ),
    (
        "sh.xvfb_run_server",
        "the server stays in the group, like the command",
    ),
    (
        "sh.bash.i",
        "it passes the hangup on, and makes groups on a terminal only",
    ),
    (
        "sh.zsh.i",
        "it passes the hangup on, and makes groups on a terminal only",
    ),
];

#[test]
fn every_measured_row_is_judged_as_it_behaved() {
    let rows = truth();
    let named = named();
    let mut faults: Vec<String> = Vec::new();
    for (id, place, _) in &named {
        if !rows.iter().any(|row| row.id == *id) {
            faults.push(format!("{place}: no row `{id}` in the truth table"));
        }
    }
    let measured: Vec<&Row> = rows.iter().filter(|row| row.ran != "no").collect();
    let mut missing = Vec::new();
    for row in &measured {
        let mut own = named.iter().filter(|(id, ..)| *id == row.id).peekable();
        if own.peek().is_none() {
            missing.push(row.id.as_str());
        }
        for (_, place, marker) in own.filter(|(.., marker)| !agrees(row, marker)) {
            let Row {
                id, rule, killpg, ..
            } = row;
            faults.push(format!(
                "{place}: {id} is {rule} (outlives the kill: {killpg}), not {}",
                marker.text()
            ));
        }
    }
    let covered = measured.len() - missing.len();
    println!("truth: {covered}/{}", measured.len());
    if !missing.is_empty() {
        println!("in no fixture: {}", missing.join(" "));
    }
    assert!(
        faults.is_empty(),
        "{} differences\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(
        covered * 100 >= measured.len() * 98,
        "too few rows are in a fixture"
    );
}

/// Whether what a marker wants follows from what was measured.
fn agrees(row: &Row, marker: &Marker) -> bool {
    if row.ran == "error" || ARGUED.iter().any(|(id, _)| *id == row.id) {
        return true;
    }
    let renamed = RENAMED.iter().find(|(id, ..)| *id == row.id);
    let rule = renamed.map_or(row.rule.as_str(), |(_, rule, _)| rule);
    let has = |wanted: &str| marker.ids.iter().any(|id| id == wanted);
    match (row.killpg.as_str(), rule) {
        ("yes", _) => {
            let denied = marker.level() == Some(Level::Deny);
            let warned = !marker.may && WARNED.iter().any(|id| has(id));
            denied || warned || has("opener")
        }
        (_, "near-miss") => marker.want == Want::Nothing,
        _ => marker.level().is_some_and(|level| level < Level::Deny) && (marker.may || has(rule)),
    }
}

fn truth() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/truth.csv");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [id, _language, rule, killpg, _hangup, ran] = cells[..] else {
            panic!("truth.csv: six cells a line, not `{line}`");
        };
        let [id, rule, killpg, ran] = [id, rule, killpg, ran].map(str::to_owned);
        Row {
            id,
            rule,
            killpg,
            ran,
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// Every row that a marker names, with the marker's place.
fn named() -> Vec<(String, String, Marker)> {
    let mut found = Vec::new();
    for fixture in run::fixtures() {
        for marker in markers::read(&fixture.source()).unwrap_or_default() {
            let place = format!("{}:{}", fixture.path, marker.at);
            found.extend(
                marker
                    .rows
                    .iter()
                    .map(|row| (row.clone(), place.clone(), marker.clone())),
            );
        }
    }
    found
}

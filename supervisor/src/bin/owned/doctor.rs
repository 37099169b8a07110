//! `owned doctor` and `owned ledger`: what was started, and what was left behind.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde_json::{Value, json};
use spawn_owned::Error;
use spawn_owned::doctor::{self, Orphan, Whose};
use spawn_owned::tasks::Store;

use crate::{show, time};

#[derive(Args)]
pub(crate) struct Ledger {
    /// As JSON, one object a line, as they were written.
    #[arg(long)]
    json: bool,
}

impl Ledger {
    pub(crate) fn show(&self) -> Result<u8, Error> {
        let (rows, torn) = doctor::ledger_rows()?;
        for row in &rows {
            if self.json {
                show::print(&format!("{row}\n"));
            } else {
                show::print(&line(row));
            }
        }
        if torn > 0 {
            show::complain(&format!("{torn} lines are torn: their writers were killed"));
        }
        Ok(0)
    }
}

/// A row for people: when, what, who, whose, why.
fn line(row: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let child = row["child"]["pid"].as_i64().map(|pid| format!(" {pid}"));
    let what = ["purpose", "reason", "how", "program", "why"];
    let what: Vec<String> = what.iter().filter_map(|name| text(&row[*name])).collect();
    format!(
        "{} ago  {:9}{}  of {}  {}\n",
        time::seconds(now() - row["at"].as_f64().unwrap_or(0.0)),
        row["kind"].as_str().unwrap_or("?"),
        child.unwrap_or_default(),
        row["owner"]["pid"],
        what.join(", "),
    )
}

fn now() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// Writes what runs now to a file, to be compared with later.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "stop"])]
    snapshot: Option<PathBuf>,
    /// Shows what runs now and did not when this snapshot was taken.
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    /// Ends what is provably ours, and asks about the rest. Never by name or port.
    #[arg(long)]
    stop: bool,
    /// How long what is asked to end may take before it is killed.
    #[arg(long, value_name = "TIME", value_parser = time::length, default_value = "3s")]
    grace: Duration,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Looks, shows, and ends; the status is 1 if something was found that should not be there.
    pub(crate) fn look(&self) -> Result<u8, Error> {
        let failed = |tried| move |source| Error::System { tried, source };
        if let Some(path) = &self.snapshot {
            let text = format!("{}\n", doctor::snapshot());
            std::fs::write(path, text).map_err(failed("write the snapshot"))?;
            return Ok(0);
        }
        let store = Store::open()?;
        let found = match &self.diff {
            None => doctor::orphans(&store)?,
            Some(path) => {
                let text = std::fs::read(path).map_err(failed("read the snapshot"))?;
                let value = serde_json::from_slice(&text).unwrap_or_default();
                doctor::since(&store, &value)?
            }
        };
        if self.json {
            let values: Vec<Value> = found.iter().map(Orphan::value).collect();
            show::print(&format!("{}\n", json!(values)));
        } else {
            for orphan in &found {
                show::print(&describe(orphan));
            }
        }
        let ours = found
            .iter()
            .any(|orphan| matches!(orphan.whose, Whose::Ours { .. }));
        let unknown: Vec<&Orphan> = found
            .iter()
            .filter(|orphan| orphan.whose == Whose::Unknown)
            .collect();
        if !self.stop {
            return Ok(u8::from(
                ours || (self.diff.is_some() && !unknown.is_empty()),
            ));
        }
        let mut left = if ours {
            doctor::end_ours(self.grace)?
        } else {
            0
        };
        for orphan in unknown {
            if ask(orphan) && !doctor::end_one(orphan.who, self.grace)? {
                left += 1;
            }
        }
        if left > 0 {
            show::complain(&format!(
                "{left} processes live on although they were killed"
            ));
        }
        Ok(u8::from(left > 0))
    }
}

fn describe(orphan: &Orphan) -> String {
    let whose = match &orphan.whose {
        Whose::Ours { owner } => format!("left by {owner}, which is dead"),
        Whose::Declared { reason } => format!("declared: {reason}"),
        _ => format!("its starter is gone; now below {}", orphan.parent),
    };
    let mut holds = vec![time::size(orphan.memory)];
    holds.extend(orphan.ports.iter().map(|port| format!("port {port}")));
    holds.extend(orphan.devices.iter().cloned());
    let command: String = orphan.command.join(" ").chars().take(200).collect();
    format!(
        "{}  since {}  {}  {command}\n    {whose}; {}\n",
        orphan.who.pid,
        time::seconds(now() - orphan.since),
        holds.join(", "),
        orphan.cgroup,
    )
}

/// Asks whether a process that is not provably ours may be ended. Nobody there to ask: it may not.
fn ask(orphan: &Orphan) -> bool {
    let command = orphan.command.join(" ");
    if !std::io::stdin().is_terminal() {
        show::complain(&format!(
            "{} ({command}) is not provably ours: left alone",
            orphan.who.pid
        ));
        return false;
    }
    show::complain(&format!("end {} ({command})? [y/N]", orphan.who.pid));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

//! The subcommands that start tasks and ask of them.

use std::ffi::OsString;
use std::io::Read as _;
use std::time::Duration;

use serde_json::{Value, json};
use spawn_owned::tasks::{Followed, Record, Start, State, Store, Who};
use spawn_owned::{Command, Error};

use crate::orders::{Logs, Order, Starting, Waiting};
use crate::{attach, environment, show, time};

/// The status of a wait, or of a foreground run, whose task still runs.
const STILL_RUNS: u8 = 75;

/// Does what was ordered; the status to end with.
pub(crate) fn obey(order: Order) -> Result<u8, Error> {
    let store = Store::open()?;
    match order {
        Order::Start(starting) => starting.start(&store),
        Order::List { running, json } => {
            let mut records = store.list()?;
            records.retain(|record| !running || !record.state.is_final());
            show::list(&records, json);
            Ok(0)
        }
        Order::Show {
            task,
            screen: true,
            json,
        } => {
            let record = store.find(&task)?;
            let screen = show::screen(&store.tail_log(&record.id, 1 << 20)?.bytes);
            if json {
                show::print(&format!("{}\n", json!({"id": record.id, "screen": screen})));
            } else {
                show::print(&screen);
            }
            Ok(0)
        }
        Order::Show { task, json, .. } => {
            let record = store.find(&task)?;
            show::show(&store, &record, json)?;
            Ok(0)
        }
        Order::Logs(logs) => logs.print(&store),
        Order::Wait(waiting) => waiting.wait(&store),
        Order::Stop {
            tasks,
            all,
            owner,
            grace,
            json,
        } => {
            let ids = if all {
                all_of(&store, owner)?
            } else {
                found(&store, &tasks)?
            };
            Ok(stop(&store, &ids, grace, json))
        }
        Order::Send {
            task,
            text,
            raw,
            end,
            json,
        } => {
            let record = store.find(&task)?;
            store.send(&record.id, &input(text, raw)?, end)?;
            show::done(json, &record.id);
            Ok(0)
        }
        Order::Attach { task } => attach::attach(&store, &store.find(&task)?),
        Order::Adopt { name, owner, json } => adopt(&store, &name, owner, json),
        Order::Forget { tasks, json } => {
            for id in found(&store, &tasks)? {
                store.remove(&store.find(&id)?)?;
                show::done(json, &id);
            }
            Ok(0)
        }
    }
}

/// The owner that is meant.
pub(crate) fn owner(owner: Option<i32>) -> Result<Who, Error> {
    let gone = |text: String| Error::Task {
        task: "owner".to_owned(),
        fault: text,
    };
    if let Some(pid) = owner {
        let who = Who::now(pid).filter(|_| pid > 1);
        return who.ok_or_else(|| gone(format!("there is no process {pid}")));
    }
    if let Some(named) = environment::owner() {
        let (pid, start) = named.map_err(gone)?;
        let pid = i32::try_from(pid).unwrap_or(0);
        let who = Some(Who { pid, start }).filter(|who| who.lives());
        let fault = || gone(format!("OWNED_OWNER is `{pid}:{start}`: it has ended"));
        return who.ok_or_else(fault);
    }
    Who::caller().ok_or_else(|| gone("whoever called has ended".to_owned()))
}

/// Their ids, each once.
fn found(store: &Store, tasks: &[String]) -> Result<Vec<String>, Error> {
    let mut ids = Vec::new();
    for task in tasks {
        let id = store.find(task)?.id;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn all_of(store: &Store, pid: Option<i32>) -> Result<Vec<String>, Error> {
    store.of_owner(owner(pid)?)
}

fn stop(store: &Store, ids: &[String], grace: Option<Duration>, json: bool) -> u8 {
    let mut status = 0;
    for (id, stopped) in ids.iter().zip(store.stop(ids, grace)) {
        match stopped {
            Ok(record) => {
                store.take_notice(id, "a stop");
                show::ended(&record, json);
            }
            Err(error) => {
                show::complain(&error.to_string());
                status = 1;
            }
        }
    }
    status
}

fn adopt(store: &Store, name: &str, pid: Option<i32>, json: bool) -> Result<u8, Error> {
    let who = owner(pid)?;
    let mut status = 0;
    let all = store.list()?.into_iter();
    for record in all.filter(|record| record.recover.as_deref() == Some(name)) {
        if record.state.is_final() || record.owner.is_some_and(Who::lives) {
            continue;
        }
        match store.adopt(&record.id, who) {
            Ok(()) => show::done(json, &record.id),
            Err(error) => {
                show::complain(&error.to_string());
                status = 1;
            }
        }
    }
    Ok(status)
}

/// What is to be sent.
fn input(text: Option<OsString>, raw: bool) -> Result<Vec<u8>, Error> {
    use std::os::unix::ffi::OsStringExt as _;
    match text {
        None => Ok(Vec::new()),
        Some(text) if text == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|source| Error::System {
                tried: "read standard input",
                source,
            })?;
            Ok(bytes)
        }
        Some(text) => {
            let mut bytes = text.into_vec();
            bytes.extend((!raw).then_some(b'\n'));
            Ok(bytes)
        }
    }
}

impl Starting {
    fn start(self, store: &Store) -> Result<u8, Error> {
        let mut words = self.command.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        let mut start = Start::new(command)
            .grace(self.grace)
            .log_limit(self.log_limit);
        if let Some(limit) = self
            .timeout
            .map_or_else(environment::limit, |limit| Ok(Some(limit)))?
        {
            start = start.limit(limit);
        }
        if let Some(name) = self.name {
            start = start.name(name);
        }
        if let Some(notify) = self.notify {
            start = start.notify(notify);
        }
        for text in self.watch {
            start = start.watch(text);
        }
        if let Some(name) = self.recover {
            start = start.recover(name, self.patience);
        }
        if self.stdin {
            start = start.input();
        }
        if self.pty {
            let (rows, columns) = attach::size();
            start = start.terminal(rows, columns);
        }
        let persistent = self.persist.is_some();
        let who = if let Some(reason) = self.persist {
            start = start.persist(reason)?;
            Who::own()
        } else {
            owner(self.owner)?
        };
        let record = store.start(&start, who)?;
        if persistent {
            show::complain(&format!("task {} outlives its starter", record.id));
        } else {
            let program = who.program();
            show::complain(&format!(
                "task {} ends with process {} ({program})",
                record.id, who.pid
            ));
        }
        if self.json {
            show::print(&format!("{}\n", record.value()));
        } else {
            show::print(&format!("{}\n", record.id));
        }
        Ok(0)
    }
}

impl Logs {
    fn print(&self, store: &Store) -> Result<u8, Error> {
        let record = store.find(&self.task)?;
        let offset = match (self.lines, self.offset) {
            (Some(lines), _) => last_lines(store, &record, lines)?,
            (None, offset) => offset.unwrap_or(0),
        };
        let mut follow = store.follow(&record.id, offset);
        let limit = if self.follow {
            None
        } else {
            Some(Duration::ZERO)
        };
        loop {
            match follow.next(limit)? {
                Followed::Output(chunk) => {
                    let read_on = if self.json {
                        let text = String::from_utf8_lossy(&chunk.bytes);
                        let line = json!({"offset": chunk.offset, "text": text});
                        show::write(format!("{line}\n").as_bytes())
                    } else {
                        show::write(&chunk.bytes)
                    };
                    if !read_on {
                        return Ok(0);
                    }
                }
                _ => return Ok(0),
            }
        }
    }
}

/// Where the last lines of a log begin.
fn last_lines(store: &Store, record: &Record, lines: usize) -> Result<u64, Error> {
    let tail = store.tail_log(&record.id, record.log_limit)?;
    let body = tail.bytes.strip_suffix(b"\n").unwrap_or(&tail.bytes);
    let ends = body
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'\n');
    let before = lines
        .checked_sub(1)
        .and_then(|skipped| ends.map(|(at, _)| at + 1).nth(skipped));
    let at = if lines == 0 {
        tail.bytes.len()
    } else {
        before.unwrap_or(0)
    };
    Ok(tail.offset + at as u64)
}

impl Waiting {
    fn wait(&self, store: &Store) -> Result<u8, Error> {
        let ids = found(store, &self.tasks)?;
        let single = ids.len() == 1;
        let count = ids.len();
        let mut ended: Vec<Record> = Vec::new();
        let begun = std::time::Instant::now();
        let progress = show::Progress::new();
        let mut open = ids;
        let all = loop {
            let left = self
                .timeout
                .map(|limit| limit.saturating_sub(begun.elapsed()));
            // A person sees that it goes on.
            let turn = if progress.is_shown() {
                Some(left.unwrap_or(Duration::MAX).min(Duration::from_secs(1)))
            } else {
                left
            };
            let over = store.wait(&open, !self.any, turn, &mut |record| {
                progress.clear();
                store.take_notice(&record.id, "a wait");
                show::ended(&record, self.json);
                ended.push(record);
            })?;
            open.retain(|id| ended.iter().all(|record| record.id != *id));
            if over || open.is_empty() || (self.any && !ended.is_empty()) {
                break true;
            }
            if left.is_some_and(|left| left <= turn.unwrap_or_default()) {
                break false;
            }
            progress.show(open.len(), begun.elapsed());
        };
        progress.clear();
        if count > 1 && !self.json {
            show::summary(&ended, open.len());
        }
        Ok(match ended.as_slice() {
            _ if !all => STILL_RUNS,
            [one] if single || self.any => one.exit_status().unwrap_or(125),
            several => u8::from(
                several
                    .iter()
                    .any(|record| record.state != State::Completed),
            ),
        })
    }
}

/// Runs a command in the foreground, and lets it go on as a task after `after`.
pub(crate) fn run(mut start: Start, who: Who, after: Duration, json: bool) -> Result<u8, Error> {
    let store = Store::open()?;
    if let Some(limit) = environment::limit()? {
        start = start.limit(limit);
    }
    let tied = store.start_tied(&start, who)?;
    let id = tied.record.id.clone();
    let mut follow = store.follow(&id, 0);
    let end = std::time::Instant::now() + after.min(time::LONGEST);
    loop {
        let left = end.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() && !store.find(&id)?.state.is_final() {
            tied.release()?;
            if json {
                show::complain_as_json(&store.find(&id)?);
                return Ok(STILL_RUNS);
            }
            let length = time::seconds(after.as_secs_f64());
            show::complain(&format!("it runs on after {length}, as task {id}"));
            return Ok(STILL_RUNS);
        }
        match follow.next(Some(left))? {
            Followed::Output(chunk) => {
                // The command goes on, as it does where nobody reads a log.
                show::write(&chunk.bytes);
            }
            Followed::Ended(record) => {
                store.take_notice(&id, "the run");
                if let Some(why) = &record.why {
                    show::complain(why);
                }
                // Not before nothing of it is left: then the handle may go.
                drop(store.stop(&[id], None));
                drop(tied);
                return Ok(record.exit_status().unwrap_or(125));
            }
            _ => {}
        }
    }
}

/// A line of JSON for what was done.
pub(crate) fn ok(id: &str) -> Value {
    json!({"id": id, "ok": true})
}

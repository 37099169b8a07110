//! The watcher: one thread that sleeps until the supervisor ends, or there is nothing left to protect.

use std::os::fd::AsFd as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, tried};
use crate::reap;
use crate::shared::{Shared, State, reap_others};
use crate::sys::{self, Lifeline, Peek, Pid};

/// A supervisor that exits by itself sooner than this is broken, and another would be too.
const STILLBORN: Duration = Duration::from_secs(5);
/// At most so many are started again in [`WINDOW`].
const RESTARTS: usize = 5;
const WINDOW: Duration = Duration::from_secs(10);
/// How often groups are looked at that are handed back once they are empty, and all processes for what
/// children left that are over.
const LOOK: Duration = Duration::from_millis(500);

/// Starts the watcher of an owner. It never runs a signal handler of the program.
pub(crate) fn start(shared: Arc<Shared>) -> Result<(), Error> {
    let _none_here = sys::BlockedSignals::all();
    let thread = std::thread::Builder::new().name("lifeline".to_owned());
    let thread = thread.stack_size(128 * 1024);
    thread
        .spawn(move || {
            // The lifeline is closed when the last thread of a killed program has had its turn.
            sys::give_short_turns(0);
            while step(&shared) {}
        })
        .map_err(tried("start a thread that watches the supervisor"))?;
    Ok(())
}

/// Waits for one thing and sees to it; false when there is nothing more to watch.
fn step(shared: &Arc<Shared>) -> bool {
    let (line, limit) = {
        let mut state = shared.lock();
        reap_others(&mut state);
        hand_back_empty(shared, &mut state);
        let Some(link) = &state.link else {
            state.watched = false;
            drop(state);
            shared.end_strays();
            return false;
        };
        if state.closing {
            let supervisor = link.supervisor;
            state.link = None;
            drop(state);
            await_end(supervisor, shared.config.grace + Duration::from_secs(10));
            return false;
        }
        (Arc::clone(&link.line), limit(shared, &state))
    };
    let Ok((ended, woken)) = wait(shared, &line, limit) else {
        return true;
    };
    drop(line);
    if woken {
        drain(shared);
    }
    if strays_are_due(&shared.lock()) {
        shared.end_strays();
    }
    if ended {
        replace(shared, &mut shared.lock());
    } else if !woken {
        stop_if_idle(shared);
    }
    true
}

fn wait(
    shared: &Shared,
    line: &Lifeline,
    limit: Option<Duration>,
) -> std::io::Result<(bool, bool)> {
    sys::poll_pair(line.fd(), Some(shared.wake.0.as_fd()), limit)
}

fn drain(shared: &Shared) {
    use std::io::Read as _;
    // One mark is read for one that was written; the next look finds the others.
    if let Ok(copy) = shared.wake.0.try_clone() {
        let _ = std::fs::File::from(copy).read(&mut [0; 64]);
    }
}

/// Whether what children left that are over has been waited for.
fn strays_are_due(state: &State) -> bool {
    !state.over.is_empty() && state.over_since.elapsed() >= LOOK
}

/// When to look again although nothing happens; none while there is something to protect.
fn limit(shared: &Shared, state: &State) -> Option<Duration> {
    if !state.over.is_empty() {
        return Some(LOOK.saturating_sub(state.over_since.elapsed()));
    }
    if state.groups.is_empty() {
        let idle = state.empty_since.elapsed();
        return Some(shared.config.idle.saturating_sub(idle));
    }
    let look = state.groups.values().any(|covered| covered.until_empty);
    (look || !state.unreaped.is_empty()).then_some(LOOK)
}

/// Hands back what waits for its group to be empty.
fn hand_back_empty(shared: &Shared, state: &mut State) {
    let waiting = state
        .groups
        .iter()
        .filter(|(_, covered)| covered.until_empty);
    let empty: Vec<Pid> = waiting
        .map(|(pid, _)| *pid)
        .filter(|pid| !reap::group_lives(*pid))
        .collect();
    for pid in empty {
        if let Some(covered) = state.groups.remove(&pid) {
            let line = format!("- {pid} {}\n", covered.start);
            if let Some(link) = &state.link {
                link.tell(&line, Duration::ZERO);
            }
            shared.ledger.released(pid.get(), covered.start, "empty");
        }
        state.empty_since = Instant::now();
    }
}

/// The supervisor is gone: starts another, or says that there is none.
pub(crate) fn replace(shared: &Shared, state: &mut State) {
    let Some(link) = state.link.take() else {
        return;
    };
    let (supervisor, since) = (link.supervisor, link.since);
    // A process has so many lifelines at most: the new one takes the place of this one.
    drop(link);
    let status = await_end(supervisor, Duration::from_secs(1));
    let lived = since.elapsed();
    if let Some(code) = status.and_then(|status| status.code())
        && lived < STILLBORN
    {
        let path = shared.helper.path.display();
        give_up(
            shared,
            state,
            format!(
                "the supervisor `{path}` exited by itself with status {code}, {} ms after its start; it is not started again",
                lived.as_millis()
            ),
        );
        return;
    }
    let now = Instant::now();
    state.restarts.retain(|at| now.duration_since(*at) < WINDOW);
    if state.restarts.len() >= RESTARTS {
        give_up(
            shared,
            state,
            format!(
                "the supervisor was killed {} times in {} seconds",
                RESTARTS + 1,
                WINDOW.as_secs()
            ),
        );
        return;
    }
    state.restarts.push_back(now);
    match shared.start_supervisor(state) {
        Ok(()) => state.restarted += 1,
        Err(error) => give_up(shared, state, error.to_string()),
    }
}

fn give_up(shared: &Shared, state: &mut State, why: String) {
    shared.ledger.unprotected(&why);
    state.unprotected = Some((why, Instant::now()));
}

/// Reaps a supervisor; ends one that does not end within `limit`. None if its status is lost.
fn await_end(supervisor: Pid, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    let handle = sys::open_process(supervisor.get()).ok();
    loop {
        match sys::peek(supervisor, false) {
            Ok(Peek::Alive) => {}
            Ok(Peek::Ended) => return sys::reap(supervisor).ok().flatten(),
            _ => return None,
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let _ = sys::signal_process(supervisor, libc::SIGKILL);
            let _ = sys::peek(supervisor, true);
            return sys::reap(supervisor).ok().flatten();
        }
        // Without a descriptor of the process to wait on, look again soon.
        let pause = if handle.is_some() {
            left
        } else {
            left.min(Duration::from_millis(5))
        };
        let _ = sys::poll_one(handle.as_ref().map(std::os::fd::AsFd::as_fd), Some(pause));
    }
}

/// Lets the supervisor go when nothing was covered for long enough and nothing carries our mark.
/// Under the lock that covers, so that nothing is covered meanwhile.
fn stop_if_idle(shared: &Shared) {
    if !is_idle(shared, &shared.lock()) {
        return;
    }
    let marked = shared.marked(None);
    // Looked at twice: what is just becoming another program shows no mark for a moment.
    let seen = reap::any_marked(&marked);
    let _ = sys::poll_one(None, Some(Duration::from_millis(50)));
    let mut state = shared.lock();
    if !is_idle(shared, &state) {
        return;
    }
    if seen || reap::any_marked(&marked) {
        state.empty_since = Instant::now();
        return;
    }
    let Some(link) = state.link.take() else {
        return;
    };
    link.tell(".\n", Duration::ZERO);
    let supervisor = link.supervisor;
    drop(link);
    await_end(supervisor, Duration::from_secs(2));
}

/// Whether nothing has been covered for long enough.
fn is_idle(shared: &Shared, state: &State) -> bool {
    state.groups.is_empty() && state.empty_since.elapsed() >= shared.config.idle
}

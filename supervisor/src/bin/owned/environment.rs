//! What the caller says in variables of the environment.

use std::time::Duration;

use spawn_owned::Error;

use crate::time;

/// `OWNED_OWNER`: number and start of the process whose end ends the command; none if it is not set.
pub(crate) fn owner() -> Option<Result<(u32, u64), String>> {
    let text = variable("OWNED_OWNER")?;
    let parsed = text
        .split_once(':')
        .and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)));
    Some(parsed.ok_or_else(|| {
        format!("OWNED_OWNER is `{text}`: it must be PID:START of a process that lives")
    }))
}

/// `OWNED_TIMEOUT`: how long tasks may run if nobody says otherwise.
pub(crate) fn limit() -> Result<Option<Duration>, Error> {
    let limit = variable("OWNED_TIMEOUT").map(|text| time::length(&text));
    limit.transpose().map_err(|fault| Error::Task {
        task: "OWNED_TIMEOUT".to_owned(),
        fault,
    })
}

/// A variable as text. What is none in it is shown as such, and never makes it one that is not set.
fn variable(name: &str) -> Option<String> {
    Some(std::env::var_os(name)?.to_string_lossy().into_owned())
}

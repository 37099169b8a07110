//! Switches that turn one mechanism off, so that a test can show that its own test notices.
//!
//! They exist in debug builds only: `SPAWN_OWNED_SABOTAGE=cookie,replay` in the environment.

/// Whether the mechanism of this name is turned off.
#[cfg(debug_assertions)]
pub(crate) fn sabotaged(mechanism: &str) -> bool {
    static OFF: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let off = OFF.get_or_init(|| std::env::var("SPAWN_OWNED_SABOTAGE").unwrap_or_default());
    off.split(',').any(|name| name == mechanism)
}

/// Nothing is turned off in a release build.
#[cfg(not(debug_assertions))]
pub(crate) const fn sabotaged(_mechanism: &str) -> bool {
    false
}

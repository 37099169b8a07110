//! Whether a run met what a configuration speaks of. What it says of nothing is stale, as a comment is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A mark that files on any thread may set, and that nothing takes away. Copies are the same mark.
#[derive(Clone, Debug, Default)]
pub struct Met(Arc<AtomicBool>);

impl Met {
    /// Says that it was met.
    pub fn mark(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was.
    pub fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was met says nothing of what is written: it makes no difference between two entries.
impl PartialEq for Met {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Met {}

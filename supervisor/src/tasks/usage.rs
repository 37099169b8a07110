//! What a task uses: processes, memory, time.

use super::record::Record;
use crate::process;

/// What a task uses, as
/// [proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html) says of its processes.
///
/// ```
/// use spawn_owned::tasks::Usage;
///
/// fn show(usage: &Usage) -> String {
///     format!("{} processes, {} MB, {:.1} s", usage.processes, usage.memory >> 20, usage.cpu)
/// }
/// assert_eq!(show(&Usage::default()), "0 processes, 0 MB, 0.0 s");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// How many processes it has.
    pub processes: usize,
    /// Their memory in bytes: the sum of their resident sets, where what is shared counts for each.
    pub memory: u64,
    /// Their time on processors, in seconds.
    pub cpu: f64,
}

impl Record {
    /// What the task uses now; nothing once it has ended.
    ///
    /// ```no_run
    /// # let store = spawn_owned::tasks::Store::open()?;
    /// for task in store.list()? {
    ///     if task.usage().memory > 2 << 30 {
    ///         println!("{} has more than 2 GB", task.id);
    ///     }
    /// }
    /// # Ok::<(), spawn_owned::Error>(())
    /// ```
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let Some(keeper) = self
            .keeper
            .filter(|keeper| self.is_kept() && keeper.pid > 1)
        else {
            return usage;
        };
        for pid in process::below(keeper.pid, &[]) {
            // The keeper's own supervisor.
            if process::command_line(pid)
                .first()
                .is_some_and(|name| name == crate::link::NATIVE)
            {
                continue;
            }
            if let Some((memory, cpu)) = process::usage(pid) {
                usage.processes += 1;
                usage.memory += memory;
                usage.cpu += cpu;
            }
        }
        usage
    }
}

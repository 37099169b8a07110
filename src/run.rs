//! The run: files through the linter on several threads, one report out of it.

use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::check::check_inside;
use crate::config::Rules;
use crate::decode::decode;
use crate::filter::Filter;
use crate::notebook::{self, Notebook, is_notebook};
use crate::policy::Policy;
use crate::report::{Date, FileReport, Problem, ProblemId, Report, summary};
use crate::source::Source;
use crate::walk::{Content, Input, reason};

/// Parsers recurse over deep input; the memory is only taken where it is touched.
const STACK: usize = 256 << 20;

/// How much memory a thread keeps for the next file, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// What a run depends on besides its files.
#[derive(Clone, Debug)]
pub struct Options {
    /// The day on which justifications must hold.
    pub today: Date,
    /// Number of threads; as many as the machine has, if none is given.
    pub jobs: Option<NonZeroUsize>,
    /// Whether files that no rule can match are dropped unread.
    pub prefilter: bool,
}

/// A report, and whether the run itself went well.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was found.
    pub report: Report,
    /// A fault of ours: a panic, or no thread to run on.
    pub failed: bool,
}

impl Outcome {
    /// Adds what another thread found.
    fn add(&mut self, own: Self) {
        self.report.scanned += own.report.scanned;
        self.report.files.extend(own.report.files);
        self.report.problems.extend(own.report.problems);
        self.failed |= own.failed;
    }
}

/// Reads and judges `inputs`. The same inputs give the same report, whatever the number of threads.
pub fn run(inputs: &[Input], problems: Vec<Problem>, options: &Options) -> Outcome {
    let filter = if options.prefilter {
        Filter::new(policies(inputs).into_iter())
    } else {
        Filter::open()
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Outcome::default();
        let mut buffer = Vec::new();
        while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Most say nothing: kept one by one they would take more memory than any file does.
            judge(input, &filter, options, &mut buffer).add_to(&mut own);
        }
        own
    };
    let mut outcome = Outcome::default();
    outcome.report.seen = inputs.len();
    outcome.report.problems = problems;
    thread::scope(|scope| {
        let start = |_| {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work)
        };
        let threads: Vec<_> = (0..count(inputs.len(), options.jobs)).map(start).collect();
        let mut started = false;
        let mut refused = None;
        for thread in threads {
            match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(own)) => {
                    started = true;
                    outcome.add(own);
                }
                Ok(Err(_)) => outcome.failed = true,
                Err(error) => refused = Some(error),
            }
        }
        if let (false, Some(error)) = (started, refused) {
            outcome.failed = true;
            let message = format!(
                "nothing was read, no thread could be started: {}",
                reason(&error)
            );
            outcome.report.problems.push(unreadable(".", message));
        }
    });
    sort(&mut outcome.report);
    outcome
}

/// The policies that hold for some input, each once.
fn policies(inputs: &[Input]) -> Vec<&Policy> {
    let mut all: Vec<&Policy> = Vec::new();
    for input in inputs {
        let own = &*input.rules.config.policy;
        // Neighbours mostly share one; few runs see more than a handful.
        if !all.iter().rev().any(|known| std::ptr::eq(*known, own)) {
            all.push(own);
        }
    }
    all
}

fn count(files: usize, jobs: Option<NonZeroUsize>) -> usize {
    let jobs = jobs
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    jobs.min(files)
}

fn sort(report: &mut Report) {
    report
        .files
        .sort_by(|a, b| a.source.path.cmp(&b.source.path));
    report
        .problems
        .sort_by(|a, b| (&a.path, a.id, &a.message).cmp(&(&b.path, b.id, &b.message)));
    report.problems.dedup();
}

/// What became of one file.
#[derive(Default)]
struct Judged {
    scanned: bool,
    failed: bool,
    file: Option<FileReport>,
    problem: Option<Problem>,
}

impl Judged {
    fn add_to(self, outcome: &mut Outcome) {
        outcome.report.scanned += usize::from(self.scanned);
        outcome.report.files.extend(self.file);
        outcome.report.problems.extend(self.problem);
        outcome.failed |= self.failed;
    }
}

/// Judges one file; what is on disk is read into `buffer`, so that most files cost no new memory.
fn judge(input: &Input, filter: &Filter, options: &Options, buffer: &mut Vec<u8>) -> Judged {
    let bytes = match &input.content {
        Content::Bytes(bytes) => bytes.as_slice(),
        Content::Text(text) => text.as_bytes(),
        Content::Disk => match read(&input.path, buffer) {
            Ok(()) => buffer.as_slice(),
            Err(error) => {
                let problem =
                    unreadable(&input.shown, format!("cannot be read: {}", reason(&error)));
                return Judged {
                    problem: Some(problem),
                    ..Judged::default()
                };
            }
        },
    };
    let notebook = match is_notebook(&input.path).then(|| cells(input, bytes)) {
        Some(Ok(Some(notebook))) => Some(notebook),
        Some(Ok(None)) => return Judged::default(),
        Some(Err(problem)) => {
            return Judged {
                problem: Some(problem),
                ..Judged::default()
            };
        }
        None => None,
    };
    let wanted = match &notebook {
        Some(notebook) if !notebook.shell.is_empty() => true,
        Some(notebook) => filter.wants(input.language, notebook.code.as_bytes()),
        None => filter.wants(input.language, bytes),
    };
    if !wanted {
        return Judged::default();
    }
    let check = || match notebook {
        Some(notebook) => {
            let source = Source::of_notebook(input.shown.clone(), notebook);
            judged(source, input, options)
        }
        None => read_and_check(input, bytes, options),
    };
    // A fault of ours in one file must not hide what was found in the others.
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(file) => {
            let said = !file.findings.is_empty() || !file.problems.is_empty();
            Judged {
                scanned: true,
                file: said.then_some(file),
                ..Judged::default()
            }
        }
        Err(panic) => {
            let what = panic.downcast_ref::<&str>().copied();
            let what = what
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            let message =
                format!("internal error, this file was not judged; please report it: {what}");
            Judged {
                failed: true,
                problem: Some(unreadable(&input.shown, message)),
                ..Judged::default()
            }
        }
    }
}

/// Reads a file into `buffer`, in place of what is there.
fn read(path: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    // A large file must not stay in memory for the sake of the small ones after it.
    buffer.shrink_to(MAX_KEPT);
    File::open(path)?.read_to_end(buffer)?;
    Ok(())
}

fn read_and_check(input: &Input, bytes: &[u8], options: &Options) -> FileReport {
    let (text, fault) = match &input.content {
        Content::Text(text) => (text.clone(), None),
        Content::Disk | Content::Bytes(_) => {
            let decoded = decode(input.language, bytes);
            (decoded.text, decoded.fault)
        }
    };
    let source = Source::new(input.shown.clone(), input.language, text);
    let mut file = judged(source, input, options);
    if let Some((offset, message)) = fault {
        // Offsets are of the bytes; up to a fault the text has the same ones, or a longer text.
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let position = Some(file.source.position(offset));
        let path = input.shown.clone();
        file.problems.push(Problem {
            id: ProblemId::UndecodableFile,
            path,
            position,
            message,
        });
        file.problems
            .sort_by_key(|problem| (problem.position, problem.id));
    }
    file
}

/// The code of a notebook's cells; none if they are in another language.
fn cells(input: &Input, bytes: &[u8]) -> Result<Option<Notebook>, Problem> {
    let problem = |id, position, message| Problem {
        id,
        path: input.shown.clone(),
        position,
        message,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let why = format!("a notebook that is no UTF-8: {error}");
        problem(ProblemId::UndecodableFile, None, why)
    })?;
    notebook::read(text)
        .map_err(|fault| problem(ProblemId::UnparsedFile, Some(fault.at), fault.why))
}

/// Judges the text of an input.
fn judged(source: Source, input: &Input, options: &Options) -> FileReport {
    check_shown(source, &input.path, &input.rules, options.today)
}

/// Judges one text by the rules of its file, which lies at `path`, on the stack of the caller; what is
/// in no output is not in the result.
pub fn check_shown(source: Source, path: &Path, rules: &Rules, today: Date) -> FileReport {
    let mut file = check_inside(source, &rules.config.policy, today, &rules.inside(path));
    path.clone_into(&mut file.file);
    file.findings.retain(summary::is_shown);
    file
}

/// Runs `work` on a stack as large as judging a file needs. A panic in it is an error.
///
/// # Errors
///
/// Says that it is a fault of ours.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let thread = thread
            .spawn_scoped(scope, work)
            .map_err(|error| format!("no thread could be started: {}", reason(&error)))?;
        thread
            .join()
            .map_err(|_| "internal error; please report it".to_owned())
    })
}

fn unreadable(path: &str, message: String) -> Problem {
    Problem {
        id: ProblemId::UnreadablePath,
        path: path.to_owned(),
        position: None,
        message,
    }
}

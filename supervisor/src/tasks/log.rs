//! A task's output on disk: whole up to a limit, then its end, in files named by where they begin.
//!
//! `output.00000000000000000000` holds the first bytes, the next file begins at the number in its name.
//! An offset so means the same byte for ever, the oldest file can go without a word to any reader, and
//! `cat output.*` shows everything.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Into so many files a full log is divided: what goes at once is this part of it.
const PARTS: u64 = 8;
/// The smallest log that makes sense, in bytes.
pub(crate) const SMALLEST: u64 = 64 * 1024;

fn path(folder: &Path, start: u64) -> PathBuf {
    folder.join(format!("output.{start:020}"))
}

/// The one who writes a log.
pub(crate) struct Writer {
    folder: PathBuf,
    file: Option<File>,
    /// Where the files begin, the oldest first.
    parts: VecDeque<u64>,
    /// Where the next byte goes.
    pub(crate) end: u64,
    limit: u64,
    /// What the disk said to the last write that failed.
    pub(crate) fault: Option<String>,
}

impl Writer {
    pub(crate) fn new(folder: &Path, limit: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            file: None,
            parts: VecDeque::new(),
            end: 0,
            limit: limit.max(SMALLEST),
            fault: None,
        }
    }

    /// Adds output. What a full disk does not take is missing in the log, but not in the count.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let written = self.part().and_then(|file| file.write_all(bytes));
        if let Err(error) = written {
            // The next file begins where the next bytes do, so that no offset is wrong.
            self.file = None;
            self.drop_empty();
            self.fault = Some(format!("its log cannot be written: {error}"));
        }
        self.end += bytes.len() as u64;
    }

    /// The files are gone: what comes next has one of its own, which begins where it does.
    pub(crate) fn begin_again(&mut self) {
        self.file = None;
        self.parts.clear();
    }

    /// Removes the last file if nothing is in it: a disk stays full for long, and there would be one for
    /// each piece that it did not take.
    fn drop_empty(&mut self) {
        let Some(last) = self.parts.back().map(|start| path(&self.folder, *start)) else {
            return;
        };
        if last.metadata().is_ok_and(|data| data.len() == 0) && fs::remove_file(last).is_ok() {
            self.parts.pop_back();
        }
    }

    /// The file for the next bytes.
    fn part(&mut self) -> io::Result<&mut File> {
        let size = self.limit / PARTS;
        let full = self
            .parts
            .back()
            .is_none_or(|start| self.end - start >= size);
        if full {
            self.file = None;
        }
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            options.create(true).append(true).mode(0o600);
            self.file = Some(options.open(path(&self.folder, self.end))?);
            self.parts.push_back(self.end);
            while self
                .parts
                .get(1)
                .is_some_and(|next| self.end - next >= self.limit - size)
            {
                if let Some(oldest) = self.parts.pop_front() {
                    let _ = fs::remove_file(path(&self.folder, oldest));
                }
            }
        }
        self.file
            .as_mut()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// A part of a log.
///
/// ```no_run
/// let store = spawn_owned::tasks::Store::open()?;
/// let chunk = store.read_log("1f2e3d4c", 0, 4096)?;
/// if chunk.offset > 0 {
///     println!("the first {} bytes are not kept any more", chunk.offset);
/// }
/// # Ok::<(), spawn_owned::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Where it begins: later than asked for if that is not kept any more.
    pub offset: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Where the files of a log begin and how long they are, the oldest first.
fn parts(folder: &Path) -> io::Result<Vec<(u64, u64)>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let start = name.to_str().and_then(|name| name.strip_prefix("output."));
        if let Some(start) = start.and_then(|start| start.parse().ok()) {
            // Removed since: then it is no part any more.
            let Ok(data) = entry.metadata() else { continue };
            parts.push((start, data.len()));
        }
    }
    parts.sort_unstable();
    Ok(parts)
}

/// Where the log in a task's folder ends: how many bytes the task has said.
pub(crate) fn end(folder: &Path) -> io::Result<u64> {
    Ok(parts(folder)?
        .last()
        .map_or(0, |(start, length)| start + length))
}

/// At most `most` bytes from `offset` on; none at the end.
pub(crate) fn read(folder: &Path, offset: u64, most: usize) -> io::Result<Chunk> {
    // A file that is removed while it is read for is looked for again.
    for _ in 0..10 {
        let parts = parts(folder)?;
        let holds = |(start, length): &&(u64, u64)| start + length > offset;
        let Some((start, _)) = parts.iter().find(holds) else {
            return Ok(Chunk {
                offset,
                bytes: Vec::new(),
            });
        };
        let mut file = match File::open(path(folder, *start)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        let offset = offset.max(*start);
        file.seek(io::SeekFrom::Start(offset - start))?;
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes)?;
        return Ok(Chunk { offset, bytes });
    }
    Err(io::Error::other("it is written faster than it can be read"))
}

/// The last bytes, at most `most` of them.
pub(crate) fn tail(folder: &Path, most: u64) -> io::Result<Chunk> {
    let mut tail = Chunk {
        offset: end(folder)?.saturating_sub(most),
        bytes: Vec::new(),
    };
    let mut first = true;
    loop {
        let left = most.saturating_sub(tail.bytes.len() as u64);
        let next = tail.offset + tail.bytes.len() as u64;
        let chunk = read(folder, next, usize::try_from(left).unwrap_or(usize::MAX))?;
        if first {
            tail.offset = chunk.offset;
            first = false;
        }
        if chunk.bytes.is_empty() || left == 0 {
            return Ok(tail);
        }
        tail.bytes.extend(chunk.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("owned-log-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn offsets_stay_when_the_oldest_goes() {
        let folder = Temporary::new("offsets");
        let mut log = Writer::new(&folder.0, SMALLEST);
        let mut all = Vec::new();
        for number in 0..40_000_u32 {
            let line = format!("{number}\n");
            log.append(line.as_bytes());
            all.extend_from_slice(line.as_bytes());
        }
        assert_eq!(log.end, all.len() as u64);
        assert_eq!(end(&folder.0).unwrap(), log.end);
        let kept: u64 = parts(&folder.0)
            .unwrap()
            .iter()
            .map(|(_, length)| length)
            .sum();
        assert!(
            (SMALLEST / 2..=SMALLEST + SMALLEST / PARTS).contains(&kept),
            "{kept}"
        );
        let first = read(&folder.0, 0, 100).unwrap();
        assert!(first.offset > 0);
        let at = usize::try_from(first.offset).unwrap();
        assert_eq!(first.bytes, all[at..at + 100]);
        let last = tail(&folder.0, 20_000).unwrap();
        assert_eq!(last.bytes, all[all.len() - 20_000..]);
        assert_eq!(last.offset, log.end - 20_000);
        assert_eq!(read(&folder.0, log.end, 100).unwrap().bytes, b"");
    }

    #[test]
    fn a_short_log_is_whole() {
        let folder = Temporary::new("short");
        assert_eq!(tail(&folder.0, 10).unwrap(), Chunk::default());
        let mut log = Writer::new(&folder.0, SMALLEST);
        log.append(b"one\n");
        log.append(b"two\n");
        assert_eq!(read(&folder.0, 0, 100).unwrap().bytes, b"one\ntwo\n");
        assert_eq!(tail(&folder.0, 100).unwrap().bytes, b"one\ntwo\n");
        assert_eq!(
            tail(&folder.0, 4).unwrap(),
            Chunk {
                offset: 4,
                bytes: b"two\n".to_vec()
            }
        );
    }
}

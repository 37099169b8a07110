//! Long runs of lines that hold no code: both parsers look through all of such a run again for each
//! comment in it, so they are given a copy in which it is one blank line.

use super::literals::ends::{end, is_format};
use crate::source::Span;

/// Shorter runs cost nothing that is worth a copy.
const LONGEST: usize = 512;

/// A copy of `text` of the same length without such runs, and the comments that stood in them; none
/// if there is no such run.
pub(super) fn blank(text: &str) -> Option<(String, Vec<Span>)> {
    // Lines inside of literals count here too: few files have as many of either.
    if longest(text) <= LONGEST {
        return None;
    }
    let mut pass = Pass {
        code: text.as_bytes().to_vec(),
        comments: Vec::new(),
        run: Vec::new(),
    };
    let mut at = 0;
    while at < pass.code.len() {
        at = if let Some(line) = pass.empty(at) {
            pass.run.push(line);
            line.end as usize + 1
        } else {
            pass.fill();
            pass.code_from(at)
        };
    }
    pass.fill();
    let code = String::from_utf8(pass.code).ok()?;
    Some((code, pass.comments))
}

/// How many lines in a row hold nothing, or a comment.
fn longest(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for line in text.split(['\n', '\r']) {
        let line = line.trim_start_matches([' ', '\t', '\u{c}']);
        run = if line.is_empty() || line.starts_with('#') {
            run + 1
        } else {
            0
        };
        longest = longest.max(run);
    }
    longest
}

struct Pass {
    code: Vec<u8>,
    comments: Vec<Span>,
    /// The lines of the run that goes on, without their breaks.
    run: Vec<Span>,
}

impl Pass {
    /// The line that starts at `start`, without its break, if it holds no code.
    fn empty(&self, start: usize) -> Option<Span> {
        let rest = self.code.get(start..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| b" \t\x0c".contains(byte));
        let blanks = blanks.count();
        match rest.get(blanks) {
            None | Some(b'\n' | b'\r') => Some(Span::new(start, start + blanks)),
            Some(b'#') => Some(Span::new(start, self.line_end(start))),
            Some(_) => None,
        }
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = self.code.get(from..).unwrap_or_default();
        memchr::memchr2(b'\n', b'\r', rest).map_or(self.code.len(), |length| from + length)
    }

    /// Goes over the code at `at`, to where its line ends outside of literals.
    fn code_from(&self, mut at: usize) -> usize {
        while let Some(byte) = self.code.get(at).copied() {
            at = match byte {
                b'\n' | b'\r' => return at + 1,
                b'#' => self.line_end(at),
                b'\'' | b'"' => end(&self.code, at, is_format(&self.code, at)).0.max(at + 1),
                _ => at + 1,
            };
        }
        at
    }

    /// Blanks out the run that has ended, if it is long, but for its last break.
    fn fill(&mut self) {
        let run = std::mem::take(&mut self.run);
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        if run.len() <= LONGEST {
            return;
        }
        for line in &run {
            let own = self.code.get(line.start as usize..line.end as usize);
            let sign = own.and_then(|own| memchr::memchr(b'#', own));
            let comment = |sign| Span::new(line.start as usize + sign, line.end as usize);
            self.comments.extend(sign.map(comment));
        }
        let whole = self.code.get_mut(first.start as usize..last.end as usize);
        whole.unwrap_or_default().fill(b' ');
    }
}

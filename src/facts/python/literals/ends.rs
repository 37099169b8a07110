//! Where a literal ends, by its bytes.

use crate::source::is_word;

/// Whether a word that stands before a quote says how the literal is meant.
pub(in crate::facts::python) fn is_prefix(word: &[u8]) -> bool {
    word.len() <= 3 && word.iter().all(|letter| b"rRbBuUfFtT".contains(letter))
}

/// Whether the word before a quote makes a format of the literal.
pub(in crate::facts::python) fn is_format(bytes: &[u8], quote: usize) -> bool {
    let before = bytes.get(..quote).unwrap_or_default();
    let start = before.iter().rposition(|byte| !is_word(*byte));
    let word = before.get(start.map_or(0, |at| at + 1)..);
    let word = word.unwrap_or_default();
    is_prefix(word) && word.iter().any(|own| b"fFtT".contains(own))
}

/// How many bytes of a literal's text neither end it nor mean anything there.
fn plain(rest: &[u8], quote: u8, triple: bool, format: bool) -> usize {
    let found = match (format, triple) {
        (true, _) => rest
            .iter()
            .position(|byte| *byte == quote || matches!(byte, b'\\' | b'{' | b'}' | b'\n' | b'\r')),
        (false, true) => memchr::memchr2(quote, b'\\', rest),
        (false, false) => {
            let found = memchr::memchr3(quote, b'\\', b'\n', rest).unwrap_or(rest.len());
            memchr::memchr(b'\r', rest.get(..found).unwrap_or_default()).or(Some(found))
        }
    };
    found.unwrap_or(rest.len())
}

/// Where the literal ends whose first quote is at `quote`, and whether a quote ends it: else it is its
/// line that does, or the text.
pub(in crate::facts::python) fn end(bytes: &[u8], quote: usize, format: bool) -> (usize, bool) {
    let sign = bytes.get(quote).copied().unwrap_or_default();
    let closing = [sign; 3];
    let triple = bytes.get(quote..).unwrap_or_default().starts_with(&closing);
    let closing = if triple { &closing[..] } else { &closing[..1] };
    let mut at = quote + closing.len();
    let mut braces = 0_usize;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let said = plain(rest, sign, triple, format);
        if said > 0 {
            at += said;
            continue;
        }
        // In a hole the same quotes may open another literal.
        if rest.starts_with(closing) && (braces == 0 || triple) {
            return (at + closing.len(), true);
        }
        at += match rest {
            [b'\\', b'\r', b'\n', ..] => 3,
            // A hole opens and closes behind it all the same.
            [b'\\', b'{' | b'}', ..] if format => 1,
            [b'\\', _, ..] => 2,
            [b'\n' | b'\r', ..] if !triple => return (at, false),
            [b'{', b'{', ..] | [b'}', b'}', ..] if format && braces == 0 => 2,
            [b'{', ..] if format => {
                braces += 1;
                1
            }
            [b'}', ..] if format => {
                braces = braces.saturating_sub(1);
                1
            }
            [own, ..] if *own == sign && !triple => {
                end(bytes, at, false).0.saturating_sub(at).max(1)
            }
            _ => 1,
        };
    }
    (bytes.len(), false)
}

//! Bytes with their escapes resolved, for those who ask whether a word may be hidden in them.

use std::borrow::Cow;

use crate::source::is_word;

/// How escapes begin, behind their backslash, that stand for a letter, `_` or `-`.
const ESCAPES: &[&str] = &[
    "x2d", "x2D", "x4", "x5", "x6", "x7", "u00", "U0000", "u{", "N{", "55", "055", "10", "11",
    "12", "13", "14", "15", "16", "17",
];

/// How often an escape may stand for a part of another one: a text in a text in a text.
const DEEPEST: usize = 3;

/// Whether a letter may be written by an escape, or a line end inside of a word and go on with the next one.
pub(super) fn may_hide(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        let (before, after) = bytes.split_at_checked(at).unwrap_or_default();
        let rest = after.get(1..).unwrap_or_default();
        match rest.first() {
            Some(b'\n' | b'\r') => {
                let next = behind_cuts(rest).first();
                let inside =
                    |byte: Option<&u8>| byte.is_some_and(|byte| is_word(*byte) || *byte == b'-');
                inside(before.last()) && inside(next)
            }
            Some(b'x' | b'u' | b'U' | b'N' | b'0' | b'1' | b'5') => ESCAPES
                .iter()
                .any(|escape| rest.starts_with(escape.as_bytes())),
            _ => false,
        }
    })
}

/// What goes on behind a line's end, and behind others that are cut right there.
fn behind_cuts(rest: &[u8]) -> &[u8] {
    let mut rest = rest.trim_ascii_start();
    while let [b'\\', b'\n' | b'\r', ..] = rest {
        rest = rest.get(1..).unwrap_or_default().trim_ascii_start();
    }
    rest
}

/// The bytes, and behind them the same with their escapes resolved and cut lines joined. None if a letter is
/// called by its name.
pub(super) fn with_resolved(bytes: &[u8]) -> Option<Vec<u8>> {
    let own = all_resolved(bytes)?;
    Some([bytes, b"\n", &own].concat())
}

/// A text in which escapes are left, as in a text for another reader, with those resolved.
pub(super) fn left_in(text: &str) -> Option<String> {
    if !may_hide(text.as_bytes()) {
        return None;
    }
    let own = all_resolved(text.as_bytes())?;
    Some(String::from_utf8_lossy(&own).into_owned())
}

/// The bytes with escapes resolved, and those that come out of them. Wider than any reader: every backslash may
/// begin an escape, and those before one count for nothing.
fn all_resolved(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut own = Cow::Borrowed(bytes);
    for _ in 0..DEEPEST {
        match resolved(&own)? {
            Some(resolved) => own = Cow::Owned(resolved),
            None => break,
        }
    }
    Some(own)
}

/// The bytes with escapes resolved, if there is one that can be; nothing at all where a letter is called by its
/// name.
#[expect(
    clippy::option_option,
    reason = "what cannot be told is not what does not change"
)]
fn resolved(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut from, mut changed) = (0, false);
    for at in memchr::memchr_iter(b'\\', bytes) {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        if rest.starts_with(b"N{") {
            return None;
        }
        if at < from {
            continue;
        }
        let Some((letter, length)) = escape(rest) else {
            continue;
        };
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        while out.last() == Some(&b'\\') {
            out.pop();
        }
        out.extend(letter);
        from = at + 1 + length;
        changed = true;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Some(changed.then_some(out))
}

/// What stands behind a backslash, if it means an ASCII letter or nothing at all, and how long it is.
fn escape(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    let (radix, from, most) = match rest {
        [b'\n' | b'\r', ..] => {
            let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
            return Some((None, blanks.count()));
        }
        [b'u', b'{', ..] => (16, 2, 16),
        [b'x', ..] => (16, 1, 2),
        [b'u', ..] => (16, 1, 4),
        [b'U', ..] => (16, 1, 8),
        [b'0'..=b'7', ..] => (8, 0, 3),
        _ => return None,
    };
    // Rust may part digits in brackets by `_`.
    let parted = |byte: u8| from == 2 && byte == b'_';
    let digit = |byte: &&u8| char::from(**byte).is_digit(radix) || parted(**byte);
    let digits = rest.get(from..)?.iter().take(most).take_while(digit);
    let end = from + digits.count();
    let number = String::from_utf8_lossy(rest.get(from..end)?).replace('_', "");
    let number = u32::from_str_radix(&number, radix).ok()?;
    let letter = u8::try_from(number).ok().filter(u8::is_ascii)?;
    Some((
        Some(letter),
        end + usize::from(rest.get(end) == Some(&b'}') && from == 2),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_whatever_way_they_are_written() {
        for written in [
            r"sets\x69d",
            r"sets\u0069d",
            r"sets\U00000069d",
            r"sets\u{69}d",
            r"sets\u{0_6_9}d",
            r"sets\151d",
            r"sets\\x69d",
            r"sets\\\\\x69d",
            r"sets\x5cx69d",
            r"sets\x5cx5cx69d",
            "sets\\\n  id",
            "sets\\\r\nid",
            "se\\\n  \\\n\\\nts\\\nid",
            r"\x73\x65\x74\x73\x69\x64",
        ] {
            let both = with_resolved(written.as_bytes()).unwrap();
            let text = String::from_utf8(both).unwrap();
            let (own, resolved) = text.split_at(written.len());
            assert_eq!((own, resolved), (written, "\nsetsid"), "{written}");
            assert!(may_hide(written.as_bytes()), "{written}");
        }
    }

    #[test]
    fn what_means_no_letter_stays() {
        for written in [
            "",
            r"\",
            r"\q\n\u00e9\xff",
            r"\x",
            r"\u{}",
            r"\u{110000000}",
        ] {
            let both = with_resolved(written.as_bytes()).unwrap();
            assert_eq!(
                both,
                format!("{written}\n{written}").as_bytes(),
                "{written}"
            );
        }
        assert_eq!(with_resolved(br"\N{LATIN SMALL LETTER S}etsid"), None);
    }
}

//! How text is written in JSON: which bytes of the file stand for which of the text.
//! [RFC 8259, section 7](https://www.rfc-editor.org/rfc/rfc8259#section-7)

/// What is written between the quotes of a string, parted behind each line break that it says.
pub(super) fn lines(written: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(unit) = unit(written.get(at..).unwrap_or_default()) {
        at += unit.written;
        if unit.is_break {
            lines.push(written.get(start..at).unwrap_or_default());
            start = at;
        }
    }
    if start < written.len() {
        lines.push(written.get(start..).unwrap_or_default());
    }
    lines
}

/// The beginning of what is written that stands for so many bytes of the text.
pub(super) fn beginning(written: &str, bytes: usize) -> &str {
    let (mut at, mut said) = (0, 0);
    while said < bytes
        && let Some(unit) = unit(written.get(at..).unwrap_or_default())
    {
        at += unit.written;
        said += unit.said;
    }
    written.get(..at).unwrap_or(written)
}

/// A character of the text.
struct Unit {
    /// Bytes that it has where it is written.
    written: usize,
    /// Bytes that it has in the text.
    said: usize,
    is_break: bool,
}

/// The first character that is written.
fn unit(written: &str) -> Option<Unit> {
    let first = written.chars().next()?;
    let Some(escape) = written.strip_prefix('\\') else {
        return Some(Unit {
            written: first.len_utf8(),
            said: first.len_utf8(),
            is_break: false,
        });
    };
    let Some(number) = hex(escape) else {
        return Some(Unit {
            written: 1 + escape.chars().next().map_or(0, char::len_utf8),
            said: 1,
            is_break: escape.starts_with('n'),
        });
    };
    // What needs two numbers is written as two escapes.
    match char::from_u32(number) {
        Some(char) => Some(Unit {
            written: 6,
            said: char.len_utf8(),
            is_break: char == '\n',
        }),
        None => Some(Unit {
            written: 12.min(written.len()),
            said: 4,
            is_break: false,
        }),
    }
}

/// The number behind `u`, if it is one.
fn hex(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever way a text is written, each beginning of it is found again.
    #[test]
    fn beginnings_are_found() {
        for written in [
            "",
            "plain é🦀",
            r#"a\"b\\c\/d\ne\tf"#,
            r"\u00e9\u000a\ud83e\udd80x",
            r"\n\n",
            r"\\n\u005cn\n",
        ] {
            let text: String = serde_json::from_str(&format!("\"{written}\"")).unwrap();
            for (at, _) in text.char_indices() {
                let start = beginning(written, at);
                let said: String = serde_json::from_str(&format!("\"{start}\"")).unwrap();
                assert_eq!(said, text[..at], "{written}");
            }
            let parts = lines(written);
            assert_eq!(parts.concat(), written);
            let said = parts
                .iter()
                .map(|part| serde_json::from_str::<String>(&format!("\"{part}\"")).unwrap());
            let expected: Vec<&str> = text.split_inclusive('\n').collect();
            assert_eq!(said.collect::<Vec<_>>(), expected, "{written}");
        }
    }

    #[test]
    fn what_is_broken_ends() {
        for written in ["\\", "\\u", "\\u12", "\\ud83e", "\\ud83e\\", "\\é"] {
            assert_eq!(lines(written).concat(), written);
            beginning(written, 99);
        }
    }
}

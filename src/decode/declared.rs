//! The encoding that a Python file declares, as PEP 263 has it.

/// A declaration.
pub(super) struct Declared {
    /// The encoding's name as written.
    pub(super) name: String,
    /// Byte offset of the name.
    pub(super) at: usize,
}

/// Finds `coding[:=]\s*NAME` in a comment that is alone on the first or second line. The second
/// counts only if the first is empty or a comment too.
pub(super) fn find(bytes: &[u8]) -> Option<Declared> {
    let mut start = if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        3
    } else {
        0
    };
    for _ in 0..2 {
        let rest = bytes.get(start..)?;
        let ends = |byte: &u8| *byte == b'\n' || *byte == b'\r';
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let line = rest.get(..length)?;
        let code = line
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | 0x0c));
        match code.and_then(|at| line.get(at)) {
            Some(b'#') => {
                if let Some(found) = in_comment(line) {
                    return Some(Declared {
                        at: start + found.0,
                        name: found.1,
                    });
                }
            }
            Some(_) => return None,
            None => {}
        }
        let pair = rest.get(length..length + 2) == Some(b"\r\n");
        start += length + if pair { 2 } else { 1 };
    }
    None
}

fn in_comment(line: &[u8]) -> Option<(usize, String)> {
    let word = b"coding";
    let places = line
        .windows(word.len())
        .enumerate()
        .filter(|(_, found)| found == word);
    for (at, _) in places {
        let mut at = at + word.len();
        if !matches!(line.get(at), Some(b':' | b'=')) {
            continue;
        }
        at += 1;
        while matches!(line.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let rest = line.get(at..)?;
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = rest
            .iter()
            .position(|byte| !part(byte))
            .unwrap_or(rest.len());
        if length > 0 {
            let name = String::from_utf8_lossy(rest.get(..length)?).into_owned();
            return Some((at, name));
        }
    }
    None
}

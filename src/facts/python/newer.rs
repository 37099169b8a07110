//! Python that is younger than both grammars: what has no meaning for us is blanked out, in a copy
//! of the same length.

/// A copy of `text` without PEP 696 defaults of type parameters and PEP 810 `lazy`, and with PEP
/// 798's stars in comprehensions taken out; `None` if it has none of them.
pub(super) fn blank(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = 0;
    while start < bytes.len() {
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = start + length.unwrap_or(rest.len());
        let indent = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0c))
            .count();
        line(&mut bytes, start + indent, end);
        start = end + 1;
    }
    stars(&mut bytes);
    let blanked = String::from_utf8(bytes).ok()?;
    (blanked != text).then_some(blanked)
}

/// One line, from its first character on.
fn line(bytes: &mut [u8], start: usize, end: usize) {
    let code = bytes.get(start..end).unwrap_or_default();
    if code.starts_with(b"lazy import ") || code.starts_with(b"lazy from ") {
        fill(bytes, start, start + 4);
        return;
    }
    let defines = [&b"def "[..], b"async def ", b"class ", b"type "];
    if !defines.iter().any(|word| code.starts_with(word)) {
        return;
    }
    let bracket = code
        .iter()
        .position(|byte| matches!(byte, b'[' | b'(' | b':' | b'='));
    match bracket {
        Some(at) if code.get(at) == Some(&b'[') => defaults(bytes, start + at),
        _ => {}
    }
}

/// The type parameters whose bracket opens at `open`.
fn defaults(bytes: &mut [u8], open: usize) {
    let mut depth = 0_usize;
    let mut default = None;
    let mut at = open;
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 1 && default.is_none() => default = Some(at),
            _ => {}
        }
        let ends = depth == 0 || (depth == 1 && byte == b',');
        if let Some(start) = default.filter(|_| ends) {
            fill(bytes, start, at);
            default = None;
        }
        if depth == 0 {
            return;
        }
        at += 1;
    }
}

/// `[*a for a in b]`, `{**a for a in b}`: the stars after a bracket whose first comma comes after
/// a `for`.
fn stars(bytes: &mut [u8]) {
    for open in 0..bytes.len() {
        let rest = bytes.get(open..).unwrap_or_default();
        let width = match rest {
            [b'{', b'*', b'*', ..] => 2,
            [b'[' | b'(' | b'{', b'*', ..] => 1,
            _ => continue,
        };
        if loops(rest.get(1 + width..).unwrap_or_default()) {
            fill(bytes, open + 1, open + 1 + width);
        }
    }
}

/// Whether a ` for ` comes before a comma or the end of the brackets, in the next few lines.
fn loops(rest: &[u8]) -> bool {
    let mut depth = 0_usize;
    for (at, byte) in rest.iter().enumerate().take(400) {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' | b',' if depth == 0 => return false,
            b']' | b')' | b'}' => depth -= 1,
            b' ' if depth == 0
                && rest
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(b" for ")) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn fill(bytes: &mut [u8], start: usize, end: usize) {
    for byte in bytes.get_mut(start..end).unwrap_or_default() {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

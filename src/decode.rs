//! Bytes to text: byte order marks, PEP 263 declarations, UTF-8.

mod declared;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

use crate::source::Language;

/// Decoded text, and where the bytes were no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text; what could not be decoded is U+FFFD.
    pub text: String,
    /// Lower case, no full stop; with the byte offset into the file where decoding failed.
    pub fault: Option<(usize, String)>,
}

/// Decodes a file as its language says. Total. A UTF-8 byte order mark stays in the text, so that
/// offsets into the one are offsets into the other.
pub fn decode(language: Language, bytes: &[u8]) -> Decoded {
    if let Some(decoded) = utf_16_or_32(bytes) {
        return decoded;
    }
    match language {
        Language::Rust => utf_8(bytes),
        Language::Python => python(bytes),
    }
}

/// The encoding of two or four bytes a character that a byte order mark says, as far as it can be
/// decoded, and its name. No word stands byte for byte in such a file.
pub(crate) fn wide(bytes: &[u8]) -> Option<(Option<&'static Encoding>, &'static str)> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some((None, "UTF-32")),
        [0xff, 0xfe, ..] => Some((Some(UTF_16LE), "UTF-16")),
        [0xfe, 0xff, ..] => Some((Some(UTF_16BE), "UTF-16")),
        _ => None,
    }
}

/// UTF-16 is refused by both languages. It is still decoded, so that it can be judged.
fn utf_16_or_32(bytes: &[u8]) -> Option<Decoded> {
    let (encoding, name) = wide(bytes)?;
    let text = encoding.map_or_else(
        || String::from_utf8_lossy(bytes).into_owned(),
        |encoding| encoding.decode_without_bom_handling(bytes).0.into_owned(),
    );
    Some(Decoded {
        text,
        fault: Some((0, format!("a source file in {name}: save it as UTF-8"))),
    })
}

fn utf_8(bytes: &[u8]) -> Decoded {
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded {
            text: text.to_owned(),
            fault: None,
        },
        Err(error) => lossy(bytes, error.valid_up_to(), "UTF-8"),
    }
}

fn lossy(bytes: &[u8], at: usize, encoding: &str) -> Decoded {
    let line = line_of(bytes, at);
    let byte = bytes.get(at).copied().unwrap_or_default();
    let why = format!("byte 0x{byte:02x} at offset {at} (line {line}) is not {encoding}");
    Decoded {
        text: String::from_utf8_lossy(bytes).into_owned(),
        fault: Some((at, why)),
    }
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Python's way: the declared encoding, UTF-8 without one.
fn python(bytes: &[u8]) -> Decoded {
    let marked = bytes.starts_with(&[0xef, 0xbb, 0xbf]);
    let Some(declared) = declared::find(bytes) else {
        return utf_8(bytes);
    };
    let name = declared.name.to_ascii_lowercase().replace('_', "-");
    if is_utf_8(&name) {
        return utf_8(bytes);
    }
    if marked {
        let why = format!(
            "a UTF-8 byte order mark and the declared encoding {}",
            declared.name
        );
        return Decoded {
            fault: Some((declared.at, why)),
            ..utf_8(bytes)
        };
    }
    match lookup(&name).filter(|encoding| *encoding != REPLACEMENT) {
        Some(encoding) => by_table(bytes, encoding, &declared),
        None => unknown(bytes, &declared),
    }
}

fn is_utf_8(name: &str) -> bool {
    matches!(
        name,
        "utf-8" | "utf8" | "utf-8-sig" | "u8" | "utf" | "cp65001"
    ) || name.starts_with("utf-8-")
}

/// Python's names of encodings, where the web's differ.
fn lookup(name: &str) -> Option<&'static Encoding> {
    let web = match name {
        "latin-1" | "latin1" | "l1" | "iso-latin-1" | "iso-8859-1" | "iso8859-1" | "8859"
        | "cp819" => "iso-8859-1",
        "ascii" | "us-ascii" | "646" => return Some(UTF_8),
        "utf-16" | "utf-32" | "utf-16-le" | "utf-16-be" | "utf-32-le" | "utf-32-be" | "utf16"
        | "utf32" | "u16" | "u32" => return None,
        "sjis" | "shiftjis" | "s-jis" | "cp932" | "ms932" => "shift_jis",
        "eucjp" | "ujis" => "euc-jp",
        "euckr" | "cp949" => "euc-kr",
        "cp936" | "ms936" | "euc-cn" | "euccn" => "gbk",
        "cp950" | "big5-tw" => "big5",
        "latin2" | "l2" => "iso-8859-2",
        "latin9" | "l9" | "latin-9" => "iso-8859-15",
        "mac-roman" | "macroman" => "macintosh",
        "cp866" => "ibm866",
        other => return Encoding::for_label(other.as_bytes()).or_else(|| code_page(other)),
    };
    Encoding::for_label(web.as_bytes())
}

/// `cp1251` and `iso8859-5`, which the web spells otherwise.
fn code_page(name: &str) -> Option<&'static Encoding> {
    let page = name
        .strip_prefix("cp")
        .map(|page| format!("windows-{page}"));
    let iso = name
        .strip_prefix("iso8859-")
        .map(|part| format!("iso-8859-{part}"));
    Encoding::for_label(page.or(iso)?.as_bytes())
}

fn by_table(bytes: &[u8], encoding: &'static Encoding, declared: &declared::Declared) -> Decoded {
    if encoding == UTF_8 {
        // ASCII: whatever is more than that is no ASCII, but as UTF-8 it can be read.
        let decoded = utf_8(bytes);
        let Some(at) = bytes.iter().position(|byte| !byte.is_ascii()) else {
            return decoded;
        };
        let why = lossy(bytes, at, "ASCII").fault;
        return Decoded {
            fault: why,
            ..decoded
        };
    }
    let (text, bad) = encoding.decode_without_bom_handling(bytes);
    let why = || {
        format!(
            "bytes that are not in the declared encoding {}",
            declared.name
        )
    };
    Decoded {
        text: text.into_owned(),
        fault: bad.then(|| (declared.at, why())),
    }
}

fn unknown(bytes: &[u8], declared: &declared::Declared) -> Decoded {
    let why = format!(
        "the declared encoding {} is not one that can be read",
        declared.name
    );
    Decoded {
        text: String::from_utf8_lossy(bytes).into_owned(),
        fault: Some((declared.at, why)),
    }
}

#[cfg(test)]
mod tests;

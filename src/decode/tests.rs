//! Encodings that Python and Rust sources come in.

use super::*;

fn python(bytes: &[u8]) -> Decoded {
    decode(Language::Python, bytes)
}

#[test]
fn utf_8_with_and_without_a_mark() {
    assert_eq!(
        python("é = 1".as_bytes()),
        Decoded {
            text: "é = 1".to_owned(),
            fault: None
        }
    );
    let marked = python(b"\xef\xbb\xbfx = 1");
    assert_eq!(
        marked,
        Decoded {
            text: "\u{feff}x = 1".to_owned(),
            fault: None
        }
    );
}

#[test]
fn declared_encodings_are_followed() {
    for (head, byte, char) in [
        ("# -*- coding: latin-1 -*-\n", 0xe9, 'é'),
        (
            "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-1 :\n",
            0xe9,
            'é',
        ),
        ("# coding=cp1252\n", 0x80, '€'),
        ("# coding: koi8-r\r\n", 0xc1, 'а'),
        ("\n# coding: cp1251\n", 0xe0, 'а'),
        ("# coding: iso8859-15\n", 0xa4, '€'),
    ] {
        let mut bytes = head.as_bytes().to_vec();
        bytes.extend([b'"', byte, b'"']);
        let decoded = python(&bytes);
        assert_eq!(decoded.fault, None, "{head}");
        assert!(
            decoded.text.ends_with(&format!("\"{char}\"")),
            "{head}: {}",
            decoded.text
        );
    }
}

#[test]
fn every_byte_is_latin_1() {
    let mut bytes = b"# coding: iso-8859-1\n".to_vec();
    bytes.extend(0..=255_u8);
    assert_eq!(python(&bytes).fault, None);
}

#[test]
fn only_comments_of_the_first_two_lines_declare() {
    for text in [
        "x = 'coding: latin-1'\n'\u{e9}'",
        "x = 1\n# coding: latin-1\n",
        "\n\n# coding: latin-1\n",
        "# coding : latin-1\n",
    ] {
        assert!(declared::find(text.as_bytes()).is_none(), "{text}");
    }
}

#[test]
fn what_is_no_text_is_said_with_its_place() {
    let decoded = python(b"x = 1\ny = '\xe9'\n");
    let (at, why) = decoded.fault.unwrap();
    assert_eq!(
        (at, why.as_str()),
        (11, "byte 0xe9 at offset 11 (line 2) is not UTF-8")
    );
    assert_eq!(decoded.text, "x = 1\ny = '\u{fffd}'\n");
    assert!(
        decode(Language::Rust, b"// coding: latin-1\n\xe9")
            .fault
            .is_some()
    );
}

#[test]
fn unknown_and_impossible_encodings_are_faults() {
    assert!(python(b"# coding: no-such-thing\nx = 1\n").fault.is_some());
    assert!(python(b"# coding: utf-16\nx = 1\n").fault.is_some());
    assert!(
        python(b"\xef\xbb\xbf# coding: latin-1\nx = 1\n")
            .fault
            .is_some()
    );
    assert!(python(b"# coding: ascii\nx = '\xc3\xa9'\n").fault.is_some());
    assert!(python(b"# coding: ascii\nx = 1\n").fault.is_none());
    assert!(python(b"# coding: utf-8-sig\nx = 1\n").fault.is_none());
}

#[test]
fn utf_16_is_a_fault_and_can_be_judged() {
    let bytes: Vec<u8> = "\u{feff}os.setsid()\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let decoded = python(&bytes);
    assert!(decoded.fault.is_some());
    assert!(decoded.text.contains("os.setsid()"));
}

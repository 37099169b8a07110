//! How large a file may be: a size as people write it, and as it is shown.

/// The largest file that is read, unless another size is given: no one writes larger ones by hand.
pub const DEFAULT: u64 = 256 << 20;

/// Places in a file are counted in 32 bits.
const MOST: u64 = u32::MAX as u64;

/// Names of units and their bytes, the largest first.
const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("bytes", 1),
];

/// The bytes that `text` says: `1048576`, `1024KiB`, `1 MiB`.
///
/// # Errors
///
/// Says how a size is written, or which ones there may be.
pub fn parse(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let unit = trimmed.trim_start_matches(|char: char| char.is_ascii_digit());
    let digits = trimmed.strip_suffix(unit).unwrap_or_default();
    let name = unit.trim_start();
    let unit = match name {
        "" => Some(1),
        _ => UNITS
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, bytes)| *bytes),
    };
    let (Some(unit), false) = (unit, digits.is_empty()) else {
        return Err(format!(
            "`{text}` is no size: write bytes, or KiB, MiB or GiB behind a number, as in `10MiB`"
        ));
    };
    let bytes = digits
        .parse()
        .ok()
        .and_then(|number: u64| number.checked_mul(unit));
    match bytes {
        Some(bytes) if (1..=MOST).contains(&bytes) => Ok(bytes),
        _ => Err(format!("a size is from 1 to {MOST} bytes, less than 4 GiB")),
    }
}

/// `bytes` in the largest unit that needs no fraction: `parse` reads it back.
pub fn show(bytes: u64) -> String {
    let whole = |(_, unit): &&(&str, u64)| bytes >= *unit && bytes.is_multiple_of(*unit);
    let (name, unit) = UNITS.iter().find(whole).unwrap_or(&("bytes", 1));
    format!("{} {name}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes) in [
            ("1", 1),
            ("1048576", 1 << 20),
            ("1000 bytes", 1000),
            ("3KiB", 3 << 10),
            (" 256 MiB ", DEFAULT),
            ("2gib", 2 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
            assert_eq!(parse(&show(bytes)), Ok(bytes), "{text}");
        }
        assert_eq!(show(DEFAULT), "256 MiB");
        assert_eq!(show((1 << 20) + 1), "1048577 bytes");
    }

    #[test]
    fn nonsense_is_told_how_to_write_it() {
        for text in [
            "", "x", "MiB", "10MB", "1.5MiB", "-1", "10 M", "0x10", "１MiB",
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains("as in `10MiB`"), "{text}: {said}");
        }
        for text in [
            "0",
            "4GiB",
            "99999999999999999999",
            "18446744073709551615GiB",
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains("less than 4 GiB"), "{text}: {said}");
        }
    }
}

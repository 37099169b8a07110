//! Days as they are written in `until=`.

use crate::report::Date;

/// Reads `YYYY-MM-DD`, exactly so.
///
/// # Errors
///
/// Says what is wrong with anything else.
pub fn parse(text: &str) -> Result<Date, String> {
    let shape = |(at, byte): (usize, u8)| {
        if at == 4 || at == 7 {
            byte == b'-'
        } else {
            byte.is_ascii_digit()
        }
    };
    if text.len() != 10 || !text.bytes().enumerate().all(shape) {
        return Err(format!("`{text}` is no day of the form YYYY-MM-DD"));
    }
    read(text)
        .filter(|date| (1..=days(date.year, date.month)).contains(&date.day))
        .ok_or_else(|| format!("`{text}` is a day that no calendar has"))
}

fn read(text: &str) -> Option<Date> {
    let year = text.get(0..4)?.parse().ok()?;
    let month = text.get(5..7)?.parse().ok()?;
    let day = text.get(8..10)?.parse().ok()?;
    Some(Date { year, month, day })
}

/// Days of a month; none for a month that does not exist.
const fn days(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_days_are_read() {
        for text in [
            "2026-11-29",
            "2024-02-29",
            "2000-02-29",
            "9999-12-31",
            "0000-01-01",
        ] {
            let date = parse(text).unwrap();
            assert_eq!(
                format!("{:04}-{:02}-{:02}", date.year, date.month, date.day),
                text
            );
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "2026-1-01",
            "26-01-01",
            "+026-01-01",
            " 2026-01-01",
            "2026/01/01",
            "",
            "tomorrow!!",
            "2026-01-01T",
            "２026-1-1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_compare() {
        assert!(parse("2026-11-29") < parse("2026-11-30"));
        assert!(parse("2026-12-01") > parse("2026-11-30"));
        assert!(parse("2027-01-01") > parse("2026-12-31"));
    }
}

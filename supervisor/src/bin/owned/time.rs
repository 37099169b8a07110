//! Lengths of time and sizes, as people write and read them.

use std::time::Duration;

/// No length of time is meant to be longer than a year.
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// `90`, `1.5`, `500ms`, `30s`, `10m`, `2h`, `1h30m`, `3d`.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is no length of time: write `30s`, `10m` or `1h30m`");
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| fault());
    }
    let units = [
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("d", 86_400.0),
    ];
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .find(|char: char| !char.is_ascii_digit() && char != '.')
            .ok_or_else(fault)?;
        let number: f64 = rest[..digits].parse().map_err(|_| fault())?;
        let unit = rest[digits..].find(|char: char| char.is_ascii_digit());
        let end = unit.map_or(rest.len(), |length| digits + length);
        let factor = units.iter().find(|(name, _)| *name == &rest[digits..end]);
        seconds += number * factor.ok_or_else(fault)?.1;
        rest = &rest[end..];
    }
    if text.is_empty() {
        return Err(fault());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| fault())
}

/// Seconds as `4.2s`, `12m03s`, `5h10m`, `3d04h`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rounded time for people"
)]
pub(crate) fn seconds(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..=9 => format!("{:.1}s", seconds.max(0.0)),
        10..=59 => format!("{whole}s"),
        60..=3599 => format!("{}m{:02}s", whole / 60, whole % 60),
        3600..=86_399 => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
        _ => format!("{}d{:02}h", whole / 86_400, whole / 3600 % 24),
    }
}

/// Bytes as `812 kB`, `3.4 MB`.
#[expect(clippy::cast_precision_loss, reason = "a rounded size for people")]
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} B"),
        1_000..=999_999 => format!("{} kB", bytes / 1000),
        1_000_000..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        for (text, millis) in [
            ("90", 90_000),
            ("1.5", 1500),
            ("500ms", 500),
            ("30s", 30_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("1d", 86_400_000),
            ("0", 0),
        ] {
            assert_eq!(length(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "m", "10x", "1h30", "-5", "nan", "1e999", "s10", "10 m"] {
            assert!(length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn for_people() {
        assert_eq!(seconds(4.25), "4.2s");
        assert_eq!(seconds(723.0), "12m03s");
        assert_eq!(seconds(18_600.0), "5h10m");
        assert_eq!(size(3_400_000), "3.4 MB");
    }
}

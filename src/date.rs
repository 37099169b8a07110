//! Days: from a count of days, and as text.

use crate::report::Date;

impl Date {
    /// The day that is `days` after 1970-01-01, by the civil calendar; years are kept in 0 to 9999.
    pub fn from_days(days: i64) -> Self {
        // An era is 400 years; within it a year starts in March, so that the leap day comes last.
        let days = days.clamp(-719_528, 2_932_896) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: u16::try_from(year).unwrap_or(0),
            month: u8::try_from(month).unwrap_or(1),
            day: u8::try_from(day).unwrap_or(1),
        }
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (20_786, "2026-11-29"),
            (2_932_896, "9999-12-31"),
            (i64::MAX, "9999-12-31"),
        ];
        for (days, text) in cases {
            assert_eq!(Date::from_days(days).to_string(), text, "{days}");
        }
    }
}

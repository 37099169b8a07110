//! What counts as a reason: text that someone wrote for this place, not a filled blank.
//!
//! The rules are few, so that another program can keep them too; `reasons.txt` beside this file has
//! a case a line to test it by. After white space is trimmed and runs of it count as one:
//!
//! 1. at least [`MINIMUM`] characters (code points: Chinese and Japanese say much in few words), or as
//!    many as the configuration asks for;
//! 2. some letter or digit, and not one and the same throughout (`xxxxxxxxxx`);
//! 3. not a blank to fill in, `<…>` as a whole;
//! 4. not opened by `TODO`, `FIXME`, `TBD` or `XXX`, in capitals or before punctuation;
//! 5. some word that is neither in `PLACEHOLDERS` nor in `FILLERS`. Words are runs of letters and
//!    digits, in any case;
//! 6. a match of the configuration's pattern, if it has one: a ticket's number.

use super::Terms;

/// Fewest characters of a reason, unless the configuration says another number.
pub const MINIMUM: usize = 10;

/// Words that stand where a reason should.
const PLACEHOLDERS: &[&str] = &[
    "todo",
    "fixme",
    "tbd",
    "tba",
    "xxx",
    "reason",
    "reasons",
    "justification",
    "justified",
    "because",
    "n",
    "na",
    "see",
    "above",
    "below",
    "ok",
    "okay",
    "test",
    "testing",
    "none",
    "nothing",
    "placeholder",
    "explanation",
    "explain",
    "why",
    "lorem",
    "ipsum",
    "foo",
    "bar",
    "baz",
];

/// Words that carry a placeholder: `insert your reason here`.
const FILLERS: &[&str] = &[
    "a", "an", "the", "this", "is", "it", "here", "goes", "go", "comes", "my", "your", "some",
    "any", "good", "add", "write", "insert", "put", "give", "fill", "enter", "in", "for", "of",
    "to", "be", "and", "or", "me", "later", "please",
];

/// What is wrong with `reason`, to follow "the reason"; none if it is one.
pub fn fault(reason: &str, terms: &Terms) -> Option<String> {
    let text = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if length == 0 {
        return Some("is missing".to_owned());
    }
    if placeholder(&text) {
        return Some(format!("`{}` is a placeholder", shorten(&text)));
    }
    let least = terms.min_reason_length;
    if length < least {
        return Some(format!(
            "`{text}` is too short: {length} of at least {least} characters"
        ));
    }
    let pattern = terms.reason_pattern.as_ref()?;
    (!pattern.is_match(&text)).then(|| {
        let (text, pattern) = (shorten(&text), pattern.as_str());
        format!("`{text}` has nothing that the pattern `{pattern}` matches")
    })
}

fn placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut letters = lower.chars().filter(|char| char.is_alphanumeric());
    let Some(first) = letters.next() else {
        return true;
    };
    let blank = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    let mut words = lower
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty());
    (letters.all(|letter| letter == first) && length_of_run(&lower) > 1)
        || blank.is_some_and(|inner| !inner.contains('>'))
        || opened_by_note(text)
        || words.all(|word| PLACEHOLDERS.contains(&word) || FILLERS.contains(&word))
}

/// How many letters and digits there are: one alone is short, not repeated.
fn length_of_run(text: &str) -> usize {
    text.chars().filter(|char| char.is_alphanumeric()).count()
}

/// `TODO explain`, `todo: explain`; not `todo lists outlive their editor`.
fn opened_by_note(text: &str) -> bool {
    let text = text.trim_start_matches(|char: char| !char.is_alphanumeric());
    let end = text
        .find(|char: char| !char.is_alphanumeric())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let note = ["TODO", "FIXME", "TBD", "XXX"]
        .iter()
        .any(|note| note.eq_ignore_ascii_case(word));
    let capital = word.chars().all(|char| char.is_ascii_uppercase());
    note && (capital || rest.starts_with([':', '(', '.', '!', '?', ',', ';']))
}

/// The start of a text, for a message.
fn shorten(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    if start.len() < text.len() {
        format!("{start}…")
    } else {
        start
    }
}

#[cfg(test)]
mod tests {
    use super::{Terms, fault};

    #[test]
    fn every_case_of_the_table() {
        let table = include_str!("reasons.txt");
        let mut seen = 0;
        for line in table
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let (verdict, reason) = line.split_once('\t').unwrap();
            let fault = fault(reason, &Terms::default());
            assert_eq!(
                if fault.is_none() { "ok" } else { "bad" },
                verdict,
                "{reason:?}: {fault:?}"
            );
            seen += 1;
        }
        assert!(seen > 60);
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            ("", "is missing"),
            ("short", "`short` is too short: 5 of at least 10 characters"),
            ("todo", "`todo` is a placeholder"),
        ];
        for (reason, said) in cases {
            assert_eq!(fault(reason, &Terms::default()).as_deref(), Some(said));
        }
    }

    #[test]
    fn a_configuration_may_ask_for_more() {
        let terms = Terms {
            min_reason_length: 20,
            reason_pattern: Some(regex::Regex::new(r"OPS-\d+").unwrap()),
            ..Terms::default()
        };
        let of = |reason: &str| fault(reason, &terms).unwrap_or_default();
        assert!(of("OPS-1: the updater").contains("18 of at least 20"));
        assert!(of("the updater must outlive us").contains(r"`OPS-\d+`"));
        assert_eq!(of("OPS-12: the updater outlives us"), "");
    }
}

//! What counts as a reason for a process that outlives its owner.
//!
//! The linter `check-detached-spawns` holds comments to the same rules, and one table of cases tests
//! both: the text is no placeholder, not one letter repeated, not opened by `TODO`, and not short.

/// Fewest characters of a reason.
const MINIMUM: usize = 10;

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
pub(crate) fn fault(reason: &str) -> Option<String> {
    let text = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if length == 0 {
        return Some("is missing".to_owned());
    }
    if placeholder(&text) {
        let start: String = text.chars().take(40).collect();
        return Some(format!("`{start}` is a placeholder"));
    }
    (length < MINIMUM)
        .then(|| format!("`{text}` is too short: {length} of at least {MINIMUM} characters"))
}

fn placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let letters: Vec<char> = lower
        .chars()
        .filter(|char| char.is_alphanumeric())
        .collect();
    let Some(first) = letters.first() else {
        return true;
    };
    let repeated = letters.len() > 1 && letters.iter().all(|letter| letter == first);
    let blank = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'))
        .is_some_and(|inner| !inner.contains('>'));
    let mut words = lower
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty());
    repeated
        || blank
        || opened_by_note(text)
        || words.all(|word| PLACEHOLDERS.contains(&word) || FILLERS.contains(&word))
}

/// `TODO explain`, `todo: explain`; not `todo lists outlive their editor`.
fn opened_by_note(text: &str) -> bool {
    let text = text.trim_start_matches(|char: char| !char.is_alphanumeric());
    let end = text.find(|char: char| !char.is_alphanumeric());
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let notes = ["TODO", "FIXME", "TBD", "XXX"];
    let note = notes.iter().any(|note| note.eq_ignore_ascii_case(word));
    let capital = word.chars().all(|char| char.is_ascii_uppercase());
    note && (capital || rest.starts_with([':', '(', '.', '!', '?', ',', ';']))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_of_the_table_that_the_linter_keeps() {
        let table = include_str!("../../src/justify/reasons.txt");
        let cases = table
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut seen = 0;
        for line in cases {
            let (verdict, reason) = line.split_once('\t').unwrap();
            let fault = super::fault(reason);
            assert_eq!(fault.is_none(), verdict == "ok", "{reason:?}: {fault:?}");
            seen += 1;
        }
        assert!(seen > 60);
    }
}

//! What of words is looked for: a few letters that many of them share. The fewer are looked for at once, the
//! faster it goes; what is found is compared with the words whole.

use std::collections::BTreeMap;

/// Bytes of an anchor; a shorter word is its own.
const LENGTH: usize = 4;

/// Found everywhere, so looked for only where a word has nothing else. Sorted.
const COMMON: &[&str] = &[
    "Comm", "Proc", "Prog", "and ", "atio", "call", "cess", "clie", "comm", "crea", "dule", "eate",
    "essi", "exec", "expe", "from", "gram", "grou", "ient", "impo", "ith_", "lien", "mand", "mman",
    "modu", "mpor", "name", "nect", "oces", "odul", "ogra", "omma", "open", "ort ", "outp", "pect",
    "port", "proc", "prod", "reat", "roce", "rogr", "rom ", "roup", "rt p", "rt r", "rt s", "self",
    "sess", "sion", "ssio", "star", "stem", "tart", "tem ", "tion", "tput", "with",
];

/// Letters that are looked for, and the words in which they stand.
#[derive(Debug)]
pub(super) struct Anchor<'w> {
    pub(super) letters: &'w [u8],
    pub(super) words: Places,
}

/// Numbers of words, and at which byte of each the letters stand.
type Places = Vec<(usize, usize)>;

impl Anchor<'_> {
    /// Whether it is a whole short word.
    pub(super) const fn is_short(&self) -> bool {
        self.letters.len() < LENGTH
    }
}

/// Letters that could be an anchor.
struct Candidate<'w> {
    letters: &'w [u8],
    rare: bool,
    words: Places,
    /// How many of the words have no anchor yet.
    open: usize,
}

/// Anchors such that each word has one, as few as choosing the most shared first gives.
pub(super) fn anchors<'w>(words: &[&'w str]) -> Vec<Anchor<'w>> {
    let mut all = candidates(words);
    let mut taken = vec![false; words.len()];
    let mut chosen = Vec::new();
    let best = |all: &[Candidate<'_>]| {
        let open = (0..all.len()).filter(|at| all.get(*at).is_some_and(|own| own.open > 0));
        open.max_by_key(|at| all.get(*at).map(|own| (own.rare, own.open)))
    };
    let mut of_word: Vec<Vec<usize>> = vec![Vec::new(); words.len()];
    for (at, candidate) in all.iter().enumerate() {
        for (number, _) in &candidate.words {
            if let Some(own) = of_word.get_mut(*number) {
                own.push(at);
            }
        }
    }
    while let Some(candidate) = best(&all).and_then(|at| all.get(at)) {
        let letters = candidate.letters;
        let free = |(number, _): &&(usize, usize)| taken.get(*number) == Some(&false);
        let words: Places = candidate.words.iter().filter(free).copied().collect();
        for (number, _) in &words {
            if let Some(taken) = taken.get_mut(*number) {
                *taken = true;
            }
            for at in of_word.get(*number).into_iter().flatten() {
                if let Some(candidate) = all.get_mut(*at) {
                    candidate.open -= 1;
                }
            }
        }
        chosen.push(Anchor { letters, words });
    }
    chosen
}

fn candidates<'w>(words: &[&'w str]) -> Vec<Candidate<'w>> {
    let mut shared: BTreeMap<&[u8], Places> = BTreeMap::new();
    for (number, word) in words.iter().enumerate() {
        let word = word.as_bytes();
        for (at, letters) in word.windows(LENGTH.min(word.len()).max(1)).enumerate() {
            let places = shared.entry(letters).or_default();
            // A word that has the letters twice is found by the first of them.
            if places.last().is_none_or(|(last, _)| *last != number) {
                places.push((number, at));
            }
        }
    }
    let common = |letters: &[u8]| COMMON.binary_search_by(|own| own.as_bytes().cmp(letters));
    let candidate = |(letters, words): (&'w [u8], Places)| Candidate {
        letters,
        rare: common(letters).is_err(),
        open: words.len(),
        words,
    };
    shared.into_iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_is_sorted() {
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn every_word_has_one_anchor() {
        let words = [
            "setsid",
            "setpgid",
            "daemon",
            "daemonize",
            "pty",
            "fork",
            "forkpty",
            "import sh",
            "état",
        ];
        let anchors = anchors(&words);
        let mut found: Vec<usize> = Vec::new();
        for anchor in &anchors {
            for (number, at) in &anchor.words {
                assert!(words[*number].as_bytes()[*at..].starts_with(anchor.letters));
                found.push(*number);
            }
        }
        found.sort_unstable();
        assert_eq!(found, (0..words.len()).collect::<Vec<_>>());
        assert!(anchors.len() < words.len());
        assert!(anchors.iter().all(|anchor| anchor.letters != b"impo"));
    }
}

//! A change of a text as a patch, in the unified format that `patch` and `git apply` read.
//! [diff(1)](https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html)

use std::fmt::Write as _;

/// Lines around a change that are shown too.
const AROUND: usize = 3;
/// So many lines are looked at to find where both texts go on alike: what is changed here is a line, or a few.
const AHEAD: usize = 50;

/// A run of lines that are in both texts, or in one of them.
struct Part {
    sign: char,
    old: usize,
    new: usize,
    length: usize,
}

/// The change from `old` to `new` of the file at `path`; empty if there is none.
pub fn patch(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let parts = parts(&old, &new);
    // What git quotes in names is no part of most names.
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    let mut rest = parts.as_slice();
    while let Some(first) = rest.iter().position(|part| part.sign != ' ') {
        rest = rest.get(first.saturating_sub(1)..).unwrap_or_default();
        let far = |part: &Part| part.sign == ' ' && part.length > 2 * AROUND;
        // What lies far from the next change ends this hunk, and begins the next.
        let end = rest.iter().skip(1).position(far).map(|at| at + 1);
        let (these, others) = match end {
            Some(end) => (rest.get(..=end), rest.get(end..)),
            None => (Some(rest), None),
        };
        hunk(&mut text, these.unwrap_or_default(), &old, &new);
        rest = others.unwrap_or_default();
    }
    text
}

/// One hunk: a change or several near each other, and the lines around.
fn hunk(text: &mut String, parts: &[Part], old: &[&str], new: &[&str]) {
    let Some(first) = parts.first() else { return };
    let last = parts.len() - 1;
    let mut lines = String::new();
    let (mut from, mut counts) = ((first.old, first.new), (0, 0));
    for (index, part) in parts.iter().enumerate() {
        let (mut skip, mut length) = (0, part.length);
        if part.sign == ' ' && index == 0 {
            skip = part.length.saturating_sub(AROUND);
            length -= skip;
            from = (part.old + skip, part.new + skip);
        } else if part.sign == ' ' && index == last {
            length = length.min(AROUND);
        }
        let all = if part.sign == '+' {
            new.iter().skip(part.new + skip)
        } else {
            old.iter().skip(part.old + skip)
        };
        for line in all.take(length) {
            lines.push(part.sign);
            lines.push_str(line);
            if !line.ends_with('\n') {
                lines.push_str("\n\\ No newline at end of file\n");
            }
        }
        counts.0 += if part.sign == '+' { 0 } else { length };
        counts.1 += if part.sign == '-' { 0 } else { length };
    }
    // A side without lines is said to stand behind the line before.
    let place = |from: usize, count: usize| (from + usize::from(count > 0), count);
    let ((a, b), (c, d)) = (place(from.0, counts.0), place(from.1, counts.1));
    // Writing to a string cannot fail.
    let _ = write!(text, "@@ -{a},{b} +{c},{d} @@\n{lines}");
}

/// Both texts as one row of parts.
fn parts(old: &[&str], new: &[&str]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut i, mut j) = (0, 0);
    let mut add = |sign, old, new, length| {
        if length > 0 {
            parts.push(Part {
                sign,
                old,
                new,
                length,
            });
        }
    };
    while i < old.len() || j < new.len() {
        let same = old.iter().skip(i).zip(new.iter().skip(j));
        let same = same.take_while(|(a, b)| a == b).count();
        add(' ', i, j, same);
        (i, j) = (i + same, j + same);
        let (gone, come) = difference(old, new, i, j);
        add('-', i, j, gone);
        add('+', i + gone, j, come);
        (i, j) = (i + gone, j + come);
    }
    parts
}

/// How many lines of each text go by until both go on alike.
fn difference(old: &[&str], new: &[&str], i: usize, j: usize) -> (usize, usize) {
    let (left, right) = (old.len() - i, new.len() - j);
    for sum in 1..=2 * AHEAD {
        for gone in 0..=sum.min(left) {
            let come = sum - gone;
            if come > right {
                continue;
            }
            let (a, b) = (old.get(i + gone), new.get(j + come));
            if a == b {
                return (gone, come);
            }
        }
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_their_places_and_lines() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16";
        let new = old.replace("2\n3", "2\nx\n3").replace("\n15\n16", "\n16\n");
        let wanted = "--- a/p q\n+++ b/p q\n@@ -1,5 +1,6 @@\n 1\n 2\n+x\n 3\n 4\n 5\n\
                      @@ -12,5 +13,4 @@\n 12\n 13\n 14\n-15\n-16\n\\ No newline at end of file\n+16\n";
        assert_eq!(patch("p q", old, &new), wanted);
        assert_eq!(patch("p", old, old), "");
        assert_eq!(
            patch("p", "a\n", ""),
            "--- a/p\n+++ b/p\n@@ -1,1 +0,0 @@\n-a\n"
        );
        assert_eq!(
            patch("p", "", "a\n"),
            "--- a/p\n+++ b/p\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }

    /// Changes near each other share a hunk, others do not.
    #[test]
    fn changes_share_their_surroundings() {
        let lines = |skip: &[usize]| -> String {
            let lines = (0..40).filter(|line| !skip.contains(line));
            let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
            lines.join("\n")
        };
        let hunks = |skip: &[usize]| {
            patch("p", &lines(&[]), &lines(skip))
                .matches("@@ -")
                .count()
        };
        assert_eq!(hunks(&[10, 17]), 1);
        assert_eq!(hunks(&[10, 18]), 2);
        assert_eq!(hunks(&[0, 20, 39]), 3);
    }
}

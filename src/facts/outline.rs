//! Which statement holds which place.

use super::tree::{Statement, Tree};
use crate::source::Span;

/// A file's statements, outer before inner, each with the one around it.
#[derive(Debug)]
pub struct Outline {
    statements: Vec<Statement>,
    parents: Vec<Option<usize>>,
}

impl Outline {
    /// Sorts and nests the statements of `tree`.
    pub fn new(tree: &Tree) -> Self {
        let mut statements = tree.statements.clone();
        statements.sort_by_key(|it| {
            (
                it.span.start,
                std::cmp::Reverse(it.span.end),
                it.header.start,
            )
        });
        let mut parents = Vec::with_capacity(statements.len());
        let mut open: Vec<(usize, u32)> = Vec::new();
        for (index, it) in statements.iter().enumerate() {
            while open.last().is_some_and(|(_, end)| *end <= it.span.start) {
                open.pop();
            }
            parents.push(open.last().map(|(index, _)| *index));
            open.push((index, it.span.end));
        }
        Self {
            statements,
            parents,
        }
    }

    /// The statement at `index`.
    pub fn get(&self, index: usize) -> Option<&Statement> {
        self.statements.get(index)
    }

    /// The one around it.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    /// The innermost statement whose header holds `span`.
    pub fn innermost(&self, span: Span) -> Option<usize> {
        self.upwards(
            self.statements
                .partition_point(|it| it.span.start <= span.start),
        )
        .find(|index| self.get(*index).is_some_and(|it| it.header.contains(span)))
    }

    /// All statements that start at `at`.
    pub fn starting_at(&self, at: u32) -> std::ops::Range<usize> {
        self.statements.partition_point(|it| it.span.start < at)
            ..self.statements.partition_point(|it| it.span.start <= at)
    }

    /// Whether a statement starts in `from..to`.
    pub fn starts_between(&self, from: u32, to: u32) -> bool {
        let next = self.statements.partition_point(|it| it.span.start < from);
        self.get(next).is_some_and(|it| it.span.start < to)
    }

    /// The statement whose header is the last to end before `at`, among the last that starts before
    /// `at` and those around it.
    pub fn ending_before(&self, at: u32) -> Option<usize> {
        self.upwards(self.statements.partition_point(|it| it.span.start < at))
            .filter_map(|index| Some((self.get(index)?.header.end, index)))
            .filter(|(end, _)| *end <= at)
            .max()
            .map(|(_, index)| index)
    }

    /// The statement before `next`, the one around it, and so on.
    fn upwards(&self, next: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(next.checked_sub(1), |index| self.parent(*index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(span: (usize, usize), header: (usize, usize)) -> Statement {
        Statement {
            span: Span::new(span.0, span.1),
            header: Span::new(header.0, header.1),
        }
    }

    #[test]
    fn the_innermost_header_holds_a_place() {
        // if f(): a(b)
        // c
        let statements = vec![
            statement((0, 12), (0, 7)),
            statement((8, 12), (8, 12)),
            statement((13, 14), (13, 14)),
        ];
        let tree = Tree {
            statements,
            ..Tree::default()
        };
        let outline = Outline::new(&tree);
        let start = |from, to| {
            outline
                .innermost(Span::new(from, to))
                .and_then(|index| outline.get(index))
                .map(|it| it.span.start)
        };
        assert_eq!(start(3, 6), Some(0));
        assert_eq!(start(8, 12), Some(8));
        assert_eq!(start(10, 11), Some(8));
        assert_eq!(start(13, 14), Some(13));
        assert_eq!(start(6, 9), None);
    }
}

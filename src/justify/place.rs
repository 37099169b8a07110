//! Where a marker stands, and which spawns lie in its reach.
//!
//! Each marker has one place, found from its own position alone: formatters move comments by fixed
//! habits, and every place here keeps its meaning under them.

use std::collections::BTreeMap;

use super::lex;
use crate::facts::outline::Outline;
use crate::facts::tree::{Comment, Tree};
use crate::report::{Finding, Origin};
use crate::rules::Level;
use crate::source::{Source, Span};

/// The places of a marker; the earlier one is nearer to the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// On a line of its own above an argument, entry, item or chain link (P2).
    Item,
    /// At the end of a line of a detaching call (P3).
    Inside,
    /// On a line of its own above a statement (P1).
    Above,
    /// At the end of a statement's last line, or of its header's (P4).
    After,
}

/// What a place reaches.
#[derive(Debug)]
pub(super) struct Reach {
    /// Which place it is.
    pub(super) place: Place,
    /// Indices of findings, ascending.
    pub(super) spawns: Vec<usize>,
}

/// A finding, as far as its place matters.
#[derive(Debug)]
pub(super) struct Spawn {
    act: Span,
    evidence: Vec<Span>,
    /// First and last line of its act.
    lines: (u32, u32),
    /// Lines of its evidence.
    evidence_lines: Vec<u32>,
    /// All its mechanisms are allowed by default: it does not make a marker ambiguous.
    pub(super) quiet: bool,
    /// It gives its reason as an argument: no comment speaks of it.
    pub(super) argued: bool,
}

/// A file with its statements, its findings, and what is needed to find one from the other.
#[derive(Debug)]
pub(super) struct Page<'a> {
    source: &'a Source,
    tree: &'a Tree,
    outline: Outline,
    /// The findings, in the caller's order.
    pub(super) spawns: Vec<Spawn>,
    /// Findings by the statements that are theirs.
    homes: BTreeMap<usize, Vec<usize>>,
    /// Findings by the lines of their evidence.
    evidence: Vec<(u32, usize)>,
    /// Findings by the first line of their act, each with the last line that one up to it reaches.
    acts: Vec<(u32, u32, usize)>,
    /// For each comment the code that follows it and the comments below it; and whether a blank line
    /// stands between.
    next: Vec<(u32, bool)>,
}

impl<'a> Page<'a> {
    pub(super) fn new(source: &'a Source, tree: &'a Tree, findings: &[Finding]) -> Self {
        let spawns = findings
            .iter()
            .map(|finding| Spawn::new(source, finding))
            .collect();
        let outline = Outline::new(tree);
        let mut page = Self {
            source,
            tree,
            outline,
            spawns,
            homes: BTreeMap::new(),
            evidence: Vec::new(),
            acts: Vec::new(),
            next: Vec::new(),
        };
        page.sort_lines();
        page.next = page.following();
        page.homes = page.find_homes();
        page
    }

    /// What the marker in `comment` speaks of.
    pub(super) fn reach(&self, comment: &Comment) -> Reach {
        if comment.own_line {
            self.own_line(comment.span)
        } else {
            self.trailing(comment.span)
        }
    }

    /// The spawns of the statement directly below `end`, comments skipped.
    pub(super) fn below(&self, end: u32) -> Vec<usize> {
        match self.code_after(end) {
            (code, false) => self.at_home(self.outline.starting_at(code)),
            (_, true) => Vec::new(),
        }
    }

    fn own_line(&self, comment: Span) -> Reach {
        let nothing = Reach {
            place: Place::Above,
            spawns: Vec::new(),
        };
        let (code, blank) = self.code_after(comment.end);
        if blank {
            return nothing;
        }
        let starting = self.outline.starting_at(code);
        if !starting.is_empty() {
            return Reach {
                place: Place::Above,
                spawns: self.at_home(starting),
            };
        }
        let Some(index) = self.outline.innermost(comment) else {
            return nothing;
        };
        let Some(statement) = self.outline.get(index) else {
            return nothing;
        };
        let spawns = self.at_home([index]);
        if self.among_decorators(index, comment) {
            return Reach {
                place: Place::Above,
                spawns,
            };
        }
        let item = code..lex::item_end(self.source, code, statement.header.end);
        let held = |spawn: &Spawn| {
            spawn
                .evidence
                .iter()
                .any(|evidence| item.contains(&evidence.start))
        };
        let spawns = spawns
            .into_iter()
            .filter(|index| self.spawns.get(*index).is_some_and(held))
            .collect();
        Reach {
            place: Place::Item,
            spawns,
        }
    }

    fn trailing(&self, comment: Span) -> Reach {
        let inside = self.on_line_of_act(comment);
        if !inside.is_empty() {
            return Reach {
                place: Place::Inside,
                spawns: inside,
            };
        }
        if let Some(index) = self.outline.innermost(comment)
            && self.among_decorators(index, comment)
        {
            let (_, blank) = self.code_after(comment.end);
            let spawns = if blank {
                Vec::new()
            } else {
                self.at_home([index])
            };
            return Reach {
                place: Place::Above,
                spawns,
            };
        }
        let line = self.source.line(comment.start);
        let last = self.outline.ending_before(comment.start).filter(|index| {
            let end = self.outline.get(*index).map_or(0, |it| it.header.end);
            let between = self.source.slice(Span {
                start: end,
                end: comment.start,
            });
            // Behind an empty body, which formatters break over two lines.
            self.source.line(end.saturating_sub(1)) == line || between.trim() == "}"
        });
        Reach {
            place: Place::After,
            spawns: self.at_home(last),
        }
    }

    /// The spawns whose act has a line that `comment` ends, if no other statement starts between
    /// the two. Of nested acts the innermost, as long as the comment is not behind both.
    fn on_line_of_act(&self, comment: Span) -> Vec<usize> {
        let line = self.source.line(comment.start);
        let on_line = |spawn: &Spawn| {
            (spawn.lines.0..=spawn.lines.1).contains(&line)
                && !self.outline.starts_between(spawn.act.end, comment.start)
        };
        let until = self.acts.partition_point(|(first, ..)| *first <= line);
        let before = self.acts.get(..until).unwrap_or_default().iter().rev();
        let mut found: Vec<(usize, Span)> = before
            .take_while(|(_, reach, _)| *reach >= line)
            .filter_map(|(.., at)| Some((*at, self.spawns.get(*at)?)))
            .filter(|(_, it)| on_line(it))
            .map(|(at, it)| (at, it.act))
            .collect();
        found.sort_unstable();
        let outer = |act: Span| {
            comment.start < act.end
                && found
                    .iter()
                    .any(|(_, inner)| *inner != act && act.contains(*inner))
        };
        found
            .iter()
            .filter(|(_, act)| !outer(*act))
            .map(|(at, _)| *at)
            .collect()
    }

    /// Whether `comment` stands between the decorators or attributes of a statement, or behind one.
    fn among_decorators(&self, index: usize, comment: Span) -> bool {
        let Some(statement) = self.outline.get(index) else {
            return false;
        };
        let found = lex::decorators(self.source, statement.span.start, statement.header.end);
        let inside = found
            .iter()
            .any(|(start, end)| *start <= comment.start && comment.start < *end);
        let last = found.last().map_or(statement.span.start, |(_, end)| *end);
        let (code, _) = self.code_after(last);
        !inside && !found.is_empty() && comment.start < code
    }

    /// Distance in lines from a marker that ends on line `line` to the nearest evidence.
    pub(super) fn distance(&self, spawn: usize, line: u32) -> u32 {
        let lines = self
            .spawns
            .get(spawn)
            .map(|it| it.evidence_lines.as_slice())
            .unwrap_or_default();
        lines
            .iter()
            .map(|evidence| evidence.abs_diff(line))
            .min()
            .unwrap_or(u32::MAX)
    }

    /// The spawns with evidence at most `lines` lines from a marker that ends on line `line`, each
    /// with its distance.
    pub(super) fn near(&self, line: u32, lines: u32) -> impl Iterator<Item = (u32, usize)> {
        let from = line.saturating_sub(lines);
        let first = self.evidence.partition_point(|(own, _)| *own < from);
        let rest = self.evidence.get(first..).unwrap_or_default().iter();
        rest.take_while(move |(own, _)| *own <= line.saturating_add(lines))
            .map(move |(own, at)| (own.abs_diff(line), *at))
    }

    fn sort_lines(&mut self) {
        let spawns = || self.spawns.iter().enumerate();
        let mut evidence: Vec<(u32, usize)> = spawns()
            .flat_map(|(at, it)| it.evidence_lines.iter().map(move |line| (*line, at)))
            .collect();
        evidence.sort_unstable();
        let mut acts: Vec<(u32, u32, usize)> = spawns()
            .map(|(at, it)| (it.lines.0, it.lines.1, at))
            .collect();
        acts.sort_unstable();
        let mut reach = 0;
        for (_, last, _) in &mut acts {
            reach = reach.max(*last);
            *last = reach;
        }
        (self.evidence, self.acts) = (evidence, acts);
    }

    /// What people call a line.
    pub(super) fn called(&self, line: u32) -> String {
        self.source.called(line)
    }

    /// First line of the evidence of a spawn.
    pub(super) fn line(&self, spawn: usize) -> u32 {
        self.spawns
            .get(spawn)
            .and_then(|it| it.evidence_lines.first())
            .copied()
            .unwrap_or(1)
    }

    fn at_home(&self, statements: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut found: Vec<usize> = statements
            .into_iter()
            .filter_map(|index| self.homes.get(&index))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A spawn's homes are the innermost statements of its act and of its evidence, and those that
    /// only wrap one of them: `let id = unsafe { setsid() };`.
    fn find_homes(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut homes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, spawn) in self.spawns.iter().enumerate() {
            for span in spawn.evidence.iter().chain([&spawn.act]) {
                let innermost = self.outline.innermost(*span);
                for home in std::iter::successors(innermost, |index| self.wrapper(*index)) {
                    let here = homes.entry(home).or_default();
                    if here.last() != Some(&number) {
                        here.push(number);
                    }
                }
            }
        }
        homes
    }

    /// The statement around `index`, if all that its block holds is `index`: rustfmt adds and removes
    /// such blocks. A compound statement is no wrapper, unless it is a bare block.
    fn wrapper(&self, index: usize) -> Option<usize> {
        let inner = self.outline.get(index)?.span;
        let parent = self.outline.parent(index)?;
        let outer = self.outline.get(parent)?;
        let bare = matches!(
            self.source.slice(outer.header).trim(),
            "{" | "unsafe {" | "const {" | "async {"
        );
        let alone = self.code_before(inner.start).ends_with('{')
            && self.text_after(inner.end).starts_with('}');
        (alone && (bare || outer.header.contains(inner))).then_some(parent)
    }

    fn code_before(&self, at: u32) -> &'a str {
        let mut text = self
            .source
            .text
            .get(..at as usize)
            .unwrap_or_default()
            .trim_end();
        let before = self
            .tree
            .comments
            .partition_point(|comment| comment.span.end <= at);
        for comment in self.tree.comments.iter().take(before).rev() {
            if comment.span.end as usize != text.len() {
                break;
            }
            text = text
                .get(..comment.span.start as usize)
                .unwrap_or_default()
                .trim_end();
        }
        text
    }

    fn text_after(&self, at: u32) -> &'a str {
        let rest = |at: u32| self.source.code().get(at as usize..).unwrap_or_default();
        let (code, _) = self.code_after(at);
        match rest(code).strip_prefix(';') {
            Some(_) => rest(self.code_after(code + 1).0),
            None => rest(code),
        }
    }

    /// Where code follows after `at`, and whether a blank line stands between.
    fn code_after(&self, at: u32) -> (u32, bool) {
        let (code, blank) = self.skip_space(at);
        let comment = self
            .tree
            .comments
            .binary_search_by_key(&code, |comment| comment.span.start);
        match comment.ok().and_then(|index| self.next.get(index)) {
            Some((next, below)) => (*next, blank || *below),
            None => (code, blank),
        }
    }

    fn skip_space(&self, at: u32) -> (u32, bool) {
        let rest = self.source.code().get(at as usize..).unwrap_or_default();
        let space = rest.len() - rest.trim_start().len();
        let code = Span::new(0, at as usize + space).end;
        (code, self.source.line(code) > self.source.line(at) + 1)
    }

    /// [`Self::next`], from the last comment to the first, so that a long run of them is read once.
    fn following(&self) -> Vec<(u32, bool)> {
        let mut next: Vec<(u32, bool)> = Vec::with_capacity(self.tree.comments.len());
        let mut below: Option<(u32, (u32, bool))> = None;
        for comment in self.tree.comments.iter().rev() {
            let (code, blank) = self.skip_space(comment.span.end);
            let found = match below {
                Some((start, (next, further))) if start == code => (next, blank || further),
                _ => (code, blank),
            };
            below = Some((comment.span.start, found));
            next.push(found);
        }
        next.reverse();
        next
    }
}

impl Spawn {
    fn new(source: &Source, finding: &Finding) -> Self {
        let last = |span: Span| source.line(span.end.saturating_sub(1).max(span.start));

        let mut evidence_lines: Vec<u32> = finding
            .evidence
            .iter()
            .map(|it| source.line(it.start))
            .collect();
        evidence_lines.sort_unstable();
        Self {
            act: finding.act,
            evidence: finding.evidence.clone(),
            lines: (source.line(finding.act.start), last(finding.act)),
            evidence_lines,
            quiet: finding.rules.iter().all(|rule| rule.level == Level::Allow),
            argued: finding
                .justification
                .as_ref()
                .is_some_and(|it| it.origin == Origin::Argument),
        }
    }
}

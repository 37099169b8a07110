//! `use` declarations as the token scan knows them.

use super::declarations::Done;
use crate::facts::rust::reader::Reader;
use crate::facts::tree::{Id, Import, Kind};

impl Reader<'_> {
    pub(super) fn scan_use(&mut self, at: usize, to: usize, body: &mut Vec<Id>) -> Done {
        let end = (at..to)
            .find(|index| self.lexed.signs(*index, ";"))
            .unwrap_or(to);
        let mut imports = Vec::new();
        self.use_tree(at + 1, end, "", 0, &mut imports);
        let span = self.token_span(at, end);
        body.push(self.add(Kind::Import(imports), span));
        ((end + 1).min(to).max(at + 1), None)
    }

    fn use_tree(
        &self,
        from: usize,
        to: usize,
        before: &str,
        depth: usize,
        imports: &mut Vec<Import>,
    ) {
        let lexed = self.lexed;
        let mut path = before.to_owned();
        let mut last = None;
        let mut at = from;
        while at < to {
            if let Some(word) = lexed.word(at) {
                if word == "as" {
                    break;
                }
                if last.replace(word.to_owned()).is_some() || !path.is_empty() {
                    path.push('.');
                }
                path.push_str(word);
            } else if lexed.signs(at, "*") {
                imports.push(Import { path, name: None });
                return;
            } else if lexed.opens(at, b'{') {
                let (inner, close, _) = self.inside(at, to);
                if depth < 32 && path.len() < 1024 {
                    for (start, end) in self.parts(inner, close) {
                        self.use_tree(start, end, &path, depth + 1, imports);
                    }
                }
                return;
            } else if !lexed.signs(at, ":") {
                break;
            }
            at += 1;
        }
        let Some(mut last) = last else { return };
        if last == "self" && !before.is_empty() {
            before.clone_into(&mut path);
            before
                .rsplit('.')
                .next()
                .unwrap_or(before)
                .clone_into(&mut last);
        }
        let name = if lexed.word(at) == Some("as") {
            lexed.word(at + 1).unwrap_or(&last).to_owned()
        } else {
            last
        };
        imports.push(Import {
            path,
            name: Some(name),
        });
    }
}

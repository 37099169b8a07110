//! Imports.

use tree_sitter::Node;

use super::{Child, Tolerant, children, field, fields, span};
use crate::facts::python::build::{import, imported, normal};
use crate::facts::tree::Import;

impl<'a> Tolerant<'a> {
    pub(super) fn imports(&mut self, own: &[Child<'a>]) -> Vec<Import> {
        let mut imports = Vec::new();
        for name in fields(own, "name") {
            let (path, alias) = self.import(name);
            imports.push(import(path, alias));
        }
        imports
    }

    pub(super) fn imports_from(&mut self, own: &[Child<'a>]) -> Vec<Import> {
        let base = match field(own, "module_name") {
            Some(module) => self.dotted(module),
            None => "__future__".to_owned(),
        };
        let names = own
            .iter()
            .filter(|child| child.node.kind() == "wildcard_import");
        let mut imports: Vec<Import> = names.map(|_| imported(&base, "*", None)).collect();
        for name in fields(own, "name") {
            let (path, alias) = self.import(name);
            imports.push(imported(&base, &path, alias));
        }
        imports
    }

    /// A dotted name and its alias.
    pub(super) fn import(&self, name: Node<'a>) -> (String, Option<String>) {
        let own = children(name);
        match field(&own, "alias") {
            Some(alias) => {
                let path = field(&own, "name")
                    .map(|own| self.dotted(own))
                    .unwrap_or_default();
                (path, Some(normal(self.b.slice(span(alias)))))
            }
            None => (self.dotted(name), None),
        }
    }

    /// A dotted name as written, without white space.
    pub(super) fn dotted(&self, name: Node<'a>) -> String {
        let raw = self.b.slice(span(name));
        let part = |char: &char| !char.is_whitespace() && *char != '\\';
        normal(&raw.chars().filter(part).collect::<String>())
    }
}

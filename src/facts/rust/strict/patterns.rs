//! Patterns as targets of a binding.

use syn::spanned::Spanned;
use syn::{Pat, Path};

use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Id, Kind};

impl Reader<'_> {
    /// What a pattern gives names to: each case of an or-pattern is a target of its own.
    pub(in crate::facts::rust) fn targets(&mut self, pattern: &Pat) -> Vec<Id> {
        match pattern {
            Pat::Or(either) => either.cases.iter().map(|case| self.pattern(case)).collect(),
            _ => vec![self.pattern(pattern)],
        }
    }

    /// One target. `Some(x)` and `Ok(x)` are `x`, as the value of what may be absent is the value.
    pub(super) fn pattern(&mut self, pattern: &Pat) -> Id {
        if self.depth >= LIMIT {
            return self.flat_bytes(over(pattern));
        }
        self.below(1, |reader| reader.pattern_here(pattern))
    }

    fn pattern_here(&mut self, pattern: &Pat) -> Id {
        match pattern {
            Pat::Ident(own) => self.named(own),
            Pat::Type(typed) => {
                self.strays_of(&typed.ty);
                self.pattern(&typed.pat)
            }
            Pat::Paren(inner) => self.pattern(&inner.pat),
            Pat::Reference(inner) => self.pattern(&inner.pat),
            Pat::Guard(guarded) => {
                let guard = self.expression(&guarded.guard);
                self.stray.push(guard);
                self.pattern(&guarded.pat)
            }
            Pat::TupleStruct(parts) => match parts.elems.first() {
                Some(only) if holds_one(&parts.path) => self.pattern(only),
                _ => self.several(parts.elems.iter(), pattern),
            },
            Pat::Tuple(parts) => self.several(parts.elems.iter(), pattern),
            Pat::Slice(parts) => self.several(parts.elems.iter(), pattern),
            Pat::Or(parts) => self.several(parts.cases.iter(), pattern),
            Pat::Struct(parts) => {
                let fields: Vec<Id> = parts
                    .fields
                    .iter()
                    .map(|field| self.below(1, |reader| reader.pattern(&field.pat)))
                    .collect();
                // Fields have no order, so the list must not be matched with one by position.
                let list = self.add(Kind::List(fields), over(pattern));
                self.add(Kind::List(vec![list]), over(pattern))
            }
            Pat::Const(part) => self.block(&part.block),
            Pat::Macro(part) => self.macro_call(&part.mac).0,
            Pat::Verbatim(_) => self.flat_bytes(over(pattern)),
            _ => self.nothing(over(pattern)),
        }
    }

    fn several<'p>(&mut self, parts: impl Iterator<Item = &'p Pat>, whole: &Pat) -> Id {
        let parts = parts.map(|part| self.pattern(part)).collect();
        self.add(Kind::List(parts), over(whole))
    }

    fn named(&mut self, own: &syn::PatIdent) -> Id {
        use syn::ext::IdentExt;
        let name = own.ident.unraw().to_string();
        let span = at(own.ident.span());
        // `None` or `LIMIT` is a constant that is compared with, no new name.
        let constant = own.subpat.is_none() && name.starts_with(char::is_uppercase);
        if constant {
            return self.nothing(span);
        }
        let id = self.add(Kind::Name(name), span);
        let Some((_, inner)) = &own.subpat else {
            return id;
        };
        let inner = self.pattern(inner);
        self.add(Kind::List(vec![id, inner]), at(own.span()))
    }
}

fn holds_one(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| last.ident == "Some" || last.ident == "Ok")
}

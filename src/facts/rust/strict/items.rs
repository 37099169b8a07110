//! Items.

use syn::ext::IdentExt;
use syn::{ForeignItem, Ident, ImplItem, Item, TraitItem, UseTree};

use crate::facts::rust::reader::{LIMIT, Reader};
use crate::facts::rust::strict::types::named;
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Id, Import, Kind};
use crate::source::Span;

impl Reader<'_> {
    /// One item, which starts at the byte `start`, its attributes included; gives where it ends.
    pub(super) fn item(&mut self, item: &Item, start: usize, body: &mut Vec<Id>) -> usize {
        if self.depth >= LIMIT {
            let span = over(item);
            let id = self.flat_bytes(span);
            body.push(id);
            return span.end as usize;
        }
        self.below(1, |reader| reader.item_here(item, start, body))
    }

    fn item_here(&mut self, item: &Item, start: usize, body: &mut Vec<Id>) -> usize {
        let simple = |end: Span| (end.end as usize, None);
        let braced = |brace: &syn::token::Brace| {
            (
                at(brace.span.close()).end as usize,
                Some(at(brace.span.open()).end as usize),
            )
        };
        let (end, header) = match item {
            Item::Const(own) => simple(at(own.semi_token.span)),
            Item::Static(own) => simple(at(own.semi_token.span)),
            Item::Enum(own) => simple(at(own.brace_token.span.close())),
            Item::ExternCrate(own) => simple(at(own.semi_token.span)),
            Item::Fn(own) => braced(&own.block.brace_token),
            Item::ForeignMod(own) => braced(&own.brace_token),
            Item::Impl(own) => braced(&own.brace_token),
            Item::Macro(own) => {
                let close = at(own.mac.delimiter.span().close());
                simple(own.semi_token.as_ref().map_or(close, |semi| at(semi.span)))
            }
            Item::Mod(own) => match &own.content {
                Some((brace, _)) => braced(brace),
                None => simple(over(own)),
            },
            Item::Trait(own) => braced(&own.brace_token),
            Item::Union(own) => simple(at(own.fields.brace_token.span.close())),
            Item::Use(own) => simple(at(own.semi_token.span)),
            _ => simple(over(item)),
        };
        let whole = Span::new(start, end);
        let header = self.item_nodes(item, whole, body).or(header);
        self.statement(start, end, header);
        end
    }

    /// The item's nodes; gives the end of its header where only they know it.
    fn item_nodes(&mut self, item: &Item, whole: Span, body: &mut Vec<Id>) -> Option<usize> {
        let id = match item {
            Item::Const(own) => self.constant(&own.ident, &own.ty, Some(&own.expr), whole),
            Item::Static(own) => self.constant(&own.ident, &own.ty, Some(&own.expr), whole),
            Item::Fn(own) => self.function(&own.sig, Some(&own.block), whole),
            Item::Mod(own) => {
                let (brace, items) = own.content.as_ref()?;
                let inside = at(brace.span.open()).end as usize;
                let items = self.below(2, |reader| reader.items(items, inside));
                self.class(&own.ident, Vec::new(), items, whole)
            }
            Item::Impl(own) => self.implementation(own, whole),
            Item::Trait(own) => {
                self.strays_of_generics(&own.generics);
                let inside = at(own.brace_token.span.open()).end as usize;
                let items = self.below(2, |reader| {
                    reader.members(&own.items, inside, Self::trait_item)
                });
                self.class(&own.ident, Vec::new(), items, whole)
            }
            Item::ForeignMod(own) => {
                let inside = at(own.brace_token.span.open()).end as usize;
                let mut items = self.members(&own.items, inside, Self::foreign_item);
                body.append(&mut items);
                return None;
            }
            Item::Enum(own) => self.enumeration(own, whole),
            Item::Struct(own) => self.record(&own.ident, own.fields.iter(), &own.generics, whole),
            Item::Union(own) => {
                self.record(&own.ident, own.fields.named.iter(), &own.generics, whole)
            }
            Item::Type(own) => self.alias(&own.ident, &own.ty, whole),
            Item::ExternCrate(own) => {
                let path = own.ident.unraw().to_string();
                let name = own
                    .rename
                    .as_ref()
                    .map_or_else(|| path.clone(), |(_, name)| name.unraw().to_string());
                let path = if path == "self" {
                    "crate".to_owned()
                } else {
                    path
                };
                self.add(
                    Kind::Import(vec![Import {
                        path,
                        name: Some(name),
                    }]),
                    whole,
                )
            }
            Item::Use(own) => {
                let mut imports = Vec::new();
                imported(&own.tree, "", &mut imports);
                self.add(Kind::Import(imports), whole)
            }
            Item::Macro(own) => {
                let (id, code) = self.macro_call(&own.mac);
                body.push(id);
                return code.then(|| at(own.mac.delimiter.span().open()).end as usize);
            }
            Item::TraitAlias(_) => return None,
            _ => self.flat_bytes(over(item)),
        };
        body.push(id);
        None
    }

    fn class(&mut self, name: &Ident, bases: Vec<Id>, items: Vec<Id>, whole: Span) -> Id {
        let body = self.add(Kind::Block(items), whole);
        let bases = bases.into_iter().map(|base| self.arg(base)).collect();
        let name = name.unraw().to_string();
        self.add(
            Kind::Class {
                name,
                bases,
                decorators: Vec::new(),
                body,
            },
            whole,
        )
    }

    fn implementation(&mut self, own: &syn::ItemImpl, whole: Span) -> Id {
        self.strays_of_generics(&own.generics);
        self.strays_of(&own.self_ty);
        let bases = own.trait_.iter().map(|(path, _)| self.base(path)).collect();
        let inside = at(own.brace_token.span.open()).end as usize;
        let items = self.below(2, |reader| {
            reader.members(&own.items, inside, Self::impl_item)
        });
        let name = named(&own.self_ty).and_then(|(path, _)| path.segments.last());
        let name = name.map_or_else(
            || Ident::new("_impl", proc_macro2::Span::call_site()),
            |last| last.ident.clone(),
        );
        self.class(&name, bases, items, whole)
    }

    /// The members of an `impl`, a trait or an `extern` block.
    fn members<T: syn::spanned::Spanned>(
        &mut self,
        items: &[T],
        cursor: usize,
        lower: fn(&mut Self, &T, Span, &mut Vec<Id>) -> Option<usize>,
    ) -> Vec<Id> {
        let outer = std::mem::take(&mut self.stray);
        let mut body = Vec::new();
        let mut cursor = cursor;
        for item in items {
            let start = self.start_after(cursor);
            let whole = Span::new(start, over(item).end as usize);
            let header = lower(self, item, whole, &mut body);
            self.statement(start, whole.end as usize, header);
            cursor = cursor.max(whole.end as usize);
            body.append(&mut self.stray);
        }
        self.stray = outer;
        body
    }

    fn impl_item(&mut self, item: &ImplItem, whole: Span, body: &mut Vec<Id>) -> Option<usize> {
        let id = match item {
            ImplItem::Const(own) => self.constant(&own.ident, &own.ty, Some(&own.expr), whole),
            ImplItem::Fn(own) => {
                body.push(self.function(&own.sig, Some(&own.block), whole));
                return Some(at(own.block.brace_token.span.open()).end as usize);
            }
            ImplItem::Type(own) => self.alias(&own.ident, &own.ty, whole),
            ImplItem::Macro(own) => self.macro_call(&own.mac).0,
            _ => self.flat_bytes(over(item)),
        };
        body.push(id);
        None
    }

    fn trait_item(&mut self, item: &TraitItem, whole: Span, body: &mut Vec<Id>) -> Option<usize> {
        let id = match item {
            TraitItem::Const(own) => {
                let value = own.default.as_ref().map(|(_, value)| value);
                self.constant(&own.ident, &own.ty, value, whole)
            }
            TraitItem::Fn(own) => {
                body.push(self.function(&own.sig, own.default.as_ref(), whole));
                return own
                    .default
                    .as_ref()
                    .map(|block| at(block.brace_token.span.open()).end as usize);
            }
            TraitItem::Type(own) => {
                own.bounds
                    .iter()
                    .for_each(|bound| self.strays_of_bound(bound));
                return None;
            }
            TraitItem::Macro(own) => self.macro_call(&own.mac).0,
            _ => self.flat_bytes(over(item)),
        };
        body.push(id);
        None
    }

    fn foreign_item(
        &mut self,
        item: &ForeignItem,
        whole: Span,
        body: &mut Vec<Id>,
    ) -> Option<usize> {
        let id = match item {
            ForeignItem::Fn(own) => self.foreign(own, whole),
            ForeignItem::Static(own) => self.constant(&own.ident, &own.ty, None, whole),
            ForeignItem::Macro(own) => self.macro_call(&own.mac).0,
            ForeignItem::Type(_) => return None,
            // `safe fn` and other forms that syn keeps as tokens.
            _ => self.flat_bytes(over(item)),
        };
        body.push(id);
        None
    }

    fn constant(
        &mut self,
        name: &Ident,
        ty: &syn::Type,
        value: Option<&syn::Expr>,
        whole: Span,
    ) -> Id {
        self.strays_of(ty);
        let target = self.add(Kind::Name(name.unraw().to_string()), at(name.span()));
        let annotation = self.annotation(ty);
        let value = value.map(|value| self.expression(value));
        self.add(
            Kind::Bind {
                targets: vec![target],
                value,
                annotation,
            },
            whole,
        )
    }

    /// `type A = B`: a name for a path.
    fn alias(&mut self, name: &Ident, ty: &syn::Type, whole: Span) -> Id {
        self.strays_of(ty);
        let target = self.add(Kind::Name(name.unraw().to_string()), at(name.span()));
        let value = self.annotation(ty);
        self.add(
            Kind::Bind {
                targets: vec![target],
                value,
                annotation: None,
            },
            whole,
        )
    }

    fn enumeration(&mut self, own: &syn::ItemEnum, whole: Span) -> Id {
        self.strays_of_generics(&own.generics);
        let mut values = Vec::new();
        for variant in &own.variants {
            variant
                .fields
                .iter()
                .for_each(|field| self.strays_of(&field.ty));
            if let Some((_, value)) = &variant.discriminant {
                let target = self.add(
                    Kind::Name(variant.ident.unraw().to_string()),
                    at(variant.ident.span()),
                );
                let value = self.below(3, |reader| reader.expression(value));
                let span = self.span(target).to(self.span(value));
                values.push(self.add(
                    Kind::Bind {
                        targets: vec![target],
                        value: Some(value),
                        annotation: None,
                    },
                    span,
                ));
            }
        }
        self.class(&own.ident, Vec::new(), values, whole)
    }

    /// A struct or union: what a field is declared as tells what `self.field` is.
    fn record<'f>(
        &mut self,
        name: &Ident,
        fields: impl Iterator<Item = &'f syn::Field>,
        generics: &syn::Generics,
        whole: Span,
    ) -> Id {
        self.strays_of_generics(generics);
        let mut declared = Vec::new();
        for field in fields {
            self.strays_of(&field.ty);
            let Some(name) = &field.ident else { continue };
            let Some(annotation) = self.annotation(&field.ty) else {
                continue;
            };
            let target = self.add(Kind::Name(name.unraw().to_string()), at(name.span()));
            let bind = Kind::Bind {
                targets: vec![target],
                value: None,
                annotation: Some(annotation),
            };
            declared.push(self.add(bind, over(field)));
        }
        self.class(name, Vec::new(), declared, whole)
    }
}

/// The names that a `use` brings, below the path `before`.
fn imported(tree: &UseTree, before: &str, imports: &mut Vec<Import>) {
    let joined = |name: &Ident| {
        let name = name.unraw().to_string();
        if before.is_empty() {
            name
        } else {
            format!("{before}.{name}")
        }
    };
    // No path is as long as this; the bound keeps a hostile text from being quadratic.
    if before.len() > 1024 {
        return;
    }
    match tree {
        UseTree::Path(own) => imported(&own.tree, &joined(&own.ident), imports),
        UseTree::Name(own) if own.ident == "self" && !before.is_empty() => {
            let name = before.rsplit('.').next().unwrap_or(before).to_owned();
            imports.push(Import {
                path: before.to_owned(),
                name: Some(name),
            });
        }
        UseTree::Name(own) => {
            imports.push(Import {
                path: joined(&own.ident),
                name: Some(own.ident.unraw().to_string()),
            });
        }
        UseTree::Rename(own) => {
            let path = if own.ident == "self" && !before.is_empty() {
                before.to_owned()
            } else {
                joined(&own.ident)
            };
            imports.push(Import {
                path,
                name: Some(own.rename.unraw().to_string()),
            });
        }
        UseTree::Glob(_) => imports.push(Import {
            path: before.to_owned(),
            name: None,
        }),
        UseTree::Group(own) => own
            .items
            .iter()
            .for_each(|tree| imported(tree, before, imports)),
    }
}

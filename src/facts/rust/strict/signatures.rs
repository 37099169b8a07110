//! Functions: their parameters, and what an annotation says of them.

use syn::ext::IdentExt;
use syn::{FnArg, GenericParam, Generics, Lit, Meta, Pat, Signature, Type, WherePredicate};

use crate::facts::rust::reader::Reader;
use crate::facts::rust::strict::types::bound;
use crate::facts::rust::strict::{at, over};
use crate::facts::tree::{Function, Id, Kind, Param, Spread};
use crate::source::Span;

impl Reader<'_> {
    /// A function definition or declaration.
    pub(super) fn function(
        &mut self,
        signature: &Signature,
        body: Option<&syn::Block>,
        whole: Span,
    ) -> Id {
        self.strays_of_generics(&signature.generics);
        self.strays_of_output(&signature.output);
        let params = signature
            .inputs
            .iter()
            .map(|input| self.param(input, &signature.generics))
            .collect();
        let body = body.map(|body| self.below(1, |reader| reader.block(body)));
        let function = Function {
            name: signature.ident.unraw().to_string(),
            name_span: at(signature.ident.span()),
            params,
            body,
            decorators: Vec::new(),
            foreign: false,
            link_name: None,
        };
        self.add(Kind::Function(function), whole)
    }

    /// A declaration in an `extern` block.
    pub(super) fn foreign(&mut self, item: &syn::ForeignItemFn, whole: Span) -> Id {
        let id = self.function(&item.sig, None, whole);
        if let Some(node) = self.tree.nodes.get_mut(id.0 as usize)
            && let Kind::Function(function) = &mut node.kind
        {
            function.foreign = true;
            function.link_name = item
                .attrs
                .iter()
                .find_map(|attribute| link_name(&attribute.meta));
        }
        id
    }

    fn param(&mut self, input: &FnArg, generics: &Generics) -> Param {
        let span = over(input);
        let typed = match input {
            FnArg::Receiver(_) => {
                return Param {
                    name: "self".to_owned(),
                    default: None,
                    annotation: None,
                    span,
                    spread: Spread::No,
                };
            }
            FnArg::Typed(typed) => typed,
        };
        let annotation = self.annotation(concrete(&typed.ty, generics));
        self.strays_of(&typed.ty);
        Param {
            name: first_name(&typed.pat),
            default: None,
            annotation,
            span,
            spread: Spread::No,
        }
    }

    /// A closure's parameter.
    pub(super) fn closure_param(&mut self, pattern: &Pat) -> Param {
        let annotation = match pattern {
            Pat::Type(typed) => {
                self.strays_of(&typed.ty);
                self.annotation(&typed.ty)
            }
            _ => None,
        };
        Param {
            name: first_name(pattern),
            default: None,
            annotation,
            span: over(pattern),
            spread: Spread::No,
        }
    }

    /// Puts the expressions of generic parameters and bounds aside.
    pub(super) fn strays_of_generics(&mut self, generics: &Generics) {
        for param in &generics.params {
            match param {
                GenericParam::Type(own) => {
                    own.bounds
                        .iter()
                        .for_each(|bound| self.strays_of_bound(bound));
                    if let Some((_, ty)) = &own.default {
                        self.strays_of(ty);
                    }
                }
                GenericParam::Const(own) => {
                    self.strays_of(&own.ty);
                    if let Some((_, value)) = &own.default {
                        self.stray_expression(value);
                    }
                }
                GenericParam::Lifetime(_) => {}
            }
        }
        for predicate in generics
            .where_clause
            .iter()
            .flat_map(|clause| &clause.predicates)
        {
            if let WherePredicate::Type(own) = predicate {
                self.strays_of(&own.bounded_ty);
                own.bounds
                    .iter()
                    .for_each(|bound| self.strays_of_bound(bound));
            }
        }
    }
}

/// The first name that a pattern gives.
fn first_name(pattern: &Pat) -> String {
    match pattern {
        Pat::Ident(own) => own.ident.unraw().to_string(),
        Pat::Type(inner) => first_name(&inner.pat),
        Pat::Paren(inner) => first_name(&inner.pat),
        Pat::Reference(inner) => first_name(&inner.pat),
        Pat::Tuple(parts) => parts.elems.first().map(first_name).unwrap_or_default(),
        Pat::TupleStruct(parts) => parts.elems.first().map(first_name).unwrap_or_default(),
        Pat::Slice(parts) => parts.elems.first().map(first_name).unwrap_or_default(),
        Pat::Struct(parts) => parts
            .fields
            .first()
            .map(|field| first_name(&field.pat))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// The bound of a generic parameter that holds a type (`C: AsMut<Command>`), for the parameter.
fn concrete<'t>(ty: &'t Type, generics: &'t Generics) -> &'t Type {
    let inner = match ty {
        Type::Reference(inner) => &*inner.elem,
        _ => ty,
    };
    let Type::Path(own) = inner else { return ty };
    let Some(name) = own.path.get_ident() else {
        return ty;
    };
    let inline = generics.params.iter().find_map(|param| match param {
        GenericParam::Type(own) if own.ident == *name => bound(own.bounds.iter()),
        _ => None,
    });
    let clause = || {
        generics
            .where_clause
            .iter()
            .flat_map(|clause| &clause.predicates)
            .find_map(|predicate| match predicate {
                WherePredicate::Type(own) => match &own.bounded_ty {
                    Type::Path(bounded) if bounded.path.is_ident(name) => bound(own.bounds.iter()),
                    _ => None,
                },
                _ => None,
            })
    };
    let Some(path) = inline.or_else(clause) else {
        return ty;
    };
    let arguments = path.segments.last().map(|last| &last.arguments);
    let Some(syn::PathArguments::AngleBracketed(arguments)) = arguments else {
        return ty;
    };
    let first = arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    first.unwrap_or(ty)
}

/// The name in `#[link_name = "…"]`, `#[unsafe(link_name = "…")]` included.
fn link_name(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(own) if own.path.is_ident("link_name") => match &own.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: Lit::Str(name),
                ..
            }) => Some(name.value()),
            _ => None,
        },
        Meta::List(own) if own.path.is_ident("unsafe") => link_name(&own.parse_args().ok()?),
        Meta::List(own) if own.path.is_ident("cfg_attr") => {
            let parts = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
            let parts = own.parse_args_with(parts).ok()?;
            parts.iter().skip(1).find_map(link_name)
        }
        _ => None,
    }
}

//! Which calls and settings stand where, so that a rule asks about neighbours without reading all.

use super::{Call, Facts, Holder, ScopeId, Setting};
use crate::source::Span;

/// Places in the lists of [`Facts`], sorted by what they are looked up by.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Calls by the body in which they stand.
    calls: Lookup<ScopeId>,
    /// Calls by where they stand.
    spans: Lookup<Span>,
    /// All calls, by their last name and then in order.
    named: Vec<usize>,
    /// Inline bodies by the body around them.
    inline: Lookup<ScopeId>,
    /// Settings by the call that holds them.
    options: Lookup<usize>,
    /// Settings by the scope for whose parameter they are the default.
    defaults: Lookup<ScopeId>,
}

impl Index {
    /// Sorts what `facts` lists.
    pub fn of(facts: &Facts) -> Self {
        let calls = facts.calls.iter().map(|call| Some(call.scope));
        let spans = facts.calls.iter().map(|call| Some(call.span));
        let mut named: Vec<usize> = (0..facts.calls.len()).collect();
        named.sort_by_key(|place| facts.calls.get(*place).map(|call| call.name.as_str()));
        let inline = facts
            .scopes
            .iter()
            .map(|scope| scope.parent.filter(|_| scope.inline));
        let held = |setting: &Setting| match setting.holder {
            Holder::Call(call) => Some(call),
            // What one caller gives is no option of every spawn that the call makes.
            Holder::Through(_) | Holder::Dict { .. } | Holder::Default(_) => None,
        };
        let default = |setting: &Setting| match setting.holder {
            Holder::Default(scope) => Some(scope),
            Holder::Call(_) | Holder::Through(_) | Holder::Dict { .. } => None,
        };
        Self {
            calls: Lookup::of(calls),
            spans: Lookup::of(spans),
            named,
            inline: Lookup::of(inline),
            options: Lookup::of(facts.settings.iter().map(held)),
            defaults: Lookup::of(facts.settings.iter().map(default)),
        }
    }
}

impl Facts {
    /// The calls of a body, without those of the closures in it, each with its place in
    /// [`Facts::calls`], in order.
    pub fn calls_in(&self, scope: ScopeId) -> impl Iterator<Item = (usize, &Call)> {
        let places = self.index.calls.get(scope);
        places.filter_map(|place| Some((place, self.calls.get(place)?)))
    }

    /// The calls of what has this last name, in order.
    pub fn calls_named<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f Call> {
        let named = &self.index.named;
        let call = |place: &usize| self.calls.get(*place);
        let before = |place: &usize| call(place).is_some_and(|call| call.name.as_str() < name);
        let rest = named.get(named.partition_point(before)..);
        let rest = rest.unwrap_or_default().iter().filter_map(call);
        rest.take_while(move |call| call.name == name)
    }

    /// The calls that made what a method is called on, each with its place in [`Facts::calls`].
    pub fn makers_of(&self, call: &Call) -> impl Iterator<Item = (usize, &Call)> {
        let made_by = call.made_by.iter();
        let places = made_by.flat_map(|span| self.index.spans.get(*span));
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places.dedup();
        let calls = places.into_iter();
        calls.filter_map(|place| Some((place, self.calls.get(place)?)))
    }

    /// The closures written directly in a body.
    pub fn closures_in(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        let places = self.index.inline.get(scope);
        places.filter_map(|place| Some(ScopeId(u32::try_from(place).ok()?)))
    }

    /// The options that are given to the call at `place` in [`Facts::calls`].
    pub fn options_of(&self, place: usize) -> impl Iterator<Item = &Setting> {
        let places = self.index.options.get(place);
        places.filter_map(|place| self.settings.get(place))
    }

    /// The defaults of a function's parameters.
    pub fn defaults_of(&self, scope: ScopeId) -> impl Iterator<Item = &Setting> {
        let places = self.index.defaults.get(scope);
        places.filter_map(|place| self.settings.get(place))
    }
}

/// Places by key; several may have the same.
#[derive(Clone, Debug)]
struct Lookup<K>(Vec<(K, usize)>);

impl<K> Default for Lookup<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy> Lookup<K> {
    /// The places in a list, by the keys of its elements.
    fn of(keys: impl Iterator<Item = Option<K>>) -> Self {
        let pairs = keys.enumerate();
        let mut pairs: Vec<(K, usize)> = pairs.filter_map(|(at, key)| Some((key?, at))).collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// The places of a key, ascending.
    fn get(&self, key: K) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|(own, _)| *own < key);
        let rest = self.0.get(from..).unwrap_or_default().iter();
        rest.take_while(move |(own, _)| *own == key)
            .map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_key() {
        let lookup = Lookup::of([Some(2), None, Some(1), Some(2), Some(3)].into_iter());
        let places = |key| lookup.get(key).collect::<Vec<_>>();
        assert_eq!(places(2), [0, 3]);
        assert_eq!(places(1), [2]);
        assert_eq!(places(0), [0; 0]);
        assert_eq!(places(4), [0; 0]);
    }
}

//! `anyOf` and `oneOf`: which sub-schema matches, and what is told when not exactly the right number does.
//!
//! Source: specification, "Combined-schema errors".

use serde_json::Value;

use crate::{
    Error,
    compile::{Node, TypeName, Types},
    path::Path,
    property_map::has_member,
    raise,
    run::{Fail, Run},
};

/// A sub-schema that did not match, and why.
struct Miss<'s> {
    branch: &'s Node,
    position: usize,
    error: Error,
}

impl Run<'_> {
    /// The first sub-schema that a value fits; one without a type takes that of the schema around.
    pub(crate) fn find_any(
        &mut self,
        branches: &[Node],
        inherited: Types<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Fail> {
        match self.first_match(branches, inherited, value, path) {
            Some(position) => Ok(position),
            None => self.explain(branches, inherited, value, path),
        }
    }

    /// The only sub-schema that a value fits.
    pub(crate) fn find_one(
        &mut self,
        branches: &[Node],
        inherited: Types<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Fail> {
        // Nearly always one matches or none does, so that no list of them is made before there is a second.
        let (first, others) = self.quietly(|run| {
            let mut matching = branches
                .iter()
                .enumerate()
                .filter_map(|(position, branch)| run.fits_branch(branch, inherited, value, path).then_some(position));
            (matching.next(), matching.collect::<Vec<usize>>())
        });
        match (first, others.as_slice()) {
            (None, _) => self.explain(branches, inherited, value, path),
            (Some(position), []) => Ok(position),
            (Some(first), others) => Err(self.fail(|| {
                let all: Vec<usize> = std::iter::once(first).chain(others.iter().copied()).collect();
                let titles: Option<Vec<&str>> = all.iter().map(|p| branches[*p].title.as_deref()).collect();
                raise::multiple_matches(path, titles.as_deref(), &all)
            })),
        }
    }

    pub(crate) fn first_match(
        &mut self,
        branches: &[Node],
        inherited: Types<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Option<usize> {
        self.quietly(|run| branches.iter().position(|branch| run.fits_branch(branch, inherited, value, path)))
    }

    /// Whether a value fits one of several sub-schemas. What one that does not fit would change does not count.
    fn fits_branch(&mut self, branch: &Node, inherited: Types<'_>, value: &Value, path: &Path<'_>) -> bool {
        let may_change = self.may_change;
        let fits = self.check(branch, branch.types.or(inherited), value, path).is_ok();
        self.may_change = may_change || (fits && self.may_change);
        fits
    }

    /// Runs something whose errors are only counted.
    fn quietly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_quiet, true);
        let result = work(self);
        self.is_quiet = before;
        result
    }

    /// Goes over the sub-schemas once more, now for the words. Only failures that reach a client pay for this.
    fn explain(
        &mut self,
        branches: &[Node],
        inherited: Types<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Fail> {
        if self.is_quiet {
            return Err(None);
        }
        if self.is_exhausted() {
            return Err(Some(raise::too_complex(path)));
        }
        let was_muted = std::mem::replace(&mut self.is_muted, true);
        let mut misses = Vec::with_capacity(branches.len());
        for (position, branch) in branches.iter().enumerate() {
            if let Err(Some(error)) = self.check(branch, branch.types.or(inherited), value, path) {
                misses.push(Miss { branch, position, error });
            }
        }
        self.is_muted = was_muted;
        Err(Some(combined(misses, inherited, value, path)))
    }
}

/// Reduces the errors of all sub-schemas to one.
fn combined(mut misses: Vec<Miss<'_>>, inherited: Types<'_>, value: &Value, path: &Path<'_>) -> Error {
    let formatted =
        |miss: &Miss<'_>| raise::no_match_for(path, miss.branch.title.as_deref(), miss.position, miss.error.message());
    if let [only] = misses.as_slice() {
        return formatted(only);
    }
    let titles: Option<Vec<String>> =
        misses.iter().map(|miss| miss.branch.title.as_deref().map(str::to_owned)).collect();
    let param = path.to_string();
    let is_own_type_error = |error: &Error| {
        error.code() == "rest_invalid_type" && error.data().and_then(|d| d.get("param")?.as_str()) == Some(&param)
    };
    misses.retain(|miss| !is_own_type_error(&miss.error));
    if let [only] = misses.as_slice() {
        return formatted(only);
    }
    if let Some(first) = misses.first()
        && matches!(first.branch.types.or(inherited), Types::One(TypeName::Object))
        && let Some(nearest) = nearest(&misses, value)
    {
        return formatted(nearest);
    }
    let titles: Option<Vec<&str>> = titles.as_ref().map(|titles| titles.iter().map(String::as_str).collect());
    raise::no_match(path, titles.as_deref())
}

/// The sub-schema that shares most member names with the value, when any shares one.
fn nearest<'m, 's>(misses: &'m [Miss<'s>], value: &Value) -> Option<&'m Miss<'s>> {
    let members = value.as_object()?;
    let mut best = (0, None);
    for miss in misses {
        let Some(rules) = &miss.branch.object else { continue };
        let shared = rules.properties.names().filter(|name| has_member(members, name)).count();
        if shared > best.0 {
            best = (shared, Some(miss));
        }
    }
    best.1
}

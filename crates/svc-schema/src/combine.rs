//! `anyOf` and `oneOf`: which sub-schema matches, and the error if the number of matches is wrong.
//!
//! Source: specification, "Combined-schema errors".

use serde_json::Value;

use crate::{
    Error,
    compile::{Node, SchemaTypes, TypeName},
    evaluation::{Evaluation, Failure},
    path::Path,
    property_map::has_property,
    raise,
};

/// A sub-schema that did not match, and its error.
struct Mismatch<'s> {
    branch: &'s Node,
    position: usize,
    error: Error,
}

impl Evaluation<'_> {
    /// The first matching sub-schema. A sub-schema without a type inherits that of the enclosing schema.
    pub(crate) fn find_any(
        &mut self,
        branches: &[Node],
        inherited: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Failure> {
        match self.first_match(branches, inherited, value, path) {
            Some(position) => Ok(position),
            None => self.explain(branches, inherited, value, path),
        }
    }

    /// The only matching sub-schema.
    pub(crate) fn find_one(
        &mut self,
        branches: &[Node],
        inherited: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Failure> {
        // Nearly always zero or one match, so no list is allocated before there is a second.
        let (first, others) = self.without_messages(|evaluation| {
            let mut matching = branches.iter().enumerate().filter_map(|(position, branch)| {
                evaluation.matches_branch(branch, inherited, value, path).then_some(position)
            });
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
        inherited: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Option<usize> {
        self.without_messages(|evaluation| {
            branches.iter().position(|branch| evaluation.matches_branch(branch, inherited, value, path))
        })
    }

    /// Whether a value matches one of several sub-schemas. Effects of a sub-schema that does not match are discarded.
    fn matches_branch(&mut self, branch: &Node, inherited: SchemaTypes<'_>, value: &Value, path: &Path<'_>) -> bool {
        let may_change = self.may_change;
        let fits = self.check(branch, branch.types.or(inherited), value, path).is_ok();
        self.may_change = may_change || (fits && self.may_change);
        fits
    }

    /// Runs `work` without generating error messages.
    fn without_messages<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_quiet, true);
        let result = work(self);
        self.is_quiet = before;
        result
    }

    /// Evaluates the sub-schemas again, this time with error messages. Only failures that reach a client pay for this.
    fn explain(
        &mut self,
        branches: &[Node],
        inherited: SchemaTypes<'_>,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<usize, Failure> {
        if self.is_quiet {
            return Err(None);
        }
        if self.is_exhausted() {
            return Err(Some(raise::too_complex(path)));
        }
        let was_muted = std::mem::replace(&mut self.is_muted, true);
        let mut mismatches = Vec::with_capacity(branches.len());
        for (position, branch) in branches.iter().enumerate() {
            if let Err(Some(error)) = self.check(branch, branch.types.or(inherited), value, path) {
                mismatches.push(Mismatch { branch, position, error });
            }
        }
        self.is_muted = was_muted;
        Err(Some(combine_errors(mismatches, inherited, value, path)))
    }
}

/// Reduces the errors of all sub-schemas to one.
fn combine_errors(
    mut mismatches: Vec<Mismatch<'_>>,
    inherited: SchemaTypes<'_>,
    value: &Value,
    path: &Path<'_>,
) -> Error {
    let format_mismatch = |mismatch: &Mismatch<'_>| {
        raise::no_match_for(path, mismatch.branch.title.as_deref(), mismatch.position, mismatch.error.message())
    };
    if let [only] = mismatches.as_slice() {
        return format_mismatch(only);
    }
    let titles: Option<Vec<String>> =
        mismatches.iter().map(|mismatch| mismatch.branch.title.as_deref().map(str::to_owned)).collect();
    let param = path.to_string();
    let is_own_type_error = |error: &Error| {
        error.code() == "rest_invalid_type" && error.data().and_then(|d| d.get("param")?.as_str()) == Some(&param)
    };
    mismatches.retain(|mismatch| !is_own_type_error(&mismatch.error));
    if let [only] = mismatches.as_slice() {
        return format_mismatch(only);
    }
    if let Some(first) = mismatches.first()
        && matches!(first.branch.types.or(inherited), SchemaTypes::One(TypeName::Object))
        && let Some(nearest) = nearest(&mismatches, value)
    {
        return format_mismatch(nearest);
    }
    let titles: Option<Vec<&str>> = titles.as_ref().map(|titles| titles.iter().map(String::as_str).collect());
    raise::no_match(path, titles.as_deref())
}

/// The sub-schema that has the most property names in common with the value, if any.
fn nearest<'m, 's>(mismatches: &'m [Mismatch<'s>], value: &Value) -> Option<&'m Mismatch<'s>> {
    let properties = value.as_object()?;
    let mut best = (0, None);
    for mismatch in mismatches {
        let Some(rules) = &mismatch.branch.object else { continue };
        let shared = rules.properties.names().filter(|name| has_property(properties, name)).count();
        if shared > best.0 {
            best = (shared, Some(mismatch));
        }
    }
    best.1
}

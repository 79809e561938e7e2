//! Post types whose texts WordPress renders, since a filter of a plugin changes them: responses that differ in nothing but the texts
//! show which.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use svc_controllers::RestSite;

use super::{proof::Sample, refuted::collection};

/// Members of a post that are texts.
const TEXTS: [&str; 3] = ["title", "content", "excerpt"];

/// The post types of a site. Cheap to clone.
#[derive(Clone)]
pub(super) struct PhpTexts(Arc<Inner>);

struct Inner {
    site: Arc<RestSite>,
    /// Types whose responses differ with the texts of WordPress as well. They are not tried again, since each change of the types
    /// invalidates all cached responses.
    different: Mutex<BTreeSet<String>>,
}

impl PhpTexts {
    pub(super) fn new(site: Arc<RestSite>) -> Self {
        PhpTexts(Arc::new(Inner { site, different: Mutex::default() }))
    }

    fn with_different<T>(&self, run: impl FnOnce(&mut BTreeSet<String>) -> T) -> T {
        run(&mut self.0.different.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets WordPress render the texts of the type whose response differs, if that is the difference. Returns whether it did not before.
    pub(super) fn learn(&self, pattern: &str, difference: &str) -> bool {
        let name = self.type_of(pattern).filter(|_| is_of_text(difference));
        match name.filter(|name| !self.with_different(|different| different.contains(name))) {
            Some(name) => self.change(|types| {
                types.insert(name);
            }),
            None => false,
        }
    }

    /// Learns from comparisons. Returns whether WordPress renders more texts now.
    pub(super) fn learn_all(&self, samples: &[Sample]) -> bool {
        let mut has_learned = false;
        for sample in samples {
            if let Some(difference) = &sample.difference {
                has_learned |= self.learn(&sample.pattern, difference);
            }
        }
        has_learned
    }

    /// Lets this server render the texts of types again whose responses differ nevertheless: WordPress handles their routes.
    pub(super) fn forget_different(&self, samples: &[Sample]) {
        let different = samples.iter().filter(|sample| sample.difference.is_some());
        let different: BTreeSet<String> = different.filter_map(|sample| self.type_of(&sample.pattern)).collect();
        self.change(|types| types.retain(|name| !different.contains(name)));
        self.with_different(|known| known.extend(different));
    }

    /// Lets this server render the texts of all types, until comparisons show others.
    pub(super) fn forget(&self) {
        self.with_different(BTreeSet::clear);
        self.change(BTreeSet::clear);
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<String>)) -> bool {
        let site = &self.0.site;
        let Some(external) = &site.external_texts else { return false };
        let is_other = external.change_types(change);
        if is_other {
            // Cached responses have the texts of the other server.
            site.store.versions().change_all();
            tracing::info!(types = ?external.types(), "types of posts whose texts WordPress renders");
        }
        is_other
    }

    /// The type of posts that a route returns.
    fn type_of(&self, pattern: &str) -> Option<String> {
        let route = collection(pattern);
        // Neither revisions nor autosaves.
        let is_of_posts = !pattern[route.len()..].trim_start_matches('/').contains('/');
        let mut types = self.0.site.types.iter().filter(|t| t.show_in_rest && t.name != "attachment");
        types.find(|t| is_of_posts && self.0.site.route_of_type(t) == route).map(|t| t.name.clone())
    }
}

/// Whether a difference, as comparisons describe it, is one of a rendered text.
fn is_of_text(difference: &str) -> bool {
    let path = difference.split(": ").next().unwrap_or_default();
    let mut names = path.split('.').skip_while(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()));
    names.next().is_some_and(|name| TEXTS.contains(&name)) && names.eq(["rendered"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_texts_are_recognized() {
        for difference in
            ["content.rendered: \"a\" in WordPress, \"b\" here", "3.title.rendered: x", "0.excerpt.rendered: x"]
        {
            assert!(is_of_text(difference), "{difference}");
        }
        for difference in
            ["content.raw: x", "content: only in WordPress", "caption.rendered: x", "3.title: x", "the document: x", ""]
        {
            assert!(!is_of_text(difference), "{difference}");
        }
    }
}

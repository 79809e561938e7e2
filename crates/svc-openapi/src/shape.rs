//! Which routes are collections, as far as the registry shows it.

use std::collections::{HashMap, HashSet};

use svc_routing::{Context, Server};

use crate::paths::templates;

/// The patterns of the routes that list the items of another route: that route's path has one more parameter, and it
/// has an item schema of the same title.
pub(crate) fn collections(cx: &Context, server: &Server) -> HashSet<String> {
    let titled = |route: &svc_routing::RouteEntry| route.schema(cx)?.get("title")?.as_str().map(str::to_owned);
    let mut parents: HashMap<String, String> = HashMap::new();
    for route in server.routes() {
        let Some(title) = titled(route) else { continue };
        for template in templates(route.pattern()).unwrap_or_default() {
            let path = without_names(&template.path);
            // The parameters of an item may fill one argument with several segments.
            let last = template.params.iter().rev();
            let count =
                last.take_while(|param| Some(&param.argument) == template.params.last().map(|p| &p.argument)).count();
            let parent = path.strip_suffix(&"/{}".repeat(count));
            if let Some(parent) = parent.filter(|parent| count > 0 && !parent.is_empty()) {
                parents.insert(parent.to_owned(), title.clone());
            }
        }
    }
    let is_parent = |route: &svc_routing::RouteEntry| {
        let title = titled(route)?;
        let all = templates(route.pattern()).ok()?;
        all.iter().any(|template| parents.get(&without_names(&template.path)) == Some(&title)).then_some(())
    };
    server.routes().filter(|route| is_parent(route).is_some()).map(|route| route.pattern().to_owned()).collect()
}

/// A template with unnamed parameters.
pub(crate) fn without_names(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

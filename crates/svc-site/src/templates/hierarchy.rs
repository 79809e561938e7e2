//! The template hierarchy: the templates that can render a page, most specific first.

use svc_model::{Post, PostType, PostTypes, Taxonomies, Taxonomy, Term, User};

use crate::Settings;

/// The template that every page falls back to.
const INDEX: &str = "index";

/// No specific templates.
const GENERAL_ONLY: [&str; 0] = [];

/// The subject of a page.
#[derive(Clone, Copy, Debug)]
pub enum PageSubject<'a> {
    /// A post, with the template that it selects.
    Post(&'a Post, Option<&'a str>),
    /// The static front page, with the template that it selects.
    FrontPage(&'a Post, Option<&'a str>),
    /// The latest posts.
    Home,
    /// Search results.
    Search,
    /// Posts with a term.
    Term(&'a Term, &'a Taxonomy),
    /// Posts by an author.
    Author(&'a User),
    /// Posts from a date.
    Date,
    /// Posts of a type.
    PostType(&'a PostType),
    /// A page that does not exist.
    NotFound,
}

/// The templates for a page. Source: `template-loader.php`.
pub fn of_page(subject: PageSubject<'_>, settings: &Settings) -> Vec<String> {
    match subject {
        PageSubject::Post(post, selected) => of_post(post, selected, settings),
        PageSubject::FrontPage(post, selected) => {
            let mut all = vec!["front-page".to_owned()];
            all.extend(of_post(post, selected, settings));
            all
        }
        PageSubject::Home if settings.option("show_on_front") != "page" => with_fallbacks(["front-page"], "home"),
        PageSubject::Home => with_fallbacks(GENERAL_ONLY, "home"),
        PageSubject::Search => with_fallbacks(GENERAL_ONLY, "search"),
        PageSubject::Term(term, taxonomy) => {
            let (slug, id) = (&term.slug, term.id);
            match taxonomy.name.as_str() {
                "category" => with_fallbacks([format!("category-{slug}"), format!("category-{id}")], "category"),
                "post_tag" => with_fallbacks([format!("tag-{slug}"), format!("tag-{id}")], "tag"),
                name => with_fallbacks([format!("taxonomy-{name}-{slug}"), format!("taxonomy-{name}")], "taxonomy"),
            }
        }
        PageSubject::Author(user) => {
            with_fallbacks([format!("author-{}", user.nicename), format!("author-{}", user.id)], "author")
        }
        PageSubject::Date => with_fallbacks(GENERAL_ONLY, "date"),
        PageSubject::PostType(post_type) => with_fallbacks([format!("archive-{}", post_type.name)], "archive"),
        PageSubject::NotFound => with_fallbacks(GENERAL_ONLY, "404"),
    }
}

/// The templates for a post. `selected` is the template that the post selects.
fn of_post(post: &Post, selected: Option<&str>, settings: &Settings) -> Vec<String> {
    let (slug, id, post_type) = (&post.slug, post.id, post.post_type.as_str());
    let selected = selected.filter(|name| !matches!(*name, "" | "default")).map(str::to_owned);
    if post_type == "page" {
        let is_privacy_policy = settings.number("wp_page_for_privacy_policy") == id.0;
        let privacy_policy = is_privacy_policy.then(|| "privacy-policy".to_owned());
        let own = [format!("page-{slug}"), format!("page-{id}")];
        return with_fallbacks(selected.into_iter().chain(privacy_policy).chain(own), "page");
    }
    let own = [format!("single-{post_type}-{slug}"), format!("single-{post_type}")];
    with_fallbacks(selected.into_iter().chain(own), "single")
}

/// Templates of one object or type, followed by the general template `kind` and its fallbacks.
fn with_fallbacks<S: Into<String>>(specific: impl IntoIterator<Item = S>, kind: &str) -> Vec<String> {
    let mut all: Vec<String> = specific.into_iter().map(Into::into).collect();
    add(&mut all, kind);
    add_fallbacks(&mut all, kind);
    all
}

fn add(all: &mut Vec<String>, slug: &str) {
    if all.iter().all(|known| known != slug) {
        all.push(slug.to_owned());
    }
}

/// Adds the general templates that a template with this slug falls back to.
fn add_fallbacks(all: &mut Vec<String>, slug: &str) {
    let begins_with = |kinds: &[&str]| kinds.iter().any(|kind| slug.starts_with(kind));
    if begins_with(&["author", "taxonomy", "category", "tag"]) || slug == "date" {
        add(all, "archive");
    }
    if slug == "attachment" {
        add(all, "single");
    }
    if begins_with(&["single", "page"]) || slug == "attachment" {
        add(all, "singular");
    }
    add(all, INDEX);
}

/// The fallbacks of a template, starting with itself.
///
/// `prefix` is the prefix of a generated slug, if the client knows it. Custom templates fall back to the page template.
/// Source: `get_template_hierarchy`.
pub fn of_slug(slug: &str, is_custom: bool, prefix: &str, types: &PostTypes, taxonomies: &Taxonomies) -> Vec<String> {
    let fixed: Option<&[&str]> = match slug {
        "index" => Some(&["index"]),
        _ if is_custom => Some(&["page", "singular", "index"]),
        "front-page" => Some(&["front-page", "home", "index"]),
        _ => None,
    };
    if let Some(fixed) = fixed {
        return fixed.iter().map(|s| (*s).to_owned()).collect();
    }
    let mut all = vec![slug.to_owned()];
    let kind = slug.split_once('-').map_or(slug, |(kind, _)| kind);
    if !prefix.is_empty() {
        add(&mut all, prefix);
        add(&mut all, prefix.split_once('-').map_or(prefix, |(kind, _)| kind));
    } else if matches!(kind, "author" | "category" | "archive" | "tag" | "page") {
        add(&mut all, kind);
    } else if let Some((kind @ ("single" | "taxonomy"), rest)) = slug.split_once('-') {
        let mut names: Box<dyn Iterator<Item = &str>> = if kind == "single" {
            Box::new(types.iter().map(|t| t.name.as_str()))
        } else {
            Box::new(taxonomies.iter().map(|t| t.name.as_str()))
        };
        let of_name = |name: &&str| rest.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('-'));
        if let Some(name) = names.find(of_name) {
            add(&mut all, &format!("{kind}-{name}"));
            add(&mut all, kind);
        }
    }
    add_fallbacks(&mut all, slug);
    all
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use svc_model::{PostId, TermId, UserId};
    use svc_store::{StoredText, options::Options};

    use super::*;
    use crate::settings::urls::Urls;

    #[track_caller]
    fn check(slug: &str, is_custom: bool, prefix: &str, expected: &[&str]) {
        let found = of_slug(slug, is_custom, prefix, &PostTypes::default(), &Taxonomies::default());
        assert_eq!(found, expected, "{slug} {is_custom} {prefix}");
    }

    #[track_caller]
    fn check_page(subject: PageSubject<'_>, options: &[(&str, &str)], expected: &str) {
        let options: Options =
            options.iter().map(|(name, value)| ((*name).to_owned(), StoredText::of(*value))).collect();
        let (types, taxonomies) = (PostTypes::default(), Taxonomies::default());
        let urls = Urls::new(&options, &svc_brand::Brand::default(), &types, &taxonomies, &Default::default());
        assert_eq!(of_page(subject, &Settings::new(Arc::new(options), urls)).join(" "), expected, "{subject:?}");
    }

    #[test]
    fn pages_use_the_most_specific_template() {
        let post = |post_type: &str| Post {
            id: PostId(7),
            slug: "a".to_owned(),
            post_type: post_type.to_owned(),
            ..Post::default()
        };
        let (page, post, book) = (post("page"), post("post"), post("book"));
        let term = Term { id: TermId(3), slug: "t".to_owned(), ..Term::default() };
        let user = User { id: UserId(2), nicename: "u".to_owned(), ..User::default() };
        let taxonomies = Taxonomies::default();
        let taxonomy = |name: &str| taxonomies.get(name).expect("a built-in taxonomy");
        let privacy = [("wp_page_for_privacy_policy", "7")];
        let static_front = [("show_on_front", "page")];

        check_page(PageSubject::Post(&page, None), &[], "page-a page-7 page singular index");
        check_page(PageSubject::Post(&page, Some("default")), &[], "page-a page-7 page singular index");
        check_page(
            PageSubject::Post(&page, Some("wide")),
            &privacy,
            "wide privacy-policy page-a page-7 page singular index",
        );
        check_page(PageSubject::Post(&post, Some("")), &privacy, "single-post-a single-post single singular index");
        check_page(PageSubject::Post(&book, Some("wide")), &[], "wide single-book-a single-book single singular index");
        check_page(PageSubject::FrontPage(&page, None), &[], "front-page page-a page-7 page singular index");
        check_page(PageSubject::Home, &[], "front-page home index");
        check_page(PageSubject::Home, &static_front, "home index");
        check_page(PageSubject::Search, &[], "search index");
        check_page(PageSubject::Term(&term, taxonomy("category")), &[], "category-t category-3 category archive index");
        check_page(PageSubject::Term(&term, taxonomy("post_tag")), &[], "tag-t tag-3 tag archive index");
        check_page(
            PageSubject::Term(&term, taxonomy("post_format")),
            &[],
            "taxonomy-post_format-t taxonomy-post_format taxonomy archive index",
        );
        check_page(PageSubject::Author(&user), &[], "author-u author-2 author archive index");
        check_page(PageSubject::Date, &[], "date archive index");
        check_page(PageSubject::PostType(&PostType::new("book")), &[], "archive-book archive index");
        check_page(PageSubject::NotFound, &[], "404 index");
    }

    #[test]
    fn a_template_falls_back_to_more_general_ones() {
        check("index", false, "", &["index"]);
        check("anything", true, "", &["page", "singular", "index"]);
        check("front-page", false, "", &["front-page", "home", "index"]);
        check("404", false, "", &["404", "index"]);
        check("date", false, "", &["date", "archive", "index"]);
        check("page-about", false, "page", &["page-about", "page", "singular", "index"]);
        check("page-about", false, "", &["page-about", "page", "singular", "index"]);
        check("category-news", false, "category", &["category-news", "category", "archive", "index"]);
        check(
            "taxonomy-post_format-x",
            false,
            "",
            &["taxonomy-post_format-x", "taxonomy-post_format", "taxonomy", "archive", "index"],
        );
        check("single-post-hello", false, "", &["single-post-hello", "single-post", "single", "singular", "index"]);
        check("single-post", false, "", &["single-post", "single", "singular", "index"]);
        check("attachment", false, "", &["attachment", "single", "singular", "index"]);
        check(
            "single-post-hello",
            false,
            "single-post",
            &["single-post-hello", "single-post", "single", "singular", "index"],
        );
    }
}

//! Generates the site's URLs: converts rows and types to the types of svc-permalinks.

use svc_brand::Brand;
use svc_model::{Post, PostType, PostTypes, Taxonomies, Taxonomy, Term, User};
use svc_permalinks::{
    AttachmentLink, AttachmentParent, Filters, PageLink, Permalinks, PostLink, PostTypeLinks, RestBase, SiteUrls,
    TaxonomyLinks, TermLink, UrlHooks, needs_plain,
};
use svc_store::{StoredText, options::Options, stamp};

use super::permalink_settings;

/// Generates URLs according to the site's options.
pub struct Urls {
    /// State that depends on the options and the registered types.
    pub site: SiteUrls,
    /// The URL of the API root before filters, without the slash that begins a path.
    rest_root: String,
}

/// The parts of a post's permalink that are not in its row. Loaded for many posts at once, and only the parts that the
/// permalink structure uses.
#[derive(Clone, Debug, Default)]
pub struct PermalinkParts {
    /// The author's slug.
    pub author: String,
    /// Slugs of the post's ancestors, topmost first.
    pub ancestors: Vec<String>,
    /// Slugs of the first category and its ancestors, topmost first.
    pub category: Vec<String>,
    /// The permalink of the post that an attachment is attached to, if that post is public.
    pub parent: Option<String>,
    /// Whether the post is private and the reader may not read it, so that its URL has no path.
    pub unreadable: bool,
}

/// An id as an unsigned integer.
fn number(id: i64) -> u64 {
    u64::try_from(id).unwrap_or_default()
}

/// The URL of the API root before filters, without the slash that begins a path.
fn rest_root(site: &SiteUrls) -> String {
    let mut unfiltered = site.clone();
    unfiltered.hooks.rest_url = Filters::default();
    let root = unfiltered.rest_url("");
    root.strip_suffix('/').map(str::to_owned).unwrap_or(root)
}

impl Urls {
    /// URLs for these options, types and taxonomies; `hooks` may change them.
    pub fn new(options: &Options, brand: &Brand, types: &PostTypes, taxonomies: &Taxonomies, hooks: &UrlHooks) -> Self {
        let text = |name: &str| options.get(name).map_or("", StoredText::text);
        let [structure, category_base, tag_base] = permalink_settings::OPTIONS;
        let permalinks = Permalinks::new(text(structure)).with_bases(text(category_base), text(tag_base));
        let mut site = SiteUrls::new(text("home"), text("siteurl"), &brand.prefix(), permalinks);
        site.hooks = hooks.clone();
        let front = svc_php::numeric::text_to_int(text("page_on_front"));
        site.front_page = (text("show_on_front") == "page" && front > 0).then(|| number(front));
        site.taxonomies = taxonomies.iter().filter(|t| t.publicly_queryable).map(taxonomy_links).collect();
        site.post_types = types.iter().filter(|t| !t.is_builtin() && t.publicly_queryable).map(type_links).collect();
        Urls { rest_root: rest_root(&site), site }
    }

    /// The URLs for requests over TLS.
    #[must_use]
    pub fn over_tls(&self) -> Self {
        let site = self.site.over_tls();
        Urls { rest_root: rest_root(&site), site }
    }

    /// The URL of a REST path.
    pub fn rest(&self, path: &str) -> String {
        if self.site.hooks.rest_url.is_empty() {
            return format!("{}/{}", self.rest_root, path.trim_start_matches('/'));
        }
        self.site.rest_url(path)
    }

    /// Whether permalinks of posts contain their author.
    pub fn uses_author(&self) -> bool {
        self.site.permalinks.structure().contains("%author%")
    }

    /// Whether permalinks of posts contain a category.
    pub fn uses_category(&self) -> bool {
        self.site.permalinks.structure().contains("%category%")
    }

    /// The permalink of a post.
    pub fn post(&self, post: &Post, post_type: &PostType, parts: &PermalinkParts) -> String {
        self.post_with(post, post_type, parts, needs_plain(&post.status, !parts.unreadable), false)
    }

    /// The permalink as if the post were published, with a placeholder for the slug.
    pub fn post_template(&self, post: &Post, post_type: &PostType, parts: &PermalinkParts) -> String {
        let plain = match post_type.name.as_str() {
            "page" => false,
            // Custom types with a path have a template for every status.
            _ if !post_type.is_builtin() => needs_plain(&post.status, !parts.unreadable),
            _ => post.status == "trash",
        };
        let template = self.post_with(post, post_type, parts, plain, true);
        // Custom types use a placeholder named after the type; the REST API always returns `%pagename%`.
        let template = template.replace(&format!("%{}%", post_type.name), "%pagename%");
        // Parents without a slug are omitted.
        let ancestors: Vec<&str> = parts.ancestors.iter().map(String::as_str).filter(|slug| !slug.is_empty()).collect();
        if ancestors.is_empty() {
            return template;
        }
        template.replace("%pagename%", &format!("{}/%pagename%", ancestors.join("/")))
    }

    fn post_with(
        &self,
        post: &Post,
        post_type: &PostType,
        parts: &PermalinkParts,
        plain: bool,
        leave_name: bool,
    ) -> String {
        let id = number(post.id.0);
        let path = || {
            // Ancestors without a slug are omitted.
            let ancestors = parts.ancestors.iter().map(String::as_str).filter(|slug| !slug.is_empty());
            ancestors.chain([post.slug.as_str()]).collect::<Vec<_>>().join("/")
        };
        match post_type.name.as_str() {
            "page" => self.site.page_link(&PageLink { id, path: &path(), plain, leave_name }),
            "attachment" => {
                let parent = match (&parts.parent, post.parent.is_none()) {
                    (Some(url), _) => AttachmentParent::At(url),
                    (None, true) => AttachmentParent::None,
                    (None, false) => AttachmentParent::Hidden,
                };
                self.site.attachment_link(&AttachmentLink { id, slug: &post.slug, parent, leave_name })
            }
            _ if !post_type.is_builtin() => {
                self.site.custom_post_link(&type_links(post_type), id, &path(), plain, leave_name)
            }
            _ => self.site.post_link(&PostLink {
                id,
                slug: &post.slug,
                date: &stamp::format(post.date),
                author: &parts.author,
                category: &parts.category.join("/"),
                plain,
                leave_name,
            }),
        }
    }

    /// The URL of a term's archive; `parents` are the slugs of its ancestors, topmost first.
    pub fn term(&self, term: &Term, taxonomy: &Taxonomy, parents: &[&str]) -> String {
        self.site.term_link(&taxonomy_links(taxonomy), &TermLink { id: number(term.id.0), slug: &term.slug, parents })
    }

    /// The URL of a type's archive, if it has one.
    pub fn archive(&self, post_type: &PostType) -> Option<String> {
        self.site.post_type_archive_link(&type_links(post_type))
    }

    /// The URL of an author's archive.
    pub fn author(&self, user: &User) -> String {
        self.site.author_link(number(user.id.0), &user.nicename)
    }
}

/// A type's base in the REST API.
pub fn rest_base<'a>(post_type: &'a PostType, namespace: &'a str) -> RestBase<'a> {
    RestBase {
        name: &post_type.name,
        namespace,
        base: &post_type.rest_base,
        show_in_rest: post_type.show_in_rest,
        standard: post_type.route_family.is_standard(),
    }
}

/// A taxonomy's base in the REST API.
pub fn taxonomy_rest_base<'a>(taxonomy: &'a Taxonomy, namespace: &'a str) -> RestBase<'a> {
    RestBase {
        name: &taxonomy.name,
        namespace,
        base: &taxonomy.rest_base,
        show_in_rest: taxonomy.show_in_rest,
        standard: taxonomy.standard_controller,
    }
}

fn type_links(post_type: &PostType) -> PostTypeLinks {
    PostTypeLinks {
        name: post_type.name.clone(),
        base: post_type.rewrite_slug.clone(),
        with_front: true,
        query_var: Some(post_type.name.clone()),
        archive: post_type.has_archive.clone(),
        hierarchical: post_type.hierarchical,
    }
}

fn taxonomy_links(taxonomy: &Taxonomy) -> TaxonomyLinks {
    TaxonomyLinks {
        name: taxonomy.name.clone(),
        base: taxonomy.rewrite_slug.clone(),
        with_front: true,
        hierarchical: taxonomy.rewrite_hierarchical,
        query_var: taxonomy.query_var.clone(),
    }
}

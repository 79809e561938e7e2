//! Generates the site's URLs: converts rows and types to the types of svc-permalinks.

use std::sync::Arc;

use svc_brand::Brand;
use svc_model::{Post, PostType, PostTypes, Taxonomies, Taxonomy, Term, User};
use svc_permalinks::{
    AttachmentLink, AttachmentParent, Filters, Lookup, PageLink, Permalinks, PostLink, PostTypeLinks, RestBase,
    SiteUrls, TaxonomyLinks, TermLink, UrlHooks, needs_plain,
};
use svc_store::{StoredText, options::Options, stamp};

use super::{
    languages::{Language, LanguageUrls, Languages},
    permalink_settings,
    text_options::host,
};

/// Generates URLs according to the site's options.
pub struct Urls {
    /// State that depends on the options and the registered types.
    pub site: SiteUrls,
    /// The URL of the API root before filters, without the slash that begins a path.
    rest_root: String,
    /// The languages, if URLs have them.
    languages: Option<Arc<Languages>>,
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
    /// Code of the post's language.
    pub language: Option<String>,
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
        Urls { rest_root: rest_root(&site), site, languages: None }
    }

    /// With these languages in the URLs of what has them.
    #[must_use]
    pub(crate) fn with_languages(self, languages: Option<Arc<Languages>>) -> Self {
        Urls { languages: languages.filter(|languages| languages.urls != LanguageUrls::Content), ..self }
    }

    /// The URLs for requests over TLS.
    #[must_use]
    pub fn over_tls(&self) -> Self {
        let site = self.site.over_tls();
        Urls { rest_root: rest_root(&site), site, languages: self.languages.clone() }
    }

    /// The languages, if URLs have them.
    pub(crate) fn languages(&self) -> Option<&Languages> {
        self.languages.as_deref()
    }

    /// Whether the URLs of posts of this type have their language.
    pub fn have_language_of_type(&self, post_type: &str) -> bool {
        self.languages.as_ref().is_some_and(|languages| languages.translates_type(post_type))
    }

    /// Whether the URLs of terms of this taxonomy have their language.
    pub fn have_language_of_taxonomy(&self, taxonomy: &str) -> bool {
        self.languages.as_ref().is_some_and(|languages| languages.translates_taxonomy(taxonomy))
    }

    /// A URL of the site with the language of what it leads to, as the plugin builds it. URLs of other sites, and without a language, are
    /// returned as they are.
    pub fn in_language(&self, url: &str, language: Option<&str>) -> String {
        let located = || {
            let languages = self.languages.as_ref()?;
            let language = languages.get(language?)?;
            let is_hidden = languages.hides_default && languages.is_default(language);
            let slug = &language.slug;
            if !self.site.permalinks.is_pretty() {
                let joint = if url.contains('?') { '&' } else { '?' };
                return (!is_hidden).then(|| format!("{url}{joint}lang={slug}"));
            }
            match &languages.urls {
                LanguageUrls::Domain(hosts) => with_host(url, &self.site.home_url(""), hosts.get(slug)?),
                _ if is_hidden => None,
                LanguageUrls::Content => None,
                LanguageUrls::Folder { prefix } => {
                    let (home, root) = (self.site.home_url("/"), self.root());
                    let path = if url == home { Some("") } else { url.strip_prefix(&root) };
                    path.map(|path| format!("{root}{prefix}{slug}/{path}"))
                }
                LanguageUrls::Subdomain => {
                    let home = self.site.home_url("");
                    let host = host(&home);
                    with_host(url, &home, &format!("{slug}.{}", host.strip_prefix("www.").unwrap_or(host)))
                }
            }
        };
        located().unwrap_or_else(|| url.to_owned())
    }

    /// What the URLs of pages with paths begin with.
    fn root(&self) -> String {
        let index = if self.site.permalinks.structure().starts_with("/index.php") { "index.php/" } else { "" };
        format!("{}{index}", self.site.home_url("/"))
    }

    /// The language in a path, and the path without it. `None` if URLs do not have languages in folders, or this path has none.
    fn split_language(&self, path: &str) -> Option<(&Language, String)> {
        let languages = self.languages.as_ref().filter(|_| self.site.permalinks.is_pretty())?;
        let LanguageUrls::Folder { prefix } = &languages.urls else { return None };
        let root = self.root();
        let root = root.split_once("://").map_or(&*root, |(_, rest)| rest).split_once('/').map_or("", |(_, path)| path);
        let below = path.strip_prefix('/')?.strip_prefix(root)?.strip_prefix(prefix)?;
        let (slug, rest) = below.split_once('/').unwrap_or((below, ""));
        Some((languages.get(slug)?, format!("/{root}{rest}")))
    }

    /// The lookups of a request ([`SiteUrls::lookups`]). A language in the path selects none of them.
    pub fn lookups(&self, path: &str, query: &[(String, String)]) -> Vec<Lookup> {
        match self.split_language(path) {
            Some((_, rest)) => self.site.lookups(&rest, query),
            None => self.site.lookups(path, query),
        }
    }

    /// The language of the lists that this path leads to: that in the path, or the default language, if it is not in paths.
    pub fn language_of_path(&self, path: &str) -> Option<&Language> {
        if let Some((language, _)) = self.split_language(path) {
            return Some(language);
        }
        let languages = self.languages.as_ref().filter(|_| self.site.permalinks.is_pretty())?;
        let is_default = matches!(languages.urls, LanguageUrls::Folder { .. }) && languages.hides_default;
        languages.default_language().filter(|_| is_default)
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
        let url = self.post_with(post, post_type, parts, needs_plain(&post.status, !parts.unreadable), false);
        self.in_language_of(url, post, parts)
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
        let template = self.in_language_of(template, post, parts);
        // Custom types use a placeholder named after the type; the REST API always returns `%pagename%`.
        let template = template.replace(&format!("%{}%", post_type.name), "%pagename%");
        // Parents without a slug are omitted.
        let ancestors: Vec<&str> = parts.ancestors.iter().map(String::as_str).filter(|slug| !slug.is_empty()).collect();
        if ancestors.is_empty() {
            return template;
        }
        template.replace("%pagename%", &format!("{}/%pagename%", ancestors.join("/")))
    }

    /// The permalink with the language of the post. That of an attachment is below the permalink of its post.
    fn in_language_of(&self, url: String, post: &Post, parts: &PermalinkParts) -> String {
        if parts.language.is_none() || post.post_type == "attachment" && !post.parent.is_none() {
            return url;
        }
        self.in_language(&url, parts.language.as_deref())
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

    /// The URL of a term's archive; `parents` are the slugs of its ancestors, topmost first, and `language` is the code of its language.
    pub fn term(&self, term: &Term, taxonomy: &Taxonomy, parents: &[&str], language: Option<&String>) -> String {
        let link = TermLink { id: number(term.id.0), slug: &term.slug, parents };
        let url = self.site.term_link(&taxonomy_links(taxonomy), &link);
        self.in_language(&url, language.map(String::as_str))
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

/// The URL with another host, if it is one of the site.
fn with_host(url: &str, home: &str, host: &str) -> Option<String> {
    let (scheme, own) = home.split_once("://")?;
    let own = own.split('/').next().unwrap_or_default();
    let rest = url.strip_prefix(scheme)?.strip_prefix("://")?.strip_prefix(own)?;
    let port = own.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
    rest.is_empty().then_some("").or_else(|| rest.starts_with(['/', '?']).then_some(rest))?;
    Some(format!("{scheme}://{host}{port}{rest}"))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::languages::tests::languages;

    fn urls(home: &str, structure: &str, option: serde_json::Value) -> Urls {
        let mut options = Options::default();
        for (name, value) in [("home", home), ("siteurl", home), ("permalink_structure", structure)] {
            options.insert(name.to_owned(), StoredText::of(value));
        }
        let (types, taxonomies) = (PostTypes::default(), Taxonomies::default());
        let urls = Urls::new(&options, &Brand::default(), &types, &taxonomies, &UrlHooks::default());
        urls.with_languages(languages(option).map(Arc::new))
    }

    #[test]
    fn urls_have_the_language_where_the_plugin_has_it() {
        const PRETTY: &str = "/%postname%/";
        let folder = json!({"force_lang": 1, "rewrite": true, "hide_default": true, "default_lang": "en"});
        let shown = json!({"force_lang": 1, "rewrite": true, "default_lang": "en"});
        let below = json!({"force_lang": 1, "default_lang": "en"});
        let label = json!({"force_lang": 2, "hide_default": true, "default_lang": "en"});
        let hosts = json!({"force_lang": 3, "domains": {"en": "https://a.b", "fr": "https://exemple.fr"}});
        let no_hosts = json!({"force_lang": 3, "domains": {"en": "https://user@c.d", "fr": "javascript:alert(1)//"}});
        #[rustfmt::skip]
        let rows = [
            ("https://a.b", PRETTY, &folder, "fr", "https://a.b/x/", "https://a.b/fr/x/"),
            ("https://a.b", PRETTY, &folder, "en", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &folder, "xx", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &folder, "fr", "https://a.b/?p=7", "https://a.b/fr/?p=7"),
            ("https://a.b", PRETTY, &folder, "fr", "https://a.b/", "https://a.b/fr/"),
            ("https://a.b", PRETTY, &folder, "fr", "https://other.example/x/", "https://other.example/x/"),
            ("https://a.b", PRETTY, &shown, "en", "https://a.b/x/", "https://a.b/en/x/"),
            ("https://a.b/sub", PRETTY, &shown, "fr", "https://a.b/sub/x/", "https://a.b/sub/fr/x/"),
            ("https://a.b", PRETTY, &below, "fr", "https://a.b/x/", "https://a.b/language/fr/x/"),
            ("https://a.b", "/index.php/%postname%/", &folder, "fr", "https://a.b/index.php/x/", "https://a.b/index.php/fr/x/"),
            ("https://a.b", "/index.php/%postname%/", &folder, "fr", "https://a.b/", "https://a.b/index.php/fr/"),
            ("https://a.b", "", &folder, "fr", "https://a.b/?p=7", "https://a.b/?p=7&lang=fr"),
            ("https://a.b", "", &folder, "en", "https://a.b/?p=7", "https://a.b/?p=7"),
            ("https://a.b", PRETTY, &label, "fr", "https://a.b/x/", "https://fr.a.b/x/"),
            ("https://www.a.b:81", PRETTY, &label, "fr", "https://www.a.b:81/x/", "https://fr.a.b:81/x/"),
            ("https://a.b", PRETTY, &label, "en", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &hosts, "fr", "https://a.b/x/", "https://exemple.fr/x/"),
            ("https://a.b", PRETTY, &hosts, "fr", "https://a.b.example/x/", "https://a.b.example/x/"),
            ("https://a.b", PRETTY, &hosts, "ar", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &no_hosts, "fr", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &no_hosts, "en", "https://a.b/x/", "https://a.b/x/"),
            ("https://a.b", PRETTY, &json!({"force_lang": 0}), "fr", "https://a.b/x/", "https://a.b/x/"),
        ];
        for (home, structure, option, language, url, expected) in rows {
            let urls = urls(home, structure, option.clone());
            assert_eq!(urls.in_language(url, Some(language)), expected, "{home} {structure} {option} {language}");
            assert_eq!(urls.in_language(url, None), url);
        }
    }

    #[test]
    fn paths_have_a_language_or_the_hidden_default() {
        let folder = json!({"force_lang": 1, "rewrite": true, "hide_default": true, "default_lang": "en"});
        let shown = json!({"force_lang": 1, "default_lang": "en"});
        let label = json!({"force_lang": 2, "hide_default": true, "default_lang": "en"});
        #[rustfmt::skip]
        let rows = [
            ("https://a.b", &folder, "/fr/x/", Some("fr"), Some("/x/")),
            ("https://a.b", &folder, "/fr/", Some("fr"), Some("/")),
            ("https://a.b", &folder, "/fr", Some("fr"), Some("/")),
            ("https://a.b", &folder, "/en/x/", Some("en"), Some("/x/")),
            ("https://a.b", &folder, "/french/x/", Some("en"), None),
            ("https://a.b", &folder, "/x/fr/", Some("en"), None),
            ("https://a.b", &folder, "", Some("en"), None),
            ("https://a.b/sub", &folder, "/sub/fr/x/", Some("fr"), Some("/sub/x/")),
            ("https://a.b/sub", &folder, "/fr/x/", Some("en"), None),
            ("https://a.b", &shown, "/language/fr/x/", Some("fr"), Some("/x/")),
            ("https://a.b", &shown, "/fr/x/", None, None),
            ("https://a.b", &label, "/fr/x/", None, None),
        ];
        for (home, option, path, language, rest) in rows {
            let urls = urls(home, "/%postname%/", option.clone());
            assert_eq!(urls.language_of_path(path).map(|l| l.slug.as_str()), language, "{home} {option} {path}");
            assert_eq!(urls.split_language(path).map(|(_, rest)| rest).as_deref(), rest, "{home} {option} {path}");
        }
    }
}

//! Resolves the URL of a page request to what must be looked up in the database.
//!
//! Rules in a fixed order turn the path into query variables; the variables of the query string override them; together
//! they select what is looked up. If only the database can distinguish a page from a post, both lookups are returned,
//! in order.

use svc_text::{absint, sanitize_title_with_dashes};

use crate::{
    Archive, AttachmentKey, AuthorKey, DateKey, Feed, Lookup, LookupTarget, PageKey, PostKey, SiteUrls, TermKey,
    links::DEFAULT_FEED,
    pattern::{Pattern, Vars},
    site::decode,
};

/// Longest path that is read, in bytes, and its maximum number of segments. Slugs have at most 200 bytes.
const MAX_PATH: usize = 8 * 1024;
const MAX_SEGMENTS: usize = 64;

/// Feed formats that can appear in paths.
const FEEDS: [&str; 5] = ["feed", "rdf", "rss", "rss2", "atom"];

/// Query variables that a request may set, in addition to those of taxonomies and post types.
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "m", "p", "cat", "s", "page", "paged", "author", "year", "monthnum", "day", "hour", "minute", "second", "name",
    "category_name", "tag", "feed", "author_name", "pagename", "page_id", "attachment", "attachment_id", "preview",
    "robots", "favicon", "taxonomy", "term", "cpage", "post_type", "embed", "withcomments",
];

impl SiteUrls {
    /// The lookups of a request, in order of preference: the first that finds something wins. Never empty.
    ///
    /// `path` is percent-encoded and has no query; `query` contains decoded parameters. Slugs are returned in stored
    /// form (lower case, other characters percent-encoded).
    pub fn lookups(&self, path: &str, query: &[(String, String)]) -> Vec<Lookup> {
        let mut found: Vec<Lookup> = Vec::new();
        for mut vars in self.read_path(path) {
            for (name, value) in query {
                // An empty search counts as a search.
                if (!value.is_empty() || name == "s") && self.is_public(name) {
                    vars.insert(name.clone(), value.clone());
                }
            }
            let lookup = self.classify(&vars);
            if !found.contains(&lookup) {
                found.push(lookup);
            }
        }
        if found.is_empty() {
            found.push(Lookup::default());
        }
        found
    }

    fn is_public(&self, name: &str) -> bool {
        let own = |var: &Option<String>| var.as_deref() == Some(name);
        PUBLIC.contains(&name)
            || self.taxonomies.iter().any(|t| own(&t.query_var))
            || self.post_types.iter().any(|t| own(&t.query_var))
    }

    /// The possible query variables of a path, in order of preference. Empty if the path is invalid.
    fn read_path(&self, path: &str) -> Vec<Vars> {
        let own = self.strip_home(path).trim_matches('/');
        let (index, own) = match own.strip_prefix("index.php") {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (true, rest.trim_start_matches('/')),
            _ => (false, own),
        };
        // Without pretty permalinks, only the query string matters.
        if own.is_empty() || !self.permalinks.is_pretty() {
            return vec![Vars::new()];
        }
        let segments: Vec<&str> = own.split('/').filter(|s| !s.is_empty()).take(MAX_SEGMENTS + 1).collect();
        if own.len() > MAX_PATH || segments.len() > MAX_SEGMENTS {
            return Vec::new();
        }
        if let ([file], false) = (&segments[..], index)
            && let Some(vars) = special_file(file)
        {
            return vec![vars];
        }
        if self.permalinks.index_segment().is_some() && !index {
            return Vec::new();
        }
        let (base, tail) = split_tail(&segments);
        let mut candidates = match self.read_base(base, &tail) {
            Some(vars) => vec![vars],
            None => self.read_content(&segments, base, &tail),
        };
        for vars in &mut candidates {
            for value in vars.values_mut() {
                *value = decode(value);
            }
            vars.extend(tail.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
        candidates
    }

    /// Reads paths with a fixed prefix: terms, custom types, feeds, search, authors, dates.
    fn read_base(&self, base: &[&str], tail: &Vars) -> Option<Vars> {
        let one = |name: &str, value: String| Some(Vars::from([(name.to_owned(), value)]));
        let after = |start: &str| -> Option<Vec<&str>> { segments_after(base, start) };
        let root = self.permalinks.root();
        // `index.php` has already been removed from the path.
        let without_root = |start: &str| start.trim_start_matches('/').strip_prefix(root).map(str::to_owned);
        for taxonomy in &self.taxonomies {
            let start = taxonomy.path_prefix(&self.permalinks).and_then(|s| without_root(&s));
            if let (Some(var), Some(rest)) = (&taxonomy.query_var, start.and_then(|s| after(&s)))
                && (rest.len() == 1 || (taxonomy.hierarchical && rest.len() > 1))
            {
                return one(var, rest.join("/"));
            }
        }
        for post_type in &self.post_types {
            let start = |part: &str| without_root(&self.permalinks.base_path(part, post_type.with_front));
            if let Some(archive) = post_type.archive.as_deref().and_then(start)
                && after(&archive).is_some_and(|rest| rest.is_empty())
            {
                return one("post_type", post_type.name.clone());
            }
            if let (Some(base), Some(var)) = (post_type.base.as_deref().and_then(start), &post_type.query_var)
                && let Some(rest) = after(&base)
                && !rest.is_empty()
            {
                let (rest, page) = split_page(&rest, tail);
                if rest.len() == 1 || post_type.hierarchical {
                    let mut vars = Vars::from([(var.clone(), rest.join("/"))]);
                    vars.extend(page.map(|n| ("page".to_owned(), n.to_owned())));
                    return Some(vars);
                }
            }
        }
        match base {
            [] => return Some(Vars::new()),
            ["comments"] if tail.contains_key("feed") => return one("withcomments", "1".to_owned()),
            ["search", words @ ..] if !words.is_empty() => return one("s", words.join("/")),
            _ => {}
        }
        let authors = without_root(&self.permalinks.base_path("author", true));
        if let Some([author]) = authors.and_then(|s| after(&s)).as_deref() {
            return one("author_name", (*author).to_owned());
        }
        let day = without_root(&self.permalinks.date_structure())?;
        let month = day.replace("%day%", "");
        let year = month.replace("%monthnum%", "");
        [day, month, year].iter().find_map(|structure| Pattern::new(structure).read(base))
    }

    /// Reads paths of posts, pages and attachments, and prefixes of post paths.
    fn read_content(&self, segments: &[&str], base: &[&str], tail: &Vars) -> Vec<Vars> {
        if let [_, .., "attachment", slug] = base {
            return vec![Vars::from([("attachment".to_owned(), (*slug).to_owned())])];
        }
        let structure = self.permalinks.structure().trim_start_matches('/');
        let pattern = Pattern::new(structure.strip_prefix(self.permalinks.root()).unwrap_or(structure));
        let paged = |segments: &[&str], read: &dyn Fn(&[&str]) -> Option<Vars>| {
            let (rest, page) = split_page(segments, tail);
            if let (Some(page), Some(mut vars)) = (page, page.and_then(|_| read(&rest))) {
                vars.insert("page".to_owned(), page.to_owned());
                return Some(vars);
            }
            read(segments)
        };
        let post = paged(base, &|path| pattern.read(path))
            .or_else(|| {
                let (slug, post) = base.split_last()?;
                pattern.read(post)?;
                Some(Vars::from([("attachment".to_owned(), (*slug).to_owned())]))
            })
            .or_else(|| pattern.read_prefix(base));
        // A page may have the slug of a tail, such as `feed`. WordPress then shows the feed.
        let page_path = |path: &[&str]| Some(Vars::from([("pagename".to_owned(), path.join("/"))]));
        let page = if base.is_empty() { page_path(segments) } else { paged(base, &page_path) };
        match (self.permalinks.pages_first(), post) {
            (true, post) => page.into_iter().chain(post).collect(),
            (false, Some(post)) => vec![post],
            (false, None) => page.into_iter().collect(),
        }
    }

    /// Turns query variables into a lookup.
    fn classify(&self, vars: &Vars) -> Lookup {
        let get = |name: &str| vars.get(name).map(String::as_str).filter(|v| !v.is_empty());
        let number = |name: &str| get(name).map_or(0, absint);
        let target = self.target(vars);
        let singular = matches!(target, LookupTarget::Post(_) | LookupTarget::Page(_) | LookupTarget::Attachment(_));
        let feed = get("feed").map(|feed| {
            let (comments, format) = feed.strip_prefix("comments-").map_or((false, feed), |format| (true, format));
            let format = if format == "feed" { DEFAULT_FEED } else { format };
            Feed { format: format.to_owned(), comments: comments || singular || get("withcomments").is_some() }
        });
        Lookup {
            target,
            paged: number("paged"),
            page: number("page"),
            comment_page: number("cpage"),
            feed,
            embed: get("embed").is_some_and(|v| !matches!(v, "0" | "false")),
            preview: get("preview").is_some_and(|v| !matches!(v, "0" | "false")),
        }
    }

    fn target(&self, vars: &Vars) -> LookupTarget {
        let get = |name: &str| vars.get(name).map(String::as_str).filter(|v| !v.is_empty());
        let id = |name: &str| get(name).map(absint).filter(|id| *id > 0);
        for (name, target) in [("robots", LookupTarget::Robots), ("favicon", LookupTarget::Favicon)] {
            if get(name).is_some() {
                return target;
            }
        }
        if let Some(file) = get("sitemap") {
            return LookupTarget::Sitemap(file.to_owned());
        }
        let date = date_of(vars);
        if !date.exists() {
            return LookupTarget::NotFound;
        }
        if let Some(slug) = get("attachment") {
            return LookupTarget::Attachment(AttachmentKey::Slug(slug_of(slug)));
        }
        if let Some(id) = id("attachment_id") {
            return LookupTarget::Attachment(AttachmentKey::Id(id));
        }
        let custom = self.post_types.iter().find_map(|t| Some((t, get(t.query_var.as_deref()?)?)));
        let slug = custom.map(|(_, slug)| path_of(slug)).or_else(|| get("name").map(slug_of));
        if slug.is_some() || id("p").is_some() {
            let post_type = custom.map(|(t, _)| t.name.as_str()).or_else(|| get("post_type"));
            return LookupTarget::Post(PostKey {
                id: id("p"),
                slug,
                post_type: post_type.map(str::to_owned),
                date,
                author: get("author_name").map(slug_of),
                category: get("category_name").map(path_of),
            });
        }
        if let Some(path) = get("pagename") {
            return LookupTarget::Page(PageKey::Path(path_of(path)));
        }
        if let Some(id) = id("page_id") {
            return LookupTarget::Page(PageKey::Id(id));
        }
        let archive = Archive {
            terms: self.terms(vars),
            author: id("author").map(AuthorKey::Id).or_else(|| get("author_name").map(|s| AuthorKey::Slug(slug_of(s)))),
            date,
            search: vars.get("s").cloned(),
            post_type: get("post_type").map(str::to_owned),
        };
        if archive == Archive::default() { LookupTarget::Front } else { LookupTarget::Archive(archive) }
    }

    fn terms(&self, vars: &Vars) -> Vec<TermKey> {
        let get = |name: &str| vars.get(name).map(String::as_str).filter(|v| !v.is_empty());
        let mut terms = Vec::new();
        // A negative id excludes a category. Such an archive is not supported.
        if let Some(id) = get("cat").filter(|v| !v.starts_with('-')).map(absint).filter(|id| *id > 0) {
            terms.push(TermKey::Id("category".to_owned(), id));
        }
        for taxonomy in &self.taxonomies {
            if let Some(path) = taxonomy.query_var.as_deref().and_then(get) {
                let path = format!("{}{}", taxonomy.slug_prefix(), path_of(path));
                terms.push(TermKey::Path(taxonomy.name.clone(), path));
            }
        }
        if let (Some(taxonomy), Some(term)) = (get("taxonomy"), get("term"))
            && self.taxonomies.iter().any(|t| t.name == taxonomy)
        {
            terms.push(TermKey::Path(taxonomy.to_owned(), path_of(term)));
        }
        terms
    }
}

/// A slug in its stored form.
fn slug_of(text: &str) -> String {
    sanitize_title_with_dashes(text, false)
}

/// Slugs in their stored form, joined by `/`.
fn path_of(text: &str) -> String {
    text.split('/').map(slug_of).filter(|slug| !slug.is_empty()).collect::<Vec<_>>().join("/")
}

/// The date of `year`, `monthnum` …, or of `m` (`YYYY`, `YYYYMM`, `YYYYMMDD` and so on).
fn date_of(vars: &Vars) -> DateKey {
    let m: String = vars.get("m").map(|m| m.chars().filter(char::is_ascii_digit).collect()).unwrap_or_default();
    let part = |name: &str, range: std::ops::Range<usize>| {
        let named = vars.get(name).filter(|v| !v.is_empty()).map(|v| absint(v));
        let number = named.or_else(|| m.get(range).map(absint))?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    DateKey {
        year: part("year", 0..4),
        month: part("monthnum", 4..6),
        day: part("day", 6..8),
        hour: part("hour", 8..10),
        minute: part("minute", 10..12),
        second: part("second", 12..14),
    }
}

fn special_file(file: &str) -> Option<Vars> {
    let (name, value) = match file {
        "robots.txt" | "favicon.ico" => (&file[..file.len() - 4], "1"),
        // The short name is an alias of the long one.
        "sitemap.xml" | "wp-sitemap.xml" => ("sitemap", "wp-sitemap.xml"),
        _ if file.starts_with("wp-sitemap") && (file.ends_with(".xml") || file.ends_with(".xsl")) => ("sitemap", file),
        _ => return None,
    };
    Some(Vars::from([(name.to_owned(), value.to_owned())]))
}

/// The segments after a fixed prefix. The comparison ignores percent-encoding.
fn segments_after<'a>(base: &[&'a str], start: &str) -> Option<Vec<&'a str>> {
    let start: Vec<&str> = start.split('/').filter(|s| !s.is_empty()).collect();
    let rest = base.get(start.len()..)?;
    base.iter().zip(&start).all(|(a, b)| a == b || decode(a) == decode(b)).then(|| rest.to_vec())
}

/// Splits off the end of a path that selects a presentation: feed, page number, page of comments, embed.
fn split_tail<'a, 'b>(segments: &'b [&'a str]) -> (&'b [&'a str], Vars) {
    let number = |text: &str| !text.is_empty() && text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit());
    let tail = |name: &str, value: &str| Vars::from([(name.to_owned(), value.to_owned())]);
    match segments {
        [base @ .., "feed", format] if FEEDS.contains(format) => (base, tail("feed", format)),
        [base @ .., format] if FEEDS.contains(format) => (base, tail("feed", format)),
        [base @ .., "page", n] if number(n) => (base, tail("paged", n)),
        [base @ .., "embed"] if !base.is_empty() => (base, tail("embed", "true")),
        [base @ .., "trackback"] if !base.is_empty() => (base, Vars::new()),
        [base @ .., last] if !base.is_empty() => match last.strip_prefix("comment-page-") {
            Some(n) if number(n) => (base, tail("cpage", n)),
            _ => (segments, Vars::new()),
        },
        _ => (segments, Vars::new()),
    }
}

/// Splits a number off the end of a post's path: the page of its content.
fn split_page<'a>(segments: &[&'a str], tail: &Vars) -> (Vec<&'a str>, Option<&'a str>) {
    match segments.split_last() {
        Some((last, rest))
            if !rest.is_empty() && tail.is_empty() && last.len() <= 10 && last.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (rest.to_vec(), Some(last))
        }
        _ => (segments.to_vec(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Permalinks, PostTypeLinks};

    fn site(structure: &str) -> SiteUrls {
        let mut site = SiteUrls::new("http://a.b/sub", "http://a.b/sub", "svc-json", Permalinks::new(structure));
        site.post_types.push(PostTypeLinks::books());
        site
    }

    /// A compact form of lookups: the kind, then all fields that are set.
    fn summary(lookups: &[Lookup]) -> String {
        let one = |l: &Lookup| {
            let mut out: Vec<String> = match &l.target {
                LookupTarget::Post(p) => {
                    let mut out = vec!["post".to_owned()];
                    out.extend(p.id.map(|id| format!("id={id}")));
                    for (name, v) in
                        [("slug", &p.slug), ("type", &p.post_type), ("author", &p.author), ("category", &p.category)]
                    {
                        out.extend(v.as_ref().map(|v| format!("{name}={v}")));
                    }
                    out.extend(date(&p.date));
                    out
                }
                LookupTarget::Page(PageKey::Id(id)) => vec![format!("page id={id}")],
                LookupTarget::Page(PageKey::Path(path)) => vec![format!("page {path}")],
                LookupTarget::Attachment(key) => vec![format!("attachment {key:?}")],
                LookupTarget::Archive(a) => {
                    let mut out = vec!["archive".to_owned()];
                    out.extend(a.terms.iter().map(|t| match t {
                        TermKey::Id(taxonomy, id) => format!("{taxonomy}={id}"),
                        TermKey::Path(taxonomy, path) => format!("{taxonomy}={path}"),
                    }));
                    out.extend(a.author.as_ref().map(|a| match a {
                        AuthorKey::Id(id) => format!("author={id}"),
                        AuthorKey::Slug(slug) => format!("author={slug}"),
                    }));
                    out.extend(date(&a.date));
                    out.extend(a.search.as_ref().map(|s| format!("search={s}")));
                    out.extend(a.post_type.as_ref().map(|t| format!("type={t}")));
                    out
                }
                LookupTarget::Sitemap(file) => vec![format!("sitemap {file}")],
                plain => vec![format!("{plain:?}").to_lowercase()],
            };
            for (name, n) in [("paged", l.paged), ("page", l.page), ("cpage", l.comment_page)] {
                out.extend((n > 0).then(|| format!("{name}={n}")));
            }
            out.extend(
                l.feed.as_ref().map(|f| format!("{}{}", f.format, if f.comments { "-of-comments" } else { "" })),
            );
            out.extend(l.embed.then(|| "embed".to_owned()));
            out.extend(l.preview.then(|| "preview".to_owned()));
            out.join(" ")
        };
        lookups.iter().map(one).collect::<Vec<_>>().join(" | ")
    }

    fn date(d: &DateKey) -> Option<String> {
        let parts = [d.year, d.month, d.day, d.hour, d.minute, d.second];
        (!d.is_empty()).then(|| parts.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join("-"))
    }

    #[track_caller]
    fn check(structure: &str, rows: &[(&str, &str)]) {
        let site = site(structure);
        for (url, expected) in rows {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            let query: Vec<(String, String)> = query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .map(|(k, v)| (k.to_owned(), decode(v)))
                .collect();
            assert_eq!(summary(&site.lookups(&format!("/sub{path}"), &query)), *expected, "{structure} {url}");
        }
    }

    #[test]
    fn date_based_permalinks() {
        check(
            "/%year%/%monthnum%/%day%/%postname%/",
            &[
                ("", "front"),
                ("/", "front"),
                ("/index.php", "front"),
                ("/page/2/", "front paged=2"),
                ("/2024/03/05/hello/", "post slug=hello 2024-3-5"),
                ("/2024/03/05/hello/2/", "post slug=hello 2024-3-5 page=2"),
                ("/2024/03/05/hello/comment-page-3/", "post slug=hello 2024-3-5 cpage=3"),
                ("/2024/03/05/hello/feed/", "post slug=hello 2024-3-5 rss2-of-comments"),
                ("/2024/03/05/hello/embed/", "post slug=hello 2024-3-5 embed"),
                ("/2024/03/05/hello/pic", "attachment Slug(\"pic\")"),
                ("/2024/03/05/hello/attachment/77", "attachment Slug(\"77\")"),
                ("/2024/03/", "archive 2024-3"),
                ("/2024/page/2/", "archive 2024 paged=2"),
                ("/2024/13/", "notfound"),
                ("/2023/02/29/", "notfound"),
                ("/about/team/", "page about/team"),
                ("/about/2/", "page about page=2"),
                ("/%D0%9E-%d0%bd/", "page %d0%be-%d0%bd"),
                ("/category/news/local/page/2/", "archive category=news/local paged=2"),
                ("/category/", "page category"),
                ("/tag/red/feed/atom/", "archive post_tag=red atom"),
                ("/type/aside/", "archive post_format=post-format-aside"),
                ("/author/Jo/", "archive author=jo"),
                ("/search/a+b%20c/page/2", "archive search=a b c paged=2"),
                ("/feed/", "front rss2"),
                ("/comments/feed/", "front rss2-of-comments"),
                ("/atom", "front atom"),
                ("/feed/bogus/", "page feed/bogus"),
                ("/robots.txt", "robots"),
                ("/favicon.ico", "favicon"),
                ("/wp-sitemap-posts-post-1.xml", "sitemap wp-sitemap-posts-post-1.xml"),
                ("/books/dune/2/", "post slug=dune type=book page=2"),
                ("/library/page/3/", "archive type=book paged=3"),
            ],
        );
    }

    #[test]
    fn post_name_permalinks_try_pages_first() {
        check(
            "/%postname%/",
            &[
                ("/hello/", "page hello | post slug=hello"),
                ("/hello/2/", "page hello page=2 | post slug=hello page=2"),
                ("/hello/pic/", "page hello/pic | attachment Slug(\"pic\")"),
                ("/a/b/c/", "page a/b/c"),
                ("/2024/", "archive 2024"),
            ],
        );
    }

    #[test]
    fn other_permalink_structures() {
        check(
            "/archives/%post_id%",
            &[
                ("/archives/4", "post id=4"),
                ("/archives/4/2", "post id=4 page=2"),
                ("/archives/date/2024/03", "archive 2024-3"),
                ("/archives/category/news", "archive category=news"),
                ("/archives/author/jo", "archive author=jo"),
                ("/2024", "page 2024"),
            ],
        );
        check(
            "/%category%/%postname%/",
            &[
                ("/news/local/hello/", "page news/local/hello | post slug=hello category=news/local"),
                ("/news/", "page news | archive category=news"),
                ("/news/hello/2/", "page news/hello page=2 | post slug=hello category=news page=2"),
            ],
        );
        check("/%author%/%postname%/", &[("/jo/", "page jo | archive author=jo")]);
        check(
            "/%post_id%/%hour%%minute%%second%/",
            &[("/4/060708/", "post id=4 6-7-8"), ("/date/2024/", "archive 2024")],
        );
        check(
            "/index.php/%postname%",
            &[
                ("/index.php/hello", "page hello | post slug=hello"),
                ("/index.php/category/news", "archive category=news"),
                ("/index.php/2024/03", "archive 2024-3"),
                ("/hello", "notfound"),
            ],
        );
    }

    #[test]
    fn literals_of_other_alphabets() {
        for structure in
            ["/новости/%postname%/", "/%D0%BD%D0%BE/%postname%/", "/ü/%year%-%postname%", "/a%20b/%postname%/"]
        {
            let site = SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::new(structure));
            let link = site.post_link(&crate::PostLink {
                id: 4,
                slug: "hello",
                date: "2024-03-05 06:07:08",
                author: "jo",
                category: "news",
                plain: false,
                leave_name: false,
            });
            let path = link.strip_prefix("http://a.b").unwrap();
            let encoded = percent_encoding::utf8_percent_encode(path, percent_encoding::CONTROLS).to_string();
            for path in [path, &encoded, &encoded.to_lowercase()] {
                let found = site.lookups(path, &[]);
                let is_post = |lookup: &Lookup| matches!(&lookup.target, LookupTarget::Post(post) if post.slug.as_deref() == Some("hello"));
                assert!(found.iter().any(is_post), "{structure} {path} {found:?}");
            }
        }
    }

    #[test]
    fn query_strings() {
        check(
            "",
            &[
                ("/?p=4", "post id=4"),
                ("/?p=4&preview=true", "post id=4 preview"),
                ("/?page_id=5&paged=2", "page id=5 paged=2"),
                ("/?attachment_id=6", "attachment Id(6)"),
                ("/?cat=2", "archive category=2"),
                ("/?cat=-2", "front"),
                ("/?tag=red&author=3", "archive post_tag=red author=3"),
                ("/?category_name=news", "archive category=news"),
                ("/?taxonomy=post_tag&term=red", "archive post_tag=red"),
                ("/?m=202403", "archive 2024-3"),
                ("/?m=202413", "notfound"),
                ("/?s=a+b&feed=rss2", "archive search=a b rss2"),
                ("/?s=", "archive search="),
                ("/?feed=comments-rss2", "front rss2-of-comments"),
                ("/?book=dune", "post slug=dune type=book"),
                ("/?post_type=book&p=7", "post id=7 type=book"),
                ("/?post_type=book", "archive type=book"),
                ("/?rest_route=&unknown=1", "front"),
                ("/anything?p=4", "post id=4"),
            ],
        );
        check("/%postname%/", &[("/category/news/?s=x", "archive category=news search=x")]);
    }

    #[test]
    fn overlong_paths_are_not_found() {
        check("/%postname%/", &[(&"/a".repeat(65), "notfound"), (&format!("/{}", "a".repeat(9000)), "notfound")]);
    }
}

//! Builds pages: loads related data in a fixed number of queries and renders the templates.

use std::collections::HashMap;

use chrono::NaiveDateTime;
use http::StatusCode;
use svc_auth::{UserVisibility, caps::PostCap};
use svc_discovery::{Announcement, Queried};
use svc_model::{Post, PostId, Term, Timestamp, User, UserId};
use svc_render::{SiteRenderer, oembed};
use svc_render::{
    feeds::MissingFeeds,
    page_template::{self, ListContext, TemplateContext},
};
use svc_site::{
    Settings, Site, SiteResult, Visitor,
    access::Access,
    languages::Language,
    templates::hierarchy::{self, PageSubject},
    url_resolver::{List, ListSubject, urls},
    urls::{rest_base, taxonomy_rest_base},
    users::locales::language_tag,
};
use svc_store::{
    Db, Order,
    comments::{self, CommentOrderBy, CommentQuery},
    posts::{self, PostOrderBy, PostQuery},
    terms,
};
use svc_text::{Html, esc_html, html};

use crate::{
    AccountLinks,
    format::{Texts, decode, plain},
    respond::Page,
    theme::{Sheet, themed_page},
    view::{
        Frame, Link, ListPage, Markup, PlainPage, PostEntry, RssFeed, RssItem, ShownComment, SinglePage, TermGroup,
    },
};

/// Maximum number of pages in the menu.
const MENU_LENGTH: u64 = 12;

/// Maximum number of comments below a post. There is no second page.
const MAX_COMMENTS: u64 = 200;

/// Length of the description for search engines, in characters.
const DESCRIPTION_LENGTH: usize = 160;

pub(crate) const PROTECTED: &str = "<p>This content is password protected.</p>";

/// Builds the pages of one request, in one snapshot.
pub(crate) struct PageBuilder<'a> {
    pub(crate) site: &'a Site,
    pub(crate) renderer: &'a SiteRenderer,
    pub(crate) settings: &'a Settings,
    pub(crate) texts: &'a dyn Texts,
    pub(crate) db: &'a mut Db,
    /// The language of the URL, on a site with several.
    pub(crate) language: Option<&'a Language>,
    /// The requested URL.
    pub(crate) url: String,
    /// Cached style sheet of the theme.
    pub(crate) sheet: &'a Sheet,
    /// Feeds of other sites that are not cached yet.
    pub(crate) missing: MissingFeeds,
    /// The viewer of the page.
    pub(crate) visitor: Visitor,
    /// Where the links of signed-in users lead.
    pub(crate) account: &'a AccountLinks,
}

impl PageBuilder<'_> {
    /// The language of the page, for `lang`: that of the URL, otherwise that of the site.
    fn language_tag(&self) -> String {
        language_tag(self.language.map_or_else(|| self.settings.option("WPLANG"), |language| &language.locale))
    }

    /// The URL of a list in the language of the page.
    fn in_language(&self, url: String) -> String {
        self.settings.urls.in_language(&url, self.language.map(|language| language.slug.as_str()))
    }

    /// The frame of a page with this content, and the values of its `Link` headers. `here` is its canonical URL.
    pub(crate) fn frame(
        &mut self,
        title: &str,
        shown: Queried<'_>,
        here: Option<&str>,
    ) -> SiteResult<(Frame, Vec<String>)> {
        let site = &self.settings.urls.site;
        let announcement = Announcement::new(site, &shown.route(site, &self.site.brand.namespace()));
        let site_name = decode(self.settings.option("blogname"));
        let tagline = decode(self.settings.option("blogdescription"));
        let whole = match (title.is_empty(), tagline.is_empty()) {
            (false, _) => format!("{title} – {site_name}"),
            (true, false) => format!("{site_name} – {tagline}"),
            (true, true) => site_name.clone(),
        };
        let frame = Frame {
            lang: self.language_tag(),
            title: whole,
            home: site.home_url(""),
            feed: self.in_language(site.feed_link("")),
            hidden: self.settings.option("blog_public") == "0",
            head_links_html: Markup(announcement.head_links()),
            canonical: here.map(str::to_owned),
            site_name,
            tagline,
            account: self.account_links(shown)?,
            ..Frame::default()
        };
        Ok((frame, announcement.header_values()))
    }

    /// Links for a signed-in visitor. Those who may edit the shown post get a link to its page of the admin.
    fn account_links(&mut self, shown: Queried<'_>) -> SiteResult<Vec<Link>> {
        if !self.visitor.caller.is_logged_in() {
            return Ok(Vec::new());
        }
        let link = |title: &'static str, url: String| Link { title_html: Markup(title.into()), url, current: false };
        let mut links = Vec::new();
        let admin = self.site.brand.admin_path();
        let page = |path: &str| self.settings.urls.site.site_url(&format!("{admin}/{path}"));
        if self.account.admin {
            if let Queried::Singular(id, _) = shown
                && self.may_edit(PostId(i64::try_from(id).unwrap_or_default()))?
            {
                links.push(link("Edit", page(&format!("post.php?post={id}&action=edit"))));
            }
            if self.visitor.caller.has("edit_posts") {
                links.push(link("New Post", page("post-new.php")));
                links.push(link("Dashboard", page("")));
            }
        }
        links.push(link("Profile", page("profile.php")));
        links.extend(self.account.explorer.clone().map(|path| link("API Explorer", path)));
        Ok(links)
    }

    /// Whether the visitor may edit the post.
    fn may_edit(&mut self, id: PostId) -> SiteResult<bool> {
        let Some(post) = posts::get(self.db, id)? else { return Ok(false) };
        let access = Access::of_posts(self.site, self.settings, self.db, std::slice::from_ref(&post))?;
        Ok(self.visitor.caller.can_post(PostCap::Edit, &post, &access))
    }

    /// The site's top-level pages.
    fn menu(&mut self, here: Option<&str>) -> SiteResult<Vec<Link>> {
        let query = PostQuery::default()
            .post_types(vec!["page".to_owned()])
            .statuses(vec!["publish".to_owned()])
            .parent_in(vec![PostId(0)])
            .order_by(vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Title, Order::Asc)])
            .limit(Some(MENU_LENGTH));
        let ids = posts::query(self.db, &query)?.ids;
        let pages = posts::get_many(self.db, &ids)?;
        let link = |page: &Post| {
            let id = u64::try_from(page.id.0).unwrap_or_default();
            let url = self.settings.urls.site.page_link(&svc_permalinks::PageLink {
                id,
                path: &page.slug,
                ..Default::default()
            });
            Link { title_html: Markup(self.texts.title(&page.title)), current: here == Some(&*url), url }
        };
        Ok(pages.iter().map(link).filter(|l| !l.title_html.0.is_empty()).collect())
    }

    fn date(&self, local: Timestamp) -> String {
        local.map(|d| svc_blocks::date::format(d, self.settings.option("date_format"))).unwrap_or_default()
    }

    fn title_html(&self, post: &Post) -> Html {
        let title = self.texts.title(&post.title);
        let title = if title.trim().is_empty() { "Untitled".into() } else { title };
        if post.is_protected() { html!("Protected: {}", title) } else { title }
    }

    pub(crate) fn entry(&self, post: &Post, url: String, author: Option<&User>, body: Html) -> PostEntry {
        PostEntry {
            title_html: Markup(self.title_html(post)),
            url,
            date: self.date(post.date),
            machine_date: rfc3339(self.utc(post)),
            author: author.map(|u| self.author(u)),
            body_html: Markup(body),
        }
    }

    fn utc(&self, post: &Post) -> Timestamp {
        post.date_gmt.or_else(|| post.date.map(|d| self.settings.zone.to_utc(d)))
    }

    fn author(&self, user: &User) -> Link {
        Link { title_html: Markup(esc_html(&user.display_name)), url: self.settings.urls.author(user), current: false }
    }

    /// The page of a single post.
    pub(crate) fn single(&mut self, post: Post, url: String, is_front: bool) -> SiteResult<Page> {
        let namespace = self.site.brand.namespace();
        let id = u64::try_from(post.id.0).unwrap_or_default();
        let post_type = self.site.registries.types.get(&post.post_type);
        let shown = post_type.map_or(Queried::Other, |k| Queried::Singular(id, rest_base(k, &namespace)));
        let title = plain(&self.title_html(&post));
        let (mut page, mut links) = self.frame(&title, shown, Some(&url))?;
        page.head_links_html.0.push(oembed::discovery_links(self.settings, &url));
        links.push(format!("<{}>; rel=shortlink", svc_text::sanitize_url(&self.settings.urls.site.short_link(id))));
        let is_open = self.visitor.unlocked.is_open(&post);
        if !post.is_protected() {
            page.description = shortened(&plain(&self.texts.excerpt(self.db.cx(), &post)));
        }
        let selected = page_template::custom_template(self.db, post.id)?;
        let subject = if is_front { PageSubject::FrontPage } else { PageSubject::Post }(&post, selected.as_deref());
        let class = if is_front { "home page" } else { "singular" };
        let context = TemplateContext { post: Some(post.clone()), ..TemplateContext::default() };
        if let Some(rendered) = self.render_with_theme(StatusCode::OK, &page, &links, class, subject, context)? {
            return Ok(rendered);
        }
        page.menu = self.menu(Some(&url))?;
        let body = if is_open { self.texts.content(self.db.cx(), &post) } else { PROTECTED.into() };
        let author = author_of(self.db, self.site, &post)?;
        let groups = self.term_groups(post.id)?;
        let comments = if is_open { self.comments(post.id)? } else { Vec::new() };
        let template = SinglePage {
            entry: self.entry(&post, url, author.as_ref(), body),
            dated: post_type.is_some_and(|k| !k.hierarchical),
            groups,
            comments_heading: if comments.len() == 1 {
                "1 comment".to_owned()
            } else {
                format!("{} comments", comments.len())
            },
            comments,
            page,
        };
        Ok(Page::html(StatusCode::OK, &template, links))
    }

    /// Renders a page with the theme. `None` if the theme has no template for it.
    fn render_with_theme(
        &mut self,
        status: StatusCode,
        frame: &Frame,
        links: &[String],
        class: &str,
        subject: PageSubject<'_>,
        context: TemplateContext,
    ) -> SiteResult<Option<Page>> {
        let (url, missing, visitor) = (self.url.clone(), self.missing.clone(), self.visitor.clone());
        let context = TemplateContext { url, missing, visitor, ..context };
        let slugs = hierarchy::of_page(subject, self.settings);
        let rendered = page_template::render_template(self.renderer, self.settings, self.db, &slugs, context)?;
        let sheet = (self.sheet, self.db.cx().transport());
        Ok(rendered.map(|rendered| themed_page(sheet, status, frame, links, class, rendered)))
    }

    fn term_groups(&mut self, post: PostId) -> SiteResult<Vec<TermGroup>> {
        let all = terms::of_objects(self.db, &[post])?.remove(&post).unwrap_or_default();
        let shown: Vec<Term> = all
            .into_iter()
            .filter(|t| {
                self.site.registries.taxonomies.get(&t.taxonomy).is_some_and(|x| x.publicly_queryable && x.show_ui)
            })
            .collect();
        let term_urls = urls::term_urls(self.db, self.site, self.settings, &shown)?;
        let mut groups: Vec<(String, TermGroup)> = Vec::new();
        for (term, url) in shown.iter().zip(term_urls) {
            let link = Link { title_html: Markup(self.texts.title(&term.name)), url, current: false };
            match groups.iter_mut().find(|(name, _)| *name == term.taxonomy) {
                Some((_, group)) => group.terms.push(link),
                None => {
                    let label = self
                        .site
                        .registries
                        .taxonomies
                        .get(&term.taxonomy)
                        .map_or_else(String::new, |x| x.label.clone());
                    groups.push((term.taxonomy.clone(), TermGroup { label, terms: vec![link] }));
                }
            }
        }
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    fn comments(&mut self, post: PostId) -> SiteResult<Vec<ShownComment>> {
        let query = CommentQuery::default()
            .posts(vec![post])
            .approved(vec!["1".to_owned()])
            .types(vec!["comment".to_owned()])
            .order_by(CommentOrderBy::DateGmt)
            .order(Order::Asc)
            .limit(Some(MAX_COMMENTS));
        let ids = comments::query(self.db, &query)?.ids;
        let mut rows = comments::get_many(self.db, &ids)?;
        if self.site.policies.users == UserVisibility::Private {
            rows.iter_mut().for_each(svc_site::comments::hide_user);
        }
        let view = |c: &svc_model::Comment| ShownComment {
            id: c.id.0,
            author: if c.author.is_empty() { "Anonymous".to_owned() } else { decode(&c.author) },
            date: self.date(c.date),
            machine_date: rfc3339(c.date_gmt),
            body_html: Markup(self.texts.comment(self.db.cx(), c)),
        };
        Ok(rows.iter().map(view).collect())
    }

    /// A page of a list. `first` is the URL of the list's first page.
    pub(crate) fn list(&mut self, list: &List, first: Option<String>) -> SiteResult<Page> {
        let namespace = self.site.brand.namespace();
        let number = |id: i64| u64::try_from(id).unwrap_or_default();
        let shown = match &list.subject {
            ListSubject::Term(term, taxonomy) => {
                Queried::Term(number(term.id.0), taxonomy_rest_base(taxonomy, &namespace))
            }
            ListSubject::Author(user) => Queried::Author(number(user.id.0)),
            _ => Queried::Other,
        };
        let heading = self.heading(&list.subject);
        let note = self.note(&list.subject);
        let site = &self.settings.urls.site;
        let (newer, older) = first.as_deref().map_or((None, None), |f| urls::adjacent_pages(site, f, list));
        let here = first.as_deref().map(|f| urls::page_url(site, f, list.number));
        let mut title = plain(&heading);
        if list.number > 1 {
            let page = format!("page {}", list.number);
            title = if title.is_empty() { page } else { format!("{title}, {page}") };
        }
        let (mut page, links) = self.frame(&title, shown, here.as_deref())?;
        if let ListSubject::Search(query) = &list.subject {
            page.searched.clone_from(query);
            page.hidden = true;
            page.canonical = None;
        }
        let context = self.template_context(list, first.clone(), &heading);
        if let Some(rendered) = self.render_with_theme(
            StatusCode::OK,
            &page,
            &links,
            body_class(&list.subject),
            template_subject(&list.subject),
            context,
        )? {
            return Ok(rendered);
        }
        page.menu = self.menu(here.as_deref())?;
        let entries = self.entries(&list.posts)?;
        let empty_message = match list.subject {
            ListSubject::Search(_) => "Nothing was found.",
            _ => "There are no posts yet.",
        };
        let template = ListPage {
            page,
            heading_html: Markup(heading),
            note_html: Markup(note),
            entries,
            empty_message,
            newer,
            older,
        };
        Ok(Page::html(StatusCode::OK, &template, links))
    }

    fn entries(&mut self, rows: &[Post]) -> SiteResult<Vec<PostEntry>> {
        let mut found = urls::post_urls(self.db, self.site, self.settings, rows)?;
        let entry = |post: &Post| {
            let is_open = self.visitor.unlocked.is_open(post);
            let body = if is_open { self.texts.excerpt(self.db.cx(), post) } else { PROTECTED.into() };
            let url = found.urls.remove(&post.id).unwrap_or_default();
            self.entry(post, url, found.authors.get(&post.author), body)
        };
        Ok(rows.iter().map(entry).collect())
    }

    fn heading(&self, subject: &ListSubject) -> Html {
        match subject {
            ListSubject::Home => Html::new(),
            ListSubject::Term(term, taxonomy) => {
                html!("{}: {}", esc_html(&taxonomy.singular_label), self.texts.title(&term.name))
            }
            ListSubject::Author(user) => html!("By {}", esc_html(&user.display_name)),
            ListSubject::Date(date) => {
                let whole = chrono::NaiveDate::from_ymd_opt(
                    date.year.and_then(|y| i32::try_from(y).ok()).unwrap_or(1),
                    date.month.unwrap_or(1),
                    date.day.unwrap_or(1),
                );
                let format = match (date.month, date.day) {
                    (None, _) => "Y",
                    (Some(_), None) => "F Y",
                    (Some(_), Some(_)) => "F j, Y",
                };
                whole
                    .and_then(|d| d.and_hms_opt(0, 0, 0))
                    .map(|d| esc_html(&svc_blocks::date::format(d, format)))
                    .unwrap_or_default()
            }
            ListSubject::Search(query) => html!("Search: {}", esc_html(query)),
            ListSubject::Type(post_type) => esc_html(&post_type.label),
        }
    }

    fn note(&self, subject: &ListSubject) -> Html {
        match subject {
            ListSubject::Term(term, _) if !term.description.trim().is_empty() => {
                html!("<p>{}</p>", esc_html(&plain(&term.description)))
            }
            _ => Html::new(),
        }
    }

    /// The template context of a list. `first` is the URL of its first page.
    fn template_context(&self, list: &List, first: Option<String>, heading: &Html) -> TemplateContext {
        let (urls, first) = (self.settings.urls.site.clone(), first.unwrap_or_default());
        let list_context = ListContext {
            posts: list.posts.clone(),
            per_page: list.per_page,
            page: list.number,
            pages: list.pages,
            total: list.total,
            page_url: Box::new(move |number| urls::page_url(&urls, &first, number)),
            title: heading.clone(),
            search_term: match &list.subject {
                ListSubject::Search(query) => Some(query.clone()),
                _ => None,
            },
        };
        let term = match &list.subject {
            ListSubject::Term(term, taxonomy) => Some((term.id, taxonomy.name.clone())),
            _ => None,
        };
        TemplateContext { term, list: Some(list_context), ..TemplateContext::default() }
    }

    /// The RSS feed of a list.
    pub(crate) fn feed(&mut self, list: &List) -> SiteResult<Page> {
        let found = urls::post_urls(self.db, self.site, self.settings, &list.posts)?;
        let ids: Vec<PostId> = list.posts.iter().map(|p| p.id).collect();
        let all_terms = terms::of_objects(self.db, &ids)?;
        let site = &self.settings.urls.site;
        let name = decode(self.settings.option("blogname"));
        let heading = plain(&self.heading(&list.subject));
        let item = |post: &Post| self.feed_item(post, &found.urls, &found.authors, &all_terms);
        let template = RssFeed {
            title: if heading.is_empty() { name } else { format!("{heading} – {name}") },
            tagline: decode(self.settings.option("blogdescription")),
            home: self.in_language(site.home_url("/")),
            own: self.url.clone(),
            lang: self.language_tag(),
            built: list.posts.iter().filter_map(|p| self.utc(p)).max().map(rfc2822).unwrap_or_default(),
            items: list.posts.iter().map(item).collect(),
        };
        Ok(Page::feed(&template, Announcement::new(site, "").header_values()))
    }

    fn feed_item(
        &self,
        post: &Post,
        post_urls: &HashMap<PostId, String>,
        authors: &HashMap<UserId, User>,
        all_terms: &HashMap<PostId, Vec<Term>>,
    ) -> RssItem {
        let is_open = !post.is_protected();
        let names = all_terms.get(&post.id).into_iter().flatten();
        let shown = |t: &&Term| matches!(t.taxonomy.as_str(), "category" | "post_tag");
        let summary_only = self.settings.number("rss_use_excerpt") != 0;
        RssItem {
            title: plain(&self.title_html(post)),
            url: post_urls.get(&post.id).cloned().unwrap_or_default(),
            author: authors.get(&post.author).map(|u| u.display_name.clone()),
            date: self.utc(post).map(rfc2822).unwrap_or_default(),
            categories: names.filter(shown).map(|t| decode(&t.name)).collect(),
            guid: decode(&post.guid),
            summary: if is_open { plain(&self.texts.excerpt(self.db.cx(), post)) } else { plain(PROTECTED) },
            content: match (is_open, summary_only) {
                (false, _) => PROTECTED.into(),
                (true, true) => self.texts.excerpt(self.db.cx(), post),
                (true, false) => self.texts.content(self.db.cx(), post),
            },
        }
    }

    /// The page with status 404.
    pub(crate) fn not_found(&mut self) -> SiteResult<Page> {
        let (mut page, links) = self.frame("Not found", Queried::Other, None)?;
        page.hidden = true;
        if let Some(rendered) = self.render_with_theme(
            StatusCode::NOT_FOUND,
            &page,
            &links,
            "error404",
            PageSubject::NotFound,
            TemplateContext::default(),
        )? {
            return Ok(rendered);
        }
        page.menu = self.menu(None)?;
        let template = PlainPage {
            page,
            heading: "Not found",
            text: "There is no page at this URL. It may have moved, or the URL may be misspelled.",
        };
        Ok(Page::html(StatusCode::NOT_FOUND, &template, links))
    }
}

/// The subject of a list for the template hierarchy.
fn template_subject(subject: &ListSubject) -> PageSubject<'_> {
    match subject {
        ListSubject::Home => PageSubject::Home,
        ListSubject::Term(term, taxonomy) => PageSubject::Term(term, taxonomy),
        ListSubject::Author(user) => PageSubject::Author(user),
        ListSubject::Date(_) => PageSubject::Date,
        ListSubject::Search(_) => PageSubject::Search,
        ListSubject::Type(post_type) => PageSubject::PostType(post_type),
    }
}

/// CSS class of the body of a list.
fn body_class(subject: &ListSubject) -> &'static str {
    match subject {
        ListSubject::Home => "home blog",
        ListSubject::Search(_) => "search",
        _ => "archive",
    }
}

pub(crate) fn author_of(db: &mut Db, site: &Site, post: &Post) -> SiteResult<Option<User>> {
    let is_shown = !post.author.is_none() && site.policies.users != UserVisibility::Private;
    Ok(if is_shown { svc_store::users::get(db, post.author)? } else { None })
}

/// RFC 3339, from UTC.
fn rfc3339(utc: Timestamp) -> String {
    utc.map(|d| d.format("%Y-%m-%dT%H:%M:%S+00:00").to_string()).unwrap_or_default()
}

/// RFC 2822, from UTC.
fn rfc2822(utc: NaiveDateTime) -> String {
    utc.format("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// The beginning of a text, cut between words.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= DESCRIPTION_LENGTH {
        return text;
    }
    let cut: String = text.chars().take(DESCRIPTION_LENGTH).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_between_words() {
        let long = "word ".repeat(60);
        let cut = shortened(&long);
        assert!(cut.ends_with("word…") && cut.chars().count() <= DESCRIPTION_LENGTH + 1);
        assert_eq!(shortened(" a \n b "), "a b");
    }
}

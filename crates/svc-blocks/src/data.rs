//! The data that dynamic blocks display: the trait [`BlockData`] and its types.
//!
//! Implementations should cache results, since blocks request the same data repeatedly. They return only data that
//! the current user may see.

use std::rc::Rc;

use chrono::{NaiveDate, NaiveDateTime};
use svc_model::{Comment, CommentId, Post, PostId, Term, TermId, UserId};
use svc_text::Html;

/// Settings of the site.
#[derive(Clone, Debug, Default)]
pub struct BlockSiteInfo {
    /// The site's title, as stored.
    pub name: String,
    /// The site's tagline, as stored.
    pub description: String,
    /// URL of the front page, without a trailing slash.
    pub home: String,
    /// URL of the login page.
    pub login_url: String,
    /// Whether the request is for the front page.
    pub is_front: bool,
    /// Date format, as for PHP's `date`.
    pub date_format: String,
    /// Time format, as for PHP's `date`.
    pub time_format: String,
    /// First day of the week; 0 is Sunday.
    pub start_of_week: u32,
    /// Whether avatars are enabled.
    pub show_avatars: bool,
    /// Attachment id of the site logo.
    pub logo: PostId,
    /// Id of the static front page.
    pub front_page: PostId,
    /// Number of posts per page.
    pub posts_per_page: u64,
    /// Directory name of the active theme.
    pub theme: String,
    /// Maximum depth of threaded comments; `None` if threading is disabled.
    pub thread_depth: Option<u32>,
    /// Number of comments per page; `None` if comments are not paged.
    pub comments_per_page: Option<u64>,
    /// Whether the newest comments are listed first.
    pub newest_comments_first: bool,
    /// Whether only logged-in users may comment.
    pub comments_need_login: bool,
    /// Whether the comment form offers a cookie that stores the author's name.
    pub comment_cookies: bool,
    /// Age of a post in days from which its comments are closed.
    pub comments_close_after: Option<i64>,
    /// Whether smilies are converted to images.
    pub smilies: bool,
    /// URL of the directory of smiley images.
    pub smilies_url: String,
    /// The site's host name.
    pub own_host: String,
}

/// A post that the current user may see.
#[derive(Clone, Debug, Default)]
pub struct PostView {
    /// The stored post.
    pub post: Post,
    /// URL of the post.
    pub link: String,
    /// The title, with the prefix of private and protected posts.
    pub title: Html,
    /// Attachment id of the featured image.
    pub thumbnail: PostId,
    /// Whether the post has a password that the user has not entered.
    pub locked: bool,
    /// CSS classes of the post's element.
    pub classes: Vec<Html>,
    /// Its footnotes, as stored.
    pub footnotes: String,
    /// Hooked blocks that are not inserted into its content, as stored.
    pub ignored_hooks: String,
}

/// A page of posts.
#[derive(Clone, Debug, Default)]
pub struct Posts {
    /// The posts.
    pub items: Vec<Rc<PostView>>,
    /// Number of posts on all pages.
    pub total: u64,
}

/// The main query of an HTML page.
pub struct MainQuery {
    /// The posts on this page.
    pub posts: Rc<Posts>,
    /// Number of posts per page.
    pub per_page: u64,
    /// Page number, starting at 1.
    pub page: u64,
    /// Number of pages.
    pub pages: u64,
    /// Returns the URL of a page of this list.
    pub page_url: Box<dyn Fn(u64) -> String>,
    /// Title of the archive; empty for the list of newest posts.
    pub title: Html,
    /// The search text.
    pub search_term: Option<String>,
}

/// Sort order of posts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PostsOrder {
    /// By publication date.
    #[default]
    Date,
    /// By modification date.
    Modified,
    /// By title.
    Title,
    /// By author.
    Author,
    /// By `menu_order`.
    MenuOrder,
    /// By id.
    Id,
    /// By number of comments.
    Comments,
    /// By relevance to the search text.
    Relevance,
}

/// A query for posts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PostsQuery {
    /// Post type.
    pub post_type: String,
    /// Maximum number of posts.
    pub limit: u64,
    /// Number of posts to skip.
    pub offset: u64,
    /// Sort order.
    pub order: PostsOrder,
    /// Whether to sort in ascending order.
    pub ascending: bool,
    /// Only posts by these authors, if any.
    pub authors: Vec<UserId>,
    /// Posts to exclude.
    pub exclude: Vec<PostId>,
    /// Only children of these posts, if any.
    pub parents: Vec<PostId>,
    /// Search text.
    pub search: String,
    /// Terms that posts must or must not have.
    pub terms: Vec<TermFilter>,
    /// Post formats; `standard` is one of them.
    pub formats: Vec<String>,
    /// How sticky posts are handled.
    pub sticky: Sticky,
}

/// Terms of a taxonomy that posts must or must not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermFilter {
    /// The taxonomy.
    pub taxonomy: String,
    /// The terms.
    pub terms: Vec<TermId>,
    /// Exclude posts with these terms.
    pub without: bool,
    /// Include posts of child terms.
    pub with_children: bool,
}

/// How a list handles sticky posts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sticky {
    /// Sort them like other posts.
    #[default]
    Ignored,
    /// List them first on the first page.
    First,
    /// List only sticky posts.
    Only,
    /// Exclude sticky posts.
    Without,
}

/// A term and the URL of its archive.
#[derive(Clone, Debug, Default)]
pub struct TermView {
    /// The stored term.
    pub term: Term,
    /// URL of its archive.
    pub link: String,
}

/// Sort order of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TermsOrder {
    /// By name.
    #[default]
    Name,
    /// By number of posts, descending.
    Count,
}

/// A query for terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermsQuery {
    /// Taxonomy.
    pub taxonomy: String,
    /// Only terms with posts.
    pub hide_empty: bool,
    /// Only direct children of this term; zero for top-level terms.
    pub parent: Option<TermId>,
    /// Sort order.
    pub order: TermsOrder,
    /// Maximum number of terms.
    pub limit: Option<u64>,
}

/// A taxonomy's names.
#[derive(Clone, Debug, Default)]
pub struct TaxonomyView {
    /// Plural label.
    pub label: String,
    /// Singular label.
    pub singular: String,
    /// Query parameter of the taxonomy in URLs.
    pub query_var: String,
    /// Whether terms can have parents.
    pub hierarchical: bool,
}

/// A user who has written posts.
#[derive(Clone, Debug, Default)]
pub struct AuthorView {
    /// User id.
    pub id: UserId,
    /// Display name.
    pub name: String,
    /// URL of the author archive.
    pub link: String,
    /// Biographical text.
    pub biography: String,
    /// E-mail address; used for the avatar only and never shown.
    pub email: String,
}

/// A comment and its URLs.
#[derive(Clone, Debug, Default)]
pub struct CommentView {
    /// The stored comment.
    pub comment: Comment,
    /// URL of the comment on its post's page.
    pub link: String,
    /// URL that the author's name links to.
    pub author_link: String,
    /// The author's current display name.
    pub author: String,
    /// URL for editing the comment; `None` if the user may not edit it.
    pub edit_link: Option<String>,
}

/// A query for approved comments, without pingbacks and trackbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommentsQuery {
    /// Only comments on this post; `None` for all public posts.
    pub post: Option<PostId>,
    /// Whether to list the newest comments first.
    pub newest_first: bool,
    /// Maximum number of comments.
    pub limit: u64,
}

/// How an image is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImageLoading {
    /// When it becomes visible.
    #[default]
    Late,
    /// Immediately, for images at the top of the page.
    First,
    /// As determined by the rules for images in content.
    Content,
}

/// A request for an image tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageRequest {
    /// Name of the image size.
    pub size: String,
    /// CSS classes.
    pub class: String,
    /// Alt text; `None` for the attachment's own.
    pub alt: Option<String>,
    /// Further attributes, between `alt` and `style`.
    pub more: Vec<(&'static str, String)>,
    /// Value of the `style` attribute; `None` to omit it.
    pub style: Option<String>,
    /// How the image is loaded.
    pub loading: ImageLoading,
}

/// A template part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplatePartView {
    /// Its blocks.
    pub content: String,
    /// Its area: `header`, `footer`, `uncategorized`.
    pub area: String,
    /// Hooked blocks that are not inserted into it, as stored.
    pub ignored_hooks: String,
}

/// An item of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedItem {
    /// Its title, as plain text.
    pub title: String,
    /// Its URL.
    pub link: String,
    /// Its publication date in the site's time zone.
    pub date: Option<NaiveDateTime>,
    /// Its author.
    pub author: String,
    /// Its text, as plain text.
    pub text: String,
}

/// Access to the data of a site, and to the request.
///
/// Implementations can record which of them a block reads, and so determine for which requests its HTML is valid.
pub trait BlockData {
    /// Settings of the site.
    fn site_info(&self) -> &BlockSiteInfo;
    /// URL of the request.
    fn current_url(&self) -> &str;
    /// A parameter in the query of the request's URL, as sent. Its name begins with `query-`.
    fn page_parameter(&self, name: &str) -> Option<&str> {
        let (_, query) = self.current_url().split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
    /// Whether the request is authenticated.
    fn is_logged_in(&self) -> bool {
        self.logout_url().is_some()
    }
    /// URL that logs the current user out, without a redirect target; `None` if no user is logged in.
    fn logout_url(&self) -> Option<String>;
    /// The current time in the site's time zone.
    fn now(&self) -> NaiveDateTime;
    /// The current date in the site's time zone.
    fn today(&self) -> NaiveDate {
        self.now().date()
    }
    /// Whether a local time is now or in the past.
    fn is_past(&self, local: NaiveDateTime) -> bool {
        self.now() >= local
    }
    /// Offset of the site's time zone from UTC at a local time, in seconds.
    fn offset(&self, local: NaiveDateTime) -> i64;
    /// A post that the current user may see.
    fn post(&self, id: PostId) -> Option<Rc<PostView>>;
    /// The main query of the HTML page; `None` if no page is rendered.
    fn main(&self) -> Option<Rc<MainQuery>> {
        None
    }
    /// A page of published posts.
    fn posts(&self, query: &PostsQuery) -> Rc<Posts>;
    /// The published post after (`next`) or before this one; if `taxonomy` is not empty, among the posts with the
    /// same terms.
    fn adjacent_post(&self, of: &Post, next: bool, taxonomy: &str) -> Option<Rc<PostView>>;
    /// All published pages, sorted by `menu_order` and title.
    fn pages(&self) -> Rc<Vec<Rc<PostView>>>;
    /// The days on which posts were published and the number of posts, newest first.
    fn days(&self) -> Rc<Vec<(NaiveDate, u64)>>;
    /// URL of the archive of a year, a month or a day.
    fn date_link(&self, year: i32, month: Option<u32>, day: Option<u32>) -> String;
    /// The names of a taxonomy.
    fn taxonomy(&self, name: &str) -> Option<TaxonomyView>;
    /// The terms of a post in a taxonomy, sorted by name.
    fn terms_of(&self, post: PostId, taxonomy: &str) -> Vec<Rc<TermView>>;
    /// A term of a taxonomy.
    fn term(&self, id: TermId, taxonomy: &str) -> Option<Rc<TermView>> {
        let query = TermsQuery { taxonomy: taxonomy.to_owned(), ..TermsQuery::default() };
        self.terms(&query).iter().find(|term| term.term.id == id).cloned()
    }
    /// The label and the archive URL of a post type that has an archive.
    fn archive(&self, _post_type: &str) -> Option<(String, String)> {
        None
    }
    /// A meta value of a post; only for keys that the REST API shows to anonymous users.
    fn post_meta(&self, _post: PostId, _key: &str) -> Option<String> {
        None
    }
    /// The terms of a taxonomy.
    fn terms(&self, query: &TermsQuery) -> Rc<Vec<Rc<TermView>>>;
    /// A user with published posts.
    fn author_view(&self, id: UserId) -> Option<Rc<AuthorView>>;
    /// URL of the avatar for an e-mail address.
    fn avatar(&self, email: &str, pixels: u32) -> String;
    /// Comments that anonymous users may read.
    fn comments(&self, query: &CommentsQuery) -> Rc<Vec<Rc<CommentView>>>;
    /// A comment by id, from an earlier result of [`Self::comments`].
    fn comment(&self, id: CommentId) -> Option<Rc<CommentView>>;
    /// An icon of the site's collections, as SVG.
    fn icon(&self, _name: &str) -> Option<Html> {
        None
    }
    /// The tag of an image attachment.
    fn image(&self, id: PostId, request: &ImageRequest) -> Option<Html>;
    /// The data for images in content.
    fn images(&self) -> Option<&dyn svc_content::images::Images> {
        None
    }
    /// A template part of a theme, including the site's changes.
    fn template_part(&self, slug: &str, theme: &str) -> Option<TemplatePartView>;
    /// The blocks of a registered pattern.
    fn pattern(&self, name: &str) -> Option<String>;
    /// The menu with this id, or the fallback menu if `chosen` is `None`.
    fn menu(&self, chosen: Option<PostId>) -> Option<Rc<PostView>>;
    /// The newest items of a feed; `None` if it cannot be loaded.
    fn feed(&self, url: &str, items: u64) -> Option<Rc<Vec<FeedItem>>>;
}

//! What dynamic blocks show, as a site gives it: facts, and answers to questions about posts, terms, people, comments.
//!
//! Whoever answers remembers his answers: blocks ask the same thing as often as they stand in a text. What comes is what
//! the reader may see.

use std::rc::Rc;

use chrono::{NaiveDate, NaiveDateTime};
use svc_model::{Comment, CommentId, Post, PostId, Term, TermId, UserId};

/// What does not change while a response is made.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The site's name, as stored.
    pub name: String,
    /// What it is about, as stored.
    pub description: String,
    /// Address of the front page, without slash at its end.
    pub home: String,
    /// Address of the log-in page.
    pub login_url: String,
    /// Address at which the reader logs out, without where he goes then; nothing for readers who are not logged in.
    pub logout_url: Option<String>,
    /// Address that was asked for.
    pub current_url: String,
    /// That is the front page, shown as a page.
    pub is_front: bool,
    /// How dates are written, in PHP's letters.
    pub date_format: String,
    /// How times are written.
    pub time_format: String,
    /// First day of the week, Sunday being 0.
    pub start_of_week: u32,
    /// The present moment in the site's zone.
    pub now: NaiveDateTime,
    /// Whether people have pictures.
    pub show_avatars: bool,
    /// The attachment that is the site's logo.
    pub logo: PostId,
    /// The page shown as front page.
    pub front_page: PostId,
    /// Posts on a page.
    pub posts_per_page: u64,
    /// The active theme.
    pub theme: String,
    /// Whether comments stand below those that they answer, and how deep.
    pub thread_depth: Option<u32>,
    /// Comments on a page; nothing when all are on one.
    pub comments_per_page: Option<u64>,
    /// The newest comments come first.
    pub newest_comments_first: bool,
    /// Only people who are logged in may comment.
    pub comments_need_login: bool,
    /// Guests are asked whether the browser may keep their name.
    pub comment_cookies: bool,
    /// Comments close when the post is older than this many days.
    pub comments_close_after: Option<i64>,
    /// Whether smilies become pictures.
    pub smilies: bool,
    /// Address of the folder with images of smilies.
    pub smilies_url: String,
    /// The site's own host.
    pub own_host: String,
}

/// A post that the reader may see.
#[derive(Clone, Debug, Default)]
pub struct PostView {
    /// The row.
    pub post: Post,
    /// Address of its page.
    pub link: String,
    /// The title as HTML, with what marks posts that are not for all.
    pub title: String,
    /// The attachment that stands for it.
    pub thumbnail: PostId,
    /// A password guards it that the reader has not given.
    pub locked: bool,
    /// Class names of the element around it.
    pub classes: Vec<String>,
    /// Its footnotes, as stored.
    pub footnotes: String,
    /// The blocks that are not put into its content, as stored.
    pub ignored_hooks: String,
}

/// A page of posts.
#[derive(Clone, Debug, Default)]
pub struct Posts {
    /// The posts.
    pub items: Vec<Rc<PostView>>,
    /// How many there are on all pages.
    pub total: u64,
}

/// The list that a page's address asks for, where it asks for one.
pub struct MainList {
    /// The posts on this page of the list.
    pub posts: Rc<Posts>,
    /// Posts on a page.
    pub per_page: u64,
    /// Number of the page, from 1.
    pub page: u64,
    /// How many pages there are.
    pub pages: u64,
    /// Address of a page of the list.
    pub address: Box<dyn Fn(u64) -> String>,
    /// What the list is of, as HTML; empty for the newest posts.
    pub title: String,
    /// What was searched for.
    pub searched: Option<String>,
}

/// What posts are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PostsOrder {
    /// When they were published.
    #[default]
    Date,
    /// When they were changed.
    Modified,
    /// Their titles.
    Title,
    /// Their authors.
    Author,
    /// Their places among others.
    MenuOrder,
    /// Their numbers.
    Id,
    /// How many comments they have.
    Comments,
    /// How well they fit what is searched.
    Relevance,
}

/// Which posts are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PostsQuery {
    /// Their type.
    pub post_type: String,
    /// At most so many.
    pub limit: u64,
    /// So many are skipped.
    pub offset: u64,
    /// What they are ordered by.
    pub order: PostsOrder,
    /// The smallest first.
    pub ascending: bool,
    /// Only by these people.
    pub authors: Vec<UserId>,
    /// None of these.
    pub exclude: Vec<PostId>,
    /// Only those below these.
    pub parents: Vec<PostId>,
    /// A text in them.
    pub search: String,
    /// Terms that they have, and terms that they do not have, by taxonomy.
    pub terms: Vec<TermQueryAttributes>,
    /// Names of formats, `standard` among them.
    pub formats: Vec<String>,
    /// What is done about posts that stay on top.
    pub sticky: Sticky,
}

/// Terms of one taxonomy that posts have, or do not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermQueryAttributes {
    /// The taxonomy.
    pub taxonomy: String,
    /// The terms.
    pub terms: Vec<TermId>,
    /// The posts have none of them.
    pub without: bool,
    /// Posts of terms below count too.
    pub with_children: bool,
}

/// What a list does about posts that stay on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sticky {
    /// They stand where the order puts them.
    #[default]
    Ignored,
    /// They come first on the first page.
    First,
    /// Only they.
    Only,
    /// None of them.
    Without,
}

/// A term with the address of its archive.
#[derive(Clone, Debug, Default)]
pub struct TermView {
    /// The row.
    pub term: Term,
    /// Address of its archive.
    pub link: String,
}

/// What terms are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TermsOrder {
    /// Their names.
    #[default]
    Name,
    /// How many posts they have, most first.
    Count,
}

/// Which terms are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermsQuery {
    /// Their taxonomy.
    pub taxonomy: String,
    /// Only those with posts.
    pub hide_empty: bool,
    /// Only those right below this one; zero is the topmost.
    pub parent: Option<TermId>,
    /// What they are ordered by.
    pub order: TermsOrder,
    /// At most so many.
    pub limit: Option<u64>,
}

/// A taxonomy, as blocks name it.
#[derive(Clone, Debug, Default)]
pub struct TaxonomyView {
    /// What people call its terms.
    pub label: String,
    /// What people call one of them.
    pub singular: String,
    /// The parameter that names its terms in addresses.
    pub query_var: String,
    /// Terms can stand below others.
    pub hierarchical: bool,
}

/// Somebody who writes on the site.
#[derive(Clone, Debug, Default)]
pub struct Person {
    /// His number.
    pub id: UserId,
    /// What he is called.
    pub name: String,
    /// Address of the archive of his posts.
    pub link: String,
    /// What he says of himself.
    pub biography: String,
    /// His e-mail address, which is never shown.
    pub email: String,
}

/// A comment.
#[derive(Clone, Debug, Default)]
pub struct CommentView {
    /// The row.
    pub comment: Comment,
    /// Address of it on its post's page.
    pub link: String,
    /// Where its author's name leads.
    pub author_link: String,
    /// What its author is called now.
    pub author: String,
    /// Where it can be changed, for those who may.
    pub edit_link: Option<String>,
}

/// Which comments are asked for: approved ones, of people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommentsQuery {
    /// On this post; on any public one when nothing is said.
    pub post: Option<PostId>,
    /// The newest first.
    pub newest_first: bool,
    /// At most so many.
    pub limit: u64,
}

/// When an image is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loading {
    /// When it comes into sight.
    #[default]
    Late,
    /// At once: it is what the page shows first.
    First,
    /// As the rules for the content say that it stands in.
    Content,
}

/// How an image is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageRequest {
    /// Name of the size.
    pub size: String,
    /// Class names.
    pub class: String,
    /// What stands for it in text; its own when nothing is said.
    pub alt: Option<String>,
    /// Attributes of its own between that text and its style.
    pub more: Vec<(&'static str, String)>,
    /// Its style; no attribute when nothing is said.
    pub style: Option<String>,
    /// When it is loaded.
    pub loading: Loading,
}

/// A part of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartView {
    /// Its blocks.
    pub content: String,
    /// Where it stands: `header`, `footer`, `uncategorized`.
    pub area: String,
    /// The blocks that are not put into it, as stored.
    pub ignored_hooks: String,
}

/// An item of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedItem {
    /// Its title, as text.
    pub title: String,
    /// Where it leads.
    pub link: String,
    /// When it was published, in the site's zone.
    pub date: Option<NaiveDateTime>,
    /// Who wrote it.
    pub author: String,
    /// What it says, as text.
    pub text: String,
}

/// A site, as dynamic blocks ask it.
pub trait BlockData {
    /// What does not change meanwhile.
    fn facts(&self) -> &Facts;
    /// How far the site's zone is ahead of UTC at a moment of the zone, in seconds.
    fn offset(&self, local: NaiveDateTime) -> i64;
    /// A post that the reader may see.
    fn post(&self, id: PostId) -> Option<Rc<PostView>>;
    /// The list that the page itself shows; nothing where no page is drawn.
    fn main(&self) -> Option<Rc<MainList>> {
        None
    }
    /// A page of published posts.
    fn posts(&self, query: &PostsQuery) -> Rc<Posts>;
    /// The published posts before and after this one: within a taxonomy, when one is named.
    fn neighbour(&self, of: &Post, next: bool, taxonomy: &str) -> Option<Rc<PostView>>;
    /// All published pages, by place and title.
    fn pages(&self) -> Rc<Vec<Rc<PostView>>>;
    /// On which days posts were published, and how many; the newest first.
    fn days(&self) -> Rc<Vec<(NaiveDate, u64)>>;
    /// Address of the archive of a year, a month or a day.
    fn date_link(&self, year: i32, month: Option<u32>, day: Option<u32>) -> String;
    /// A taxonomy.
    fn taxonomy(&self, name: &str) -> Option<TaxonomyView>;
    /// The terms of a post in a taxonomy, by name.
    fn terms_of(&self, post: PostId, taxonomy: &str) -> Vec<Rc<TermView>>;
    /// A term of a taxonomy.
    fn term(&self, id: TermId, taxonomy: &str) -> Option<Rc<TermView>> {
        let query = TermsQuery { taxonomy: taxonomy.to_owned(), ..TermsQuery::default() };
        self.terms(&query).iter().find(|term| term.term.id == id).cloned()
    }
    /// The name of a post type, and the address of the list of its posts, where it has one.
    fn archive(&self, _post_type: &str) -> Option<(String, String)> {
        None
    }
    /// A value of a post that is kept beside it under a key: only those that the interface shows to everybody.
    fn post_meta(&self, _post: PostId, _key: &str) -> Option<String> {
        None
    }
    /// Terms of a taxonomy.
    fn terms(&self, query: &TermsQuery) -> Rc<Vec<Rc<TermView>>>;
    /// Somebody.
    fn person(&self, id: UserId) -> Option<Rc<Person>>;
    /// Address of the picture of whoever has this e-mail address.
    fn avatar(&self, email: &str, pixels: u32) -> String;
    /// Comments that everybody may read.
    fn comments(&self, query: &CommentsQuery) -> Rc<Vec<Rc<CommentView>>>;
    /// Comments by their numbers, as answered before.
    fn comment(&self, id: CommentId) -> Option<Rc<CommentView>>;
    /// An icon of the collections of the site, as SVG.
    fn icon(&self, _name: &str) -> Option<String> {
        None
    }
    /// An image of the site as HTML.
    fn image(&self, id: PostId, wish: &ImageRequest) -> Option<String>;
    /// Images in content.
    fn images(&self) -> Option<&dyn svc_content::images::Images> {
        None
    }
    /// A part of a theme's templates, as changed by the site.
    fn template_part(&self, slug: &str, theme: &str) -> Option<PartView>;
    /// The blocks of a registered pattern.
    fn pattern(&self, name: &str) -> Option<String>;
    /// The menu with this number, or of the one that stands in when none is chosen.
    fn menu(&self, chosen: Option<PostId>) -> Option<Rc<PostView>>;
    /// The newest items of a feed; nothing when it cannot be read.
    fn feed(&self, address: &str, items: u64) -> Option<Rc<Vec<FeedItem>>>;
}

//! The data of the recorded site for dynamic blocks: one post, one category, no user logged in.

use std::rc::Rc;

use svc_blocks::data::{
    AuthorView, BlockData, BlockSiteInfo, CommentView, CommentsQuery, FeedItem, ImageRequest, PostView, Posts,
    PostsQuery, TaxonomyView, TemplatePartView, TermView, TermsQuery,
};
use svc_model::{CommentId, Post, PostId, Term, TermId, UserId};
use svc_text::Html;

/// The recorded site.
pub(super) struct RecordedSite {
    site_info: BlockSiteInfo,
}

const HOME: &str = "http://example.org";

/// The URL of the recorded site's smiley images.
pub(super) const SMILIES_URL: &str = "http://example.org/wp-includes/images/smilies/";

/// The recorded site's host.
pub(super) const OWN_HOST: &str = "example.org";

impl RecordedSite {
    pub(super) fn new() -> Self {
        RecordedSite {
            site_info: BlockSiteInfo {
                name: "Example Site".to_owned(),
                description: "A tagline".to_owned(),
                home: HOME.to_owned(),
                login_url: format!("{HOME}/wp-login.php"),
                date_format: "F j, Y".to_owned(),
                start_of_week: 1,
                posts_per_page: 10,
                theme: "twentytwentyfive".to_owned(),
                smilies: true,
                smilies_url: SMILIES_URL.to_owned(),
                own_host: OWN_HOST.to_owned(),
                ..BlockSiteInfo::default()
            },
        }
    }
}

fn first_post() -> PostView {
    PostView {
        post: Post { id: PostId(1), post_type: "post".to_owned(), status: "publish".to_owned(), ..Post::default() },
        link: format!("{HOME}/2024/03/05/hello-world/"),
        title: "Hello world!".into(),
        ..PostView::default()
    }
}

impl BlockData for RecordedSite {
    fn site_info(&self) -> &BlockSiteInfo {
        &self.site_info
    }

    fn current_url(&self) -> &str {
        "http://example.org/"
    }

    fn logout_url(&self) -> Option<String> {
        None
    }

    fn now(&self) -> chrono::NaiveDateTime {
        chrono::NaiveDateTime::default()
    }

    fn offset(&self, _: chrono::NaiveDateTime) -> i64 {
        0
    }

    fn post(&self, _: PostId) -> Option<Rc<PostView>> {
        None
    }

    fn posts(&self, query: &PostsQuery) -> Rc<Posts> {
        let items = if query.post_type == "post" { vec![Rc::new(first_post())] } else { Vec::new() };
        Rc::new(Posts { total: items.len() as u64, items })
    }

    fn adjacent_post(&self, _: &Post, _: bool, _: &str) -> Option<Rc<PostView>> {
        None
    }

    fn pages(&self) -> Rc<Vec<Rc<PostView>>> {
        Rc::default()
    }

    fn days(&self) -> Rc<Vec<(chrono::NaiveDate, u64)>> {
        Rc::default()
    }

    fn date_link(&self, year: i32, _: Option<u32>, _: Option<u32>) -> String {
        format!("{HOME}/{year}/")
    }

    fn taxonomy(&self, name: &str) -> Option<TaxonomyView> {
        (name == "category").then(|| TaxonomyView {
            label: "Categories".to_owned(),
            singular: "Category".to_owned(),
            query_var: "category_name".to_owned(),
            hierarchical: true,
        })
    }

    fn terms_of(&self, _: PostId, _: &str) -> Vec<Rc<TermView>> {
        Vec::new()
    }

    fn terms(&self, query: &TermsQuery) -> Rc<Vec<Rc<TermView>>> {
        let uncategorized = || TermView {
            term: Term {
                id: TermId(1),
                taxonomy: "category".to_owned(),
                name: "Uncategorized".to_owned(),
                slug: "uncategorized".to_owned(),
                count: 1,
                ..Term::default()
            },
            link: format!("{HOME}/category/uncategorized/"),
        };
        Rc::new(if query.taxonomy == "category" { vec![Rc::new(uncategorized())] } else { Vec::new() })
    }

    fn author_view(&self, _: UserId) -> Option<Rc<AuthorView>> {
        None
    }

    fn avatar(&self, _: &str, _: u32) -> String {
        String::new()
    }

    fn comments(&self, _: &CommentsQuery) -> Rc<Vec<Rc<CommentView>>> {
        Rc::default()
    }

    fn comment(&self, _: CommentId) -> Option<Rc<CommentView>> {
        None
    }

    fn image(&self, _: PostId, _: &ImageRequest) -> Option<Html> {
        None
    }

    fn template_part(&self, _: &str, _: &str) -> Option<TemplatePartView> {
        None
    }

    fn pattern(&self, _: &str) -> Option<String> {
        None
    }

    fn menu(&self, _: Option<PostId>) -> Option<Rc<PostView>> {
        None
    }

    fn feed(&self, _: &str, _: u64) -> Option<Rc<Vec<FeedItem>>> {
        None
    }
}

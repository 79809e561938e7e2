//! Content and the HTML of its dynamic blocks on a small site. Except for svc's own texts, the HTML was recorded from
//! WordPress.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

use std::rc::Rc;

use chrono::{NaiveDate, NaiveDateTime};
use serde_json::{Value, json};
use svc_blocks::{
    BlockData, CoreBlocks,
    data::{
        AuthorView, BlockSiteInfo, CommentView, CommentsQuery, FeedItem, ImageRequest, PostView, Posts, PostsQuery,
        TaxonomyView, TemplatePartView, TermView, TermsQuery,
    },
    with_text,
};
use svc_content::{
    RenderContext,
    block_render::{Duotone, FluidSizes, Renderer, Theme},
    blocks::{BlockType, BlockTypes, parse},
    display::standard_shortcodes,
    render_content,
};
use svc_model::{Comment, CommentId, Post, PostId, Term, TermId, UserId};
use svc_text::{Html, esc_html, html};

struct SmallSite(BlockSiteInfo);

fn small_site() -> SmallSite {
    SmallSite(BlockSiteInfo {
        name: "Site &amp; Co".to_owned(),
        home: "http://s".to_owned(),
        login_url: "http://s/wp-login.php".to_owned(),
        date_format: "F j, Y".to_owned(),
        start_of_week: 1,
        posts_per_page: 10,
        show_avatars: true,
        thread_depth: Some(3),
        ..BlockSiteInfo::default()
    })
}

fn at(year: i32, month: u32, day: u32) -> NaiveDateTime {
    NaiveDate::from_ymd_opt(year, month, day).unwrap().and_hms_opt(9, 0, 0).unwrap()
}

/// Posts 1 to 3, of which 3 has a password, and post 4, a pattern that contains itself.
fn post(id: i64) -> Option<Rc<PostView>> {
    let content = if id == 4 { "<p>in</p><!-- wp:block {\"ref\":4} /-->" } else { "<p>Text</p>" };
    let view = PostView {
        post: Post {
            id: PostId(id),
            author: UserId(1),
            date: Some(at(2024, 1, u32::try_from(id).unwrap())),
            content: content.to_owned(),
            post_type: if id == 4 { "wp_block" } else { "post" }.to_owned(),
            status: "publish".to_owned(),
            comment_status: "open".to_owned(),
            comment_count: 2,
            ..Post::default()
        },
        link: format!("http://s/p{id}/"),
        title: html!("Post {}", id),
        locked: id == 3,
        classes: vec![html!("post-{}", id)],
        footnotes: r#"[{"id":"n1","content":"A <b>note</b><script>x</script>"}]"#.to_owned(),
        ..PostView::default()
    };
    (1..=4).contains(&id).then(|| Rc::new(view))
}

fn term(id: i64, parent: i64, name: &str, count: i64) -> Rc<TermView> {
    let term = Term {
        id: TermId(id),
        taxonomy: "category".to_owned(),
        name: name.to_owned(),
        slug: name.to_lowercase(),
        parent: TermId(parent),
        count,
        ..Term::default()
    };
    Rc::new(TermView { link: format!("http://s/c/{id}/"), term })
}

fn comment(id: i64, parent: i64) -> Rc<CommentView> {
    let comment = Comment {
        id: CommentId(id),
        post: PostId(1),
        parent: CommentId(parent),
        content: "Hi".to_owned(),
        ..Comment::default()
    };
    Rc::new(CommentView {
        link: format!("http://s/p1/#comment-{id}"),
        author: "O'Neil".to_owned(),
        comment,
        ..CommentView::default()
    })
}

impl BlockData for SmallSite {
    fn site_info(&self) -> &BlockSiteInfo {
        &self.0
    }
    fn current_url(&self) -> &str {
        if self.0.login_url.is_empty() { "" } else { "http://s/?query-3-page=2" }
    }
    fn logout_url(&self) -> Option<String> {
        None
    }
    fn now(&self) -> NaiveDateTime {
        at(2024, 2, 10)
    }
    fn offset(&self, _: NaiveDateTime) -> i64 {
        -5 * 3600
    }
    fn post(&self, id: PostId) -> Option<Rc<PostView>> {
        post(id.0)
    }
    fn posts(&self, query: &PostsQuery) -> Rc<Posts> {
        let ids = 1 + i64::try_from(query.offset).unwrap()..=3;
        let items = ids.filter_map(post).take(usize::try_from(query.limit).unwrap()).collect();
        Rc::new(if query.search.is_empty() { Posts { items, total: 3 } } else { Posts::default() })
    }
    fn adjacent_post(&self, _: &Post, _: bool, _: &str) -> Option<Rc<PostView>> {
        None
    }
    fn pages(&self) -> Rc<Vec<Rc<PostView>>> {
        Rc::default()
    }
    fn days(&self) -> Rc<Vec<(NaiveDate, u64)>> {
        Rc::new(vec![(at(2024, 1, 5).date(), 2), (at(2023, 12, 31).date(), 1)])
    }
    fn date_link(&self, year: i32, month: Option<u32>, day: Option<u32>) -> String {
        format!("http://s/{year}/{}/{}", month.unwrap_or(0), day.unwrap_or(0))
    }
    fn taxonomy(&self, _: &str) -> Option<TaxonomyView> {
        Some(TaxonomyView { label: "Categories".to_owned(), hierarchical: true, ..TaxonomyView::default() })
    }
    fn terms_of(&self, _: PostId, _: &str) -> Vec<Rc<TermView>> {
        vec![term(1, 0, "News", 3)]
    }
    fn terms(&self, _: &TermsQuery) -> Rc<Vec<Rc<TermView>>> {
        Rc::new(vec![term(1, 0, "News", 3), term(2, 1, "World", 2)])
    }
    fn author_view(&self, id: UserId) -> Option<Rc<AuthorView>> {
        let author_view =
            AuthorView { id, name: "Ann".to_owned(), link: "http://s/author/ann/".to_owned(), ..AuthorView::default() };
        (id.0 == 1).then(|| Rc::new(author_view))
    }
    fn avatar(&self, _: &str, pixels: u32) -> String {
        format!("http://a/?s={pixels}")
    }
    fn comments(&self, _: &CommentsQuery) -> Rc<Vec<Rc<CommentView>>> {
        Rc::new(vec![comment(1, 0), comment(2, 1)])
    }
    fn comment(&self, id: CommentId) -> Option<Rc<CommentView>> {
        Some(comment(id.0, 0))
    }
    fn image(&self, _: PostId, _: &ImageRequest) -> Option<Html> {
        None
    }
    fn template_part(&self, slug: &str, _: &str) -> Option<TemplatePartView> {
        let content = "<p>part</p><!-- wp:template-part {\"slug\":\"head\"} /-->".to_owned();
        (slug == "head").then(|| TemplatePartView { content, area: "header".to_owned(), ..TemplatePartView::default() })
    }
    fn pattern(&self, name: &str) -> Option<String> {
        (name == "a/b").then(|| "<!-- wp:pattern {\"slug\":\"a/b\"} /-->x".to_owned())
    }
    fn menu(&self, _: Option<PostId>) -> Option<Rc<PostView>> {
        None
    }
    fn feed(&self, _: &str, _: u64) -> Option<Rc<Vec<FeedItem>>> {
        None
    }
}

fn render(types: &BlockTypes, content: &str) -> Html {
    let site = small_site();
    let blocks = CoreBlocks::new(types, &site);
    let theme = Theme::default();
    blocks.within_post(PostId(1), "post", || Renderer::new(&theme, &with_text(&blocks)).render(&parse(content)))
}

#[track_caller]
fn check(content: &str, html: &str) {
    assert_eq!(render(BlockTypes::core(), content), html, "{content}");
}

#[test]
fn site_and_post_blocks() {
    for (content, html) in [
        (
            r##"<!-- wp:site-title {"level":0,"textColor":"base","style":{"color":{"text":"#111"},"spacing":{"margin":{"top":"1px"}}},"fontSize":"xLarge","anchor":"a"} /-->"##,
            r#"<p style="margin-top:1px" class="wp-block-site-title has-text-color has-base-color has-x-large-font-size" id="a"><a href="http://s" target="_self" rel="home">Site &amp; Co</a></p>"#,
        ),
        (
            r#"<!-- wp:post-title {"level":3,"isLink":true,"className":"\u003cb\u003e"} /-->"#,
            r#"<h3 class="&lt;b&gt; wp-block-post-title"><a href="http://s/p1/" target="_self" >Post 1</a></h3>"#,
        ),
        (
            "<!-- wp:post-date /-->",
            r#"<div class="wp-block-post-date"><time datetime="2024-01-01T09:00:00-05:00">January 1, 2024</time></div>"#,
        ),
        (
            r#"<!-- wp:post-date {"format":"human-diff"} /-->"#,
            r#"<div class="wp-block-post-date"><time datetime="2024-01-01T09:00:00-05:00">1 month ago</time></div>"#,
        ),
        (
            r#"<!-- wp:post-terms {"term":"category","prefix":"In "} /-->"#,
            r#"<div class="taxonomy-category wp-block-post-terms"><span class="wp-block-post-terms__prefix">In </span><a href="http://s/c/1/" rel="tag">News</a></div>"#,
        ),
        (
            "<!-- wp:footnotes /-->",
            "<ol class=\"wp-block-footnotes\"><li id=\"n1\">A <b>note</b>x <a href=\"#n1-link\" aria-label=\"Jump to footnote reference 1\">\u{21a9}\u{fe0e}</a></li></ol>",
        ),
        ("<!-- wp:post-featured-image /-->", ""),
        (
            "<!-- wp:loginout /-->",
            r#"<div class="logged-out wp-block-loginout"><a href="http://s/wp-login.php?redirect_to=http%3A%2F%2Fs%2F%3Fquery-3-page%3D2">Log in</a></div>"#,
        ),
    ] {
        check(content, html);
    }
}

#[test]
fn list_blocks() {
    for (content, html) in [
        (
            r#"<!-- wp:archives {"type":"yearly","showPostCounts":true} /-->"#,
            "<ul class=\"wp-block-archives-list wp-block-archives\">\t<li><a href='http://s/2024/0/0'>2024</a>&nbsp;(2)</li>\n\t<li><a href='http://s/2023/0/0'>2023</a>&nbsp;(1)</li>\n</ul>",
        ),
        (
            r#"<!-- wp:categories {"showHierarchy":true,"showPostCounts":true} /-->"#,
            "<ul class=\"wp-block-categories-list wp-block-categories-taxonomy-category wp-block-categories\">\t<li class=\"cat-item cat-item-1\"><a href=\"http://s/c/1/\">News</a> (5)\n<ul class='children'>\n\t<li class=\"cat-item cat-item-2\"><a href=\"http://s/c/2/\">World</a> (2)\n</li>\n</ul>\n</li>\n</ul>",
        ),
    ] {
        check(content, html);
    }
}

#[test]
fn query_loops_render_the_requested_page() {
    let query = r#"{"queryId":3,"query":{"perPage":1,"postType":"post","inherit":false,"sticky":"ignore"}}"#;
    check(
        &format!(
            "<!-- wp:query {query} --><div><!-- wp:post-template --><!-- wp:post-title /--><!-- /wp:post-template --><!-- wp:query-pagination --><!-- wp:query-pagination-previous /--><!-- wp:query-pagination-numbers /--><!-- wp:query-pagination-next /--><!-- /wp:query-pagination --></div><!-- /wp:query -->"
        ),
        concat!(
            r#"<div class="is-layout-flow wp-block-query-is-layout-flow"><ul class="wp-block-post-template is-layout-flow wp-block-post-template-is-layout-flow"><li class="wp-block-post post-2"><h2 class="wp-block-post-title">Post 2</h2></li></ul>"#,
            r#"<nav class="wp-block-query-pagination is-layout-flex wp-block-query-pagination-is-layout-flex" aria-label="Pagination"><a href="/" class="wp-block-query-pagination-previous">Previous Page</a>"#,
            "<div class=\"wp-block-query-pagination-numbers\"><a class=\"page-numbers\" href=\"/\">1</a>\n<span aria-current=\"page\" class=\"page-numbers current\">2</span>\n<a class=\"page-numbers\" href=\"?query-3-page=3\">3</a></div>",
            r#"<a href="/?query-3-page=3" class="wp-block-query-pagination-next">Next Page</a></nav></div>"#,
        ),
    );
    check(
        r#"<!-- wp:query {"query":{"search":"x","inherit":false}} --><i></i><!-- wp:query-no-results -->None<!-- /wp:query-no-results --><!-- /wp:query -->"#,
        r#"<i class="is-layout-flow wp-block-query-is-layout-flow"></i><div class="wp-block-query-no-results">None</div>"#,
    );
}

/// Link colours and custom CSS of a post template also apply to the first element of each item.
#[test]
fn items_have_the_classes_of_their_list() {
    let style = r##"{"style":{"elements":{"link":{"color":{"text":"#111"}}},"css":"color:red"}}"##;
    let query = r#"{"query":{"perPage":2,"inherit":false,"sticky":"ignore"}}"#;
    let html = render(
        BlockTypes::core(),
        &format!(
            "<!-- wp:query {query} --><!-- wp:post-template {style} -->t<i>x</i><!-- /wp:post-template --><!-- /wp:query -->"
        ),
    );
    let dressed = html.matches(r#"t<i class="wp-elements-1 has-custom-css wp-custom-css-"#).count();
    assert_eq!((dressed, html.matches("wp-elements-1").count()), (2, 3), "{html}");
}

#[test]
fn replies_are_nested_in_their_comments() {
    check(
        "<!-- wp:comment-template --><!-- wp:comment-author-name /--><!-- /wp:comment-template -->",
        concat!(
            r#"<ol class="wp-block-comment-template"><li id="comment-1" class="comment even thread-even depth-1"><div class="wp-block-comment-author-name">O'Neil</div>"#,
            r#"<ol><li id="comment-2" class="comment odd alt depth-2"><div class="wp-block-comment-author-name">O'Neil</div></li></ol></li></ol>"#,
        ),
    );
}

/// Small blocks can render to large HTML. Beyond the limit they are empty, whether in sequence, in a loop or nested.
#[test]
fn size_of_dynamic_blocks_is_limited() {
    const LIMIT: usize = 10_000;
    let long = "x".repeat(3_000);
    let query = r#"{"query":{"perPage":3,"inherit":false,"sticky":"ignore"}}"#;
    let rows = [
        ("<!-- wp:latest-comments /-->".repeat(200), 0),
        (
            format!("<!-- wp:query {query} --><!-- wp:post-template --><p>{long}</p><!-- /wp:post-template --><!-- /wp:query -->").repeat(5),
            0,
        ),
        ("<!-- wp:group --><div><!-- wp:latest-comments /--></div><!-- /wp:group -->".repeat(200), 200 * 80),
    ];
    for (content, fixed) in rows {
        let site = small_site();
        let blocks = CoreBlocks::new(BlockTypes::core(), &site).with_byte_limit(LIMIT);
        let theme = Theme::default();
        let html = blocks
            .within_post(PostId(1), "post", || Renderer::new(&theme, &with_text(&blocks)).render(&parse(&content)));
        assert!(blocks.is_truncated() && html.len() <= LIMIT + fixed, "{} bytes of {content:.100}", html.len());
        assert!(html.len() > LIMIT / 4, "{} bytes of {content:.100}", html.len());
    }
    let site = small_site();
    let blocks = CoreBlocks::new(BlockTypes::core(), &site);
    let theme = Theme::default();
    let html = blocks.within_post(PostId(1), "post", || {
        Renderer::new(&theme, &with_text(&blocks)).render(&parse("<!-- wp:site-title /-->"))
    });
    assert!(!blocks.is_truncated() && html.contains("Site"), "{html}");
}

/// A style value may contain further declarations, which are all filtered.
#[test]
fn all_declarations_of_a_style_value_are_filtered() {
    let rows = [
        (r#"{"typography":{"fontStyle":"red;background:url(javascript:X);foo:bar"}}"#, "font-style:red"),
        (r#"{"typography":{"fontStyle":"italic;position:fixed"}}"#, "font-style:italic;position:fixed"),
        (r#"{"typography":{"lineHeight":"1.5"}}"#, "line-height:1.5"),
        (r#"{"spacing":{"padding":{"top":"1px;}*{x:y","left":"2px"}}}"#, "padding-top:1px;padding-left:2px"),
        (r##"{"color":{"text":"#fff<b>"}}"##, "color:#fff"),
    ];
    for (style, expected) in rows {
        let html = render(BlockTypes::core(), &format!("<!-- wp:site-title {{\"style\":{style}}} /-->"));
        let found = html.split_once("style=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(css, _)| css);
        assert_eq!(found, expected, "{style}: {html}");
    }
}

#[test]
fn recursive_content_is_rendered_once() {
    for (content, html) in [
        (r#"<!-- wp:block {"ref":4} /-->"#, "<p>in</p>"),
        (r#"<!-- wp:pattern {"slug":"a/b"} /-->"#, "x"),
        (
            r#"<!-- wp:template-part {"slug":"head"} /-->"#,
            "<header class=\"wp-block-template-part\"><p>part</p></header>",
        ),
    ] {
        // The nested occurrence renders as an empty template part at most.
        let made =
            render(BlockTypes::core(), content).replace("<header class=\"wp-block-template-part\"></header>", "");
        assert_eq!(made, html, "{content}");
    }
}

#[test]
fn protected_content_is_not_rendered() {
    let query = r#"{"query":{"perPage":3,"inherit":false,"sticky":"ignore","offset":2}}"#;
    let html = render(
        BlockTypes::core(),
        &format!(
            "<!-- wp:query {query} --><!-- wp:post-template --><!-- wp:post-content /--><!-- wp:post-excerpt /--><!-- wp:comment-template --><!-- wp:comment-content /--><!-- /wp:comment-template --><!-- /wp:post-template --><!-- /wp:query --><!-- wp:latest-posts {{\"displayPostContent\":true,\"displayPostContentRadio\":\"full_post\"}} /-->"
        ),
    );
    assert!(html.contains("post_password"), "{html}");
    assert_eq!(html.matches("Text").count(), 2, "expected only the two other posts: {html}");
}

#[test]
fn block_types_with_a_render_callback_are_rendered() {
    let mut types = BlockTypes::default();
    types.register(
        BlockType::new("my/box", "Box")
            .attribute("n", serde_json::json!({"type": "integer", "default": 1}))
            .rendered_by(|attributes, content| html!("[{} {}]", esc_html(&attributes["n"].to_string()), content)),
    );
    for (content, html) in [
        ("<!-- wp:my/box /-->", "[1 ]"),
        ("<!-- wp:my/box {\"n\":\"x\"} -->in<!-- /wp:my/box -->", "[1 in]"),
        ("<!-- wp:my/box {\"n\":5} /-->", "[5 ]"),
    ] {
        assert_eq!(render(&types, content), html, "{content}");
    }
}

/// The block settings of the theme with which `grid.jsonl` was recorded.
fn recorded_theme() -> Theme {
    let settings = json!({"layout": {"wideSize": "1200px"}, "typography": {"fluid": true}});
    Theme {
        block_gap: Some("24px".to_owned()),
        fluid: FluidSizes::of(&settings),
        positions: vec!["sticky".to_owned()],
        duotones: vec![Duotone { slug: "blue-orange".to_owned(), ..Duotone::default() }],
        ..Theme::default()
    }
}

/// Rows of `{name, in, out}`: blocks with each feature and layout, and the content that WordPress rendered.
#[test]
fn features_render_as_recorded() {
    let mut types = BlockTypes::default();
    let badge = BlockType::new("fixture/badge", "Badge")
        .rendered_by(|_, _| Html::from("<span class=\"badge calm\">New</span>"));
    types.register(badge);
    let site = SmallSite(BlockSiteInfo {
        name: "Peer &amp; Site".to_owned(),
        home: "http://s".to_owned(),
        ..BlockSiteInfo::default()
    });
    let theme = recorded_theme();
    let mut failed = Vec::new();
    let rows: Vec<Value> = include_str!("grid.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        let text = |member: &str| row[member].as_str().unwrap();
        let blocks = CoreBlocks::new(&types, &site);
        let dynamic = with_text(&blocks);
        let context = RenderContext::new(Renderer::new(&theme, &dynamic), standard_shortcodes());
        let shown = blocks.within_post(PostId(1), "post", || render_content(text("in"), &context));
        if shown != text("out") {
            failed.push(format!("{}\n  recorded {}\n  rendered {shown}", text("name"), text("out")));
        }
    }
    assert!(rows.len() > 500 && failed.is_empty(), "{} of {}:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

#[test]
fn block_hooks_insert_blocks() {
    let mut types = BlockTypes::default();
    for (name, anchor, place) in [
        ("my/first", "core/post-content", "firstChild"),
        ("my/pattern", "core/block", "lastChild"),
        ("my/part", "core/template-part", "firstChild"),
        ("my/item", "core/post-template", "lastChild"),
    ] {
        let file = json!({"name": name, "blockHooks": {anchor: place}});
        types.register(BlockType::from_json(&file).unwrap().rendered_by(move |_, _| html!("[{}]", name)));
    }
    for (content, html) in [
        (r#"<!-- wp:block {"ref":4} /-->"#, "<p>in</p>[my/pattern]"),
        (
            r#"<!-- wp:template-part {"slug":"head"} /-->"#,
            r#"<header class="wp-block-template-part"><p>part</p>[my/part]<header class="wp-block-template-part"></header></header>"#,
        ),
        (
            r#"<!-- wp:query {"query":{"perPage":1,"inherit":false,"sticky":"ignore"}} --><div><!-- wp:post-template --><!-- wp:post-content /--><!-- /wp:post-template --></div><!-- /wp:query -->"#,
            r#"<div class="is-layout-flow wp-block-query-is-layout-flow"><ul class="wp-block-post-template is-layout-flow wp-block-post-template-is-layout-flow"><li class="wp-block-post post-1"><div class="entry-content wp-block-post-content is-layout-flow wp-block-post-content-is-layout-flow">[my/first]<p>Text</p></div>[my/item]</li></ul></div>"#,
        ),
    ] {
        assert_eq!(render_hooked(&types, content), html, "{content}");
    }
}

/// Renders with block hooks, as for a page's template.
fn render_hooked(types: &BlockTypes, content: &str) -> Html {
    let site = small_site();
    let blocks = CoreBlocks::new(types, &site);
    let (theme, dynamic) = (Theme::default(), with_text(&blocks));
    let renderer = Renderer::new(&theme, &dynamic);
    renderer.render(&renderer.parse(content, None))
}

//! Comment blocks: the site's latest comments, and the comments on a post.

use std::{collections::HashMap, rc::Rc};

use chrono::Duration;
use svc_content::display;
use svc_model::CommentId;
use svc_text::{Html, esc_attr, esc_html, esc_url, html, strip_all_tags};

use crate::{
    core::BlockCall,
    data::{CommentView, CommentsQuery, PostView},
    html::{classes, formatted, heading, stored},
    posts::{display_date, iso_date, title_or_placeholder},
    urls,
    users::{avatar_image, plain_name},
};

/// Maximum number of comments that are rendered for a post.
const MAX_COMMENTS: u64 = 1_000;
/// Maximum depth of replies.
const MAX_DEPTH: u32 = 10;
/// Number of words of a comment in the list of latest comments.
const EXCERPT_WORDS: usize = 20;

pub(crate) fn latest(call: &BlockCall<'_>) -> Html {
    let limit = u64::try_from(call.number("commentsToShow").unwrap_or(5)).unwrap_or(5).min(100);
    let comments = call.data().comments(&CommentsQuery { post: None, newest_first: true, limit });
    // The deprecated `displayExcerpt` only shows or hides the text.
    let text_mode = match (call.text("displayContent"), call.attr("displayExcerpt")) {
        (_, serde_json::Value::Bool(false)) => "none",
        ("", _) => "excerpt",
        (chosen, _) => chosen,
    };
    let class = classes(&[
        if call.is("displayAvatar") { "has-avatars" } else { "" },
        if call.is("displayDate") { "has-dates" } else { "" },
        if text_mode == "none" { "" } else { "has-excerpts" },
        if comments.is_empty() { "no-comments" } else { "" },
    ]);
    let attributes = call.wrapper_with(&[&class]);
    if comments.is_empty() {
        return html!("<div {}>No comments to show.</div>", attributes);
    }
    let items: Html = comments.iter().map(|comment| latest_item(call, comment, text_mode)).collect();
    html!("<ol {}>{}</ol>", attributes, items)
}

fn latest_item(call: &BlockCall<'_>, comment: &CommentView, text_mode: &str) -> Html {
    let mut out = Html::from("<li class=\"wp-block-latest-comments__comment\">");
    if call.is("displayAvatar") {
        let class = "wp-block-latest-comments__comment-avatar";
        out.push(avatar_image(call, &comment.comment.author_email, "", 48, class, ""));
    }
    let name = plain_name(&comment.author);
    let author = if comment.author_link.is_empty() {
        html!("<span class=\"wp-block-latest-comments__comment-author\">{}</span>", name)
    } else {
        html!(
            "<a class=\"wp-block-latest-comments__comment-author\" href=\"{}\">{}</a>",
            esc_url(&comment.author_link),
            name
        )
    };
    let title = call.data().post(comment.comment.post).map(|post| post.title.clone()).unwrap_or_default();
    let title = title_or_placeholder(title);
    out.push(html!("<article><footer class=\"wp-block-latest-comments__comment-meta\">{} on <a class=\"wp-block-latest-comments__comment-link\" href=\"{}\">{}</a>", author, esc_url(&comment.link), title));
    if let (true, Some(date)) = (call.is("displayDate"), comment.comment.date) {
        out.push(html!(
            "<time datetime=\"{}\" class=\"wp-block-latest-comments__comment-date\">{}</time>",
            esc_attr(&iso_date(call, date)),
            display_date(call, date, "")
        ));
    }
    out.push("</footer>");
    let is_locked = call.data().post(comment.comment.post).is_some_and(|post| post.locked);
    match text_mode {
        "full" | "excerpt" if is_locked => {
            out.push("<div class=\"wp-block-latest-comments__comment-excerpt\"><p>Password protected</p>\n</div>");
        }
        "full" => out.push(html!(
            "<div class=\"wp-block-latest-comments__comment-excerpt\">{}</div>",
            rendered_text(call, comment)
        )),
        "excerpt" => {
            let plain = strip_all_tags(&comment.comment.content, false);
            let short = svc_content::excerpt::trim_words(&plain, EXCERPT_WORDS, "&hellip;");
            out.push(html!(
                "<div class=\"wp-block-latest-comments__comment-excerpt\">{}</div>",
                stored(&svc_content::autop(&short, true))
            ));
        }
        _ => {}
    }
    out.push("</article></li>");
    out
}

/// The rendered text of a comment.
fn rendered_text(call: &BlockCall<'_>, comment: &CommentView) -> Html {
    call.content_of(format!("comment {}", comment.comment.id), |context| {
        display::render_comment(&comment.comment.content, context)
    })
}

/// The post, unless it is locked by a password.
fn unlocked_post(call: &BlockCall<'_>) -> Option<Rc<PostView>> {
    call.post().filter(|post| !post.locked)
}

/// Whether a post accepts comments now.
fn accepts_comments(call: &BlockCall<'_>, post: &PostView) -> bool {
    let site_info = call.data().site_info();
    let is_old = match (site_info.comments_close_after, post.post.date) {
        (Some(days), Some(date)) => {
            let closing = Duration::try_days(days).and_then(|days| date.checked_add_signed(days));
            closing.is_some_and(|closing| call.data().is_past(closing))
        }
        _ => false,
    };
    post.post.comment_status == "open" && !is_old
}

/// The block that contains all comment blocks; empty if there are no comments and none can be written.
pub(crate) fn comments(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    if post.post.comment_count == 0 && !accepts_comments(call, &post) {
        return Html::new();
    }
    if call.is("legacy") {
        return html!("<div {}></div>", call.wrapper_with(&["wp-block-post-comments", &call.align_class()]));
    }
    call.content.to_owned()
}

/// The deprecated block that rendered the comments template of classic themes.
pub(crate) fn deprecated(call: &BlockCall<'_>) -> Html {
    html!("<div {}></div>", call.wrapper_with(&[&call.align_class()]))
}

pub(crate) fn title(call: &BlockCall<'_>) -> Html {
    let post = call.post();
    if post.as_ref().is_some_and(|post| post.locked || post.post.comment_count == 0) {
        return Html::new();
    }
    let count = post.as_ref().map_or(0, |post| post.post.comment_count);
    let name = post.as_ref().map(|post| post.title.clone()).unwrap_or_default();
    let of = |n: i64| {
        if n == 1 { Html::from("One response") } else { html!("{} responses", formatted(n as f64)) }
    };
    let text = match (call.is("showPostTitle"), call.is("showCommentsCount")) {
        (true, true) => html!("{} to &#8220;{}&#8221;", of(count), name),
        (false, true) => of(count),
        (show, false) => {
            let noun = if count == 1 { "Response" } else { "Responses" };
            if show { html!("{} to &#8220;{}&#8221;", noun, name) } else { Html::from(noun) }
        }
    };
    let tag = heading(call.number("level").unwrap_or(2));
    html!("<{tag} id=\"comments\" {}>{}</{tag}>", call.wrapper_without_id(&call.align_class()), text, tag = tag)
}

pub(crate) fn template(call: &BlockCall<'_>) -> Html {
    let Some(post) = unlocked_post(call) else { return Html::new() };
    let query = CommentsQuery { post: Some(post.post.id), newest_first: false, limit: MAX_COMMENTS };
    let comments = call.data().comments(&query);
    if comments.is_empty() {
        return Html::new();
    }
    let site_info = call.data().site_info();
    let depth = site_info.thread_depth.unwrap_or(1).min(MAX_DEPTH);
    let listed: std::collections::HashSet<CommentId> = comments.iter().map(|c| c.comment.id).collect();
    let mut tree: HashMap<CommentId, Vec<&CommentView>> = HashMap::new();
    for comment in comments.iter() {
        let parent =
            if depth > 1 && listed.contains(&comment.comment.parent) { comment.comment.parent } else { CommentId(0) };
        tree.entry(parent).or_default().push(comment);
    }
    let mut threads = tree.get(&CommentId(0)).cloned().unwrap_or_default();
    if site_info.newest_comments_first {
        threads.reverse();
    }
    if let Some(per_page) = site_info.comments_per_page {
        // The default page is the first one, or the one with the newest comments.
        let per_page = usize::try_from(per_page).unwrap_or(usize::MAX).max(1);
        let start =
            if site_info.newest_comments_first { 0 } else { threads.len().saturating_sub(1) / per_page * per_page };
        threads = threads.into_iter().skip(start).take(per_page).collect();
    }
    let mut list = CommentList { call, tree, post, depth, n_comments: 0, n_threads: 0 };
    let items: Html = threads.into_iter().map(|comment| list.item(comment, 1)).collect();
    html!("<ol {}>{}</ol>", call.wrapper(&[]), items)
}

/// Renders a list of comments, with counters for alternating classes.
struct CommentList<'c> {
    call: &'c BlockCall<'c>,
    tree: HashMap<CommentId, Vec<&'c CommentView>>,
    post: Rc<PostView>,
    depth: u32,
    n_comments: u32,
    n_threads: u32,
}

impl CommentList<'_> {
    fn item(&mut self, comment: &CommentView, depth: u32) -> Html {
        let class = self.class(comment, depth);
        let id = comment.comment.id;
        let call = self.call;
        let inside = call.within([("commentId", id.0.into())], || call.item());
        let replies = if depth < self.depth { self.tree.get(&id).cloned().unwrap_or_default() } else { Vec::new() };
        let mut nested: Html = replies.into_iter().map(|reply| self.item(reply, depth + 1)).collect();
        if !nested.is_empty() {
            nested = html!("<ol>{}</ol>", nested);
        }
        html!("<li id=\"comment-{}\" class=\"{}\">{}{}</li>", id.0, class, inside, nested)
    }

    fn class(&mut self, comment: &CommentView, depth: u32) -> Html {
        let row = &comment.comment;
        let mut classes =
            vec![if row.comment_type.is_empty() { "comment".to_owned() } else { row.comment_type.clone() }];
        if !row.user.is_none()
            && let Some(user) = self.call.data().author_view(row.user)
        {
            classes.push("byuser".to_owned());
            let slug = user.link.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            classes.push(format!("comment-author-{}", svc_text::sanitize_html_class(&slug, &row.user.to_string())));
            if row.user == self.post.post.author {
                classes.push("bypostauthor".to_owned());
            }
        }
        let is_odd = self.n_comments % 2 == 1;
        classes.extend(if is_odd { ["odd", "alt"].as_slice() } else { &["even"] }.iter().map(|c| (*c).to_owned()));
        self.n_comments += 1;
        if depth == 1 {
            let is_odd = self.n_threads % 2 == 1;
            let names: &[&str] = if is_odd { &["thread-odd", "thread-alt"] } else { &["thread-even"] };
            classes.extend(names.iter().map(|c| (*c).to_owned()));
            self.n_threads += 1;
        }
        classes.push(format!("depth-{depth}"));
        esc_attr(&classes.join(" "))
    }
}

/// The comment in the block's context.
fn comment(call: &BlockCall<'_>) -> Option<Rc<CommentView>> {
    call.data().comment(call.comment_id()?)
}

pub(crate) fn author_name(call: &BlockCall<'_>) -> Html {
    let Some(comment) = comment(call) else { return Html::new() };
    let name = plain_name(&comment.author);
    let link = &comment.comment.author_url;
    let inside = if call.is("isLink") && !link.is_empty() {
        html!(
            "<a rel=\"external nofollow ugc\" href=\"{}\" target=\"{}\" >{}</a>",
            esc_url(link),
            esc_attr(call.text("linkTarget")),
            name
        )
    } else {
        name
    };
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]), inside)
}

pub(crate) fn date(call: &BlockCall<'_>) -> Html {
    let Some(comment) = comment(call) else { return Html::new() };
    let Some(date) = comment.comment.date else { return Html::new() };
    let mut text = display_date(call, date, call.text("format"));
    if call.is("isLink") {
        text = html!("<a href=\"{}\">{}</a>", esc_url(&comment.link), text);
    }
    let datetime = esc_attr(&iso_date(call, date));
    html!("<div {}><time datetime=\"{}\">{}</time></div>", call.wrapper_with(&[call.link_class()]), datetime, text)
}

pub(crate) fn content(call: &BlockCall<'_>) -> Html {
    let Some(comment) = comment(call) else { return Html::new() };
    let text = rendered_text(call, &comment);
    if text.is_empty() {
        return Html::new();
    }
    html!("<div {}>{}</div>", call.wrapper_with(&[&call.align_class(), call.link_class()]), text)
}

pub(crate) fn reply_link(call: &BlockCall<'_>) -> Html {
    let (Some(comment), Some(post)) = (comment(call), call.data().post(comment_post(call))) else {
        return Html::new();
    };
    let site_info = call.data().site_info();
    let is_shown = site_info.thread_depth.is_some() && accepts_comments(call, &post);
    if !is_shown || (site_info.comments_need_login && !call.data().is_logged_in()) {
        return Html::new();
    }
    let id = comment.comment.id;
    let label = esc_attr(&format!("Reply to {}", comment.author));
    let url = format!("{}#respond", urls::with(&post.link, &[("replytocom", &id.to_string())]));
    html!(
        "<div {}><a rel=\"nofollow\" class=\"comment-reply-link\" href=\"{}\" data-commentid=\"{id}\" data-postid=\"{}\" data-belowelement=\"comment-{id}\" data-respondelement=\"respond\" data-replyto=\"{label}\" aria-label=\"{label}\">Reply</a></div>",
        call.wrapper_with(&[&call.align_class(), call.link_class()]),
        esc_url(&url),
        post.post.id.0,
        id = id.0,
        label = label
    )
}

fn comment_post(call: &BlockCall<'_>) -> svc_model::PostId {
    comment(call).map_or(svc_model::PostId(0), |comment| comment.comment.post)
}

pub(crate) fn edit_link(call: &BlockCall<'_>) -> Html {
    let Some(comment) = comment(call) else { return Html::new() };
    let Some(url) = &comment.edit_link else { return Html::new() };
    html!(
        "<div {}><a href=\"{}\" target=\"{}\">Edit</a></div>",
        call.wrapper_with(&[&call.align_class(), call.link_class()]),
        esc_url(url),
        esc_attr(call.text("linkTarget"))
    )
}

/// The links between comment pages. Comments are rendered for the default page only.
pub(crate) fn pagination(call: &BlockCall<'_>) -> Html {
    let inside = call.content.trim();
    if inside.is_empty() {
        return Html::new();
    }
    html!("<div {}>{}</div>", call.wrapper(&[]), call.content)
}

/// The comment form.
pub(crate) fn form(call: &BlockCall<'_>) -> Html {
    let Some(post) = unlocked_post(call).filter(|post| accepts_comments(call, post)) else { return Html::new() };
    let site_info = call.data().site_info();
    let id = post.post.id;
    let action = format!("{}/wp-comments-post.php", site_info.login_url.rsplit_once('/').map_or("", |(site, _)| site));
    let required_mark = "<span class=\"required\">*</span>";
    let author_fields = if call.data().is_logged_in() {
        Html::new()
    } else {
        html!(
            concat!(
                "<p class=\"comment-form-author\"><label for=\"author\">Name {required_mark}</label> <input id=\"author\" name=\"author\" type=\"text\" value=\"\" size=\"30\" maxlength=\"245\" autocomplete=\"name\" required /></p>\n",
                "<p class=\"comment-form-email\"><label for=\"email\">Email {required_mark}</label> <input id=\"email\" name=\"email\" type=\"email\" value=\"\" size=\"30\" maxlength=\"100\" aria-describedby=\"email-notes\" autocomplete=\"email\" required /></p>\n",
                "<p class=\"comment-form-url\"><label for=\"url\">Website</label> <input id=\"url\" name=\"url\" type=\"url\" value=\"\" size=\"30\" maxlength=\"200\" autocomplete=\"url\" /></p>\n",
            ),
            required_mark = required_mark
        )
    };
    let consent = if site_info.comment_cookies && !call.data().is_logged_in() {
        "<p class=\"comment-form-cookies-consent\"><input id=\"wp-comment-cookies-consent\" name=\"wp-comment-cookies-consent\" type=\"checkbox\" value=\"yes\" /> <label for=\"wp-comment-cookies-consent\">Remember my name, email and website in this browser.</label></p>\n"
    } else {
        ""
    };
    let notes = if call.data().is_logged_in() {
        Html::new()
    } else {
        html!(
            "<p class=\"comment-notes\"><span id=\"email-notes\">Your email address is not published.</span> <span class=\"required-field-message\">Fields marked {} are required</span></p>",
            required_mark
        )
    };
    let fields = if site_info.comments_need_login && !call.data().is_logged_in() {
        html!(
            "<p class=\"must-log-in\"><a href=\"{}\">Log in</a> to post a comment.</p>",
            esc_url(&site_info.login_url)
        )
    } else {
        html!(
            concat!(
                "<form action=\"{action}\" method=\"post\" id=\"commentform\" class=\"comment-form\">{notes}",
                "<p class=\"comment-form-comment\"><label for=\"comment\">Comment {required_mark}</label> <textarea id=\"comment\" name=\"comment\" cols=\"45\" rows=\"8\" maxlength=\"65525\" required></textarea></p>{author_fields}",
                "{consent}<p class=\"form-submit wp-block-button\"><input name=\"submit\" type=\"submit\" id=\"submit\" class=\"wp-block-button__link wp-element-button\" value=\"Post Comment\" /> ",
                "<input type='hidden' name='comment_post_ID' value='{id}' id='comment_post_ID' />\n<input type='hidden' name='comment_parent' id='comment_parent' value='0' />\n</p></form>",
            ),
            action = esc_url(&action),
            notes = notes,
            required_mark = required_mark,
            author_fields = author_fields,
            consent = consent,
            id = id.0
        )
    };
    let site_info = call.data().site_info();
    let cancel = match site_info.thread_depth {
        Some(_) => html!(
            " <small><a rel=\"nofollow\" id=\"cancel-comment-reply-link\" href=\"{}#respond\" style=\"display:none;\">Cancel reply</a></small>",
            esc_url(crate::urls::path(call.data().current_url()))
        ),
        None => Html::new(),
    };
    html!(
        "\t<div id=\"respond\" {}>\n\t\t<h3 id=\"reply-title\" class=\"comment-reply-title\">{}{}</h3>{}\t</div><!-- #respond -->\n\t",
        call.wrapper_with(&["comment-respond", &call.align_class(), call.link_class()]),
        esc_html("Leave a Reply"),
        cancel,
        fields
    )
}

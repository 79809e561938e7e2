//! Mails about comments.

use svc_auth::{Caller, caps::PostCap};
use svc_mail::CommentFacts;
use svc_model::{Comment, Post, User};
use svc_store::{Db, Tx, comments, posts, users};
use svc_text::{Quotes, specialchars_decode, strip_tags};

use super::{admin_email, is_configured, letters, put};
use crate::{Access, Settings, Site, SiteResult, comments::moderation, permalinks};

/// Option for mails to moderators.
const NOTIFY_MODERATOR: &str = "moderation_notify";

/// Option for mails to authors of posts.
const NOTIFY_AUTHOR: &str = "comments_notify";

/// Tells moderators and the author of the post about a new comment.
pub(crate) fn created(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    comment: &Comment,
) -> SiteResult<()> {
    match comment.approved.as_str() {
        "0" => waits(tx, site, settings, comment),
        "1" => approved(tx, site, settings, caller, comment),
        _ => Ok(()),
    }
}

/// Tells the administrator and the author of the post, if they may decide about it, about a comment that waits.
fn waits(tx: &mut Tx, site: &Site, settings: &Settings, comment: &Comment) -> SiteResult<()> {
    if !is_configured(site) || settings.number(NOTIFY_MODERATOR) == 0 {
        return Ok(());
    }
    let Some(post) = posts::get(tx, comment.post)? else { return Ok(()) };
    let mut recipients = vec![admin_email(settings).to_owned()];
    if let Some(author) = author_with(tx, site, settings, &post, PostCap::Edit)?
        && !author.email.eq_ignore_ascii_case(admin_email(settings))
    {
        recipients.push(author.email);
    }
    let facts = facts(tx, site, settings, &post, comment, "moderated")?;
    let waiting = comments::counts(tx, None)?.get("0").copied().unwrap_or(1);
    for to in recipients {
        put(tx, site, letters(site, settings).comment_waits(&to, &facts, waiting), None)?;
    }
    Ok(())
}

/// Tells the author of a post about an approved comment, unless they have written or approved it themselves.
pub(crate) fn approved(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    comment: &Comment,
) -> SiteResult<()> {
    if !is_configured(site) || settings.number(NOTIFY_AUTHOR) == 0 {
        return Ok(());
    }
    let Some(post) = posts::get(tx, comment.post)? else { return Ok(()) };
    if comment.user == post.author || caller.id == post.author {
        return Ok(());
    }
    let Some(author) = author_with(tx, site, settings, &post, PostCap::Read)? else { return Ok(()) };
    let facts = facts(tx, site, settings, &post, comment, "")?;
    put(tx, site, letters(site, settings).new_comment(&author.email, &facts), None)
}

/// The author of a post, if they have this right on it.
fn author_with(db: &mut Db, site: &Site, settings: &Settings, post: &Post, right: PostCap) -> SiteResult<Option<User>> {
    let Some(caller) = moderation::user(db, settings, post.author)? else { return Ok(None) };
    let access = Access::of_posts(site, settings, db, std::slice::from_ref(post))?;
    let may = caller.can_post(right, post, &access);
    drop(access);
    Ok(if may { users::get(db, post.author)? } else { None })
}

/// What the mail shows. `view` is that of the list of comments.
fn facts(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    post: &Post,
    comment: &Comment,
    view: &str,
) -> SiteResult<CommentFacts> {
    let permalink = permalinks::of_posts(db, site, settings, std::slice::from_ref(post))?.remove(&post.id);
    let text = |html: &str| specialchars_decode(&strip_tags(html), Quotes::Both);
    let status = if view.is_empty() { String::new() } else { format!("&comment_status={view}") };
    let manage = format!("{}/edit-comments.php?p={}{status}", site.brand.admin_path(), post.id);
    Ok(CommentFacts {
        post: text(&post.title),
        author: text(&comment.author),
        email: comment.author_email.clone(),
        website: comment.author_url.clone(),
        ip: comment.author_ip.clone(),
        content: text(&comment.content),
        manage: settings.urls.site.site_url(&manage),
        link: format!("{}#comment-{}", permalink.unwrap_or_default(), comment.id),
    })
}

//! Moderation of new comments: rejected, approved, held for a moderator, or discarded.

use chrono::TimeDelta;
use svc_auth::Caller;
use svc_model::{Comment, Post, UserId};
use svc_store::{
    Db, MetaKind,
    comment_threads::{self, CommentAuthor},
    meta, options, users,
};

use crate::{Settings, SiteResult, comments::html, errors::comments as errors};

/// Minimum number of seconds between two comments by the same author.
const MIN_INTERVAL: i64 = 15;

/// A user as the capability rules need them; `None` if the user does not exist.
pub fn user(db: &mut Db, settings: &Settings, id: UserId) -> SiteResult<Option<Caller>> {
    if id.is_none() || users::get(db, id)?.is_none() {
        return Ok(None);
    }
    let key = format!("{}capabilities", db.prefix());
    let stored = meta::get(db, MetaKind::User, id.0, &key)?.unwrap_or_default().json();
    Ok(Some(Caller::new(id, settings.roles(db.prefix()).caps_of(&stored))))
}

/// The stored status (`comment_approved`) of a new comment. `comment` has all other fields set.
///
/// Moderators are not rate limited. Comments by moderators and by the post's author are approved; others are approved
/// depending on the site's options.
///
/// # Errors
/// `comment_duplicate` (409), `comment_flood` (400); errors of the store.
pub fn authorize(
    db: &mut Db,
    settings: &Settings,
    caller: &Caller,
    post: &Post,
    comment: &Comment,
    now: chrono::NaiveDateTime,
) -> SiteResult<&'static str> {
    if comment_threads::is_duplicate(db, comment)? {
        return Err(errors::duplicate().into());
    }
    if !caller.has("manage_options") && !caller.has("moderate_comments") && is_flood(db, caller, comment, now)? {
        return Err(errors::flood().into());
    }
    if let Some(author) = user(db, settings, comment.user)?
        && (author.id == post.author || author.has("moderate_comments"))
    {
        return Ok("1");
    }
    if contains_any(comment, &words(db, "disallowed_keys")?, true) {
        return Ok("trash");
    }
    Ok(if is_auto_approved(db, settings, comment)? { "1" } else { "0" })
}

fn is_flood(db: &mut Db, caller: &Caller, comment: &Comment, now: chrono::NaiveDateTime) -> SiteResult<bool> {
    let writer = if caller.is_logged_in() {
        CommentAuthor::User(caller.id)
    } else {
        CommentAuthor::Guest(comment.author_ip.clone())
    };
    let last = comment_threads::last_comment_time(db, &writer, &comment.author_email, now - TimeDelta::hours(1))?;
    Ok(match (last, comment.date_gmt) {
        (Some(last), Some(date)) => (date - last).num_seconds() < MIN_INTERVAL,
        _ => false,
    })
}

/// Whether the site's options approve a comment without moderation.
fn is_auto_approved(db: &mut Db, settings: &Settings, comment: &Comment) -> SiteResult<bool> {
    if settings.number("comment_moderation") == 1 {
        return Ok(false);
    }
    let most = settings.number("comment_max_links");
    if most > 0 && n_links(&html::comment(settings, &comment.content)) >= usize::try_from(most).unwrap_or(usize::MAX) {
        return Ok(false);
    }
    let keys = words(db, "moderation_keys")?;
    if contains_any(comment, &keys, false) {
        return Ok(false);
    }
    if settings.number("comment_previously_approved") != 1 {
        return Ok(true);
    }
    if comment.author.is_empty() || comment.author_email.is_empty() {
        return Ok(false);
    }
    let account = users::by_email(db, &comment.author_email)?.map(|u| u.id);
    let known = comment_threads::has_approved_comment(db, account, &comment.author, &comment.author_email)?;
    Ok(known && (keys.is_empty() || !comment.author_email.contains(&keys)))
}

/// An option with one word per line. Such lists may be long and are not among the autoloaded options.
fn words(db: &mut Db, option: &str) -> SiteResult<String> {
    Ok(options::get(db, option)?.unwrap_or_default().text().to_owned())
}

/// Number of links in a text: `a` elements with a `href`.
fn n_links(html: &str) -> usize {
    let lower = html.to_ascii_lowercase();
    let tags = lower.split("<a ").skip(1);
    tags.filter(|tag| tag.split('>').next().is_some_and(|attributes| attributes.contains("href"))).count()
}

/// Whether one of the words (one per line) occurs in a comment or in its author's data, ignoring case.
fn contains_any(comment: &Comment, words: &str, without_html: bool) -> bool {
    let words: Vec<String> =
        words.lines().map(svc_text::trim).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    if words.is_empty() {
        return false;
    }
    let c = comment;
    let mut texts = vec![&c.author, &c.author_email, &c.author_url, &c.content, &c.author_ip, &c.agent]
        .into_iter()
        .map(|text| text.to_lowercase())
        .collect::<Vec<_>>();
    if without_html {
        // A word may be split by tags.
        texts.push(svc_text::strip_all_tags(&c.content, false).to_lowercase());
    }
    words.iter().any(|word| texts.iter().any(|text| text.contains(word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_counted_by_href() {
        let rows = [
            ("none", 0),
            ("<a href='x'>1</a>", 1),
            ("<A HREF=x>1</A><a class=b href=\"y\">2</a>", 2),
            ("<a name='x'>href</a>", 0),
            ("<abbr href='x'>", 0),
            ("<a href", 1),
        ];
        for (html, expected) in rows {
            assert_eq!(n_links(html), expected, "{html}");
        }
    }

    #[test]
    fn words_match_anywhere_and_ignore_case() {
        let comment = Comment {
            author: "Ann".to_owned(),
            author_email: "ann@spam.example".to_owned(),
            content: "Buy ca<b>si</b>no ÄPFEL".to_owned(),
            author_ip: "10.0.0.7".to_owned(),
            ..Comment::default()
        };
        let rows = [
            ("", false, false),
            ("\n  \n", false, false),
            ("nothing", true, false),
            ("SPAM.example", false, true),
            ("x\r\n äpfel \r\ny", false, true),
            ("10.0.0.", false, true),
            ("casino", false, false),
            ("casino", true, true),
        ];
        for (words, without_html, expected) in rows {
            assert_eq!(contains_any(&comment, words, without_html), expected, "{words:?}");
        }
    }
}

//! Former slugs and dates of posts, used to redirect old permalinks.

use svc_model::{Post, PostType};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
};

use crate::SiteResult;

/// Stores a post's former slug and date if a change alters its permalink. Source: `wp_check_for_changed_slugs`,
/// `wp_check_for_changed_dates`.
///
/// # Errors
/// Errors of the store.
pub(crate) fn remember(tx: &mut Tx, post_type: &PostType, before: &Post, now: &Post) -> SiteResult<()> {
    let is_shown = now.status == "publish" || (now.post_type == "attachment" && now.status == "inherit");
    if !is_shown || post_type.hierarchical {
        return Ok(());
    }
    let day = |post: &Post| post.date.map(|date| date.format("%Y-%m-%d").to_string()).unwrap_or_default();
    for (name, old, new) in
        [("_wp_old_slug", before.slug.clone(), now.slug.clone()), ("_wp_old_date", day(before), day(now))]
    {
        if old == new {
            continue;
        }
        let known = meta::load_one(tx, MetaKind::Post, now.id.0)?;
        let known = known.all(name);
        let (old, new) = (StoredText::of(old), StoredText::of(new));
        // As in WordPress, the slug `0` counts as none.
        if !matches!(old.text(), "" | "0") && !known.contains(&old) {
            meta::add(tx, MetaKind::Post, now.id.0, name, &old)?;
        }
        if known.contains(&new) {
            meta::delete(tx, MetaKind::Post, now.id.0, name, Some(&new))?;
        }
    }
    Ok(())
}

//! Deletes attachments and their files.

use svc_model::PostId;
use svc_php::{ArrayKey, Php};
use svc_store::{MetaKind, StoredText, Tx, meta, options, posts};

use crate::{
    SiteResult,
    languages::{post_is_deleted, translations_of_post},
    media::attached::{AttachmentFiles, FILE},
    menus::on_delete::delete_items_for_post,
    settings::menu_assignments::theme_settings,
    stored_arrays::{self, int, key_text},
};

/// Deletes an attachment and removes it as featured image. Returns the paths of its files; the caller deletes them.
/// Files that a translation has as well are not among them.
///
/// # Errors
/// Errors of the store.
pub fn delete_attachment(tx: &mut Tx, id: PostId) -> SiteResult<Vec<String>> {
    let files = AttachmentFiles::new(&meta::load_one(tx, MetaKind::Post, id.0)?).files();
    meta::delete_everywhere(tx, MetaKind::Post, "_thumbnail_id", Some(&StoredText::of(id.0)))?;
    delete_items_for_post(tx, id)?;
    reset_site_logo(tx, id)?;
    let is_shared = has_file_of_translation(tx, id)?;
    post_is_deleted(tx, id)?;
    posts::delete(tx, id)?;
    Ok(if is_shared { Vec::new() } else { files })
}

/// Whether a translation of the attachment has the same file.
fn has_file_of_translation(tx: &mut Tx, id: PostId) -> SiteResult<bool> {
    let others = translations_of_post(tx, id)?;
    if others.is_empty() {
        return Ok(false);
    }
    let ids: Vec<i64> = others.into_iter().chain([id.0]).collect();
    let mut all = meta::load(tx, MetaKind::Post, &ids)?;
    let own = all.remove(&id.0).unwrap_or_default();
    let file = own.text(FILE);
    Ok(!file.is_empty() && all.values().any(|other| other.text(FILE) == file))
}

/// Resets the site logo if it is this attachment. WordPress stores it twice: as an option, and for classic themes as a setting of the
/// theme. The site icon is not reset, as in WordPress.
pub(crate) fn reset_site_logo(tx: &mut Tx, id: PostId) -> SiteResult<()> {
    const LOGO: &str = "site_logo";
    if options::get(tx, LOGO)?.is_some_and(|logo| logo == StoredText::of(id.0)) {
        options::delete(tx, LOGO)?;
    }
    let stylesheet = options::get(tx, "stylesheet")?.unwrap_or_default();
    let option = theme_settings(stylesheet.text());
    let theme = stored_arrays::read(tx, &option)?;
    let is_logo = |name: &ArrayKey, value: &Php| key_text(name) == "custom_logo" && int(value) == id.0;
    if theme.iter().any(|(name, value)| is_logo(name, value)) {
        let others = theme.into_iter().filter(|(name, value)| !is_logo(name, value)).collect();
        stored_arrays::write(tx, &option, others)?;
    }
    Ok(())
}

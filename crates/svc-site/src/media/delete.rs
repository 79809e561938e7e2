//! Deletes attachments and their files.

use svc_model::PostId;
use svc_php::{ArrayKey, Php};
use svc_store::{MetaKind, StoredText, Tx, meta, options, posts};

use crate::{
    SiteResult,
    media::attached::AttachmentFiles,
    menus::on_delete::delete_items_for_post,
    settings::menu_assignments::theme_settings,
    stored_arrays::{self, int, key_text},
};

/// Deletes an attachment and removes it as featured image. Returns the paths of its files; the caller deletes them.
///
/// # Errors
/// Errors of the store.
pub fn delete_attachment(tx: &mut Tx, id: PostId) -> SiteResult<Vec<String>> {
    let files = AttachmentFiles::new(&meta::load_one(tx, MetaKind::Post, id.0)?).files();
    meta::delete_everywhere(tx, MetaKind::Post, "_thumbnail_id", Some(&StoredText::of(id.0)))?;
    delete_items_for_post(tx, id)?;
    reset_site_logo(tx, id)?;
    posts::delete(tx, id)?;
    Ok(files)
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

//! The state of the objects that requests read and change, as a short text for entity tags.

use sha2::{Digest as _, Sha256};
use svc_model::{CommentId, PostId, TermId, UserId};
use svc_store::{
    Db, StoredText, options,
    state::{self, StoredObject},
};

use crate::{
    Site, SiteResult,
    preconditions::ObjectState,
    settings,
    templates::load::{TemplateKind, TemplateLookup},
};

/// An object with a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConditionalObject {
    /// A post of any type, with meta, terms, and whether it is sticky.
    Post(PostId),
    /// A term of any taxonomy.
    Term(TermId),
    /// A navigation menu: its term, and the options that assign menus to locations.
    Menu(TermId),
    /// A user.
    User(UserId),
    /// A comment.
    Comment(CommentId),
    /// A template or template part, by its id in the REST API: its post, or else its file.
    Template(TemplateKind, String),
    /// Options, by name. They always exist.
    Options(Vec<String>),
}

impl ConditionalObject {
    /// The state of the object in this snapshot or transaction; `None` if it does not exist. A fixed number of
    /// statements.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn state(&self, site: &Site, db: &mut Db) -> SiteResult<Option<ObjectState>> {
        let mut hasher = Sha256::new();
        let mut modified = None;
        let mut add = |db: &mut Db, object: StoredObject| -> SiteResult<bool> {
            let Some(stored) = state::read(db, object)? else { return Ok(false) };
            hasher.update(stored.digest);
            modified = stored.modified;
            Ok(true)
        };
        let exists = match self {
            ConditionalObject::Post(id) => {
                let found = add(db, StoredObject::Post(*id))?;
                hasher.update([u8::from(is_sticky(db, *id)?)]);
                found
            }
            ConditionalObject::Term(id) => add(db, StoredObject::Term(*id))?,
            ConditionalObject::User(id) => add(db, StoredObject::User(*id))?,
            ConditionalObject::Comment(id) => add(db, StoredObject::Comment(*id))?,
            ConditionalObject::Menu(id) => {
                let found = add(db, StoredObject::Term(*id))?;
                let stylesheet = options::get(db, "stylesheet")?;
                let theme = format!("theme_mods_{}", stylesheet.as_ref().map_or("", StoredText::text));
                add_options(&mut hasher, db, &["nav_menu_options".to_owned(), theme])?;
                found
            }
            ConditionalObject::Template(kind, id) => {
                let settings = site.settings_in(db)?;
                match TemplateLookup::new(db.cx(), site, &settings).find(db, *kind, id)? {
                    Some(template) => match template.post {
                        Some(post) => add(db, StoredObject::Post(post.id))?,
                        None => {
                            hasher.update(template.content);
                            true
                        }
                    },
                    None => false,
                }
            }
            ConditionalObject::Options(names) => {
                add_options(&mut hasher, db, names)?;
                true
            }
        };
        let tag = exists.then(|| tag(site, &hasher.finalize()));
        Ok(tag.map(|tag| ObjectState { tag, modified }))
    }
}

/// Whether the post is in the list of sticky posts. The list itself is not part of the state, because it changes with
/// other posts.
fn is_sticky(db: &mut Db, id: PostId) -> SiteResult<bool> {
    Ok(settings::sticky(options::get(db, "sticky_posts")?.as_ref()).contains(&id))
}

fn add_options(hasher: &mut Sha256, db: &mut Db, names: &[String]) -> SiteResult<()> {
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let stored = options::get_many(db, &texts)?;
    for name in names {
        let value = stored.get(name).map(StoredText::as_stored);
        hasher.update(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
        hasher.update(value.unwrap_or_default());
    }
    Ok(())
}

/// The digest with the site's keys, so that nothing can be learned from it about what readers of the object may not see:
/// hashed passwords, private meta. Servers of one site return the same text. Without keys it is the digest itself.
fn tag(site: &Site, digest: &[u8]) -> String {
    let keyed = site.hash(&[b"object state ", digest].concat());
    if keyed.is_empty() { digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect() } else { keyed }
}

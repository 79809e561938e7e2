//! Stores posts of a file with their terms, meta and comments, in one transaction.

use std::{
    collections::{HashMap, VecDeque},
    sync::MutexGuard,
};

use svc_model::{Comment, CommentId, MetaKind, Post, PostId, PostType, Term, TermId, UserId};
use svc_php::{Php, serialize::from_stored};
use svc_store::{
    Order, StoredText, Tx, comments,
    comments::{CommentOrderBy, CommentQuery},
    meta, posts,
    posts::PostIdentity,
    stamp, terms,
};
use svc_wxr::{Item, ItemTerm, MetaRow};

use super::{
    Import,
    state::{Done, Reference, ReferenceTo, State},
};
use crate::{
    SiteResult,
    media::{attached, upload_store::NewFile},
    posts::slugs,
    sanitize,
    terms::save::default_term,
    transfer::is_transferred,
};

/// Meta of the files of attachments, which is that of the fetched file.
const OF_FILES: [&str; 3] = [attached::FILE, attached::DETAILS, "_wp_attachment_backup_sizes"];

/// Meta with the ID of a post or a term.
const FEATURED: &str = "_thumbnail_id";
const MENU_PARENT: &str = "_menu_item_menu_item_parent";
const MENU_OBJECT: &str = "_menu_item_object_id";
const MENU_KIND: &str = "_menu_item_type";

/// Meta with the ID of the user who changed the post last.
const LAST_EDITOR: &str = "_edit_last";

/// Meta of posts whose references are not resolved yet: an import that was interrupted is completed by the next one.
pub(super) const PENDING: &str = "_svc_import_pending";

/// Longest meta key, in characters.
const MAX_KEY: usize = 255;

/// The largest ID that is kept: the next posts get larger ones, also in programs with numbers of 32 bits.
const MAX_KEPT_ID: i64 = 1 << 30;

/// The text, as long as a column with room for this number of characters takes it.
pub(super) fn clipped(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// The slug of a term as the site stores it; that of its name if it has none.
pub(super) fn term_slug(slug: &str, name: &str) -> String {
    let slug = svc_text::sanitize_title(slug);
    clipped(&if slug.is_empty() { svc_text::sanitize_title(name) } else { slug }, 200)
}

/// A term with this stored slug. The slug in the file is the name of a term without one.
pub(super) fn new_term(taxonomy: &str, name: &str, in_file: &str, slug: String) -> Term {
    let name = if name.is_empty() { in_file } else { name };
    Term { taxonomy: taxonomy.to_owned(), name: clipped(&sanitize::term_name(name), 200), slug, ..Term::default() }
}

/// The author of a comment as the site stores it.
fn comment_author(comment: &svc_wxr::Comment) -> String {
    clipped(&svc_text::strip_tags(&comment.author), 245)
}

/// An item, and what is known about it.
pub(super) struct Work {
    pub(super) item: Item,
    /// The post that the site has.
    pub(super) existing: Option<PostId>,
    /// The file of a new attachment.
    pub(super) file: Option<NewFile>,
}

/// Stores items in a transaction.
pub(super) struct ItemImport<'a> {
    import: &'a Import,
    state: MutexGuard<'a, State>,
    /// What this transaction has done.
    pub(super) done: Done,
    /// Terms that this transaction found or created, by taxonomy and slug.
    terms: HashMap<(String, String), Option<TermId>>,
}

impl<'a> ItemImport<'a> {
    pub(super) fn new(import: &'a Import) -> Self {
        ItemImport { import, state: import.state(), done: Done::default(), terms: HashMap::new() }
    }

    pub(super) fn run(&mut self, tx: &mut Tx, work: &Work) -> SiteResult<()> {
        let Work { item, existing, file } = work;
        if let Some(id) = *existing {
            self.done.existing = self.done.existing.saturating_add(1);
            self.done.posts.push((item.id, id));
            if meta::get(tx, MetaKind::Post, id.0, PENDING)?.is_some() {
                self.done.pending.push(id);
                self.references(item, id);
            }
            if item.post_type == "attachment"
                && let Some(path) = meta::get(tx, MetaKind::Post, id.0, attached::FILE)?
            {
                let url = format!("{}/{}", self.import.settings.stored_uploads_url(), path.text());
                self.done.urls.push((item.attachment_url.clone(), url));
            }
            return self.comments(tx, item, id, true);
        }
        let Some(post_type) = self.import.site.registries.types.get(&item.post_type) else { return Ok(()) };
        let (post, id) = self.insert(tx, item, post_type, file.as_ref())?;
        self.done.posts.push((item.id, id));
        self.done.created.push(PostIdentity {
            id,
            post_type: post.post_type,
            date: post.date,
            title: post.title,
            guid: post.guid,
        });
        self.done.pending.push(id);
        self.references(item, id);
        self.set_terms(tx, item, post_type, id)?;
        self.meta(tx, item, id, file.as_ref())?;
        self.comments(tx, item, id, false)
    }

    fn author(&self, login: &str) -> UserId {
        let options = &self.import.options;
        options.authors.get(login).copied().unwrap_or(options.fallback)
    }

    /// The user who is the author with this ID in the file.
    fn author_of_id(&self, id: i64) -> Option<UserId> {
        let login = self.state.authors.get(&id)?;
        self.import.options.authors.get(login).copied()
    }

    fn insert(
        &self,
        tx: &mut Tx,
        item: &Item,
        post_type: &PostType,
        file: Option<&NewFile>,
    ) -> SiteResult<(Post, PostId)> {
        let filtered = !self.import.options.any_html;
        let (date, date_gmt) = (stamp::parse(&item.date), stamp::parse(&item.date_gmt));
        let mut post = Post {
            id: PostId(0),
            author: self.author(&item.creator),
            date,
            date_gmt,
            content: sanitize::content(&item.content, filtered),
            title: sanitize::title(&item.title, filtered),
            excerpt: sanitize::excerpt(&item.excerpt, filtered),
            // Nobody would see a post with a status that the site does not have.
            status: self.import.site.registries.statuses.get(&item.status).map_or("draft", |s| &s.name).to_owned(),
            comment_status: clipped(&item.comment_status, 20),
            ping_status: clipped(&item.ping_status, 20),
            password: clipped(&item.password, 255),
            slug: clipped(&item.slug, 200),
            // Old files have no dates of modifications.
            modified: stamp::parse(&item.modified).or(date),
            modified_gmt: stamp::parse(&item.modified_gmt).or(date_gmt),
            parent: PostId(0),
            guid: item.guid.clone(),
            menu_order: item.menu_order.clamp(i32::MIN.into(), i32::MAX.into()),
            post_type: item.post_type.clone(),
            mime_type: file.map_or_else(String::new, |file| file.mime_type.clone()),
            comment_count: 0,
        };
        let has_slug = !matches!(&*post.status, "draft" | "pending");
        if has_slug && post.slug.is_empty() {
            post.slug = svc_text::sanitize_title(&post.title);
        }
        if has_slug && !post.slug.is_empty() {
            post.slug = slugs::unique(tx, &post, "", post_type, &self.import.settings.urls)?;
        }
        let wanted = PostId(item.id);
        let is_free = (1..=MAX_KEPT_ID).contains(&wanted.0) && posts::outlines(tx, &[wanted])?.is_empty();
        let id = if is_free {
            posts::insert_with_id(tx, &Post { id: wanted, ..post.clone() })?
        } else {
            posts::insert(tx, &post)?
        };
        if post.guid.is_empty() {
            post.guid = self.import.settings.urls.site.home_url(&format!("?p={}", id.0));
            posts::set_guid(tx, id, &post.guid, None)?;
        }
        Ok((post, id))
    }

    // Terms

    fn set_terms(&mut self, tx: &mut Tx, item: &Item, post_type: &PostType, id: PostId) -> SiteResult<()> {
        let mut by_taxonomy: Vec<(&str, Vec<TermId>)> = Vec::new();
        for term in &item.terms {
            let Some(found) = self.term(tx, term)? else { continue };
            match by_taxonomy.iter_mut().find(|(taxonomy, _)| *taxonomy == term.taxonomy) {
                Some((_, ids)) => ids.push(found),
                None => by_taxonomy.push((&term.taxonomy, vec![found])),
            }
        }
        let has_category = by_taxonomy.iter().any(|(taxonomy, _)| *taxonomy == "category");
        if !has_category && post_type.name == "post" {
            let default = default_term(tx, "category")?;
            by_taxonomy.extend(default.map(|term| ("category", vec![term.id])));
        }
        for (taxonomy, ids) in by_taxonomy {
            terms::set_object_terms(tx, id, taxonomy, &ids)?;
        }
        Ok(())
    }

    /// The term with this slug, created if it is missing; `None` if the site does not have the taxonomy.
    fn term(&mut self, tx: &mut Tx, term: &ItemTerm) -> SiteResult<Option<TermId>> {
        let slug = term_slug(&term.slug, &term.name);
        let key = (term.taxonomy.clone(), slug.clone());
        if let Some(known) = self.terms.get(&key) {
            return Ok(*known);
        }
        let found = if self.import.site.registries.taxonomies.get(&term.taxonomy).is_none() {
            self.done.problems.push(format!("The site has no taxonomy “{}”.", term.taxonomy));
            None
        } else if slug.is_empty() {
            self.done.problems.push(format!("{}: a term has neither a name nor a slug.", term.taxonomy));
            None
        } else if let Some(existing) = terms::by_slug(tx, &slug, &term.taxonomy)? {
            Some(existing.id)
        } else {
            let new = new_term(&term.taxonomy, &term.name, &term.slug, slug);
            self.done.terms = self.done.terms.saturating_add(1);
            Some(terms::insert(tx, &new)?.id)
        };
        self.terms.insert(key, found);
        Ok(found)
    }

    // Meta

    fn meta(&mut self, tx: &mut Tx, item: &Item, id: PostId, file: Option<&NewFile>) -> SiteResult<()> {
        let mut rows: Vec<(&str, StoredText)> = vec![(PENDING, StoredText::of("1"))];
        for row in item.meta.iter().filter(|row| is_transferred(&row.key)) {
            match role_of(item, row) {
                Role::Reference(_) | Role::OfFile => {}
                // A link is its own object.
                Role::OwnId => rows.push((MENU_OBJECT, StoredText::of(id.0))),
                Role::Editor(number) => {
                    let editor = self.author_of_id(number).unwrap_or(self.import.options.fallback);
                    rows.push((LAST_EDITOR, StoredText::of(editor.0)));
                }
                Role::Value => rows.extend(self.value(row, &item.title).map(|value| (row.key.as_str(), value))),
            }
        }
        if let Some(file) = file {
            rows.push((attached::FILE, StoredText::of(file.path.as_str())));
            rows.push((attached::DETAILS, file.details.clone()));
            self.done.urls.push((item.attachment_url.clone(), file.url.clone()));
        }
        let rows: Vec<(&str, &StoredText)> = rows.iter().map(|(key, value)| (*key, value)).collect();
        Ok(meta::add_many(tx, MetaKind::Post, id.0, &rows)?)
    }

    /// Records what names other objects of the file, which may come later in it.
    fn references(&mut self, item: &Item, post: PostId) {
        if item.parent > 0 {
            self.done.references.push(Reference { post, to: ReferenceTo::Parent(item.parent) });
        }
        for row in &item.meta {
            if let Role::Reference(to) = role_of(item, row) {
                self.done.references.push(Reference { post, to });
            }
        }
        if item.is_sticky && item.post_type == "post" {
            self.done.sticky.push(post);
        }
    }

    /// The value to store. Objects of PHP are left out: WordPress would create them when it reads the value.
    fn value(&mut self, row: &MetaRow, of: &str) -> Option<StoredText> {
        if row.key.is_empty() || row.key.chars().count() > MAX_KEY {
            self.done.problems.push(format!("“{of}”: a meta key is empty or too long."));
            return None;
        }
        let value = from_stored(row.value.as_bytes());
        if has_objects(&value) {
            self.done.problems.push(format!("“{of}”: the value of {} is an object of PHP.", row.key));
            return None;
        }
        Some(StoredText::of(value))
    }

    // Comments

    fn comments(&mut self, tx: &mut Tx, item: &Item, post: PostId, exists: bool) -> SiteResult<()> {
        if item.comments.is_empty() {
            return Ok(());
        }
        // Several comments may have the same author and date: each is that of one comment of the file.
        let mut known: HashMap<(String, svc_model::Timestamp), VecDeque<CommentId>> = HashMap::new();
        if exists {
            let query = CommentQuery::default().posts(vec![post]).order_by(CommentOrderBy::Id).order(Order::Asc);
            for chunk in comments::query(tx, &query)?.ids.chunks(1_000) {
                let found = comments::get_many(tx, chunk)?;
                for comment in found {
                    known.entry((comment.author, comment.date)).or_default().push_back(comment.id);
                }
            }
        }
        let mut ids: HashMap<i64, CommentId> = HashMap::new();
        let mut sorted: Vec<&svc_wxr::Comment> = item.comments.iter().collect();
        sorted.sort_by_key(|comment| comment.id);
        for comment in sorted {
            let key = (comment_author(comment), stamp::parse(&comment.date));
            let id = match known.get_mut(&key).and_then(VecDeque::pop_front) {
                Some(id) => id,
                None => {
                    let parent = ids.get(&comment.parent).copied().unwrap_or_default();
                    self.insert_comment(tx, comment, post, parent)?
                }
            };
            ids.insert(comment.id, id);
        }
        Ok(())
    }

    fn insert_comment(
        &mut self,
        tx: &mut Tx,
        comment: &svc_wxr::Comment,
        post: PostId,
        parent: CommentId,
    ) -> SiteResult<CommentId> {
        let content = if self.import.options.any_html {
            comment.content.clone()
        } else {
            sanitize::comment(&self.import.settings, &comment.content, true)
        };
        let kind = if comment.comment_type.is_empty() { "comment" } else { &comment.comment_type };
        let new = Comment {
            id: CommentId(0),
            post,
            author: comment_author(comment),
            author_email: clipped(&comment.author_email, 100),
            author_url: clipped(&sanitize::author_url(&comment.author_url), 200),
            author_ip: clipped(&comment.author_ip, 100),
            date: stamp::parse(&comment.date),
            date_gmt: stamp::parse(&comment.date_gmt),
            content,
            karma: 0,
            approved: clipped(&comment.approved, 20),
            agent: String::new(),
            comment_type: clipped(kind, 20),
            parent,
            user: self.author_of_id(comment.user).unwrap_or_default(),
        };
        let id = comments::insert(tx, &new)?;
        self.done.comments = self.done.comments.saturating_add(1);
        let mut rows: Vec<(&str, StoredText)> = Vec::new();
        for row in comment.meta.iter().filter(|row| is_transferred(&row.key)) {
            rows.extend(self.value(row, &comment.author).map(|value| (row.key.as_str(), value)));
        }
        let rows: Vec<(&str, &StoredText)> = rows.iter().map(|(key, value)| (*key, value)).collect();
        meta::add_many(tx, MetaKind::Comment, id.0, &rows)?;
        Ok(id)
    }
}

/// What a row of meta is.
enum Role {
    /// A value.
    Value,
    /// The ID of another object of the file.
    Reference(ReferenceTo),
    /// The ID of the post itself.
    OwnId,
    /// The ID of a user.
    Editor(i64),
    /// About the file of the attachment.
    OfFile,
}

fn role_of(item: &Item, row: &MetaRow) -> Role {
    let number = svc_php::numeric::text_to_int(&row.value);
    let kind = || item.meta.iter().find(|row| row.key == MENU_KIND).map_or("", |row| row.value.as_str());
    match &*row.key {
        LAST_EDITOR => Role::Editor(number),
        FEATURED => Role::Reference(ReferenceTo::Post(FEATURED, number)),
        MENU_PARENT if number > 0 => Role::Reference(ReferenceTo::Post(MENU_PARENT, number)),
        MENU_OBJECT => match kind() {
            "post_type" => Role::Reference(ReferenceTo::Post(MENU_OBJECT, number)),
            "taxonomy" => Role::Reference(ReferenceTo::Term(MENU_OBJECT, number)),
            "custom" => Role::OwnId,
            _ => Role::Value,
        },
        key if item.post_type == "attachment" && OF_FILES.contains(&key) => Role::OfFile,
        _ => Role::Value,
    }
}

/// Whether a value is or contains an object of PHP.
pub(super) fn has_objects(value: &Php) -> bool {
    match value {
        Php::Object(_) | Php::Opaque(_) => true,
        Php::Array(array) => array.iter().any(|(_, value)| has_objects(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_at_every_depth() {
        for (stored, expected) in [
            ("plain", false),
            ("a:1:{s:1:\"a\";i:1;}", false),
            ("O:8:\"stdClass\":0:{}", true),
            ("a:1:{i:0;a:1:{i:0;O:8:\"stdClass\":0:{}}}", true),
            ("a:2:{i:0;s:1:\"x\";i:1;R:2;}", true),
            // Damaged values are texts.
            ("O:8:\"stdClass\":9:{}", false),
        ] {
            assert_eq!(has_objects(&from_stored(stored.as_bytes())), expected, "{stored}");
        }
    }
}

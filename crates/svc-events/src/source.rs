//! Reads entries of the log as events, with what must be known of their objects.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::SystemTime,
};

use svc_model::{CommentId, Post, PostId, TermId};
use svc_site::{Access, Settings, Site, SiteResult, access::CapabilityData};
use svc_store::{Db, LoggedChange, Object as LoggedObject, comments, posts, terms};
use svc_versions::Context;

use crate::{
    audience::Viewer,
    derive::{self, Family, Now},
    event::{Event, EventKind, Object, ObjectKind, State},
};

/// Reads the events of a site.
#[derive(Clone)]
pub struct EventSource {
    site: Arc<Site>,
    settings: Arc<HashMap<String, String>>,
}

/// Events of a part of the log, and what must be known of their objects.
pub struct Batch {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The number of the last entry that was looked at: continue after it.
    pub last: i64,
    /// Whether the log has more entries.
    pub more: bool,
    /// The posts of the events and of their comments, without texts.
    posts: HashMap<PostId, Post>,
    rights: CapabilityData,
    settings: Arc<Settings>,
    site: Arc<Site>,
    /// What the ids of the events begin with.
    log_id: String,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// With the next change.
    Now,
    /// After the entry with this number.
    After(i64),
}

impl EventSource {
    /// The events of a site. `settings` are the options that are settings, each with its public name.
    pub fn new(site: Arc<Site>, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        EventSource { site, settings: Arc::new(settings.into_iter().collect()) }
    }

    /// The site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Reads the events of at most `limit` entries. If entries after the given one are missing, because they were deleted or belong
    /// to another database, the first event is a [reset](EventKind::Reset). `None` if the database has no log.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn read(&self, cx: &Context, from: From, limit: u32) -> Result<Option<Batch>, svc_schema::Error> {
        self.site.read(cx, |db| self.read_in(db, from, limit))
    }

    /// [`Self::read`] within a snapshot or transaction.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn read_in(&self, db: &mut Db, from: From, limit: u32) -> SiteResult<Option<Batch>> {
        let Some(bounds) = db.log_bounds()? else { return Ok(None) };
        let (after, is_reset) = match from {
            From::Now => (bounds.last, false),
            From::After(after) if bounds.reach(after) => (after, false),
            // Older entries are gone; a higher number is that of another database.
            From::After(after) if after < bounds.deleted => (bounds.deleted, true),
            From::After(_) => (bounds.last, true),
        };
        let changes = db.logged_after(after, limit)?;
        let last = changes.last().map_or(after, |change| change.seq);
        let mut batch = self.load(db, &changes, last)?;
        batch.log_id = format!("{:08x}", bounds.id);
        batch.more = changes.len() >= usize::try_from(limit).unwrap_or(usize::MAX) && last < bounds.last;
        if is_reset {
            batch.events.insert(0, reset(after));
        }
        // Several kinds of rows may be unknown at once.
        batch.events.dedup_by(|next, event| {
            let both = next.kind == EventKind::Reset && event.kind == EventKind::Reset;
            if both {
                event.seq = next.seq;
            }
            both
        });
        Ok(Some(batch))
    }

    fn load(&self, db: &mut Db, changes: &[LoggedChange], last: i64) -> SiteResult<Batch> {
        let settings = self.site.settings_in(db)?;
        let now = Objects::load(db, changes, &self.settings)?;
        let events: Vec<Event> = changes.iter().filter_map(|change| derive::event(&self.site, change, &now)).collect();
        let mut posts = now.posts;
        // Comments are read by those who may read their posts.
        let of_comments = events.iter().filter_map(comment_post).filter(|post| !posts.contains_key(post));
        let missing: BTreeSet<PostId> = of_comments.collect();
        for post in posts::outlines(db, &missing.into_iter().collect::<Vec<_>>())? {
            posts.insert(post.id, post);
        }
        let mut rows: Vec<Post> = posts.values().cloned().collect();
        rows.extend(events.iter().flat_map(past_posts));
        let rights = CapabilityData::load(db, &rows)?;
        let (site, log_id) = (Arc::clone(&self.site), String::new());
        Ok(Batch { events, last, more: false, posts, rights, settings, site, log_id })
    }
}

impl Batch {
    /// What callers may see of the events.
    pub fn viewer(&self) -> Viewer<'_> {
        let access = Access::with_data(&self.site, &self.settings, self.rights.clone());
        Viewer::new(&self.site, &self.settings, access, &self.posts, &self.log_id)
    }

    /// The settings of the site as the events were read.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }
}

/// Tells that entries up to this number are not known.
fn reset(seq: i64) -> Event {
    let (time, kind) = (SystemTime::now(), EventKind::Reset);
    Event { seq, time, kind, object: None, before: None, after: None, caller: None }
}

/// The posts of a comment, before and after.
fn comment_post(event: &Event) -> Option<PostId> {
    let object = event.object.as_ref().filter(|object| object.kind == ObjectKind::Comment)?;
    let states = [&event.after, &event.before, &object.now];
    states.into_iter().flatten().find_map(|state| state.parent).filter(|post| !post.is_none())
}

/// A post as it was before and after a change.
fn past_posts(event: &Event) -> impl Iterator<Item = Post> {
    let object = event.object.as_ref();
    let id = object.filter(|object| is_post(object)).map(|object| PostId(object.id));
    let states = [&event.before, &event.after].into_iter().flatten();
    states.filter_map(move |state| Some(post_of(id?, state)))
}

/// Whether the object is a post of some type.
pub(crate) fn is_post(object: &Object) -> bool {
    matches!(object.kind, ObjectKind::Post | ObjectKind::Media | ObjectKind::MenuItem)
}

/// A post with what rights depend on.
pub(crate) fn post_of(id: PostId, state: &State) -> Post {
    Post {
        id,
        post_type: state.object_type.clone(),
        status: state.status.clone(),
        author: state.author.unwrap_or_default(),
        parent: state.parent.unwrap_or_default(),
        ..Post::default()
    }
}

/// The objects of entries as they are now.
struct Objects<'a> {
    posts: HashMap<PostId, Post>,
    terms: HashMap<i64, State>,
    comments: HashMap<i64, State>,
    settings: &'a HashMap<String, String>,
    prefix: String,
}

impl<'a> Objects<'a> {
    fn load(db: &mut Db, changes: &[LoggedChange], settings: &'a HashMap<String, String>) -> SiteResult<Self> {
        let ids = |family: Family| -> Vec<i64> {
            let of = changes.iter().filter(|change| derive::family(change).is_some_and(|(of, _)| of == family));
            let ids: BTreeSet<i64> = of
                .filter_map(|change| match change.object {
                    Some(LoggedObject::Id(id)) => Some(id),
                    _ => None,
                })
                .collect();
            ids.into_iter().collect()
        };
        let posts: Vec<PostId> = ids(Family::Post).into_iter().map(PostId).collect();
        let posts = posts::outlines(db, &posts)?.into_iter().map(|post| (post.id, post)).collect();
        let terms: Vec<TermId> = ids(Family::Term).into_iter().map(TermId).collect();
        let terms = if terms.is_empty() { Vec::new() } else { terms::without_counts(db, &terms)? };
        let comments: Vec<CommentId> = ids(Family::Comment).into_iter().map(CommentId).collect();
        let comments = if comments.is_empty() { Vec::new() } else { comments::get_many(db, &comments)? };
        let of_term = |taxonomy: String| State { object_type: taxonomy, ..State::default() };
        Ok(Objects {
            posts,
            terms: terms.into_iter().map(|term| (term.id.0, of_term(term.taxonomy))).collect(),
            comments: comments.iter().map(|comment| (comment.id.0, State::from(comment))).collect(),
            settings,
            prefix: db.prefix().to_owned(),
        })
    }
}

impl Now for Objects<'_> {
    fn post(&self, id: i64) -> Option<State> {
        let post = self.posts.get(&PostId(id))?;
        Some(State {
            object_type: post.post_type.clone(),
            status: post.status.clone(),
            author: Some(post.author),
            parent: Some(post.parent),
        })
    }

    fn term(&self, id: i64) -> Option<State> {
        self.terms.get(&id).cloned()
    }

    fn comment(&self, id: i64) -> Option<State> {
        self.comments.get(&id).cloned()
    }

    fn setting(&self, option: &str) -> Option<&str> {
        self.settings.get(option).map(String::as_str)
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }
}

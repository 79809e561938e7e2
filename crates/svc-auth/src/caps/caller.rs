//! The user that makes a request, and their capabilities.

use std::sync::{Arc, LazyLock};

use svc_model::{Comment, Post, UserId};

use super::{CapContext, Mapper, Object, PostCap, PostFacts};
use crate::roles::{CapSet, UserCaps};

/// The current user of a request, possibly anonymous. Cheap to clone.
///
/// [`Caller::has`] checks a primitive capability, [`Caller::can`] any capability. If the object is already loaded, use
/// the `can_…` methods, which do not look it up again. All of them are based on [`crate::caps`].
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user's id; 0 is anonymous.
    pub id: UserId,
    /// Keys of the user's roles.
    pub roles: Arc<[String]>,
    /// The user's granted capabilities, merged.
    pub allcaps: Arc<CapSet>,
}

impl Default for Caller {
    /// An anonymous caller.
    fn default() -> Self {
        Caller::anonymous()
    }
}

impl Caller {
    /// An anonymous caller, whose only capability is `exist`.
    pub fn anonymous() -> Self {
        static ANONYMOUS: LazyLock<(Arc<[String]>, Arc<CapSet>)> = LazyLock::new(Default::default);
        let (roles, allcaps) = ANONYMOUS.clone();
        Caller { id: UserId(0), roles, allcaps }
    }

    /// A user with granted capabilities; see [`crate::roles::Roles::caps_of`].
    pub fn new(id: UserId, caps: UserCaps) -> Self {
        Caller { id, roles: caps.roles.into(), allcaps: Arc::new(caps.all) }
    }

    /// Returns whether a user is logged in. If so, refused requests get status 403, otherwise 401.
    pub fn is_logged_in(&self) -> bool {
        self.id != UserId(0)
    }

    /// Returns whether the caller has a primitive capability. For names that [`crate::caps::map_meta_cap`] resolves to
    /// others (`edit_post`, `unfiltered_upload`, `edit_categories`, …), use [`Caller::can`].
    pub fn has(&self, cap: &str) -> bool {
        self.allcaps.has(cap)
    }

    /// Returns whether the caller has a capability for an object.
    pub fn can(&self, cap: &str, object: Object<'_>, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, require| mapper.map(cap, object, require), ctx)
    }

    /// Returns whether the caller has a capability for a loaded post.
    pub fn can_post(&self, cap: PostCap, post: &Post, ctx: &dyn CapContext) -> bool {
        self.can_post_facts(cap, &PostFacts::from(post), ctx)
    }

    /// [`Caller::can_post`] for a post of which only the [`PostFacts`] are loaded.
    pub fn can_post_facts(&self, cap: PostCap, post: &PostFacts<'_>, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, require| mapper.post(cap, post, require), ctx)
    }

    /// Returns whether the caller may edit or delete a loaded comment, which requires permission to edit its post.
    pub fn can_edit_comment(&self, comment: &Comment, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, require| mapper.comment_on(comment.post, require), ctx)
    }

    fn all_of(&self, map: impl FnOnce(&Mapper<'_>, &mut dyn FnMut(&str)), ctx: &dyn CapContext) -> bool {
        let mut all = true;
        map(&Mapper { caller: self, ctx }, &mut |cap| all = all && self.allcaps.has(cap));
        all
    }
}

//! Who makes a request, and what he may do.

use std::sync::{Arc, LazyLock};

use svc_model::{Comment, Post, UserId};

use crate::{
    caps::{CapContext, Mapper, Object, PostCap, PostFacts},
    roles::{CapSet, UserCaps},
};

/// The current user of a request, or nobody. Cheap to clone.
///
/// [`Caller::has`] asks for a primitive capability, [`Caller::can`] for any; where an object is at hand, the `can_…`
/// methods ask without looking it up again. All of them decide by [`crate::caps`].
#[derive(Clone, Debug)]
pub struct Caller {
    /// Zero is nobody.
    pub id: UserId,
    /// Keys of his roles.
    pub roles: Arc<[String]>,
    /// What he was granted, merged.
    pub allcaps: Arc<CapSet>,
}

impl Default for Caller {
    /// Nobody.
    fn default() -> Self {
        Caller::anonymous()
    }
}

impl Caller {
    /// Nobody: has no capability but `exist`.
    pub fn anonymous() -> Self {
        static NOTHING: LazyLock<(Arc<[String]>, Arc<CapSet>)> = LazyLock::new(Default::default);
        let (roles, allcaps) = NOTHING.clone();
        Caller { id: UserId(0), roles, allcaps }
    }

    /// A user with what he was granted (see [`crate::roles::Roles::caps_of`]).
    pub fn new(id: UserId, caps: UserCaps) -> Self {
        Caller { id, roles: caps.roles.into(), allcaps: Arc::new(caps.all) }
    }

    /// Whether somebody is logged in. Refusals are 403 then, 401 otherwise.
    pub fn is_logged_in(&self) -> bool {
        self.id != UserId(0)
    }

    /// Whether he has a primitive capability. Names that [`crate::caps::map_meta_cap`] resolves to others
    /// (`edit_post`, `unfiltered_upload`, `edit_categories`, …) are for [`Caller::can`].
    pub fn has(&self, cap: &str) -> bool {
        self.allcaps.has(cap)
    }

    /// Whether he may do this, to this object.
    pub fn can(&self, cap: &str, object: Object<'_>, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, need| mapper.map(cap, object, need), ctx)
    }

    /// Whether he may do this to a post at hand.
    pub fn can_post(&self, cap: PostCap, post: &Post, ctx: &dyn CapContext) -> bool {
        self.can_post_facts(cap, &PostFacts::from(post), ctx)
    }

    /// [`Caller::can_post`] for a post of which only the facts are at hand.
    pub fn can_post_facts(&self, cap: PostCap, post: &PostFacts<'_>, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, need| mapper.post(cap, post, need), ctx)
    }

    /// Whether he may change or delete a comment at hand: who may edit its post.
    pub fn can_edit_comment(&self, comment: &Comment, ctx: &dyn CapContext) -> bool {
        self.all_of(|mapper, need| mapper.comment_on(comment.post, need), ctx)
    }

    fn all_of(&self, map: impl FnOnce(&Mapper<'_>, &mut dyn FnMut(&str)), ctx: &dyn CapContext) -> bool {
        let mut all = true;
        map(&Mapper { caller: self, ctx }, &mut |cap| all = all && self.allcaps.has(cap));
        all
    }
}

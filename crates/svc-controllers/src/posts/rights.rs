//! Permissions of a caller on one post and on its type.

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostType, Taxonomy};
use svc_site::Access;

use crate::links::create_term_cap;

/// The permissions of a caller on a post, computed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PostRights {
    read: bool,
    edit: bool,
    delete: bool,
    /// Names of the actions in `_links`.
    actions: Vec<String>,
}

impl PostRights {
    /// Computes the permissions. Actions are computed only if `with_actions`.
    pub(crate) fn of(
        caller: &Caller,
        access: &Access<'_>,
        post: &Post,
        post_type: &PostType,
        taxonomies: &[&Taxonomy],
        with_actions: bool,
    ) -> Self {
        let edits = |cap| caller.is_logged_in() && caller.can_post(cap, post, access);
        PostRights {
            read: access.can_read(caller, post),
            edit: edits(PostCap::Edit),
            delete: edits(PostCap::Delete),
            actions: if with_actions { actions(caller, access, post_type, taxonomies) } else { Vec::new() },
        }
    }

    /// Methods that the caller may use on the post's route.
    pub(crate) fn allowed_methods(&self) -> impl Iterator<Item = &'static str> {
        let rows =
            [(self.read, &["GET"][..]), (self.edit, &["POST", "PUT", "PATCH"][..]), (self.delete, &["DELETE"][..])];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied())
    }

    /// Whether the caller may edit the post.
    pub(crate) fn may_edit(&self) -> bool {
        self.edit
    }

    /// Names of the actions that the caller may take.
    pub(crate) fn actions(&self) -> &[String] {
        &self.actions
    }
}

fn actions(caller: &Caller, access: &Access<'_>, post_type: &PostType, taxonomies: &[&Taxonomy]) -> Vec<String> {
    let can = |cap: &str| access.can(caller, cap);
    let mut out = Vec::new();
    if post_type.name != "attachment" && can(&post_type.caps.publish_posts) {
        out.push("publish".to_owned());
    }
    if can("unfiltered_html") {
        out.push("unfiltered-html".to_owned());
    }
    if post_type.name == "post" && can(&post_type.caps.edit_others_posts) && can(&post_type.caps.publish_posts) {
        out.push("sticky".to_owned());
    }
    if post_type.supports("author") && can(&post_type.caps.edit_others_posts) {
        out.push("assign-author".to_owned());
    }
    for taxonomy in taxonomies {
        if can(create_term_cap(taxonomy)) {
            out.push(format!("create-{}", taxonomy.rest_base));
        }
        if can(&taxonomy.caps.assign_terms) {
            out.push(format!("assign-{}", taxonomy.rest_base));
        }
    }
    out
}

//! What a caller may do with one post and with posts of its type.

use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostType, Taxonomy};
use svc_site::Access;

use crate::links::create_term_cap;

/// Outcomes of the capability rules for a caller and a post, asked once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PostRights {
    read: bool,
    edit: bool,
    delete: bool,
    /// Names of the actions told in `_links`.
    actions: Vec<String>,
}

impl PostRights {
    /// Asks the rules. The actions are asked for only when wanted.
    pub(crate) fn of(
        caller: &Caller,
        access: &Access<'_>,
        post: &Post,
        kind: &PostType,
        taxonomies: &[&Taxonomy],
        with_actions: bool,
    ) -> Self {
        let edits = |cap| caller.is_logged_in() && caller.can_post(cap, post, access);
        PostRights {
            read: access.can_read(caller, post),
            edit: edits(PostCap::Edit),
            delete: edits(PostCap::Delete),
            actions: if with_actions { actions(caller, access, kind, taxonomies) } else { Vec::new() },
        }
    }

    /// Methods of the post's own route that the caller may use.
    pub(crate) fn allowed_methods(&self) -> impl Iterator<Item = &'static str> {
        let rows =
            [(self.read, &["GET"][..]), (self.edit, &["POST", "PUT", "PATCH"][..]), (self.delete, &["DELETE"][..])];
        rows.into_iter().filter(|(may, _)| *may).flat_map(|(_, methods)| methods.iter().copied())
    }

    /// Whether the caller may change the post.
    pub(crate) fn may_edit(&self) -> bool {
        self.edit
    }

    /// Names of the actions that the caller may take.
    pub(crate) fn actions(&self) -> &[String] {
        &self.actions
    }
}

fn actions(caller: &Caller, access: &Access<'_>, kind: &PostType, taxonomies: &[&Taxonomy]) -> Vec<String> {
    let can = |cap: &str| access.can(caller, cap);
    let mut out = Vec::new();
    if kind.name != "attachment" && can(&kind.caps.publish_posts) {
        out.push("publish".to_owned());
    }
    if can("unfiltered_html") {
        out.push("unfiltered-html".to_owned());
    }
    if kind.name == "post" && can(&kind.caps.edit_others_posts) && can(&kind.caps.publish_posts) {
        out.push("sticky".to_owned());
    }
    if kind.supports("author") && can(&kind.caps.edit_others_posts) {
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

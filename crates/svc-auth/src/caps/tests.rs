//! Decisions recorded from WordPress that its test vectors do not cover: unusual types, statuses, parents and objects.

use serde_json::json;
use svc_model::{Comment, CommentId, TermId};

use super::*;
use crate::roles::{CapSet, Roles, UserCaps};

const ME: i64 = 10;
const OTHER: i64 = 11;

fn caller(id: i64, role: &str) -> Caller {
    Caller::new(UserId(id), Roles::default().caps_of(&json!({role: true})))
}

fn post(id: i64, post_type: &'static str, status: &'static str, author: i64, parent: i64) -> PostFacts<'static> {
    PostFacts {
        id: PostId(id),
        author: UserId(author),
        parent: PostId(parent),
        post_type: Cow::Borrowed(post_type),
        status: Cow::Borrowed(status),
    }
}

fn snapshot(posts: &[PostFacts<'static>]) -> InMemoryContext {
    let mut snapshot = InMemoryContext { users: [1, ME, OTHER].map(UserId).into(), ..InMemoryContext::default() };
    for post in posts {
        snapshot.add_post(post);
    }
    snapshot
}

/// Compares the capabilities required of the author and of another user, joined with commas.
#[track_caller]
fn check(snapshot: &InMemoryContext, cap: &str, object: Object<'_>, owner: &str, other: &str) {
    for (id, expected) in [(ME, owner), (OTHER, other)] {
        let required = map_meta_cap(cap, &caller(id, "editor"), object, snapshot).join(",");
        assert_eq!(required, expected, "{cap} of {object:?} by {id}");
    }
}

#[test]
fn posts_of_unusual_types_and_statuses() {
    let snapshot = |kind, status| snapshot(&[post(5, kind, status, ME, 0)]);
    #[rustfmt::skip]
    let rows = [
        // A type without meta capability mapping: each meta capability is primitive.
        ("custom_css", "draft", "read_post", "read", "read"),
        ("custom_css", "publish", "edit_post", "edit_css", "edit_css"),
        ("custom_css", "publish", "delete_post", "edit_theme_options", "edit_theme_options"),
        ("customize_changeset", "publish", "edit_post", "do_not_allow", "customize,do_not_allow"),
        ("customize_changeset", "draft", "edit_post", "customize", "customize"),
        ("wp_font_face", "publish", "read_post", "edit_theme_options", "edit_theme_options"),
        ("wp_font_face", "publish", "delete_post", "edit_theme_options", "edit_theme_options,edit_theme_options"),
        ("nosuchtype", "publish", "read_post", "edit_others_posts", "edit_others_posts"),
        ("nosuchtype", "publish", "publish_post", "edit_others_posts", "edit_others_posts"),
        ("post", "weird", "read_post", "edit_others_posts", "edit_others_posts"),
        ("post", "weird", "edit_post", "edit_posts", "edit_others_posts"),
        ("post", "request-pending", "read_post", "read", "edit_others_posts"),
        ("post", "inherit", "read_post", "read", "edit_others_posts"),
        ("wp_block", "publish", "edit_block", "edit_published_posts", "edit_others_posts,edit_published_posts"),
        ("wp_template", "publish", "edit_template", "edit_theme_options", "edit_theme_options,edit_theme_options"),
        ("post", "publish", "edit_book", "edit_book", "edit_book"),
    ];
    for (kind, status, cap, owner, other) in rows {
        check(&snapshot(kind, status), cap, Object::Post(PostId(5)), owner, other);
    }
}

#[test]
fn trashed_posts_use_their_previous_status() {
    for (was, edit) in [
        ("publish", "edit_published_posts"),
        ("future", "edit_published_posts"),
        ("private", "edit_posts"),
        ("", "edit_posts"),
        ("weird", "edit_posts"),
    ] {
        let mut snapshot = snapshot(&[post(5, "post", "trash", ME, 0)]);
        snapshot.trashed.insert(PostId(5), was.to_owned());
        check(&snapshot, "edit_post", Object::Post(PostId(5)), edit, "edit_others_posts");
        check(
            &snapshot,
            "delete_post",
            Object::Post(PostId(5)),
            &edit.replace("edit", "delete"),
            "delete_others_posts",
        );
        check(&snapshot, "read_post", Object::Post(PostId(5)), "read", "edit_others_posts");
    }
}

#[test]
fn posts_without_an_author_belong_to_no_one() {
    let snapshot = snapshot(&[post(5, "post", "draft", 0, 0)]);
    let anonymous = Caller::anonymous();
    for (cap, expected) in
        [("read_post", "edit_others_posts"), ("edit_post", "edit_others_posts"), ("delete_post", "delete_others_posts")]
    {
        assert_eq!(map_meta_cap(cap, &anonymous, Object::Post(PostId(5)), &snapshot), [expected]);
        assert!(!anonymous.can(cap, Object::Post(PostId(5)), &snapshot));
    }
}

#[test]
fn revisions_use_the_capabilities_of_their_post() {
    let snapshot = snapshot(&[
        post(1, "post", "publish", ME, 0),
        post(2, "revision", "inherit", OTHER, 1),
        post(3, "revision", "inherit", ME, 0),
        post(4, "revision", "inherit", ME, 99),
        post(5, "revision", "inherit", ME, 2),
        post(6, "post", "trash", OTHER, 0),
        post(7, "revision", "inherit", ME, 6),
    ]);
    let both = "edit_others_posts,edit_published_posts";
    #[rustfmt::skip]
    let rows = [
        (2, "read_post", "read", "read"),
        (2, "edit_post", "edit_published_posts", both),
        (2, "delete_post", "do_not_allow", "do_not_allow"),
        (2, "publish_post", "publish_posts", "publish_posts"),
        (3, "read_post", "do_not_allow", "do_not_allow"),
        (3, "edit_post", "do_not_allow", "do_not_allow"),
        (4, "read_post", "do_not_allow", "do_not_allow"),
        (5, "read_post", "edit_published_posts", "read"),
        (5, "edit_post", "edit_others_posts", "edit_posts"),
        (7, "read_post", "edit_others_posts", "read"),
        (99, "publish_post", "do_not_allow", "do_not_allow"),
    ];
    for (id, cap, owner, other) in rows {
        check(&snapshot, cap, Object::Post(PostId(id)), owner, other);
    }
}

#[test]
fn attachments_inherit_the_status_of_their_parent() {
    let mut snapshot = snapshot(&[
        post(1, "post", "publish", OTHER, 0),
        post(2, "post", "draft", OTHER, 0),
        post(3, "post", "private", OTHER, 0),
        post(4, "post", "trash", OTHER, 0),
        post(5, "post", "trash", OTHER, 0),
        post(6, "post", "weird", OTHER, 0),
        post(7, "post", "auto-draft", OTHER, 0),
        // Cycles and chains.
        post(20, "attachment", "inherit", ME, 21),
        post(21, "attachment", "inherit", ME, 20),
        post(22, "attachment", "inherit", ME, 22),
        post(23, "attachment", "inherit", ME, 24),
        post(24, "attachment", "inherit", ME, 2),
        post(25, "attachment", "trash", ME, 0),
        post(26, "attachment", "private", ME, 0),
        post(27, "revision", "inherit", ME, 0),
    ]);
    snapshot.trashed.insert(PostId(5), "private".to_owned());
    for (parent, status, expected) in [
        (0, "inherit", "publish"),
        (99, "inherit", "publish"),
        (1, "inherit", "publish"),
        (2, "inherit", "draft"),
        (3, "inherit", "private"),
        (4, "inherit", "publish"),
        (5, "inherit", "private"),
        (6, "inherit", "weird"),
        (7, "inherit", "auto-draft"),
        (20, "inherit", "private"),
        (22, "inherit", "publish"),
        (23, "inherit", "draft"),
        (25, "inherit", "publish"),
        (26, "inherit", "private"),
        (27, "inherit", "inherit"),
        (2, "publish", "publish"),
        (2, "draft", "publish"),
        (2, "private", "private"),
        (2, "trash", "trash"),
        (2, "auto-draft", "auto-draft"),
        (2, "weird", "publish"),
    ] {
        let attachment = post(50, "attachment", status, ME, parent);
        assert_eq!(effective_status(&attachment, &snapshot), expected, "{status} below {parent}");
    }
    snapshot.add_post(&post(50, "attachment", "inherit", ME, 3));
    check(&snapshot, "read_post", Object::Post(PostId(50)), "read", "read_private_posts");
    check(&snapshot, "edit_post", Object::Post(PostId(50)), "edit_posts", "edit_others_posts");
}

#[test]
fn special_pages() {
    let mut snapshot = snapshot(&[post(5, "page", "publish", ME, 0), post(6, "revision", "inherit", ME, 5)]);
    snapshot.policy.page_on_front = PostId(5);
    check(&snapshot, "delete_post", Object::Post(PostId(5)), "manage_options", "manage_options");
    check(&snapshot, "delete_post", Object::Post(PostId(6)), "do_not_allow", "do_not_allow");
    check(&snapshot, "read_post", Object::Post(PostId(5)), "read", "read");
    snapshot.policy = SitePolicy { privacy_page: PostId(5), ..SitePolicy::default() };
    let others = "edit_others_pages,edit_published_pages,manage_options";
    for id in [5, 6] {
        check(&snapshot, "edit_post", Object::Post(PostId(id)), "edit_published_pages,manage_options", others);
    }
}

#[test]
fn comments() {
    let mut snapshot = snapshot(&[post(1, "post", "publish", ME, 0), post(2, "revision", "inherit", OTHER, 1)]);
    snapshot.comments = [(1, 0), (2, 99), (3, 2)].map(|(c, p)| (CommentId(c), PostId(p))).into();
    let both = "edit_others_posts,edit_published_posts";
    check(&snapshot, "edit_comment", Object::Comment(CommentId(1)), "edit_posts", "edit_posts");
    check(&snapshot, "edit_comment", Object::Comment(CommentId(2)), "edit_posts", "edit_posts");
    check(&snapshot, "edit_comment", Object::Comment(CommentId(3)), "edit_published_posts", both);
    check(&snapshot, "edit_comment", Object::Comment(CommentId(4)), "do_not_allow", "do_not_allow");
    let comment = Comment { post: PostId(2), ..Comment::default() };
    assert!(caller(ME, "author").can_edit_comment(&comment, &snapshot));
    assert!(!caller(OTHER, "author").can_edit_comment(&comment, &snapshot));
}

#[test]
fn terms_of_every_taxonomy() {
    let mut snapshot = InMemoryContext::default();
    let names = ["category", "nav_menu", "link_category", "post_format", "wp_theme", "wp_pattern_category", "nosuch"];
    snapshot.terms = names.iter().zip(1..).map(|(name, id)| (TermId(id), (*name).to_owned())).collect();
    for (id, edit, assign) in [
        (1, "manage_categories", "edit_posts"),
        (2, "edit_theme_options", "edit_theme_options"),
        (3, "do_not_allow", "do_not_allow"),
        (4, "manage_categories", "edit_posts"),
        (5, "manage_categories", "edit_posts"),
        (6, "manage_categories", "edit_posts"),
        (7, "do_not_allow", "do_not_allow"),
        (8, "do_not_allow", "do_not_allow"),
    ] {
        let object = Object::Term(TermId(id));
        check(&snapshot, "edit_term", object, edit, edit);
        check(&snapshot, "delete_term", object, edit, edit);
        check(&snapshot, "assign_term", object, assign, assign);
        snapshot.default_terms = [TermId(id)].into();
        check(&snapshot, "delete_term", object, "do_not_allow", "do_not_allow");
        check(&snapshot, "edit_term", object, edit, edit);
        snapshot.default_terms.clear();
    }
    snapshot.policy.link_manager = true;
    check(&snapshot, "edit_term", Object::Term(TermId(3)), "manage_links", "manage_links");
}

#[test]
fn users() {
    let snapshot = snapshot(&[]);
    let user = |id| Object::User(UserId(id));
    check(&snapshot, "edit_user", user(ME), "", "edit_users");
    check(&snapshot, "edit_users", user(ME), "edit_users", "edit_users");
    check(&snapshot, "create_app_password", user(ME), "", "edit_users");
    check(&snapshot, "remove_user", user(ME), "do_not_allow", "remove_users");
    check(&snapshot, "delete_user", user(ME), "delete_users", "delete_users");
    check(&snapshot, "promote_user", user(ME), "promote_users", "promote_users");
    let anonymous = Caller::anonymous();
    for (cap, object, expected) in [
        ("edit_user", user(0), "do_not_allow"),
        ("edit_users", Object::None, "do_not_allow"),
        ("delete_app_passwords", Object::None, "do_not_allow"),
        ("remove_user", user(0), "do_not_allow"),
        ("remove_user", user(1), "remove_users"),
        ("delete_user", user(0), "delete_users"),
    ] {
        assert_eq!(map_meta_cap(cap, &anonymous, object, &snapshot), [expected], "{cap}");
    }
    let admin = caller(1, "administrator");
    assert_eq!(map_meta_cap("remove_user", &admin, user(1), &snapshot), ["remove_users"]);
    assert!(admin.can("remove_user", user(1), &snapshot));
}

#[test]
fn meta_requires_the_object_and_protected_keys_require_more() {
    let snapshot = snapshot(&[post(1, "post", "publish", ME, 0), post(3, "nosuchtype", "draft", ME, 0)]);
    let both = "edit_others_posts,edit_published_posts";
    let meta = |kind, id, key| Object::Meta(kind, id, key);
    check(&snapshot, "edit_post_meta", Object::Post(PostId(1)), "edit_published_posts", both);
    check(&snapshot, "add_post_meta", meta(MetaKind::Post, 1, "x"), "edit_published_posts", both);
    let with = |cap| (format!("edit_published_posts,{cap}"), format!("{both},{cap}"));
    for cap in ["edit_post_meta", "add_post_meta", "delete_post_meta"] {
        let (owner, other) = with(cap);
        check(&snapshot, cap, meta(MetaKind::Post, 1, "_x"), &owner, &other);
        check(&snapshot, cap, meta(MetaKind::Post, 99, "_x"), "do_not_allow", "do_not_allow");
        check(&snapshot, cap, meta(MetaKind::User, 1, "x"), "do_not_allow", "do_not_allow");
        check(&snapshot, cap, Object::None, "do_not_allow", "do_not_allow");
    }
    check(&snapshot, "edit_post_meta", meta(MetaKind::Post, 3, "x"), "edit_others_posts", "edit_others_posts");
    check(&snapshot, "edit_user_meta", meta(MetaKind::User, ME, "_x"), "edit_user_meta", "edit_users,edit_user_meta");
    check(&snapshot, "edit_user_meta", meta(MetaKind::User, ME, "x"), "", "edit_users");
    check(&snapshot, "edit_user_meta", meta(MetaKind::User, 99, "x"), "do_not_allow", "do_not_allow");
    check(&snapshot, "edit_term_meta", meta(MetaKind::Term, 99, "x"), "do_not_allow", "do_not_allow");
    check(&snapshot, "edit_comment_meta", meta(MetaKind::Comment, 99, "x"), "do_not_allow", "do_not_allow");
}

#[test]
fn meta_without_a_key_requires_editing_the_object() {
    let mut snapshot = snapshot(&[post(1, "post", "publish", ME, 0)]);
    snapshot.comments.insert(CommentId(4), PostId(1));
    snapshot.terms.insert(TermId(5), "category".to_owned());
    let loaded = Post { id: PostId(1), ..Post::default() };
    let both = "edit_others_posts,edit_published_posts";
    #[rustfmt::skip]
    let rows = [
        ("edit_post_meta", Object::LoadedPost(&loaded), "edit_published_posts", both),
        ("edit_comment_meta", Object::Comment(CommentId(4)), "edit_published_posts", both),
        ("edit_term_meta", Object::Term(TermId(5)), "manage_categories", "manage_categories"),
        ("edit_user_meta", Object::User(UserId(ME)), "", "edit_users"),
        ("edit_term_meta", Object::Comment(CommentId(4)), "do_not_allow", "do_not_allow"),
    ];
    for (cap, object, owner, other) in rows {
        check(&snapshot, cap, object, owner, other);
    }
}

#[test]
fn registered_meta_keys_use_their_callback() {
    struct Registered(InMemoryContext);
    impl CapContext for Registered {
        fn post_types(&self) -> &PostTypes {
            self.0.post_types()
        }
        fn post_statuses(&self) -> &PostStatuses {
            self.0.post_statuses()
        }
        fn taxonomies(&self) -> &Taxonomies {
            self.0.taxonomies()
        }
        fn policy(&self) -> SitePolicy {
            self.0.policy()
        }
        fn post(&self, id: PostId) -> Option<PostFacts<'_>> {
            self.0.post(id)
        }
        fn status_before_trash(&self, id: PostId) -> Option<Cow<'_, str>> {
            self.0.status_before_trash(id)
        }
        fn comment_post(&self, id: CommentId) -> Option<PostId> {
            self.0.comment_post(id)
        }
        fn term_taxonomy(&self, id: TermId) -> Option<Cow<'_, str>> {
            self.0.term_taxonomy(id)
        }
        fn is_default_term(&self, taxonomy: &str, id: TermId) -> bool {
            self.0.is_default_term(taxonomy, id)
        }
        fn user_exists(&self, id: UserId) -> bool {
            self.0.user_exists(id)
        }
        fn meta_allowed(&self, access: &MetaAccess<'_>) -> Option<bool> {
            match access.key {
                "_open" => Some(access.user == UserId(ME)),
                "closed" => Some(false),
                _ => None,
            }
        }
    }
    let snapshot = Registered(snapshot(&[post(1, "post", "draft", ME, 0)]));
    for (key, expected) in [("_open", true), ("closed", false), ("free", true), ("_x", false)] {
        let object = Object::Meta(MetaKind::Post, 1, key);
        assert_eq!(caller(ME, "author").can("edit_post_meta", object, &snapshot), expected, "{key}");
        assert!(!caller(OTHER, "author").can("edit_post_meta", object, &snapshot), "{key}");
    }
    assert!(!caller(1, "administrator").can("edit_post_meta", Object::Meta(MetaKind::Post, 1, "_open"), &snapshot));
}

#[test]
fn protected_keys() {
    for (key, expected) in [
        ("_a", true),
        ("a", false),
        ("", false),
        (" _a", false),
        ("\0_a", true),
        ("\x1f\x7f_a", true),
        ("é_a", false),
        ("\u{a0}_a", false),
        ("a_", false),
    ] {
        assert_eq!(is_protected_meta(key), expected, "{key:?}");
    }
}

#[test]
fn capabilities_without_an_object_resolve_to_others() {
    #[rustfmt::skip]
    let rows = [
        ("add_users", "promote_users"), ("promote_user", "promote_users"), ("delete_user", "delete_users"),
        ("activate_plugin", "activate_plugins"), ("deactivate_plugin", "activate_plugins"),
        ("deactivate_plugins", "activate_plugins"), ("resume_plugin", "resume_plugins"), ("resume_theme", "resume_themes"),
        ("edit_files", "edit_files"), ("upload_plugins", "install_plugins"), ("upload_themes", "install_themes"),
        ("update_languages", "install_languages"), ("update_php", "update_core"),
        ("update_https", "manage_options,update_core"), ("edit_css", "unfiltered_html"),
        ("customize", "edit_theme_options"), ("manage_post_tags", "manage_categories"), ("assign_categories", "edit_posts"),
        ("edit_blocks", "edit_posts"), ("edit_others_blocks", "edit_others_posts"), ("publish_blocks", "publish_posts"),
        ("read_private_blocks", "read_private_posts"), ("delete_blocks", "delete_posts"),
        ("delete_private_blocks", "delete_private_posts"), ("delete_published_blocks", "delete_published_posts"),
        ("delete_others_blocks", "delete_others_posts"), ("edit_private_blocks", "edit_private_posts"),
        ("edit_published_blocks", "edit_published_posts"), ("export_others_personal_data", "manage_options"),
        ("erase_others_personal_data", "manage_options"), ("manage_privacy_options", "manage_options"),
        ("setup_network", "manage_options"), ("delete_site", "do_not_allow"), ("unfiltered_upload", "do_not_allow"),
        ("anything_else", "anything_else"),
    ];
    for (cap, required) in rows {
        check(&InMemoryContext::default(), cap, Object::None, required, required);
    }
}

#[test]
fn registered_types_statuses_and_taxonomies_have_their_own_capabilities() {
    let mut snapshot = snapshot(&[post(1, "post", "draft", ME, 0), post(2, "post", "hidden", ME, 0)]);
    let mut types = PostTypes::default();
    for (name, one, many) in [("post", "article", "articles"), ("page", "sheet", "sheets")] {
        types.get_mut(name).unwrap().caps = svc_model::PostTypeCaps::of(one, many);
    }
    let mut statuses = PostStatuses::default();
    let private = statuses.get("private").unwrap().clone();
    statuses.register(svc_model::PostStatus { name: "hidden".to_owned(), ..private });
    let mut taxonomies = Taxonomies::default();
    taxonomies.get_mut("category").unwrap().caps.edit_terms = "edit_topics".to_owned();
    (snapshot.post_types, snapshot.post_statuses, snapshot.taxonomies) =
        (types.into(), statuses.into(), taxonomies.into());
    snapshot.terms.insert(TermId(1), "category".to_owned());
    #[rustfmt::skip]
    let rows = [
        ("read_post", Object::Post(PostId(1)), "read", "edit_others_articles"),
        ("read_page", Object::Post(PostId(1)), "read", "edit_others_articles"),
        ("read_post", Object::Post(PostId(2)), "read", "read_private_articles"),
        ("edit_post", Object::Post(PostId(1)), "edit_articles", "edit_others_articles"),
        ("edit_page", Object::Post(PostId(1)), "edit_articles", "edit_others_articles"),
        ("edit_article", Object::Post(PostId(1)), "edit_articles", "edit_others_articles"),
        ("delete_post", Object::Post(PostId(1)), "delete_articles", "delete_others_articles"),
        ("delete_page", Object::Post(PostId(1)), "delete_articles", "delete_others_articles"),
        ("edit_term", Object::Term(TermId(1)), "edit_topics", "edit_topics"),
    ];
    for (cap, object, owner, other) in rows {
        check(&snapshot, cap, object, owner, other);
    }
}

#[test]
fn site_policy_denies_capabilities() {
    let strict = SitePolicy { file_edits: false, file_mods: false, unfiltered_html: false, ..SitePolicy::default() };
    let no_edits = SitePolicy { file_edits: false, ..SitePolicy::default() };
    let no_mods = SitePolicy { file_mods: false, ..SitePolicy::default() };
    let lax = SitePolicy { unfiltered_uploads: true, link_manager: true, ..SitePolicy::default() };
    for (cap, policy, expected) in [
        ("edit_plugins", no_edits, "do_not_allow"),
        ("install_plugins", no_edits, "install_plugins"),
        ("edit_files", no_edits, "do_not_allow"),
        ("edit_files", no_mods, "do_not_allow"),
        ("edit_plugins", no_mods, "do_not_allow"),
        ("edit_themes", no_edits, "do_not_allow"),
        ("edit_themes", no_mods, "do_not_allow"),
        ("upload_plugins", strict, "do_not_allow"),
        ("install_themes", no_mods, "do_not_allow"),
        ("upload_themes", no_mods, "do_not_allow"),
        ("update_plugins", no_mods, "do_not_allow"),
        ("delete_plugins", no_mods, "do_not_allow"),
        ("update_themes", no_mods, "do_not_allow"),
        ("delete_themes", no_mods, "do_not_allow"),
        ("install_languages", strict, "do_not_allow"),
        ("update_core", strict, "do_not_allow"),
        ("edit_css", strict, "do_not_allow"),
        ("unfiltered_html", strict, "do_not_allow"),
        ("unfiltered_upload", lax, "unfiltered_upload"),
        ("manage_links", lax, "manage_links"),
    ] {
        let snapshot = InMemoryContext { policy, ..InMemoryContext::default() };
        assert_eq!(map_meta_cap(cap, &caller(1, "administrator"), Object::None, &snapshot), [expected], "{cap}");
    }
}

#[test]
fn the_block_editor() {
    let snapshot = snapshot(&[post(1, "post", "draft", ME, 0)]);
    check(&snapshot, "edit_block_binding", Object::Editor(Some(PostId(1))), "edit_posts", "edit_others_posts");
    check(&snapshot, "edit_block_binding", Object::Editor(None), "edit_theme_options", "edit_theme_options");
    check(&snapshot, "edit_block_binding", Object::Post(PostId(1)), "do_not_allow", "do_not_allow");
}

#[test]
fn all_checks_agree() {
    let roles = ["administrator", "editor", "author", "contributor", "subscriber", "none"];
    let caps = [
        ("read_post", PostCap::Read),
        ("edit_post", PostCap::Edit),
        ("delete_post", PostCap::Delete),
        ("publish_post", PostCap::Publish),
    ];
    let mut granted = 0;
    for (kind, status) in
        [("post", "publish"), ("post", "private"), ("page", "draft"), ("wp_block", "trash"), ("revision", "inherit")]
    {
        for author in [0, ME, OTHER] {
            let row = Post {
                id: PostId(5),
                author: UserId(author),
                post_type: kind.to_owned(),
                status: status.to_owned(),
                parent: PostId(6),
                ..Post::default()
            };
            let mut snapshot = snapshot(&[post(6, "post", "draft", ME, 0)]);
            snapshot.add_post(&PostFacts::from(&row));
            for role in roles {
                let me = caller(ME, role);
                for (name, cap) in caps {
                    let by_id = me.can(name, Object::Post(row.id), &snapshot);
                    let required = map_meta_cap(name, &me, Object::LoadedPost(&row), &snapshot);
                    assert_eq!(by_id, required.iter().all(|cap| me.has(cap)), "{name} {kind} {status} {author} {role}");
                    assert_eq!(by_id, me.can_post(cap, &row, &snapshot), "{name} {kind} {status} {author} {role}");
                    granted += usize::from(by_id);
                }
            }
        }
    }
    assert!((100..300).contains(&granted), "{granted} of 360");
}

#[test]
fn callers_have_granted_capabilities() {
    let user = UserCaps { all: CapSet::granting(&["read"]), ..UserCaps::default() };
    let me = Caller::new(UserId(3), user);
    assert!(me.is_logged_in() && me.has("read") && me.has("exist") && !me.has("edit_posts") && !me.has(DO_NOT_ALLOW));
    let anonymous = Caller::default();
    assert!(!anonymous.is_logged_in() && anonymous.has("exist") && !anonymous.has("read"));
}

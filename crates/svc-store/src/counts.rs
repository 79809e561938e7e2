//! Numbers of rows that SQLite maintains, so that totals and the choice of plans do not depend on the size of a site.

use svc_db::schema::{CountTable, CountTrigger};

const fn trigger(
    table: &'static str,
    event: &'static str,
    when: &'static str,
    less: &'static [&'static str],
    more: &'static [&'static str],
) -> CountTrigger {
    CountTrigger { table, event, when, less, more }
}

/// The count tables. Revisions are in no list and only counted per type and status.
#[rustfmt::skip]
pub(crate) const COUNTS: &[CountTable] = &[
    CountTable {
        name: "svc_post_count",
        columns: "post_type TYPE, post_status TYPE",
        keys: "post_type, post_status",
        sources: &["SELECT post_type, post_status FROM {posts}"],
        triggers: &[
            trigger("posts", "insert", "1", &[], &["SELECT NEW.post_type, NEW.post_status"]),
            trigger("posts", "delete", "1", &["SELECT OLD.post_type, OLD.post_status"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status)", &["SELECT OLD.post_type, OLD.post_status"], &["SELECT NEW.post_type, NEW.post_status"]),
        ],
    },
    CountTable {
        name: "svc_author_count",
        columns: "post_author INTEGER NOT NULL, post_type TYPE, post_status TYPE",
        keys: "post_author, post_type, post_status",
        sources: &["SELECT post_author, post_type, post_status FROM {posts} WHERE post_type <> 'revision'"],
        triggers: &[
            trigger("posts", "insert", "NEW.post_type <> 'revision'", &[], &["SELECT NEW.post_author, NEW.post_type, NEW.post_status"]),
            trigger("posts", "delete", "OLD.post_type <> 'revision'", &["SELECT OLD.post_author, OLD.post_type, OLD.post_status"], &[]),
            trigger("posts", "update", "(NEW.post_author, NEW.post_type, NEW.post_status) IS NOT (OLD.post_author, OLD.post_type, OLD.post_status)",
                &["SELECT OLD.post_author, OLD.post_type, OLD.post_status WHERE OLD.post_type <> 'revision'"],
                &["SELECT NEW.post_author, NEW.post_type, NEW.post_status WHERE NEW.post_type <> 'revision'"]),
        ],
    },
    // Kind `d` counts by date, `m` by modification.
    CountTable {
        name: "svc_day_count",
        columns: "post_type TYPE, post_status TYPE, kind TEXT NOT NULL, day TEXT NOT NULL",
        keys: "post_type, post_status, kind, day",
        sources: &[
            "SELECT post_type, post_status, 'd', substr(post_date, 1, 10) FROM {posts} WHERE post_type <> 'revision'",
            "SELECT post_type, post_status, 'm', substr(post_modified, 1, 10) FROM {posts} WHERE post_type <> 'revision'",
        ],
        triggers: &[
            trigger("posts", "insert", "NEW.post_type <> 'revision'", &[], &[
                "SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10)", "SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10)"]),
            trigger("posts", "delete", "OLD.post_type <> 'revision'", &[
                "SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10)", "SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10)"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status, NEW.post_date, NEW.post_modified) IS NOT (OLD.post_type, OLD.post_status, OLD.post_date, OLD.post_modified)", &[
                "SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10) WHERE OLD.post_type <> 'revision'", "SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10) WHERE OLD.post_type <> 'revision'"], &[
                "SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10) WHERE NEW.post_type <> 'revision'", "SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10) WHERE NEW.post_type <> 'revision'"]),
        ],
    },
    // Relationships whose post exists. A post may be inserted or deleted while it has relationships.
    CountTable {
        name: "svc_term_count",
        columns: "term_taxonomy_id INTEGER NOT NULL, post_type TYPE, post_status TYPE",
        keys: "term_taxonomy_id, post_type, post_status",
        sources: &["SELECT tr.term_taxonomy_id, p.post_type, p.post_status FROM {term_relationships} tr JOIN {posts} p ON p.ID = tr.object_id"],
        triggers: &[
            trigger("term_relationships", "insert", "1", &[], &["SELECT NEW.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = NEW.object_id"]),
            trigger("term_relationships", "delete", "1", &["SELECT OLD.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = OLD.object_id"], &[]),
            trigger("term_relationships", "update", "(NEW.object_id, NEW.term_taxonomy_id) IS NOT (OLD.object_id, OLD.term_taxonomy_id)",
                &["SELECT OLD.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = OLD.object_id"],
                &["SELECT NEW.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = NEW.object_id"]),
            trigger("posts", "insert", "1", &[], &["SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM {term_relationships} WHERE object_id = NEW.ID"]),
            trigger("posts", "delete", "1", &["SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM {term_relationships} WHERE object_id = OLD.ID"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status)",
                &["SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM {term_relationships} WHERE object_id = OLD.ID"],
                &["SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM {term_relationships} WHERE object_id = NEW.ID"]),
        ],
    },
    // Roles and levels: the values of these two keys, and the users who have them.
    CountTable {
        name: "svc_rights_count",
        columns: "meta_key TYPE, meta_value TEXT NOT NULL",
        keys: "meta_key, meta_value",
        sources: &["SELECT meta_key, COALESCE(meta_value, '0') FROM {usermeta} WHERE meta_key IN ({'capabilities'}, {'user_level'})"],
        triggers: &[
            trigger("usermeta", "insert", "NEW.meta_key IN ({'capabilities'}, {'user_level'})", &[], &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0')"]),
            trigger("usermeta", "delete", "OLD.meta_key IN ({'capabilities'}, {'user_level'})", &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0')"], &[]),
            trigger("usermeta", "update", "(NEW.meta_key IN ({'capabilities'}, {'user_level'}) OR OLD.meta_key IN ({'capabilities'}, {'user_level'}))",
                &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0') WHERE OLD.meta_key IN ({'capabilities'}, {'user_level'})"],
                &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0') WHERE NEW.meta_key IN ({'capabilities'}, {'user_level'})"]),
        ],
    },
    CountTable {
        name: "svc_user_rights",
        columns: "meta_key TYPE, meta_value TEXT NOT NULL, user_id INTEGER NOT NULL",
        keys: "meta_key, meta_value, user_id",
        sources: &["SELECT meta_key, COALESCE(meta_value, '0'), user_id FROM {usermeta} WHERE meta_key IN ({'capabilities'}, {'user_level'})"],
        triggers: &[
            trigger("usermeta", "insert", "NEW.meta_key IN ({'capabilities'}, {'user_level'})", &[], &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id"]),
            trigger("usermeta", "delete", "OLD.meta_key IN ({'capabilities'}, {'user_level'})", &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id"], &[]),
            trigger("usermeta", "update", "(NEW.meta_key IN ({'capabilities'}, {'user_level'}) OR OLD.meta_key IN ({'capabilities'}, {'user_level'}))",
                &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id WHERE OLD.meta_key IN ({'capabilities'}, {'user_level'})"],
                &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id WHERE NEW.meta_key IN ({'capabilities'}, {'user_level'})"]),
        ],
    },
    CountTable {
        name: "svc_comment_count",
        columns: "comment_approved TYPE, comment_type TYPE, day TEXT NOT NULL",
        keys: "comment_approved, comment_type, day",
        sources: &["SELECT comment_approved, comment_type, substr(comment_date_gmt, 1, 10) FROM {comments}"],
        triggers: &[
            trigger("comments", "insert", "1", &[], &["SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10)"]),
            trigger("comments", "delete", "1", &["SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)"], &[]),
            trigger("comments", "update", "(NEW.comment_approved, NEW.comment_type, NEW.comment_date_gmt) IS NOT (OLD.comment_approved, OLD.comment_type, OLD.comment_date_gmt)",
                &["SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)"],
                &["SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10)"]),
        ],
    },
];

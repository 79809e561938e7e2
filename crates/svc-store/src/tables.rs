//! The tables of a site: WordPress's table layout, and what svc adds to it on each engine.
//!
//! The `CREATE` statements of both engines, the columns for import and export, and the names in queries derive from
//! these tables. An existing database is used unchanged; on MySQL nothing here alters it.

use svc_db::Rows;
use svc_db::schema::{
    Column, ColumnType, DefaultValue, Gate, Index, Layout, LoggedTable, ObjectColumn, Schema, Table, TableRows,
    TextColumn,
};

use crate::counts::COUNTS;
use crate::descriptions::CommentClass;
use crate::post_changes::PostClass;
use crate::rows;

/// What the engines have to know of a site's tables.
pub(crate) static SCHEMA: Schema = Schema {
    tables: TABLES,
    // They determine permissions.
    exact: &[rows::OPTIONS, rows::USERS, rows::USER_META],
    counts: COUNTS,
    layout: Layout {
        version: 6,
        obsolete: &["INDEX {prefix}posts_type_date", "TABLE {prefix}svc_epoch", "TABLE {prefix}svc_search_log"],
    },
    log: Some(LoggedTable {
        table: "posts",
        rows: rows::POSTS,
        id: "ID",
        texts: ["post_title", "post_excerpt", "post_content"],
        except: ("post_type", "revision"),
        digest: "CONV(LEFT(MD5(CONCAT_WS(',', MD5(post_title), MD5(post_excerpt), MD5(post_content), MD5(post_password), \
                 post_type, post_status, post_date)), 16), 16, 10)",
    }),
    gate: Some(Gate {
        table: "options",
        id: "option_id",
        name: "option_name",
        value: "option_value",
        locked: "db_version",
        changed: "rest_server_write_gate",
        more: ("autoload", "off"),
    }),
    charset_of: Some(TextColumn { table: "posts", column: "post_content" }),
};

const fn col(name: &'static str, kind: ColumnType, default: DefaultValue) -> Column {
    Column { name, kind, default }
}
const fn index(name: &'static str, columns: &'static [(&'static str, u16)]) -> Index {
    Index { name, columns, unique: false }
}
const fn unique(name: &'static str, columns: &'static [(&'static str, u16)]) -> Index {
    Index { name, columns, unique: true }
}

/// All rows of a table, by the id of the object in a column.
const fn by_id(rows: Rows, column: &'static str) -> TableRows {
    TableRows { rows, object: ObjectColumn::Id(column), condition: "", description: "" }
}

/// As [`by_id`], with a description of each row in the log of changes.
const fn described(rows: Rows, column: &'static str, description: &'static str) -> TableRows {
    TableRows { rows, object: ObjectColumn::Id(column), condition: "", description }
}

const ZERO_DATE: DefaultValue = DefaultValue::Value("0000-00-00 00:00:00");
const EMPTY: DefaultValue = DefaultValue::Value("");
const ZERO: DefaultValue = DefaultValue::Value("0");
const LONG: ColumnType = ColumnType::Text("longtext");

macro_rules! meta_table {
    ($name:literal, $id:literal, $object:literal, $rows:expr) => {
        Table {
            name: $name,
            columns: &[
                col($id, ColumnType::Id, DefaultValue::Auto),
                col($object, ColumnType::Id, ZERO),
                col("meta_key", ColumnType::Key(255), DefaultValue::Null),
                col("meta_value", LONG, DefaultValue::Null),
            ],
            primary: &[$id],
            indexes: &[index($object, &[($object, 0)]), index("meta_key", &[("meta_key", 191)])],
            sqlite_indexes: &[],
            rows: &[described($rows, $object, "{row}.meta_key")],
        }
    };
}

/// The twelve tables, in alphabetical order as in dumps.
pub(crate) const TABLES: &[Table] = &[
    meta_table!("commentmeta", "meta_id", "comment_id", rows::COMMENT_META),
    Table {
        name: "comments",
        columns: &[
            col("comment_ID", ColumnType::Id, DefaultValue::Auto),
            col("comment_post_ID", ColumnType::Id, ZERO),
            col("comment_author", ColumnType::Text("tinytext"), DefaultValue::Required),
            col("comment_author_email", ColumnType::Varchar(100), EMPTY),
            col("comment_author_url", ColumnType::Varchar(200), EMPTY),
            col("comment_author_IP", ColumnType::Varchar(100), EMPTY),
            col("comment_date", ColumnType::DateTime, ZERO_DATE),
            col("comment_date_gmt", ColumnType::DateTime, ZERO_DATE),
            col("comment_content", ColumnType::Text("text"), DefaultValue::Required),
            col("comment_karma", ColumnType::Int, ZERO),
            col("comment_approved", ColumnType::Key(20), DefaultValue::Value("1")),
            col("comment_agent", ColumnType::Varchar(255), EMPTY),
            col("comment_type", ColumnType::Key(20), DefaultValue::Value("comment")),
            col("comment_parent", ColumnType::Id, ZERO),
            col("user_id", ColumnType::Id, ZERO),
        ],
        primary: &["comment_ID"],
        indexes: &[
            index("comment_post_ID", &[("comment_post_ID", 0)]),
            index("comment_approved_date_gmt", &[("comment_approved", 0), ("comment_date_gmt", 0)]),
            index("comment_date_gmt", &[("comment_date_gmt", 0)]),
            index("comment_parent", &[("comment_parent", 0)]),
            index("comment_author_email", &[("comment_author_email", 10)]),
        ],
        sqlite_indexes: &[
            index("approved_type", &[("comment_approved", 0), ("comment_type", 0)]),
            index("approved_type_post", &[("comment_approved", 0), ("comment_type", 0), ("comment_post_ID", 0)]),
            index("approved_type_date", &[("comment_approved", 0), ("comment_type", 0), ("comment_date", 0)]),
            index("approved_type_date_gmt", &[("comment_approved", 0), ("comment_type", 0), ("comment_date_gmt", 0)]),
        ],
        rows: &[described(rows::COMMENTS, "comment_ID", CommentClass::COLUMNS)],
    },
    Table {
        name: "links",
        columns: &[
            col("link_id", ColumnType::Id, DefaultValue::Auto),
            col("link_url", ColumnType::Varchar(255), EMPTY),
            col("link_name", ColumnType::Varchar(255), EMPTY),
            col("link_image", ColumnType::Varchar(255), EMPTY),
            col("link_target", ColumnType::Varchar(25), EMPTY),
            col("link_description", ColumnType::Varchar(255), EMPTY),
            col("link_visible", ColumnType::Varchar(20), DefaultValue::Value("Y")),
            col("link_owner", ColumnType::Id, DefaultValue::Value("1")),
            col("link_rating", ColumnType::Int, ZERO),
            col("link_updated", ColumnType::DateTime, ZERO_DATE),
            col("link_rel", ColumnType::Varchar(255), EMPTY),
            col("link_notes", ColumnType::Text("mediumtext"), DefaultValue::Required),
            col("link_rss", ColumnType::Varchar(255), EMPTY),
        ],
        primary: &["link_id"],
        indexes: &[index("link_visible", &[("link_visible", 0)])],
        sqlite_indexes: &[],
        rows: &[by_id(rows::LINKS, "link_id")],
    },
    Table {
        name: "options",
        columns: &[
            col("option_id", ColumnType::Id, DefaultValue::Auto),
            col("option_name", ColumnType::Key(191), EMPTY),
            col("option_value", LONG, DefaultValue::Required),
            col("autoload", ColumnType::Key(20), DefaultValue::Value("yes")),
        ],
        primary: &["option_id"],
        indexes: &[unique("option_name", &[("option_name", 0)]), index("autoload", &[("autoload", 0)])],
        sqlite_indexes: &[],
        rows: &[TableRows {
            rows: rows::OPTIONS,
            object: ObjectColumn::Name("option_name"),
            condition: "",
            description: "",
        }],
    },
    meta_table!("postmeta", "meta_id", "post_id", rows::POST_META),
    Table {
        name: "posts",
        columns: &[
            col("ID", ColumnType::Id, DefaultValue::Auto),
            col("post_author", ColumnType::Id, ZERO),
            col("post_date", ColumnType::DateTime, ZERO_DATE),
            col("post_date_gmt", ColumnType::DateTime, ZERO_DATE),
            col("post_content", LONG, DefaultValue::Required),
            col("post_title", ColumnType::Text("text"), DefaultValue::Required),
            col("post_excerpt", ColumnType::Text("text"), DefaultValue::Required),
            col("post_status", ColumnType::Key(20), DefaultValue::Value("publish")),
            col("comment_status", ColumnType::Key(20), DefaultValue::Value("open")),
            col("ping_status", ColumnType::Key(20), DefaultValue::Value("open")),
            col("post_password", ColumnType::Varchar(255), EMPTY),
            col("post_name", ColumnType::Varchar(200), EMPTY),
            col("to_ping", ColumnType::Text("text"), DefaultValue::Required),
            col("pinged", ColumnType::Text("text"), DefaultValue::Required),
            col("post_modified", ColumnType::DateTime, ZERO_DATE),
            col("post_modified_gmt", ColumnType::DateTime, ZERO_DATE),
            col("post_content_filtered", LONG, DefaultValue::Required),
            col("post_parent", ColumnType::Id, ZERO),
            col("guid", ColumnType::Varchar(255), EMPTY),
            col("menu_order", ColumnType::Int, ZERO),
            col("post_type", ColumnType::Key(20), DefaultValue::Value("post")),
            col("post_mime_type", ColumnType::Key(100), EMPTY),
            col("comment_count", ColumnType::BigInt, ZERO),
        ],
        primary: &["ID"],
        indexes: &[
            index("post_name", &[("post_name", 191)]),
            index("type_status_date", &[("post_type", 0), ("post_status", 0), ("post_date", 0), ("ID", 0)]),
            index("post_parent", &[("post_parent", 0)]),
            index("post_author", &[("post_author", 0)]),
            index("type_status_author", &[("post_type", 0), ("post_status", 0), ("post_author", 0)]),
        ],
        // A list of one type and status is in the order of one of these indexes, ties in the order of ids.
        sqlite_indexes: &[
            index("type_status", &[("post_type", 0), ("post_status", 0)]),
            index("type_status_title", &[("post_type", 0), ("post_status", 0), ("post_title", 0)]),
            index("type_status_name", &[("post_type", 0), ("post_status", 0), ("post_name", 0)]),
            index("type_status_modified", &[("post_type", 0), ("post_status", 0), ("post_modified", 0)]),
            index("type_status_parent", &[("post_type", 0), ("post_status", 0), ("post_parent", 0)]),
            index("type_status_menu_order", &[("post_type", 0), ("post_status", 0), ("menu_order", 0)]),
            index(
                "type_status_menu_order_title",
                &[("post_type", 0), ("post_status", 0), ("menu_order", 0), ("post_title", 0)],
            ),
            index(
                "type_status_author_date",
                &[("post_type", 0), ("post_status", 0), ("post_author", 0), ("post_date", 0)],
            ),
        ],
        rows: &[
            TableRows {
                rows: rows::POSTS,
                object: ObjectColumn::Id("ID"),
                condition: "{row}.post_type <> 'revision'",
                description: PostClass::COLUMNS,
            },
            TableRows {
                rows: rows::REVISIONS,
                object: ObjectColumn::Id("post_parent"),
                condition: "{row}.post_type = 'revision'",
                description: "",
            },
        ],
    },
    Table {
        name: "term_relationships",
        columns: &[
            col("object_id", ColumnType::Id, ZERO),
            col("term_taxonomy_id", ColumnType::Id, ZERO),
            col("term_order", ColumnType::Int, ZERO),
        ],
        primary: &["object_id", "term_taxonomy_id"],
        indexes: &[index("term_taxonomy_id", &[("term_taxonomy_id", 0)])],
        sqlite_indexes: &[],
        rows: &[by_id(rows::POST_TERMS, "object_id")],
    },
    Table {
        name: "term_taxonomy",
        columns: &[
            col("term_taxonomy_id", ColumnType::Id, DefaultValue::Auto),
            col("term_id", ColumnType::Id, ZERO),
            col("taxonomy", ColumnType::Key(32), EMPTY),
            col("description", LONG, DefaultValue::Required),
            col("parent", ColumnType::Id, ZERO),
            col("count", ColumnType::BigInt, ZERO),
        ],
        primary: &["term_taxonomy_id"],
        indexes: &[
            unique("term_id_taxonomy", &[("term_id", 0), ("taxonomy", 0)]),
            index("taxonomy", &[("taxonomy", 0)]),
        ],
        sqlite_indexes: &[
            index("taxonomy_count", &[("taxonomy", 0), ("count", 0), ("term_id", 0)]),
            index("taxonomy_parent", &[("taxonomy", 0), ("parent", 0)]),
        ],
        rows: &[described(rows::TERMS, "term_id", "{row}.taxonomy"), by_id(rows::TERM_COUNTS, "term_taxonomy_id")],
    },
    meta_table!("termmeta", "meta_id", "term_id", rows::TERM_META),
    Table {
        name: "terms",
        columns: &[
            col("term_id", ColumnType::Id, DefaultValue::Auto),
            col("name", ColumnType::Varchar(200), EMPTY),
            col("slug", ColumnType::Varchar(200), EMPTY),
            col("term_group", ColumnType::BigInt, ZERO),
        ],
        primary: &["term_id"],
        indexes: &[index("slug", &[("slug", 191)]), index("name", &[("name", 191)])],
        sqlite_indexes: &[],
        rows: &[by_id(rows::TERMS, "term_id")],
    },
    meta_table!("usermeta", "umeta_id", "user_id", rows::USER_META),
    Table {
        name: "users",
        columns: &[
            col("ID", ColumnType::Id, DefaultValue::Auto),
            col("user_login", ColumnType::Varchar(60), EMPTY),
            col("user_pass", ColumnType::Varchar(255), EMPTY),
            col("user_nicename", ColumnType::Varchar(50), EMPTY),
            col("user_email", ColumnType::Varchar(100), EMPTY),
            col("user_url", ColumnType::Varchar(100), EMPTY),
            col("user_registered", ColumnType::DateTime, ZERO_DATE),
            col("user_activation_key", ColumnType::Varchar(255), EMPTY),
            col("user_status", ColumnType::Int, ZERO),
            col("display_name", ColumnType::Varchar(250), EMPTY),
        ],
        primary: &["ID"],
        indexes: &[
            index("user_login_key", &[("user_login", 0)]),
            index("user_nicename", &[("user_nicename", 0)]),
            index("user_email", &[("user_email", 0)]),
        ],
        sqlite_indexes: &[
            index("display_name", &[("display_name", 0)]),
            index("user_registered", &[("user_registered", 0)]),
        ],
        rows: &[by_id(rows::USERS, "ID")],
    },
];

//! Users: rows by id, login, e-mail and slug; lists; writes.

use std::collections::HashMap;

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, StoreError, Tx};
use svc_model::{PostId, User, UserId};

use crate::caches;
use crate::columns::{self, columns};
use crate::meta::{self, MetaKind};
use crate::position::{self, SortKey};
use crate::query::{change_matching, list_query, load_rows};
use crate::rows;
use crate::{Beyond, Order, Page, Position, posts};

#[rustfmt::skip]
columns! { User, &'static str;
    ("ID", id, Id, Never),
    ("user_login", login, Text),
    ("user_pass", pass, Text),
    ("user_nicename", nicename, Text),
    ("user_email", email, Text),
    ("user_url", url, Text),
    ("user_registered", registered, Date),
    ("user_activation_key", activation_key, Text),
    ("user_status", status, Int),
    ("display_name", display_name, Text),
}

fn select(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.columns(columns::names(&COLUMNS)).from(db.table("users"));
    s
}

/// Reads a user by id.
pub fn get(db: &mut Db, id: UserId) -> Result<Option<User>> {
    Ok(get_many(db, &[id])?.pop())
}

/// Reads users in the order of `ids`. Missing users are omitted.
pub fn get_many(db: &mut Db, ids: &[UserId]) -> Result<Vec<User>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let build = |db: &Db, ids| select(db).and_where(Expr::col("ID").is_in(ids)).take();
    load_rows(db, "users.get", rows::USERS, &numbers, build, read, |user: &User| user.id.0)
}

fn by(db: &mut Db, name: &'static str, column: &'static str, value: &str) -> Result<Option<User>> {
    rows::USERS.depend_on_all(db.cx());
    let mut found = None;
    let build = |db: &Db| select(db).and_where(Expr::col(column).eq("")).order_by("ID", sea_query::Order::Asc).take();
    db.cached((name, 0), &[value.into()], build, |row| {
        if found.is_none() {
            found = Some(read(row)?);
        }
        Ok(())
    })?;
    // Whatever comes after needs the same row.
    if let Some(user) = &found {
        let id = user.id.0;
        db.load_once(rows::USERS, &[], &[id], |_, _| Ok(HashMap::from([(id, user.clone())])))?;
    }
    Ok(found)
}

/// Reads a user by login, ignoring case.
pub fn by_login(db: &mut Db, login: &str) -> Result<Option<User>> {
    by(db, "users.by_login", "user_login", login)
}

/// Reads a user by e-mail address, ignoring case.
pub fn by_email(db: &mut Db, email: &str) -> Result<Option<User>> {
    by(db, "users.by_email", "user_email", email)
}

/// Reads a user by slug (`user_nicename`).
pub fn by_slug(db: &mut Db, slug: &str) -> Result<Option<User>> {
    by(db, "users.by_slug", "user_nicename", slug)
}

/// Sort order of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserOrderBy {
    /// Id.
    Id,
    /// The order of `include`.
    Include,
    /// Display name.
    #[default]
    Name,
    /// Login.
    Login,
    /// Registration date.
    Registered,
    /// Slug.
    Slug,
    /// The order of `slugs`.
    IncludeSlugs,
    /// E-mail address.
    Email,
    /// URL of the user's web site.
    Url,
}

/// A column for user searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserColumn {
    /// The id, which must match exactly.
    Id,
    /// Login.
    Login,
    /// URL of the user's web site.
    Url,
    /// E-mail address.
    Email,
    /// Slug.
    Slug,
    /// Display name.
    Name,
}

list_query! {
    /// Conditions for a list of users. Empty lists and `None` are no restriction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UserQuery {
        /// Only users whose own capabilities contain one of these roles or capabilities.
        pub rights: Vec<String>,
        /// Only users whose level is not zero, which are those who may write posts. `rights` is ignored then.
        pub authors_only: bool,
        /// Only users who have published a post of one of these types.
        pub published: Option<Vec<String>>,
        /// Only these ids.
        pub include: Vec<UserId>,
        /// Excluded ids. Ignored if `include` is given.
        pub exclude: Vec<UserId>,
        /// Only these slugs.
        pub slugs: Vec<String>,
        /// Only these exact display names, ignoring case.
        pub names: Vec<String>,
        /// Text to search for; asterisks at both ends are ignored.
        pub search: Option<String>,
        /// Columns to search. If empty: login, web site, e-mail, slug and name.
        pub search_columns: Vec<UserColumn>,
        /// Sort order.
        pub order_by: UserOrderBy,
        /// Sort direction.
        pub order: Order,
    }
}

/// Returns the ids of a page of users, and the total if requested. Ties are broken by id, ascending.
///
/// # Errors
/// [`StoreError::TooMany`] if the query contains too many values.
pub fn query(db: &mut Db, q: &UserQuery) -> Result<Page<UserId>> {
    position::page(db, q, find, position_of)
}

/// The sort expressions of a list in the direction of reading, most significant first.
fn order(q: &UserQuery) -> Vec<SortKey> {
    let col = |name: &'static str| Expr::col(("u", name));
    let text = |name| Some(SortKey::text(col(name), q.order));
    let listed = |position: Option<Expr>| position.map(|position| SortKey::int(position, q.order));
    let first = match q.order_by {
        UserOrderBy::Id => None,
        UserOrderBy::Include => listed(crate::query::list_position(&col("ID"), q.include.iter().map(|id| id.0))),
        UserOrderBy::IncludeSlugs => {
            listed(crate::query::list_position(&col("user_nicename"), q.slugs.iter().map(String::as_str)))
        }
        UserOrderBy::Name => text("display_name"),
        UserOrderBy::Login => text("user_login"),
        UserOrderBy::Registered => text("user_registered"),
        UserOrderBy::Slug => text("user_nicename"),
        UserOrderBy::Email => text("user_email"),
        UserOrderBy::Url => text("user_url"),
    };
    let tie = if q.order_by == UserOrderBy::Id { q.order } else { Order::Asc };
    let keys = first.into_iter().chain([SortKey::int(col("ID"), tie)]).collect();
    position::directed(keys, q.backwards)
}

/// The position of a user in a list.
fn position_of(db: &mut Db, q: &UserQuery, id: i64) -> Result<Option<Position>> {
    let mut s = Query::select();
    s.from_as(db.table("users"), "u").and_where(Expr::col(("u", "ID")).eq(id));
    position::read(db, &order(q), s)
}

fn find(db: &mut Db, q: &UserQuery) -> Result<Page<UserId>> {
    let mut filtered = Query::select();
    filtered.from_as(db.table("users"), "u");
    conditions(db, q, &mut filtered)?;
    let mut page = filtered.clone();
    page.column(("u", "ID"));
    let order = order(q);
    if let Some(Beyond::Position(position)) = &q.beyond {
        page.and_where(position::behind(&order, position, q.backwards)?);
    }
    for key in order {
        page.order_by_expr(key.by, key.order.into());
    }
    // Who has posts may change with every post; there is no narrower version.
    let groups = if q.published.is_some() {
        &[rows::USERS, rows::USER_META, rows::POSTS][..]
    } else {
        &[rows::USERS, rows::USER_META]
    };
    crate::query::page(db, groups, &filtered, page, (q.limit, q.offset, q.total), UserId)
}

/// Matches stored capabilities that contain one of these names, which are double-quoted there.
fn holds_one_of(stored: Expr, names: &[String]) -> Result<Cond> {
    let holds = |name: &String| stored.clone().like(crate::query::contains(&format!("\"{name}\"")));
    crate::query::any_of(names.iter().map(holds))
}

/// Matches users whose stored capabilities contain one of these names.
fn has_one_of(db: &Db, names: &[String]) -> Result<Expr> {
    let any = holds_one_of(Expr::col(("m", "meta_value")), names)?;
    let mut rows = Query::select();
    rows.expr(Expr::val(1)).from_as(db.table("usermeta"), "m");
    rows.and_where(Expr::col(("m", "user_id")).equals(("u", "ID")));
    rows.and_where(Expr::col(("m", "meta_key")).eq(format!("{}capabilities", db.prefix()))).cond_where(any);
    Ok(Expr::exists(rows))
}

/// Maximum number of stored texts with a role.
const MAX_RIGHTS: usize = 500;

/// Restricts a list to the users with a role or level, if these are few: starts from the maintained table of rights. Returns
/// `false` without changes otherwise.
fn from_rare_rights(db: &mut Db, q: &UserQuery, s: &mut SelectStatement) -> Result<bool> {
    if !db.has_counts() || !q.authors_only && q.rights.is_empty() {
        return Ok(false);
    }
    let key = format!("{}{}", db.prefix(), if q.authors_only { "user_level" } else { "capabilities" });
    let mut known = Query::select();
    known.columns(["meta_value", "n"]).from(db.table("svc_rights_count"));
    known.and_where(Expr::col("meta_key").eq(key.as_str())).and_where(Expr::col("n").gt(0));
    if q.authors_only {
        known.and_where(Expr::col("meta_value").ne("0"));
    } else {
        known.cond_where(holds_one_of(Expr::col("meta_value"), &q.rights)?);
    }
    known.limit(u64::try_from(MAX_RIGHTS + 1).unwrap_or(u64::MAX));
    let known = db.all(&known, |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    if known.len() > MAX_RIGHTS || known.iter().map(|(_, n)| *n).sum::<i64>() > caches::tuning(db).rare_users {
        return Ok(false);
    }
    let mut users = Query::select();
    users.column("user_id").from(db.table("svc_user_rights"));
    users.and_where(Expr::col("meta_key").eq(key)).and_where(Expr::col("n").gt(0));
    users.and_where(Expr::col("meta_value").is_in(known.into_iter().map(|(value, _)| value)));
    s.and_where(Expr::col(("u", "ID")).in_subquery(users));
    Ok(true)
}

fn conditions(db: &mut Db, q: &UserQuery, s: &mut SelectStatement) -> Result<()> {
    if from_rare_rights(db, q, s)? {
        // Done.
    } else if q.authors_only {
        let mut rows = Query::select();
        rows.expr(Expr::val(1)).from_as(db.table("usermeta"), "m");
        rows.and_where(Expr::col(("m", "user_id")).equals(("u", "ID")));
        rows.and_where(Expr::col(("m", "meta_key")).eq(format!("{}user_level", db.prefix())));
        rows.and_where(Expr::col(("m", "meta_value")).ne("0"));
        s.and_where(Expr::exists(rows));
    } else if !q.rights.is_empty() {
        s.and_where(has_one_of(db, &q.rights)?);
    }
    if let Some(types) = &q.published {
        let mut rows = Query::select();
        rows.expr(Expr::val(1));
        if db.has_counts() {
            rows.from_as(db.table("svc_author_count"), "p").and_where(Expr::col(("p", "n")).gt(0));
        } else {
            rows.from_as(db.table("posts"), "p");
        }
        rows.and_where(Expr::col(("p", "post_author")).equals(("u", "ID")));
        rows.and_where(Expr::col(("p", "post_status")).eq("publish"));
        rows.and_where(Expr::col(("p", "post_type")).is_in(types.iter().map(String::as_str)));
        s.and_where(Expr::exists(rows));
    }
    if !q.include.is_empty() {
        s.and_where(Expr::col(("u", "ID")).is_in(q.include.iter().map(|id| id.0)));
    } else if !q.exclude.is_empty() {
        s.and_where(Expr::col(("u", "ID")).is_not_in(q.exclude.iter().map(|id| id.0)));
    }
    if !q.slugs.is_empty() {
        s.and_where(Expr::col(("u", "user_nicename")).is_in(q.slugs.iter().map(String::as_str)));
    }
    if !q.names.is_empty() {
        s.and_where(Expr::col(("u", "display_name")).is_in(q.names.iter().map(String::as_str)));
    }
    if let Some(text) = &q.search {
        let text = text.trim_matches('*');
        let usual = [UserColumn::Login, UserColumn::Url, UserColumn::Email, UserColumn::Slug, UserColumn::Name];
        let columns = if q.search_columns.is_empty() { &usual[..] } else { &q.search_columns };
        let matches = |column: &UserColumn| {
            let name = match column {
                // The text must match the whole id.
                UserColumn::Id => return Expr::col(("u", "ID")).eq(text.parse().unwrap_or(0_i64)),
                UserColumn::Login => "user_login",
                UserColumn::Url => "user_url",
                UserColumn::Email => "user_email",
                UserColumn::Slug => "user_nicename",
                UserColumn::Name => "display_name",
            };
            Expr::col(("u", name)).like(crate::query::contains(text))
        };
        s.cond_where(crate::query::any_of(crate::query::distinct(columns).map(matches))?);
    }
    Ok(())
}

/// Inserts a user, ignoring its `id`, and returns the new id. Login, slug and e-mail are not checked.
pub fn insert(tx: &mut Tx, user: &User) -> Result<UserId> {
    let (columns, row) = columns::inserted(&COLUMNS, user, tx.charset());
    let mut insert = Query::insert();
    insert.into_table(tx.table("users")).columns(columns);
    insert.values(row).map_err(|e| StoreError::Other(e.to_string()))?;
    Ok(UserId(tx.insert_row(&insert, rows::USERS)?))
}

/// Updates all columns of a user and returns whether the row exists.
pub fn update(tx: &mut Tx, user: &User) -> Result<bool> {
    let mut update = Query::update();
    update
        .table(tx.table("users"))
        .values(columns::updated(&COLUMNS, user, tx.charset()))
        .and_where(Expr::col("ID").eq(user.id.0));
    Ok(tx.change_rows(&update, rows::USERS, &[user.id.0])?.rows > 0)
}

/// Deletes a user with their meta. Their content is reassigned to `new_owner` (0 is no user), or retains the deleted user's
/// id.
///
/// The caller must first delete posts that are not to be reassigned (see [`posts_of`]).
pub fn delete(tx: &mut Tx, id: UserId, new_owner: Option<UserId>) -> Result<bool> {
    if let Some(new_owner) = new_owner {
        posts::replace_author(tx, id, new_owner)?;
        let links = || Expr::col("link_owner").eq(id.0);
        let mut update = Query::update();
        update.table(tx.table("links")).value("link_owner", new_owner.0).and_where(links());
        change_matching(tx, &update, ("links", "link_id"), rows::LINKS, links())?;
    }
    meta::delete_all(tx, MetaKind::User, &[id.0])?;
    let mut delete = Query::delete();
    delete.from_table(tx.table("users")).and_where(Expr::col("ID").eq(id.0));
    Ok(tx.change_rows(&delete, rows::USERS, &[id.0])?.rows > 0)
}

/// The ids of a user's posts of these types, in ascending order.
pub fn posts_of(db: &mut Db, id: UserId, post_types: &[&str]) -> Result<Vec<PostId>> {
    let mut s = Query::select();
    s.column("ID").from(db.table("posts")).and_where(Expr::col("post_author").eq(id.0));
    s.and_where(Expr::col("post_type").is_in(post_types.iter().copied())).order_by("ID", sea_query::Order::Asc);
    db.all(&s, |row| Ok(PostId(row.int(0)?)))
}

/// Returns a unique slug: the slug itself, otherwise the first free one of `slug-2`, `slug-3`, ….
///
/// `user` is the user that the slug is for, who may already have it (0 for a new one).
pub fn unique_slug(db: &mut Db, slug: &str, user: UserId) -> Result<String> {
    // The column stores at most fifty characters.
    crate::slugs::free_slug(slug, 50, |slugs| {
        let mut s = Query::select();
        s.column("user_nicename").from(db.table("users")).and_where(Expr::col("ID").ne(user.0));
        s.and_where(Expr::col("user_nicename").is_in(slugs.iter().map(String::as_str)));
        Ok(db.all(&s, |row| Ok(row.text(0)?.to_ascii_lowercase()))?.into_iter().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StoredText, fixture};

    #[test]
    #[rustfmt::skip]
    fn lists_match_wordpress() {
        fixture::on_each(|store| {
        use UserOrderBy as By;
        let base = || UserQuery { order: Order::Asc, limit: Some(10), total: true, ..UserQuery::default() };
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<String>>();
        let by = |order_by| UserQuery { order_by, ..base() };
        let rows: Vec<(&str, UserQuery, &[i64])> = vec![
            ("search", UserQuery { search: Some("adm".to_owned()), ..base() }, &[1]),
            ("search by id", UserQuery { search: Some("3".to_owned()), search_columns: vec![UserColumn::Id], ..base() }, &[3]),
            ("search in e-mail", UserQuery { search: Some("*ex*".to_owned()), search_columns: vec![UserColumn::Email], ..base() }, &[1, 3, 4, 5, 2, 8, 6, 7]),
            ("roles", UserQuery { rights: texts(&["author", "editor"]), ..base() }, &[3, 4, 2]),
            ("a rare role", UserQuery { rights: texts(&["editor"]), ..base() }, &[2]),
            ("a rare role and a search", UserQuery { rights: texts(&["editor"]), search: Some("nobody".to_owned()), ..base() }, &[]),
            ("an unknown role", UserQuery { rights: texts(&["edit"]), ..base() }, &[]),
            ("capability", UserQuery { rights: texts(&["administrator", "editor", "author", "contributor", "edit_posts"]), ..base() }, &[1, 3, 4, 5, 2]),
            ("authors", UserQuery { authors_only: true, ..base() }, &[1, 3, 4, 5, 2]),
            ("published", UserQuery { published: Some(texts(&["post", "page"])), ..base() }, &[1, 3, 4, 2]),
            ("slug", UserQuery { slugs: texts(&["admin"]), ..base() }, &[1]),
            ("include beats exclude", UserQuery { include: vec![UserId(2), UserId(1)], exclude: vec![UserId(2)], ..by(By::Include) }, &[2, 1]),
            ("exclude", UserQuery { exclude: vec![UserId(2)], ..by(By::Id) }, &[1, 3, 4, 5, 6, 7, 8]),
            ("e-mail", UserQuery { order: Order::Desc, ..by(By::Email) }, &[6, 7, 8, 2, 5, 4, 3, 1]),
            ("registered", by(By::Registered), &[1, 2, 3, 4, 5, 6, 7, 8]),
            ("name", by(By::Name), &[1, 3, 4, 5, 2, 8, 6, 7]),
            ("slug order", by(By::Slug), &[1, 3, 4, 5, 2, 8, 7, 6]),
            ("url", by(By::Url), &[2, 4, 5, 6, 7, 8, 1, 3]),
        ];
        for (name, q, expected) in rows {
            let page = store.read_blocking(|db| query(db, &q)).unwrap();
            assert_eq!(page.ids.iter().map(|id| id.0).collect::<Vec<_>>(), expected, "{name}");
            assert_eq!(page.total, Some(expected.len() as u64), "{name}");
        }
        });
    }

    #[test]
    fn rare_roles_are_found_after_each_change() {
        fixture::on_each(|store| {
            let holds = |role: &str| StoredText::from_row(format!("a:1:{{s:{}:\"{role}\";b:1;}}", role.len()));
            let find = |rights: &[&str], authors_only| {
                let rights = rights.iter().map(|role| (*role).to_owned()).collect();
                let q = UserQuery {
                    rights,
                    authors_only,
                    total: true,
                    order_by: UserOrderBy::Id,
                    order: Order::Asc,
                    ..UserQuery::default()
                };
                let page = store.read_blocking(|db| query(db, &q)).unwrap();
                assert_eq!(page.total, Some(page.ids.len() as u64));
                page.ids.into_iter().map(|id| id.0).collect::<Vec<_>>()
            };
            let prefix = store.read_blocking(|db| Ok(db.prefix().to_owned())).unwrap();
            let (key, level) = (format!("{prefix}capabilities"), format!("{prefix}user_level"));
            let set = |id, key: &str, value: StoredText| {
                let key = key.to_owned();
                store.write_blocking(move |tx| meta::update(tx, MetaKind::User, id, &key, &value)).unwrap();
            };
            set(6, &key, holds("clerk"));
            assert_eq!(find(&["clerk"], false), [6]);
            set(7, &key, holds("clerk"));
            assert_eq!(find(&["Clerk"], false), [6, 7]);
            set(8, &key, holds("clerk"));
            assert_eq!(find(&["clerk"], false), [6, 7, 8], "no longer rare");
            set(7, &key, holds("reader"));
            set(6, &key, StoredText::of(""));
            assert_eq!(find(&["clerk"], false), [8]);
            assert_eq!(find(&["clerk", "reader"], false), [7, 8]);
            let another = holds("clerk");
            let other_key = key.clone();
            store.write_blocking(move |tx| meta::add(tx, MetaKind::User, 8, &other_key, &another)).unwrap();
            assert_eq!(find(&["clerk"], false), [8], "a value that is stored twice");
            store.write_blocking(|tx| delete(tx, UserId(8), None)).unwrap();
            assert_eq!(find(&["clerk"], false), [0_i64; 0]);
            for id in [1, 2, 3] {
                set(id, &level, StoredText::of("0"));
            }
            assert_eq!(find(&[], true), [4, 5]);
            set(5, &level, StoredText::of("0"));
            set(6, &level, StoredText::of("1"));
            assert_eq!(find(&["clerk"], true), [4, 6]);
        });
    }

    #[test]
    fn inserts_updates_and_deletes_users() {
        fixture::on_each(|store| {
            let user = User {
                login: "new".to_owned(),
                nicename: "admin-2".to_owned(),
                email: "N@example.org".to_owned(),
                ..User::default()
            };
            let id = store.write_blocking(move |tx| insert(tx, &user)).unwrap();
            assert_eq!(id.0, 400_001);
            let slug = store.read_blocking(|db| unique_slug(db, "admin", UserId(0))).unwrap();
            assert_eq!(slug, "admin-3");
            let found = store.read_blocking(|db| by_email(db, "n@EXAMPLE.org")).unwrap().unwrap();
            assert_eq!(found.id, id);
            assert!(!format!("{found:?}").contains("example"), "no secrets in logs");
            store
                .write_blocking(move |tx| update(tx, &User { display_name: "N".to_owned(), ..found.clone() }))
                .unwrap();
            assert_eq!(store.read_blocking(|db| get(db, id)).unwrap().unwrap().display_name, "N");
            let of_three = store.read_blocking(|db| posts_of(db, UserId(3), &["post"])).unwrap();
            store.write_blocking(move |tx| delete(tx, UserId(3), Some(id))).unwrap();
            assert_eq!(store.read_blocking(|db| posts_of(db, id, &["post"])).unwrap(), of_three);
            assert!(store.read_blocking(|db| meta::load_one(db, MetaKind::User, 3)).unwrap().0.is_empty());
        });
    }
}

//! The measured queries: lists as the REST API requests them, and writes.

use svc_model::{Comment, Post, PostId, Term, TermId, User, UserId};
use svc_store::comments::{self, CommentOrderBy, CommentQuery};
use svc_store::posts::{self, Clauses, PostOrderBy, PostQuery, TaxClause, TaxOperator};
use svc_store::terms::{self, TermOrderBy, TermQuery};
use svc_store::users::{self, UserOrderBy, UserQuery};
use svc_store::{MetaKind, Order, Result, Store, meta, stamp};

use crate::dump::{MAIN_AUTHOR, Sizes};

/// A row of the table.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// Whether it writes.
    pub(crate) writes: bool,
    pub(crate) run: Box<dyn Fn(&Store) -> Result<()>>,
}

fn read(name: &'static str, run: impl Fn(&Store) -> Result<()> + 'static) -> Measured {
    Measured { name, writes: false, run: Box::new(run) }
}

fn write_row(name: &'static str, run: impl Fn(&Store) -> Result<()> + 'static) -> Measured {
    Measured { name, writes: true, run: Box::new(run) }
}

/// Reads a page of posts like a request: ids, total, rows, meta, terms.
fn post_page(store: &Store, q: &PostQuery) -> Result<()> {
    store.read_blocking(|db| {
        let page = posts::query(db, q)?;
        let rows = posts::get_many(db, &page.ids)?;
        let ids: Vec<i64> = rows.iter().map(|p| p.id.0).collect();
        meta::load(db, MetaKind::Post, &ids)?;
        terms::of_objects(db, &page.ids)?;
        Ok(())
    })
}

fn list(name: &'static str, q: PostQuery) -> Measured {
    read(name, move |store| post_page(store, &q))
}

fn user_list(name: &'static str, q: UserQuery) -> Measured {
    let q = q.order(Order::Asc).limit(Some(10)).total(true);
    read(name, move |store| {
        store.read_blocking(|db| users::query(db, &q).and_then(|page| users::get_many(db, &page.ids)).map(drop))
    })
}

fn comment_list(name: &'static str, q: CommentQuery) -> Measured {
    let q = q.limit(Some(10)).total(true).types_exclude(vec!["note".to_owned()]);
    read(name, move |store| {
        store.read_blocking(|db| comments::query(db, &q).and_then(|page| comments::get_many(db, &page.ids)).map(drop))
    })
}

fn term_list(name: &'static str, q: TermQuery) -> Measured {
    let q = q.order(Order::Asc).limit(Some(10)).total(true);
    read(name, move |store| {
        store.read_blocking(|db| terms::query(db, &q).and_then(|page| terms::get_many(db, &page.ids)).map(drop))
    })
}

fn in_terms(operator: TaxOperator, terms: &[(&str, u64)]) -> Clauses<TaxClause> {
    let clauses = terms.iter().map(|(taxonomy, id)| TaxClause {
        taxonomy: (*taxonomy).to_owned(),
        terms: vec![TermId(id.cast_signed())],
        operator,
        include_children: true,
    });
    Clauses { clauses: clauses.collect(), ..Clauses::default() }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn new_post() -> Post {
    Post {
        post_type: "post".to_owned(),
        status: "publish".to_owned(),
        title: "New".to_owned(),
        slug: "new".to_owned(),
        author: UserId(MAIN_AUTHOR),
        date: stamp::parse("2021-01-01 00:00:00"),
        modified: stamp::parse("2021-01-01 00:00:00"),
        ..Post::default()
    }
}

/// A write after which lists of posts and comments are read again.
pub(crate) fn write(store: &Store) -> Result<()> {
    store.write_blocking(|tx| {
        let post = posts::insert(tx, &new_post())?;
        terms::set_object_terms(tx, post, "category", &[TermId(1)])?;
        comments::insert(tx, &new_comment(post)).map(drop)
    })
}

fn new_comment(post: PostId) -> Comment {
    Comment {
        post,
        approved: "1".to_owned(),
        comment_type: "comment".to_owned(),
        date: stamp::parse("2021-01-01 00:00:00"),
        date_gmt: stamp::parse("2021-01-01 00:00:00"),
        ..Comment::default()
    }
}

/// The rows of the table for a site of this size.
#[expect(clippy::too_many_lines, reason = "a table")]
#[rustfmt::skip]
pub(crate) fn rows(sizes: Sizes) -> Vec<Measured> {
    use TaxOperator::{In, NotIn};
    let base = || PostQuery::published("post", 10);
    let by = |by: PostOrderBy, order: Order| base().order_by(vec![(by, order)]);
    let date = |text: &str| stamp::parse(text);
    let n = sizes.posts;
    let middle = PostId((n / 2).cast_signed());
    let small_category = sizes.categories - 1;
    let large = ("category", 1);
    let small = ("category", small_category);
    let tag = ("post_tag", sizes.tag(3));
    let heavy = vec![UserId(MAIN_AUTHOR)];
    let light = vec![UserId(3)];
    let none = vec![UserId((sizes.last_author() + 1).cast_signed())];
    let status = |list: &[&str]| base().statuses(texts(list));
    let few = || vec![PostId(2), PostId(4), middle];
    let slug = format!("slug-{}", n / 2);
    let user = || UserQuery::default();
    let published = Some(texts(&["post", "page"]));
    let comment = || CommentQuery::default().approved(texts(&["1"])).types(texts(&["comment"]));
    let category = || TermQuery::default().taxonomies(texts(&["category"]));
    let term = |store: &Store| store.write_blocking(|tx| {
        let term = Term { name: "New".to_owned(), slug: "new".to_owned(), taxonomy: "category".to_owned(), ..Term::default() };
        let slug = terms::unique_slug(tx, &term.slug, "category", TermId(0), TermId(0))?;
        terms::insert(tx, &Term { slug, ..term }).and_then(|term| terms::delete(tx, &term, None)).map(drop)
    });
    vec![
        list("posts", base()),
        list("posts, 100 per page", base().limit(Some(100))),
        list("posts, date ascending", by(PostOrderBy::Date, Order::Asc)),
        list("posts, offset at a quarter", base().offset(n / 4)),
        list("posts, offset at the middle", base().offset(n / 2)),
        list("posts, last page", base().offset(n * 9 / 10)),
        list("posts by title", by(PostOrderBy::Title, Order::Asc)),
        list("posts by title, descending", by(PostOrderBy::Title, Order::Desc)),
        list("posts by modified", by(PostOrderBy::Modified, Order::Desc)),
        list("posts by slug", by(PostOrderBy::Slug, Order::Asc)),
        list("posts by id", by(PostOrderBy::Id, Order::Desc)),
        list("posts by author", by(PostOrderBy::Author, Order::Asc)),
        list("posts by parent", by(PostOrderBy::Parent, Order::Desc)),
        list("posts by menu_order", by(PostOrderBy::MenuOrder, Order::Asc)),
        list("pages by menu_order and title", base().post_types(texts(&["page"])).order_by(vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Title, Order::Asc)])),
        list("children of a page", base().post_types(texts(&["page"])).parent_in(vec![PostId(7)])),
        list("posts of half the years", base().after(date("2016-01-01 00:00:00"))),
        list("posts of one day", base().after(date("2016-01-01 00:00:00")).before(date("2016-01-02 00:00:00"))),
        list("posts modified in half the years", base().modified_after(date("2016-01-01 00:00:00"))),
        list("posts modified in one week", base().modified_after(date("2016-01-01 00:00:00")).modified_before(date("2016-01-08 00:00:00"))),
        list("author of half the posts", base().author_in(heavy.clone())),
        list("author of half the posts, by title", by(PostOrderBy::Title, Order::Asc).author_in(heavy.clone())),
        list("author of few posts", base().author_in(light.clone())),
        list("author without posts", base().author_in(none)),
        list("two authors", base().author_in(vec![UserId(3), UserId(MAIN_AUTHOR)])),
        list("without an author", base().author_not_in(light)),
        list("without the main author", base().author_not_in(heavy)),
        list("category of half the posts", base().tax(in_terms(In, &[large]))),
        list("category of half the posts, by title", by(PostOrderBy::Title, Order::Asc).tax(in_terms(In, &[large]))),
        list("small category", base().tax(in_terms(In, &[small]))),
        list("tag of 200 posts", base().tax(in_terms(In, &[tag]))),
        list("tag of 200 posts, by title", by(PostOrderBy::Title, Order::Asc).tax(in_terms(In, &[tag]))),
        list("large category and tag", base().tax(in_terms(In, &[large, tag]))),
        list("without the large category", base().tax(in_terms(NotIn, &[large]))),
        list("without a small category", base().tax(in_terms(NotIn, &[small]))),
        list("ids", base().ids(Some(few()))),
        list("not ids", base().not_ids(few())),
        list("excluded ids", base().exclude(few())),
        list("included ids", base().include(few())),
        list("slug", base().slugs(vec![slug])),
        list("drafts", status(&["draft"])),
        list("all statuses", status(&["publish", "future", "draft", "pending", "private"])),
        list("all statuses, by title", status(&["publish", "future", "draft", "pending", "private"]).order_by(vec![(PostOrderBy::Title, Order::Asc)])),
        list("published and own private", base().own_statuses(Some((UserId(3), texts(&["private"]))))),
        list("posts and pages", base().post_types(texts(&["post", "page", "attachment"]))),
        read("post by id", move |store| store.read_blocking(|db| posts::get(db, middle).map(drop))),
        user_list("users, anonymous", user().published(published.clone())),
        user_list("users, anonymous, by id", user().published(published).order_by(UserOrderBy::Id)),
        user_list("users", user()),
        user_list("users by registration", user().order_by(UserOrderBy::Registered)),
        user_list("users, offset at the middle", user().offset(sizes.users / 2)),
        user_list("users of a rare role", user().rights(texts(&["author"]))),
        user_list("users of a common role", user().rights(texts(&["subscriber"]))),
        user_list("users who may write", user().authors_only(true)),
        user_list("user by slug", user().slugs(texts(&["user-7"]))),
        comment_list("comments", comment()),
        comment_list("comments by date, ascending", comment().order_by(CommentOrderBy::Date).order(Order::Asc)),
        comment_list("comments by id", comment().order_by(CommentOrderBy::Id)),
        comment_list("comments by post", comment().order_by(CommentOrderBy::Post)),
        comment_list("comments, offset at the middle", comment().offset(n / 2)),
        comment_list("comments of a post", comment().posts(vec![middle])),
        comment_list("comments of an e-mail address", comment().author_email(Some("g77@example.org".to_owned()))),
        comment_list("pending comments", comment().approved(texts(&["0"]))),
        comment_list("comments of all states", comment().approved(texts(&["0", "1"]))),
        term_list("categories", category()),
        term_list("categories, not empty", category().hide_empty(true)),
        term_list("categories by id", category().order_by(TermOrderBy::Id)),
        term_list("categories by count", category().order_by(TermOrderBy::Count)),
        term_list("categories, offset at the middle", category().offset(sizes.categories / 2)),
        term_list("terms of a post", category().posts(vec![middle])),
        write_row("create a post", |store| store.write_blocking(|tx| posts::insert(tx, &new_post()).map(drop))),
        write_row("create in the large category", |store| store.write_blocking(|tx| {
            let post = posts::insert(tx, &new_post())?;
            terms::set_object_terms(tx, post, "category", &[TermId(1)])
        })),
        write_row("create a comment", move |store| store.write_blocking(move |tx| comments::insert(tx, &new_comment(middle)).map(drop))),
        write_row("create and delete a term", term),
        write_row("create a user", |store| store.write_blocking(|tx| users::insert(tx, &User { display_name: "New".to_owned(), ..User::default() }).map(drop))),
    ]
}

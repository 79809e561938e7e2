//! A generated dump of a site of any size: for each thousand posts, a thousand comments and meta values, two thousand
//! term relationships, a hundred users, ten categories and five tags.

use std::fmt::Write as _;
use std::io::Read;

use svc_store::create_table_statements;

/// Rows per statement.
const BATCH: u64 = 200;

/// Number of categories that halve: the first contains half of all posts, the second a quarter, and so on.
pub(crate) const LARGE_CATEGORIES: u64 = 6;

/// The author of half of all posts.
pub(crate) const MAIN_AUTHOR: i64 = 1;

/// The sizes of a site's tables, derived from its number of posts.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) posts: u64,
    pub(crate) users: u64,
    pub(crate) categories: u64,
    pub(crate) tags: u64,
}

impl Sizes {
    pub(crate) fn of(posts: u64) -> Self {
        Sizes { posts, users: (posts / 10).max(20), categories: (posts / 100).max(10), tags: (posts / 200).max(5) }
    }

    /// Ids of tags follow those of categories. A tag has about two hundred posts.
    pub(crate) fn tag(self, n: u64) -> u64 {
        self.categories + 1 + n % self.tags
    }

    /// Users above this id have no posts.
    pub(crate) fn last_author(self) -> u64 {
        self.users * 9 / 10
    }

    fn category_of(self, post: u64) -> u64 {
        let large = u64::from(post.trailing_zeros()) + 1;
        if large <= LARGE_CATEGORIES {
            large
        } else {
            LARGE_CATEGORIES + 1 + mix(post) % (self.categories - LARGE_CATEGORIES)
        }
    }

    fn author_of(self, post: u64) -> u64 {
        if post % 2 == 1 { MAIN_AUTHOR.cast_unsigned() } else { 2 + mix(post) % (self.last_author() - 1) }
    }
}

/// Spreads consecutive numbers.
fn mix(n: u64) -> u64 {
    n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
}

/// A date within ten years. Dates do not follow the order of ids.
fn date(n: u64) -> String {
    let minutes = (n * 7_919) % 5_000_000;
    let date = chrono::DateTime::from_timestamp(1_300_000_000 + (minutes * 60).cast_signed(), 0);
    date.map(|date| date.format("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default()
}

/// A dump that is generated while it is read.
pub(crate) struct Dump {
    sizes: Sizes,
    next: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Dump {
    pub(crate) fn new(sizes: Sizes) -> Self {
        let mut head = create_table_statements("wp_");
        head += "INSERT INTO `wp_options` VALUES (1,'siteurl','http://example.org','yes');\n";
        Dump { sizes, next: 1, buffer: head.into_bytes(), at: 0 }
    }

    /// Generates the next rows of all tables.
    fn fill(&mut self) {
        let sizes = self.sizes;
        let first = self.next;
        self.next += BATCH;
        let mut out = String::new();
        let mut rows = |table: &str, n: u64, row: &dyn Fn(u64) -> String| {
            let rows: Vec<String> = (first..first + BATCH).take_while(|id| *id <= n).map(row).collect();
            if !rows.is_empty() {
                writeln!(out, "INSERT INTO `wp_{table} VALUES {};", rows.join(",")).unwrap_or_default();
            }
        };
        rows(
            "users` (`ID`,`user_login`,`user_nicename`,`user_email`,`user_registered`,`display_name`)",
            sizes.users,
            &|id| format!("({id},'user{id}','user-{id}','u{id}@example.org','{}','Name {}')", date(id), mix(id)),
        );
        rows("usermeta`", sizes.users * 2, &|id| {
            let user = id.div_ceil(2);
            let role = if user == 1 {
                "administrator"
            } else if user % 100 == 0 {
                "author"
            } else {
                "subscriber"
            };
            let level = if user == 1 { 10 } else { 2 * u8::from(user % 100 == 0) };
            if id % 2 == 1 {
                format!("({id},{user},'wp_capabilities','a:1:{{s:{}:\"{role}\";b:1;}}')", role.len())
            } else {
                format!("({id},{user},'wp_user_level','{level}')")
            }
        });
        let terms = sizes.categories + sizes.tags;
        rows("terms`", terms, &|id| format!("({id},'Term {}','term-{id}',0)", mix(id)));
        rows("term_taxonomy`", terms, &|id| {
            // The example stores the real counts after loading.
            let taxonomy = if id <= sizes.categories { "category" } else { "post_tag" };
            format!("({id},{id},'{taxonomy}','',0,0)")
        });
        let text = "A sentence of ordinary words for the body of a generated post. ".repeat(8);
        let columns = "posts` (`ID`,`post_author`,`post_date`,`post_date_gmt`,`post_content`,`post_title`,`post_excerpt`,`post_status`,`post_name`,`to_ping`,`pinged`,`post_modified`,`post_modified_gmt`,`post_content_filtered`,`post_type`,`post_parent`,`menu_order`,`comment_count`)";
        rows(columns, sizes.posts, &|id| {
            let (date, modified, author) = (date(id), date(id * 31), sizes.author_of(id));
            let status = match id % 100 {
                98 => "draft",
                99 => "private",
                _ => "publish",
            };
            let (kind, parent, order) = if id % 50 == 7 { ("page", id % 500, id % 90) } else { ("post", 0, 0) };
            format!(
                "({id},{author},'{date}','{date}','{text}','Title {}','','{status}','slug-{id}','','','{modified}','{modified}','','{kind}',{parent},{order},1)",
                mix(id)
            )
        });
        rows("postmeta`", sizes.posts, &|id| format!("({id},{id},'note','{id}')"));
        rows("term_relationships`", sizes.posts, &|id| {
            format!("({id},{},0),({id},{},0)", sizes.category_of(id), sizes.tag(mix(id)))
        });
        let columns = "comments` (`comment_ID`,`comment_post_ID`,`comment_author`,`comment_author_email`,`comment_date`,`comment_date_gmt`,`comment_content`,`comment_approved`,`comment_type`)";
        rows(columns, sizes.posts, &|id| {
            let (date, post) = (date(id), mix(id) % sizes.posts + 1);
            let approved = u8::from(id % 50 != 0);
            format!("({id},{post},'Guest','g{id}@example.org','{date}','{date}','A comment.','{approved}','comment')")
        });
        self.buffer = out.into_bytes();
        self.at = 0;
    }
}

impl Read for Dump {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.buffer.len() {
            if self.next > self.sizes.posts.max(self.sizes.users * 2) {
                return Ok(0);
            }
            self.fill();
        }
        let n = into.len().min(self.buffer.len() - self.at);
        into[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

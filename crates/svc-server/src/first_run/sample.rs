//! Sample content of a new site: posts, a page, categories, tags and a comment.

/// A category or tag.
pub(super) struct SampleTerm {
    pub(super) taxonomy: &'static str,
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    pub(super) description: &'static str,
}

/// A post or page.
pub(super) struct SamplePost {
    pub(super) post_type: &'static str,
    pub(super) title: &'static str,
    pub(super) slug: &'static str,
    pub(super) excerpt: &'static str,
    pub(super) content: &'static str,
    /// Slugs of the post's categories and tags.
    pub(super) terms: &'static [&'static str],
    /// Publication time, in hours before the creation of the site.
    pub(super) hours_ago: i64,
    /// Text of a comment.
    pub(super) comment: Option<&'static str>,
}

/// The first is the default category.
#[rustfmt::skip]
pub(super) const TERMS: &[SampleTerm] = &[
    SampleTerm { taxonomy: "category", name: "General", slug: "general", description: "Whatever fits nowhere else." },
    SampleTerm { taxonomy: "category", name: "How to", slug: "how-to", description: "Short instructions, tried before they were written down." },
    SampleTerm { taxonomy: "post_tag", name: "first steps", slug: "first-steps", description: "" },
    SampleTerm { taxonomy: "post_tag", name: "interface", slug: "interface", description: "" },
];

#[rustfmt::skip]
pub(super) const POSTS: &[SamplePost] = &[
    SamplePost {
        post_type: "post", title: "This site is running", slug: "this-site-is-running", excerpt: "", hours_ago: 2,
        terms: &["general", "first-steps"], comment: Some("Good to see that it works. You can remove this comment, and the post with it."),
        content: "<!-- wp:paragraph -->\n<p>If you can read this, the server has made its database and found its way to your browser. This post lives in that database like any other: change it, or throw it away.</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p>Everything on this page is also served as data, under the address that the head of each page names. Programs begin there.</p>\n<!-- /wp:paragraph -->",
    },
    SamplePost {
        post_type: "post", title: "Writing the first post", slug: "writing-the-first-post", hours_ago: 26,
        excerpt: "A password for a program, one request, and the post is there.",
        terms: &["how-to", "first-steps", "interface"], comment: None,
        content: "<!-- wp:paragraph -->\n<p>Programs sign in with a password of their own, an application password. One can be made on the command line:</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>svc-server app-password create admin notebook</code></pre>\n<!-- /wp:code -->\n\n<!-- wp:paragraph -->\n<p>With it, any client that speaks HTTP can send a title and a text to the collection of posts, and gets the new post back.</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>A post without a status is a draft: only those who may edit it see it.</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>With the status “publish” it is on the front page at once.</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
    },
    SamplePost {
        post_type: "post", title: "Bringing a site along", slug: "bringing-a-site-along", excerpt: "", hours_ago: 50,
        terms: &["how-to"], comment: None,
        content: "<!-- wp:paragraph -->\n<p>A site that lives elsewhere can move in: its database as a dump, its uploads as a folder.</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>svc-server import dump.sql.gz --content wp-content</code></pre>\n<!-- /wp:code -->\n\n<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><!-- wp:paragraph -->\n<p>Nothing is converted, so nothing is lost: the tables are the same on both sides.</p>\n<!-- /wp:paragraph --></blockquote>\n<!-- /wp:quote -->",
    },
    SamplePost {
        post_type: "page", title: "About", slug: "about", excerpt: "", hours_ago: 51, terms: &[], comment: None,
        content: "<!-- wp:paragraph -->\n<p>A page stands outside the stream of posts. This one would be a good place to say who writes here, and why.</p>\n<!-- /wp:paragraph -->",
    },
];

/// Author and email address of the sample comments. The domain is reserved.
pub(super) const COMMENTER: (&str, &str) = ("A visitor", "visitor@example.com");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_name_terms_that_there_are() {
        for slug in POSTS.iter().flat_map(|p| p.terms) {
            assert!(TERMS.iter().any(|t| t.slug == *slug), "{slug}");
        }
    }

    #[test]
    fn slugs_are_unique() {
        let slugs: std::collections::BTreeSet<&str> = POSTS.iter().map(|p| p.slug).collect();
        assert_eq!(slugs.len(), POSTS.len());
    }
}

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
    SampleTerm { taxonomy: "category", name: "General", slug: "general", description: "Posts without another category." },
    SampleTerm { taxonomy: "category", name: "How to", slug: "how-to", description: "Short instructions." },
    SampleTerm { taxonomy: "post_tag", name: "first steps", slug: "first-steps", description: "" },
    SampleTerm { taxonomy: "post_tag", name: "REST API", slug: "rest-api", description: "" },
];

#[rustfmt::skip]
pub(super) const POSTS: &[SamplePost] = &[
    SamplePost {
        post_type: "post", title: "This site is running", slug: "this-site-is-running", excerpt: "", hours_ago: 2,
        terms: &["general", "first-steps"], comment: Some("Good to see that it works. You can remove this comment, and the post with it."),
        content: "<!-- wp:paragraph -->\n<p>The server has created its database, and your browser can reach it. This is a post like any other: edit it, or delete it.</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:paragraph -->\n<p>Everything on this page is also available from the REST API. The head of each page links to it.</p>\n<!-- /wp:paragraph -->",
    },
    SamplePost {
        post_type: "post", title: "Writing the first post", slug: "writing-the-first-post", hours_ago: 26,
        excerpt: "Create an application password and send one request.",
        terms: &["how-to", "first-steps", "rest-api"], comment: None,
        content: "<!-- wp:paragraph -->\n<p>Applications log in with an application password. Create one on the command line:</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>svc-server app-password create admin notebook</code></pre>\n<!-- /wp:code -->\n\n<!-- wp:paragraph -->\n<p>With this password, any HTTP client can send a title and content to the posts of the REST API. The response contains the new post.</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>A post without a status is a draft: only users who may edit it can see it.</li>\n<!-- /wp:list-item -->\n\n<!-- wp:list-item -->\n<li>With the status “publish”, it appears on the front page at once.</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
    },
    SamplePost {
        post_type: "post", title: "Moving a site here", slug: "moving-a-site-here", excerpt: "", hours_ago: 50,
        terms: &["how-to"], comment: None,
        content: "<!-- wp:paragraph -->\n<p>To move an existing site here, import a dump of its database and its content folder:</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:code -->\n<pre class=\"wp-block-code\"><code>svc-server import dump.sql.gz --content wp-content</code></pre>\n<!-- /wp:code -->\n\n<!-- wp:quote -->\n<blockquote class=\"wp-block-quote\"><!-- wp:paragraph -->\n<p>The tables are the same as in WordPress, so nothing is lost.</p>\n<!-- /wp:paragraph --></blockquote>\n<!-- /wp:quote -->",
    },
    SamplePost {
        post_type: "page", title: "About", slug: "about", excerpt: "", hours_ago: 51, terms: &[], comment: None,
        content: "<!-- wp:paragraph -->\n<p>Pages are not part of the list of posts. Use this one to introduce the site and its authors.</p>\n<!-- /wp:paragraph -->",
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

//! A post with all loaded data that its fields read.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use svc_content::{
    blocks::{BlockTypes, ContentRoot},
    shortcodes::Page,
};
use svc_model::{Post, PostId, PostType, Term, Timestamp};
use svc_render::{
    SiteRenderer,
    blocks::RenderedTexts,
    class_list::{class_list, post_format},
    content as render,
    images::SiteImages,
};
use svc_site::{
    Settings, Site, hooked_blocks::IGNORED_HOOKS, media::attached::AttachmentFiles, permalinks::PermalinkParts,
};
use svc_store::{Meta, rows};
use svc_text::Html;
use svc_versions::Context;

use crate::item_languages::ItemLanguages;

/// A post, the data that was loaded with it, and what the caller may read of it.
pub(crate) struct PostItem {
    /// The context that the item is rendered with.
    pub cx: Context,
    /// The row.
    pub post: Post,
    /// Its type.
    pub post_type: Arc<PostType>,
    /// The site.
    pub site: Arc<Site>,
    /// Renders its texts.
    pub renderer: Arc<SiteRenderer>,
    /// The site's options as of this request.
    pub settings: Arc<Settings>,
    /// Stored meta; empty when the plan reads none.
    pub stored_meta: Meta,
    /// Its terms in every taxonomy, sorted by name; empty when the plan reads none.
    pub terms: Vec<Term>,
    /// Parts of its permalink that are not in the row.
    pub permalink_parts: PermalinkParts,
    /// Its language and translations; empty when the plan does not read them.
    pub languages: ItemLanguages,
    /// The files of an attachment; `None` for other posts.
    pub attached: Option<AttachmentFiles>,
    /// The images that its texts refer to; empty when the plan reads no texts.
    pub images: Arc<SiteImages>,
    /// Counters shared by all texts of the response.
    pub page: Arc<Mutex<Page>>,
    /// REST URL of its parent; empty when it has none or the plan reads no links.
    pub parent_url: String,
    /// The block types, if the response contains the content for editors, with hooked blocks inserted. WordPress then
    /// renders the content twice, so that counters shared by the response, such as those of galleries, are incremented
    /// twice.
    pub hooked_types: Option<Arc<BlockTypes>>,
    /// The slug derived from its title; empty when the plan does not read it.
    pub generated_slug: String,
    /// The caller may read password-protected content.
    pub unlocked: bool,
    /// Length of generated excerpts, in words.
    pub excerpt_length: usize,
    /// Content and excerpt, if their blocks required database access.
    pub rendered: RenderedTexts,
}

/// A post ready to be rendered, with its links if they are requested.
pub(crate) struct LoadedPost {
    pub item: PostItem,
    pub links: Option<svc_routing::Links>,
}

/// The id of a post's featured image; zero for none.
pub(super) fn featured_media(meta: &Meta) -> PostId {
    PostId(svc_php::numeric::text_to_int(meta.text("_thumbnail_id")))
}

impl LoadedPost {
    /// The post, rendered with this context.
    pub(crate) fn with_cx(mut self, cx: &Context) -> Self {
        self.item.cx = cx.clone();
        self
    }
}

impl PostItem {
    /// Records that the current computation depends on the post's own data: its meta, terms and revisions, and the data in its
    /// dynamic blocks.
    pub(crate) fn record_dependencies(&self) {
        let id = self.post.id.0;
        for rows in [rows::POST_META, rows::POST_TERMS, rows::REVISIONS] {
            rows.depend_on(&self.cx, [id]);
        }
        rows::TERMS.depend_on(&self.cx, self.terms.iter().map(|term| term.id.0));
        rows::POSTS.depend_on(&self.cx, self.languages.members.iter().copied());
        self.cx.record(&self.rendered.dependencies);
    }

    /// The JSON value of a stored timestamp.
    fn timestamp(&self, stamp: Timestamp) -> Value {
        stamp.map_or(Value::Null, |s| self.settings.zone.format_local(s).into())
    }

    pub(crate) fn date(&self) -> Value {
        self.timestamp(self.post.date)
    }

    /// Drafts are stored without it; their local date is converted.
    pub(crate) fn date_gmt(&self) -> Value {
        self.timestamp(self.post.date_gmt.or_else(|| self.post.date.map(|d| self.settings.zone.to_utc(d))))
    }

    pub(crate) fn modified(&self) -> Value {
        self.timestamp(self.post.modified)
    }

    pub(crate) fn modified_gmt(&self) -> Value {
        self.timestamp(self.post.modified_gmt.or_else(|| self.post.modified.map(|d| self.settings.zone.to_utc(d))))
    }

    pub(crate) fn link(&self) -> String {
        self.settings.urls.post(&self.post, &self.post_type, &self.permalink_parts)
    }

    pub(crate) fn permalink_template(&self) -> String {
        self.settings.urls.post_template(&self.post, &self.post_type, &self.permalink_parts)
    }

    /// Whether the content requires a password that the request does not contain.
    pub(super) fn is_locked(&self) -> bool {
        self.post.is_protected() && !self.unlocked
    }

    pub(crate) fn title_rendered(&self) -> String {
        render::title(&self.post.title).into_string()
    }

    /// The content as stored, or with hooked blocks for editors.
    pub(crate) fn content_raw(&self) -> String {
        let Some(types) = &self.hooked_types else { return self.post.content.clone() };
        let ignored = self.stored_meta.text(IGNORED_HOOKS);
        types.hooks().content_to_edit(&self.post.content, Some(&ContentRoot::of(&self.post.post_type, ignored)))
    }

    pub(crate) fn content_rendered(&self) -> String {
        if self.is_locked() {
            return String::new();
        }
        if let Some(content) = &self.rendered.content {
            return content.as_str().to_owned();
        }
        let render = || render::content(&self.renderer, &self.settings, &self.post, &self.render_options());
        if self.hooked_types.is_some() && self.post.content.contains('[') {
            render();
        }
        render().into_string()
    }

    pub(crate) fn excerpt_rendered(&self) -> String {
        match &self.rendered.excerpt {
            _ if self.is_locked() => String::new(),
            Some(excerpt) => excerpt.as_str().to_owned(),
            None => {
                render::excerpt(&self.renderer, &self.settings, &self.post, &self.render_options(), self.excerpt_length)
                    .into_string()
            }
        }
    }

    /// Options for rendering its texts.
    fn render_options(&self) -> render::RenderOptions<'_> {
        render::RenderOptions {
            before: self.file_element(),
            ..render::RenderOptions::new(&self.cx, &self.images, &self.page)
        }
    }

    pub(crate) fn block_version(&self) -> i64 {
        i64::from(svc_content::blocks::block_version(&self.post.content))
    }

    pub(crate) fn featured_media(&self) -> i64 {
        featured_media(&self.stored_meta).0
    }

    /// The terms in this taxonomy.
    pub(crate) fn terms_in<'a>(&'a self, taxonomy: &'a str) -> impl Iterator<Item = &'a Term> {
        self.terms.iter().filter(move |t| t.taxonomy == taxonomy)
    }

    pub(crate) fn term_ids(&self, taxonomy: &str) -> Value {
        self.terms_in(taxonomy).map(|t| Value::from(t.id)).collect()
    }

    pub(crate) fn format(&self) -> String {
        post_format(&self.terms).to_owned()
    }

    pub(crate) fn sticky(&self) -> bool {
        self.settings.sticky.contains(&self.post.id)
    }

    pub(crate) fn template(&self) -> String {
        match self.stored_meta.text("_wp_page_template") {
            "default" | "0" => String::new(),
            template => template.to_owned(),
        }
    }

    pub(crate) fn class_list(&self) -> Value {
        let classes = class_list(&self.site, &self.post, &self.post_type, &self.terms, self.featured_media() > 0);
        classes.into_iter().map(Html::into_string).collect()
    }
}

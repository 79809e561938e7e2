//! A post with everything loaded that its members read.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc_content::{
    blocks::{BlockTypes, ContentRoot},
    shortcodes::Page,
};
use svc_model::{Post, PostType, Stamp, Term};
use svc_render::{
    blocks::Rendered,
    class_list::{class_list, format_of},
    content as render,
    images::SiteImages,
};
use svc_site::{Settings, block_types::IGNORED_HOOKS, media::attached::Attached, permalinks::PermalinkParts};
use svc_store::Meta;

use crate::RestSite;

/// A post, what was loaded with it, and what this request may see of it.
pub(crate) struct PostItem {
    /// The row.
    pub post: Post,
    /// Its type.
    pub post_type: Arc<PostType>,
    /// The site.
    pub site: Arc<RestSite>,
    /// The site's options as of this request.
    pub settings: Arc<Settings>,
    /// Stored meta; empty when the plan reads none.
    pub stored_meta: Meta,
    /// Its terms in every taxonomy, by name; empty when the plan reads none.
    pub terms: Vec<Term>,
    /// What its address needs beyond the row.
    pub place: PermalinkParts,
    /// The files of an attachment; of other posts nothing.
    pub attached: Option<Attached>,
    /// The images that its texts name; empty when the plan reads none of them.
    pub images: Arc<SiteImages>,
    /// What is counted over all texts of the answer.
    pub page: Arc<Mutex<Page>>,
    /// The address in the interface of the post above it; empty when it has none, or the plan reads no links.
    pub up: String,
    /// The types of blocks, where editors get the content: with the blocks that want to stand in it. The peer renders
    /// it once more then, so that what counts over an answer, such as galleries, counts twice.
    pub edited_with: Option<Arc<BlockTypes>>,
    /// The slug that its title would give; empty when the plan does not read it.
    pub generated_slug: String,
    /// The caller may read content that a password guards.
    pub unlocked: bool,
    /// Words in an excerpt made of the content.
    pub excerpt_length: usize,
    /// Content and excerpt, where their blocks had to ask the store.
    pub rendered: Rendered,
}

impl PostItem {
    /// The wire form of a stored moment.
    fn wire(&self, stamp: Stamp) -> Value {
        stamp.map_or(Value::Null, |s| self.settings.zone.shown(s).into())
    }

    pub(crate) fn date(&self) -> Value {
        self.wire(self.post.date)
    }

    /// Drafts are stored without it: their date is then converted.
    pub(crate) fn date_gmt(&self) -> Value {
        self.wire(self.post.date_gmt.or_else(|| self.post.date.map(|d| self.settings.zone.to_utc(d))))
    }

    pub(crate) fn modified(&self) -> Value {
        self.wire(self.post.modified)
    }

    pub(crate) fn modified_gmt(&self) -> Value {
        self.wire(self.post.modified_gmt.or_else(|| self.post.modified.map(|d| self.settings.zone.to_utc(d))))
    }

    pub(crate) fn link(&self) -> String {
        self.settings.urls.post(&self.post, &self.post_type, &self.place)
    }

    pub(crate) fn permalink_template(&self) -> String {
        self.settings.urls.post_template(&self.post, &self.post_type, &self.place)
    }

    /// A password guards it and this request has not given it.
    fn locked(&self) -> bool {
        self.post.is_protected() && !self.unlocked
    }

    pub(crate) fn title_rendered(&self) -> String {
        render::title(&self.post.title)
    }

    /// The content as stored, or as editors get it.
    pub(crate) fn content_raw(&self) -> String {
        let Some(types) = &self.edited_with else { return self.post.content.clone() };
        let ignored = self.stored_meta.text(IGNORED_HOOKS);
        types.hooks().edited(&self.post.content, Some(&ContentRoot::of(&self.post.post_type, ignored)))
    }

    pub(crate) fn content_rendered(&self) -> String {
        if self.locked() {
            return String::new();
        }
        if let Some(content) = &self.rendered.content {
            return content.clone();
        }
        let render = || render::content(&self.site, &self.settings, &self.post, &self.with());
        if self.edited_with.is_some() && self.post.content.contains('[') {
            render();
        }
        render()
    }

    pub(crate) fn excerpt_rendered(&self) -> String {
        match &self.rendered.excerpt {
            _ if self.locked() => String::new(),
            Some(excerpt) => excerpt.clone(),
            None => render::excerpt(&self.site, &self.settings, &self.post, &self.with(), self.excerpt_length),
        }
    }

    /// What goes with its texts.
    fn with(&self) -> render::RenderOptions<'_> {
        render::RenderOptions { before: self.file_element(), ..render::RenderOptions::new(&self.images, &self.page) }
    }

    pub(crate) fn block_version(&self) -> i64 {
        i64::from(svc_content::blocks::block_version(&self.post.content))
    }

    pub(crate) fn featured_media(&self) -> i64 {
        svc_php::numeric::text_to_int(self.stored_meta.text("_thumbnail_id"))
    }

    /// The terms in this taxonomy.
    pub(crate) fn terms_in<'a>(&'a self, taxonomy: &'a str) -> impl Iterator<Item = &'a Term> {
        self.terms.iter().filter(move |t| t.taxonomy == taxonomy)
    }

    pub(crate) fn term_ids(&self, taxonomy: &str) -> Value {
        self.terms_in(taxonomy).map(|t| Value::from(t.id)).collect()
    }

    pub(crate) fn format(&self) -> String {
        format_of(&self.terms).to_owned()
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
        json!(class_list(&self.site, &self.post, &self.post_type, &self.terms, self.featured_media() > 0))
    }
}

//! Templates and template parts of the active theme: files of the theme, and posts of the site.
//!
//! A theme's file is the template until a user saves it; then the post with the same slug replaces it. Loading a list
//! takes a fixed number of queries.

use std::{collections::HashMap, sync::Arc};

use svc_model::{Post, PostId, PostType, Term, TermId, UserId};
use svc_packages::theme::TemplateFile;
use svc_store::{
    Db, Meta,
    meta::{self, MetaKind},
    posts::{self, Clauses, PostQuery, TaxClause},
    terms, users,
};
use svc_versions::Context;

use crate::{
    ActiveTheme, Settings, Site, SiteResult,
    hooked_blocks::IGNORED_HOOKS,
    patterns,
    template_parts::with_theme,
    templates::{kinds, named, template::author_kind},
};

pub use crate::templates::template::{AuthorKind, Template, TemplateKind};

/// Taxonomy of the theme that a template belongs to.
pub(crate) const THEME: &str = "wp_theme";
/// Taxonomy of the area of a template part.
pub const AREA: &str = "wp_template_part_area";
/// Maximum number of stored templates of one theme in a list.
const MAX_POSTS: u64 = 1_000;

/// Splits an id of the REST API into theme and slug. As in WordPress, a single slash is accepted, since some servers
/// merge slashes.
pub(crate) fn split_id(id: &str) -> Option<(&str, &str)> {
    id.split_once("//").or_else(|| id.rsplit_once('/')).filter(|(theme, slug)| !theme.is_empty() && !slug.is_empty())
}

/// The status of stored templates that are listed and rendered.
const PUBLISHED: &[&str] = &["publish"];

/// The statuses of stored templates that a request for one id finds.
const WITH_DRAFTS: &[&str] = &["auto-draft", "draft", "publish"];

/// Looks up the templates of a theme.
pub struct TemplateLookup<'a> {
    site: &'a Site,
    settings: &'a Settings,
    /// The theme.
    pub theme: Arc<ActiveTheme>,
}

impl<'a> TemplateLookup<'a> {
    /// Looks up templates of the active theme.
    pub fn new(cx: &Context, site: &'a Site, settings: &'a Settings) -> Self {
        TemplateLookup { site, settings, theme: site.theme(cx, settings) }
    }

    /// Looks up templates for rendering pages: those of the active theme or of its fallback.
    pub fn for_pages(cx: &Context, site: &'a Site, settings: &'a Settings) -> Self {
        TemplateLookup { site, settings, theme: site.page_theme(cx, settings) }
    }

    fn files(&self, kind: TemplateKind) -> &[TemplateFile] {
        match (&self.theme.theme, kind) {
            (Some(theme), TemplateKind::Template) => &theme.templates,
            (Some(theme), TemplateKind::Part) => &theme.parts,
            (None, _) => &[],
        }
    }

    /// All templates of a kind: saved ones, newest first, then the theme's other files.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn all(&self, db: &mut Db, kind: TemplateKind) -> SiteResult<Vec<Template>> {
        let mut all = self.saved(db, kind, &self.theme.name, None, PUBLISHED)?;
        // Themes without block templates may have files in this folder, but they are not templates.
        let files = if self.has_block_templates() { self.files(kind) } else { &[] };
        let files: Vec<_> =
            files.iter().filter(|f| all.iter().all(|t| t.slug != f.slug)).map(|f| self.file(kind, f)).collect();
        all.extend(files);
        Ok(all)
    }

    /// Whether the theme is a block theme or supports block templates.
    fn has_block_templates(&self) -> bool {
        self.theme.theme.as_ref().is_some_and(|theme| theme.is_block_theme || theme.has_json)
    }

    /// Whether a post of this type can select this template: a custom template of the theme or of the site.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn is_selectable_for(&self, db: &mut Db, slug: &str, post_type: &PostType) -> SiteResult<bool> {
        if self.theme.theme.as_ref().is_some_and(|theme| theme.has_page_template(slug, &post_type.name)) {
            return Ok(true);
        }
        if !post_type.public || !self.has_block_templates() {
            return Ok(false);
        }
        let found = self.published(db, TemplateKind::Template, &format!("{}//{slug}", self.theme.name))?;
        Ok(found.is_some_and(|found| found.is_selectable_for(&post_type.name)))
    }

    /// The template with this id for a request that names it. Drafts are included, so callers must be authorized to
    /// edit templates.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn find(&self, db: &mut Db, kind: TemplateKind, id: &str) -> SiteResult<Option<Template>> {
        self.find_in(db, kind, id, WITH_DRAFTS)
    }

    /// The template with this id for rendering pages: a published one, or the theme's file.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn published(&self, db: &mut Db, kind: TemplateKind, id: &str) -> SiteResult<Option<Template>> {
        self.find_in(db, kind, id, PUBLISHED)
    }

    fn find_in(&self, db: &mut Db, kind: TemplateKind, id: &str, statuses: &[&str]) -> SiteResult<Option<Template>> {
        let Some((theme, slug)) = split_id(id) else { return Ok(None) };
        if let Some(saved) = self.saved(db, kind, theme, Some(&[slug]), statuses)?.into_iter().next() {
            return Ok(Some(saved));
        }
        Ok(self.theme_file(kind, id))
    }

    /// The theme's file with this id.
    pub fn theme_file(&self, kind: TemplateKind, id: &str) -> Option<Template> {
        let (theme, slug) = split_id(id).filter(|(theme, _)| *theme == self.theme.name)?;
        debug_assert_eq!(theme, self.theme.name);
        self.files(kind).iter().find(|f| f.slug == slug).map(|file| self.file(kind, file))
    }

    /// The first existing template, saved or not. `slugs` are sorted from most to least specific.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn most_specific(&self, db: &mut Db, slugs: &[&str]) -> SiteResult<Option<Template>> {
        let mut saved = self.saved(db, TemplateKind::Template, &self.theme.name, Some(slugs), PUBLISHED)?;
        for slug in slugs {
            let wanted = svc_text::sanitize_title(slug);
            if let Some(at) = saved.iter().position(|t| t.slug == wanted) {
                return Ok(Some(saved.swap_remove(at)));
            }
            if let Some(file) = self.files(TemplateKind::Template).iter().find(|f| f.slug == *slug) {
                return Ok(Some(self.file(TemplateKind::Template, file)));
            }
        }
        Ok(None)
    }

    /// A post of this kind as a template, for example one that a request has just written.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of_post(&self, db: &mut Db, kind: TemplateKind, post: Post) -> SiteResult<Option<Template>> {
        Ok(self.built(db, kind, vec![post], None)?.pop())
    }

    /// Revisions and autosaves of a template's post as templates: with their own texts and authors, and the slug, theme
    /// and area of the template.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn of_revisions(
        &self,
        db: &mut Db,
        kind: TemplateKind,
        template: &Post,
        revisions: Vec<Post>,
    ) -> SiteResult<Vec<Template>> {
        self.built(db, kind, revisions, Some(template))
    }

    /// The stored templates of a theme with one of these statuses.
    fn saved(
        &self,
        db: &mut Db,
        kind: TemplateKind,
        theme: &str,
        slugs: Option<&[&str]>,
        statuses: &[&str],
    ) -> SiteResult<Vec<Template>> {
        let Some(term) = terms::by_name(db, theme, THEME)?.into_iter().next() else { return Ok(Vec::new()) };
        let query = PostQuery::default()
            .post_types(vec![kind.post_type().to_owned()])
            .statuses(statuses.iter().map(|status| (*status).to_owned()).collect())
            .slugs(slugs.unwrap_or_default().iter().map(|s| svc_text::sanitize_title(s)).collect())
            .tax(Clauses { clauses: vec![of_term(THEME, term.id)], ..Clauses::default() })
            .limit(Some(MAX_POSTS));
        let ids = posts::query(db, &query)?.ids;
        let rows = posts::get_many(db, &ids)?;
        self.built(db, kind, rows, None)
    }

    /// Templates of these posts; slug, terms and meta are those of `of` if the posts are its revisions.
    fn built(&self, db: &mut Db, kind: TemplateKind, rows: Vec<Post>, of: Option<&Post>) -> SiteResult<Vec<Template>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<PostId> = of.map_or_else(|| rows.iter().map(|p| p.id).collect(), |post| vec![post.id]);
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let terms = terms::of_objects(db, &ids)?;
        let meta = meta::load(db, MetaKind::Post, &numbers)?;
        let mut authors: Vec<UserId> = rows.iter().map(|p| p.author).filter(|a| !a.is_none()).collect();
        authors.sort_unstable();
        authors.dedup();
        let names: HashMap<UserId, String> =
            users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.display_name)).collect();
        let no_meta = Meta::default();
        let built = |mut post: Post| {
            let id = of.map_or(post.id, |of| of.id);
            if let Some(of) = of {
                post.slug.clone_from(&of.slug);
            }
            let terms = terms.get(&id).map_or(&[][..], Vec::as_slice);
            self.post(kind, post, terms, meta.get(&id.0).unwrap_or(&no_meta), &names)
        };
        let mut built: Vec<Template> = rows.into_iter().map(built).collect();
        named::set_titles(db, self.site, &mut built)?;
        Ok(built)
    }

    fn post(
        &self,
        kind: TemplateKind,
        post: Post,
        terms: &[Term],
        meta: &Meta,
        names: &HashMap<UserId, String>,
    ) -> Template {
        let term = |taxonomy: &str| terms.iter().find(|t| t.taxonomy == taxonomy).map(|t| t.name.clone());
        let theme = term(THEME).unwrap_or_default();
        let has_theme_file = theme == self.theme.name && self.files(kind).iter().any(|f| f.slug == post.slug);
        let origin = Some(meta.text("origin")).filter(|o| !o.is_empty()).map(str::to_owned);
        let suggested = !matches!(meta.text("is_wp_suggestion"), "" | "0");
        let by_name = kind == TemplateKind::Template && kinds::template_type(&post.slug).is_some();
        let author_name = match author_kind(origin.as_deref(), has_theme_file, Some(post.author)) {
            AuthorKind::Theme => self.theme_name(&theme),
            AuthorKind::Site => self.settings.option("blogname").to_owned(),
            AuthorKind::Plugin | AuthorKind::User => names.get(&post.author).cloned().unwrap_or_default(),
        };
        Template {
            kind,
            slug: post.slug.clone(),
            content: with_theme(&post.content, &self.theme.name),
            title: post.title.clone(),
            description: post.excerpt.clone(),
            origin,
            has_theme_file,
            is_custom: !suggested && !by_name,
            post_types: self.theme_json_entry(kind, &post.slug).and_then(|(_, types)| types).filter(|_| has_theme_file),
            area: term(AREA).unwrap_or_else(|| kinds::UNCATEGORIZED.to_owned()),
            ignored_hooks: meta.text(IGNORED_HOOKS).to_owned(),
            author_name,
            theme,
            post: Some(post),
        }
    }

    fn file(&self, kind: TemplateKind, file: &TemplateFile) -> Template {
        let by_name = if kind == TemplateKind::Template { kinds::template_type(&file.slug) } else { None };
        let theme_json_entry = self.theme_json_entry(kind, &file.slug);
        let title = by_name
            .map(|k| k.title.to_owned())
            .or_else(|| theme_json_entry.as_ref().and_then(|(title, _)| title.clone()));
        let parts = self.theme.theme.iter().flat_map(|theme| theme.declared_parts());
        let part = parts.filter(|_| kind == TemplateKind::Part).find(|(name, ..)| *name == file.slug);
        let part_title = part.and_then(|(_, title, _)| title).map(str::to_owned);
        Template {
            kind,
            theme: self.theme.name.clone(),
            slug: file.slug.clone(),
            content: with_theme(&file.content, &self.theme.name),
            title: title.or(part_title).unwrap_or_else(|| file.slug.clone()),
            description: by_name.map_or(String::new(), |k| k.description.to_owned()),
            post: None,
            origin: None,
            has_theme_file: true,
            is_custom: by_name.is_none(),
            post_types: theme_json_entry.and_then(|(_, types)| types),
            area: kinds::area(part.and_then(|(_, _, area)| area).unwrap_or_default()).to_owned(),
            ignored_hooks: String::new(),
            author_name: self.theme_name(&self.theme.name),
        }
    }

    /// Title and post types of a template in `theme.json`.
    fn theme_json_entry(&self, kind: TemplateKind, slug: &str) -> Option<(Option<String>, Option<Vec<String>>)> {
        let mut all = self
            .theme
            .theme
            .iter()
            .flat_map(|theme| theme.custom_templates())
            .filter(|_| kind == TemplateKind::Template);
        let (_, title, types) = all.find(|(name, ..)| *name == slug)?;
        Some((title.map(str::to_owned), Some(types.into_iter().map(str::to_owned).collect())))
    }

    fn theme_name(&self, stylesheet: &str) -> String {
        match &self.theme.theme {
            Some(theme) if theme.stylesheet == stylesheet => theme.about.name.clone(),
            _ => stylesheet.to_owned(),
        }
    }

    /// A template's blocks for editors: with patterns expanded and hooked blocks inserted.
    pub fn content_for_editor(&self, template: &Template) -> String {
        let root = template.kind.root(&template.ignored_hooks);
        let types = self.site.block_types(self.settings);
        types.hooks().content_to_edit(&self.with_patterns(&template.content), root.as_ref())
    }

    /// Content with patterns expanded.
    pub fn with_patterns(&self, content: &str) -> String {
        patterns::expand(self.site, &self.theme, content)
    }
}

/// Matches posts with this term.
pub fn of_term(taxonomy: &str, term: TermId) -> TaxClause {
    TaxClause { taxonomy: taxonomy.to_owned(), terms: vec![term], ..TaxClause::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_contain_theme_and_slug() {
        let rows = [
            ("fixture//index", Some(("fixture", "index"))),
            ("fixture/index", Some(("fixture", "index"))),
            ("group/inner//sub/deep", Some(("group/inner", "sub/deep"))),
            ("index", None),
            ("fixture//", None),
            ("//index", None),
        ];
        for (id, expected) in rows {
            assert_eq!(split_id(id), expected, "{id}");
        }
    }
}

//! TemplateLookup and template parts of the active theme: its files, and what the site has made of them.
//!
//! A file is a template until somebody saves it; from then on the post of the same slug stands for it. A whole list takes a
//! fixed number of queries.

use std::{collections::HashMap, sync::Arc};

use svc_content::blocks::{self, Block, ContentRoot};
use svc_model::{Post, PostId, PostType, Term, TermId, UserId};
use svc_packages::theme::TemplateFile;
use svc_store::{
    Db, Meta,
    meta::{self, MetaKind},
    posts::{self, Clauses, PostQuery, TaxClause},
    terms, users,
};

use crate::{
    ActiveTheme, Settings, Site, SiteResult,
    block_types::IGNORED_HOOKS,
    patterns::expand,
    templates::{kinds, named},
};

/// The taxonomy that says which theme a template is for.
pub const THEME: &str = "wp_theme";
/// The taxonomy that says which place a template part is for.
pub const AREA: &str = "wp_template_part_area";
/// TemplateLookup of one theme that a site may have made, for one list.
const MAX_POSTS: u64 = 1_000;

/// TemplateLookup, or parts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole pages.
    Template,
    /// Parts of pages.
    Part,
}

impl Kind {
    /// The type of their posts.
    pub fn post_type(self) -> &'static str {
        match self {
            Kind::Template => "wp_template",
            Kind::Part => "wp_template_part",
        }
    }

    /// What their blocks stand in: those of whole pages stand in nothing. `ignored` names the blocks that are not put
    /// there, as stored.
    pub fn root(self, ignored: &str) -> Option<ContentRoot> {
        (self == Kind::Part).then(|| ContentRoot::of(self.post_type(), ignored))
    }
}

/// Who made a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    Theme,
    Plugin,
    Site,
    User,
}

impl Maker {
    pub fn name(self) -> &'static str {
        match self {
            Maker::Theme => "theme",
            Maker::Plugin => "plugin",
            Maker::Site => "site",
            Maker::User => "user",
        }
    }
}

/// A template or a template part.
#[derive(Clone, Debug)]
pub struct Template {
    /// Which of the two.
    pub kind: Kind,
    /// The theme that it is for.
    pub theme: String,
    /// Its name within the theme.
    pub slug: String,
    /// Its blocks.
    pub content: String,
    /// What people call it.
    pub title: String,
    /// Which pages it draws.
    pub description: String,
    /// The post that stands for it, if anybody has saved it.
    pub post: Option<Post>,
    /// Where it came from before it was saved (`theme`, `plugin`).
    pub origin: Option<String>,
    /// The theme has a file of this name.
    pub has_theme_file: bool,
    /// It is for no kind of page by its name: posts choose it.
    pub is_custom: bool,
    /// Types of posts that may choose it, when the theme says.
    pub post_types: Option<Vec<String>>,
    /// The place that a part is for.
    pub area: String,
    /// The blocks that are not put into it, as stored.
    pub ignored_hooks: String,
    /// The name of who made it, for people.
    pub maker_name: String,
}

impl Template {
    /// Its id in the interface: `theme//slug`.
    pub fn id(&self) -> String {
        format!("{}//{}", self.theme, self.slug)
    }

    /// Whether posts of this type may choose it.
    pub fn is_offered_to(&self, post_type: &str) -> bool {
        self.is_custom && self.post_types.as_ref().is_none_or(|all| all.iter().any(|name| name == post_type))
    }

    /// Where its content is from: `theme` or `custom`.
    pub fn source(&self) -> &'static str {
        if self.post.is_some() { "custom" } else { "theme" }
    }

    pub fn maker(&self) -> Maker {
        maker(self.origin.as_deref(), self.has_theme_file, self.post.as_ref().map(|p| p.author))
    }
}

fn maker(origin: Option<&str>, has_theme_file: bool, author: Option<UserId>) -> Maker {
    match (origin, author) {
        (None | Some("theme"), _) if has_theme_file => Maker::Theme,
        (Some("plugin"), _) => Maker::Plugin,
        (_, Some(UserId(0)) | None) => Maker::Site,
        _ => Maker::User,
    }
}

/// An id in the interface as theme and slug. One slash is taken for two, as the reference does, since some servers join
/// them.
pub fn split_id(id: &str) -> Option<(&str, &str)> {
    id.split_once("//").or_else(|| id.rsplit_once('/')).filter(|(theme, slug)| !theme.is_empty() && !slug.is_empty())
}

/// The status of stored templates that are listed and rendered.
const PUBLISHED: &[&str] = &["publish"];

/// The statuses of stored templates that a request for one id finds.
const WITH_DRAFTS: &[&str] = &["auto-draft", "draft", "publish"];

/// What templates are looked up in.
pub struct TemplateLookup<'a> {
    site: &'a Site,
    settings: &'a Settings,
    /// The theme.
    pub theme: Arc<ActiveTheme>,
}

impl<'a> TemplateLookup<'a> {
    /// The templates of the active theme.
    pub fn new(site: &'a Site, settings: &'a Settings) -> Self {
        TemplateLookup { site, settings, theme: site.theme(settings) }
    }

    /// The templates that pages are drawn from: those of the active theme, or of the one that stands in for it.
    pub fn for_pages(site: &'a Site, settings: &'a Settings) -> Self {
        TemplateLookup { site, settings, theme: site.page_theme(settings) }
    }

    fn files(&self, kind: Kind) -> &[TemplateFile] {
        match (&self.theme.theme, kind) {
            (Some(theme), Kind::Template) => &theme.templates,
            (Some(theme), Kind::Part) => &theme.parts,
            (None, _) => &[],
        }
    }

    /// All of a kind: those that were saved, newest first, then the other files.
    ///
    /// # Errors
    /// Those of the store.
    pub fn all(&self, db: &mut Db, kind: Kind) -> SiteResult<Vec<Template>> {
        let mut all = self.saved(db, kind, &self.theme.name, None, PUBLISHED)?;
        // A theme without block templates may have files in such a folder, but they are not templates.
        let files = if self.has_block_templates() { self.files(kind) } else { &[] };
        let files: Vec<_> =
            files.iter().filter(|f| all.iter().all(|t| t.slug != f.slug)).map(|f| self.file(kind, f)).collect();
        all.extend(files);
        Ok(all)
    }

    /// Whether the theme is made of block templates, or may have some.
    fn has_block_templates(&self) -> bool {
        self.theme.theme.as_ref().is_some_and(|theme| theme.is_block_theme || theme.has_json)
    }

    /// Whether a post of this type can name this template as its own: one that is there for no kind of page by its name,
    /// whether the theme has it or somebody has made it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn may_choose(&self, db: &mut Db, slug: &str, post_type: &PostType) -> SiteResult<bool> {
        if self.theme.theme.as_ref().is_some_and(|theme| theme.has_page_template(slug, &post_type.name)) {
            return Ok(true);
        }
        if !post_type.public || !self.has_block_templates() {
            return Ok(false);
        }
        let found = self.published(db, Kind::Template, &format!("{}//{slug}", self.theme.name))?;
        Ok(found.is_some_and(|found| found.is_offered_to(&post_type.name)))
    }

    /// The template with this id for a request that names it: drafts are found too, so only callers who may edit
    /// templates get it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn find(&self, db: &mut Db, kind: Kind, id: &str) -> SiteResult<Option<Template>> {
        self.find_in(db, kind, id, WITH_DRAFTS)
    }

    /// The template with this id that pages are rendered with: a published one, or the theme's file.
    ///
    /// # Errors
    /// Those of the store.
    pub fn published(&self, db: &mut Db, kind: Kind, id: &str) -> SiteResult<Option<Template>> {
        self.find_in(db, kind, id, PUBLISHED)
    }

    fn find_in(&self, db: &mut Db, kind: Kind, id: &str, statuses: &[&str]) -> SiteResult<Option<Template>> {
        let Some((theme, slug)) = split_id(id) else { return Ok(None) };
        if let Some(saved) = self.saved(db, kind, theme, Some(&[slug]), statuses)?.into_iter().next() {
            return Ok(Some(saved));
        }
        Ok(self.of_theme(kind, id))
    }

    /// The theme's own one of this id.
    pub fn of_theme(&self, kind: Kind, id: &str) -> Option<Template> {
        let (theme, slug) = split_id(id).filter(|(theme, _)| *theme == self.theme.name)?;
        debug_assert_eq!(theme, self.theme.name);
        self.files(kind).iter().find(|f| f.slug == slug).map(|file| self.file(kind, file))
    }

    /// The first of these that there is, saved or not: `slugs` from the closest to the farthest.
    ///
    /// # Errors
    /// Those of the store.
    pub fn closest(&self, db: &mut Db, slugs: &[&str]) -> SiteResult<Option<Template>> {
        let mut saved = self.saved(db, Kind::Template, &self.theme.name, Some(slugs), PUBLISHED)?;
        for slug in slugs {
            let wanted = svc_text::sanitize_title(slug);
            if let Some(at) = saved.iter().position(|t| t.slug == wanted) {
                return Ok(Some(saved.swap_remove(at)));
            }
            if let Some(file) = self.files(Kind::Template).iter().find(|f| f.slug == *slug) {
                return Ok(Some(self.file(Kind::Template, file)));
            }
        }
        Ok(None)
    }

    /// A post of this kind as a template, for one that a request has just written, or for a revision's parent.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of_post(&self, db: &mut Db, kind: Kind, post: Post) -> SiteResult<Option<Template>> {
        Ok(self.built(db, kind, vec![post])?.pop())
    }

    /// The stored templates of a theme that have one of these statuses.
    fn saved(
        &self,
        db: &mut Db,
        kind: Kind,
        theme: &str,
        slugs: Option<&[&str]>,
        statuses: &[&str],
    ) -> SiteResult<Vec<Template>> {
        let Some(term) = terms::by_name(db, theme, THEME)?.into_iter().next() else { return Ok(Vec::new()) };
        let query = PostQuery {
            post_types: vec![kind.post_type().to_owned()],
            statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
            slugs: slugs.unwrap_or_default().iter().map(|s| svc_text::sanitize_title(s)).collect(),
            tax: Clauses { clauses: vec![of_term(THEME, term.id)], ..Clauses::default() },
            limit: Some(MAX_POSTS),
            ..PostQuery::default()
        };
        let ids = posts::query(db, &query)?.ids;
        let rows = posts::get_many(db, &ids)?;
        self.built(db, kind, rows)
    }

    fn built(&self, db: &mut Db, kind: Kind, rows: Vec<Post>) -> SiteResult<Vec<Template>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let terms = terms::of_objects(db, &ids)?;
        let mut meta = meta::load(db, MetaKind::Post, &numbers)?;
        let mut authors: Vec<UserId> = rows.iter().map(|p| p.author).filter(|a| !a.is_none()).collect();
        authors.sort_unstable();
        authors.dedup();
        let names: HashMap<UserId, String> =
            users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.display_name)).collect();
        let built = |post: Post| {
            let of_post = terms.get(&post.id).map_or(&[][..], Vec::as_slice);
            self.post(kind, post.clone(), of_post, &meta.remove(&post.id.0).unwrap_or_default(), &names)
        };
        let mut built: Vec<Template> = rows.into_iter().map(built).collect();
        named::name(db, self.site, &mut built)?;
        Ok(built)
    }

    fn post(&self, kind: Kind, post: Post, terms: &[Term], meta: &Meta, names: &HashMap<UserId, String>) -> Template {
        let term = |taxonomy: &str| terms.iter().find(|t| t.taxonomy == taxonomy).map(|t| t.name.clone());
        let theme = term(THEME).unwrap_or_default();
        let has_theme_file = theme == self.theme.name && self.files(kind).iter().any(|f| f.slug == post.slug);
        let origin = Some(meta.text("origin")).filter(|o| !o.is_empty()).map(str::to_owned);
        let suggested = !matches!(meta.text("is_wp_suggestion"), "" | "0");
        let by_name = kind == Kind::Template && kinds::of_slug(&post.slug).is_some();
        let maker_name = match maker(origin.as_deref(), has_theme_file, Some(post.author)) {
            Maker::Theme => self.theme_name(&theme),
            Maker::Site => self.settings.option("blogname").to_owned(),
            Maker::Plugin | Maker::User => names.get(&post.author).cloned().unwrap_or_default(),
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
            post_types: self.offered(kind, &post.slug).and_then(|(_, types)| types).filter(|_| has_theme_file),
            area: term(AREA).unwrap_or_else(|| kinds::ANYWHERE.to_owned()),
            ignored_hooks: meta.text(IGNORED_HOOKS).to_owned(),
            maker_name,
            theme,
            post: Some(post),
        }
    }

    fn file(&self, kind: Kind, file: &TemplateFile) -> Template {
        let by_name = if kind == Kind::Template { kinds::of_slug(&file.slug) } else { None };
        let offered = self.offered(kind, &file.slug);
        let title =
            by_name.map(|k| k.title.to_owned()).or_else(|| offered.as_ref().and_then(|(title, _)| title.clone()));
        let parts = self.theme.theme.iter().flat_map(|theme| theme.declared_parts());
        let part = parts.filter(|_| kind == Kind::Part).find(|(name, ..)| *name == file.slug);
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
            post_types: offered.and_then(|(_, types)| types),
            area: kinds::area(part.and_then(|(_, _, area)| area).unwrap_or_default()).to_owned(),
            ignored_hooks: String::new(),
            maker_name: self.theme_name(&self.theme.name),
        }
    }

    /// Title and post types that `theme.json` gives a template.
    fn offered(&self, kind: Kind, slug: &str) -> Option<(Option<String>, Option<Vec<String>>)> {
        let mut all =
            self.theme.theme.iter().flat_map(|theme| theme.custom_templates()).filter(|_| kind == Kind::Template);
        let (_, title, types) = all.find(|(name, ..)| *name == slug)?;
        Some((title.map(str::to_owned), Some(types.into_iter().map(str::to_owned).collect())))
    }

    fn theme_name(&self, stylesheet: &str) -> String {
        match &self.theme.theme {
            Some(theme) if theme.stylesheet == stylesheet => theme.about.name.clone(),
            _ => stylesheet.to_owned(),
        }
    }

    /// A template's blocks as editors get them: with the patterns in place that they name, and the blocks that want to
    /// stand there.
    pub fn edited(&self, template: &Template) -> String {
        let root = template.kind.root(&template.ignored_hooks);
        let types = self.site.block_types(self.settings);
        types.hooks().edited(&self.with_patterns(&template.content), root.as_ref())
    }

    /// The content of a revision of a template, as editors get it.
    pub fn revised(&self, content: &str) -> String {
        self.with_patterns(&with_theme(content, &self.theme.name))
    }

    /// Content with the patterns in place that it names.
    pub fn with_patterns(&self, content: &str) -> String {
        expand::expand(self.site, &self.theme, content)
    }
}

/// Posts with this term.
pub fn of_term(taxonomy: &str, term: TermId) -> TaxClause {
    TaxClause { taxonomy: taxonomy.to_owned(), terms: vec![term], ..TaxClause::default() }
}

/// Blocks with the theme named in those that are template parts and name none. Other content is not touched.
fn with_theme(content: &str, theme: &str) -> String {
    if !content.contains("template-part") {
        return content.to_owned();
    }
    let mut blocks = blocks::parse(content);
    name_theme(&mut blocks, theme);
    blocks::serialize_blocks(&blocks)
}

/// Names the theme in those of the blocks that are template parts.
pub fn name_theme(blocks: &mut [Block<'_>], theme: &str) {
    for block in blocks {
        if block.name.as_deref() == Some("core/template-part") && !block.attrs.contains_key("theme") {
            block.attrs.insert("theme".to_owned(), theme.into());
        }
        name_theme(&mut block.inner_blocks, theme);
    }
}

/// Blocks without the theme in those that are template parts: as files of a theme have them.
pub fn without_theme(content: &str) -> String {
    let mut blocks = blocks::parse(content);
    forget_theme(&mut blocks);
    blocks::serialize_blocks(&blocks)
}

fn forget_theme(blocks: &mut [Block<'_>]) {
    for block in blocks {
        if block.name.as_deref() == Some("core/template-part") {
            block.attrs.shift_remove("theme");
        }
        forget_theme(&mut block.inner_blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_theme_and_slug() {
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

    #[test]
    fn template_parts_of_a_file_name_their_theme() {
        let content = "<!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\"} /--></div><!-- /wp:group -->\n<!-- wp:template-part {\"slug\":\"b\",\"theme\":\"x\"} /-->";
        let expected = "<!-- wp:group --><div><!-- wp:template-part {\"slug\":\"a\",\"theme\":\"t\"} /--></div><!-- /wp:group -->\n<!-- wp:template-part {\"slug\":\"b\",\"theme\":\"x\"} /-->";
        assert_eq!(with_theme(content, "t"), expected);
        assert_eq!(without_theme(expected), content.replace(",\"theme\":\"x\"", ""));
    }
}

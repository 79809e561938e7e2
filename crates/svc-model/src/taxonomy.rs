//! Taxonomies: classified post types, routes and capabilities.

use indexmap::IndexMap;

/// Capabilities for the terms of a taxonomy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are WordPress's capability names")]
pub struct TaxonomyCaps {
    pub manage_terms: String,
    pub edit_terms: String,
    pub delete_terms: String,
    pub assign_terms: String,
}

impl TaxonomyCaps {
    fn of(manage: &str, edit: &str, delete: &str, assign: &str) -> Self {
        TaxonomyCaps {
            manage_terms: manage.to_owned(),
            edit_terms: edit.to_owned(),
            delete_terms: delete.to_owned(),
            assign_terms: assign.to_owned(),
        }
    }
}

/// A registered taxonomy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taxonomy {
    /// `category`, `post_tag`, …
    pub name: String,
    /// Display name, plural.
    pub label: String,
    /// Display name, singular.
    pub singular_label: String,
    /// Labels that differ from those derived from `label` and `singular_label`, by their REST API names.
    pub labels: IndexMap<String, String>,
    /// Description of the taxonomy.
    pub description: String,
    /// Visible to visitors.
    pub public: bool,
    /// Has public URLs and can be queried publicly.
    pub publicly_queryable: bool,
    /// Terms can have parent terms.
    pub hierarchical: bool,
    /// Managed in the admin area.
    pub show_ui: bool,
    /// Terms can be added to menus.
    pub show_in_nav_menus: bool,
    /// Offered in tag cloud widgets.
    pub show_tagcloud: bool,
    /// Shown in the quick edit form.
    pub show_in_quick_edit: bool,
    /// Shown as a column in post lists.
    pub show_admin_column: bool,
    /// Post types that the taxonomy classifies.
    pub object_types: Vec<String>,
    /// The taxonomy's capabilities.
    pub caps: TaxonomyCaps,
    /// First path segment of permalinks (`category`), unless a site option overrides it.
    pub rewrite_slug: Option<String>,
    /// Permalinks include the ancestor terms.
    pub rewrite_hierarchical: bool,
    /// Query variable of plain URLs (`cat` is handled separately).
    pub query_var: Option<String>,
    /// Served by the REST API.
    pub show_in_rest: bool,
    /// REST base: the last segment of the taxonomy's routes, and the field of posts that lists the term ids.
    pub rest_base: String,
    /// Served by the generic terms family. False for `menus`.
    pub standard_controller: bool,
}

impl Taxonomy {
    /// Creates a taxonomy with WordPress's registration defaults: public, not hierarchical, managed with
    /// `manage_categories`.
    pub fn new(name: &str, object_types: &[&str]) -> Self {
        Taxonomy {
            name: name.to_owned(),
            label: name.to_owned(),
            singular_label: name.to_owned(),
            labels: IndexMap::new(),
            description: String::new(),
            public: true,
            publicly_queryable: true,
            hierarchical: false,
            show_ui: true,
            show_in_nav_menus: true,
            show_tagcloud: true,
            show_in_quick_edit: true,
            show_admin_column: false,
            object_types: object_types.iter().map(|t| (*t).to_owned()).collect(),
            caps: TaxonomyCaps::of("manage_categories", "manage_categories", "manage_categories", "edit_posts"),
            rewrite_slug: Some(name.to_owned()),
            rewrite_hierarchical: false,
            query_var: Some(name.to_owned()),
            show_in_rest: false,
            rest_base: name.to_owned(),
            standard_controller: true,
        }
    }

    /// Sets the display names.
    pub fn labelled(mut self, plural: &str, singular: &str) -> Self {
        self.label = plural.to_owned();
        self.singular_label = singular.to_owned();
        self
    }

    /// Makes the taxonomy hierarchical.
    pub fn hierarchical(mut self) -> Self {
        self.hierarchical = true;
        self
    }

    /// Serves the taxonomy over REST under `base`.
    pub fn rest(mut self, base: &str) -> Self {
        self.show_in_rest = true;
        self.rest_base = base.to_owned();
        self
    }

    /// Hides the taxonomy from visitors and the admin area.
    fn hidden(mut self) -> Self {
        self.public = false;
        self.publicly_queryable = false;
        self.show_ui = false;
        self.show_in_nav_menus = false;
        self.show_tagcloud = false;
        self.show_in_quick_edit = false;
        self.rewrite_slug = None;
        self.query_var = None;
        self
    }
}

/// The registered taxonomies, in registration order.
#[derive(Clone, Debug)]
pub struct Taxonomies(IndexMap<String, Taxonomy>);

impl Taxonomies {
    /// Registers a taxonomy, replacing one of the same name. An empty `rest_base` becomes the taxonomy's name.
    pub fn register(&mut self, mut taxonomy: Taxonomy) {
        if taxonomy.rest_base.is_empty() {
            taxonomy.rest_base.clone_from(&taxonomy.name);
        }
        self.0.insert(taxonomy.name.clone(), taxonomy);
    }

    /// Looks up a taxonomy by name.
    pub fn get(&self, name: &str) -> Option<&Taxonomy> {
        self.0.get(name)
    }

    /// Looks up a taxonomy by name, for modification.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Taxonomy> {
        self.0.get_mut(name)
    }

    /// All taxonomies, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &Taxonomy> {
        self.0.values()
    }

    /// The taxonomies that classify a post type, in registration order.
    pub fn of_type<'a>(&'a self, post_type: &'a str) -> impl Iterator<Item = &'a Taxonomy> {
        self.iter().filter(move |t| t.object_types.iter().any(|o| o == post_type))
    }
}

impl Default for Taxonomies {
    /// The eight taxonomies that WordPress registers.
    fn default() -> Self {
        let mut category = Taxonomy::new("category", &["post"]).labelled("Categories", "Category").hierarchical();
        category = category.rest("categories");
        category.caps =
            TaxonomyCaps::of("manage_categories", "edit_categories", "delete_categories", "assign_categories");
        category.show_admin_column = true;
        category.rewrite_hierarchical = true;
        category.query_var = Some("category_name".to_owned());

        let mut tag = Taxonomy::new("post_tag", &["post"]).labelled("Tags", "Tag").rest("tags");
        tag.caps = TaxonomyCaps::of("manage_post_tags", "edit_post_tags", "delete_post_tags", "assign_post_tags");
        tag.show_admin_column = true;
        tag.rewrite_slug = Some("tag".to_owned());
        tag.query_var = Some("tag".to_owned());

        let mut menu = Taxonomy::new("nav_menu", &["nav_menu_item"]).labelled("Navigation Menus", "Navigation Menu");
        menu = menu.hidden().rest("menus");
        menu.caps =
            TaxonomyCaps::of("edit_theme_options", "edit_theme_options", "edit_theme_options", "edit_theme_options");
        menu.standard_controller = false;

        let mut links = Taxonomy::new("link_category", &["link"]).labelled("Link Categories", "Link Category").hidden();
        links.caps = TaxonomyCaps::of("manage_links", "manage_links", "manage_links", "manage_links");
        links.show_ui = true;
        links.show_tagcloud = true;
        links.show_in_quick_edit = true;

        let mut format = Taxonomy::new("post_format", &["post"]).labelled("Formats", "Format");
        format.show_ui = false;
        format.show_tagcloud = false;
        format.show_in_quick_edit = false;
        format.rewrite_slug = Some("type".to_owned());

        let theme = Taxonomy::new("wp_theme", &["wp_template", "wp_template_part", "wp_global_styles"])
            .labelled("Themes", "Theme")
            .hidden();
        let area = Taxonomy::new("wp_template_part_area", &["wp_template_part"])
            .labelled("Template Part Areas", "Template Part Area")
            .hidden();

        let mut pattern = Taxonomy::new("wp_pattern_category", &["wp_block"])
            .labelled("Pattern Categories", "Pattern Category")
            .hidden()
            .rest("wp_pattern_category");
        pattern.show_ui = true;
        pattern.show_in_quick_edit = true;
        pattern.show_admin_column = true;

        let mut all = Taxonomies(IndexMap::new());
        for taxonomy in [category, tag, menu, links, format, theme, area, pattern] {
            all.register(taxonomy);
        }
        all
    }
}

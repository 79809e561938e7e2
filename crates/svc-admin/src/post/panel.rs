//! The fields of the side panel, for the type and the stored post.

use serde_json::Value;
use svc_schema::Error;

use crate::{
    form::{Control, Field, control_for},
    layout::{TypeInfo, plain},
    posts::{capitalized, title_of},
    request::{AdminRequest, items, text},
};

/// The statuses that a post can be given, with labels.
const STATUSES: &[(&str, &str)] =
    &[("draft", "Draft"), ("pending", "Pending review"), ("private", "Private"), ("publish", "Published")];

/// Labels of the values of the field `format`.
const FORMATS: &[(&str, &str)] = &[
    ("standard", "Standard"),
    ("aside", "Aside"),
    ("chat", "Chat"),
    ("gallery", "Gallery"),
    ("link", "Link"),
    ("image", "Image"),
    ("quote", "Quote"),
    ("status", "Status"),
    ("video", "Video"),
    ("audio", "Audio"),
];

/// Fields that every type has: they are part of other sections, or nobody edits them in a form.
const BUILT_IN: &[&str] = &[
    "date",
    "date_gmt",
    "slug",
    "status",
    "password",
    "title",
    "content",
    "author",
    "excerpt",
    "featured_media",
    "comment_status",
    "ping_status",
    "format",
    "meta",
    "sticky",
    "template",
    "parent",
    "menu_order",
    "type",
];

/// Meta that the block of footnotes writes.
const FOOTNOTES: &str = "footnotes";

/// The most authors and parents to choose from.
const MOST_CHOICES: &str = "100";

/// A section of the panel: its title, whether it is open, and its fields.
pub(super) type Section = (&'static str, bool, Vec<Field>);

fn choice(value: impl Into<String>, label: impl Into<String>) -> (String, String) {
    (value.into(), label.into())
}

impl AdminRequest<'_> {
    /// The sections of the panel. `schema` has the fields of the type.
    pub(super) async fn panel_fields(
        &self,
        info: &TypeInfo,
        item: &Value,
        schema: &Value,
    ) -> Result<Vec<Section>, Error> {
        let has = |name: &str| schema[name].is_object();
        let mut publishing = Vec::new();
        if has("status") {
            let may_have = |status: &str| info.can_publish || !matches!(status, "publish" | "private");
            let statuses = STATUSES.iter().filter(|(value, _)| may_have(value));
            let mut statuses: Vec<_> = statuses.map(|(value, label)| choice(*value, *label)).collect();
            let current = text(item, "/status");
            if !current.is_empty() && !statuses.iter().any(|(value, _)| value == current) {
                statuses.push(choice(current, crate::posts::status_label(current)));
            }
            publishing.push(Field::new("status", "Status", Control::Choice(statuses)));
        }
        if has("date") {
            let zone = self.time_zone();
            let help = format!("Time zone: {zone}. A published post with a later date is scheduled.");
            publishing.push(Field::new("date", "Date", Control::Line("datetime-local")).help(help));
        }
        if has("password") {
            let help = "Visitors must enter it to read the post.";
            publishing.push(Field::new("password", "Password", Control::Line("text")).help(help));
        }
        if has("sticky") {
            publishing.push(Field::new("sticky", "Keep at the top of the front page", Control::Check));
        }
        let mut address = Vec::new();
        if has("slug") {
            address.push(Field::new("slug", "Slug", Control::Line("text")).help(final_url(item)));
        }
        if has("parent") && info.hierarchical {
            address.push(Field::new("parent", "Parent", Control::Choice(self.parents(info, item).await?)));
        }
        if has("menu_order") && info.hierarchical {
            address.push(Field::new("menu_order", "Position", Control::Number));
        }
        let mut about = Vec::new();
        if has("author")
            && let Some(authors) = self.authors(item).await?
        {
            about.push(Field::new("author", "Author", Control::Choice(authors)));
        }
        if has("excerpt") {
            about.push(Field::new("excerpt", "Excerpt", Control::Lines).at("/excerpt/raw"));
        }
        if has("featured_media") {
            let help = "ID of an image, as in the URL of its page under Media. 0 for none.";
            about.push(Field::new("featured_media", "Featured image", Control::Number).help(help));
        }
        if let Some(formats) = schema["format"]["enum"].as_array() {
            let label = |value: &str| {
                FORMATS.iter().find(|(known, _)| *known == value).map_or(value.to_owned(), |(_, l)| (*l).to_owned())
            };
            let formats = formats.iter().filter_map(Value::as_str).map(|value| choice(value, label(value))).collect();
            about.push(Field::new("format", "Format", Control::Choice(formats)));
        }
        if has("template")
            && let Some(templates) = self.templates(info, item).await?
        {
            about.push(Field::new("template", "Template", Control::Choice(templates)));
        }
        let mut discussion = Vec::new();
        for (name, label) in [("comment_status", "Comments"), ("ping_status", "Pingbacks")] {
            if has(name) {
                let states = vec![choice("open", "Allowed"), choice("closed", "Not allowed")];
                discussion.push(Field::new(name, label, Control::Choice(states)));
            }
        }
        Ok(vec![
            ("Publishing", true, publishing),
            ("Address", true, address),
            ("Details", true, about),
            ("Fields", true, registered_fields(schema)),
            ("Discussion", false, discussion),
        ])
    }

    /// The templates that a post of the type can have; `None` if there are none, or the caller may not read them.
    async fn templates(&self, info: &TypeInfo, item: &Value) -> Result<Option<Vec<(String, String)>>, Error> {
        let call = self.get("templates").query("context", "edit").query("post_type", &*info.name);
        let all = match call.query("_fields", "slug,title,is_custom").send().await {
            Ok(reply) => reply.data,
            Err(error) if error.status() < 500 => return Ok(None),
            Err(error) => return Err(error),
        };
        let custom = items(&all).iter().filter(|template| template["is_custom"] == true);
        let mut templates = vec![choice("", "Default")];
        templates.extend(custom.map(|t| choice(text(t, "/slug"), plain(text(t, "/title/rendered")))));
        let current = text(item, "/template");
        if !templates.iter().any(|(slug, _)| slug == current) {
            templates.push(choice(current, current));
        }
        Ok((templates.len() > 1).then_some(templates))
    }

    /// The name of the site's time zone.
    fn time_zone(&self) -> String {
        match self.session.settings.option("timezone_string") {
            "" => match self.session.settings.option("gmt_offset") {
                "" | "0" => "UTC".to_owned(),
                offset if offset.starts_with('-') => format!("UTC{offset}"),
                offset => format!("UTC+{offset}"),
            },
            name => name.replace('_', " "),
        }
    }

    /// The users who can be authors; `None` if the caller may not choose.
    async fn authors(&self, item: &Value) -> Result<Option<Vec<(String, String)>>, Error> {
        if !self.can("edit_others_posts") {
            return Ok(None);
        }
        let call = self.get("users").query("capabilities", "edit_posts").query("per_page", MOST_CHOICES);
        let users = match call.query("_fields", "id,name").send().await {
            Ok(reply) => reply.data,
            Err(error) if error.status() < 500 => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut authors: Vec<_> =
            items(&users).iter().map(|user| choice(user["id"].to_string(), plain(text(user, "/name")))).collect();
        let current = item["author"].as_i64().unwrap_or(self.session.user.id.0).to_string();
        if !authors.iter().any(|(id, _)| *id == current) {
            let name = format!("User {current}");
            authors.push(choice(current, name));
        }
        Ok(Some(authors))
    }

    /// The posts that can be the parent.
    async fn parents(&self, info: &TypeInfo, item: &Value) -> Result<Vec<(String, String)>, Error> {
        let call = self.get(&info.rest_base).query("context", "edit").query("status", "any").query("orderby", "title");
        let call = call
            .query("order", "asc")
            .query("per_page", MOST_CHOICES)
            .query("exclude", item["id"].as_i64().map(|id| id.to_string()).unwrap_or_default());
        let posts = call.query("_fields", "id,title").send().await?.data;
        let mut parents = vec![choice("0", "None")];
        parents.extend(items(&posts).iter().map(|post| choice(post["id"].to_string(), title_of(post))));
        let current = item["parent"].as_i64().unwrap_or_default().to_string();
        if !parents.iter().any(|(id, _)| *id == current) {
            let name = format!("Page {current}");
            parents.push(choice(current, name));
        }
        Ok(parents)
    }
}

/// The registered meta and the additional fields that have one value.
fn registered_fields(schema: &Value) -> Vec<Field> {
    let field = |prefix: &str, name: &String, schema: &Value| {
        // Other names cannot be told from those of objects.
        if name.contains(['.', '/', '~']) {
            return None;
        }
        let label = match text(schema, "/title") {
            "" => capitalized(&name.replace('_', " ")),
            title => title.to_owned(),
        };
        let pointer = format!("/{prefix}{name}").replace('.', "/");
        let full_name = format!("{prefix}{name}");
        Some(Field::new(&full_name, &label, control_for(schema)?).at(&pointer).help(text(schema, "/description")))
    };
    let meta = schema.pointer("/meta/properties").and_then(Value::as_object).into_iter().flatten();
    let meta = meta.filter(|(name, _)| *name != FOOTNOTES).filter_map(|(name, schema)| field("meta.", name, schema));
    let added = schema.as_object().into_iter().flatten().filter(|(name, _)| !BUILT_IN.contains(&&***name));
    let added = added.filter_map(|(name, schema)| field("", name, schema));
    meta.chain(added).collect()
}

/// The URL that a post has once it is published.
fn final_url(item: &Value) -> String {
    let slug = match text(item, "/slug") {
        "" => text(item, "/generated_slug"),
        slug => slug,
    };
    match text(item, "/permalink_template") {
        "" => plain(text(item, "/link")),
        template => template.replace("%postname%", slug).replace("%pagename%", slug),
    }
}

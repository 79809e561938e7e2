//! Settings of the site that the interface shows: the registered ones, read and written by administrators.
//!
//! A registration says the option, the public name and the schema. Reading goes from stored text to JSON by the schema: a
//! text that does not fit shows as null. What is written is cleaned as the option demands before it is stored.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_auth::{Caller, caps::Object};
use svc_routing::{Controller, EDITABLE, Request, Response, Result, Route, get, on};
use svc_schema::{Arg, Args, Schema, build::SchemaBuilder};
use svc_site::{Access, SiteResult};
use svc_store::{Db, StoredText, options};

use crate::{RestSite, caller, errors};

/// Cleans a value before it is stored; `None` keeps what is there.
type Clean = fn(Value) -> Option<Value>;

/// A setting that the interface shows.
#[derive(Clone)]
pub struct RegisteredSetting {
    option: String,
    name: String,
    default: Value,
    clean: Clean,
    source: Value,
    schema: Schema,
}

impl RegisteredSetting {
    /// A setting that shows this option under its own name. A default in the schema is what shows when the option does
    /// not exist.
    pub fn new(option: &str, schema: SchemaBuilder) -> Self {
        let mut source = Value::from(schema);
        let default = source.get("default").cloned().unwrap_or(Value::Null);
        if let Some(source) = source.as_object_mut() {
            for missing in ["title", "description"] {
                source.entry(missing).or_insert_with(|| json!(""));
            }
            source.insert("default".to_owned(), default.clone());
        }
        let source = svc_schema::default_additional_properties_to_false(source);
        RegisteredSetting {
            option: option.to_owned(),
            name: option.to_owned(),
            default,
            clean: Some,
            schema: Schema::compile(source.clone()),
            source,
        }
    }

    /// Shows it under another name.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Cleans values before they are stored; `None` keeps what is there.
    pub fn sanitize_with(mut self, clean: Clean) -> Self {
        self.clean = clean;
        self
    }

    /// The value that a stored text stands for; null when it does not fit the schema.
    fn value_of(&self, stored: Option<&StoredText>) -> Value {
        let Some(stored) = stored else { return self.default.clone() };
        let value = stored.json();
        if self.schema.validate(&value, &self.name).is_err() {
            return Value::Null;
        }
        svc_php::list::list_shapes(self.schema.sanitize(value, &self.name).unwrap_or(Value::Null))
    }
}

fn text(title: &str, description: &str) -> SchemaBuilder {
    svc_schema::build::string().title(title).describe(description)
}

fn number(title: &str, description: &str) -> SchemaBuilder {
    svc_schema::build::integer().title(title).describe(description)
}

/// The settings that every site shows.
#[rustfmt::skip]
pub(crate) fn core() -> Vec<RegisteredSetting> {
    let setting = RegisteredSetting::new;
    let open = |title, description| text(title, description).one_of(["open", "closed"]);
    vec![
        setting("blogname", text("Title", "Name of the site.")).named("title").sanitize_with(escaped),
        setting("blogdescription", text("Tagline", "What the site is about, in a few words.")).named("description").sanitize_with(escaped),
        setting("siteurl", text("", "Address of the site.").format("uri")).named("url").sanitize_with(address),
        setting("admin_email", text("", "Address that the site writes to.").format("email")).named("email").sanitize_with(email),
        setting("timezone_string", text("", "A city in the site's time zone.")).named("timezone").sanitize_with(zone),
        setting("date_format", text("", "How dates are written.")).sanitize_with(plain),
        setting("time_format", text("", "How times are written.")).sanitize_with(plain),
        setting("start_of_week", number("", "Day that weeks begin with; 0 is Sunday.")).sanitize_with(natural),
        setting("WPLANG", text("", "Language of the site.").default("en_US")).named("language").sanitize_with(language),
        setting("use_smilies", svc_schema::build::boolean().title("").describe("Whether smilies become pictures.").default(true)),
        setting("default_category", number("", "Category of posts without one.")).sanitize_with(natural),
        setting("default_post_format", text("", "Format of new posts.")),
        setting("posts_per_page", number("Posts per page", "Most posts on a page of a list.").default(10)).sanitize_with(per_page),
        setting("show_on_front", text("Front page", "What the front page shows.")),
        setting("page_on_front", number("Page on the front", "Number of the page that is the front page.")).sanitize_with(natural),
        setting("page_for_posts", number("", "Number of the page that lists the posts.")).sanitize_with(natural),
        setting("default_ping_status", open("", "Whether new posts take pings.")),
        setting("default_comment_status", open("Comments on new posts", "Whether new posts take comments.")),
        setting("site_logo", number("Logo", "Number of the site's logo.")),
        setting("site_icon", number("Icon", "Number of the site's icon.")).sanitize_with(natural),
    ]
}

fn as_text(value: &Value) -> String {
    svc_php::cast::to_text(value).into_owned()
}

fn escaped(value: Value) -> Option<Value> {
    Some(svc_text::esc_html(&as_text(&value)).into())
}

fn plain(value: Value) -> Option<Value> {
    Some(svc_content::kses::data(&svc_text::strip_tags(&as_text(&value))).into())
}

fn address(value: Value) -> Option<Value> {
    let url = as_text(&value);
    let fits = url.starts_with("http://") || url.starts_with("https://");
    fits.then(|| svc_text::sanitize_url(&url).into())
}

fn email(value: Value) -> Option<Value> {
    let address = svc_text::sanitize_email(&as_text(&value));
    svc_text::is_email(&address).then(|| address.into())
}

fn zone(value: Value) -> Option<Value> {
    let name = as_text(&value);
    (matches!(&*name, "" | "0") || name.parse::<chrono_tz::Tz>().is_ok()).then(|| name.into())
}

/// Texts of the site are in English here: no other language is installed.
fn language(value: Value) -> Option<Value> {
    match value.as_str() {
        // What PHP calls empty is stored as it is.
        Some("0") => Some(value),
        Some("" | "en_US") => Some("".into()),
        _ => None,
    }
}

fn natural(value: Value) -> Option<Value> {
    Some(svc_php::list::absint(&value).into())
}

fn per_page(value: Value) -> Option<Value> {
    Some(match svc_php::cast::to_int(&value) {
        0 => 1.into(),
        n if n < -1 => n.unsigned_abs().into(),
        n => n.into(),
    })
}

/// The family `settings`.
pub struct SiteSettings {
    site: Arc<RestSite>,
}

impl SiteSettings {
    /// The family of this site.
    pub fn new(site: &Arc<RestSite>) -> Self {
        SiteSettings { site: Arc::clone(site) }
    }

    fn item_schema(&self) -> Value {
        let members: Map<String, Value> =
            self.site.registered_settings.iter().map(|s| (s.name.clone(), s.source.clone())).collect();
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "title": "settings",
            "type": "object",
            "properties": members,
        })
    }

    /// Arguments of a change. Null takes a setting back to its default, so it passes every check.
    fn args(&self) -> Args {
        let arg = |setting: &RegisteredSetting| {
            let mut source = setting.source.clone();
            if let Some(source) = source.as_object_mut() {
                source.remove("default");
            }
            let schema = Schema::compile(source);
            let (check, clean) = (schema.clone(), schema.clone());
            Arg::by_schema(schema)
                .validate_with(
                    move |value, name| {
                        if value.is_null() { Ok(true) } else { check.validate(value, name).map(|()| true) }
                    },
                )
                .sanitize_with(move |value, name| if value.is_null() { Ok(value) } else { clean.parse(value, name) })
        };
        self.site.registered_settings.iter().map(|s| (s.name.clone(), arg(s))).collect()
    }

    async fn can_manage(self: Arc<Self>, req: Request) -> Result<()> {
        let caller: Caller = caller(&req);
        let settings = self.site.settings()?;
        if caller.can("manage_options", Object::None, &Access::new(&self.site, &settings)) {
            Ok(())
        } else {
            Err(errors::forbidden(&req))
        }
    }

    /// All settings, by name; one query.
    fn read(&self, db: &mut Db) -> SiteResult<Map<String, Value>> {
        let names: Vec<&str> = self.site.registered_settings.iter().map(|s| s.option.as_str()).collect();
        let stored = options::get_many(db, &names)?;
        let value = |s: &RegisteredSetting| s.value_of(stored.get(&s.option));
        Ok(self.site.registered_settings.iter().map(|s| (s.name.clone(), value(s))).collect())
    }

    async fn fetch(self: Arc<Self>, _: Request) -> Result<Response> {
        Ok(self.site.read(|db| self.read(db))?.into())
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let mut changes: Vec<(String, Option<StoredText>)> = Vec::new();
        let mut given_false: Vec<String> = Vec::new();
        for setting in &self.site.registered_settings {
            let Some(value) = crate::respond::given(&req, &setting.name) else { continue };
            if value.is_null() {
                changes.push((setting.option.clone(), None));
            } else if let Some(value) = (setting.clean)(value) {
                if value == Value::Bool(false) {
                    given_false.push(setting.name.clone());
                }
                changes.push((setting.option.clone(), Some(StoredText::of(value))));
            }
        }
        let own = Arc::clone(&self);
        let mut all = self
            .site
            .write(move |tx| {
                for (option, value) in &changes {
                    match value {
                        Some(value) => options::set(tx, option, value, true)?,
                        None => {
                            own.check_stored(tx, option)?;
                            options::delete(tx, option)?;
                        }
                    }
                }
                own.read(tx)
            })
            .await?;
        // False is stored as no text, which shows as null from the next request on; the peer's answer still says false.
        for name in given_false {
            all.insert(name, Value::Bool(false));
        }
        Ok(all.into())
    }

    /// Refuses to delete a stored value that does not fit its schema. Such a value shows as null, and a client that sends
    /// back what it received must not delete it. A missing option counts as false, even if it has a default.
    fn check_stored(&self, db: &mut Db, option: &str) -> SiteResult<()> {
        let stored = options::get(db, option)?;
        let value = stored.map_or(Value::Bool(false), |stored| stored.json());
        match self.site.registered_settings.iter().find(|setting| setting.option == option) {
            Some(setting) if setting.schema.validate(&value, &setting.name).is_err() => {
                Err(errors::invalid_stored_setting(&setting.name).into())
            }
            _ => Ok(()),
        }
    }
}

impl Controller for SiteSettings {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/settings")
                .schema(Schema::compile(self.item_schema()))
                .endpoint(get(Self::fetch, Self::can_manage))
                .endpoint(on(EDITABLE, Self::update, Self::can_manage).args(self.args())),
        ]
    }
}

//! Site settings: reads and writes registered options. Requires `manage_options`.
//!
//! A registration consists of the option, the public name and the schema. Stored text is converted to JSON according to
//! the schema; text that does not match is returned as null. Values are sanitized before they are stored. Responses have masks in place of
//! secrets, and a mask that a client sends back changes nothing.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_auth::{Caller, caps::Object};
use svc_routing::{Controller, EDITABLE, Request, Response, Result, Route, get, on};
use svc_schema::{Arg, Args, MethodKind, Schema, build::SchemaBuilder, endpoint_args};
use svc_site::{Access, Site, SiteResult};
use svc_store::{Db, StoredText, options};

use crate::preconditions;
use crate::{RestSite, caller, errors};
use svc_site::object_state::ConditionalObject;

pub use crate::registries::settings::{RegisteredSetting, is_secret_option, without_texts};

fn text(title: &str, description: &str) -> SchemaBuilder {
    svc_schema::build::string().title(title).describe(description)
}

fn number(title: &str, description: &str) -> SchemaBuilder {
    svc_schema::build::integer().title(title).describe(description)
}

/// The core settings.
#[rustfmt::skip]
pub(crate) fn core() -> Vec<RegisteredSetting> {
    let setting = RegisteredSetting::new;
    let open = |title, description| text(title, description).one_of(["open", "closed"]);
    vec![
        setting("blogname", text("Title", "Name of the site.")).named("title").sanitize_with(escaped),
        setting("blogdescription", text("Tagline", "Short description of the site.")).named("description").sanitize_with(escaped),
        setting("siteurl", text("", "URL of the site.").format("uri")).named("url").sanitize_with(web_url),
        setting("admin_email", text("", "E-mail address of the site's administrator.").format("email")).named("email").sanitize_with(email),
        setting("timezone_string", text("", "A city in the site's time zone, such as Europe/Berlin.")).named("timezone").sanitize_with(zone),
        setting("date_format", text("", "Format of dates.")).sanitize_with(plain),
        setting("time_format", text("", "Format of times.")).sanitize_with(plain),
        setting("start_of_week", number("", "First day of the week; 0 is Sunday.")).sanitize_with(natural),
        setting("WPLANG", text("", "Language of the site.").default("en_US")).named("language").sanitize_with(language),
        setting("use_smilies", svc_schema::build::boolean().title("").describe("Whether emoticons are converted to images.").default(true)),
        setting("default_category", number("", "Default category of posts.")).sanitize_with(natural),
        setting("default_post_format", text("", "Default post format.")),
        setting("posts_per_page", number("Posts per page", "Maximum number of posts per page.").default(10)).sanitize_with(per_page),
        setting("show_on_front", text("Front page displays", "Content of the front page.")),
        setting("page_on_front", number("Front page", "ID of the page that is the front page.")).sanitize_with(natural),
        setting("page_for_posts", number("", "ID of the page that lists the posts.")).sanitize_with(natural),
        setting("default_ping_status", open("", "Whether new posts accept pingbacks and trackbacks.")),
        setting("default_comment_status", open("Comments on new posts", "Whether new posts accept comments.")),
        setting("site_logo", number("Logo", "ID of the site's logo.")),
        setting("site_icon", number("Icon", "ID of the site's icon.")).sanitize_with(natural),
    ]
}

/// The core settings: each with its option and its name in the REST API.
pub fn core_options() -> Vec<[String; 2]> {
    core().into_iter().map(|setting| [setting.option, setting.name]).collect()
}

fn as_text(value: &Value) -> String {
    svc_php::cast::to_text(value).into_owned()
}

fn escaped(value: Value) -> Option<Value> {
    Some(svc_text::esc_html(&as_text(&value)).into_string().into())
}

fn plain(value: Value) -> Option<Value> {
    Some(svc_content::kses::data(&svc_text::strip_tags(&as_text(&value))).into_string().into())
}

fn web_url(value: Value) -> Option<Value> {
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

/// English only: no other language is installed.
fn language(value: Value) -> Option<Value> {
    match value.as_str() {
        // `0` is empty in PHP and stored unchanged.
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
    site: Arc<Site>,
    rest: Arc<RestSite>,
}

impl SiteSettings {
    /// The family of this site.
    pub fn new(rest: &Arc<RestSite>) -> Self {
        SiteSettings { site: Arc::clone(&rest.site), rest: Arc::clone(rest) }
    }

    fn item_schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.rest.registered_settings.iter().map(|s| (s.name.clone(), s.source.clone())).collect();
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "title": "settings",
            "type": "object",
            "properties": properties,
        })
    }

    /// Arguments of an update. Null resets a setting to its default, so it passes every check.
    fn args(&self) -> Args {
        let arg = |(name, arg): (String, Arg)| {
            let Some(schema) = arg.schema.clone() else { return (name, arg) };
            let (check, clean) = (schema.clone(), schema);
            let arg = arg
                .validate_with(
                    move |value, name| {
                        if value.is_null() { Ok(true) } else { check.validate(value, name).map(|()| true) }
                    },
                )
                .sanitize_with(move |value, name| if value.is_null() { Ok(value) } else { clean.parse(value, name) });
            (name, arg)
        };
        endpoint_args(&self.item_schema(), MethodKind::Editable).0.into_iter().map(arg).collect()
    }

    async fn can_manage(self: Arc<Self>, req: Request) -> Result<()> {
        let caller: Caller = caller(&req);
        let settings = self.site.settings(req.cx())?;
        if caller.can("manage_options", Object::None, &Access::new(&self.site, &settings)) {
            Ok(())
        } else {
            Err(errors::forbidden(&req))
        }
    }

    /// All settings, by name; one query.
    fn read(&self, db: &mut Db) -> SiteResult<Map<String, Value>> {
        let names: Vec<&str> = self.rest.registered_settings.iter().map(|s| s.option.as_str()).collect();
        let stored = options::get_many(db, &names)?;
        let value = |s: &RegisteredSetting| s.value_of(stored.get(&s.option));
        Ok(self.rest.registered_settings.iter().map(|s| (s.name.clone(), value(s))).collect())
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        Ok(self.masked(self.site.read(req.cx(), |db| self.read(db))?).into())
    }

    /// The settings for a response.
    fn masked(&self, mut all: Map<String, Value>) -> Map<String, Value> {
        for setting in &self.rest.registered_settings {
            if let Some(value) = all.get_mut(&setting.name) {
                *value = setting.masked(value.take());
            }
        }
        all
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let mut changes: Vec<(RegisteredSetting, Option<Value>)> = Vec::new();
        let mut set_to_false: Vec<String> = Vec::new();
        for setting in &self.rest.registered_settings {
            let Some(value) = crate::respond::param_or_null(&req, &setting.name) else { continue };
            if value.is_null() {
                changes.push((setting.clone(), None));
            } else if let Some(value) = (setting.clean)(value) {
                if value == Value::Bool(false) {
                    set_to_false.push(setting.name.clone());
                }
                changes.push((setting.clone(), Some(value)));
            }
        }
        let own = Arc::clone(&self);
        let mut all = self
            .site
            .write(req.cx(), move |tx| {
                for (setting, value) in &changes {
                    let option = &setting.option;
                    match value {
                        Some(value) => {
                            // As in WordPress, the default of a missing option is not stored.
                            let is_default = *value == setting.default && options::get(tx, option)?.is_none();
                            let stored =
                                || Ok(options::get(tx, option)?.map(|stored| stored.json()).unwrap_or_default());
                            if let Some(value) = setting.unmasked(value.clone(), stored)?.filter(|_| !is_default) {
                                options::set(tx, option, &StoredText::of(value), true)?;
                            }
                        }
                        None => {
                            own.check_stored(tx, option)?;
                            options::delete(tx, option)?;
                        }
                    }
                }
                own.read(tx)
            })
            .await?;
        // False is stored as an empty text, which later requests return as null. As in WordPress, this response returns
        // false.
        for name in set_to_false {
            all.insert(name, Value::Bool(false));
        }
        Ok(self.masked(all).into())
    }

    /// Rejects the deletion of a stored value that does not match its schema. Such a value is returned as null, and a
    /// client that sends it back must not delete it. A missing option is validated as false, even if it has a default.
    fn check_stored(&self, db: &mut Db, option: &str) -> SiteResult<()> {
        let stored = options::get(db, option)?;
        let value = stored.map_or(Value::Bool(false), |stored| stored.json());
        match self.rest.registered_settings.iter().find(|setting| setting.option == option) {
            Some(setting) if setting.schema.validate(&value, &setting.name).is_err() => {
                Err(errors::invalid_stored_setting(&setting.name).into())
            }
            _ => Ok(()),
        }
    }
}

impl Controller for SiteSettings {
    fn routes(&self) -> Vec<Route<Self>> {
        let options: Vec<String> = self.rest.registered_settings.iter().map(|s| s.option.clone()).collect();
        vec![
            Route::new("/settings")
                .conditional(preconditions::on(&self.site, move |_| Some(ConditionalObject::Options(options.clone()))))
                .schema(Schema::compile(self.item_schema()))
                .endpoint(get(Self::fetch, Self::can_manage))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_manage).args(self.args()).example(json!({"title": "My site"})),
                ),
        ]
    }
}

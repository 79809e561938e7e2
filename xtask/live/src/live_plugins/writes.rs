//! Writes of different ways: through the gateway, to WordPress itself, with the forms of `wp-admin`, and by planned jobs.
//!
//! Each writes a text such as `v12k3v57z` (object 3, version 57), from which a reader knows how old a response is.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask_support::{
    gateway::{Gateway, get},
    server::{Response, exchange, send},
};

use super::traffic::Random;

/// An object whose versions are counted.
pub(super) struct Object {
    kind: &'static str,
    id: u64,
    /// The last version that was sent, and the last one that was acknowledged.
    sent: AtomicU64,
    acknowledged: AtomicU64,
    turn: Mutex<()>,
}

/// What is written.
pub(super) struct Writer<'a> {
    gateway: &'a Gateway,
    objects: Vec<Object>,
    /// Headers of an editor in `wp-admin`, if one could log in.
    editor: Option<Vec<(&'static str, String)>>,
    /// Start of the texts.
    run: String,
}

/// Objects of each kind.
const EACH: usize = 2;

impl<'a> Writer<'a> {
    pub(super) fn new(gateway: &'a Gateway, seed: u64) -> Result<Self> {
        let mut objects = Vec::new();
        let mut add = |kind, id| {
            let (sent, acknowledged, turn) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(()));
            objects.push(Object { kind, id, sent, acknowledged, turn });
        };
        add("settings", 0);
        for kind in ["posts", "pages", "categories", "tags", "comments", "users", "media"] {
            let list = get(&gateway.site, &format!("/wp-json/wp/v2/{kind}?per_page={EACH}&_fields=id"), "")?;
            for item in list.json()?.as_array().into_iter().flatten() {
                add(kind, item["id"].as_u64().context("no id")?);
            }
        }
        let editor = crate::users::log_in(gateway, "live-editor").ok();
        Ok(Writer { gateway, objects, editor, run: format!("v{}k", seed % 1_000_000) })
    }

    /// The paths of the objects in the REST API.
    pub(super) fn paths(&self) -> Vec<String> {
        let path = |object: &Object| format!("/wp-json/wp/v2/{}/{}", object.kind, object.id);
        self.objects.iter().filter(|object| object.kind != "settings").map(path).collect()
    }

    /// The acknowledged versions of all objects.
    pub(super) fn acknowledged(&self) -> Vec<u64> {
        self.objects.iter().map(|object| object.acknowledged.load(SeqCst)).collect()
    }

    /// Compares the versions in a response with those that were acknowledged before its request. Returns whether there are any.
    ///
    /// # Errors
    /// The version that is too old, or was not sent.
    pub(super) fn check(&self, body: &str, acknowledged: &[u64]) -> Result<bool, String> {
        let mut has_any = false;
        for (object, version) in versions(body, &self.run) {
            let (Some(least), Some(known)) = (acknowledged.get(object), self.objects.get(object)) else { continue };
            has_any = true;
            if version < *least || version > known.sent.load(SeqCst) {
                return Err(format!("{} {}: version {version} and not {least}", known.kind, known.id));
            }
        }
        Ok(has_any)
    }

    /// Writes the first version of each object, so that most responses have versions. Plugins may refuse some.
    pub(super) fn write_all(&self, random: &mut Random) {
        (0..self.objects.len()).for_each(|n| drop(self.write_object(n, random)));
    }

    /// Writes a new version of an object. The title of the site, the first one, changes seldom: once in sixty writes.
    pub(super) fn write(&self, random: &mut Random) -> Result<()> {
        let n = if random.below(60) == 0 { 0 } else { 1 + random.below(self.objects.len() - 1) };
        self.write_object(n, random)
    }

    fn write_object(&self, n: usize, random: &mut Random) -> Result<()> {
        let object = &self.objects[n];
        let _turn = object.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let version = object.sent.fetch_add(1, SeqCst) + 1;
        let text = format!("{}{n}v{version}z", self.run);
        let way = random.below(4);
        let response = match (object.kind, way, &self.editor) {
            ("posts" | "pages", 0, Some(editor)) => self.quick_edit(editor, object, &text)?,
            ("categories" | "tags", 0, Some(editor)) => self.edit_term(editor, object, &text)?,
            _ => self.rest(object, &text, way < 3, random)?,
        };
        ensure!(response.status < 400, "{} {}: {} {:.300}", object.kind, object.id, response.status, response.body);
        object.acknowledged.store(version, SeqCst);
        Ok(())
    }

    /// With the REST API: through the gateway, or WordPress's own.
    fn rest(&self, object: &Object, text: &str, through: bool, random: &mut Random) -> Result<Response> {
        let path = match object.kind {
            "settings" => "/wp-json/wp/v2/settings".to_owned(),
            kind => format!("/wp-json/wp/v2/{kind}/{}", object.id),
        };
        let body: Value = match object.kind {
            "posts" if random.below(12) == 0 => json!({"title": text, "sticky": random.below(2) == 0}),
            "users" => json!({"name": text, "description": text}),
            "comments" => json!({"content": text}),
            "categories" | "tags" => json!({"name": text, "description": text}),
            _ => json!({"title": text}),
        };
        let to = if through { self.gateway.address() } else { &self.gateway.site };
        send(to, "POST", &path, &self.gateway.credentials, Some(&body))
    }

    /// As *Quick Edit* in the list of posts.
    fn quick_edit(&self, editor: &[(&'static str, String)], object: &Object, text: &str) -> Result<Response> {
        let kind = object.kind.trim_end_matches('s');
        let page = self.admin(editor, "GET", &format!("/wp-admin/edit.php?post_type={kind}"), "")?;
        let nonce = value_of(&page.body, "_inline_edit").context("the list of posts has no nonce")?;
        let body = format!(
            "action=inline-save&post_type={kind}&post_ID={}&post_title={text}&_status=publish&post_view=list&screen=edit-{kind}&_inline_edit={nonce}",
            object.id
        );
        self.admin(editor, "POST", "/wp-admin/admin-ajax.php", &body)
    }

    /// As the form of a term.
    fn edit_term(&self, editor: &[(&'static str, String)], object: &Object, text: &str) -> Result<Response> {
        let taxonomy = if object.kind == "tags" { "post_tag" } else { "category" };
        let page =
            self.admin(editor, "GET", &format!("/wp-admin/term.php?taxonomy={taxonomy}&tag_ID={}", object.id), "")?;
        let nonce = value_of(&page.body, "_wpnonce").context("the form of the term has no nonce")?;
        let slug = value_of(&page.body, "slug").unwrap_or_default();
        let parent = if taxonomy == "category" { "&parent=-1" } else { "" };
        let body = format!(
            "action=editedtag&tag_ID={}&taxonomy={taxonomy}&_wpnonce={nonce}&name={text}&slug={slug}&description={text}{parent}",
            object.id
        );
        self.admin(editor, "POST", "/wp-admin/edit-tags.php", &body)
    }

    /// Through the gateway, as browsers do.
    fn admin(&self, editor: &[(&'static str, String)], method: &str, path: &str, body: &str) -> Result<Response> {
        let mut headers = editor.to_vec();
        headers.push(("Content-Type", "application/x-www-form-urlencoded".to_owned()));
        exchange(self.gateway.address(), method, path, &headers, body)
    }

    /// Reads each object at its end. Returns those whose last version is not there.
    pub(super) fn lost(&self) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        for (n, object) in self.objects.iter().enumerate() {
            let version = object.acknowledged.load(SeqCst);
            let path = match object.kind {
                "settings" => "/wp-json/wp/v2/settings".to_owned(),
                kind => format!("/wp-json/wp/v2/{kind}/{}?context=edit", object.id),
            };
            for address in [&self.gateway.site, self.gateway.address()] {
                let body = get(address, &path, &self.gateway.credentials)?.body;
                if version > 0 && !versions(&body, &self.run).contains(&(n, version)) {
                    lost.push(format!("{} {}: version {version} is not at {address}", object.kind, object.id));
                }
            }
        }
        Ok(lost)
    }
}

/// The objects and their versions in a text.
fn versions(body: &str, run: &str) -> Vec<(usize, u64)> {
    let parse = |rest: &str| {
        let (object, rest) = rest.split_once('v')?;
        let (version, _) = rest.split_once('z')?;
        Some((object.parse().ok()?, version.parse().ok()?))
    };
    body.split(run).skip(1).filter_map(|rest| parse(rest.get(..rest.len().min(40)).unwrap_or(rest))).collect()
}

/// The value of a field in a form.
fn value_of(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\""))?;
    let tag = &rest[..rest.find('>')?];
    let (_, value) = tag.split_once("value=\"")?;
    Some(value[..value.find('"')?].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_fields_are_found() {
        assert_eq!(versions("a v7k3v57z, v7k10v1z\"v8k1v1z", "v7k"), [(3, 57), (10, 1)]);
        let page = "<input type=\"hidden\" id=\"x\" name=\"_wpnonce\" value=\"abc\" /><input name=\"slug\" value=\"\">";
        assert_eq!(value_of(page, "_wpnonce").as_deref(), Some("abc"));
        assert_eq!(value_of(page, "slug").as_deref(), Some(""));
        assert_eq!(value_of(page, "other"), None);
    }
}

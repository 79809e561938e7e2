//! Registered meta: which stored values are part of the REST API, their schema, and who may change them.
//!
//! A registration has the stored key, the public name, the schema, and whether the field has one value or a list.
//! Reading converts stored texts to JSON by the schema; writing does the reverse. Unregistered values are never
//! returned.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, json};
use svc_auth::Caller;
use svc_schema::{Error, Schema};
use svc_store::{Meta, MetaKind, StoredText, Tx, meta_indexes::QueriedKey, posts::MetaType};

use crate::{SiteResult, errors::posts as errors};

/// Write protection of a registered field beyond the permission to edit its object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MetaGuard {
    /// Anyone who may edit the object, unless the key begins with `_`: such keys are protected and cannot be written.
    #[default]
    ByKey,
    /// Users with this capability.
    Capability(String),
    /// Anyone who may edit the object, even if the key begins with `_`.
    Editors,
}

/// A registered meta field. Build it with [`MetaField::new`] and the builder methods.
#[derive(Clone, Debug)]
pub struct MetaField {
    /// The stored key.
    pub key: String,
    /// The name in the REST API.
    pub name: String,
    /// One value (true) or a list of values.
    pub single: bool,
    /// The value if none is stored.
    pub default: Value,
    /// Whether the default was registered explicitly, not derived from the type or the schema.
    has_default: bool,
    /// Whether the schema has its own default.
    has_schema_default: bool,
    /// Stored with revisions.
    pub revisions: bool,
    /// Whether lists may be filtered and sorted by the field.
    queryable: bool,
    /// Who may write.
    pub guard: MetaGuard,
    /// Sanitizes a text before it is stored.
    pub sanitize: Option<fn(&str) -> String>,
    /// Filters a text that a user without `unfiltered_html` stores.
    pub filter: Option<fn(&str) -> String>,
    /// Source of the schema of one value.
    item_source: Value,
    /// The schema of one value.
    item: Schema,
    /// The schema of the field: of the value, or of the list.
    whole: Schema,
}

/// The value of a type if nothing or the empty text is stored.
fn empty_of(kind: &str) -> Value {
    match kind {
        "integer" | "number" => json!(0),
        "boolean" => json!(false),
        "array" | "object" => json!([]),
        _ => json!(""),
    }
}

impl MetaField {
    /// A single value of this type (`string`, `integer`, `number`, `boolean`, `array`, `object`). Its name is the key.
    pub fn new(key: &str, kind: &str) -> Self {
        let item_source = json!({"type": kind, "title": "", "description": "", "default": empty_of(kind)});
        MetaField {
            key: key.to_owned(),
            name: key.to_owned(),
            single: true,
            default: empty_of(kind),
            has_default: false,
            has_schema_default: false,
            revisions: false,
            queryable: false,
            guard: MetaGuard::ByKey,
            sanitize: None,
            filter: None,
            item: Schema::compile(item_source.clone()),
            whole: Schema::compile(item_source.clone()),
            item_source,
        }
    }

    fn compile(mut self) -> Self {
        let item = svc_schema::default_additional_properties_to_false(self.item_source.clone());
        let whole = if self.single { item.clone() } else { json!({"type": "array", "items": item}) };
        self.item = Schema::compile(item);
        self.whole = Schema::compile(whole);
        self
    }

    /// The first stored value as text, or the registered default; `None` for arrays and objects.
    pub fn text(&self, stored: &Meta) -> Option<String> {
        if matches!(self.item_source["type"].as_str(), Some("array" | "object")) {
            return None;
        }
        Some(match stored.first(&self.key) {
            Some(stored) => stored.text().to_owned(),
            None if self.has_default => svc_php::cast::to_text(&self.default).into_owned(),
            None => String::new(),
        })
    }

    /// Makes the field a list of values.
    pub fn list(mut self) -> Self {
        self.single = false;
        self.compile()
    }

    /// Sets the description in the schema.
    pub fn describe(self, text: &str) -> Self {
        self.schema(json!({"description": text}))
    }

    /// Sets the value if none is stored; for a list, its only entry. A default in the schema remains the documented
    /// one.
    pub fn default(mut self, value: Value) -> Self {
        self.default = value.clone();
        self.has_default = true;
        if self.has_schema_default { self } else { self.with_keywords(json!({"default": value})) }
    }

    /// Sets the name in the REST API.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds keywords to the schema of one value and replaces existing ones. A default among them is the value of a
    /// single field if none is stored, unless [`MetaField::default`] sets another one.
    pub fn schema(mut self, keywords: Value) -> Self {
        if let Some(default) = keywords.get("default").filter(|default| !default.is_null()) {
            self.has_schema_default = true;
            if !self.has_default {
                self.default = default.clone();
            }
        }
        self.with_keywords(keywords)
    }

    fn with_keywords(mut self, keywords: Value) -> Self {
        if let (Some(source), Value::Object(keywords)) = (self.item_source.as_object_mut(), keywords) {
            source.extend(keywords);
        }
        self.compile()
    }

    /// Restricts writing to users with a capability.
    pub fn guarded_by(mut self, capability: &str) -> Self {
        self.guard = MetaGuard::Capability(capability.to_owned());
        self
    }

    /// Allows anyone who may edit the object to write the field, even if its key is protected.
    pub fn for_editors(mut self) -> Self {
        self.guard = MetaGuard::Editors;
        self
    }

    /// Sanitizes texts before they are stored.
    pub fn sanitized_by(mut self, clean: fn(&str) -> String) -> Self {
        self.sanitize = Some(clean);
        self
    }

    /// Filters the texts of users without the capability `unfiltered_html` before they are stored.
    pub fn filtered_by(mut self, filter: fn(&str) -> String) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Stores the field with revisions.
    pub fn with_revisions(mut self) -> Self {
        self.revisions = true;
        self
    }

    /// Allows lists of posts to be filtered and sorted by the field: `meta[name]=…`, `orderby=meta.name`. Values are compared as they are
    /// stored, also those that do not match the schema. It has no effect for keys that begin with `_`, for arrays and objects,
    /// and for fields that the context `view` does not return.
    pub fn queryable(mut self) -> Self {
        self.queryable = true;
        self
    }

    /// How the values are compared if lists may be filtered and sorted by the field.
    pub fn query_type(&self) -> Option<MetaType> {
        let contexts = self.item_source.get("context").and_then(Value::as_array);
        let is_in_view = contexts.is_none_or(|contexts| contexts.iter().any(|context| context == "view"));
        if !self.queryable || self.key.starts_with('_') || !is_in_view {
            return None;
        }
        match self.item_source["type"].as_str()? {
            "string" => Some(MetaType::Text),
            "integer" | "boolean" => Some(MetaType::Integer),
            "number" => Some(MetaType::Number),
            _ => None,
        }
    }

    /// The schema of one value.
    pub fn item(&self) -> &Schema {
        &self.item
    }

    /// The schema of the field, as returned by OPTIONS.
    pub fn source(&self) -> Value {
        self.whole.source().clone()
    }

    /// The type of one value.
    fn kind(&self) -> &str {
        self.item_source["type"].as_str().unwrap_or("string")
    }

    /// The field's value for an object with these stored values.
    pub fn read(&self, stored: &Meta) -> Value {
        let values = stored.all(&self.key);
        if self.single {
            values.first().map_or_else(|| self.conform(self.default.clone()), |stored| self.value_of(stored))
        } else if values.is_empty() && self.has_default {
            Value::Array(vec![self.conform(self.default.clone())])
        } else {
            values.iter().map(|stored| self.value_of(stored)).collect()
        }
    }

    /// Converts a stored value by the schema; null if it does not match.
    pub fn value_of(&self, stored: &StoredText) -> Value {
        if stored.is_empty() && matches!(self.kind(), "integer" | "number" | "boolean") {
            return empty_of(self.kind());
        }
        self.conform(stored.json())
    }

    /// Converts a value by the schema; null if it does not match.
    fn conform(&self, value: Value) -> Value {
        if self.item.validate(&value, "").is_err() {
            return Value::Null;
        }
        svc_php::list::list_shapes(self.item.sanitize(value, "").unwrap_or(Value::Null))
    }
}

/// All registered meta, by object type (`post`, `term`, `user`, `comment`) and subtype (a post type, a taxonomy).
#[derive(Clone, Debug, Default)]
pub struct MetaRegistry {
    by_kind: IndexMap<(String, String), IndexMap<String, Arc<MetaField>>>,
}

impl MetaRegistry {
    /// Registers a field for a subtype, or for all objects of the type if the subtype is empty. A later registration of
    /// the same key replaces the earlier one.
    pub fn register(&mut self, kind: &str, subtype: &str, field: MetaField) {
        self.by_kind
            .entry((kind.to_owned(), subtype.to_owned()))
            .or_default()
            .insert(field.key.clone(), Arc::new(field));
    }

    /// Whether a key of all objects of a type may be written by anyone who may edit the object.
    pub(crate) fn is_for_editors(&self, kind: &str, key: &str) -> bool {
        self.fields(kind, "").any(|field| field.key == key && field.guard == MetaGuard::Editors)
    }

    /// The fields of this subtype: those of all objects first, then its own.
    pub fn fields(&self, kind: &str, subtype: &str) -> impl Iterator<Item = &Arc<MetaField>> {
        let of = |subtype: &str| self.by_kind.get(&(kind.to_owned(), subtype.to_owned()));
        let own = if subtype.is_empty() { None } else { of(subtype) };
        of("").into_iter().chain(own).flat_map(IndexMap::values)
    }
}

impl MetaRegistry {
    /// The fields of a post type that lists may be filtered and sorted by. A key with another registration that does not allow
    /// it is left out.
    pub fn queryable(&self, post_type: &str) -> Vec<Arc<MetaField>> {
        let all: Vec<&Arc<MetaField>> = self.fields("post", post_type).collect();
        let allow = |field: &MetaField| {
            let is_other = |other: &&&Arc<MetaField>| other.key == field.key || other.name == field.name;
            all.iter().filter(is_other).all(|other| other.query_type() == field.query_type() && other.key == field.key)
        };
        let mut fields: Vec<Arc<MetaField>> = Vec::new();
        for field in all.iter().filter(|field| field.query_type().is_some() && allow(field)) {
            if !fields.iter().any(|known| known.key == field.key) {
                fields.push(Arc::clone(field));
            }
        }
        fields
    }

    /// The meta keys of posts that lists may be filtered and sorted by.
    pub fn queried_keys(&self) -> Vec<QueriedKey> {
        let of_posts =
            self.by_kind.iter().filter(|((kind, _), _)| kind == "post").flat_map(|(_, fields)| fields.values());
        let key = |field: &Arc<MetaField>| Some(QueriedKey { key: field.key.clone(), value_type: field.query_type()? });
        of_posts.filter_map(key).collect()
    }
}

/// Permissions to write stored keys.
pub struct MetaRights<'a> {
    /// Whether the caller may add or change values of a key.
    pub edit: &'a dyn Fn(&str) -> bool,
    /// Whether the caller may delete the values of a key.
    pub delete: &'a dyn Fn(&str) -> bool,
    /// Whether the caller may store any HTML.
    pub unfiltered_html: bool,
}

/// A change of one key, as stored values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaChange {
    key: String,
    rows: RowChange,
}

/// The change to the rows of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RowChange {
    /// Delete all rows.
    Cleared,
    /// Store a single row.
    Set(StoredText),
    /// Delete rows with the first values, and insert rows with the second ones. Other rows are not changed.
    Rows(Vec<StoredText>, Vec<StoredText>),
}

impl RowChange {
    /// The change from the stored rows to the new values. A value stored in exactly one row keeps that row, however
    /// often it is listed.
    fn rows(now: &[StoredText], wanted: Vec<StoredText>) -> Self {
        let is_unique = |text: &StoredText| now.iter().filter(|stored| *stored == text).count() == 1;
        let removed = now.iter().filter(|text| !(wanted.contains(text) && is_unique(text))).cloned().collect();
        RowChange::Rows(removed, wanted.into_iter().filter(|text| !is_unique(text)).collect())
    }
}

impl MetaField {
    /// Whether the registration allows the caller to write; `None` if the key decides.
    fn guard_allows(&self, caller: &Caller) -> Option<bool> {
        match &self.guard {
            MetaGuard::ByKey | MetaGuard::Editors => None,
            MetaGuard::Capability(cap) => Some(caller.has(cap)),
        }
    }

    /// Converts a value of the REST API to its stored form.
    fn stored(&self, value: Value, unfiltered_html: bool) -> StoredText {
        let Value::String(mut text) = value else { return StoredText::of(value) };
        let filter = self.filter.filter(|_| !unfiltered_html);
        for clean in self.sanitize.into_iter().chain(filter) {
            text = clean(&text);
        }
        StoredText::of(text)
    }

    /// A stored value as a user without `unfiltered_html` copies it.
    pub(crate) fn filtered_copy(&self, stored: &StoredText) -> StoredText {
        match self.filter {
            Some(filter) => StoredText::of(filter(stored.text())),
            None => stored.clone(),
        }
    }

    /// Whether all stored values match the schema: values that the REST API cannot show must not be deleted unseen.
    ///
    /// If nothing is stored and no default was registered, the empty text is checked instead. It is not a valid number
    /// or boolean, so resetting such a field fails, as in WordPress.
    fn is_intact(&self, stored: &[StoredText]) -> bool {
        if stored.is_empty() && !self.has_default {
            return match self.kind() {
                "integer" | "number" | "boolean" => false,
                "string" => !self.value_of(&StoredText::default()).is_null(),
                _ => true,
            };
        }
        stored.iter().all(|text| !self.value_of(text).is_null())
    }
}

impl MetaRegistry {
    /// The changes that the request field `meta` makes. Null deletes a value. Unregistered names and unchanged values
    /// are ignored.
    ///
    /// # Errors
    /// `rest_cannot_update` and `rest_cannot_delete` (403), `rest_invalid_stored_value` (500), and schema errors (400)
    /// for invalid values.
    pub fn changes(
        &self,
        kind: &str,
        subtype: &str,
        stored: &Meta,
        wanted: &Value,
        rights: &MetaRights<'_>,
        caller: &Caller,
    ) -> Result<Vec<MetaChange>, Error> {
        let (mut changes, mut refused) = (Vec::new(), Error::empty());
        let Value::Object(wanted) = wanted else { return Ok(changes) };
        for field in self.fields(kind, subtype) {
            let Some(value) = wanted.get(&field.name) else { continue };
            let may = |by_key: &dyn Fn(&str) -> bool| field.guard_allows(caller).unwrap_or_else(|| by_key(&field.key));
            match field.change(value, stored.all(&field.key), may, rights) {
                Ok(change) => changes.extend(change),
                Err(error) => refused.merge(error),
            }
        }
        if refused.is_empty() { Ok(changes) } else { Err(refused) }
    }
}

impl MetaField {
    /// The change that a request makes to the stored values; `None` if they are equal.
    fn change(
        &self,
        value: &Value,
        now: &[StoredText],
        may: impl Fn(&dyn Fn(&str) -> bool) -> bool,
        rights: &MetaRights<'_>,
    ) -> Result<Option<MetaChange>, Error> {
        let change = |rows| Some(MetaChange { key: self.key.clone(), rows });
        if value.is_null() || (!self.single && value.as_array().is_some_and(Vec::is_empty)) {
            if value.is_null() && self.single && !self.is_intact(now) {
                return Err(errors::invalid_stored_meta(&self.name));
            }
            if !may(rights.delete) {
                return Err(errors::cannot_delete_meta(&self.name));
            }
            return Ok(if now.is_empty() { None } else { change(RowChange::Cleared) });
        }
        let has_null = match value {
            Value::Array(values) => values.iter().any(Value::is_null),
            Value::Object(members) => members.values().any(Value::is_null),
            _ => false,
        };
        if !self.single && has_null {
            // Null deletes a value, but a list does not identify which one.
            return Err(errors::invalid_stored_meta(&self.name));
        }
        let mut values = self.texts_of(value, rights.unfiltered_html)?;
        if values == now {
            return Ok(None);
        }
        if !may(rights.edit) {
            return Err(errors::cannot_update_meta(&self.name));
        }
        Ok(match values.pop() {
            Some(value) if self.single => change(RowChange::Set(value)),
            last => {
                values.extend(last);
                change(RowChange::rows(now, values))
            }
        })
    }

    /// The stored texts of a request field.
    fn texts_of(&self, value: &Value, unfiltered_html: bool) -> Result<Vec<StoredText>, Error> {
        let param = format!("meta.{}", self.name);
        let schema = &self.whole;
        let bad = |mut error: Error| {
            error.add_data(json!({"status": 400}), None);
            error
        };
        schema.validate(value, &param).map_err(bad)?;
        let clean = schema.sanitize(value.clone(), &param).map_err(bad)?;
        Ok(match clean {
            Value::Array(values) if !self.single => {
                values.into_iter().map(|v| self.stored(v, unfiltered_html)).collect()
            }
            value => vec![self.stored(value, unfiltered_html)],
        })
    }
}

/// Stores changes of an object's meta. Only the differing rows of lists are written, so unchanged rows keep their
/// order.
pub fn store(tx: &mut Tx, kind: MetaKind, id: i64, changes: &[MetaChange]) -> SiteResult<()> {
    for MetaChange { key, rows } in changes {
        match rows {
            RowChange::Cleared => {
                svc_store::meta::delete(tx, kind, id, key, None)?;
            }
            RowChange::Set(value) => {
                svc_store::meta::update(tx, kind, id, key, value)?;
            }
            RowChange::Rows(removed, added) => {
                for value in removed {
                    svc_store::meta::delete(tx, kind, id, key, Some(value))?;
                }
                if !added.is_empty() {
                    let rows: Vec<(&str, &StoredText)> = added.iter().map(|value| (key.as_str(), value)).collect();
                    svc_store::meta::add_many(tx, kind, id, &rows)?;
                }
            }
        }
    }
    Ok(())
}

//! The table of a resource's fields.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use svc_routing::{ExtraFields, Request};
use svc_schema::{Arg, Args, Error, MethodKind, Sanitizer, Schema, Validator, endpoint_args};

use crate::Typed;

type Get<I> = Box<dyn Fn(&I) -> Value + Send + Sync>;
type When<I> = Box<dyn Fn(&I) -> bool + Send + Sync>;
/// Returns false for a value that the draft has no place for.
type Set<D> = Box<dyn Fn(&mut D, &Value) -> bool + Send + Sync>;

/// A field: its name, its schema, how it is read from an item, and how it is written to a draft.
pub struct Field<I, D> {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) get: Option<Get<I>>,
    pub(crate) set: Option<Set<D>>,
    pub(crate) accepts_null: bool,
    /// The items that have the field; `None` for all.
    pub(crate) when: Option<When<I>>,
    /// `_fields` must name the field itself: naming a nested field does not include it.
    pub(crate) exact_field: bool,
    argument: FieldArg,
    /// Nested fields. If there are any, `get` is not used.
    pub(crate) nested: Vec<Field<I, D>>,
    /// The order of the nested fields in the schema.
    schema_order: SchemaOrder,
    /// Whether the field is in items but not in the schema.
    hidden: bool,
    /// Whether the index leaves the argument out.
    unlisted: bool,
    /// Whether items and requests have the field. The value of one that they do not have is for permissions only.
    pub(crate) is_supported: bool,
}

/// The argument of a field.
enum FieldArg {
    /// The one that is derived from the schema.
    Derived,
    /// The same, even if the name is in [`VALIDATED_FIRST`].
    Parsed,
    /// The one that is derived from the schema, changed by a function.
    Changed(Box<dyn Fn(Arg) -> Arg + Send + Sync>),
}

impl<I, D> Field<I, D> {
    fn new(name: &str, schema: Value) -> Self {
        Field {
            name: name.to_owned(),
            schema,
            get: None,
            set: None,
            accepts_null: false,
            when: None,
            exact_field: false,
            argument: FieldArg::Derived,
            nested: Vec::new(),
            schema_order: SchemaOrder::default(),
            hidden: false,
            unlisted: false,
            is_supported: true,
        }
    }

    /// Reads the field's value from a loaded item.
    pub fn get<V: Into<Value>>(&mut self, read: impl Fn(&I) -> V + Send + Sync + 'static) -> &mut Self {
        self.get = Some(Box::new(move |item| read(item).into()));
        self
    }

    /// Restricts the field to items for which the predicate returns true.
    pub fn when(&mut self, has: impl Fn(&I) -> bool + Send + Sync + 'static) -> &mut Self {
        self.when = Some(Box::new(has));
        self
    }

    /// Includes the field only when `_fields` names it exactly, not when `_fields` names a nested field.
    pub fn exact_field(&mut self) -> &mut Self {
        self.exact_field = true;
        self
    }

    /// Writes a value, validated and sanitized by the field's schema, to a draft. Null counts as absent.
    pub fn set<V: DeserializeOwned>(&mut self, apply: impl Fn(&mut D, V) + Send + Sync + 'static) -> &mut Self {
        self.set = Some(Box::new(move |draft, value| V::deserialize(value).map(|value| apply(draft, value)).is_ok()));
        self
    }

    /// As [`Field::set`], for a function that returns false for a value that cannot be converted as a whole.
    pub fn try_set<V: DeserializeOwned>(
        &mut self,
        apply: impl Fn(&mut D, V) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        self.set = Some(Box::new(move |draft, value| V::deserialize(value).is_ok_and(|value| apply(draft, value))));
        self
    }

    /// As [`Field::set`], for fields that accept null as a value.
    pub fn set_nullable<V: DeserializeOwned>(
        &mut self,
        apply: impl Fn(&mut D, Option<V>) + Send + Sync + 'static,
    ) -> &mut Self {
        self.set::<Option<V>>(apply);
        self.accepts_null = true;
        self
    }

    /// Accepts any value: the schema neither validates nor sanitizes the argument. `set` interprets it.
    pub fn raw(&mut self) -> &mut Self {
        self.argument(|arg| Arg { validate: Validator::None, sanitize: Sanitizer::None, ..arg })
    }

    /// Validates the argument with this function instead of the schema, and does not sanitize it.
    pub fn validate_raw(&mut self, check: fn(&Value, &str) -> Result<bool, Error>) -> &mut Self {
        self.argument(move |arg| Arg { sanitize: Sanitizer::None, ..arg.validate_with(check) })
    }

    /// Validates the argument with this function instead of the schema. The schema still sanitizes it.
    pub fn validate_with(
        &mut self,
        check: impl Fn(&Value, &str) -> Result<bool, Error> + Send + Sync + 'static,
    ) -> &mut Self {
        let check = Arc::new(check);
        self.argument(move |arg| {
            let check = Arc::clone(&check);
            arg.validate_with(move |value, name| check(value, name))
        })
    }

    /// Parses the argument by its schema in the sanitizing step, even if its name is in [`VALIDATED_FIRST`].
    pub fn parsed(&mut self) -> &mut Self {
        self.argument = FieldArg::Parsed;
        self
    }

    /// Validates and sanitizes the argument, null included, with this function alone.
    pub fn parse_with(&mut self, parse: fn(Value, &str) -> Result<Value, Error>) -> &mut Self {
        self.argument(move |arg| Arg { validate: Validator::None, ..arg.sanitize_with(parse) })
    }

    /// Sanitizes the argument with this function instead of the schema. The schema still validates it.
    pub fn sanitize_with(&mut self, clean: fn(Value, &str) -> Result<Value, Error>) -> &mut Self {
        self.argument(move |arg| {
            let validate =
                if matches!(arg.sanitize, Sanitizer::Parse) { Validator::BySchema } else { arg.validate.clone() };
            Arg { validate, ..arg.sanitize_with(clean) }
        })
    }

    fn argument(&mut self, change: impl Fn(Arg) -> Arg + Send + Sync + 'static) -> &mut Self {
        self.argument = FieldArg::Changed(Box::new(change));
        self
    }

    /// Adds a nested field. The field's value is then an object of its nested fields.
    pub fn subfield(&mut self, name: &str, schema: impl Into<Value>) -> &mut Field<I, D> {
        self.nested.push(Field::new(name, schema.into()));
        self.nested.last_mut().expect("just pushed")
    }

    /// Lists these nested fields in the schema first, in this order. The others follow as in items.
    pub fn schema_order(&mut self, names: &'static [&'static str]) -> &mut Self {
        self.schema_order = SchemaOrder(names);
        self
    }

    /// Removes the field from items, but not from the schema and the arguments.
    pub fn write_only(&mut self) -> &mut Self {
        self.get = None;
        self
    }

    /// Removes the field from the schema and the arguments, but not from items.
    pub fn hidden(&mut self) -> &mut Self {
        self.hidden = true;
        self
    }

    /// Leaves the parameter out of the index and of `OPTIONS`, because WordPress does not have it.
    pub fn unlisted(&mut self) -> &mut Self {
        self.unlisted = true;
        self
    }

    /// Removes the field from items, the schema and the arguments if it is not supported. Permissions still get its value
    /// ([`Typed::values`]), handlers do not ([`Typed::accepted`]): WordPress checks `author` even for types of posts without authors.
    pub fn supported(&mut self, is_supported: bool) -> &mut Self {
        self.is_supported = is_supported;
        self
    }

    /// Sets the contexts in which the field is visible.
    pub fn context(&mut self, contexts: &[&str]) -> &mut Self {
        if let Some(schema) = self.schema.as_object_mut() {
            schema.insert("context".to_owned(), Value::from(contexts.to_vec()));
        }
        self
    }

    /// Removes a nested field.
    pub fn drop_subfield(&mut self, name: &str) -> &mut Self {
        self.nested.retain(|f| f.name != name);
        self
    }

    /// The field's schema, including the schemas of its nested fields.
    fn source(&self) -> Value {
        let mut schema = self.schema.clone();
        if !self.nested.is_empty()
            && let Some(map) = schema.as_object_mut()
        {
            map.insert("properties".to_owned(), Value::Object(self.schema_order.properties(&self.nested)));
        }
        schema
    }
}

/// The order of the properties of a schema, where it differs from the order of the fields in items: these names first.
#[derive(Clone, Copy, Default)]
struct SchemaOrder(&'static [&'static str]);

impl SchemaOrder {
    /// The schemas of these fields, by name.
    fn properties<I, D>(self, fields: &[Field<I, D>]) -> Map<String, Value> {
        let mut listed: Vec<&Field<I, D>> = fields.iter().filter(|field| !field.hidden && field.is_supported).collect();
        listed.sort_by_key(|field| self.0.iter().position(|name| *name == field.name).unwrap_or(self.0.len()));
        listed.into_iter().map(|field| (field.name.clone(), field.source())).collect()
    }
}

/// The fields of a resource, in the order in which items contain them. `I` is an item with everything loaded that its
/// fields read; `D` is the draft of a change.
pub struct Fields<I, D> {
    title: String,
    rows: Vec<Field<I, D>>,
    /// Positions of the rows by name, once a request was read.
    positions: OnceLock<HashMap<String, Vec<usize>>>,
    /// The order of the fields in the schema and in the arguments.
    schema_order: SchemaOrder,
    /// Fields added by extensions: part of the schema and the arguments, but read and written elsewhere.
    extra: Vec<(String, Value)>,
    /// Further properties of the item schema (`links`).
    keywords: Map<String, Value>,
}

/// Parameters of every collection that WordPress validates before it sanitizes any argument.
pub const VALIDATED_FIRST: [&str; 4] = ["context", "page", "per_page", "search"];

/// The parameters of a collection: a table without items, applied to a query.
pub type Params<Q> = Fields<(), Q>;

impl<I, D> Fields<I, D> {
    /// An empty table with the resource's schema title.
    pub fn new(title: &str) -> Self {
        Fields {
            title: title.to_owned(),
            rows: Vec::new(),
            positions: OnceLock::new(),
            schema_order: SchemaOrder::default(),
            extra: Vec::new(),
            keywords: Map::new(),
        }
    }

    /// The rows, to add or remove some.
    fn rows_mut(&mut self) -> &mut Vec<Field<I, D>> {
        self.positions.take();
        &mut self.rows
    }

    /// Adds a field. `schema` is source JSON or a builder of `svc_schema`.
    pub fn add(&mut self, name: &str, schema: impl Into<Value>) -> &mut Field<I, D> {
        let rows = self.rows_mut();
        rows.push(Field::new(name, schema.into()));
        rows.last_mut().expect("just pushed")
    }

    /// Lists these fields in the schema and in the arguments first, in this order. The others follow as in items. Names
    /// of fields that the table does not have are ignored.
    pub fn schema_order(&mut self, names: &'static [&'static str]) -> &mut Self {
        self.schema_order = SchemaOrder(names);
        self
    }

    /// Replaces the schema of a field. Its position and accessors stay the same.
    pub fn set_schema(&mut self, name: &str, schema: impl Into<Value>) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            row.schema = schema.into();
        }
    }

    /// Adds a property to the item schema next to `properties`, such as `links`.
    pub fn keyword(&mut self, name: &str, value: Value) -> &mut Self {
        self.keywords.insert(name.to_owned(), value);
        self
    }

    /// The table without these fields, as a base for a related resource.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.rows_mut().retain(|row| !names.contains(&row.name.as_str()));
        self
    }

    /// The table with every field but the first (the item's key) marked as [`exact_field`](Field::exact_field).
    pub fn all_exact(mut self) -> Self {
        for row in self.rows.iter_mut().skip(1) {
            row.exact_field();
        }
        self
    }

    /// The table restricted to these fields, in the table's order.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.rows_mut().retain(|row| names.contains(&row.name.as_str()));
        self
    }

    /// The table in which only these fields are [supported](Field::supported).
    pub fn supporting(mut self, names: &[&str]) -> Self {
        for row in &mut self.rows {
            row.is_supported &= names.contains(&row.name.as_str());
        }
        self
    }

    /// The table followed by the fields of another one.
    pub fn join(mut self, other: Self) -> Self {
        self.rows_mut().extend(other.rows);
        self
    }

    /// A field (`title`) or nested field (`title.raw`), for modification.
    pub fn at(&mut self, path: &str) -> Option<&mut Field<I, D>> {
        let mut names = path.split('.');
        let first = names.next()?;
        let row = self.rows.iter_mut().find(|row| row.name == first)?;
        names.try_fold(row, |field, name| field.nested.iter_mut().find(|f| f.name == name))
    }

    /// The table with the schemas of the fields that extensions registered for this object type. Fields without a
    /// schema are not listed.
    pub fn with_extra(mut self, extra: &ExtraFields, object: &str) -> Self {
        let schemas =
            extra.of(object).filter_map(|(name, field)| Some((name.to_owned(), field.schema()?.source().clone())));
        self.extra.extend(schemas);
        self
    }

    /// The fields, in order.
    pub(crate) fn rows(&self) -> &[Field<I, D>] {
        &self.rows
    }

    /// The names of the supported fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.is_supported).map(|row| row.name.as_str())
    }

    /// Whether the table has a supported field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|other| other == name)
    }

    /// The item schema, as OPTIONS returns it.
    pub fn item_schema(&self) -> Value {
        let mut schema = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "title": self.title,
            "type": "object",
            "properties": self.properties(),
        });
        if let Some(map) = schema.as_object_mut() {
            map.extend(self.keywords.clone());
        }
        schema
    }

    /// The schemas of the supported fields, by name.
    pub fn properties(&self) -> Map<String, Value> {
        let mut properties = self.schema_order.properties(&self.rows);
        properties.extend(self.extra.iter().cloned());
        properties
    }

    /// The arguments of a read request. Every field is a parameter that is parsed by its schema unless the field
    /// overrides that. The parameters in [`VALIDATED_FIRST`] are validated before any argument is sanitized.
    pub fn query_args(&self) -> Args {
        let arg = |row: &Field<I, D>| {
            let schema = Schema::compile(row.source());
            let arg = match &row.argument {
                FieldArg::Changed(change) => change(Arg::new(schema)),
                FieldArg::Derived if VALIDATED_FIRST.contains(&row.name.as_str()) => Arg::by_schema(schema),
                FieldArg::Derived | FieldArg::Parsed => Arg::new(schema),
            };
            Arg { unlisted: row.unlisted, ..arg }
        };
        self.rows.iter().filter(|row| row.is_supported).map(|row| (row.name.clone(), arg(row))).collect()
    }

    /// The arguments of a create or update endpoint (specification, "Endpoint arguments").
    pub fn args(&self, kind: MethodKind) -> Args {
        let mut args = endpoint_args(&self.item_schema(), kind);
        for row in &self.rows {
            if let (FieldArg::Changed(change), Some(arg)) = (&row.argument, args.0.get_mut(&row.name)) {
                *arg = change(std::mem::take(arg));
            }
        }
        args
    }

    /// The parameters of a request as a draft or a query, in table order, with the defaults of the arguments. Null counts as absent, except for
    /// [nullable fields](Field::set_nullable).
    pub fn typed(&self, req: &Request) -> Typed<D>
    where
        D: Default,
    {
        let params = req.params();
        self.convert(params.sent_values().chain(params.default_values()))
    }

    /// As [`Self::typed`], without the defaults.
    pub fn typed_as_sent(&self, req: &Request) -> Typed<D>
    where
        D: Default,
    {
        self.convert(req.params().sent_values())
    }

    /// Converts values of parameters, of which the first that is not null counts.
    fn convert<'r>(&self, values: impl Iterator<Item = (Cow<'r, str>, &'r Value)>) -> Typed<D>
    where
        D: Default,
    {
        let positions = self.positions.get_or_init(|| {
            let mut positions = HashMap::<String, Vec<usize>>::new();
            for (position, row) in self.rows.iter().enumerate() {
                positions.entry(row.name.clone()).or_default().push(position);
            }
            positions
        });
        let mut found: Vec<(usize, &Value)> = Vec::new();
        for (name, value) in values {
            found.extend(positions.get(&*name).into_iter().flatten().map(|position| (*position, value)));
        }
        // Stable: values of one parameter stay in their order.
        found.sort_by_key(|(position, value)| (*position, value.is_null()));
        found.dedup_by_key(|(position, _)| *position);
        let found = || found.iter().filter_map(|(position, value)| Some((self.rows.get(*position)?, *value)));
        let typed = Self::apply(found());
        if found().all(|(row, _)| row.is_supported || row.set.is_none()) {
            return typed;
        }
        typed.with_supported(Self::apply(found().filter(|(row, _)| row.is_supported)))
    }

    /// The draft with these values.
    fn apply<'r>(values: impl Iterator<Item = (&'r Field<I, D>, &'r Value)>) -> Typed<D>
    where
        I: 'r,
        D: Default + 'r,
    {
        let (mut draft, mut mismatches) = (D::default(), Vec::new());
        for (row, value) in values {
            let Some(set) = &row.set else { continue };
            if value.is_null() && !row.accepts_null {
                continue;
            }
            if !set(&mut draft, value) {
                mismatches.push((row.name.clone(), !svc_php::cast::truthy(value)));
            }
        }
        Typed::new(draft, mismatches)
    }
}

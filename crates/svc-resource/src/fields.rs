//! The table of a resource's members.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use svc_routing::ExtraFields;
use svc_schema::{Arg, Args, Error, MethodKind, Sanitizer, Schema, Validator, endpoint_args};

type Get<I> = Box<dyn Fn(&I) -> Value + Send + Sync>;
type When<I> = Box<dyn Fn(&I) -> bool + Send + Sync>;
type Set<D> = Box<dyn Fn(&mut D, Value) -> Result<(), Error> + Send + Sync>;

/// A member: its name, its schema, how it is read from an item, how it is applied to a draft.
pub struct Field<I, D> {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) get: Option<Get<I>>,
    pub(crate) set: Option<Set<D>>,
    pub(crate) accepts_null: bool,
    /// Items that have the member; `None` for all.
    pub(crate) when: Option<When<I>>,
    /// `_fields` must name the member itself: naming something in it does not show it.
    pub(crate) exact_field: bool,
    /// How the argument differs from the one that the schema makes.
    argument: Option<Box<dyn Fn(Arg) -> Arg + Send + Sync>>,
    /// Members of this member; then `get` is not used.
    pub(crate) members: Vec<Field<I, D>>,
    /// In items, but in no schema.
    hidden: bool,
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
            argument: None,
            members: Vec::new(),
            hidden: false,
        }
    }

    /// How the member is read from an item that is already loaded.
    pub fn get<V: Into<Value>>(&mut self, read: impl Fn(&I) -> V + Send + Sync + 'static) -> &mut Self {
        self.get = Some(Box::new(move |item| read(item).into()));
        self
    }

    /// Only items for which this holds have the member.
    pub fn when(&mut self, has: impl Fn(&I) -> bool + Send + Sync + 'static) -> &mut Self {
        self.when = Some(Box::new(has));
        self
    }

    /// `_fields` shows the member only when it names the member itself, not something in it.
    pub fn exact_field(&mut self) -> &mut Self {
        self.exact_field = true;
        self
    }

    /// How a value that was validated and sanitized by the member's schema is put into a draft. Null counts as absent.
    pub fn set<V: DeserializeOwned>(&mut self, apply: impl Fn(&mut D, V) + Send + Sync + 'static) -> &mut Self {
        let name = self.name.clone();
        self.set = Some(Box::new(move |draft, value| {
            apply(draft, serde_json::from_value(value).map_err(|_| unreadable(&name))?);
            Ok(())
        }));
        self
    }

    /// As [`Field::set`], for members that take null as a value of its own.
    pub fn set_nullable<V: DeserializeOwned>(
        &mut self,
        apply: impl Fn(&mut D, Option<V>) + Send + Sync + 'static,
    ) -> &mut Self {
        self.set::<Option<V>>(apply);
        self.accepts_null = true;
        self
    }

    /// Takes any value as the argument, neither checked nor cleaned by the schema: `set` understands it.
    pub fn raw(&mut self) -> &mut Self {
        self.argument(|arg| Arg { validate: Validator::None, sanitize: Sanitizer::None, ..arg })
    }

    /// Checks the argument by this function instead of the schema, and does not clean it.
    pub fn validate_raw(&mut self, check: fn(&Value, &str) -> Result<bool, Error>) -> &mut Self {
        self.argument(move |arg| Arg { sanitize: Sanitizer::None, ..arg.validate_with(check) })
    }

    /// Checks the argument by this function instead of the schema, which still cleans it.
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

    /// Parses the argument by its schema in the second step, also where it is named in [`VALIDATED_FIRST`].
    pub fn parsed(&mut self) -> &mut Self {
        self.argument(|arg| arg)
    }

    /// Takes the argument, null too, by this function alone, which checks and cleans it.
    pub fn parse_with(&mut self, parse: fn(Value, &str) -> Result<Value, Error>) -> &mut Self {
        self.argument(move |arg| Arg { validate: Validator::None, ..arg.sanitize_with(parse) })
    }

    /// Cleans the argument by this function instead of the schema, which still checks it.
    pub fn sanitize_with(&mut self, clean: fn(Value, &str) -> Result<Value, Error>) -> &mut Self {
        self.argument(move |arg| {
            let validate =
                if matches!(arg.sanitize, Sanitizer::Parse) { Validator::BySchema } else { arg.validate.clone() };
            Arg { validate, ..arg.sanitize_with(clean) }
        })
    }

    fn argument(&mut self, change: impl Fn(Arg) -> Arg + Send + Sync + 'static) -> &mut Self {
        self.argument = Some(Box::new(change));
        self
    }

    /// Adds a member of this member, which then is an object made of its members.
    pub fn member(&mut self, name: &str, schema: impl Into<Value>) -> &mut Field<I, D> {
        self.members.push(Field::new(name, schema.into()));
        self.members.last_mut().expect("just pushed")
    }

    /// Leaves the member in the schema and the arguments, but out of items.
    pub fn write_only(&mut self) -> &mut Self {
        self.get = None;
        self
    }

    /// Leaves the member in items, but out of the schema and the arguments.
    pub fn hidden(&mut self) -> &mut Self {
        self.hidden = true;
        self
    }

    /// Sets the contexts in which the member is seen.
    pub fn context(&mut self, contexts: &[&str]) -> &mut Self {
        if let Some(schema) = self.schema.as_object_mut() {
            schema.insert("context".to_owned(), Value::from(contexts.to_vec()));
        }
        self
    }

    /// Takes a member of this member away.
    pub fn drop_member(&mut self, name: &str) -> &mut Self {
        self.members.retain(|m| m.name != name);
        self
    }

    /// The member's schema with the schemas of its members in it.
    fn source(&self) -> Value {
        let mut schema = self.schema.clone();
        if !self.members.is_empty()
            && let Some(map) = schema.as_object_mut()
        {
            let listed = self.members.iter().filter(|m| !m.hidden);
            let members = listed.map(|m| (m.name.clone(), m.source())).collect::<Map<_, _>>();
            map.insert("properties".to_owned(), Value::Object(members));
        }
        schema
    }
}

/// A value of a shape that the schema let pass but the draft cannot hold.
fn unreadable(name: &str) -> Error {
    Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_status(400)
}

/// The members of a resource in the order of the interface. `I` is an item with everything loaded that its members
/// read; `D` is the draft of a change.
pub struct Fields<I, D> {
    title: String,
    rows: Vec<Field<I, D>>,
    /// Members added from outside: in the schema and the arguments, but read and written elsewhere.
    extra: Vec<(String, Value)>,
    /// Further members of the item schema (`links`).
    keywords: Map<String, Value>,
}

/// Parameters of every collection, which WordPress validates before it sanitizes any argument.
pub const VALIDATED_FIRST: [&str; 4] = ["context", "page", "per_page", "search"];

/// The parameters of a collection: a table without items, applied to the store's own query type.
pub type Params<Q> = Fields<(), Q>;

impl<I, D> Fields<I, D> {
    /// An empty table of the resource that the schema calls by this title.
    pub fn new(title: &str) -> Self {
        Fields { title: title.to_owned(), rows: Vec::new(), extra: Vec::new(), keywords: Map::new() }
    }

    /// Adds a member; its schema is source JSON or a builder of `svc_schema`.
    pub fn add(&mut self, name: &str, schema: impl Into<Value>) -> &mut Field<I, D> {
        self.rows.push(Field::new(name, schema.into()));
        self.rows.last_mut().expect("just pushed")
    }

    /// Sets the schema of a member; its place, and how it is read and written, stay.
    pub fn set_schema(&mut self, name: &str, schema: impl Into<Value>) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            row.schema = schema.into();
        }
    }

    /// Adds a member of the item schema beside `properties`, such as `links`.
    pub fn keyword(&mut self, name: &str, value: Value) -> &mut Self {
        self.keywords.insert(name.to_owned(), value);
        self
    }

    /// The table without these members: how a related resource begins.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.rows.retain(|row| !names.contains(&row.name.as_str()));
        self
    }

    /// The table with every member [`exact_field`](Field::whole) but the first, by which an item is known: `_fields` shows a
    /// member only when it names the member itself.
    pub fn all_exact(mut self) -> Self {
        for row in self.rows.iter_mut().skip(1) {
            row.exact_field();
        }
        self
    }

    /// The table with the members of these names only, in the order of the table.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.rows.retain(|row| names.contains(&row.name.as_str()));
        self
    }

    /// The table with the members of another one after its own.
    pub fn join(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }

    /// A member (`title`), or a member of a member (`title.raw`), to change it.
    pub fn at(&mut self, path: &str) -> Option<&mut Field<I, D>> {
        let mut names = path.split('.');
        let first = names.next()?;
        let row = self.rows.iter_mut().find(|row| row.name == first)?;
        names.try_fold(row, |field, name| field.members.iter_mut().find(|m| m.name == name))
    }

    /// The table with the schemas of additional fields of this object type; those without a schema are in no schema.
    pub fn with_extra(mut self, extra: &ExtraFields, object: &str) -> Self {
        let schemas =
            extra.of(object).filter_map(|(name, field)| Some((name.to_owned(), field.schema()?.source().clone())));
        self.extra.extend(schemas);
        self
    }

    /// The members, in order.
    pub(crate) fn rows(&self) -> &[Field<I, D>] {
        &self.rows
    }

    /// Whether the table has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.name == name)
    }

    /// The item schema as OPTIONS shows it.
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

    /// The schemas of all members, by name.
    pub fn properties(&self) -> Map<String, Value> {
        let listed = self.rows.iter().filter(|row| !row.hidden);
        listed.map(|row| (row.name.clone(), row.source())).chain(self.extra.iter().cloned()).collect()
    }

    /// The arguments of a request that reads: every row is a parameter, parsed by its schema unless the row says
    /// otherwise. Those that all collections have are validated before any argument is sanitized ([`VALIDATED_FIRST`]).
    pub fn query_args(&self) -> Args {
        let arg = |row: &Field<I, D>| {
            let schema = Schema::compile(row.source());
            match &row.argument {
                Some(change) => change(Arg::new(schema)),
                None if VALIDATED_FIRST.contains(&row.name.as_str()) => Arg::by_schema(schema),
                None => Arg::new(schema),
            }
        };
        self.rows.iter().map(|row| (row.name.clone(), arg(row))).collect()
    }

    /// The arguments of an endpoint that creates or updates an item (specification, "Endpoint arguments").
    pub fn args(&self, kind: MethodKind) -> Args {
        let mut args = endpoint_args(&self.item_schema(), kind);
        for row in &self.rows {
            if let (Some(change), Some(arg)) = (&row.argument, args.0.get_mut(&row.name)) {
                *arg = change(std::mem::take(arg));
            }
        }
        args
    }

    /// Applies the given values, in the order of the table, to a draft. `value_of` gives the validated value of a
    /// parameter, `None` when the request does not have it.
    ///
    /// # Errors
    /// `rest_invalid_param` when the draft cannot hold a value that the schema let pass.
    pub fn apply(&self, draft: &mut D, value_of: impl Fn(&str) -> Option<Value>) -> Result<(), Error> {
        for row in &self.rows {
            let Some(set) = &row.set else { continue };
            match value_of(&row.name) {
                None => {}
                Some(Value::Null) if !row.accepts_null => {}
                Some(value) => set(draft, value)?,
            }
        }
        Ok(())
    }

    /// [`Self::apply`] to an empty draft.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn read(&self, value_of: impl Fn(&str) -> Option<Value>) -> Result<D, Error>
    where
        D: Default,
    {
        let mut draft = D::default();
        self.apply(&mut draft, value_of)?;
        Ok(draft)
    }
}

//! The columns of a list of posts that are shown if the user has chosen them. A cookie keeps the choice.

use std::collections::HashMap;

use serde_json::Value;
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use super::filters::term_param;
use crate::{
    layout::{Link, TaxonomyInfo, TypeInfo, plain},
    list::{Cell, Column, date_cell},
    request::{AdminRequest, items, text},
};

/// Maximum number of chosen columns.
const MOST_CHOSEN: usize = 20;

/// The most terms whose names a page of a list shows.
const MOST_NAMES: usize = 100;

/// Separates the chosen columns in the cookie.
const SEPARATOR: char = ' ';

/// A column that can be chosen.
pub(super) enum ExtraColumn {
    Terms(TaxonomyInfo),
    Modified,
    Meta(String),
}

/// The names of terms, by the name of the taxonomy and the ID.
type TermNames = HashMap<(String, i64), String>;

impl ExtraColumn {
    /// The columns of a list of posts with these taxonomies and meta fields.
    pub(super) fn all(taxonomies: Vec<TaxonomyInfo>, meta: &[String]) -> Vec<Self> {
        let of_meta = meta.iter().cloned().map(ExtraColumn::Meta);
        taxonomies.into_iter().map(ExtraColumn::Terms).chain([ExtraColumn::Modified]).chain(of_meta).collect()
    }

    /// Identifies the column in the cookie.
    pub(super) fn key(&self) -> String {
        match self {
            ExtraColumn::Terms(taxonomy) => term_param(&taxonomy.name),
            ExtraColumn::Modified => "modified".to_owned(),
            ExtraColumn::Meta(field) => format!("meta.{field}"),
        }
    }

    pub(super) fn label(&self) -> &str {
        match self {
            ExtraColumn::Terms(taxonomy) => &taxonomy.plural,
            ExtraColumn::Modified => "Modified",
            ExtraColumn::Meta(field) => field,
        }
    }

    /// The field of the REST API.
    pub(super) fn field(&self) -> String {
        match self {
            ExtraColumn::Terms(taxonomy) => taxonomy.rest_base.clone(),
            other => other.key(),
        }
    }
}

impl AdminRequest<'_> {
    fn columns_cookie(&self, info: &TypeInfo) -> String {
        format!("{}-columns-{}", self.admin.pages.identities.site.brand.word(), info.name)
    }

    /// Whether the user has chosen each of these columns.
    pub(super) fn chosen_columns(&self, info: &TypeInfo, all: &[ExtraColumn]) -> Vec<bool> {
        let stored = svc_login::cookie_value(&self.parts.headers, &self.columns_cookie(info)).unwrap_or_default();
        let chosen: Vec<&str> = stored.split(SEPARATOR).take(MOST_CHOSEN).collect();
        all.iter().map(|column| chosen.contains(&&*column.key())).collect()
    }

    /// Keeps a choice of columns.
    pub(super) async fn choose_columns(&self, form: &Form) -> Page {
        let info = self.post_type(self.param("post_type")).await?;
        let all = ExtraColumn::all(self.taxonomies().await?, &self.indexed_meta(&info.rest_base).await?);
        let keys = all.iter().map(ExtraColumn::key).filter(|key| form.all("column").any(|chosen| chosen == key));
        let chosen: Vec<String> = keys.take(MOST_CHOSEN).collect();
        let value = chosen.join(&SEPARATOR.to_string());
        let cookie = self.admin.pages.choice_cookie(&self.parts, &self.session, &self.columns_cookie(&info), &value);
        Ok(PrivateResponse::redirect(&self.with(&[])).cookies(vec![cookie]))
    }

    /// The names of the posts' terms in the taxonomies of these columns.
    pub(super) async fn term_names(&self, columns: &[&ExtraColumn], posts: &[Value]) -> Result<TermNames, Error> {
        let mut names = TermNames::new();
        for column in columns {
            let ExtraColumn::Terms(TaxonomyInfo { name, rest_base, .. }) = column else { continue };
            let mut ids: Vec<i64> =
                posts.iter().flat_map(|post| items(&post[&**rest_base])).filter_map(Value::as_i64).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.truncate(MOST_NAMES);
            if ids.is_empty() {
                continue;
            }
            let include = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            let call = self.get(rest_base).query("include", include).query("per_page", MOST_NAMES.to_string());
            let terms = call.query("_fields", "id,name").send().await?.data;
            names.extend(
                items(&terms)
                    .iter()
                    .filter_map(|term| Some(((name.clone(), term["id"].as_i64()?), plain(text(term, "/name"))))),
            );
        }
        Ok(names)
    }

    /// The head of a column.
    pub(super) fn extra_column(&self, column: &ExtraColumn) -> Column {
        match column {
            ExtraColumn::Terms(_) => crate::list::column(column.label()),
            sorted => self.sortable(sorted.label(), &sorted.key(), None),
        }
    }

    /// The cell of a column for a post.
    pub(super) fn extra_cell(&self, column: &ExtraColumn, post: &Value, names: &TermNames) -> Cell {
        match column {
            ExtraColumn::Terms(TaxonomyInfo { name, rest_base, .. }) => {
                let param = term_param(name);
                let link = |id: &Value| {
                    let id = id.as_i64()?;
                    let label = names.get(&(name.clone(), id))?;
                    Some(Link::new(label, self.with(&[(&param, &id.to_string())])))
                };
                Cell::Links(items(&post[&**rest_base]).iter().filter_map(link).collect())
            }
            ExtraColumn::Modified => date_cell(text(post, "/modified"), ""),
            ExtraColumn::Meta(field) => Cell::Text(shown(&post["meta"][&**field])),
        }
    }
}

/// A meta value as text.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn meta_values_are_shown_as_text() {
        for (value, text) in [
            (json!(null), ""),
            (json!("a, b"), "a, b"),
            (json!(3.5), "3.5"),
            (json!(true), "true"),
            (json!(["a", 2]), "a, 2"),
            (json!({"a": 1}), "{\"a\":1}"),
        ] {
            assert_eq!(shown(&value), text);
        }
    }
}

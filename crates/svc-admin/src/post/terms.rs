//! The terms of a post: check boxes for hierarchical taxonomies, names for the others.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use svc_login::Form;
use svc_schema::Error;

use crate::{
    form,
    layout::{TaxonomyInfo, TypeInfo, plain},
    request::{AdminRequest, items, text},
};

/// The most terms that are offered, and that a post can be given by their names.
const MOST_TERMS: usize = 100;

/// The terms of a taxonomy in the side panel.
pub(super) struct TermsView {
    pub(super) title: String,
    /// Name of the controls.
    pub(super) field: String,
    /// Terms to select: ID, name, and whether the post has it. Empty for names.
    pub(super) boxes: Vec<(i64, String, bool)>,
    /// Name of the control for a new term; empty for names.
    pub(super) new_field: String,
    /// Names, separated by commas; `None` for check boxes.
    pub(super) names: Option<String>,
}

/// Name of the control with the terms of a taxonomy.
fn field_of(taxonomy: &TaxonomyInfo) -> String {
    format!("terms-{}", taxonomy.name)
}

fn ids(value: &Value) -> Vec<i64> {
    items(value).iter().filter_map(Value::as_i64).collect()
}

impl TermsView {
    /// The values that a form sends for the terms if nobody changes them, as one text.
    pub(super) fn sent(&self) -> String {
        match &self.names {
            Some(names) => names.clone(),
            None => id_list(self.boxes.iter().filter(|(.., selected)| *selected).map(|(id, ..)| *id).collect()),
        }
    }
}

/// IDs as one text, in a fixed order.
fn id_list(mut ids: Vec<i64>) -> String {
    ids.sort_unstable();
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Names as a comma-separated list. Those with a comma are in quotation marks.
fn name_list(names: impl Iterator<Item = String>) -> String {
    let quoted = |name: String| if name.contains(',') { format!("\"{name}\"") } else { name };
    names.map(quoted).collect::<Vec<_>>().join(", ")
}

/// The names of such a list, without repetitions.
fn names_in(list: &str) -> Vec<String> {
    let (mut names, mut name, mut is_quoted) = (Vec::<String>::new(), String::new(), false);
    for letter in list.chars().chain([',']) {
        match letter {
            '"' if is_quoted || name.trim().is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                let known = names.iter().any(|known| known.eq_ignore_ascii_case(name.trim()));
                if !name.trim().is_empty() && !known {
                    names.push(name.trim().to_owned());
                }
                name.clear();
            }
            other => name.push(other),
        }
    }
    names.truncate(MOST_TERMS);
    names
}

impl AdminRequest<'_> {
    async fn taxonomies_of(&self, info: &TypeInfo) -> Result<Vec<TaxonomyInfo>, Error> {
        let all = self.taxonomies().await?;
        Ok(all.into_iter().filter(|taxonomy| info.taxonomies.contains(&taxonomy.name)).collect())
    }

    /// The terms of a post, or those of a form that was rejected.
    pub(super) async fn terms_views(
        &self,
        info: &TypeInfo,
        item: &Value,
        form: Option<&Form>,
    ) -> Result<Vec<TermsView>, Error> {
        let mut views = Vec::new();
        for taxonomy in self.taxonomies_of(info).await? {
            let field = field_of(&taxonomy);
            let own = match form {
                Some(form) if taxonomy.hierarchical => form.all(&field).filter_map(|id| id.parse().ok()).collect(),
                _ => ids(&item[&taxonomy.rest_base]),
            };
            let mut terms = self.terms_named(&taxonomy, &own).await?;
            let view = if taxonomy.hierarchical {
                let call = self.get(&taxonomy.rest_base).query("per_page", "100").query("orderby", "count");
                let offered = call.query("order", "desc").query("_fields", "id,name").send().await?.data;
                let others =
                    items(&offered).iter().map(|t| (t["id"].as_i64().unwrap_or_default(), plain(text(t, "/name"))));
                let others: Vec<_> = others.filter(|(id, _)| !own.contains(id)).collect();
                terms.extend(others);
                terms.sort_by_key(|(_, name)| name.to_lowercase());
                TermsView {
                    boxes: terms.into_iter().map(|(id, name)| (id, name, own.contains(&id))).collect(),
                    new_field: format!("new-{field}"),
                    names: None,
                    title: taxonomy.plural,
                    field,
                }
            } else {
                let stored = name_list(terms.into_iter().map(|(_, name)| name));
                let names = form.map_or(stored, |form| form.get(&field).to_owned());
                TermsView {
                    title: taxonomy.plural,
                    field,
                    boxes: Vec::new(),
                    new_field: String::new(),
                    names: Some(names),
                }
            };
            views.push(view);
        }
        Ok(views)
    }

    /// The names of these terms.
    async fn terms_named(&self, taxonomy: &TaxonomyInfo, ids: &[i64]) -> Result<Vec<(i64, String)>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let include: Vec<String> = ids.iter().take(MOST_TERMS).map(i64::to_string).collect();
        let call = self.get(&taxonomy.rest_base).query("include", include.join(",")).query("per_page", "100");
        let terms = call.query("_fields", "id,name").send().await?.data;
        Ok(items(&terms).iter().map(|t| (t["id"].as_i64().unwrap_or_default(), plain(text(t, "/name")))).collect())
    }

    /// Adds the terms of a form that differ from those of the post. Creates those that do not exist.
    pub(super) async fn add_terms(
        &self,
        info: &TypeInfo,
        item: &Value,
        form: &Form,
        changes: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        let opened = form::opened_of(form);
        for taxonomy in self.taxonomies_of(info).await? {
            let field = field_of(&taxonomy);
            if form.get("has-terms").is_empty() {
                continue;
            }
            let own = ids(&item[&taxonomy.rest_base]);
            let before = opened.get(&field).and_then(Value::as_str).unwrap_or_default();
            let (mut wanted, names) = if taxonomy.hierarchical {
                let boxes: Vec<i64> = form.all(&field).filter_map(|id| id.parse().ok()).collect();
                let names = form.get(&format!("new-{field}"));
                if names.trim().is_empty() && id_list(boxes.clone()) == before {
                    continue;
                }
                (boxes, names)
            } else if form.get(&field) == before {
                continue;
            } else {
                (Vec::new(), form.get(&field))
            };
            // Those that the form does not show stay.
            wanted.extend(own.iter().skip(MOST_TERMS));
            let known = if taxonomy.hierarchical { Vec::new() } else { self.terms_named(&taxonomy, &own).await? };
            for name in names_in(names) {
                let id = match known.iter().find(|(_, known)| known.to_lowercase() == name.to_lowercase()) {
                    Some((id, _)) => *id,
                    None => self.term_of(&taxonomy, &name).await?,
                };
                wanted.push(id);
            }
            let mut seen = HashSet::new();
            wanted.retain(|id| seen.insert(*id));
            changes.insert(taxonomy.rest_base.clone(), json!(wanted));
        }
        Ok(())
    }

    /// The term of this name, which is created if there is none.
    async fn term_of(&self, taxonomy: &TaxonomyInfo, name: &str) -> Result<i64, Error> {
        match self.post(&taxonomy.rest_base, json!({ "name": name })).send().await {
            Ok(created) => Ok(created.data["id"].as_i64().unwrap_or_default()),
            Err(error) if error.code() == "term_exists" => {
                let id = error.data().and_then(|data| data["term_id"].as_i64());
                id.ok_or(error)
            }
            // Users who may not create terms can assign those that exist.
            Err(error) if error.status() == 403 => {
                let call = self.get(&taxonomy.rest_base).query("search", name).query("per_page", "100");
                let found = call.query("_fields", "id,name").send().await?.data;
                let same = |term: &&Value| plain(text(term, "/name")).to_lowercase() == name.to_lowercase();
                items(&found).iter().find(same).and_then(|term| term["id"].as_i64()).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_separated_by_commas() {
        assert_eq!(names_in(" a, B b ,,A,c"), ["a", "B b", "c"]);
        assert_eq!(names_in("\"Foo, Bar\", b, 7\" disc"), ["Foo, Bar", "b", "7\" disc"]);
        let list = name_list(["Foo, Bar", "b"].map(str::to_owned).into_iter());
        assert_eq!(names_in(&list), ["Foo, Bar", "b"]);
        let many = (0..500).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(names_in(&many).len(), MOST_TERMS);
    }
}

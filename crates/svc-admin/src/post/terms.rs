//! The terms of a post: check boxes for hierarchical taxonomies, names for the others.

use serde_json::{Map, Value, json};
use svc_login::Form;
use svc_schema::Error;

use crate::{
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

/// The names of a comma-separated list, without repetitions.
fn names_in(list: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
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
                let stored = terms.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
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
        for taxonomy in self.taxonomies_of(info).await? {
            let field = field_of(&taxonomy);
            if form.get("has-terms").is_empty() {
                continue;
            }
            let own = ids(&item[&taxonomy.rest_base]);
            let mut wanted: Vec<i64> = if taxonomy.hierarchical {
                form.all(&field).filter_map(|id| id.parse().ok()).collect()
            } else {
                Vec::new()
            };
            let names = if taxonomy.hierarchical { form.get(&format!("new-{field}")) } else { form.get(&field) };
            let known = if taxonomy.hierarchical { Vec::new() } else { self.terms_named(&taxonomy, &own).await? };
            for name in names_in(names) {
                let id = match known.iter().find(|(_, known)| known.to_lowercase() == name.to_lowercase()) {
                    Some((id, _)) => *id,
                    None => self.term_of(&taxonomy, &name).await?,
                };
                wanted.push(id);
            }
            let same = wanted.len() == own.len() && wanted.iter().all(|id| own.contains(id));
            if !same {
                changes.insert(taxonomy.rest_base.clone(), json!(wanted));
            }
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
        let many = (0..500).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(names_in(&many).len(), MOST_TERMS);
    }
}

//! The terms of a taxonomy: a list with a form for a new one, and a page for each.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_schema::Error;

use crate::{
    form::{self, Control, Field, FormView},
    layout::{Link, TaxonomyInfo, TypeInfo, plain},
    list::{Cell, List, Row, column, requested},
    posts::{allows, filters::term_param, unknown_action},
    request::{AdminRequest, items, text},
};

/// Number of terms on a page of the list.
pub(crate) const PER_PAGE: u64 = 100;

impl AdminRequest<'_> {
    async fn taxonomy(&self) -> Result<TaxonomyInfo, Error> {
        let name = self.param("taxonomy");
        let known = self.taxonomies().await?.into_iter().find(|info| info.name == name);
        known
            .ok_or_else(|| Error::new("admin_no_taxonomy", "You may not edit terms of this taxonomy.").with_status(403))
    }

    /// The fields of a term. `parents` are the terms that can be its parent.
    fn term_fields(info: &TaxonomyInfo, parents: &[Value], own: i64) -> Vec<Field> {
        let mut fields = vec![
            Field::new("name", "Name", Control::Line("text")).required(),
            Field::new("slug", "Slug", Control::Line("text")).help("The name in URLs. Derived from the name if empty."),
        ];
        if info.hierarchical {
            let mut options = vec![("0".to_owned(), "None".to_owned())];
            let others = parents.iter().filter(|term| term["id"] != own);
            options.extend(others.map(|term| (term["id"].to_string(), plain(text(term, "/name")))));
            fields.push(Field::new("parent", "Parent", Control::Choice(options)));
        }
        fields.push(Field::new("description", "Description", Control::Lines));
        fields
    }

    async fn terms_of(&self, info: &TaxonomyInfo) -> Result<Vec<Value>, Error> {
        let call = self.get(&info.rest_base).query("context", "edit").query("per_page", "100").query("orderby", "name");
        let terms = call.query("_fields", "id,name,parent").send().await?.data;
        Ok(items(&terms).to_vec())
    }

    /// The list of terms, with a form for a new one.
    pub(crate) async fn list_terms(&self) -> Page {
        let info = self.taxonomy().await?;
        let fields = Self::term_fields(&info, &self.terms_of(&info).await?, 0);
        self.terms_page(&info, form::values_of(fields, &json!({"parent": 0})), StatusCode::OK).await
    }

    async fn terms_page(&self, info: &TaxonomyInfo, fields: Vec<form::FieldView>, status: StatusCode) -> Page {
        let page = self.layout(&info.plural, &self.terms_url(&info.name)).await?;
        let call = self.get(&info.rest_base).query("context", "edit").query("search", self.param("s"));
        let call = call.query("_fields", "id,name,slug,count,parent,link,_links");
        let Some(reply) = self.read_page(call, PER_PAGE).await? else { return Ok(self.to_first_page()) };
        let types = self.types().await?;
        let of_type = types.iter().find(|post_type| post_type.taxonomies.contains(&info.name));
        let is_search = !self.param("s").is_empty();
        let rows = in_tree(items(&reply.data), !is_search);
        let list = List {
            search_label: "Search",
            search: self.param("s").to_owned(),
            kept: self.kept(&["taxonomy"]),
            columns: ["Name", "Slug", "Posts"].map(column).into(),
            rows: rows.into_iter().map(|(term, depth)| self.term_row(term, depth, info, of_type)).collect(),
            field: "term",
            actions: if info.can_manage { vec![("delete", "Delete")] } else { Vec::new() },
            empty: format!("There are no {} yet.", info.plural.to_lowercase()),
            pager: self.pager(&reply),
            ..List::default()
        };
        let view = FormView {
            title: format!("New {}", info.singular.to_lowercase()),
            action: self.terms_url(&info.name),
            fields,
            submit: "Create",
            hidden: Vec::new(),
            delete: None,
            confirm: "",
        };
        Ok(self.show_list(page, list, Some(&view)).with_status(status))
    }

    /// The row of a term. `of_type` is the post type whose list the number of posts leads to.
    fn term_row(&self, term: &Value, depth: usize, info: &TaxonomyInfo, of_type: Option<&TypeInfo>) -> Row {
        let id = term["id"].as_i64().unwrap_or_default();
        let name = plain(text(term, "/name"));
        let edit = self.url("term.php", &[("taxonomy", &info.name), ("tag_ID", &id.to_string())]);
        let label = format!("{}{name}", "— ".repeat(depth));
        Row {
            id,
            selectable: allows(term, "DELETE"),
            cells: vec![
                if allows(term, "PUT") { Cell::Link(Link::new(label, edit), Vec::new()) } else { Cell::Text(label) },
                Cell::Text(text(term, "/slug").to_owned()),
                match of_type {
                    Some(post_type) if term["count"] != 0 => {
                        let query = [("post_type", &*post_type.name), (&*term_param(&info.name), &*id.to_string())];
                        Cell::Links(vec![Link::new(term["count"].to_string(), self.url("edit.php", &query))])
                    }
                    _ => Cell::Text(term["count"].to_string()),
                },
            ],
            links: vec![Link::new("View", text(term, "/link"))],
            name,
            actions: Vec::new(),
        }
    }

    /// Creates a term, or deletes the selected ones.
    pub(crate) async fn change_terms(&self, form: &Form) -> Page {
        let info = self.taxonomy().await?;
        if form.get("action") != "save" {
            let Some((_, ids)) = requested(form, "term", &["delete"]) else { return Err(unknown_action()) };
            for id in ids {
                let call = self.call(Method::DELETE, format!("{}/{id}", info.rest_base));
                call.query("force", "true").send().await?;
            }
            return Ok(PrivateResponse::redirect(&self.after("deleted", &[])));
        }
        let fields = Self::term_fields(&info, &self.terms_of(&info).await?, 0);
        let mut body = form::changes(&fields, form);
        body.retain(|_, value| *value != "");
        match self.post(&info.rest_base, body.into()).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.after("created", &[]))),
            Err(error) if error.status() < 500 => {
                self.terms_page(&info, form::rejected(fields, form, &error), StatusCode::BAD_REQUEST).await
            }
            Err(error) => Err(error),
        }
    }

    /// The page of a term.
    pub(crate) async fn edit_term(&self) -> Page {
        let info = self.taxonomy().await?;
        let id = self.id("tag_ID").unwrap_or_default();
        let term = self.get(format!("{}/{id}", info.rest_base)).query("context", "edit").send().await?;
        let fields = Self::term_fields(&info, &self.terms_of(&info).await?, id);
        let views = form::values_of(fields, &term.data);
        self.term_page(&info, &term.data, views, term.state, None).await
    }

    async fn term_page(
        &self,
        info: &TaxonomyInfo,
        term: &Value,
        fields: Vec<form::FieldView>,
        state: String,
        error: Option<&Error>,
    ) -> Page {
        let name = plain(text(term, "/name"));
        let mut page = self.layout(&name, &self.terms_url(&info.name)).await?;
        page.problem = error.map(form::message_of).unwrap_or_default();
        let id = term["id"].to_string();
        let form = FormView {
            title: String::new(),
            action: self.url("term.php", &[("taxonomy", &info.name), ("tag_ID", &id)]),
            fields,
            submit: "Save",
            hidden: vec![("etag", state)],
            delete: info.can_manage.then_some("Delete"),
            confirm: "Delete this term? Its posts stay.",
        };
        let links = vec![Link::new(&info.plural, self.terms_url(&info.name)), Link::new("View", text(term, "/link"))];
        let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Ok(form::page(status, page, form, String::new(), links))
    }

    /// Saves or deletes a term.
    pub(crate) async fn save_term(&self, form: &Form) -> Page {
        let info = self.taxonomy().await?;
        let id = self.id("tag_ID").unwrap_or_default();
        let route = format!("{}/{id}", info.rest_base);
        if form.get("action") == "delete" {
            self.call(Method::DELETE, route).query("force", "true").send().await?;
            let list = svc_login::with_query(&self.terms_url(&info.name), &[("done", "deleted")]);
            return Ok(PrivateResponse::redirect(&list));
        }
        let term = self.get(&*route).query("context", "edit").send().await?;
        let fields = Self::term_fields(&info, &self.terms_of(&info).await?, id);
        let body = form::changes(&fields, form);
        match self.post(route, body.into()).if_match(form.get("etag")).send().await {
            Ok(_) => Ok(PrivateResponse::redirect(&self.after("saved", &[]))),
            Err(error) if error.status() < 500 => {
                let views = form::rejected(fields, form, &error);
                self.term_page(&info, &term.data, views, term.state, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}

/// Terms with their depth, each after its parent, if the list has it. Without `nested` they stay as they are.
pub(crate) fn in_tree(terms: &[Value], nested: bool) -> Vec<(&Value, usize)> {
    if !nested {
        return terms.iter().map(|term| (term, 0)).collect();
    }
    let has = |id: &Value| terms.iter().any(|term| term["id"] == *id);
    let roots = terms.iter().filter(|term| !has(&term["parent"]));
    let mut open: Vec<(&Value, usize)> = roots.rev().map(|term| (term, 0)).collect();
    let mut ordered = Vec::with_capacity(terms.len());
    while let Some((term, depth)) = open.pop() {
        if ordered.len() >= terms.len() {
            break;
        }
        ordered.push((term, depth));
        let children = terms.iter().filter(|child| child["parent"] == term["id"] && child["id"] != term["id"]);
        open.extend(children.rev().map(|child| (child, depth.saturating_add(1))));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_follow_their_parents() {
        let term = |id: i64, parent: i64| json!({"id": id, "parent": parent});
        let terms = [term(1, 0), term(2, 5), term(3, 1), term(4, 3), term(5, 0), term(6, 99)];
        let ids = |nested| -> Vec<(i64, usize)> {
            in_tree(&terms, nested).iter().map(|(t, depth)| (t["id"].as_i64().unwrap(), *depth)).collect()
        };
        assert_eq!(ids(true), [(1, 0), (3, 1), (4, 2), (5, 0), (2, 1), (6, 0)]);
        assert_eq!(ids(false).len(), 6);
        // Terms that are their own ancestors are left out, and do not hang the page.
        assert!(in_tree(&[term(1, 2), term(2, 1)], true).is_empty());
    }
}

//! What people call a type or a taxonomy and what they do with it: texts made of its two names, unless it brings its own.

use indexmap::IndexMap;
use serde_json::{Map, Value};
use svc_model::{PostType, Taxonomy};

/// Texts of a post type: name in the interface, text. `{One}` and `{Many}` stand for its names, small ones for the same
/// in lower case.
#[rustfmt::skip]
const POST_TYPE: [(&str, &str); 36] = [
    ("name", "{Many}"), ("singular_name", "{One}"), ("add_new", "New"), ("add_new_item", "New {one}"),
    ("edit_item", "Edit this {one}"), ("new_item", "Untitled {one}"), ("view_item", "Look at the {one}"),
    ("view_items", "Look at the {many}"), ("search_items", "Find {many}"), ("not_found", "There are no {many}."),
    ("not_found_in_trash", "There are no {many} in the trash."), ("parent_item_colon", "{One} above:"),
    ("all_items", "{Many}"), ("archives", "Archive of {many}"), ("attributes", "Details of the {one}"),
    ("insert_into_item", "Put into the {one}"), ("uploaded_to_this_item", "Uploaded for this {one}"),
    ("featured_image", "Main picture"), ("set_featured_image", "Choose the main picture"),
    ("remove_featured_image", "Take the main picture away"), ("use_featured_image", "Make it the main picture"),
    ("filter_items_list", "Narrow the list of {many}"), ("filter_by_date", "Narrow by date"),
    ("items_list_navigation", "Pages of the list of {many}"), ("items_list", "List of {many}"),
    ("item_published", "The {one} is published."), ("item_published_privately", "The {one} is published for few."),
    ("item_reverted_to_draft", "The {one} is a draft again."), ("item_trashed", "The {one} is in the trash."),
    ("item_scheduled", "The {one} is scheduled."), ("item_updated", "The {one} is saved."),
    ("item_link", "Link to a {one}"), ("item_link_description", "Leads to a {one}."), ("menu_name", "{Many}"),
    ("name_admin_bar", "{One}"), ("template_name", "One {one}"),
];

/// Texts of a taxonomy, in the same manner.
#[rustfmt::skip]
const TAXONOMY: [(&str, &str); 32] = [
    ("name", "{Many}"), ("singular_name", "{One}"), ("search_items", "Find {many}"), ("popular_items", "Often used {many}"),
    ("all_items", "{Many}"), ("parent_item", "{One} above"), ("parent_item_colon", "{One} above:"),
    ("name_field_description", "As visitors see it."),
    ("slug_field_description", "As it stands in addresses: small letters, digits and hyphens."),
    ("parent_field_description", "Puts it below another one. Rock could stand below Music, for example."),
    ("desc_field_description", "What it is about. Not every theme shows it."),
    ("edit_item", "Edit this {one}"), ("view_item", "Look at the {one}"), ("update_item", "Save the {one}"),
    ("add_new_item", "New {one}"), ("new_item_name", "Name of the new {one}"),
    ("separate_items_with_commas", "Put commas between {many}"), ("add_or_remove_items", "Give or take {many}"),
    ("choose_from_most_used", "Take one of the most used {many}"), ("not_found", "There are no {many}."),
    ("no_terms", "No {many}"), ("filter_by_item", "Narrow by {one}"),
    ("items_list_navigation", "Pages of the list of {many}"), ("items_list", "List of {many}"),
    ("most_used", "Used most"), ("back_to_items", "Back to the {many}"), ("item_link", "Link to a {one}"),
    ("item_link_description", "Leads to a {one}."), ("menu_name", "{Many}"), ("name_admin_bar", "{One}"),
    ("archives", "{Many}"), ("template_name", "Archive of a {one}"),
];

/// Texts that make sense only where items stand below one another, and only where they do not; the others are null.
const NESTED_ONLY: [&str; 4] = ["parent_item", "parent_item_colon", "parent_field_description", "filter_by_item"];
const FLAT_ONLY: [&str; 4] =
    ["popular_items", "separate_items_with_commas", "add_or_remove_items", "choose_from_most_used"];

/// The labels of a post type. The two oldest have no `template_name`.
pub(crate) fn of_type(kind: &PostType) -> Value {
    let left_out = if matches!(kind.name.as_str(), "post" | "page") { "template_name" } else { "" };
    let null = |name: &str| name == "parent_item_colon" && !kind.hierarchical;
    fill(&POST_TYPE, &kind.label, &kind.singular_label, &kind.labels, left_out, null)
}

/// The labels of a taxonomy. The two oldest have no `archives`.
pub(crate) fn of_taxonomy(taxonomy: &Taxonomy) -> Value {
    let left_out = if matches!(taxonomy.name.as_str(), "category" | "post_tag") { "archives" } else { "" };
    let null = |name: &str| if taxonomy.hierarchical { &FLAT_ONLY } else { &NESTED_ONLY }.contains(&name);
    fill(&TAXONOMY, &taxonomy.label, &taxonomy.singular_label, &taxonomy.labels, left_out, null)
}

fn fill(
    table: &[(&str, &str)],
    many: &str,
    one: &str,
    own: &IndexMap<String, String>,
    left_out: &str,
    null: impl Fn(&str) -> bool,
) -> Value {
    let names = [("{Many}", many.to_owned()), ("{One}", one.to_owned())];
    let small = [("{many}", many.to_lowercase()), ("{one}", one.to_lowercase())];
    let made = |text: &str| {
        let replaced = names.iter().chain(&small).fold(text.to_owned(), |text, (mark, name)| text.replace(mark, name));
        Value::String(replaced)
    };
    let rows = table.iter().filter(|(name, _)| *name != left_out);
    let mut labels: Map<String, Value> =
        rows.map(|(name, text)| ((*name).to_owned(), if null(name) { Value::Null } else { made(text) })).collect();
    labels.extend(own.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))));
    Value::Object(labels)
}

#[cfg(test)]
mod tests {
    use svc_model::{PostTypes, Taxonomies};

    use super::*;

    #[test]
    fn texts_are_made_of_the_names() {
        let types = PostTypes::default();
        let labels = |name: &str| of_type(types.get(name).unwrap());
        let rows = [
            ("post", "name", Value::from("Posts")),
            ("post", "add_new_item", Value::from("New post")),
            ("post", "parent_item_colon", Value::Null),
            ("page", "parent_item_colon", Value::from("Page above:")),
            // Its own.
            ("wp_template", "parent_item_colon", Value::from("Template above:")),
            ("attachment", "template_name", Value::from("One media")),
        ];
        for (kind, label, text) in rows {
            assert_eq!(labels(kind)[label], text, "{kind} {label}");
        }
        assert!(labels("post").get("template_name").is_none() && labels("page").get("template_name").is_none());
    }

    #[test]
    fn flat_and_nested_taxonomies_have_different_texts() {
        let taxonomies = Taxonomies::default();
        for taxonomy in taxonomies.iter() {
            let labels = of_taxonomy(taxonomy);
            for name in NESTED_ONLY {
                assert_eq!(labels[name].is_string(), taxonomy.hierarchical, "{} {name}", taxonomy.name);
            }
            for name in FLAT_ONLY {
                assert_eq!(labels[name].is_null(), taxonomy.hierarchical, "{} {name}", taxonomy.name);
            }
            let has_archives = !matches!(taxonomy.name.as_str(), "category" | "post_tag");
            assert_eq!(labels.get("archives").is_some(), has_archives, "{}", taxonomy.name);
            // Nothing is left to be filled in.
            assert!(!["{one}", "{One}", "{many}", "{Many}"].iter().any(|mark| labels.to_string().contains(mark)));
        }
    }
}

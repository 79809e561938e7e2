//! Labels of post types and taxonomies. They derive from the singular and plural names, unless the type has its own.

use indexmap::IndexMap;
use serde_json::{Map, Value};
use svc_model::{PostType, Taxonomy};

/// Labels of a post type: key and text. `{One}` and `{Many}` are replaced by the singular and plural name, `{one}` and
/// `{many}` by the same in lower case.
#[rustfmt::skip]
const POST_TYPE: [(&str, &str); 36] = [
    ("name", "{Many}"), ("singular_name", "{One}"), ("add_new", "Add"), ("add_new_item", "Add {One}"),
    ("edit_item", "Edit {One}"), ("new_item", "New {One}"), ("view_item", "View {One}"),
    ("view_items", "View {Many}"), ("search_items", "Search {Many}"), ("not_found", "No {many} found."),
    ("not_found_in_trash", "No {many} found in Trash."), ("parent_item_colon", "Parent {One}:"),
    ("all_items", "All {Many}"), ("archives", "{One} Archives"), ("attributes", "{One} Attributes"),
    ("insert_into_item", "Insert into {one}"), ("uploaded_to_this_item", "Uploaded to this {one}"),
    ("featured_image", "Featured image"), ("set_featured_image", "Set featured image"),
    ("remove_featured_image", "Remove featured image"), ("use_featured_image", "Use as featured image"),
    ("filter_items_list", "Filter {many} list"), ("filter_by_date", "Filter by date"),
    ("items_list_navigation", "{Many} list navigation"), ("items_list", "{Many} list"),
    ("item_published", "{One} published."), ("item_published_privately", "{One} published privately."),
    ("item_reverted_to_draft", "{One} reverted to draft."), ("item_trashed", "{One} trashed."),
    ("item_scheduled", "{One} scheduled."), ("item_updated", "{One} updated."),
    ("item_link", "{One} Link"), ("item_link_description", "A link to a {one}."), ("menu_name", "{Many}"),
    ("name_admin_bar", "{One}"), ("template_name", "Single item: {One}"),
];

/// Labels of a taxonomy, in the same format.
#[rustfmt::skip]
const TAXONOMY: [(&str, &str); 32] = [
    ("name", "{Many}"), ("singular_name", "{One}"), ("search_items", "Search {Many}"), ("popular_items", "Popular {Many}"),
    ("all_items", "All {Many}"), ("parent_item", "Parent {One}"), ("parent_item_colon", "Parent {One}:"),
    ("name_field_description", "The name that visitors see."),
    ("slug_field_description", "The name in URLs: lower-case letters, digits and hyphens."),
    ("parent_field_description", "Select a parent to build a hierarchy, for example Rock under Music."),
    ("desc_field_description", "A description. Not every theme displays it."),
    ("edit_item", "Edit {One}"), ("view_item", "View {One}"), ("update_item", "Update {One}"),
    ("add_new_item", "Add {One}"), ("new_item_name", "New {One} Name"),
    ("separate_items_with_commas", "Separate {many} with commas"), ("add_or_remove_items", "Add or remove {many}"),
    ("choose_from_most_used", "Choose from the most used {many}"), ("not_found", "No {many} found."),
    ("no_terms", "No {many}"), ("filter_by_item", "Filter by {one}"),
    ("items_list_navigation", "{Many} list navigation"), ("items_list", "{Many} list"),
    ("most_used", "Most Used"), ("back_to_items", "Go to {Many}"), ("item_link", "{One} Link"),
    ("item_link_description", "A link to a {one}."), ("menu_name", "{Many}"), ("name_admin_bar", "{One}"),
    ("archives", "All {Many}"), ("template_name", "{One} Archives"),
];

/// Labels of hierarchical taxonomies only, and of flat taxonomies only; they are null in other taxonomies.
const HIERARCHICAL_ONLY: [&str; 4] = ["parent_item", "parent_item_colon", "parent_field_description", "filter_by_item"];
const FLAT_ONLY: [&str; 4] =
    ["popular_items", "separate_items_with_commas", "add_or_remove_items", "choose_from_most_used"];

/// The labels of a post type. `post` and `page` have no `template_name`.
pub(crate) fn of_type(post_type: &PostType) -> Value {
    let omitted = if matches!(post_type.name.as_str(), "post" | "page") { "template_name" } else { "" };
    let is_null = |name: &str| name == "parent_item_colon" && !post_type.hierarchical;
    fill(&POST_TYPE, &post_type.label, &post_type.singular_label, &post_type.labels, omitted, is_null)
}

/// The labels of a taxonomy. `category` and `post_tag` have no `archives`.
pub(crate) fn of_taxonomy(taxonomy: &Taxonomy) -> Value {
    let omitted = if matches!(taxonomy.name.as_str(), "category" | "post_tag") { "archives" } else { "" };
    let is_null = |name: &str| if taxonomy.hierarchical { &FLAT_ONLY } else { &HIERARCHICAL_ONLY }.contains(&name);
    fill(&TAXONOMY, &taxonomy.label, &taxonomy.singular_label, &taxonomy.labels, omitted, is_null)
}

fn fill(
    table: &[(&str, &str)],
    many: &str,
    one: &str,
    overrides: &IndexMap<String, String>,
    omitted: &str,
    is_null: impl Fn(&str) -> bool,
) -> Value {
    let names = [("{Many}", many.to_owned()), ("{One}", one.to_owned())];
    let small = [("{many}", many.to_lowercase()), ("{one}", one.to_lowercase())];
    let expand = |text: &str| {
        let replaced = names.iter().chain(&small).fold(text.to_owned(), |text, (mark, name)| text.replace(mark, name));
        Value::String(replaced)
    };
    let rows = table.iter().filter(|(name, _)| *name != omitted);
    let mut labels: Map<String, Value> =
        rows.map(|(name, text)| ((*name).to_owned(), if is_null(name) { Value::Null } else { expand(text) })).collect();
    labels.extend(overrides.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))));
    Value::Object(labels)
}

#[cfg(test)]
mod tests {
    use svc_model::{PostTypes, Taxonomies};

    use super::*;

    #[test]
    fn labels_derive_from_the_names() {
        let types = PostTypes::default();
        let labels = |name: &str| of_type(types.get(name).unwrap());
        let rows = [
            ("post", "name", Value::from("Posts")),
            ("post", "add_new_item", Value::from("Add Post")),
            ("post", "parent_item_colon", Value::Null),
            ("page", "parent_item_colon", Value::from("Parent Page:")),
            // The type's own label.
            ("wp_template", "parent_item_colon", Value::from("Parent Template:")),
            ("attachment", "template_name", Value::from("Single item: Media")),
        ];
        for (post_type, label, text) in rows {
            assert_eq!(labels(post_type)[label], text, "{post_type} {label}");
        }
        assert!(labels("post").get("template_name").is_none() && labels("page").get("template_name").is_none());
    }

    #[test]
    fn flat_and_hierarchical_taxonomies_have_different_labels() {
        let taxonomies = Taxonomies::default();
        for taxonomy in taxonomies.iter() {
            let labels = of_taxonomy(taxonomy);
            for name in HIERARCHICAL_ONLY {
                assert_eq!(labels[name].is_string(), taxonomy.hierarchical, "{} {name}", taxonomy.name);
            }
            for name in FLAT_ONLY {
                assert_eq!(labels[name].is_null(), taxonomy.hierarchical, "{} {name}", taxonomy.name);
            }
            let has_archives = !matches!(taxonomy.name.as_str(), "category" | "post_tag");
            assert_eq!(labels.get("archives").is_some(), has_archives, "{}", taxonomy.name);
            // All placeholders are replaced.
            assert!(!["{one}", "{One}", "{many}", "{Many}"].iter().any(|mark| labels.to_string().contains(mark)));
        }
    }
}

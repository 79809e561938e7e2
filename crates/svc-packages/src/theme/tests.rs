//! Complete themes in a temporary folder.

use std::fs;

use super::*;

/// Creates a themes folder with these files.
fn themes(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("failed to create a temporary folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("path without a folder")).expect("failed to create a folder");
        fs::write(path, text).expect("failed to write");
    }
    folder
}

const FILES: &[(&str, &str)] = &[
    (
        "base/style.css",
        "/*\nTheme Name: Base <b>x</b> & <em>y</em>\nTags: One , two,, Three\nAuthor URI: javascript:x\n*/",
    ),
    ("base/theme.json", r#"{"version":3,"customTemplates":[{"name":"wide","title":"Wide","postTypes":["post"]}]}"#),
    ("base/templates/index.html", "base index"),
    ("base/templates/sub/deep.html", "deep"),
    ("base/parts/header.html", "base header"),
    (
        "base/patterns/one.php",
        "<?php\n/**\n * Title: One\n * Slug: base/one\n * Keywords: act now\n * Viewport Width: 9px\n * Inserter: no\n */\n?>\none",
    ),
    ("base/patterns/nameless.php", "<?php\n/**\n * Title: No slug\n */\n?>\nx"),
    ("base/styles/b.json", r#"{"version":3,"title":"B","styles":{"color":{"text":"red"}}}"#),
    (
        "base/styles/part.json",
        r#"{"version":3,"slug":"part","blockTypes":["core/group"],"styles":{"color":{"text":"red"}}}"#,
    ),
    ("kid/style.css", "/*\nTheme Name: Kid\nTemplate: base\n*/"),
    ("kid/templates/index.html", "kid index"),
    ("kid/styles/b.json", r#"{"version":3,"title":"Kid's"}"#),
    ("kid/screenshot.jpg", ""),
    ("orphan/style.css", "/*\nTheme Name: Orphan\nTemplate: nowhere\n*/"),
    ("empty/style.css", "/*\nTheme Name: Nothing to draw with\n*/"),
    ("classic/style.css", "/*\nTheme Name: Classic\n*/"),
    ("classic/index.php", "<?php"),
    ("classic/pages/wide.php", "<?php\n/* Template Name: Wide\n Template Post Type: post, page */"),
    ("group/inner/style.css", "/*\nTheme Name: Inner\n*/"),
    ("group/inner/templates/index.html", "x"),
];

#[test]
fn lists_folders_in_rest_api_order() {
    let folder = themes(FILES);
    assert_eq!(folders(folder.path()), ["base", "classic", "empty", "group/inner", "kid", "orphan"]);
}

#[test]
fn reads_a_theme() {
    let folder = themes(FILES);
    let theme = Theme::read(folder.path(), "base", "https://e.org/themes").expect("theme not found");
    assert_eq!(theme.about.name, "Base x &amp; <em>y</em>");
    assert_eq!(theme.about.author_uri, "");
    assert_eq!(theme.about.tags, [(0, "One".to_owned()), (1, "two".to_owned()), (3, "Three".to_owned())]);
    let mut slugs: Vec<_> = theme.templates.iter().map(|t| t.slug.as_str()).collect();
    slugs.sort_unstable();
    assert_eq!(slugs, ["index", "sub/deep"]);
    let [pattern] = theme.patterns.as_slice() else { panic!("expected one pattern") };
    assert_eq!((pattern.keywords.len(), pattern.viewport_width, pattern.inserter), (2, Some(9), Some(false)));
    assert_eq!(pattern.content, "one");
    assert_eq!(theme.custom_templates().next(), Some(("wide", Some("Wide"), vec!["post"])));
    let merged = theme.merged_json();
    let group = &merged.styles()["blocks"]["core/group"]["variations"]["part"]["color"]["text"];
    assert_eq!(group, "red");
    assert_eq!(theme.page_variations().count(), 1);
}

#[test]
fn child_themes_inherit_from_their_parent() {
    let folder = themes(FILES);
    let theme = Theme::read(folder.path(), "kid", "").expect("theme not found");
    let index = theme.templates.iter().find(|t| t.slug == "index").expect("index template not found");
    assert_eq!((theme.template.as_str(), index.content.as_str()), ("base", "kid index"));
    assert_eq!((theme.templates.len(), theme.parts.len(), theme.patterns.len()), (2, 1, 1));
    assert_eq!(
        theme.page_variations().map(|v| v.json.get("title").cloned()).collect::<Vec<_>>(),
        [Some("Kid's".into())]
    );
    assert_eq!(theme.screenshot.as_deref(), Some("screenshot.jpg"));
    assert!(theme.is_block_theme && theme.custom_templates().count() == 1);
}

#[test]
fn broken_themes_are_rejected() {
    let folder = themes(FILES);
    for name in ["orphan", "empty", "group", "nosuch", "", "..", "../base", "a/b/c", "base/../base", ".hidden"] {
        assert!(Theme::read(folder.path(), name, "").is_none(), "{name}");
    }
    let classic = Theme::read(folder.path(), "classic", "").expect("theme not found");
    assert!(!classic.is_block_theme && classic.has_page_template("pages/wide.php", "page"));
}

#[test]
fn reports_changed_files() {
    let folder = themes(FILES);
    let theme = Theme::read(folder.path(), "kid", "").expect("theme not found");
    let before = theme.changed();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let file =
        fs::File::options().write(true).open(folder.path().join("base/parts/header.html")).expect("failed to open");
    file.set_modified(later).expect("failed to set the time");
    assert!(theme.changed() > before);
}

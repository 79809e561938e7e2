//! Texts that only PHP renders: a plugin with shortcodes, a block and a filter. The gateway must respond with the texts of WordPress, which it
//! requests through the connector.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{
    gateway::{Gateway, get, is_forwarded},
    say,
    server::send,
};

const PLUGIN: &str = r#"<?php
add_action( 'init', static function () {
    foreach ( array( 'svc_notice' => 'svc-notices', 'svc_memo' => 'svc-memos' ) as $name => $base ) {
        register_post_type( $name, array( 'label' => $name, 'public' => true, 'show_in_rest' => true, 'rest_base' => $base,
            'supports' => array( 'title', 'editor', 'excerpt' ) ) );
    }
    register_block_type( 'svc/slogan', array( 'render_callback' => static function () {
        return '<p>' . esc_html( get_option( 'blogdescription' ) ) . '</p>';
    } ) );
} );
add_shortcode( 'svc_sum', static function ( $attributes ) {
    return (string) array_sum( explode( ',', $attributes['of'] ?? '' ) );
} );
add_shortcode( 'svc_slogan', static function () {
    return esc_html( get_option( 'blogdescription' ) );
} );
add_shortcode( 'svc_user', static function () {
    return 'user ' . get_current_user_id();
} );
add_shortcode( 'svc_count', static function () {
    static $n = 0;
    return (string) ++$n;
} );
add_filter( 'the_content', static function ( $content ) {
    return 'svc_memo' === get_post_type() ? $content . '<p>A memo.</p>' : $content;
}, 20 );
"#;

/// Collections of the plugin's types. A filter changes the texts of memos.
const NOTICES: &str = "/wp-json/wp/v2/svc-notices";
const MEMOS: &str = "/wp-json/wp/v2/svc-memos";

/// Contents of notices that can be rendered.
const CONTENTS: [&str; 5] = [
    "[svc_sum of=\"1,2\"] and [svc_slogan]",
    "<!-- wp:paragraph --><p>[svc_user]</p><!-- /wp:paragraph -->",
    "<!-- wp:group --><div class=\"wp-block-group\"><!-- wp:svc/slogan /--></div><!-- /wp:group -->",
    "Nothing special.",
    "<!-- wp:block {\"ref\":PATTERN} /-->",
];

/// A text that differs in each rendering.
const COUNTER: &str = "[svc_count]";

/// The longest time until a comparison has led to a route that the gateway handles.
const HANDLED: Duration = Duration::from_secs(60);

/// The plugin, its posts and the connector. All are removed on drop.
struct Fixture {
    gateway: Gateway,
    plugin: PathBuf,
    /// Paths of the posts.
    posts: Vec<String>,
    slogan: String,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(self.set_slogan(&self.slogan));
        for path in &self.posts {
            drop(self.php("DELETE", &format!("{path}?force=true"), None));
        }
        drop(fs::remove_file(&self.plugin));
        drop(self.gateway.command().args(["connector", "remove"]).output());
    }
}

impl Fixture {
    /// A request to WordPress.
    fn php(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let response = send(&self.gateway.site, method, path, &self.gateway.credentials, body)?;
        ensure!(response.status < 300, "{method} {path}: {} {}", response.status, response.body);
        response.json()
    }

    fn set_slogan(&self, slogan: &str) -> Result<()> {
        self.php("POST", "/wp-json/wp/v2/settings", Some(&json!({"description": slogan}))).map(drop)
    }

    fn add(&mut self, collection: &str, content: &str) -> Result<u64> {
        let body = json!({"title": "A text", "content": content, "status": "publish"});
        let id = self.php("POST", collection, Some(&body))?["id"].as_u64().context("no id")?;
        self.posts.push(format!("{collection}/{id}"));
        Ok(id)
    }

    /// Whether the gateway forwards a read. Its response must be WordPress's.
    fn forwards(&self, path: &str) -> Result<bool> {
        let (ours, theirs) = (get(self.gateway.address(), path, "")?, get(&self.gateway.site, path, "")?);
        let (body, expected) = (ours.json()?, theirs.json()?);
        ensure!(body == expected, "{path} differs: {body:#} in place of {expected:#}");
        Ok(is_forwarded(&ours))
    }

    /// Waits until the gateway handles a read.
    fn wait_until_handled(&self, path: &str) -> Result<()> {
        let begun = Instant::now();
        while self.forwards(path)? {
            ensure!(begun.elapsed() < HANDLED, "{path} is not handled: {}", self.gateway.log());
            std::thread::sleep(Duration::from_millis(300));
        }
        Ok(())
    }
}

/// Checks the responses with texts of a plugin.
pub(super) fn check(program: &Path, site: &Path) -> Result<()> {
    let plugin = site.join("wp-content/mu-plugins/svc-texts.php");
    fs::write(&plugin, PLUGIN).context("cannot install the plugin")?;
    let Some(mut gateway) = Gateway::start(program, site, "shadow_percent = 0")? else {
        drop(fs::remove_file(&plugin));
        return say("skipped: the WordPress site does not respond");
    };
    gateway.kill();
    let mut fixture = Fixture { gateway, plugin, posts: Vec::new(), slogan: String::new() };
    let slogan = get(&fixture.gateway.site, "/wp-json/?_fields=description", "")?.json()?;
    slogan["description"].as_str().unwrap_or_default().clone_into(&mut fixture.slogan);
    let installed = fixture.gateway.command().args(["connector", "install"]).output()?;
    ensure!(installed.status.success(), "connector install: {}", String::from_utf8_lossy(&installed.stderr));
    // PHP may have cached earlier contents of the files.
    let begun = Instant::now();
    while !fixture.gateway.command().args(["connector", "status"]).output()?.status.success() {
        ensure!(begun.elapsed() < HANDLED, "the connector does not respond");
        std::thread::sleep(Duration::from_secs(1));
    }
    fixture.gateway.restart()?;
    let pattern = fixture.add("/wp-json/wp/v2/blocks", "<!-- wp:svc/slogan /-->[svc_sum of=\"3,4\"]")?;
    for content in CONTENTS {
        fixture.add(NOTICES, &content.replace("PATTERN", &pattern.to_string()))?;
        fixture.add(MEMOS, &content.replace("PATTERN", &pattern.to_string()))?;
    }
    let credentials = fixture.gateway.credentials.clone();
    let mut n_reads = 0;
    for collection in [NOTICES, MEMOS] {
        for query in ["", "?_embed", "?_fields=id,title,excerpt"] {
            fixture.wait_until_handled(&format!("{collection}{query}"))?;
            n_reads += 1;
        }
    }
    // A change of what a text depends on shows at once.
    for slogan in ["First slogan", "Second slogan"] {
        fixture.set_slogan(slogan)?;
        for path in [NOTICES, MEMOS] {
            let response = get(fixture.gateway.address(), path, "")?;
            ensure!(response.body.contains(slogan), "{path} is older than the slogan: {:.2000}", response.body);
            n_reads += 1;
        }
        fixture.wait_until_handled(NOTICES)?;
    }
    // After a write, the next read has the new text.
    let body = json!({"content": "Sum: [svc_sum of=\"20,22\"]"});
    let path = fixture.posts.iter().find(|path| path.starts_with(NOTICES)).context("no notice")?.clone();
    let written = send(fixture.gateway.address(), "POST", &path, &credentials, Some(&body))?;
    ensure!(is_forwarded(&written), "a write was not forwarded: {}", written.body);
    ensure!(written.json()?["content"]["rendered"] == "<p>Sum: 42</p>\n", "the response to a write: {}", written.body);
    // A change in between, such as one of WordPress's own, may leave one read without the text.
    ensure!(!fixture.forwards(&path)? || !fixture.forwards(&path)?, "{path} is forwarded");
    // A text that differs each time is WordPress's, and does not stay in the way.
    let id = fixture.add(NOTICES, COUNTER)?;
    let path = format!("{NOTICES}/{id}");
    for path in [NOTICES, &path] {
        let response = get(fixture.gateway.address(), path, "")?;
        if !is_forwarded(&response) {
            bail!("{path} has a text that differs each time, and is handled: {:.2000}", response.body);
        }
    }
    fixture.php("DELETE", &format!("{path}?force=true"), None)?;
    fixture.posts.retain(|other| *other != path);
    fixture.wait_until_handled(NOTICES)?;
    say(&format!("{:24} {n_reads} reads equal", "(texts of a plugin)"))
}

//! The plugins and themes, how they are fetched and activated.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use xtask_support::{
    gateway::{Gateway, get, is_forwarded},
    server::send,
};

/// A plugin with a public repository, or a theme.
pub(super) struct Plugin {
    /// Owner and name of the repository.
    repository: &'static str,
    /// Folder of the plugin in the repository; empty for the whole.
    within: &'static str,
    /// Folder among the site's plugins or themes.
    pub(super) folder: &'static str,
    /// Main file of a plugin, below the folder of plugins. Empty for a theme.
    file: &'static str,
}

const fn plugin(repository: &'static str, folder: &'static str, file: &'static str) -> Plugin {
    Plugin { repository, within: "", folder, file }
}

const fn theme(repository: &'static str, folder: &'static str) -> Plugin {
    Plugin { repository, within: "", folder, file: "" }
}

const fn within(repository: &'static str, within: &'static str, folder: &'static str, file: &'static str) -> Plugin {
    Plugin { repository, within, folder, file }
}

/// Plugins that add types, fields, meta, tables, routes or credentials, that filter responses, or that write on each request, and a theme: for
/// membership, search engines, languages, events, forms, shops, courses, layouts, security and statistics.
#[rustfmt::skip]
pub(super) const PLUGINS: &[Plugin] = &[
    plugin("CMB2/CMB2", "cmb2", "cmb2/init.php"),
    plugin("Automattic/Co-Authors-Plus", "co-authors-plus", "co-authors-plus/co-authors-plus.php"),
    plugin("Tmeister/wp-api-jwt-auth", "jwt-authentication", "jwt-authentication/jwt-auth.php"),
    plugin("pantheon-systems/wp-redis", "wp-redis", "wp-redis/wp-redis.php"),
    plugin("rocklobster-in/contact-form-7", "contact-form-7", "contact-form-7/wp-contact-form-7.php"),
    within("wp-graphql/wp-graphql", "plugins/wp-graphql", "wp-graphql", "wp-graphql/wp-graphql.php"),
    plugin("AdvancedCustomFields/acf", "acf", "acf/acf.php"),
    plugin("WebDevStudios/custom-post-type-ui", "custom-post-type-ui", "custom-post-type-ui/custom-post-type-ui.php"),
    plugin("WP-API/rest-filter", "rest-filter", "rest-filter/plugin.php"),
    plugin("wpmetabox/meta-box", "meta-box", "meta-box/meta-box.php"),
    plugin("Automattic/Edit-Flow", "edit-flow", "edit-flow/edit_flow.php"),
    plugin("sybrew/the-seo-framework", "autodescription", "autodescription/autodescription.php"),
    plugin("polylang/polylang", "polylang", "polylang/polylang.php"),
    plugin("awesomemotive/easy-digital-downloads", "easy-digital-downloads", "easy-digital-downloads/easy-digital-downloads.php"),
    plugin("10up/simple-local-avatars", "simple-local-avatars", "simple-local-avatars/simple-local-avatars.php"),
    plugin("pods-framework/pods", "pods", "pods/init.php"),
    plugin("johnbillion/query-monitor", "query-monitor", "query-monitor/query-monitor.php"),
    within("bbpress/bbPress", "src", "bbpress", "bbpress/bbpress.php"),
    within("buddypress/buddypress", "src", "buddypress", "buddypress/bp-loader.php"),
    plugin("themeum/qubely", "qubely", "qubely/qubely.php"),
    plugin("roots/soil", "soil", "soil/soil.php"),
    plugin("humanmade/authorship", "authorship", "authorship/plugin.php"),
    plugin("strangerstudios/paid-memberships-pro", "paid-memberships-pro", "paid-memberships-pro/paid-memberships-pro.php"),
    plugin("rankmath/seo-by-rank-math", "seo-by-rank-math", "seo-by-rank-math/rank-math.php"),
    plugin("qtranslate/qtranslate-xt", "qtranslate-xt", "qtranslate-xt/qtranslate.php"),
    plugin("stephenharris/Event-Organiser", "event-organiser", "event-organiser/event-organiser.php"),
    plugin("Strategy11/formidable-forms", "formidable", "formidable/formidable.php"),
    plugin("themeum/tutor", "tutor", "tutor/tutor.php"),
    plugin("siteorigin/siteorigin-panels", "siteorigin-panels", "siteorigin-panels/siteorigin-panels.php"),
    plugin("WordPress/two-factor", "two-factor", "two-factor/two-factor.php"),
    within("Arsenal21/all-in-one-wordpress-security", "all-in-one-wp-security", "all-in-one-wp-security", "all-in-one-wp-security/wp-security.php"),
    plugin("WPChef/limit-login-attempts-reloaded", "limit-login-attempts-reloaded", "limit-login-attempts-reloaded/limit-login-attempts-reloaded.php"),
    plugin("pluginkollektiv/statify", "statify", "statify/statify.php"),
    plugin("wp-statistics/wp-statistics", "wp-statistics", "wp-statistics/wp-statistics.php"),
    plugin("lesterchan/wp-postviews", "wp-postviews", "wp-postviews/wp-postviews.php"),
    plugin("johngodley/redirection", "redirection", "redirection/redirection.php"),
    plugin("Automattic/WP-Job-Manager", "wp-job-manager", "wp-job-manager/wp-job-manager.php"),
    plugin("woocommerce/action-scheduler", "action-scheduler", "action-scheduler/action-scheduler.php"),
    plugin("bonny/WordPress-Simple-History", "simple-history", "simple-history/index.php"),
    plugin("msaari/relevanssi", "relevanssi", "relevanssi/relevanssi.php"),
    plugin("Yoast/duplicate-post", "duplicate-post", "duplicate-post/duplicate-post.php"),
    plugin("johnbillion/user-switching", "user-switching", "user-switching/user-switching.php"),
    plugin("stuttter/wp-user-profiles", "wp-user-profiles", "wp-user-profiles/wp-user-profiles.php"),
    plugin("rocklobster-in/bogo", "bogo", "bogo/bogo.php"),
    plugin("justintadlock/members", "members", "members/members.php"),
    plugin("lesterchan/wp-polls", "wp-polls", "wp-polls/wp-polls.php"),
    plugin("ultimatemember/ultimatemember", "ultimate-member", "ultimate-member/ultimate-member.php"),
    plugin("weDevsOfficial/wp-user-frontend", "wp-user-frontend", "wp-user-frontend/wpuf.php"),
    plugin("Sucuri/sucuri-wordpress-plugin", "sucuri-scanner", "sucuri-scanner/sucuri.php"),
    plugin("TablePress/TablePress", "tablepress", "tablepress/tablepress.php"),
    plugin("gocodebox/lifterlms", "lifterlms", "lifterlms/lifterlms.php"),
    plugin("Automattic/sensei", "sensei-lms", "sensei-lms/sensei-lms.php"),
    plugin("Automattic/wordpress-activitypub", "activitypub", "activitypub/activitypub.php"),
    plugin("tlovett1/custom-contact-forms", "custom-contact-forms", "custom-contact-forms/custom-contact-forms.php"),
    plugin("WordPress/secure-custom-fields", "secure-custom-fields", "secure-custom-fields/secure-custom-fields.php"),
    plugin("stuttter/wp-event-calendar", "wp-event-calendar", "wp-event-calendar/wp-event-calendar.php"),
    theme("WordPress/twentytwentyfour", "twentytwentyfour"),
];

/// Switches to the theme whose name is in a file next to it, once.
const SWITCH: &str = "<?php
add_action( 'init', static function () {
\t$file = __DIR__ . '/svc-theme.txt';
\t$theme = is_file( $file ) ? trim( file_get_contents( $file ) ) : '';
\tif ( $theme !== '' && get_stylesheet() !== $theme ) {
\t\tswitch_theme( $theme );
\t}
} );
";

impl Plugin {
    fn is_theme(&self) -> bool {
        self.file.is_empty()
    }

    /// The folder of the plugin on the site whose folder of contents this is.
    fn target(&self, content: &Path) -> PathBuf {
        content.join(if self.is_theme() { "themes" } else { "plugins" }).join(self.folder)
    }

    /// Fetches the plugin and copies it to the site.
    ///
    /// # Errors
    /// If it cannot be fetched, or needs a build.
    pub(super) fn install(&self, from: &str, work: &Path, content: &Path) -> Result<()> {
        let target = self.target(content);
        ensure!(!target.exists(), "{} exists", target.display());
        ensure!(from.contains("{owner}") && from.contains("{name}"), "--from needs {{owner}} and {{name}}: {from}");
        let (owner, name) = self.repository.split_once('/').context("a repository has an owner")?;
        let source = from.replace("{owner}", owner).replace("{name}", name);
        let clone = work.join(self.folder);
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--depth", "1", &source]).arg(&clone);
        let status =
            git.env("GIT_TERMINAL_PROMPT", "0").stderr(Stdio::null()).status().context("git is not installed")?;
        ensure!(status.success(), "{source} cannot be cloned");
        let root = clone.join(self.within);
        let file = Path::new(self.file).file_name().unwrap_or("style.css".as_ref());
        ensure!(root.join(file).is_file(), "the repository has no {}", file.display());
        std::fs::remove_dir_all(clone.join(".git")).context("cannot remove .git")?;
        if root.join("composer.json").is_file() && !root.join("vendor/autoload.php").exists() {
            // Where that is enough: the list of the plugin's own classes.
            let mut composer = Command::new("composer");
            composer.args(["dump-autoload", "--quiet", "--no-plugins", "--no-scripts", "--ignore-platform-reqs"]);
            composer.current_dir(&root).env("COMPOSER_ALLOW_SUPERUSER", "1").stderr(Stdio::null());
            drop(composer.status());
        }
        xtask_support::run(Command::new("cp").arg("-r").arg(&root).arg(&target))
    }

    /// Removes the plugin's files. WordPress ignores active plugins without files.
    pub(super) fn remove(&self, content: &Path) {
        drop(std::fs::remove_dir_all(self.target(content)));
    }

    /// Activates or deactivates the plugin. `theme` is the site's own theme.
    ///
    /// # Errors
    /// If WordPress refuses, or does not respond any more.
    pub(super) fn activate(&self, gateway: &Gateway, content: &Path, theme: &str, wanted: bool) -> Result<()> {
        if self.is_theme() {
            switch_theme(gateway, content, if wanted { self.folder } else { theme })?;
        } else {
            self.activate_plugin(gateway, wanted)?;
        }
        // A plugin that breaks the site is not a difference.
        let index = get(&gateway.site, "/wp-json/?_fields=name", "")?;
        ensure!(index.status == 200, "WordPress fails with it: {:.160}", index.body);
        Ok(())
    }

    /// Activates or deactivates a plugin through the gateway; the request must reach WordPress.
    fn activate_plugin(&self, gateway: &Gateway, wanted: bool) -> Result<()> {
        let path = format!("/wp-json/wp/v2/plugins/{}", self.file.trim_end_matches(".php"));
        let status = if wanted { "active" } else { "inactive" };
        let body = json!({ "status": status });
        let response = send(gateway.address(), "PUT", &path, &gateway.credentials, Some(&body))?;
        ensure!(is_forwarded(&response), "the gateway did not forward the request");
        ensure!(response.status == 200, "{}: {:.160}", response.status, response.body);
        ensure!(response.json()?["status"] == status, "the status is not {status}: {:.160}", response.body);
        Ok(())
    }
}

/// The folder of the site's theme.
///
/// # Errors
/// If the site does not respond.
pub(super) fn active_theme(gateway: &Gateway) -> Result<String> {
    let themes = get(&gateway.site, "/wp-json/wp/v2/themes?status=active", &gateway.credentials)?.json()?;
    Ok(themes[0]["stylesheet"].as_str().context("no theme is active")?.to_owned())
}

/// Switches the theme as an administrator does in `wp-admin`: the REST API cannot.
fn switch_theme(gateway: &Gateway, content: &Path, theme: &str) -> Result<()> {
    let files = [("svc-theme.txt", theme), ("svc-theme.php", SWITCH)].map(|(name, text)| {
        let file = content.join("mu-plugins").join(name);
        std::fs::write(&file, text).map(|()| file)
    });
    let switched = get(&gateway.site, "/wp-json/?_fields=name", "");
    for file in files {
        std::fs::remove_file(file.context("cannot write a plugin")?).context("cannot remove a plugin")?;
    }
    switched?;
    let active = active_theme(gateway)?;
    ensure!(active == theme, "the theme is still {active}");
    Ok(())
}

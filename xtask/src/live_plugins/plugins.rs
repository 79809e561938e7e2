//! The plugins, and how they are fetched.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// A plugin with a public repository.
pub(super) struct Plugin {
    /// Owner and name of the repository.
    repository: &'static str,
    /// Folder of the plugin in the repository; empty for the whole.
    within: &'static str,
    /// Folder among the site's plugins.
    pub(super) folder: &'static str,
    /// Main file, below the folder of plugins.
    pub(super) file: &'static str,
}

const fn plugin(repository: &'static str, folder: &'static str, file: &'static str) -> Plugin {
    Plugin { repository, within: "", folder, file }
}

/// Plugins that add types, fields, meta, routes or credentials, or that filter responses.
pub(super) const PLUGINS: &[Plugin] = &[
    plugin("CMB2/CMB2", "cmb2", "cmb2/init.php"),
    plugin("Automattic/Co-Authors-Plus", "co-authors-plus", "co-authors-plus/co-authors-plus.php"),
    plugin("Tmeister/wp-api-jwt-auth", "jwt-authentication", "jwt-authentication/jwt-auth.php"),
    plugin("pantheon-systems/wp-redis", "wp-redis", "wp-redis/wp-redis.php"),
    plugin("rocklobster-in/contact-form-7", "contact-form-7", "contact-form-7/wp-contact-form-7.php"),
    Plugin {
        repository: "wp-graphql/wp-graphql",
        within: "plugins/wp-graphql",
        folder: "wp-graphql",
        file: "wp-graphql/wp-graphql.php",
    },
    plugin("AdvancedCustomFields/acf", "acf", "acf/acf.php"),
    plugin("WebDevStudios/custom-post-type-ui", "custom-post-type-ui", "custom-post-type-ui/custom-post-type-ui.php"),
    plugin("WP-API/rest-filter", "rest-filter", "rest-filter/plugin.php"),
    plugin("wpmetabox/meta-box", "meta-box", "meta-box/meta-box.php"),
    plugin("Automattic/Edit-Flow", "edit-flow", "edit-flow/edit_flow.php"),
    plugin("sybrew/the-seo-framework", "autodescription", "autodescription/autodescription.php"),
    plugin("polylang/polylang", "polylang", "polylang/polylang.php"),
    plugin(
        "easydigitaldownloads/easy-digital-downloads",
        "easy-digital-downloads",
        "easy-digital-downloads/easy-digital-downloads.php",
    ),
];

impl Plugin {
    /// Fetches the plugin and copies it to the folder of plugins.
    ///
    /// # Errors
    /// If it cannot be fetched, or needs a build.
    pub(super) fn install(&self, from: &str, work: &Path, plugins: &Path) -> Result<()> {
        let target = plugins.join(self.folder);
        ensure!(!target.exists(), "{} exists", target.display());
        let source = match from.contains("://") {
            true => format!("{from}/{}", self.repository),
            false => format!("{from}/{}/repo", self.repository.replace('/', "+")),
        };
        let clone = work.join(self.folder);
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--depth", "1", &source]).arg(&clone);
        let status =
            git.env("GIT_TERMINAL_PROMPT", "0").stderr(Stdio::null()).status().context("git is not installed")?;
        ensure!(status.success(), "{source} cannot be cloned");
        let root = clone.join(self.within);
        let file = Path::new(self.file).file_name().context("no main file")?;
        ensure!(root.join(file).is_file(), "the repository has no {}", self.file);
        std::fs::remove_dir_all(clone.join(".git")).context("cannot remove .git")?;
        crate::run(Command::new("cp").arg("-r").arg(&root).arg(&target))
    }
}

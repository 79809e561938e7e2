//! `cargo xtask live-phpunit`: runs WordPress's own PHPUnit tests of its REST API with WordPress behind a web server, and at the same time,
//! on another site, with the server. What passes on WordPress must pass on the server.
//!
//! `live_phpunit.php` sends the requests of the tests. A test that needs WordPress in its own process (it adds a hook or a route, or
//! counts queries) fails on both, and says nothing about the server; so does one that sends no request.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, Result, anyhow, ensure};
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{root, say, server};

use crate::{
    live_phpunit_results::{Outcomes, differences, judge, read},
    programs::{location, php},
};

/// The longest time for the tests of a piece, in seconds.
const PIECE_SECONDS: &str = "3600";

/// The name of the database and of the host in the tests, which is part of the site's URL.
const DATABASE: &str = "phpunit";
const HOST: &str = "example.org";

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder `tests/phpunit` of WordPress's repository.
    #[arg(long, value_name = "DIR")]
    tests: PathBuf,
    /// Folder of PHPUnit Polyfills, version 1.1 or later.
    #[arg(long, value_name = "DIR")]
    polyfills: PathBuf,
    /// Folder of the WordPress that the tests load.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    site: PathBuf,
    /// Keep the log of PHPUnit and the results in this folder.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Words in the names of the files to run (default: all files).
    #[arg(value_name = "FILE")]
    files: Vec<String>,
}

pub(crate) fn run(Options { tests, polyfills, site, output, files }: &Options) -> Result<()> {
    if !site.join("wp-settings.php").is_file() {
        return say(&format!("skipped: there is no WordPress at {}", site.display()));
    }
    let (Some(php), Ok(phpunit)) = (php(), location("phpunit")) else {
        return say("skipped: PHP's command line and PHPUnit are not installed");
    };
    let (Some(database), Some(other_database)) =
        (MariaDb::start(DISPOSABLE_OPTIONS)?, MariaDb::start(DISPOSABLE_OPTIONS)?)
    else {
        return say("skipped: MariaDB is not installed");
    };
    let differences = differences()?;
    let program = server::build(None, false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let (tests, polyfills) = (tests.canonicalize().context("no tests")?, polyfills.canonicalize()?);
    let autoload = polyfills.join("phpunitpolyfills-autoload.php");
    ensure!(
        autoload.is_file(),
        "{} is missing: `--polyfills` is not the folder of PHPUnit Polyfills",
        autoload.display()
    );
    let output = output.clone().unwrap_or_else(|| work.path().join("output"));
    let script = root()?.join("xtask/live/src/live_phpunit.php");
    let suite =
        Suite { php, phpunit, script, site: site.clone(), work: work.path().to_owned(), tests, polyfills, output };
    let pieces = suite.pieces(files)?;
    let (expected, outcomes) = thread::scope(|scope| {
        let on_wordpress = scope.spawn(|| suite.run_all("wordpress", Path::new(""), &database, &pieces));
        let on_svc = suite.run_all("svc", &program, &other_database, &pieces);
        (on_wordpress.join().map_err(|_| anyhow!("the tests of WordPress were interrupted")), on_svc)
    });
    judge(&differences, &expected??, &outcomes?)
}

/// Creates a site and writes its configuration, which the tests share with WordPress or the server. Themes and plugins are those of the tests.
fn write_site(work: &Path, tests: &Path, wordpress: &Path, database: &MariaDb) -> Result<PathBuf> {
    database.create(DATABASE)?;
    let content = work.join("wp-content");
    fs::create_dir_all(content.join("uploads"))?;
    for (name, target) in [("themes", "data/themedir1"), ("plugins", "data/plugins")] {
        std::os::unix::fs::symlink(tests.join(target), content.join(name))?;
    }
    let socket = format!("localhost:{}/s", database.folder().display());
    let (wordpress, content) = (format!("{}/", wordpress.canonicalize()?.display()), content.display().to_string());
    let constants = [
        ("DB_NAME", DATABASE),
        ("DB_USER", "root"),
        ("DB_PASSWORD", ""),
        ("DB_HOST", &socket),
        ("DB_CHARSET", "utf8mb4"),
        ("DB_COLLATE", ""),
        ("ABSPATH", &wordpress),
        ("WP_CONTENT_DIR", &content),
        ("WP_DEFAULT_THEME", "default"),
        ("WP_ENVIRONMENT_TYPE", "local"),
        ("WP_TESTS_DOMAIN", HOST),
        ("WP_TESTS_EMAIL", "admin@example.org"),
        ("WP_TESTS_TITLE", "Test Blog"),
        ("WP_PHP_BINARY", "php"),
        ("FS_METHOD", "direct"),
    ];
    let mut text = "<?php\n$table_prefix = 'wptests_';\ndefine( 'WP_HTTP_BLOCK_EXTERNAL', true );\n".to_owned();
    for (name, value) in constants {
        text += &format!("define( '{name}', '{value}' );\n");
    }
    for key in ["AUTH", "SECURE_AUTH", "LOGGED_IN", "NONCE"] {
        text += &format!(
            "define( '{key}_KEY', '{key} key of the tests' );\ndefine( '{key}_SALT', '{key} salt of the tests' );\n"
        );
    }
    let config = work.join("wp-config.php");
    fs::write(&config, text)?;
    Ok(config)
}

/// The programs and folders.
struct Suite {
    php: PathBuf,
    phpunit: PathBuf,
    script: PathBuf,
    site: PathBuf,
    work: PathBuf,
    tests: PathBuf,
    polyfills: PathBuf,
    output: PathBuf,
}

/// Test files that one process runs.
struct Piece {
    name: String,
    files: Vec<PathBuf>,
}

impl Suite {
    /// The files of the REST API's tests, one in a piece. Those of fonts use each other's classes.
    fn pieces(&self, words: &[String]) -> Result<Vec<Piece>> {
        let files = |folder: &str, prefix: &str| -> Result<Vec<PathBuf>> {
            let entries = fs::read_dir(self.tests.join(folder)).with_context(|| format!("there is no {folder}"))?;
            let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
            let is_test =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
            paths.retain(|path| path.extension().is_some_and(|kind| kind == "php") && is_test(path));
            paths.sort();
            Ok(paths)
        };
        let single = files("tests/rest-api", "")?.into_iter().chain([self.tests.join("tests/rest-api.php")]);
        let mut pieces: Vec<Piece> = single
            .map(|file| Piece {
                name: file.file_stem().unwrap_or_default().to_string_lossy().into(),
                files: vec![file],
            })
            .collect();
        pieces.push(Piece { name: "fonts".to_owned(), files: files("tests/fonts/font-library", "wpRest")? });
        pieces.retain(|piece| words.is_empty() || words.iter().any(|word| piece.name.contains(word)));
        Ok(pieces)
    }

    /// Runs the tests on a site of their own. The program serves it; if it is empty, WordPress does.
    fn run_all(&self, name: &str, program: &Path, database: &MariaDb, pieces: &[Piece]) -> Result<Outcomes> {
        let config = write_site(&self.work.join(name), &self.tests, &self.site, database)?;
        let mut outcomes = Outcomes::new();
        let folder = self.output.join(name);
        fs::create_dir_all(&folder)?;
        for piece in pieces {
            let file = |extension| folder.join(format!("{}.{extension}", piece.name));
            let (results, log) = (file("jsonl"), fs::File::create(file("log"))?);
            fs::write(&results, "")?;
            fs::write(file("xml"), phpunit_xml(piece))?;
            // This ends the server as well, which is in the same process group.
            let mut command = Command::new("timeout");
            command.arg(PIECE_SECONDS).arg(&self.php).args(["-d", "memory_limit=1G", "-d", "opcache.enable_cli=1"]);
            command.arg(&self.phpunit).arg("-c").arg(file("xml")).arg("--bootstrap").arg(&self.script);
            command.arg("--dont-report-useless-tests");
            command.env("SVC_PHPUNIT_CONFIG", &config).env("SVC_PHPUNIT_TESTS", &self.tests);
            command.env("SVC_PHPUNIT_POLYFILLS", &self.polyfills).env("SVC_PHPUNIT_PROGRAM", program);
            command.env("SVC_PHPUNIT_RESULTS", &results);
            // The exit code tells whether tests failed, which the results do as well.
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).status().context("cannot run PHP")?;
            let of_piece = read(&fs::read_to_string(&results)?)?;
            say(&format!("{name}: {} tests of {}", of_piece.len(), piece.name))?;
            outcomes.insert(piece.name.clone(), of_piece);
        }
        Ok(outcomes)
    }
}

/// The configuration of PHPUnit for a piece. Groups are those that WordPress's own configuration leaves out.
fn phpunit_xml(piece: &Piece) -> String {
    let files: String = piece.files.iter().map(|file| format!("<file>{}</file>", file.display())).collect();
    let groups: String =
        ["ajax", "ms-required", "external-http"].map(|group| format!("<group>{group}</group>")).concat();
    format!(
        "<phpunit backupGlobals=\"false\"><extensions><extension class=\"Svc_Phpunit_Extension\"/></extensions>\
         <testsuites><testsuite name=\"rest\">{files}</testsuite></testsuites>\
         <groups><exclude>{groups}</exclude></groups></phpunit>\n"
    )
}

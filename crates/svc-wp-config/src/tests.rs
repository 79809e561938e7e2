//! Configurations as sites have them.

use std::path::Path;

use crate::{Tls, WpConfig};

/// The required constants, apart from the line that a test is about.
const DATABASE: &str =
    "define('DB_NAME', 'n'); define('DB_USER', 'u'); define('DB_PASSWORD', 'p'); define('DB_HOST', 'h');";

/// Reads a configuration from files in a temporary folder; the first is the configuration itself. Paths begin with `ROOT`
/// in place of the folder.
fn read(files: &[(&str, &str)], environment: &[(&str, &str)]) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let variable = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    let config = WpConfig::read(&root.join(files[0].0), &variable).unwrap();
    Read { config, root: root.display().to_string(), _dir: dir }
}

struct Read {
    config: WpConfig,
    root: String,
    _dir: tempfile::TempDir,
}

impl Read {
    /// A constant, a variable (`$name`), `DATABASE` or `CONTENT`, as text.
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        let found = match (name, name.strip_prefix('$')) {
            (_, Some(variable)) => self.config.variable(variable).map(|v| v.map(|l| l.text)),
            ("CONTENT", _) => self.config.content_dir().map(|l| Some(l.text)),
            ("DATABASE", _) => {
                let text = |d: crate::DatabaseConstants| format!("{}:{}@{}/{}", d.user, d.password, d.host, d.name);
                self.config.database().map(|d| Some(text(d)))
            }
            _ => self.config.constant(name).map(|v| v.map(|l| l.text)),
        };
        let shorten = |text: &str| text.replace(&self.root, "ROOT");
        found.map(|v| v.map(|t| shorten(&t))).map_err(|e| shorten(&e.to_string()))
    }
}

/// The value that a configuration gives this name.
#[track_caller]
fn check(php: &str, environment: &[(&str, &str)], name: &str, expected: Option<&str>) {
    let read = read(&[("wp-config.php", &format!("<?php\n{php}\n{DATABASE}"))], environment);
    assert_eq!(read.get(name).unwrap().as_deref(), expected, "{php}");
}

#[test]
fn reads_a_typical_file() {
    let php = r#"<?php
/**
 * The base configuration; define( 'DB_NAME', 'not this' );
 */
// ** Database settings ** //
define( 'DB_NAME', 'site' );
define( "DB_USER", "me" );
define( 'DB_PASSWORD', 'p\'w/$x@:?' );
define( 'DB_HOST', '127.0.0.1:3307' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );

define('AUTH_KEY',         'k1"<?');
define('SECURE_AUTH_KEY',  'k2');
define('NONCE_SALT',       "s$ {4}");
$table_prefix  = 'blog_';
define( 'WP_DEBUG', false );
/* Add any custom values between this line and the "stop editing" line. */

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';
define( 'WP_HOME', 'http://too.late' );
"#;
    let read = read(&[("wp-config.php", php)], &[]);
    for (name, expected) in [
        ("CONTENT", Some("ROOT/wp-content")),
        ("DATABASE", Some("me:p'w/$x@:?@127.0.0.1:3307/site")),
        ("WP_DEBUG", Some("")),
        ("AUTH_KEY", Some("k1\"<?")),
        ("NONCE_SALT", Some("s$ {4}")),
        ("SECURE_AUTH_KEY", Some("k2")),
        ("$table_prefix", Some("blog_")),
        ("WP_HOME", None),
    ] {
        assert_eq!(read.get(name).unwrap().as_deref(), expected, "{name}");
    }
    let database = read.config.database().unwrap();
    assert_eq!((database.charset.as_deref(), database.tls, database.line), (Some("utf8mb4"), Tls::Off, 6));
    assert!(!format!("{database:?}").contains("p'w"));
}

#[test]
fn evaluates_values() {
    #[rustfmt::skip]
    let rows: &[(&str, &[(&str, &str)], &str, Option<&str>)] = &[
        ("const AUTH_KEY = 'a' . 'b', X = 1;", &[], "AUTH_KEY", Some("ab")),
        ("define('AUTH_KEY', getenv('K') ?: 'fallback');", &[], "AUTH_KEY", Some("fallback")),
        ("define('AUTH_KEY', getenv('K') ?: 'fallback');", &[("K", "set")], "AUTH_KEY", Some("set")),
        ("define('AUTH_KEY', $_ENV['K'] ?? 'fallback');", &[], "AUTH_KEY", Some("fallback")),
        ("define('AUTH_KEY', $_SERVER['K']);", &[("K", "set")], "AUTH_KEY", Some("set")),
        ("define('AUTH_KEY', getenv_docker('K', 'dflt'));", &[], "AUTH_KEY", Some("dflt")),
        ("if (!function_exists('getenv_docker')) { function getenv_docker($e, $d) { if ($f = getenv($e . '_FILE')) { return rtrim(file_get_contents($f), \"\\r\\n\"); } return $d; } }\n$table_prefix = getenv_docker('P', 'wp_');", &[("P", "q_")], "$table_prefix", Some("q_")),
        ("if (file_exists('/no/such/file')) { define('AUTH_KEY', 'a'); } else { define('AUTH_KEY', 'b'); }", &[], "AUTH_KEY", Some("b")),
        ("if (getenv('E') === 'live'): define('AUTH_KEY', 'a'); elseif (true): define('AUTH_KEY', 'b'); endif;", &[], "AUTH_KEY", Some("b")),
        ("defined('AUTH_KEY') || define('AUTH_KEY', 'a'); define('AUTH_KEY', 'b');", &[], "AUTH_KEY", Some("a")),
        ("defined('AUTH_KEY') or define('AUTH_KEY', 'a');", &[], "AUTH_KEY", Some("a")),
        ("foreach (array('AUTH_KEY', 'NONCE_SALT') as $k) define($k, 'x-' . strtolower($k));", &[], "NONCE_SALT", Some("x-nonce_salt")),
        ("foreach (['AUTH_KEY' => 'a'] as $k => $v) { define($k, $v); }", &[], "AUTH_KEY", Some("a")),
        ("$c = ['db' => ['prefix' => 'z_']]; $table_prefix = $c['db']['prefix'];", &[], "$table_prefix", Some("z_")),
        ("$p = 'z'; $table_prefix = \"{$p}_\";", &[], "$table_prefix", Some("z_")),
        ("$table_prefix = 'a_'; $table_prefix .= 'b_';", &[], "$table_prefix", Some("a_b_")),
        ("define('WP_CONTENT_DIR', dirname(__FILE__) . '/app');", &[], "CONTENT", Some("ROOT/app")),
        ("define('WP_CONTENT_DIR', dirname(__FILE__, 1) . DIRECTORY_SEPARATOR . 'app');", &[], "CONTENT", Some("ROOT/app")),
        ("define('WP_HOME', 'https://a.example'); define('WP_SITEURL', WP_HOME . '/wp');", &[], "WP_HOME", Some("https://a.example")),
        ("define('WP_DEBUG', true && !false);", &[], "WP_DEBUG", Some("1")),
        ("define('WP_ENVIRONMENT_TYPE', 'staging');", &[], "WP_ENVIRONMENT_TYPE", Some("staging")),
        ("if (isset($_SERVER['HTTP_X_FORWARDED_PROTO']) && $_SERVER['HTTP_X_FORWARDED_PROTO'] === 'https') { $_SERVER['HTTPS'] = 'on'; }\n$table_prefix = 'w_';", &[], "$table_prefix", Some("w_")),
        ("class A { const B = 1; function c() { define('AUTH_KEY', 'x'); } }\nfunction d(): void { return; }\n$e = function () { return 1; };\n$table_prefix = 'w_';", &[], "$table_prefix", Some("w_")),
        ("@ini_set('display_errors', 0); set_time_limit(-1); error_reporting(E_ALL & ~E_NOTICE);\n$table_prefix = 'w_';", &[], "$table_prefix", Some("w_")),
        ("?> text <?php $table_prefix = 'w_' ?>\n<?php", &[], "$table_prefix", Some("w_")),
    ];
    for (php, environment, key, expected) in rows {
        check(php, environment, key, *expected);
    }
}

#[test]
fn unknown_values_name_their_line() {
    #[rustfmt::skip]
    let rows = [
        ("\ndefine('DB_PASSWORD', secret_of('db'));", "DATABASE", "ROOT/wp-config.php:3: the value of DB_PASSWORD cannot be evaluated without running this file"),
        ("if (rand()) {\n define('DB_HOST', 'a');\n}", "DATABASE", "ROOT/wp-config.php:3: the value of DB_HOST cannot be evaluated without running this file"),
        ("switch ($_SERVER['HTTP_HOST']) {\n case 'a': define('DB_NAME', 'a'); break; }", "DATABASE", "ROOT/wp-config.php:3: the value of DB_NAME cannot be evaluated without running this file"),
        ("$table_prefix = prefix();", "$table_prefix", "ROOT/wp-config.php:2: the value of $table_prefix cannot be evaluated without running this file"),
        ("define('AUTH_KEY', file('k')[0]);", "AUTH_KEY", "ROOT/wp-config.php:2: the value of AUTH_KEY cannot be evaluated without running this file"),
        ("define('WP_HOME', 'https://' . $_SERVER['HTTP_HOST']);", "WP_HOME", "ROOT/wp-config.php:2: the value of WP_HOME cannot be evaluated without running this file"),
        ("define('DB_HOST', 'not an address');", "DATABASE", "ROOT/wp-config.php:2: DB_HOST `not an address` is not a valid server address"),
    ];
    for (php, name, message) in rows {
        let read = read(&[("wp-config.php", &format!("<?php\n{php}\n{DATABASE}"))], &[]);
        assert_eq!(read.get(name).unwrap_err(), message, "{php}");
    }
    let empty = read(&[("wp-config.php", "<?php")], &[]);
    assert_eq!(empty.get("DATABASE").unwrap_err(), "ROOT/wp-config.php:1: DB_NAME is not defined");
    let missing = WpConfig::read(Path::new("/no/such/wp-config.php"), &|_| None).err().unwrap().to_string();
    assert!(missing.starts_with("/no/such/wp-config.php:1: cannot be read"), "{missing}");
}

#[test]
fn evaluates_included_files() {
    let found = read(
        &[
            (
                "wp-config.php",
                "<?php if (file_exists(__DIR__ . '/local.php')) { include 'local.php'; } else { define('DB_NAME', 'n'); }\nrequire_once ABSPATH . 'wp-settings.php';",
            ),
            ("local.php", &format!("<?php defined('ABSPATH') || exit; {DATABASE} return; define('AUTH_KEY', 'x');")),
            ("wp-load.php", ""),
        ],
        &[],
    );
    assert_eq!(found.get("DATABASE").unwrap().as_deref(), Some("u:p@h:3306/n"));
    assert_eq!(found.get("AUTH_KEY").unwrap(), None);
}

#[test]
fn evaluates_bedrock_with_a_dotenv_file() {
    let application = r"<?php
use Roots\WPConfig\Config;
use function Env\env;
$root_dir = dirname(__DIR__);
$webroot_dir = $root_dir . '/web';
$env_files = file_exists($root_dir . '/.env.local') ? ['.env', '.env.local'] : ['.env'];
$repository = Dotenv\Repository\RepositoryBuilder::createWithNoAdapters()->addAdapter(X::class)->make();
$dotenv = Dotenv\Dotenv::create($repository, $root_dir, $env_files, false);
if (file_exists($root_dir . '/.env')) {
    $dotenv->load();
    if (!env('DATABASE_URL')) { $dotenv->required(['DB_NAME', 'DB_USER', 'DB_PASSWORD']); }
}
define('WP_ENV', env('WP_ENV') ?: 'production');
Config::define('WP_HOME', env('WP_HOME'));
Config::define('CONTENT_DIR', '/app');
Config::define('WP_CONTENT_DIR', $webroot_dir . Config::get('CONTENT_DIR'));
Config::define('DB_NAME', env('DB_NAME'));
Config::define('DB_USER', env('DB_USER'));
Config::define('DB_PASSWORD', env('DB_PASSWORD'));
Config::define('DB_HOST', env('DB_HOST') ?: 'db.internal');
$table_prefix = env('DB_PREFIX') ?: 'wp_';
if (env('DATABASE_URL')) {
    $dsn = (object) parse_url(env('DATABASE_URL'));
    Config::define('DB_NAME', substr($dsn->path, 1));
}
Config::define('AUTH_KEY', env('AUTH_KEY'));
Config::apply();
";
    let found = read(
        &[
            (
                "web/wp-config.php",
                "<?php require_once dirname(__DIR__) . '/vendor/autoload.php';\nrequire_once dirname(__DIR__) . '/config/application.php';\nrequire_once ABSPATH . 'wp-settings.php';",
            ),
            ("config/application.php", application),
            (
                ".env",
                "DB_NAME='site'\nDB_USER=me\nDB_PASSWORD=\"s=1\"\nWP_HOME='http://a.example'\nAUTH_KEY='generateme'",
            ),
            ("web/wp/wp-load.php", ""),
        ],
        &[("DB_USER", "real")],
    );
    assert_eq!(found.get("DATABASE").unwrap().as_deref(), Some("real:s=1@db.internal:3306/site"));
    let rest = ["CONTENT", "WP_HOME", "$table_prefix", "AUTH_KEY"].map(|name| found.get(name).unwrap().unwrap());
    assert_eq!(rest, ["ROOT/web/app", "http://a.example", "wp_", "generateme"]);
}

#[test]
fn flags_request_tls() {
    for (flags, expected) in [
        ("MYSQLI_CLIENT_SSL", Tls::Verified),
        ("MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", Tls::Unverified),
        ("MYSQLI_CLIENT_COMPRESS", Tls::Off),
    ] {
        let php = format!("<?php define('MYSQL_CLIENT_FLAGS', {flags}); {DATABASE}");
        assert_eq!(read(&[("wp-config.php", &php)], &[]).config.database().unwrap().tls, expected, "{flags}");
    }
}

//! Configurations as real sites have them.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Server, read};

/// What is needed, apart from the line that a test is about.
const DATABASE: &str =
    "define('DB_NAME', 'n'); define('DB_USER', 'u'); define('DB_PASSWORD', 'p'); define('DB_HOST', 'h');";

/// Reads the files (the first is the configuration), in a folder of its own.
fn settings(files: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<BTreeMap<&'static str, String>, String> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let variable = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    let found = read(&root.join(files[0].0), &variable, &|_| false).map_err(|e| shortened(&e.to_string(), &root))?;
    Ok(found.into_iter().map(|(setting, given)| (setting.key, shortened(&given.text, &root))).collect())
}

fn shortened(text: &str, root: &Path) -> String {
    text.replace(&format!("{}", root.display()), "ROOT")
}

/// The value that a configuration gives this setting.
#[track_caller]
fn check(php: &str, environment: &[(&str, &str)], key: &str, expected: Option<&str>) {
    let found = settings(&[("wp-config.php", &format!("<?php\n{php}\n{DATABASE}"))], environment);
    assert_eq!(found.unwrap().get(key).map(String::as_str), expected, "{php}");
}

#[test]
fn the_sample_file() {
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
    let found = settings(&[("wp-config.php", php)], &[]).unwrap();
    let expected = [
        ("brand", "wp"),
        ("content_dir", "ROOT/wp-content"),
        ("database", "mysql://me:p%27w%2F%24x%40%3A%3F@127.0.0.1:3307/site?charset=utf8mb4"),
        ("debug", "false"),
        ("keys.auth_key", "k1\"<?"),
        ("keys.nonce_salt", "s$ {4}"),
        ("keys.secure_auth_key", "k2"),
        ("table_prefix", "blog_"),
    ];
    assert_eq!(found, expected.into_iter().map(|(k, v)| (k, v.to_owned())).collect());
}

#[test]
fn values_are_followed() {
    #[rustfmt::skip]
    let rows: &[(&str, &[(&str, &str)], &str, Option<&str>)] = &[
        ("const AUTH_KEY = 'a' . 'b', X = 1;", &[], "keys.auth_key", Some("ab")),
        ("define('AUTH_KEY', getenv('K') ?: 'fallback');", &[], "keys.auth_key", Some("fallback")),
        ("define('AUTH_KEY', getenv('K') ?: 'fallback');", &[("K", "set")], "keys.auth_key", Some("set")),
        ("define('AUTH_KEY', $_ENV['K'] ?? 'fallback');", &[], "keys.auth_key", Some("fallback")),
        ("define('AUTH_KEY', $_SERVER['K']);", &[("K", "set")], "keys.auth_key", Some("set")),
        ("define('AUTH_KEY', getenv_docker('K', 'dflt'));", &[], "keys.auth_key", Some("dflt")),
        ("if (!function_exists('getenv_docker')) { function getenv_docker($e, $d) { if ($f = getenv($e . '_FILE')) { return rtrim(file_get_contents($f), \"\\r\\n\"); } return $d; } }\n$table_prefix = getenv_docker('P', 'wp_');", &[("P", "q_")], "table_prefix", Some("q_")),
        ("if (file_exists('/no/such/file')) { define('AUTH_KEY', 'a'); } else { define('AUTH_KEY', 'b'); }", &[], "keys.auth_key", Some("b")),
        ("if (getenv('E') === 'live'): define('AUTH_KEY', 'a'); elseif (true): define('AUTH_KEY', 'b'); endif;", &[], "keys.auth_key", Some("b")),
        ("defined('AUTH_KEY') || define('AUTH_KEY', 'a'); define('AUTH_KEY', 'b');", &[], "keys.auth_key", Some("a")),
        ("defined('AUTH_KEY') or define('AUTH_KEY', 'a');", &[], "keys.auth_key", Some("a")),
        ("foreach (array('AUTH_KEY', 'NONCE_SALT') as $k) define($k, 'x-' . strtolower($k));", &[], "keys.nonce_salt", Some("x-nonce_salt")),
        ("foreach (['AUTH_KEY' => 'a'] as $k => $v) { define($k, $v); }", &[], "keys.auth_key", Some("a")),
        ("$c = ['db' => ['prefix' => 'z_']]; $table_prefix = $c['db']['prefix'];", &[], "table_prefix", Some("z_")),
        ("$p = 'z'; $table_prefix = \"{$p}_\";", &[], "table_prefix", Some("z_")),
        ("$table_prefix = 'a_'; $table_prefix .= 'b_';", &[], "table_prefix", Some("a_b_")),
        ("define('WP_CONTENT_DIR', dirname(__FILE__) . '/app');", &[], "content_dir", Some("ROOT/app")),
        ("define('WP_CONTENT_DIR', dirname(__FILE__, 1) . DIRECTORY_SEPARATOR . 'app');", &[], "content_dir", Some("ROOT/app")),
        ("define('WP_HOME', 'https://' . $_SERVER['HTTP_HOST']);", &[], "site_url", None),
        ("define('WP_HOME', 'https://a.example'); define('WP_SITEURL', WP_HOME . '/wp');", &[], "site_url", Some("https://a.example")),
        ("define('WP_DEBUG', true && !false);", &[], "debug", Some("true")),
        ("define('WP_ENVIRONMENT_TYPE', 'staging');", &[], "environment", Some("production")),
        ("if (isset($_SERVER['HTTP_X_FORWARDED_PROTO']) && $_SERVER['HTTP_X_FORWARDED_PROTO'] === 'https') { $_SERVER['HTTPS'] = 'on'; }\n$table_prefix = 'w_';", &[], "table_prefix", Some("w_")),
        ("class A { const B = 1; function c() { define('AUTH_KEY', 'x'); } }\nfunction d(): void { return; }\n$e = function () { return 1; };\n$table_prefix = 'w_';", &[], "table_prefix", Some("w_")),
        ("@ini_set('display_errors', 0); set_time_limit(-1); error_reporting(E_ALL & ~E_NOTICE);\n$table_prefix = 'w_';", &[], "table_prefix", Some("w_")),
        ("?> text <?php $table_prefix = 'w_' ?>\n<?php", &[], "table_prefix", Some("w_")),
    ];
    for (php, environment, key, expected) in rows {
        check(php, environment, key, *expected);
    }
}

#[test]
fn what_cannot_be_told_names_its_line() {
    let told = |php: &str| settings(&[("wp-config.php", &format!("<?php\n{php}\n{DATABASE}"))], &[]).unwrap_err();
    #[rustfmt::skip]
    let rows = [
        ("\ndefine('DB_PASSWORD', secret_of('db'));", "ROOT/wp-config.php:3: the value of DB_PASSWORD cannot be told without running this file"),
        ("if (rand()) {\n define('DB_HOST', 'a');\n}", "ROOT/wp-config.php:3: the value of DB_HOST cannot be told without running this file"),
        ("switch ($_SERVER['HTTP_HOST']) {\n case 'a': define('DB_NAME', 'a'); break; }", "ROOT/wp-config.php:3: the value of DB_NAME cannot be told without running this file"),
        ("$table_prefix = prefix();", "ROOT/wp-config.php:2: the value of $table_prefix cannot be told without running this file"),
        ("define('AUTH_KEY', file('k')[0]);", "ROOT/wp-config.php:2: the value of AUTH_KEY cannot be told without running this file"),
        ("define('DB_HOST', 'not an address');", "ROOT/wp-config.php:2: DB_HOST `not an address` is not an address of a server"),
    ];
    for (php, message) in rows {
        assert_eq!(told(php), message, "{php}");
    }
    let empty = settings(&[("wp-config.php", "<?php")], &[]).unwrap_err();
    assert_eq!(empty, "ROOT/wp-config.php:1: DB_NAME is not defined");
    let nowhere = read(Path::new("/no/such/wp-config.php"), &|_| None, &|_| false).err().unwrap().to_string();
    assert!(nowhere.starts_with("/no/such/wp-config.php:1: cannot be read"), "{nowhere}");
}

#[test]
fn what_is_set_elsewhere_need_not_be_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wp-config.php");
    std::fs::write(&path, "<?php define('DB_NAME', f()); $table_prefix = 'x_';").unwrap();
    let found = read(&path, &|_| None, &|key| matches!(key, "database" | "brand")).unwrap();
    let keys: Vec<&str> = found.iter().map(|(setting, _)| setting.key).collect();
    assert_eq!(keys, ["table_prefix", "content_dir"]);
}

#[test]
fn further_files_are_followed() {
    let found = settings(
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
    let found = found.unwrap();
    assert_eq!(found["database"], "mysql://u:p@h:3306/n");
    assert!(!found.contains_key("keys.auth_key"));
}

#[test]
fn a_site_of_a_framework_with_a_file_of_variables() {
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
    let found = settings(
        &[
            ("web/wp-config.php", "<?php require_once dirname(__DIR__) . '/vendor/autoload.php';\nrequire_once dirname(__DIR__) . '/config/application.php';\nrequire_once ABSPATH . 'wp-settings.php';"),
            ("config/application.php", application),
            (".env", "DB_NAME='site'\nDB_USER=me\nDB_PASSWORD=\"s=1\"\nWP_HOME='http://a.example'\nAUTH_KEY='generateme'"),
            ("web/wp/wp-load.php", ""),
        ],
        &[("DB_USER", "real")],
    )
    .unwrap();
    assert_eq!(found["database"], "mysql://real:s%3D1@db.internal:3306/site");
    let rest = ["content_dir", "site_url", "table_prefix", "keys.auth_key"].map(|key| found[key].as_str());
    assert_eq!(rest, ["ROOT/web/app", "http://a.example", "wp_", "generateme"]);
}

#[test]
fn addresses_of_servers() {
    let rows = [
        ("h", "h:3306", None),
        ("h:3307", "h:3307", None),
        ("localhost:/run/x.sock", "localhost:3306", Some("/run/x.sock")),
        (":/run/x.sock", "localhost:3306", Some("/run/x.sock")),
        ("/run/x.sock", "localhost:3306", Some("/run/x.sock")),
        ("h:3307:/run/x.sock", "h:3307", Some("/run/x.sock")),
        ("[::1]:3307", "[::1]:3307", None),
        ("::1", "[::1]:3306", None),
        ("p:h", "h:3306", None),
    ];
    for (text, host, socket) in rows {
        let expected = Server { host: host.to_owned(), socket: socket.map(str::to_owned) };
        assert_eq!(Server::of(text), Some(expected), "{text}");
    }
    for text in ["h:x", "a b", "h/x", "[::1"] {
        assert_eq!(Server::of(text), None, "{text}");
    }
}

#[test]
fn tls_is_asked_for_by_flags() {
    for (flags, expected) in [
        ("MYSQLI_CLIENT_SSL", "?tls=true"),
        ("MYSQLI_CLIENT_SSL | MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT", "?tls=unverified"),
        ("MYSQLI_CLIENT_COMPRESS", ""),
    ] {
        let url = format!("mysql://u:p@h:3306/n{expected}");
        check(&format!("define('MYSQL_CLIENT_FLAGS', {flags});"), &[], "database", Some(&url));
    }
}

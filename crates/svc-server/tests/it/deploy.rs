//! The files for operators in `deploy/`, each checked with the program that reads it.

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use svc_testkit::markdown::blocks;

use crate::{
    monitoring::Monitored,
    process::{PROGRAM, Server, command, send},
};

const ALERTS: &str = include_str!("../../deploy/prometheus/svc-alerts.yml");
const DASHBOARD: &str = include_str!("../../deploy/grafana/svc.json");
const SERVICE: &str = include_str!("../../deploy/systemd/svc.service");
const SOCKET: &str = include_str!("../../deploy/systemd/svc.socket");
const PRODUCTION: &str = include_str!("../../../../docs/production.md");

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

/// Runs a program; `None` with a message if it is not installed.
fn run(command: &mut Command) -> Option<Output> {
    if let Ok(output) = command.output() {
        return Some(output);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "{program} is not installed");
    let _seen = writeln!(std::io::stderr(), "skipped: {program} is not installed");
    None
}

/// The names of metrics in a text, without the suffixes of histograms.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let metrics = words.filter(|word| word.starts_with("svc_") || word.starts_with("process_"));
    metrics.map(family).collect()
}

fn family(name: &str) -> String {
    let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
    of_histogram.unwrap_or(name).to_owned()
}

/// The names of the dashboard and of the alerts that `/metrics` does not have, among those with this prefix.
pub(crate) fn missing_of(metrics: &str, prefix: &str) -> Vec<String> {
    absent(metrics, |name| name.starts_with(prefix))
}

/// The names of the dashboard and of the alerts that `/metrics` does not have, among those of servers in front of a WordPress or of
/// all others, without a continuous backup and TLS.
pub(crate) fn missing(metrics: &str, in_front: bool) -> Vec<String> {
    let is_optional = |name: &str| ["svc_backup_", "svc_certificate_"].iter().any(|prefix| name.starts_with(prefix));
    absent(metrics, |name| name.starts_with("svc_bridge_") == in_front && !is_optional(name))
}

fn absent(metrics: &str, of: impl Fn(&str) -> bool) -> Vec<String> {
    let families: BTreeSet<&str> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let used = names(ALERTS).into_iter().chain(names(DASHBOARD));
    used.filter(|name| of(name) && !families.contains(name.as_str())).collect()
}

#[test]
fn the_dashboard_and_the_alerts_use_metrics_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let monitored = Monitored::start(folder.path(), None);
    let metrics = monitored.metrics();
    assert_eq!(missing(&metrics, false), [] as [String; 0]);
    assert!(names(ALERTS).len() > 10 && names(DASHBOARD).len() > 25);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 20);
    // Prometheus's own rules for names and descriptions.
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = promtool.spawn() else { return };
    child.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let checked = child.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success() && complaints.is_empty(), "{complaints}");
}

#[test]
fn prometheus_accepts_the_alerts() {
    let file = deploy().join("prometheus/svc-alerts.yml");
    let Some(checked) = run(Command::new("promtool").args(["check", "rules"]).arg(file)) else { return };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn systemd_accepts_the_units() {
    let folder = tempfile::tempdir().unwrap();
    // The program is not where the unit expects it.
    let service = SERVICE.replace("/usr/local/bin/svc-server", PROGRAM);
    std::fs::write(folder.path().join("svc.service"), service).unwrap();
    std::fs::write(folder.path().join("svc.socket"), SOCKET).unwrap();
    for unit in ["svc.service", "svc.socket"] {
        let mut verify = Command::new("systemd-analyze");
        let Some(checked) = run(verify.args(["verify", "--man=no", unit]).current_dir(folder.path())) else { return };
        let complaints = String::from_utf8_lossy(&checked.stderr).into_owned();
        // Of other units of this computer.
        let own: Vec<&str> = complaints.lines().filter(|line| line.contains("svc.")).collect();
        assert!(checked.status.success() && own.is_empty(), "{complaints}");
    }
}

#[test]
fn the_files_for_containers_are_valid() {
    let mut caddy = Command::new("caddy");
    let file = deploy().join("compose/Caddyfile");
    caddy.args(["validate", "--adapter", "caddyfile", "--config"]).arg(file).env("SVC_DOMAIN", "example.org");
    if let Some(checked) = run(&mut caddy) {
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
    // Python's parser of YAML, as many programs around containers use it. It prints the settings of the server in both files.
    let program = "
import sys, json, yaml
compose = yaml.safe_load(open(sys.argv[1]))
assert set(compose['services']) == {'svc', 'db', 'caddy'}, compose
for service in compose['services'].values():
    assert all(name in compose['networks'] for name in service['networks'])
    assert all(name in compose['secrets'] for name in service.get('secrets', []))
objects = list(yaml.safe_load_all(open(sys.argv[2])))
assert [o['kind'] for o in objects] == ['ConfigMap', 'Service', 'StatefulSet'], objects
pod = objects[2]['spec']['template']['spec']
names = {v['name'] for v in pod['volumes']} | {c['metadata']['name'] for c in objects[2]['spec']['volumeClaimTemplates']}
assert all(m['name'] in names for m in pod['containers'][0]['volumeMounts'])
print(json.dumps([compose['services']['svc']['environment'], objects[0]['data']['svc.toml']]))
";
    let mut python = Command::new("python3");
    python.args(["-c", program]).arg(deploy().join("compose/compose.yaml")).arg(deploy().join("kubernetes/svc.yaml"));
    let Some(checked) = run(&mut python) else { return };
    let complaints = String::from_utf8_lossy(&checked.stderr).into_owned();
    if complaints.contains("No module named 'yaml'") && std::env::var_os("SVC_NEED_CLIENTS").is_none() {
        return;
    }
    assert!(checked.status.success(), "{complaints}");
    // The program accepts the settings.
    let settings: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("database_url");
    std::fs::write(&secret, "mysql://svc:secret@db/svc").unwrap();
    let mut check = command(folder.path(), None, &["config", "check"]);
    for (name, value) in settings[0].as_object().unwrap() {
        let value = value.as_str().unwrap().replace("${SVC_DOMAIN}", "example.org");
        check.env(name, value.replace("/run/secrets/database_url", secret.to_str().unwrap()));
    }
    let out = check.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::write(folder.path().join("svc.toml"), settings[1].as_str().unwrap()).unwrap();
    let out = command(folder.path(), None, &["config", "check"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn the_guide_shows_the_unit() {
    let all = blocks(PRODUCTION);
    let shown = all.iter().find(|block| block.code.contains("[Service]")).expect("a block with the unit");
    assert_eq!(shown.code.trim_end(), SERVICE.trim_end());
}

/// The log of a server with failed log-ins and denied requests, in this format.
fn log(format: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--listen", "127.0.0.1:0", "--log-format", format, "--trusted-proxies", "127.0.0.1", "serve"];
    let server =
        Server::spawn(command(folder.path(), None, &args)).unwrap_or_else(|output| panic!("no server: {output}"));
    let from = |address: &str| format!("X-Forwarded-For: {address}\r\n");
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let post = |address: &str, body: &str| {
        send(&server.address, "POST", "/wp-login.php", "", &format!("{form}{}", from(address)), body.as_bytes())
    };
    post("203.0.113.1", "log=admin&pwd=wrong-password-1");
    // A name that imitates a line of the log.
    post("203.0.113.2", "log=x%22+WARN+login+failed+client%3D198.51.100.9+user%3D%22&pwd=wrong-password-2");
    post("2001:db8::3", "log=nobody&pwd=wrong-password-3");
    let get = |path: &str, credentials: &str, address: &str| {
        send(&server.address, "GET", path, credentials, &from(address), b"").0
    };
    assert_eq!(get("/svc-json/svc/v2/users/me", "admin:wrong-password-4", "203.0.113.4"), 401);
    assert_eq!(get("/svc-json/svc/v2/users?context=edit", "", "203.0.113.5"), 401);
    let imitation = "/svc-json/svc/v2/users/me?login%20failed%20client=198.51.100.9";
    assert_eq!(get(imitation, "", "203.0.113.6"), 401);
    assert_eq!(get("/svc-json/svc/v2/posts", "", "203.0.113.7"), 200);
    server.stop()
}

#[test]
fn denied_requests_are_logged_with_their_reason() {
    for format in ["text", "json"] {
        let log = log(format);
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("access denied")).collect();
        assert_eq!(lines.len(), 3, "{log}");
        assert!(lines[1].contains("rest_forbidden_context") && lines[1].contains("203.0.113.5"), "{log}");
        assert!(!log.contains("wrong-password"), "{log}");
        if format == "json" {
            let event: serde_json::Value = serde_json::from_str(lines[2]).unwrap();
            assert_eq!(event["status"], 401);
            assert_eq!((&event["reason"], &event["client"]), (&"rest_not_logged_in".into(), &"203.0.113.6".into()));
            assert_eq!(event["path"], "/svc-json/svc/v2/users/me");
        }
    }
}

/// The addresses that fail2ban finds in a log, in order.
fn found_by_fail2ban(log: &Path, filter: &str) -> Option<Vec<String>> {
    let found = run(Command::new("fail2ban-regex").args(["--out", "ip"]).arg(log).arg(filter))?;
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.status.success(), "{text}{}", String::from_utf8_lossy(&found.stderr));
    Some(text.lines().filter(|line| line.parse::<std::net::IpAddr>().is_ok()).map(str::to_owned).collect())
}

#[test]
fn fail2ban_finds_failed_logins() {
    let folder = tempfile::tempdir().unwrap();
    let filter = deploy().join("fail2ban/filter.d/svc.conf").display().to_string();
    let failed = ["203.0.113.1", "203.0.113.2", "2001:db8::3", "203.0.113.4"];
    for format in ["text", "json"] {
        let file = folder.path().join(format);
        std::fs::write(&file, log(format)).unwrap();
        let Some(found) = found_by_fail2ban(&file, &filter) else { return };
        assert_eq!(found, failed, "{format}");
        let aggressive = found_by_fail2ban(&file, &format!("{filter}[mode=aggressive]"));
        let denied = ["203.0.113.4", "203.0.113.5", "203.0.113.6"];
        assert_eq!(aggressive.unwrap(), [&failed[..], &denied].concat(), "{format}");
    }
}

#[test]
fn varnish_accepts_its_configuration() {
    let file = deploy().join("varnish/svc.vcl");
    let Some(checked) = run(Command::new("varnishd").arg("-C").arg("-f").arg(&file)) else { return };
    let complaints = String::from_utf8_lossy(&checked.stderr).into_owned();
    // Debian has the module xkey in a package of its own.
    let lacks_module = complaints.contains("xkey") && complaints.contains("Could not");
    assert!(checked.status.success() || lacks_module, "{complaints}");
}

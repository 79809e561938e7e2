//! Users of the WordPress site, of different roles, with their credentials.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use xtask_support::{
    gateway::Gateway,
    server::{exchange, send},
};

/// Password of the users that are created.
pub(crate) const PASSWORD: &str = "Vellum-quartz.77-Sphinx-Tundra";

/// Creates a user, or finds the one of an earlier run. Returns `USER:PASSWORD` with an application password.
pub(crate) fn create(gateway: &Gateway, name: &str, role: &str) -> Result<String> {
    let body = json!({"username": name, "email": format!("{name}@example.com"), "password": PASSWORD, "roles": [role]});
    let to = |path: &str, body| send(&gateway.site, "POST", path, &gateway.credentials, Some(body));
    let created = to("/wp-json/wp/v2/users", &body)?;
    let id = if created.status == 201 {
        created.json()?["id"].as_u64()
    } else {
        let path = format!("/wp-json/wp/v2/users?search={name}&context=edit");
        send(&gateway.site, "GET", &path, &gateway.credentials, None)?.json()?[0]["id"].as_u64()
    };
    let id = id.with_context(|| format!("no user: {:.200}", created.body))?;
    let since = std::time::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?.as_nanos();
    let path = format!("/wp-json/wp/v2/users/{id}/application-passwords");
    let password = to(&path, &json!({"name": format!("xtask {since}")}))?.json()?;
    Ok(format!("{name}:{}", password["password"].as_str().context("no application password")?))
}

/// Logs in with the form of WordPress. Returns the headers of a script in `wp-admin`: cookies and a nonce.
pub(crate) fn log_in(gateway: &Gateway, name: &str) -> Result<Vec<(&'static str, String)>> {
    let form = [
        ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
        ("Cookie", "wordpress_test_cookie=WP+Cookie+check".to_owned()),
    ];
    let body = format!("log={name}&pwd={PASSWORD}&testcookie=1");
    let response = exchange(&gateway.site, "POST", "/wp-login.php", &form, &body)?;
    let cookies: Vec<&str> = response
        .headers("set-cookie")
        .filter_map(|cookie| cookie.split(';').next())
        .filter(|cookie| cookie.starts_with("wordpress_"))
        .collect();
    ensure!(cookies.iter().any(|cookie| cookie.starts_with("wordpress_logged_in")), "{}", response.status);
    let cookie = ("Cookie", cookies.join("; "));
    let nonce = exchange(
        &gateway.site,
        "GET",
        "/wp-admin/admin-ajax.php?action=rest-nonce",
        std::slice::from_ref(&cookie),
        "",
    )?;
    ensure!(nonce.status == 200 && nonce.body.len() == 10, "no nonce: {} {:.80}", nonce.status, nonce.body);
    Ok(vec![cookie, ("X-WP-Nonce", nonce.body)])
}

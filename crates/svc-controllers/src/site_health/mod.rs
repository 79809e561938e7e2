//! Site health: tests of the running server, and the sizes of its folders and database.

mod find;
mod sizes;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_routing::{Controller, Request, Response, Result, Route, get};
use svc_schema::Schema;
use svc_text::html;
use svc_versions::Context;

use crate::{errors, request::can};
use svc_site::Site;

pub use sizes::{Size, format_bytes, sizes};

/// A site health test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Whether updates can be installed.
    BackgroundUpdates,
    /// Whether the site can reach itself at its public URL.
    Loopback,
    /// Whether the site uses TLS with a valid certificate.
    Https,
    /// Whether the plugin directory is reachable.
    Directory,
    /// Whether the `Authorization` header arrives unchanged.
    AuthorizationHeader,
    /// Whether pages are fast and cacheable.
    PageCache,
}

impl Test {
    /// All tests, in the order of their routes.
    pub const ALL: [Test; 6] = [
        Test::BackgroundUpdates,
        Test::Loopback,
        Test::Https,
        Test::Directory,
        Test::AuthorizationHeader,
        Test::PageCache,
    ];

    /// The last part of its route.
    pub fn slug(self) -> &'static str {
        match self {
            Test::BackgroundUpdates => "background-updates",
            Test::Loopback => "loopback-requests",
            Test::Https => "https-status",
            Test::Directory => "dotorg-communication",
            Test::AuthorizationHeader => "authorization-header",
            Test::PageCache => "page-cache",
        }
    }

    /// Label of the badge.
    fn badge_label(self) -> &'static str {
        match self {
            Test::Loopback | Test::PageCache => "Performance",
            _ => "Security",
        }
    }
}

/// The result of a test, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No problem.
    Good,
    /// An improvement is recommended.
    Recommended,
    /// A problem that must be fixed.
    Critical,
}

impl Verdict {
    /// Value of the `status` field.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Recommended => "recommended",
            Verdict::Critical => "critical",
        }
    }
}

/// The report of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The result.
    pub verdict: Verdict,
    /// A one-line summary.
    pub label: String,
    /// Details, as plain text.
    pub description: String,
    /// Recommended action; empty if there is none.
    pub advice: &'static str,
}

impl Finding {
    fn new(verdict: Verdict, label: &str, description: impl Into<String>) -> Self {
        Finding { verdict, label: label.to_owned(), description: description.into(), advice: "" }
    }

    /// Sets the recommended action, unless the verdict is good.
    fn advise(mut self, advice: &'static str) -> Self {
        if self.verdict > Verdict::Good {
            self.advice = advice;
        }
        self
    }

    /// The JSON of a response.
    fn to_value(&self, test: Test) -> Value {
        json!({
            "label": self.label,
            "status": self.verdict.name(),
            "badge": {"label": test.badge_label(), "color": "blue"},
            "description": paragraph(&self.description),
            "actions": paragraph(self.advice),
            "test": test.slug().replace('-', "_"),
        })
    }
}

/// Escapes plain text and wraps it in a paragraph; empty text gives an empty string.
fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { html!("<p>{}</p>", svc_text::esc_html(text)).into_string() }
}

/// Runs a test. `authorization` is the caller's `Authorization` header.
///
/// # Errors
/// Database errors.
pub async fn run_test(cx: &Context, site: &Site, test: Test, authorization: Option<&str>) -> Result<Finding> {
    find::run(cx, site, test, authorization).await
}

/// The item schema of a test's report.
fn schema() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about, "readonly": true});
    json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": "health-test",
        "type": "object",
        "properties": {
            "test": text("Name of the test."),
            "label": text("One-line summary of the result."),
            "status": {"type": "string", "description": "Result of the test.", "enum": ["good", "recommended", "critical"], "readonly": true},
            "badge": {
                "type": "object",
                "description": "Badge that shows the area of the test.",
                "properties": {
                    "label": {"type": "string", "readonly": true},
                    "color": {"type": "string", "enum": ["blue", "orange", "red", "green", "purple", "gray"], "readonly": true},
                },
                "readonly": true,
            },
            "description": text("Details of the result, as HTML."),
            "actions": text("Recommended actions, as HTML."),
        },
    })
}

/// The controller for site health.
pub struct SiteHealth {
    site: Arc<Site>,
}

impl SiteHealth {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        SiteHealth { site: Arc::clone(site) }
    }

    async fn can_view(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "view_site_health_checks")? { Ok(()) } else { Err(errors::forbidden(&req)) }
    }

    async fn test(self: Arc<Self>, test: Test, req: Request) -> Result<Response> {
        Ok(run_test(req.cx(), &self.site, test, req.header("authorization")).await?.to_value(test).into())
    }

    async fn sizes(self: Arc<Self>, req: Request) -> Result<Response> {
        Ok(sizes::to_value(&sizes(req.cx(), &self.site).await?).into())
    }
}

impl Controller for SiteHealth {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(schema());
        let test = |test: Test| {
            let handler = move |family: Arc<Self>, req: Request| family.test(test, req);
            let route = Route::new(format!("/tests/{}", test.slug())).endpoint(get(handler, Self::can_view).waits());
            // WordPress documents no schema for this route.
            if test == Test::PageCache { route } else { route.schema(schema.clone()) }
        };
        let sizes = Route::new("/directory-sizes").endpoint(get(Self::sizes, Self::can_view).waits());
        let mut routes: Vec<Route<Self>> = Test::ALL.into_iter().map(test).collect();
        // In WordPress's order.
        routes.insert(routes.len().saturating_sub(1), sizes);
        routes
    }
}

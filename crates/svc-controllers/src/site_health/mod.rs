//! How well the site does: tests that say what is true of this server now, and the sizes of its folders.

mod find;
mod sizes;

use std::sync::Arc;

use serde_json::{Value, json};
use svc_routing::{Controller, Request, Response, Result, Route, get};
use svc_schema::Schema;
use svc_site::Access;

use crate::{RestSite, caller, errors};

pub use sizes::{Size, in_words, sizes};

/// What can be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Who installs updates.
    BackgroundUpdates,
    /// Whether the site reaches itself under its public address.
    Loopback,
    /// Whether the site is reached over TLS, with a valid certificate.
    Https,
    /// Whether the directory of plugins can be asked.
    Directory,
    /// Whether credentials arrive.
    AuthorizationHeader,
    /// Whether pages come quickly, and may be kept.
    PageCache,
}

impl Test {
    /// All of them, in the order of the interface.
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

    /// What it is about, for people.
    fn subject(self) -> &'static str {
        match self {
            Test::Loopback | Test::PageCache => "Performance",
            _ => "Security",
        }
    }
}

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Could be better.
    Recommended,
    /// Must be seen to.
    Critical,
}

impl Verdict {
    /// As the interface says it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Recommended => "recommended",
            Verdict::Critical => "critical",
        }
    }
}

/// What a test found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How good it is.
    pub verdict: Verdict,
    /// In a line.
    pub label: String,
    /// At more length, as plain text.
    pub description: String,
    /// What to do about it; empty where there is nothing to do.
    pub advice: &'static str,
}

impl Finding {
    fn new(verdict: Verdict, label: &str, description: impl Into<String>) -> Self {
        Finding { verdict, label: label.to_owned(), description: description.into(), advice: "" }
    }

    /// Says what to do about it, unless it is as it should be.
    fn advise(mut self, advice: &'static str) -> Self {
        if self.verdict > Verdict::Good {
            self.advice = advice;
        }
        self
    }

    /// As the interface shows it.
    fn to_value(&self, test: Test) -> Value {
        json!({
            "label": self.label,
            "status": self.verdict.name(),
            "badge": {"label": test.subject(), "color": "blue"},
            "description": paragraph(&self.description),
            "actions": paragraph(self.advice),
            "test": test.slug().replace('-', "_"),
        })
    }
}

/// Plain text as HTML.
fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p>{}</p>", svc_text::esc_html(text)) }
}

/// Carries out a test. `authorization` is the header that a caller sent.
///
/// # Errors
/// Those of the store.
pub async fn find_out(site: &RestSite, test: Test, authorization: Option<&str>) -> Result<Finding> {
    find::find(site, test, authorization).await
}

/// The schema of what a test found out.
fn schema() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about, "readonly": true});
    json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": "health-test",
        "type": "object",
        "properties": {
            "test": text("Name of the test."),
            "label": text("What was found, in a line."),
            "status": {"type": "string", "description": "How good it is.", "enum": ["good", "recommended", "critical"], "readonly": true},
            "badge": {
                "type": "object",
                "description": "What the test is about.",
                "properties": {
                    "label": {"type": "string", "readonly": true},
                    "color": {"type": "string", "enum": ["blue", "orange", "red", "green", "purple", "gray"], "readonly": true},
                },
                "readonly": true,
            },
            "description": text("What was found, at more length."),
            "actions": text("What to do about it, as HTML."),
        },
    })
}

/// The family of the site's health.
pub struct SiteHealth {
    site: Arc<RestSite>,
}

impl SiteHealth {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>) -> Self {
        SiteHealth { site: Arc::clone(site) }
    }

    async fn can_look(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        if Access::new(&self.site, &settings).can(&caller(&req), "view_site_health_checks") {
            Ok(())
        } else {
            Err(errors::forbidden(&req))
        }
    }

    async fn test(self: Arc<Self>, test: Test, req: Request) -> Result<Response> {
        Ok(find_out(&self.site, test, req.header("authorization")).await?.to_value(test).into())
    }

    async fn sizes(self: Arc<Self>, _: Request) -> Result<Response> {
        Ok(sizes::to_value(&sizes(&self.site).await?).into())
    }
}

impl Controller for SiteHealth {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(schema());
        let test = |test: Test| {
            let answer = move |family: Arc<Self>, req: Request| family.test(test, req);
            let route = Route::new(format!("/tests/{}", test.slug())).endpoint(get(answer, Self::can_look));
            // The youngest test tells no schema.
            if test == Test::PageCache { route } else { route.schema(schema.clone()) }
        };
        let sizes = Route::new("/directory-sizes").endpoint(get(Self::sizes, Self::can_look));
        Test::ALL.into_iter().map(test).chain([sizes]).collect()
    }
}

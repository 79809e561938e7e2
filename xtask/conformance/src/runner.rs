//! Sends the steps of a scenario to a server, and compares or records its responses.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    accounts::SiteKeys,
    brand::BrandRules,
    client::{Client, HttpRequest},
    compare::Comparison,
    described::Described,
    differences::{Failure, Report},
    normalize::Normalizer,
    order::Orders,
    request::Requests,
    response,
    scenario::{Scenario, Step, StepResponse},
    variables::Variables,
};

/// A request for what the runner needs to know of a site.
const INDEX: &str = "/?rest_route=/&_fields=url,gmt_offset";

/// A server under test, or to record from.
pub(crate) struct Runner {
    client: Client,
    requests: Requests,
    base: String,
    /// The site's offset from UTC in hours.
    zone: f64,
    described: Option<Described>,
    violations: Vec<String>,
}

/// The state of a sequence of steps.
pub(crate) struct Session {
    normalizer: Arc<Normalizer>,
    variables: Variables,
}

impl Runner {
    /// For the server at the URL `base`. Files are looked up in the folders `assets`, the first first.
    ///
    /// # Errors
    /// The server's index cannot be read: without this check, one kind of error page could pass for another.
    pub(crate) fn new(base: &str, brand: &str, keys: SiteKeys, assets: Vec<PathBuf>) -> Result<Self> {
        #[derive(Deserialize)]
        struct Index {
            url: String,
            gmt_offset: Value,
        }
        let base = base.trim_end_matches('/').to_owned();
        let mut client = Client::new(&base)?;
        let get = HttpRequest { method: "GET".to_owned(), target: INDEX.to_owned(), headers: Vec::new(), body: None };
        let response = client.send(&get)?;
        let index: Index = serde_json::from_slice(&response.body)
            .with_context(|| format!("{base}{INDEX} is no readable index (status {})", response.status))?;
        // Older versions write the offset as text.
        let zone = match &index.gmt_offset {
            Value::String(text) => text.parse().ok(),
            number => number.as_f64(),
        };
        let zone = zone.with_context(|| format!("the index has no offset from UTC: {}", index.gmt_offset))?;
        let requests = Requests { keys, brand: Arc::new(BrandRules::new(brand)?), site_url: index.url, assets };
        Ok(Runner { client, requests, base, zone, described: None, violations: Vec::new() })
    }

    /// Sends all further requests as a proxy with TLS forwards them, if `tls`.
    pub(crate) fn over_tls(mut self, tls: bool) -> Self {
        self.client.is_tls_proxy = tls;
        self
    }

    /// Compares responses with the server's OpenAPI document, which is fetched unless it is given.
    pub(crate) fn describe(&mut self, known: Option<Described>) -> Result<()> {
        let prefix = self.requests.brand.text("/wp-json");
        self.described = Some(match known {
            Some(known) => known,
            None => Described::fetch(&mut self.client, &prefix)?,
        });
        Ok(())
    }

    /// The OpenAPI document, and the results of comparisons.
    pub(crate) fn into_described(self) -> Option<Described> {
        self.described
    }

    /// The violations of the OpenAPI document since the last call.
    pub(crate) fn take_violations(&mut self) -> Vec<String> {
        std::mem::take(&mut self.violations)
    }

    /// The numbers of responses that a gateway replayed, and of all others.
    pub(crate) fn shares(&self) -> (usize, usize) {
        (self.client.replayed, self.client.received - self.client.replayed)
    }

    /// The brand of the server.
    pub(crate) fn brand(&self) -> Arc<BrandRules> {
        Arc::clone(&self.requests.brand)
    }

    /// Replaces what differs from run to run, from now on.
    pub(crate) fn normalizer(&self) -> Result<Arc<Normalizer>> {
        Normalizer::new(&self.base, &self.requests.site_url, self.zone).map(Arc::new)
    }

    /// Begins a sequence of steps.
    pub(crate) fn session(&self, normalizer: &Arc<Normalizer>) -> Result<Session> {
        Ok(Session { normalizer: Arc::clone(normalizer), variables: Variables::new(&self.requests.site_url)? })
    }

    /// Runs a scenario and compares each response with the recorded one.
    pub(crate) fn check(&mut self, scenario: &Scenario) -> Result<Report> {
        let normalizer = self.normalizer()?;
        let recorded: HashMap<String, StepResponse> =
            scenario.recording()?.into_iter().map(|recorded| (recorded.name.clone(), recorded)).collect();
        let orders = Orders::read()?;
        let brand = self.brand();
        let mut comparison = Comparison::new(Arc::clone(&brand), Arc::clone(&normalizer));
        let mut session = self.session(&normalizer)?;
        let mut report = Report { scenario: scenario.name.clone(), passed: 0, failures: Vec::new() };
        for step in &scenario.steps {
            let received = self.send(&mut session, step)?;
            let difference = match (recorded.get(&step.name), received) {
                (None, _) => Some("no recording of this step".to_owned()),
                (Some(_), Err(error)) => Some(format!("no response: {error:#}")),
                (Some(recorded), Ok(received)) => comparison
                    .difference(step, recorded, &received)
                    .or_else(|| orders.difference(&scenario.name, &step.name, &received.body, &brand)),
            };
            match difference {
                None => report.passed += 1,
                Some(difference) => report.failures.push(Failure { step: step.name.clone(), difference }),
            }
        }
        Ok(report)
    }

    /// Runs a scenario and returns the responses as they are recorded.
    pub(crate) fn record(&mut self, scenario: &Scenario) -> Result<Vec<StepResponse>> {
        let mut session = self.session(&self.normalizer()?)?;
        let mut responses = Vec::new();
        for step in &scenario.steps {
            let response =
                self.send(&mut session, step)?.with_context(|| format!("step {} has no response", step.name))?;
            if [502, 504].contains(&response.status) {
                bail!("step {} has no response of the application: status {}", step.name, response.status);
            }
            responses.push(response);
        }
        Ok(responses)
    }

    /// Sends a step. The outer error is a mistake in the scenario, the inner one is the server's.
    pub(crate) fn send(&mut self, session: &mut Session, step: &Step) -> Result<Result<StepResponse>> {
        let request = self.requests.request(step, &session.variables).with_context(|| format!("step {}", step.name))?;
        let response = match self.client.send(&request) {
            Ok(response) => response,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(described) = &mut self.described {
            let violations = described.violations(&request, &response)?;
            self.violations.extend(violations.into_iter().map(|text| format!("{}: {text}", step.name)));
        }
        let headers = response::headers(step, &response, &self.requests.brand, &session.normalizer);
        let body = response::body(step, &response)?;
        response::capture(step, &response, &body, &mut session.variables);
        let body = session.normalizer.value(&body);
        let mut received = StepResponse { name: step.name.clone(), status: response.status, headers, body };
        response::reduce(step, &mut received);
        Ok(Ok(received))
    }
}

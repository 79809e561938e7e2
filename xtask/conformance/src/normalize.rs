//! Replaces what differs from run to run: URLs of the site, the present time, random ids, secrets, nonces.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use chrono::{DateTime, NaiveDate};
use fancy_regex::{Captures, Regex};
use serde_json::Value;

use crate::form::percent_encode;

/// How far the clocks of server and runner may differ, and how late a timestamp may be read.
const TOLERANCE: Duration = Duration::from_secs(3);

/// The date of a day in the forms in which responses hold it. In this order of the fields days are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Day {
    /// `/2024/03/01/`.
    path: String,
    /// `/2024/03/`.
    month: String,
    /// `2024/03/`, the beginning of an upload's path.
    folder: String,
    /// `2024-03-01`.
    date: String,
}

impl Day {
    fn at(seconds: f64) -> Option<Self> {
        let day = DateTime::from_timestamp(seconds as i64, 0)?;
        let format = |pattern: &str| day.format(pattern).to_string();
        Some(Day {
            path: format("/%Y/%m/%d/"),
            month: format("/%Y/%m/"),
            folder: format("%Y/%m/"),
            date: format("%Y-%m-%d"),
        })
    }
}

/// Replaces by marks what differs from run to run.
pub(crate) struct Normalizer {
    /// Forms of the site's URLs, each with its mark, in the order in which they are replaced.
    urls: Vec<(String, &'static str)>,
    /// The site's time zone, in seconds east of UTC.
    zone: f64,
    /// Unix time from which on a timestamp counts as the present.
    begin: f64,
    patterns: Patterns,
}

struct Patterns {
    timestamp: Regex,
    uuid: Regex,
    secret: Regex,
    script: Regex,
    nonce: Regex,
    unix_time: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        let pattern = |text: &str| Regex::new(text).with_context(|| format!("cannot read the pattern {text}"));
        Ok(Patterns {
            timestamp: pattern(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)")?,
            // Random ones of version 4, not those of the recorded site.
            uuid: pattern(r"\b(?!00000000-)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")?,
            secret: pattern(r#"((?:data-secret=(?:\\?["']|&quot;)|[?]secret=))[A-Za-z0-9]{10}\b"#)?,
            script: pattern(r"(?s)((?:<|&lt;)script\b[^>]*?(?:>|&gt;)).*?((?:<|&lt;)/script(?:>|&gt;))")?,
            nonce: pattern(r"nonce=[0-9a-f]{10}(?![0-9a-f])")?,
            unix_time: pattern(r"(?<!\d)\d{10}(?!\d)")?,
        })
    }
}

impl Normalizer {
    /// For a server reached at `base`, which writes `site` in its responses; `zone` is its offset from UTC in hours.
    pub(crate) fn new(base: &str, site: &str, zone: f64) -> Result<Self> {
        let longest_first = |texts: &[&str]| {
            let texts: BTreeSet<(std::cmp::Reverse<usize>, String)> =
                texts.iter().map(|t| (std::cmp::Reverse(t.len()), (*t).to_owned())).collect();
            texts.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        let mut urls = Vec::new();
        let sites = longest_first(&[base.trim_end_matches('/'), site.trim_end_matches('/')]);
        for url in &sites {
            let bare = url.split_once(':').map_or("", |(_, rest)| rest);
            urls.push((url.clone(), "{base}"));
            urls.push((bare.to_owned(), "{base-bare}"));
            urls.push((percent_encode(url, b""), "{base-quoted}"));
            urls.push((url.replace('/', "\\/"), "{base-escaped}"));
            urls.push((percent_encode(&format!("https:{bare}"), b""), "{base-quoted-tls}"));
        }
        let hosts: Vec<&str> = sites.iter().filter_map(|url| url.split('/').nth(2)).collect();
        urls.extend(longest_first(&hosts).into_iter().map(|host| (host, "{host}")));
        urls.retain(|(text, _)| !text.is_empty());
        let begin = unix_time() - TOLERANCE.as_secs_f64();
        Ok(Normalizer { urls, zone: zone * 3600.0, begin, patterns: Patterns::new()? })
    }

    fn is_present(&self, seconds: f64) -> bool {
        (self.begin..=unix_time() + TOLERANCE.as_secs_f64()).contains(&seconds)
    }

    fn timestamp(&self, found: &Captures<'_, str>) -> String {
        let field = |n: usize| found.get(n).and_then(|m| m.as_str().parse::<u32>().ok());
        let seconds = || {
            let day = NaiveDate::from_ymd_opt(field(1)?.try_into().ok()?, field(2)?, field(3)?)?;
            Some(day.and_hms_opt(field(4)?, field(5)?, field(6)?)?.and_utc().timestamp() as f64)
        };
        match seconds() {
            Some(seconds) if self.is_present(seconds) => "{now}".to_owned(),
            Some(seconds) if self.is_present(seconds - self.zone) => "{now-local}".to_owned(),
            _ => found.get(0).map_or("", |m| m.as_str()).to_owned(),
        }
    }

    /// The days of this run, in UTC and in the site's zone.
    fn days(&self) -> BTreeSet<Day> {
        let ends = [self.begin, unix_time() + TOLERANCE.as_secs_f64()];
        ends.iter().flat_map(|end| [Day::at(*end), Day::at(end + self.zone)]).flatten().collect()
    }

    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (url, mark) in &self.urls {
            if text.contains(url.as_str()) {
                text = text.replace(url.as_str(), mark);
            }
        }
        if text.contains("20") {
            text = self.dates(text);
        }
        if text.contains("secret=") {
            text = self.patterns.secret.replace_all(&text, "${1}{secret}").into_owned();
        }
        if text.contains("script") {
            text = self.patterns.script.replace_all(&text, "${1}{script}${2}").into_owned();
        }
        if text.contains("-4") {
            text = self.patterns.uuid.replace_all(&text, "{uuid}").into_owned();
        }
        self.nonces(&text)
    }

    /// Replaces present times that a text holds as Unix seconds, as stored values do.
    pub(crate) fn unix_times(&self, text: &str) -> String {
        let mark = |found: &Captures<'_, str>| {
            let digits = found.get(0).map_or("", |m| m.as_str());
            let is_present = digits.parse().is_ok_and(|seconds: f64| self.is_present(seconds));
            if is_present { "{now-seconds}" } else { digits }.to_owned()
        };
        self.patterns.unix_time.replace_all(text, mark).into_owned()
    }

    fn dates(&self, text: String) -> String {
        let mut text =
            self.patterns.timestamp.replace_all(&text, |found: &Captures<'_, str>| self.timestamp(found)).into_owned();
        let days = self.days();
        // All days come before any month: otherwise the day of the other zone would be cut in two.
        for day in &days {
            text = text.replace(&day.path, "/{today}/").replace(&day.date, "{date}");
        }
        for day in &days {
            text = text.replace(&day.month, "/{month}/");
            if let Some(rest) = text.strip_prefix(&day.folder) {
                text = format!("{{month}}/{rest}");
            }
        }
        text
    }

    /// Replaces nonces, which are valid for a day at most. Older recordings hold nonces of their time, so recordings are
    /// read through this as well.
    fn nonces(&self, text: &str) -> String {
        if !text.contains("nonce=") {
            return text.to_owned();
        }
        self.patterns.nonce.replace_all(text, "nonce={nonce}").into_owned()
    }

    /// A received value, normalized.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().map(|v| self.value(v)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (self.text(k), self.value(v))).collect(),
            Value::Number(n) if n.as_u64().is_some_and(|n| self.is_present(n as f64)) => "{now-seconds}".into(),
            other => other.clone(),
        }
    }

    /// A recorded value: all but its nonces was normalized when it was recorded.
    pub(crate) fn recorded(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.nonces(text).into(),
            Value::Array(list) => list.iter().map(|v| self.recorded(v)).collect(),
            Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), self.recorded(v))).collect(),
            other => other.clone(),
        }
    }
}

/// The present time in Unix seconds.
pub(crate) fn unix_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn normalizer() -> Normalizer {
        let mut normalizer = Normalizer::new("http://127.0.0.1:88", "http://127.0.0.1:8801/", -5.0).unwrap();
        normalizer.begin -= 10.0;
        normalizer
    }

    #[test]
    fn urls_secrets_and_random_ids_are_replaced() {
        #[rustfmt::skip]
        let rows = [
            ("<http://127.0.0.1:8801/a> http://127.0.0.1:88/b", "<{base}/a> {base}/b"),
            ("//127.0.0.1:8801/a and 127.0.0.1:8801",           "{base-bare}/a and {host}"),
            ("http%3A%2F%2F127.0.0.1%3A8801%2F",                "{base-quoted}%2F"),
            ("https%3A%2F%2F127.0.0.1%3A8801%2F https://127.0.0.1:8801/", "{base-quoted-tls}%2F https:{base-bare}/"),
            (r"http:\/\/127.0.0.1:8801\/a",                     r"{base-escaped}\/a"),
            ("2024-03-01T10:00:00 2024-02-31 10:00:00",         "2024-03-01T10:00:00 2024-02-31 10:00:00"),
            ("data-secret=\"abcDEF0123\" ?secret=abcDEF0123x",  "data-secret=\"{secret}\" ?secret=abcDEF0123x"),
            ("<script a>b\nc</script> &lt;script>&lt;/script>", "<script a>{script}</script> &lt;script>{script}&lt;/script>"),
            ("0f8fad5b-d9cb-469f-a165-70867728950e",            "{uuid}"),
            ("00000000-0000-4000-8000-000000000001",            "00000000-0000-4000-8000-000000000001"),
            ("0f8fad5b-d9cb-169f-a165-70867728950e",            "0f8fad5b-d9cb-169f-a165-70867728950e"),
            ("?x_nonce=0123456789&y nonce=0123456789ab",        "?x_nonce={nonce}&y nonce=0123456789ab"),
            ("nonce=short nonce=e3ea9ecbf7",                    "nonce=short nonce={nonce}"),
        ];
        for (text, expected) in rows {
            assert_eq!(normalizer().text(text), expected);
        }
        let recorded = json!({"a": ["?_wpnonce=e3ea9ecbf7 http://127.0.0.1:8801"]});
        assert_eq!(normalizer().recorded(&recorded), json!({"a": ["?_wpnonce={nonce} http://127.0.0.1:8801"]}));
    }

    #[test]
    fn the_present_time_is_replaced_in_utc_and_in_the_zone_of_the_site() {
        let format = |seconds: f64, pattern: &str| {
            DateTime::from_timestamp(seconds as i64, 0).unwrap().format(pattern).to_string()
        };
        let (now, zone) = (unix_time(), -5.0 * 3600.0);
        #[rustfmt::skip]
        let rows = [
            (format(now, "%Y-%m-%dT%H:%M:%S"),        "{now}"),
            (format(now, "at %Y-%m-%d %H:%M:%S."),    "at {now}."),
            (format(now + zone, "%Y-%m-%d %H:%M:%S"), "{now-local}"),
            (format(now, "/%Y/%m/%d/x"),              "/{today}/x"),
            (format(now + zone, "/%Y/%m/%d/x"),       "/{today}/x"),
            (format(now, "on %Y-%m-%d"),              "on {date}"),
            (format(now, "%Y/%m/dot.png"),            "{month}/dot.png"),
            (format(now, "x/%Y/%m/dot.png"),          "x/{month}/dot.png"),
        ];
        for (text, expected) in rows {
            assert_eq!(normalizer().text(&text), expected, "{text}");
        }
        assert_eq!(normalizer().value(&json!([now as u64, 5, 1.5])), json!(["{now-seconds}", 5, 1.5]));
        let stored = format!("a:1:{{i:{0:.0};s:2:\"1{0:.0}\";}} 1000000000 {0:.0}:1", now);
        let expected = format!("a:1:{{i:{{now-seconds}};s:2:\"1{now:.0}\";}} 1000000000 {{now-seconds}}:1");
        assert_eq!(normalizer().unix_times(&stored), expected);
    }
}

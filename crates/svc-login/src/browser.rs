//! Short names of browsers, from the `User-Agent` header: `Chrome on Linux`.

/// Browsers by a part of their header. Those whose header contains the names of others come first.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Operating systems by a part of the header, in the same order.
const SYSTEMS: &[(&str, &str)] = &[
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// Maximum length of a name that is taken from the header itself, in characters.
const NAME_LENGTH: usize = 40;

/// The name of the browser, or of another program, that sent this header.
pub(crate) fn name(agent: &str) -> String {
    let find =
        |names: &[(&str, &'static str)]| names.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name);
    match (find(BROWSERS), find(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        // Other programs begin with their name: `curl/8.5.0`.
        (None, _) => match agent.split(['/', ' ', '(']).next().unwrap_or_default() {
            "" | "Mozilla" => "Unknown browser".to_owned(),
            name => name.chars().take(NAME_LENGTH).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_browsers() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, expected) in [
            (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/140.0.0.0 Safari/537.36"), "Chrome on Linux"),
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"),
                "Edge on Windows",
            ),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14.5; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned(), "Firefox on macOS"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                "Safari on iPhone",
            ),
            (format!("Mozilla/5.0 (Linux; Android 15) {webkit} Chrome/140.0 Mobile Safari/537.36"), "Chrome on Android"),
            ("curl/8.5.0".to_owned(), "curl"),
            ("Mozilla/5.0".to_owned(), "Unknown browser"),
            (String::new(), "Unknown browser"),
        ] {
            assert_eq!(name(&agent), expected, "{agent}");
        }
    }
}

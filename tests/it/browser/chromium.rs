//! Controls a headless Chromium over a pipe with the parts of the DevTools protocol that the tests need.
//!
//! The protocol uses the file descriptors 3 and 4, which a shell connects to standard input and output. It needs
//! neither a port nor a library.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names of Chromium executables.
const PROGRAMS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Time limit for every operation.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The time between two looks at a page that changes.
const PAUSE: Duration = Duration::from_millis(30);

/// Keys without a character.
#[derive(Clone, Copy)]
pub(crate) enum Key {
    Tab,
    Enter,
    Space,
}

/// A running browser with its own profile. Dropping it stops the browser and deletes the profile.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Events that arrived while waiting for something else.
    events: Vec<Value>,
    last_id: u64,
    _profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ignored = self.child.kill();
        let _ignored = self.child.wait();
    }
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Errors
    /// A message if no browser is installed or it does not start.
    pub(crate) fn start() -> Result<Self, String> {
        let is_installed = |name: &&&str| {
            std::env::var_os("PATH").is_some_and(|paths| std::env::split_paths(&paths).any(|p| p.join(name).is_file()))
        };
        let program =
            PROGRAMS.iter().find(is_installed).ok_or("Chromium is not installed, so the browser tests are skipped")?;
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh", program])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"])
            // Containers often run as root, and the sandbox does not work for root. Only local pages are opened.
            .args(["--no-sandbox", "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{program} did not start: {e}"))?;
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|n| n > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser { child, input, messages, events: Vec::new(), last_id: 0, _profile: profile };
        browser.call("", "Browser.getVersion", json!({})).map_err(|e| format!("{program} does not respond: {e}"))?;
        Ok(browser)
    }

    /// Opens a tab with its own cookies.
    pub(crate) fn tab(&mut self) -> Tab<'_> {
        let context = self.call_or_panic("", "Target.createBrowserContext", json!({}))["browserContextId"].clone();
        let params = json!({"url": "about:blank", "browserContextId": context, "width": 1000, "height": 700});
        let target = self.call_or_panic("", "Target.createTarget", params)["targetId"].clone();
        let session = self.call_or_panic("", "Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        let session = session["sessionId"].as_str().expect("a session").to_owned();
        self.call_or_panic(&session, "Page.enable", json!({}));
        self.call_or_panic(&session, "Runtime.enable", json!({}));
        Tab { browser: self, session }
    }

    #[track_caller]
    fn call_or_panic(&mut self, session: &str, method: &str, params: Value) -> Value {
        self.call(session, method, params).unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    fn call(&mut self, session: &str, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).map_err(|e| e.to_string())?;
        let until = Instant::now() + TIMEOUT;
        loop {
            let remaining = until.saturating_duration_since(Instant::now());
            let response = self.messages.recv_timeout(remaining).map_err(|e| e.to_string())?;
            if response["id"] == id {
                return match response.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(response["result"].clone()),
                };
            }
            self.events.push(response);
        }
    }

    /// The next event of this name.
    fn event(&mut self, session: &str, name: &str) -> Option<Value> {
        let fits = |event: &Value| event["method"] == name && event["sessionId"] == session;
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(found) = self.events.iter().position(fits) {
                return Some(self.events.remove(found)["params"].clone());
            }
            let remaining = until.saturating_duration_since(Instant::now());
            self.events.push(self.messages.recv_timeout(remaining).ok()?);
        }
    }
}

/// A tab. Every method waits until the page has loaded.
pub(crate) struct Tab<'a> {
    browser: &'a mut Browser,
    session: String,
}

impl Tab<'_> {
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        self.browser.call_or_panic(&session, method, params)
    }

    /// Runs an action that loads a page, and waits for the page.
    #[track_caller]
    fn loading(&mut self, act: impl FnOnce(&mut Self)) {
        let session = self.session.clone();
        self.browser.events.retain(|e| e["sessionId"] != session.as_str() || e["method"] != "Page.loadEventFired");
        act(self);
        self.browser.event(&session, "Page.loadEventFired").expect("the page loads");
    }

    /// Waits for the next event of this name.
    #[track_caller]
    pub(crate) fn event(&mut self, name: &str) -> Value {
        let session = self.session.clone();
        self.browser.event(&session, name).unwrap_or_else(|| panic!("no {name} event"))
    }

    /// Opens a URL.
    #[track_caller]
    pub(crate) fn open(&mut self, url: &str) {
        self.loading(|tab| {
            let response = tab.call("Page.navigate", json!({"url": url}));
            assert!(response.get("errorText").is_none(), "{url}: {}", response["errorText"]);
        });
    }

    /// Loads the page again, with its form if it is the response to one.
    #[track_caller]
    pub(crate) fn reload(&mut self) {
        self.loading(|tab| {
            tab.call("Page.reload", json!({}));
        });
    }

    /// Clicks the element and waits for the next page.
    #[track_caller]
    pub(crate) fn follow(&mut self, selector: &str) {
        self.loading(|tab| tab.click(selector));
    }

    /// Clicks the element when it has stopped moving: images and fonts that load late shift what is below them.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let quoted = Value::from(selector);
        let center = format!(
            "(() => {{ const e = document.querySelector({quoted}); if (!e) return null; \
             e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let mut last = Value::Null;
        let until = Instant::now() + TIMEOUT;
        let (x, y) = loop {
            let current = self.eval(&center);
            if let (Some(x), Some(y)) = (current[0].as_f64(), current[1].as_f64())
                && current == last
            {
                break (x, y);
            }
            assert!(Instant::now() < until, "{selector} is missing or does not stop moving: {}", self.text());
            last = current;
            std::thread::sleep(PAUSE);
        };
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Waits until an expression is true. Until then it may throw.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + TIMEOUT;
        while self.eval(&format!("(() => {{ try {{ return {expression} }} catch {{ return false }} }})()")) != true {
            assert!(Instant::now() < until, "{expression} did not become true: {}", self.text());
            std::thread::sleep(PAUSE);
        }
    }

    /// Types into the focused element.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Clicks a field and replaces its text.
    #[track_caller]
    pub(crate) fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.eval(&format!("document.querySelector({}).select()", Value::from(selector)));
        self.type_text(text);
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: Key) {
        let (name, code, number, text) = match key {
            Key::Tab => ("Tab", "Tab", 9, None),
            Key::Enter => ("Enter", "Enter", 13, Some("\r")),
            Key::Space => (" ", "Space", 32, Some(" ")),
        };
        let mut event = json!({"type": "keyDown", "key": name, "code": code, "windowsVirtualKeyCode": number});
        if let Some(text) = text {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Presses a key and waits for the next page.
    #[track_caller]
    pub(crate) fn follow_key(&mut self, key: Key) {
        self.loading(|tab| tab.press(key));
    }

    /// Evaluates an expression in the page, regardless of its security policy and of disabled scripts.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let response = self.call("Runtime.evaluate", params);
        assert!(response.get("exceptionDetails").is_none(), "{expression:.200}: {}", response["exceptionDetails"]);
        response["result"]["value"].clone()
    }

    /// The visible text of the page.
    #[track_caller]
    pub(crate) fn text(&mut self) -> String {
        self.eval("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// The URL of the tab.
    pub(crate) fn url(&mut self) -> String {
        self.eval("location.href").as_str().unwrap_or_default().to_owned()
    }

    /// A screenshot of the page, as PNG.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        self.screenshot_as("png")
    }

    /// A screenshot of the page in this format: `png`, `jpeg` or `webp`.
    pub(crate) fn screenshot_as(&mut self, format: &str) -> Vec<u8> {
        let image = self.call("Page.captureScreenshot", json!({"format": format}));
        base64(image["data"].as_str().expect("image data"))
    }

    /// A screenshot of the whole page, also of what is beyond the window, as PNG.
    pub(crate) fn screenshot_of_page(&mut self) -> Vec<u8> {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let image = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true, "clip": clip}));
        base64(image["data"].as_str().expect("image data"))
    }

    /// Enables or disables the scripts of pages.
    pub(crate) fn scripts(&mut self, on: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": !on}));
    }
}

/// Decodes Base64 (RFC 4648).
fn base64(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => u32::from(b - b'A'),
        b'a'..=b'z' => u32::from(b - b'a') + 26,
        b'0'..=b'9' => u32::from(b - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let n = chunk.iter().enumerate().fold(0, |n, (i, b)| n | value(*b) << (18 - 6 * i));
        bytes.extend_from_slice(&n.to_be_bytes()[1..chunk.len()]);
    }
    bytes
}

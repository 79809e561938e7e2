//! The attacks of the HTML filter's tests, in a browser that would run the remaining scripts.

use serde_json::{Value, json};
use svc_content::{Shortcodes, autop, kses, save, texturize};

use super::{Tab, browser};

/// One attack per line.
const ATTACKS: &str = include_str!("../../../crates/svc-content/src/kses/attacks.txt");

/// The number of attacks, from the first on, that only call a function.
const PLAIN: usize = 15;

fn attacks() -> impl Iterator<Item = String> {
    let unescape =
        |line: &str| line.replace("\\n", "\n").replace("\\t", "\t").replace("\\x00", "\0").replace("\\x01", "\x01");
    ATTACKS.lines().filter(|line| !line.is_empty()).map(unescape)
}

/// Shows each text in a separate frame and dispatches events on all elements. Returns the texts that ran a script.
fn that_ran<'a>(tab: &mut Tab, texts: &'a [String]) -> Vec<&'a str> {
    /// A call of an attack is reported to the page around the frame.
    const FRAMES: &str = r#"(async texts => {
        window.ran = new Set();
        const frames = texts.map((text, n) => {
            const frame = document.createElement('iframe');
            const report = `<script>for (const name of ['alert', 'confirm', 'prompt', 'msgbox', 'write'])
                window[name] = () => parent.ran.add(${n});</` + `script>`;
            frame.srcdoc = `<!DOCTYPE html><html><head>${report}</head><body>${text}</body></html>`;
            document.body.append(frame);
            return frame;
        });
        const pause = ms => new Promise(done => setTimeout(done, ms));
        await pause(1500);
        const kinds = ['click', 'dblclick', 'mousedown', 'mouseup', 'mouseover', 'mouseenter', 'mousemove', 'mouseout',
            'focus', 'blur', 'keydown', 'pointerover', 'wheel', 'toggle', 'load', 'error', 'animationstart'];
        for (const frame of frames) {
            try {
                for (const element of frame.contentDocument.body.querySelectorAll('*')) {
                    for (const kind of kinds) element.dispatchEvent(new Event(kind, {bubbles: true, cancelable: true}));
                    if (element.href && !/^https?:|^mailto:|^ftps?:/i.test(element.href)) element.click();
                }
            } catch { /* The frame has navigated away. */ }
        }
        await pause(500);
        for (const frame of frames) frame.remove();
        return [...window.ran];
    })"#;
    tab.open("about:blank");
    let ran = tab.eval(&format!("{FRAMES}({})", json!(texts)));
    let text = |n: &Value| texts[n.as_u64().and_then(|n| usize::try_from(n).ok()).expect("a number")].as_str();
    ran.as_array().expect("a list").iter().map(text).collect()
}

#[test]
fn filtered_html_runs_no_script() {
    let Some(mut browser) = browser() else { return };
    let mut tab = browser.tab();
    let raw: Vec<String> = attacks().collect();
    // The page detects scripts that run. Some of the other attacks would stop the test.
    let plain = &raw[..PLAIN];
    let ran = that_ran(&mut tab, plain).len();
    assert!(ran > PLAIN / 2, "{ran} of {PLAIN} attacks run where nothing is filtered");
    for (name, filter) in [
        ("posts", (|text| kses::post(text)) as fn(&str) -> String),
        ("comments", |text| kses::data(text)),
        ("stored comments", |text| save::comment_content(text, true)),
        ("shown posts", |text| autop(&texturize(&save::content(text, true), &Shortcodes::default()), true)),
        ("posts with comments of HTML", |text| kses::post(&format!("<!-- {text} -->"))),
        ("posts with text areas", |text| kses::post(&format!("<textarea>{text}</textarea>"))),
    ] {
        let filtered: Vec<String> = raw.iter().map(|text| filter(text)).collect();
        assert_eq!(that_ran(&mut tab, &filtered), [""; 0], "{name}");
    }
}

//! Runs the attacks of the HTML filter's tests in a browser, filtered.

use serde_json::{Value, json};
use svc_content::{Shortcodes, autop, kses, save, texturize};

use super::{Tab, browser};

/// The attacks, one per line.
const ATTACKS: &str = include_str!("../../../crates/svc-content/src/kses/attacks.txt");

/// The first attacks only call a function; this is their number.
const PLAIN: usize = 15;

fn attacks() -> impl Iterator<Item = String> {
    let unescape =
        |line: &str| line.replace("\\n", "\n").replace("\\t", "\t").replace("\\x00", "\0").replace("\\x01", "\x01");
    ATTACKS.lines().filter(|line| !line.is_empty()).map(unescape)
}

/// Shows each text in its own frame, sends all kinds of events to its elements, and returns the texts that ran a
/// script.
fn texts_that_ran<'a>(tab: &mut Tab, texts: &'a [String]) -> Vec<&'a str> {
    /// Functions that attacks call report to the page that contains the frame.
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
            } catch { /* The frame has navigated. */ }
        }
        await pause(500);
        for (const frame of frames) frame.remove();
        return [...window.ran];
    })"#;
    tab.open("about:blank");
    let ran = tab.eval(&format!("{FRAMES}({})", json!(texts)));
    let text = |n: &Value| texts[n.as_u64().and_then(|n| usize::try_from(n).ok()).expect("an index")].as_str();
    ran.as_array().expect("an array").iter().map(text).collect()
}

#[test]
fn filtered_attacks_do_not_run() {
    let Some(mut browser) = browser() else { return };
    let mut tab = browser.tab();
    let raw: Vec<String> = attacks().collect();
    // Check that the page detects scripts. Only the first attacks are used, since others would leave the page.
    let plain = &raw[..PLAIN];
    let ran = texts_that_ran(&mut tab, plain).len();
    assert!(ran > PLAIN / 2, "only {ran} of {PLAIN} unfiltered attacks ran");
    for (name, filter) in [
        ("posts", (|text| kses::post(text).into_string()) as fn(&str) -> String),
        ("comments", |text| kses::data(text).into_string()),
        ("stored comments", |text| save::comment_content(text, true)),
        ("rendered posts", |text| autop(&texturize(&save::content(text, true), &Shortcodes::default()), true)),
        ("posts with HTML comments", |text| kses::post(&format!("<!-- {text} -->")).into_string()),
        ("posts with text areas", |text| kses::post(&format!("<textarea>{text}</textarea>")).into_string()),
    ] {
        let filtered: Vec<String> = raw.iter().map(|text| filter(text)).collect();
        assert_eq!(texts_that_ran(&mut tab, &filtered), [""; 0], "{name}");
    }
}

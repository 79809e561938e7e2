//! The attacks that the filter of allowed HTML is tested with, in a browser that would run what is left of them.

use serde_json::{Value, json};
use svc_content::{Shortcodes, autop, kses, save, texturize};

use super::{Tab, browser};

/// One attack a line.
const ATTACKS: &str = include_str!("../../../crates/svc-content/src/kses/attacks.txt");

/// How many of them, from the first on, do nothing worse than call a function.
const PLAIN: usize = 15;

fn attacks() -> impl Iterator<Item = String> {
    let unescape =
        |line: &str| line.replace("\\n", "\n").replace("\\t", "\t").replace("\\x00", "\0").replace("\\x01", "\x01");
    ATTACKS.lines().filter(|line| !line.is_empty()).map(unescape)
}

/// Shows each text in a frame of its own, touches everything in it in every way, and gives the texts that ran something.
fn that_ran<'a>(tab: &mut Tab, texts: &'a [String]) -> Vec<&'a str> {
    /// What an attack calls is told to the page around the frame.
    const FRAMES: &str = r#"(async texts => {
        window.ran = new Set();
        const frames = texts.map((text, n) => {
            const frame = document.createElement('iframe');
            const tell = `<script>for (const name of ['alert', 'confirm', 'prompt', 'msgbox', 'write'])
                window[name] = () => parent.ran.add(${n});</` + `script>`;
            frame.srcdoc = `<!DOCTYPE html><html><head>${tell}</head><body>${text}</body></html>`;
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
            } catch { /* The frame has gone elsewhere. */ }
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
fn nothing_that_the_filter_passes_runs() {
    let Some(mut browser) = browser() else { return };
    let mut tab = browser.tab();
    let raw: Vec<String> = attacks().collect();
    // The page itself does see what runs. Some of the others would end it.
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

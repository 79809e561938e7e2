//! Rendering blocks takes linear time, and its output is bounded by the content.

use std::time::{Duration, Instant};

use svc_content::{RenderContext, blocks, display};

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->", "<!-- wp:paragraph -->", "<!-- /wp:paragraph -->", "<!-- wp:x /-->",
    "<!-- wp:group {\"layout\":{\"type\":\"flex\"}} --><div class=\"wp-block-group\"></div><!-- /wp:group -->",
    "<!-- wp:group {\"layout\":{\"type\":\"constrained\",\"contentSize\":\"1px\"}} --><div></div><!-- /wp:group -->",
    "<!-- wp:group {\"style\":{\"elements\":{\"link\":{\"color\":{\"text\":\"#123\"}}}}} --><div></div><!-- /wp:group -->",
    "<!-- wp:group {\"style\":{\"spacing\":{\"padding\":\"1px\",\"blockGap\":\"1px\"}}} --><div></div><!-- /wp:group -->",
    "<!-- wp:columns --><div><!-- wp:column --><div></div><!-- /wp:column --></div><!-- /wp:columns -->",
    "<!-- wp:image {\"style\":{\"color\":{\"duotone\":[\"#000\",\"#fff\"]}}} --><figure><img src=\"a\"/></figure><!-- /wp:image -->",
    "<!-- wp:heading {\"fontSize\":\"x\",\"className\":\"a b\"} --><h2>x</h2><!-- /wp:heading -->",
    "<!-- wp:x {\"metadata\":{\"bindings\":{\"content\":{\"source\":\"a\"}}}} --><p>x</p><!-- /wp:x -->",
    "[gallery]", "[caption]x", "<pre>", "\n\n", "http://a.b/c\n",
];

#[test]
fn repeated_pieces() {
    for piece in PIECES {
        let content = piece.repeat(300_000 / piece.len());
        let start = Instant::now();
        let rendered = display::render_content(&content, &RenderContext::default());
        assert!(rendered.len() <= 16 * content.len() + (1 << 16), "{piece}: {}", rendered.len());
        // Linear time is a second or two, even in a debug build; quadratic time is minutes.
        assert!(start.elapsed() < Duration::from_secs(30), "{piece}: {:?}", start.elapsed());
    }
}

#[test]
fn nested_blocks() {
    let depth = blocks::MAX_DEPTH + 20;
    for piece in &PIECES[4..9] {
        let (open, close) = piece.split_once("></div>").unwrap();
        let nested = format!("{}{}", format!("{open}>").repeat(depth), format!("</div>{close}").repeat(depth));
        let content = nested.repeat(1 + 300_000 / nested.len());
        let start = Instant::now();
        display::render_content(&content, &RenderContext::default());
        assert!(start.elapsed() < Duration::from_secs(30), "{piece}: {:?}", start.elapsed());
    }
}

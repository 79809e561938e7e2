//! Text sanitizers and escapes: plain text, addresses, slugs, file names, e-mail. Text in, text out.

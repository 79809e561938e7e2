//! Words that the project's prose does not use: in comments, Markdown and messages (string literals with spaces).
//!
//! `words.toml` holds, per crate and word, the most occurrences that are allowed. More of them is a fault, so the counts can
//! only fall. Code and inline code are not prose. `[[allow]]` entries exempt a word in a file or folder, with a reason.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{
    markdown, root,
    rust_source::{Kind, pieces},
    say,
};

/// A word or phrase, its inflections, and the usual English for it.
struct Word {
    name: &'static str,
    forms: &'static [&'static str],
    instead: &'static str,
}

/// The word list. Forms are in lower case; a form with a capital matches only so written.
#[rustfmt::skip]
const WORDS: &[Word] = &[
    Word { name: "anew", forms: &["anew"], instead: "again, uncached" },
    Word { name: "answer", forms: &["answer", "answers", "answered", "answering"], instead: "response, responds, returns" },
    Word { name: "ask", forms: &["ask", "asks", "asked", "asking"], instead: "request, require, look up" },
    Word { name: "beside", forms: &["beside"], instead: "next to" },
    Word { name: "by itself", forms: &["by itself", "by themselves"], instead: "automatically, alone" },
    Word { name: "counts more", forms: &["counts more", "count more", "counted more"], instead: "takes precedence" },
    Word { name: "film", forms: &["film", "films"], instead: "video" },
    Word { name: "hangs on", forms: &["hangs on", "hang on", "hung on", "hanging on"], instead: "depends on, is attached to" },
    Word { name: "he", forms: &["he", "him", "his", "himself"], instead: "they, the caller" },
    Word { name: "in force", forms: &["in force"], instead: "effective, current" },
    Word { name: "interface", forms: &["interface", "interfaces"], instead: "REST API, API" },
    Word { name: "kept", forms: &["kept"], instead: "cached (memory); stored (database, disk); unchanged" },
    Word { name: "let in", forms: &["let in", "lets in", "letting in", "let through", "lets through"], instead: "authenticate, authorize" },
    Word { name: "moment", forms: &["moment", "moments"], instead: "snapshot, timestamp" },
    Word { name: "newcomer", forms: &["newcomer", "newcomers"], instead: "new user, the default role" },
    Word { name: "peer", forms: &["peer", "peers"], instead: "WordPress (the reference system)" },
    Word { name: "picture", forms: &["picture", "pictures", "pictured"], instead: "image" },
    Word { name: "stand", forms: &["stand", "stands", "stood", "standing"], instead: "is, appears, belongs" },
    Word { name: "stranger", forms: &["stranger", "strangers"], instead: "client, untrusted input" },
    Word { name: "switch on", forms: &["switch on", "switches on", "switched on", "switch off", "switches off", "switched off"], instead: "activate, enable" },
    Word { name: "tell", forms: &["tell", "tells", "told", "telling"], instead: "report, return, document; distinguish (tell apart)" },
    Word { name: "under way", forms: &["under way", "underway"], instead: "in progress" },
    Word { name: "What …", forms: &["What", "Who"], instead: "a sentence that begins with its subject" },
    Word { name: "whatever", forms: &["whatever"], instead: "any, all; regardless of" },
    Word { name: "whoever", forms: &["whoever", "whomever"], instead: "the client, any caller, everyone who" },
    Word { name: "whom", forms: &["whom"], instead: "a sentence whose subject acts" },
];

const FILE: &str = "xtask/words.toml";

const HEAD: &str = "\
# The most occurrences of each word of `xtask/src/words.rs` in the prose of a crate.
# `cargo xtask tidy --words` prints the counts; `cargo xtask tidy --words --update` lowers these maxima, never raises them,
# and adds the present counts of a crate that has no table here yet.
";

/// `words.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    #[serde(default)]
    allow: Vec<Allowance>,
    /// Maxima per area and word. A word without one must not occur.
    #[serde(default)]
    maximum: BTreeMap<String, BTreeMap<String, usize>>,
}

/// Words with an honest use in a file or below a folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowance {
    path: String,
    words: Vec<String>,
    reason: String,
}

/// One occurrence.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    word: &'static str,
    line: usize,
}

/// Occurrences as `FILE:LINE`, per area and word.
type Counts = BTreeMap<String, BTreeMap<&'static str, Vec<String>>>;

/// Faults of the whole project.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let limits = limits(root)?;
    let mut found = allowance_faults(&limits);
    found.extend(excesses(&limits, &counts(root, &limits)?));
    Ok(found)
}

/// `cargo xtask tidy --words [--update] [AREA|WORD…]`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let root = root()?;
    let mut limits = limits(&root)?;
    let counts = counts(&root, &limits)?;
    let (flags, names): (Vec<&String>, Vec<&String>) = args.iter().partition(|a| a.starts_with("--"));
    match flags.as_slice() {
        [] if names.is_empty() => {
            for Allowance { path, .. } in limits.allow.iter().filter(|a| !root.join(&a.path).exists()) {
                say(&format!("unused allowance: {path} does not exist"))?;
            }
            say(table(&limits, &counts).trim_end())
        }
        [] => say(listing(&counts, &names).trim_end()),
        [flag] if *flag == "--update" && names.is_empty() => {
            lower(&mut limits, &counts);
            let path = root.join(FILE);
            std::fs::write(&path, limits.render()).with_context(|| format!("cannot write {}", path.display()))
        }
        _ => bail!("usage: cargo xtask tidy --words [--update | AREA… | WORD…]"),
    }
}

fn limits(root: &Path) -> Result<Limits> {
    let path = root.join(FILE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

impl Limits {
    fn render(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut out = HEAD.to_owned();
        for Allowance { path, words, reason } in &self.allow {
            let words: Vec<String> = words.iter().map(|w| quoted(w)).collect();
            let (path, reason) = (quoted(path), quoted(reason));
            out += &format!("\n[[allow]]\npath = {path}\nwords = [{}]\nreason = {reason}\n", words.join(", "));
        }
        for (area, maxima) in &self.maximum {
            out += &format!("\n[maximum.{area}]\n");
            for (word, n) in maxima {
                out += &format!("{} = {n}\n", quoted(word));
            }
        }
        out
    }

    fn allows(&self, file: &str, word: &str) -> bool {
        self.allow.iter().any(|a| {
            (a.path == file || a.path.ends_with('/') && file.starts_with(&a.path)) && a.words.iter().any(|w| w == word)
        })
    }
}

/// Allowances without a reason or for unknown words.
fn allowance_faults(limits: &Limits) -> Vec<String> {
    let mut faults = Vec::new();
    for Allowance { path, words, reason } in &limits.allow {
        if reason.trim().is_empty() {
            faults.push(format!("{FILE}: the allowance for {path} needs a reason"));
        }
        for word in words.iter().filter(|w| !WORDS.iter().any(|known| known.name == w.as_str())) {
            faults.push(format!("{FILE}: `{word}` is not in the word list"));
        }
    }
    faults
}

/// Words that occur more often than allowed.
fn excesses(limits: &Limits, counts: &Counts) -> Vec<String> {
    const SHOWN: usize = 8;
    let mut faults = Vec::new();
    for (area, words) in counts {
        for (word, places) in words {
            let maximum = limits.maximum.get(area).and_then(|m| m.get(*word)).copied().unwrap_or(0);
            if places.len() <= maximum {
                continue;
            }
            let instead = WORDS.iter().find(|w| w.name == *word).map_or("", |w| w.instead);
            let shown: Vec<&str> = places.iter().take(SHOWN).map(String::as_str).collect();
            let more = if places.len() > SHOWN { ", …" } else { "" };
            faults.push(format!(
                "{area}: `{word}` occurs {} times in prose, at most {maximum} are allowed; write: {instead} ({}{more})",
                places.len(),
                shown.join(", ")
            ));
        }
    }
    faults
}

/// Lowers maxima to the counts, and gives areas without maxima their counts.
fn lower(limits: &mut Limits, counts: &Counts) {
    let old = std::mem::take(&mut limits.maximum);
    for (area, words) in counts {
        let known = old.get(area);
        let maxima: BTreeMap<String, usize> = words
            .iter()
            .map(|(word, places)| {
                let allowed = known.map_or(usize::MAX, |m| m.get(*word).copied().unwrap_or(0));
                ((*word).to_owned(), places.len().min(allowed))
            })
            .filter(|(_, n)| *n > 0)
            .collect();
        limits.maximum.insert(area.clone(), maxima);
    }
}

/// A line per area and word, with the count and the maximum.
fn table(limits: &Limits, counts: &Counts) -> String {
    let mut out = String::new();
    let mut total = 0;
    for (area, words) in counts {
        for (word, places) in words {
            let maximum = limits.maximum.get(area).and_then(|m| m.get(*word)).copied().unwrap_or(0);
            out += &format!("{area:20} {word:14} {:5} of {maximum}\n", places.len());
            total += places.len();
        }
    }
    out += &format!("{total} in all\n");
    out
}

/// The places of these words, or of all words in these areas.
fn listing(counts: &Counts, names: &[&String]) -> String {
    let mut out = String::new();
    for (area, words) in counts {
        for (word, places) in words {
            if names.iter().any(|n| *n == area || n.as_str() == *word) {
                for place in places {
                    out += &format!("{place}: {word}\n");
                }
            }
        }
    }
    out
}

/// All occurrences that no allowance covers. Areas without any are listed as well.
fn counts(root: &Path, limits: &Limits) -> Result<Counts> {
    let mut counts = Counts::new();
    let mut files = crate::tidy::rust_files(root)?;
    files.extend(markdown::files(root)?);
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let relative = file.strip_prefix(root).unwrap_or(&file);
        let name = relative.display().to_string();
        let area = counts.entry(area(relative)).or_default();
        // The word list itself, and pages that are generated from texts which are counted where they are written.
        if name == "xtask/src/words.rs" || name.ends_with(".md") && text.contains("\n<!-- Generated by ") {
            continue;
        }
        let found = if name.ends_with(".rs") { in_rust(&text) } else { in_markdown(&text) };
        for Found { word, line } in found {
            if !limits.allows(&name, word) {
                area.entry(word).or_default().push(format!("{name}:{line}"));
            }
        }
    }
    Ok(counts)
}

/// The crate of a file; `docs`, `tests` and `xtask` count as one each, and the rest of the project as `root`.
fn area(file: &Path) -> String {
    let parts: Vec<_> = file.iter().map(|p| p.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, name, ..] if first == "crates" => name.to_string(),
        [first, _, ..] if first == "docs" || first == "tests" || first == "xtask" => first.to_string(),
        _ => "root".to_owned(),
    }
}

fn in_markdown(text: &str) -> Vec<Found> {
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    matches(&tokens(&lines, false))
}

fn in_rust(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    // Line comments on consecutive lines are one text.
    let mut comment: Vec<(usize, String)> = Vec::new();
    let flush = |comment: &mut Vec<(usize, String)>, found: &mut Vec<Found>| {
        let lines: Vec<(usize, &str)> = comment.iter().map(|(n, l)| (*n, l.as_str())).collect();
        found.extend(matches(&tokens(&lines, false)));
        comment.clear();
    };
    for piece in pieces(text) {
        match piece.kind {
            Kind::Code if piece.text.trim().is_empty() && piece.text.matches('\n').count() < 2 => {}
            Kind::Code => flush(&mut comment, &mut found),
            Kind::Comment => comment.extend((piece.line..).zip(piece.text.lines()).map(|(n, l)| (n, l.to_owned()))),
            Kind::String => {
                flush(&mut comment, &mut found);
                if is_prose(&piece.text) {
                    let lines: Vec<(usize, &str)> = (piece.line..).zip(piece.text.lines()).collect();
                    found.extend(matches(&tokens(&lines, true)));
                }
            }
        }
    }
    flush(&mut comment, &mut found);
    found
}

/// Whether a string literal is a sentence or a label, not a key, a path or a number.
fn is_prose(text: &str) -> bool {
    text.trim().contains(char::is_whitespace)
        || text.starts_with(char::is_uppercase) && text.chars().all(char::is_alphabetic)
}

/// A word with its line; `None` stands between words that do not belong together.
type Token = Option<(usize, String)>;

/// The words of a text outside of code. `in_string` also skips parts of names with hyphens, such as CSS classes.
fn tokens(lines: &[(usize, &str)], in_string: bool) -> Vec<Token> {
    let mut found = Vec::new();
    let mut fence = false;
    let mut code = false;
    for (number, line) in lines {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fence = !fence;
            found.push(None);
            continue;
        }
        if fence {
            continue;
        }
        if trimmed.is_empty() {
            code = false;
            found.push(None);
        }
        for (i, part) in line.split('`').enumerate() {
            if i > 0 {
                code = !code;
                found.push(None);
            }
            if !code {
                words_of(part, *number, in_string, &mut found);
            }
        }
    }
    found
}

/// Characters between which a phrase cannot span.
const ENDS: [char; 7] = ['.', ';', ':', '"', '(', ')', '|'];

fn words_of(text: &str, line: usize, in_string: bool, found: &mut Vec<Token>) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '’');
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let before = rest[..start].chars().next_back().unwrap_or(' ');
        // The target of a link.
        if rest[..start].ends_with("](") {
            let end = rest.find(')').unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        }
        if rest[..start].contains(ENDS) {
            found.push(None);
        }
        let word = &rest[start..];
        let length = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(length);
        let joins = |c: char| matches!(c, '/' | '$' | '=' | '\\' | '@') || in_string && c == '-';
        let is_name = word.contains(|c: char| c == '_' || c.is_numeric())
            || joins(before)
            || matches!(before, '.' | '<' | '#' | '{' | '&')
            || after.starts_with(|c| joins(c) || c == '{')
            || after.starts_with("::")
            || after.starts_with('.') && after[1..].starts_with(char::is_alphanumeric);
        let word = word.trim_matches(['\'', '’']);
        let word = word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word);
        found.push(if is_name { None } else { Some((line, word.to_owned())) });
        rest = after;
    }
    if rest.contains(ENDS) {
        found.push(None);
    }
}

fn matches(tokens: &[Token]) -> Vec<Found> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some((line, _)) = token else { continue };
        for Word { name, forms, .. } in WORDS {
            if forms.iter().any(|form| begins_with(&tokens[at..], form)) {
                found.push(Found { word: name, line: *line });
            }
        }
    }
    found
}

/// Whether the tokens begin with the words of this form.
fn begins_with(tokens: &[Token], form: &str) -> bool {
    let case_matters = form.starts_with(char::is_uppercase);
    let mut words = form.split(' ').zip(tokens);
    form.split(' ').count() <= tokens.len()
        && words.all(|(want, token)| {
            token
                .as_ref()
                .is_some_and(|(_, word)| if case_matters { word == want } else { word.to_lowercase() == want })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: Vec<Found>) -> String {
        found.iter().map(|f| format!("{}:{}", f.line, f.word)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_are_found_in_rust_prose_only() {
        for (source, expected) in [
            ("// The file tells its type.", "1:tell"),
            ("/// Kept until\n/// it is TOLD.", "1:kept 2:tell"),
            ("/// Runs by\n/// itself.\nfn f() {}", "1:by itself"),
            ("// Runs by\n\n// itself.", ""),
            ("let told = kept(he); // done", ""),
            ("/// See `told` and [`Kept`](crate::kept).", ""),
            ("/// ```\n/// // told\n/// ```\n/// Anew.", "4:anew"),
            (r#"say("Nothing is told here")"#, "1:tell"),
            (r#"f("told", "film.mov", "a film.mov", "kept-alive x", "/kept/x y", "{told} x")"#, ""),
            (r#"label("Picture")"#, "1:picture"),
            ("let x = r#\"a \"moment\" b\"#;", "1:moment"),
            ("/* The peer's\n order */", "1:peer"),
            ("// The element `<picture>`, <picture> and a.film", ""),
            ("// What is stored here.", "1:What …"),
            ("// Says what is stored; who?", ""),
            ("// Then he himself", "1:he 1:he"),
            ("// Let. In", ""),
            ("// the theme", ""),
        ] {
            assert_eq!(shown(in_rust(source)), expected, "{source}");
        }
    }

    #[test]
    fn words_are_found_in_markdown() {
        for (source, expected) in [
            ("# Kept\n\ntext", "1:kept"),
            ("```\ntold\n```\n[film](film.md) `told`", "4:film"),
            ("`a\ntold` told", "2:tell"),
            ("| stands | counts\nmore |", "1:stand 1:counts more"),
        ] {
            assert_eq!(shown(in_markdown(source)), expected, "{source}");
        }
    }

    fn counted(n: usize) -> Counts {
        let places = (0..n).map(|i| format!("a.rs:{i}")).collect();
        BTreeMap::from([("svc-x".to_owned(), BTreeMap::from([("anew", places)]))])
    }

    fn limited(text: &str) -> Limits {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn counts_may_only_fall() {
        for (toml, n, faulty, lowered) in [
            ("[maximum.svc-x]\nanew = 2", 2, false, "anew = 2"),
            ("[maximum.svc-x]\nanew = 2", 1, false, "anew = 1"),
            ("[maximum.svc-x]\nanew = 2", 3, true, "anew = 2"),
            ("[maximum.svc-x]", 1, true, ""),
            ("", 1, true, "anew = 1"),
        ] {
            let mut limits = limited(toml);
            assert_eq!(!excesses(&limits, &counted(n)).is_empty(), faulty, "{toml} with {n}");
            lower(&mut limits, &counted(n));
            let expected = limited(&format!("[maximum.svc-x]\n{lowered}"));
            assert_eq!(limits.maximum, expected.maximum, "{toml} with {n}");
        }
    }

    #[test]
    fn allowances_cover_a_file_or_a_folder() {
        let limits = limited(
            "[[allow]]\npath = \"a/b.rs\"\nwords = [\"peer\"]\nreason = \"sockets\"\n\
             [[allow]]\npath = \"c/\"\nwords = [\"film\"]\nreason = \"\"",
        );
        for (file, word, allowed) in [
            ("a/b.rs", "peer", true),
            ("a/b.rs", "film", false),
            ("a/c.rs", "peer", false),
            ("c/d/e.rs", "film", true),
            ("c.rs", "film", false),
        ] {
            assert_eq!(limits.allows(file, word), allowed, "{file} {word}");
        }
        assert_eq!(allowance_faults(&limits), ["xtask/words.toml: the allowance for c/ needs a reason"]);
        let again = limited(&limits.render());
        assert_eq!(again.render(), limits.render());
    }

    #[test]
    fn areas_are_crates() {
        for (file, expected) in [
            ("crates/svc-x/src/a.rs", "svc-x"),
            ("docs/a.md", "docs"),
            ("xtask/src/a.rs", "xtask"),
            ("tests/it/a.rs", "tests"),
            ("README.md", "root"),
            (".github/CONTRIBUTING.md", "root"),
        ] {
            assert_eq!(area(Path::new(file)), expected);
        }
    }

    #[test]
    fn every_word_has_a_replacement() {
        for word in WORDS {
            assert!(!word.instead.is_empty() && !word.forms.is_empty(), "{}", word.name);
        }
    }
}

//! What is done at the end of an import: values that name other objects of the file, sticky posts, and URLs of files in texts.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use svc_model::{MetaKind, PostId};
use svc_store::{StoredText, Tx, meta, options, posts};
use svc_versions::Context;

use super::{
    Import, ImportError,
    item::PENDING,
    state::{Reference, ReferenceTo},
};
use crate::{SiteResult, settings::sticky};

/// Number of posts of a transaction.
const BATCH: usize = 50;

/// A reference with the ID of its target on this site.
struct Resolved {
    post: PostId,
    to: Target,
}

enum Target {
    Parent(PostId),
    Meta(&'static str, i64),
}

impl Import {
    pub(super) async fn resolve_references(self: &Arc<Self>, cx: &Context) -> Result<(), ImportError> {
        let (mut resolved, sticky, pending, urls) = {
            let mut state = self.state();
            let references = std::mem::take(&mut state.references);
            let mut resolved = Vec::with_capacity(references.len());
            for Reference { post, to } in references {
                let target = match to {
                    ReferenceTo::Parent(old) => state.posts.get(&old).map(|id| Target::Parent(*id)),
                    ReferenceTo::Post(key, old) => state.posts.get(&old).map(|id| Target::Meta(key, id.0)),
                    ReferenceTo::Term(key, old) => state.terms.get(&old).map(|id| Target::Meta(key, id.0)),
                };
                match target {
                    Some(to) => resolved.push(Resolved { post, to }),
                    None => state.report.problem(format!("Post {}: what {} is not here.", post.0, to.describe())),
                }
            }
            (resolved, std::mem::take(&mut state.sticky), std::mem::take(&mut state.pending), Urls::new(&state.urls))
        };
        while !resolved.is_empty() {
            let chunk: Vec<Resolved> = resolved.drain(..resolved.len().min(BATCH)).collect();
            self.site.write(cx, move |tx| chunk.iter().try_for_each(|reference| apply(tx, reference))).await?;
        }
        if !sticky.is_empty() {
            self.site.write(cx, move |tx| stick(tx, &sticky)).await?;
        }
        if !urls.is_empty() {
            let urls = Arc::new(urls);
            for chunk in pending.chunks(BATCH) {
                let (chunk, urls) = (chunk.to_vec(), Arc::clone(&urls));
                self.site.write(cx, move |tx| replace_urls(tx, &chunk, &urls)).await?;
            }
        }
        let done = |tx: &mut Tx| Ok(meta::delete_everywhere(tx, MetaKind::Post, PENDING, None)?);
        self.site.write(cx, done).await?;
        Ok(())
    }
}

impl ReferenceTo {
    /// What the value names, for people.
    fn describe(&self) -> String {
        match self {
            ReferenceTo::Parent(old) => format!("was its parent (post {old})"),
            ReferenceTo::Post(key, old) => format!("{key} names (post {old})"),
            ReferenceTo::Term(key, old) => format!("{key} names (term {old})"),
        }
    }
}

fn apply(tx: &mut Tx, reference: &Resolved) -> SiteResult<()> {
    match reference.to {
        Target::Parent(parent) => {
            if let Some(mut post) = posts::get(tx, reference.post)?
                && parent != post.id
            {
                post.parent = parent;
                posts::update(tx, &post)?;
            }
        }
        Target::Meta(key, id) => {
            meta::update(tx, MetaKind::Post, reference.post.0, key, &StoredText::of(id))?;
        }
    }
    Ok(())
}

/// Adds posts to the sticky ones.
fn stick(tx: &mut Tx, posts: &[PostId]) -> SiteResult<()> {
    let mut list = sticky(options::get(tx, "sticky_posts")?.as_ref());
    for id in posts {
        if !list.contains(id) {
            list.push(*id);
        }
    }
    let ids: Vec<i64> = list.iter().map(|id| id.0).collect();
    Ok(options::set(tx, "sticky_posts", &StoredText::of(serde_json::Value::from(ids)), true)?)
}

fn replace_urls(tx: &mut Tx, ids: &[PostId], urls: &Urls) -> SiteResult<()> {
    for mut post in posts::get_many(tx, ids)? {
        let (content, excerpt) = (urls.replaced(&post.content), urls.replaced(&post.excerpt));
        if matches!((&content, &excerpt), (Cow::Borrowed(_), Cow::Borrowed(_))) {
            continue;
        }
        let (content, excerpt) = (content.into_owned(), excerpt.into_owned());
        (post.content, post.excerpt) = (content, excerpt);
        posts::update(tx, &post)?;
    }
    Ok(())
}

/// URLs of files before and now. Those of the sizes of an image differ from its own in the end of the name.
pub(super) struct Urls {
    exact: HashMap<String, String>,
    /// URLs without the ending of the file's name.
    stems: HashMap<String, String>,
}

/// A URL without the ending of the file's name, and the ending with its point.
fn split(url: &str) -> Option<(&str, &str)> {
    let at = url.rfind('.').filter(|at| !url[*at..].contains('/'))?;
    Some((&url[..at], &url[at..]))
}

/// Without the dimensions of a size: `photo` and `-300x200` of `photo-300x200`.
fn split_size(stem: &str) -> Option<(&str, &str)> {
    let at = stem.rfind('-')?;
    let (width, height) = stem[at..].strip_prefix('-')?.split_once('x')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(width) && is_number(height)).then(|| (&stem[..at], &stem[at..]))
}

impl Urls {
    pub(super) fn new(urls: &HashMap<String, String>) -> Self {
        let changed: HashMap<String, String> =
            urls.iter().filter(|(old, new)| old != new).map(|(old, new)| (old.clone(), new.clone())).collect();
        let stem = |(old, new): (&String, &String)| Some((split(old)?.0.to_owned(), split(new)?.0.to_owned()));
        Urls { stems: changed.iter().filter_map(stem).collect(), exact: changed }
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// What a URL is now.
    fn now(&self, url: &str) -> Option<String> {
        if let Some(new) = self.exact.get(url) {
            return Some(new.clone());
        }
        let (stem, ending) = split(url)?;
        let (base, size) = split_size(stem)?;
        Some(format!("{}{size}{ending}", self.stems.get(base)?))
    }

    /// The text with the URLs of now.
    fn replaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        let mut from = 0;
        while let Some(at) = text[from..].find("http").map(|at| at + from) {
            let ends = |c: char| {
                c.is_whitespace()
                    || matches!(c, '"' | '\'' | '<' | '>' | '(' | ')' | '[' | ']' | '?' | '#' | '\\' | ',')
            };
            let end = text[at..].find(ends).map_or(text.len(), |end| at + end);
            if let Some(new) = self.now(&text[at..end]) {
                out.push_str(&text[copied..at]);
                out.push_str(&new);
                copied = end;
            }
            // Not behind the whole URL, which may contain another one.
            from = if copied == end { end } else { at + "http".len() };
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_and_of_their_sizes_are_replaced() {
        let urls = HashMap::from([
            ("http://old.example/up/a.jpg".to_owned(), "https://new.example/files/a-1.jpg".to_owned()),
            ("http://old.example/up/a-b.pdf".to_owned(), "https://new.example/files/a-b.pdf".to_owned()),
            ("https://same.example/x.png".to_owned(), "https://same.example/x.png".to_owned()),
        ]);
        let urls = Urls::new(&urls);
        for (text, expected) in [
            ("<img src=\"http://old.example/up/a.jpg\">", "<img src=\"https://new.example/files/a-1.jpg\">"),
            ("http://old.example/up/a-300x200.jpg 300w, ", "https://new.example/files/a-1-300x200.jpg 300w, "),
            ("(http://old.example/up/a-b.pdf?x=1)", "(https://new.example/files/a-b.pdf?x=1)"),
            ("http://proxy/?http://old.example/up/a.jpg end", "http://proxy/?https://new.example/files/a-1.jpg end"),
            (
                "http://old.example/up/a.jpg.bak http://old.example/up/a-b.jpg",
                "http://old.example/up/a.jpg.bak http://old.example/up/a-b.jpg",
            ),
            ("https://same.example/x.png ü http", "https://same.example/x.png ü http"),
            ("", ""),
        ] {
            assert_eq!(urls.replaced(text), expected);
        }
    }
}

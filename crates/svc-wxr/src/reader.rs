//! Reads a file entry by entry.

use std::io::BufRead;

use crate::{
    model::{Author, Comment, Entry, ExportedSite, Item, ItemTerm, MetaRow, Term},
    nodes::{Node, Nodes, ReadError},
};

/// Maximum size of an entry with everything in it, in bytes.
pub const MAX_ENTRY: u64 = 64 << 20;

/// Maximum number of terms, comments and rows of meta in an entry, those of its comments included.
pub const MAX_PARTS: u32 = 20_000;

/// An iterator over the entries of a file. It ends after the first error.
pub struct Reader<R> {
    nodes: Nodes<R>,
    site: ExportedSite,
    /// Number of parts of the entry so far.
    parts: u32,
    is_done: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the beginning of a file.
    pub fn new(from: R) -> Self {
        Reader { nodes: Nodes::new(from), site: ExportedSite::default(), parts: 0, is_done: false }
    }

    /// What the file says about its site: complete after the first entry.
    pub fn site(&self) -> &ExportedSite {
        &self.site
    }

    /// Number of bytes that were read.
    pub fn position(&self) -> u64 {
        self.nodes.position()
    }

    fn entry(&mut self) -> Result<Option<Entry>, ReadError> {
        self.nodes.limit(MAX_ENTRY);
        self.parts = 0;
        loop {
            let Node::Open(name, _) = (match self.nodes.next()? {
                Node::End => return self.end(),
                node => node,
            }) else {
                continue;
            };
            let entry = match &*name {
                "rss" | "channel" => continue,
                "wp:author" => Entry::Author(self.author()?),
                "wp:category" => Entry::Term(self.term("category")?),
                "wp:tag" => Entry::Term(self.term("post_tag")?),
                "wp:term" => Entry::Term(self.term("")?),
                "item" => Entry::Item(Box::new(self.item()?)),
                name => {
                    let text = self.nodes.text()?;
                    self.read_site(name, text);
                    continue;
                }
            };
            if self.site.version.is_empty() {
                return Err(self.nodes.error(NO_WXR));
            }
            return Ok(Some(entry));
        }
    }

    /// Counts a part of the entry. An empty one takes more memory than its text.
    fn count_part(&mut self) -> Result<(), ReadError> {
        self.parts = self.parts.saturating_add(1);
        if self.parts <= MAX_PARTS {
            return Ok(());
        }
        Err(self.nodes.error(format!("an entry has more than {MAX_PARTS} terms, comments and rows of meta")))
    }

    fn end(&self) -> Result<Option<Entry>, ReadError> {
        if self.site.version.is_empty() { Err(self.nodes.error(NO_WXR)) } else { Ok(None) }
    }

    fn read_site(&mut self, name: &str, text: String) {
        let site = &mut self.site;
        match name {
            "title" => site.title = text,
            "description" => site.description = text,
            "language" => site.language = text,
            "pubDate" => site.written = text,
            "generator" => site.generator = text,
            "wp:wxr_version" => site.version = text.trim().to_owned(),
            "wp:base_blog_url" => site.base_url = text.trim().to_owned(),
            _ => {}
        }
    }

    fn author(&mut self) -> Result<Author, ReadError> {
        let mut author = Author::default();
        while let Some((name, _)) = self.nodes.child()? {
            let text = self.nodes.text()?;
            match &*name {
                "wp:author_id" => author.id = number(&text),
                "wp:author_login" => author.login = text,
                "wp:author_email" => author.email = text,
                "wp:author_display_name" => author.display_name = text,
                "wp:author_first_name" => author.first_name = text,
                "wp:author_last_name" => author.last_name = text,
                _ => {}
            }
        }
        Ok(author)
    }

    fn term(&mut self, taxonomy: &str) -> Result<Term, ReadError> {
        let mut term = Term { taxonomy: taxonomy.to_owned(), ..Term::default() };
        while let Some((name, _)) = self.nodes.child()? {
            if name == "wp:termmeta" {
                term.meta.push(self.meta()?);
                continue;
            }
            let text = self.nodes.text()?;
            match &*name {
                "wp:term_id" => term.id = number(&text),
                "wp:term_taxonomy" => term.taxonomy = text,
                "wp:category_nicename" | "wp:tag_slug" | "wp:term_slug" => term.slug = text,
                "wp:category_parent" | "wp:term_parent" => term.parent = text,
                "wp:cat_name" | "wp:tag_name" | "wp:term_name" => term.name = text,
                "wp:category_description" | "wp:tag_description" | "wp:term_description" => term.description = text,
                _ => {}
            }
        }
        Ok(term)
    }

    fn meta(&mut self) -> Result<MetaRow, ReadError> {
        self.count_part()?;
        let mut row = MetaRow::default();
        while let Some((name, _)) = self.nodes.child()? {
            let text = self.nodes.text()?;
            match &*name {
                "wp:meta_key" => row.key = text,
                "wp:meta_value" => row.value = text,
                _ => {}
            }
        }
        Ok(row)
    }

    fn item(&mut self) -> Result<Item, ReadError> {
        let mut item = Item::default();
        while let Some((name, attributes)) = self.nodes.child()? {
            match &*name {
                "wp:postmeta" => {
                    item.meta.push(self.meta()?);
                    continue;
                }
                "wp:comment" => {
                    item.comments.push(self.comment()?);
                    continue;
                }
                _ => {}
            }
            let text = self.nodes.text()?;
            match &*name {
                "title" => item.title = text,
                "link" => item.link = text,
                "pubDate" => item.pub_date = text,
                "dc:creator" => item.creator = text,
                "guid" => item.guid = text,
                "content:encoded" => item.content = text,
                "excerpt:encoded" => item.excerpt = text,
                "wp:post_id" => item.id = number(&text),
                "wp:post_date" => item.date = text,
                "wp:post_date_gmt" => item.date_gmt = text,
                "wp:post_modified" => item.modified = text,
                "wp:post_modified_gmt" => item.modified_gmt = text,
                "wp:comment_status" => item.comment_status = text,
                "wp:ping_status" => item.ping_status = text,
                "wp:post_name" => item.slug = text,
                "wp:status" => item.status = text,
                "wp:post_parent" => item.parent = number(&text),
                "wp:menu_order" => item.menu_order = number(&text),
                "wp:post_type" => item.post_type = text,
                "wp:post_password" => item.password = text,
                "wp:is_sticky" => item.is_sticky = number(&text) != 0,
                "wp:attachment_url" => item.attachment_url = text.trim().to_owned(),
                "category" => {
                    let attribute =
                        |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                    // Old files repeat each category without its slug.
                    if let Some(slug) = attribute("nicename") {
                        self.count_part()?;
                        let taxonomy = attribute("domain").unwrap_or_else(|| "category".to_owned());
                        // Old files have `tag` for tags.
                        let taxonomy = if taxonomy == "tag" { "post_tag".to_owned() } else { taxonomy };
                        item.terms.push(ItemTerm { taxonomy, slug, name: text });
                    }
                }
                _ => {}
            }
        }
        Ok(item)
    }

    fn comment(&mut self) -> Result<Comment, ReadError> {
        self.count_part()?;
        let mut comment = Comment::default();
        while let Some((name, _)) = self.nodes.child()? {
            if name == "wp:commentmeta" {
                comment.meta.push(self.meta()?);
                continue;
            }
            let text = self.nodes.text()?;
            match &*name {
                "wp:comment_id" => comment.id = number(&text),
                "wp:comment_author" => comment.author = text,
                "wp:comment_author_email" => comment.author_email = text,
                "wp:comment_author_url" => comment.author_url = text,
                "wp:comment_author_IP" => comment.author_ip = text,
                "wp:comment_date" => comment.date = text,
                "wp:comment_date_gmt" => comment.date_gmt = text,
                "wp:comment_content" => comment.content = text,
                "wp:comment_approved" => comment.approved = text,
                "wp:comment_type" => comment.comment_type = text,
                "wp:comment_parent" => comment.parent = number(&text),
                "wp:comment_user_id" => comment.user = number(&text),
                _ => {}
            }
        }
        Ok(comment)
    }
}

const NO_WXR: &str = "this is no WXR file: it has no wp:wxr_version";

/// A number; 0 if the text is none.
fn number(text: &str) -> i64 {
    text.trim().parse().unwrap_or(0)
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let entry = self.entry().transpose();
        self.is_done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?><!-- comment --><rss version=\"2.0\"><channel><title>A &amp; B</title>\
                        <wp:wxr_version>1.2</wp:wxr_version>";

    fn read(body: &str) -> Result<Vec<Entry>, String> {
        let file = format!("{HEAD}{body}</channel></rss>");
        Reader::new(file.as_bytes()).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn texts_are_decoded_once() {
        let item = "<item><title><![CDATA[a]]]]><![CDATA[>b &amp; <i>]]></title><link>http://a/?a=1&#038;b=2</link>\
                    <content:encoded>&lt;p&gt;&nbsp;&#x1F600;</content:encoded><excerpt:encoded/>\
                    <category domain=\"category\" nicename=\"x&amp;y\"><![CDATA[X &amp; Y]]></category><category>old</category>\
                    <plugin:other><nested>skipped</nested></plugin:other>\
                    <wp:postmeta><wp:meta_key>k</wp:meta_key><wp:meta_value><![CDATA[ a\r\n ]]></wp:meta_value></wp:postmeta></item>";
        let Entry::Item(item) = read(item).unwrap().remove(0) else { panic!("an item") };
        assert_eq!((&*item.title, &*item.link), ("a]]>b &amp; <i>", "http://a/?a=1&b=2"));
        assert_eq!((&*item.content, &*item.excerpt), ("<p>&nbsp;\u{1F600}", ""));
        let term = ItemTerm { taxonomy: "category".into(), slug: "x&y".into(), name: "X &amp; Y".into() };
        assert_eq!(item.terms, [term]);
        assert_eq!(item.meta, [MetaRow { key: "k".into(), value: " a\r\n ".into() }]);
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE rss [<!ENTITY a \"{}\"><!ENTITY b SYSTEM \"file:///etc/passwd\">]>\
             <rss><channel><wp:wxr_version>1.2</wp:wxr_version><item><title>&a;&b;</title></item></channel></rss>",
            "x".repeat(100)
        );
        let Some(Ok(Entry::Item(item))) = Reader::new(bomb.as_bytes()).next() else { panic!("an item") };
        assert_eq!(item.title, "&a;&b;");
    }

    #[test]
    fn other_files_are_rejected() {
        for (file, message) in [
            ("", "no WXR file"),
            ("<html><body><item></item></body></html>", "no WXR file"),
            ("<rss><channel><item><title>x</title></item></channel></rss>", "no WXR file"),
            ("<rss><channel><wp:wxr_version>1.2</wp:wxr_version><item><title>x", "ends in an element"),
            ("<rss><channel></rss>", "channel"),
            ("not xml", "no WXR file"),
        ] {
            let error = Reader::new(file.as_bytes()).find_map(Result::err).map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(message)), "{file}: {error:?}");
        }
        let invalid = [HEAD.as_bytes(), b"<item><title>\xff</title></item>"].concat();
        assert!(Reader::new(&*invalid).any(|entry| entry.is_err()));
    }

    #[test]
    fn an_entry_has_a_maximum_number_of_parts() {
        let max = MAX_PARTS as usize;
        for (before, part, after) in [
            ("<item>", "<wp:comment/>", "</item>"),
            ("<item>", "<wp:postmeta/>", "</item>"),
            ("<item>", "<category nicename=\"\"/>", "</item>"),
            ("<item><wp:comment>", "<wp:commentmeta/>", "</wp:comment></item>"),
            ("<wp:term>", "<wp:termmeta/>", "</wp:term>"),
        ] {
            let error = read(&format!("{before}{}{after}", part.repeat(max + 1))).unwrap_err();
            assert!(error.contains("more than 20000"), "{part}: {error}");
            let item = format!("{before}{}{after}", part.repeat(max - 1));
            assert_eq!(read(&item.repeat(2)).unwrap().len(), 2, "{part}");
        }
    }

    #[test]
    fn an_entry_has_a_maximum_size() {
        let file = format!("{HEAD}<item><content:encoded>").into_bytes();
        let endless = std::io::BufReader::new(std::io::Read::chain(&*file, std::io::repeat(b'x')));
        let error = Reader::new(endless).find_map(Result::err).unwrap().to_string();
        assert!(error.contains("too large"), "{error}");
    }
}

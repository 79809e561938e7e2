//! Writes a file entry by entry, as WordPress's exporter does.

use std::io::{self, Write};

use crate::model::{Author, Comment, ExportedSite, Item, MetaRow, Term};

/// Version of the format.
pub const VERSION: &str = "1.2";

/// Writes a file. Characters that XML cannot represent (control characters) are left out; meta values with such characters
/// are left out as a whole, because serialized values contain their lengths.
pub struct Writer<W> {
    out: W,
    n_left_out: u64,
}

/// Whether a document can contain the character.
fn is_valid(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W, site: &ExportedSite) -> io::Result<Self> {
        let mut writer = Writer { out, n_left_out: 0 };
        write!(
            writer.out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n\
             <!-- WordPress eXtended RSS: content of a site, for the importer of WordPress or of another system. It is no complete backup. -->\n\
             <rss version=\"2.0\"\n\
             \txmlns:excerpt=\"http://wordpress.org/export/{VERSION}/excerpt/\"\n\
             \txmlns:content=\"http://purl.org/rss/1.0/modules/content/\"\n\
             \txmlns:wfw=\"http://wellformedweb.org/CommentAPI/\"\n\
             \txmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n\
             \txmlns:wp=\"http://wordpress.org/export/{VERSION}/\"\n>\n<channel>\n"
        )?;
        writer.plain(1, "title", &site.title)?;
        writer.plain(1, "link", &site.base_url)?;
        writer.plain(1, "description", &site.description)?;
        writer.plain(1, "pubDate", &site.written)?;
        writer.plain(1, "language", &site.language)?;
        writer.plain(1, "wp:wxr_version", VERSION)?;
        writer.plain(1, "wp:base_site_url", &site.base_url)?;
        writer.plain(1, "wp:base_blog_url", &site.base_url)?;
        writer.plain(1, "generator", &site.generator)?;
        Ok(writer)
    }

    /// The output, such as to take what was written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Number of meta values that were left out.
    pub fn n_left_out(&self) -> u64 {
        self.n_left_out
    }

    /// Writes an author.
    ///
    /// # Errors
    /// Those of the output.
    pub fn author(&mut self, author: &Author) -> io::Result<()> {
        self.open(1, "wp:author")?;
        self.plain(2, "wp:author_id", &author.id.to_string())?;
        self.cdata(2, "wp:author_login", &author.login)?;
        self.cdata(2, "wp:author_email", &author.email)?;
        self.cdata(2, "wp:author_display_name", &author.display_name)?;
        self.cdata(2, "wp:author_first_name", &author.first_name)?;
        self.cdata(2, "wp:author_last_name", &author.last_name)?;
        self.close(1, "wp:author")
    }

    /// Writes a term. A term follows its parent.
    ///
    /// # Errors
    /// Those of the output.
    pub fn term(&mut self, term: &Term) -> io::Result<()> {
        let [element, slug, parent, name, description] = match &*term.taxonomy {
            "category" => ["category", "category_nicename", "category_parent", "cat_name", "category_description"],
            "post_tag" => ["tag", "tag_slug", "", "tag_name", "tag_description"],
            _ => ["term", "term_slug", "term_parent", "term_name", "term_description"],
        }
        .map(|name| if name.is_empty() { String::new() } else { format!("wp:{name}") });
        self.open(1, &element)?;
        self.plain(2, "wp:term_id", &term.id.to_string())?;
        if element == "wp:term" {
            self.cdata(2, "wp:term_taxonomy", &term.taxonomy)?;
        }
        self.cdata(2, &slug, &term.slug)?;
        if !parent.is_empty() {
            self.cdata(2, &parent, &term.parent)?;
        }
        for (element, text) in [(name, &term.name), (description, &term.description)] {
            if !text.is_empty() {
                self.cdata(2, &element, text)?;
            }
        }
        self.meta(2, "wp:termmeta", &term.meta)?;
        self.close(1, &element)
    }

    /// Writes a post.
    ///
    /// # Errors
    /// Those of the output.
    pub fn item(&mut self, item: &Item) -> io::Result<()> {
        self.open(1, "item")?;
        self.cdata(2, "title", &item.title)?;
        self.plain(2, "link", &item.link)?;
        self.plain(2, "pubDate", &item.pub_date)?;
        self.cdata(2, "dc:creator", &item.creator)?;
        write!(self.out, "\t\t<guid isPermaLink=\"false\">")?;
        self.escaped(&item.guid)?;
        writeln!(self.out, "</guid>")?;
        self.plain(2, "description", "")?;
        self.cdata(2, "content:encoded", &item.content)?;
        self.cdata(2, "excerpt:encoded", &item.excerpt)?;
        self.plain(2, "wp:post_id", &item.id.to_string())?;
        for (element, text) in [
            ("wp:post_date", &item.date),
            ("wp:post_date_gmt", &item.date_gmt),
            ("wp:post_modified", &item.modified),
            ("wp:post_modified_gmt", &item.modified_gmt),
            ("wp:comment_status", &item.comment_status),
            ("wp:ping_status", &item.ping_status),
            ("wp:post_name", &item.slug),
            ("wp:status", &item.status),
        ] {
            self.cdata(2, element, text)?;
        }
        self.plain(2, "wp:post_parent", &item.parent.to_string())?;
        self.plain(2, "wp:menu_order", &item.menu_order.to_string())?;
        self.cdata(2, "wp:post_type", &item.post_type)?;
        self.cdata(2, "wp:post_password", &item.password)?;
        self.plain(2, "wp:is_sticky", if item.is_sticky { "1" } else { "0" })?;
        if item.post_type == "attachment" {
            self.cdata(2, "wp:attachment_url", &item.attachment_url)?;
        }
        for term in &item.terms {
            write!(self.out, "\t\t<category domain=\"")?;
            self.escaped(&term.taxonomy)?;
            write!(self.out, "\" nicename=\"")?;
            self.escaped(&term.slug)?;
            write!(self.out, "\">")?;
            self.section(&term.name)?;
            writeln!(self.out, "</category>")?;
        }
        self.meta(2, "wp:postmeta", &item.meta)?;
        for comment in &item.comments {
            self.comment(comment)?;
        }
        self.close(1, "item")
    }

    fn comment(&mut self, comment: &Comment) -> io::Result<()> {
        self.open(2, "wp:comment")?;
        self.plain(3, "wp:comment_id", &comment.id.to_string())?;
        self.cdata(3, "wp:comment_author", &comment.author)?;
        self.cdata(3, "wp:comment_author_email", &comment.author_email)?;
        self.plain(3, "wp:comment_author_url", &comment.author_url)?;
        self.cdata(3, "wp:comment_author_IP", &comment.author_ip)?;
        self.cdata(3, "wp:comment_date", &comment.date)?;
        self.cdata(3, "wp:comment_date_gmt", &comment.date_gmt)?;
        self.cdata(3, "wp:comment_content", &comment.content)?;
        self.cdata(3, "wp:comment_approved", &comment.approved)?;
        self.cdata(3, "wp:comment_type", &comment.comment_type)?;
        self.plain(3, "wp:comment_parent", &comment.parent.to_string())?;
        self.plain(3, "wp:comment_user_id", &comment.user.to_string())?;
        self.meta(3, "wp:commentmeta", &comment.meta)?;
        self.close(2, "wp:comment")
    }

    fn meta(&mut self, depth: usize, element: &str, rows: &[MetaRow]) -> io::Result<()> {
        for row in rows {
            if !row.key.chars().chain(row.value.chars()).all(is_valid) {
                self.n_left_out = self.n_left_out.saturating_add(1);
                continue;
            }
            self.open(depth, element)?;
            self.cdata(depth.saturating_add(1), "wp:meta_key", &row.key)?;
            self.cdata(depth.saturating_add(1), "wp:meta_value", &row.value)?;
            self.close(depth, element)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "</channel>\n</rss>")?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn indent(&mut self, depth: usize) -> io::Result<()> {
        (0..depth).try_for_each(|_| self.out.write_all(b"\t"))
    }

    fn open(&mut self, depth: usize, element: &str) -> io::Result<()> {
        self.indent(depth)?;
        writeln!(self.out, "<{element}>")
    }

    fn close(&mut self, depth: usize, element: &str) -> io::Result<()> {
        self.indent(depth)?;
        writeln!(self.out, "</{element}>")
    }

    /// An element with an escaped text.
    fn plain(&mut self, depth: usize, element: &str, text: &str) -> io::Result<()> {
        self.indent(depth)?;
        write!(self.out, "<{element}>")?;
        self.escaped(text)?;
        writeln!(self.out, "</{element}>")
    }

    /// An element with a CDATA section.
    fn cdata(&mut self, depth: usize, element: &str, text: &str) -> io::Result<()> {
        self.indent(depth)?;
        write!(self.out, "<{element}>")?;
        self.section(text)?;
        writeln!(self.out, "</{element}>")
    }

    fn escaped(&mut self, text: &str) -> io::Result<()> {
        for character in text.chars().filter(|c| is_valid(*c)) {
            match character {
                '&' => self.out.write_all(b"&amp;")?,
                '<' => self.out.write_all(b"&lt;")?,
                '>' => self.out.write_all(b"&gt;")?,
                '"' => self.out.write_all(b"&quot;")?,
                // Readers replace white space in attributes.
                '\t' | '\n' | '\r' => write!(self.out, "&#{};", u32::from(character))?,
                _ => write!(self.out, "{character}")?,
            }
        }
        Ok(())
    }

    fn section(&mut self, text: &str) -> io::Result<()> {
        let mut cleaned = text.to_owned();
        cleaned.retain(is_valid);
        write!(self.out, "<![CDATA[{}]]>", cleaned.replace("]]>", "]]]]><![CDATA[>"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, ItemTerm, Reader};

    #[test]
    fn what_was_written_is_read() {
        let hostile = "]]> <![CDATA[ & < > \" ' &amp; &#8217; ]]]]> \r\n\t ü 日本 \u{1F600} ]]";
        let t = |n: u8| format!("{n} {hostile}");
        let meta = || vec![MetaRow { key: t(1), value: t(2) }, MetaRow { key: "_x".into(), value: String::new() }];
        let author =
            Author { id: 3, login: t(1), email: t(2), display_name: t(3), first_name: t(4), last_name: String::new() };
        let term = |taxonomy: &str, parent: &str| Term {
            id: 4,
            taxonomy: taxonomy.into(),
            slug: t(1),
            parent: parent.into(),
            name: t(2),
            description: t(3),
            meta: meta(),
        };
        let terms = [term("category", "up"), term("post_tag", ""), term("nav_menu", "")];
        let comment = Comment {
            id: 7,
            author: t(1),
            author_email: t(2),
            author_url: t(3),
            author_ip: "127.0.0.1".into(),
            date: t(4),
            date_gmt: t(5),
            content: t(6),
            approved: "1".into(),
            comment_type: "comment".into(),
            parent: 6,
            user: 5,
            meta: meta(),
        };
        let item = Item {
            title: t(1),
            link: t(2),
            pub_date: t(3),
            creator: t(4),
            guid: t(5),
            content: t(6),
            excerpt: t(7),
            id: 9,
            date: t(8),
            date_gmt: t(9),
            modified: t(10),
            modified_gmt: t(11),
            comment_status: "open".into(),
            ping_status: "closed".into(),
            slug: t(12),
            status: "publish".into(),
            parent: 8,
            menu_order: -2,
            post_type: "attachment".into(),
            password: t(13),
            is_sticky: true,
            attachment_url: "https://example.org/a.jpg".into(),
            terms: vec![ItemTerm { taxonomy: "category".into(), slug: t(1), name: t(2) }],
            meta: meta(),
            comments: vec![comment],
        };
        let site = ExportedSite {
            version: VERSION.into(),
            title: t(1),
            description: t(2),
            language: "en-US".into(),
            base_url: "https://example.org".into(),
            written: "Thu, 26 Nov 2026 20:00:00 +0000".into(),
            generator: "https://example.org/?v=1".into(),
        };
        let mut writer = Writer::new(Vec::new(), &site).unwrap();
        writer.author(&author).unwrap();
        terms.iter().for_each(|term| writer.term(term).unwrap());
        writer.item(&item).unwrap();
        let file = writer.finish().unwrap();
        let mut reader = Reader::new(&*file);
        let read: Vec<Entry> = reader.by_ref().collect::<Result<_, _>>().unwrap();
        let expected: Vec<Entry> = std::iter::once(Entry::Author(author))
            .chain(terms.into_iter().map(Entry::Term))
            .chain([Entry::Item(Box::new(item))])
            .collect();
        assert_eq!(read, expected);
        assert_eq!(*reader.site(), site);
    }

    #[test]
    fn control_characters_are_left_out() {
        let item = Item {
            title: "a\u{0}\u{1b}b\u{fffe}".into(),
            meta: vec![
                MetaRow { key: "bad".into(), value: "s:3:\"a\u{0}b\";".into() },
                MetaRow { key: "good".into(), value: "x".into() },
            ],
            ..Item::default()
        };
        let mut writer = Writer::new(Vec::new(), &ExportedSite::default()).unwrap();
        writer.item(&item).unwrap();
        assert_eq!(writer.n_left_out(), 1);
        let file = writer.finish().unwrap();
        let Some(Ok(Entry::Item(read))) = Reader::new(&*file).next() else { panic!("an item") };
        assert_eq!((&*read.title, read.meta.len(), &*read.meta[0].key), ("ab", 1, "good"));
    }
}

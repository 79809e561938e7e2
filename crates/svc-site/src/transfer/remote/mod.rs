//! Reads the content of another WordPress site by its REST API, and writes it as a WXR file, which is then imported as any other.
//!
//! With an application password of an administrator, texts are as they are stored, and drafts, menus and fields are read. Without one it is
//! what visitors can read.

mod api;
mod convert;

use std::collections::{HashMap, HashSet};

use http::Uri;
use serde_json::Value;
use svc_auth::Secret;
use svc_schema::Error;
use svc_wxr::{Comment, ExportedSite, Item, ItemTerm, Writer};
use tempfile::TempPath;

use self::{
    api::{Api, Failure, Listing},
    convert::{Known, MENU, MENU_ITEM, Taxonomy, number, text},
};
use crate::{
    Site,
    errors::transfer as errors,
    transfer::{export, upload::Upload},
};

/// Maximum size of the file, in bytes.
const MAX_FILE: u64 = 8 << 30;

/// Maximum number of terms of a taxonomy, and of the bytes that they are sent as: they are in memory together.
const MAX_TERMS: usize = 100_000;
const MAX_TERM_BYTES: u64 = 64 << 20;

/// Maximum number of comments of a post, and of the bytes of those of all posts of a page: an entry of a file may have a few more parts and
/// be twice as large.
const MAX_COMMENTS: usize = 15_000;
const MAX_COMMENT_BYTES: u64 = 32 << 20;

/// The longest name with which an author logs in, in bytes.
const MAX_LOGIN: usize = 240;

/// Number of reasons that are described, and the characters of each.
const MAX_REASONS: usize = 50;
const MAX_REASON: usize = 300;

/// Types whose objects have another form than posts.
const OTHER_FORMS: [&str; 5] =
    ["wp_template", "wp_template_part", "wp_global_styles", "wp_font_family", "wp_font_face"];

/// The site to read, and with which user.
#[derive(Clone, Debug)]
pub struct RemoteSite {
    address: String,
    user: Option<(String, Secret)>,
}

/// A file with the content of a site.
#[derive(Debug)]
pub struct Download {
    /// The file, which is deleted when the path is dropped.
    pub file: TempPath,
    /// What could not be read, and why.
    pub left_out: Vec<String>,
}

/// Whether nobody else can read what is sent: over HTTPS, or to this machine.
fn is_private_enough(url: &str) -> bool {
    let uri: Uri = url.parse().unwrap_or_default();
    let is_here = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
    uri.scheme_str() == Some("https") || is_here && uri.scheme_str() == Some("http")
}

impl RemoteSite {
    /// The site at an address, such as `example.org` or `https://example.org/blog`. Without a name of a user it is read as visitors
    /// read it.
    ///
    /// # Errors
    /// 400 if the address is no URL of a site, or a password would be sent without encryption.
    pub fn new(address: &str, user: &str, password: &str) -> Result<Self, Error> {
        let address = address.trim();
        let address = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
        let uri: Uri = address.parse().map_err(|_| errors::no_address())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        if !is_http || uri.host().is_none_or(str::is_empty) || uri.authority().is_none_or(|a| a.as_str().contains('@'))
        {
            return Err(errors::no_address());
        }
        let user = match (user.trim(), password.trim()) {
            ("", "") => None,
            ("", _) | (_, "") => return Err(errors::half_credentials()),
            (user, _) if user.contains(':') => return Err(errors::half_credentials()),
            (user, password) => Some((user.to_owned(), Secret::new(password))),
        };
        if user.is_some() && !is_private_enough(&address) {
            return Err(errors::no_https());
        }
        Ok(RemoteSite { address, user })
    }

    /// The address.
    pub fn address(&self) -> &str {
        &self.address
    }

    fn credentials(&self) -> Option<Secret> {
        self.user.as_ref().map(|(name, password)| Secret::new(format!("{name}:{}", password.expose())))
    }
}

/// Reads the content of a site. `progress` gets the number of posts so far, and returns whether to continue.
///
/// # Errors
/// 400 with the reason, for people, if there is no such site or it fails; those of writing the file.
pub async fn download(
    site: &Site,
    remote: &RemoteSite,
    progress: &(dyn Fn(u64) -> bool + Send + Sync),
) -> Result<Download, Error> {
    let failed = |failure: Failure| errors::no_site(&failure.text());
    let own = site.brand.namespace();
    let (api, index) = Api::find(&site.services.http_client, remote, &own).await.map_err(failed)?;
    let about = ExportedSite {
        title: text(&index, "/name").to_owned(),
        description: text(&index, "/description").to_owned(),
        base_url: text(&index, "/home").trim_end_matches('/').to_owned(),
        ..ExportedSite::default()
    };
    let mut reading = Reading {
        api,
        writer: Writer::new(Vec::new(), &about).map_err(|error| errors::disk(&error))?,
        file: Upload::new(MAX_FILE)?,
        known: Known { home: about.base_url.clone(), ..Known::default() },
        left_out: Vec::new(),
        n_items: 0,
        progress,
    };
    let taxonomies = reading.taxonomies(site).await?;
    for name in reading.types(site).await? {
        reading.posts(&name, &taxonomies).await?;
    }
    let Reading { writer, mut file, left_out, .. } = reading;
    let rest = writer.finish().map_err(|error| errors::disk(&error))?;
    file.write(&rest).await?;
    Ok(Download { file: file.finish().await?, left_out })
}

/// The last part of the route of a type or taxonomy, which is also the field of posts with its terms.
fn base_of<'v>(name: &'v str, registered: &'v Value) -> &'v str {
    match text(registered, "/rest_base") {
        "" => name,
        base => base,
    }
}

/// A type, and the route of its objects.
struct Type {
    name: String,
    path: String,
}

struct Reading<'p> {
    api: Api,
    writer: Writer<Vec<u8>>,
    file: Upload,
    known: Known,
    left_out: Vec<String>,
    n_items: u64,
    progress: &'p (dyn Fn(u64) -> bool + Send + Sync),
}

impl Reading<'_> {
    fn leave_out(&mut self, reason: impl AsRef<str>) {
        let reason: String = reason.as_ref().chars().take(MAX_REASON).collect();
        if self.left_out.len() < MAX_REASONS && !self.left_out.contains(&reason) {
            self.left_out.push(reason);
        }
    }

    /// Reports the objects of a list that the site has failed to show.
    fn leave_out_unreadable(&mut self, list: &Listing, what: &str) {
        if list.unreadable > 0 {
            self.leave_out(format!("{} {what}: the site fails to show them.", list.unreadable));
        }
    }

    /// What is read once: refused without the rights to edit it, it is read as visitors read it.
    async fn object(&mut self, path: &str) -> Result<Value, Error> {
        for context in self.contexts() {
            match self.api.get(path, &[("context", (*context).to_owned())]).await {
                Err(Failure::Refused(_)) => {}
                other => return other.map_err(|failure| errors::no_site(&failure.text())),
            }
        }
        Err(errors::no_site(&format!("the site does not show {path}")))
    }

    fn contexts(&self) -> &'static [&'static str] {
        if self.api.is_signed_in() { &["edit", "view"] } else { &["view"] }
    }

    /// The first page of a list, with its texts as they are stored if that is permitted; `None` if the list may not be read.
    async fn first(&mut self, list: impl Fn(&str) -> Listing) -> Result<Option<(Listing, Option<Vec<Value>>)>, Error> {
        for context in self.contexts() {
            let mut list = list(context).with("context", *context);
            match self.api.page(&mut list).await {
                Ok(page) => return Ok(Some((list, page))),
                Err(Failure::Refused(_)) => {}
                // Some plugins break routes of their own.
                Err(failure @ Failure::TooMuch(_)) => self.leave_out(format!("{}: {}.", list.path, failure.text())),
                Err(failure) => return Err(errors::no_site(&failure.text())),
            }
        }
        Ok(None)
    }

    async fn next(&mut self, list: &mut Listing) -> Result<Option<Vec<Value>>, Error> {
        self.api.page(list).await.map_err(|failure| errors::no_site(&failure.text()))
    }

    /// Moves what was written to the file.
    async fn flush(&mut self) -> Result<(), Error> {
        let written = std::mem::take(self.writer.get_mut());
        self.file.write(&written).await?;
        if (self.progress)(self.n_items) { Ok(()) } else { Err(errors::no_import()) }
    }

    /// Reads the terms of the taxonomies that this site has as well.
    async fn taxonomies(&mut self, site: &Site) -> Result<Vec<Taxonomy>, Error> {
        let found = self.object("taxonomies").await?;
        let mut read = Vec::new();
        for (name, taxonomy) in found.as_object().into_iter().flatten() {
            let field = base_of(name, taxonomy);
            if site.registries.taxonomies.get(name).is_none() {
                self.leave_out(format!("The terms of the taxonomy “{name}”: this site has no such taxonomy."));
                continue;
            }
            let path = self.path(taxonomy, field);
            let list = |_: &str| {
                let list = Listing::new(&path).with("orderby", "id").with("order", "asc");
                list.with("_fields", convert::TERM_FIELDS)
            };
            let Some((mut list, mut page)) = self.first(list).await? else {
                // Visitors have no menus.
                if name != MENU {
                    self.leave_out(format!("The terms of the taxonomy “{name}” may not be read."));
                }
                continue;
            };
            let mut values = Vec::new();
            while let Some(terms) = page {
                values.extend(terms);
                if values.len() > MAX_TERMS || list.bytes > MAX_TERM_BYTES {
                    return Err(errors::no_site(&format!("the taxonomy {name} has too many terms")));
                }
                page = self.next(&mut list).await?;
            }
            self.leave_out_unreadable(&list, &format!("terms of the taxonomy “{name}”"));
            for term in convert::terms(&values, name) {
                self.writer.term(&term).map_err(|error| errors::disk(&error))?;
                let known = ItemTerm { taxonomy: term.taxonomy, slug: term.slug, name: term.name };
                self.known.terms.insert(term.id, known);
            }
            self.flush().await?;
            read.push(Taxonomy { name: name.clone(), field: field.to_owned() });
        }
        Ok(read)
    }

    /// The route of a type or taxonomy.
    fn path(&self, registered: &Value, base: &str) -> String {
        let namespace = match text(registered, "/rest_namespace") {
            "" => self.api.namespace(),
            namespace => namespace,
        };
        format!("{namespace}/{base}")
    }

    /// The types that this site has as well; entries of menus last.
    async fn types(&mut self, site: &Site) -> Result<Vec<Type>, Error> {
        let found = self.object("types").await?;
        let known: HashSet<&str> = export::types(site).map(|known| known.name.as_str()).collect();
        let mut types = Vec::new();
        for (name, registered) in found.as_object().into_iter().flatten() {
            if OTHER_FORMS.contains(&&**name) {
                continue;
            }
            if !known.contains(&**name) {
                self.leave_out(format!("Posts of the type “{name}”: this site has no such type."));
                continue;
            }
            let base = base_of(name, registered);
            types.push(Type { name: name.clone(), path: self.path(registered, base) });
        }
        types.sort_by_key(|found| found.name == MENU_ITEM);
        Ok(types)
    }

    /// Reads the posts of a type with their comments.
    async fn posts(&mut self, found: &Type, taxonomies: &[Taxonomy]) -> Result<(), Error> {
        let terms = taxonomies.iter().map(|taxonomy| taxonomy.field.as_str());
        let fields = [convert::FIELDS].into_iter().chain(terms).collect::<Vec<_>>().join(",");
        let list = |context: &str| {
            let list =
                Listing::new(&found.path).with("orderby", "id").with("order", "asc").with("_fields", fields.as_str());
            // Files have the status of what they are attached to.
            if context == "edit" && found.name != "attachment" { list.with("status", "any") } else { list }
        };
        let Some((mut list, mut page)) = self.first(list).await? else {
            // Visitors see neither menus nor patterns.
            if self.api.is_signed_in() {
                self.leave_out(format!("Posts of the type “{}” may not be read.", found.name));
            }
            return Ok(());
        };
        while let Some(values) = page {
            self.authors(&values).await?;
            let mut comments = self.comments(&values).await?;
            for value in &values {
                if convert::is_withheld(value) {
                    self.leave_out(format!("“{}”: its text needs a password.", text(value, "/title/rendered")));
                    continue;
                }
                let comments = comments.remove(&number(value, "/id")).unwrap_or_default();
                let item = Item { comments, ..convert::item(value, &found.name, taxonomies, &self.known) };
                self.writer.item(&item).map_err(|error| errors::disk(&error))?;
                self.n_items = self.n_items.saturating_add(1);
            }
            self.flush().await?;
            page = self.next(&mut list).await?;
        }
        self.leave_out_unreadable(&list, &format!("posts of the type “{}”", found.name));
        Ok(())
    }

    /// Reads the authors of posts who are not known yet.
    async fn authors(&mut self, posts: &[Value]) -> Result<(), Error> {
        let ids = posts.iter().map(|post| number(post, "/author")).filter(|id| *id > 0);
        let new: HashSet<i64> = ids.filter(|id| !self.known.logins.contains_key(id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let include = new.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        // Who is not found is not asked for again.
        self.known.logins.extend(new.into_iter().map(|id| (id, String::new())));
        let path = format!("{}/users", self.api.namespace());
        let Some((mut list, mut page)) = self.first(|_| Listing::new(&path).with("include", include.as_str())).await?
        else {
            return Ok(());
        };
        while let Some(users) = page {
            for author in
                users.iter().map(convert::author).filter(|author| (1..=MAX_LOGIN).contains(&author.login.len()))
            {
                self.writer.author(&author).map_err(|error| errors::disk(&error))?;
                self.known.logins.insert(author.id, author.login);
            }
            page = self.next(&mut list).await?;
        }
        Ok(())
    }

    /// The comments of posts, by post.
    async fn comments(&mut self, posts: &[Value]) -> Result<HashMap<i64, Vec<Comment>>, Error> {
        // The list is refused as a whole if the caller may not read one of the posts.
        let is_asked = |post: &&Value| !text(post, "/comment_status").is_empty() && !convert::is_withheld(post);
        let with_comments = posts.iter().filter(is_asked);
        let ids: Vec<String> = with_comments.map(|post| number(post, "/id").to_string()).collect();
        let mut found: HashMap<i64, Vec<Comment>> = HashMap::new();
        if ids.is_empty() {
            return Ok(found);
        }
        let path = format!("{}/comments", self.api.namespace());
        let list = |context: &str| {
            let list = Listing::new(&path).with("post", ids.join(",")).with("orderby", "id").with("order", "asc");
            if context == "edit" { list.with("status", "all") } else { list }
        };
        let Some((mut list, mut page)) = self.first(list).await? else {
            self.leave_out("Comments may not be read.");
            return Ok(found);
        };
        while let Some(values) = page {
            for value in &values {
                let of_post = found.entry(number(value, "/post")).or_default();
                if of_post.len() < MAX_COMMENTS && list.bytes <= MAX_COMMENT_BYTES {
                    of_post.push(convert::comment(value));
                } else {
                    self.leave_out(format!(
                        "Comments of a post beyond the first {MAX_COMMENTS}, or {} MB.",
                        MAX_COMMENT_BYTES >> 20
                    ));
                }
            }
            page = if list.bytes <= MAX_COMMENT_BYTES { self.next(&mut list).await? } else { None };
        }
        self.leave_out_unreadable(&list, "comments");
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_passwords_are_checked() {
        let code = |address: &str, user: &str, password: &str| match RemoteSite::new(address, user, password) {
            Ok(remote) => remote.address,
            Err(error) => error.code().to_owned(),
        };
        for (address, user, password, expected) in [
            (" example.org ", "", "", "https://example.org"),
            ("http://example.org/blog", "", "", "http://example.org/blog"),
            ("https://example.org", "ann", "abcd efgh", "https://example.org"),
            ("http://localhost:8080", "ann", "x", "http://localhost:8080"),
            ("http://example.org", "ann", "x", "rest_no_https"),
            ("http://localhost.example.org", "ann", "x", "rest_no_https"),
            ("example.org", "ann", "", "rest_half_credentials"),
            ("example.org", "", "x", "rest_half_credentials"),
            ("example.org", "a:b", "x", "rest_half_credentials"),
            ("ftp://example.org", "", "", "rest_no_address"),
            ("https://a:b@example.org", "", "", "rest_no_address"),
            ("", "", "", "rest_no_address"),
            ("not an address", "", "", "rest_no_address"),
        ] {
            assert_eq!(code(address, user, password), expected, "{address}");
        }
    }
}

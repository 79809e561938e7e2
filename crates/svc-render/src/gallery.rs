//! The `gallery` shortcode. Attachments are loaded for all posts of a page at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use svc_content::{
    Shortcodes,
    shortcodes::{Attributes, Call},
};
use svc_media::RegisteredSize;
use svc_model::{Post, PostId};
use svc_site::{
    Settings, Site, SiteResult,
    media::{attached::AttachmentFiles, sizes},
    permalinks,
};
use svc_store::{
    Db, Order,
    meta::{self, MetaKind},
    posts::{self, PostOrderBy, PostQuery},
};
use svc_text::{Html, esc_attr, esc_url, html};

/// The shortcode's name.
const NAME: &str = "gallery";
/// Maximum number of images in all galleries of a response.
const MAX_IMAGES: u64 = 1_000;
/// Default number of columns.
const COLUMNS: i64 = 3;

/// An image of a gallery.
struct GalleryImage {
    post: Post,
    attached: AttachmentFiles,
    /// URL of the attachment page.
    page: String,
}

/// The images of all galleries of a response.
pub(crate) struct Galleries {
    images: HashMap<PostId, GalleryImage>,
    /// Images by the post that they are attached to, ordered by `menu_order`.
    children: HashMap<PostId, Vec<PostId>>,
    sizes: Vec<RegisteredSize>,
    settings: Arc<Settings>,
}

/// The images that a gallery requests.
enum GallerySource {
    /// Images listed by id.
    Listed(Vec<PostId>),
    /// Images attached to a post.
    AttachedTo(PostId),
}

fn gallery_source(attributes: &Attributes, post: PostId) -> GallerySource {
    let list = |name: &str| attributes.get(name).filter(|list| !list.is_empty());
    match list("ids").or_else(|| list("include")) {
        Some(list) => GallerySource::Listed(ids(list)),
        None => match attributes.get("id").map(svc_php::numeric::text_to_int) {
            Some(id) if id > 0 => GallerySource::AttachedTo(PostId(id)),
            _ => GallerySource::AttachedTo(post),
        },
    }
}

fn ids(list: &str) -> Vec<PostId> {
    let raw_ids = list.split([',', ' ']).map(svc_php::numeric::text_to_int).filter(|id| *id > 0);
    raw_ids.take(MAX_IMAGES as usize).map(PostId).collect()
}

impl Galleries {
    /// Loads the galleries of these posts with at most five queries. `None`, without a query, if there are none.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) fn of_posts(
        db: &mut Db,
        site: &Site,
        settings: &Arc<Settings>,
        rows: &[&Post],
    ) -> SiteResult<Option<Arc<Self>>> {
        let (mut named, mut parents) = (Vec::new(), Vec::new());
        for post in rows.iter().filter(|p| p.content.contains("[gallery")) {
            for gallery_source in collect(post) {
                match gallery_source {
                    GallerySource::Listed(ids) => named.extend(ids),
                    GallerySource::AttachedTo(id) => parents.push(id),
                }
            }
        }
        if named.is_empty() && parents.is_empty() {
            return Ok(None);
        }
        if !parents.is_empty() {
            let query = PostQuery::default()
                .post_types(vec!["attachment".to_owned()])
                .statuses(vec!["inherit".to_owned()])
                .mime_types(vec!["image".to_owned()])
                .parent_in(parents)
                .order_by(vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Id, Order::Asc)])
                .limit(Some(MAX_IMAGES));
            named.extend(posts::query(db, &query)?.ids);
        }
        named.truncate(MAX_IMAGES as usize);
        let is_image = |p: &Post| p.post_type == "attachment" && p.mime_type.starts_with("image/");
        let found: Vec<Post> = posts::get_many(db, &named)?.into_iter().filter(is_image).collect();
        let raw_ids: Vec<i64> = found.iter().map(|p| p.id.0).collect();
        let meta = meta::load(db, MetaKind::Post, &raw_ids)?;
        // Who sees a post may read it.
        let is_rendered = |id: PostId| rows.iter().any(|post| post.id == id);
        let mut pages = permalinks::of_posts_below(db, site, settings, &found, is_rendered)?;
        let mut galleries = Galleries {
            images: HashMap::new(),
            children: HashMap::new(),
            sizes: sizes::all(site, settings),
            settings: Arc::clone(settings),
        };
        // Rows are in the order of the query.
        for post in found.into_iter().filter(|p| p.status == "inherit") {
            let attached = meta.get(&post.id.0).map(AttachmentFiles::new).unwrap_or_default();
            let page = pages.remove(&post.id).unwrap_or_default();
            galleries.children.entry(post.parent).or_default().push(post.id);
            galleries.images.insert(post.id, GalleryImage { post, attached, page });
        }
        Ok(Some(Arc::new(galleries)))
    }

    /// The standard shortcodes and `gallery`.
    pub(crate) fn shortcodes(self: &Arc<Self>) -> Shortcodes {
        let mut all = Shortcodes::standard();
        let galleries = Arc::clone(self);
        all.register(NAME, move |call| galleries.render(call));
        all
    }

    /// The images of a gallery in display order.
    fn selected(&self, attributes: &Attributes, post: PostId) -> Vec<&GalleryImage> {
        let is_named = attributes.get("ids").is_some_and(|ids| !ids.is_empty());
        let mut ids = match gallery_source(attributes, post) {
            GallerySource::Listed(ids) => ids,
            GallerySource::AttachedTo(id) => {
                let excluded = self::ids(attributes.get("exclude").unwrap_or_default());
                let all = self.children.get(&id).into_iter().flatten();
                all.filter(|id| !excluded.contains(id)).copied().collect()
            }
        };
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(*id));
        let mut selected: Vec<&GalleryImage> = ids.iter().filter_map(|id| self.images.get(id)).collect();
        let by_position = |entry: &&GalleryImage| (entry.post.menu_order, entry.post.id);
        match attributes.get("orderby").map(str::to_ascii_lowercase).as_deref() {
            None | Some("post__in") if is_named => {}
            Some("id") => selected.sort_by_key(|entry| entry.post.id),
            Some("title" | "post_title") => selected.sort_by(|a, b| a.post.title.cmp(&b.post.title)),
            Some("date" | "post_date") => selected.sort_by_key(|entry| entry.post.date),
            // The stored order is as good as a random one.
            Some("rand") => {}
            _ => selected.sort_by_key(by_position),
        }
        if attributes.get("order").is_some_and(|order| order.eq_ignore_ascii_case("desc")) {
            selected.reverse();
        }
        selected
    }

    /// A gallery as HTML. Source: `gallery_shortcode`.
    fn render(&self, call: &Call<'_>) -> Html {
        let attributes = &call.attributes;
        let own = PostId(i64::try_from(call.page.post.get()).unwrap_or_default());
        // Empty galleries are counted as well.
        let selector = html!("gallery-{}", call.page.number(NAME));
        let selected = self.selected(attributes, own);
        if selected.is_empty() {
            return Html::new();
        }
        let tag = |name: &str, default: &'static str| {
            let tag = attributes.get(name).unwrap_or(default).to_ascii_lowercase();
            let fits = !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_alphanumeric());
            if fits && tag != "script" && tag != "style" { esc_attr(&tag) } else { Html::from(default) }
        };
        let (item, icon, caption) = (tag("itemtag", "figure"), tag("icontag", "div"), tag("captiontag", "figcaption"));
        let columns = attributes.get("columns").map_or(COLUMNS, svc_php::numeric::text_to_int);
        let id = match attributes.get("id").map(svc_php::numeric::text_to_int) {
            Some(id) if id > 0 => id,
            _ => own.0,
        };
        let size_name = attributes.get("size").unwrap_or("thumbnail");
        let class = svc_text::sanitize_html_class(size_name, "");
        let mut out = html!(
            "<div id='{}' class='gallery galleryid-{} gallery-columns-{} gallery-size-{}'>",
            selector,
            id,
            columns,
            esc_attr(&class)
        );
        let full_size = || RegisteredSize { name: class.clone(), width: 0, height: 0, crop: false };
        let size = self.sizes.iter().find(|s| s.name == size_name).cloned().unwrap_or_else(full_size);
        for entry in selected {
            out.push(self.item(entry, &selector, &size, attributes.get("link"), [&item, &icon, &caption]));
        }
        out.push("\n\t\t</div>\n");
        out
    }

    fn item(
        &self,
        entry: &GalleryImage,
        selector: &Html,
        size: &RegisteredSize,
        link: Option<&str>,
        tags: [&Html; 3],
    ) -> Html {
        let [item, icon, caption] = tags;
        let text = svc_text::trim(&entry.post.excerpt);
        let url = entry.attached.url(&self.settings, &entry.post.guid);
        let caption_id = html!("{}-{}", selector, entry.post.id.0);
        let describes = (!text.is_empty()).then_some(&caption_id);
        let image = entry.attached.img_element(&self.settings, &url, size, describes);
        let image = match link {
            Some("none") => image,
            Some("file") => html!("<a href='{}'>{}</a>", esc_url(&url), image),
            _ => html!("<a href='{}'>{}</a>", esc_url(&entry.page), image),
        };
        let orientation = match entry.attached.dimensions() {
            (0, _) | (_, 0) => "",
            (width, height) if height > width => " portrait",
            _ => " landscape",
        };
        let mut out = html!(
            "<{} class='gallery-item'>\n\t\t\t<{icon} class='gallery-icon{}'>\n\t\t\t\t{}\n\t\t\t</{icon}>",
            item,
            orientation,
            image,
            icon = icon
        );
        if !text.is_empty() {
            let text = svc_content::render_inline(&entry.post.excerpt);
            out.push(html!(
                "\n\t\t\t\t<{caption} class='wp-caption-text gallery-caption' id='{}'>\n\t\t\t\t{}\n\t\t\t\t\
                 </{caption}>",
                caption_id,
                text,
                caption = caption
            ));
        }
        out.push(html!("</{}>", item));
        out
    }
}

/// The sources of all galleries in a post's content.
fn collect(post: &Post) -> Vec<GallerySource> {
    let found: Arc<Mutex<Vec<GallerySource>>> = Arc::default();
    let (sink, id) = (Arc::clone(&found), post.id);
    let mut only = Shortcodes::new();
    only.register(NAME, move |call| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(gallery_source(&call.attributes, id));
        Html::new()
    });
    only.run(&post.content, &Default::default());
    std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner))
}

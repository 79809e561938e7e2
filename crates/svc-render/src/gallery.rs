//! Galleries in texts: the shortcode `gallery`, over attachments loaded for a whole page of posts at once.

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
    Settings, SiteResult,
    media::{attached::Attached, sizes},
    permalinks,
};
use svc_store::{
    Db, Order,
    meta::{self, MetaKind},
    posts::{self, PostOrderBy, PostQuery},
};

use crate::SiteRenderer;

/// The shortcode's name.
const NAME: &str = "gallery";
/// Most images that the galleries of one answer have.
const MAX_IMAGES: u64 = 1_000;
/// Columns of a gallery that does not say how many.
const COLUMNS: i64 = 3;

/// An image of a gallery.
struct Shown {
    post: Post,
    attached: Attached,
    /// The address of its page.
    page: String,
}

/// The images of all galleries of an answer.
pub struct Galleries {
    images: HashMap<PostId, Shown>,
    /// Images by the post that they are attached to, in the order of menus.
    children: HashMap<PostId, Vec<PostId>>,
    sizes: Vec<RegisteredSize>,
    settings: Arc<Settings>,
}

/// What a gallery shows: images named, or those of a post.
enum Wanted {
    Named(Vec<PostId>),
    Of(PostId),
}

fn wanted(attributes: &Attributes, post: PostId) -> Wanted {
    let list = |name: &str| attributes.get(name).filter(|list| !list.is_empty());
    match list("ids").or_else(|| list("include")) {
        Some(list) => Wanted::Named(ids(list)),
        None => match attributes.get("id").map(svc_php::numeric::text_to_int) {
            Some(id) if id > 0 => Wanted::Of(PostId(id)),
            _ => Wanted::Of(post),
        },
    }
}

fn ids(list: &str) -> Vec<PostId> {
    let numbers = list.split([',', ' ']).map(svc_php::numeric::text_to_int).filter(|id| *id > 0);
    numbers.take(MAX_IMAGES as usize).map(PostId).collect()
}

impl Galleries {
    /// Those of these posts' texts; nothing, and no query, when there are none. At most five queries otherwise.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of_posts(
        db: &mut Db,
        site: &SiteRenderer,
        settings: &Arc<Settings>,
        rows: &[&Post],
    ) -> SiteResult<Option<Arc<Self>>> {
        let (mut named, mut parents) = (Vec::new(), Vec::new());
        for post in rows.iter().filter(|p| p.content.contains("[gallery")) {
            for wanted in collect(post) {
                match wanted {
                    Wanted::Named(ids) => named.extend(ids),
                    Wanted::Of(id) => parents.push(id),
                }
            }
        }
        if named.is_empty() && parents.is_empty() {
            return Ok(None);
        }
        if !parents.is_empty() {
            let query = PostQuery {
                post_types: vec!["attachment".to_owned()],
                statuses: vec!["inherit".to_owned()],
                mime_types: vec!["image".to_owned()],
                parent_in: parents,
                order_by: vec![(PostOrderBy::MenuOrder, Order::Asc), (PostOrderBy::Id, Order::Asc)],
                limit: Some(MAX_IMAGES),
                ..PostQuery::default()
            };
            named.extend(posts::query(db, &query)?.ids);
        }
        named.truncate(MAX_IMAGES as usize);
        let is_image = |p: &Post| p.post_type == "attachment" && p.mime_type.starts_with("image/");
        let found: Vec<Post> = posts::get_many(db, &named)?.into_iter().filter(is_image).collect();
        let numbers: Vec<i64> = found.iter().map(|p| p.id.0).collect();
        let meta = meta::load(db, MetaKind::Post, &numbers)?;
        let mut pages = permalinks::of_posts(db, site, settings, &found)?;
        let mut galleries = Galleries {
            images: HashMap::new(),
            children: HashMap::new(),
            sizes: sizes::all(site, settings),
            settings: Arc::clone(settings),
        };
        // The rows come in the order of the query.
        for post in found.into_iter().filter(|p| p.status == "inherit") {
            let attached = meta.get(&post.id.0).map(Attached::new).unwrap_or_default();
            let page = pages.remove(&post.id).unwrap_or_default();
            galleries.children.entry(post.parent).or_default().push(post.id);
            galleries.images.insert(post.id, Shown { post, attached, page });
        }
        Ok(Some(Arc::new(galleries)))
    }

    /// The shortcodes of a bare site with this one.
    pub fn shortcodes(self: &Arc<Self>) -> Shortcodes {
        let mut all = Shortcodes::standard();
        let galleries = Arc::clone(self);
        all.register(NAME, move |call| galleries.render(call));
        all
    }

    /// The images of one gallery, in its order.
    fn chosen(&self, attributes: &Attributes, post: PostId) -> Vec<&Shown> {
        let is_named = attributes.get("ids").is_some_and(|ids| !ids.is_empty());
        let mut ids = match wanted(attributes, post) {
            Wanted::Named(ids) => ids,
            Wanted::Of(id) => {
                let excluded = self::ids(attributes.get("exclude").unwrap_or_default());
                let all = self.children.get(&id).into_iter().flatten();
                all.filter(|id| !excluded.contains(id)).copied().collect()
            }
        };
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(*id));
        let mut chosen: Vec<&Shown> = ids.iter().filter_map(|id| self.images.get(id)).collect();
        let by_place = |shown: &&Shown| (shown.post.menu_order, shown.post.id);
        match attributes.get("orderby").map(str::to_ascii_lowercase).as_deref() {
            None | Some("post__in") if is_named => {}
            Some("id") => chosen.sort_by_key(|shown| shown.post.id),
            Some("title" | "post_title") => chosen.sort_by(|a, b| a.post.title.cmp(&b.post.title)),
            Some("date" | "post_date") => chosen.sort_by_key(|shown| shown.post.date),
            // As good as any other order by chance.
            Some("rand") => {}
            _ => chosen.sort_by_key(by_place),
        }
        if attributes.get("order").is_some_and(|order| order.eq_ignore_ascii_case("desc")) {
            chosen.reverse();
        }
        chosen
    }

    /// A gallery as HTML. Source: `gallery_shortcode`.
    fn render(&self, call: &Call<'_>) -> String {
        let attributes = &call.attributes;
        let own = PostId(i64::try_from(call.page.post.get()).unwrap_or_default());
        // The number counts whether or not there is anything to show.
        let selector = format!("gallery-{}", call.page.number(NAME));
        let chosen = self.chosen(attributes, own);
        if chosen.is_empty() {
            return String::new();
        }
        let tag = |name: &str, default: &str| {
            let tag = attributes.get(name).unwrap_or(default).to_ascii_lowercase();
            let fits = !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_alphanumeric());
            if fits && tag != "script" && tag != "style" { tag } else { default.to_owned() }
        };
        let (item, icon, caption) = (tag("itemtag", "figure"), tag("icontag", "div"), tag("captiontag", "figcaption"));
        let columns = attributes.get("columns").map_or(COLUMNS, svc_php::numeric::text_to_int);
        let id = match attributes.get("id").map(svc_php::numeric::text_to_int) {
            Some(id) if id > 0 => id,
            _ => own.0,
        };
        let size_name = attributes.get("size").unwrap_or("thumbnail");
        let class = svc_text::sanitize_html_class(size_name, "");
        let mut out = format!(
            "<div id='{selector}' class='gallery galleryid-{id} gallery-columns-{columns} gallery-size-{class}'>"
        );
        let exact_field = || RegisteredSize { name: class.clone(), width: 0, height: 0, crop: false };
        let size = self.sizes.iter().find(|s| s.name == size_name).cloned().unwrap_or_else(exact_field);
        for shown in chosen {
            out.push_str(&self.item(shown, &selector, &size, attributes.get("link"), [&item, &icon, &caption]));
        }
        out.push_str("\n\t\t</div>\n");
        out
    }

    fn item(
        &self,
        shown: &Shown,
        selector: &str,
        size: &RegisteredSize,
        link: Option<&str>,
        tags: [&str; 3],
    ) -> String {
        let [item, icon, caption] = tags;
        let text = svc_text::trim(&shown.post.excerpt);
        let url = shown.attached.url(&self.settings, &shown.post.guid);
        let caption_id = format!("{selector}-{}", shown.post.id);
        let describes = (!text.is_empty()).then_some(caption_id.as_str());
        let image = shown.attached.element(&self.settings, &url, size, describes);
        let image = match link {
            Some("none") => image,
            Some("file") => format!("<a href='{}'>{image}</a>", svc_text::esc_url(&url)),
            _ => format!("<a href='{}'>{image}</a>", svc_text::esc_url(&shown.page)),
        };
        let orientation = match shown.attached.dimensions() {
            (0, _) | (_, 0) => "",
            (width, height) if height > width => " portrait",
            _ => " landscape",
        };
        let mut out = format!(
            "<{item} class='gallery-item'>\n\t\t\t<{icon} class='gallery-icon{orientation}'>\n\t\t\t\t{image}\n\t\t\t</{icon}>"
        );
        if !text.is_empty() {
            let text = svc_content::texturize(&shown.post.excerpt, svc_content::display::standard_shortcodes());
            out.push_str(&format!(
                "\n\t\t\t\t<{caption} class='wp-caption-text gallery-caption' id='{caption_id}'>\n\t\t\t\t{text}\n\t\t\t\t\
                 </{caption}>"
            ));
        }
        out.push_str(&format!("</{item}>"));
        out
    }
}

/// What the galleries of a post's content show.
fn collect(post: &Post) -> Vec<Wanted> {
    let found: Arc<Mutex<Vec<Wanted>>> = Arc::default();
    let (sink, id) = (Arc::clone(&found), post.id);
    let mut only = Shortcodes::new();
    only.register(NAME, move |call| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(wanted(&call.attributes, id));
        String::new()
    });
    only.run(&post.content, &Default::default());
    std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner))
}

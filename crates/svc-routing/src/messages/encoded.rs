//! Data of a response that is encoded as JSON already, so that it can be cached and shared.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

/// An object, or another value, encoded as JSON in the form of HTTP responses, with the targets of its links. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct EncodedItem(Arc<ItemParts>);

#[derive(Debug)]
struct ItemParts {
    json: Bytes,
    /// The relations that have embeddable targets, with the names that `_links` has.
    relations: Box<[Relation]>,
}

/// A link relation of an item.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) name: String,
    /// The URLs of the targets; `None` for one that is not embeddable.
    pub(crate) targets: Vec<Option<String>>,
}

impl EncodedItem {
    /// Encodes an item. Its links are those in its field `_links`.
    pub fn new(item: &Value) -> Self {
        let links = item.get("_links").and_then(Value::as_object);
        let relations = links.into_iter().flatten().filter_map(|(name, targets)| {
            let targets: Vec<_> = targets.as_array()?.iter().map(embeddable_url).collect();
            targets.iter().any(Option::is_some).then(|| Relation { name: name.clone(), targets })
        });
        let json = svc_php::json::compact(item).into();
        Self(Arc::new(ItemParts { json, relations: relations.collect() }))
    }

    /// The JSON.
    pub fn json(&self) -> &Bytes {
        &self.0.json
    }

    pub(crate) fn relations(&self) -> &[Relation] {
        &self.0.relations
    }

    /// The estimated memory of the item, in bytes.
    pub fn size(&self) -> usize {
        let urls = self.0.relations.iter().flat_map(|relation| &relation.targets).flatten();
        self.0.json.len() + urls.map(|url| url.len() + 64).sum::<usize>()
    }
}

/// The URL of a link's target, if it is embeddable.
pub(crate) fn embeddable_url(target: &Value) -> Option<String> {
    let is_embeddable = target.get("embeddable").is_some_and(svc_php::cast::truthy);
    target.get("href").and_then(Value::as_str).filter(|_| is_embeddable).map(str::to_owned)
}

/// The data of a response that is encoded already: links and `_fields` have been applied.
#[derive(Clone, Debug)]
pub enum Encoded {
    /// One item.
    Item(EncodedItem),
    /// A list of items.
    List(Vec<EncodedItem>),
}

impl Encoded {
    /// The JSON of the data.
    pub(crate) fn json(&self) -> Bytes {
        match self {
            Self::Item(item) => item.json().clone(),
            Self::List(_) => self.json_with(|_, _| {}),
        }
    }

    /// The JSON of the data. `add` may append fields to the JSON of an object, from the comma on.
    pub(crate) fn json_with(&self, mut add: impl FnMut(&EncodedItem, &mut Vec<u8>)) -> Bytes {
        let mut out = Vec::with_capacity(self.items().iter().map(|item| item.json().len() + 1).sum::<usize>() + 2);
        let mut append = |item: &EncodedItem, out: &mut Vec<u8>| {
            out.extend_from_slice(item.json());
            if item.json().ends_with(b"}") {
                out.pop();
                add(item, out);
                out.push(b'}');
            }
        };
        match self {
            Self::Item(item) => append(item, &mut out),
            Self::List(items) => {
                out.push(b'[');
                for (idx, item) in items.iter().enumerate() {
                    if idx > 0 {
                        out.push(b',');
                    }
                    append(item, &mut out);
                }
                out.push(b']');
            }
        }
        out.into()
    }

    /// The items.
    pub(crate) fn items(&self) -> &[EncodedItem] {
        match self {
            Self::Item(item) => std::slice::from_ref(item),
            Self::List(items) => items,
        }
    }

    /// The data as a value.
    pub(crate) fn to_value(&self) -> Value {
        // The encoder has written it, so that it can be read; the depth of data is bounded far below the parser's limit.
        let read = |item: &EncodedItem| serde_json::from_slice(item.json()).unwrap_or_default();
        match self {
            Self::Item(item) => read(item),
            Self::List(items) => items.iter().map(read).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_are_joined_and_read_back() {
        let post = json!({
            "id": 1, "text": "a/b é\u{2028}", "size": 1.5,
            "_links": {"self": [{"href": "s"}], "author": [{"embeddable": true, "href": "a"}, {"href": "b"}]},
        });
        let item = EncodedItem::new(&post);
        let none = EncodedItem::new(&json!([]));
        let relations: Vec<_> = item.relations().iter().map(|r| (r.name.as_str(), r.targets.clone())).collect();
        assert_eq!(relations, [("author", vec![Some("a".to_owned()), None])]);
        let list = Encoded::List(vec![item.clone(), none]);
        assert_eq!(list.to_value(), json!([post, []]));
        let text = String::from_utf8(list.json().to_vec()).unwrap();
        assert_eq!(text, svc_php::json::compact(&json!([post, []])));
        let one = Encoded::Item(item).json_with(|_, out| out.extend_from_slice(b",\"x\":1"));
        assert!(one.ends_with(b",\"x\":1}") && one.starts_with(b"{\"id\":1,"));
        assert_eq!(&Encoded::List(Vec::new()).json()[..], b"[]");
    }

    #[test]
    fn the_size_counts_json_and_urls_of_targets() {
        for (embeddable, urls) in [(true, 5 + 64 + 3 + 64), (false, 3 + 64)] {
            let links = json!([{"embeddable": embeddable, "href": "12345"}, {"embeddable": true, "href": "123"}]);
            let item = EncodedItem::new(&json!({"_links": {"a": links}}));
            assert_eq!(item.size(), item.json().len() + urls);
        }
    }
}

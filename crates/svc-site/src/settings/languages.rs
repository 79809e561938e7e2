//! The languages of a site whose content is translated with the plugin Polylang: its settings and its terms.
//!
//! They are read and never changed here: languages are added and removed with the plugin.

use std::{collections::BTreeMap, sync::Arc};

use svc_model::{Term, TermId, TermTaxonomyId};
use svc_php::{Array, ArrayKey, Php, cast::truthy, serialize::from_stored};
use svc_store::{
    Db,
    language_terms::{self, LANGUAGE, POST_TRANSLATIONS, TERM_LANGUAGE, TERM_TRANSLATIONS},
    options::Options,
};

use crate::{
    settings::text_options::host,
    stored_arrays::{self, int, key_text},
};

/// The option with the plugin's settings.
pub const OPTION: &str = "polylang";

/// Maximum number of languages.
const MAX_LANGUAGES: u64 = 300;

/// Longest stored array that is parsed, in bytes. That of a group has an entry of about twenty bytes per language.
pub(crate) const MAX_ARRAY: usize = 1 << 16;

/// What the slugs of the languages of terms begin with.
const OF_TERMS: &str = "pll_";

/// The types and taxonomies that are always translated.
const POST_TYPES: [&str; 3] = ["post", "page", "wp_block"];
const TAXONOMIES: [&str; 2] = ["category", "post_tag"];

/// What has a language and translations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Translated {
    /// Posts of the translated types.
    Posts,
    /// Terms of the translated taxonomies.
    Terms,
}

impl Translated {
    /// The taxonomy of the languages of such objects.
    pub fn languages(self) -> &'static str {
        match self {
            Translated::Posts => LANGUAGE,
            Translated::Terms => TERM_LANGUAGE,
        }
    }

    /// The taxonomy of the groups of translations.
    pub fn translations(self) -> &'static str {
        match self {
            Translated::Posts => POST_TRANSLATIONS,
            Translated::Terms => TERM_TRANSLATIONS,
        }
    }
}

/// The term that gives objects a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageTerm {
    /// Id of the term.
    pub id: TermId,
    /// Id of the term in its taxonomy.
    pub taxonomy_id: TermTaxonomyId,
}

/// A language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    /// Its code, such as `fr`: the value of `lang`, and a part of URLs.
    pub slug: String,
    /// Its name, such as `Français`.
    pub name: String,
    /// WordPress's locale, such as `fr_FR`.
    pub locale: String,
    /// Whether it is written from right to left.
    pub is_rtl: bool,
    /// Code of its flag; may be empty.
    pub flag_code: String,
    /// Sort position.
    pub order: i64,
    /// Locales whose texts are used if there is none in the language.
    pub fallbacks: Vec<String>,
    /// Whether it is published, which only the paid version of the plugin changes.
    pub is_active: bool,
    /// The term of posts in the language.
    pub of_posts: LanguageTerm,
    /// The term of terms in the language. `None` if it was deleted, which the plugin repairs.
    pub of_terms: Option<LanguageTerm>,
}

impl Language {
    /// The term that gives such objects this language.
    pub fn term(&self, of: Translated) -> Option<LanguageTerm> {
        match of {
            Translated::Posts => Some(self.of_posts),
            Translated::Terms => self.of_terms,
        }
    }
}

/// Where a URL has the language of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LanguageUrls {
    /// Nowhere: the content has it.
    Content,
    /// In the first folder, such as `/fr/`, or with `prefix` `language/` in the second one.
    Folder {
        /// What precedes the language.
        prefix: &'static str,
    },
    /// In the first label of the host, such as `fr.example.com`.
    Subdomain,
    /// Each language has a host, by slug.
    Domain(BTreeMap<String, String>),
}

/// The languages of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    /// All of them, in the site's order; never empty.
    list: Vec<Language>,
    /// Position of the default language.
    default: usize,
    /// Where URLs have the language.
    pub urls: LanguageUrls,
    /// Whether URLs do not have the default language.
    pub hides_default: bool,
    post_types: Vec<String>,
    taxonomies: Vec<String>,
}

impl Languages {
    /// Reads the languages; `None` if the site has none.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(crate) fn load(db: &mut Db, options: &Options) -> svc_store::Result<Option<Arc<Self>>> {
        let Some(stored) = options.get(OPTION) else { return Ok(None) };
        let terms = language_terms::languages(db, 2 * MAX_LANGUAGES)?;
        Ok(Self::new(&stored_arrays::parse(Some(stored)), &terms).map(Arc::new))
    }

    fn new(option: &Array, terms: &[Term]) -> Option<Self> {
        let of = |taxonomy: &'static str| terms.iter().filter(move |term| term.taxonomy == taxonomy);
        let of_terms: BTreeMap<&str, LanguageTerm> = of(TERM_LANGUAGE)
            .filter_map(|term| Some((term.slug.strip_prefix(OF_TERMS)?, language_term(term))))
            .collect();
        let known = of(LANGUAGE).filter(|term| is_slug(&term.slug));
        let list: Vec<Language> = known.map(|term| language(term, of_terms.get(&*term.slug).copied())).collect();
        let text = |name: &str| option.get(&ArrayKey::from(name)).map(text).unwrap_or_default();
        let is_set = |name: &str| truthy(&text(name).into());
        let default = text("default_lang");
        let urls = match text("force_lang").as_str() {
            "1" => LanguageUrls::Folder { prefix: if is_set("rewrite") { "" } else { "language/" } },
            "2" => LanguageUrls::Subdomain,
            "3" => LanguageUrls::Domain(domains(&stored_arrays::member(option, "domains"))),
            _ => LanguageUrls::Content,
        };
        let names = |name: &str| stored_arrays::member(option, name).into_iter().map(|(_, value)| self::text(&value));
        let always = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut post_types = always(&POST_TYPES);
        post_types.extend(names("post_types").filter(|name| name != "attachment"));
        if is_set("media_support") {
            post_types.push("attachment".to_owned());
        }
        let taxonomies = always(&TAXONOMIES).into_iter().chain(names("taxonomies")).collect();
        let default = list.iter().position(|language| language.slug == default).unwrap_or_default();
        let hides_default = is_set("hide_default");
        (!list.is_empty()).then_some(Languages { list, default, urls, hides_default, post_types, taxonomies })
    }

    /// The languages, in the site's order.
    pub fn iter(&self) -> impl Iterator<Item = &Language> {
        self.list.iter()
    }

    /// The codes of the languages.
    pub fn slugs(&self) -> Vec<&str> {
        self.iter().map(|language| language.slug.as_str()).collect()
    }

    /// The language with this code.
    pub fn get(&self, slug: &str) -> Option<&Language> {
        self.iter().find(|language| language.slug == slug)
    }

    /// The language of content that was written without one. `None` never, since there is a language.
    pub fn default_language(&self) -> Option<&Language> {
        self.list.get(self.default)
    }

    /// Whether this is the default language.
    pub fn is_default(&self, language: &Language) -> bool {
        self.default_language().is_some_and(|default| default.slug == language.slug)
    }

    /// Whether posts of the type have languages.
    pub fn translates_type(&self, post_type: &str) -> bool {
        self.post_types.iter().any(|name| name == post_type)
    }

    /// Whether terms of the taxonomy have languages.
    pub fn translates_taxonomy(&self, taxonomy: &str) -> bool {
        self.taxonomies.iter().any(|name| name == taxonomy)
    }

    /// The language of an object with these terms.
    pub fn of(&self, of: Translated, terms: &[Term]) -> Option<&Language> {
        let term = terms.iter().find(|term| term.taxonomy == of.languages())?;
        self.iter().find(|language| language.term(of).is_some_and(|of| of.id == term.id))
    }

    /// The group of an object with these terms.
    pub fn group<'t>(&self, of: Translated, terms: &'t [Term]) -> Option<&'t Term> {
        terms.iter().find(|term| term.taxonomy == of.translations())
    }

    /// The ids in the description of a group, by the languages that the site has, in the order of the description.
    pub fn members(&self, group: &Term) -> Vec<(&Language, i64)> {
        let ids = group_array(group).into_iter().filter_map(|(slug, id)| Some((self.get(&key_text(&slug))?, int(&id))));
        ids.filter(|(_, id)| *id > 0).collect()
    }
}

/// The array in the description of a group; empty if it is not an array.
pub(crate) fn group_array(group: &Term) -> Array {
    match group.description.len() {
        ..=MAX_ARRAY => match from_stored(group.description.as_bytes()) {
            Php::Array(array) => array,
            _ => Array::new(),
        },
        _ => Array::new(),
    }
}

/// A code: letters of ASCII in lower case, digits, `_` and `-`, beginning with a letter.
fn is_slug(slug: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    slug.bytes().next().is_some_and(|first| first.is_ascii_lowercase()) && slug.bytes().all(is_part)
}

fn text(value: &Php) -> String {
    svc_php::cast::to_text(&value.clone().into()).into_owned()
}

fn language_term(term: &Term) -> LanguageTerm {
    LanguageTerm { id: term.id, taxonomy_id: term.taxonomy_id }
}

fn language(term: &Term, of_terms: Option<LanguageTerm>) -> Language {
    let about = group_array(term);
    let of = |name: &str| about.get(&ArrayKey::from(name));
    let is_set = |name: &str| of(name).map(|value| truthy(&value.clone().into()));
    Language {
        slug: term.slug.clone(),
        name: term.name.clone(),
        locale: of("locale").map(text).unwrap_or_default(),
        is_rtl: is_set("rtl").unwrap_or(false),
        flag_code: of("flag_code").map(text).unwrap_or_default(),
        fallbacks: stored_arrays::member(&about, "fallbacks").iter().map(|(_, locale)| text(locale)).collect(),
        order: term.group,
        is_active: is_set("active").unwrap_or(true),
        of_posts: language_term(term),
        of_terms,
    }
}

/// The hosts of the languages from their URLs.
fn domains(urls: &Array) -> BTreeMap<String, String> {
    let all = urls.iter().map(|(slug, url)| (key_text(slug), host(&text(url)).to_owned()));
    let is_host = |host: &str| !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'));
    all.filter(|(_, host)| is_host(host)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use svc_store::StoredText;

    use super::*;

    fn term(id: i64, taxonomy: &str, slug: &str, description: &str) -> Term {
        Term {
            id: TermId(id),
            taxonomy_id: TermTaxonomyId(id + 1000),
            taxonomy: taxonomy.to_owned(),
            slug: slug.to_owned(),
            description: description.to_owned(),
            ..Term::default()
        }
    }

    /// English, French and Arabic with these settings.
    pub(crate) fn languages(option: serde_json::Value) -> Option<Languages> {
        let fr = r#"a:3:{s:6:"locale";s:5:"fr_FR";s:3:"rtl";b:0;s:9:"flag_code";s:2:"fr";}"#;
        let terms = [
            term(1, LANGUAGE, "en", ""),
            term(2, LANGUAGE, "fr", fr),
            term(3, LANGUAGE, "ar", r#"a:1:{s:3:"rtl";i:1;}"#),
            term(4, LANGUAGE, "No Code", "O:8:\"stdClass\":0:{}"),
            term(5, TERM_LANGUAGE, "pll_fr", ""),
            term(6, TERM_LANGUAGE, "fr", ""),
        ];
        Languages::new(&stored_arrays::parse(Some(&StoredText::of(option))), &terms)
    }

    #[test]
    fn languages_are_terms() {
        let all = languages(serde_json::json!({"default_lang": "fr"})).unwrap();
        assert_eq!(all.slugs(), ["en", "fr", "ar"]);
        let fr = all.default_language().unwrap();
        assert_eq!(
            (fr.slug.as_str(), fr.locale.as_str(), fr.flag_code.as_str(), fr.is_rtl),
            ("fr", "fr_FR", "fr", false)
        );
        assert_eq!(fr.of_terms.map(|term| term.id), Some(TermId(5)));
        assert!(all.get("ar").unwrap().is_rtl && all.get("ar").unwrap().is_active);
        assert_eq!(all.get("en").unwrap().term(Translated::Terms), None);
        // Without a default language that exists, it is the first one.
        assert_eq!(languages(serde_json::json!({})).unwrap().default_language().unwrap().slug, "en");
        assert_eq!(Languages::new(&Array::new(), &[]), None);
    }

    #[test]
    fn the_option_names_what_is_translated_and_where_urls_have_the_language() {
        use LanguageUrls::{Content, Domain, Folder, Subdomain};
        let hosts = BTreeMap::from([("fr".to_owned(), "exemple.fr".to_owned())]);
        for (option, urls) in [
            (serde_json::json!({}), Content),
            (serde_json::json!({"force_lang": 1, "rewrite": true}), Folder { prefix: "" }),
            (serde_json::json!({"force_lang": 1}), Folder { prefix: "language/" }),
            (serde_json::json!({"force_lang": 2}), Subdomain),
            (serde_json::json!({"force_lang": 3, "domains": {"fr": "https://exemple.fr", "x": ""}}), Domain(hosts)),
        ] {
            assert_eq!(languages(option.clone()).unwrap().urls, urls, "{option}");
        }
        let option = serde_json::json!({"post_types": ["book", "attachment"], "taxonomies": ["genre"]});
        let all = languages(option).unwrap();
        let types = ["post", "page", "wp_block", "book"];
        assert!(types.iter().all(|name| all.translates_type(name)) && !all.translates_type("attachment"));
        assert!(["category", "post_tag", "genre"].iter().all(|name| all.translates_taxonomy(name)));
        assert!(languages(serde_json::json!({"media_support": true})).unwrap().translates_type("attachment"));
    }

    #[test]
    fn members_are_those_of_known_languages() {
        let all = languages(serde_json::json!({})).unwrap();
        let ids = |description: &str| {
            let group = term(9, POST_TRANSLATIONS, "pll_1", description);
            all.members(&group).into_iter().map(|(language, id)| (language.slug.clone(), id)).collect::<Vec<_>>()
        };
        let pair = |slug: &str, id: i64| (slug.to_owned(), id);
        assert_eq!(ids(r#"a:2:{s:2:"fr";i:7;s:2:"en";s:1:"5";}"#), [pair("fr", 7), pair("en", 5)]);
        assert_eq!(ids(r#"a:3:{s:2:"xx";i:7;s:2:"en";i:0;s:2:"fr";i:-3;}"#), []);
        for garbage in ["", "a:1:{", "i:5;", r#"O:8:"stdClass":1:{s:2:"fr";i:7;}"#, "[1]"] {
            assert_eq!(ids(garbage), [], "{garbage}");
        }
        let long = format!(r#"a:2:{{s:2:"fr";i:7;s:1:"x";s:{0}:"{1}";}}"#, MAX_ARRAY, "x".repeat(MAX_ARRAY));
        assert_eq!(ids(&long), []);
    }
}

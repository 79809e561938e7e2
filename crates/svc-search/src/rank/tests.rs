//! What ranked searches find, in which order.

use super::*;
use crate::segment::{Class, Document, SegmentBuilder};
use crate::words::Language;

const ENGLISH: &str = "en";

/// Segments with two documents each; ids count from 1, and later documents are newer.
fn segments(documents: &[(&str, &str)]) -> Vec<Segment> {
    let mut id = 0;
    let mut segment = |documents: &[(&str, &str)]| {
        let mut builder = SegmentBuilder::new(Language::of_locale(ENGLISH));
        for (title, text) in documents {
            id += 1;
            let post_type = if id % 2 == 0 { "page" } else { "post" }.to_owned();
            let class = Class { post_type, status: "publish".to_owned(), has_password: false };
            let ranked = [*title, *text];
            assert!(builder.add(&Document { id, date: id, class, digest: None, texts: [""; 3], ranked }));
        }
        builder.in_memory().unwrap()
    };
    documents.chunks(2).map(&mut segment).collect()
}

fn search(segments: &[Segment], text: &str, hidden: &[i64]) -> Ranking {
    let part = |segment| {
        let mut allowed = Bits::first(Segment::len(segment));
        hidden.iter().filter_map(|id| segment.position(*id)).for_each(|at| allowed.remove(at));
        RankedPart { segment, allowed }
    };
    let parts: Vec<_> = segments.iter().map(part).collect();
    rank(&parts, &RankedQuery::parse(text, Language::of_locale(ENGLISH)).unwrap(), 100).unwrap()
}

const DOCUMENTS: [(&str, &str); 7] = [
    ("Old harbours", "Boats leave the harbour at noon."),
    ("Boats", "A list of boats, and of other things that float on water."),
    ("Weather", "Old boats stay in the harbour today. The harbour is old."),
    ("Train", "Trains arrive here."),
    ("Harbor", "The American spelling."),
    ("Wi-fi", "The café has wi fi. 中文 文中"),
    ("Harbourmaster", "The harbourmaster's office, for old masters."),
];

#[test]
fn searches() {
    let segments = segments(&DOCUMENTS);
    #[rustfmt::skip]
    let rows: &[(&str, &[i64])] = &[
        ("harbour ", &[1, 3]),
        // The word itself before words that begin with it.
        ("harbour", &[1, 3, 7]),
        ("harb", &[7, 1, 5, 3]),
        ("HARBOURS ", &[1, 3]),
        // The title weighs more; the shorter text of two.
        ("boats ", &[2, 1, 3]),
        ("old harbour boats ", &[1, 3]),
        // Most of the words.
        ("old harbour zebra ", &[1, 3]),
        ("zebra ", &[]),
        ("\"old harbour\"", &[]),
        ("\"the harbour\"", &[3, 1]),
        ("\"the harbour\" boats ", &[1, 3]),
        ("\"boats old\"", &[]),
        // A phrase does not extend from the title to the text.
        ("\"harbours boats\"", &[]),
        ("wi-fi", &[6]),
        ("cafe ", &[6]),
        ("中文", &[6]),
        ("\"中中\"", &[]),
        // Typing errors, if nothing has the word.
        ("harbuor ", &[1, 5, 3]),
        ("wether ", &[3]),
        ("trian ", &[4]),
        ("tra ", &[]),
        ("arbour ", &[]),
    ];
    for (text, expected) in rows {
        let found = search(&segments, text, &[]);
        assert_eq!((&found.ids[..], found.total as usize), (*expected, expected.len()), "{text:?}");
    }
    assert_eq!(search(&segments, "boats ", &[]).types, [("post".to_owned(), 2), ("page".to_owned(), 1)]);
}

/// What may not be found has no influence on what is found, in which order, and which similar words are used.
#[test]
fn hidden_documents_have_no_influence() {
    let mut all = DOCUMENTS.to_vec();
    let secret = ("Harbuor wether boats zebra", "old harbour zebra \"wi fi\" trian harbour");
    let known = segments(&all);
    all.extend([secret; 5]);
    let with_hidden = segments(&all);
    let hidden = [8, 9, 10, 11, 12];
    for text in ["harbuor ", "wether ", "old harbour zebra ", "zebra", "boats", "\"old harbour\"", "harb", "trian "] {
        let (expected, found) = (search(&known, text, &[]), search(&with_hidden, text, &hidden));
        assert_eq!((found.ids, found.total, found.types), (expected.ids, expected.total, expected.types), "{text}");
    }
}

/// More documents than a block has, and words that are in too many of them to count.
#[test]
fn many_documents() {
    let rows: Vec<(String, String)> = (0..600)
        .map(|n| (format!("Number {n}"), format!("common word{} {}", n % 7, "filler ".repeat(n % 11))))
        .collect();
    let documents: Vec<(&str, &str)> = rows.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
    let mut builder = SegmentBuilder::new(Language::of_locale(ENGLISH));
    for (id, (title, text)) in (1..).zip(&documents) {
        let class = Class { post_type: "post".to_owned(), status: "publish".to_owned(), has_password: false };
        assert!(builder.add(&Document { id, date: 0, class, digest: None, texts: [""; 3], ranked: [title, text] }));
    }
    let segments = [builder.in_memory().unwrap()];
    for n in 0..7_i64 {
        let found = search(&segments, &format!("word{n} "), &[]);
        let expected = (1..=600).filter(|id| (id - 1) % 7 == n).count();
        assert_eq!((found.total as usize, found.ids.len()), (expected, expected.min(100)), "{n}");
        assert!(found.ids.iter().all(|id| (id - 1) % 7 == n), "{n}");
        let phrase = search(&segments, &format!("\"common word{n}\""), &[]);
        assert_eq!(phrase.total as usize, expected, "{n}");
    }
    assert_eq!(search(&segments, "common number ", &[]).total, 600);
    assert_eq!(search(&segments, "common 77 ", &[]).ids, [78]);
    assert_eq!(search(&segments, "commno ", &[]).total, 600);
}

/// The classes and ids of documents as sets of positions.
#[test]
fn documents_by_class_and_id() {
    let segments = segments(&DOCUMENTS);
    let ids = |segment: &Segment, bits: Bits| bits.iter().map(|at| segment.ids[usize::from(at)]).collect::<Vec<_>>();
    let pages: Vec<i64> = segments
        .iter()
        .flat_map(|segment| ids(segment, segment.of_classes(|class| class.post_type == "page")))
        .collect();
    assert_eq!(pages, [2, 4, 6]);
    for wanted in [&[][..], &[1], &[2, 3], &[-4, 0, 3, 4, 9], &[1, 2, 3, 4, 5, 6, 7]] {
        let found: Vec<i64> = segments.iter().flat_map(|segment| ids(segment, segment.positions(wanted))).collect();
        let expected: Vec<i64> = wanted.iter().copied().filter(|id| (1..=7).contains(id)).collect();
        assert_eq!(found, expected);
    }
}

/// Phrases are looked for in a bounded number of documents, the last ones.
#[test]
fn phrases_in_many_documents() {
    let segments = segments(&[("Old boats", ""), ("Boats, old", ""), ("The old boats", ""), ("Two old boats", "")]);
    let parts: Vec<_> = segments.iter().map(|segment| RankedPart { segment, allowed: segment.all() }).collect();
    let query = RankedQuery::parse("\"old boats\"", Language::of_locale(ENGLISH)).unwrap();
    let search = Search::new(&parts);
    let found = search.matches(&query.units[0]).unwrap();
    for (limit, expected) in [(4, 3), (3, 2), (2, 1), (1, 0), (0, 0)] {
        let mut left = limit;
        let of_part = |part| found.iter().map(|found| found.iter().filter(|f| f.part == part).collect()).collect();
        let parts: [Vec<Vec<&Match>>; 2] = [of_part(0), of_part(1)];
        let hits = (0..2).map(|part| search.with_phrase(part, &parts[part], &mut left).unwrap().len());
        assert_eq!(hits.sum::<usize>(), expected, "{limit}");
    }
}

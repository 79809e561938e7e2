//! Round trips, the rules for stored values, search and replace, and arbitrary input.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Text that is parsed and written with the same bytes, and its JSON.
fn round_trips() -> Vec<(&'static [u8], Value)> {
    vec![
        (b"N;", json!(null)),
        (b"b:1;", json!(true)),
        (b"i:-5;", json!(-5)),
        (b"d:0.1;", json!(0.1)),
        (b"d:1.0E+25;", json!(1e25)),
        (b"d:-INF;", json!(f64::MIN)),
        (b"s:5:\"a\"b;c\";", json!("a\"b;c")),
        (b"s:2:\"\xc3\xa9\";", json!("é")),
        (b"s:1:\"\xff\";", json!("?")),
        (b"a:0:{}", json!([])),
        (b"a:2:{i:0;i:1;i:1;a:1:{s:1:\"x\";N;}}", json!([1, {"x": null}])),
        (b"a:2:{i:5;i:1;s:2:\"05\";i:2;}", json!({"5": 1, "05": 2})),
        (b"O:8:\"stdClass\":2:{s:1:\"a\";b:0;s:1:\"0\";i:1;}", json!({"a": false, "0": 1})),
        (b"O:3:\"A\\B\":1:{s:4:\"\0*\0p\";i:1;}", json!({"__PHP_Incomplete_Class_Name": "A\\B"})),
        (b"a:2:{i:0;O:8:\"stdClass\":0:{}i:1;r:2;}", json!([{}, null])),
        (b"a:2:{i:0;C:3:\"Foo\":5:{a\"};}}i:1;E:7:\"Foo:Bar\";}", json!([null, null])),
    ]
}

#[test]
fn parsing_and_writing_round_trip() {
    for (text, json) in round_trips() {
        let value = unserialize(text).unwrap();
        assert_eq!(serialize(&value), text, "{}", text.escape_ascii());
        assert_eq!(Value::from(value), json, "{}", text.escape_ascii());
    }
}

#[test]
fn non_canonical_spellings_are_parsed() {
    for (text, canonical) in [
        (&b"i:+5;"[..], &b"i:5;"[..]),
        (b"i:007;", b"i:7;"),
        (b"i:99999999999999999999;", b"i:9223372036854775807;"),
        (b"i:-9223372036854775809;", b"i:-9223372036854775808;"),
        (b"d:.5;", b"d:0.5;"),
        (b"d:1.E5;", b"d:100000;"),
        (b"d:1e400;", b"d:INF;"),
        (b"S:2:\"\\41b\";", b"s:2:\"Ab\";"),
        (b"s:01:\"a\";", b"s:1:\"a\";"),
        (b"a:1:{s:1:\"5\";N;}", b"a:1:{i:5;N;}"),
        (b"i:5;trailing", b"i:5;"),
    ] {
        assert_eq!(unserialize(text).map(|v| serialize(&v)), Ok(canonical.to_vec()), "{}", text.escape_ascii());
    }
}

#[test]
fn malformed_text_is_an_error() {
    for text in [
        "",
        "N",
        "b:2;",
        "b:1",
        "i:;",
        "i:1.5;",
        "d:;",
        "d:0x1;",
        "d:inf;",
        "s:3:\"ab\";",
        "s:1:\"a\"x",
        "s:+1:\"a\";",
        "s:99999999999999999999999:\"a\";",
        "a:1:{i:0;i:1}",
        "a:1:{i:0;i:1;i:2;i:3;}",
        "a:1:{d:1;i:1;}",
        "a:-1:{}",
        "a:1:{i:0;b:1;",
        "a:9999999999:{i:0;N;}",
        "o:1:{s:1:\"a\";i:1;}",
        "O:0:\"\":0:{}",
        "O:3:\"F-o\":0:{}",
        "O:4:\"\\Foo\":0:{}",
        "C:3:\"Foo\":9:{xx}",
        "R:;",
        "x:1;",
        "S:1:\"\\+1\";",
    ] {
        assert!(unserialize(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |n: usize| format!("{}N;{}", "a:1:{i:0;".repeat(n), "}".repeat(n));
    assert!(unserialize(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert!(unserialize(nested(MAX_DEPTH + 1).as_bytes()).is_err());
    let deep = nested(100_000);
    assert!(unserialize(deep.as_bytes()).is_err());
    assert_eq!(search_replace(deep.as_bytes(), b"N;", b"x"), deep.replace("N;", "x").into_bytes());
}

#[test]
fn looks_serialized() {
    // text, strict, not strict
    for (text, strict, loose) in [
        ("N;", true, true),
        (" N;\n", true, true),
        ("b:2;", true, true),
        ("i:5;", true, true),
        ("i:5;x", false, true),
        ("i:5", false, false),
        ("d:1e5;", false, false),
        ("d:1E+5;", true, true),
        ("s:9:\"a\";", true, true),
        ("s:1:a;", false, false),
        ("s:0:\"\"", false, false),
        ("a:0:{}", true, true),
        ("a:1:{x", false, false),
        ("O:1:\"X\":0:{}", true, true),
        ("C:1:\"X\":0:{}", false, false),
        ("E:1:\"X\";", true, true),
        ("a::}}", false, false),
        ("text", false, false),
        ("", false, false),
    ] {
        assert_eq!(is_serialized(text.as_bytes(), true), strict, "{text}");
        assert_eq!(is_serialized(text.as_bytes(), false), loose, "{text}");
    }
    for (text, expected) in
        [("s:9:\"a\";", true), (" s:1:\"a\"; ", true), ("s:1:\"a\"", false), ("i:5;", false), ("s:;", false)]
    {
        assert_eq!(is_serialized_string(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn stored_values_round_trip() {
    // value, column text, value read back
    for (value, text, back) in [
        (json!("plain"), "plain", json!("plain")),
        (json!("i:5;"), "s:4:\"i:5;\";", json!("i:5;")),
        (json!([1]), "a:1:{i:0;i:1;}", json!([1])),
        (json!(true), "1", json!("1")),
        (json!(false), "", json!("")),
        (json!(null), "", json!("")),
        (json!(7), "7", json!("7")),
        (json!(0.5), "0.5", json!("0.5")),
    ] {
        let stored = to_stored(value.into());
        assert_eq!(stored, text.as_bytes());
        assert_eq!(Value::from(from_stored(&stored)), back);
    }
    assert_eq!(from_stored(b"a:1:{i:0;b:1;}}"), unserialize(b"a:1:{i:0;b:1;}").unwrap());
    assert_eq!(from_stored(b"a:2:{i:0;b:1;}"), Php::Bool(false), "malformed text reads as false");
}

#[test]
fn replacing_updates_lengths() {
    let inner = "a:1:{s:3:\"old\";s:7:\"old/old\";}";
    let inner_new = "a:1:{s:3:\"old\";s:9:\"newe/newe\";}";
    let wrap = |text: &str| format!("a:2:{{i:0;s:{}:\"{text}\";i:1;d:0.10000000000000001;}}", text.len());
    for (text, expected) in [
        ("an old text, old".to_owned(), "an newe text, newe".to_owned()),
        (inner.to_owned(), inner_new.to_owned()),
        (format!(" {inner}\n"), format!(" {inner_new}\n")),
        (wrap(inner), wrap(inner_new)),
        (wrap(&wrap(inner)), wrap(&wrap(inner_new))),
        ("s:3:\"old\";".to_owned(), "s:4:\"newe\";".to_owned()),
        ("O:3:\"old\":1:{s:1:\"a\";s:3:\"old\";}".to_owned(), "O:3:\"old\":1:{s:1:\"a\";s:4:\"newe\";}".to_owned()),
        ("C:1:\"X\":3:{old}".to_owned(), "C:1:\"X\":3:{newe}".to_owned()),
        ("a:1:{i:0;C:1:\"X\":3:{old}}".to_owned(), "a:1:{i:0;C:1:\"X\":3:{old}}".to_owned()),
        ("s:9:\"old\";".to_owned(), "s:9:\"newe\";".to_owned()),
        ("nothing here".to_owned(), "nothing here".to_owned()),
    ] {
        let replaced = search_replace(text.as_bytes(), b"old", b"newe");
        assert_eq!(String::from_utf8(replaced).unwrap(), expected);
    }
    assert_eq!(search_replace(b"abc", b"", b"x"), b"abc");
}

/// Values of every kind except NaN (not equal to itself) and negative zero (an integer zero after a JSON round trip).
fn any_value() -> impl Strategy<Value = Php> {
    let key = prop_oneof![
        any::<i64>().prop_map(ArrayKey::Int),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(|b| ArrayKey::from_bytes(&b))
    ];
    let leaf = prop_oneof![
        Just(Php::Null),
        any::<bool>().prop_map(Php::Bool),
        any::<i64>().prop_map(Php::Int),
        any::<f64>().prop_filter("NaN is not equal to itself", |f| !f.is_nan()).prop_map(|f| Php::Float(f + 0.0)),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Php::Bytes),
        Just(Php::Opaque(b"C:1:\"X\":2:{};}".to_vec())),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let entries = prop::collection::vec((key.clone(), inner), 0..5);
        prop_oneof![
            entries.clone().prop_map(|entries| Php::Array(entries.into_iter().collect())),
            entries.prop_map(|properties| Php::Object(Box::new(Object { class: b"A\\B".to_vec(), properties }))),
        ]
    })
}

proptest! {
    #[test]
    fn written_values_round_trip(value in any_value()) {
        let text = serialize(&value);
        let back = unserialize(&text).unwrap();
        prop_assert_eq!(serialize(&back), text);
        prop_assert_eq!(back, value);
    }

    #[test]
    fn stored_text_round_trips(text in "[abdisNO:;{}\"0-9 ]{0,12}") {
        prop_assert_eq!(from_stored(&to_stored(Php::from(text.as_str()))), Php::from(text.as_str()));
    }

    #[test]
    fn replacing_a_string_by_itself_changes_nothing(value in any_value(), old in prop::collection::vec(any::<u8>(), 0..2)) {
        let text = serialize(&value);
        prop_assert_eq!(search_replace(&text, &old, &old), text);
    }

    #[test]
    fn text_is_valid_after_a_replacement(value in any_value()) {
        let text = serialize(&value);
        // This fails only if a key or an opaque payload was changed.
        prop_assert!(unserialize(&search_replace(&text, b"a", b"bcd")).is_ok());
    }

    #[test]
    fn arbitrary_bytes_never_panic(text in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = unserialize(&text);
        let _ = search_replace(&text, b"a", b"bb");
        let _ = is_serialized(&text, true) | is_serialized(&text, false) | is_serialized_string(&text);
        let _ = crate::json::decode(&text);
        let _ = crate::query::parse(&text);
    }

    #[test]
    fn random_tokens_never_panic(text in "([abdisSOCER]:|[0-9]{1,3}|[:;{}\"]|i:0;|a:1:\\{|s:1:\"){0,20}") {
        let _ = unserialize(text.as_bytes());
        let _ = search_replace(text.as_bytes(), b"0", b"11");
        let _ = from_stored(text.as_bytes());
    }

    #[test]
    fn json_round_trips(value in any_value()) {
        let value = Value::from(value);
        let text = crate::json::encode(&value);
        // Whole floats are parsed as integers, so compare the JSON text.
        let back = crate::json::decode(text.as_bytes()).unwrap();
        prop_assert_eq!(crate::json::encode(&back), text);
    }

    #[test]
    fn random_json_tokens_never_panic(text in "([\\[\\]{},:\"]|\\\\u[0-9a-fD]{0,4}|-?[0-9]{1,3}|[.eE+]|true|nul|é){0,20}") {
        let _ = crate::json::decode(text.as_bytes());
    }
}

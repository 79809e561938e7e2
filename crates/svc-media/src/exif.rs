//! Photo metadata from EXIF and IPTC: camera, exposure and texts.

use exif::{Exif, In, Rational, Tag, Value};

use crate::{Blob, segments::segments};

/// Descriptions shorter than this many characters are used as the title.
const MAX_TITLE: usize = 80;

/// The `image_meta` field of an image's metadata. Unknown texts are empty, unknown numbers are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageMeta {
    /// The f-number.
    pub aperture: f64,
    /// Credit line or author.
    pub credit: String,
    /// Camera model.
    pub camera: String,
    /// Caption.
    pub caption: String,
    /// Time of capture in seconds since 1970, by the camera's clock.
    pub created_timestamp: i64,
    /// Copyright notice.
    pub copyright: String,
    /// Focal length in millimetres.
    pub focal_length: f64,
    /// ISO sensitivity.
    pub iso: u32,
    /// Exposure time in seconds.
    pub shutter_speed: f64,
    /// Title.
    pub title: String,
    /// EXIF orientation: 1 to 8, or 0 if absent.
    pub orientation: u32,
    /// Keywords.
    pub keywords: Vec<String>,
}

/// Reads the metadata of a JPEG file. Other types yield the default. Source: `wp_read_image_metadata`.
pub fn image_meta(file: &Blob, mime: &str) -> ImageMeta {
    let mut meta = ImageMeta::default();
    if mime != "image/jpeg" {
        return meta;
    }
    let Ok(source) = file.open() else { return meta };
    let segments = segments(source);
    from_iptc(&mut meta, &segments.iptc);
    if let Some(tiff) = segments.exif {
        let mut reader = exif::Reader::new();
        reader.continue_on_error(true);
        let read = reader.read_raw(tiff).or_else(|e| e.distill_partial_result(|_| {}));
        if let Ok(exif) = read {
            from_exif(&mut meta, &exif);
        }
    }
    meta
}

/// Decodes text of an unknown encoding and trims it.
fn text(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    };
    svc_text::trim(text.trim_end_matches('\0')).to_owned()
}

fn from_iptc(meta: &mut ImageMeta, records: &[(u8, Vec<u8>)]) {
    let first = |number: u8| records.iter().find(|(n, _)| *n == number).map(|(_, t)| text(t)).unwrap_or_default();
    let first_non_empty =
        |numbers: &[u8]| numbers.iter().map(|n| first(*n)).find(|t| !t.is_empty()).unwrap_or_default();
    // The headline takes precedence over the object title.
    meta.title = first_non_empty(&[105, 5]);
    let caption = first(120);
    if meta.title.is_empty() && caption.chars().count() < MAX_TITLE {
        meta.title.clone_from(&caption);
    }
    meta.caption = caption;
    meta.credit = first_non_empty(&[110, 80]);
    meta.copyright = first(116);
    let (date, time) = (first(55), first(60));
    if !date.is_empty() && !time.is_empty() {
        meta.created_timestamp = seconds(&date, &time).unwrap_or_default();
    }
    meta.keywords = records.iter().filter(|(n, _)| *n == 25).map(|(_, t)| text(t)).collect();
}

fn from_exif(meta: &mut ImageMeta, exif: &Exif) {
    let texts = |tag: Tag| match exif.get_field(tag, In::PRIMARY).map(|f| &f.value) {
        Some(Value::Ascii(parts)) => parts.first().map(|part| text(part)).unwrap_or_default(),
        _ => String::new(),
    };
    let number = |tag: Tag| match exif.get_field(tag, In::PRIMARY).map(|f| &f.value) {
        Some(Value::Rational(all)) => all.first().map(quotient),
        _ => None,
    };
    let (description, comment) = (texts(Tag::ImageDescription), user_comment(exif));
    let title = if description.is_empty() { &comment } else { &description };
    if meta.title.is_empty() && title.chars().count() < MAX_TITLE {
        meta.title.clone_from(title);
    }
    if meta.caption.is_empty() {
        // The user comment is appended to a description that is not used as the title.
        meta.caption = match (description.is_empty(), comment.is_empty()) {
            (_, true) => description,
            (false, false) if meta.title != description => format!("{description} {comment}"),
            _ => comment,
        };
    }
    for (field, tag) in [(&mut meta.credit, Tag::Artist), (&mut meta.copyright, Tag::Copyright)] {
        if field.is_empty() {
            *field = texts(tag);
        }
    }
    meta.camera = texts(Tag::Model);
    // WordPress rounds to two decimals.
    meta.aperture = number(Tag::FNumber).map_or(0.0, |n| (n * 100.0).round() / 100.0);
    meta.focal_length = number(Tag::FocalLength).unwrap_or_default();
    meta.shutter_speed = number(Tag::ExposureTime).unwrap_or_default();
    let uint = |tag: Tag| exif.get_field(tag, In::PRIMARY).and_then(|f| f.value.get_uint(0)).unwrap_or_default();
    meta.iso = uint(Tag::PhotographicSensitivity);
    meta.orientation = uint(Tag::Orientation);
    if meta.created_timestamp == 0
        && let Some((date, time)) = texts(Tag::DateTimeDigitized).split_once(' ')
    {
        meta.created_timestamp = seconds(date, time).unwrap_or_default();
    }
}

/// The user comment. Its first eight bytes name the encoding; only ASCII and unspecified encodings are read.
fn user_comment(exif: &Exif) -> String {
    match exif.get_field(Tag::UserComment, In::PRIMARY).map(|f| &f.value) {
        Some(Value::Undefined(bytes, _)) => match bytes.split_at_checked(8) {
            Some((b"ASCII\0\0\0" | b"\0\0\0\0\0\0\0\0", comment)) => text(comment),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn quotient(value: &Rational) -> f64 {
    if value.denom == 0 { 0.0 } else { value.to_f64() }
}

/// Seconds since 1970 of `2023:05:06` or `20230506` and `07:08:09` or `070809`.
fn seconds(date: &str, time: &str) -> Option<i64> {
    let digits = |s: &str| s.chars().filter(char::is_ascii_digit).collect::<String>();
    let (date, time) = (digits(date), digits(time));
    let part = |s: &str, range: std::ops::Range<usize>| s.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(&date, 0..4)?, part(&date, 4..6)?, part(&date, 6..8)?);
    if year == 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days from the civil date, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * m + 2) / 5 + day - 1;
    let days = y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + of_year - 719_468;
    Some(((days * 24 + part(&time, 0..2)?) * 60 + part(&time, 2..4)?) * 60 + part(&time, 4..6)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(marker: u8, data: &[u8]) -> Blob {
        let mut file = vec![0xff, 0xd8, 0xff, marker];
        file.extend_from_slice(&u16::try_from(data.len() + 2).unwrap().to_be_bytes());
        file.extend_from_slice(data);
        file.extend_from_slice(&[0xff, 0xda]);
        Blob::Memory(file.into())
    }

    #[test]
    fn exif() {
        let value = |tag, value| exif::Field { tag, ifd_num: In::PRIMARY, value };
        let ratio = |num, denom| Value::Rational(vec![Rational { num, denom }]);
        let ascii = |text: &str| Value::Ascii(vec![text.as_bytes().to_vec()]);
        let fields = [
            value(Tag::ImageDescription, ascii("A title")),
            value(Tag::Model, ascii("Box camera")),
            value(Tag::Artist, ascii("Somebody")),
            value(Tag::Orientation, Value::Short(vec![6])),
            value(Tag::ExposureTime, ratio(1, 125)),
            value(Tag::FNumber, ratio(28, 10)),
            value(Tag::FocalLength, ratio(50, 0)),
            value(Tag::PhotographicSensitivity, Value::Short(vec![400])),
            value(Tag::DateTimeDigitized, ascii("2023:05:06 07:08:09")),
        ];
        let mut writer = exif::experimental::Writer::new();
        fields.iter().for_each(|field| writer.push_field(field));
        let mut tiff = std::io::Cursor::new(Vec::new());
        writer.write(&mut tiff, false).unwrap();
        let file = jpeg(0xe1, &[b"Exif\0\0", tiff.get_ref().as_slice()].concat());
        let expected = ImageMeta {
            aperture: 2.8,
            credit: "Somebody".to_owned(),
            camera: "Box camera".to_owned(),
            caption: "A title".to_owned(),
            created_timestamp: 1_683_356_889,
            iso: 400,
            shutter_speed: 0.008,
            title: "A title".to_owned(),
            orientation: 6,
            ..ImageMeta::default()
        };
        assert_eq!(image_meta(&file, "image/jpeg"), expected);
        assert_eq!(image_meta(&file, "image/png"), ImageMeta::default());
    }

    #[test]
    fn descriptions_and_user_comments() {
        let long = "x".repeat(MAX_TITLE);
        let joined = format!("{long} Remark");
        #[rustfmt::skip]
        let rows = [
            // Headline, description, user comment; title, caption.
            ["", "Short", "", "Short", "Short"],
            ["", "Short", "Remark", "Short", "Remark"],
            ["", "", "Remark", "Remark", "Remark"],
            ["", "", &long, "", &long],
            ["", &long, "Remark", "", &joined],
            ["Head", "Short", "Remark", "Head", "Short Remark"],
            ["", "", "", "", ""],
        ];
        for row @ [headline, description, comment_text, title, caption] in rows {
            let field = |tag, value| exif::Field { tag, ifd_num: In::PRIMARY, value };
            let comment = [b"ASCII\0\0\0", comment_text.as_bytes()].concat();
            let fields = [
                field(Tag::ImageDescription, Value::Ascii(vec![description.as_bytes().to_vec()])),
                field(Tag::UserComment, Value::Undefined(comment, 0)),
            ];
            let mut writer = exif::experimental::Writer::new();
            fields.iter().for_each(|field| writer.push_field(field));
            let mut tiff = std::io::Cursor::new(Vec::new());
            writer.write(&mut tiff, false).unwrap();
            let exif = exif::Reader::new().read_raw(tiff.into_inner()).unwrap();
            let mut meta = ImageMeta { title: headline.to_owned(), ..ImageMeta::default() };
            from_exif(&mut meta, &exif);
            assert_eq!([meta.title.as_str(), &meta.caption], [title, caption], "{row:?}");
        }
    }

    #[test]
    fn iptc() {
        let rows: [(u8, &[u8]); 6] =
            [(5, b"Object"), (105, b"Headline"), (120, b"caf\xe9"), (25, b"one"), (25, b"two"), (110, b"")];
        let mut data = Vec::new();
        for (number, text) in rows {
            data.extend_from_slice(&[0x1c, 2, number, 0, text.len() as u8]);
            data.extend_from_slice(text);
        }
        let block = [b"Photoshop 3.0\08BIM\x04\x04\0\0\0\0\0", &[data.len() as u8][..], &data].concat();
        let meta = image_meta(&jpeg(0xed, &block), "image/jpeg");
        assert_eq!((meta.title.as_str(), meta.caption.as_str()), ("Headline", "café"));
        assert_eq!(meta.keywords, ["one", "two"]);
    }

    #[test]
    fn capture_times() {
        for (date, time, expected) in [
            ("19700101", "000000", Some(0)),
            ("20200102", "030405", Some(1_577_934_245)),
            ("2024:02:29", "23:59:59", Some(1_709_251_199)),
            ("0000:00:00", "00:00:00", None),
            ("x", "y", None),
        ] {
            assert_eq!(seconds(date, time), expected, "{date}");
        }
    }
}

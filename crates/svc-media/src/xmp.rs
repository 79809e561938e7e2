//! Alt text from the image's XMP metadata, in several languages.

use std::io::Read;

use crate::Blob;

/// Maximum packet size, in bytes.
const MAX_PACKET: usize = 1 << 20;
/// Maximum number of languages of a text.
const MAX_TEXTS: usize = 100;
const BEGIN: &[u8] = b"<x:xmpmeta";
const ALT_TEXT_ELEMENT: (&str, &str) = ("<Iptc4xmpCore:AltTextAccessibility>", "</Iptc4xmpCore:AltTextAccessibility>");

/// Reads the alt texts as pairs of language and text, in file order. The packet may be anywhere in a file of any
/// format.
pub fn alt_texts(file: &Blob) -> Vec<(String, String)> {
    let packet = file.reader().ok().and_then(packet).unwrap_or_default();
    texts(&String::from_utf8_lossy(&packet))
}

/// The first packet and the bytes after it, up to the limit.
fn packet(mut file: impl Read) -> Option<Vec<u8>> {
    let (mut window, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let read = file.read(&mut chunk).ok()?;
        if read == 0 {
            return None;
        }
        window.extend_from_slice(&chunk[..read]);
        if let Some(at) = window.windows(BEGIN.len()).position(|w| w == BEGIN) {
            window.drain(..at);
            file.take(MAX_PACKET as u64).read_to_end(&mut window).ok()?;
            window.truncate(MAX_PACKET);
            return Some(window);
        }
        // The start marker may span two reads.
        window.drain(..window.len().saturating_sub(BEGIN.len() - 1));
    }
}

fn texts(packet: &str) -> Vec<(String, String)> {
    let element = packet.split_once(ALT_TEXT_ELEMENT.0).and_then(|(_, rest)| rest.split_once(ALT_TEXT_ELEMENT.1));
    let Some((element, _)) = element else { return Vec::new() };
    let text = |item: &str| {
        let (attributes, rest) = item.split_once('>')?;
        let language = attributes.split_once("xml:lang=")?.1.get(1..)?.split(['"', '\'']).next()?;
        let text = svc_text::decode_references(rest.split_once("</rdf:li>")?.0);
        Some((language.to_owned(), svc_text::trim(&text).to_owned()))
    };
    element.split("<rdf:li").skip(1).take(MAX_TEXTS).filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_alt_text_per_language() {
        let packet = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><Iptc4xmpCore:AltTextAccessibility> <rdf:Alt>\
            <rdf:li xml:lang='x-default'>A &amp; B</rdf:li> <rdf:li xml:lang=\"de\"> Ä </rdf:li><rdf:li>none</rdf:li>\
            </rdf:Alt></Iptc4xmpCore:AltTextAccessibility></x:xmpmeta>";
        let expected = [("x-default", "A & B"), ("de", "Ä")].map(|(l, t)| (l.to_owned(), t.to_owned()));
        for before in [0, 10, (64 << 10) - 5, 200_000] {
            let mut file = vec![b'<'; before];
            file.extend_from_slice(packet.as_bytes());
            assert_eq!(alt_texts(&Blob::Memory(file.into())), expected, "{before}");
        }
        let cut = packet.split_once("</Iptc").unwrap().0;
        assert_eq!(alt_texts(&Blob::Memory(cut.as_bytes().to_vec().into())), []);
    }
}

//! EXIF and IPTC segments of JPEG files, read without decoding the image.

use std::io::{self, Read};

/// Maximum number of segments to read.
const MAX_SEGMENTS: usize = 256;

/// Metadata segments of a JPEG file.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    /// EXIF data, in TIFF format.
    pub(crate) exif: Option<Vec<u8>>,
    /// Datasets of the second IPTC record, as number and text, in order.
    pub(crate) iptc: Vec<(u8, Vec<u8>)>,
}

/// Reads the segments before the image data. Reading stops at a corrupt segment and returns the segments before it.
pub(crate) fn segments(mut file: impl Read) -> Segments {
    let mut segments = Segments::default();
    let mut start = [0; 2];
    if file.read_exact(&mut start).is_ok() && start == [0xff, 0xd8] {
        for _ in 0..MAX_SEGMENTS {
            match segment(&mut file) {
                Ok(Some((0xe1, data))) if data.starts_with(b"Exif\0\0") && segments.exif.is_none() => {
                    segments.exif = Some(data[6..].to_vec());
                }
                Ok(Some((0xed, data))) if segments.iptc.is_empty() => {
                    segments.iptc = data.strip_prefix(b"Photoshop 3.0\0").map(records).unwrap_or_default();
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
    }
    segments
}

/// The next segment; `None` at the image data.
fn segment(file: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut byte = [0; 1];
    file.read_exact(&mut byte)?;
    if byte[0] != 0xff {
        return Ok(None);
    }
    while byte[0] == 0xff {
        file.read_exact(&mut byte)?;
    }
    if matches!(byte[0], 0xd9 | 0xda) {
        return Ok(None);
    }
    let mut len = [0; 2];
    file.read_exact(&mut len)?;
    let mut data = vec![0; usize::from(u16::from_be_bytes(len)).saturating_sub(2)];
    file.read_exact(&mut data)?;
    Ok(Some((byte[0], data)))
}

/// The IPTC datasets in a sequence of Photoshop image resource blocks.
fn records(mut blocks: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let next = |blocks: &mut &[u8]| -> Option<(u16, Vec<u8>)> {
        let rest = blocks.strip_prefix(b"8BIM")?;
        let id = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
        // The name, padded to an even length.
        let name = (usize::from(*rest.get(2)?) + 2) & !1;
        let rest = rest.get(2 + name..)?;
        let len = usize::try_from(u32::from_be_bytes(rest.get(..4)?.try_into().ok()?)).ok()?;
        let data = rest.get(4..4usize.checked_add(len)?)?.to_vec();
        *blocks = rest.get(4 + len + (len & 1)..).unwrap_or_default();
        Some((id, data))
    };
    while let Some((id, data)) = next(&mut blocks) {
        if id == 0x0404 {
            return fields(&data);
        }
    }
    Vec::new()
}

fn fields(mut data: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut out = Vec::new();
    while let [0x1c, record, number, high, low, rest @ ..] = data {
        let len = usize::from(u16::from_be_bytes([*high, *low]));
        let Some(text) = rest.get(..len) else { break };
        if *record == 2 {
            out.push((*number, text.to_vec()));
        }
        data = &rest[len..];
    }
    out
}

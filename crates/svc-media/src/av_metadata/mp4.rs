//! Headers of MP4 and QuickTime files, a tree of boxes of which a few are read.
//!
//! Reads are bounded, whatever lengths the file declares.

use std::io::{Read, Seek, SeekFrom};

use super::{AudioTrack, AvMetadata, VideoTrack};

/// Maximum number of top-level boxes.
const MAX_BOXES: usize = 1_000;
/// Maximum size of the `moov` box, in bytes.
const MAX_MOVIE: u64 = 64 << 20;
/// Seconds from 1904, the epoch of the format, to 1970.
const EPOCH: i64 = 2_082_844_800;

/// Codecs that mark a file as MP4 rather than QuickTime, with their names.
const MP4_CODECS: [(&[u8; 4], Option<&str>); 3] =
    [(b"avc1", Some("H.264/MPEG-4 AVC")), (b"hvc1", Some("H.265/HEVC")), (b"mp4v", None)];

pub(super) fn read(file: &mut (impl Read + Seek), size: u64) -> Option<AvMetadata> {
    let TopLevelBoxes { movie, media_at, is_quicktime } = top_level_boxes(file, size)?;
    let mut metadata =
        AvMetadata { container: "quicktime", mime: "video/quicktime".to_owned(), ..AvMetadata::default() };
    let header = find(&movie, b"mvhd")?;
    let (created, scale, length) = match header.first()? {
        1 => (u64_at(header, 4)?, u32_at(header, 20)?, u64_at(header, 24)?),
        _ => (u64::from(u32_at(header, 4)?), u32_at(header, 12)?, u64::from(u32_at(header, 16)?)),
    };
    metadata.created = i64::try_from(created).ok().map(|created| created - EPOCH);
    metadata.seconds = if scale == 0 { 0.0 } else { length as f64 / f64::from(scale) };
    for track in all(&movie, b"trak") {
        let Some(media) = find(track, b"mdia") else { continue };
        let entry = find(media, b"minf").and_then(|minf| find(minf, b"stbl")).and_then(|stbl| find(stbl, b"stsd"));
        let kind = find(media, b"hdlr").and_then(|handler| handler.get(8..12));
        let (Some(kind), Some((codec_id, entry))) = (kind, entry.and_then(|e| boxes(e.get(8..)?).next())) else {
            continue;
        };
        match kind {
            b"vide" if metadata.video.is_none() => {
                metadata.video = video_track(track, &codec_id, entry, is_quicktime, &mut metadata.container);
            }
            b"soun" if metadata.audio.is_none() && codec_id == *b"mp4a" => metadata.audio = audio(entry),
            _ => {}
        }
    }
    if metadata.audio.is_some() {
        metadata.container = "mp4";
        metadata.mime = if metadata.video.is_some() { "video/mp4" } else { "audio/mp4" }.to_owned();
    }
    if let Some(video) = &mut metadata.video
        && metadata.seconds > 0.0
    {
        video.bitrate = Some((size.saturating_sub(media_at) as f64 * 8.0 / metadata.seconds).floor());
    }
    Some(metadata)
}

/// Content of the top-level boxes.
struct TopLevelBoxes {
    /// The `moov` box.
    movie: Vec<u8>,
    /// Offset of the media data.
    media_at: u64,
    /// QuickTime files have no brand, or their own.
    is_quicktime: bool,
}

fn top_level_boxes(file: &mut (impl Read + Seek), size: u64) -> Option<TopLevelBoxes> {
    let (mut movie, mut media_at, mut is_quicktime, mut at) = (None, 0, true, 0);
    for _ in 0..MAX_BOXES {
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut head = [0; 16];
        if size.saturating_sub(at) < 8 || file.read_exact(&mut head[..8]).is_err() {
            break;
        }
        let (mut len, mut inner) = (u64::from(u32_at(&head, 0)?), 8);
        match len {
            0 => len = size - at,
            1 => {
                file.read_exact(&mut head[8..]).ok()?;
                (len, inner) = (u64_at(&head, 8)?, 16);
            }
            _ => {}
        }
        if len < inner {
            break;
        }
        match &head[4..8] {
            b"ftyp" => {
                let mut brand = [0; 4];
                file.read_exact(&mut brand).ok()?;
                is_quicktime = brand == *b"qt  ";
            }
            b"moov" if movie.is_none() && len <= MAX_MOVIE => {
                let mut bytes = Vec::new();
                file.by_ref().take(len - inner).read_to_end(&mut bytes).ok()?;
                movie = Some(bytes);
            }
            b"mdat" if media_at == 0 => media_at = at + inner,
            _ => {}
        }
        at = at.checked_add(len)?;
    }
    Some(TopLevelBoxes { movie: movie?, media_at, is_quicktime })
}

/// Reads a video track from its sample description.
fn video_track(
    track: &[u8],
    codec_id: &[u8; 4],
    entry: &[u8],
    is_quicktime: bool,
    container: &mut &'static str,
) -> Option<VideoTrack> {
    // Display dimensions are 16.16 fixed-point numbers at the end of the track header.
    let header = find(track, b"tkhd")?;
    let end = header.len().checked_sub(8)?;
    let (width, height) = (u32_at(header, end)? >> 16, u32_at(header, end + 4)? >> 16);
    // Encoder name: a length byte in a field of 32 bytes. It is meaningful in QuickTime files only.
    let name = entry.get(42..74).filter(|_| is_quicktime).and_then(|field| field.get(1..=usize::from(field[0])));
    let name = name.map(|name| String::from_utf8_lossy(name).trim().to_owned()).filter(|name| !name.is_empty());
    let mp4_codec = MP4_CODECS.iter().find(|(known, _)| *known == codec_id);
    if mp4_codec.is_some() && !is_quicktime {
        *container = "mp4";
    }
    Some(VideoTrack {
        format: if codec_id == b"mp4v" { "mpeg4" } else { "quicktime" }.to_owned(),
        lossless: name.as_ref().map(|_| false),
        codec: name.or_else(|| mp4_codec.and_then(|(_, codec)| codec.map(str::to_owned))),
        width,
        height,
        bitrate: None,
    })
}

/// Reads an audio track from its sample description.
fn audio(entry: &[u8]) -> Option<AudioTrack> {
    let inner = match u16_at(entry, 8)? {
        0 => entry.get(28..),
        1 => entry.get(44..),
        _ => None,
    };
    Some(AudioTrack {
        format: "mp4".to_owned(),
        codec: Some("ISO/IEC 14496-3 AAC"),
        channels: u32::from(u16_at(entry, 16)?),
        sample_rate: u32_at(entry, 24)? >> 16,
        bits: Some(u32::from(u16_at(entry, 18)?)),
        bitrate: inner.and_then(|inner| find(inner, b"esds")).and_then(bitrate),
        lossless: Some(false),
        ..AudioTrack::default()
    })
}

/// The average bit rate from the decoder configuration, which is nested in other descriptors.
fn bitrate(esds: &[u8]) -> Option<f64> {
    let stream = descriptor(esds.get(4..)?, 3)?;
    let flags = *stream.get(2)?;
    let optional = usize::from(flags >> 7) * 2;
    if flags & 0x60 != 0 {
        return None;
    }
    let decoder = descriptor(stream.get(3 + optional..)?, 4)?;
    let average = u32_at(decoder, 9)?;
    (average > 0).then_some(f64::from(average))
}

/// The content of the first descriptor with this tag.
fn descriptor(bytes: &[u8], number: u8) -> Option<&[u8]> {
    let [first, rest @ ..] = bytes else { return None };
    let mut len = 0;
    for (at, byte) in rest.iter().take(4).enumerate() {
        len = len << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            let content = &rest[at + 1..];
            return (*first == number).then(|| &content[..len.min(content.len())]);
        }
    }
    None
}

/// The boxes in `bytes`, as name and content. A corrupt box ends the iteration.
fn boxes(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let name: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
        let len = usize::try_from(u32_at(bytes, 0)?).ok()?;
        let len = if len == 0 { bytes.len() } else { len };
        let content = bytes.get(8..len)?;
        bytes = &bytes[len..];
        Some((name, content))
    })
}

fn all<'a>(bytes: &'a [u8], name: &[u8; 4]) -> impl Iterator<Item = &'a [u8]> {
    boxes(bytes).filter(move |(found, _)| found == name).map(|(_, content)| content)
}

fn find<'a>(bytes: &'a [u8], name: &[u8; 4]) -> Option<&'a [u8]> {
    all(bytes, name).next()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

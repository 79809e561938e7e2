//! Headers of WebM and Matroska files, a tree of EBML elements of which a few are read.
//!
//! Reading stops at the first cluster. A bounded amount is read before it, whatever lengths the file declares.

use std::io::Read;

use super::{AudioTrack, AvMetadata, VideoTrack};

/// Maximum number of bytes to read before the first cluster.
const MAX_HEAD: u64 = 4 << 20;
/// Maximum number of elements to read.
const MAX_ELEMENTS: usize = 10_000;

const HEADER: u32 = 0x1a45_dfa3;
const DOC_TYPE: u32 = 0x4282;
const SEGMENT: u32 = 0x1853_8067;
const CLUSTER: u32 = 0x1f43_b675;
const INFO: u32 = 0x1549_a966;
const SCALE: u32 = 0x002a_d7b1;
const DURATION: u32 = 0x4489;
const TRACKS: u32 = 0x1654_ae6b;
const TRACK: u32 = 0xae;
const KIND: u32 = 0x83;
const CODEC: u32 = 0x86;
const CODEC_PRIVATE: u32 = 0x63a2;
const LANGUAGE: u32 = 0x0022_b59c;
const VIDEO: u32 = 0xe0;
const WIDTH: u32 = 0xb0;
const HEIGHT: u32 = 0xba;
const AUDIO: u32 = 0xe1;
const RATE: u32 = 0xb5;
const CHANNELS: u32 = 0x9f;
const BITS: u32 = 0x6264;

/// Codec ids and their names. Other codecs are named by their id.
const CODECS: [(&str, &str); 9] = [
    ("A_AAC", "aac"),
    ("A_AC3", "ac3"),
    ("A_FLAC", "flac"),
    ("A_MPEG/L3", "mp3"),
    ("A_VORBIS", "vorbis"),
    ("V_MPEG4/ISO/AVC", "h264"),
    ("V_THEORA", "theora"),
    ("V_VP8", "vp8"),
    ("V_MPEGH/ISO/HEVC", "h265"),
];

pub(super) fn read(file: &mut impl Read, size: u64) -> Option<AvMetadata> {
    let mut head = Vec::new();
    file.by_ref().take(MAX_HEAD).read_to_end(&mut head).ok()?;
    let header = find(&head, HEADER)?;
    let is_webm = find(header, DOC_TYPE).is_some_and(|kind| text(kind) == "webm");
    let segment = find(&head, SEGMENT)?;
    let info = find(segment, INFO)?;
    let scale = find(info, SCALE).map_or(1_000_000, number);
    let mut metadata = AvMetadata {
        container: if is_webm { "webm" } else { "matroska" },
        seconds: find(info, DURATION).map_or(0.0, float) * scale as f64 / 1e9,
        ..AvMetadata::default()
    };
    for (id, track) in elements(find(segment, TRACKS)?) {
        if id != TRACK {
            continue;
        }
        let codec_id = find(track, CODEC).map(text).unwrap_or_default();
        let format = CODECS.iter().find(|(known, _)| *known == codec_id).map_or(codec_id.as_str(), |(_, name)| name);
        match find(track, KIND).map(number) {
            Some(1) if metadata.video.is_none() => metadata.video = Some(video_track(track, format)),
            Some(2) if metadata.audio.is_none() => metadata.audio = Some(audio(track, format)),
            _ => {}
        }
    }
    let group = if metadata.video.is_some() { "video" } else { "audio" };
    metadata.mime = if is_webm { format!("{group}/webm") } else { format!("{group}/x-matroska") };
    let total_bitrate = (metadata.seconds > 0.0).then(|| size as f64 * 8.0 / metadata.seconds);
    match (&mut metadata.video, &mut metadata.audio) {
        (Some(video), _) => video.bitrate = total_bitrate,
        (None, Some(audio)) => audio.bitrate = audio.bitrate.or(total_bitrate),
        (None, None) => {}
    }
    Some(metadata)
}

fn video_track(track: &[u8], format: &str) -> VideoTrack {
    let video = find(track, VIDEO).unwrap_or_default();
    let pixels = |id| find(video, id).and_then(|n| u32::try_from(number(n)).ok()).unwrap_or_default();
    VideoTrack { format: format.to_owned(), width: pixels(WIDTH), height: pixels(HEIGHT), ..VideoTrack::default() }
}

fn audio(track: &[u8], format: &str) -> AudioTrack {
    let audio = find(track, AUDIO).unwrap_or_default();
    let uint = |id| find(audio, id).and_then(|n| u32::try_from(number(n)).ok());
    let is_vorbis = format == "vorbis";
    let nominal = find(track, CODEC_PRIVATE).filter(|_| is_vorbis).and_then(vorbis_rate);
    AudioTrack {
        format: format.to_owned(),
        channels: uint(CHANNELS).unwrap_or(1),
        sample_rate: find(audio, RATE).map_or(8_000.0, float) as u32,
        bits: uint(BITS),
        bitrate: nominal,
        bitrate_mode: is_vorbis.then_some("vbr"),
        lossless: is_vorbis.then_some(false),
        language: Some(find(track, LANGUAGE).map_or("eng".to_owned(), text)),
        ..AudioTrack::default()
    }
}

/// The nominal bit rate from the first of three length-prefixed packets.
fn vorbis_rate(private: &[u8]) -> Option<f64> {
    let at = private.windows(7).position(|w| w == b"\x01vorbis")?;
    let rate = u32::from_le_bytes(private.get(at + 20..at + 24)?.try_into().ok()?);
    (rate > 0).then_some(f64::from(rate))
}

/// The elements in `bytes`, as id and content. The last may be truncated; a cluster ends the iteration.
fn elements(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        let id_len = bytes.first()?.leading_zeros() as usize + 1;
        let id = bytes.get(..id_len).filter(|_| id_len <= 4)?.iter().fold(0, |n, b| n << 8 | u32::from(*b));
        let first = *bytes.get(id_len)?;
        let size_len = first.leading_zeros() as usize + 1;
        let size = bytes.get(id_len..id_len + size_len).filter(|_| size_len <= 8)?;
        let mask = (1u64 << (7 * size_len)) - 1;
        let size = size.iter().fold(0, |n, b| n << 8 | u64::from(*b)) & mask;
        let rest = &bytes[id_len + size_len..];
        // A length of all ones means unknown: the element extends to the end.
        let len = if size == mask { rest.len() } else { usize::try_from(size).unwrap_or(rest.len()).min(rest.len()) };
        bytes = &rest[len..];
        (id != CLUSTER).then(|| (id, &rest[..len]))
    })
    .take(MAX_ELEMENTS)
}

fn find(bytes: &[u8], id: u32) -> Option<&[u8]> {
    elements(bytes).find(|(found, _)| *found == id).map(|(_, content)| content)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |n, byte| n << 8 | u64::from(*byte))
}

fn float(bytes: &[u8]) -> f64 {
    match bytes.len() {
        4 => f64::from(f32::from_bits(number(bytes) as u32)),
        8 => f64::from_bits(number(bytes)),
        _ => 0.0,
    }
}

//! Audio files: MP3, Ogg Vorbis and Opus, FLAC, WAV, and MP4 without video.

use std::io::{Seek, SeekFrom};

use bytes::Bytes;
use lofty::{
    config::ParseOptions,
    file::{AudioFile, FileType},
    flac::FlacFile,
    id3::{
        v1::Id3v1Tag,
        v2::{Frame, Id3v2Tag},
    },
    iff::wav::{WavFile, WavFormat},
    mp4::Mp4File,
    mpeg::{ChannelMode, Layer, MpegFile},
    ogg::{OggPictureStorage, OpusFile, VorbisFile, tag::VorbisComments},
    picture::Picture,
    probe::Probe,
};

use super::{AudioTrack, AvMetadata, Cover, mp4};
use crate::Blob;

/// Maximum length of a tag's text, in bytes.
const MAX_TEXT: usize = 4 << 10;
/// Maximum number of tags per file.
const MAX_TEXTS: usize = 100;

/// Metadata names of ID3 text frames.
const FRAMES: [(&str, &str); 35] = [
    ("TALB", "album"),
    ("TBPM", "bpm"),
    ("TCMP", "part_of_a_compilation"),
    ("TCOM", "composer"),
    ("TCON", "genre"),
    ("TCOP", "copyright_message"),
    ("TENC", "encoded_by"),
    ("TEXT", "lyricist"),
    ("TFLT", "file_type"),
    ("TIT1", "content_group_description"),
    ("TIT2", "title"),
    ("TIT3", "subtitle"),
    ("TKEY", "initial_key"),
    ("TLAN", "language"),
    ("TMED", "media_type"),
    ("TMOO", "mood"),
    ("TOAL", "original_album"),
    ("TOLY", "original_lyricist"),
    ("TOPE", "original_artist"),
    ("TOWN", "file_owner"),
    ("TPE1", "artist"),
    ("TPE2", "band"),
    ("TPE3", "conductor"),
    ("TPE4", "remixer"),
    ("TPOS", "part_of_a_set"),
    ("TPRO", "produced_notice"),
    ("TPUB", "publisher"),
    ("TRCK", "track_number"),
    ("TRSN", "internet_radio_station_name"),
    ("TSOA", "album_sort_order"),
    ("TSOP", "performer_sort_order"),
    ("TSOT", "title_sort_order"),
    ("TSRC", "isrc"),
    ("TSSE", "encoder_settings"),
    ("TSST", "set_subtitle"),
];

pub(super) fn read(file: &Blob) -> Option<AvMetadata> {
    let size = file.size().ok()?;
    let mut source = file.open().ok()?;
    let kind = Probe::new(&mut source).guess_file_type().ok()?.file_type()?;
    source.seek(SeekFrom::Start(0)).ok()?;
    let options = ParseOptions::new();
    match kind {
        FileType::Mpeg => {
            let file = MpegFile::read_from(&mut source, options).ok()?;
            let properties = file.properties();
            let audio = AudioTrack {
                format: match properties.layer() {
                    Layer::Layer1 => "mp1",
                    Layer::Layer2 => "mp2",
                    Layer::Layer3 => "mp3",
                }
                .to_owned(),
                channels: u32::from(properties.channels()),
                sample_rate: properties.sample_rate(),
                bitrate: kilobits(properties.audio_bitrate()),
                lossless: Some(false),
                mode: match properties.channel_mode() {
                    ChannelMode::JointStereo => Some("joint stereo"),
                    ChannelMode::DualChannel => Some("dual channel"),
                    ChannelMode::Stereo | ChannelMode::SingleChannel => None,
                },
                ..AudioTrack::default()
            };
            let seconds = properties.duration().as_secs_f64();
            let mut av_metadata = av_metadata("mp3", "audio/mpeg", seconds, audio);
            if let Some(tag) = file.id3v2() {
                from_id3v2(&mut av_metadata, tag);
            } else if let Some(tag) = file.id3v1() {
                from_id3v1(&mut av_metadata, tag);
            }
            Some(av_metadata)
        }
        FileType::Vorbis => {
            let file = VorbisFile::read_from(&mut source, options).ok()?;
            let properties = file.properties();
            let audio = AudioTrack {
                channels: u32::from(properties.channels()),
                sample_rate: properties.sample_rate(),
                bitrate: kilobits(properties.audio_bitrate()),
                encoder: vendor(file.vorbis_comments()),
                ..lossy("vorbis")
            };
            let mut av_metadata = av_metadata("ogg", "application/ogg", properties.duration().as_secs_f64(), audio);
            av_metadata.cover =
                file.vorbis_comments().pictures().first().and_then(|(picture, _)| cover(picture, false));
            Some(av_metadata)
        }
        FileType::Opus => {
            let file = OpusFile::read_from(&mut source, options).ok()?;
            let properties = file.properties();
            let audio = AudioTrack {
                channels: u32::from(properties.channels()),
                // Opus always plays at this rate, whatever the input's rate was.
                sample_rate: 48_000,
                bitrate: kilobits(properties.audio_bitrate()),
                input_rate: Some(properties.input_sample_rate()),
                encoder: vendor(file.vorbis_comments()),
                ..lossy("opus")
            };
            let mut av_metadata =
                av_metadata("ogg", "audio/ogg; codecs=opus", properties.duration().as_secs_f64(), audio);
            av_metadata.cover =
                file.vorbis_comments().pictures().first().and_then(|(picture, _)| cover(picture, false));
            Some(av_metadata)
        }
        FileType::Flac => {
            let file = FlacFile::read_from(&mut source, options).ok()?;
            let properties = file.properties();
            let seconds = properties.duration().as_secs_f64();
            let audio = AudioTrack {
                format: "flac".to_owned(),
                channels: u32::from(properties.channels()),
                sample_rate: properties.sample_rate(),
                bits: Some(u32::from(properties.bit_depth())),
                bitrate: (seconds > 0.0).then(|| size as f64 * 8.0 / seconds),
                bitrate_mode: Some("vbr"),
                lossless: Some(true),
                encoder: file.vorbis_comments().and_then(vendor),
                ..AudioTrack::default()
            };
            let mut av_metadata = av_metadata("flac", "audio/flac", seconds, audio);
            av_metadata.cover = file.pictures().first().and_then(|(picture, _)| cover(picture, false));
            Some(av_metadata)
        }
        FileType::Wav => {
            let file = WavFile::read_from(&mut source, options).ok()?;
            let properties = file.properties();
            let (tag, codec) = match properties.format() {
                WavFormat::PCM => (1, Some("Pulse Code Modulation (PCM)")),
                WavFormat::IEEE_FLOAT => (3, None),
                WavFormat::Other(tag) => (*tag, None),
            };
            let (channels, rate) = (u32::from(properties.channels()), properties.sample_rate());
            let bits = u32::from(properties.bit_depth());
            let audio = AudioTrack {
                format: "wav".to_owned(),
                codec,
                channels,
                sample_rate: rate,
                bits: Some(bits),
                bitrate: match tag {
                    1 | 3 => Some(f64::from(channels) * f64::from(rate) * f64::from(bits)),
                    _ => kilobits(properties.bitrate()),
                },
                bitrate_mode: Some("cbr"),
                lossless: Some(tag == 1),
                wave_tag: Some(tag),
                ..AudioTrack::default()
            };
            let mut av_metadata = av_metadata("wav", "audio/wav", properties.duration().as_secs_f64(), audio);
            if let Some(tag) = file.id3v2() {
                from_id3v2(&mut av_metadata, tag);
            }
            Some(av_metadata)
        }
        FileType::Mp4 => {
            let mut metadata = mp4::read(&mut source, size)?;
            source.seek(SeekFrom::Start(0)).ok()?;
            let file = Mp4File::read_from(&mut source, options).ok();
            let pictures = file.as_ref().and_then(|file| file.ilst()?.pictures());
            metadata.cover = pictures.and_then(|mut all| all.next()).and_then(|picture| cover(picture, false));
            // Covers may be stored as a video track.
            metadata.video = None;
            if metadata.audio.is_some() {
                metadata.mime = "audio/mp4".to_owned();
            }
            Some(metadata)
        }
        _ => None,
    }
}

fn av_metadata(container: &'static str, mime: &str, seconds: f64, audio: AudioTrack) -> AvMetadata {
    AvMetadata { container, mime: mime.to_owned(), seconds, audio: Some(audio), ..AvMetadata::default() }
}

fn lossy(format: &str) -> AudioTrack {
    AudioTrack { format: format.to_owned(), bitrate_mode: Some("vbr"), lossless: Some(false), ..AudioTrack::default() }
}

fn vendor(comments: &VorbisComments) -> Option<String> {
    Some(comments.vendor().trim().to_owned()).filter(|vendor| !vendor.is_empty() && vendor.len() <= MAX_TEXT)
}

fn kilobits(rate: u32) -> Option<f64> {
    (rate > 0).then(|| f64::from(rate) * 1000.0)
}

/// Returns the cover image if browsers can display its type. `has_size` means that the tag format records its
/// dimensions.
fn cover(picture: &Picture, has_size: bool) -> Option<Cover> {
    let file = Bytes::copy_from_slice(picture.data());
    let mime = picture.mime_type().map(|mime| mime.as_str().to_owned()).filter(|mime| mime.starts_with("image/"))?;
    let size = if has_size { crate::dimensions(&Blob::Memory(file.clone())) } else { None };
    Some(Cover { mime, size, file })
}

/// Reads text frames and the first image, under their metadata names.
fn from_id3v2(av_metadata: &mut AvMetadata, tag: &Id3v2Tag) {
    let mut add = |name: &str, text: &str| {
        let text = text.split('\0').next().unwrap_or_default().trim();
        if text.is_empty() || text.len() > MAX_TEXT || av_metadata.tags.len() >= MAX_TEXTS {
            return;
        }
        if av_metadata.tags.iter().all(|(known, _)| known != name) {
            av_metadata.tags.push((name.to_owned(), text.to_owned()));
        }
    };
    let mut total = None;
    for frame in tag {
        match frame {
            Frame::Text(text) => {
                let id = text.id().as_str();
                let Some((_, name)) = FRAMES.iter().find(|(known, _)| *known == id) else { continue };
                match text.value.split_once('/') {
                    Some((number, all)) if id == "TRCK" => {
                        add(name, number);
                        total = Some(all.to_owned());
                    }
                    _ if id == "TCON" => add(name, tag.genres().and_then(|mut all| all.next()).unwrap_or_default()),
                    _ => add(name, &text.value),
                }
            }
            Frame::Timestamp(frame) => match frame.id().as_str() {
                "TDRC" => add("year", &frame.timestamp.year.to_string()),
                "TDRL" => add("release_time", &frame.timestamp.to_string()),
                "TDOR" => add("original_release_time", &frame.timestamp.to_string()),
                _ => {}
            },
            Frame::UserText(text) => add("text", &text.content),
            Frame::Comment(comment) => add("comment", &comment.content),
            Frame::UnsynchronizedText(lyrics) => add("unsynchronised_lyric", &lyrics.content),
            _ => {}
        }
    }
    if let Some(total) = total {
        add("totaltracks", &total);
    }
    av_metadata.cover = tag.into_iter().find_map(|frame| match frame {
        Frame::Picture(frame) => cover(&frame.picture, true),
        _ => None,
    });
}

fn from_id3v1(av_metadata: &mut AvMetadata, tag: &Id3v1Tag) {
    let genre = tag.genre.and_then(|genre| lofty::id3::v1::GENRES.get(usize::from(genre)));
    for (name, text) in [
        ("title", tag.title.clone()),
        ("artist", tag.artist.clone()),
        ("album", tag.album.clone()),
        ("year", tag.year.map(|year| year.to_string())),
        ("comment", tag.comment.clone()),
        ("track_number", tag.track_number.map(|number| number.to_string())),
        ("genre", genre.map(|genre| (*genre).to_owned())),
    ] {
        av_metadata.tags.extend(text.filter(|text| !text.is_empty()).map(|text| (name.to_owned(), text)));
    }
}

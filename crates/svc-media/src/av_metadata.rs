//! Metadata of audio and video files: duration, codecs and tags.
//!
//! [`video`] and [`audio`] read the headers of files; nothing is decoded. Codecs have the names that WordPress uses.

mod audio;
mod matroska;
mod mp4;
mod video;

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use crate::Blob;

/// Longer durations, in seconds, are treated as corrupt. One year.
const MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// Metadata of an audio or video file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AvMetadata {
    /// The container: `mp3`, `mp4`, `webm`, …
    pub container: &'static str,
    /// The media type, derived from the content.
    pub mime: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Creation time in seconds since 1970, if the container can store one.
    pub created: Option<i64>,
    /// The first audio track.
    pub audio: Option<AudioTrack>,
    /// The first video track.
    pub video: Option<VideoTrack>,
    /// Tags as pairs of metadata name and text, in order.
    pub tags: Vec<(String, String)>,
    /// Embedded cover image.
    pub cover: Option<Cover>,
}

/// An audio track.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudioTrack {
    /// Short name of the codec.
    pub format: String,
    /// Display name of the codec.
    pub codec: Option<&'static str>,
    /// Number of channels.
    pub channels: u32,
    /// Samples per second.
    pub sample_rate: u32,
    /// Bits per second.
    pub bitrate: Option<f64>,
    /// Bits per sample.
    pub bits: Option<u32>,
    /// Whether the compression is lossless.
    pub lossless: Option<bool>,
    /// `cbr` or `vbr`.
    pub bitrate_mode: Option<&'static str>,
    /// Channel mode, if it does not follow from the number of channels.
    pub mode: Option<&'static str>,
    /// Language of the track.
    pub language: Option<String>,
    /// Format tag, in WAV files.
    pub wave_tag: Option<u16>,
    /// Sample rate of the encoder's input in hertz, if it differs from the playback rate.
    pub input_rate: Option<u32>,
    /// Name of the encoder.
    pub encoder: Option<String>,
}

impl AudioTrack {
    /// `mono`, `stereo`, or the codec's channel mode.
    pub fn channel_mode(&self) -> Option<&'static str> {
        self.mode.or(match self.channels {
            1 => Some("mono"),
            2 => Some("stereo"),
            _ => None,
        })
    }

    /// Bit rate relative to uncompressed audio.
    pub fn compression_ratio(&self) -> Option<f64> {
        let uncompressed = f64::from(self.channels) * f64::from(self.sample_rate) * f64::from(self.bits.unwrap_or(16));
        self.bitrate.filter(|_| uncompressed > 0.0).map(|bitrate| bitrate / uncompressed)
    }
}

/// A video track.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VideoTrack {
    /// Short name of the codec.
    pub format: String,
    /// Display name of the codec or the encoder.
    pub codec: Option<String>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Bits per second.
    pub bitrate: Option<f64>,
    /// Whether the compression is lossless, if the file names its encoder.
    pub lossless: Option<bool>,
}

/// An image embedded in an audio file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Its media type.
    pub mime: String,
    /// Width and height, if the tag format records them.
    pub size: Option<(u32, u32)>,
    /// The image file.
    pub file: Bytes,
}

/// Reads the metadata of a file with this media type. `None` if the type is neither audio nor video, or the file is not
/// understood.
pub fn av_metadata(file: &Blob, mime: &str) -> Option<AvMetadata> {
    let read = match mime.split('/').next()? {
        "audio" => audio::read,
        "video" => video::read,
        _ => return None,
    };
    // Corrupt lengths can make the tag reader panic.
    let metadata = catch_unwind(AssertUnwindSafe(|| read(file))).ok().flatten();
    metadata.filter(|metadata| metadata.seconds.is_finite() && metadata.seconds < MAX_SECONDS)
}

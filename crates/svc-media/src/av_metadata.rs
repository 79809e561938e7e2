//! What sound and film tell about themselves: how long they are, how they are coded, what they are called.
//!
//! [`video`] and [`audio`] read the heads of their files; nothing is decoded. Codings are named as WordPress names them.

mod audio;
mod matroska;
mod mp4;
mod video;

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use crate::Blob;

/// What says that it plays longer than a year says nothing.
const MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// What a file of sound or film tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AvMetadata {
    /// The container: `mp3`, `mp4`, `webm`, …
    pub container: &'static str,
    /// The media type by the content.
    pub mime: String,
    /// How long it plays, in seconds.
    pub seconds: f64,
    /// When it was made, in seconds since 1970, where the file has room for it.
    pub created: Option<i64>,
    /// The first track of sound.
    pub audio: Option<AudioTrack>,
    /// The first track of pictures.
    pub video: Option<VideoTrack>,
    /// Texts about it by their names in metadata, in order.
    pub tags: Vec<(String, String)>,
    /// A picture that comes with it.
    pub cover: Option<Cover>,
}

/// A track of sound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudioTrack {
    /// How it is coded, in short.
    pub format: String,
    /// What the coding is called.
    pub codec: Option<&'static str>,
    /// Number of channels.
    pub channels: u32,
    /// In hertz.
    pub sample_rate: u32,
    /// In bits a second.
    pub bitrate: Option<f64>,
    /// Bits of one sample.
    pub bits: Option<u32>,
    /// Whether nothing of the sound was lost.
    pub lossless: Option<bool>,
    /// `cbr` or `vbr`.
    pub bitrate_mode: Option<&'static str>,
    /// How channels are coded, where it is not by their number.
    pub mode: Option<&'static str>,
    /// The language that is spoken.
    pub language: Option<String>,
    /// The number of its coding, in WAV.
    pub wave_tag: Option<u16>,
    /// The rate of what was recorded, where it plays at another; in hertz.
    pub input_rate: Option<u32>,
    /// What it was coded with.
    pub encoder: Option<String>,
}

impl AudioTrack {
    /// `mono`, `stereo` or what the coding says.
    pub fn channel_mode(&self) -> Option<&'static str> {
        self.mode.or(match self.channels {
            1 => Some("mono"),
            2 => Some("stereo"),
            _ => None,
        })
    }

    /// What the coding leaves of the samples.
    pub fn compression_ratio(&self) -> Option<f64> {
        let whole = f64::from(self.channels) * f64::from(self.sample_rate) * f64::from(self.bits.unwrap_or(16));
        self.bitrate.filter(|_| whole > 0.0).map(|bitrate| bitrate / whole)
    }
}

/// A track of pictures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VideoTrack {
    /// How it is coded, in short.
    pub format: String,
    /// What the coding, or the coder, is called.
    pub codec: Option<String>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// In bits a second.
    pub bitrate: Option<f64>,
    /// Whether nothing was lost, where the file names its coder.
    pub lossless: Option<bool>,
}

/// A picture that comes with a sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Its media type.
    pub mime: String,
    /// Width and height, where its place tells them.
    pub size: Option<(u32, u32)>,
    /// The file.
    pub file: Bytes,
}

/// What a file of this media type tells; `None` for those that are neither sound nor film, and for what is not understood.
pub fn av_metadata(file: &Blob, mime: &str) -> Option<AvMetadata> {
    let read = match mime.split('/').next()? {
        "audio" => audio::read,
        "video" => video::read,
        _ => return None,
    };
    // The reader of tags counts without looking in places: damaged lengths can make it panic.
    let told = catch_unwind(AssertUnwindSafe(|| read(file))).ok().flatten();
    told.filter(|told| told.seconds.is_finite() && told.seconds < MAX_SECONDS)
}

//! Video files, by container.

use super::{AvMetadata, matroska, mp4};
use crate::Blob;

pub(super) fn read(file: &Blob) -> Option<AvMetadata> {
    let size = file.size().ok()?;
    let head = file.head(12).ok()?;
    let mut source = file.open().ok()?;
    let mut metadata = match head.get(..4)? {
        [0x1a, 0x45, 0xdf, 0xa3] => matroska::read(&mut source, size),
        _ => mp4::read(&mut source, size),
    }?;
    if let Some(video) = &mut metadata.video {
        // The remaining bit rate is the video's, if the audio's is known.
        let audio_bitrate = metadata.audio.as_ref().map_or(Some(0.0), |audio| audio.bitrate);
        video.bitrate = video.bitrate.zip(audio_bitrate).map(|(all, audio)| (all - audio).max(0.0).round());
    }
    Some(metadata)
}

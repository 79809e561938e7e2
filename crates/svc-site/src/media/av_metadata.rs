//! Attachment metadata of audio and video files, and embedded cover images.

use serde_json::{Map, Value};
use svc_content::kses;
use svc_media::{AudioTrack, AvMetadata, VideoTrack};

/// The metadata fields of an attachment of this media type.
pub fn details(embedded: &AvMetadata, mime: &str, size: u64) -> Map<String, Value> {
    let mut details = Map::new();
    let seconds = embedded.seconds.round().max(0.0) as u64;
    details.extend(embedded.video.iter().flat_map(video_fields));
    if let Some(audio) = &embedded.audio {
        match mime.starts_with("video/") {
            true => drop(details.insert("audio".to_owned(), Value::Object(audio_fields(audio)))),
            false => details.extend(audio_fields(audio)),
        }
    }
    details.insert("fileformat".to_owned(), embedded.container.into());
    details.insert("filesize".to_owned(), size.into());
    details.insert("mime_type".to_owned(), embedded.mime.as_str().into());
    details.insert("length".to_owned(), seconds.into());
    details.insert("length_formatted".to_owned(), clock(seconds).into());
    if let Some(created) = embedded.created {
        details.insert("created_timestamp".to_owned(), created.into());
    }
    for (name, text) in &embedded.tags {
        details.insert(name.clone(), kses::post(text).into_string().into());
    }
    if let Some(cover) = &embedded.cover {
        let mut image = Map::from_iter([("mime".to_owned(), Value::from(cover.mime.as_str()))]);
        if let Some((width, height)) = cover.size {
            image.extend([("width".to_owned(), width.into()), ("height".to_owned(), height.into())]);
        }
        details.insert("image".to_owned(), Value::Object(image));
    }
    details
}

/// A field, if it has a value.
fn optional<T: Into<Value>>(name: &str, value: Option<T>) -> Option<(String, Value)> {
    value.map(|value| (name.to_owned(), value.into()))
}

fn audio_fields(audio: &AudioTrack) -> Map<String, Value> {
    let rate = |rate: Option<f64>| rate.map(svc_php::cast::float_value);
    [
        optional("dataformat", Some(audio.format.as_str())),
        optional("wformattag", audio.wave_tag),
        optional("codec", audio.codec),
        optional("channels", Some(audio.channels)),
        optional("sample_rate", Some(audio.sample_rate)),
        optional("sample_rate_input", audio.input_rate),
        optional("language", audio.language.as_deref()),
        optional("encoder", audio.encoder.as_deref()),
        optional("bitrate", rate(audio.bitrate)),
        optional("bits_per_sample", audio.bits),
        optional("bitrate_mode", audio.bitrate_mode),
        optional("lossless", audio.lossless),
        optional("channelmode", audio.channel_mode()),
        optional("compression_ratio", rate(audio.compression_ratio())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn video_fields(video: &VideoTrack) -> Map<String, Value> {
    [
        optional("lossless", video.lossless),
        optional("bitrate", video.bitrate.map(svc_php::cast::float_value)),
        optional("width", Some(video.width)),
        optional("height", Some(video.height)),
        optional("dataformat", Some(video.format.as_str())),
        optional("codec", video.codec.as_deref()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `0:07`, `12:34`, `1:02:03`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::clock;

    #[test]
    fn durations_are_formatted_as_clock_times() {
        for (seconds, text) in [(0, "0:00"), (7, "0:07"), (70, "1:10"), (3599, "59:59"), (3725, "1:02:05")] {
            assert_eq!(clock(seconds), text);
        }
    }
}

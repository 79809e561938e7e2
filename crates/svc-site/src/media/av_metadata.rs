//! Attachment metadata of audio and video files, and embedded cover images.

use serde_json::{Map, Value};
use svc_content::kses;
use svc_media::{AudioTrack, AvMetadata, VideoTrack};

/// The metadata fields of an attachment of this media type.
pub fn details(told: &AvMetadata, mime: &str, size: u64) -> Map<String, Value> {
    let mut details = Map::new();
    let seconds = told.seconds.round().max(0.0) as u64;
    details.extend(told.video.iter().flat_map(of_film));
    if let Some(audio) = &told.audio {
        match mime.starts_with("video/") {
            true => drop(details.insert("audio".to_owned(), Value::Object(of_sound(audio)))),
            false => details.extend(of_sound(audio)),
        }
    }
    details.insert("fileformat".to_owned(), told.container.into());
    details.insert("filesize".to_owned(), size.into());
    details.insert("mime_type".to_owned(), told.mime.as_str().into());
    details.insert("length".to_owned(), seconds.into());
    details.insert("length_formatted".to_owned(), clock(seconds).into());
    if let Some(created) = told.created {
        details.insert("created_timestamp".to_owned(), created.into());
    }
    for (name, text) in &told.tags {
        details.insert(name.clone(), kses::post(text).into());
    }
    if let Some(cover) = &told.cover {
        let mut image = Map::from_iter([("mime".to_owned(), Value::from(cover.mime.as_str()))]);
        if let Some((width, height)) = cover.size {
            image.extend([("width".to_owned(), width.into()), ("height".to_owned(), height.into())]);
        }
        details.insert("image".to_owned(), Value::Object(image));
    }
    details
}

/// A field, if it has a value.
fn given<T: Into<Value>>(name: &str, value: Option<T>) -> Option<(String, Value)> {
    value.map(|value| (name.to_owned(), value.into()))
}

fn of_sound(audio: &AudioTrack) -> Map<String, Value> {
    let rate = |rate: Option<f64>| rate.map(svc_php::cast::float_value);
    [
        given("dataformat", Some(audio.format.as_str())),
        given("wformattag", audio.wave_tag),
        given("codec", audio.codec),
        given("channels", Some(audio.channels)),
        given("sample_rate", Some(audio.sample_rate)),
        given("sample_rate_input", audio.input_rate),
        given("language", audio.language.as_deref()),
        given("encoder", audio.encoder.as_deref()),
        given("bitrate", rate(audio.bitrate)),
        given("bits_per_sample", audio.bits),
        given("bitrate_mode", audio.bitrate_mode),
        given("lossless", audio.lossless),
        given("channelmode", audio.channel_mode()),
        given("compression_ratio", rate(audio.compression_ratio())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_film(video: &VideoTrack) -> Map<String, Value> {
    [
        given("lossless", video.lossless),
        given("bitrate", video.bitrate.map(svc_php::cast::float_value)),
        given("width", Some(video.width)),
        given("height", Some(video.height)),
        given("dataformat", Some(video.format.as_str())),
        given("codec", video.codec.as_deref()),
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

//! Metadata of audio and video files, compared with WordPress's for the same files.

#![expect(clippy::unwrap_used, reason = "test helpers outside test functions")]

use svc_media::{AudioTrack, AvMetadata, Blob, VideoTrack, av_metadata};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn read(name: &str, mime: &str) -> AvMetadata {
    av_metadata(&Blob::Memory(bytes(name).into()), mime).unwrap()
}

const FILES: [(&str, &str); 9] = [
    ("song.mp3", "audio/mpeg"),
    ("song.ogg", "audio/ogg"),
    ("opus.ogg", "audio/ogg"),
    ("song.flac", "audio/flac"),
    ("song.wav", "audio/wav"),
    ("song.m4a", "audio/mpeg"),
    ("film.mp4", "video/mp4"),
    ("film.mov", "video/quicktime"),
    ("film.webm", "video/webm"),
];

#[test]
fn containers_and_codings() {
    #[rustfmt::skip]
    let expected = [
        // Container, media type, seconds rounded, codec, channels and sample rate, bit rate, dimensions in pixels.
        ("mp3", "audio/mpeg", 1, "mp3", (2, 22050), Some(32000.0), None),
        ("ogg", "application/ogg", 0, "vorbis", (1, 8000), None, None),
        ("ogg", "audio/ogg; codecs=opus", 0, "opus", (1, 48000), None, None),
        ("flac", "audio/flac", 0, "flac", (1, 8000), None, None),
        ("wav", "audio/wav", 0, "wav", (1, 8000), Some(128_000.0), None),
        ("mp4", "audio/mp4", 0, "mp4", (2, 8000), Some(12990.0), None),
        ("mp4", "video/mp4", 1, "mp4", (2, 8000), Some(11263.0), Some((32, 16))),
        ("quicktime", "video/quicktime", 1, "", (0, 0), None, Some((32, 16))),
        ("webm", "video/webm", 1, "vorbis", (1, 8000), Some(22400.0), Some((32, 16))),
    ];
    for ((name, kind), (container, mime, seconds, codec, shape, rate, size)) in FILES.into_iter().zip(expected) {
        let metadata = read(name, kind);
        assert_eq!(
            (metadata.container, metadata.mime.as_str(), metadata.seconds.round()),
            (container, mime, f64::from(seconds)),
            "{name}"
        );
        let audio = metadata.audio.unwrap_or_default();
        assert_eq!((audio.format.as_str(), (audio.channels, audio.sample_rate)), (codec, shape), "{name}");
        assert!(rate.is_none() || audio.bitrate == rate, "{name}: {:?}", audio.bitrate);
        assert_eq!(metadata.video.map(|video| (video.width, video.height)), size, "{name}");
    }
}

#[test]
fn video() {
    let video = |format: &str, codec: Option<&str>, bitrate, lossless| VideoTrack {
        format: format.to_owned(),
        codec: codec.map(str::to_owned),
        width: 32,
        height: 16,
        bitrate: Some(bitrate),
        lossless,
    };
    let mp4 = read("film.mp4", "video/mp4");
    assert_eq!(mp4.video, Some(video("quicktime", Some("H.264/MPEG-4 AVC"), 22897.0, None)));
    assert_eq!(mp4.created, Some(1_580_702_706));
    let mov = read("film.mov", "video/quicktime").video;
    assert_eq!(mov, Some(video("mpeg4", Some("Lavc59.37.100 mpeg4"), 11480.0, Some(false))));
    assert_eq!(read("film.webm", "video/webm").video, Some(video("vp8", None, 26841.0, None)));
}

#[test]
fn tags_and_covers() {
    let mp3 = read("song.mp3", "audio/mpeg");
    let expected = [
        ("title", "Song_<b>1</b>"),
        ("artist", "Somebody"),
        ("album", "Tests"),
        ("year", "2021"),
        ("genre", "Jazz"),
        ("track_number", "3"),
        ("text", "Remark"),
        ("encoder_settings", "Lavf59.27.100"),
        ("totaltracks", "9"),
    ];
    let mut tags: Vec<_> = mp3.tags.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut expected = expected.to_vec();
    tags.sort_unstable();
    expected.sort_unstable();
    assert_eq!(tags, expected);
    for (name, mime, size) in
        [("song.mp3", "audio/mpeg", Some((8, 6))), ("song.flac", "audio/flac", None), ("song.m4a", "audio/mpeg", None)]
    {
        let cover = read(name, mime).cover.unwrap();
        assert_eq!((cover.mime.as_str(), cover.size, cover.file.len()), ("image/jpeg", size, 225), "{name}");
    }
}

#[test]
fn ratios_and_modes() {
    let audio = AudioTrack { channels: 2, sample_rate: 44_100, bitrate: Some(64_000.0), ..AudioTrack::default() };
    assert_eq!(audio.compression_ratio(), Some(0.045_351_473_922_902_494));
    assert_eq!(audio.channel_mode(), Some("stereo"));
    assert_eq!(AudioTrack::default().compression_ratio(), None);
}

/// Reading a corrupt file ends soon and without panics.
#[test]
fn corrupt_files_do_not_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for (name, mime) in FILES {
        let whole = bytes(name);
        for cut in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let _ = av_metadata(&Blob::Memory(whole[..cut].to_vec().into()), mime);
        }
        for _ in 0..400 {
            let mut file = whole.clone();
            for _ in 0..=random(4) {
                let at = random(file.len().min(1200));
                file[at] = [0, 0xff, 0x7f, 0x80, u8::try_from(random(256)).unwrap()][random(5)];
            }
            let _ = av_metadata(&Blob::Memory(file.into()), mime);
        }
    }
}

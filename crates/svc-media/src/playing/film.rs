//! Film, by its container.

use super::{Playing, matroska, mp4};
use crate::Blob;

pub(super) fn read(file: &Blob) -> Option<Playing> {
    let size = file.size().ok()?;
    let head = file.head(12).ok()?;
    let mut source = file.open().ok()?;
    let mut told = match head.get(..4)? {
        [0x1a, 0x45, 0xdf, 0xa3] => matroska::read(&mut source, size),
        _ => mp4::read(&mut source, size),
    }?;
    if let Some(film) = &mut told.film {
        // What is not sound is pictures, where the rate of sound is known.
        let of_sound = told.sound.as_ref().map_or(Some(0.0), |sound| sound.bitrate);
        film.bitrate = film.bitrate.zip(of_sound).map(|(all, sound)| (all - sound).max(0.0).round());
    }
    Some(told)
}

//! Tests of images on demand.

use std::{fs, path::PathBuf};

use futures_util::{TryStreamExt as _, future::join_all};
use svc_media::{Blob, dimensions};
use tempfile::TempDir;

use super::*;

/// 400 × 300 pixels.
const IMAGE: &[u8] = include_bytes!("../../../svc-controllers/tests/data/wide.png");

struct Folder {
    dir: TempDir,
    uploads: Storage,
    permits: Arc<Semaphore>,
    variants: ImageVariants,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (uploads, permits) = (Storage::folder(&dir.path().join("uploads")), Arc::new(Semaphore::new(2)));
        let variants = ImageVariants::new(&dir.path().join("cache"), 1 << 30, vec![(100, 0)]);
        let folder = Folder { dir, uploads, permits, variants };
        folder.write("a.png", IMAGE);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("uploads").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    async fn source(&self, name: &str) -> Result<Source, Error> {
        ImageVariants::source(&self.uploads, name, "image/png").await
    }

    async fn bytes(&self, source: &Source, width: u32) -> Result<Bytes, Error> {
        let variant = Variant { width, height: 0, crop: None, format: Format::WebP, quality: 80 };
        let made = self.variants.image(&self.permits, source, variant).await?;
        let parts: Vec<Bytes> = made.parts.try_collect().await.unwrap();
        let bytes = Bytes::from(parts.concat());
        assert_eq!(bytes.len() as u64, made.size);
        Ok(bytes)
    }

    fn n_made(&self) -> u64 {
        self.variants.usage().misses
    }
}

fn status<T>(result: Result<T, Error>) -> u16 {
    result.map_or_else(|error| error.status(), |_| 200)
}

fn size(bytes: Bytes) -> Option<(u32, u32)> {
    dimensions(&Blob::Memory(bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_for_an_image_make_it_once() {
    let folder = Folder::new();
    let source = folder.source("a.png").await.unwrap();
    // Nothing is made before all of them wait.
    let permits = Arc::clone(&folder.permits).acquire_many_owned(2).await.unwrap();
    let requests = join_all((0..50).map(|_| folder.bytes(&source, 100)));
    let release = async {
        while folder.variants.0.turns.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        drop(permits);
    };
    let (all, ()) = tokio::join!(requests, release);
    let all: Vec<Bytes> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|bytes| *bytes == all[0]));
    assert_eq!((folder.n_made(), size(all[0].clone())), (1, Some((100, 75))));
    assert_eq!(folder.bytes(&source, 100).await.unwrap(), all[0]);
    let usage = folder.variants.usage();
    assert_eq!((usage.misses, usage.entries), (1, 1));
    // Another server on the folder.
    let variants = ImageVariants::new(&folder.dir.path().join("cache"), 1 << 30, Vec::new());
    let folder = Folder { variants, ..folder };
    assert_eq!((folder.bytes(&source, 100).await.unwrap(), folder.n_made()), (all[0].clone(), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_has_other_images() {
    let folder = Folder::new();
    let before = folder.source("a.png").await.unwrap();
    let old = folder.bytes(&before, 100).await.unwrap();
    // The image on its side, with the time of the file before.
    let time = fs::metadata(folder.path("a.png")).unwrap().modified().unwrap();
    let image = svc_media::DecodedImage::decode(&Blob::Memory(IMAGE.into()), Format::Png).unwrap();
    folder.write("a.png", &image.rotated(90.0).unwrap().encode(Format::Png, 80).unwrap());
    fs::File::options().write(true).open(folder.path("a.png")).unwrap().set_modified(time).unwrap();
    let after = folder.source("a.png").await.unwrap();
    assert_ne!(before.version(), after.version());
    let new = folder.bytes(&after, 100).await.unwrap();
    assert_eq!((size(old), size(new)), (Some((100, 75)), Some((100, 133))));
    fs::remove_file(folder.path("a.png")).unwrap();
    assert_eq!(status(folder.source("a.png").await), 404);
    assert_eq!(status(folder.bytes(&after, 50).await), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_images_in_progress_is_bounded() {
    let folder = Folder::new();
    let source = folder.source("a.png").await.unwrap();
    let made_before = folder.bytes(&source, 300).await.unwrap();
    let permits = Arc::clone(&folder.permits).acquire_many_owned(2).await.unwrap();
    let places = &folder.variants.0.places;
    let n_free = 3;
    let others = Arc::clone(places).acquire_many_owned((MAX_WAITING - n_free) as u32).await.unwrap();
    let requests = join_all((1..=8).map(|width| folder.bytes(&source, width)));
    let release = async {
        while places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(status(folder.bytes(&source, 399).await), 503, "it does not wait");
        assert_eq!(folder.bytes(&source, 300).await.unwrap(), made_before);
        drop((permits, others));
    };
    let (statuses, ()) = tokio::join!(requests, release);
    let n_refused = statuses.into_iter().map(status).filter(|status| *status == 503).count();
    assert_eq!((n_refused, folder.n_made()), (8 - n_free, 1 + n_free as u64));
    assert_eq!(status(folder.bytes(&source, 399).await), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_made_even_if_its_client_leaves() {
    let folder = Folder::new();
    let source = folder.source("a.png").await.unwrap();
    let permits = Arc::clone(&folder.permits).acquire_many_owned(2).await.unwrap();
    let begun = async {
        while folder.variants.0.places.available_permits() == MAX_WAITING {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = folder.bytes(&source, 100) => panic!("nothing can be made yet"),
        () = begun => {}
    }
    drop(permits);
    assert_eq!(status(folder.bytes(&source, 100).await), 200);
    assert_eq!(folder.n_made(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_made_is_tried_once() {
    let folder = Folder::new();
    let mut bomb = IMAGE.to_vec();
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    // The chunk that announces an animation of two frames follows the header.
    let chunk = [&[0, 0, 0, 8][..], b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0], &[0xf3, 0x8d, 0x93, 0x70]].concat();
    let animated = [&IMAGE[..33], &chunk, &IMAGE[33..]].concat();
    let files = [
        ("bomb.png", bomb),
        ("cut.png", IMAGE[..IMAGE.len() / 2].to_vec()),
        ("text.png", b"<?php echo 1;".to_vec()),
        ("empty.png", Vec::new()),
        ("animated.png", animated),
    ];
    for (n, (name, bytes)) in files.into_iter().enumerate() {
        folder.write(name, &bytes);
        let source = folder.source(name).await.unwrap();
        for _ in 0..3 {
            let error = folder.bytes(&source, 100).await.unwrap_err();
            assert_eq!((error.status(), error.code()), (422, "rest_image_unusable"), "{name}");
        }
        assert_eq!(folder.n_made(), n as u64 + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_files_that_are_served_have_images() {
    let folder = Folder::new();
    folder.write("2024/b.png", IMAGE);
    folder.write(".hidden/b.png", IMAGE);
    fs::write(folder.dir.path().join("secret.png"), IMAGE).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.dir.path().join("secret.png"), folder.path("link.png")).unwrap();
        std::os::unix::fs::symlink(folder.dir.path(), folder.path("out")).unwrap();
        std::os::unix::fs::symlink(folder.path("a.png"), folder.path("inside.png")).unwrap();
        assert_eq!(status(folder.source("inside.png").await), 200);
    }
    assert_eq!(status(folder.source("2024/b.png").await), 200);
    let rows = [
        "none.png",
        "link.png",
        "out/secret.png",
        "../secret.png",
        "2024/../../secret.png",
        "./a.png",
        ".hidden/b.png",
        "2024",
        "",
        "a.png/",
        "2024//b.png",
        "/etc/passwd",
        "a.png\0",
        "%2e%2e/secret.png",
        "..\\secret.png",
    ];
    for path in rows {
        assert_eq!(status(folder.source(path).await), 404, "{path}");
    }
    let pdf = ImageVariants::source(&folder.uploads, "a.png", "application/pdf").await;
    assert_eq!(status(pdf), 400);
}

//! Copies from a folder to a store and back: resumed, compared, and while files are added and deleted.

use std::collections::BTreeMap;
use std::fs;

use object_store::memory::InMemory;

use super::*;

fn moving(from: &Storage, to: &Storage) -> Moving {
    let (from, to) = (from.clone(), to.clone());
    Moving { from, to, unfinished: HashSet::new(), dry_run: false, overwrite: false, delete_source: false }
}

/// Runs a copy, and returns the totals and the failures.
async fn run(moving: &Moving) -> (Moved, Vec<String>) {
    let mut failures = Vec::new();
    let mut each = |file: &MovedFile<'_>| {
        assert!(file.done <= file.found, "{file:?}");
        failures.extend(file.failure.map(|failure| format!("{}: {failure}", file.path)));
    };
    let moved = moving.run(&mut each).await.unwrap();
    failures.sort();
    (moved, failures)
}

/// The content and the media types in an object store.
async fn objects(storage: &Storage) -> BTreeMap<String, (Vec<u8>, String)> {
    let mut all = BTreeMap::new();
    for about in storage.store.list(None).try_collect::<Vec<_>>().await.unwrap() {
        let object = storage.store.get(&about.location).await.unwrap();
        let type_ = object.attributes.get(&Attribute::ContentType).map(|type_| type_.to_string());
        all.insert(about.location.to_string(), (object.bytes().await.unwrap().to_vec(), type_.unwrap_or_default()));
    }
    all
}

/// The files below a folder, with their content.
fn files(root: &FilePath) -> BTreeMap<String, Vec<u8>> {
    let (mut all, mut waiting) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn write(root: &FilePath, path: &str, content: impl AsRef<[u8]>) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, content).unwrap();
}

fn long_name() -> String {
    format!("{}.pdf", "é".repeat(98))
}

/// Names that are unusual in a URL or a file system, with the media types of their files.
fn unusual_names() -> Vec<(String, &'static str)> {
    vec![
        ("2024/03/a b.jpg".to_owned(), "image/jpeg"),
        ("2024/03/ü 字 🦀.PNG".to_owned(), "image/png"),
        ("100%.txt".to_owned(), "text/plain; charset=utf-8"),
        ("a%20b.jpg".to_owned(), "image/jpeg"),
        ("x#y?z&[1]~'.svg".to_owned(), "image/svg+xml"),
        (".htaccess".to_owned(), "application/octet-stream"),
        ("a/b/c/d/e/deep.css".to_owned(), "text/css; charset=utf-8"),
        (format!("long/{}", long_name()), "application/pdf"),
    ]
}

#[tokio::test]
async fn files_are_copied_to_an_object_store_and_back() {
    let root = tempfile::tempdir().unwrap();
    let (uploads, back) = (root.path().join("uploads"), root.path().join("back"));
    assert_eq!(long_name().len(), 200);
    for (i, (name, _)) in unusual_names().iter().enumerate() {
        write(&uploads, name, format!("content {i}"));
    }
    let large: Vec<u8> = (0..2 * PART_BYTES + 5).map(|n| (n / 7) as u8).collect();
    write(&uploads, "large.mp4", &large);
    write(&uploads, "empty.txt", "");
    write(&uploads, "staged.png#1", "half");
    let (folder, bucket) = (Storage::folder(&uploads), Storage::new(InMemory::new()));
    let dry = Moving { dry_run: true, ..moving(&folder, &bucket) };
    let (planned, _) = run(&dry).await;
    assert!(objects(&bucket).await.is_empty(), "nothing was written");
    let (moved, failures) = run(&moving(&folder, &bucket)).await;
    assert_eq!((moved.copied, moved.left_out, failures), (10, 1, vec![]));
    assert_eq!((moved.bytes, planned), (large.len() as u64 + 8 * 9, moved));
    let copied = objects(&bucket).await;
    assert_eq!(copied.len(), 10);
    for (i, (name, type_)) in unusual_names().into_iter().enumerate() {
        let content = format!("content {i}").into_bytes();
        assert_eq!(copied.get(&name), Some(&(content, type_.to_owned())), "{name}");
    }
    assert!(copied["large.mp4"] == (large, "video/mp4".to_owned()));
    // What is there is not copied again.
    let (again, failures) = run(&moving(&folder, &bucket)).await;
    assert_eq!((again.copied, again.present, failures), (0, 10, vec![]));

    let target = Storage::folder(&back);
    let (moved, failures) = run(&moving(&bucket, &target)).await;
    assert_eq!((moved.copied, failures), (10, vec![]));
    let mut expected = files(&uploads);
    expected.remove("staged.png#1");
    assert!(files(&back) == expected, "{:?}", files(&back).keys());
    for (name, _) in unusual_names() {
        let bytes = target.fetch(&name).await.unwrap().head(usize::MAX).unwrap();
        assert_eq!(Some(&bytes[..]), expected.get(&name).map(|bytes| &bytes[..]), "served as {name}");
    }
    let (again, failures) = run(&moving(&bucket, &target)).await;
    assert_eq!((again.copied, again.present, failures), (0, 10, vec![]));
}

#[tokio::test]
async fn what_a_killed_copy_has_staged_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bucket) = (Storage::folder(root.path()), Storage::new(InMemory::new()));
    for path in ["a.jpg", "b.jpg"] {
        bucket.store.put(&key(path).unwrap(), "content".into()).await.unwrap();
    }
    // Killed between the two steps that give a file its name, and while it was written.
    write(root.path(), "a.jpg", "content");
    fs::hard_link(root.path().join("a.jpg"), root.path().join("a.jpg#0")).unwrap();
    write(root.path(), "b.jpg#0", "cont");
    run(&Moving { dry_run: true, ..moving(&bucket, &folder) }).await;
    assert_eq!(files(root.path()).len(), 3);
    let (moved, failures) = run(&moving(&bucket, &folder)).await;
    assert_eq!((moved.copied, moved.present, failures), (1, 1, vec![]));
    assert_eq!(files(root.path()).into_keys().collect::<Vec<_>>(), ["a.jpg", "b.jpg"]);
}

#[tokio::test]
async fn a_file_that_differs_is_kept_in_both() {
    let root = tempfile::tempdir().unwrap();
    let folder = Storage::folder(root.path());
    let bucket = Storage::new(InMemory::new());
    for name in ["a.txt", "b.txt"] {
        write(root.path(), name, "old");
        bucket.write(name, &Blob::Memory("new".into())).await.unwrap();
    }
    write(root.path(), "c.txt", "same");
    let differs = ["a.txt", "b.txt"].map(|name| format!("{name}: the destination has another file of this name"));
    for (from, to) in [(&folder, &bucket), (&bucket, &folder)] {
        let (moved, failures) = run(&Moving { delete_source: true, ..moving(from, to) }).await;
        assert_eq!((moved.failed, moved.gave_up, &failures[..]), (2, false, &differs[..]));
    }
    assert_eq!(files(root.path())["a.txt"], b"old");
    assert_eq!(objects(&bucket).await["a.txt"].0, b"new");
    let (moved, failures) = run(&Moving { overwrite: true, ..moving(&bucket, &folder) }).await;
    assert_eq!((moved.copied, moved.present, failures), (2, 0, vec![]), "the third one was moved back and forth");
    assert_eq!(files(root.path())["a.txt"], b"new");
    write(root.path(), "a.txt", "other");
    let (moved, failures) = run(&Moving { overwrite: true, ..moving(&folder, &bucket) }).await;
    assert_eq!((moved.copied, moved.present, failures), (2, 1, vec![]));
    assert_eq!(objects(&bucket).await["a.txt"].0, b"other");
}

#[tokio::test]
async fn a_wrong_media_type_is_corrected() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.png", "image");
    let bucket = Storage::new(InMemory::new());
    bucket.store.put(&Path::from("a.png"), "image".into()).await.unwrap();
    let options = object_store::PutOptions {
        attributes: [(Attribute::ContentType, "binary/octet-stream")].into_iter().collect(),
        ..object_store::PutOptions::default()
    };
    bucket.store.put_opts(&Path::from("a.png"), "image".into(), options).await.unwrap();
    let (moved, failures) = run(&moving(&Storage::folder(root.path()), &bucket)).await;
    assert_eq!((moved.copied, moved.present, failures), (1, 0, vec![]));
    assert_eq!(objects(&bucket).await["a.png"].1, "image/png");
}

#[tokio::test]
async fn the_source_is_deleted_only_where_the_copy_is_equal() {
    let root = tempfile::tempdir().unwrap();
    let uploads = root.path().join("uploads");
    let (folder, bucket) = (Storage::folder(&uploads), Storage::new(InMemory::new()));
    for name in ["2024/01/a.txt", "2024/02/b.txt", "2024/02/differs.txt", "pending.txt"] {
        write(&uploads, name, name);
    }
    bucket.write("2024/02/differs.txt", &Blob::Memory("other".into())).await.unwrap();
    let unfinished: HashSet<String> = ["pending.txt".to_owned()].into();
    let all = Moving { delete_source: true, unfinished: unfinished.clone(), ..moving(&folder, &bucket) };
    let (moved, failures) = run(&all).await;
    assert_eq!((moved.copied, moved.deleted, moved.unfinished, failures.len()), (2, 2, 1, 1));
    let left: Vec<String> = files(&uploads).into_keys().collect();
    assert_eq!(left, ["2024/02/differs.txt", "pending.txt"]);
    assert!(!uploads.join("2024/01").exists(), "the empty folder is deleted");

    let back = Storage::folder(&root.path().join("back"));
    write(&root.path().join("back"), "2024/01/a.txt", "not the copy");
    let (moved, failures) = run(&Moving { delete_source: true, ..moving(&bucket, &back) }).await;
    assert_eq!((moved.copied, moved.deleted, failures.len()), (2, 2, 1));
    assert_eq!(objects(&bucket).await.into_keys().collect::<Vec<_>>(), ["2024/01/a.txt"]);
    // An empty source is none to keep the folder for.
    let (moved, _) =
        run(&Moving { delete_source: true, ..moving(&Storage::folder(&root.path().join("none")), &bucket) }).await;
    assert_eq!(moved, Moved::default());
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_only_within_the_folder() {
    use std::os::unix::{ffi::OsStrExt as _, fs::symlink};

    let root = tempfile::tempdir().unwrap();
    let uploads = root.path().join("uploads");
    write(root.path(), "secret/s.txt", "secret");
    write(&uploads, "2024/a.txt", "a");
    symlink(root.path().join("secret/s.txt"), uploads.join("out.txt")).unwrap();
    symlink(root.path().join("secret"), uploads.join("out")).unwrap();
    symlink(uploads.join("2024/a.txt"), uploads.join("link.txt")).unwrap();
    symlink(&uploads, uploads.join("2024/loop")).unwrap();
    symlink("2024", uploads.join("same")).unwrap();
    fs::write(uploads.join(std::ffi::OsStr::from_bytes(b"\xff.txt")), "x").unwrap();
    fs::write(uploads.join("a\u{1}b.txt"), "x").unwrap();
    let (folder, bucket) = (Storage::folder(&uploads), Storage::new(InMemory::new()));
    let (moved, failures) = run(&Moving { delete_source: true, ..moving(&folder, &bucket) }).await;
    let copied: Vec<String> = objects(&bucket).await.into_keys().collect();
    assert!(copied.iter().all(|name| ["2024/a.txt", "link.txt", "same/a.txt"].contains(&&**name)), "{copied:?}");
    assert_eq!(objects(&bucket).await["2024/a.txt"].0, b"a");
    let what = "its name cannot be that of an upload";
    assert_eq!(failures, [format!("a\u{1}b.txt: {what}"), format!("\u{fffd}.txt: {what}")]);
    assert_eq!(moved.deleted, 1, "links stay");
    assert_eq!(fs::read_to_string(root.path().join("secret/s.txt")).unwrap(), "secret");

    // Nothing is written through a link that leads out.
    let to = root.path().join("to");
    fs::create_dir(&to).unwrap();
    symlink(root.path().join("secret"), to.join("2024")).unwrap();
    let (moved, failures) = run(&moving(&bucket, &Storage::folder(&to))).await;
    assert!(moved.failed == 1 && failures[0] == "2024/a.txt: the path is no file", "{failures:?}");
    assert!(!root.path().join("secret/a.txt").exists());
}

/// Content that is too short is found in spite of its name and its time.
#[tokio::test]
async fn content_is_compared_and_not_only_its_size() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bucket) = (Storage::folder(root.path()), Storage::new(InMemory::new()));
    write(root.path(), "a.bin", vec![1; PART_BYTES + 1]);
    run(&moving(&folder, &bucket)).await;
    let mut other = vec![1; PART_BYTES + 1];
    other[PART_BYTES] = 2;
    write(root.path(), "a.bin", other);
    let (moved, failures) = run(&moving(&folder, &bucket)).await;
    assert_eq!((moved.failed, failures.len()), (1, 1));
}

#[tokio::test]
async fn many_failures_in_a_row_end_a_copy() {
    let root = tempfile::tempdir().unwrap();
    let (folder, bucket) = (Storage::folder(root.path()), Storage::new(InMemory::new()));
    for n in 0..100 {
        write(root.path(), &format!("{n}.txt"), "new");
        bucket.write(&format!("{n}.txt"), &Blob::Memory("old".into())).await.unwrap();
    }
    let (moved, failures) = run(&moving(&folder, &bucket)).await;
    assert!(moved.gave_up && failures.len() == MAX_FAILURES, "{moved:?}");
}

/// Entity tags as S3 computes them: `printf … | md5sum`, and of two parts the hash of both hashes.
#[test]
fn digests_are_those_of_object_stores() {
    let digest = |bytes: &[u8], chunk: usize| {
        let mut hasher = Hasher::default();
        bytes.chunks(chunk).for_each(|chunk| hasher.update(chunk));
        hasher.finish()
    };
    assert_eq!(digest(b"", 1).whole, "d41d8cd98f00b204e9800998ecf8427e");
    assert!(digest(b"abc", 2).is_entity_tag("\"900150983CD24FB0D6963F7D28E17F72\""));
    let bytes = vec![0; PART_BYTES + 1];
    let of_parts = [Md5::digest(&bytes[1..]), Md5::digest(&bytes[..1])].concat();
    let expected: String = Md5::digest(of_parts).iter().map(|byte| format!("{byte:02x}")).collect();
    for chunk in [1 << 16, 100_003, bytes.len()] {
        let digest = digest(&bytes, chunk);
        assert_eq!(digest.in_parts, format!("{expected}-2"));
        assert!(digest.is_entity_tag(&digest.in_parts) && !digest.is_entity_tag("0"));
    }
}

#[tokio::test]
async fn both_stores_serve_while_files_are_moved() {
    let root = tempfile::tempdir().unwrap();
    let folder = Storage::folder(root.path());
    write(root.path(), "2024/a.txt", "a");
    write(root.path(), "2024/b.txt", "b");
    let bucket = Storage::new(InMemory::new());
    let both = bucket.clone().with_other(folder.clone());
    let read = async |path: &str| {
        let whole = both.fetch(path).await.ok()?.head(99).unwrap().to_vec();
        let mut part = both.get(path, crate::ReadPart::Bytes(0..1)).await.unwrap().bytes;
        assert_eq!(part.try_next().await.unwrap().unwrap(), &whole[..1]);
        assert_eq!(both.size(path).await.unwrap(), Some(whole.len() as u64));
        String::from_utf8(whole).ok()
    };
    assert_eq!(read("2024/a.txt").await.as_deref(), Some("a"));
    // A new file gets a name that is free in both, and is stored in the first.
    let mut pending = both.begin().unwrap();
    let path = both.reserve("2024", "a.txt", crate::Naming::default(), &mut pending).await.unwrap();
    assert_eq!(path, "2024/a-1.txt");
    both.write(&path, &Blob::Memory("new".into())).await.unwrap();
    assert!(!root.path().join("2024/a-1.txt").exists() && read(&path).await.as_deref() == Some("new"));
    let (moved, failures) = run(&moving(&folder, &bucket)).await;
    assert_eq!((moved.copied, failures), (2, vec![]));
    both.delete(["2024/a.txt".to_owned()]).await;
    assert_eq!((read("2024/a.txt").await, both.size("2024/a.txt").await.unwrap()), (None, None));
    let (moved, _) = run(&Moving { delete_source: true, ..moving(&folder, &bucket) }).await;
    assert_eq!((moved.present, moved.deleted), (1, 1));
    assert_eq!(read("2024/b.txt").await.as_deref(), Some("b"));
    assert!(files(root.path()).is_empty());
}

/// Files are deleted, as a server does it, while they are copied in both directions: none comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn deleted_files_do_not_come_back() {
    let root = tempfile::tempdir().unwrap();
    for to_bucket in [true, false] {
        let uploads = root.path().join(to_bucket.to_string());
        let (folder, bucket) = (Storage::folder(&uploads), Storage::new(InMemory::new()));
        let (from, to) = if to_bucket { (folder, bucket) } else { (bucket, folder) };
        let name = |n: usize| format!("{}/{n}.txt", n % 7);
        for n in 0..300 {
            from.write(&name(n), &Blob::Memory(vec![n as u8; 2_000].into())).await.unwrap();
        }
        let both = to.clone().with_other(from.clone());
        let deleted = async {
            for n in (0..300).step_by(3) {
                both.delete([name(n)]).await;
            }
        };
        let moving = moving(&from, &to);
        let ((moved, failures), ()) = tokio::join!(run(&moving), deleted);
        assert_eq!(failures, Vec::<String>::new(), "{moved:?}");
        for n in 0..300 {
            let expected = (n % 3 != 0).then_some(2_000);
            assert_eq!(to.size(&name(n)).await.unwrap(), expected, "{n}, to the bucket: {to_bucket}");
        }
    }
}

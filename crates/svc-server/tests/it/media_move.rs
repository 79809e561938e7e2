//! `media move`: uploads are moved to a bucket of moto and back while a server serves them, with kills in between.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::process::{Server, command, credentials, run, signal, stderr};

const BUCKET: &str = "uploads";

/// How long something may take on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// moto, an S3-compatible store for tests. It is killed on drop.
struct Moto {
    child: Child,
    address: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Moto {
    /// Starts it with a bucket; `None` if it is not installed.
    fn start() -> Option<Self> {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]);
        let Ok(child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            let _lost = writeln!(std::io::stderr(), "skipped: moto_server is not installed");
            return None;
        };
        let moto = Moto { child, address: address.to_string() };
        let begun = Instant::now();
        while request(&moto.address, "PUT", &format!("/{BUCKET}"), b"").is_none_or(|found| found.status != 200) {
            assert!(begun.elapsed() < LONG, "moto_server does not create a bucket");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(moto)
    }

    /// The number of objects, up to a thousand.
    fn n_objects(&self) -> usize {
        let listed = self.get("?list-type=2").body;
        String::from_utf8_lossy(&listed).matches("<Key>").count()
    }

    /// An object of the site.
    fn object(&self, path: &str) -> Found {
        self.get(&format!("/site/{}", encoded(path)))
    }

    fn get(&self, below: &str) -> Found {
        // It reads the user, and checks no signature.
        let user = "Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=none";
        let header = format!("Authorization: AWS4-HMAC-SHA256 {user}\r\n");
        request_with(&self.address, "GET", &format!("/{BUCKET}{below}"), &header, b"").unwrap()
    }
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    status: u16,
    content_type: String,
    body: Vec<u8>,
}

/// Sends a request; `None` if the connection fails.
fn request(address: &str, method: &str, path: &str, body: &[u8]) -> Option<Found> {
    request_with(address, method, path, "", body)
}

fn request_with(address: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> Option<Found> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head =
        format!("{method} {path} HTTP/1.0\r\nHost: {address}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).ok()?;
    let end = response.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&response[..end]).into_owned();
    let content_type = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-type").then(|| value.to_owned())
    });
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Found { status, content_type: content_type.unwrap_or_default(), body: response[end + 4..].to_vec() })
}

fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn uploads(folder: &Path) -> PathBuf {
    folder.join("svc-data/content/uploads")
}

/// The files of the folder by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let root = uploads(folder);
    let (mut all, mut waiting) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn settings(folder: &Path, moto: &Moto, places: &str) {
    let text = format!(
        "[uploads]\nuse = \"{places}\"\nbucket = \"{BUCKET}\"\nprefix = \"site\"\nendpoint = \"http://{}\"\n\
         access_key = \"key\"\nsecret_key = \"secret\"\n",
        moto.address
    );
    fs::write(folder.join("svc.toml"), text).unwrap();
}

/// Changes where uploads are, and waits until the server has restarted in place.
fn reload(folder: &Path, moto: &Moto, server: &Server, places: &str) {
    // The time of a file has a resolution.
    std::thread::sleep(Duration::from_millis(20));
    settings(folder, moto, places);
    let started = || fs::metadata(folder.join("svc-data/server.pid")).unwrap().modified().unwrap();
    let (before, begun) = (started(), Instant::now());
    server.signal("HUP");
    while started() == before {
        assert!(begun.elapsed() < LONG, "the server does not restart");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(request(&server.address, "GET", "/", b"").is_some_and(|found| found.status == 200));
}

fn upload(server: &Server, user: &str, name: &str, bytes: &[u8]) -> String {
    let headers = format!("Content-Type: image/png\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n");
    let (status, media) =
        crate::process::send(&server.address, "POST", "/svc-json/svc/v2/media", user, &headers, bytes);
    assert_eq!(status, 201, "{media}");
    let url = media["source_url"].as_str().unwrap();
    url.split_once("/wp-content/uploads/").unwrap().1.to_owned()
}

fn served(server: &Server, path: &str) -> Option<Found> {
    request(&server.address, "GET", &format!("/wp-content/uploads/{}", encoded(path)), b"")
}

fn png(shade: u8) -> Vec<u8> {
    // A gray pixel: signature, IHDR, IDAT with a stored block, IEND.
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let mut crc = u32::MAX;
        for byte in kind.iter().chain(data) {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], kind, data, &(!crc).to_be_bytes()].concat()
    };
    let adler = (u32::from(shade) + 2) << 16 | (u32::from(shade) + 1);
    let pixel = [&[0x78, 0x01, 1, 2, 0, 0xfd, 0xff, 0, shade][..], &adler.to_be_bytes()].concat();
    let header = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0];
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &pixel), chunk(b"IEND", b"")].concat()
}

fn moved(folder: &Path, args: &[&str]) -> (Output, String) {
    let out = run(folder, None, &[&["media", "move"], args].concat());
    let text = String::from_utf8(out.stdout.clone()).unwrap();
    (out, text)
}

/// Runs the command to its end, which must be a success.
fn must_move(folder: &Path, args: &[&str]) -> String {
    let (out, text) = moved(folder, args);
    assert!(out.status.success(), "{text}{}", stderr(&out));
    text
}

/// The first number of the output: how many files were copied.
fn copied(text: &str) -> usize {
    text.split(' ').find_map(|word| word.parse().ok()).unwrap()
}

/// Starts the command again and again, and kills it when it has copied something, and a little later each time.
fn kill_repeatedly(folder: &Path, args: &[&str], n_copied: impl Fn() -> usize) -> usize {
    let mut kills = 0;
    for n in 0..4 {
        let before = n_copied();
        let mut child = command(folder, None, &[&["media", "move"], args].concat());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while n_copied() == before && begun.elapsed() < LONG && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(10 * n));
        signal(&child.id().to_string(), "KILL");
        kills += usize::from(!child.wait().unwrap().success());
    }
    kills
}

#[test]
fn uploads_are_moved_to_a_bucket_and_back_while_they_are_served() {
    let Some(moto) = Moto::start() else { return };
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    settings(folder, &moto, "folder");
    let server = Server::start(folder, None);
    let user = credentials(folder, None);
    let first = upload(&server, &user, "first.png", &png(1));
    let odd = ["a b.jpg", "ü 字.png", "100%.txt", "a%20b.jpg", ".hidden", &format!("{}.pdf", "x".repeat(196))];
    for (i, name) in odd.iter().enumerate() {
        fs::write(uploads(folder).join(name), format!("odd {i}")).unwrap();
    }
    fs::create_dir_all(uploads(folder).join("2020/01")).unwrap();
    for n in 0..120_usize {
        fs::write(uploads(folder).join(format!("2020/01/{n}.jpg")), vec![n as u8; 500 + n * 37]).unwrap();
    }
    let large: Vec<u8> = (0..20_000_003_u32).map(|n| (n >> 3) as u8).collect();
    fs::write(uploads(folder).join("large.mp4"), &large).unwrap();
    let originals = files(folder);
    let before: BTreeMap<&String, Found> =
        originals.keys().map(|path| (path, served(&server, path).unwrap())).collect();
    assert_eq!(before.values().filter(|found| found.status != 200).count(), 1, "only the hidden file");

    // The server must not lose files that it uses.
    let (out, _) = moved(folder, &["--to-bucket", "--delete-source"]);
    assert!(stderr(&out).contains("would delete files that the server uses"), "{}", stderr(&out));
    let text = must_move(folder, &["--to-bucket", "--dry-run"]);
    assert_eq!(copied(&text), originals.len(), "{text}");
    assert_eq!(moto.object(&first).status, 404);

    // From here on, every file is served at every moment.
    let (stop, n_requests) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let paths: Vec<&String> = before.keys().copied().filter(|path| *path != "large.mp4").collect();
            for path in paths.iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // The connection may end with a restart; the response may not differ.
                if let Some(found) = served(&server, path).filter(|found| found.status != 503) {
                    assert!(found == before[*path], "{path}: {} {}", found.status, found.content_type);
                    n_requests.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        let stopped = StopOnDrop(&stop);
        reload(folder, &moto, &server, "bucket,folder");
        let second = upload(&server, &user, "first.png", &png(2));
        assert!(second.ends_with("/first-1.png") && !uploads(folder).join(&second).exists(), "{second}");
        assert_eq!(moto.object(&second), Found { status: 200, content_type: "image/png".to_owned(), body: png(2) });

        let kills = kill_repeatedly(folder, &["--to-bucket"], || moto.n_objects());
        assert!(kills > 0);
        let text = must_move(folder, &["--to-bucket"]);
        let n = copied(&text);
        assert!(n < originals.len() && text.contains("Next: set `uploads.use = \"bucket\"`"), "{kills} kills: {text}");
        assert_eq!(copied(&must_move(folder, &["--to-bucket"])), 0);
        for (path, content) in &originals {
            let object = moto.object(path);
            assert!(object.body == *content, "{path}");
            if before[path].status == 200 {
                assert_eq!(object.content_type, before[path].content_type, "{path}");
            }
        }

        // A file that differs is named, and is kept.
        fs::write(uploads(folder).join("2020/01/5.jpg"), "other").unwrap();
        let (out, _) = moved(folder, &["--to-bucket", "--delete-source"]);
        let errors = stderr(&out);
        assert!(
            !out.status.success() && errors.contains("2020/01/5.jpg: the destination has another file"),
            "{errors}"
        );
        assert_eq!(files(folder), [("2020/01/5.jpg".to_owned(), b"other".to_vec())].into());
        fs::write(uploads(folder).join("2020/01/5.jpg"), &originals["2020/01/5.jpg"]).unwrap();
        let text = must_move(folder, &["--to-bucket", "--delete-source"]);
        assert!(text.contains("1 deleted in the folder") && files(folder).is_empty(), "{text}");
        reload(folder, &moto, &server, "bucket");
        assert_eq!(served(&server, &second).unwrap().body, png(2));
        let found = served(&server, "large.mp4").unwrap();
        assert!(found == before[&"large.mp4".to_owned()]);

        // And back.
        settings(folder, &moto, "folder,bucket");
        let (out, _) = moved(folder, &["--to-folder", "--delete-source"]);
        assert!(stderr(&out).contains("reload the server before --delete-source"), "{}", stderr(&out));
        reload(folder, &moto, &server, "folder,bucket");
        let n_files = || files(folder).keys().filter(|name| !name.ends_with("#0")).count();
        let kills = kill_repeatedly(folder, &["--to-folder"], n_files);
        let text = must_move(folder, &["--to-folder"]);
        assert!(kills > 0 && copied(&text) < originals.len(), "{kills} kills: {text}");
        let text = must_move(folder, &["--to-folder", "--delete-source"]);
        assert!(text.contains(&format!("{} deleted in the bucket", originals.len() + 1)), "{text}");
        assert_eq!(moto.object(&first).status, 404);
        reload(folder, &moto, &server, "folder");
        let mut expected = originals.clone();
        expected.insert(second.clone(), png(2));
        assert!(files(folder) == expected, "{:?}", files(folder).keys());
        drop(stopped);
        watch.join().unwrap();
    });
    assert!(n_requests.load(Ordering::Relaxed) > 300, "{n_requests:?}");
    server.stop();
}

/// Ends the other thread also if the test fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_bucket_that_cannot_be_used_is_an_error() {
    let Some(moto) = Moto::start() else { return };
    let root = tempfile::tempdir().unwrap();
    settings(root.path(), &moto, "folder");
    fs::create_dir_all(uploads(root.path())).unwrap();
    fs::write(uploads(root.path()).join("a.txt"), "a").unwrap();
    let missing = ["--uploads-bucket", "missing", "media", "move", "--to-bucket"];
    let out = run(root.path(), None, &missing);
    assert!(!out.status.success() && stderr(&out).contains("the bucket cannot be used"), "{}", stderr(&out));
    fs::write(root.path().join("svc.toml"), "").unwrap();
    let (out, _) = moved(root.path(), &["--to-bucket"]);
    assert!(stderr(&out).contains("set `uploads.bucket`"), "{}", stderr(&out));
}

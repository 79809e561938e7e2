//! Encrypted objects, and what can be checked without a key.

use std::fs;
use std::process::{Command, Stdio};

use age::secrecy::ExposeSecret as _;
use age::x25519;

use super::*;
use crate::Folder;
use crate::object::{PagesHeader, decode, encode};

const KEY: &str = "db/g/snapshot/0000000001-1700000000000/0000001";

/// A new key, as a file and as text.
fn new_key(folder: &Path, name: &str) -> (std::path::PathBuf, String) {
    let identity = x25519::Identity::generate();
    let path = folder.join(name);
    let text =
        format!("# created: today\n# public key: {}\n{}\n", identity.to_public(), identity.to_string().expose_secret());
    fs::write(&path, text).unwrap();
    (path, identity.to_public().to_string())
}

fn object(body: &[u8]) -> Vec<u8> {
    let header = PagesHeader { generation: "g".to_owned(), first: 1, n_pages: 1, page_size: 512 };
    encode(&header, body).unwrap()
}

#[test]
fn each_of_several_keys_decrypts() {
    let root = tempfile::tempdir().unwrap();
    let to: Arc<dyn Destination> = Arc::new(Folder::new(&root.path().join("backup")));
    let keys = ["one", "two", "other"].map(|name| new_key(root.path(), name));
    let recipients = Recipients::parse(&[keys[0].1.clone(), keys[1].1.clone(), keys[0].1.clone()]).unwrap();
    assert_eq!((recipients.count(), &*format!("{recipients:?}")), (2, "2 recipients"));
    let encrypting = Encrypting { to: Arc::clone(&to), recipients };
    // Also with more than one chunk, and with none that is not full.
    for (n, size) in [0, 1, CHUNK - 200, CHUNK, 3 * CHUNK + 7].into_iter().enumerate() {
        let body: Vec<u8> = (0..size).map(|n| ((n * 7919) >> 5) as u8).collect();
        let (key, plain) = (format!("{KEY}{n}"), object(&body));
        encrypting.put(&key, plain.clone()).unwrap();
        let stored = to.get(&key).unwrap();
        assert!(is_encrypted(&stored) && !stored.windows(12).any(|bytes| bytes == b"\"page_size\":"));
        assert!(matches!(decode::<PagesHeader>(&key, &stored), Err(BackupError::Encrypted(of)) if of == key));
        for (path, _) in &keys[..2] {
            let decrypting = Decrypting::new(Arc::clone(&to), Identities::read(path).unwrap());
            assert!(decrypting.get(&key).unwrap() == plain, "{size}");
        }
        let wrong = Decrypting::new(Arc::clone(&to), Identities::read(&keys[2].0).unwrap());
        let error = wrong.get(&key).unwrap_err();
        assert_eq!(error.to_string(), format!("none of the given secret keys decrypts {key}"));
    }
    // What the server reads again is not encrypted, and an object that is not is read as it is.
    for key in ["owner/0000000001", "files/list/1700000000000"] {
        encrypting.put(key, object(b"plain")).unwrap();
        let wrong = Decrypting::new(Arc::clone(&to), Identities::read(&keys[2].0).unwrap());
        assert!(to.get(key).unwrap() == object(b"plain") && wrong.get(key).unwrap() == object(b"plain"));
    }
}

#[test]
fn a_change_of_an_encrypted_object_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("backup");
    let to: Arc<dyn Destination> = Arc::new(Folder::new(&folder));
    let (path, public) = new_key(root.path(), "key");
    let encrypting = Encrypting { to: Arc::clone(&to), recipients: Recipients::parse(&[public]).unwrap() };
    encrypting.put(KEY, object(b"content")).unwrap();
    let decrypting = Decrypting::new(to, Identities::read(&path).unwrap());
    let stored = fs::read(folder.join(KEY)).unwrap();
    for i in 0..stored.len() {
        let mut changed = stored.clone();
        changed[i] ^= 1;
        fs::write(folder.join(KEY), &changed).unwrap();
        let read = decrypting.get(KEY).and_then(|bytes| decode::<PagesHeader>(KEY, &bytes));
        assert!(matches!(read, Err(BackupError::Damaged { .. } | BackupError::WrongIdentity(_))), "byte {i}");
        fs::write(folder.join(KEY), &stored[..i]).unwrap();
        let read = decrypting.get(KEY).and_then(|bytes| decode::<PagesHeader>(KEY, &bytes));
        assert!(read.is_err(), "the first {i} bytes");
    }
    // Without a key, only a length that is not possible.
    assert!(check_form(KEY, &stored).is_ok());
    let header = stored.len() - object(b"content").len() - NONCE - TAG;
    for length in [0, 30, header - 1, header + NONCE, header + NONCE + TAG] {
        assert!(check_form(KEY, &stored[..length]).is_err(), "{length}");
    }
}

#[test]
fn invalid_keys_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (path, public) = new_key(root.path(), "key");
    let secret = fs::read_to_string(path).unwrap().lines().last().unwrap().to_owned();
    let parse = |keys: &[&str]| Recipients::parse(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
    assert!(parse(&[&public]).is_ok());
    for keys in [&[][..], &["age1"], &[&secret], &[&public, "ssh-ed25519 AAAA"]] {
        assert!(parse(keys).is_err(), "{keys:?}");
    }
    let many: Vec<String> = (0..21).map(|_| x25519::Identity::generate().to_public().to_string()).collect();
    assert!(Recipients::parse(&many).is_err() && Recipients::parse(&many[1..]).is_ok());
    for text in ["", "# nothing\n", "no key\n", &public] {
        fs::write(root.path().join("file"), text).unwrap();
        let error = Identities::read(&root.path().join("file")).unwrap_err().to_string();
        assert!(error.starts_with(&root.path().join("file").display().to_string()), "{error}");
    }
    assert!(Identities::read(&root.path().join("none")).is_err());
}

#[test]
fn the_key_of_the_server_stays() {
    let root = tempfile::tempdir().unwrap();
    let database = root.path().join("site.db");
    assert!(LocalKey::open(&database, false).unwrap().is_none());
    let first = LocalKey::open(&database, true).unwrap().unwrap();
    let again = LocalKey::open(&database, false).unwrap().unwrap();
    let other = LocalKey::open(&root.path().join("other.db"), true).unwrap().unwrap();
    let position = Position::from_bytes(std::array::from_fn(|n| n as u8 * 9));
    let [fingerprint, others] = [*b"12345678", *b"87654321"];
    let sealing = Sealing { key: &first, fingerprint };
    let sealed = sealing.log_end("g", 7, position);
    assert_eq!(sealed, sealing.log_end("g", 7, position), "the name of a repeated attempt is the same");
    assert_eq!(again.log_end(&sealed, "g", 7), Some(position));
    assert_eq!(again.log_end(&sealed, "g", 8), None);
    assert_eq!(again.log_end(&sealed, "h", 7), None);
    assert_eq!(again.snapshot(&sealed, "g", 7), None);
    assert_eq!(other.log_end(&sealed, "g", 7), None);
    assert_eq!(again.snapshot(&sealing.snapshot("g", 7, position), "g", 7), Some(position));
    let ids = [
        sealing.part_id(b"a"),
        sealing.part_id(b"b"),
        Sealing { key: &first, fingerprint: others }.part_id(b"a"),
        Sealing { key: &other, fingerprint }.part_id(b"a"),
    ];
    assert!((0..4).all(|i| ids[i].len() == 64 && (0..i).all(|j| ids[i] != ids[j])), "{ids:?}");
    assert_eq!(Sealing { key: &again, fingerprint }.part_id(b"a"), ids[0]);
    // A key that was not written to its end is replaced.
    fs::write(root.path().join("site.db.backup-key"), "short").unwrap();
    let new = LocalKey::open(&database, true).unwrap().unwrap();
    assert_eq!(new.log_end(&sealed, "g", 7), None);
}

/// The program of Debian's package `age` reads what this crate writes.
#[test]
fn the_program_age_decrypts_objects() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("backup");
    let run = |program: &str, args: &[&str]| Command::new(program).args(args).stderr(Stdio::piped()).output();
    let key = root.path().join("key.txt");
    let key_path = key.to_str().unwrap();
    if run("age-keygen", &["-o", key_path]).is_err() {
        let _lost = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: the program age is not installed\n");
        return;
    }
    let public = run("age-keygen", &["-y", key_path]).unwrap().stdout;
    let public = String::from_utf8(public).unwrap().trim().to_owned();
    let other = x25519::Identity::generate().to_public().to_string();
    let to: Arc<dyn Destination> = Arc::new(Folder::new(&folder));
    let encrypting = Encrypting { to: Arc::clone(&to), recipients: Recipients::parse(&[other, public]).unwrap() };
    let plain = object(&vec![9; 200_000]);
    encrypting.put(KEY, plain.clone()).unwrap();
    let out = run("age", &["-d", "-i", key_path, folder.join(KEY).to_str().unwrap()]).unwrap();
    assert!(out.stdout == plain, "{}", String::from_utf8_lossy(&out.stderr));
    assert!(Decrypting::new(to, Identities::read(&key).unwrap()).get(KEY).unwrap() == plain);
}

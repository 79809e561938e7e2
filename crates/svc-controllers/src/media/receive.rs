//! Reads the file of an upload: the request body, a file of a form, or a URL to fetch.

use std::{io::Read, time::Duration};

use md5::{Digest, Md5};
use svc_fetch::Get;
use svc_media::Blob;
use svc_routing::{FileData, Request, Result};
use svc_schema::Error;
use svc_site::{Settings, Site, blocking::run_blocking, http_client::own_origins};
use svc_text::MimeTypes;

use super::errors;

/// Maximum size of a fetched image, in bytes.
const FETCH_BYTES: u64 = 32 << 20;
/// Timeout for fetching an image.
const FETCH_TIME: Duration = Duration::from_secs(30);

/// A received file, not yet validated.
#[derive(Debug)]
pub(super) struct ReceivedFile {
    /// Its name as sent, without folders. Untrusted.
    pub(super) name: String,
    /// It is from a form.
    pub(super) is_form: bool,
    /// Its content.
    pub(super) blob: Blob,
}

impl ReceivedFile {
    /// The error for a file type that cannot be stored.
    pub(super) fn type_error(&self) -> Error {
        errors::refused_type(self.is_form)
    }
}

fn blob(data: FileData) -> Blob {
    match data {
        FileData::Memory(bytes) => Blob::Memory(bytes),
        FileData::Disk(path) => Blob::Disk(path),
    }
}

/// The file of a request.
///
/// # Errors
/// 400 if the file or its name is missing; 412 if the checksum does not match.
pub(super) async fn received(req: &Request) -> Result<ReceivedFile> {
    let received = if req.files().is_empty() { from_body(req)? } else { from_form(req)? };
    if let Some(checksum) = req.header("content-md5").map(str::trim).filter(|checksum| !checksum.is_empty()) {
        let file = received.blob.clone();
        let actual = run_blocking(move || md5_of(&file))
            .await
            .map_err(|e| errors::storage(&e))?
            .map_err(|e| errors::storage(&e))?;
        if actual != checksum {
            return Err(errors::hash_mismatch());
        }
    }
    Ok(received)
}

/// Fetches the image at a URL.
///
/// # Errors
/// Fails if the URL is not permitted, has no image file name, or does not return an image.
pub(super) async fn fetched(site: &Site, settings: &Settings, url: &str) -> Result<ReceivedFile> {
    let parsed = url::Url::parse(url).map_err(|_| errors::invalid_url())?;
    let name = parsed.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
    let known = MimeTypes::known();
    let get = Get::new(url).allow(own_origins(settings)).within(FETCH_TIME).max_bytes(FETCH_BYTES);
    if !svc_text::check_filetype(&name, &known).is_some_and(|(_, mime)| mime.starts_with("image/")) {
        // URLs that are not permitted are rejected first, regardless of the file name.
        site.services.http_client.check(get).await.map_err(|_| errors::invalid_url())?;
        return Err(errors::no_image_url());
    }
    let response = site.services.http_client.send(get).await.map_err(|error| {
        tracing::debug!(%error, "image fetch failed");
        if error.is_invalid_url() { errors::invalid_url() } else { errors::no_response() }
    })?;
    if response.status != 200 {
        return Err(errors::unexpected_status(response.status));
    }
    Ok(ReceivedFile { name, is_form: false, blob: Blob::Memory(response.body.into()) })
}

fn from_form(req: &Request) -> Result<ReceivedFile> {
    let Some(file) = req.file("file") else {
        return Err(errors::invalid_form("The form has no file under the name `file`."));
    };
    if file.size == 0 {
        return Err(errors::invalid_form("The file is empty."));
    }
    Ok(ReceivedFile {
        name: svc_text::basename(&file.name, "").to_owned(),
        is_form: true,
        blob: blob(file.data.clone()),
    })
}

fn from_body(req: &Request) -> Result<ReceivedFile> {
    let blob = blob(req.body_file());
    if blob.size().map_err(|e| errors::storage(&e))? == 0 {
        return Err(errors::no_data());
    }
    let non_empty = |name: &str| req.header(name).filter(|value| !value.is_empty());
    let disposition = non_empty("content-disposition").ok_or_else(errors::no_disposition)?;
    let name = disposition_name(disposition).ok_or_else(errors::invalid_disposition)?;
    Ok(ReceivedFile { name, is_form: false, blob })
}

/// The name in a `Content-Disposition` header. Source: `get_filename_from_disposition`.
fn disposition_name(header: &str) -> Option<String> {
    let (_, parts) = header.split_once(';')?;
    let value = |part: &str| {
        let (name, value) = part.split_once('=')?;
        (name.trim() == "filename").then(|| value.trim().to_owned())
    };
    let name = parts.split(';').filter_map(value).next_back().filter(|name| !name.is_empty())?;
    let plain = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(&name);
    Some(plain.to_owned())
}

fn md5_of(file: &Blob) -> std::io::Result<String> {
    let (mut hash, mut reader, mut buffer) = (Md5::new(), file.reader()?, vec![0; 64 * 1024]);
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_in_content_disposition() {
        for (header, expected) in [
            ("attachment; filename=\"a b.png\"", Some("a b.png")),
            ("inline; name=x; filename = plain.png", Some("plain.png")),
            ("attachment; filename=\"../../a.png\"", Some("../../a.png")),
            ("attachment; filename=a.png; filename=b.png", Some("b.png")),
            ("attachment; filename=", None),
            ("attachment; filename*=UTF-8''a.png", None),
            ("attachment", None),
            ("filename=a.png", None),
        ] {
            assert_eq!(disposition_name(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn md5_of_a_file() {
        assert_eq!(md5_of(&Blob::Memory(b"abc"[..].into())).unwrap(), "900150983cd24fb0d6963f7d28e17f72");
    }
}

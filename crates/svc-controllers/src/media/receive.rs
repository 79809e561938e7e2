//! The file that a request brings: the body itself, named by a header, or a file of a form.

use std::{io::Read, time::Duration};

use md5::{Digest, Md5};
use svc_fetch::Get;
use svc_media::Blob;
use svc_routing::{Request, Result, request::FileData};
use svc_schema::Error;
use svc_site::{Settings, blocking::run_blocking, http_client::own};
use svc_text::MimeTypes;

use super::errors;
use crate::RestSite;

/// Largest image that is fetched from elsewhere, in bytes.
const FETCH_BYTES: u64 = 32 << 20;
/// Time that fetching one may take.
const FETCH_TIME: Duration = Duration::from_secs(30);

/// A file that arrived, not yet looked at.
#[derive(Debug)]
pub(super) struct Received {
    /// Its name as sent, without folders. Not to be trusted.
    pub(super) name: String,
    /// A form brought it.
    pub(super) is_form: bool,
    /// Its bytes.
    pub(super) blob: Blob,
}

impl Received {
    /// The error that says why it cannot be stored.
    pub(super) fn refused(&self) -> Error {
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
/// What the request lacks; a checksum that does not fit.
pub(super) async fn received(req: &Request) -> Result<Received> {
    let received = if req.files().is_empty() { from_body(req)? } else { from_form(req)? };
    if let Some(sum) = req.header("content-md5").map(str::trim).filter(|sum| !sum.is_empty()) {
        let file = received.blob.clone();
        let found = run_blocking(move || md5_of(&file)).await?.map_err(|e| errors::storage(&e))?;
        if found != sum {
            return Err(errors::hash_mismatch());
        }
    }
    Ok(received)
}

/// The image at an address: fetched within the bounds on outgoing requests.
///
/// # Errors
/// When the address may not be asked, names no image, or answers none.
pub(super) async fn fetched(site: &RestSite, settings: &Settings, address: &str) -> Result<Received> {
    let path = url::Url::parse(address).map_err(|_| errors::invalid_url())?;
    let name = path.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
    let known = MimeTypes::known();
    let get = Get::new(address).allow(own(settings)).within(FETCH_TIME).max_bytes(FETCH_BYTES);
    if !svc_text::check_filetype(&name, &known).is_some_and(|(_, mime)| mime.starts_with("image/")) {
        // An address that may not be asked is refused as such, whatever it names.
        site.http_client.check(get).await.map_err(|_| errors::invalid_url())?;
        return Err(errors::no_image_address());
    }
    let answer = site.http_client.send(get).await.map_err(|error| {
        tracing::debug!(%error, "an image was not fetched");
        if error.is_invalid_url() { errors::invalid_url() } else { errors::no_answer() }
    })?;
    if answer.status != 200 {
        return Err(errors::answered(answer.status));
    }
    Ok(Received { name, is_form: false, blob: Blob::Memory(answer.body.into()) })
}

fn from_form(req: &Request) -> Result<Received> {
    let Some(file) = req.file("file") else {
        return Err(errors::unusable_form("The form has no file under the name `file`."));
    };
    if file.size == 0 {
        return Err(errors::unusable_form("The file is empty."));
    }
    Ok(Received { name: svc_text::basename(&file.name, "").to_owned(), is_form: true, blob: blob(file.data.clone()) })
}

fn from_body(req: &Request) -> Result<Received> {
    let blob = blob(req.body_file());
    if blob.size().map_err(|e| errors::storage(&e))? == 0 {
        return Err(errors::no_data());
    }
    let filled = |name: &str| req.header(name).filter(|value| !value.is_empty());
    let disposition = filled("content-disposition").ok_or_else(errors::no_disposition)?;
    let name = disposed_name(disposition).ok_or_else(errors::invalid_disposition)?;
    Ok(Received { name, is_form: false, blob })
}

/// The name in a `Content-Disposition` header. Source: `get_filename_from_disposition`.
fn disposed_name(header: &str) -> Option<String> {
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
    fn names_in_headers() {
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
            assert_eq!(disposed_name(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn sums() {
        assert_eq!(md5_of(&Blob::Memory(b"abc"[..].into())).unwrap(), "900150983cd24fb0d6963f7d28e17f72");
    }
}

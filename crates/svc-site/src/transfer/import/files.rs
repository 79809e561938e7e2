//! Fetches the files of attachments.

use std::{sync::Arc, time::Duration};

use svc_fetch::Get;
use svc_media::Blob;
use svc_store::stamp;
use svc_text::MimeTypes;
use svc_versions::Context;
use svc_wxr::Item;

use crate::{
    Settings, Site,
    http_client::own_origins,
    media::upload_store::{ImageMetaSource, NewFile, Processing, StoredUpload, UploadStore, WrittenFiles},
};

/// Maximum size of a file, in bytes, and time to fetch it.
const MAX_FILE: u64 = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(120);

/// Bytes of a file that show its type.
const HEAD: usize = 64 << 10;

/// Fetches and stores the file of an attachment. The reason of a failure is for people.
pub(super) async fn fetch(
    cx: &Context,
    site: &Arc<Site>,
    settings: &Arc<Settings>,
    item: &Item,
    any_html: bool,
) -> Result<(NewFile, WrittenFiles), String> {
    let url = if item.attachment_url.is_empty() { &item.guid } else { &item.attachment_url };
    let allowed = MimeTypes::allowed(any_html);
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    let name = svc_text::sanitize_file_name(&name, &allowed);
    if svc_text::check_filetype(&name, &allowed).is_none() {
        return Err("files of this type are not stored".to_owned());
    }
    let get = Get::new(url.as_str()).allow(own_origins(settings)).within(TIMEOUT).max_bytes(MAX_FILE);
    let response =
        site.services.http_client.send(get).await.map_err(|error| format!("the file cannot be fetched: {error}"))?;
    if response.status != 200 {
        return Err(format!("the file cannot be fetched: status {}", response.status));
    }
    if response.body.is_empty() {
        return Err("the file is empty".to_owned());
    }
    let head = &response.body[..response.body.len().min(HEAD)];
    let Some(kind) = svc_media::check(&name, head, &allowed) else {
        return Err("the content is not that of a file of this type".to_owned());
    };
    let store = UploadStore { cx, site, settings };
    let blob = Blob::Memory(response.body.into());
    let folder = folder(path, item, settings);
    let stored = store.store(&folder, kind, &blob, ImageMetaSource::Unknown, Processing::default());
    let StoredUpload { file, written, .. } = stored.await.map_err(|error| error.message().to_owned())?;
    Ok((file, written))
}

/// The folder of the file: that in its URL, or that of its date.
fn folder(path: &str, item: &Item, settings: &Settings) -> String {
    if settings.number("uploads_use_yearmonth_folders") == 0 {
        return String::new();
    }
    let mut parts = path.rsplit('/').skip(1);
    if let (Some(month), Some(year)) = (parts.next(), parts.next())
        && is_number(month, 2)
        && is_number(year, 4)
    {
        return format!("{year}/{month}");
    }
    stamp::parse(&item.date).map_or_else(String::new, |date| date.format("%Y/%m").to_string())
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

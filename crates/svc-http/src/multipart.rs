//! Multipart bodies: form fields, and uploaded files in memory or on disk.

use bytes::Bytes;
use futures_util::Stream;
use multer::{Constraints, Field, Multipart, SizeLimit};
use svc_routing::{Error, File, Map};

use crate::body_error::too_large;
use crate::large::Reservation;
use crate::limits::RequestLimits;
use crate::spool::{self, StreamError};

/// Longest name of a field or file, in bytes. Longer names are truncated.
const MAX_NAME: usize = 1024;

/// Reads a multipart body.
///
/// # Errors
/// 413 beyond the limits, 400 for an unreadable body, 503 if the memory for large bodies is exhausted.
pub(crate) async fn read<S, E>(
    stream: S,
    boundary: &str,
    limits: &RequestLimits,
    reserved: &mut Reservation,
) -> Result<(Map, Vec<File>), Error>
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    let constraints = Constraints::new().size_limit(SizeLimit::new().whole_stream(limits.body as u64));
    let mut multipart = Multipart::with_constraints(stream, boundary, constraints);
    let (mut form, mut files, mut size) = (Vec::new(), Vec::new(), 0);
    while let Some(field) = multipart.next_field().await.map_err(stream_error)? {
        let name = truncate(field.name().unwrap_or_default());
        match field.file_name().map(truncate) {
            Some(file_name) => {
                if files.len() >= limits.files {
                    return Err(too_large());
                }
                files.push(read_file(field, name, file_name, limits).await?);
            }
            None => {
                if form.len() >= limits.fields {
                    return Err(too_large());
                }
                // All fields together are limited to the size of a form.
                size += name.len();
                let value = read_text(field, &mut size, limits, reserved).await?;
                form.push((name, value));
            }
        }
    }
    // Field names follow the rules of query strings.
    Ok((svc_php::query::from_pairs(form), files))
}

async fn read_text(
    mut field: Field<'_>,
    size: &mut usize,
    limits: &RequestLimits,
    reserved: &mut Reservation,
) -> Result<String, Error> {
    let mut text = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(stream_error)? {
        *size += chunk.len();
        if *size > limits.text_body {
            return Err(too_large());
        }
        reserved.grow(*size)?;
        text.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// PHP lists the file `up[a]` under `up`.
fn base_name(name: &str) -> String {
    name.split('[').next().unwrap_or_default().to_owned()
}

async fn read_file(field: Field<'_>, name: String, file_name: String, limits: &RequestLimits) -> Result<File, Error> {
    let content_type = field.content_type().map_or_else(String::new, |t| t.to_string());
    let (data, size) = spool::read(field, limits.body as u64, limits.file_in_memory).await?;
    Ok(File { field: base_name(&name), name: file_name, content_type, size, data })
}

fn truncate(name: &str) -> String {
    let end = (0..=MAX_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    name[..end].to_owned()
}

fn stream_error(error: multer::Error) -> Error {
    StreamError::from(error).0
}

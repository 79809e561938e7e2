//! Multipart bodies: form fields, and uploaded files in memory or on disk.

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use multer::{Constraints, Field, Multipart, SizeLimit};
use svc_routing::{Error, File, Map};

use crate::limits::Limits;
use crate::receive::too_large;
use crate::spool::{self, Refusal};

/// Longest name of a field or file in bytes; what is longer is cut.
const MAX_NAME: usize = 1024;

/// Reads a multipart body.
///
/// # Errors
/// 413 beyond the limits, 400 when the body cannot be read.
pub(crate) async fn read<S, E>(stream: S, boundary: &str, limits: &Limits) -> Result<(Map, Vec<File>), Error>
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
{
    let constraints = Constraints::new().size_limit(SizeLimit::new().whole_stream(limits.body as u64));
    let mut multipart = Multipart::with_constraints(stream, boundary, constraints);
    let (mut form, mut files, mut n_fields) = (String::new(), Vec::new(), 0);
    while let Some(field) = multipart.next_field().await.map_err(failed)? {
        let name = cut(field.name().unwrap_or_default());
        match field.file_name().map(cut) {
            Some(file_name) => {
                if files.len() >= limits.files {
                    return Err(too_large());
                }
                files.push(read_file(field, name, file_name, limits).await?);
            }
            None => {
                n_fields += 1;
                let value = read_text(field, limits).await?;
                // All fields together are held to the bound of a form.
                if n_fields > limits.fields || form.len() + value.len() > limits.text_body {
                    return Err(too_large());
                }
                if !form.is_empty() {
                    form.push('&');
                }
                form.push_str(&svc_php::query::urlencode(&name));
                form.push('=');
                form.push_str(&svc_php::query::urlencode(&value));
            }
        }
    }
    // The names of fields follow the rules of query strings.
    Ok((svc_php::query::parse(form.as_bytes()), files))
}

async fn read_text(mut field: Field<'_>, limits: &Limits) -> Result<String, Error> {
    let mut text = BytesMut::new();
    while let Some(chunk) = field.chunk().await.map_err(failed)? {
        if text.len() + chunk.len() > limits.text_body {
            return Err(too_large());
        }
        text.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// `up[a]` is found under `up`, as PHP lists it.
fn base_name(name: &str) -> String {
    name.split('[').next().unwrap_or_default().to_owned()
}

async fn read_file(field: Field<'_>, name: String, file_name: String, limits: &Limits) -> Result<File, Error> {
    let content_type = field.content_type().map_or_else(String::new, |t| t.to_string());
    let (data, size) = spool::read(field, limits.body as u64, limits.file_in_memory).await?;
    Ok(File { field: base_name(&name), name: file_name, content_type, size, data })
}

fn cut(name: &str) -> String {
    let end = (0..=MAX_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    name[..end].to_owned()
}

fn failed(error: multer::Error) -> Error {
    Refusal::from(error).0
}

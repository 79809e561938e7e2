//! The files of a site: which of them a URL means, and their responses. Nothing here runs a script.

mod names;
mod serve;
mod target;

pub(crate) use serve::{plain, send};
pub(crate) use target::{FileTarget, Files, Script};

#![doc = include_str!("../README.md")]

mod certificate;
mod certificates;
mod error;
mod validity;

pub use certificate::{Certificate, CertificateFiles};
pub use certificates::Certificates;
pub use error::{Error, Result};

#![doc = include_str!("../README.md")]

mod acme;
mod certificate;
mod certificates;
mod challenges;
mod error;
mod validity;

pub use acme::{AcmeSettings, FOLDER, LETS_ENCRYPT, last_failure, stored_files};
pub use certificate::{Certificate, CertificateFiles};
pub use certificates::Certificates;
pub use error::{Cause, Error, NoNewCertificate, Result};

#![doc = include_str!("../README.md")]

mod background;
mod cli;
mod data_folder;
pub mod error;
#[cfg(feature = "wordpress")]
mod front;
mod log_fields;
mod logs;
mod site;
mod tls;
#[cfg_attr(not(feature = "otlp"), path = "no_traces.rs")]
mod traces;
mod upgrade_copy;
mod version;

pub use site::{OpenSite, SiteBuilder};
pub use svc_config as config;
pub use svc_new_site::Created;
pub use svc_pages::Texts;

// Crates that programs with a `SiteBuilder` use.
pub use svc_auth as auth;
pub use svc_controllers as controllers;
pub use svc_listen as listen;
pub use svc_model as model;
pub use svc_routing as routing;
pub use svc_schema as schema;
pub use svc_site::{Extension, Plugin, Site, jobs};

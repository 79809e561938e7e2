#![doc = include_str!("../README.md")]

mod accounts;
mod active_theme;
mod cli;
pub mod config;
mod data_lock;
pub mod error;
pub mod first_run;
#[cfg(feature = "wordpress")]
mod front;
mod log_queue;
mod logs;
mod shipped_theme;
mod site;

pub use site::{OpenSite, SiteBuilder};
pub use svc_pages::Texts;

// Crates that programs with a `SiteBuilder` use.
pub use svc_auth as auth;
pub use svc_controllers as controllers;
pub use svc_listen as listen;
pub use svc_model as model;
pub use svc_routing as routing;
pub use svc_schema as schema;
pub use svc_site::{Extension, Plugin, Site, jobs};

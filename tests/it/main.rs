//! Integration tests of the workspace: real servers on real sockets, each with its own temporary directory.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod admin;
#[path = "../../crates/svc-auth/tests/authenticator/mod.rs"]
mod authenticator;
mod backup_bucket;
mod browser;
mod bucket;
mod cache_tags;
mod cached_responses;
mod client;
mod clients;
mod conditional;
mod events;
mod export;
mod failures;
mod first_run;
mod fuzz_corpus;
mod hooks;
mod images;
mod import;
mod lanes;
mod log;
mod logged_in_pages;
mod login;
mod loopback;
mod mail;
mod malformed_requests;
mod markdown;
mod openapi;
mod outgoing;
mod pages;
mod parallel;
mod passkeys;
mod plugins;
mod preview_links;
mod public_site;
mod ranked_search;
mod reference;
mod remote_site;
mod resolve;
mod rest_api;
mod s3;
mod site;
mod specification;
mod tls;
mod transfer;
mod two_factor;
mod user_visibility;
mod visitor;
mod webhooks;

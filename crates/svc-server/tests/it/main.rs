//! Tests of the library's configuration and of the program.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

#[cfg(all(unix, feature = "otlp"))]
mod collector;
mod config;
#[cfg(unix)]
mod continuous_backup;
#[cfg(unix)]
mod deploy;
#[cfg(unix)]
mod documentation;
#[cfg(all(unix, feature = "age"))]
mod encrypted_backup;
mod front;
mod jobs;
mod login_limits;
mod mails;
#[cfg(all(unix, feature = "s3"))]
mod media_move;
mod memory;
mod messages;
#[cfg(unix)]
mod monitoring;
#[cfg(unix)]
mod museum;
mod process;
mod profile;
mod program;
mod proxies;
mod rate_limits;
#[cfg(unix)]
mod restart;
mod start;
mod statements;
#[cfg(unix)]
mod supervisor;
#[cfg(unix)]
mod tls;
#[cfg(all(unix, feature = "otlp"))]
mod traces;
#[cfg(unix)]
mod transactions;
mod typescript;
#[cfg(unix)]
mod upgrade;
#[cfg(unix)]
mod webhooks;

//! The baseline of the HTTP rows: an axum handler that returns the same bytes, served by axum, in a process of its own.

use std::{io::Write as _, path::Path, process::Command};

use anyhow::{Context, Result};
use axum::{Router, body::Bytes, http::header, routing::get};
use xtask_support::server::Server;

/// The hidden subcommand of the process.
pub(super) const NAME: &str = "bare";

/// Starts the process with a file that contains the body.
pub(super) fn start(body: &Path) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe().context("the path of this program is unknown")?);
    command.args(["bench", NAME]).arg(body);
    Server::start(command, &body.with_extension("log"))
}

/// Serves the bytes of a file at the path of the list of posts.
pub(super) fn run(file: &Path) -> Result<()> {
    let body = Bytes::from(std::fs::read(file)?);
    let handler =
        move || std::future::ready(([(header::CONTENT_TYPE, "application/json; charset=UTF-8")], body.clone()));
    let app = Router::new().route("/posts", get(handler));
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
        axum::serve(listener, app).await.context("the server failed")
    })
}

//! A server with the extension Reading Time: a field, a route and a hook that administrators activate and deactivate at run
//! time, as a plugin.
//!
//! ```text
//! cargo run -p svc-server --example reading_time
//! ```

mod extension;

fn main() -> std::process::ExitCode {
    svc_server::SiteBuilder::new().extension(extension::ReadingTime).command_line()
}

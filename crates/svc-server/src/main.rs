//! The server as a program: a site with what every site has, and the extensions that come with it, switched off.

fn main() -> std::process::ExitCode {
    svc_server::SiteBuilder::new().extension(svc_reading_time::ReadingTime).command_line()
}

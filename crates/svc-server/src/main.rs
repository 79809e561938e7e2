//! The server as a program: a site with what every site has.

fn main() -> std::process::ExitCode {
    svc_server::SiteBuilder::new().command_line()
}

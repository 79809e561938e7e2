//! The server as a program: a site with what every site has, and the extensions that come with it, switched off.

/// A request makes some thousands of small allocations, a third of its time with the system's allocator.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    svc_server::SiteBuilder::new().extension(svc_reading_time::ReadingTime).command_line()
}

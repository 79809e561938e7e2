//! The server as a program.

/// A request makes thousands of small allocations: a third of its time with the system's allocator.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    svc_server::SiteBuilder::new().command_line()
}

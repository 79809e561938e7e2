//! The version of the program.

/// Tells builds of one version apart, if it is set where the program is built.
const BUILD: Option<&str> = option_env!("SVC_BUILD");

/// The version of the program, such as `1.2.3`, or `1.2.3+BUILD` if the variable `SVC_BUILD` was set when it was built.
pub(crate) fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    BUILD.filter(|build| !build.is_empty()).map_or_else(|| version.to_owned(), |build| format!("{version}+{build}"))
}

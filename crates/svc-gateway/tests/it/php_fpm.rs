//! A private php-fpm with a folder of scripts.

use std::{
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use svc_gateway::{Options, Proxy, ProxyLimits, Site};

/// php-fpm, which stops when it is dropped.
pub(crate) struct PhpFpm {
    program: PathBuf,
    folder: tempfile::TempDir,
    process: Child,
}

/// The program. Debian adds the version to its name, and has it in a folder that not all users search.
fn program() -> Option<PathBuf> {
    let system = std::fs::read_dir("/usr/sbin").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_fpm = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("php-fpm"))
    };
    let runs = |path: &PathBuf| Command::new(path).arg("-v").output().is_ok_and(|done| done.status.success());
    [PathBuf::from("php-fpm")].into_iter().chain(system.filter(is_fpm)).find(runs)
}

impl PhpFpm {
    /// Starts php-fpm with two processes. `None` if it is not installed, which `SVC_NEED_CLIENTS` does not allow.
    pub(crate) fn start(scripts: &[(&str, &str)]) -> Option<Self> {
        Self::with(scripts, "")
    }

    /// Starts php-fpm with more lines of configuration.
    pub(crate) fn with(scripts: &[(&str, &str)], settings: &str) -> Option<Self> {
        let Some(program) = program() else {
            assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "php-fpm is not installed");
            let _seen = writeln!(std::io::stderr(), "skipped: php-fpm is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("www");
        for (name, content) in scripts {
            let file = root.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        let at = folder.path().display();
        let user = if is_root(folder.path()) { "user = root\ngroup = root\n" } else { "" };
        let config = format!(
            "[global]\nerror_log = {at}/log\ndaemonize = no\n[www]\n{user}listen = {at}/php.sock\npm = static\n\
             pm.max_children = 2\nclear_env = yes\ncatch_workers_output = no\nphp_admin_value[post_max_size] = 128M\n\
             php_admin_value[upload_max_filesize] = 128M\nphp_admin_value[upload_tmp_dir] = {at}\n\
             php_admin_value[output_buffering] = 0\nphp_admin_flag[display_errors] = off\nphp_admin_flag[log_errors] = on\nphp_admin_value[memory_limit] = 64M\n{settings}\n"
        );
        std::fs::write(folder.path().join("fpm.conf"), config).unwrap();
        let process = launch(&program, folder.path());
        let fpm = PhpFpm { program, folder, process };
        fpm.wait();
        Some(fpm)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("www")
    }

    /// A folder next to the root.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("php.sock")
    }

    pub(crate) fn proxy(&self, limits: ProxyLimits, site: Site) -> Proxy {
        let upstream = format!("fastcgi:{}", self.socket().display()).parse().unwrap();
        Proxy::new(upstream, "test-1", Options { limits, site: Site { root: self.root(), ..site } })
    }

    pub(crate) fn stop(&mut self) {
        // The process alone would leave its children.
        let pid = self.process.id().to_string();
        let _sent = Command::new("kill").args(["-TERM", &pid]).status();
        let _code = self.process.wait();
    }

    pub(crate) fn start_again(&mut self) {
        self.process = launch(&self.program, self.folder.path());
        self.wait();
    }

    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while std::os::unix::net::UnixStream::connect(self.socket()).is_err() {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "php-fpm does not start: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for PhpFpm {
    fn drop(&mut self) {
        self.stop();
    }
}

fn is_root(own: &Path) -> bool {
    std::fs::metadata(own).is_ok_and(|about| about.uid() == 0)
}

fn launch(program: &Path, folder: &Path) -> Child {
    let mut command = Command::new(program);
    command.arg("-F").arg("-y").arg(folder.join("fpm.conf")).stdout(Stdio::null()).stderr(Stdio::null());
    if is_root(folder) {
        command.arg("-R");
    }
    command.spawn().unwrap()
}

//! The proxies of `docs/beside-wordpress-servers.md`, with the configurations that the guide shows.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use xtask_support::gateway::{Gateway, get};

use super::READS;

const GUIDE: &str = include_str!("../../../../docs/beside-wordpress-servers.md");

/// Addresses in the guide: of the gateway, and of PHP's web server.
const ADDRESSES: [&str; 2] = ["127.0.0.1:8080", "127.0.0.1:8081"];

/// A proxy of the guide.
#[derive(Clone, Copy)]
pub(super) struct Proxy {
    pub(super) name: &'static str,
    /// A text in the code block of the guide.
    mark: &'static str,
    /// Changes of the guide's configuration: the port instead of TLS. `PORT` is the port.
    changes: &'static [(&'static str, &'static str)],
    /// The parts of a whole configuration before and after that of the guide. `DIR` is a folder.
    around: [&'static str; 2],
    /// The program with its arguments. `FILE` is the configuration.
    command: &'static [&'static str],
}

/// All proxies. The load goes through the first.
pub(super) const PROXIES: &[Proxy] = &[
    Proxy {
        name: "nginx",
        mark: "upstream site",
        changes: &[("listen 443 ssl;", "listen 127.0.0.1:PORT;")],
        around: [
            "daemon off; pid DIR/nginx.pid; error_log DIR/error.log; worker_processes 1;\n\
             events { worker_connections 256; }\n\
             http {\naccess_log off; client_body_temp_path DIR/b; proxy_temp_path DIR/p;\n\
             fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;\n",
            "}\n",
        ],
        command: &["nginx", "-c", "FILE"],
    },
    Proxy {
        name: "Caddy",
        mark: "reverse_proxy",
        changes: &[("example.org {", "http://:PORT {\n    bind 127.0.0.1")],
        around: ["{\n    admin off\n    auto_https off\n    storage file_system DIR\n}\n", ""],
        command: &["caddy", "run", "--adapter", "caddyfile", "--config", "FILE"],
    },
    Proxy {
        name: "Apache",
        mark: "BalancerMember",
        changes: &[
            ("*:443", "127.0.0.1:PORT"),
            ("    SSLEngine on\n", ""),
            ("    SSLCertificateFile /etc/letsencrypt/live/example.org/fullchain.pem\n", ""),
            ("    SSLCertificateKeyFile /etc/letsencrypt/live/example.org/privkey.pem\n", ""),
        ],
        around: [
            "ServerRoot /usr/lib/apache2\nServerName localhost\nListen 127.0.0.1:PORT\nPidFile DIR/pid\n\
             ErrorLog DIR/error.log\nDefaultRuntimeDir DIR\nMutex file:DIR default\n\
             LoadModule mpm_event_module modules/mod_mpm_event.so\n\
             LoadModule authz_core_module modules/mod_authz_core.so\n\
             LoadModule headers_module modules/mod_headers.so\n\
             LoadModule proxy_module modules/mod_proxy.so\n\
             LoadModule proxy_http_module modules/mod_proxy_http.so\n\
             LoadModule slotmem_shm_module modules/mod_slotmem_shm.so\n\
             LoadModule proxy_balancer_module modules/mod_proxy_balancer.so\n\
             LoadModule lbmethod_byrequests_module modules/mod_lbmethod_byrequests.so\n",
            "",
        ],
        command: &["apache2", "-DFOREGROUND", "-f", "FILE"],
    },
];

/// A proxy in front of the gateway, with PHP's web server as its backup. It ends on drop.
pub(super) struct Running {
    child: Child,
    pub(super) url: String,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// `None` if it is not installed.
    pub(super) fn start(self, gateway: &Gateway) -> Result<Option<Running>> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let host = |url: &str| url.trim_start_matches("http://").to_owned();
        let text = self.config(&host(gateway.address()), &host(&gateway.site), port, folder.path())?;
        let file = folder.path().join("config");
        std::fs::write(&file, text)?;
        let [program, args @ ..] = self.command else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(args.iter().map(|arg| arg.replace("FILE", &file.display().to_string())));
        command.env("HOME", folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else { return Ok(None) };
        let running = Running { child, url: format!("http://127.0.0.1:{port}"), _folder: folder };
        let begun = Instant::now();
        while get(&running.url, READS[0], "").is_err() {
            ensure!(begun.elapsed() < Duration::from_secs(10), "{} does not respond", self.name);
            sleep(Duration::from_millis(50));
        }
        Ok(Some(running))
    }

    /// The guide's configuration with these addresses, for a port without TLS.
    pub(super) fn config(self, svc: &str, php: &str, port: u16, folder: &Path) -> Result<String> {
        let mut blocks = GUIDE.split("```").skip(1).step_by(2);
        let block = blocks.find(|block| block.contains(self.mark));
        let block = block.with_context(|| format!("the guide has no configuration for {}", self.name))?;
        // The first line is the language.
        let mut text = block.split_once('\n').map_or("", |(_, text)| text).to_owned();
        for (from, to) in self.changes {
            ensure!(text.contains(from), "the configuration for {} has no `{from}`", self.name);
            text = text.replace(from, to);
        }
        let text = text.replace(ADDRESSES[0], svc).replace(ADDRESSES[1], php);
        let text = format!("{}{text}{}", self.around[0], self.around[1]);
        Ok(text.replace("DIR", &folder.display().to_string()).replace("PORT", &port.to_string()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The main process ends its workers.
        drop(Command::new("kill").arg(self.child.id().to_string()).status());
        drop(self.child.wait());
    }
}

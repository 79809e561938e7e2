//! nginx in front of several servers.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};

/// A proxy. It ends on drop.
pub(crate) struct Proxy {
    child: Child,
    address: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Whether nginx is installed.
pub(crate) fn is_installed() -> bool {
    Command::new("nginx").arg("-v").output().is_ok()
}

impl Proxy {
    /// Starts nginx on a port, in front of servers on these ports with these options. Responses have a header of this name with the address
    /// of their server.
    pub(crate) fn start(folder: &Path, port: u16, servers: &[u16], options: &str, upstream: &str) -> Result<Self> {
        let servers: String = servers.iter().map(|port| format!("server 127.0.0.1:{port} {options}; ")).collect();
        // A write is sent to another server only if the first one has not got it.
        let text = format!(
            "daemon off; master_process off; error_log stderr crit; pid {folder}/nginx.pid;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log off; client_max_body_size 32m; client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp;\n\
             fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n\
             upstream servers {{ {servers} }}\n\
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://servers; proxy_set_header Host $http_host;\n\
             proxy_set_header X-Forwarded-For $http_x_forwarded_for;\n\
             add_header {upstream} $upstream_addr always;\n\
             proxy_connect_timeout 1s; proxy_read_timeout 4s; proxy_next_upstream error timeout http_503; }} }} }}\n",
            folder = folder.display()
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, text)?;
        let mut nginx = Command::new("nginx");
        let child = nginx.arg("-e").arg("stderr").arg("-c").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Proxy { child: child.spawn().context("cannot run nginx")?, address: format!("http://127.0.0.1:{port}") })
    }

    /// The URL of the proxy.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

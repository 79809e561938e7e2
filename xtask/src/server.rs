//! A server program under test: started, asked over HTTP, ended.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; it is killed when this goes.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts the command, whose log goes to this file, and waits until it says where it listens.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self> {
        let file = std::fs::File::options().create(true).append(true).open(log).context("cannot write a log")?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let output = child.stdout.take().context("the server has an output")?;
        // The server says where it listens in the first line that holds an address.
        let address = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split_whitespace().find(|w| w.starts_with("http://")).map(str::to_owned));
        let Some(address) = address else {
            let exit = child.wait();
            let log = std::fs::read_to_string(log).unwrap_or_default();
            bail!("the server did not start ({exit:?}): {log}");
        };
        Ok(Server { child, address: address.trim_end_matches('/').to_owned() })
    }

    /// Scheme, host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The peak resident memory in bytes so far; `None` where the system does not report it (Linux does).
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
    }

    /// Ends it at once, without a warning.
    pub(crate) fn kill(&mut self) {
        if self.child.kill().is_ok() {
            let _exit = self.child.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The first header of this name, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The values of all headers of this name.
    pub(crate) fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.body).with_context(|| format!("no JSON: {:.200}", self.body))
    }
}

/// Sends a request with these credentials (`USER:PASSWORD`) and, perhaps, a body of JSON.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    credentials: &str,
    json: Option<&serde_json::Value>,
) -> Result<Answer> {
    let body = json.map(ToString::to_string).unwrap_or_default();
    let mut headers = Vec::new();
    if !credentials.is_empty() {
        headers.push(("Authorization", basic(credentials)));
    }
    if json.is_some() {
        headers.push(("Content-Type", "application/json".to_owned()));
    }
    exchange(address, method, path, &headers, &body)
}

/// The header of Basic authentication with these credentials (`USER:PASSWORD`).
pub(crate) fn basic(credentials: &str) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

/// Sends a request with these headers and this body, on a connection of its own.
pub(crate) fn exchange(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    body: &str,
) -> Result<Answer> {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // The older protocol, in which a body ends with its connection.
    let mut request = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8(answer).context("the answer is no text")?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no end of its head")?;
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("the answer has no status")?;
    if let Some(length) =
        head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok())
        && length != body.len()
    {
        bail!("the answer was cut short");
    }
    Ok(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Creates an application password of the first user with a command of the program, and returns `USER:PASSWORD`.
pub(crate) fn credentials(mut program: Command) -> Result<String> {
    let out = program.args(["app-password", "create", "admin", "xtask"]).output()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let password = text.trim().rsplit(": ").next().filter(|_| out.status.success());
    Ok(format!("admin:{}", password.with_context(|| format!("no application password: {out:?}"))?))
}

/// Starts the server of a command on a free port; its log goes to `server.log` in this folder.
pub(crate) fn serve(mut program: Command, folder: &Path) -> Result<Server> {
    program.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]);
    Server::start(program, &folder.join("server.log"))
}

/// Builds a program of the server's crate, and gives its path: the binary, or an example.
pub(crate) fn build(example: Option<&str>, release: bool) -> Result<std::path::PathBuf> {
    let mut command = crate::cargo()?;
    command.args(["build", "--package", "svc-server"]);
    match example {
        Some(name) => command.args(["--example", name]),
        None => command.args(["--bin", "svc-server"]),
    };
    if release {
        command.arg("--release");
    }
    crate::run(&mut command)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(crate::root()?.join("target"), std::path::PathBuf::from);
    let folder = target.join(if release { "release" } else { "debug" });
    Ok(example.map_or_else(|| folder.join("svc-server"), |name| folder.join("examples").join(name)))
}

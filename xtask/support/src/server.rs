//! Starts a server for a task, sends requests to it, and stops it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{cargo, run, target};

/// The longest time for a request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server. It is killed on drop.
pub struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts the command and waits until it prints the URL that it listens on. Its standard error goes to the file `log`.
    pub fn start(command: Command, log: &Path) -> Result<Self> {
        Server::start_with_input(command, Stdio::null(), log)
    }

    /// [`Self::start`] with another standard input.
    pub fn start_with_input(mut command: Command, input: Stdio, log: &Path) -> Result<Self> {
        let file = std::fs::File::options().create(true).append(true).open(log).context("cannot write the log")?;
        command.stdin(input).stdout(Stdio::piped()).stderr(file);
        let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let output = child.stdout.take().context("the server has no standard output")?;
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
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The peak resident memory in bytes; `None` on systems that do not report it. Linux does.
    pub fn peak_memory(&self) -> Option<u64> {
        status(self.pid(), "VmHWM").map(|kib| kib << 10)
    }

    /// The resident memory in bytes; `None` on systems that do not report it.
    pub fn memory(&self) -> Option<u64> {
        status(self.pid(), "VmRSS").map(|kib| kib << 10)
    }

    /// The CPU time that the process has used; `None` on systems that do not report it.
    pub fn cpu_time(&self) -> Option<Duration> {
        cpu_time(self.pid())
    }

    /// Asks the process to shut down, and waits until it has ended.
    ///
    /// # Errors
    /// If it ends with an error.
    pub fn stop(&mut self) -> Result<()> {
        run(Command::new("kill").arg(self.pid().to_string()))?;
        let status = self.child.wait().context("cannot wait for the server")?;
        if status.success() { Ok(()) } else { bail!("the server ended with {status}") }
    }

    /// Kills the process without a signal to shut down.
    pub fn kill(&mut self) {
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

/// The CPU time that all threads of a process have used; `None` on systems that do not report it. Linux does.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may contain spaces. Two of the fields after it are ticks of a hundredth of a
    // second in user and system mode.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// A figure of a process as Linux reports it: memory in KiB, or a number.
pub fn status(pid: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    value.trim().trim_end_matches("kB").trim().parse().ok()
}

/// A response.
pub struct Response {
    /// The status code.
    pub status: u16,
    head: String,
    /// The body, which must be UTF-8.
    pub body: String,
}

impl Response {
    /// The value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The values of all headers of this name.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Parses the body.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.body).with_context(|| format!("not JSON: {:.200}", self.body))
    }
}

/// Sends a request with credentials (`USER:PASSWORD`, or empty) and an optional JSON body.
pub fn send(
    address: &str,
    method: &str,
    path: &str,
    credentials: &str,
    json: Option<&serde_json::Value>,
) -> Result<Response> {
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

/// The value of an `Authorization` header for credentials (`USER:PASSWORD`).
pub fn basic(credentials: &str) -> String {
    format!("Basic {}", STANDARD.encode(credentials))
}

/// Sends a request on a new connection.
pub fn exchange(address: &str, method: &str, path: &str, headers: &[(&str, String)], body: &str) -> Result<Response> {
    let host = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    // In HTTP/1.0 the body ends with the connection.
    let mut request = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let response = String::from_utf8(response).context("the response is not UTF-8")?;
    let (head, body) = response.split_once("\r\n\r\n").context("the head of the response is incomplete")?;
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("the response has no status")?;
    if let Some(length) =
        head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok())
        && length != body.len()
    {
        bail!("the body of the response is incomplete");
    }
    Ok(Response { status, head: head.to_owned(), body: body.to_owned() })
}

/// Creates an application password of the first user with the command `app-password`, and returns `USER:PASSWORD`.
pub fn credentials(mut program: Command) -> Result<String> {
    // A user's passwords have different names, and the site may have been used before.
    let since = std::time::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?;
    let out = program.args(["app-password", "create", "admin", &format!("xtask {}", since.as_nanos())]).output()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let password = text.trim().rsplit(": ").next().filter(|_| out.status.success());
    Ok(format!("admin:{}", password.with_context(|| format!("no application password: {out:?}"))?))
}

/// The folder of the WordPress site that tasks use unless one is given.
pub fn wordpress_site() -> PathBuf {
    let folder = std::env::var_os("PEER_DIR").map_or(std::env::temp_dir().join("svc-peer"), PathBuf::from);
    folder.join("wordpress")
}

/// Starts a server on a free port. Its log goes to `server.log` in the folder.
pub fn serve(mut program: Command, folder: &Path) -> Result<Server> {
    program.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]);
    Server::start(program, &folder.join("server.log"))
}

/// Builds the server, or an example of its crate, and returns the path of the binary.
///
/// A development build has the features of the tests of all packages, so that nothing is compiled again after `cargo test --workspace`.
///
/// # Errors
/// If it cannot be built.
pub fn build(example: Option<&str>, release: bool) -> Result<PathBuf> {
    build_with(example, release, &[])
}

/// [`build`] with features that are not enabled by default.
///
/// # Errors
/// Like [`build`].
pub fn build_with(example: Option<&str>, release: bool, features: &[&str]) -> Result<PathBuf> {
    let mut command = cargo()?;
    command.arg("build");
    if release {
        command.args(["--release", "--package", "svc-server"]);
    } else {
        // Cargo adds the features of tests if what it builds may use them, as examples may.
        command.args(["--workspace", "--example", example.unwrap_or("demo")]);
    }
    match example {
        Some(name) if release => command.args(["--example", name]),
        Some(_) => &mut command,
        None => command.args(["--bin", "svc-server"]),
    };
    for feature in features {
        command.arg("--features").arg(format!("svc-server/{feature}"));
    }
    run(&mut command)?;
    let folder = target()?.join(if release { "release" } else { "debug" });
    Ok(example.map_or_else(|| folder.join("svc-server"), |name| folder.join("examples").join(name)))
}

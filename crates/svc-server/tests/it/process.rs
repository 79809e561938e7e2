//! The program as a child process.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_svc-server");
pub(crate) const POSTS: &str = "/svc-json/svc/v2/posts";

/// The program with these arguments, in a folder.
pub(crate) fn command(folder: &Path, database: Option<&str>, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(folder).env_clear().stdin(Stdio::null());
    if let Some(url) = database {
        command.env("SVC_DATABASE", url);
    }
    command
}

/// Runs the program to its end.
pub(crate) fn run(folder: &Path, database: Option<&str>, args: &[&str]) -> Output {
    command(folder, database, args).output().unwrap()
}

pub(crate) fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Arguments to serve on a free port.
pub(crate) const SERVE: [&str; 5] = ["--listen", "127.0.0.1:0", "--log", "warn", "serve"];

/// A running server. It is killed on drop.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// Output until the server listens.
    pub(crate) output: String,
}

impl Server {
    pub(crate) fn start(folder: &Path, database: Option<&str>) -> Self {
        Self::spawn(command(folder, database, &SERVE)).unwrap_or_else(|output| panic!("no server: {output}"))
    }

    /// Waits until the server listens. Returns the output if it exits.
    pub(crate) fn spawn(mut command: Command) -> Result<Self, String> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut output = String::new();
        for line in lines {
            output.push_str(&line);
            output.push('\n');
            let url = |word: &str| {
                ["http://", "https://"].iter().find_map(|scheme| word.strip_prefix(scheme)).map(str::to_owned)
            };
            if let Some(address) = line.split_whitespace().find_map(url) {
                return Ok(Server { child, address: address.trim_matches('/').to_owned(), output });
            }
        }
        let mut rest = String::new();
        child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
        child.wait().unwrap();
        Err(output + &rest)
    }

    /// Status and body of a response to a request with a JSON body.
    pub(crate) fn send(&self, method: &str, path: &str, credentials: &str, body: Option<&Value>) -> (u16, Value) {
        let body = body.map(ToString::to_string).unwrap_or_default();
        send(&self.address, method, path, credentials, "Content-Type: application/json\r\n", body.as_bytes())
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child.id().to_string(), name);
    }

    /// Stops the server and returns its log.
    pub(crate) fn stop(mut self) -> String {
        self.signal("TERM");
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        self.child.wait().unwrap();
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

pub(crate) fn signal(pid: &str, name: &str) {
    Command::new("kill").args([&format!("-{name}"), pid]).status().unwrap();
}

/// Sends a request. Returns the status and the JSON body; null if the body is no JSON.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    credentials: &str,
    headers: &str,
    body: &[u8],
) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let basic = STANDARD.encode(credentials);
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Basic {basic}\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A server may respond before it has read a body that it refuses, and close the connection.
    let sent = stream.write_all(body);
    let mut response = Vec::new();
    let received = stream.read_to_end(&mut response);
    assert!((sent.is_ok() && received.is_ok()) || !response.is_empty(), "{method} {path}: {sent:?}, {received:?}");
    let response = String::from_utf8_lossy(&response);
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

/// Login name and application password of an administrator.
pub(crate) fn credentials(folder: &Path, database: Option<&str>) -> String {
    let made = run(folder, database, &["app-password", "create", "admin", "tests"]);
    let text = String::from_utf8(made.stdout).unwrap();
    format!("admin:{}", text.trim().rsplit(": ").next().expect("an application password"))
}

//! Runs pages of the documentation: their shell blocks in order in an empty folder, with their files and servers, and compares the
//! output.
//!
//! Attributes of a code block say what it is: `server=PORT` is a server that runs until the next one on that port, `file=NAME` is
//! the content of a file, `fails` is a command that fails, and `output` is what the shell block before it prints, where `…` matches
//! any text. `stop=PORT` stops that server, in place of the command in the block, and `example` is not run.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use svc_server::config::{Config, Sources};
use svc_testkit::markdown::{Block, blocks};

use crate::process::PROGRAM;

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");
const FAQ: &str = include_str!("../../../../docs/faq.md");
const SERVER: &str = include_str!("../../../../docs/server.md");
const PRODUCTION: &str = include_str!("../../../../docs/production.md");

/// The end of the output of a block, followed by the status of its last command and the shell's folder.
const END: &str = "--- end of block, status ";

/// The longest time until a server responds.
const START: Duration = Duration::from_secs(60);

/// A reader with a terminal and free ports.
struct Terminal {
    /// The shell's current folder.
    folder: PathBuf,
    shell: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The ports of the page, and free ports that replace them.
    ports: BTreeMap<String, u16>,
    servers: BTreeMap<String, Child>,
}

impl Terminal {
    fn open(folder: &Path, ports: BTreeMap<String, u16>) -> Self {
        let mut shell = command(folder, "sh");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(free) = ports.get("8080") {
            shell.env("SVC_LISTEN", format!("127.0.0.1:{free}"));
        }
        let mut shell = shell.spawn().unwrap();
        let (mut input, output) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        writeln!(input, "exec 2>&1").unwrap();
        Self { folder: folder.to_owned(), shell, input, output, ports, servers: BTreeMap::new() }
    }

    /// A text of the page with the ports of this run.
    fn local(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (port, free)| text.replace(port, &free.to_string()))
    }

    /// Runs a block to its end. Returns its output and whether its last command succeeded.
    fn run(&mut self, code: &str) -> (String, bool) {
        let code = self.local(code);
        writeln!(self.input, "{code}\nprintf '\\n%s%s %s\\n' '{END}' $? \"$PWD\"").unwrap();
        let mut output = String::new();
        loop {
            let start = output.len();
            assert!(self.output.read_line(&mut output).unwrap() > 0, "the shell exited: {output}");
            if let Some((status, folder)) = output[start..].trim().strip_prefix(END).and_then(|e| e.split_once(' ')) {
                let ok = status == "0";
                self.folder = PathBuf::from(folder);
                output.truncate(start);
                // Lines of HTTP headers end in both characters.
                return (output.replace("\r\n", "\n"), ok);
            }
        }
    }

    /// Starts a server instead of the one before it on the same port, and waits until it responds.
    fn serve(&mut self, port: &str, code: &str) {
        if let Some(server) = self.servers.remove(port) {
            stop(server);
        }
        let free = self.ports[port];
        let mut shell = command(&self.folder, "sh");
        // `exec` so that the process is the server itself; a block has one command.
        shell.arg("-c").arg(format!("exec {}", self.local(code).trim())).stdout(Stdio::null()).stderr(Stdio::null());
        shell.env("SVC_LISTEN", format!("127.0.0.1:{free}"));
        let mut server = shell.spawn().unwrap();
        let started = Instant::now();
        while !responds(free) {
            assert!(server.try_wait().unwrap().is_none(), "the server exited: {code}");
            assert!(started.elapsed() < START, "no server on port {port}: {code}");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.servers.insert(port.to_owned(), server);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        for (_, server) in std::mem::take(&mut self.servers) {
            stop(server);
        }
        let _gone = self.shell.kill();
        let _ended = self.shell.wait();
    }
}

/// Whether a server on this port responds to a request.
fn responds(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let request = format!("GET / HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).is_ok() && stream.read(&mut [0]).is_ok_and(|n| n > 0)
}

/// Stops a server. Not with SIGINT, which is ignored in processes that a shell started in the background.
fn stop(mut server: Child) {
    let started = Instant::now();
    while matches!(server.try_wait(), Ok(None)) {
        // Repeated, because a signal right after the start may be lost.
        crate::process::signal(&server.id().to_string(), "TERM");
        std::thread::sleep(Duration::from_millis(200));
        if started.elapsed() > START {
            let _gone = server.kill();
        }
    }
}

/// A command in the reader's folder that finds the server's program.
fn command(folder: &Path, name: &str) -> Command {
    let programs = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    command.current_dir(folder).env_clear().stdin(Stdio::null()).process_group(0);
    command.env("PATH", format!("{}:{path}", programs.display())).env("HOME", folder);
    command
}

/// Whether an output is the expected one, in which `…` matches any text.
fn is_expected(output: &str, expected: &str) -> bool {
    let mut rest = output.trim();
    let mut parts = expected.trim().split('…');
    let Some(at_start) = parts.next().and_then(|first| rest.strip_prefix(first.trim_end())) else { return false };
    rest = at_start;
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.trim().is_empty();
    }
    while let Some(part) = parts.next() {
        let part = part.trim();
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// Follows a page from its first to its last block.
fn follow(page: &str) {
    let blocks = blocks(page);
    let listeners: Vec<(String, TcpListener)> = blocks
        .iter()
        .filter_map(|b| Some((b.attribute("server")?.to_owned(), TcpListener::bind("127.0.0.1:0").unwrap())))
        .collect();
    let ports = listeners.iter().map(|(port, free)| (port.clone(), free.local_addr().unwrap().port())).collect();
    drop(listeners);
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(folder.path(), ports);
    let mut n_run = 0;
    for (n, block) in blocks.iter().enumerate() {
        let line = block.line;
        if block.attribute("example").is_some() {
            continue;
        }
        if let Some(name) = block.attribute("file") {
            let file = terminal.folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, terminal.local(&block.code)).unwrap();
        } else if let Some(port) = block.attribute("server") {
            terminal.serve(port, &block.code);
        } else if let Some(port) = block.attribute("stop") {
            stop(terminal.servers.remove(port).expect("a running server"));
        } else if block.language == "sh" {
            let (output, ok) = terminal.run(&block.code);
            assert!(ok != block.attribute("fails").is_some(), "line {line}, success is {ok}: {output}");
            n_run += 1;
            if let Some(expected) = blocks.get(n + 1).filter(|next| next.attribute("output").is_some()) {
                let expected = terminal.local(&expected.code);
                assert!(is_expected(&output, &expected), "line {line}: expected\n{expected}\ngot\n{output}");
            }
        } else {
            assert!(block.attribute("output").is_some(), "line {line}: this block is not run");
        }
    }
    assert!(n_run > 0, "the page has no shell blocks");
}

/// Whether the programs that the tutorial uses are installed. `SVC_NEED_CLIENTS` requires them.
fn is_equipped() -> bool {
    let missing = ["curl", "python3", "sed", "base64", "tar", "gzip"].into_iter().find(|name| {
        !Command::new("sh").args(["-c", &format!("command -v {name}")]).output().is_ok_and(|o| o.status.success())
    });
    if let Some(name) = missing {
        assert!(std::env::var_os("SVC_NEED_CLIENTS").is_none(), "{name} is not installed");
        let _seen = writeln!(std::io::stderr(), "skipped: {name} is not installed");
    }
    missing.is_none()
}

#[test]
fn every_step_of_the_tutorial_works() {
    if is_equipped() {
        follow(TUTORIAL);
    }
}

#[test]
fn the_errors_of_the_faq_are_those_of_the_program() {
    if is_equipped() {
        follow(FAQ);
    }
}

#[test]
fn a_backup_is_restored_as_described() {
    if is_equipped() {
        follow(PRODUCTION);
    }
}

#[test]
fn examples_of_settings_are_valid() {
    let mut n_examples = 0;
    for page in [SERVER, PRODUCTION, TUTORIAL, include_str!("../../../../docs/configuration.md")] {
        // A build without the export of traces, or without buckets, refuses their settings.
        let is_built = |block: &&Block<'_>| {
            (cfg!(feature = "otlp") || !block.code.contains("[traces]"))
                && (cfg!(feature = "s3") || !block.code.contains("[uploads]"))
        };
        for block in blocks(page).iter().filter(|block| block.language == "toml").filter(is_built) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("svc.toml"), &block.code).unwrap();
            let sources = Sources { folder: folder.path().to_owned(), ..Sources::default() };
            Config::load(&sources).unwrap_or_else(|error| panic!("line {}: {error}", block.line));
            n_examples += 1;
        }
    }
    assert!(n_examples > 4, "{n_examples}");
}

#[test]
fn an_ellipsis_matches_any_text() {
    for (output, expected, equal) in [
        ("a b c\n", "a b c", true),
        ("a b c", "a … c", true),
        ("a b c", "a …", true),
        ("a b c d", "…b…d", true),
        ("a b c", "a b", false),
        ("a b c", "a … d", false),
        ("a b c", "b …", false),
    ] {
        assert_eq!(is_expected(output, expected), equal, "{output} {expected}");
    }
}

#[test]
#[should_panic(expected = "got\n2")]
fn other_output_fails() {
    follow("```sh\necho 2\n```\n```text output\n3\n```\n");
}

#[test]
fn attributes_of_blocks_are_known() {
    let known = |block: &Block<'_>| {
        block.attributes.split_whitespace().all(|word| {
            matches!(word.split('=').next(), Some("server" | "stop" | "file" | "fails" | "output" | "example"))
        })
    };
    for page in [TUTORIAL, FAQ, PRODUCTION] {
        assert!(blocks(page).iter().all(known));
    }
}

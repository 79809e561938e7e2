//! Restarts in place by SIGHUP: the process keeps its sockets, so that no connection is refused.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::net::UnixDatagram,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use tempfile::TempDir;

use crate::{
    front,
    process::{POSTS, PROGRAM, SERVE, Server, command, signal},
    tls,
};

/// Maximum time for what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Arguments to serve on a free port, with log lines about restarts.
const ARGS: [&str; 5] = ["--listen", "127.0.0.1:0", "--log", "info,svc_listen=warn", "serve"];

/// A server and what it reports.
struct Reporting {
    server: Server,
    /// What the supervisor receives.
    states: UnixDatagram,
    log: mpsc::Receiver<String>,
}

impl Reporting {
    /// Starts a program in a folder, and waits until it is ready.
    fn start(folder: &Path, program: &str, args: &[&str]) -> Self {
        let path = folder.join("notify");
        let states = UnixDatagram::bind(&path).unwrap();
        states.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).env_clear().stdin(Stdio::null());
        command.env("NOTIFY_SOCKET", &path).env("PATH", folder);
        let mut server = Server::spawn(command).unwrap_or_else(|output| panic!("no server: {output}"));
        let lines = BufReader::new(server.child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let (sender, log) = mpsc::channel();
        thread::spawn(move || lines.into_iter().for_each(|line| drop(sender.send(line))));
        let this = Reporting { server, states, log };
        assert_eq!(this.state(), "READY=1\n");
        this
    }

    /// The next message to the supervisor.
    fn state(&self) -> String {
        let mut buffer = [0; 200];
        let n_bytes = self.states.recv(&mut buffer).expect("a message to the supervisor");
        String::from_utf8_lossy(&buffer[..n_bytes]).into_owned()
    }

    /// Whether there was no message since the last one that was read.
    fn is_silent(&self) -> bool {
        self.states.set_nonblocking(true).unwrap();
        let result = self.states.recv(&mut [0; 200]);
        self.states.set_nonblocking(false).unwrap();
        result.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Sends SIGHUP and waits until the server has begun to restart.
    #[track_caller]
    fn begin_restart(&self) {
        self.server.signal("HUP");
        let state = self.state();
        assert!(state.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{state}");
    }

    /// Sends SIGHUP and waits until the server has restarted.
    #[track_caller]
    fn restart(&mut self) {
        self.begin_restart();
        assert_eq!(self.state(), "READY=1\n");
        assert_eq!(self.server.child.try_wait().unwrap(), None, "the process is the same");
    }

    /// Waits for a line of the log that contains a text.
    #[track_caller]
    fn logged(&self, text: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => before.push(line),
                Err(error) => panic!("{text}: {error}: {before:#?}"),
            }
        }
    }

    fn status(&self, path: &str) -> u16 {
        self.server.send("GET", path, "", None).0
    }

    /// Waits until the process has ended.
    fn end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.server.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the process does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Writes the settings at once, since a signal may come at any time.
fn configure(folder: &Path, settings: &str) {
    std::fs::write(folder.join("next.toml"), settings).unwrap();
    std::fs::rename(folder.join("next.toml"), folder.join("svc.toml")).unwrap();
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The response to a request on a connection of its own, which begins after a pause.
fn get(address: &str, path: &str, pause: Duration) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    thread::sleep(pause);
    write!(stream, "GET {path} HTTP/1.0\r\nHost: site.example\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

/// Runs `then` while clients send requests all the time. Every request must have a response that begins with `expected`.
fn under_load(clients: &[&(dyn Fn() -> io::Result<String> + Sync)], expected: &str, then: impl FnOnce()) {
    let (ends, n_requests, failed) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    /// Ends the clients also if `then` panics.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    thread::scope(|scope| {
        for client in clients {
            scope.spawn(|| {
                while !ends.load(Relaxed) {
                    let response = client();
                    n_requests.fetch_add(1, Relaxed);
                    if !response.as_ref().is_ok_and(|response| response.starts_with(expected)) {
                        failed.lock().unwrap().push(format!("{response:?}"));
                    }
                }
            });
        }
        let _end = End(&ends);
        then();
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} of {n_requests:?} requests failed: {:#?}",
        failed.len(),
        &failed[..failed.len().min(5)]
    );
    assert!(n_requests.into_inner() >= 10 * clients.len());
}

#[test]
fn a_restart_by_sighup_fails_no_request() {
    let folder = folder();
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    let address = server.server.address.clone();
    let pid = server.server.child.id().to_string();
    let at_once = || get(&address, POSTS, Duration::ZERO);
    // Connections that have sent nothing yet when the restart begins.
    let late = || get(&address, POSTS, Duration::from_millis(30));
    under_load(&[&at_once, &at_once, &at_once, &late, &late, &late], "HTTP/1.0 200", || {
        for (explorer, status) in [(false, 404), (true, 200), (false, 404)] {
            configure(folder.path(), &format!("explorer = {explorer}\n"));
            server.restart();
            assert!(server.logged("SIGHUP: restarting").contains("changed=\"explorer\" has_new_program=false"));
            assert_eq!(server.status("/svc-explorer/"), status);
            let written = std::fs::read_to_string(folder.path().join("svc-data/server.pid")).unwrap();
            assert_eq!(written.trim(), pid);
        }
    });
    server.server.signal("TERM");
    assert!(server.end().success());
    assert!(TcpStream::connect(&address).is_err(), "the socket is closed");
}

#[test]
fn a_server_keeps_running_if_nothing_has_changed_or_the_configuration_is_invalid() {
    let folder = folder();
    let server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    server.server.signal("HUP");
    server.logged("SIGHUP: settings and program are unchanged");
    configure(folder.path(), "no_such_setting = 1\n");
    server.server.signal("HUP");
    server.logged("SIGHUP: the configuration is invalid, so the server keeps the present one: ");
    // Only the check of the program reads the certificate.
    configure(folder.path(), "[tls]\ncertificate = 'none.pem'\nkey = 'none.pem'\n");
    server.server.signal("HUP");
    let line = server.logged("SIGHUP: the server does not restart: ");
    assert!(
        line.contains("config check` ended with exit status: 1: svc-server: cannot read a certificate from none.pem"),
        "{line}"
    );
    configure(folder.path(), "");
    server.server.signal("HUP");
    server.logged("SIGHUP: settings and program are unchanged");
    assert!(server.is_silent());
    assert_eq!(server.status("/healthz"), 200);
}

#[test]
fn registered_types_are_settings_as_well() {
    let folder = folder();
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    assert_eq!(server.status("/svc-json/svc/v2/types/book"), 404);
    configure(folder.path(), "[[types]]\nname = 'book'\nlabel = 'Books'\n");
    server.restart();
    assert_eq!(server.status("/svc-json/svc/v2/types/book"), 200);
}

#[test]
fn tls_and_the_socket_for_redirects_are_handed_over() {
    let folder = folder();
    let certificate = tls::write(folder.path(), 2999);
    tls::configure(folder.path());
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    let address = server.server.address.clone();
    let redirect = server.server.output.lines().find_map(|line| line.strip_prefix("Redirecting from HTTP at "));
    let redirect = redirect.unwrap().to_owned();
    let encrypted = || tls::get(&address, &certificate, "/healthz", "");
    let redirected = || {
        // As expected from the other clients.
        get(&redirect, "/", Duration::ZERO).map(|response| response.replace("HTTP/1.0 301 Moved", "HTTP/1.1 200 Moved"))
    };
    under_load(&[&encrypted, &encrypted, &redirected], "HTTP/1.1 200", || {
        for seconds in [1234, 5678] {
            let settings = std::fs::read_to_string(folder.path().join("svc.toml")).unwrap();
            let other = settings.lines().filter(|line| !line.starts_with("hsts_seconds"));
            let settings: Vec<&str> = other.collect();
            configure(folder.path(), &format!("{}\nhsts_seconds = {seconds}\n", settings.join("\n")));
            server.restart();
            let response = tls::get(&address, &certificate, "/svc-json/", "").unwrap();
            assert!(response.contains(&format!("max-age={seconds}\r\n")), "{response}");
        }
    });
}

/// Linux has all addresses of 127.0.0.0/8.
#[test]
#[cfg(target_os = "linux")]
fn a_socket_is_closed_if_its_address_was_changed() {
    let folder = folder();
    tls::write(folder.path(), 2999);
    tls::configure(folder.path());
    let settings = std::fs::read_to_string(folder.path().join("svc.toml")).unwrap();
    configure(folder.path(), &format!("listen = '127.0.0.1:0'\n{settings}"));
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS[2..]);
    let redirect = server.server.output.lines().find_map(|line| line.strip_prefix("Redirecting from HTTP at "));
    let redirect = redirect.unwrap().to_owned();
    server.logged(" serving ");
    configure(folder.path(), &format!("listen = '127.0.0.2:0'\n{settings}"));
    server.restart();
    let line = server.logged(" serving ");
    let here = line.split_whitespace().find_map(|word| word.strip_prefix("here=")).expect("the address");
    assert!(here.starts_with("127.0.0.2:"), "{line}");
    TcpStream::connect(here.parse::<SocketAddr>().unwrap()).unwrap();
    assert!(TcpStream::connect(&server.server.address).is_err(), "nobody listens at the former address");
    assert!(get(&redirect, "/", Duration::ZERO).unwrap().starts_with("HTTP/1.0 301"), "the other socket is kept");

    configure(folder.path(), &format!("listen = '127.0.0.2:0'\n{}", settings.replace("redirect", "#")));
    server.restart();
    assert!(TcpStream::connect(&redirect).is_err(), "the socket for redirects is not needed");
    TcpStream::connect(here.parse::<SocketAddr>().unwrap()).unwrap();
}

/// Copies a file in another process. If this one had it open for writing while a test started a process, it could not be run.
fn copy(from: &str, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_replaced_program_restarts_the_server() {
    // A path relative to the folder, and a name that is found in PATH.
    for program in ["./own-server", "own-server"] {
        let folder = folder();
        let (file, next) = (folder.path().join("own-server"), folder.path().join("next"));
        copy(PROGRAM, &file);
        // The path is relative to the folder of the server, and not of this process.
        let args = [&["-c", "exec \"$0\" \"$@\"", program], &ARGS[..]].concat();
        let mut server = Reporting::start(folder.path(), "/bin/sh", &args);
        let running = format!("/proc/{}/exe", server.server.child.id());
        let runs = |file: &Path| std::fs::read_link(&running).unwrap() == file.canonicalize().unwrap();
        assert!(runs(&file), "{program}");

        copy("/bin/false", &next);
        std::fs::rename(&next, &file).unwrap();
        server.server.signal("HUP");
        let line = server.logged("SIGHUP: the server does not restart: ");
        assert!(line.contains("config check` ended with exit status: 1"), "{line}");
        assert_eq!(server.status("/healthz"), 200);

        copy(PROGRAM, &next);
        std::fs::rename(&next, &file).unwrap();
        server.restart();
        assert!(server.logged("SIGHUP: restarting").contains("has_new_program=true"));
        assert!(runs(&file), "{program}");
        assert_eq!(server.status("/healthz"), 200);
        server.server.signal("HUP");
        server.logged("SIGHUP: settings and program are unchanged");
    }
}

/// Replaces the program of a server by one that does something else for `upgrade-copy`.
#[cfg(target_os = "linux")]
fn replace_by_other_version(file: &Path, copying: &str) {
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin\ncase \"$*\" in *' upgrade-copy '*) {copying};; esac\nexec {PROGRAM} \"$@\"\n"
    );
    let write = ["-c", "printf %s \"$1\" > \"$0.next\" && chmod 755 \"$0.next\" && mv \"$0.next\" \"$0\""];
    assert!(Command::new("sh").args(write).arg(file).arg(script).status().unwrap().success());
}

/// Starts a server whose program can be replaced. Returns its file as well.
#[cfg(target_os = "linux")]
fn start_replaceable(folder: &Path) -> (Reporting, std::path::PathBuf) {
    let file = folder.join("own-server");
    copy(PROGRAM, &file);
    let args = [&["-c", "exec \"$0\" \"$@\"", "./own-server"], &ARGS[..]].concat();
    (Reporting::start(folder, "/bin/sh", &args), file)
}

#[cfg(target_os = "linux")]
fn n_copies(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("svc-data/before-upgrade")).map_or(0, Iterator::count)
}

#[test]
#[cfg(target_os = "linux")]
fn another_version_copies_the_database_while_the_server_serves() {
    let folder = folder();
    let (server, file) = start_replaceable(folder.path());
    replace_by_other_version(&file, "echo 'svc-server: too little room' >&2; exit 1");
    server.server.signal("HUP");
    let line = server.logged("SIGHUP: the server does not restart: ");
    assert!(line.contains("upgrade-copy") && line.contains("too little room"), "{line}");
    assert!(server.is_silent());

    // The server is another version for this program.
    let wait = "until test -e go; do sleep 0.05; done";
    replace_by_other_version(&file, &format!("touch waits; {wait}; exec {PROGRAM} upgrade-copy --running '0.0.1 5.1'"));
    server.server.signal("HUP");
    let begun = Instant::now();
    while !folder.path().join("waits").exists() {
        assert!(begun.elapsed() < PATIENCE, "the program is not asked for a copy");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.status(POSTS), 200);
    assert!(server.is_silent(), "it has not begun to restart");
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(server.state().starts_with("RELOADING=1\n"));
    assert_eq!(server.state(), "READY=1\n");
    server.logged("SIGHUP: copying the database");
    server.logged("SIGHUP: copied the database");
    assert_eq!(server.status(POSTS), 200);
    assert_eq!(n_copies(folder.path()), 1, "the start makes no second copy");
}

#[test]
#[cfg(target_os = "linux")]
fn a_version_that_makes_no_copies_restarts_the_server() {
    let folder = folder();
    let (mut server, file) = start_replaceable(folder.path());
    replace_by_other_version(&file, "echo 'error: unrecognized subcommand' >&2; exit 2");
    server.restart();
    assert_eq!((server.status(POSTS), n_copies(folder.path())), (200, 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_stop_ends_the_copy_of_another_version() {
    let folder = folder();
    let (mut server, file) = start_replaceable(folder.path());
    replace_by_other_version(&file, "echo $$ > pid.next; mv pid.next pid; exec sleep 60");
    server.server.signal("HUP");
    let begun = Instant::now();
    let pid = loop {
        assert!(begun.elapsed() < PATIENCE, "the program is not asked for a copy");
        match std::fs::read_to_string(folder.path().join("pid")) {
            Ok(pid) => break pid,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    // The command of a newer version, whose record the server replaces when it stops.
    let record = folder.path().join("svc-data/site.db.version");
    let own = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, "99.0.0 99.1").unwrap();
    server.server.signal("TERM");
    assert!(server.end().success());
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "the copy goes on");
    assert_eq!(std::fs::read_to_string(&record).unwrap(), own);
}

#[test]
fn signals_during_a_restart_do_not_end_the_process() {
    let folder = folder();
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    // As many signals as possible, in particular between the two programs.
    let script = "while kill -HUP \"$0\"; do :; done";
    let pid = server.server.child.id().to_string();
    let mut sender = Command::new("sh").args(["-c", script, &pid]).stderr(Stdio::null()).spawn().unwrap();
    for explorer in [false, true, false] {
        configure(folder.path(), &format!("explorer = {explorer}\n"));
        let state = server.state();
        assert!(state.starts_with("RELOADING=1\n"), "{state}");
        assert_eq!(server.state(), "READY=1\n");
    }
    sender.kill().unwrap();
    sender.wait().unwrap();
    assert_eq!(server.status("/svc-explorer/"), 404);
    signal(&pid, "TERM");
    assert!(server.end().success());
}

#[test]
fn a_stop_during_a_restart_ends_the_process() {
    let folder = folder();
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    // The restart waits for the rest of this request.
    let mut stream = TcpStream::connect(&server.server.address).unwrap();
    write!(stream, "POST {POSTS} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{").unwrap();
    configure(folder.path(), "explorer = false\n");
    server.begin_restart();
    server.server.signal("TERM");
    write!(stream, "}}").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.0 401"), "{response}");
    assert!(server.end().success());
    assert_eq!(server.state(), "STOPPING=1\n", "it was never ready again");
    assert!(server.is_silent());
}

#[test]
fn a_server_in_front_of_a_wordpress_restarts() {
    let Some(database) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
        eprintln!("SKIPPED: MariaDB is not installed");
        return;
    };
    let (site, folder) = (folder(), folder());
    let url = database.create("front").unwrap();
    let args = ["--brand", "wp", "--table-prefix", "wp_"];
    let wordpress = Server::spawn(command(site.path(), Some(&url), &[&args[..], &SERVE].concat()));
    let wordpress = wordpress.unwrap_or_else(|output| panic!("no server: {output}"));
    front::configure(folder.path(), &database, "front", &wordpress.address);
    let mut server = Reporting::start(folder.path(), PROGRAM, &ARGS);
    let address = server.server.address.clone();
    let client = || get(&address, "/healthz", Duration::ZERO);
    under_load(&[&client, &client], "HTTP/1.0 200", || {
        let settings = std::fs::read_to_string(folder.path().join("svc.toml")).unwrap();
        configure(folder.path(), &format!("slow_request = '2s'\n{settings}"));
        server.restart();
        assert!(server.logged("SIGHUP: restarting").contains("changed=\"slow_request\""));
    });
}

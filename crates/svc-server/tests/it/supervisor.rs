//! A supervisor that listens for the server, and learns when it is ready: `LISTEN_FDS` and `NOTIFY_SOCKET`, as of systemd.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use command_fds::{CommandFdExt as _, FdMapping};

use crate::{
    process::{PROGRAM, Server, command},
    tls,
};

/// Starts the server with this listening socket as its descriptor 3. The address in its settings is in use by others.
fn start(folder: &Path, listener: &TcpListener, notify: &Path) -> Server {
    let mut shell = Command::new("sh");
    let script =
        "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" --listen 127.0.0.1:1 --log warn serve";
    shell.args(["-c", script, PROGRAM]).current_dir(folder).env_clear().env("NOTIFY_SOCKET", notify);
    shell.stdin(Stdio::from(OwnedFd::from(listener.try_clone().unwrap())));
    Server::spawn(shell).unwrap_or_else(|output| panic!("no server: {output}"))
}

fn message(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 200];
    let n = socket.recv(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..n]).into_owned()
}

#[test]
fn a_restart_refuses_no_connection_of_an_inherited_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();

    let server = start(folder.path(), &listener, &path);
    assert_eq!(server.address, address);
    assert_eq!(message(&socket), "READY=1\n");
    assert_eq!(server.send("GET", "/healthz", "", None).0, 200);
    server.stop();
    assert_eq!(message(&socket), "STOPPING=1\n");

    // Between the two servers.
    let mut waiting = TcpStream::connect(&address).unwrap();
    write!(waiting, "GET /healthz HTTP/1.0\r\nHost: x\r\n\r\n").unwrap();
    let server = start(folder.path(), &listener, &path);
    assert_eq!(message(&socket), "READY=1\n");
    let mut response = String::new();
    waiting.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.0 200"), "{response}");
    server.stop();
}

#[test]
fn two_inherited_sockets_are_kept_by_a_restart_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let certificate = tls::write(folder.path(), 2999);
    tls::configure(folder.path());
    let listeners = ["main", "redirect"].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let [main, redirect] = listeners.each_ref().map(|listener| listener.local_addr().unwrap().to_string());
    // The addresses of the settings are not those of the sockets.
    let mut server = command(folder.path(), None, &["--listen", "127.0.0.1:1", "--log", "warn", "serve"]);
    let descriptors =
        (3..).zip(listeners).map(|(child_fd, listener)| FdMapping { parent_fd: listener.into(), child_fd });
    server.fd_mappings(descriptors.collect()).unwrap().env("LISTEN_FDS", "2").env("NOTIFY_SOCKET", &path);
    server.env("LISTEN_FDNAMES", "https:http");
    let server = Server::spawn(server).unwrap_or_else(|output| panic!("no server: {output}"));
    assert_eq!(server.address, main);
    assert_eq!(message(&socket), "READY=1\n");
    let check = || {
        assert!(tls::get(&main, &certificate, "/healthz", "").unwrap().starts_with("HTTP/1.1 200"));
        let mut stream = TcpStream::connect(&redirect).unwrap();
        write!(stream, "GET /a HTTP/1.0\r\nHost: site.example\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.contains("location: https://site.example/a\r\n"), "{response}");
    };
    check();
    for restart in 1..=2 {
        std::fs::write(folder.path().join("svc-data/svc.toml"), format!("slow_request = '{restart}s'\n")).unwrap();
        server.signal("HUP");
        assert!(message(&socket).starts_with("RELOADING=1\n"));
        assert_eq!(message(&socket), "READY=1\n");
        check();
    }
}

#[test]
fn sockets_of_another_process_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crate::process::command(folder.path(), None, &crate::process::SERVE);
    command.env("LISTEN_PID", "1").env("LISTEN_FDS", "1");
    let server = Server::spawn(command).unwrap_or_else(|output| panic!("no server: {output}"));
    assert_eq!(server.send("GET", "/healthz", "", None).0, 200);
}

//! Servers and users with which the log cannot be used, and what the message says to change.

use svc_bridge::{changes::Changes, feed::binlog::Binlog};

use super::server::Server;

#[track_caller]
fn refused(server: &Server, user: &str) -> String {
    Binlog::start(server.source(user), Changes::with_images(), None).unwrap_err().to_string()
}

#[test]
fn the_reason_says_what_to_change() {
    let Some(server) = Server::start(&[]) else { return };
    server.run("CREATE USER reader@'%'");
    server.run("GRANT SELECT ON wp.* TO reader@'%'");
    let grant = "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'reader'@'%'";
    assert!(refused(&server, "reader").ends_with(grant), "{}", refused(&server, "reader"));
    server.run("GRANT REPLICATION CLIENT ON *.* TO reader@'%'");
    assert!(refused(&server, "reader").ends_with(grant), "{}", refused(&server, "reader"));
    server.run(grant);
    Binlog::start(server.source("reader"), Changes::with_images(), None).unwrap();
    for (setting, expected) in [
        ("binlog_format = 'MIXED'", "binlog_format=MIXED; set binlog_format=ROW"),
        ("binlog_row_image = 'MINIMAL'", "binlog_row_image=MINIMAL; set binlog_row_image=FULL"),
    ] {
        server.run(&format!("SET GLOBAL {setting}"));
        assert!(refused(&server, "root").contains(expected), "{}", refused(&server, "root"));
        server.run("SET GLOBAL binlog_format = 'ROW'");
        server.run("SET GLOBAL binlog_row_image = 'FULL'");
    }
    let mut source = server.source("root");
    source.server = server.options(None, "root").into();
    assert_eq!(Binlog::start(source, Changes::with_images(), None).unwrap_err().to_string(), "no database is selected");
    assert!(refused(&server, "nobody").starts_with("cannot connect to the database server"));
}

#[test]
fn a_server_without_a_log_is_refused() {
    let Some(server) = Server::start(&["--skip-log-bin"]) else { return };
    assert!(refused(&server, "root").starts_with("the database server writes no binary log"));
}

#[test]
fn a_log_that_leaves_out_databases_is_refused() {
    let Some(server) = Server::start(&["--binlog-ignore-db=other"]) else { return };
    assert!(refused(&server, "root").starts_with("the binary log leaves out some changes"));
}

#[test]
fn a_replica_that_does_not_log_what_it_receives_is_refused() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let networking = ["--skip-networking=0", "--bind-address=127.0.0.1", &format!("--port={port}")];
    let Some(source) = Server::start(&networking) else { return };
    let Some(replica) = Server::start(&["--server-id=8"]) else { return };
    source.run("CREATE USER replica@'127.0.0.1'");
    source.run("GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1'");
    Binlog::start(replica.source("root"), Changes::with_images(), None).unwrap();
    source.run("RESET MASTER");
    replica.run(&format!("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='replica'"));
    replica.run("START SLAVE");
    let start = std::time::Instant::now();
    loop {
        match Binlog::start(replica.source("root"), Changes::with_images(), None) {
            Err(why) => {
                assert!(why.to_string().contains("set log_slave_updates=ON"), "{why}");
                return;
            }
            Ok(_) => assert!(start.elapsed() < std::time::Duration::from_secs(20), "it is not refused"),
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

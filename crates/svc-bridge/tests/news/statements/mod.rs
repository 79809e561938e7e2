//! Statements of many forms, each of which is a response: a replayed one must have the rows that the database finds now.
//!
//! `SVC_TEST_STATEMENTS` is their number, `SVC_TEST_SEED` the first seed.

mod generator;
mod schema;
mod wordpress;
mod writes;

use crate::server::Server;
use generator::Generator;
use wordpress::Site;

/// Rows of tables with names and columns that plugins have, some of which are keywords.
const TABLES: &str = include_str!("tables.sql");

/// Writes after each statement, unless one of them ends the response.
const WRITES: usize = 4;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn replayed_rows_are_those_that_the_database_finds() {
    let Some(server) = Server::start(&["--sql-mode="]) else { return };
    server.run(TABLES);
    let site = Site::start(&server).await;
    // The first rows.
    for seed in 0..200 {
        site.write(&Generator::new(seed).write(""));
    }
    let (first, n) = (number("SVC_TEST_SEED", 1), number("SVC_TEST_STATEMENTS", 400));
    let (mut n_valid, mut n_stored, mut n_kept, mut n_changed) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + n {
        let mut generator = Generator::new(seed);
        let sql = generator.select();
        let Ok(rendered) = site.rendered(seed, &sql).await else { continue };
        n_valid += 1;
        let Some(replayed) = site.replayed(seed, &sql).await else { continue };
        n_stored += 1;
        assert_eq!(replayed, rendered, "{sql}");
        let mut before = Ok(rendered);
        let mut writes = Vec::new();
        for _ in 0..WRITES {
            let write = generator.write(&sql);
            site.write(&write);
            writes.push(write);
            let found = site.find(&sql);
            n_changed += u64::from(found != before);
            before.clone_from(&found);
            match site.replayed(seed, &sql).await {
                Some(replayed) if Ok(&replayed) != found.as_ref() => {
                    wrong.push(format!(
                        "{seed}: {sql}\n    {}\n    replayed: {replayed}\n    found: {found:?}",
                        writes.join("; ")
                    ));
                    break;
                }
                Some(_) => n_kept += 1,
                None => writes.clear(),
            }
        }
    }
    let numbers = format!(
        "{n} statements: {n_valid} valid, {n_stored} stored; after writes, {n_changed} changed and {n_kept} replayed"
    );
    println!("{numbers}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_stored * 3 > n && n_kept * 2 > n && n_changed * 10 > n, "{numbers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_other_sql_modes_each_write_ends_all_responses() {
    let Some(server) = Server::start(&["--sql-mode=ANSI_QUOTES"]) else { return };
    // The counter of transactions counts those of InnoDB.
    server.run("DROP TABLE wp_old");
    let site = Site::start(&server).await;
    // Two columns.
    let sql = r#"SELECT * FROM wp_options WHERE option_name = "option_value""#;
    assert_eq!(site.rendered(1, sql).await.as_deref(), Ok(""));
    site.write("REPLACE INTO wp_options (option_id, option_name, option_value) VALUES (2, 'x', 'x')");
    assert_eq!((site.replayed(1, sql).await, site.find(sql).unwrap().is_empty()), (None, false));
}

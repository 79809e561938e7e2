//! Integration tests of the workspace: real servers on real sockets, each on a folder of its own.

mod bytes;
mod client;
mod first_run;
mod import;
mod interface;
mod pages;
mod site;

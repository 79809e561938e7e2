//! The bridge in front of a program that behaves as a WordPress with the connector.

mod replay;
mod reports;
mod wordpress;

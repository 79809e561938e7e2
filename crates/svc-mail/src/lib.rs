#![doc = include_str!("../README.md")]

mod letter;
mod letters;
mod mailer;
mod sendmail;
mod settings;

pub use letter::{Letter, SiteFacts};
pub use letters::{CommentFacts, Letters};
pub use mailer::{Mailer, SendError, TransportError};
pub use settings::{Encryption, MailSettings, Sender, SmtpServer, Transport};

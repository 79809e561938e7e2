//! The settings of mail: the sender, and where mails are handed over.

use std::{fmt, path::PathBuf, str::FromStr};

use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use svc_auth::Secret;
use url::Url;

/// Port for mails of other servers, and for those without a password.
const PORT: u16 = 25;

/// Port for mails of users, with STARTTLS.
const SUBMISSION_PORT: u16 = 587;

/// Port for mails of users, with TLS from the first byte.
const SUBMISSIONS_PORT: u16 = 465;

/// The settings of mail.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// The sender of all mails.
    pub from: Sender,
    /// Where mails are handed over.
    pub transport: Transport,
}

/// A sender: an address, or a name with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender(pub(crate) Mailbox);

impl FromStr for Sender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.trim().parse().ok().filter(|_| !text.contains(char::is_control));
        parsed.map(Sender).ok_or_else(|| "must be an address, such as `Site <site@example.org>`".to_owned())
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where mails are handed over.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A mail server.
    Smtp(SmtpServer),
    /// A program with the arguments of sendmail.
    Sendmail(PathBuf),
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Smtp(server) => write!(f, "{}:{}", server.host, server.port),
            Transport::Sendmail(path) => path.display().fmt(f),
        }
    }
}

/// How the connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// It is not.
    None,
    /// With STARTTLS, if the server offers it.
    IfOffered,
    /// With STARTTLS.
    StartTls,
    /// From the first byte.
    Tls,
}

/// A mail server.
#[derive(Clone, Debug)]
pub struct SmtpServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub encryption: Encryption,
    /// User name and password.
    pub credentials: Option<(String, Secret)>,
}

impl FromStr for SmtpServer {
    type Err = String;

    /// Parses `smtp://[USER:PASSWORD@]HOST[:PORT][?tls=none|required]` or `smtps://…`.
    ///
    /// With `smtp`, the connection to another machine is encrypted if the server offers it, and must be for a password.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be smtp://HOST or smtps://HOST, with USER:PASSWORD@ if the server requires it".to_owned();
        let url: Url = text.parse().map_err(|_| wrong())?;
        let is_wrapped = match url.scheme() {
            "smtps" => true,
            "smtp" => false,
            _ => return Err(wrong()),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(wrong());
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(Into::into).map_err(|_| wrong());
        let credentials: Option<(String, Secret)> = match (url.username(), url.password()) {
            ("", None) => None,
            (_, None) | ("", Some(_)) => return Err("needs both a user and a password, or neither".to_owned()),
            (user, Some(password)) => Some((decoded(user)?, Secret::new(decoded(password)?))),
        };
        let is_loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let encryption = match (is_wrapped, url.query()) {
            (true, None) => Encryption::Tls,
            (false, Some("tls=none")) => Encryption::None,
            (false, Some("tls=required")) => Encryption::StartTls,
            // Servers on this machine offer certificates that nobody has signed.
            (false, None) if is_loopback => Encryption::None,
            (false, None) if credentials.is_some() => Encryption::StartTls,
            (false, None) => Encryption::IfOffered,
            _ => return Err("has unknown parameters: the only ones are ?tls=none and ?tls=required".to_owned()),
        };
        let port = url.port().unwrap_or(match encryption {
            Encryption::Tls => SUBMISSIONS_PORT,
            _ if credentials.is_some() => SUBMISSION_PORT,
            _ => PORT,
        });
        Ok(SmtpServer { host, port, encryption, credentials })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        for (text, host, port, encryption, user) in [
            ("smtp://mail.example.org", "mail.example.org", 25, Encryption::IfOffered, None),
            ("smtp://mail.example.org/?tls=none", "mail.example.org", 25, Encryption::None, None),
            (
                "smtp://a%40b.c:p%2Fw@mail.example.org",
                "mail.example.org",
                587,
                Encryption::StartTls,
                Some(("a@b.c", "p/w")),
            ),
            ("smtps://u:p@mail.example.org:4650", "mail.example.org", 4650, Encryption::Tls, Some(("u", "p"))),
            ("smtps://mail.example.org", "mail.example.org", 465, Encryption::Tls, None),
            ("smtp://localhost", "localhost", 25, Encryption::None, None),
            ("smtp://[::1]:2525?tls=required", "::1", 2525, Encryption::StartTls, None),
        ] {
            let server: SmtpServer = text.parse().unwrap();
            let found = server.credentials.as_ref().map(|(user, password)| (user.as_str(), password.expose()));
            assert_eq!((server.host.as_str(), server.port, server.encryption, found), (host, port, encryption, user));
        }
        for wrong in [
            "http://a",
            "smtp:",
            "smtp://",
            "a.example",
            "smtp://u@a",
            "smtp://:p@a",
            "smtp://a/b",
            "smtp://a?tls=maybe",
            "smtps://a?tls=none",
        ] {
            assert!(wrong.parse::<SmtpServer>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn senders() {
        for (text, shown) in [("a@b.example", "a@b.example"), ("Our Site <a@b.example>", "Our Site <a@b.example>")] {
            assert_eq!(text.parse::<Sender>().unwrap().to_string(), shown);
        }
        for wrong in ["", "a", "a@b.example, c@d.example", "x\r\nBcc: a@b.example", "A\n<a@b.example>"] {
            assert!(wrong.parse::<Sender>().is_err(), "{wrong}");
        }
    }
}

//! Hands mails over to a mail server or to sendmail.

use std::{
    path::PathBuf,
    time::{Duration, UNIX_EPOCH},
};

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{
        MultiPart,
        header::{Header, HeaderName, HeaderValue},
    },
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};

use crate::{
    letter::{Letter, one_line},
    sendmail,
    settings::{Encryption, MailSettings, Sender, SmtpServer, Transport},
};

/// Time limit of a step of the protocol.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Replies about the credentials: a setting is wrong, not the mail.
const ABOUT_CREDENTIALS: [u16; 5] = [530, 534, 535, 538, 554];

/// Maximum length of a reply that is reported, in characters.
const MAX_REPLY: usize = 300;

/// Why a mail was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It may be accepted later.
    #[error("{0}")]
    Temporary(String),
    /// It will never be accepted.
    #[error("{0}")]
    Permanent(String),
}

/// A transport that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the mail server {host}: {cause}")]
pub struct TransportError {
    host: String,
    cause: lettre::transport::smtp::Error,
}

/// Sends mails.
pub struct Mailer {
    from: Sender,
    connection: Connection,
}

enum Connection {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Sendmail(PathBuf),
}

/// Tells other programs that they should not answer (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

impl Mailer {
    /// A mailer with these settings. It connects when a mail is sent.
    ///
    /// # Errors
    /// If the name of the mail server cannot be used with TLS.
    pub fn new(settings: &MailSettings) -> Result<Self, TransportError> {
        let connection = match &settings.transport {
            Transport::Smtp(server) => {
                Connection::Smtp(smtp(server).map_err(|cause| TransportError { host: server.host.clone(), cause })?)
            }
            Transport::Sendmail(path) => Connection::Sendmail(path.clone()),
        };
        Ok(Mailer { from: settings.from.clone(), connection })
    }

    /// Sends a mail once. `id` becomes its `Message-ID`, by which recipients recognize a mail that arrives twice. Returns the
    /// reply.
    ///
    /// # Errors
    /// If it was not accepted.
    pub async fn send(&self, id: &str, letter: &Letter) -> Result<String, SendError> {
        let message = self.message(id, letter).map_err(SendError::Permanent)?;
        match &self.connection {
            Connection::Smtp(transport) => match transport.send(message).await {
                Ok(reply) => Ok(cut(&reply.message().collect::<Vec<_>>().join(" "))),
                Err(error) => Err(refused(&error)),
            },
            Connection::Sendmail(program) => {
                let from = self.from.0.email.to_string();
                sendmail::send(program, &from, &letter.to, &message.formatted()).await.map(|()| "accepted".to_owned())
            }
        }
    }

    fn message(&self, id: &str, letter: &Letter) -> Result<Message, String> {
        let to = letter.to.parse().map_err(|error| format!("the address of the recipient: {error}"))?;
        let domain = self.from.0.email.domain();
        let written = UNIX_EPOCH + Duration::from_secs(u64::try_from(letter.written).unwrap_or_default());
        let mut builder = Message::builder()
            .from(self.from.0.clone())
            .to(lettre::message::Mailbox::new(None, to))
            .subject(one_line(&letter.subject))
            .message_id(Some(format!("<{id}@{domain}>")))
            .date(written)
            .header(AutoSubmitted);
        if let Some(Ok(address)) = letter.reply_to.as_ref().map(|address| address.parse()) {
            builder = builder.reply_to(lettre::message::Mailbox::new(None, address));
        }
        let content = MultiPart::alternative_plain_html(letter.text.clone(), letter.html.clone());
        builder.multipart(content).map_err(|error| error.to_string())
    }
}

fn smtp(server: &SmtpServer) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
    let parameters = || TlsParameters::new_rustls(server.host.clone());
    let tls = match server.encryption {
        Encryption::None => Tls::None,
        Encryption::IfOffered => Tls::Opportunistic(parameters()?),
        Encryption::StartTls => Tls::Required(parameters()?),
        Encryption::Tls => Tls::Wrapper(parameters()?),
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&server.host)
        .port(server.port)
        .timeout(Some(TIMEOUT))
        .tls(tls);
    if let Some((user, password)) = &server.credentials {
        builder = builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()));
    }
    Ok(builder.build())
}

/// An error of the mail server, by its reply.
fn refused(error: &lettre::transport::smtp::Error) -> SendError {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    let shown = error.to_string();
    let text = cut(&if shown.contains(cause.trim_start_matches(": ")) { shown } else { shown + &cause });
    let code: Option<u16> = error.status().and_then(|code| code.to_string().parse().ok());
    match code {
        Some(code) if code >= 500 && !ABOUT_CREDENTIALS.contains(&code) => SendError::Permanent(text),
        _ => SendError::Temporary(text),
    }
}

/// The text on one line, not too long.
pub(crate) fn cut(text: &str) -> String {
    one_line(text).chars().take(MAX_REPLY).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: &Letter) -> String {
        let transport = Transport::Sendmail("/nonexistent".into());
        let settings = MailSettings { from: "Söhne <site@example.org>".parse().unwrap(), transport };
        let mailer = Mailer::new(&settings).unwrap();
        String::from_utf8(mailer.message("q1", letter).unwrap().formatted()).unwrap()
    }

    fn letter() -> Letter {
        Letter {
            to: "a@b.example".to_owned(),
            reply_to: Some("c@d.example".to_owned()),
            subject: "Grüße\r\nBcc: evil@x.example".to_owned(),
            text: "text".to_owned(),
            html: "<p>html</p>".to_owned(),
            written: 86_400,
        }
    }

    #[test]
    fn headers_of_a_message() {
        let formatted = message(&letter());
        let (head, _) = formatted.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Message-ID: <q1@example.org>\r\n"), "{head}");
        assert!(head.contains("Date: Fri, 02 Jan 1970 00:00:00 +0000\r\n"), "{head}");
        assert!(head.contains("Reply-To: c@d.example\r\nAuto") || head.contains("Reply-To: c@d.example\r\n"), "{head}");
        assert!(head.contains("Auto-Submitted: auto-generated\r\n"), "{head}");
        assert!(!head.lines().any(|line| line.to_ascii_lowercase().starts_with("bcc")), "{head}");
    }

    #[test]
    fn addresses_with_line_breaks_are_rejected() {
        let settings = MailSettings {
            from: "site@example.org".parse().unwrap(),
            transport: Transport::Sendmail("/nonexistent".into()),
        };
        let mailer = Mailer::new(&settings).unwrap();
        for to in ["a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "", "a"] {
            assert!(mailer.message("q", &Letter { to: to.to_owned(), ..letter() }).is_err(), "{to:?}");
        }
    }
}

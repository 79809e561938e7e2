//! The thread that reads the log, as a replica of the server.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use mysql::{BinlogRequest, BinlogStream, Conn, Opts, OptsBuilder, prelude::Queryable as _};

use super::{
    super::ResumePoint,
    decode::{Decoder, Event, Place, Reached, Step, kind},
    point::Point,
    schema::Schema,
    server::{self, Server, UnavailableReason},
    shared::Shared,
};

/// Time between the server's signs of life.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Without a sign of life for this time, the connection is opened again.
const SILENCE: Duration = Duration::from_secs(10);

/// Time before the connection is opened again: at first, and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// Connections in a row that end before anything was read, after which the reader continues at the end of the log.
const ATTEMPTS: u32 = 5;

/// The protocol has 32 bits for the offset of a request.
const LAST_OFFSET: u64 = u32::MAX as u64;

/// Largest event, in bytes: the limit of the protocol.
const LARGEST: usize = 1 << 30;

/// A reader without a connection.
pub(super) struct Reader {
    options: Opts,
    prefix: String,
    shared: Arc<Shared>,
    /// The id by which the server knows this replica. With the same one, it ends the previous connection.
    replica: u32,
    /// Where to continue, and on which server.
    last: Option<(Place, String)>,
}

/// An open connection.
pub(super) struct Session {
    stream: BinlogStream,
    decoder: Decoder,
    server: Server,
}

/// Why the log is not read any more.
#[derive(Debug)]
enum Failure {
    Stopped,
    /// To be continued at the same place.
    Disconnected(String),
    /// Something is missing in the log.
    Lost(String),
}

impl From<mysql::Error> for Failure {
    fn from(error: mysql::Error) -> Self {
        if server::has_no_such_position(&error) {
            Failure::Lost(error.to_string())
        } else {
            Failure::Disconnected(error.to_string())
        }
    }
}

impl Reader {
    pub(super) fn new(options: Opts, prefix: String, shared: Arc<Shared>) -> Self {
        // Real replicas have low ids.
        let random = getrandom::u32().unwrap_or_else(|_| std::process::id());
        Reader { options, prefix, shared, replica: random | 1 << 31, last: None }
    }

    /// Continues where a previous process has stopped.
    ///
    /// # Errors
    /// If the name of the file has no usable number.
    pub(super) fn resume(&mut self, from: &ResumePoint) -> Result<(), UnavailableReason> {
        self.shared.resume(Point::new(&from.file, from.offset)?);
        let place = Place { created: from.created, ..Place::new(&*from.file, from.offset) };
        self.last = Some((place, from.server.clone()));
        Ok(())
    }

    /// Opens a connection, which continues where the last one ended if the log is still there.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(super) fn connect(&mut self) -> Result<Session, UnavailableReason> {
        let mut connection = server::connect(&self.options).map_err(UnavailableReason::Connection)?;
        let server = Server::check(&mut connection, &self.prefix)?;
        let mut lost = None;
        // The log may be purged meanwhile.
        for _ in 0..3 {
            let (file, offset) = server.end(&mut connection)?;
            let end = Point::new(&file, offset)?;
            let last = self.last.as_ref().filter(|_| lost.is_none());
            let place = match last {
                Some((_, identity)) if *identity != server.identity => {
                    lost = Some("another server has taken over".to_owned());
                    continue;
                }
                Some((place, _)) if Point::new(&place.file, place.offset)? > end => {
                    lost = Some("the server has begun a new log".to_owned());
                    continue;
                }
                Some((place, _)) if place.offset > LAST_OFFSET => {
                    lost = Some("what is beyond 4 GiB of a log file cannot be requested".to_owned());
                    continue;
                }
                Some((place, _)) => place.clone(),
                None if offset > LAST_OFFSET => {
                    let error = std::io::Error::other("what is beyond 4 GiB of a log file cannot be requested");
                    return Err(UnavailableReason::Query(mysql::Error::IoError(error)));
                }
                None => {
                    let place = Place::new(file, offset);
                    self.shared.begin(end, lost.as_deref());
                    self.last = Some((place.clone(), server.identity.clone()));
                    place
                }
            };
            match self.request(&server, place) {
                Ok(session) => {
                    let mut details = self.shared.details();
                    details.server = Some(session.server.clone());
                    details.place = Some(session.decoder.place.clone());
                    details.error = None;
                    drop(details);
                    self.shared.set_connected(true);
                    return Ok(session);
                }
                Err(Requested::Lost(why)) => lost = Some(why),
                Err(Requested::Failed(error)) => return Err(server.unreadable(error)),
            }
        }
        Err(UnavailableReason::Query(mysql::Error::IoError(std::io::Error::other(lost.unwrap_or_default()))))
    }

    /// Requests the log from a place on.
    fn request(&self, server: &Server, place: Place) -> Result<Session, Requested> {
        let options = OptsBuilder::from_opts(self.options.clone())
            .read_timeout(Some(SILENCE))
            .write_timeout(Some(SILENCE))
            .tcp_connect_timeout(Some(SILENCE))
            .max_allowed_packet(Some(LARGEST));
        let mut connection = Conn::new(options)?;
        let period = HEARTBEAT.as_nanos();
        for (name, value) in [
            ("master_heartbeat_period", period),
            ("source_heartbeat_period", period),
            // This reader knows all events of MariaDB.
            ("mariadb_slave_capability", 4),
        ] {
            connection.query_drop(format!("SET @{name} = {value}"))?;
        }
        let request =
            BinlogRequest::new(self.replica).with_filename(place.file.as_bytes().to_vec()).with_pos(place.offset);
        let stream = connection.get_binlog_stream(request)?;
        let (options, site) = (self.options.clone(), server.site.clone());
        let own = server.clone();
        let load = Box::new(move || {
            let mut connection = server::connect(&options)?;
            let mut schema = Schema::load(&mut connection, &site)?;
            // Without it, the values of rows are not known.
            schema.since = own.end(&mut connection).ok().and_then(|(file, offset)| Point::new(&file, offset).ok());
            Ok(schema)
        });
        let decoder = Decoder::new(place, server.site.clone(), self.shared.changes().clone(), load);
        let mut session = Session { stream, server: server.clone(), decoder };
        // The server refuses the request, or begins with the name and the format of the file.
        let mut known = false;
        while !known {
            let event = session.next()?;
            known = event.kind == kind::FORMAT;
            if event.kind == kind::ROTATE {
                // It names the requested file. Whether it has a checksum is known after the format only.
                continue;
            }
            if let Step::Lost(why) = session.decoder.read(&event.borrow())? {
                return Err(Requested::Lost(why.to_owned()));
            }
        }
        Ok(session)
    }

    /// Reads the log until the feed is stopped.
    pub(super) fn run(mut self, session: Session) {
        let mut session = Some(session);
        let (mut pause, mut attempts) = (PAUSE[0], 0);
        while !self.shared.stopped.load(Ordering::Acquire) {
            let failure = match session.take() {
                Some(mut session) => {
                    let first = session.decoder.place.clone();
                    let mut failure = self.read(&mut session);
                    if session.decoder.place == first {
                        attempts += 1;
                    } else {
                        (pause, attempts) = (PAUSE[0], 0);
                    }
                    if let Failure::Disconnected(why) = &mut failure
                        && attempts >= ATTEMPTS
                    {
                        failure = Failure::Lost(std::mem::take(why));
                    }
                    self.last = Some((session.decoder.place, session.server.identity));
                    failure
                }
                None => match self.connect() {
                    Ok(connected) => {
                        session = Some(connected);
                        continue;
                    }
                    Err(error) => Failure::Disconnected(error.to_string()),
                },
            };
            self.shared.set_connected(false);
            match failure {
                Failure::Stopped => return,
                Failure::Lost(why) => {
                    tracing::warn!("the binary log cannot be read on, changes may have been missed: {why}");
                    self.shared.details().error = Some(why);
                    self.shared.missed.fetch_add(1, Ordering::Relaxed);
                    self.last = None;
                    attempts = 0;
                }
                Failure::Disconnected(why) => {
                    tracing::warn!("the binary log is not being read: {why}");
                    self.shared.details().error = Some(why);
                }
            }
            std::thread::park_timeout(pause);
            pause = (pause * 2).min(PAUSE[1]);
        }
    }

    fn read(&self, session: &mut Session) -> Failure {
        let mut created = session.decoder.place.created;
        loop {
            if self.shared.stopped.load(Ordering::Acquire) {
                return Failure::Stopped;
            }
            if self.shared.other_log.swap(false, Ordering::AcqRel) {
                return Failure::Disconnected(
                    "the server has begun a new log, or another one has taken over".to_owned(),
                );
            }
            let event = match session.next() {
                Ok(event) => event,
                Err(Requested::Lost(why)) => return Failure::Lost(why),
                Err(Requested::Failed(error)) => return error.into(),
            };
            let was_late = self.shared.late.swap(false, Ordering::AcqRel);
            if event.kind == kind::HEARTBEAT && was_late {
                // The server waits for changes of a log that it does not write any more.
                return Failure::Disconnected("the server does not send what is in its log".to_owned());
            }
            let step = match session.decoder.read(&event.borrow()) {
                Ok(step) => step,
                Err(error) => return error.into(),
            };
            let place = &session.decoder.place;
            if place.created != created {
                created = place.created;
                self.shared.details().place = Some(place.clone());
            }
            let point = match Point::new(&place.file, place.offset) {
                Ok(point) => point,
                Err(error) => return Failure::Lost(error.to_string()),
            };
            match step {
                Step::Continue => {}
                Step::Reached(reached) => self.shared.apply(point, &reached),
                Step::NextFile { crashed } => {
                    if crashed {
                        let why = "the server was not shut down, and may have lost its last transactions";
                        self.shared.begin(point, Some(why));
                    } else {
                        self.shared.apply(point, &Reached::default());
                    }
                    self.shared.details().place = Some(place.clone());
                }
                Step::Lost(why) => return Failure::Lost(why.to_owned()),
            }
        }
    }
}

/// Why there is no event.
enum Requested {
    Lost(String),
    Failed(mysql::Error),
}

impl From<mysql::Error> for Requested {
    fn from(error: mysql::Error) -> Self {
        if server::has_no_such_position(&error) { Requested::Lost(error.to_string()) } else { Requested::Failed(error) }
    }
}

/// An event as the server sent it.
struct Received {
    kind: u8,
    event: mysql::binlog::events::Event,
}

impl Received {
    fn borrow(&self) -> Event<'_> {
        let header = self.event.header();
        Event {
            kind: self.kind,
            flags: header.flags_raw(),
            time: header.timestamp(),
            server: header.server_id(),
            end: header.log_pos(),
            data: self.event.data(),
        }
    }
}

impl Session {
    /// The next event.
    fn next(&mut self) -> Result<Received, Requested> {
        let stream = &mut self.stream;
        // The library panics on events that are shorter than their headers have it.
        match catch_unwind(AssertUnwindSafe(|| stream.next())) {
            Ok(Some(Ok(event))) => Ok(Received { kind: event.header().event_type_raw(), event }),
            Ok(Some(Err(error @ (mysql::Error::MySqlError(_) | mysql::Error::DriverError(_))))) => Err(error.into()),
            Ok(Some(Err(mysql::Error::IoError(error)))) if is_data(&error) => {
                Err(Requested::Lost(format!("an event is damaged: {error}")))
            }
            Ok(Some(Err(error))) => Err(error.into()),
            Ok(None) => Err(Requested::Failed(mysql::Error::IoError(std::io::ErrorKind::UnexpectedEof.into()))),
            Err(_) => Err(Requested::Lost("an event is damaged".to_owned())),
        }
    }
}

/// Whether an error is about the content of an event, not about the connection.
fn is_data(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::InvalidData | std::io::ErrorKind::Other | std::io::ErrorKind::InvalidInput
    )
}

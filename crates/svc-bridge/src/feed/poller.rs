//! A thread that reads the news over a connection of its own. Requests that arrive while it reads share its next reading.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use mysql::{Conn, Opts, OptsBuilder};
use tokio::sync::oneshot;

use super::Unknown;
use crate::changes::Position;

/// Time limit for a statement, and for connecting.
const LIMIT: Duration = Duration::from_secs(2);

/// Time between two looks without a request.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// Pause after a failed connection. Requests are answered at once meanwhile.
const PAUSE: Duration = Duration::from_millis(250);

/// What the thread does.
pub(super) trait Poll: Send + 'static {
    /// Reads the news. Called for requests.
    ///
    /// # Errors
    /// Of the database; the connection is opened again.
    fn poll(&mut self, conn: &mut Conn) -> Result<Result<Position, Unknown>, mysql::Error>;

    /// Called about once in a [`TICK`].
    ///
    /// # Errors
    /// As those of [`poll`](Self::poll).
    fn tick(&mut self, conn: &mut Conn) -> Result<(), mysql::Error>;

    /// Called when a connection was opened, the first time as well.
    ///
    /// # Errors
    /// As those of [`poll`](Self::poll).
    fn connected(&mut self, conn: &mut Conn) -> Result<(), mysql::Error>;
}

type Asked = oneshot::Sender<Result<Position, Unknown>>;

/// The thread. It ends when this is dropped.
pub(super) struct Poller(mpsc::Sender<Asked>);

impl Poller {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(super) fn start(opts: &Opts, poll: impl Poll) -> std::io::Result<Self> {
        let opts = OptsBuilder::from_opts(opts.clone())
            .tcp_connect_timeout(Some(LIMIT))
            .read_timeout(Some(LIMIT))
            .write_timeout(Some(LIMIT));
        let opts = Opts::from(opts);
        let (sender, asked) = mpsc::channel();
        std::thread::Builder::new().name("news".to_owned()).spawn(move || run(&opts, poll, &asked))?;
        Ok(Poller(sender))
    }

    /// Reads the news after this call.
    pub(super) async fn read(&self) -> Result<Position, Unknown> {
        let stopped = || Unknown("the thread that reads the news has stopped".to_owned());
        let (sender, result) = oneshot::channel();
        self.0.send(sender).map_err(|_| stopped())?;
        result.await.map_err(|_| stopped())?
    }
}

fn run(opts: &Opts, mut poll: impl Poll, asked: &mpsc::Receiver<Asked>) {
    let mut conn: Option<Conn> = None;
    let (mut last_tick, mut last_failure) = (Instant::now(), None::<(Instant, String)>);
    let mut waiting: Vec<Asked> = Vec::new();
    loop {
        match asked.recv_timeout(TICK.saturating_sub(last_tick.elapsed())) {
            Ok(first) => waiting.push(first),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        waiting.extend(asked.try_iter());
        let is_pausing = last_failure.as_ref().is_some_and(|(at, _)| at.elapsed() < PAUSE);
        let done = if is_pausing {
            Err(last_failure.as_ref().map(|(_, why)| why.clone()).unwrap_or_default())
        } else {
            let is_due = last_tick.elapsed() >= TICK;
            if is_due {
                last_tick = Instant::now();
            }
            step(opts, &mut poll, &mut conn, !waiting.is_empty(), is_due).map_err(|error| error.to_string())
        };
        let result = match done {
            Ok(result) => {
                if last_failure.take().is_some() {
                    tracing::info!("the news of writes can be read again");
                }
                result
            }
            Err(why) => {
                if last_failure.is_none() {
                    tracing::warn!("cannot read the news of writes, so that WordPress responds: {why}");
                }
                if !is_pausing {
                    last_failure = Some((Instant::now(), why.clone()));
                    conn = None;
                }
                Some(Err(Unknown(format!("the news of writes cannot be read: {why}"))))
            }
        };
        if let Some(result) = result {
            // Those who no longer wait are gone.
            waiting.drain(..).for_each(|asked| drop(asked.send(result.clone())));
        }
    }
}

/// Reads the news if somebody has asked, and does what is due.
fn step(
    opts: &Opts,
    poll: &mut impl Poll,
    conn: &mut Option<Conn>,
    is_asked: bool,
    is_due: bool,
) -> Result<Option<Result<Position, Unknown>>, mysql::Error> {
    let conn = match conn {
        Some(conn) => conn,
        None => {
            let mut new = Conn::new(opts.clone())?;
            poll.connected(&mut new)?;
            conn.insert(new)
        }
    };
    let result = is_asked.then(|| poll.poll(conn)).transpose()?;
    if is_due {
        poll.tick(conn)?;
    }
    Ok(result)
}

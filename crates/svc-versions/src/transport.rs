//! How the client of a request reached the site.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;

thread_local! {
    /// The transport of the request that this thread handles.
    static CURRENT: Cell<Transport> = const { Cell::new(Transport::Plain) };
}

/// How the client of a request reached the site. Generated URLs and what the client is offered depend on it, so a
/// [`VersionedCache`](crate::VersionedCache) has separate values for each transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Over plain HTTP. Also the transport of work that no request has caused.
    #[default]
    Plain,
    /// Over plain HTTP, to the host `localhost` or one below it. Browsers treat it as secure.
    Localhost,
    /// Over TLS.
    Tls,
}

impl Transport {
    /// The transport of a request over TLS, or else to this host, which may have a port.
    pub fn of(is_over_tls: bool, host: &str) -> Self {
        let name = host.split(':').next().unwrap_or_default();
        // `get` is `None` within a character, which no part of `localhost` is.
        let ends_with = |suffix: &str| {
            name.len()
                .checked_sub(suffix.len())
                .and_then(|at| name.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
        };
        match is_over_tls {
            true => Transport::Tls,
            false if name.eq_ignore_ascii_case("localhost") || ends_with(".localhost") => Transport::Localhost,
            false => Transport::Plain,
        }
    }

    /// Whether the request came over TLS. Source: `is_ssl`.
    pub fn is_tls(self) -> bool {
        self == Transport::Tls
    }

    /// Whether browsers treat pages with this transport as secure contexts.
    pub fn is_secure(self) -> bool {
        self != Transport::Plain
    }
}

/// Two values: one for requests over TLS, and one for all others.
#[derive(Clone, Debug, Default)]
pub struct ByTls<T> {
    without: T,
    with: T,
}

impl<T> ByTls<T> {
    /// The results of `make`, which is called for each of both with that transport.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn try_new<E>(mut make: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        let without = call_with_transport(Transport::Plain, &mut make)?;
        Ok(ByTls { without, with: call_with_transport(Transport::Tls, make)? })
    }

    /// The value for the request that this thread handles.
    pub fn current(&self) -> &T {
        if current_transport().is_tls() { &self.with } else { &self.without }
    }
}

/// The transport of the request that this thread handles; [`Transport::Plain`] without a request.
pub fn current_transport() -> Transport {
    CURRENT.get()
}

/// Awaits a future that handles a request with this transport. Tasks that it spawns are outside.
pub async fn with_transport<F: Future>(transport: Transport, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(move |context| {
        let _entered = Entered { outer: CURRENT.replace(transport) };
        future.as_mut().poll(context)
    })
    .await
}

/// Calls a function that handles a part of a request with this transport, such as on another thread.
pub fn call_with_transport<T>(transport: Transport, f: impl FnOnce() -> T) -> T {
    let _entered = Entered { outer: CURRENT.replace(transport) };
    f()
}

/// Restores the transport of the enclosing request, also after a panic.
struct Entered {
    outer: Transport,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn browsers_treat_tls_and_localhost_as_secure() {
        for (tls, host, expected) in [
            (false, "example.org", Transport::Plain),
            (false, "", Transport::Plain),
            (false, "127.0.0.1:8080", Transport::Plain),
            (false, "localhost", Transport::Localhost),
            (false, "LocalHost:8080", Transport::Localhost),
            (false, "blog.LOCALHOST:8080", Transport::Localhost),
            (false, "notlocalhost", Transport::Plain),
            (false, "localhost.example.org", Transport::Plain),
            (false, "é.example", Transport::Plain),
            (true, "localhost", Transport::Tls),
            (true, "example.org", Transport::Tls),
        ] {
            let transport = Transport::of(tls, host);
            assert_eq!((transport, transport.is_tls()), (expected, tls), "{host}");
            assert_eq!(transport.is_secure(), expected != Transport::Plain, "{host}");
        }
    }

    #[test]
    fn values_by_tls() {
        let urls =
            ByTls::try_new(|| Ok::<_, ()>(if current_transport().is_tls() { "https:" } else { "http:" })).unwrap();
        for (transport, expected) in
            [(Transport::Plain, "http:"), (Transport::Localhost, "http:"), (Transport::Tls, "https:")]
        {
            assert_eq!(call_with_transport(transport, || *urls.current()), expected);
        }
        assert!(ByTls::try_new(|| if current_transport().is_tls() { Err(()) } else { Ok(()) }).is_err());
    }

    #[test]
    fn the_transport_of_a_request_ends_with_each_poll() {
        let mut polls = 0;
        let twice = poll_fn(|_| {
            polls += 1;
            assert_eq!(current_transport(), Transport::Tls);
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut request = pin!(with_transport(Transport::Tls, twice));
        let mut context = Context::from_waker(Waker::noop());
        assert!(request.as_mut().poll(&mut context).is_pending());
        assert_eq!(current_transport(), Transport::Plain);
        assert!(request.as_mut().poll(&mut context).is_ready());
        let panicked = std::panic::catch_unwind(|| call_with_transport(Transport::Tls, || panic!("a mistake")));
        assert!(panicked.is_err());
        assert_eq!(current_transport(), Transport::Plain);
    }
}

//! How the client of a request reached the site.

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
    /// The results of `make`, which is called for [`Transport::Plain`] and for [`Transport::Tls`].
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn try_new<E>(mut make: impl FnMut(Transport) -> Result<T, E>) -> Result<Self, E> {
        let without = make(Transport::Plain)?;
        Ok(ByTls { without, with: make(Transport::Tls)? })
    }

    /// The value for requests with this transport.
    pub fn of(&self, transport: Transport) -> &T {
        if transport.is_tls() { &self.with } else { &self.without }
    }
}

#[cfg(test)]
mod tests {
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
        let scheme = |transport: Transport| if transport.is_tls() { "https:" } else { "http:" };
        let urls = ByTls::try_new(|transport| Ok::<_, ()>(scheme(transport))).unwrap();
        for (transport, expected) in
            [(Transport::Plain, "http:"), (Transport::Localhost, "http:"), (Transport::Tls, "https:")]
        {
            assert_eq!(*urls.of(transport), expected);
        }
        assert!(ByTls::try_new(|transport| if transport.is_tls() { Err(()) } else { Ok(()) }).is_err());
    }
}

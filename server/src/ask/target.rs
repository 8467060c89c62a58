//! What is asked: where, with which request, and whom is trusted.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{ACCEPT, CONNECTION, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Request, Uri};
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::names::Lookup;
use super::tls::{self, Trust};

/// Whether the server is asked to keep the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// One question, one connection: `Connection: close`.
    Once,
    /// The connection may carry more questions.
    Again,
}

/// What is asked, made once for any number of questions.
#[derive(Debug)]
pub(crate) struct Target {
    pub(super) place: Place,
    pub(super) tls: Option<Tls>,
    request: Request<()>,
    pub(super) connection: Use,
    /// The header of the answer whose value is wanted.
    pub(super) header: Option<HeaderName>,
}

/// Where the connection goes.
#[derive(Debug)]
pub(super) enum Place {
    Address(SocketAddr),
    Name(Lookup),
}

pub(super) struct Tls {
    pub(super) config: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Target {
    /// A GET of `url`, which is `http` or `https` with a host; without a path `/` is asked for.
    ///
    /// # Errors
    /// In words, where it is no such URL, or no trust for `https` can be set up.
    pub(crate) fn new(url: &str, connection: Use, trust: Trust) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url:?} is not a URL: {error}"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(format!("{url:?} is not a URL with a host"));
        };
        let (usual_port, is_tls) = match scheme {
            "http" => (80, false),
            "https" => (443, true),
            other => return Err(format!("{url:?} is for {other}: write http or https")),
        };
        let host = authority.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if bare.is_empty() {
            return Err(format!("{url:?} names no host"));
        }
        let port = authority.port_u16().unwrap_or(usual_port);
        let tls = if is_tls { Some(tls_for(bare, trust)?) } else { None };
        let place = match bare.parse::<IpAddr>() {
            Ok(address) => Place::Address(SocketAddr::new(address, port)),
            Err(_) => Place::Name(Lookup::new(bare, port)),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::get(path)
            .header(HOST, authority.as_str())
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, HeaderValue::from_static("*/*"));
        if connection == Use::Once {
            request = request.header(CONNECTION, HeaderValue::from_static("close"));
        }
        let request = request.body(()).map_err(|error| format!("{url:?} cannot be asked for: {error}"))?;
        Ok(Self { place, tls, request, connection, header: None })
    }

    /// The same, with a header of the answer whose value is wanted.
    #[must_use]
    pub(crate) fn wanting(mut self, header: HeaderName) -> Self {
        self.header = Some(header);
        self
    }

    pub(super) fn request(&self) -> Request<Empty<Bytes>> {
        self.request.clone().map(|()| Empty::new())
    }
}

fn tls_for(host: &str, trust: Trust) -> Result<Tls, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host:?} is no name of a TLS server"))?;
    Ok(Tls { config: tls::config(trust)?, name })
}

const AGENT: HeaderValue = HeaderValue::from_static(concat!("greenlight/", env!("CARGO_PKG_VERSION")));

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<Target, String> {
        Target::new(url, Use::Once, Trust::Machine)
    }

    #[test]
    fn a_literal_address_needs_no_names() {
        for (url, address) in [
            ("http://127.0.0.1:81/readyz?a=b", "127.0.0.1:81"),
            ("http://[::1]", "[::1]:80"),
            ("https://10.0.0.1/", "10.0.0.1:443"),
        ] {
            let target = target(url).unwrap();
            assert!(matches!(target.place, Place::Address(found) if found == address.parse().unwrap()), "{url}");
        }
        assert!(matches!(target("http://localhost:1/").unwrap().place, Place::Name(_)));
    }

    #[test]
    fn the_request_has_a_path_and_a_host_and_asks_to_close() {
        let request = target("http://a.example:8080/x?y").unwrap().request();
        assert_eq!(request.uri(), "/x?y");
        assert_eq!(request.headers()[HOST], "a.example:8080");
        assert_eq!(request.headers()[CONNECTION], "close");
        let kept = Target::new("http://127.0.0.1", Use::Again, Trust::Machine).unwrap().request();
        assert_eq!((kept.uri().path(), kept.headers().get(CONNECTION)), ("/", None));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for url in ["", "a", "/x", "ftp://a/", "http:///x"] {
            assert!(target(url).is_err(), "{url}");
        }
    }
}

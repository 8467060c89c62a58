//! What is asked: where, with which request, and whom is trusted.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hyper::Uri;
use hyper::header::HeaderName;
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
    /// What is written.
    pub(super) request: Box<[u8]>,
    pub(super) connection: Use,
    /// The header of the answer whose value is wanted.
    pub(super) header: Option<Box<str>>,
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
        let connection_line = match connection {
            Use::Once => "connection: close\r\n",
            Use::Again => "",
        };
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {authority}\r\nuser-agent: {AGENT}\r\naccept: */*\r\n{connection_line}\r\n"
        );
        let request = request.into_bytes().into();
        Ok(Self { place, tls, request, connection, header: None })
    }

    /// The same, with a header of the answer whose value is wanted.
    #[must_use]
    pub(crate) fn wanting(mut self, header: &HeaderName) -> Self {
        self.header = Some(header.as_str().into());
        self
    }
}

fn tls_for(host: &str, trust: Trust) -> Result<Tls, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host:?} is no name of a TLS server"))?;
    Ok(Tls { config: tls::config(trust)?, name })
}

const AGENT: &str = concat!("greenlight/", env!("CARGO_PKG_VERSION"));

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
        let text = |target: Target| String::from_utf8(target.request.into()).unwrap();
        let request = text(target("http://a.example:8080/x?y").unwrap());
        assert!(request.starts_with("GET /x?y HTTP/1.1\r\nhost: a.example:8080\r\n"), "{request}");
        assert!(request.ends_with("\r\nconnection: close\r\n\r\n"), "{request}");
        let kept = text(Target::new("http://127.0.0.1", Use::Again, Trust::Machine).unwrap());
        assert!(kept.starts_with("GET / HTTP/1.1\r\n") && !kept.contains("connection"), "{kept}");
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for url in ["", "a", "/x", "ftp://a/", "http:///x"] {
            assert!(target(url).is_err(), "{url}");
        }
    }
}

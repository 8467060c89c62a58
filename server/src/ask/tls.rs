//! Whom `https` trusts.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore, SignatureScheme, WantsVerifier,
};

/// Whom `https` trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Whom this machine trusts; where it has no list of its own, the public one.
    Machine,
    /// Anybody. Whether a member answers can be asked of one whose certificate nobody has signed, or is of another
    /// name: an orchestrator's own probes do not look at it either.
    Anybody,
}

/// The configuration, made once for each kind of trust.
pub(super) fn config(trust: Trust) -> Result<Arc<ClientConfig>, String> {
    static MACHINE: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    static ANYBODY: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    match trust {
        Trust::Machine => {
            MACHINE.get_or_init(|| Ok(Arc::new(builder()?.with_root_certificates(roots()).with_no_client_auth())))
        }
        Trust::Anybody => ANYBODY.get_or_init(|| {
            let verifier = Arc::new(NoQuestions(Arc::new(ring::default_provider())));
            Ok(Arc::new(builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()))
        }),
    }
    .clone()
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))
}

fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (_, unreadable) = roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        tracing::warn!(unreadable, errors = found.errors.len(), "this machine trusts nobody: the public list is used");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// Takes every certificate; that the server holds its key is still checked.
struct NoQuestions(Arc<CryptoProvider>);

impl fmt::Debug for NoQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoQuestions")
    }
}

impl ServerCertVerifier for NoQuestions {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

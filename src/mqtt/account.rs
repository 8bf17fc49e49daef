//! Which broker, and as whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::time::Duration;

use protocol::limits::PACKET_BYTES_MAX;
use rumqttc::{AsyncClient, EventLoop, MqttOptions, NetworkOptions};

use crate::config::{Broker, MqttConfig};

/// Seconds without a packet after which each side asks whether the other lives.
const KEEP_ALIVE_S: u64 = 10;
/// Bytes of a packet beside its payload, which is what brokers bound: a topic and a packet id.
const HEADER_BYTES_MAX: usize = 66 * 1024;
/// Seconds for a connection to come up, and for one flush.
const CONNECT_S: u64 = 5;

/// Why a broker cannot be used as the configuration says.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The certificates cannot be used.
    #[error("mqtt.ca_file: {0}")]
    Roots(String),
    /// This program was built without TLS.
    #[error("mqtt.broker: mqtts needs the feature `tls`, which this program was built without")]
    NoTls,
}

/// Which broker, and as whom.
#[derive(Clone)]
pub struct Account {
    host: String,
    port: u16,
    login: Option<(String, String)>,
    #[cfg(feature = "tls")]
    tls: Option<Arc<rustls::ClientConfig>>,
}

impl Account {
    /// The account of a configuration.
    ///
    /// # Errors
    /// Where the certificates cannot be used.
    pub fn new(config: &MqttConfig) -> Result<Self, AccountError> {
        let (host, port, secure) = match &config.broker {
            Broker::Embedded => (local(config.listen.ip()), config.listen.port(), false),
            Broker::Tcp { host, port } => (host.clone(), *port, false),
            Broker::Tls { host, port } => (host.clone(), *port, true),
        };
        #[cfg(not(feature = "tls"))]
        if secure {
            return Err(AccountError::NoTls);
        }
        let password = config
            .password
            .as_ref()
            .map_or("", |password| password.reveal());
        Ok(Self {
            host,
            port,
            login: config
                .username
                .as_ref()
                .map(|name| (name.clone(), password.to_owned())),
            #[cfg(feature = "tls")]
            tls: secure
                .then(|| tls::client(config.ca_file.as_deref()))
                .transpose()?,
        })
    }

    /// A connection that is not open yet, with room for `requests` requests that wait to be sent.
    #[must_use]
    pub fn connection(&self, options: Client, requests: usize) -> (AsyncClient, EventLoop) {
        let mut mqtt = MqttOptions::new(options.id, self.host.clone(), self.port);
        mqtt.set_keep_alive(Duration::from_secs(KEEP_ALIVE_S))
            .set_clean_session(options.clean)
            .set_manual_acks(options.manual_acks)
            .set_inflight(options.window)
            .set_max_packet_size(PACKET_BYTES_MAX + HEADER_BYTES_MAX, PACKET_BYTES_MAX);
        if let Some((name, password)) = &self.login {
            mqtt.set_credentials(name, password);
        }
        if let Some(will) = options.will {
            mqtt.set_last_will(will);
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let tls = rumqttc::TlsConfiguration::Rustls(Arc::clone(tls));
            mqtt.set_transport(rumqttc::Transport::tls_with_config(tls));
        }
        let (client, mut connection) = AsyncClient::new(mqtt, requests);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        network.set_connection_timeout(CONNECT_S);
        connection.set_network_options(network);
        (client, connection)
    }
}

/// How this machine reaches what listens at `address` on it.
fn local(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) if address.is_unspecified() => format!("[{}]", Ipv6Addr::LOCALHOST),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// What one connection is for.
pub struct Client {
    /// Its client id.
    pub id: String,
    /// The broker forgets it when it goes.
    pub clean: bool,
    /// Nothing is acknowledged by itself.
    pub manual_acks: bool,
    /// Messages to the broker that it may leave unacknowledged, from 1.
    pub window: u16,
    /// What the broker says when it goes without a word.
    pub will: Option<rumqttc::LastWill>,
}

#[cfg(feature = "tls")]
mod tls {
    use std::path::Path;
    use std::sync::Arc;

    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::{ClientConfig, RootCertStore};

    use super::AccountError;

    /// TLS 1.2 or 1.3 towards a broker whose certificate one of the roots vouches for.
    pub(super) fn client(ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, AccountError> {
        let roots = match ca_file {
            Some(path) => roots_of_file(path)?,
            None => roots_of_system()?,
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| AccountError::Roots(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    fn roots_of_file(path: &Path) -> Result<RootCertStore, AccountError> {
        let bad = |why: String| AccountError::Roots(format!("{}: {why}", path.display()));
        let mut roots = RootCertStore::empty();
        for certificate in
            CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?
        {
            let certificate = certificate.map_err(|error| bad(error.to_string()))?;
            roots
                .add(certificate)
                .map_err(|error| bad(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(bad("holds no certificate".to_owned()));
        }
        Ok(roots)
    }

    fn roots_of_system() -> Result<RootCertStore, AccountError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let why = found
                .errors
                .first()
                .map_or_else(String::new, |error| format!(": {error}"));
            return Err(AccountError::Roots(format!(
                "the system has no root certificates{why}"
            )));
        }
        Ok(roots)
    }
}

//! `[http]` and `[[clients]]`: who may ask over HTTP, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use protocol::ClientId;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::document::{Table, Value};

const HTTP_KEYS: &[&str] = &["listen", "insecure_remote"];
const CLIENT_KEYS: &[&str] = &["id", "token_file"];
/// Where it listens unless told otherwise (`wire.md` section 8).
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Applications with a token.
const CLIENTS_MAX: usize = 1_024;
/// Bytes of a token: not to be guessed, and no more than a header line takes.
const TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=256;

/// `[http]` with its `[[clients]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// Where it listens; beyond loopback only with `insecure_remote`.
    pub listen: SocketAddr,
    /// Who may ask.
    pub clients: Vec<HttpClient>,
}

/// One of `[[clients]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpClient {
    /// As whom its requests count.
    pub id: ClientId,
    /// What it must show.
    pub token: Token,
}

/// The token of a client, as its SHA-256: the token itself is not kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token([u8; 32]);

impl Token {
    /// The token of this text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether both are the same, in a time that does not tell how far they agree.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Reads them; `Some(None)` where there is no `[http]`.
pub(super) fn read(root: &Table<'_>) -> Option<Option<HttpConfig>> {
    let clients = read_clients(root);
    if root.value("http").is_none() {
        return clients.map(|_| None);
    }
    let table = root.section("http", HTTP_KEYS)?;
    let remote = table.read("insecure_remote", false, Value::flag);
    let listen = table.read("listen", LISTEN, |value| {
        read_listen(value, remote != Some(false))
    });
    remote?;
    Some(Some(HttpConfig {
        listen: listen?,
        clients: clients?,
    }))
}

fn read_listen(value: &Value<'_>, is_remote_allowed: bool) -> Option<SocketAddr> {
    let address: SocketAddr = match value.text()?.parse() {
        Ok(address) => address,
        Err(_) => return value.refuse("an IP address and a port, such as \"127.0.0.1:8080\""),
    };
    if address.port() == 0 {
        return value.refuse("a port from 1 to 65535");
    }
    if is_remote_allowed || address.ip().is_loopback() {
        return Some(address);
    }
    value.refuse(
        "an address of this machine alone (127.0.0.1 or [::1]), with a proxy before it that speaks \
         TLS: tokens cross the network readable; http.insecure_remote = true allows it",
    )
}

fn read_clients(root: &Table<'_>) -> Option<Vec<HttpClient>> {
    let mut ids = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    let tables = root.tables("clients", CLIENTS_MAX);
    let all: Vec<_> = tables
        .iter()
        .map(|table| one_client(table, &mut ids, &mut tokens))
        .collect();
    all.into_iter().collect()
}

fn one_client(
    table: &Table<'_>,
    ids: &mut BTreeSet<ClientId>,
    tokens: &mut BTreeSet<Token>,
) -> Option<HttpClient> {
    table.refuse_unknown(CLIENT_KEYS);
    let id = table.require("id", "the identifier of the client", |value| {
        let id: ClientId = value.identifier()?;
        if ids.insert(id.clone()) {
            return Some(id);
        }
        value.refuse("an identifier that no client above has")
    });
    let token = table.require("token_file", "the file with its token", |value| {
        let token = read_token(value)?;
        if tokens.insert(token.clone()) {
            return Some(token);
        }
        value.refuse("a file with a token that no client above has")
    });
    Some(HttpClient {
        id: id?,
        token: token?,
    })
}

fn read_token(value: &Value<'_>) -> Option<Token> {
    let path = value.document.beside(value.text()?);
    // One more byte than the longest token and the end of its line.
    let bytes_max = *TOKEN_BYTES.end() as u64 + 2;
    let text = match value.document.files().secret(&path, bytes_max) {
        Err(expected) => return value.refuse(expected),
        Ok(text) => text,
    };
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_token = TOKEN_BYTES.contains(&line.len()) && line.bytes().all(|b| b.is_ascii_graphic());
    if is_token {
        return Some(Token::of(line));
    }
    value.refuse(format!(
        "a file with one line, a token of {} to {} visible ASCII characters",
        TOKEN_BYTES.start(),
        TOKEN_BYTES.end()
    ))
}

//! `[gateway]` and `[mqtt]`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use protocol::topic::Topics;
use protocol::{Sensitive, SiteId};

use super::address::host_and_port;
use super::document::{Table, Value};
use super::{Broker, GatewayConfig, MqttConfig, Password};

const GATEWAY_KEYS: &[&str] = &["id", "site", "root", "data_dir"];
const MQTT_KEYS: &[&str] = &[
    "broker",
    "listen",
    "username",
    "password_file",
    "ca_file",
    "insecure_trial",
];
/// Defaults of `wire.md` section 7.
const ID: &str = "gw-1";
const ROOT: &str = "hallcall/v1";
const DATA_DIR: &str = "./data";
/// Port of MQTT, which is also where the embedded broker listens.
const MQTT_PORT: u16 = 1883;
/// Port of MQTT over TLS.
const MQTTS_PORT: u16 = 8883;
/// Bytes of a user name or a password (MQTT 3.1.1 section 1.5.3: a length of 16 bits).
const CREDENTIAL_BYTES_MAX: u64 = 65_535;
/// Bytes of a file of certificates; a whole system's roots take a quarter of a MiB.
const CA_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads `[gateway]`.
pub(super) fn read_gateway(root: &Table<'_>) -> Option<GatewayConfig> {
    let table = root.section("gateway", GATEWAY_KEYS)?;
    let id = table.identifier_or("id", ID);
    let site = table.require("site", "the site's identifier", Value::identifier);
    let topic_root = table.read("root", ROOT.to_owned(), |value| {
        read_root(value, site.as_ref())
    });
    let data_dir = table.read("data_dir", PathBuf::from(DATA_DIR), |value| {
        match value.text()? {
            "" => value.refuse("a folder"),
            folder => Some(PathBuf::from(folder)),
        }
    });
    Some(GatewayConfig {
        id: id?,
        site: site?,
        root: topic_root?,
        data_dir: data_dir?,
    })
}

fn read_root(value: &Value<'_>, site: Option<&SiteId>) -> Option<String> {
    let root = value.text()?;
    match site.map(|site| Topics::new(root, site)) {
        Some(Err(_)) => value.refuse(
            "the first levels of a topic, such as \"hallcall/v1\": visible ASCII without + # $, \
             in levels divided by single slashes",
        ),
        // A root without a site is judged once there is one.
        Some(Ok(_)) | None => Some(root.to_owned()),
    }
}

/// Reads `[mqtt]`.
pub(super) fn read_mqtt(root: &Table<'_>) -> Option<MqttConfig> {
    let table = root.section("mqtt", MQTT_KEYS)?;
    let broker = match table.value("broker") {
        Some(value) => read_broker(&value),
        None => embedded().or_else(|| table.refuse("broker", expected_broker())),
    };
    let insecure_trial = table.read("insecure_trial", false, Value::flag);
    // Another broker listens where it likes.
    let is_open = insecure_trial != Some(false) || broker != embedded();
    let listen = read_listen(&table, is_open);
    let username = table.read("username", None, |value| match value.text()? {
        name if name.len() as u64 > CREDENTIAL_BYTES_MAX => {
            value.refuse(format!("at most {CREDENTIAL_BYTES_MAX} bytes"))
        }
        name => Some((!name.is_empty()).then(|| name.to_owned())),
    });
    let password = table.read("password_file", None, |value| read_password(value, &table));
    let ca_file = table.read("ca_file", None, read_ca_file);
    Some(MqttConfig {
        broker: broker?,
        listen: listen?,
        username: username?,
        password: password?,
        ca_file: ca_file?,
        insecure_trial: insecure_trial?,
    })
}

fn embedded() -> Option<Broker> {
    cfg!(feature = "embedded-broker").then_some(Broker::Embedded)
}

fn read_broker(value: &Value<'_>) -> Option<Broker> {
    let text = value.text()?;
    let broker = if text == "embedded" {
        embedded()
    } else if let Some(address) = text.strip_prefix("mqtt://") {
        host_and_port(address, MQTT_PORT).map(|(host, port)| Broker::Tcp { host, port })
    } else if let Some(address) = text.strip_prefix("mqtts://") {
        host_and_port(address, MQTTS_PORT)
            .filter(|_| cfg!(feature = "tls"))
            .map(|(host, port)| Broker::Tls { host, port })
    } else {
        None
    };
    broker.or_else(|| value.refuse(expected_broker()))
}

/// The forms that this build can serve.
fn expected_broker() -> String {
    let embedded = if cfg!(feature = "embedded-broker") {
        "\"embedded\" or "
    } else {
        ""
    };
    let tls = if cfg!(feature = "tls") {
        " or \"mqtts://host:8883\""
    } else {
        ""
    };
    format!("{embedded}\"mqtt://host:1883\"{tls}")
}

fn read_listen(table: &Table<'_>, is_open: bool) -> Option<SocketAddr> {
    let default = SocketAddr::from((Ipv4Addr::LOCALHOST, MQTT_PORT));
    table.read("listen", default, |value| {
        let address: SocketAddr = match value.text()?.parse() {
            Ok(address) => address,
            Err(_) => return value.refuse("an IP address and a port, such as \"127.0.0.1:1883\""),
        };
        if address.port() == 0 {
            return value.refuse("a port from 1 to 65535");
        }
        if is_open || address.ip().is_loopback() {
            return Some(address);
        }
        value.refuse(
            "an address of this machine alone (127.0.0.1 or [::1]): the embedded broker lets \
             everybody read and write everything; mqtt.insecure_trial = true allows it for a trial",
        )
    })
}

fn read_password(value: &Value<'_>, mqtt: &Table<'_>) -> Option<Option<Password>> {
    let path = match value.text()? {
        "" => return Some(None),
        path => value.document.beside(path),
    };
    if mqtt.value("username").is_none_or(|name| name.is_text("")) {
        return mqtt.refuse("username", "a user name beside mqtt.password_file");
    }
    match value.document.files().secret(&path, CREDENTIAL_BYTES_MAX) {
        Err(expected) => value.refuse(expected),
        Ok(text) => match text.strip_suffix('\n').unwrap_or(&text) {
            "" => value.refuse("a password in its first line, the file is empty"),
            line if line.contains('\n') => value.refuse("one line, the password"),
            line => {
                let line = line.strip_suffix('\r').unwrap_or(line).to_owned();
                Some(Some(Password(Sensitive::new(line))))
            }
        },
    }
}

fn read_ca_file(value: &Value<'_>) -> Option<Option<PathBuf>> {
    let path = match value.text()? {
        "" => return Some(None),
        path => value.document.beside(path),
    };
    match value.document.files().text(&path, CA_BYTES_MAX) {
        Err(expected) => value.refuse(expected),
        Ok(text) if text.contains("-----BEGIN CERTIFICATE-----") => Some(Some(path)),
        Ok(_) => value.refuse("a PEM file with at least one certificate"),
    }
}

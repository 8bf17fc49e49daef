//! `[[devices]]` and `[rental]`.

use std::collections::BTreeMap;

use dispatch::RentalConfig;
use protocol::DeviceId;
use protocol::device::DeviceKey;
use protocol::limits::{DEVICES_MAX, HOLD_RENTAL_S_MAX};

use super::document::{Table, Value};

const DEVICE_KEYS: &[&str] = &["id", "key_file", "driver"];
const DRIVER_KEYS: &[&str] = &["kind"];
const RENTAL_KEYS: &[&str] = &["token_s", "pending_s", "resends", "per_user"];
/// Bytes of a key; HMAC-SHA-256 has no use for more than 64.
const KEY_BYTES_MAX: u64 = 1_024;
/// Bytes of a key below which one is guessed too easily (RFC 2104 section 3: as many as the hash
/// has are enough; half of them cannot be tried out).
const KEY_BYTES_GOOD: usize = 16;
/// Longest wait for a device, in milliseconds.
const PENDING_MS_MAX: u64 = 3_600_000;
/// How often a device may be told the same again.
const RESENDS_MAX: u32 = 100;
/// Open rentals that a site may allow a user.
const PER_USER_MAX: u32 = 1_000;

/// The keys of the devices.
pub(super) type Keys = BTreeMap<DeviceId, DeviceKey>;

/// Reads the devices with their keys, and how long their rentals wait.
pub(super) fn read(root: &Table<'_>) -> Option<(RentalConfig, Keys)> {
    let keys = read_devices(root);
    let rentals = read_rental(root);
    let keys = keys?;
    let devices = keys.keys().cloned().collect();
    Some((
        RentalConfig {
            devices,
            ..rentals?
        },
        keys,
    ))
}

fn read_rental(root: &Table<'_>) -> Option<RentalConfig> {
    let table = root.section("rental", RENTAL_KEYS)?;
    let default = RentalConfig::default();
    let span = |name: &str, default_ms: u64, ms_max: u64| {
        table.read(name, default_ms, |value| {
            let ms = value.seconds_ms()?;
            if ms <= ms_max {
                return Some(ms);
            }
            value.refuse(format!("seconds, at most {}", ms_max / 1000))
        })
    };
    let token_ms = span(
        "token_s",
        default.token_ms,
        u64::from(HOLD_RENTAL_S_MAX) * 1000,
    );
    let pending_ms = span("pending_s", default.pending_ms, PENDING_MS_MAX);
    let resends = table.read("resends", default.resends, |value| {
        value.integer(0..=RESENDS_MAX)
    });
    let per_user = table.read("per_user", default.per_user, |value| {
        value.integer(1..=PER_USER_MAX)
    });
    Some(RentalConfig {
        devices: default.devices,
        token_ms: token_ms?,
        pending_ms: pending_ms?,
        resends: resends?,
        per_user: per_user?,
    })
}

fn read_devices(root: &Table<'_>) -> Option<Keys> {
    let mut keys = Keys::new();
    let mut is_whole = true;
    for table in root.tables("devices", DEVICES_MAX) {
        match read_device(&table, &keys) {
            Some((id, key)) => {
                keys.insert(id, key);
            }
            None => is_whole = false,
        }
    }
    is_whole.then_some(keys)
}

fn read_device(table: &Table<'_>, above: &Keys) -> Option<(DeviceId, DeviceKey)> {
    table.refuse_unknown(DEVICE_KEYS);
    let id = table.require("id", "the identifier of the device", |value| {
        let id: DeviceId = value.identifier()?;
        if above.contains_key(&id) {
            return value.refuse("an identifier that no device above has");
        }
        Some(id)
    });
    let expected = "a file of mode 0600 with the key that the device shares with the gateway";
    let key = table.require("key_file", expected, |value| read_key(value, table));
    let driver = match table.value("driver") {
        Some(driver) => driver.table().and_then(|driver| read_driver(&driver)),
        None => Some(()),
    };
    driver?;
    Some((id?, key?))
}

fn read_driver(driver: &Table<'_>) -> Option<()> {
    driver.refuse_unknown(DRIVER_KEYS);
    driver.require("kind", "\"mqtt\"", |value| value.word(&[("mqtt", ())]))
}

fn read_key(value: &Value<'_>, device: &Table<'_>) -> Option<DeviceKey> {
    let path = value.document.beside(value.text()?);
    let bytes = match value.document.files().secret_bytes(&path, KEY_BYTES_MAX) {
        Err(expected) => return value.refuse(expected),
        Ok(bytes) => without_end_of_line(bytes),
    };
    if bytes.is_empty() {
        return value.refuse("a key, the file is empty");
    }
    if bytes.len() < KEY_BYTES_GOOD {
        device.advise(
            "key_file",
            format!("a key of at least {KEY_BYTES_GOOD} bytes"),
        );
    }
    Some(DeviceKey::new(bytes))
}

/// A key that is a text is its line; one of any bytes is all of them.
fn without_end_of_line(bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) => {
            let line = text.strip_suffix('\n').unwrap_or(&text);
            line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec()
        }
        Err(bytes) => bytes.into_bytes(),
    }
}

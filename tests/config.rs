//! The configuration file (`wire.md` section 7): what is refused, how it is told, and what comes
//! out of it. Every expected text was written by hand from the specification.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hallcall::config::{Broker, Config, DriverConfig};
use tempfile::TempDir;

const GATEWAY: &str = "[gateway]\nsite = \"demo\"\n";
const ELEVATOR: &str = r#"
[[elevators]]
id = "EL001"
floors = [{ label = "1F" }, { label = "2F" }]
"#;
const BUS: &str = "[[buses]]\nid = \"b1\"\naddress = \"127.0.0.1:1502\"\n";

/// A folder with a configuration `site.toml` in it.
struct Site(TempDir);

impl Site {
    fn new(text: &str) -> Self {
        let site = Self(tempfile::tempdir().expect("a temporary folder"));
        site.write("site.toml", text, 0o644);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).expect(name);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect(name);
    }

    fn config(&self) -> Config {
        Config::load(&self.path("site.toml")).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
    }

    /// All that is told of `site.toml`, without file and line.
    fn mistakes(&self) -> Vec<String> {
        let Err(mistakes) = Config::load(&self.path("site.toml")) else {
            return Vec::new();
        };
        let told = mistakes
            .iter()
            .map(|m| format!("{} = {}: expected {}", m.key, m.value, m.expected));
        told.collect()
    }
}

fn assert_refused(text: &str, expected: &str) {
    assert_eq!(Site::new(text).mistakes(), [expected], "{text}");
}

/// Beside a good gateway and a good elevator.
fn assert_beside_refused(text: &str, expected: &str) {
    assert_refused(&format!("{GATEWAY}{ELEVATOR}{text}"), expected);
}

/// In the table of the one elevator, `keys` in place of those of the same name.
fn elevator(keys: &str) -> String {
    let mut text = format!("{GATEWAY}{BUS}[[elevators]]\n");
    for (name, line) in [
        ("id", "id = \"EL001\""),
        (
            "floors",
            "floors = [{ label = \"1F\" }, { label = \"2F\" }]",
        ),
    ] {
        if !keys.starts_with(name) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text + keys
}

fn assert_elevator_refused(keys: &str, expected: &str) {
    assert_refused(&elevator(keys), expected);
}

/// AT: twelve mistakes give exactly these twelve lines.
#[test]
fn every_mistake_is_told_at_once() {
    let folder = Path::new("tests/fixtures/config");
    let file = folder.join("twelve-mistakes.toml");
    let mistakes = Config::load(&file).expect_err("twelve mistakes");
    let told: Vec<_> = mistakes
        .iter()
        .map(|mistake| mistake.to_string().replace("tests/fixtures/config/", ""))
        .collect();
    let expected = fs::read_to_string(folder.join("twelve-mistakes.txt")).expect("expected lines");
    assert_eq!(told, expected.lines().collect::<Vec<_>>());
    assert_eq!(told.len(), 12);
}

#[test]
fn what_is_no_toml_is_one_mistake_with_its_line() {
    let site = Site::new("[gateway]\nsite = \"demo\"\nid = \n[mqtt]\nlisten = 3\n");
    let mistakes = Config::load(&site.path("site.toml")).expect_err("no TOML");
    let [mistake] = mistakes.as_slice() else {
        panic!("{mistakes:#?}")
    };
    assert_eq!((mistake.line, mistake.key.as_str()), (3, "(syntax)"));
    assert_eq!(mistake.value, "id =");
    assert!(
        mistake.expected.starts_with("TOML: "),
        "{}",
        mistake.expected
    );

    let site = Site::new("[gateway]\nsite = \"demo\"\nsite = \"demo\"\n");
    let mistakes = Config::load(&site.path("site.toml")).expect_err("a key twice");
    assert_eq!(mistakes.iter().map(|m| m.line).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_file_that_cannot_be_read_is_one_mistake() {
    for (path, expected) in [
        (
            "no/such/file.toml",
            "no/such/file.toml:1: (file) = no/such/file.toml: expected a file that exists",
        ),
        ("tests", "tests:1: (file) = tests: expected a regular file"),
    ] {
        let mistakes = Config::load(Path::new(path)).expect_err(path);
        assert_eq!(
            mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [expected]
        );
    }
    let site = Site::new("");
    fs::write(site.path("site.toml"), [0xff, 0xfe]).expect("bytes");
    assert_eq!(site.mistakes().len(), 1);
    assert!(
        site.mistakes()[0].ends_with("expected a text in UTF-8"),
        "{:?}",
        site.mistakes()
    );
}

#[test]
fn gateway_site_and_elevators_may_not_be_left_out() {
    assert_eq!(
        Site::new("").mistakes(),
        [
            "gateway.site = (left out): expected the site's identifier",
            "elevators = (left out): expected at least one [[elevators]]",
        ]
    );
}

#[test]
fn gateway_keys_are_judged() {
    let gateway = |keys: &str| format!("[gateway]\nsite = \"demo\"\n{keys}\n{ELEVATOR}");
    for (keys, expected) in [
        (
            "data_dir = \"\"",
            "gateway.data_dir = \"\": expected a folder",
        ),
        (
            "data_dir = 7",
            "gateway.data_dir = 7: expected a string in quotes",
        ),
        (
            "root = \"hallcall/#\"",
            "gateway.root = \"hallcall/#\": expected the first levels of a topic, such as \
             \"hallcall/v1\": visible ASCII without + # $, in levels divided by single slashes",
        ),
        (
            "id = \"\"",
            "gateway.id = \"\": expected an identifier, 1 to 64 of A-Z a-z 0-9 _ . : -; it is empty",
        ),
    ] {
        assert_refused(&gateway(keys), expected);
    }
    let long = "x".repeat(65);
    assert_refused(
        &format!("[gateway]\nsite = \"{long}\"\n{ELEVATOR}"),
        &format!(
            "gateway.site = \"{}…: expected an identifier, 1 to 64 of A-Z a-z 0-9 _ . : -; it is \
             65 bytes long, at most 64 are allowed",
            "x".repeat(59)
        ),
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    assert_beside_refused(
        "[limit]\nqueue = 5\n",
        "limit = [limit]: expected one of the known keys, the nearest is limits",
    );
    assert_elevator_refused(
        "hold_max = 8",
        "elevators[0].hold_max = 8: expected one of the known keys, the nearest is hold_max_s",
    );
    assert_beside_refused(
        "[limits]\ncolour = \"red\"\n",
        "limits.colour = \"red\": expected one of the keys queue, robot_messages_per_s, \
         dedup_retention_s",
    );
    assert_elevator_refused(
        "driver = { kind = \"mqtt\", bus = \"b1\" }",
        "elevators[0].driver.bus = \"b1\": expected one of the keys kind",
    );
}

#[test]
fn brokers_come_in_three_forms() {
    for (broker, expected) in [
        ("embedded", Broker::Embedded),
        (
            "mqtt://broker.example:1884",
            Broker::Tcp {
                host: "broker.example".into(),
                port: 1884,
            },
        ),
        (
            "mqtt://10.0.0.1",
            Broker::Tcp {
                host: "10.0.0.1".into(),
                port: 1883,
            },
        ),
        (
            "mqtts://[::1]:8884",
            Broker::Tls {
                host: "::1".into(),
                port: 8884,
            },
        ),
        (
            "mqtts://broker",
            Broker::Tls {
                host: "broker".into(),
                port: 8883,
            },
        ),
    ] {
        let site = Site::new(&format!(
            "{GATEWAY}{ELEVATOR}[mqtt]\nbroker = \"{broker}\"\n"
        ));
        assert_eq!(site.config().mqtt.broker, expected);
    }
    for broker in [
        "",
        "localhost:1883",
        "mqtt://",
        "mqtt://host:0",
        "mqtt://user@host",
        "ws://h:1",
    ] {
        assert_beside_refused(
            &format!("[mqtt]\nbroker = \"{broker}\"\n"),
            &format!(
                "mqtt.broker = \"{broker}\": expected \"embedded\" or \"mqtt://host:1883\" or \
                 \"mqtts://host:8883\""
            ),
        );
    }
}

/// B6-22: the embedded broker knows no rights, so that it stays on this machine.
#[test]
fn the_embedded_broker_stays_on_loopback_unless_it_is_a_trial() {
    assert_beside_refused(
        "[mqtt]\nlisten = \"0.0.0.0:1883\"\n",
        "mqtt.listen = \"0.0.0.0:1883\": expected an address of this machine alone (127.0.0.1 or \
         [::1]): the embedded broker lets everybody read and write everything; \
         mqtt.insecure_trial = true allows it for a trial",
    );
    assert_beside_refused(
        "[mqtt]\nlisten = \"localhost\"\n",
        "mqtt.listen = \"localhost\": expected an IP address and a port, such as \"127.0.0.1:1883\"",
    );
    let trial = "[mqtt]\nlisten = \"0.0.0.0:1884\"\ninsecure_trial = true\n";
    let mqtt = Site::new(&format!("{GATEWAY}{ELEVATOR}{trial}"))
        .config()
        .mqtt;
    assert_eq!(
        (mqtt.listen.to_string().as_str(), mqtt.insecure_trial),
        ("0.0.0.0:1884", true)
    );
    // Where another broker is used the key says nothing.
    let other = "[mqtt]\nbroker = \"mqtt://b:1883\"\nlisten = \"0.0.0.0:1884\"\n";
    assert!(
        !Site::new(&format!("{GATEWAY}{ELEVATOR}{other}"))
            .config()
            .mqtt
            .insecure_trial
    );
}

/// B6-22: a secret that others may read is refused.
#[test]
fn a_password_file_is_its_owners_alone() {
    let keys = "[mqtt]\nusername = \"gw-1\"\npassword_file = \"pass\"\n";
    let site = Site::new(&format!("{GATEWAY}{ELEVATOR}{keys}"));
    let told = |expected: &str| {
        [format!(
            "mqtt.password_file = \"pass\": expected {expected}"
        )]
    };
    assert_eq!(site.mistakes(), told("a file that exists"));
    for mode in [0o640, 0o604, 0o400, 0o700, 0o644] {
        site.write("pass", "secret\n", mode);
        assert_eq!(
            site.mistakes(),
            told(&format!("a file of mode 0600, its mode is {mode:04o}"))
        );
    }
    site.write("pass", "\n", 0o600);
    assert_eq!(
        site.mistakes(),
        told("a password in its first line, the file is empty")
    );
    site.write("pass", "one\ntwo\n", 0o600);
    assert_eq!(site.mistakes(), told("one line, the password"));

    site.write("pass", " se cret \n", 0o600);
    let mqtt = site.config().mqtt;
    assert_eq!(mqtt.username.as_deref(), Some("gw-1"));
    assert_eq!(
        mqtt.password.as_ref().map(|p| p.reveal()),
        Some(" se cret ")
    );
    assert!(
        !format!("{mqtt:?}").contains("cret"),
        "a password is never printed"
    );
}

#[test]
fn a_password_needs_a_user_name() {
    let site = Site::new(&format!(
        "{GATEWAY}{ELEVATOR}[mqtt]\npassword_file = \"pass\"\n"
    ));
    site.write("pass", "secret", 0o600);
    assert_eq!(
        site.mistakes(),
        ["mqtt.username = (left out): expected a user name beside mqtt.password_file"]
    );
}

#[test]
fn certificates_are_looked_at() {
    let site = Site::new(&format!(
        "{GATEWAY}{ELEVATOR}[mqtt]\nca_file = \"ca.pem\"\n"
    ));
    let told = |expected: &str| [format!("mqtt.ca_file = \"ca.pem\": expected {expected}")];
    assert_eq!(site.mistakes(), told("a file that exists"));
    site.write("ca.pem", "no certificate", 0o644);
    assert_eq!(
        site.mistakes(),
        told("a PEM file with at least one certificate")
    );
    site.write(
        "ca.pem",
        "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
        0o644,
    );
    assert_eq!(site.config().mqtt.ca_file, Some(site.path("ca.pem")));
}

#[test]
fn waits_are_seconds_of_a_day_at_most() {
    for value in [
        "0", "-1", "86400.1", "nan", "inf", "0.0001", "\"5\"", "0x10", "true",
    ] {
        assert_beside_refused(
            &format!("[timing]\nlease_s = {value}\n"),
            &format!("timing.lease_s = {value}: expected seconds, from 0.001 to 86400"),
        );
    }
    let keys = "[timing]\nlease_s = 86400\nsettle_s = 0.25\nsweep_s = 1e1\n";
    let timing = Site::new(&format!("{GATEWAY}{ELEVATOR}{keys}"))
        .config()
        .site
        .timing;
    assert_eq!(
        (timing.lease_ms, timing.settle_ms, timing.sweep_ms),
        (86_400_000, 250, 10_000)
    );
}

#[test]
fn waits_that_contradict_each_other_are_refused() {
    assert_beside_refused(
        "[timing]\npoll_s = 3\n",
        "timing.reading_fresh_s = (left out): expected more than timing.poll_s = 3, else a reading \
         is stale before the next one",
    );
    assert_beside_refused(
        "[timing]\nsilent_s = 3\n",
        "timing.silent_s = 3: expected more than timing.reading_fresh_s = 3, an elevator is stale \
         before it is silent",
    );
    // T-LIFT-26: half a second to settle and three queries two seconds apart are 6.5 s.
    assert_beside_refused(
        "[timing]\nhall_call_s = 6.4\n",
        "timing.hall_call_s = 6.4: expected at least timing.settle_s + 3 x timing.requery_s = 6.5",
    );
    assert_eq!(
        Site::new(&format!("{GATEWAY}{ELEVATOR}[timing]\nhall_call_s = 6.5\n")).mistakes(),
        Vec::<String>::new()
    );
}

#[test]
fn limits_have_ranges() {
    for (key, value, range) in [
        ("queue", "0", "an integer from 1 to 100000"),
        ("queue", "100001", "an integer from 1 to 100000"),
        ("queue", "1.5", "an integer from 1 to 100000"),
        ("robot_messages_per_s", "0", "an integer from 1 to 1000"),
        (
            "dedup_retention_s",
            "0",
            "seconds, more than 0 and at most 31536000",
        ),
        (
            "dedup_retention_s",
            "31536001",
            "seconds, more than 0 and at most 31536000",
        ),
    ] {
        assert_beside_refused(
            &format!("[limits]\n{key} = {value}\n"),
            &format!("limits.{key} = {value}: expected {range}"),
        );
    }
    let keys = "[limits]\nqueue = 5\nrobot_messages_per_s = 1_000\ndedup_retention_s = 0.5\n";
    let limits = Site::new(&format!("{GATEWAY}{ELEVATOR}{keys}"))
        .config()
        .site
        .limits;
    assert_eq!(
        (
            limits.queue,
            limits.robot_messages_per_s,
            limits.dedup_retention_s
        ),
        (5, 1000, 1)
    );
}

#[test]
fn elevators_are_judged_key_by_key() {
    for (keys, expected) in [
        ("id = 4", "id = 4: expected a string in quotes"),
        (
            "presence = \"people\"",
            "presence = \"people\": expected \"none\" or \"robot\" or \"any\"",
        ),
        ("claim = 1", "claim = 1: expected true or false"),
        (
            "hold_max_s = 7.0",
            "hold_max_s = 7.0: expected more than timing.valid_s + timing.accept_s = 7, else the \
             door could close on a permission that stands",
        ),
        ("driver = \"mqtt\"", "driver = \"mqtt\": expected a table"),
    ] {
        assert_elevator_refused(keys, &format!("elevators[0].{expected}"));
    }
    assert_eq!(
        Site::new(&elevator("floors = []")).mistakes(),
        ["elevators[0].floors = []: expected at least two floors, { label, sides, height_m } each"]
    );
    assert_refused(
        &format!("{GATEWAY}{ELEVATOR}{ELEVATOR}"),
        "elevators[1].id = \"EL001\": expected an identifier that no elevator above has",
    );
}

#[test]
fn floors_ascend_and_have_labels_of_their_own() {
    let floors =
        |second: &str| format!("floors = [{{ label = \"1F\", height_m = 0.5 }}, {second}]");
    for (second, expected) in [
        (
            "{ label = \"1F\", height_m = 4.0 }",
            "label = \"1F\": expected a label that no floor below it has",
        ),
        (
            "{ label = \"GROUND FL\", height_m = 4.0 }",
            "label = \"GROUND FL\": expected 1 to 8 of A-Z a-z 0-9 _ -",
        ),
        (
            "{ height_m = 4.0 }",
            "label = (left out): expected the label of the floor",
        ),
        (
            "{ label = \"2F\", height_m = 0.5 }",
            "height_m = 0.5: expected more than that of the floor before it: from the lowest to \
             the highest",
        ),
        (
            "{ label = \"2F\", height_m = 2000.5 }",
            "height_m = 2000.5: expected metres from -2000 to 2000",
        ),
        (
            "{ label = \"2F\", sides = [] }",
            "sides = []: expected at least one of \"front\", \"rear\"",
        ),
        (
            "{ label = \"2F\", sides = [\"rear\", \"rear\"] }",
            "sides = [\"rear\", \"rear\"]: expected each side once",
        ),
        (
            "{ label = \"2F\", side = \"rear\" }",
            "side = \"rear\": expected one of the known keys, the nearest is sides",
        ),
    ] {
        let expected = format!("elevators[0].floors[1].{expected}");
        assert_elevator_refused(&floors(second), &expected);
    }
}

#[test]
fn drivers_that_this_version_lacks_are_refused_clearly() {
    for kind in ["modbus_rtu", "modbus_rtu_over_tcp"] {
        assert_elevator_refused(
            &format!("driver = {{ kind = \"{kind}\", bus = \"b1\", unit = 1, map = \"m.toml\" }}"),
            &format!(
                "elevators[0].driver.kind = \"{kind}\": expected \"modbus_tcp\" or \"mqtt\": Modbus \
                 RTU is not part of this version, a serial line needs a Modbus TCP gateway in \
                 front of it"
            ),
        );
    }
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\nbaud = 19200\naddress = \"h:1\"\n",
        "buses[0].serial = \"/dev/ttyS0\": expected address = \"host:port\" of a Modbus TCP server: \
         serial lines are not part of this version",
    );
}

#[test]
fn buses_have_ids_of_their_own_and_addresses() {
    assert_beside_refused(
        &format!("{BUS}{BUS}"),
        "buses[1].id = \"b1\": expected an identifier that no bus above has",
    );
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\naddress = \"plc:0\"\n",
        "buses[0].address = \"plc:0\": expected host:port, such as \"127.0.0.1:1502\"",
    );
    assert_beside_refused(
        "[[buses]]\nid = \"b1\"\n",
        "buses[0].address = (left out): expected the host:port of a Modbus TCP server",
    );
}

#[test]
fn a_mode_without_a_wire_needs_a_fire_input() {
    assert_elevator_refused(
        "mode_signal = false",
        "elevators[0].mode_signal = false: expected true, or a [[zones]] with id = \"main\" and a \
         fire input: without either nobody would tell of a fire",
    );
}

#[test]
fn zones_are_judged() {
    let zone = |id: &str, fire: &str| {
        format!("{GATEWAY}{ELEVATOR}{BUS}[[zones]]\nid = \"{id}\"\n{fire}\n")
    };
    let good = "fire = { bus = \"b1\", unit = 9, point = \"discrete\", address = 0, clear = true }";
    assert_refused(
        &zone("main", ""),
        "zones[0].fire = (left out): expected the zone's fire input; a zone without one needs no \
         table",
    );
    assert_refused(
        &zone("mian", good),
        "zones[0].id = \"mian\": expected the zone of an elevator: this fire input would stop \
         nothing",
    );
    for (from, to, expected) in [
        (
            "\"b1\"",
            "\"b7\"",
            "bus = \"b7\": expected the id of a bus: b1",
        ),
        (
            "unit = 9",
            "unit = 0",
            "unit = 0: expected an integer from 1 to 247",
        ),
        (
            "\"discrete\"",
            "\"relay\"",
            "point = \"relay\": expected \"coil\" or \"discrete\" or \"holding\" or \"input\"",
        ),
        (
            "address = 0",
            "address = 65536",
            "address = 65536: expected an integer from 0 to 65535",
        ),
        (
            "clear = true",
            "clear = 1",
            "clear = 1: expected true or false",
        ),
        (
            ", clear = true",
            "",
            "clear = (left out): expected what the point reads while there is no fire",
        ),
    ] {
        let expected = format!("zones[0].fire.{expected}");
        assert_refused(&zone("main", &good.replace(from, to)), &expected);
    }
}

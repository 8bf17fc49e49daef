//! `[gateway]`, `[mqtt]`, `[timing]` and `[limits]`.

use hallcall::config::Broker;

use super::{ELEVATOR, GATEWAY, Site, assert_beside_refused, assert_refused};

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

//! The broker of one's own, in a child process, and one over TLS with a password.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Client, Gateway, Mosquitto, Robot, Site, free_port, wait_for};

fn embedded(port: u16) -> Site {
    Site::with_broker(&format!(
        "broker = \"embedded\"\nlisten = \"127.0.0.1:{port}\""
    ))
    .elevator("EL001")
}

/// The processes that run `hallcall broker` for this port.
fn children(port: u16) -> Vec<i32> {
    let wanted = format!("127.0.0.1:{port}");
    let words = |id: &str| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).into_owned()
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|id| words(id).contains("broker") && words(id).contains(&wanted))
        .filter_map(|id| id.parse().ok())
        .collect()
}

#[test]
fn the_embedded_broker_serves_comes_back_and_goes_with_the_gateway() {
    let port = free_port();
    let site = embedded(port);
    let mut gateway = Gateway::start(&site);
    let robot = Robot::connect_to(port, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );

    // Only the child is started again.
    signal_and_await_another(port, rustix::process::Signal::KILL);
    let robot = Robot::connect_to(port, "R002");
    assert_eq!(
        robot.request("m-2", "T-2", "1F", "6F")["result"],
        "accepted"
    );

    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0), "{}", gateway.log());
    assert_eq!(children(port), Vec::<i32>::new());
}

/// A broker that hangs holds its connections open and says nothing.
#[test]
fn an_embedded_broker_that_hangs_is_replaced() {
    let port = free_port();
    let _gateway = Gateway::start(&embedded(port));
    signal_and_await_another(port, rustix::process::Signal::STOP);
    let robot = Robot::connect_to(port, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
}

/// Sends a signal to the child, and waits until the gateway has started another and uses it.
fn signal_and_await_another(port: u16, signal: rustix::process::Signal) {
    let before = children(port);
    assert_eq!(before.len(), 1);
    let child = rustix::process::Pid::from_raw(before[0]).unwrap();
    rustix::process::kill_process(child, signal).unwrap();
    wait_for("another child", || {
        (children(port).len() == 1 && children(port) != before).then_some(())
    });
    let online = Client::connect_to(port, "watch");
    online.subscribe("hallcall/v1/demo/gateways/gw-1/connection");
    online.hear("ONLINE", |message| {
        message.text("connection_state") == "ONLINE"
    });
}

#[test]
fn the_child_does_not_outlive_a_killed_gateway() {
    let port = free_port();
    let site = embedded(port);
    let mut gateway = Gateway::start(&site);
    let child = children(port);
    gateway.kill();
    // At once: the next one waits for the child to end.
    let _again = Gateway::start(&site);
    assert_ne!(children(port), child);
    assert_eq!(children(port).len(), 1);
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let site = embedded(taken.local_addr().unwrap().port());
    let mut gateway = Gateway::spawn(&site);
    assert_eq!(gateway.wait().code(), Some(2));
    assert!(gateway.log().contains("mqtt.listen"), "{}", gateway.log());
}

#[test]
fn beyond_loopback_it_is_refused_or_alarmed() {
    let port = free_port();
    let lines = format!("broker = \"embedded\"\nlisten = \"0.0.0.0:{port}\"");
    let mut refused = Gateway::spawn(&Site::with_broker(&lines).elevator("EL001"));
    assert_eq!(refused.wait().code(), Some(2));
    let trial = Site::with_broker(&format!("{lines}\ninsecure_trial = true")).elevator("EL001");
    let _gateway = Gateway::start(&trial);
    let watch = Client::connect_to(port, "watch");
    watch.subscribe("hallcall/v1/demo/ops/alarms");
    watch.hear("INSECURE", |message| {
        message.body["alarms"]
            .as_array()
            .is_some_and(|alarms| alarms.iter().any(|alarm| alarm["code"] == "INSECURE"))
    });
}

#[test]
fn tls_with_a_ca_of_ones_own_and_a_password() {
    let dir = tempfile::tempdir().unwrap();
    certificates(dir.path());
    let passwd = dir.path().join("passwd");
    let made = Command::new("mosquitto_passwd")
        .args(["-c", "-b", passwd.to_str().unwrap(), "gw-1", "secret"])
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "the package `mosquitto` is installed"
    );
    let tls_port = free_port();
    let at = dir.path().display();
    let broker = Mosquitto::start_with(&format!(
        "listener {tls_port} 127.0.0.1\nallow_anonymous false\n\
         password_file {at}/passwd\ncafile {at}/ca.crt\ncertfile {at}/server.crt\n\
         keyfile {at}/server.key\n"
    ));
    std::fs::write(dir.path().join("password"), "secret\n").unwrap();
    set_mode(&dir.path().join("password"), 0o600);
    let lines = |ca: &str| {
        format!(
            "broker = \"mqtts://localhost:{tls_port}\"\nusername = \"gw-1\"\n\
             password_file = \"{at}/password\"\nca_file = \"{at}/{ca}\""
        )
    };
    let site = Site::with_broker(&lines("ca.crt")).elevator("EL001");
    let _gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );

    // A certificate that another authority vouches for is none.
    let other = Site::with_broker(&lines("other.crt"))
        .gateway("gw-2")
        .elevator("EL002");
    let stranger = Gateway::spawn(&other);
    wait_for("a refusal", || {
        stranger.log().contains("certificate").then_some(())
    });
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// `ca.crt`, `server.crt` and `server.key` for localhost, and `other.crt`, another authority.
fn certificates(dir: &Path) {
    let openssl = |words: &str| {
        let output = Command::new("openssl")
            .args(words.split(' '))
            .current_dir(dir)
            .output();
        let output = output.expect("the package `openssl` is installed");
        assert!(
            output.status.success(),
            "{words}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
             -keyout {name}.key -out {name}.crt -subj /CN={name}"
        ));
    }
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key \
         -out server.csr -subj /CN=localhost",
    );
    std::fs::write(
        dir.join("san"),
        "subjectAltName=DNS:localhost,IP:127.0.0.1\n",
    )
    .unwrap();
    openssl(
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
         -extfile san -out server.crt",
    );
    set_mode(&dir.join("server.key"), 0o644);
}

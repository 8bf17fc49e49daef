//! A bus of a configuration, with and without a gateway that runs on it.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::line::{Line, bus, text, told, words};
use crate::support::{Gateway, Mosquitto, Site, sim_map};

/// A car on unit 1 of a port, and a plain unit 5 that only the commands touch.
fn site(broker: &Mosquitto, line: &Line, more: &str) -> Site {
    let map = sim_map(line.folder.path(), "map.toml", &["--floors", "2"]);
    let port = line.port();
    let buses = format!("[[buses]]\nid = \"b1\"\nserial = {port:?}\nbaud = 115200\n{more}");
    Site::new(broker)
        .with(&buses)
        .elevator_with("EL001", &by("modbus_rtu", "b1", &map))
}

fn by(kind: &str, bus: &str, map: &Path) -> String {
    format!(
        "presence = \"robot\"\nhold_max_s = 15\n\
         driver = {{ kind = \"{kind}\", bus = \"{bus}\", unit = 1, map = {map:?} }}\n"
    )
}

#[test]
fn a_configuration_names_the_elevator_and_the_points() {
    let broker = Mosquitto::start();
    let line = Line::start(&words("--unit 1=car --unit 5=plain --floors 2"));
    let site = site(&broker, &line, "");
    let config = site.config();
    let place = ["--config", config.to_str().unwrap()];

    let found = told(&bus("scan", &place, &["--to", "6", "--json"]));
    assert_eq!(found["units"][0]["is"], "EL001", "{found}");
    assert_eq!(found["units"][1]["is"], Value::Null, "{found}");

    // A car at rest at its lowest floor, with its door shut.
    let read = told(&bus("read", &place, &["--unit", "1", "--json"]));
    for (key, word) in [
        ("floor", "1F"),
        ("front.door", "closed"),
        ("motion", "stopped"),
        ("front.lamps", "none"),
    ] {
        assert_eq!(read["words"][key], word, "{read}");
    }

    // The map says where the door is opened.
    let map: toml::Table = fs::read_to_string(line.folder.path().join("map.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let open = &map["front"]["buttons"]["open"];
    let (table, address) = (open["point"].as_str().unwrap(), open["address"].to_string());
    let write = format!("--unit 1 --table {table} --address {address} --value 1 --json");
    let write = words(&write);
    let output = bus("write", &[&place[..], &["--bus", "b1"]].concat(), &write);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let first = text(&output.stdout);
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let touched = json!([{ "elevator": "EL001", "what": "EL001: front.buttons.open" }]);
    assert_eq!(first["touches"], touched, "{first}");
    let wrong = bus("scan", &[&place[..], &["--bus", "b9"]].concat(), &[]);
    assert_eq!(wrong.status.code(), Some(2));
    assert_eq!(text(&wrong.stderr), "wrong: --bus b9: expected one of b1\n");
}

/// While the gateway has the bus, nobody else asks on it: not by the configuration, and not by the
/// port.
#[test]
fn a_bus_of_a_running_gateway_is_refused() {
    let broker = Mosquitto::start();
    let line = Line::start(&words("--unit 1=car --unit 5=plain --floors 2"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let map = line.folder.path().join("map.toml");
    let site = site(
        &broker,
        &line,
        &format!("[[buses]]\nid = \"b2\"\naddress = \"{address}\"\n"),
    )
    .elevator_with("EL002", &by("modbus_tcp", "b2", &map));
    let gateway = Gateway::start(&site);
    let config = site.config();
    let config = config.to_str().unwrap();
    let write = words("--unit 5 --table coil --address 1 --value on --yes");
    for bus_id in ["b1", "b2"] {
        let place = ["--config", config, "--bus", bus_id];
        for (verb, arguments) in [("write", &write[..]), ("scan", &words("--from 5 --to 5"))] {
            let output = bus(verb, &place, arguments);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{bus_id} {verb}: {told}");
            assert!(told.starts_with("in use: a gateway runs on "), "{told}");
        }
    }
    let output = line.bus("write", &write);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("is in use by another program"), "{told}");
    drop(gateway);
    let record = line.end();
    assert!(record["requests"]["1"].as_u64() > Some(0), "{record}");
    assert_eq!(record["requests"]["5"], Value::Null, "{record}");
}

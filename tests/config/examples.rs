//! The examples of `configs/`, the defaults, and twelve mistakes at once.

use std::fs;
use std::path::Path;

use adapters::bus::Transport;
use adapters::map::Table as PointTable;
use adapters::rtu::serial::Parity;
use dispatch::ZoneConfig;
use hallcall::config::{Broker, Config, DriverConfig};
use protocol::Side;
use protocol::ops::Presence;

use super::{ELEVATOR, GATEWAY, Site};

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

/// Every example of `configs/` is a good configuration.
#[test]
fn every_example_loads() {
    let mut names = Vec::new();
    for entry in fs::read_dir("configs").expect("configs") {
        let path = entry.expect("an entry of configs").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            Config::load(&path).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
            names.push(
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
            );
        }
    }
    names.sort();
    assert_eq!(
        names,
        [
            "apps",
            "demo",
            "mqtt-site",
            "rentals",
            "rtu-site",
            "tcp-site"
        ]
    );
}

/// What an integrator reads in `configs/tcp-site.toml` is what the gateway gets.
#[test]
fn an_example_means_what_it_says() {
    let config = Config::load(Path::new("configs/tcp-site.toml")).expect("tcp-site.toml");
    assert_eq!(config.gateway.site.as_str(), "harbour-hospital");
    assert_eq!(config.gateway.data_dir, Path::new("/var/lib/hallcall"));
    assert_eq!(
        config.mqtt.broker,
        Broker::Tcp {
            host: "127.0.0.1".into(),
            port: 1883
        }
    );
    assert_eq!((config.mqtt.username, config.mqtt.password), (None, None));

    let timing = &config.site.timing;
    assert_eq!(
        (timing.hall_call_ms, timing.door_close_ms),
        (90_000, 20_000)
    );
    // Left out: the defaults of wire.md section 7.
    assert_eq!((timing.settle_ms, timing.heal_ms), (500, 10_000));

    let [first, second] = config.site.elevators.values().collect::<Vec<_>>()[..] else {
        panic!("two elevators: {:?}", config.site.elevators)
    };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("EL001", "EL002"));
    assert_eq!(
        (first.hold_max_ms, first.claim, first.mode_signal),
        (15_000, true, true)
    );
    assert_eq!(
        (second.hold_max_ms, second.claim, second.mode_signal),
        (10_000, false, false)
    );
    assert_eq!(
        (first.presence, second.presence),
        (Presence::Robot, Presence::None)
    );
    let floors: Vec<_> = first
        .floors
        .iter()
        .map(|f| (f.label.as_str(), f.height_mm))
        .collect();
    assert_eq!(
        floors,
        [("B1", -4000), ("1F", 0), ("2F", 4500), ("3F", 8000)]
    );
}

/// The wires of `configs/tcp-site.toml`.
#[test]
fn an_example_names_its_buses_and_its_fire_input() {
    let config = Config::load(Path::new("configs/tcp-site.toml")).expect("tcp-site.toml");
    let zones: Vec<_> = config.site.zones.iter().collect();
    let [(zone, ZoneConfig { fire_input: true })] = zones[..] else {
        panic!("{zones:?}")
    };
    let input = &config.zone_inputs[zone];
    assert_eq!((input.bus.as_str(), input.unit), ("plant-room", 9));
    assert_eq!(
        (input.point, input.address, input.clear),
        (PointTable::Discrete, 0, 1)
    );
    let addresses: Vec<_> = config
        .buses
        .values()
        .map(|bus| bus.transport.place())
        .collect();
    assert_eq!(addresses, ["192.0.2.10:502", "192.0.2.20:502"]);
    let units = config.drivers.values().map(|driver| match driver {
        DriverConfig::Mqtt | DriverConfig::Frames { .. } => panic!("both are on a bus"),
        DriverConfig::Modbus { bus, unit, .. } => (bus.as_str(), *unit),
    });
    assert_eq!(units.collect::<Vec<_>>(), [("east", 1), ("east", 2)]);
}

/// What an electrician reads in `configs/rtu-site.toml` is what the line gets.
#[test]
fn an_example_names_its_port_and_its_relay_board() {
    let config = Config::load(Path::new("configs/rtu-site.toml")).expect("rtu-site.toml");
    let buses: Vec<_> = config.buses.values().map(|bus| &bus.transport).collect();
    let [Transport::Serial(serial)] = buses[..] else {
        panic!("{buses:?}")
    };
    let settings = (serial.baud, serial.parity, serial.two_stop_bits);
    assert_eq!(settings, (9_600, Parity::None, false));
    assert_eq!(serial.rs485, None);
    let units = config.drivers.values().map(|driver| match driver {
        DriverConfig::Mqtt | DriverConfig::Frames { .. } => panic!("both are on a bus"),
        DriverConfig::Modbus {
            unit, relay_unit, ..
        } => (*unit, *relay_unit),
    });
    assert_eq!(units.collect::<Vec<_>>(), [(1, None), (2, Some(12))]);
}

/// What is left out has the default of `wire.md` section 7.
#[test]
fn all_but_site_and_elevators_may_be_left_out() {
    let config = Site::new(&format!("{GATEWAY}{ELEVATOR}")).config();
    assert_eq!(config.gateway.id.as_str(), "gw-1");
    assert_eq!(config.gateway.root, "hallcall/v1");
    assert_eq!(config.gateway.data_dir, Path::new("./data"));
    assert_eq!(config.mqtt.broker, Broker::Embedded);
    assert_eq!(config.mqtt.listen.to_string(), "127.0.0.1:1883");
    assert_eq!((config.mqtt.username, config.mqtt.ca_file), (None, None));
    let timing = &config.site.timing;
    assert_eq!(
        (timing.lease_ms, timing.promote_ms, timing.exit_ms),
        (30_000, 120_000, 60_000)
    );
    let limits = &config.site.limits;
    assert_eq!((limits.queue, limits.robot_messages_per_s), (1000, 20));
    assert_eq!(limits.dedup_retention_s, 604_800);

    let elevators: Vec<_> = config.site.elevators.values().collect();
    let [elevator] = elevators[..] else {
        panic!("{elevators:?}")
    };
    assert_eq!(
        elevator.bank_id.as_ref().map(|bank| bank.as_str()),
        Some("A")
    );
    assert_eq!(elevator.zone.as_str(), "main");
    assert_eq!(elevator.presence, Presence::None);
    assert_eq!((elevator.mode_signal, elevator.claim), (true, false));
    assert_eq!(elevator.hold_max_ms, 10_000);
    // Heights that are left out are a storey apart.
    assert_eq!(
        elevator
            .floors
            .iter()
            .map(|f| f.height_mm)
            .collect::<Vec<_>>(),
        [0, 3500]
    );
    assert!(
        elevator
            .floors
            .iter()
            .all(|f| f.sides.iter().eq(&[Side::Front]))
    );
    assert_eq!(config.drivers[&elevator.id], DriverConfig::Mqtt);
    assert!(config.buses.is_empty() && config.zone_inputs.is_empty());
}

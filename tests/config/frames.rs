//! `driver` of elevators whose maker has frames of its own, and frame profiles.

use std::fs;

use adapters::bus::Transport;
use hallcall::config::{Config, DriverConfig};

use super::{BUS, ELEVATOR, GATEWAY, Site};

const SERIAL: &str = "[[buses]]\nid = \"b1\"\nserial = \"/dev/ttyS0\"\nbaud = 9600\n";

fn kestrel() -> String {
    fs::read_to_string("configs/frames/kestrel.toml").expect("kestrel.toml")
}

/// A site with this driver and `more`, and the example beside it.
fn site(kind: &str, keys: &str, more: &str) -> Site {
    let driver = format!("driver = {{ kind = \"{kind}\", bus = \"b1\", {keys} }}\n");
    let site = Site::new(&format!("{GATEWAY}{ELEVATOR}{driver}{more}"));
    site.write("kestrel.toml", &kestrel(), 0o644);
    site.write("other.toml", &kestrel(), 0o644);
    site
}

const GOOD: &str = "unit = 0, profile = \"kestrel.toml\"";

#[test]
fn frames_go_over_a_port_or_behind_a_converter() {
    let config: Config = site("rs485", GOOD, SERIAL).config();
    assert!(matches!(config.buses["b1"].transport, Transport::Serial(_)));
    let config = site("rs485_over_tcp", GOOD, BUS).config();
    let transport = &config.buses["b1"].transport;
    assert!(
        matches!(transport, Transport::RtuOverTcp { .. }),
        "{transport:?}"
    );
    for (id, driver) in &config.drivers {
        assert!(
            matches!(driver, DriverConfig::Frames { unit: 0, .. }),
            "{id}: {driver:?}"
        );
    }
    let told = site("rs485", GOOD, BUS).mistakes();
    let expected = "elevators[0].driver.kind = \"rs485\": expected \"rs485_over_tcp\": bus b1 has an \
                    address and no serial port";
    assert_eq!(told, [expected]);
    let told = site("rs485_over_tcp", GOOD, SERIAL).mistakes();
    let expected = "elevators[0].driver.kind = \"rs485_over_tcp\": expected \"rs485\": bus b1 is a \
                    serial port";
    assert_eq!(told, [expected]);
}

#[test]
fn a_bus_carries_the_frames_of_one_maker() {
    let second = |driver: &str| {
        format!(
            "[[elevators]]\nid = \"EL002\"\nfloors = [{{ label = \"1F\" }}, {{ label = \"2F\" }}]\n\
             driver = {{ {driver} }}\n{SERIAL}"
        )
    };
    let other = second("kind = \"rs485\", bus = \"b1\", unit = 1, profile = \"other.toml\"");
    let told = site("rs485", GOOD, &other).mistakes();
    let expected = "elevators[1].driver.profile = \"other.toml\": expected the profile of the \
                    elevators above on this bus";
    assert_eq!(told, [expected]);
    let same = second("kind = \"rs485\", bus = \"b1\", unit = 0, profile = \"kestrel.toml\"");
    let told = site("rs485", GOOD, &same).mistakes();
    let expected =
        "elevators[1].driver.unit = 0: expected a unit that no elevator above has on this bus";
    assert_eq!(told, [expected]);
    let fire = format!(
        "{SERIAL}[[zones]]\nid = \"main\"\nfire = {{ bus = \"b1\", unit = 9, point = \"discrete\", \
         address = 0, clear = true }}\n"
    );
    let told = site("rs485", GOOD, &fire).mistakes();
    let expected = "zones[0].fire.bus = \"b1\": expected a bus of Modbus units: a maker's frames carry \
                    no fire input";
    assert_eq!(told, [expected]);
}

#[test]
fn a_profile_that_cannot_work_is_told_with_its_file() {
    let site = site("rs485", GOOD, SERIAL);
    let text = kestrel().replacen("report = 0x82", "report = 0x81", 1);
    site.write("kestrel.toml", &text, 0o644);
    let mistakes = Config::load(&site.path("site.toml")).expect_err("two equal codes");
    let [mistake] = mistakes.as_slice() else {
        panic!("{mistakes:#?}");
    };
    assert!(mistake.file.ends_with("kestrel.toml"), "{mistake:?}");
    assert_eq!(
        (mistake.key.as_str(), mistake.value.as_str()),
        ("status.report", "0x81")
    );
}

#[test]
fn a_profile_has_to_fit_the_elevator() {
    let site = site("rs485", GOOD, SERIAL);
    let text = kestrel().replacen(
        "# labels = { B1 = 0, \"1F\" = 1 }",
        "labels = { B1 = 0, \"1F\" = 1 }",
        1,
    );
    site.write("kestrel.toml", &text, 0o644);
    let expected = "elevators[0].driver.profile = \"kestrel.toml\": expected a profile that fits the \
                    elevator; in it floors.labels.2F is missing: expected the number of this floor \
                    of the elevator";
    assert_eq!(site.mistakes(), [expected]);
}

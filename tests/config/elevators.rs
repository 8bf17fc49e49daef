//! `[[elevators]]` and `[[zones]]`.

use super::{BUS, ELEVATOR, GATEWAY, Site, assert_elevator_refused, assert_refused, elevator};

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

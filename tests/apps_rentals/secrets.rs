//! What nobody may find (AT-RENT-09, R-RENT-041 to 043, T-RENT-18).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{
    Application, Client, Gateway, KEY, Mosquitto, Vehicle, asked, code, hallcall, now, operate,
};
use crate::{POOL, rental, site, told, watcher};

/// What nobody may find.
const PLATE: &str = "HU-A12345";
const LAT: f64 = 31.230_416;
const LON: f64 = 121.473_701;

/// AT-RENT-09: neither a token nor where a vehicle or a robot is, nor a plate, nor a key stands in the
/// log at its most talkative, in what operators see, in what is told to anybody but the application
/// that reserved, or in any byte of the data.
#[test]
fn nobody_finds_a_token_or_a_place() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "").with(POOL);
    let mut command = hallcall();
    command.env("HALLCALL_LOG", "trace");
    let mut gateway = Gateway::start_by(command, &site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let (id, token) = ride_with_secrets(&broker, &one, &vehicle);
    let mut places = Vec::new();
    for command in [
        vec!["rental", "show", &id, "--json"],
        vec!["device", "list"],
        vec!["pool", "metrics"],
    ] {
        let output = operate(&site.config(), &command);
        assert!(output.status.success(), "{output:?}");
        places.push((format!("{command:?}"), output.stdout));
    }
    gateway.terminate();
    gateway.wait();

    places.push(("the log".to_owned(), gateway.log().into_bytes()));
    for heard in watcher.heard() {
        let is_ours = heard.text("source") == "gateway/gw-1";
        let is_the_answer = heard.text("in_reply_to") == "m-R-1";
        if is_ours && !is_the_answer {
            places.push((heard.topic.clone(), heard.payload));
        }
        places.push(("a topic".to_owned(), heard.topic.into_bytes()));
    }
    let key_file = site.data_dir().join("token.key");
    for file in files_below(&site.data_dir()) {
        if file != key_file {
            places.push((file.display().to_string(), fs::read(&file).unwrap()));
        }
    }
    assert!(places.len() > 20, "{}", places.len());
    look_for_secrets(&places, &token, &fs::read(&key_file).unwrap());
}

/// A rental over all of its states, in which everybody says what should stand nowhere.
fn ride_with_secrets(broker: &Mosquitto, one: &Application, vehicle: &Vehicle) -> (String, String) {
    let wanted = json!({
        "device_id": "DEV_001", "user_id": "UA", "plate": PLATE,
        "position": { "lat": LAT, "lon": LON },
    });
    let reply = one.ask("rental.reserve", "R-1", wanted);
    let (id, token) = (rental(&reply), reply["token"].as_str().unwrap().to_owned());
    let held = |token: Value| json!({ "device_id": "DEV_001", "user_id": "UA", "rental_id": id, "token": token });
    let guess = one.ask("rental.start", "T-1", held(json!(format!("{token}x"))));
    assert_eq!(code(&guess), "BAD_TOKEN");
    // One that cannot be read is told so at most once a second, with nothing of it.
    one.send(&asked("m-T-0", "rental.start", "T-0", held(json!([token]))).to_string());
    rental(&one.ask("rental.start", "T-2", held(json!(token))));
    vehicle.obey_until("RUNNING", || vehicle.is_running());
    told(one, &id, "ACTIVE");
    vehicle.say(json!({ "event": format!("at {LAT}"), "plate": PLATE, "lat": LAT }));
    vehicle.say(json!({ "event": "state", "device_state": PLATE }));
    vehicle.say(json!({ "event": "state", "device_state": "RUNNING", "lon": LON }));
    let robot = Client::connect(broker, "R001");
    for position in [
        json!({ "x": LAT, "y": LON, "map": PLATE }),
        json!({ "x": LAT.to_string(), "y": LON, "map": PLATE }),
        json!({ "x": LAT, "y": LON, "map": PLATE.repeat(8) }),
    ] {
        let status = json!({ "message_id": "s-1", "timestamp": now(), "position": position });
        robot.publish(
            "hallcall/v1/demo/robots/R001/status",
            false,
            status.to_string(),
        );
    }
    let ask = json!({ "rental_id": id, "token": token });
    let reply = one.ask("rental.end", "E-1", ask);
    assert_eq!(reply["state"], "ENDING");
    vehicle.obey_until("standing", || !vehicle.is_running());
    told(one, &id, "ENDED");
    (id, token)
}

/// Whether any of the places holds a secret, as text or as the bytes of a number.
fn look_for_secrets(places: &[(String, Vec<u8>)], token: &str, token_key: &[u8]) {
    let texts = [token, KEY, PLATE, &LAT.to_string(), &LON.to_string()];
    let mut secrets: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    for number in [LAT, LON] {
        secrets.extend([number.to_be_bytes().to_vec(), number.to_le_bytes().to_vec()]);
    }
    secrets.push(token_key.to_vec());
    for (place, bytes) in places {
        for secret in &secrets {
            let found = bytes.windows(secret.len()).position(|part| part == secret);
            let around = found.map(|at| {
                let line = &bytes[at.saturating_sub(200)..bytes.len().min(at + 100)];
                String::from_utf8_lossy(line).into_owned()
            });
            assert_eq!(around, None, "{place} holds {secret:?}");
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if path.is_file() {
            files.push(path);
        }
    }
    files
}

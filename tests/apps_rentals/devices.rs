//! Devices of the simulator, and devices that a pool gives too.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Application, Client, Gateway, Message, Mosquitto, Site, Vehicle, code, device_in, hallcall,
};
use crate::{POOL, rental, site, start, told, watcher};

/// The devices that `hallcall sim devices` plays, killed and started again by the test.
struct Simulator {
    child: Child,
}

impl Simulator {
    fn start(site: &Site, memory: &Path) -> Self {
        let child = hallcall()
            .args(["sim", "devices", "--config"])
            .arg(site.config())
            .arg("--memory")
            .arg(memory)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// AT-RENT-04, AT-RENT-10: an integrator's devices keep what they executed over `kill -9`: the same
/// start that is heard again unlocks nothing. What is true is the simulator's own file.
#[test]
fn simulated_devices_keep_what_they_executed_over_a_kill() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "");
    let gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let memory = site.data_dir().join("../devices");
    let kept = || -> Value {
        let text = fs::read(memory.join("DEV_001.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let simulator = Simulator::start(&site, &memory);
    device_with(&watcher, "DEV_001", "health", "ok");
    let id = rental(&one.ask("rental.start", "T-1", start("DEV_001", "U1")));
    told(&one, &id, "ACTIVE");
    drop(simulator);
    assert_eq!(
        (&kept()["unlocks"], &kept()["boots"]),
        (&json!(1), &json!(1))
    );

    // Somebody who heard its start says it again, and again.
    let simulator = Simulator::start(&site, &memory);
    let topic = "hallcall/v1/demo/devices/DEV_001/command";
    let is_start = |heard: &Message| heard.topic == topic && heard.text("command") == "start";
    let heard = watcher.hear("the start", is_start);
    let booted = |heard: &Message| heard.text("boot_id").starts_with("boot-2-");
    watcher.hear("the device's second start", booted);
    for _ in 0..3 {
        watcher.publish(topic, false, heard.payload.clone());
    }
    let answered = |heard: &Message| {
        booted(heard) && heard.text("event") == "done" && heard.text("order_id") == "T-1"
    };
    let answer = watcher.hear("its answer", answered);
    assert_eq!(answer.text("device_state"), "RUNNING");
    let reply = one.ask(
        "rental.end",
        "E-1",
        json!({ "rental_id": id, "user_id": "U1" }),
    );
    assert_ne!(reply["result"], "rejected", "{reply}");
    told(&one, &id, "ENDED");
    device_in(&watcher, "DEV_001", "IDLE");
    drop(simulator);
    let kept = kept();
    assert_eq!((&kept["unlocks"], &kept["boots"]), (&json!(1), &json!(2)));
    assert_eq!(
        (&kept["is_running"], &kept["is_locked"]),
        (&json!(false), &json!(true))
    );
    drop(gateway);
}

/// The device as it is published, once this of it is so.
#[track_caller]
fn device_with(watcher: &Client, id: &str, field: &str, value: &str) {
    let topic = format!("hallcall/v1/demo/devices/{id}/state");
    let what = format!("{field} of {id} to be {value}");
    watcher.hear(&what, |heard| {
        heard.topic == topic && heard.text(field) == value
    });
}

/// A staff member's vehicle whose holder is gone is told to stop, and is given again after its word
/// only (R-REG-060, T-REG-14).
#[test]
fn a_vehicle_of_a_pool_is_given_again_once_it_stands() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "").with(POOL);
    let gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let wish = json!({ "pool": "vehicles", "owner_id": "staff", "init": true });
    let claim = one.ask("claim.acquire", "C-1", wish.clone());
    assert_eq!(claim["resource_id"], "DEV_001", "{claim}");
    vehicle.report("RUNNING");
    let reply = one.ask("rental.start", "T-1", start("DEV_001", "U1"));
    assert_eq!(code(&reply), "DEVICE_UNAVAILABLE");
    // It is not initialised in time (`init_s`), and is somewhere under way.
    let state_of = |state: &str| {
        let what = format!("the claim to be {state}");
        one.client().hear(&what, |heard| {
            heard.text("type") == "claim.state" && heard.text("state") == state
        })
    };
    state_of("QUARANTINE");
    vehicle.hear("query");
    vehicle.report("RUNNING");
    vehicle.hear("stop");
    let reply = one.ask("claim.acquire", "C-2", wish.clone());
    assert_eq!(code(&reply), "CAPACITY_FULL");
    vehicle.report("STOPPED");
    assert_eq!(state_of("EXPIRED").body["reason"]["code"], "STOPPED");
    device_in(&watcher, "DEV_001", "IDLE");
    let claim = one.ask("claim.acquire", "C-3", wish);
    assert_eq!(claim["resource_id"], "DEV_001", "{claim}");
    drop(gateway);
}

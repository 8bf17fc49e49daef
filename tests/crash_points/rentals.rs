//! The process ends between every pair of steps of a rental, and starts again (AT-RENT-07): no device
//! is ever RENTING without its rental, every start that was accepted reaches the device, which is
//! unlocked once; each repetition is answered as before; the rental is metered once.
//!
//! Each point is one play of its own: reserve, start, RUNNING, end, STOPPED. What is true is what the
//! application was told and what the simulated vehicle did.

use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Application, Client, Gateway, KEY, Mosquitto, Site, Vehicle, hallcall, operate,
};

/// Plays at a time.
const AT_A_TIME: usize = 6;
/// Between two looks of the vehicle at its commands.
const LOOK: Duration = Duration::from_millis(5);

/// The points, with the words that hold for the pass which ends the process.
const POINTS: &[(&str, &str)] = &[
    ("C0:1", "RESERVED"),
    ("C1:1", "RESERVED"),
    ("C2:1", "RESERVED"),
    ("C3:1", "RESERVED"),
    ("C5:1", "R-1,reply"),
    ("C6:1", "R-1,reply"),
    ("C6:1", "R-1,heard"),
    ("C0:1", "PENDING"),
    ("C1:1", "PENDING"),
    ("C1:2", "PENDING"),
    ("C2:1", "PENDING"),
    ("C2:2", "PENDING"),
    ("C3:1", "PENDING"),
    ("C4:1", "start,said"),
    ("C6:1", "start,said"),
    ("C5:1", "T-1,reply"),
    ("C6:1", "T-1,reply"),
    ("C6:1", "T-1,heard"),
    ("C0:1", "ACTIVE"),
    ("C2:1", "ACTIVE"),
    ("C3:1", "ACTIVE"),
    ("C5:1", "ACTIVE,state"),
    ("C6:1", "RUNNING,heard"),
    ("C0:1", "ENDING"),
    ("C3:1", "ENDING"),
    ("C4:1", "stop,said"),
    ("C5:1", "E-1,reply"),
    ("C0:1", "ENDED"),
    ("C2:1", "ENDED"),
    ("C3:1", "ENDED"),
    ("C5:1", "ENDED,state"),
    ("C6:1", "LOCKED,heard"),
];

#[test]
fn a_rental_goes_on_after_every_point() {
    let next = Mutex::new(POINTS.iter());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let Some((at, on)) = next.lock().unwrap().next() else {
                        return;
                    };
                    Play::new(at, on).run();
                }
            });
        }
    });
}

/// One rental of DEV_001, and where the process ends.
struct Play {
    what: String,
    broker: Mosquitto,
    site: Site,
    /// What goes on at the same time is over.
    is_over: AtomicBool,
}

impl Play {
    fn new(at: &str, on: &str) -> Self {
        let broker = Mosquitto::start();
        let site = Site::new(&broker)
            .secret("device.key", &format!("{KEY}\n"))
            .with("[[devices]]\nid = \"DEV_001\"\nkey_file = \"device.key\"");
        let (what, is_over) = (format!("{at} {on}"), AtomicBool::new(false));
        let play = Self {
            what,
            broker,
            site,
            is_over,
        };
        // The directory is made, so that no point of that is passed.
        drop(Gateway::start(&play.site));
        play
    }

    fn run(&self) {
        let (at, on) = self.what.split_once(' ').unwrap();
        let mut command = hallcall();
        command.env("HALLCALL_CRASH_AT", at);
        command.env("HALLCALL_CRASH_ON", on);
        let gateway = Gateway::start_by(command, &self.site);
        let watcher = Client::connect(&self.broker, "watcher");
        watcher.subscribe("hallcall/v1/demo/devices/#");
        let application = Application::connect(&self.broker, "app-1");
        let vehicle = Vehicle::connect(&self.broker, "DEV_001");
        thread::scope(|scope| {
            scope.spawn(|| self.start_again(gateway));
            scope.spawn(|| {
                while !self.is_over.load(Ordering::Acquire) {
                    for command in vehicle.commands() {
                        vehicle.obey(&command);
                    }
                    thread::sleep(LOOK);
                }
            });
            // A panic ends the others too.
            let over = Over(&self.is_over);
            self.rent(&application, &watcher);
            drop(over);
        });
        assert_eq!(vehicle.unlocks(), 1, "{}", self.what);
        assert!(!vehicle.is_running(), "{}", self.what);
    }

    /// Waits for the end, and starts the gateway once more without a point.
    fn start_again(&self, mut gateway: Gateway) {
        let status = gateway.wait();
        assert_eq!(status.signal(), Some(9), "{}: {status}", self.what);
        let _gateway = Gateway::start(&self.site);
        self.nobody_rents_without_a_rental();
        while !self.is_over.load(Ordering::Acquire) {
            thread::sleep(LOOK);
        }
    }

    fn nobody_rents_without_a_rental(&self) {
        let list = |what: &str| -> Value {
            let output = operate(&self.site.config(), &[what, "list", "--json"]);
            serde_json::from_slice(&output.stdout).unwrap()
        };
        // A device that is seen RENTING first may be IDLE a moment later, never the other way round.
        let rentals = list("rental");
        let devices = list("device");
        let state = devices["devices"][0]["state"].as_str().unwrap();
        let open = rentals["rentals"].as_array().unwrap().len();
        assert!(
            state != "RENTING" || open == 1,
            "{}: {devices} {rentals}",
            self.what
        );
    }

    fn rent(&self, application: &Application, watcher: &Client) {
        let reserve = json!({ "device_id": "DEV_001", "user_id": "U1" });
        let reserved = application.insist("rental.reserve", "R-1", reserve.clone());
        assert_ne!(reserved["result"], "rejected", "{}: {reserved}", self.what);
        let again = application.ask_as("again", "rental.reserve", "R-1", reserve);
        for field in ["rental_id", "token"] {
            assert_eq!(again[field], reserved[field], "{}", self.what);
        }
        let id = reserved["rental_id"].as_str().unwrap();
        let start = json!({
            "device_id": "DEV_001", "user_id": "U1", "rental_id": id, "token": reserved["token"],
        });
        let started = application.insist("rental.start", "T-1", start);
        assert_eq!(started["rental_id"], id, "{}: {started}", self.what);
        self.told(application, "ACTIVE");
        let end = json!({ "rental_id": id, "token": reserved["token"] });
        let ending = application.insist("rental.end", "E-1", end);
        assert_ne!(ending["result"], "rejected", "{}: {ending}", self.what);
        let ended = self.told(application, "ENDED");
        assert_eq!(ended["refunded"], false, "{}", self.what);
        assert_eq!(ended["metered_s"], ending["metered_s"], "{}", self.what);
        // IDLE 1, LOCKED 2, RENTING 3, IDLE 4: each once.
        let what = format!("{}: DEV_001 to be IDLE", self.what);
        let seen = watcher.hear(&what, |heard| {
            heard.text("state") == "IDLE" && heard.body["version"].as_u64() > Some(1)
        });
        assert_eq!(seen.body["version"], 4, "{}", self.what);
    }

    fn told(&self, application: &Application, state: &str) -> Value {
        let what = format!("{}: the rental to be {state}", self.what);
        let heard = application.client().hear(&what, |heard| {
            heard.text("type") == "rental.state" && heard.text("state") == state
        });
        heard.body
    }
}

/// Sets the flag when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

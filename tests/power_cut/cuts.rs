//! Power cuts under load, on the real program.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde_json::Value;

use crate::crowd::Crowd;
use crate::disk::{Dice, Disk, Loss, Lost, NO_SYNC, Number};
use crate::support::{Controller, Gateway, Mosquitto, Site, hallcall, operate};
use crate::truth::Broken;

const SIGKILL: i32 = 9;
/// Operations of the disk from one cut to the next.
const OPERATIONS: (u64, u64) = (20, 1_000);
/// Operations of the disk until a start is cut; a start takes about as many.
const START_OPERATIONS: (u64, u64) = (1, 40);
/// Older orders that are asked for again after each cut.
const OLDER: usize = 20;

/// A site, its robots, and a disk whose power goes.
pub(crate) struct Trial {
    pub(crate) crowd: Crowd,
    gateway: Option<Gateway>,
    site: Site,
    disk: Disk,
    dice: Dice,
    /// Orders that were known at the last cut.
    before: usize,
    /// Starts that were cut.
    pub(crate) starts_cut: usize,
    _controllers: Vec<Controller>,
    _broker: Mosquitto,
}

/// What a cut was like.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) loss: Loss,
    /// Orders since the cut before.
    pub(crate) orders: usize,
    pub(crate) lost: Lost,
    /// The last record that the witness names, and the last one there is.
    pub(crate) witness: u64,
    pub(crate) last: u64,
}

impl Trial {
    pub(crate) fn start(seed: u64) -> Self {
        let broker = Mosquitto::start();
        let mqtt = "hold_max_s = 10\ndriver = { kind = \"mqtt\" }";
        let site = Site::new(&broker)
            .elevator_with("EL001", mqtt)
            .elevator_with("EL002", mqtt)
            .with("[timing]\nsettle_s = 0.1\nrequery_s = 0.2\npoll_s = 0.5")
            .with("[limits]\nrobot_messages_per_s = 1000");
        let disk = Disk::new(&site.data_dir());
        let controllers = vec![Controller::start(&broker, "EL001")];
        let gateway = Gateway::start_by(disk.under(hallcall()), &site);
        let crowd = Crowd::connect(&broker, 6, 2);
        Self {
            crowd,
            gateway: Some(gateway),
            site,
            disk,
            dice: Dice(seed),
            before: 0,
            starts_cut: 0,
            _controllers: controllers,
            _broker: broker,
        }
    }

    /// From here on `fdatasync` does nothing.
    pub(crate) fn without_sync(&self) {
        self.disk.set(Number::Faults, NO_SYNC);
    }

    /// Load, a power cut at any moment of it, a start, and a look at everything that was promised.
    pub(crate) fn cut(&mut self, loss: Loss) -> Result<Cut, Broken> {
        let operations = self.dice.between(OPERATIONS.0, OPERATIONS.1);
        self.disk.cut_after(operations);
        self.crowd.work();
        let mut gateway = self.gateway.take().expect("it runs between cuts");
        self.crowd.run("the power cut", |_| gateway.has_ended())?;
        went_by_the_cut(gateway.wait())?;
        self.crowd.rest();
        // All that it said before comes before its will.
        self.crowd.run("the last of its words", |crowd| {
            crowd.presence() == "CONNECTIONBROKEN"
        })?;
        let lost = self.disk.lose(loss, &mut self.dice);
        let looked = self.look();
        let (last, witness) = looked
            .map_err(|broken| format!("after {operations} operations, {lost:?}: {broken}"))?;
        self.start_again(loss)?;
        let orders = self.orders();
        let since = orders.len() - self.before;
        let (older, newer) = orders.split_at(self.before);
        let mut asked = newer.to_vec();
        for _ in 0..OLDER.min(older.len()) {
            let at = usize::try_from(self.dice.between(0, older.len() as u64));
            asked.extend(older.get(at.unwrap_or(0)).cloned());
        }
        self.crowd.ask_again(&asked)?;
        self.resolve();
        self.before = orders.len();
        Ok(Cut {
            loss,
            orders: since,
            lost,
            witness,
            last,
        })
    }

    /// Every order that was ever promised is known.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        let orders = self.orders();
        // Within the rate that one robot has.
        orders
            .chunks(500)
            .try_for_each(|some| self.crowd.ask_again(some))
    }

    /// Starts it, in half of the cases after power cuts during the start.
    fn start_again(&mut self, loss: Loss) -> Result<(), Broken> {
        for _ in 0..self.dice.between(0, 3) {
            let operations = self.dice.between(START_OPERATIONS.0, START_OPERATIONS.1);
            self.disk.cut_after(operations);
            match self.try_start() {
                Ok(gateway) => {
                    self.disk.set(Number::CutAt, 0);
                    drop(gateway);
                }
                Err(status) => {
                    went_by_the_cut(status)?;
                    self.starts_cut += 1;
                }
            }
            let lost = self.disk.lose(loss, &mut self.dice);
            self.look().map_err(|broken| {
                format!("after {operations} operations of a start, {lost:?}: {broken}")
            })?;
        }
        let gateway = self.try_start();
        let gateway = gateway.map_err(|status| format!("it does not start: {status}"))?;
        self.gateway = Some(gateway);
        Ok(())
    }

    fn try_start(&self) -> Result<Gateway, ExitStatus> {
        Gateway::try_start_by(self.disk.under(hallcall()), &self.site)
    }

    /// Lets rides go on that the power cut has held, where the car was read since.
    fn resolve(&self) {
        for order in self.crowd.held() {
            let words = ["elevator", "resolve", "EL001", "--outcome", "continue"];
            let who = [
                "--operator",
                "anna",
                "--reason",
                "a power cut",
                "--order",
                &order,
            ];
            operate(&self.site.config(), &[&words[..], &who[..]].concat());
        }
    }

    /// Looks at the data from outside; the last record, and the one that the witness names.
    fn look(&self) -> Result<(u64, u64), Broken> {
        let looked = operate(&self.site.config(), &["journal", "verify", "--json"]);
        let found: Value = serde_json::from_slice(&looked.stdout).unwrap_or_default();
        if found["ok"] != true {
            return Err(format!("the journal is not whole: {found}"));
        }
        let mark = found["fences"]["EL001"].as_u64().unwrap_or(0);
        let highest = self.crowd.truth.highest_fence("EL001");
        if mark < highest {
            return Err(format!("fence {highest} was given, the mark is {mark}"));
        }
        let last = found["last"].as_u64().expect("a number");
        let witness = self.witness();
        if witness > last {
            return Err(format!(
                "the witness is at {witness}, the last record is {last}"
            ));
        }
        Ok((last, witness))
    }

    /// What the witness file says: the higher of its two places that are whole.
    fn witness(&self) -> u64 {
        let file = fs::read(self.site.data_dir().join("journal/durable")).unwrap();
        let place = |at: usize| {
            let line = file.get(at..at + 45)?;
            let line = std::str::from_utf8(line).ok()?;
            line.strip_prefix("durable ")?.get(..20)?.parse().ok()
        };
        place(0).max(place(512)).unwrap_or(0)
    }

    fn orders(&self) -> Vec<String> {
        let mut orders: Vec<_> = self.crowd.truth.orders.keys().cloned().collect();
        let number = |order: &String| -> u64 {
            let (_, number) = order.rsplit_once('-').expect("T-robot-number");
            number.parse().expect("a number")
        };
        orders.sort_by_key(number);
        orders
    }
}

fn went_by_the_cut(status: ExitStatus) -> Result<(), Broken> {
    if status.signal() == Some(SIGKILL) {
        return Ok(());
    }
    Err(format!("it ended before the power did: {status}"))
}

//! Deeds to a car, its controller, and what the controller says late.

use protocol::hardware::{Change, Direction, Door, Mode, Motion, Outcome, Report};
use protocol::{CommandId, ElevatorId, FloorLabel, Side};
use sim::car::DoorStuck;

use super::play::Player;
use super::words::{self, Line};

impl Player {
    pub(super) fn car(&mut self, line: &Line<'_>) {
        let elevator = line.elevator(1);
        let deed = line.word(2).to_owned();
        let value = line.words().get(3).copied().unwrap_or_default().to_owned();
        self.world()
            .with_controller(&elevator, |controller, now_ms| {
                let car = controller.car_mut();
                match deed.as_str() {
                    "stuck" => car.set_faults(now_ms, |faults| faults.stuck = value == "on"),
                    "door" => car.set_faults(now_ms, |faults| {
                        faults.door = match value.as_str() {
                            "stuck-open" => Some(DoorStuck::Open),
                            "stuck-closed" => Some(DoorStuck::Closed),
                            _ => None,
                        };
                    }),
                    "reopens" => {
                        car.set_faults(now_ms, |faults| faults.reopens = value.parse().unwrap())
                    }
                    "wrong-floor" => {
                        car.set_faults(now_ms, |faults| {
                            faults.wrong_floor = value.parse().unwrap()
                        });
                    }
                    "forgets" => {
                        car.set_faults(now_ms, |faults| {
                            faults.forget_calls = value.parse().unwrap()
                        });
                    }
                    "presence" => {
                        car.set_faults(now_ms, |faults| faults.presence = value.parse().ok());
                    }
                    "mode" => {
                        let mode = Mode::ALL
                            .iter()
                            .find(|mode| mode.as_str() == value)
                            .unwrap();
                        car.set_mode(now_ms, *mode);
                    }
                    "closes" => car.close_door(now_ms),
                    "opens" => car.open_door(now_ms, Side::Front),
                    "called-to" => {
                        car.hall_call(now_ms, &words::landing(&value), Direction::Up);
                    }
                    "people" => car.set_people(now_ms, value.parse().unwrap()),
                    _ => panic!("{deed:?} is nothing that a car does"),
                }
            });
        self.world().run_for(0);
    }

    pub(super) fn controller(&mut self, line: &Line<'_>) {
        let elevator = line.elevator(1);
        let times = line
            .words()
            .get(4)
            .map_or(1, |times| times.parse().unwrap());
        self.world()
            .with_controller(&elevator, |controller, _| match line.word(2) {
                "silent" => controller.set_silent(true),
                "back" => controller.set_silent(false),
                "mute" => controller.set_mute(true),
                "refuses" => controller.refuse(line.word(3), times),
                _ => panic!("{:?}", line.text),
            });
    }

    /// A word of an earlier ride comes late.
    pub(super) fn late(&mut self, line: &Line<'_>) {
        let elevator: ElevatorId = line.elevator(1);
        let floor = line
            .words()
            .get(3)
            .map(|floor| FloorLabel::new(floor).unwrap());
        let report = match line.word(2) {
            "arrived" => Report::Change(Change {
                floor,
                motion: Some(Motion::Stopped),
                ..Change::default()
            }),
            "door_open" => Report::Change(Change {
                floor,
                front: Some(Door::Open),
                ..Change::default()
            }),
            "door_closed" => Report::Change(Change {
                floor,
                front: Some(Door::Closed),
                ..Change::default()
            }),
            "done" => Report::Outcome {
                command_id: CommandId::new("EL1-old-1").unwrap(),
                outcome: Outcome::Done,
            },
            _ => panic!("{:?}", line.text),
        };
        self.world().inject(&elevator, report);
    }
}

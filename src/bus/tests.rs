//! Bus tasks over a real line, to a Modbus TCP device on loopback that is played byte by byte.

use std::sync::Arc;
use std::time::Duration;

use adapters::bus::{Bus, LineConfig, LineTiming, Opener, Transport, Unit, Wire};
use adapters::map::{MappedFloor, RegisterMap};
use adapters::rtu::RtuTiming;
use protocol::hardware::Action;
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::*;
use crate::inbox::{Arrival, Heard};

/// As long as any wait of a test may take.
const PATIENCE: Duration = Duration::from_secs(20);

const MAP: &str = r#"
poll_ms = 50
[floors]
count = 2
[floor]
register = { point = "input", address = 0 }
[motion]
up = { point = "discrete", address = 2 }
down = { point = "discrete", address = 3 }
[front.door]
open_limit = { point = "discrete", address = 0 }
closed_limit = { point = "discrete", address = 1 }
[front.buttons]
hall_up = { point = "coil", address = 0 }
hall_down = { point = "coil", address = 16 }
car = { point = "coil", address = 32, pulse_ms = 5000 }
open = { point = "coil", address = 48 }
close = { point = "coil", address = 49 }
"#;

/// The coils that were written, with their values.
type Written = watch::Receiver<Vec<(u16, bool)>>;

/// Answers every read with zeros and every write of a coil with its echo.
async fn device() -> (String, Written) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (log, written) = watch::channel(Vec::new());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, log.clone()));
        }
    });
    (address, written)
}

async fn answer(mut stream: TcpStream, written: watch::Sender<Vec<(u16, bool)>>) {
    // All requests of this map have 5 bytes behind the unit.
    let mut request = [0_u8; 12];
    while stream.read_exact(&mut request).await.is_ok() {
        let reply = match request[7] {
            2 => [&request[..4], &[0, 4, 1, 2, 1, 0]].concat(),
            4 => [&request[..4], &[0, 5, 1, 4, 2, 0, 0]].concat(),
            function => {
                assert_eq!(function, 5);
                let coil = u16::from_be_bytes([request[8], request[9]]);
                written.send_modify(|all| all.push((coil, request[10] == 0xFF)));
                request.to_vec()
            }
        };
        if stream.write_all(&reply).await.is_err() {
            return;
        }
    }
}

struct Rig {
    line: BusLine,
    task: JoinHandle<()>,
    inbox: mpsc::Receiver<Arrival>,
    written: Written,
    clock: Clock,
}

async fn rig(inbox_max: usize) -> Rig {
    let (address, written) = device().await;
    let clock = Clock::start();
    let config = config(Transport::Tcp { address }, MAP);
    let driver = Bus::new(config, Arc::new(move || clock.mono_ms())).unwrap();
    let (sender, inbox) = mpsc::channel(inbox_max);
    let gate = FenceGate::new();
    let (line, task) = spawn("b1".to_owned(), Box::new(driver), gate, sender, clock);
    Rig {
        line,
        task,
        inbox,
        written,
        clock,
    }
}

/// One elevator, unit 1, with two floors.
fn config(transport: Transport, map: &str) -> LineConfig {
    let floor = |label| MappedFloor {
        label: FloorLabel::new(label).unwrap(),
        sides: [Side::Front].into(),
    };
    let unit = Unit {
        elevator: elevator(),
        unit: 1,
        relay_unit: None,
        device: RegisterMap::parse(map).unwrap().into(),
        floors: vec![floor("1F"), floor("2F")],
    };
    LineConfig {
        transport,
        units: vec![unit],
        zones: Vec::new(),
        timing: LineTiming::default(),
        seed: 1,
    }
}

impl Rig {
    fn send(&self, command_id: &str, fence: u64, action: Action) {
        let command = command(command_id, fence, action);
        self.line.send(command, self.clock.mono_ms()).unwrap();
    }

    async fn hear(&mut self) -> Input {
        let arrival = timeout(PATIENCE, self.inbox.recv()).await;
        match arrival.unwrap().unwrap().heard {
            Heard::Input(input) => input,
            other @ (Heard::Controller { .. } | Heard::Stop | Heard::JournalFailed) => {
                panic!("{other:?}")
            }
        }
    }

    /// The next outcome of a command.
    async fn outcome(&mut self) -> (String, Outcome) {
        loop {
            if let Input::Report {
                report:
                    Report::Outcome {
                        command_id,
                        outcome,
                    },
                ..
            } = self.hear().await
            {
                return (command_id.as_str().to_owned(), outcome);
            }
        }
    }

    fn written(&self) -> Vec<(u16, bool)> {
        self.written.borrow().clone()
    }
}

fn elevator() -> ElevatorId {
    ElevatorId::new("EL001").unwrap()
}

fn landing() -> Landing {
    Landing {
        floor: FloorLabel::new("2F").unwrap(),
        side: Side::Front,
    }
}

fn open() -> Action {
    Action::OpenDoor { landing: landing() }
}

fn command(command_id: &str, fence: u64, action: Action) -> Command {
    Command {
        elevator_id: elevator(),
        command_id: CommandId::new(command_id).unwrap(),
        fence: Fence(fence),
        order_id: None,
        action,
        expires_in_ms: 5_000,
    }
}

#[tokio::test]
async fn what_a_line_learns_comes_as_inputs_under_its_name() {
    let mut rig = rig(64).await;
    let bus = "b1".to_owned();
    assert_eq!(rig.hear().await, Input::Bus { bus, up: true });
    let up = Report::Link { up: true };
    let elevator = elevator();
    assert_eq!(
        rig.hear().await,
        Input::Report {
            elevator,
            report: up
        }
    );
    let reading = rig.hear().await;
    let is_reading = matches!(
        reading,
        Input::Report {
            report: Report::Reading {
                asked_ms: Some(_),
                ..
            },
            ..
        }
    );
    assert!(is_reading, "{reading:?}");
}

/// Law 3: a command with a lower fence than its elevator has seen does not reach the wire.
#[tokio::test]
async fn a_command_of_an_earlier_owner_is_dropped_before_its_bytes() {
    let mut rig = rig(64).await;
    rig.send("c-1", 8, open());
    rig.send("c-2", 7, open());
    rig.send("c-3", 8, Action::CloseDoor { landing: landing() });
    assert_eq!(rig.outcome().await, ("c-1".to_owned(), Outcome::Accepted));
    let (id, outcome) = rig.outcome().await;
    assert_eq!(id, "c-2");
    assert!(matches!(outcome, Outcome::Dropped { .. }), "{outcome:?}");
    assert_eq!(rig.outcome().await, ("c-3".to_owned(), Outcome::Accepted));
    assert_eq!(rig.written(), [(48, true), (49, true)]);
}

/// Law 5: what waited too long does not leave.
#[tokio::test]
async fn a_command_that_was_released_too_long_ago_is_dropped() {
    let mut rig = rig(64).await;
    let mut late = command("c-1", 1, open());
    late.expires_in_ms = 0;
    rig.line.send(late, rig.clock.mono_ms()).unwrap();
    let (_, outcome) = rig.outcome().await;
    assert!(matches!(outcome, Outcome::Dropped { .. }), "{outcome:?}");
    rig.send("c-2", 1, open());
    assert_eq!(rig.outcome().await, ("c-2".to_owned(), Outcome::Accepted));
    assert_eq!(rig.written(), [(48, true)]);
}

/// Law 3, law 5: the last look is taken when the line is open at last, not before.
#[tokio::test(start_paused = true)]
async fn a_command_that_gets_too_old_while_its_line_opens_is_dropped() {
    let (ours, mut theirs) = duplex(1_024);
    let mut stream = Some(ours);
    let opener: Opener = Box::new(move |_| {
        let stream = stream.take();
        Box::pin(async move {
            sleep(Duration::from_millis(400)).await;
            let stream = stream.ok_or_else(|| "no such port".to_owned())?;
            Ok((Box::new(stream) as Box<dyn Wire>, RtuTiming::serial(9_600)))
        })
    });
    let clock = Clock::start();
    // Function 15, whose reply is no copy of its request: nothing has to be asked before it.
    let map = MAP.replace("address = 48 }", "address = 48, function = 15 }");
    let address = "a pipe".to_owned();
    let config = config(Transport::Tcp { address }, &map);
    let driver = Bus::over(opener, config, Arc::new(move || clock.mono_ms())).unwrap();
    let (sender, mut inbox) = mpsc::channel(64);
    let gate = FenceGate::new();
    let (line, _task) = spawn("b1".to_owned(), Box::new(driver), gate, sender, clock);
    let mut late = command("c-1", 1, open());
    late.expires_in_ms = 300;
    line.send(late, clock.mono_ms()).unwrap();
    let outcome = loop {
        let arrival = timeout(PATIENCE, inbox.recv()).await.unwrap().unwrap();
        if let Heard::Input(Input::Report {
            report: Report::Outcome { outcome, .. },
            ..
        }) = arrival.heard
        {
            break outcome;
        }
    };
    assert!(matches!(outcome, Outcome::Dropped { .. }), "{outcome:?}");
    // The first that goes out is a poll.
    let mut request = [0; 8];
    theirs.read_exact(&mut request).await.unwrap();
    assert_eq!(request[..2], [1, 2]);
}

#[tokio::test]
async fn a_command_that_the_map_lacks_is_failed_by_name() {
    let mut rig = rig(64).await;
    rig.send("c-1", 1, Action::Claim);
    let detail = "the map has no point commands.claim".to_owned();
    assert_eq!(
        rig.outcome().await,
        ("c-1".to_owned(), Outcome::Failed { detail })
    );
}

#[tokio::test]
async fn an_engine_that_takes_nothing_loses_nothing_and_commands_go_on() {
    let mut rig = rig(1).await;
    for number in 0..50 {
        rig.send(&format!("c-{number}"), 1, open());
    }
    // The inbox is full from the first report on, and all commands are done all the same.
    let mut written = rig.written.clone();
    let done = written.wait_for(|all| all.len() >= 50);
    timeout(PATIENCE, done).await.unwrap().unwrap();
    for number in 0..50 {
        assert_eq!(
            rig.outcome().await,
            (format!("c-{number}"), Outcome::Accepted)
        );
    }
}

#[tokio::test]
async fn a_task_ends_with_its_last_handle_after_what_was_sent_and_lets_buttons_go() {
    let rig = rig(64).await;
    rig.send("c-1", 1, Action::CarCall { landing: landing() });
    rig.send("c-2", 1, open());
    let Rig {
        line,
        task,
        mut inbox,
        written,
        ..
    } = rig;
    drop(line);
    timeout(PATIENCE, task).await.unwrap().unwrap();
    assert_eq!(*written.borrow(), [(33, true), (48, true), (33, false)]);
    let mut outcomes = 0;
    while let Some(arrival) = inbox.recv().await {
        if let Heard::Input(Input::Report {
            report: Report::Outcome { .. },
            ..
        }) = arrival.heard
        {
            outcomes += 1;
        }
    }
    assert_eq!(outcomes, 2);
}

#[tokio::test]
async fn a_line_that_has_too_many_commands_gives_the_next_one_back() {
    let (sender, _commands) = mpsc::channel(1);
    let line = BusLine(sender);
    line.send(command("c-1", 1, open()), 0).unwrap();
    let (back, _) = line.send(command("c-2", 1, open()), 0).unwrap_err();
    assert_eq!(back, command("c-2", 1, open()));
}

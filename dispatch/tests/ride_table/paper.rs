//! The printed table: made from what the code does, compared with what is committed.

use std::fmt::Write as _;
use std::path::Path;

use crate::grid::{Faults, Sheet, report};
use crate::{elevator_rows, operator_rows, robot_goes, robot_leaves, time_rows};

const FILE: &str = "../docs/ride.md";

const HEAD: &str = "\
# The ride table, as the code does it

Made by `dispatch/tests/ride_table.rs`: every cell is reached by inputs alone, on a virtual clock, with a
controller that does what the test says, and is compared there with what was written by hand from the
specification. Do not edit: `UPDATE_EXPECT=1 cargo test -p hallcall-dispatch --test ride_table` writes it anew.

## How to read it

One table per event. Left: where the ride stands when the event comes. Right: what follows.

`reply -> STATE(REASON) instruction -> ...; commands; ownership`

| word | means |
|---|---|
| `A`, `D`, `R:CODE`, `-` | accepted, duplicate, rejected with this code, no reply (a status, time, a controller) |
| `=` | the ride stays as it is; `seq+` said again with a new sequence number; `INSIDE` from here on the robot may be inside |
| `-> STATE(REASON) instruction` | what the robot is told next, each step of it; why a ride is QUEUED is left out |
| commands | what the controller is told besides queries and renewals of a hold, in this order, with the floor; `3 x` three times |
| `K` | the elevator is given to the ride; nothing said = the ride keeps what it has |
| `B until ...` | the order is done with the elevator, which stays its own until this is seen; CLEARCALL: the hall call is seen gone and the car does not stand open there |
| `F` | the elevator is free |
| `BLOCK(REASON)` | an operator must look at it |

Each cell is watched for a few seconds only: what a deadline does later is told where the deadline is the event.
The site of the tests has one elevator, `EL001`, with 1F, 3F and 6F; the ride goes from 1F to 6F; timing is the default
of the wire specification. A presence signal is named where the cell depends on it; what is said of it holds for
`presence = \"robot\"` and `\"any\"` alike.
";

const TAIL: &str = "
## 5. Where the specification leaves a choice

* `cancel_enter` while `enter` is withheld acts as `ride/cancel` whatever the signal says: nobody was let in.
* *No SHUT read since `enter`* counts from the first `enter` of a grant, through every state after it. After a gateway
  start it counts as read: without a signal the robot's word alone then proves no empty car.
* `exit` in HOLD waits for a hold that was taken, as everywhere; in a mode in which no hold may be sent the open door
  alone gives it.
* `enter` and `exit` are founded on a reading that was asked for after the hold was taken, or after the first of holds
  that followed each other without a gap: the door may have begun to close before. A hold whose door is READ closing or
  shut, or whose car is READ elsewhere, holds nothing.
* A command that is not wanted any more keeps the lane until its answer, a reading that shows what it did, or, when it is
  unanswered after `accept_s`, any reading that was asked for since. Only a `release` for a mode waits for nothing.
* A `car_call` that waits for its turn in ROBOT_ENTERED leaves only where the presence signal still says FULL then; where
  it does not until `door_close_s`, HOLD(ENTRY_UNCONFIRMED).
* A door is held by any reading that a controller gave which is not silent, in HOLD, and in ELEVATOR_ARRIVED and
  TARGET_ARRIVED until they are READ; `reading_fresh_s` bounds permissions alone. In these states a controller is asked
  after two thirds of `reading_fresh_s` where `poll_s` is longer.
* A robot's word `in_car` stands until it says otherwise: by `in_car: false`, or an `exited` or `cancel_enter` that is
  accepted. It goes with the robot into its next ride and through a restart.
* A robot that is not heard for `lease_s`, while the gateway could hear it, counts as not ONLINE for `elevator resolve`
  and `elevator reset`: a broker that was away when it died shows it ONLINE for ever.
* A refused hold in ELEVATOR_ARRIVED or TARGET_ARRIVED ends what the hold before it was good for, so that HOLD(DOOR_FAULT)
  goes on only by a new hold that is taken.
* Where `hold_door` and another command are due at one moment, `hold_door` goes first.
* `hold_door` extends each deadline by at most 120 s in all; the next state counts anew.
* ROBOT_ENTERED that shows the car standing at `to` with the car call taken goes to RUNNING, whatever its door does: a short
  ride may fall between two readings. After a gateway start it does so without: the call may be of the start before.
* A car that is read standing shut at `to` in RUNNING is opened after `requery_s`, at most three times: its door may have
  opened and shut while nobody could look.
* A car call that is refused in RUNNING is dealt with at `travel_s`.
* The door is closed four times in ROBOT_ENTERED and after ROBOT_EXITED at most: once, and three times more. The robot is
  reminded three times to leave, each time for another `exit_s`.
* After a gateway start ROBOT_ENTERED and RUNNING say `ride`: no `stay` is known in these states.
* A controller that is silent while `enter` is withheld means HOLD, as in ELEVATOR_ARRIVED.
* `site resume` is refused while an elevator of a burning zone tells `fire` or `emergency`.
* What `--force` took out of use has a BLOCK too: `maintenance off` alone gives it back to nobody.
* What a robot says of an order before its present one is judged by how that order ended.
";

fn page(faults: &mut Faults) -> String {
    let mut text = HEAD.to_owned();
    let mut section = |title: &str, sheets: &[Sheet]| {
        let _ = write!(text, "\n## {title}\n");
        for sheet in sheets {
            let _ = write!(
                text,
                "\n### {}\n\n| where | what follows |\n|---|---|\n",
                sheet.title
            );
            for line in &sheet.lines {
                let right = line.right.trim();
                let _ = writeln!(text, "| {} | `{right}` |", line.left);
            }
        }
    };
    let mut robot = robot_goes::sheets(faults);
    robot.extend(robot_leaves::sheets(faults));
    section("1. What a robot says", &robot);
    section("2. Time and dispatch", &time_rows::sheets(faults));
    section("3. Elevator and controller", &elevator_rows::sheets(faults));
    section("4. Operator and gateway", &operator_rows::sheets(faults));
    text.push_str(TAIL);
    text
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test may read its environment")]
fn the_printed_table_is_what_the_code_does() {
    let mut faults = Faults::new();
    let text = page(&mut faults);
    report(&faults);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
        std::fs::write(&path, &text).expect("docs/ride.md can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("docs/ride.md can be read");
    let differs = committed
        .lines()
        .zip(text.lines())
        .position(|(old, new)| old != new);
    let first = differs.map(|line| (committed.lines().nth(line), text.lines().nth(line)));
    assert!(
        committed == text,
        "docs/ride.md is not what the code does (UPDATE_EXPECT=1 rewrites it), first: {first:?}"
    );
}

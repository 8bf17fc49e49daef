"""T-LIFT-40, T-LIFT-43, AT-LIFT-20, AT-LIFT-21: the gateway's bus task on a line of eight units that
pymodbus answers for. One is dead, or one answers late; what happened is what the line saw.

`HALLCALL_LATE_REPLIES=1000` is the long form: so many replies come late, in about twenty minutes."""

import json
import os
import queue
import random
import statistics
import subprocess
import threading
import time
import unittest

from gateway_process import Gateway, elevator, find_gateway
from rtu_units import BAUD, CHARACTER_S, GAP_S, NUMBERS, UNITS, UnitLine, late_never, lost_never

LATE_REPLIES = int(os.environ.get("HALLCALL_LATE_REPLIES", "8"))
ODD = 5  # the unit that is dead, or late
POLL_MS = 500
OPEN_AT = 100  # the register of the door button
PATIENCE_S = 20.0
# The longest time-out of a unit that has not answered yet, as docs/operating.md has it.
TIME_OUT_S = 0.2 + (8 + 21) * CHARACTER_S + GAP_S

MAP = f"""
poll_ms = {POLL_MS}
[floors]
count = {NUMBERS}
[floor]
register = {{ point = "holding", address = 0 }}
[motion]
register = {{ point = "holding", address = 1 }}
values = {{ stopped = 1 }}
[mode]
register = {{ point = "holding", address = 3 }}
values = {{ normal = 0 }}
[front.door]
register = {{ point = "holding", address = 2 }}
values = {{ open = 1, closed = 2 }}
[front.buttons]
hall_up = {{ point = "coil", address = 0 }}
hall_down = {{ point = "coil", address = 200 }}
car = {{ point = "coil", address = 400 }}
open = {{ point = "holding", address = {OPEN_AT} }}
close = {{ point = "holding", address = {OPEN_AT + 1} }}
"""


def name(unit: int) -> str:
    return f"EL{unit:03}"


class Line:
    """`examples/line.rs`: the gateway's bus task, with JSON on both ends."""

    program = find_gateway() and find_gateway().parent / "examples" / "line"

    def __init__(self, case: unittest.TestCase, place: str):
        floors = [f"F{number}" for number in range(NUMBERS)]
        body = f'[[buses]]\nid = "b1"\nserial = "{place}"\nbaud = {BAUD}\nparity = "none"\n'
        for unit in UNITS:
            driver = f'{{ kind = "modbus_rtu", bus = "b1", unit = {unit}, map = "map.toml" }}'
            more = 'presence = "none"\nhold_max_s = 15\n'
            body += elevator(name(unit), floors, driver, more)
        site = Gateway(case, "127.0.0.1:1", body)
        (site.dir / "map.toml").write_text(MAP, encoding="utf-8")
        self.process = subprocess.Popen([str(self.program), str(site.config)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.readings: list[tuple[float, str, dict]] = []
        self.links: list[tuple[str, bool]] = []
        self.outcomes: queue.Queue = queue.Queue()
        self.sent = 0
        self.thread = threading.Thread(target=self.hear, daemon=True)
        self.thread.start()
        case.addCleanup(self.end)

    def hear(self) -> None:
        for line in self.process.stdout:
            at, said = time.monotonic(), json.loads(line)
            report = said.get("Report", {}).get("report", {})
            lift = said.get("Report", {}).get("elevator")
            if "reading" in report:
                self.readings.append((at, lift, report["reading"]["reading"]))
            elif "link" in report:
                self.links.append((lift, report["link"]["up"]))
            elif "outcome" in report:
                self.outcomes.put((at, report["outcome"]))

    def open_door(self, unit: int) -> tuple[float, float, object]:
        """When it was asked for, when it was over, and how it went."""
        self.sent += 1
        command = {"elevator_id": name(unit), "command_id": f"c{self.sent}", "fence": 1,
                   "order_id": None, "expires_in_ms": 60_000,
                   "action": {"open_door": {"landing": {"floor": "F0", "side": "front"}}}}
        asked = time.monotonic()
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        at, told = self.outcomes.get(timeout=PATIENCE_S)
        assert told["command_id"] == f"c{self.sent}", told
        return asked, at, told["outcome"]

    def end(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.thread.join(PATIENCE_S)
            self.process.stdout.close()


@unittest.skipUnless(Line.program and Line.program.is_file(), "examples/line.rs is not built")
class RtuUnitsTest(unittest.TestCase):
    def start(self) -> tuple[UnitLine, Line]:
        units = UnitLine(self)
        line = Line(self, units.place)
        deadline = time.monotonic() + PATIENCE_S
        while {lift for _, lift, _ in line.readings} != set(map(name, UNITS)):
            self.assertIsNone(line.process.poll(), "the line ended")
            self.assertLess(time.monotonic(), deadline, line.readings)
            time.sleep(0.02)
        return units, line

    def latencies(self, units: UnitLine, line: Line, dice: random.Random, until) -> list[float]:
        """Of commands to all but the odd unit: from the command to the bytes, as the line saw them."""
        took, commands = [], 0
        others = [unit for unit in UNITS if unit != ODD]
        deadline = time.monotonic() + PATIENCE_S
        while not until(took):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(dice.uniform(0.0, 0.05))
            before = len(units.record)
            unit = dice.choice(others)
            asked, _, outcome = line.open_door(unit)
            commands += 1
            # On a machine that stands still for 0.1 s a reply is heard too late now and then.
            if outcome != "accepted":
                continue
            writes = [r for r in units.record[before:] if r.function == 6]
            self.assertEqual([r.unit for r in writes], [unit])
            took.append(writes[0].at - asked)
        self.assertGreater(len(took), 0.8 * commands)
        return took

    def test_one_dead_unit_costs_the_others_one_time_out(self):
        units, line = self.start()
        dice = random.Random(1)
        well = self.latencies(units, line, dice, lambda took: len(took) >= 40)
        begun = len(units.record)
        units.is_lost = lambda request: request.unit == ODD

        def asked_dead():
            return [n for n, r in enumerate(units.record) if n >= begun and r.unit == ODD]

        one_dead = self.latencies(units, line, dice, lambda _took: len(asked_dead()) >= 7)
        told = f"well: {sorted(well)[-3:]}, one dead: {sorted(one_dead)[-3:]}, s"
        # At most one time-out more, and two would be more than this.
        self.assertLess(max(one_dead), max(well) + TIME_OUT_S + 0.15, told)
        self.assertLess(statistics.median(one_dead), statistics.median(well) + 0.05, told)
        # Others are asked between any two requests to the dead one.
        dead = asked_dead()
        self.assertTrue(all(later - sooner > 1 for sooner, later in zip(dead, dead[1:])), dead)
        self.assertEqual([link for link in line.links if not link[1]], [(name(ODD), False)])

    def test_late_replies_are_nobody_elses(self):
        units, line = self.start()
        dice, lots = random.Random(2), random.Random(3)
        begun = len(units.record)
        # Most replies of one unit come later than any time-out; half of the writes to it are lost.
        units.late_s = lambda request: (
            dice.uniform(0.82, 1.1) if request.unit == ODD and dice.random() < 0.6 else 0.0)
        units.is_lost = lambda request: (
            request.unit == ODD and request.function == 6 and lots.random() < 0.5)
        confirmed = commands = 0
        deadline = time.monotonic() + 20 + 3 * LATE_REPLIES
        while self.late(units, begun) < LATE_REPLIES or confirmed == 0:
            self.assertLess(time.monotonic(), deadline, f"{self.late(units, begun)} late replies")
            time.sleep(lots.uniform(0.0, 0.2))  # polls have their turn
            before = len(units.record)
            _, over, outcome = line.open_door(ODD)
            commands += 1
            writes = [r for r in units.record[before:] if r.function == 6]
            self.assertLessEqual(len(writes), 1, "nothing is written twice")
            self.assertTrue(outcome == "accepted" or "unknown" in outcome, outcome)
            if outcome == "accepted":
                confirmed += 1
                self.assertIsNotNone(writes[0].reply, "a false confirmation: it never got there")
                self.assertIsNotNone(writes[0].emitted, "confirmed before it was")
                self.assertLessEqual(writes[0].emitted, over)
        units.late_s, units.is_lost = late_never, lost_never
        self.attributed(units, line)
        print(f"\n{self.late(units, begun)} late replies, {commands} commands, {confirmed} confirmed,"
              f" {len(line.readings)} readings", flush=True)

    def late(self, units: UnitLine, begun: int) -> int:
        """Replies of the odd unit that came when something else had been asked already."""
        record = units.record[begun:]
        return sum(1 for n, r in enumerate(record[:-1]) if r.unit == ODD and r.emitted is not None
                   and r.emitted > record[n + 1].at)

    def attributed(self, units: UnitLine, line: Line) -> None:
        """Each reading shows the number of its own request: the last one before it to that unit, and
        one that had been answered before the next was asked."""
        record = list(units.record)
        for at, lift, reading in list(line.readings):
            unit = int(lift[2:])
            asked = [r for r in record if r.unit == unit and r.function == 3 and r.frame[2:4] == b"\0\0"
                     and r.emitted is not None and r.emitted <= at]
            number = int(reading["floor"][1:])
            own = [n for n, r in enumerate(asked) if r.number == number][-1]
            after = [r for r in record if r.unit == unit and r.at > asked[own].at]
            if after:
                self.assertGreater(after[0].at, asked[own].emitted, f"{lift} at {at}: {number}")
        self.assertGreater(len(line.readings), 3 * len(UNITS))


if __name__ == "__main__":
    unittest.main()

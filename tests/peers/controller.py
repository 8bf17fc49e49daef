"""An elevator controller that speaks MQTT: the other side of wire.md section 6.

It keeps the duties of a controller there: a clean session; a retained command is no command; an
expired command or one below the highest fence is `failed`; a known `command_id` is answered again
and not carried out again; `accepted` is said before anything moves and `done` when the effect is
there; a `query` is answered by one `state` that bears its `command_id`; `state` goes out at start,
on change and at least every 5 s; `seq` counts per boot.
"""

from __future__ import annotations

import argparse
import json
import queue
import signal
import threading
import time
import uuid
from collections import OrderedDict

import paho.mqtt.client as mqtt
from car import Call, Car, Floor, Refused, Timing, parse_floors
from record import Record, SideChannel, ready, tell_truth, timestamp

STATE_EVERY_S = 5.0  # wire.md section 6: `state` at least this often
KNOWN_COMMANDS = 1000  # answers remembered, oldest dropped
INBOX = 1000  # commands waiting to be acted on
CALLS = ("hall_call", "car_call")
DOORS = ("open_door", "hold_door", "close_door")


class Controller:
    """One car and its commands. `publish(event)` sends one `elevators/{e}/event`, or says False."""

    def __init__(self, elevator_id: str, floors: list[Floor], timing: Timing, *, publish, record,
                 start: int = 0, sensor: bool = False, now: float = 0.0):
        self.elevator_id, self.record, self.sensor = elevator_id, record, sensor
        self.car = Car(floors, timing, now=now, start=start, on_change=self._changed)
        self.boot_id = uuid.uuid4().hex[:12]
        self.seq = 0
        self.highest_fence = 0
        self._publish = publish
        self._answers: OrderedDict[str, dict] = OrderedDict()  # command_id -> last answer
        self._pending: dict[str, tuple[str, Call | str | None]] = {}  # command_id -> what it awaits
        self._held: list | None = None  # events of a command that may still be refused
        self.dirty = True
        self._state_at = -STATE_EVERY_S

    def tick(self, now: float) -> None:
        """Lets time pass, then sends a snapshot if anything changed or 5 s went by."""
        self.car.advance(now)
        if self.dirty or now - self._state_at >= STATE_EVERY_S:
            self.send_state(now)

    def send_state(self, now: float, command_id: str | None = None) -> None:
        self.dirty, self._state_at = False, now
        self._event("state", command_id=command_id, **self.snapshot())

    def snapshot(self) -> dict:
        car = self.car
        doors = {side: door.state for side, door in car.doors.items()}
        seen = {"floor": car.floors[car.floor].label, "motion": car.motion, "mode": car.mode}
        seen |= {"doors": doors} if len(doors) > 1 else {"door": next(iter(doors.values()))}
        seen["occupied"] = car.robot_inside() if self.sensor else None
        seen["load_pct"] = car.load_pct()
        seen["calls"] = [
            {"kind": c.kind, "floor": car.floors[c.floor].label, "side": c.side,
             "direction": c.direction}
            for c in car.calls
        ]
        return seen

    def receive(self, payload: bytes, retained: bool, received: float, now: float) -> None:
        """One message on `elevators/{e}/command`, read at `received`, acted on at `now`."""
        self.car.advance(now)
        try:
            command = json.loads(payload)
            if not isinstance(command, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as why:
            self.record.write("unreadable", now, detail=str(why), bytes=len(payload))
            return
        kept = ("command_id", "command", "fence", "order_id", "floor", "side", "direction",
                "hold_s", "expires_in_s")
        self.record.write("command", now, retained=retained, **{k: command.get(k) for k in kept})
        command_id = command.get("command_id")
        if retained or not isinstance(command_id, str):
            return  # a kept message is history, and what has no id cannot be answered
        try:
            self._obey(command_id, command, now - received, now)
        except (Refused, TypeError, ValueError) as why:
            self._answer(command_id, "failed", str(why))
        self.tick(now)

    def _obey(self, command_id: str, command: dict, age_s: float, now: float) -> None:
        fence, expires = command.get("fence") or 0, command.get("expires_in_s")
        if command_id in self._answers:
            self._event(**self._answers[command_id])
        elif expires is not None and age_s >= expires:
            self._answer(command_id, "failed", "expired")
        elif command.get("command") == "query":  # answered whatever its fence
            self.highest_fence = max(self.highest_fence, fence)
            self.send_state(now, command_id)
        elif fence < self.highest_fence:
            self._answer(command_id, "failed", "stale_fence")
        else:
            self.highest_fence = fence
            self._carry_out(command_id, *self._understand(command))

    def _understand(self, command: dict) -> tuple:
        """The command's effect to wait for (None: it has none of its own) and the deed."""
        car, name, side = self.car, command.get("command"), command.get("side")
        if command.get("elevator_id") not in (None, self.elevator_id):
            raise Refused("another elevator's command")
        label = command.get("floor")
        floor = None if label is None else car.index_of(label)
        if name in CALLS and floor is None:
            raise Refused("floor missing")
        if name in DOORS and floor not in (None, car.floor):
            raise Refused(f"not_at {label}")
        side = side or (car.floors[floor].sides[0] if name in CALLS else None)
        if name == "hall_call" and command.get("direction") not in ("up", "down"):
            raise Refused(f"direction {command.get('direction')!r} is not up or down")
        if name == "hold_door" and not 0 < float(command.get("hold_s") or 0) <= 60:
            raise Refused(f"hold_s {command.get('hold_s')!r} is not 1 to 60")
        act = {
            "claim": car.claim,
            "release": car.release,
            "hall_call": lambda: car.hall_call(floor, side, command["direction"]),
            "car_call": lambda: car.car_call(floor, side),
            "cancel_call": lambda: car.cancel_hall(floor, side),
            "open_door": lambda: car.open_door(side),
            "hold_door": lambda: car.hold_door(side, float(command["hold_s"])),
            "close_door": lambda: car.close_door(side),
        }.get(name)
        if act is None:
            raise Refused(f"unknown command {name!r}")
        awaited = None
        if name in CALLS:
            direction = command["direction"] if name == "hall_call" else None
            awaited = name, Call(name.removesuffix("_call"), floor, side, direction)
        elif name in ("open_door", "close_door"):
            awaited = name, side
        return awaited, act

    def _carry_out(self, command_id: str, awaited: tuple | None, act) -> None:
        """`accepted` goes out before all that the deed causes; `failed` alone if it is refused."""
        self._held = []
        self._answer(command_id, "accepted", None)
        if awaited:
            self._pending[command_id] = awaited
        try:
            act()
        except Exception:
            del self._answers[command_id], self._held[0]
            self._pending.pop(command_id, None)
            raise
        finally:
            held, self._held = self._held, None
            for event in held:
                self._event(**event)
        self._settle_pending()
        if awaited is None:
            self._answer(command_id, "done", None)

    def _settle_pending(self) -> None:
        """`done` for every command whose effect stands there to be seen."""
        car = self.car
        for command_id, (name, what) in list(self._pending.items()):
            if name in CALLS:
                there = car.stands_open(what.floor, what.side)
            elif name == "open_door":
                sides = [what] if what else car.floors[car.floor].sides
                there = all(car.stands_open(car.floor, side) for side in sides)
            else:
                there = car.doors[what].state == "closed" if what else car.shut()
            if there:
                del self._pending[command_id]
                self._answer(command_id, "done", None)

    def _changed(self, at: float, kind: str, fields: dict) -> None:
        """The car changed: own record, the fitting event, and what it means for commands."""
        car = self.car
        shown = dict(fields)
        for key in ("floor", "target"):
            if key in shown:
                shown[key] = car.floors[shown[key]].label
        call = fields.get("call")
        if call:
            label = car.floors[call.floor].label
            shown["call"] = [call.kind, label, call.side, call.direction]
        self.record.write(kind, at, **shown)
        self.dirty = True
        side, floor = shown.get("side"), car.floors[car.floor].label
        if kind in ("door_open", "door_closed"):
            door = kind.removeprefix("door_")
            self._event(kind, floor=floor, side=side, door=door, motion=car.motion)
        elif kind == "moving":
            self._event("moving", floor=floor, motion=car.motion)
        elif kind == "arrived":
            self._event("arrived", floor=floor, motion="stopped")
        if kind == "call_off" and fields["reason"] != "served":
            self._fail(lambda name, what: what == call, fields["reason"])
        if kind == "door_opening":
            self._fail(lambda name, what: name == "close_door" and what in (None, side), "reopened")
        self._settle_pending()

    def _fail(self, meant, detail: str) -> None:
        for command_id, (name, what) in list(self._pending.items()):
            if meant(name, what):
                del self._pending[command_id]
                self._answer(command_id, "failed", detail)

    def _answer(self, command_id: str, event: str, detail: str | None) -> None:
        self._answers[command_id] = {"event": event, "command_id": command_id, "detail": detail}
        self._answers.move_to_end(command_id)
        while len(self._answers) > KNOWN_COMMANDS:
            self._answers.popitem(last=False)
        self._event(event, command_id=command_id, detail=detail)

    def _event(self, event: str, **fields) -> None:
        if self._held is not None:
            self._held.append({"event": event, **fields})
            return
        if "command_id" in fields and event != "state":
            self.record.write("answer", event=event, **fields)
        head = {"message_id": uuid.uuid4().hex, "timestamp": timestamp(), "event": event}
        if self._publish(head | {"boot_id": self.boot_id, "seq": self.seq + 1} | fields):
            self.seq += 1


class Station:
    """The controller on its broker: one MQTT client, an inbox, a clock."""

    def __init__(self, args: argparse.Namespace):
        self.args = args
        base = f"{args.root}/{args.site}/elevators/{args.elevator}"
        self.command_topic, self.event_topic = base + "/command", base + "/event"
        self.inbox: queue.Queue = queue.Queue(INBOX)
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.subscribed = threading.Event()
        self.record = Record(args.record)
        timing = Timing(ride_s=args.ride_s, speed=args.speed, hold_max_s=args.hold_max_s)
        floors = parse_floors(args.floors)
        start = [floor.label for floor in floors].index(args.start or floors[0].label)
        self.controller = Controller(args.elevator, floors, timing, publish=self._publish,
                                     record=self.record, start=start, now=time.monotonic(),
                                     sensor=args.presence == "robot")
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=args.elevator,
                                  clean_session=True)
        self.client.username_pw_set(args.username or args.elevator, args.password)
        self.client.max_queued_messages_set(INBOX)
        self.client.on_connect = self._on_connect
        self.client.on_subscribe = self._on_subscribe
        self.client.on_disconnect = lambda *_: self.subscribed.clear()
        self.client.on_message = self._on_message

    def run(self) -> None:
        host, _, port = self.args.broker.rpartition(":")
        side = SideChannel(self.args.side_listen, self._ask) if self.args.side_listen else None
        self.client.connect_async(host, int(port), keepalive=15)
        self.client.loop_start()
        announced = False
        while not self.stop.is_set():
            self._turn()
            if self.subscribed.is_set() and not announced:
                announced = True
                ready(elevator=self.args.elevator, side=side.address if side else None)
        self.client.disconnect()
        self.client.loop_stop()
        if side:
            side.close()

    def _turn(self) -> None:
        """One scan of the controller: the next command, at most 20 ms of waiting, then time."""
        try:
            received, payload, retained = self.inbox.get(timeout=0.02)
        except queue.Empty:
            received = None
        if received is not None:
            self.stop.wait(max(0.0, received + self.args.lag_s - time.monotonic()))
        with self.lock:
            if received is not None:
                self.controller.receive(payload, retained, received, time.monotonic())
            if self.subscribed.is_set():
                self.controller.tick(time.monotonic())
            else:  # nobody hears: the car goes on, the snapshot waits for the connection
                self.controller.car.advance(time.monotonic())

    def _on_connect(self, client, _userdata, _flags, reason, _properties) -> None:
        self.record.write("connected", reason=str(reason))
        if not reason.is_failure:
            client.subscribe(self.command_topic, qos=1)

    def _on_subscribe(self, _client, _userdata, _mid, reasons, _properties) -> None:
        self.record.write("subscribed", reasons=[str(reason) for reason in reasons])
        if not any(reason.is_failure for reason in reasons):
            self.controller.dirty = True
            self.subscribed.set()

    def _on_message(self, _client, _userdata, message) -> None:
        try:
            self.inbox.put_nowait((time.monotonic(), message.payload, message.retain))
        except queue.Full:
            self.record.write("inbox_full")

    def _publish(self, event: dict) -> bool:
        if not self.client.is_connected():
            return False  # not queued: it would be late
        self.client.publish(self.event_topic, json.dumps(event), qos=1)
        return True

    def _ask(self, message: dict) -> dict:
        with self.lock:
            self.controller.car.advance(time.monotonic())
            return tell_truth(self.controller.car, message)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--broker", default="127.0.0.1:1883")
    p.add_argument("--root", default="hallcall/v1")
    p.add_argument("--site", default="demo")
    p.add_argument("--elevator", default="EL001")
    p.add_argument("--floors", default="1F,2F,3F,4F,5F,6F", help="LABEL[@HEIGHT_M][=front+rear]")
    p.add_argument("--start", help="floor label where the car stands at first")
    p.add_argument("--speed", type=float, default=1.0, help="divides travel and door times")
    p.add_argument("--ride-s", type=float, help="fixed travel time instead of the physics")
    p.add_argument("--hold-max-s", type=float, default=10.0)
    p.add_argument("--presence", choices=("none", "robot"), default="none")
    p.add_argument("--lag-s", type=float, default=0.0, help="between receipt and acting")
    p.add_argument("--side-listen", help="HOST:PORT of the side channel, port 0 = any")
    p.add_argument("--record", help="file of JSON lines to append to")
    p.add_argument("--username")
    p.add_argument("--password")
    station = Station(p.parse_args())
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: station.stop.set())
    station.run()


if __name__ == "__main__":
    main()

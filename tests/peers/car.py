"""One elevator car: floors, doors, calls, holds and who is inside.

Pure: no clock and no input or output. The caller passes seconds of any monotonic clock to
`advance` and hears of every change, at the moment it happened, through `on_change`. Both
controllers (MQTT and Modbus) drive this one model, so that their cars behave alike.

What is simplified, on purpose: a car under way goes on to the stop it left for, stopping at a
landing answers the hall calls of both directions there, and floors are passed at even speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

AUTOMATIC = ("normal", "robot")
MODES = (*AUTOMATIC, "attendant", "maintenance", "fire", "emergency", "out_of_service")
MAX_ROBOTS = 16  # bound of the presence table
ROBOT_LOAD_PCT = 40


class Refused(Exception):
    """A command that the car does not carry out; the text is the wire's `detail`."""


@dataclass(frozen=True)
class Floor:
    label: str
    sides: tuple[str, ...] = ("front",)
    height_m: float = 0.0


@dataclass(frozen=True)
class Call:
    kind: str  # "hall" or "car"
    floor: int
    side: str
    direction: str | None = None  # "up" or "down", hall calls only


@dataclass(frozen=True)
class Timing:
    """Seconds, metres per second, metres per second squared."""

    open_s: float = 2.0
    close_s: float = 3.0
    dwell_s: float = 4.0
    hold_max_s: float = 10.0
    top_m_s: float = 1.6
    accel_m_s2: float = 0.8
    ride_s: float | None = None  # fixed time of every travel, instead of the physics
    speed: float = 1.0  # divides travel and door times; holds stay as commanded

    def at_speed(self) -> Timing:
        doors = {k: getattr(self, k) / self.speed for k in ("open_s", "close_s", "dwell_s")}
        return replace(self, **doors)

    def travel_s(self, distance_m: float) -> float:
        if self.ride_s is not None:
            return self.ride_s / self.speed
        if distance_m < self.top_m_s**2 / self.accel_m_s2:  # never reaches top speed
            return 2 * math.sqrt(distance_m / self.accel_m_s2) / self.speed
        return (distance_m / self.top_m_s + self.top_m_s / self.accel_m_s2) / self.speed


@dataclass
class Door:
    state: str = "closed"
    since: float = 0.0
    until: float = math.inf  # end of opening or closing; of the dwell while open
    hold_until: float = 0.0


def parse_floors(text: str) -> list[Floor]:
    """`1F,2F@3.5,3F@7.0=front+rear`: label, height in metres, sides; 3.5 m apart by default."""
    floors = []
    for index, item in enumerate(text.split(",")):
        head, _, sides = item.partition("=")
        label, _, height = head.partition("@")
        chosen = tuple(sides.split("+")) if sides else ("front",)
        if not label or not set(chosen) <= {"front", "rear"}:
            raise ValueError(f"floors: {item!r} is not LABEL[@HEIGHT_M][=front+rear]")
        height_m = float(height) if height else index * 3.5
        if floors and (height_m <= floors[-1].height_m or label in [f.label for f in floors]):
            raise ValueError(f"floors: {item!r} is no new label above {floors[-1].label!r}")
        floors.append(Floor(label, chosen, height_m))
    return floors


class Car:
    """`on_change(at_s, kind, fields)` hears: moving, floor, arrived, door_opening, door_open,
    door_closing, door_closed, call_on, call_off, hold, mode, presence, violation, doors_stuck."""

    def __init__(
        self,
        floors: list[Floor],
        timing: Timing,
        *,
        now: float = 0.0,
        start: int = 0,
        on_change: Callable[[float, str, dict], None] = lambda at, kind, fields: None,
    ):
        self.floors, self.timing, self.on_change = floors, timing.at_speed(), on_change
        self.floor, self.motion, self.mode = start, "stopped", "normal"
        sides = sorted({side for floor in floors for side in floor.sides})
        self.doors = {side: Door(since=now) for side in sides}
        self.calls: list[Call] = []
        self.robots: dict[str, str] = {}  # robot id -> "crossing" or "in"
        self.doors_stuck = False  # a fault: whatever the doors are doing does not end
        self._now = now
        self._up = True  # preferred direction of the next travel
        self._trip: list[tuple[float, int]] = []  # (when, floor index); the last is the stop

    # What is seen.

    def shut(self) -> bool:
        return all(door.state == "closed" for door in self.doors.values())

    def stands_open(self, floor: int, side: str) -> bool:
        return self.floor == floor and self.motion == "stopped" and self.doors[side].state == "open"

    def robot_inside(self) -> bool:
        return bool(self.robots)

    def load_pct(self) -> int:
        return min(100, ROBOT_LOAD_PCT * len(self.robots))

    def hold_left_s(self, side: str) -> float:
        door = self.doors[side]
        return max(0.0, door.hold_until - self._now)

    def index_of(self, label: str) -> int:
        for index, floor in enumerate(self.floors):
            if floor.label == label:
                return index
        raise Refused(f"unknown_floor {label}")

    # Time.

    def next_at(self) -> float:
        """When something next changes by itself; infinity when nothing will."""
        times = [self._trip[0][0]] if self._trip else []
        return min(times + [self._door_due(door) for door in self.doors.values()])

    def advance(self, now: float) -> None:
        while (due := self.next_at()) <= now:
            self._now = max(self._now, due)
            self._step()
        self._now = max(self._now, now)

    # What it is told.

    def hall_call(self, floor: int, side: str, direction: str) -> None:
        self._call(Call("hall", floor, side, direction))

    def car_call(self, floor: int, side: str) -> None:
        self._call(Call("car", floor, side))

    def cancel_hall(self, floor: int | None = None, side: str | None = None) -> None:
        """Withdraws the hall calls of one landing, or all. A car under way still stops there."""
        self._automatic()
        for call in [c for c in self.calls if c.kind == "hall"]:
            if floor in (None, call.floor) and side in (None, call.side):
                self._drop(call, "cancelled")

    def open_door(self, side: str | None = None) -> None:
        self._automatic()
        if self.motion != "stopped":
            raise Refused("not_level")
        for name in self._sides(side):
            self._open(name)

    def hold_door(self, side: str | None, hold_s: float) -> float:
        """Keeps the door open for `hold_s`, at most `hold_max_s`; returns what it granted."""
        self._automatic()
        names = [s for s in self._sides(side) if self.doors[s].state != "closed"]
        if not names or self.motion != "stopped":
            raise Refused("door_not_open")
        granted = min(hold_s, self.timing.hold_max_s)
        for name in names:
            if self.doors[name].state == "closing":
                self._open(name)
            self.doors[name].hold_until = self._now + granted
            self._tell("hold", side=name, hold_s=granted)
        return granted

    def close_door(self, side: str | None = None) -> None:
        """Ends hold and dwell, so that the door shuts at once, or as soon as it is open."""
        self._automatic()
        for name in [side] if side else list(self.doors):
            door = self._door(name)
            door.hold_until = 0.0
            if door.state == "open":
                door.until = self._now
            elif door.state == "opening":
                door.hold_until = -1.0  # no dwell either once it is open
        self.advance(self._now)

    def claim(self) -> None:
        self._automatic()
        self.set_mode("robot")

    def release(self) -> None:
        """Robot mode off; ends the holds. Obeyed in every mode."""
        for door in self.doors.values():
            door.hold_until = min(door.hold_until, 0.0)
        if self.mode == "robot":
            self.set_mode("normal")
        self.advance(self._now)

    def set_mode(self, mode: str) -> None:
        if mode not in MODES:
            raise Refused(f"unknown mode {mode}")
        if mode == self.mode:
            return
        self.mode = mode
        self._tell("mode", mode=mode)
        if mode not in AUTOMATIC:
            for call in list(self.calls):
                self._drop(call, "mode")
            for door in self.doors.values():
                door.hold_until = min(door.hold_until, 0.0)
        self._go_on()

    def stick_doors(self, stuck: bool) -> None:
        self.doors_stuck = stuck
        self._tell("doors_stuck", stuck=stuck)

    def robot_is(self, robot_id: str, where: str) -> None:
        """Ground truth of the floor: `crossing` the threshold, `in`, or `out`."""
        if where not in ("crossing", "in", "out"):
            raise Refused(f"where: {where!r} is not crossing, in or out")
        if where != "out" and robot_id not in self.robots and len(self.robots) >= MAX_ROBOTS:
            raise Refused("presence table full")
        was_open = any(d.state == "open" for d in self.doors.values())
        if where == "crossing" and not (was_open and self.motion == "stopped"):
            self._tell("violation", robot_id=robot_id, detail="crossing, but no car stands open")
        if where != "out" and set(self.robots) - {robot_id}:
            self._tell("violation", robot_id=robot_id, detail="two robots in one car")
        self.robots.pop(robot_id, None)
        if where != "out":
            self.robots[robot_id] = where
        self._tell("presence", robot_id=robot_id, where=where)

    # How it moves.

    def _tell(self, kind: str, **fields) -> None:
        self.on_change(self._now, kind, fields)

    def _automatic(self) -> None:
        if self.mode not in AUTOMATIC:
            raise Refused(f"mode_{self.mode}")

    def _door(self, side: str) -> Door:
        if side not in self.doors:
            raise Refused(f"unknown_side {side}")
        return self.doors[side]

    def _sides(self, side: str | None) -> list[str]:
        """The doors meant at this floor: the named one, or all that the floor has."""
        here = self.floors[self.floor].sides
        if side is not None and side not in here:
            raise Refused(f"unknown_side {side}")
        return [side] if side else list(here)

    def _call(self, call: Call) -> None:
        self._automatic()
        if call.side not in self.floors[call.floor].sides:
            raise Refused(f"unknown_side {call.side}")
        if self.floor == call.floor and self.motion == "stopped":
            self._open(call.side)  # answered on the spot, nothing to register
        elif call not in self.calls:
            self.calls.append(call)
            self._tell("call_on", call=call)
            self._go_on()

    def _drop(self, call: Call, reason: str) -> None:
        self.calls.remove(call)
        self._tell("call_off", call=call, reason=reason)

    def _door_due(self, door: Door) -> float:
        if self.doors_stuck:
            return math.inf
        if door.state != "open":
            return door.until
        if self.mode == "fire" and self.floor == 0:
            return math.inf  # recalled: stands open for the fire brigade
        return max(door.until, door.hold_until)

    def _set_door(self, side: str, state: str, until: float) -> None:
        door = self.doors[side]
        door.state, door.since, door.until = state, self._now, until
        self._tell("door_" + state, side=side, floor=self.floor)

    def _open(self, side: str) -> None:
        door, timing = self.doors[side], self.timing
        if door.state == "open":
            door.until = max(door.until, self._now + timing.dwell_s)
        elif door.state == "opening":
            door.hold_until = max(door.hold_until, 0.0)  # takes an early close back
        elif door.state == "closed":
            door.hold_until = 0.0
            self._set_door(side, "opening", self._now + timing.open_s)
        elif door.state == "closing":  # back over the part that it has closed
            part = (self._now - door.since) / timing.close_s if timing.close_s else 1.0
            self._set_door(side, "opening", self._now + timing.open_s * min(1.0, part))

    def _step(self) -> None:
        if self._trip and self._trip[0][0] <= self._now:
            self.floor = self._trip.pop(0)[1]
            self._tell("floor", floor=self.floor)
            if not self._trip:
                self._arrive()
        for side, door in self.doors.items():
            if self._door_due(door) > self._now:
                continue
            if door.state == "opening":
                dwell = 0.0 if door.hold_until < 0 else self.timing.dwell_s
                self._set_door(side, "open", self._now + dwell)
            elif door.state == "open" and "crossing" in self.robots.values():
                door.until = self._now + max(self.timing.dwell_s, 0.1)  # light curtain broken
            elif door.state == "open":
                self._set_door(side, "closing", self._now + self.timing.close_s)
            elif door.state == "closing" and "crossing" in self.robots.values():
                self._open(side)
            else:
                self._set_door(side, "closed", math.inf)
                self._go_on()

    def _arrive(self) -> None:
        self.motion = "stopped"
        self._tell("arrived", floor=self.floor)
        self._go_on()

    def _go_on(self) -> None:
        """Standing with every door shut: answer a call here, or leave for the next one."""
        if self.motion != "stopped" or not self.shut():
            return
        here = [call for call in self.calls if call.floor == self.floor]
        for call in here:
            self._drop(call, "served")
            self._open(call.side)
        if self.mode == "fire" and self.floor == 0:
            self._open(self.floors[0].sides[0])
        target = 0 if self.mode == "fire" else self._next_stop()
        if self.shut() and target is not None and target != self.floor:
            self._leave(target)

    def _next_stop(self) -> int | None:
        """Nearest call along the way; else the farthest one for the way back; else turn round."""
        for up in (self._up, not self._up):
            ahead = [call for call in self.calls if (call.floor > self.floor) == up]
            along = [c.floor for c in ahead if c.direction in (None, "up" if up else "down")]
            if along:
                return min(along, key=lambda floor: abs(floor - self.floor))
            if ahead:
                return max((c.floor for c in ahead), key=lambda floor: abs(floor - self.floor))
        return None

    def _leave(self, target: int) -> None:
        self._up = target > self.floor
        height = [floor.height_m for floor in self.floors]
        distance = abs(height[target] - height[self.floor])
        total = self.timing.travel_s(distance)
        step = 1 if self._up else -1
        for index in range(self.floor + step, target + step, step):
            part = abs(height[index] - height[self.floor]) / distance if distance else 1.0
            self._trip.append((self._now + total * part, index))
        self.motion = "up" if self._up else "down"
        self._tell("moving", motion=self.motion, floor=self.floor, target=target)

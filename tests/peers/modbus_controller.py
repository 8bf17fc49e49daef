"""Elevators behind Modbus TCP: one unit each, as a lift maker's gateway box would show them.

Addresses are counted from 0. `i` = floor index from 0, at most 8 floors, doors at the front only.

coils (FC01, FC05)
    0+i hall call up    16+i hall call down    32+i car call
    48 door open    49 door close    50 cancel all hall calls
        pulses: write 1; the device acts on it and clears it by itself after 300 ms / speed
    51 robot mode: a level, 1 claims and 0 releases (which ends the holds too)
discrete inputs (FC02)
    0 door at its open limit    1 door at its closed limit    2 moving    3 going up
    4 robot in the car (sensor)    5 mode normal (or robot)    6 maintenance    7 fire
    16+i lamp hall call up    32+i lamp hall call down    48+i lamp car call
holding registers (FC03, FC06, FC16)
    0 door hold: written n holds an open door for n seconds, read what is left of it; 0 ends it
    1 fence, low word    2 fence, high word    3 number of the last command
        A coil of 1 or a hold written while the fence is below the highest one that any earlier
        command bore is refused with exception 3. Write 1 and 2 together (FC16).
input registers (FC04)
    0 floor index    1 door: 0 closed, 1 opening, 2 open, 3 closing
    2 mode: 0 normal, 1 robot, 2 attendant, 3 maintenance, 4 fire, 5 emergency, 6 out of service
    3 load in percent

Unused coils and inputs in between read 0, writing one is exception 2; an absent unit is
exception 11. What the lift itself does not
take (a hold with the door shut, any command in fire mode) is taken by the bus all the same and has
no effect, as on a real box: only reading back tells. `--fire-unit N` adds a unit whose discrete
input 0 is 1 while there is no fire.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import signal
import time
from functools import partial

from car import Car, Refused, Timing, parse_floors
from pymodbus import FramerType
from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from record import Record, SideChannel, ready, tell_truth

MAX_FLOORS = 8
PULSE_S = 0.3
TICK_S = 0.01
HALL_UP, HALL_DOWN, CAR_CALL = 0, 16, 32  # coils
DOOR_OPEN, DOOR_CLOSE, CANCEL_HALL, ROBOT_MODE = 48, 49, 50, 51  # coils
LAMP_UP, LAMP_DOWN, LAMP_CAR = 16, 32, 48  # discrete inputs
HOLD, FENCE_LOW, FENCE_HIGH, COMMAND = 0, 1, 2, 3  # holding registers
DOOR_STATES = ("closed", "opening", "open", "closing")
MODE_NUMBERS = ("normal", "robot", "attendant", "maintenance", "fire", "emergency",
                "out_of_service")
READS = (1, 2, 3, 4)
BITS = 64


class Unit:
    """One elevator and its registers. Every method runs on the server's event loop."""

    def __init__(self, elevator_id: str, floors, timing: Timing, record: Record, start: int = 0,
                 now: float | None = None):
        if len(floors) > MAX_FLOORS or any(floor.sides != ("front",) for floor in floors):
            raise ValueError(f"floors: at most {MAX_FLOORS}, front side only")
        self.elevator_id, self.record = elevator_id, record
        self.pulse_s = PULSE_S / timing.speed
        now = time.monotonic() if now is None else now
        self.car = Car(floors, timing, now=now, start=start, on_change=self._changed)
        self.pulses: dict[int, float] = {}  # coil -> when it clears itself
        self.holding = [0, 0, 0, 0]
        self.highest_fence = 0

    def coils(self, now: float) -> list[bool]:
        bits = [False] * BITS
        self.pulses = {coil: off for coil, off in self.pulses.items() if off > now}
        for coil in self.pulses:
            bits[coil] = True
        bits[ROBOT_MODE] = self.car.mode == "robot"
        return bits

    def discrete_inputs(self) -> list[bool]:
        car, bits = self.car, [False] * BITS
        door = car.doors["front"].state
        bits[0:4] = [door == "open", door == "closed", car.motion != "stopped", car.motion == "up"]
        bits[4:8] = [car.robot_inside(), car.mode in ("normal", "robot"),
                     car.mode == "maintenance", car.mode == "fire"]
        lamps = {("hall", "up"): LAMP_UP, ("hall", "down"): LAMP_DOWN, ("car", None): LAMP_CAR}
        for call in car.calls:
            bits[lamps[call.kind, call.direction] + call.floor] = True
        return bits

    def holding_registers(self) -> list[int]:
        return [math.ceil(self.car.hold_left_s("front")), *self.holding[1:]]

    def input_registers(self) -> list[int]:
        car = self.car
        door = DOOR_STATES.index(car.doors["front"].state)
        return [car.floor, door, MODE_NUMBERS.index(car.mode), car.load_pct()]

    def write_coil(self, coil: int, on: bool, now: float) -> ExcCodes | None:
        self.car.advance(now)
        act = self._deed(coil, on)
        if act is None:
            return ExcCodes.ILLEGAL_ADDRESS
        if on and not self._fence_holds("coil", coil, now):
            return ExcCodes.ILLEGAL_VALUE
        self._command("coil", coil, int(on), act, now)
        if coil != ROBOT_MODE and on:
            self.pulses[coil] = now + self.pulse_s
        elif coil != ROBOT_MODE:
            self.pulses.pop(coil, None)
        return None

    def write_registers(self, first: int, values: list[int], now: float) -> ExcCodes | None:
        """Fence and command number first, so that one FC16 over all four is one whole command."""
        self.car.advance(now)
        written = dict(enumerate(values, first))
        for register in (FENCE_LOW, FENCE_HIGH, COMMAND):
            if register in written:
                self.holding[register] = written[register]
        if HOLD in written:
            if not self._fence_holds("holding", HOLD, now):
                return ExcCodes.ILLEGAL_VALUE
            act = partial(self.car.hold_door, "front", written[HOLD])
            self._command("holding", HOLD, written[HOLD], act, now)
            self.car.advance(now)
        return None

    def _deed(self, coil: int, on: bool):
        """What a coil does, None if there is no such coil. A pulse written 0 does nothing."""
        car, floor = self.car, coil % 16
        if coil == ROBOT_MODE:
            return car.claim if on else car.release
        if coil >= DOOR_OPEN:
            deed = {DOOR_OPEN: car.open_door, DOOR_CLOSE: car.close_door,
                    CANCEL_HALL: car.cancel_hall}.get(coil)
        elif floor >= len(car.floors):
            deed = None
        elif coil < HALL_DOWN:
            deed = partial(car.hall_call, floor, "front", "up")
        elif coil < CAR_CALL:
            deed = partial(car.hall_call, floor, "front", "down")
        else:
            deed = partial(car.car_call, floor, "front")
        return deed if on or deed is None else lambda: None

    def fence(self) -> int:
        return self.holding[FENCE_HIGH] << 16 | self.holding[FENCE_LOW]

    def _fence_holds(self, table: str, address: int, now: float) -> bool:
        if self.fence() >= self.highest_fence:
            self.highest_fence = self.fence()
            return True
        self._note("stale_fence", now, table=table, address=address, highest=self.highest_fence)
        return False

    def _command(self, table: str, address: int, value: int, act, now: float) -> None:
        self._note("command", now, table=table, address=address, value=value)
        try:
            act()
        except Refused as why:
            self._note("refused", now, table=table, address=address, detail=str(why))

    def _note(self, what: str, now: float, **fields) -> None:
        self.record.write(what, now, elevator_id=self.elevator_id, fence=self.fence(),
                          command_number=self.holding[COMMAND], **fields)

    def _changed(self, at: float, kind: str, fields: dict) -> None:
        shown = dict(fields)
        if call := shown.get("call"):
            shown["call"] = [call.kind, self.car.floors[call.floor].label, call.direction]
        for key in ("floor", "target"):
            if key in shown:
                shown[key] = self.car.floors[shown[key]].label
        self.record.write(kind, at, elevator_id=self.elevator_id, **shown)


def device(unit_id: int, unit: Unit) -> SimDevice:
    """The unit as pymodbus wants it: four tables, and one function that is asked each time."""

    async def action(function, _start, address, _count, registers, values):
        now = time.monotonic()
        if values is None:
            if function in READS:  # the echo of a write reads what was written, not the device
                unit.car.advance(now)
                registers[:-1] = image(function, now)
            return None
        if function == 5:
            return unit.write_coil(address, bool(values[0]), now)
        if function in (6, 16):
            return unit.write_registers(address, list(values), now)
        return ExcCodes.ILLEGAL_FUNCTION

    def image(function: int, now: float) -> list[int]:
        if function == 3:
            return unit.holding_registers()
        if function == 4:
            return unit.input_registers()
        return words(unit.coils(now) if function == 1 else unit.discrete_inputs())

    return SimDevice(unit_id, simdata=tables(), action=action)


def fire_device(unit_id: int, clear: list[bool]) -> SimDevice:
    """The zone's fire input: discrete input 0 is 1 while there is no fire."""

    async def action(function, _start, _address, _count, registers, values):
        if values is not None or function != 2:
            return ExcCodes.ILLEGAL_FUNCTION
        registers[0] = int(clear[0])
        return None

    return SimDevice(unit_id, simdata=tables(), action=action)


def absent_device() -> SimDevice:
    """pymodbus asks unit 0 for every unit that is not there: nobody answers behind the box."""

    async def action(*_asked):
        return ExcCodes.GATEWAY_NO_RESPONSE

    return SimDevice(0, simdata=tables(), action=action)


def tables() -> tuple:
    bits = partial(SimData, 0, count=BITS, values=False, datatype=DataType.BITS)
    regs = partial(SimData, 0, count=4, values=0, datatype=DataType.REGISTERS)
    return [bits()], [bits()], [regs()], [regs()]


def words(bits: list[bool]) -> list[int]:
    """Sixteen bits to a word, the lowest address in the lowest bit."""
    cut = [bits[i : i + 16] for i in range(0, len(bits), 16)]
    return [sum(bit << n for n, bit in enumerate(part)) for part in cut]


async def serve(args: argparse.Namespace) -> None:
    record = Record(args.record)
    timing = Timing(ride_s=args.ride_s, speed=args.speed, hold_max_s=args.hold_max_s)
    floors = parse_floors(args.floors)
    start = [floor.label for floor in floors].index(args.start or floors[0].label)
    units = {number: Unit(name, floors, timing, record, start) for number, name in args.unit}
    clear = [True]
    devices = [absent_device()] + [device(number, unit) for number, unit in units.items()]
    if args.fire_unit is not None:
        devices.append(fire_device(args.fire_unit, clear))
    host, _, port = args.listen.rpartition(":")
    framer = FramerType.RTU if args.framing == "rtu_over_tcp" else FramerType.SOCKET
    server = ModbusTcpServer(devices, framer=framer, address=(host, int(port)))
    await server.serve_forever(background=True)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    async def told(message: dict) -> dict:
        if "zone_fire" in message:
            clear[0] = not message["zone_fire"]
            record.write("zone_fire", fire=bool(message["zone_fire"]))
            return {}
        name = message.get("elevator_id")
        named = [unit for unit in units.values() if name in (None, unit.elevator_id)]
        if len(named) != 1:
            raise ValueError(f"elevator_id: {name!r} names {len(named)} units")
        named[0].car.advance(time.monotonic())
        return tell_truth(named[0].car, message)

    def ask(message: dict) -> dict:  # on the side channel's thread
        return asyncio.run_coroutine_threadsafe(told(message), loop).result(timeout=5)

    side = SideChannel(args.side_listen, ask) if args.side_listen else None
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    bound = server.transport.sockets[0].getsockname()
    ready(modbus=f"{bound[0]}:{bound[1]}", side=side.address if side else None,
          units={str(number): name for number, name in args.unit})
    while not stop.is_set():
        for unit in units.values():
            unit.car.advance(time.monotonic())
        try:
            await asyncio.wait_for(stop.wait(), TICK_S)
        except TimeoutError:
            pass
    if side:
        await asyncio.to_thread(side.close)
    await server.shutdown()


def unit_option(text: str) -> tuple[int, str]:
    number, _, name = text.partition("=")
    if not name or not 1 <= int(number) <= 247:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1..247=ELEVATOR")
    return int(number), name


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--listen", default="127.0.0.1:1502", help="HOST:PORT, port 0 = any")
    p.add_argument("--framing", choices=("tcp", "rtu_over_tcp"), default="tcp")
    p.add_argument("--unit", type=unit_option, action="append", help="1=EL001, may be repeated")
    p.add_argument("--fire-unit", type=int, help="unit number of the zone's fire input")
    p.add_argument("--floors", default="1F,2F,3F,4F,5F,6F", help="LABEL[@HEIGHT_M],... at most 8")
    p.add_argument("--start", help="floor label where the cars stand at first")
    p.add_argument("--speed", type=float, default=1.0, help="divides travel, door and pulse times")
    p.add_argument("--ride-s", type=float, help="fixed travel time instead of the physics")
    p.add_argument("--hold-max-s", type=float, default=10.0)
    p.add_argument("--side-listen", help="HOST:PORT of the side channel, port 0 = any")
    p.add_argument("--record", help="file of JSON lines to append to")
    args = p.parse_args()
    args.unit = args.unit or [(1, "EL001")]
    asyncio.run(serve(args))


if __name__ == "__main__":
    main()

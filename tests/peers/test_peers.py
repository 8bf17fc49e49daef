"""The controllers themselves: the MQTT controller's duties of wire.md section 6 against a real
Mosquitto, and the Modbus map through a pymodbus client."""

import time
import unittest

from broker import Broker, find_mosquitto
from car import Timing, parse_floors
from modbus_controller import Unit
from mqtt_client import Client
from peer_process import Peer
from pymodbus.client import ModbusTcpClient
from record import Record


@unittest.skipUnless(find_mosquitto(), "mosquitto is not installed")
class MqttControllerTest(unittest.TestCase):
    """Speed 20: doors 0.1 s and 0.15 s, dwell 0.2 s, one floor 0.21 s."""

    BASE = "hallcall/v1/demo/elevators/EL001"

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker(["gw-1", "EL001"])
        cls.addClassCleanup(cls.broker.close)

    def setUp(self):
        self.sent = 0
        self.gateway = Client(self.broker.address, "gw-1")
        self.addCleanup(self.gateway.close)
        self.gateway.subscribe(f"{self.BASE}/event")

    def start(self, *options):
        return Peer(self, "controller.py", "--broker", self.broker.address, "--password", "EL001",
                    "--speed", "20", *options)

    def command(self, command, command_id=None, *, retain=False, **fields):
        self.sent += 1
        command_id = command_id or f"c-{self.sent}"
        self.gateway.publish(f"{self.BASE}/command", {
            "message_id": f"m-{self.sent}", "elevator_id": "EL001", "order_id": "T-1",
            "command_id": command_id, "fence": 7, "command": command, "floor": None, "side": None,
            "direction": None, "hold_s": None, "expires_in_s": 5, **fields}, retain=retain)
        return command_id

    def event(self, event, command_id=None, since=0, within_s=10, **fields):
        def wanted(heard):
            said = heard.json()
            return (said["event"] == event
                    and command_id in (None, said.get("command_id"))
                    and all(said.get(key) == value for key, value in fields.items()))
        return self.gateway.wait_for(wanted, within_s, since).json()

    def answers(self, command_id):
        said = [heard.json() for heard in self.gateway.heard]
        return [(s["event"], s["detail"]) for s in said
                if s.get("command_id") == command_id and s["event"] != "state"]

    def query(self):
        """The one answer to a query; whatever was answered before it has arrived by then."""
        return self.event("state", self.command("query"))

    def test_snapshot_at_start_and_at_least_every_5_s(self):
        self.start("--floors", "1F,2F,3F", "--start", "2F")
        first = self.event("state")
        shown = {key: first[key] for key in
                 ("seq", "floor", "door", "motion", "mode", "occupied", "calls")}
        self.assertEqual(shown, {"seq": 1, "floor": "2F", "door": "closed", "motion": "stopped",
                                 "mode": "normal", "occupied": None, "calls": []})
        self.event("state", since=1, within_s=5.5)

    def test_a_query_is_answered_by_one_state_and_nothing_else(self):
        self.start()
        asked = self.command("query", fence=0)
        self.event("state", asked)
        self.query()
        said = [heard.json() for heard in self.gateway.heard]
        self.assertEqual([s["event"] for s in said if s.get("command_id") == asked], ["state"])

    def test_accepted_then_seen_then_done(self):
        """T-LIFT-42: accepted is not done."""
        self.start()
        call = self.command("hall_call", floor="3F", side="front", direction="up")
        self.event("done", call)
        said = [h.json() for h in self.gateway.heard]
        kinds = [s["event"] for s in said if s["event"] != "state"]
        self.assertEqual(kinds, ["accepted", "moving", "arrived", "door_open", "done"])
        registered = [s["calls"] for s in said if s["event"] == "state" and s["motion"] == "up"]
        self.assertEqual(registered[0], [
            {"kind": "hall", "floor": "3F", "side": "front", "direction": "up"}])
        open_at = self.event("door_open")
        self.assertEqual((open_at["floor"], open_at["door"], open_at["motion"]),
                         ("3F", "open", "stopped"))

    def test_seq_grows_by_one_and_a_new_boot_starts_anew(self):
        first = self.start()
        self.event("done", self.command("car_call", floor="2F", fence=1))
        first.stop()
        before = [h.json() for h in self.gateway.heard]
        self.assertEqual([s["seq"] for s in before], list(range(1, len(before) + 1)))
        self.start()
        after = self.event("state", since=len(before))
        self.assertEqual(after["seq"], 1)
        self.assertNotEqual(after["boot_id"], before[0]["boot_id"])

    def test_a_known_command_id_is_answered_again_and_not_carried_out_again(self):
        """T-LIFT-27: a second press is not another call."""
        peer = self.start()
        call = self.command("car_call", floor="2F")
        self.event("done", call)
        self.event("door_closed")
        self.command("car_call", call, floor="5F")  # the id rules, whatever else it carries
        self.assertEqual(self.query()["floor"], "2F")
        self.assertEqual(self.answers(call), [("accepted", None), ("done", None), ("done", None)])
        self.assertEqual(len(peer.record("call_on")), 1)

    def test_a_stale_fence_is_refused(self):
        """T-LIFT-06: a command of the former owner must not move the car."""
        peer = self.start()
        self.event("state", self.command("query", fence=8))  # the new owner's fence is known
        old = self.command("car_call", floor="4F", fence=7)
        self.query()
        self.assertEqual(self.answers(old), [("failed", "stale_fence")])
        self.assertEqual(peer.record("moving"), [])
        self.event("done", self.command("car_call", floor="2F", fence=8))

    def test_an_expired_command_is_refused(self):
        """Counted from its receipt: this controller takes 0.4 s to come to it."""
        peer = self.start("--lag-s", "0.4")
        late = self.command("car_call", floor="4F", expires_in_s=0.2)
        self.event("failed", late, detail="expired")
        self.assertEqual(peer.record("moving"), [])
        self.event("accepted", self.command("car_call", floor="4F", expires_in_s=5))
        self.assertEqual(self.answers(late), [("failed", "expired")])

    def test_a_retained_command_is_never_carried_out(self):
        self.addCleanup(self.gateway.publish, f"{self.BASE}/command", "", retain=True)
        kept = self.command("car_call", floor="4F", retain=True)
        peer = self.start()
        self.assertEqual(self.query()["motion"], "stopped")
        self.assertEqual(self.answers(kept), [])
        self.assertEqual([(c["command_id"], c["retained"]) for c in peer.record("command")][0],
                         (kept, True))

    def test_what_was_sent_while_it_was_away_is_not_waiting(self):
        """Clean session: no command of yesterday (T-LIFT-21 from the other side)."""
        self.start().stop()
        self.command("car_call", floor="4F")
        peer = self.start()
        self.query()
        self.assertEqual([c["command"] for c in peer.record("command")], ["query"])

    def test_a_hold_lapses_after_hold_s_and_the_door_shuts_by_itself(self):
        peer = self.start()
        self.event("done", self.command("open_door", floor="1F", side="front"))
        self.event("done", self.command("hold_door", floor="1F", side="front", hold_s=1))
        self.event("door_closed")
        held, closing = peer.record("hold")[0], peer.record("door_closing")[0]
        self.assertAlmostEqual(closing["mono_s"] - held["mono_s"], 1.0, delta=0.05)

    def test_claim_and_release(self):
        self.start()
        self.event("done", self.command("claim"))
        self.assertEqual(self.query()["mode"], "robot")
        self.event("done", self.command("release"))
        self.assertEqual(self.query()["mode"], "normal")

    def test_cancel_call_withdraws_the_hall_call(self):
        self.start("--ride-s", "20")
        call = self.command("hall_call", floor="6F", side="front", direction="down")
        self.event("accepted", call)
        self.event("done", self.command("cancel_call", floor="6F", side="front"))
        self.assertEqual(self.query()["calls"], [])
        self.assertEqual(self.answers(call), [("accepted", None), ("failed", "cancelled")])

    def test_what_cannot_be_done_is_failed_and_says_why(self):
        peer = self.start()
        cases = [
            ("hall_call", {"floor": "9F", "direction": "up"}, "unknown_floor 9F"),
            ("hall_call", {"floor": "2F"}, "direction None is not up or down"),
            ("car_call", {}, "floor missing"),
            ("car_call", {"floor": "2F", "side": "rear"}, "unknown_side rear"),
            ("hold_door", {"hold_s": 5}, "door_not_open"),
            ("hold_door", {"hold_s": 0}, "hold_s 0 is not 1 to 60"),
            ("open_door", {"floor": "3F"}, "not_at 3F"),
            ("jump", {}, "unknown command 'jump'"),
            ("car_call", {"floor": "2F", "elevator_id": "EL002"}, "another elevator's command"),
        ]
        for command, fields, detail in cases:
            with self.subTest(command=command, **fields):
                sent = self.command(command, **fields)
                self.event("failed", sent)
                self.assertEqual(self.answers(sent), [("failed", detail)])
        self.gateway.publish(f"{self.BASE}/command", b"{not json")
        self.assertEqual(self.query()["motion"], "stopped")
        self.assertEqual(len(peer.record("unreadable")), 1)

    def test_fire_mode_drops_calls_and_answers_only_query_and_release(self):
        """T-LIFT-50: the lift's own safety is never overridden."""
        peer = self.start("--ride-s", "20")
        call = self.command("hall_call", floor="6F", side="front", direction="down")
        self.event("accepted", call)
        self.assertTrue(peer.tell(mode="fire")["ok"])
        self.event("failed", call, detail="mode")
        self.event("failed", self.command("car_call", floor="2F"), detail="mode_fire")
        self.event("done", self.command("release"))
        self.assertEqual(self.query()["mode"], "fire")

    def test_the_sensor_tells_of_the_robot_inside(self):
        peer = self.start("--presence", "robot")
        self.assertIs(self.query()["occupied"], False)
        self.event("done", self.command("open_door"))
        self.assertTrue(peer.tell(robot_id="R001", where="crossing")["ok"])
        self.assertTrue(peer.tell(robot_id="R001", where="in")["ok"])
        self.event("state", occupied=True, load_pct=40)
        self.assertTrue(peer.tell(robot_id="R001", where="out")["ok"])
        self.assertIs(self.query()["occupied"], False)
        self.assertFalse(peer.tell(robot_id="R001", where="roof")["ok"])
        self.assertEqual(peer.record("violation"), [])

    def test_people_and_faults_come_over_the_side_channel(self):
        peer = self.start()
        self.assertEqual(peer.tell(press="3F", direction="up")["calls"], 1)
        self.event("door_open", floor="3F")
        self.assertTrue(peer.tell(doors_stuck=True)["ok"])
        stuck = self.command("close_door")
        self.event("accepted", stuck)
        self.assertEqual(self.query()["door"], "open")
        self.assertTrue(peer.tell(doors_stuck=False)["ok"])
        self.event("done", stuck)

    def test_two_doors_are_shown_by_side(self):
        self.start("--floors", "1F=front+rear,2F")
        self.assertEqual(self.query()["doors"], {"front": "closed", "rear": "closed"})
        self.event("done", self.command("open_door", floor="1F", side="rear"))
        self.assertEqual(self.event("door_open")["side"], "rear")
        self.assertEqual(self.query()["doors"]["front"], "closed")


class ModbusUnitTest(unittest.TestCase):
    def test_a_pulse_reads_1_for_300_ms(self):
        unit = Unit("EL001", parse_floors("1F,2F"), Timing(), Record(None), now=0.0)
        unit.write_coil(48, True, 1.0)
        self.assertIs(unit.coils(1.29)[48], True)
        self.assertIs(unit.coils(1.31)[48], False)


class ModbusControllerTest(unittest.TestCase):
    """Speed 20: pulses clear themselves after 15 ms, one floor takes 0.21 s."""

    FRAMING = "tcp"

    def setUp(self):
        self.peer = Peer(self, "modbus_controller.py", "--listen", "127.0.0.1:0", "--speed", "20",
                         "--unit", "1=EL001", "--unit", "2=EL002", "--fire-unit", "9",
                         "--floors", "1F,2F,3F", "--framing", self.FRAMING)
        port = int(self.peer.ready["modbus"].rpartition(":")[2])
        framer = {"tcp": "socket", "rtu_over_tcp": "rtu"}[self.FRAMING]
        self.bus = ModbusTcpClient("127.0.0.1", port=port, framer=framer, timeout=3, retries=0)
        self.assertTrue(self.bus.connect())
        self.addCleanup(self.bus.close)

    def inputs(self, first, count, unit=1):
        return self.bus.read_discrete_inputs(first, count=count, device_id=unit).bits[:count]

    def coils(self, first, count):
        return self.bus.read_coils(first, count=count, device_id=1).bits[:count]

    def holding(self):
        return self.bus.read_holding_registers(0, count=4, device_id=1).registers

    def seen(self, unit=1):
        return self.bus.read_input_registers(0, count=4, device_id=unit).registers

    def pulse(self, coil, unit=1):
        """None, or the number of the exception."""
        answer = self.bus.write_coil(coil, True, device_id=unit)
        return answer.exception_code if answer.isError() else None

    def until(self, read, wanted):
        deadline = time.monotonic() + 20
        while (got := read()) != wanted:  # each read is a round trip: the bus sets the pace
            if time.monotonic() > deadline:
                self.fail(f"read {got}, not {wanted}")

    def test_at_rest(self):
        self.assertEqual(self.inputs(0, 8), [False, True, False, False, False, True, False, False])
        self.assertEqual(self.seen(), [0, 0, 0, 0])
        self.assertEqual(self.holding(), [0, 0, 0, 0])
        self.assertEqual(self.coils(0, 64), [False] * 64)

    def test_hall_call_lights_its_lamp_and_brings_the_car(self):
        self.assertIsNone(self.pulse(2))  # up at 3F
        self.assertEqual([n for n, on in enumerate(self.inputs(0, 64)) if on], [1, 2, 3, 5, 18])
        self.until(self.seen, [2, 2, 0, 0])  # third floor, door open
        self.assertEqual([n for n, on in enumerate(self.inputs(0, 64)) if on], [0, 5])
        self.assertIsNone(self.pulse(32 + 0))  # car call to 1F
        self.assertEqual([n for n, on in enumerate(self.inputs(16, 48), 16) if on], [48])
        self.assertIsNone(self.pulse(49))  # close
        self.until(self.seen, [0, 2, 0, 0])

    def test_calls_down_have_lamps_of_their_own(self):
        self.assertIsNone(self.pulse(16 + 1))
        self.assertEqual([n for n, on in enumerate(self.inputs(16, 48), 16) if on], [33])
        self.assertIsNone(self.pulse(50))  # cancel
        self.assertEqual(self.inputs(16, 48), [False] * 48)

    def test_a_pulse_clears_itself_and_a_level_stays(self):
        self.assertIsNone(self.pulse(51))
        self.assertIsNone(self.pulse(48))
        self.until(lambda: self.coils(48, 4), [False, False, False, True])
        self.assertEqual(self.seen()[2], 1)  # robot mode
        self.assertTrue(self.inputs(5, 1)[0])
        self.bus.write_coil(51, False, device_id=1)
        self.assertEqual((self.coils(51, 1), self.seen()[2]), ([False], 0))

    def test_hold_counts_down_and_the_door_then_shuts_by_itself(self):
        self.pulse(48)
        self.until(lambda: self.seen()[1], 2)
        self.assertFalse(self.bus.write_register(0, 2, device_id=1).isError())
        self.assertEqual(self.holding()[0], 2)
        self.until(lambda: self.holding()[0], 1)
        self.assertEqual(self.seen()[1], 2)
        self.until(lambda: self.holding()[0], 0)
        self.until(lambda: self.seen()[1], 0)
        self.until(lambda: len(self.peer.record("door_closed")), 1)
        held, closing = self.peer.record("hold")[0], self.peer.record("door_closing")[0]
        self.assertAlmostEqual(closing["mono_s"] - held["mono_s"], 2.0, delta=0.05)

    def test_a_hold_of_a_shut_door_has_no_effect(self):
        answer = self.bus.write_register(0, 5, device_id=1)
        self.assertEqual(answer.registers, [5])  # the bus echoes what it was told
        self.assertEqual(self.holding()[0], 0)  # only reading back tells
        self.assertEqual(self.peer.record("refused")[0]["detail"], "door_not_open")

    def test_fence_below_an_earlier_command_is_exception_3(self):
        fence = 0x0002_0001
        self.bus.write_registers(1, [fence & 0xFFFF, fence >> 16, 41], device_id=1)
        self.assertIsNone(self.pulse(32 + 1))
        self.bus.write_registers(1, [0xFFFF, 1, 42], device_id=1)
        self.assertEqual(self.pulse(32 + 2), 3)
        self.assertEqual(self.bus.write_register(0, 5, device_id=1).exception_code, 3)
        fields = ("fence", "command_number", "address")
        done = [tuple(entry[field] for field in fields) for entry in self.peer.record("command")]
        self.assertEqual(done, [(fence, 41, 33)])
        self.assertEqual(len(self.peer.record("stale_fence")), 2)

    def test_what_is_not_there_is_an_exception(self):
        self.assertEqual(self.pulse(3), 2)  # there are three floors
        self.assertEqual(self.pulse(52), 2)
        self.assertEqual(self.bus.write_register(4, 1, device_id=1).exception_code, 2)
        self.assertEqual(self.bus.write_coils(0, [True], device_id=1).exception_code, 1)
        self.assertEqual(self.pulse(0, unit=7), 11)

    def test_units_are_elevators_of_their_own(self):
        self.pulse(32 + 2, unit=2)
        self.until(lambda: self.seen(unit=2), [2, 2, 0, 0])
        self.assertEqual(self.seen(unit=1), [0, 0, 0, 0])
        self.assertTrue(self.peer.tell(elevator_id="EL002", robot_id="R1", where="in")["ok"])
        self.assertEqual((self.inputs(4, 1, unit=2), self.inputs(4, 1)), ([True], [False]))
        self.assertEqual(self.seen(unit=2)[3], 40)

    def test_modes_and_the_fire_input(self):
        self.assertEqual(self.inputs(0, 1, unit=9), [True])
        self.peer.tell(zone_fire=True)
        self.assertEqual(self.inputs(0, 1, unit=9), [False])
        for number, mode in ((4, "fire"), (3, "maintenance"), (6, "out_of_service")):
            self.peer.tell(elevator_id="EL001", mode=mode)
            self.assertEqual(self.seen()[2], number)
            self.assertEqual(self.inputs(5, 3), [False, mode == "maintenance", mode == "fire"])


class ModbusRtuOverTcpTest(ModbusControllerTest):
    FRAMING = "rtu_over_tcp"


if __name__ == "__main__":
    unittest.main()

"""examples/robot.py against a gateway played by hand: does it keep the robot's rules of wire.md?

That the robot did not cross is proved by its next question: it asks only while it stands.
"""

import itertools
import subprocess
import sys
import time
import unittest
from pathlib import Path

from broker import Broker, find_mosquitto
from mqtt_client import Client
from peer_process import Peer

HERE = Path(__file__).resolve().parent
ROBOT = HERE.parents[1] / "examples" / "robot.py"
BASE = "hallcall/v1/demo"
ENTER = {"state": "ELEVATOR_ARRIVED", "instruction": "enter", "floor": "1F"}
EXIT = {"state": "TARGET_ARRIVED", "instruction": "exit", "floor": "6F"}
numbers = itertools.count(1)


@unittest.skipUnless(find_mosquitto(), "mosquitto is not installed")
class RobotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.robots = [f"R{n:03}" for n in range(1, 41)]
        cls.broker = Broker(["gw-1", "EL001", *cls.robots])
        cls.addClassCleanup(cls.broker.close)

    def setUp(self):
        self.robot = self.robots[next(numbers) % len(self.robots)]
        self.mine, self.order = f"{BASE}/robots/{self.robot}", f"T-{self.robot}"
        self.gateway = Client(self.broker.address, "gw-1")
        self.addCleanup(self.gateway.close)
        self.gateway.subscribe(f"{self.mine}/#")
        self.online("ONLINE")
        self.read = 0

    def start(self, *options, program=ROBOT):
        command = [sys.executable, str(program), "--broker", self.broker.address, "--robot",
                   self.robot, "--password", self.robot, "--order", self.order, "--from", "1F",
                   "--to", "6F:front", "--cross-s", "0.2", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, self.process)

    def end(self, process):
        process.kill()
        process.wait(5)

    def exit_status(self, within_s=20):
        return self.process.wait(within_s)

    def online(self, state):
        self.gateway.publish(f"{BASE}/gateways/gw-1/connection",
                             {"message_id": "g", "connection_state": state}, retain=True)

    def says(self, topic, event=None, within_s=10):
        """The robot's next message of that kind, whatever else it says meanwhile."""
        def wanted(heard):
            return (heard.topic == f"{self.mine}/{topic}" and not heard.retained
                    and (event is None or heard.json()["event"] == event))
        heard = self.gateway.wait_for(wanted, within_s, self.read)
        self.read = self.gateway.heard.index(heard) + 1
        self.said_at = heard.at
        return heard.json()

    def ride(self, seq, **fields):
        return {"order_id": self.order, "seq": seq, "elevator_id": "EL001", "fence": 17,
                "valid_s": 5, "reason": None, **fields}

    def state(self, seq, *, retain=True, **fields):
        self.gateway.publish(f"{self.mine}/ride/state", self.ride(seq, **fields), retain=retain)

    def reply(self, to, seq, result="accepted", **fields):
        self.gateway.publish(f"{self.mine}/ride/reply", {
            "in_reply_to": to["message_id"], "result": result, "code": None, "detail": None,
            "retry_after_s": None, **self.ride(seq, **fields)})

    def arrive(self, *options, **program):
        """Up to the first question whether it may enter."""
        self.start(*options, **program)
        self.reply(self.says("ride/request"), 1, state="QUEUED", instruction="wait")
        self.state(2, **ENTER)
        self.reply(self.says("ride/event", "at_door"), 2, **ENTER)
        return self.says("ride/event", "query")

    def enter(self):
        self.reply(self.arrive(), 2, **ENTER)
        entered = self.says("ride/event", "entered")
        self.reply(entered, 3, state="ROBOT_ENTERED", instruction="ride")
        return entered

    def test_a_whole_ride(self):
        entered = self.enter()
        self.assertEqual((entered["order_id"], entered["fence"]), (self.order, 17))
        self.state(4, state="RUNNING", instruction="ride")
        self.state(5, **EXIT)
        self.reply(self.says("ride/event", "query"), 5, **EXIT)
        exited = self.says("ride/event", "exited")
        self.assertEqual(exited["fence"], 17)
        self.reply(exited, 6, state="ROBOT_EXITED", instruction="clear")
        self.assertEqual(self.exit_status(), 0)
        kinds = [heard.topic.removeprefix(f"{self.mine}/") for heard in self.gateway.heard]
        self.assertLess(kinds.index("connection"), kinds.index("ride/request"))
        reader = Client(self.broker.address, "gw-1")
        self.addCleanup(reader.close)
        reader.subscribe(f"{self.mine}/connection")
        kept = reader.wait_for(lambda heard: heard.retained).json()
        self.assertEqual(kept["connection_state"], "OFFLINE")

    def test_the_request_as_wire_md_wants_it(self):
        self.start("--elevators", "EL001,EL002")
        said = self.says("ride/request")
        self.assertEqual((said["from"], said["to"]),
                         ({"floor": "1F"}, {"floor": "6F", "side": "front"}))
        self.assertEqual((said["order_id"], said["elevators"]), (self.order, ["EL001", "EL002"]))
        self.assertTrue(said["message_id"] and said["timestamp"])

    def test_what_is_not_answered_is_said_again_with_its_message_id(self):
        self.start()
        first = self.says("ride/request")
        said_at = self.said_at
        self.assertEqual(self.says("ride/request"), first)
        self.assertAlmostEqual(self.said_at - said_at, 5, delta=0.5)
        self.reply(first, 1, result="duplicate", state="CANCELLED", instruction="clear")
        self.assertEqual(self.exit_status(), 1)

    def test_retry_after_s_is_honoured(self):
        for code in ("UNAVAILABLE", "QUEUE_FULL", "RATE_LIMITED"):
            with self.subTest(code=code):
                self.setUp()
                self.start()
                first = self.says("ride/request")
                said_at = self.said_at
                self.reply(first, None, "rejected", code=code, retry_after_s=1.5, state=None)
                again = self.says("ride/request")
                self.assertAlmostEqual(self.said_at - said_at, 1.5, delta=0.4)
                self.assertEqual(again["order_id"], first["order_id"])
                self.assertEqual(again["from"], first["from"])
                self.end(self.process)

    def test_a_refused_request_ends_it(self):
        self.start()
        self.reply(self.says("ride/request"), None, "rejected", code="UNKNOWN_FLOOR", state=None)
        self.assertEqual(self.exit_status(), 1)

    def test_a_kept_state_is_no_permission(self):
        self.state(9, **ENTER)  # kept from yesterday, same order: the worst case
        self.start()
        self.reply(self.says("ride/request"), 9, "duplicate", **ENTER)
        for _ in range(2):
            self.reply(self.says("ride/event", "query"), 10, state="HOLD", instruction="wait")
            self.state(11, **ENTER)
        self.reply(self.says("ride/event", "query"), 11, **ENTER)
        self.says("ride/event", "entered")

    def test_a_late_answer_is_none(self):
        """The time counts from the question, and valid_s is the reply's own."""
        question = self.arrive()
        time.sleep(0.8)  # the thing under test: an answer this old
        self.reply(question, 2, **ENTER | {"valid_s": 0.7})
        self.reply(self.says("ride/event", "query"), 2, **ENTER | {"valid_s": 0.7})
        self.says("ride/event", "entered")

    def test_an_answer_older_than_the_newest_state_is_none(self):
        question = self.arrive()
        self.state(5, **ENTER)
        self.reply(question, 4, **ENTER)
        self.reply(self.says("ride/event", "query"), 5, **ENTER)
        self.says("ride/event", "entered")

    def test_stay_approach_and_unknown_words_are_no_permission(self):
        question = self.arrive()
        for seq, word in enumerate(("stay", "approach", "dance", None, "exit"), 3):
            self.reply(question, seq, state="ELEVATOR_ARRIVED", instruction=word)
            self.state(seq, **ENTER)
            question = self.says("ride/event", "query")
        self.reply(question, 7, **ENTER)
        self.says("ride/event", "entered")

    def test_another_orders_answer_is_none(self):
        question = self.arrive()
        self.reply(question, 9, **ENTER | {"order_id": "T-other"})
        self.state(9, **ENTER | {"order_id": "T-other"})
        self.state(3, state="QUEUED", instruction="wait")
        self.state(4, **ENTER)
        self.reply(self.says("ride/event", "query"), 4, **ENTER)
        self.says("ride/event", "entered")

    def test_without_a_live_gateway_it_stays(self):
        question = self.arrive()
        self.online("CONNECTIONBROKEN")
        self.reply(question, 2, **ENTER)  # an answer that comes when the gateway is gone
        before = len(self.gateway.heard)
        self.says("status")  # it lives, and says nothing else
        events = [h for h in self.gateway.heard[before:] if h.topic.endswith("ride/event")]
        self.assertEqual(events, [])
        self.online("ONLINE")
        self.reply(self.says("ride/event", "query"), 2, **ENTER)
        self.says("ride/event", "entered")

    def test_what_cannot_be_read_changes_nothing(self):
        question = self.arrive()
        for bad in (b"[" * 100_000, b'{"a":' * 100_000, b"", b"\xff\xfe", b"7", b"[]", b"{}"):
            for topic in (f"{self.mine}/ride/reply", f"{self.mine}/ride/state",
                          f"{BASE}/gateways/gw-1/connection"):
                self.gateway.publish(topic, bad)
        self.state(7, state=["RUNNING"], instruction={}, retain=False)
        self.reply(question, 2, **ENTER)
        self.says("ride/event", "entered")

    def test_heartbeat_within_10_s(self):
        self.arrive()
        self.assertIs(self.says("status")["at_door"], True)
        first = self.said_at
        status = self.says("status", within_s=10)
        self.assertLess(self.said_at - first, 10)
        self.assertIs(status["in_car"], False)

    def test_hold_outside_is_answered_by_cancel_enter(self):
        question = self.arrive()
        self.reply(question, 3, state="HOLD", instruction="stay")
        said = self.says("ride/event", "cancel_enter")
        self.assertEqual(said["fence"], 17)
        self.reply(said, 4, state="FAILED", instruction="clear")
        self.assertEqual(self.exit_status(), 1)

    def test_hold_inside_leaves_only_by_exit(self):
        self.enter()
        self.state(4, state="HOLD", instruction="stay")
        self.state(5, state="HOLD", instruction="exit", floor="3F")
        question = self.says("ride/event", "query")
        self.reply(question, 6, state="HOLD", instruction="stay")
        self.state(7, state="HOLD", instruction="exit", floor="3F")
        self.reply(self.says("ride/event", "query"), 7, state="HOLD", instruction="exit")
        said = self.says("ride/event", "exited")
        self.reply(said, 8, state="FAILED", instruction="clear")
        self.assertEqual(self.exit_status(), 1)

    def test_the_building_robot_tells_the_sensor_where_it_is(self):
        peer = Peer(self, "controller.py", "--broker", self.broker.address, "--password", "EL001",
                    "--presence", "robot")
        peer.tell(press="1F")  # somebody opens the door at 1F
        self.gateway.subscribe(f"{BASE}/elevators/EL001/event")
        self.gateway.wait_for(lambda heard: b'"door_open"' in heard.payload)
        question = self.arrive("--side", peer.ready["side"], program=HERE / "building_robot.py")
        self.reply(question, 2, **ENTER)
        self.says("ride/event", "entered")
        told = [(entry["robot_id"], entry["where"]) for entry in peer.record("presence")]
        self.assertEqual(told, [(self.robot, "crossing"), (self.robot, "in")])
        self.assertEqual(peer.record("violation"), [])
        self.gateway.wait_for(lambda heard: b'"occupied": true' in heard.payload)

    def test_every_end_has_its_exit_status(self):
        for state, status in (("CANCELLED", 1), ("EXPIRED", 1), ("FAILED", 1)):
            with self.subTest(state=state):
                self.setUp()
                self.start()
                self.reply(self.says("ride/request"), 1, state="QUEUED", instruction="wait")
                self.state(2, state=state, instruction="clear")
                self.assertEqual(self.exit_status(), status)

    def test_out_of_time_it_cancels_what_waits(self):
        self.start("--timeout-s", "1")
        self.reply(self.says("ride/request"), 1, state="QUEUED", instruction="wait")
        self.reply(self.says("ride/cancel"), 2, state="CANCELLED", instruction="clear")
        self.assertEqual(self.exit_status(), 3)

    def test_its_will_says_that_it_broke(self):
        self.start()
        self.says("ride/request")
        self.process.kill()
        self.read = 0
        while self.says("connection")["connection_state"] != "CONNECTIONBROKEN":
            pass


if __name__ == "__main__":
    unittest.main()

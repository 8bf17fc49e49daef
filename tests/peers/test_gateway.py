"""The real gateway between peers that share no code with it: Mosquitto with the shipped ACL, robots
and an MQTT controller written from wire.md alone, and a pymodbus server in the controller's place.

Ground truth is the controllers' own record: each crossing of a threshold, each command received.
"""

import subprocess
import sys
import time
import unittest
from pathlib import Path

from broker import Broker, find_mosquitto
from gateway_process import ROOT, Gateway, elevator, find_gateway
from mqtt_client import Client
from peer_process import Peer

HERE = Path(__file__).resolve().parent
BASE = "hallcall/v1/demo"
FLOORS = ["1F", "2F", "3F", "4F"]
TIMING = "[timing]\npoll_s = 0.5\nreading_fresh_s = 2\n"
MAP = ROOT / "configs" / "maps" / "example.toml"
RIDE_S = 120


def robot(case, broker, name, side, start, end, *options):
    command = [sys.executable, str(HERE / "building_robot.py"), "--broker", broker.address,
               "--robot", name, "--password", name, "--side", side, "--from", start, "--to", end,
               "--order", f"T-{name}", "--cross-s", "0.5", "--timeout-s", str(RIDE_S), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    case.addCleanup(process.stdout.close)
    case.addCleanup(process.wait, 10)
    case.addCleanup(process.kill)
    return process


@unittest.skipUnless(find_mosquitto() and find_gateway(), "mosquitto or the gateway is missing")
class RideTest(unittest.TestCase):
    robots = ["R001", "R002", "R003"]

    def setUp(self):
        self.broker = Broker(["gw-1", "EL001", "EL002", "operator", *self.robots])
        self.addCleanup(self.broker.close)

    def ride_all(self, gateway, side, trips):
        """All robots ride at once; each must end with exit status 0."""
        running = [(name, robot(self, self.broker, name, side, start, end))
                   for name, (start, end) in zip(self.robots, trips)]
        for name, process in running:
            status = process.wait(RIDE_S + 10)
            self.assertEqual(status, 0, f"{name}: {process.stdout.read()}\n{gateway.log()}")

    def judge(self, controller, elevators, rides):
        """Nobody crossed where no open car stood, never two in a car, fences only grow."""
        self.assertEqual(controller.record("violation"), [])
        commands = controller.record("command")
        self.assertGreater(len(commands), 4 * rides, "the record judges nothing")
        for name in elevators:
            fences = [entry["fence"] for entry in commands
                      if entry.get("elevator_id", name) == name]
            self.assertEqual(fences, sorted(fences), name)

    def ride_mqtt(self, presence, more=""):
        controller = Peer(self, "controller.py", "--broker", self.broker.address, "--elevator",
                          "EL001", "--password", "EL001", "--floors", ",".join(FLOORS),
                          "--presence", presence, "--speed", "5")
        body = TIMING + elevator("EL001", FLOORS, '{ kind = "mqtt" }',
                                 f'presence = "{presence}"\n{more}')
        gateway = Gateway(self, self.broker.address, body)
        gateway.start()
        trips = [("1F", "4F"), ("3F", "1F"), ("2F", "3F")]
        self.ride_all(gateway, controller.ready["side"], trips)
        self.judge(controller, ["EL001"], len(trips))
        self.assertEqual(gateway.stop(), 0)

    def test_three_robots_share_an_mqtt_controller_without_a_sensor(self):
        self.ride_mqtt("none")

    def test_three_robots_share_an_mqtt_controller_with_a_sensor(self):
        self.ride_mqtt("robot")

    def test_a_controller_with_a_robot_mode_is_claimed_and_released(self):
        self.ride_mqtt("robot", "claim = true")

    def test_three_robots_ride_two_elevators_behind_pymodbus(self):
        controller = Peer(self, "modbus_controller.py", "--listen", "127.0.0.1:0", "--unit",
                          "1=EL001", "--unit", "2=EL002", "--floors",
                          ",".join(FLOORS), "--speed", "5", "--fire-unit", "9")
        address = controller.ready["modbus"]
        driver = '{{ kind = "modbus_tcp", bus = "b1", unit = {}, map = "%s" }}' % MAP
        body = TIMING + "".join(
            elevator(name, FLOORS, driver.format(unit), 'presence = "robot"')
            for unit, name in ((1, "EL001"), (2, "EL002")))
        body += f'[[buses]]\nid = "b1"\naddress = "{address}"\n'
        gateway = Gateway(self, self.broker.address, body)
        gateway.start()
        trips = [("1F", "4F"), ("3F", "1F"), ("2F", "3F")]
        self.ride_all(gateway, controller.ready["side"], trips)
        self.judge(controller, ["EL001", "EL002"], len(trips))
        self.assertEqual(gateway.stop(), 0)


STATES = ["QUEUED", "GRANTED", "WAITING_HALL_CALL", "ELEVATOR_ARRIVED", "ROBOT_ENTERED", "RUNNING",
          "TARGET_ARRIVED"]


@unittest.skipUnless(find_mosquitto() and find_gateway(), "mosquitto or the gateway is missing")
class KillTest(unittest.TestCase):
    """AT-LIFT-13: kill -9 in each ride state, then a restart (what of it concerns one process)."""

    def kill_at(self, state):
        broker = Broker(["gw-1", "EL001", "operator", "R001", "R002"])
        self.addCleanup(broker.close)
        controller = Peer(self, "controller.py", "--broker", broker.address, "--elevator", "EL001",
                          "--password", "EL001", "--floors", ",".join(FLOORS), "--presence",
                          "robot", "--ride-s", "3", "--lag-s", "0.2")
        body = TIMING + elevator("EL001", FLOORS, '{ kind = "mqtt" }', 'presence = "robot"')
        gateway = Gateway(self, broker.address, body)
        gateway.start()
        watcher = Client(broker.address, "gw-1", client_id="watcher")
        self.addCleanup(watcher.close)
        watcher.subscribe(f"{BASE}/robots/+/ride/state")
        side = controller.ready["side"]
        first = None
        if state == "QUEUED":  # somebody else has the car meanwhile
            first = robot(self, broker, "R002", side, "2F", "4F")
            self.wait_state(watcher, "R002", "WAITING_HALL_CALL")
        rider = robot(self, broker, "R001", side, "1F", "3F")
        seen = self.wait_state(watcher, "R001", state)
        gateway.kill()
        before = len(controller.record("command"))
        gateway.start()
        after = self.wait_news(watcher, "R001", seen["seq"])
        if state != "QUEUED":
            self.assertEqual((after["elevator_id"], after["fence"]),
                             (seen["elevator_id"], seen["fence"]), "another owner after the kill")
        status = rider.wait(RIDE_S + 10)
        self.assertEqual(status, 0, f"{rider.stdout.read()}\n{gateway.log()}")
        if first is not None:
            self.assertEqual(first.wait(RIDE_S + 10), 0)
        commands = controller.record("command")[before:]
        self.assertEqual(commands[0]["command"], "query", "a read comes first")
        self.assertEqual(controller.record("violation"), [])
        entries = [entry for entry in controller.record("presence")
                   if entry["robot_id"] == "R001" and entry["where"] == "in"]
        self.assertEqual(len(entries), 1, "an order rides once")

    def test_kill_in_hold(self):
        """A robot that says it cannot leave is in HOLD before and after, and nobody gets the car."""
        broker = Broker(["gw-1", "EL001", "operator", "R001"])
        self.addCleanup(broker.close)
        controller = Peer(self, "controller.py", "--broker", broker.address, "--elevator", "EL001",
                          "--password", "EL001", "--floors", ",".join(FLOORS))
        gateway = Gateway(self, broker.address,
                          TIMING + elevator("EL001", FLOORS, '{ kind = "mqtt" }'))
        gateway.start()
        watcher = Client(broker.address, "gw-1", client_id="watcher")
        self.addCleanup(watcher.close)
        watcher.subscribe(f"{BASE}/robots/+/ride/state")
        rider = Client(broker.address, "R001")
        self.addCleanup(rider.close)

        def say(topic, **fields):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            rider.publish(f"{BASE}/robots/R001/ride/{topic}",
                          {"timestamp": now, "order_id": "T-1", **fields})

        say("request", message_id="m-1", **{"from": {"floor": "1F"}, "to": {"floor": "3F"}})
        arrived = self.wait_state(watcher, "R001", "ELEVATOR_ARRIVED")
        say("event", message_id="m-2", event="cancel_exit", fence=arrived["fence"])
        held = self.wait_state(watcher, "R001", "HOLD")
        gateway.kill()
        before = len(controller.record("command"))
        gateway.start()
        after = self.wait_for(watcher, "R001", lambda view: view["seq"] > held["seq"])
        self.assertEqual((after["state"], after["elevator_id"], after["fence"]),
                         ("HOLD", "EL001", arrived["fence"]))
        self.assertEqual(gateway.elevator("EL001")["owner"]["robot_id"], "R001")
        self.assertEqual(controller.record("command")[before]["command"], "query")
        refused = gateway.command("order", "cancel", "T-1", "--operator", "op", "--reason", "test")
        self.assertEqual(refused.returncode, 7, refused.stdout + refused.stderr)

    def wait_state(self, watcher, name, state):
        return self.wait_for(watcher, name, lambda view: view["state"] == state)

    def wait_news(self, watcher, name, seq):
        return self.wait_for(watcher, name, lambda view: view["seq"] > seq)

    def wait_for(self, watcher, name, wanted):
        topic = f"{BASE}/robots/{name}/ride/state"
        found = watcher.wait_for(lambda heard: heard.topic == topic and not heard.retained
                                 and heard.payload and wanted(heard.json()), within_s=60)
        return found.json()

    def test_kill_in_each_state(self):
        for state in STATES:
            with self.subTest(state):
                self.kill_at(state)


if __name__ == "__main__":
    unittest.main()

"""The shipped Mosquitto files against a real Mosquitto: who may say and hear what.

That a thing does not arrive is proved by something later that does: a marker, or the answer to a
subscription. Version 5 clients are told "not authorized" (reason 135): that gives whole tables.
"""

import unittest

from broker import Broker, find_mosquitto
from mqtt_client import Client, Refused

BASE = "hallcall/v1/demo"
NOT_AUTHORIZED = 135
USERS = ["gw-1", "R001", "R002", "EL001", "EL002", "app-1", "dev-1", "operator", "+", "R#"]

ROBOT_SAYS = ["ride/request", "ride/event", "ride/cancel", "status", "connection"]
GATEWAY_SAYS = [
    "site", "robots/R001/ride/reply", "robots/R001/ride/state", "elevators/EL001/state",
    "elevators/EL001/command", "ops/alarm", "ops/alarms", "gateways/gw-1/connection",
    "clients/app-1/reply", "devices/dev-1/command", "devices/dev-1/state",
]
GATEWAY_HEARS = [
    *(f"robots/R001/{says}" for says in ROBOT_SAYS), "elevators/EL001/event",
    "clients/app-1/request", "devices/dev-1/event",
]
# user -> the topics below the base it may publish on, out of all that there are
MAY_SAY = {
    "gw-1": GATEWAY_SAYS,
    "R001": [f"robots/R001/{says}" for says in ROBOT_SAYS],
    "R002": [],
    "EL001": ["elevators/EL001/event"],
    "EL002": [],
    "app-1": ["clients/app-1/request"],
    "dev-1": ["devices/dev-1/event"],
    "operator": [],
    "+": [],
    "R#": [],
}
# user -> the topics below the base it may hear
MAY_HEAR = {
    "gw-1": [*GATEWAY_HEARS, "robots/R001/ride/state", "elevators/EL001/state", "site",
             "devices/dev-1/state", "ops/alarm", "ops/alarms", "gateways/gw-1/connection"],
    "R001": ["robots/R001/ride/request", "robots/R001/ride/event", "robots/R001/ride/cancel",
             "robots/R001/ride/reply", "robots/R001/ride/state", "site",
             "gateways/gw-1/connection"],
    "R002": ["site", "gateways/gw-1/connection"],
    "EL001": ["elevators/EL001/command", "site", "gateways/gw-1/connection"],
    "EL002": ["site", "gateways/gw-1/connection"],
    "app-1": ["clients/app-1/reply", "site", "gateways/gw-1/connection"],
    "dev-1": ["devices/dev-1/command", "site", "gateways/gw-1/connection"],
    "operator": ["elevators/EL001/state", "devices/dev-1/state", "ops/alarm", "ops/alarms", "site",
                 "gateways/gw-1/connection"],
    "+": [],
    "R#": [],
}
ALL_TOPICS = sorted({*GATEWAY_SAYS, *GATEWAY_HEARS})


@unittest.skipUnless(find_mosquitto(), "mosquitto is not installed")
class AclTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = Broker(USERS)
        cls.addClassCleanup(cls.broker.close)

    def client(self, user, **more):
        client = Client(self.broker.address, user, **more)
        self.addCleanup(client.close)
        return client

    def test_each_user_says_only_what_is_its_own(self):
        for user, allowed in MAY_SAY.items():
            client = self.client(user, v5=True)
            for topic in ALL_TOPICS:
                with self.subTest(user=user, topic=topic):
                    code = client.publish(f"{BASE}/{topic}", "x")
                    self.assertEqual(code != NOT_AUTHORIZED, topic in allowed)

    def test_nobody_says_anything_outside_the_base(self):
        for user in ("R001", "EL001", "gw-1", "operator"):
            client = self.client(user, v5=True)
            for topic in ("x", "hallcall/v1/x", "hallcall/v2/demo/robots/R001/ride/request",
                          "$SYS/broker/uptime", f"{BASE}/robots/R001/ride/request/x",
                          f"{BASE}/robots/{user}/ride/x", "hallcall/v1//robots/R002/status"):
                with self.subTest(user=user, topic=topic):
                    self.assertEqual(client.publish(topic, "x"), NOT_AUTHORIZED)

    def test_each_user_hears_only_what_is_its_own(self):
        """B6 case 2: subscribing to # or $share is granted and brings nothing foreign."""
        hears = {}
        for user in MAY_HEAR:
            for share in ("", "$share/spy-{}/"):
                client = self.client(user)
                prefix = share.format(user.strip("+#"))
                client.subscribe(f"{prefix}#", *([] if share else ["$SYS/#", f"{BASE}/#"]))
                hears.setdefault(user, []).append(client)
        sayer = {topic: self.client(user) for user, says in MAY_SAY.items() for topic in says}
        for topic in ALL_TOPICS:
            sayer[topic].publish(f"{BASE}/{topic}", "x")
        for user, clients in hears.items():
            for client in clients:
                with self.subTest(user=user):
                    client.subscribe("answered/after/all/that/was/sent/before")
                    got = {h.topic for h in client.heard if not h.topic.startswith("$SYS")}
                    self.assertEqual(got, {f"{BASE}/{topic}" for topic in MAY_HEAR[user]})
                    system = [h.topic for h in client.heard if h.topic.startswith("$SYS")]
                    self.assertTrue(user == "operator" or not system)

    def test_kept_states_of_others_are_not_shown(self):
        gateway = self.client("gw-1")
        for robot in ("R001", "R002"):
            gateway.publish(f"{BASE}/robots/{robot}/ride/state", robot, retain=True)
        gateway.publish(f"{BASE}/site", "kept", retain=True)
        robot = self.client("R001")
        robot.subscribe(f"{BASE}/robots/+/ride/state", f"{BASE}/site")
        robot.wait_for(lambda heard: heard.payload == b"kept" and heard.retained)
        states = [heard.payload for heard in robot.heard if heard.topic.endswith("ride/state")]
        self.assertEqual(states, [b"R001"])
        for topic in ("robots/R001/ride/state", "robots/R002/ride/state", "site"):
            gateway.publish(f"{BASE}/{topic}", "", retain=True)

    def test_a_will_obeys_the_same_rules(self):
        """B6 case 17: no robot declares another one's connection broken."""
        gateway = self.client("gw-1")
        gateway.subscribe(f"{BASE}/robots/+/connection")
        for topic in ("robots/R002/connection", "robots/R001/connection"):
            Client(self.broker.address, "R001", will=(f"{BASE}/{topic}", topic)).break_off()
        gateway.wait_for(lambda heard: heard.payload == b"robots/R001/connection")
        self.assertEqual([h.payload for h in gateway.heard], [b"robots/R001/connection"])

    def test_any_site_name_but_only_the_own_id(self):
        robot = self.client("R001", v5=True)
        for site in ("demo", "Haus_7.b", "x" * 64):
            for robot_id in ("R001", "R002"):
                code = robot.publish(f"hallcall/v1/{site}/robots/{robot_id}/status", "x")
                self.assertEqual(code != NOT_AUTHORIZED, robot_id == "R001")

    def test_no_password_no_entry(self):
        for user, password in ((None, None), ("R001", "wrong"), ("R001", ""), ("R009", "R009")):
            with self.subTest(user=user), self.assertRaises(Refused):
                Client(self.broker.address, user, password)

    def test_a_message_of_a_mebibyte_reaches_the_gateway(self):
        """wire.md section 2: the gateway must see what is too large, to answer it."""
        gateway, robot = self.client("gw-1"), self.client("R001")
        gateway.subscribe(f"{BASE}/robots/+/ride/request")
        robot.publish(f"{BASE}/robots/R001/ride/request", b"x" * 1_000_000)
        heard = gateway.wait_for(lambda heard: True)
        self.assertEqual(len(heard.payload), 1_000_000)


@unittest.skipUnless(find_mosquitto(), "mosquitto is not installed")
class SessionTest(unittest.TestCase):
    def test_what_robots_say_waits_for_the_gateway_over_a_broker_restart(self):
        """The gateway's session outlives itself and the broker, with the ACL in force."""
        broker = Broker(["gw-1", "R001", "R002"])
        self.addCleanup(broker.close)
        topic = f"{BASE}/robots/+/ride/request"
        gateway = Client(broker.address, "gw-1", client_id="gw-1-in", clean=False)
        gateway.subscribe(topic)
        gateway.close()
        robot = Client(broker.address, "R001")
        for number in range(300):  # more than max_inflight_messages
            robot.publish(f"{BASE}/robots/R001/ride/request", f"{number}")
            robot.publish(f"{BASE}/robots/R002/ride/request", "forged")
        robot.close()
        broker.stop()
        broker.start()
        gateway = Client(broker.address, "gw-1", client_id="gw-1-in", clean=False)
        self.addCleanup(gateway.close)
        gateway.wait_for(lambda heard: heard.payload == b"299")
        self.assertEqual([h.payload for h in gateway.heard], [b"%d" % n for n in range(300)])

    def test_with_user_name_as_client_id_no_session_is_taken_over(self):
        """B6 case 19: the setting of the robots' listener."""
        broker = Broker(["R001", "R002"], username_as_clientid=True)
        self.addCleanup(broker.close)
        victim = Client(broker.address, "R002", client_id="R002", v5=True)
        self.addCleanup(victim.close)
        thief = Client(broker.address, "R001", client_id="R002", v5=True)
        self.addCleanup(thief.close)
        self.assertLess(thief.publish(f"{BASE}/robots/R001/status", "x"), 128)
        self.assertLess(victim.publish(f"{BASE}/robots/R002/status", "x"), 128)
        again = Client(broker.address, "R002", client_id="other", v5=True)
        self.addCleanup(again.close)
        victim.wait_lost()  # one user name, one connection


if __name__ == "__main__":
    unittest.main()

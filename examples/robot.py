#!/usr/bin/env python3
"""One robot that asks hallcall for a ride and keeps all the rules that docs/wire.md gives a robot.

    pip install paho-mqtt
    python3 robot.py --robot R001 --from 1F --to 6F

Exit status: 0 ride done, 1 refused, cancelled, expired or failed, 2 wrong options, 3 out of time.
"""

import argparse
import json
import queue
import sys
import time
import uuid
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

REPEAT_S, HEARTBEAT_S, ASK_AGAIN_S = 5, 5, 1  # wire.md: repeat every 5 s, status within 10 s
TRY_LATER = ("UNAVAILABLE", "QUEUE_FULL", "RATE_LIMITED")
ENDED = {"ROBOT_EXITED": 0, "CANCELLED": 1, "EXPIRED": 1, "FAILED": 1}  # state -> exit status
NOWHERE = object()


class Robot:
    def __init__(self, args):
        self.args, self.inbox = args, queue.Queue(1000)
        self.order = args.order or f"T-{uuid.uuid4().hex[:12]}"
        self.mine = f"{args.root}/{args.site}/robots/{args.robot}"
        self.gateway = f"{args.root}/{args.site}/gateways/{args.gateway}/connection"
        self.gateway_online = False  # not known to live: it permits nothing
        self.ride, self.seq = {}, 0  # the live order as the newest message shows it
        self.inside = self.was_inside = self.late = False  # where the robot really is
        self.permit, self.crossing_until = None, None  # under way over a threshold, by which reply
        self.at_door_of, self.told_hold = NOWHERE, None
        self.unanswered = {}  # message_id -> {topic, fields, body, sent, due}
        self.query, self.ask_at, self.status_at = None, 0, 0
        self.exit_status = None
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=args.robot)
        self.client.username_pw_set(args.username or args.robot, args.password)
        will = json.dumps(message(connection_state="CONNECTIONBROKEN"))
        self.client.will_set(f"{self.mine}/connection", will, 1, True)
        self.client.on_connect, self.client.on_disconnect = self.on_connect, self.on_disconnect
        self.client.on_message = lambda _c, _u, m: self.inbox.put((m.topic, m.payload))

    def on_connect(self, client, _userdata, _flags, reason, _properties):
        if reason.is_failure:
            print(f"broker refuses: {reason}", file=sys.stderr, flush=True)
            return
        topics = (f"{self.mine}/ride/reply", f"{self.mine}/ride/state", self.gateway)
        client.subscribe([(topic, 1) for topic in topics])
        self.publish("connection", message(connection_state="ONLINE"), retain=True)

    def on_disconnect(self, *_):
        self.inbox.put((self.gateway, b'{"connection_state":"CONNECTIONBROKEN"}'))

    def publish(self, topic, body, qos=1, retain=False):
        return self.client.publish(f"{self.mine}/{topic}", json.dumps(body), qos, retain)

    # --- What it says ---

    def say(self, topic, wait_s=0, **fields):
        """A request, event or cancel; `repeat` sends it until the gateway has replied to it."""
        body = message(order_id=self.order, **fields)
        word = {"topic": topic, "fields": fields, "body": body, "sent": None}
        self.unanswered[body["message_id"]] = word | {"due": time.monotonic() + wait_s}
        return body["message_id"]

    def say_event(self, event, ride):
        fence = {} if ride.get("fence") is None else {"fence": ride["fence"]}  # of this very grant
        return self.say("ride/event", event=event, **fence)

    def repeat(self, now):
        """The broker's PUBACK says nothing about the gateway: again until it replies itself."""
        for word in self.unanswered.values():
            if word["due"] <= now:
                word["sent"] = word["sent"] or now  # a permission's age counts from the first
                word["due"] = now + REPEAT_S
                self.publish(word["topic"], word["body"])
        if now >= self.status_at:
            self.status_at = now + HEARTBEAT_S
            at_door = self.at_door_of is not NOWHERE and not self.was_inside
            self.publish("status", message(at_door=at_door, in_car=self.inside), qos=0)

    # --- What it hears ---

    def hear(self, topic, heard, now):
        if topic == self.gateway:
            self.gateway_online = heard["connection_state"] == "ONLINE"
        elif topic.endswith("/state"):
            if self.take(heard):  # fresh, kept or late: it says where the ride stands, no more
                shown = ("seq", "state", "instruction", "elevator_id", "floor", "reason")
                print(*[heard.get(key) for key in shown], flush=True)
        elif word := self.unanswered.pop(heard.get("in_reply_to"), None):
            self.hear_reply(word, heard, now)

    def take(self, ride):
        """Only the live order, and nothing older than the highest `seq` seen for it."""
        if ride.get("order_id") != self.order or (ride.get("seq") or 0) < max(self.seq, 1):
            return False
        if not isinstance(ride.get("state"), str):
            raise TypeError("a ride without a state")
        self.ride, self.seq = ride, ride["seq"]
        return True

    def hear_reply(self, word, reply, now):
        newest, body = self.take(reply), word["body"]
        asked = body["message_id"] == self.query
        if asked:
            self.query, self.ask_at = None, now + (reply.get("retry_after_s") or ASK_AGAIN_S)
        if reply["result"] == "rejected":
            what = body.get("event", word["topic"])
            print(f"{what} rejected: {reply['code']} {reply.get('detail')}", flush=True)
            if reply["code"] in TRY_LATER and not asked:
                self.say(word["topic"], reply.get("retry_after_s") or REPEAT_S, **word["fields"])
            elif word["topic"] == "ride/request":
                self.exit_status = 1
        # The one place where it gets leave to move: the fresh answer to its own question.
        fresh = now - word["sent"] < (reply.get("valid_s") or 0)
        wanted = "exit" if self.inside else "enter"
        if asked and newest and fresh and self.gateway_online and reply["instruction"] == wanted:
            self.permit, self.crossing_until = reply, now + self.args.cross_s
            self.move("crossing")

    # --- What it does ---

    def move(self, where):
        """Here a real robot drives: `crossing` the threshold, then `in` or `out`."""
        print(f"robot {where}", flush=True)

    def act(self, now):
        """`wait`, `ride`, `stay`, `clear` and every word it does not know: it crosses nothing."""
        state, told, elevator = (self.ride.get(k) for k in ("state", "instruction", "elevator_id"))
        out_again = self.was_inside and not self.inside
        if self.crossing_until is not None:
            if now >= self.crossing_until:  # and it never stops half way
                self.crossing_until, self.status_at = None, now
                self.inside, self.was_inside = not self.inside, True
                self.move("in" if self.inside else "out")
                self.say_event("entered" if self.inside else "exited", self.permit)
        elif state in ENDED:
            self.exit_status = ENDED[state]
        elif state == "HOLD" and not self.inside:
            if self.told_hold != self.seq:  # somebody must know that it stands outside
                self.told_hold = self.seq
                self.say_event("exited" if out_again else "cancel_enter", self.ride)
        elif told in ("approach", "enter") and not self.was_inside and self.at_door_of != elevator:
            self.at_door_of, self.status_at = elevator, now  # it drives to the door that was named
            self.say_event("at_door", self.ride)
        elif told == ("exit" if self.inside else "enter") and not out_again:
            may_ask = self.gateway_online and (self.inside or not self.late)
            if may_ask and self.query is None and now >= self.ask_at:
                self.query = self.say_event("query", self.ride)

    def give_up(self):
        """Out of time: ends what can be ended from outside; inside a car it can only wait."""
        self.late = True
        if not self.was_inside and self.crossing_until is None:
            if self.ride.get("state") in ("ELEVATOR_ARRIVED", "HOLD"):
                self.say_event("cancel_enter", self.ride)
            else:
                self.say("ride/cancel", reason="out of time")

    def run(self):
        host, _, port = self.args.broker.rpartition(":")
        self.client.connect_async(host, int(port), keepalive=10)
        self.client.loop_start()
        ends = {"from": landing(self.args.from_), "to": landing(self.args.to)}
        allowed = self.args.elevators.split(",") if self.args.elevators else []
        self.say("ride/request", **ends, elevators=allowed, at_door=False, eta_s=0)
        end = time.monotonic() + self.args.timeout_s
        while self.exit_status is None and not (self.late and time.monotonic() >= end):
            try:
                topic, payload = self.inbox.get(timeout=0.05)
                self.hear(topic, json.loads(payload), time.monotonic())
            except queue.Empty:
                pass
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as why:
                print(f"not understood: {why!r}", file=sys.stderr, flush=True)
            now = time.monotonic()
            self.act(now)
            if self.client.is_connected():
                self.repeat(now)
            if now >= end and not self.late:
                end = now + 2 * REPEAT_S  # time to hear that the ride is ended
                self.give_up()
        if self.client.is_connected():
            offline = message(connection_state="OFFLINE")
            self.publish("connection", offline, retain=True).wait_for_publish(REPEAT_S)
        self.client.disconnect()
        self.client.loop_stop()
        return 3 if self.late else self.exit_status


def message(**fields):
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return {"message_id": uuid.uuid4().hex, "timestamp": now, **fields}


def landing(text):
    return dict(zip(("floor", "side"), text.split(":")))


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--broker", default="127.0.0.1:1883", metavar="HOST:PORT")
    p.add_argument("--site", default="demo")
    p.add_argument("--root", default="hallcall/v1")
    p.add_argument("--gateway", default="gw-1", help="id of the gateway")
    p.add_argument("--robot", default="R001", help="robot id: also client id and user name")
    p.add_argument("--username", help="the robot id if left out")
    p.add_argument("--password")
    p.add_argument("--from", dest="from_", required=True, metavar="FLOOR[:SIDE]")
    p.add_argument("--to", required=True, metavar="FLOOR[:SIDE]")
    p.add_argument("--order", help="order id; a new one if left out")
    p.add_argument("--elevators", help="comma separated; any if left out")
    p.add_argument("--cross-s", type=float, default=3, help="how long crossing a threshold takes")
    p.add_argument("--timeout-s", type=float, default=600, help="for the whole ride")
    return p


if __name__ == "__main__":
    sys.exit(Robot(options().parse_args()).run())

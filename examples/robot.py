#!/usr/bin/env python3
"""One robot that asks hallcall for a ride and keeps all the rules that docs/wire.md gives a robot.

    pip install paho-mqtt
    python3 robot.py --robot R001 --from 1F --to 6F

Exit status: 0 ride done, 1 refused, cancelled, expired or failed, 2 wrong options, 3 out of time.
"""
import argparse, json, queue, sys, time, uuid  # noqa: E401
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

REPEAT_S, HEARTBEAT_S, ASK_AGAIN_S = 5, 5, 1  # wire.md: repeat every 5 s, status within 10 s
TRY_LATER = ("UNAVAILABLE", "QUEUE_FULL", "RATE_LIMITED")
GIVEN_UP = ("CANCELLED", "EXPIRED", "FAILED")


class Robot:
    def __init__(self, args):
        self.args, self.order, self.inbox = args, args.order or f"T-{uuid.uuid4().hex[:12]}", queue.Queue(1000)
        self.mine = f"{args.root}/{args.site}/robots/{args.robot}"
        self.gateway_topic = f"{args.root}/{args.site}/gateways/{args.gateway}/connection"
        self.gateway_online = False  # not known to live = it may permit nothing
        self.ride, self.seq, self.exit_status = {}, 0, None
        self.inside = self.was_inside = False  # where the robot really is
        self.crossing_until = self.permit = None  # under way over a threshold, and by which reply
        self.at_door_of = self.told_hold = self.query = None
        self.unanswered = {}  # message_id -> {topic, body, due, sent}
        self.ask_at = self.status_at = 0.0
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=args.robot)  # clean session
        self.client.username_pw_set(args.username or args.robot, args.password)
        self.client.will_set(f"{self.mine}/connection", json.dumps(self.message(connection_state="CONNECTIONBROKEN")), 1, True)
        self.client.on_connect, self.client.on_disconnect = self.on_connect, self.on_disconnect
        self.client.on_message = lambda _c, _u, m: self.inbox.put((m.topic, m.payload, m.retain))

    # --- What the robot says ---

    def message(self, **fields):
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        return {"message_id": uuid.uuid4().hex, "timestamp": now, **fields}

    def say(self, topic, wait_s=0.0, **fields):
        """Puts a request, event or cancel among the unanswered: `repeat` sends it until a reply comes."""
        body = self.message(order_id=self.order, **fields)
        self.unanswered[body["message_id"]] = {"topic": topic, "body": body, "due": time.monotonic() + wait_s, "sent": None}
        return body["message_id"]

    def say_event(self, event, ride):
        fence = {} if ride.get("fence") is None else {"fence": ride["fence"]}  # the number this grant bears
        return self.say("ride/event", event=event, **fence)

    def repeat(self, now):
        """The broker's PUBACK proves nothing about the gateway: the same message again until answered."""
        for word in self.unanswered.values():
            if word["due"] <= now and self.client.is_connected():
                word["sent"] = word["sent"] or now  # permission counts from the first question
                word["due"] = now + REPEAT_S
                self.client.publish(f"{self.mine}/{word['topic']}", json.dumps(word["body"]), 1)

    def heartbeat(self, now):
        if now >= self.status_at and self.client.is_connected():
            self.status_at = now + HEARTBEAT_S
            status = self.message(at_door=self.at_door_of is not None and not self.inside, in_car=self.inside)
            self.client.publish(f"{self.mine}/status", json.dumps(status), 0)

    def connection(self, state):
        return self.client.publish(f"{self.mine}/connection", json.dumps(self.message(connection_state=state)), 1, True)

    # --- What the robot hears ---

    def on_connect(self, client, _userdata, _flags, reason, _properties):
        if reason.is_failure:
            print(f"broker refuses: {reason}", file=sys.stderr, flush=True)
            return
        client.subscribe([(f"{self.mine}/ride/reply", 1), (f"{self.mine}/ride/state", 1), (self.gateway_topic, 1)])
        self.connection("ONLINE")

    def on_disconnect(self, *_):
        self.inbox.put((self.gateway_topic, b'{"connection_state":"CONNECTIONBROKEN"}', False))

    def hear(self, topic, payload, now):
        heard = json.loads(payload)
        if topic == self.gateway_topic:
            self.gateway_online = heard.get("connection_state") == "ONLINE"
        elif topic.endswith("/ride/state"):
            if self.take(heard):  # kept or fresh: it tells where the ride stands, it permits nothing
                print(*[heard.get(k) for k in ("seq", "state", "instruction", "elevator_id", "floor", "reason")], flush=True)
        elif word := self.unanswered.pop(heard.get("in_reply_to"), None):
            self.answered(word, heard, now)

    def take(self, ride):
        """Only the live order, and only the highest `seq` seen for it."""
        if ride.get("order_id") != self.order or ride.get("seq") is None or ride["seq"] < self.seq:
            return False
        self.ride, self.seq = ride, ride["seq"]
        return True

    def answered(self, word, reply, now):
        asked, code = word["body"]["message_id"] == self.query, reply.get("code")
        if asked:
            self.query, self.ask_at = None, now + max(ASK_AGAIN_S, reply.get("retry_after_s") or 0)
        if reply.get("result") == "rejected":
            print(f"{word['body'].get('event', word['topic'])} rejected: {code} {reply.get('detail')}", flush=True)
            if code in TRY_LATER and not asked:
                again = {k: v for k, v in word["body"].items() if k not in ("message_id", "timestamp", "order_id")}
                self.say(word["topic"], wait_s=reply.get("retry_after_s") or REPEAT_S, **again)
            elif word["topic"] == "ride/request":
                self.exit_status = 1
        newest = self.take(reply)
        # The one place where the robot gets leave to move: a fresh answer to its own question.
        fresh = word["sent"] is not None and now - word["sent"] < (reply.get("valid_s") or 0)
        wanted = "exit" if self.inside else "enter"
        if asked and newest and fresh and self.gateway_online and reply.get("instruction") == wanted:
            self.permit, self.crossing_until = reply, now + self.args.cross_s
            self.move("crossing")

    # --- What the robot does ---

    def move(self, where):
        """Here a real robot drives: `crossing` a threshold, then `in` or `out`."""
        print(f"robot {where}", flush=True)

    def act(self, now):
        state, instruction = self.ride.get("state"), self.ride.get("instruction")
        if self.crossing_until is not None:
            if now >= self.crossing_until:  # it never stops half way: stay means cross no threshold
                self.crossing_until, self.inside, self.was_inside = None, not self.inside, True
                self.move("in" if self.inside else "out")
                self.say_event("entered" if self.inside else "exited", self.permit)
                self.status_at = now
        elif state in GIVEN_UP or state == "ROBOT_EXITED":
            self.exit_status = 1 if state in GIVEN_UP else 0
        elif state == "HOLD" and not self.inside and self.told_hold != self.seq:
            self.told_hold = self.seq  # somebody waits to know that this robot stands outside
            self.say_event("exited" if self.was_inside else "cancel_enter", self.ride)
        elif instruction in ("approach", "enter") and not self.inside and self.at_door_of != (self.ride.get("elevator_id"),):
            self.at_door_of, self.status_at = (self.ride.get("elevator_id"),), now  # drives to the door named
            self.say_event("at_door", self.ride)
        elif instruction == ("exit" if self.inside else "enter") and self.gateway_online and not self.was_out():
            if self.query is None and now >= self.ask_at:
                self.query = self.say_event("query", self.ride)
        # wait, ride, stay, clear and every word it does not know: it crosses nothing.

    def was_out(self):
        return self.was_inside and not self.inside

    def give_up(self):
        """Out of time: says so where that ends something; inside a car it can only wait."""
        if not self.was_inside and self.crossing_until is None:
            if self.ride.get("state") in ("ELEVATOR_ARRIVED", "HOLD"):
                self.say_event("cancel_enter", self.ride)
            else:
                self.say("ride/cancel", reason="out of time")

    def run(self):
        host, _, port = self.args.broker.rpartition(":")
        self.client.connect_async(host, int(port), keepalive=10)
        self.client.loop_start()
        landing = lambda text: dict(zip(("floor", "side"), text.split(":")))  # noqa: E731
        self.say("ride/request", **{"from": landing(self.args.from_), "to": landing(self.args.to)},
                 elevators=self.args.elevators.split(",") if self.args.elevators else [], at_door=False, eta_s=0)
        end, late = time.monotonic() + self.args.timeout_s, False
        while self.exit_status is None and not (late and time.monotonic() >= end):
            try:
                topic, payload, _retained = self.inbox.get(timeout=0.05)
                self.hear(topic, payload, time.monotonic())
            except queue.Empty:
                pass
            except (ValueError, AttributeError) as why:
                print(f"not understood: {why}", file=sys.stderr, flush=True)
            now = time.monotonic()
            self.act(now)
            self.repeat(now)
            self.heartbeat(now)
            if now >= end and not late:
                late, end = True, now + 2 * REPEAT_S  # time to hear that the ride is ended
                self.give_up()
        if self.client.is_connected():
            self.connection("OFFLINE").wait_for_publish(REPEAT_S)
        self.client.disconnect()
        self.client.loop_stop()
        return 3 if late else self.exit_status


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--broker", default="127.0.0.1:1883", help="host:port")
    p.add_argument("--site", default="demo")
    p.add_argument("--root", default="hallcall/v1")
    p.add_argument("--gateway", default="gw-1")
    p.add_argument("--robot", default="R001", help="robot id, also client id and user name")
    p.add_argument("--username"), p.add_argument("--password")
    p.add_argument("--from", dest="from_", required=True, metavar="FLOOR[:SIDE]")
    p.add_argument("--to", required=True, metavar="FLOOR[:SIDE]")
    p.add_argument("--order", help="order id; a new one if left out")
    p.add_argument("--elevators", default="", help="comma separated; any if left out")
    p.add_argument("--cross-s", type=float, default=3.0, help="time it takes to cross a threshold")
    p.add_argument("--timeout-s", type=float, default=600.0, help="for the whole ride")
    return p


if __name__ == "__main__":
    sys.exit(Robot(options().parse_args()).run())

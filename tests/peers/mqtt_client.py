"""A plain MQTT client for tests: everything it heard, in order, and waits that have a deadline."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import NamedTuple

import paho.mqtt.client as mqtt

WAIT_S = 10.0


class Heard(NamedTuple):
    topic: str
    payload: bytes
    retained: bool
    at: float  # monotonic seconds

    def json(self) -> dict:
        return json.loads(self.payload)


class Refused(Exception):
    """The broker did not let it in."""


class Client:
    def __init__(self, address: str, user: str | None, password: str | None = None, *,
                 client_id: str | None = None, v5: bool = False, clean: bool = True,
                 will: tuple[str, str] | None = None):
        self.heard: list[Heard] = []
        self._news = threading.Condition()
        self._acks: dict[int, int] = {}  # packet number -> reason code
        self._connected: int | None = None
        self.lost = False
        protocol = mqtt.MQTTv5 if v5 else mqtt.MQTTv311
        name = client_id or f"{user or 'nobody'}-{id(self):x}"
        more = {} if v5 else {"clean_session": clean}
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name,
                                   protocol=protocol, reconnect_on_failure=False, **more)
        if user is not None:
            self._client.username_pw_set(user, user if password is None else password)
        if will:
            self._client.will_set(*will, qos=1)
        self._client.on_connect = lambda _c, _u, _f, reason, _p: self._set("_connected", reason)
        self._client.on_disconnect = lambda *_: self._set("lost", True)
        self._client.on_message = self._on_message
        self._client.on_publish = lambda _c, _u, mid, reason, _p: self._ack(mid, reason)
        self._client.on_subscribe = lambda _c, _u, mid, reasons, _p: self._ack(mid, reasons[0])
        host, _, port = address.rpartition(":")
        self._client.connect(host, int(port), keepalive=30)
        self._client.loop_start()
        self._until(lambda: self._connected is not None, WAIT_S, "a CONNACK")
        if self._connected.is_failure:
            self.close()
            raise Refused(str(self._connected))

    def subscribe(self, *topics: str) -> None:
        for topic in topics:
            _, mid = self._client.subscribe(topic, qos=1)
            self._until(lambda mid=mid: mid in self._acks, WAIT_S, f"a SUBACK for {topic}")

    def publish(self, topic: str, payload: str | bytes | dict, *, retain: bool = False) -> int:
        """Returns the broker's reason code: below 128 it was taken (version 5 only says no)."""
        if isinstance(payload, dict):
            payload = json.dumps(payload)
        mid = self._client.publish(topic, payload, qos=1, retain=retain).mid
        self._until(lambda: mid in self._acks, WAIT_S, f"a PUBACK for {topic}")
        return self._acks[mid]

    def wait_for(self, wanted, within_s: float = WAIT_S, since: int = 0) -> Heard:
        """The first message from number `since` on that `wanted(heard)` likes."""
        found: list[Heard] = []

        def look() -> bool:
            found[:] = [heard for heard in self.heard[since:] if wanted(heard)]
            return bool(found)

        self._until(look, within_s, "the wanted message")
        return found[0]

    def wait_lost(self) -> None:
        self._until(lambda: self.lost, WAIT_S, "the loss of the connection")

    def break_off(self) -> None:
        """As when the power fails: the broker sees no DISCONNECT and publishes the will."""
        self._client.loop_stop()
        self._client.socket().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _on_message(self, _client, _userdata, message) -> None:
        with self._news:
            heard = Heard(message.topic, message.payload, message.retain, time.monotonic())
            self.heard.append(heard)
            self._news.notify_all()

    def _set(self, name: str, value) -> None:
        with self._news:
            setattr(self, name, value)
            self._news.notify_all()

    def _ack(self, mid: int, reason) -> None:
        with self._news:
            self._acks[mid] = reason.value
            self._news.notify_all()

    def _until(self, ready, within_s: float, what: str) -> None:
        with self._news:
            if not self._news.wait_for(ready, within_s):
                seen = [f"{heard.topic} {heard.payload[:120]!r}" for heard in self.heard[-8:]]
                raise AssertionError(f"{what} did not come within {within_s} s; last: {seen}")

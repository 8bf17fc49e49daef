"""The example robot in a building: it also tells a controller's side channel where it really is.

    python3 building_robot.py --side 127.0.0.1:4711 --from 1F --to 6F ...    (options of robot.py)

So the car has a presence sensor that works, and the controller's record shows every crossing, with
a `violation` for each that met no open car.
"""

import json
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from robot import Robot, options  # noqa: E402


class BuildingRobot(Robot):
    def move(self, where):
        super().move(where)
        host, _, port = self.args.side.rpartition(":")
        truth = {"robot_id": self.args.robot, "where": where,
                 "elevator_id": self.permit["elevator_id"]}
        with socket.create_connection((host, int(port)), timeout=5) as line:
            line.sendall(json.dumps(truth).encode() + b"\n")
            answer = json.loads(line.makefile().readline())
        if not answer["ok"]:
            print(f"side channel: {answer['error']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = options()
    parser.add_argument("--side", required=True, metavar="HOST:PORT")
    sys.exit(BuildingRobot(parser.parse_args()).run())

"""The physics of the peers' car, by tables made by hand."""

import math
import unittest

from car import Car, Floor, Refused, Timing, parse_floors

SIX = [Floor(f"{n}F", ("front",), (n - 1) * 3.5) for n in range(1, 7)]


class CarTest(unittest.TestCase):
    """Doors: 2 s to open, 3 s to close, 4 s of dwell. 3.5 m take 3.5/1.6 + 1.6/0.8 = 4.1875 s."""

    def setUp(self):
        self.log = []
        self.car = self.make(SIX)

    def make(self, floors, start=0, **timing):
        def hear(at, kind, fields):
            self.log.append((round(at, 4), kind))

        return Car(floors, Timing(**timing), start=start, on_change=hear)

    def test_travel_time(self):
        cases = [  # metres, seconds at 1.6 m/s and 0.8 m/s2
            (0.8, 2.0),  # 2 * sqrt(0.8 / 0.8): never reaches top speed
            (3.2, 4.0),  # just reaches it
            (3.5, 4.1875),
            (17.5, 12.9375),
        ]
        for metres, seconds in cases:
            self.assertAlmostEqual(Timing().travel_s(metres), seconds)
        self.assertAlmostEqual(Timing(speed=10).travel_s(17.5), 1.29375)
        self.assertEqual(Timing(ride_s=8, speed=4).travel_s(17.5), 2.0)

    def test_a_hall_call_from_start_to_shut(self):
        self.car.hall_call(1, "front", "up")
        self.car.advance(60)
        self.assertEqual(self.log, [
            (0.0, "call_on"), (0.0, "moving"), (4.1875, "floor"), (4.1875, "arrived"),
            (4.1875, "call_off"), (4.1875, "door_opening"), (6.1875, "door_open"),
            (10.1875, "door_closing"), (13.1875, "door_closed"),
        ])
        self.assertEqual(self.car.next_at(), math.inf)

    def test_time_may_come_in_any_steps(self):
        self.car.hall_call(5, "front", "down")
        self.car.advance(60)
        whole, self.log = self.log, []
        car = self.make(SIX)
        car.hall_call(5, "front", "down")
        for step in range(600):
            car.advance(step / 10)
        self.assertEqual(self.log, whole)

    def test_hold_lapses_and_the_door_then_shuts_by_itself(self):
        self.car.open_door()  # open at 2, would close at 6
        self.car.advance(3)
        self.assertEqual(self.car.hold_door("front", 8), 8)  # until 11
        self.car.advance(10)
        self.assertEqual(self.car.hold_left_s("front"), 1)
        self.car.advance(60)
        self.assertEqual(self.log[-2:], [(11, "door_closing"), (14, "door_closed")])

    def test_hold_is_at_most_hold_max(self):
        self.car.open_door()
        self.car.advance(2)
        self.assertEqual(self.car.hold_door("front", 60), 10)
        self.car.advance(60)
        self.assertIn((12, "door_closing"), self.log)

    def test_hold_while_closing_opens_again(self):
        self.car.open_door()
        self.car.advance(7.5)  # closing since 6: half of 3 s, so half of 2 s to open again
        self.car.hold_door("front", 5)
        self.car.advance(60)
        self.assertEqual(self.log[-5:], [
            (7.5, "door_opening"), (7.5, "hold"), (8.5, "door_open"), (12.5, "door_closing"),
            (15.5, "door_closed"),
        ])

    def test_close_door_ends_hold_and_dwell(self):
        self.car.open_door()
        self.car.advance(3)
        self.car.hold_door("front", 10)
        self.car.close_door()
        self.assertEqual(self.car.doors["front"].state, "closing")
        self.car.advance(60)
        self.assertEqual(self.log[-1], (6, "door_closed"))

    def test_hold_with_the_door_shut_and_open_while_moving_are_refused(self):
        with self.assertRaisesRegex(Refused, "door_not_open"):
            self.car.hold_door("front", 5)
        self.car.car_call(3, "front")
        with self.assertRaisesRegex(Refused, "not_level"):
            self.car.open_door()

    def test_a_robot_in_the_doorway_keeps_it_open(self):
        self.car.open_door()
        self.car.advance(5)
        self.car.robot_is("R1", "crossing")
        self.car.advance(8)
        self.assertEqual(self.car.doors["front"].state, "open")
        self.car.robot_is("R1", "in")  # the light curtain was broken at 6: dwell to 10
        self.car.advance(60)
        self.assertEqual(self.log[-2:], [(10, "door_closing"), (13, "door_closed")])

    def test_violations_of_the_threshold_are_recorded(self):
        self.car.robot_is("R1", "crossing")  # door shut
        self.assertEqual([kind for _, kind in self.log], ["violation", "presence"])
        self.car.robot_is("R1", "in")
        self.car.robot_is("R2", "in")  # a second robot
        self.assertEqual([kind for _, kind in self.log].count("violation"), 2)

    def test_which_call_is_next(self):
        up, down = "up", "down"
        cases = [  # where it stands, calls (floor, direction; None = car call), order of the stops
            (0, [(3, None), (1, None)], [3, 1]),  # left for 3 already: on the way back
            (2, [(4, up), (0, up)], [4, 0]),
            (3, [(1, None), (5, down), (0, up)], [1, 0, 5]),
            (0, [(5, down), (3, down), (4, up)], [5, 3, 4]),  # a call up is not for the way down
        ]
        for start, calls, stops in cases:
            visited = []
            car = Car(SIX, Timing(), start=start)
            car.on_change = lambda at, kind, fields, seen=visited: (
                seen.append(fields["floor"]) if kind == "arrived" else None)
            for floor, direction in calls:
                if direction:
                    car.hall_call(floor, "front", direction)
                else:
                    car.car_call(floor, "front")
            car.advance(1000)
            self.assertEqual(visited, stops, calls)

    def test_cancelled_hall_call_leaves_the_doors_shut(self):
        self.car.hall_call(2, "front", "up")
        self.car.advance(1)
        self.car.cancel_hall()
        self.car.advance(60)
        self.assertEqual(self.log[-1][1], "arrived")
        self.assertTrue(self.car.shut())

    def test_only_the_called_side_opens(self):
        car = self.make(parse_floors("1F,2F@3.5=front+rear"))
        car.car_call(1, "rear")
        car.advance(7)
        self.assertTrue(car.stands_open(1, "rear"))
        self.assertFalse(car.stands_open(1, "front"))
        with self.assertRaisesRegex(Refused, "unknown_side rear"):
            car.car_call(0, "rear")

    def test_fire_recalls_to_the_lowest_floor_and_stays_open(self):
        self.car.car_call(5, "front")
        self.car.advance(1)
        self.car.set_mode("fire")
        self.assertEqual(self.car.calls, [])
        self.car.advance(1000)
        self.assertTrue(self.car.stands_open(0, "front"))
        with self.assertRaisesRegex(Refused, "mode_fire"):
            self.car.car_call(3, "front")
        self.car.set_mode("normal")
        self.car.advance(1010)
        self.assertTrue(self.car.shut())

    def test_release_ends_robot_mode_and_holds(self):
        self.car.claim()
        self.car.open_door()
        self.car.advance(2)
        self.car.hold_door("front", 10)
        self.car.release()
        self.assertEqual(self.car.mode, "normal")
        self.car.advance(60)
        self.assertIn((6, "door_closing"), self.log)

    def test_floor_lists(self):
        self.assertEqual(parse_floors("B1,1F@4.2=rear"),
                         [Floor("B1", ("front",), 0.0), Floor("1F", ("rear",), 4.2)])
        for wrong in ("", "1F,1F", "1F@3,2F@3", "1F=left"):
            with self.assertRaisesRegex(ValueError, "floors"):
                parse_floors(wrong)


if __name__ == "__main__":
    unittest.main()

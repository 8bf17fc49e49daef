//! The example of each message: that of `wire.md` where it has one, else one by its text.

use serde_json::{Value, json};

pub(crate) fn examples() -> Vec<(&'static str, Value)> {
    let alarm = json!({"type":"ops.alarm","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
        "source":"gateway/gw-1","alarm_id":"al-1","severity":"critical","code":"BUS_LOST","elevator_id":null,
        "order_id":null,"raised_at":"2026-11-30T10:00:00.000Z","cleared_at":null,"detail":"bus b1 is silent"});
    vec![
        (
            "ride.request",
            json!({"message_id":"m-1","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1",
            "from":{"floor":"1F","side":"front"},"to":{"floor":"6F","side":"front"},
            "elevators":["EL001","EL002"],"priority":5,"at_door":false,"eta_s":20,"expires_at":null,"dry_run":false}),
        ),
        (
            "ride.event",
            json!({"message_id":"m-2","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1",
            "event":"hold_door","fence":17,"elevator_id":"EL001","hold_s":60}),
        ),
        (
            "ride.cancel",
            json!({"message_id":"m-3","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-1","reason":"no need"}),
        ),
        (
            "robot.status",
            json!({"message_id":"m-4","timestamp":"2026-11-30T10:00:00.000Z","floor":"1F","at_door":true,
            "eta_s":0,"battery_pct":87.5,"position":{"x":1.5,"y":-2,"map":"hall"},"in_car":false}),
        ),
        (
            "robot.connection",
            json!({"message_id":"m-5","timestamp":"2026-11-30T10:00:00.000Z","connection_state":"ONLINE"}),
        ),
        (
            "elevator.event",
            json!({"message_id":"c-1","timestamp":"2026-11-30T10:00:00.000Z","event":"state","boot_id":"b-7",
            "seq":12,"command_id":"q-1","floor":"1F","doors":{"front":"open","rear":"closed"},"motion":"stopped","mode":"normal",
            "occupied":null,"calls":[{"kind":"hall","floor":"6F","side":"front","direction":"down"},{"kind":"car","floor":"2F"}]}),
        ),
        (
            "client.request",
            json!({"message_id":"m-5","timestamp":"2026-11-30T10:00:00.000Z","order_id":"T-2","type":"claim.acquire",
            "pool":"robots","resource_id":"R001","owner_id":"U1","labels":{"tenant":"acme"},"lease_s":30,"wait_s":60,
            "init":false}),
        ),
        (
            "ride.reply",
            json!({"type":"ride.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "received_at":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","in_reply_to":"m-1","order_id":"T-1",
            "result":"accepted","code":null,"detail":null,"retry_after_s":null,"state":"QUEUED","seq":1,"instruction":"wait",
            "valid_s":null,"elevator_id":null,"fence":null,"floor":null,"side":null,"queue_position":1,"eta_s":40}),
        ),
        (
            "ride.state",
            json!({"type":"ride.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1",
            "order_id":"T-1","robot_id":"R001","seq":4,"state":"ELEVATOR_ARRIVED","held_from":null,"instruction":"enter",
            "valid_s":5,"elevator_id":"EL001","bank_id":null,"fence":17,"from":{"floor":"1F","side":"front"},
            "to":{"floor":"6F","side":"front"},"floor":"1F","side":"front","queue_position":null,"eta_s":null,
            "deadline":"2026-11-30T10:00:42.000Z","deadline_s":60,"reason":null}),
        ),
        (
            "elevator.state",
            json!({"type":"elevator.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","elevator_id":"EL001","bank_id":"A","floor":"1F","doors":{"front":"open"},"motion":"stopped",
            "mode":"normal","occupied":null,"health":"ok","health_reason":null,
            "owner":{"robot_id":"R001","fence":17,"since":"2026-11-30T10:00:00.000Z"},"fence":17,"busy":true,"queue_length":3,
            "observed_at":"2026-11-30T10:00:00.000Z"}),
        ),
        (
            "elevator.command",
            json!({"type":"elevator.command","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","elevator_id":"EL001","order_id":"T-1","command_id":"k-1","fence":17,"command":"hall_call",
            "floor":"1F","side":"front","direction":"up","hold_s":null,"expires_at":"2026-11-30T10:00:05.000Z","expires_in_s":5}),
        ),
        ("ops.alarm", alarm.clone()),
        (
            "ops.alarms",
            json!({"type":"ops.alarms","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","alarms":[alarm]}),
        ),
        (
            "site",
            json!({"type":"site","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1",
            "versions":["v1"],"gateway":"gw-1","suspended":{"code":"FIRE_MODE","zones":["main"],"since":"2026-11-30T10:00:00.000Z"},
            "lease_s":30,"status_s":10,"floors":[{"label":"1F","index":0,"sides":["front","rear"]}],
            "elevators":[{"id":"EL001","bank_id":null,"zone":"main","floors":["1F"],"presence":"none","hold_max_s":10}]}),
        ),
        (
            "gateway.connection",
            json!({"type":"gateway.connection","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","connection_state":"OFFLINE","instance":"i-1"}),
        ),
        (
            "client.reply",
            json!({"type":"series.next.reply","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "received_at":"2026-11-30T10:00:00.000Z","source":"gateway/gw-1","in_reply_to":"m-5","order_id":"T-2",
            "result":"accepted","code":null,"detail":null,"retry_after_s":null,"series":"AA","number":1,"id":"AA|1"}),
        ),
        (
            "claim.state",
            json!({"type":"claim.state","message_id":"g-1","timestamp":"2026-11-30T10:00:00.000Z",
            "source":"gateway/gw-1","claim_id":"c-1","order_id":"T-2","resource_id":"R001","state":"EXPIRED",
            "expires_at":null,"expires_in_s":null,"queue_position":null,
            "reason":{"code":"LEASE_ENDED","detail":"U1 was not heard for 30 s"}}),
        ),
    ]
}

//! The interface as an OpenAPI document. Its messages are those of `protocol::schema`, the same as
//! over MQTT.

use protocol::Code;
use protocol::schema::schemas;
use serde_json::{Map, Value, json};

use super::status;

/// The moment of the examples.
const MOMENT: &str = "2026-11-30T10:00:00.000Z";

/// The document.
pub(super) fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "hallcall",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Places of pools, numbers without a gap, tickets of departments. \
                Requests and replies are those of MQTT (docs/applications.md); a request with the \
                order_id of an earlier one, over either, has the same answer.",
        },
        "paths": {
            "/api/v1/requests": { "post": posted("One request of any type.", &examples()) },
            "/api/v1/rentals/start": {
                "post": posted("One request of type rental.start.", &rental()),
            },
            "/api/v1/openapi.json": { "get": {
                "summary": "This document.",
                "responses": { "200": whole("application/json", &json!({ "type": "object" })) },
            } },
            "/metrics": { "get": {
                "summary": "Figures of all pools, as Prometheus reads them.",
                "responses": {
                    "200": whole("text/plain", &json!({ "type": "string" })),
                    "504": answered("NO_ANSWER"),
                },
            } },
        },
        "components": {
            "schemas": { "request": schema("client.request"), "reply": schema("client.reply") },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn posted(summary: &str, examples: &Map<String, Value>) -> Value {
    let mut body = json!({ "schema": { "$ref": "#/components/schemas/request" } });
    if !examples.is_empty() {
        body["examples"] = Value::Object(examples.clone());
    }
    json!({
        "summary": summary,
        "security": [{ "token": [] }],
        "requestBody": { "required": true, "content": { "application/json": body } },
        "responses": responses(),
    })
}

/// Every status with the codes that it goes with.
fn responses() -> Map<String, Value> {
    let mut codes: Map<String, Value> = Map::new();
    let done = json!({
        "reply": { "value": accepted(&json!("series.next.reply"), &json!({
            "series": "AA", "number": 1, "id": "AA|1",
        })) },
    });
    let mut done_answer = answered("accepted, or duplicate");
    done_answer["content"]["application/json"]["examples"] = done;
    codes.insert("200".to_owned(), done_answer);
    for code in Code::ALL {
        let told = codes
            .entry(status::of_code(*code).as_str())
            .or_insert_with(|| answered(""));
        let so_far = told["description"].as_str().unwrap_or_default();
        let separator = if so_far.is_empty() { "" } else { ", " };
        told["description"] = json!(format!("{so_far}{separator}{code}"));
    }
    codes.insert(
        "408".to_owned(),
        answered("MALFORMED: the body did not come in time"),
    );
    codes
}

fn answered(description: &str) -> Value {
    let mut answer = whole(
        "application/json",
        &json!({ "$ref": "#/components/schemas/reply" }),
    );
    answer["description"] = json!(description);
    answer
}

fn whole(kind: &str, schema: &Value) -> Value {
    json!({ "description": "As it is.", "content": { kind: { "schema": schema } } })
}

fn schema(name: &str) -> Value {
    let found = schemas().into_iter().find(|(known, _)| *known == name);
    found.map_or(Value::Null, |(_, schema)| schema.to_value())
}

fn asked(kind: &str, fields: Value) -> (String, Value) {
    let mut body = json!({
        "message_id": "m-1", "timestamp": MOMENT, "order_id": "o-1", "type": kind,
    });
    if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
        body.extend(fields);
    }
    (kind.to_owned(), json!({ "value": body }))
}

/// The request that starts a vehicle.
fn rental() -> Map<String, Value> {
    let fields = json!({ "device_id": "DEV_001", "user_id": "u-1" });
    Map::from_iter([asked("rental.start", fields)])
}

/// A request for each thing that is asked for most.
fn examples() -> Map<String, Value> {
    [
        asked(
            "series.next",
            json!({ "series": "AA", "device": { "name": "press" } }),
        ),
        asked(
            "series.void",
            json!({ "series": "AA", "number": 1, "reason": "the label tore" }),
        ),
        asked(
            "claim.acquire",
            json!({ "pool": "robots", "owner_id": "cart-7", "labels": { "tenant": "acme" },
                "lease_s": 30, "wait_s": 0, "init": false }),
        ),
        asked(
            "claim.heartbeat",
            json!({ "claim_id": "c-1", "owner_id": "cart-7" }),
        ),
        asked(
            "claim.release",
            json!({ "claim_id": "c-1", "owner_id": "cart-7" }),
        ),
        asked(
            "turn.take",
            json!({ "department": "counter", "user_id": "u-1" }),
        ),
        asked(
            "turn.call",
            json!({ "department": "counter", "desk_id": "desk-1" }),
        ),
    ]
    .into_iter()
    .collect()
}

fn accepted(kind: &Value, fields: &Value) -> Value {
    let mut reply = json!({
        "type": kind, "message_id": "00ff00ff00ff-7", "timestamp": MOMENT, "received_at": MOMENT,
        "source": "gateway/gw-1", "in_reply_to": "m-1", "order_id": "o-1", "result": "accepted",
        "code": null, "detail": null, "retry_after_s": null,
    });
    if let (Value::Object(reply), Value::Object(fields)) = (&mut reply, fields) {
        reply.extend(fields.clone());
    }
    reply
}

#[cfg(test)]
mod tests {
    use protocol::{Code, Decoded, SiteId, Topics, decode};

    use super::*;

    /// The reader of the wire takes each example of a request.
    #[test]
    fn its_examples_are_requests() {
        let site: SiteId = "demo".parse().unwrap();
        let topics = Topics::new("hallcall/v1", &site).unwrap();
        let examples: Vec<_> = examples().into_iter().chain(rental()).collect();
        assert_eq!(examples.len(), 8);
        for (name, example) in examples {
            let body = example["value"].to_string();
            let topic = "hallcall/v1/demo/clients/app-1/request";
            let read = decode(&topics, topic, body.as_bytes(), false);
            assert!(matches!(read, Decoded::Message(_)), "{name}: {read:?}");
        }
    }

    /// Each code is told with its status, and with that alone.
    #[test]
    fn every_code_is_listed_once() {
        let document = document();
        let responses = &document["paths"]["/api/v1/requests"]["post"]["responses"];
        for code in Code::ALL {
            let with: Vec<&String> = responses
                .as_object()
                .unwrap()
                .iter()
                .filter(|(_, answer)| {
                    let words = answer["description"].as_str().unwrap();
                    words.split(", ").any(|word| word == code.as_str())
                })
                .map(|(status, _)| status)
                .collect();
            assert_eq!(with, [status::of_code(*code).as_str()], "{code}");
        }
        for (status, code) in [
            ("400", "MALFORMED"),
            ("401", "UNAUTHORIZED"),
            ("404", "UNKNOWN_SERIES"),
            ("409", "ORDER_CONFLICT"),
            ("413", "TOO_LARGE"),
            ("429", "RATE_LIMITED"),
            ("503", "UNAVAILABLE"),
            ("504", "NO_ANSWER"),
        ] {
            let told = responses[status]["description"].as_str().unwrap();
            assert!(told.contains(code), "{status}: {told}");
        }
    }
}

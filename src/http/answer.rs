//! Answers, and what is not asked of the core.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use dispatch::OperatorAction;
use protocol::client::{AskKind, ClientReply, ClientRequest, ReplyBody};
use protocol::ride::ReplyResult;
use protocol::text::detail;
use protocol::{Code, MessageId, OrderId, Seconds};

use super::{Shared, State, status};
use crate::metrics;
use crate::operator::{Ask, Reply};

const JSON: &str = "application/json";
/// The text format of Prometheus.
const FIGURES: &str = "text/plain; version=0.0.4; charset=utf-8";
/// When to ask again where the gateway has too much to do.
const AGAIN: Seconds = Seconds { ms: 1_000 };

/// A refusal that the core had no part in.
#[derive(Debug)]
pub(super) struct Refused {
    /// The status, where the code does not say it.
    pub(super) status: Option<StatusCode>,
    pub(super) code: Code,
    pub(super) detail: String,
    /// What was asked for, and by which message, as far as that is known.
    pub(super) kind: Option<AskKind>,
    pub(super) in_reply_to: Option<MessageId>,
    pub(super) order_id: Option<OrderId>,
}

impl Refused {
    /// The refusal of something that was not read.
    pub(super) fn new(code: Code, why: &str) -> Self {
        Self {
            status: None,
            code,
            detail: detail(why),
            kind: None,
            in_reply_to: None,
            order_id: None,
        }
    }

    /// The refusal of this request.
    pub(super) fn of(request: &ClientRequest, code: Code, why: &str) -> Self {
        Self {
            kind: Some(request.ask.kind()),
            in_reply_to: Some(request.message_id.clone()),
            order_id: request.order_id.clone(),
            ..Self::new(code, why)
        }
    }

    /// The same as an answer, in the form of every other.
    pub(super) fn response(self, shared: &Shared) -> Response {
        let stamp = shared.setup.stamps.next();
        let reply = ClientReply {
            kind: self.kind,
            received_at: stamp.timestamp,
            in_reply_to: self.in_reply_to,
            order_id: self.order_id,
            result: ReplyResult::Rejected,
            code: Some(self.code),
            detail: Some(self.detail),
            retry_after_s: (self.code == Code::Unavailable).then_some(AGAIN),
            body: ReplyBody::empty(self.kind),
        };
        let status = self.status.unwrap_or_else(|| status::of(&reply));
        let mut response = written(status, &reply, reply.encode(&stamp));
        if self.code == Code::Unauthorized {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// The core's reply.
pub(super) fn reply(shared: &Shared, reply: &ClientReply) -> Response {
    let body = reply.encode(&shared.setup.stamps.next());
    written(status::of(reply), reply, body)
}

fn written(status: StatusCode, reply: &ClientReply, body: Vec<u8>) -> Response {
    let mut response = typed(JSON, Body::from(body));
    *response.status_mut() = status;
    if let Some(after) = reply.retry_after_s {
        let seconds = HeaderValue::from(after.ms.div_ceil(1_000));
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

fn typed(kind: &'static str, body: Body) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(kind))], body).into_response()
}

/// `GET /api/v1/openapi.json`.
pub(super) async fn openapi(state: State) -> Response {
    typed(JSON, Body::from(state.openapi.clone()))
}

/// `GET /metrics`.
pub(super) async fn metrics(state: State) -> Response {
    let setup = &state.setup;
    let ask = Ask {
        operator: "metrics".to_owned(),
        reason: "GET /metrics".to_owned(),
        action: OperatorAction::PoolList,
    };
    if let Reply::Pools(pools) = setup.operators.ask(ask, &setup.inbox).await {
        return typed(FIGURES, Body::from(metrics::of_pools(&pools)));
    }
    Refused::new(Code::NoAnswer, "the gateway did not answer in time").response(&state)
}

/// Any other path.
pub(super) async fn no_such_path(state: State) -> Response {
    Refused {
        status: Some(StatusCode::NOT_FOUND),
        ..Refused::new(Code::Malformed, "no such path; see /api/v1/openapi.json")
    }
    .response(&state)
}

/// A path with another method.
pub(super) async fn no_such_method(state: State) -> Response {
    Refused {
        status: Some(StatusCode::METHOD_NOT_ALLOWED),
        ..Refused::new(
            Code::Malformed,
            "no such method here; see /api/v1/openapi.json",
        )
    }
    .response(&state)
}

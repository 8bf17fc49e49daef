//! With which status an answer goes (docs/applications.md, HTTP).

use axum::http::StatusCode;
use protocol::Code;
use protocol::client::ClientReply;

/// The status of an answer. What is done, and what was done before, is 200.
pub(super) fn of(reply: &ClientReply) -> StatusCode {
    reply.code.map_or(StatusCode::OK, of_code)
}

/// The status of a refusal.
pub(super) fn of_code(code: Code) -> StatusCode {
    if code.as_str().starts_with("UNKNOWN_") {
        return StatusCode::NOT_FOUND;
    }
    let exact = [
        (Code::Malformed, StatusCode::BAD_REQUEST),
        (Code::StaleRequest, StatusCode::BAD_REQUEST),
        (Code::Unauthorized, StatusCode::UNAUTHORIZED),
        (Code::NotOwner, StatusCode::FORBIDDEN),
        (Code::BadToken, StatusCode::FORBIDDEN),
        (Code::TooLarge, StatusCode::PAYLOAD_TOO_LARGE),
        (Code::RateLimited, StatusCode::TOO_MANY_REQUESTS),
        (Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE),
        (Code::NoAnswer, StatusCode::GATEWAY_TIMEOUT),
    ];
    exact
        .into_iter()
        .find(|(known, _)| *known == code)
        // The request is whole; what it is about stands against it.
        .map_or(StatusCode::CONFLICT, |(_, status)| status)
}

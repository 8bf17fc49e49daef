//! Requests of applications.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use dispatch::Input;
use protocol::client::{ClientReply, ClientRequest};
use protocol::limits::MESSAGE_BYTES_MAX;
use protocol::{ClientId, Code, Decoded, Inbound, Refusal, Topic, decode};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::{Refused, reply};
use super::{Shared, State};
use crate::config::Token;
use crate::inbox::{Arrival, Heard, Owed};

/// For the body of a request to come.
const BODY: Duration = Duration::from_secs(5);
/// For the answer: as long as a slow disk may take.
const ANSWER: Duration = Duration::from_secs(12);
/// What `rentals/start` takes.
const RENTAL_START: &str = "rental.start";

/// `POST /api/v1/requests`.
pub(super) async fn request(state: State, request: Request) -> Response {
    serve(&state.0, request, None).await
}

/// `POST /api/v1/rentals/start`.
pub(super) async fn start_rental(state: State, request: Request) -> Response {
    serve(&state.0, request, Some(RENTAL_START)).await
}

async fn serve(shared: &Shared, request: Request, only: Option<&str>) -> Response {
    let answer = answer(shared, request, only).await;
    match answer {
        Ok(answer) => reply(shared, &answer),
        Err(refused) => refused.response(shared),
    }
}

async fn answer(
    shared: &Shared,
    request: Request,
    only: Option<&str>,
) -> Result<ClientReply, Refused> {
    let client = who(shared, request.headers())
        .ok_or_else(|| Refused::new(Code::Unauthorized, "no token that is known"))?;
    let body = body(request).await?;
    let request = read(shared, client, &body)?;
    let kind = request.ask.kind();
    if let Some(only) = only
        && kind.as_str() != only
    {
        let why = format!("type is {kind}, only {only} is taken here");
        return Err(Refused::of(&request, Code::Malformed, &why));
    }
    ask(shared, client.clone(), request).await
}

/// Whose token it shows. All tokens are looked at, whichever it is.
fn who<'s>(shared: &'s Shared, headers: &HeaderMap) -> Option<&'s ClientId> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (shown.next()?, shown.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = Token::of(token.trim());
    let clients = &shared.setup.config.clients;
    let found = clients.iter().fold(None, |found, client| {
        if client.token.is(&token) {
            Some(&client.id)
        } else {
            found
        }
    });
    found.filter(|_| scheme.eq_ignore_ascii_case("bearer"))
}

/// The whole body, within its bounds.
async fn body(request: Request<Body>) -> Result<Bytes, Refused> {
    match timeout(BODY, Bytes::from_request(request, &())).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(why)) if why.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let why = format!("the body has more than {MESSAGE_BYTES_MAX} bytes");
            Err(Refused::new(Code::TooLarge, &why))
        }
        Ok(Err(_)) => Err(Refused::new(Code::Malformed, "the body did not come whole")),
        Err(_) => Err(Refused {
            status: Some(StatusCode::REQUEST_TIMEOUT),
            ..Refused::new(Code::Malformed, "the body did not come in time")
        }),
    }
}

/// Reads a request as if it had come on the topic of its client.
fn read(shared: &Shared, client: &ClientId, body: &[u8]) -> Result<Box<ClientRequest>, Refused> {
    let topics = &shared.setup.topics;
    let topic = topics.name(&Topic::ClientRequest(client.clone()));
    match decode(topics, &topic, body, false) {
        Decoded::Message(Inbound::Client { request, .. }) => Ok(request),
        Decoded::Refused(refusal) => Err(unreadable(refusal)),
        Decoded::Message(_) | Decoded::Ignored(_) => Err(Refused::new(
            Code::Malformed,
            "no request of an application",
        )),
    }
}

fn unreadable(refusal: Refusal) -> Refused {
    Refused {
        kind: refusal.client.and_then(|(_, kind)| kind),
        in_reply_to: refusal.message_id,
        order_id: refusal.order_id,
        ..Refused::new(refusal.code, &refusal.detail)
    }
}

/// Puts it to the core, and waits for its reply.
async fn ask(
    shared: &Shared,
    client: ClientId,
    request: Box<ClientRequest>,
) -> Result<ClientReply, Refused> {
    let late = "no answer in time; whether it was done is not known, repeat it unchanged";
    let late = Refused::of(&request, Code::NoAnswer, late);
    let until = Instant::now() + ANSWER;
    let Ok(Ok(place)) = timeout_at(until, shared.setup.inbox.reserve()).await else {
        // Nothing was asked yet.
        let why = "the gateway ends, or has too much to do";
        return Err(Refused::of(&request, Code::Unavailable, why));
    };
    let (tell, told) = oneshot::channel();
    place.send(Arrival {
        heard: Heard::Input(Input::Client { client, request }),
        ack: Some(Owed::Reply(tell)),
    });
    match timeout_at(until, told).await {
        Ok(Ok(reply)) => Ok(*reply),
        Ok(Err(_)) | Err(_) => Err(late),
    }
}

//! Anything that the gateway may say to an application.

use proptest::prelude::*;
use protocol::client::{
    AskKind, ClaimBody, ClaimReason, ClaimState, ClaimView, ClaimWhy, ClientReply, ReplyBody,
    SeriesBody, TurnBody,
};
use protocol::ride::ReplyResult;
use protocol::{Code, Date, Outgoing};

use crate::parts::{id, moment, opt, seconds, sentence, some};

fn claim() -> impl Strategy<Value = ClaimBody> {
    let states = opt(some(ClaimState::ALL));
    let span = (opt(moment()), opt(seconds()));
    (opt(id()), opt(id()), states, span, opt(any::<u32>())).prop_map(
        |(claim_id, resource_id, state, (expires_at, expires_in_s), queue_position)| ClaimBody {
            claim_id,
            resource_id,
            state,
            expires_at,
            expires_in_s,
            queue_position,
        },
    )
}

fn turn() -> impl Strategy<Value = TurnBody> {
    // To the year 9999.
    let date = opt((0..2_932_000_u32).prop_map(Date));
    (date, opt(any::<u64>()), opt(any::<u32>()), opt(id())).prop_map(
        |(date, number, ahead, user_id)| TurnBody {
            date,
            number,
            ahead,
            user_id,
        },
    )
}

/// A body of the workflow that was asked for.
fn kind_and_body() -> impl Strategy<Value = (Option<AskKind>, ReplyBody)> {
    let series = (opt(id()), opt(any::<u64>()), opt(sentence()));
    let series = series.prop_map(|(series, number, id)| SeriesBody { series, number, id });
    (opt(some(AskKind::ALL)), claim(), series, turn()).prop_map(|(kind, claim, series, turn)| {
        let body = match ReplyBody::empty(kind) {
            ReplyBody::None => ReplyBody::None,
            ReplyBody::Claim(_) => ReplyBody::Claim(claim),
            // Its token is read by nobody but the application.
            ReplyBody::Rental(body) => ReplyBody::Rental(body),
            ReplyBody::Series(_) => ReplyBody::Series(series),
            ReplyBody::Turn(_) => ReplyBody::Turn(turn),
        };
        (kind, body)
    })
}

pub(crate) fn client_reply() -> impl Strategy<Value = Outgoing> {
    let head = (moment(), opt(id()), opt(id()), some(ReplyResult::ALL));
    let refusal = (opt(some(Code::ALL)), opt(sentence()), opt(seconds()));
    (id(), head, refusal, kind_and_body()).prop_map(|(client, head, refusal, (kind, body))| {
        let (received_at, in_reply_to, order_id, result) = head;
        let (code, detail, retry_after_s) = refusal;
        let reply = Box::new(ClientReply {
            kind,
            received_at,
            in_reply_to,
            order_id,
            result,
            code,
            detail,
            retry_after_s,
            body,
        });
        Outgoing::ClientReply { client, reply }
    })
}

pub(crate) fn claim_state() -> impl Strategy<Value = Outgoing> {
    let why = opt((some(ClaimReason::ALL), sentence()));
    let why = why.prop_map(|why| why.map(|(code, detail)| ClaimWhy { code, detail }));
    let ids = (id(), id(), id());
    (ids, claim(), some(ClaimState::ALL), why).prop_map(|(ids, body, state, reason)| {
        let (client, claim_id, order_id) = ids;
        let view = Box::new(ClaimView {
            claim_id,
            order_id,
            resource_id: body.resource_id,
            state,
            expires_at: body.expires_at,
            expires_in_s: body.expires_in_s,
            queue_position: body.queue_position,
            reason,
        });
        Outgoing::ClaimState { client, view }
    })
}

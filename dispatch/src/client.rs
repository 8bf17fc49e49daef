//! What comes from applications: counted against their rate, known orders answered as before, the
//! rest given to its workflow.

use protocol::client::{Ask, AskKind, ClientReply, ClientRequest, ReplyBody};
use protocol::ride::ReplyResult;
use protocol::robot::Digest;
use protocol::{ClientId, Code, MessageId, OrderId, Outgoing, Timestamp, limits};

use crate::fact::{AnswerFact, Fact};
use crate::ledger::Known;
use crate::render::retry_after;
use crate::step::{Step, cut};

/// An unreadable message is answered at most once in this time (`wire.md` section 2).
const REFUSAL_PAUSE_MS: u64 = 1_000;
/// An application is forgotten after so long without a word.
const FORGOTTEN_MS: u64 = 600_000;

/// Whom a reply goes to, and what it answers.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The application.
    pub(crate) client: ClientId,
    /// Its message.
    pub(crate) message_id: Option<MessageId>,
    /// The order that it names.
    pub(crate) order: Option<OrderId>,
    /// What it asks for.
    pub(crate) kind: Option<AskKind>,
    /// When it came.
    pub(crate) received_at: Timestamp,
}

/// Why a request is refused.
pub(crate) type Refused = (Code, String);

/// What a workflow answers.
#[derive(Debug)]
pub(crate) enum Granted {
    /// Done; the answer is kept.
    Done(ReplyBody),
    /// Was done before, by another order: nothing happens and nothing is kept.
    Before(ReplyBody),
}

pub(crate) type Answer = Result<Granted, Refused>;

impl Step<'_> {
    /// A request of an application (`wire.md` section 8).
    pub(crate) fn client(&mut self, client: ClientId, request: &ClientRequest) {
        let caller = Caller {
            client,
            message_id: Some(request.message_id.clone()),
            order: request.order_id.clone(),
            kind: Some(request.ask.kind()),
            received_at: self.now.wall,
        };
        if !self.hear_client(&caller.client) {
            let detail = "too many messages per second".to_owned();
            self.refuse_client(&caller, Code::RateLimited, detail);
            return;
        }
        let Some(order) = &request.order_id else {
            let answer = self.serve(&caller, request);
            self.answer_client(&caller, answer);
            return;
        };
        let digest = request.digest(&caller.client);
        match self.state.ledger.known(order) {
            Some(Known::Answer(known)) if known.digest == digest => {
                let mut body = known.body;
                self.add_token(&request.ask, &mut body);
                self.reply_client(&caller, ReplyResult::Duplicate, body);
            }
            Some(Known::Answer(_) | Known::Ride(_)) => {
                let detail =
                    format!("order_id {order} is known with another content or of another sender");
                self.refuse_client(&caller, Code::OrderConflict, detail);
            }
            None => {
                let answer = self
                    .check_client(request)
                    .and_then(|()| self.serve(&caller, request));
                if let Ok(Granted::Done(body)) = &answer {
                    self.remember(&caller.client, order, digest, body);
                }
                self.answer_client(&caller, answer);
            }
        }
    }

    /// The workflow of the request.
    fn serve(&mut self, caller: &Caller, request: &ClientRequest) -> Answer {
        match &request.ask {
            Ask::SeriesNext(ask) => self.next_number(caller, ask),
            Ask::SeriesVoid(ask) => self.void_number(caller, ask),
            Ask::ClaimAcquire(ask) => self.acquire(caller, ask),
            Ask::ClaimReady(said) => self.claim_ready(said),
            Ask::ClaimFailed(said) => self.claim_failed(said),
            Ask::ClaimApprove(said) => self.approve(said),
            Ask::ClaimRefuse(said) => self.refuse_claim(said),
            Ask::ClaimHeartbeat(said) => self.heartbeat(caller, said),
            Ask::ClaimRelease(said) => self.release_claim(caller, said),
            Ask::RentalReserve(ask) => self.reserve(caller, ask),
            Ask::RentalStart(ask) => self.start_rental(caller, ask),
            Ask::RentalEnd(ask) => self.end_rental(ask),
            Ask::RentalCancel(ask) => self.cancel_rental(ask),
            Ask::TurnTake(ask) => self.take_turn(caller, ask),
            Ask::TurnCall {
                department,
                desk_id,
            } => self.call_turn(department, desk_id),
        }
    }

    fn remember(&mut self, client: &ClientId, order: &OrderId, digest: Digest, body: &ReplyBody) {
        self.record(Fact::Answer(AnswerFact::Given {
            order: order.clone(),
            client: client.clone(),
            digest,
            body: without_token(body.clone()),
            at: self.now.wall,
        }));
    }

    /// The token of a reservation is made anew for a repetition: it is kept nowhere.
    fn add_token(&self, ask: &Ask, body: &mut ReplyBody) {
        if let (Ask::RentalReserve(ask), ReplyBody::Rental(body)) = (ask, body) {
            body.token = self.token_of(body.rental_id.as_ref(), ask);
        }
    }

    /// What holds for every order: the disk, the end of the process, the clock.
    fn check_client(&self, request: &ClientRequest) -> Result<(), Refused> {
        let why = if self.live.stopping {
            Some("the gateway ends")
        } else if self.live.disk_low {
            Some("its disk is full")
        } else {
            None
        };
        if let Some(why) = why.filter(|_| !gives_back(request.ask.kind())) {
            return Err((Code::Unavailable, format!("no new orders: {why}")));
        }
        self.check_moment(request.timestamp)
    }

    /// Notes that an application said anything. Returns `false` where it says too much.
    fn hear_client(&mut self, client: &ClientId) -> bool {
        let clients = &mut self.live.clients;
        if !clients.contains_key(client) && clients.len() >= limits::CLIENTS_MAX {
            return false;
        }
        let known = clients.entry(client.clone()).or_default();
        known.heard_ms = self.now.mono_ms;
        let second = self.now.mono_ms / 1000;
        if known.second != second {
            known.second = second;
            known.messages = 0;
        }
        known.messages = known.messages.saturating_add(1);
        known.messages <= self.config.limits.client_messages_per_s
    }

    /// Something on an application's topic that cannot be read.
    pub(crate) fn unreadable_of_client(
        &mut self,
        client: ClientId,
        kind: Option<AskKind>,
        message_id: Option<MessageId>,
        order: Option<OrderId>,
        (code, detail): Refused,
    ) {
        self.hear_client(&client);
        let now_ms = self.now.mono_ms;
        let Some(known) = self.live.clients.get_mut(&client) else {
            return;
        };
        let due = known
            .refused_ms
            .is_none_or(|last| now_ms >= last.saturating_add(REFUSAL_PAUSE_MS));
        if due {
            known.refused_ms = Some(now_ms);
            let caller = Caller {
                client,
                message_id,
                order,
                kind,
                received_at: self.now.wall,
            };
            self.refuse_client(&caller, code, detail);
        }
    }

    /// Drops applications that have not said anything for long.
    pub(crate) fn forget_silent_clients(&mut self) {
        let now_ms = self.now.mono_ms;
        self.live
            .clients
            .retain(|_, client| now_ms < client.heard_ms.saturating_add(FORGOTTEN_MS));
    }

    fn answer_client(&mut self, caller: &Caller, answer: Answer) {
        match answer {
            Ok(Granted::Done(body)) => self.reply_client(caller, ReplyResult::Accepted, body),
            Ok(Granted::Before(body)) => self.reply_client(caller, ReplyResult::Duplicate, body),
            Err((code, detail)) => self.refuse_client(caller, code, detail),
        }
    }

    fn refuse_client(&mut self, caller: &Caller, code: Code, detail: String) {
        let mut reply = self.bare_client_reply(caller, ReplyResult::Rejected);
        reply.code = Some(code);
        reply.detail = Some(cut(detail));
        reply.retry_after_s = retry_after(code);
        self.say_to_client(caller, reply);
    }

    fn reply_client(&mut self, caller: &Caller, result: ReplyResult, body: ReplyBody) {
        let reply = ClientReply {
            body,
            ..self.bare_client_reply(caller, result)
        };
        self.say_to_client(caller, reply);
    }

    fn bare_client_reply(&self, caller: &Caller, result: ReplyResult) -> ClientReply {
        ClientReply {
            kind: caller.kind,
            received_at: caller.received_at,
            in_reply_to: caller.message_id.clone(),
            order_id: caller.order.clone(),
            result,
            code: None,
            detail: None,
            retry_after_s: None,
            body: ReplyBody::empty(caller.kind),
        }
    }

    fn say_to_client(&mut self, caller: &Caller, reply: ClientReply) {
        self.say(Outgoing::ClientReply {
            client: caller.client.clone(),
            reply: Box::new(reply),
        });
    }
}

/// An answer as it is kept.
fn without_token(mut body: ReplyBody) -> ReplyBody {
    if let ReplyBody::Rental(body) = &mut body {
        body.token = None;
    }
    body
}

/// Whether a request gives something back: it is served as long as the journal takes facts.
fn gives_back(kind: AskKind) -> bool {
    match kind {
        AskKind::ClaimReady
        | AskKind::ClaimFailed
        | AskKind::ClaimRefuse
        | AskKind::ClaimHeartbeat
        | AskKind::ClaimRelease
        | AskKind::RentalEnd
        | AskKind::RentalCancel => true,
        AskKind::ClaimAcquire
        | AskKind::ClaimApprove
        | AskKind::RentalReserve
        | AskKind::RentalStart
        | AskKind::SeriesNext
        | AskKind::SeriesVoid
        | AskKind::TurnTake
        | AskKind::TurnCall => false,
    }
}

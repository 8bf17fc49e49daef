//! What applications ask for (`wire.md` section 8).

use std::borrow::Cow;

use crate::client::{
    Acquire, Ask, AskKind, ByApprover, ByOwner, CancelRental, ClientRequest, EndRental, Label,
    Labels, NextNumber, Reserve, StartRental, TakeTurn, TokenHash, VoidNumber,
};
use crate::decode::robot::stamp;
use crate::field::{Bad, flag, integer, name, object, optional, required, text, word};
use crate::json::{self, Json, Object};
use crate::limits::{
    DEVICE_BYTES_MAX, HOLD_RENTAL_S_MAX, LEASE_S_MAX, LEASE_S_MIN, MESSAGE_BYTES_MAX,
    REASON_BYTES_MAX, WAIT_S_MAX,
};

/// Attributes of a device that are texts wherever they are given.
const DEVICE_TEXTS: &[&str] = &["name", "model"];

pub(super) fn request(fields: &Object<'_>) -> Result<ClientRequest, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let kind: AskKind = required(fields, "type", word)?;
    let order_id = match kind {
        // It changes nothing but a lease.
        AskKind::ClaimHeartbeat => None,
        AskKind::ClaimAcquire
        | AskKind::ClaimReady
        | AskKind::ClaimFailed
        | AskKind::ClaimApprove
        | AskKind::ClaimRefuse
        | AskKind::ClaimRelease
        | AskKind::RentalReserve
        | AskKind::RentalStart
        | AskKind::RentalEnd
        | AskKind::RentalCancel
        | AskKind::SeriesNext
        | AskKind::SeriesVoid
        | AskKind::TurnTake
        | AskKind::TurnCall => Some(required(fields, "order_id", name)?),
    };
    let ask = match kind {
        AskKind::ClaimAcquire => Ask::ClaimAcquire(acquire(fields)?),
        AskKind::ClaimReady => Ask::ClaimReady(by_owner(fields)?),
        AskKind::ClaimFailed => Ask::ClaimFailed(by_owner(fields)?),
        AskKind::ClaimApprove => Ask::ClaimApprove(by_approver(fields)?),
        AskKind::ClaimRefuse => Ask::ClaimRefuse(by_approver(fields)?),
        AskKind::ClaimHeartbeat => Ask::ClaimHeartbeat(by_owner(fields)?),
        AskKind::ClaimRelease => Ask::ClaimRelease(by_owner(fields)?),
        AskKind::RentalReserve => Ask::RentalReserve(Reserve {
            device_id: required(fields, "device_id", name)?,
            user_id: required(fields, "user_id", name)?,
            hold_s: optional(fields, "hold_s", integer(1..=HOLD_RENTAL_S_MAX))?,
        }),
        AskKind::RentalStart => Ask::RentalStart(StartRental {
            device_id: required(fields, "device_id", name)?,
            user_id: required(fields, "user_id", name)?,
            rental_id: optional(fields, "rental_id", name)?,
            token: optional(fields, "token", token)?,
        }),
        AskKind::RentalEnd => Ask::RentalEnd(end_rental(fields)?),
        AskKind::RentalCancel => Ask::RentalCancel(CancelRental {
            rental_id: required(fields, "rental_id", name)?,
            token: required(fields, "token", token)?,
        }),
        AskKind::SeriesNext => Ask::SeriesNext(NextNumber {
            series: required(fields, "series", name)?,
            device: optional(fields, "device", device)?.unwrap_or_else(|| "{}".to_owned()),
        }),
        AskKind::SeriesVoid => Ask::SeriesVoid(VoidNumber {
            series: required(fields, "series", name)?,
            number: required(fields, "number", integer(0..=u64::MAX))?,
            reason: required(fields, "reason", text(REASON_BYTES_MAX))?,
        }),
        AskKind::TurnTake => Ask::TurnTake(TakeTurn {
            department: required(fields, "department", name)?,
            user_id: required(fields, "user_id", name)?,
        }),
        AskKind::TurnCall => Ask::TurnCall {
            department: required(fields, "department", name)?,
            desk_id: required(fields, "desk_id", name)?,
        },
    };
    Ok(ClientRequest {
        message_id,
        timestamp,
        order_id,
        ask,
    })
}

/// What a payload that cannot be read asks for, where at least that can be read.
pub(super) fn kind_of(payload: &[u8]) -> Option<AskKind> {
    if payload.len() > MESSAGE_BYTES_MAX {
        return None;
    }
    let document = json::read(payload);
    optional(&document.fields, "type", word).ok().flatten()
}

fn acquire(fields: &Object<'_>) -> Result<Acquire, Bad> {
    Ok(Acquire {
        pool: required(fields, "pool", name)?,
        resource_id: optional(fields, "resource_id", name)?,
        owner_id: required(fields, "owner_id", name)?,
        labels: optional(fields, "labels", object(labels))?.unwrap_or_default(),
        lease_s: optional(fields, "lease_s", integer(LEASE_S_MIN..=LEASE_S_MAX))?,
        wait_s: optional(fields, "wait_s", integer(0..=WAIT_S_MAX))?,
        init: optional(fields, "init", flag)?.unwrap_or(false),
    })
}

fn labels(fields: &Object<'_>) -> Result<Labels, Bad> {
    let mut labels = Labels::new();
    for label in Label::ALL {
        if let Some(value) = optional(fields, label.as_str(), name)? {
            labels.insert(*label, value);
        }
    }
    Ok(labels)
}

fn by_owner(fields: &Object<'_>) -> Result<ByOwner, Bad> {
    Ok(ByOwner {
        claim_id: required(fields, "claim_id", name)?,
        owner_id: required(fields, "owner_id", name)?,
    })
}

fn by_approver(fields: &Object<'_>) -> Result<ByApprover, Bad> {
    Ok(ByApprover {
        claim_id: required(fields, "claim_id", name)?,
        approver_id: required(fields, "approver_id", name)?,
    })
}

fn end_rental(fields: &Object<'_>) -> Result<EndRental, Bad> {
    let ask = EndRental {
        rental_id: required(fields, "rental_id", name)?,
        token: optional(fields, "token", token)?,
        user_id: optional(fields, "user_id", name)?,
    };
    if ask.token.is_none() && ask.user_id.is_none() {
        return Err(Bad::new("is missing, and user_id too".to_owned()).under("token"));
    }
    Ok(ask)
}

/// A token. What is wrong with one is told without showing it.
fn token(json: &Json<'_>) -> Result<TokenHash, Bad> {
    let read = json.as_text().and_then(TokenHash::read);
    read.ok_or_else(|| Bad::new("is no token".to_owned()))
}

/// The attributes of a device: any fields; `name` and `model` are texts.
fn device(json: &Json<'_>) -> Result<String, Bad> {
    object(|fields: &Object<'_>| {
        for name in DEVICE_TEXTS {
            optional(fields, name, text(DEVICE_BYTES_MAX))?;
        }
        Ok(())
    })(json)?;
    let compact = json.to_value().to_string();
    let bytes = compact.len();
    if bytes > DEVICE_BYTES_MAX {
        let what = format!("is {bytes} bytes long as JSON, at most {DEVICE_BYTES_MAX} are allowed");
        return Err(Bad::new(what));
    }
    Ok(compact)
}

impl Json<'_> {
    /// The same as a value of `serde_json`, which sorts the keys of objects.
    fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Unsigned(number) => Value::from(*number),
            Self::Negative(number) => Value::from(*number),
            Self::Float(number) => Value::from(*number),
            Self::Text(text) => Value::String(Cow::clone(text).into_owned()),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone().into_owned(), value.to_value()))
                .collect(),
        }
    }
}

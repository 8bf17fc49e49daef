//! What has to come of a broken message, by `wire.md`.

use protocol::message::RobotTopic;
use protocol::{Code, Decoded, Ignored, Topics, decode};

use crate::wire::{Kind, Unreadable};

/// A message as it is delivered, and what `wire.md` wants of it.
#[derive(Debug)]
pub(crate) struct Broken {
    /// Below the base.
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) retained: bool,
    /// What becomes of it where it cannot be read.
    pub(crate) unreadable: Unreadable,
    pub(crate) verdict: Verdict,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    Refused(Refused),
    /// Nobody acts on it or answers it.
    Ignored(Ignored),
    /// It is no break: it means what this payload means.
    Same(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    /// The ids that can be read.
    pub(crate) message_id: Option<String>,
    pub(crate) order_id: Option<String>,
    /// With what the sentence begins: the way to the field, where it is about one.
    pub(crate) begins: String,
    /// What it shows of the value, or says of the rule.
    pub(crate) holds: String,
}

impl Broken {
    /// On the kind's own topic.
    pub(crate) fn new(kind: &Kind, payload: Vec<u8>, verdict: Verdict) -> Self {
        Self {
            topic: kind.topic.to_owned(),
            payload,
            retained: kind.retained,
            unreadable: kind.unreadable,
            verdict,
        }
    }

    /// Delivers it, and says how what came of it differs from the verdict.
    pub(crate) fn judge(&self, topics: &Topics) -> Result<(), String> {
        let deliver = |payload: &[u8]| {
            let topic = format!("hallcall/v1/demo/{}", self.topic);
            decode(topics, &topic, payload, self.retained)
        };
        let decoded = deliver(&self.payload);
        if deliver(&self.payload) != decoded {
            return Err("twice the same, and not the same came of it".to_owned());
        }
        match (&self.verdict, &decoded) {
            (Verdict::Same(good), Decoded::Message(_)) if deliver(good) == decoded => Ok(()),
            (Verdict::Ignored(wanted), Decoded::Ignored(why)) if wanted == why => Ok(()),
            (Verdict::Refused(wanted), _) => wanted.judge(self.unreadable, &decoded),
            (Verdict::Same(_) | Verdict::Ignored(_), _) => Err(format!("{decoded:?}")),
        }
    }
}

impl Refused {
    fn judge(&self, unreadable: Unreadable, decoded: &Decoded) -> Result<(), String> {
        let robot: Option<(&str, RobotTopic)> = match unreadable {
            Unreadable::Robot(topic) => Some(("R001", topic)),
            Unreadable::Counted => None,
            Unreadable::Own => {
                let left_alone = *decoded == Decoded::Ignored(Ignored::UnreadableState);
                return left_alone
                    .then_some(())
                    .ok_or_else(|| format!("{decoded:?}"));
            }
        };
        let Decoded::Refused(refusal) = decoded else {
            return Err(format!("{decoded:?}"));
        };
        let id = |id: Option<&str>| id.map(str::to_owned);
        let to = refusal
            .robot
            .as_ref()
            .map(|(robot, topic)| (robot.as_str(), *topic));
        let detail = &refusal.detail;
        let is_fit = refusal.code == self.code
            && to == robot
            && id(refusal.message_id.as_ref().map(|id| id.as_str())) == self.message_id
            && id(refusal.order_id.as_ref().map(|id| id.as_str())) == self.order_id
            && detail.starts_with(&self.begins)
            && detail.contains(&self.holds)
            && (1..=256).contains(&detail.len())
            && detail.chars().all(is_printable);
        is_fit.then_some(()).ok_or_else(|| format!("{refusal:?}"))
    }
}

/// Nothing that ends a line, tells a terminal what to do, or turns the direction of a line.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

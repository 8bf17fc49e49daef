//! What the robots were promised, as they saw it themselves, and what must be true ever after.

use std::collections::BTreeMap;

use serde_json::Value;

/// An order, as its robot knows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    pub(crate) robot: String,
    /// What was asked for; the same for each copy of the request.
    pub(crate) wish: Value,
    /// The broker took a copy of the request.
    pub(crate) taken: bool,
    /// A reply said that it is accepted, or known.
    pub(crate) accepted: bool,
    /// A reply said that its cancellation is accepted, or known.
    pub(crate) cancelled: bool,
    /// A reply said that its robot is believed to be inside.
    pub(crate) entered: bool,
    /// The terminal state that was seen.
    pub(crate) ended: Option<String>,
    /// The highest fence of each elevator that was seen before it was asked for.
    pub(crate) fences_before: BTreeMap<String, u64>,
}

/// What a message asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Request,
    Cancel,
    /// The request again, after a power cut, while its order must be known.
    Again,
    Entered,
    Exited,
}

const ENDS: [&str; 4] = ["ROBOT_EXITED", "CANCELLED", "EXPIRED", "FAILED"];
/// Where a ride never is again once its robot was inside.
const BEFORE_ENTRY: [&str; 3] = ["QUEUED", "GRANTED", "WAITING_HALL_CALL"];

#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) orders: BTreeMap<String, Order>,
    /// Every fence of each elevator, and whose it is.
    pub(crate) fences: BTreeMap<String, BTreeMap<u64, String>>,
}

/// A promise that was broken, in words.
pub(crate) type Broken = String;

impl Truth {
    /// A robot is about to ask for this.
    pub(crate) fn asks(&mut self, order: &str, robot: &str, wish: Value) {
        let highest = |(elevator, fences): (&String, &BTreeMap<u64, String>)| {
            Some((elevator.clone(), *fences.last_key_value()?.0))
        };
        let order_of = Order {
            robot: robot.to_owned(),
            wish,
            fences_before: self.fences.iter().filter_map(highest).collect(),
            ..Order::default()
        };
        self.orders.insert(order.to_owned(), order_of);
    }

    /// A reply to a message about an order.
    pub(crate) fn replied(
        &mut self,
        asked: Asked,
        order: &str,
        reply: &Value,
    ) -> Result<(), Broken> {
        self.fence_seen(reply)?;
        let known = self.orders.get_mut(order).expect("it was asked for");
        let result = reply["result"].as_str().unwrap_or_default();
        let state = reply["state"].as_str().unwrap_or_default();
        let lost = |what: &str| Err(format!("{order}: {what}; now: {reply}"));
        match (asked, result) {
            (Asked::Request, "accepted") if known.accepted => {
                return lost("it was accepted before");
            }
            (Asked::Again, "accepted") if known.accepted => return lost("it was accepted"),
            (Asked::Again, "accepted") if known.taken => {
                return lost("the broker had the request, and the gateway has it no more");
            }
            (Asked::Request | Asked::Again, "accepted" | "duplicate") => known.accepted = true,
            (Asked::Cancel, "accepted") if known.cancelled => {
                return lost("it was cancelled before");
            }
            (Asked::Cancel, "accepted" | "duplicate") => known.cancelled = true,
            // A held ride says the same to each copy.
            (Asked::Entered, "accepted") if known.entered && state != "HOLD" => {
                return lost("it was entered before");
            }
            (Asked::Entered, "accepted" | "duplicate") => known.entered = true,
            // It may have been held or moved on since.
            (Asked::Entered | Asked::Exited, _) => {}
            (Asked::Request | Asked::Again | Asked::Cancel, _) => return lost("it is refused"),
        }
        if known.cancelled && state != "CANCELLED" {
            return lost("it was cancelled");
        }
        known
            .shows(state)
            .map_err(|what| format!("{order}: {what}; now: {reply}"))
    }

    /// A published `ride/state`.
    pub(crate) fn state_seen(&mut self, body: &Value) -> Result<(), Broken> {
        self.fence_seen(body)?;
        let (order, state) = (
            &body["order_id"],
            body["state"].as_str().unwrap_or_default(),
        );
        let Some(known) = order.as_str().and_then(|order| self.orders.get_mut(order)) else {
            return Ok(());
        };
        known
            .shows(state)
            .map_err(|what| format!("{order}: {what}; now: {body}"))
    }

    /// Anything that bears a fence for an order: no fence is two orders', none is given that is not
    /// above all that were seen before the order was asked for (law 3).
    pub(crate) fn fence_seen(&mut self, body: &Value) -> Result<(), Broken> {
        let (Some(elevator), Some(order), Some(fence)) = (
            body["elevator_id"].as_str(),
            body["order_id"].as_str(),
            body["fence"].as_u64(),
        ) else {
            return Ok(());
        };
        if let Some(known) = self.orders.get(order)
            && known
                .fences_before
                .get(elevator)
                .is_some_and(|before| fence <= *before)
        {
            return Err(format!("a fence was given before this order; now: {body}"));
        }
        let fences = self.fences.entry(elevator.to_owned()).or_default();
        let owner = fences.entry(fence).or_insert_with(|| order.to_owned());
        if owner == order {
            return Ok(());
        }
        Err(format!("the fence is {owner}'s; now: {body}"))
    }

    /// The highest fence that was seen of an elevator.
    pub(crate) fn highest_fence(&self, elevator: &str) -> u64 {
        let fences = self.fences.get(elevator);
        let highest = fences.and_then(|fences| fences.last_key_value());
        highest.map_or(0, |(fence, _)| *fence)
    }
}

impl Order {
    /// Its state, as a reply or a message shows it.
    fn shows(&mut self, state: &str) -> Result<(), &'static str> {
        if self.ended.as_ref().is_some_and(|ended| ended != state) {
            return Err("it had ended");
        }
        if self.entered && BEFORE_ENTRY.contains(&state) {
            return Err("its robot was inside");
        }
        if ENDS.contains(&state) {
            self.ended = Some(state.to_owned());
        }
        Ok(())
    }
}

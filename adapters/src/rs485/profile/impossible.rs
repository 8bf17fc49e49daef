//! Profiles that read well and cannot work.

use std::collections::BTreeSet;

use super::super::framing::Slot;
use super::FrameProfile;
use crate::map::toml_section::{Mistakes, whole};

impl FrameProfile {
    /// Refuses what reads well and cannot work.
    pub(super) fn refuse_impossible(&self, m: &mut Mistakes) {
        self.refuse_like_codes(m);
        self.refuse_long(m);
        for (name, is_missing) in [
            ("hall_call", self.commands.hall_call.is_none()),
            ("car_call", self.commands.car_call.is_none()),
            ("open_door", self.commands.open_door.is_none()),
            ("hold_door", self.commands.hold_door.is_none()),
            ("close_door", self.commands.close_door.is_none()),
        ] {
            if is_missing {
                let key = format!("commands.{name}");
                m.add(whole(&key, "", "the command, which rides need"));
            }
        }
        let codes = (0..self.sight.floor_count()).filter_map(|at| self.sight.floor_code(at));
        let highest = codes.max().unwrap_or(0);
        for (name, layout) in self.commands.all() {
            if layout.has_narrow_floor() && highest > 0xFF {
                let expected =
                    format!("floor_be or floor_le: floor number {highest} takes two bytes");
                m.add(whole(
                    &format!("commands.{name}.payload"),
                    "\"floor\"",
                    &expected,
                ));
            }
        }
    }

    /// Codes that say different things are different, and what is sent looks like no answer.
    fn refuse_like_codes(&self, m: &mut Mistakes) {
        let (status, acknowledge) = (&self.status, &self.acknowledge);
        let mut answers = vec![("status.answer".to_owned(), status.answer)];
        answers.extend(status.report.map(|code| ("status.report".to_owned(), code)));
        answers.extend(
            self.refuse
                .as_ref()
                .map(|refuse| ("refuse.code".to_owned(), refuse.code)),
        );
        let acks: BTreeSet<u8> = self
            .commands
            .all()
            .map(|(_, layout)| acknowledge.code_of(layout.code))
            .collect();
        let told = |code: u8| format!("0x{code:02X}");
        for (at, (name, code)) in answers.iter().enumerate() {
            if answers[..at].iter().any(|(_, other)| other == code) || acks.contains(code) {
                m.add(whole(name, &told(*code), "a code that no other answer has"));
            }
        }
        let mut requests = vec![("status.request".to_owned(), status.request)];
        let commands = self.commands.all();
        requests
            .extend(commands.map(|(name, layout)| (format!("commands.{name}.code"), layout.code)));
        let is_told_apart = self.tells_ways_apart();
        for (at, (name, code)) in requests.iter().enumerate() {
            if requests[..at].iter().any(|(_, other)| other == code) {
                m.add(whole(
                    name,
                    &told(*code),
                    "a code that no other request has",
                ));
            }
            let is_answer = acks.contains(code) || answers.iter().any(|(_, other)| other == code);
            if is_answer && !is_told_apart {
                let expected = "a code that no answer has, or another byte in answer_header than \
                                in header: the echo of a request must not look like an answer";
                m.add(whole(name, &told(*code), expected));
            }
        }
    }

    /// Whether some byte that is always the same differs between the headers.
    fn tells_ways_apart(&self) -> bool {
        let mut pairs = self.framing.request.iter().zip(&self.framing.answer);
        let differ = |(ours, theirs): (&Slot, &Slot)| match (ours, theirs) {
            (Slot::Byte(ours), Slot::Byte(theirs)) => ours != theirs,
            _ => false,
        };
        // Where one header is longer, a byte of it stands where the other has another thing.
        self.framing.request.len() == self.framing.answer.len() && pairs.any(differ)
    }

    /// Where a frame tells its length in one byte, it has to fit.
    fn refuse_long(&self, m: &mut Mistakes) {
        let framing = &self.framing;
        if framing.length.wide.is_some() || !framing.request.contains(&Slot::Length) {
            return;
        }
        let longest = self.payloads().into_values().max().unwrap_or(0);
        let commands = self.commands.all().map(|(_, layout)| layout.payload_len());
        let longest = commands.chain([longest, self.status.payload.len()]).max();
        let told = longest.unwrap_or(0) + usize::from(framing.length.adds);
        if told > usize::from(u8::MAX) {
            let expected =
                format!("big or little: the longest frame tells {told}, which takes two bytes");
            m.add(whole("frame.length_wide", "", &expected));
        }
    }
}

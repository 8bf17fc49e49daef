//! What units may still answer to requests that were given up.
//!
//! Modbus RTU numbers no request, so a reply is told from another's only by what it looks like. A
//! unit answers in the order in which it was asked: a reply to something that looks like nothing
//! it owes proves that it owes nothing any more (T-LIFT-43, AT-LIFT-21).

use std::time::Duration;

use tokio::time::Instant;

use super::reply::Shape;

/// Replies owed on one line at the same time; beyond it the oldest is forgotten.
const OWED_MAX: usize = 256;

/// What is owed on a line, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Owed {
    shapes: Vec<Shape>,
    asked: Vec<Instant>,
}

impl Owed {
    /// All of it.
    pub(super) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// A request that was asked then was given up.
    pub(super) fn add(&mut self, shape: Shape, asked: Instant) {
        if self.shapes.len() >= OWED_MAX {
            self.shapes.remove(0);
            self.asked.remove(0);
        }
        self.shapes.push(shape);
        self.asked.push(asked);
    }

    /// A late reply came, and nothing that the unit owed before it will: when it was asked for.
    pub(super) fn settle(&mut self, at: usize) -> Option<(Shape, Instant)> {
        let shape = self.shapes.get(at)?.clone();
        let asked = *self.asked.get(at)?;
        let unit = shape.unit();
        let mut place = 0;
        self.retain(|owed, _| {
            place += 1;
            owed.unit() != unit || place > at + 1
        });
        Some((shape, asked))
    }

    /// A unit owes nothing.
    pub(super) fn clear(&mut self, unit: u8) {
        self.retain(|shape, _| shape.unit() != unit);
    }

    /// What was asked so long ago will not come.
    pub(super) fn expire(&mut self, after: Duration) {
        let now = Instant::now();
        self.retain(|_, asked| now.saturating_duration_since(asked) < after);
    }

    /// Whether a late reply could be taken for one of this shape.
    pub(super) fn has_like(&self, shape: &Shape) -> bool {
        self.shapes.iter().any(|owed| owed.is_like(shape))
    }

    fn retain(&mut self, mut is_kept: impl FnMut(&Shape, Instant) -> bool) {
        let pairs = self.shapes.drain(..).zip(self.asked.drain(..));
        let kept: Vec<_> = pairs.filter(|(shape, at)| is_kept(shape, *at)).collect();
        (self.shapes, self.asked) = kept.into_iter().unzip();
    }
}

//! A world so small that all that can happen in it is looked at: two robots, one elevator, three
//! floors, messages that are lost, doubled and overtake each other, and a crash.
//!
//! Time is coarse: it jumps to the core's next deadline or stands still. The car moves in one go.
//! What the gateway publishes reaches robots at once; what robots and the controller say waits
//! until it is delivered, in any order. The search is breadth first over hashes of the core's state
//! and the world's; the checker that goes along judges every step, and of two ways to one state the
//! first goes on.

mod act;
mod play;
mod robot;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use protocol::id::IdError;

pub use self::act::Act;
pub use self::play::Small;

/// What a search has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// Different states.
    pub states: usize,
    /// Steps from one to another.
    pub steps: usize,
    /// How many acts deep; every way of so many acts was looked at, or all there are.
    pub depth: usize,
    /// The first law that was broken, and the acts that break it.
    pub broken: Option<(String, Vec<Act>)>,
    /// Rides that came to their end on some way.
    pub arrived: usize,
}

/// Looks at all states up to a depth, but at no more than `states_max`.
///
/// # Errors
/// [`IdError`] never, unless the names of the small world are broken.
pub fn search(depth_max: usize, states_max: usize) -> Result<Searched, IdError> {
    let first = Small::new()?;
    let mut seen = BTreeSet::from([fingerprint(&first)]);
    let mut level = vec![(first, Vec::new())];
    let mut searched = Searched {
        states: 1,
        steps: 0,
        depth: 0,
        broken: None,
        arrived: 0,
    };
    while searched.depth < depth_max && !level.is_empty() {
        let mut next = Vec::new();
        for (world, way) in level {
            for act in world.acts() {
                let mut after = world.clone();
                after.act(act);
                searched.steps += 1;
                let mut way: Vec<Act> = way.clone();
                way.push(act);
                if let Some(why) = after.broken() {
                    searched.broken = Some((why, way));
                    return Ok(searched);
                }
                if seen.insert(fingerprint(&after)) {
                    searched.arrived += usize::from(after.has_arrived());
                    next.push((after, way));
                }
            }
            if seen.len() >= states_max {
                searched.states = seen.len();
                return Ok(searched);
            }
        }
        level = next;
        searched.depth += 1;
        searched.states = seen.len();
    }
    Ok(searched)
}

/// Two hashes of all that a world goes on by: that two of a million states share both is less likely
/// than a fault of the machine.
fn fingerprint(world: &Small) -> (u64, u64) {
    let mut digest = Digest(DefaultHasher::new(), DefaultHasher::new());
    digest.1.write_u8(1);
    // Writing to a hash cannot fail.
    let _ = world.write_all(&mut digest);
    (digest.0.finish(), digest.1.finish())
}

struct Digest(DefaultHasher, DefaultHasher);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        self.1.write(text.as_bytes());
        Ok(())
    }
}

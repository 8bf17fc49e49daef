//! Which pass of which point ends the process: what `HALLCALL_CRASH_AT` and `HALLCALL_CRASH_ON` say.

pub(super) const AT: &str = "HALLCALL_CRASH_AT";
pub(super) const ON: &str = "HALLCALL_CRASH_ON";

pub(super) const C0: &str = "C0";
pub(super) const C1: &str = "C1";
pub(super) const C2: &str = "C2";
pub(super) const C3: &str = "C3";
pub(super) const C4: &str = "C4";
pub(super) const C5: &str = "C5";
pub(super) const C6: &str = "C6";
pub(super) const C7: &str = "C7";
pub(super) const C8: &str = "C8";
const POINTS: [&str; 9] = [C0, C1, C2, C3, C4, C5, C6, C7, C8];

pub(super) type Point = &'static str;

/// What holds for the ride, the rental or the device that a pass is about.
pub(super) type About = Vec<String>;

/// The point, the number of the pass, and what must hold for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) point: Point,
    pub(super) n: u64,
    pub(super) on: Vec<String>,
}

impl Plan {
    pub(super) fn read(at: &str, on: &str) -> Result<Self, String> {
        let wrong = || {
            let (first, last) = (POINTS[0], POINTS[POINTS.len() - 1]);
            format!("{AT} = {at:?}: it is <point>:<n>, a point of {first} to {last}, n from 1")
        };
        let (name, n) = at.split_once(':').ok_or_else(wrong)?;
        let point = POINTS.into_iter().find(|point| *point == name);
        let n = n.parse().ok().filter(|n| *n >= 1);
        Ok(Self {
            point: point.ok_or_else(wrong)?,
            n: n.ok_or_else(wrong)?,
            on: on.split_terminator(',').map(str::to_owned).collect(),
        })
    }

    pub(super) fn counts(&self, abouts: &[About]) -> bool {
        let holds = |about: &About| self.on.iter().all(|word| about.contains(word));
        self.on.is_empty() || abouts.iter().any(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_and_a_number_from_1() {
        let plan = Plan::read("C3:2", "T-1,QUEUED").unwrap();
        assert_eq!((plan.point, plan.n), ("C3", 2));
        assert_eq!(plan.on, ["T-1", "QUEUED"]);
        assert_eq!(Plan::read("C8:1", "").unwrap().on, [""; 0]);
        for wrong in [
            "", "C3", "C3:", "C3:0", "C3:-1", "C9:1", "3:1", "C3:1:1", "c3:1",
        ] {
            let said = Plan::read(wrong, "").unwrap_err();
            assert!(
                said.contains(AT) && said.contains(&format!("{wrong:?}")),
                "{said}"
            );
        }
    }

    #[test]
    fn all_words_must_hold_for_one_ride() {
        let ride = |words: [&str; 2]| words.map(str::to_owned).to_vec();
        let (one, other) = (ride(["T-1", "QUEUED"]), ride(["T-2", "HOLD"]));
        let plan = |on| Plan::read("C0:1", on).unwrap();
        assert!(plan("T-1,QUEUED").counts(&[other.clone(), one.clone()]));
        assert!(!plan("T-1,HOLD").counts(&[one, other]));
        assert!(plan("").counts(&[]));
        assert!(!plan("T-1").counts(&[]));
    }
}

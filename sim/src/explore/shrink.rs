//! A plan that fails, made small: what is not needed for the failure goes.

use super::plan::{Deed, Plan, Waits};
use super::run::{Failure, Options, run};
use crate::world::robot::Habits;

/// After a failure a plan needs this much more time to show it.
const AFTER_MS: u64 = 1_000;
/// The first deed of a small plan comes then.
const FIRST_MS: u64 = 2_000;

/// A plan at work.
#[derive(Debug)]
pub struct Shrinking {
    plan: Plan,
    failure: Failure,
    options: Options,
    runs: u32,
    runs_max: u32,
}

/// What is left of a plan, and how it fails.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The plan.
    pub plan: Plan,
    /// How it fails.
    pub failure: Failure,
    /// Runs that it took.
    pub runs: u32,
}

/// Makes a plan that fails small, in at most so many runs; `None` where it does not fail.
#[must_use]
pub fn shrink(plan: &Plan, options: Options, runs_max: u32) -> Option<Shrunk> {
    let options = Options {
        tell: None,
        ..options
    };
    let failure = run(plan, options).ok()?.failure?;
    let mut shrinking = Shrinking {
        plan: plan.clone(),
        failure,
        options,
        runs: 1,
        runs_max,
    };
    shrinking.cut_the_end();
    loop {
        let before = shrinking.weight();
        shrinking.leave_out();
        shrinking.calm_down();
        shrinking.hasten();
        shrinking.cut_the_end();
        if shrinking.weight() >= before || shrinking.runs >= runs_max {
            break;
        }
    }
    shrinking.empty_the_site();
    shrinking.make_the_site_plain();
    Some(Shrunk {
        plan: shrinking.plan,
        failure: shrinking.failure,
        runs: shrinking.runs,
    })
}

impl Shrinking {
    fn weight(&self) -> u64 {
        self.plan.deeds.len() as u64 * 100_000_000 + self.plan.until_ms
    }

    /// Takes a smaller plan if it fails in the same way.
    fn take(&mut self, plan: Plan) -> bool {
        if self.runs >= self.runs_max {
            return false;
        }
        self.runs += 1;
        let Some(failure) = run(&plan, self.options).ok().and_then(|it| it.failure) else {
            return false;
        };
        let same = failure.kind() == self.failure.kind();
        if same {
            self.plan = plan;
            self.failure = failure;
        }
        same
    }

    /// Nothing is asked for after the failure.
    fn cut_the_end(&mut self) {
        let mut plan = self.plan.clone();
        if self.failure.at_ms >= plan.until_ms {
            return;
        }
        plan.until_ms = self.failure.at_ms + AFTER_MS;
        plan.deeds.retain(|(at_ms, _)| *at_ms <= self.failure.at_ms);
        self.take(plan);
    }

    /// Deeds are left out, half of them at a time, then fewer.
    fn leave_out(&mut self) {
        let mut size = self.plan.deeds.len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < self.plan.deeds.len() {
                let mut plan = self.plan.clone();
                let to = (from + size).min(plan.deeds.len());
                plan.deeds.drain(from..to);
                if !self.take(plan) {
                    from += size;
                }
            }
            if size == 1 {
                return;
            }
            size = size.div_ceil(2);
        }
    }

    /// Robots keep the rules where it does not matter.
    fn calm_down(&mut self) {
        for place in 0..self.plan.deeds.len() {
            let mut plan = self.plan.clone();
            let Some((
                _,
                Deed::Ride {
                    habits,
                    eta_s,
                    priority,
                    only,
                    ..
                },
            )) = plan.deeds.get_mut(place)
            else {
                continue;
            };
            let calm = Habits {
                looks: habits.looks,
                ..Habits::default()
            };
            if **habits == calm && *eta_s == 0 && *priority == 5 && only.is_none() {
                continue;
            }
            (**habits, *eta_s, *priority, *only) = (calm, 0, 5, None);
            self.take(plan);
        }
    }

    /// What is left comes soon.
    fn hasten(&mut self) {
        let Some((first_ms, _)) = self.plan.deeds.first() else {
            return;
        };
        let early_ms = first_ms.saturating_sub(FIRST_MS);
        if early_ms == 0 {
            return;
        }
        let mut plan = self.plan.clone();
        for (at_ms, _) in &mut plan.deeds {
            *at_ms -= early_ms;
        }
        plan.until_ms -= early_ms;
        self.take(plan);
    }

    /// Waits and hops are those of the transcripts in `tests/scripts` where they do not matter.
    fn make_the_site_plain(&mut self) {
        let mut plan = self.plan.clone();
        (plan.site.latency_ms, plan.site.sync_ms) = (5, 0);
        self.take(plan);
        let mut plan = self.plan.clone();
        plan.site.waits = Waits::plain();
        self.take(plan);
        for place in 0..self.plan.site.elevators.len() {
            let mut plan = self.plan.clone();
            let lift = &mut plan.site.elevators[place];
            (lift.hop_ms, lift.hold_max_ms, lift.tells) = ((20, 30), 10_000, true);
            self.take(plan);
            let mut plan = self.plan.clone();
            let lift = &mut plan.site.elevators[place];
            (lift.claim, lift.mode_signal, lift.not_served) = (false, true, 0);
            self.take(plan);
        }
    }

    /// Elevators and robots that nobody needs go, from the last.
    fn empty_the_site(&mut self) {
        while self.plan.site.elevators.len() > 1 {
            let mut plan = self.plan.clone();
            plan.site.elevators.pop();
            if !self.take(plan) {
                break;
            }
        }
        while self.plan.robots.len() > 1 {
            let mut plan = self.plan.clone();
            plan.robots.pop();
            if !self.take(plan) {
                break;
            }
        }
    }
}

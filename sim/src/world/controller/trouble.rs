//! What may go wrong with a controller.

use protocol::Fence;
use protocol::hardware::{Action, Report};

use super::Controller;

impl Controller {
    /// Neither hears nor speaks, or does both again.
    pub fn set_silent(&mut self, silent: bool) {
        self.hears = !silent;
        self.speaks = !silent;
    }

    /// Does what it is told and says nothing, or speaks again.
    pub fn set_mute(&mut self, mute: bool) {
        self.speaks = !mute;
    }

    /// Refuses so many commands of that word.
    pub fn refuse(&mut self, word: &str, times: u32) {
        self.refusals.insert(word.to_owned(), times);
    }

    /// How late the signals of the doors are from here on, from and to.
    pub fn set_door_lag(&mut self, from_ms: u64, to_ms: u64) {
        self.config.door_lag_ms = (from_ms, to_ms);
    }

    /// The gateway that asked is gone: nothing that is under way to it arrives.
    pub fn cut(&mut self) {
        self.outgoing.clear();
        // The next one takes no answer to a question that it did not ask.
        self.incoming
            .retain(|(_, command, _)| command.action != Action::Query);
    }

    /// From here on it answers up to so much later than usual.
    pub fn set_slow(&mut self, slow_max_ms: u64) {
        self.slow_max_ms = slow_max_ms;
    }

    /// It says everything twice, or once.
    pub fn set_stutter(&mut self, stutters: bool) {
        self.stutters = stutters;
    }

    /// It goes on showing what it shows at this moment, or the truth again.
    pub fn set_frozen(&mut self, now_ms: u64, frozen: bool) {
        self.stale = frozen.then(|| self.car.snapshot(now_ms));
    }

    /// It tells changes unasked, or only answers.
    pub fn set_tells(&mut self, tells: bool) {
        self.config.tells = tells;
    }

    /// It loses its power: neither hears nor speaks, and the car stays where it is.
    pub fn lose_power(&mut self, now_ms: u64) {
        self.set_silent(true);
        self.car.set_faults(now_ms, |faults| faults.stuck = true);
    }

    /// It starts anew: calls, holds, fences and answers are forgotten.
    pub fn restart(&mut self, now_ms: u64) {
        self.set_silent(false);
        self.car.set_faults(now_ms, |faults| faults.stuck = false);
        self.car.forget(now_ms);
        self.known.clear();
        self.working.clear();
        self.incoming.clear();
        self.outgoing.clear();
        self.highest = Fence(0);
        let reading = self.reading(now_ms);
        let asked_ms = None;
        self.say(now_ms, Report::Reading { reading, asked_ms });
    }

    /// It is whole, and says so.
    pub fn heal(&mut self, now_ms: u64) {
        self.set_silent(false);
        self.refusals.clear();
        self.set_slow(0);
        self.set_stutter(false);
        self.set_frozen(now_ms, false);
        self.set_tells(true);
        self.set_door_lag(0, 0);
        self.car
            .set_faults(now_ms, |faults| *faults = Default::default());
    }
}

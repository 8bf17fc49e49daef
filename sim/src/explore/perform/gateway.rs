//! Deeds around the gateway.

use super::{Run, Then};
use crate::explore::fault::Fault;
use crate::explore::plan::GatewayDeed;
use crate::explore::script;
use crate::world::dice::Dice;

impl Run<'_> {
    pub(super) fn gateway_deed(&mut self, what: &GatewayDeed, span_ms: u64) {
        let mut dice = self.chance();
        let now_ms = self.world.now_ms();
        match script::gateway(what) {
            Some((begin, end)) => {
                self.script.line(now_ms, begin);
                self.script.line(now_ms + span_ms, end);
            }
            None => self.script.lacks(format!("{what:?}")),
        }
        match what {
            GatewayDeed::BrokerDown { forgets } => {
                self.world.broker_down(*forgets);
                self.later(span_ms, Then::BrokerUp);
            }
            GatewayDeed::LinkCut(side) => {
                self.world.cut_link(*side);
                self.later(span_ms, Then::Link(*side));
            }
            GatewayDeed::LinkStalls(side) => self.world.stall_link(*side, span_ms),
            GatewayDeed::Weather(weather) => {
                self.world.set_weather(*weather, dice.roll());
                self.later(span_ms, Then::GoodWeather);
            }
            GatewayDeed::EarlyWill => self.world.early_will(),
            GatewayDeed::Junk(kind) => self.junk(*kind),
            GatewayDeed::Killed { twice } => {
                self.world.kill_gateway();
                self.start_later(span_ms, *twice);
            }
            GatewayDeed::PowerCut { twice } => {
                let cut = self.world.power_cut(&mut dice);
                self.fired.add(Fault::Torn, cut.torn);
                self.fired.add(Fault::Flipped, cut.flipped);
                self.start_later(span_ms, *twice);
            }
            GatewayDeed::RecordAltered => {
                self.world.kill_gateway();
                self.forget_starts();
                let altered = self.world.disk_mut().alter(&mut dice);
                self.later(
                    span_ms,
                    if altered {
                        Then::StartAltered
                    } else {
                        Then::Start
                    },
                );
            }
            GatewayDeed::SyncFails(times) => self.world.disk_mut().fail_syncs(*times),
            GatewayDeed::DiskFails => {
                self.world.set_disk_failing(true);
                self.later(span_ms, Then::DiskWell);
            }
            GatewayDeed::DiskLow => {
                self.world.disk_low(true);
                self.later(span_ms, Then::DiskSpace);
            }
            GatewayDeed::DiskSlow(sync_ms) => {
                self.world.set_sync_ms(*sync_ms);
                self.later(span_ms, Then::SyncMs(self.plan.site.sync_ms));
            }
            GatewayDeed::WallClock(offset_ms) => {
                self.world.set_wall_offset(*offset_ms);
                self.later(span_ms, Then::WallClock);
            }
            GatewayDeed::Stalls { clock } => self.world.stall_gateway(span_ms, *clock),
        }
    }

    /// The chance of a deed: that of its plan and its moment.
    pub(super) fn chance(&self) -> Dice {
        Dice::new(self.plan.seed ^ self.world.now_ms().rotate_left(20))
    }
}

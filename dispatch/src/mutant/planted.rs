//! The planted mistakes, and which of them is on in this thread.

use std::cell::Cell;

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A planted mistake.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Mutant {$(
            $(#[$doc])*
            $name,
        )*}

        /// All of them.
        pub const ALL: &[Mutant] = &[$(Mutant::$name),*];
    };
}

mutants! {
    /// Law 1: an elevator that has an owner is granted again.
    GrantOwned,
    /// Law 1: a kept-back elevator is free before its doors were seen.
    FreeUnseen,
    /// Law 1: a hall call that stands is taken for cleared.
    CallUncleared,
    /// Law 2: a robot that was told `enter` did not, by time alone.
    NoShowUnseen,
    /// Law 2: a cancel ends a ride whose robot may be inside.
    CancelInside,
    /// Law 2: a lease ends a HOLD.
    HoldLeased,
    /// Law 3: a grant has the fence of the one before.
    KeepFence,
    /// Law 3: a command carries a fence that is over.
    CommandFence,
    /// Law 3: the gate lets a lower fence pass.
    GateOpen,
    /// Law 5: the gate lets a command pass that waited too long.
    GateLate,
    /// Law 4: the barrier lets all out at once.
    BarrierOpen,
    /// Law 4: the barrier does not hear of what was appended.
    BarrierForgets,
    /// Law 4: a message is acknowledged before its facts are durable.
    AckEarly,
    /// Law 4: acknowledgements of an old connection leave on the new one.
    AckOld,
    /// Law 5: an unanswered command is sent again without a look.
    ResendUnread,
    /// Law 5: a permission needs no reading.
    CrossUnread,
    /// Law 9: a permission needs no hold.
    CrossUnheld,
    /// Law 9: a reading of before the hold founds a permission.
    CrossBeforeHold,
    /// Law 5: a command that is given up under way leaves its lane to the next.
    LaneFreed,
    /// Law 6: a reading of before the state began moves the ride.
    OldReading,
    /// Law 6: a reading that was overtaken counts.
    LateReading,
    /// Law 6: a door that is told to close takes no permission away.
    NoDoubt,
    /// Law 7: a mode that serves no robots stops no command.
    CommandInFire,
    /// Law 7: what waits to be sent is sent in a fire too.
    WaitingInFire,
    /// Law 7: a fire is over when its signal is.
    FireUnlatched,
    /// Law 7: a suspended zone is granted.
    GrantSuspended,
    /// Law 8: an order that ended rides again.
    RideTwice,
    /// Law 8: another content is the same order.
    NoConflict,
    /// Law 9: a hold is not renewed.
    HoldOnce,
    /// Law 9: a hold is longer than the controller keeps one.
    HoldLong,
    /// Law 9: the door is closed when a robot is late.
    CloseUnconfirmed,
    /// Law 10: the queue has no bound.
    QueueUnbounded,
    /// Law 11: a record need not follow the one before it.
    ChainUnchecked,
    /// Law 11: half a step stands.
    StepTorn,
    /// Law 11: a record that was durable is cut off as a tail.
    CorruptCut,
    /// Law 8: an accepted order has no row of its own.
    LedgerUnwritten,
    /// Law 12: nobody is promoted.
    NoPromotion,
    /// QUEUED: `entered` is accepted.
    QueuedEntered,
    /// GRANTED: the reading of before the grant is enough.
    GrantedUnread,
    /// WAITING_HALL_CALL: one period is enough for the time-out.
    WaitingShort,
    /// WAITING_HALL_CALL: the call is for another landing.
    CallElsewhere,
    /// ELEVATOR_ARRIVED: `entry_s` is half as long.
    EntryShort,
    /// ELEVATOR_ARRIVED: `entered` is believed against the signal.
    EnteredUnseen,
    /// ROBOT_ENTERED: the door closes before the call is registered.
    CloseUncalled,
    /// ROBOT_ENTERED: under way with an open door is RUNNING.
    RunUnshut,
    /// RUNNING: any open door is the target.
    AnyFloor,
    /// TARGET_ARRIVED: `exited` is believed against the signal.
    ExitedUnseen,
    /// ROBOT_EXITED: the elevator is free before its doors are shut.
    FreedAtExit,
    /// HOLD: every reason passes.
    HoldPasses,
    /// HOLD: `cancel_enter` ends it against the signal.
    HoldEmptied,
    /// CANCELLED: a repeated `cancel_enter` is refused.
    CancelledAgain,
    /// `query`: a permission is repeated without a look.
    QueryStale,
    /// The lease is half as long.
    LeaseShort,
    /// The lease runs while the broker is away.
    LeaseRuns,
    /// A silent controller is not noticed.
    NeverSilent,
    /// NOT_OWNER is not looked at.
    AnyOwner,
    /// STALE_FENCE is not looked at.
    AnyFence,
    /// Another elevator in an event is not looked at.
    AnyElevator,
    /// A robot has two live orders.
    TwoOrders,
    /// A change repeats the sequence number.
    SeqStands,
    /// A permission outlives a restart.
    StartPermits,
    /// A restart sends before it reads.
    StartBlind,
    /// The door is told to open wherever the car is.
    OpenOffLevel,
    /// An occupied car is granted.
    OccupiedGrant,
    /// A blocked elevator is granted.
    BlockGranted,
}

thread_local! {
    static ON: Cell<Option<Mutant>> = const { Cell::new(None) };
}

/// Turns one on in this thread, or none.
pub fn select(mutant: Option<Mutant>) {
    ON.set(mutant);
}

/// Whether one is on in this thread.
#[must_use]
pub fn is_on(mutant: Mutant) -> bool {
    ON.get() == Some(mutant)
}

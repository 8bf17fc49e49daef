//! Every code that a refusal, a ride or an alarm carries. Each has its entry in `docs/errors.md`.

use crate::word::words;

words! {
    /// Why a request, an event or a cancel was refused (`wire.md` section 3; from `CAPACITY_FULL`
    /// on of applications, `wire.md` section 8).
    Code {
        /// The payload is larger than 16 KiB.
        TooLarge = "TOO_LARGE",
        /// The payload cannot be read as the message that its topic names.
        Malformed = "MALFORMED",
        /// The robot sends more messages per second than the site allows.
        RateLimited = "RATE_LIMITED",
        /// A request over HTTP without a token that the gateway knows.
        Unauthorized = "UNAUTHORIZED",
        /// A request over HTTP was not answered in time; whether it was done is not known.
        NoAnswer = "NO_ANSWER",
        /// The order id is known with another content or belongs to another robot.
        OrderConflict = "ORDER_CONFLICT",
        /// The gateway cannot take new orders: its store is nearly full.
        Unavailable = "UNAVAILABLE",
        /// The request is too old, from the future, or its `expires_at` is past.
        StaleRequest = "STALE_REQUEST",
        /// The site has no such floor, or the floor no such side.
        UnknownFloor = "UNKNOWN_FLOOR",
        /// Start and end are the same floor.
        SameFloor = "SAME_FLOOR",
        /// The site has no such elevator.
        UnknownElevator = "UNKNOWN_ELEVATOR",
        /// No allowed elevator serves both landings.
        NotServed = "NOT_SERVED",
        /// Every allowed elevator is suspended.
        SiteSuspended = "SITE_SUSPENDED",
        /// The robot has another live ride.
        RobotBusy = "ROBOT_BUSY",
        /// The queue is full.
        QueueFull = "QUEUE_FULL",
        /// The order is not known.
        UnknownOrder = "UNKNOWN_ORDER",
        /// The order is another robot's.
        NotOwner = "NOT_OWNER",
        /// The event has no place in the state that the ride is in.
        WrongState = "WRONG_STATE",
        /// The fence is not the ride's.
        StaleFence = "STALE_FENCE",
        /// Every place of the pool is taken.
        CapacityFull = "CAPACITY_FULL",
        /// A quota that a label falls under is used up.
        QuotaExceeded = "QUOTA_EXCEEDED",
        /// The resource is held, or in quarantine.
        ResourceTaken = "RESOURCE_TAKEN",
        /// The pool has no such resource.
        NotEligible = "NOT_ELIGIBLE",
        /// The site has no such pool.
        UnknownPool = "UNKNOWN_POOL",
        /// There was never such a claim, or it is forgotten.
        UnknownClaim = "UNKNOWN_CLAIM",
        /// The claim has ended.
        ClaimExpired = "CLAIM_EXPIRED",
        /// The site has no such device.
        UnknownDevice = "UNKNOWN_DEVICE",
        /// The device is rented, out of order or out of use.
        DeviceUnavailable = "DEVICE_UNAVAILABLE",
        /// The token is not that of the reservation, user and device.
        BadToken = "BAD_TOKEN",
        /// The reservation was not started in time.
        RentalExpired = "RENTAL_EXPIRED",
        /// There was never such a rental, or it is forgotten.
        UnknownRental = "UNKNOWN_RENTAL",
        /// The user has as many open rentals as the site allows.
        RentalLimit = "RENTAL_LIMIT",
        /// The site has no such series.
        UnknownSeries = "UNKNOWN_SERIES",
        /// The series has no number left, nor has one that it goes on with.
        SeriesExhausted = "SERIES_EXHAUSTED",
        /// The series has never given this number.
        UnknownNumber = "UNKNOWN_NUMBER",
        /// The site has no such department.
        UnknownDepartment = "UNKNOWN_DEPARTMENT",
        /// Nobody waits in the department.
        NoTurnWaiting = "NO_TURN_WAITING",
    }
}

words! {
    /// Why a ride is in the state that it is in (`wire.md` section 4).
    ReasonCode {
        /// Every able elevator has an owner.
        Busy = "BUSY",
        /// No able elevator is fit for use.
        Unavailable = "UNAVAILABLE",
        /// The zone is suspended.
        Suspended = "SUSPENDED",
        /// The robot gave the ride up.
        CancelledByRobot = "CANCELLED_BY_ROBOT",
        /// An operator gave the ride up.
        CancelledByOperator = "CANCELLED_BY_OPERATOR",
        /// Still queued at `expires_at`.
        RequestExpired = "REQUEST_EXPIRED",
        /// The car did not come.
        HallCallTimeout = "HALL_CALL_TIMEOUT",
        /// The controller refused a call.
        CallRefused = "CALL_REFUSED",
        /// The robot did not enter in time.
        BoardingTimeout = "BOARDING_TIMEOUT",
        /// Whether the robot is inside is not known.
        EntryUnconfirmed = "ENTRY_UNCONFIRMED",
        /// The robot's lease ended while it waited.
        RobotLost = "ROBOT_LOST",
        /// The controller is silent.
        ControllerLost = "CONTROLLER_LOST",
        /// The door does not do what it should.
        DoorFault = "DOOR_FAULT",
        /// The car stands open at a floor that it should not.
        WrongFloor = "WRONG_FLOOR",
        /// The car did not reach the target in time.
        TravelTimeout = "TRAVEL_TIMEOUT",
        /// The robot did not leave in time.
        ExitTimeout = "EXIT_TIMEOUT",
        /// The robot cannot leave.
        ExitRefused = "EXIT_REFUSED",
        /// Fire or emergency mode.
        FireMode = "FIRE_MODE",
        /// The elevator is in maintenance, attendant or out-of-service mode.
        OutOfService = "OUT_OF_SERVICE",
        /// An operator ended it.
        OperatorReset = "OPERATOR_RESET",
    }
}

words! {
    /// What an alarm is about (`wire.md` section 6): the codes of a reason that can stand for an
    /// alarm, and the gateway's own.
    AlarmCode {
        /// See [`ReasonCode::HallCallTimeout`].
        HallCallTimeout = "HALL_CALL_TIMEOUT",
        /// See [`ReasonCode::CallRefused`].
        CallRefused = "CALL_REFUSED",
        /// See [`ReasonCode::BoardingTimeout`].
        BoardingTimeout = "BOARDING_TIMEOUT",
        /// See [`ReasonCode::EntryUnconfirmed`].
        EntryUnconfirmed = "ENTRY_UNCONFIRMED",
        /// See [`ReasonCode::RobotLost`].
        RobotLost = "ROBOT_LOST",
        /// See [`ReasonCode::ControllerLost`].
        ControllerLost = "CONTROLLER_LOST",
        /// See [`ReasonCode::DoorFault`].
        DoorFault = "DOOR_FAULT",
        /// See [`ReasonCode::WrongFloor`].
        WrongFloor = "WRONG_FLOOR",
        /// See [`ReasonCode::TravelTimeout`].
        TravelTimeout = "TRAVEL_TIMEOUT",
        /// See [`ReasonCode::ExitTimeout`].
        ExitTimeout = "EXIT_TIMEOUT",
        /// See [`ReasonCode::ExitRefused`].
        ExitRefused = "EXIT_REFUSED",
        /// See [`ReasonCode::FireMode`].
        FireMode = "FIRE_MODE",
        /// See [`ReasonCode::OutOfService`].
        OutOfService = "OUT_OF_SERVICE",
        /// See [`ReasonCode::OperatorReset`].
        OperatorReset = "OPERATOR_RESET",
        /// A robot may be in a car that is not its own.
        UnexpectedOccupant = "UNEXPECTED_OCCUPANT",
        /// The journal could not be written.
        JournalFailed = "JOURNAL_FAILED",
        /// Less than 64 MiB free for the journal.
        DiskLow = "DISK_LOW",
        /// The broker cannot be reached.
        BrokerLost = "BROKER_LOST",
        /// A bus cannot be reached.
        BusLost = "BUS_LOST",
        /// A controller's clock differs from ours.
        ControllerClock = "CONTROLLER_CLOCK",
        /// Our wall clock jumped.
        ClockJump = "CLOCK_JUMP",
        /// Another gateway with our id lives.
        DuplicateGateway = "DUPLICATE_GATEWAY",
        /// The embedded broker listens beyond loopback.
        Insecure = "INSECURE",
        /// 80 % of a pool were taken for 60 s.
        CapacityHigh = "CAPACITY_HIGH",
        /// Ten claims of a pool or more were cleaned up by one sweep.
        CleanupHigh = "CLEANUP_HIGH",
        /// A physical resource lost its holder and was not seen stopped.
        Quarantined = "QUARANTINED",
        /// A device is out of order, silent, or runs for nobody.
        DeviceFault = "DEVICE_FAULT",
        /// A series has no number left, or was stopped.
        SeriesExhausted = "SERIES_EXHAUSTED",
    }
}

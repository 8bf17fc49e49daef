//! What applications ask over HTTP: the same requests as over MQTT, on the same way.
//!
//! A request becomes an input of the same core and waits for its reply, which leaves when all that it
//! caused is durable. Who goes away before that finds the answer by asking again.

mod answer;
mod ask;
mod listen;
mod openapi;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use protocol::Topics;
use protocol::limits::MESSAGE_BYTES_MAX;

pub use listen::{HttpError, Running};

use crate::config::HttpConfig;
use crate::inbox::Inbox;
use crate::instance::Stamps;
use crate::operator::Operators;

/// What HTTP needs.
pub struct Setup {
    /// Where, and who may ask.
    pub config: HttpConfig,
    /// The topics of the site: a request is read as on its client's topic.
    pub topics: Topics,
    /// What answers are stamped with.
    pub stamps: Stamps,
    /// Where requests go.
    pub inbox: Inbox,
    /// Where figures are asked for.
    pub operators: Operators,
}

/// What every request is served with.
struct Shared {
    setup: Setup,
    /// Made once: it does not change while the gateway runs.
    openapi: String,
}

type State = axum::extract::State<Arc<Shared>>;

/// Listens and answers until [`Running::stop`]. Needs a tokio runtime.
///
/// # Errors
/// Where the address cannot be listened at.
pub fn start(setup: Setup) -> Result<Running, HttpError> {
    let address = setup.config.listen;
    let openapi = openapi::document().to_string();
    listen::start(address, routes(Arc::new(Shared { setup, openapi })))
}

/// The paths. Those of [`openapi::document`] are the same.
fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/v1/requests", post(ask::request))
        .route("/api/v1/rentals/start", post(ask::start_rental))
        .route("/api/v1/openapi.json", get(answer::openapi))
        .route("/metrics", get(answer::metrics))
        .fallback(answer::no_such_path)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(DefaultBodyLimit::max(MESSAGE_BYTES_MAX))
        .with_state(shared)
}

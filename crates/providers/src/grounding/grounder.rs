//! The model that is asked, and what its service answers.

use std::time::Duration;

use bailiwick_config::VisionModel;
use bailiwick_contract::{Cancel, ErrorCode, FOR_USER, Failure};
use bailiwick_policy::AllRoots;

use super::answer::{self, ModelPlace, Scale};
use super::key::ModelKey;
use super::wire;
use crate::http_client::{HttpClient, HttpReply, HttpUrl, NetworkError};
use crate::screen::ImageFile;

/// The longest description of what to find, in characters.
pub const MAX_DESCRIPTION: usize = 500;
/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 256 << 10;
/// How long the client waits beyond the deadline of the request, which ends it before.
const BEYOND: Duration = Duration::from_secs(5);

/// A configured model that can be asked: its key was read.
pub struct Grounder {
    model: VisionModel,
    url: HttpUrl,
    key: Option<ModelKey>,
}

impl Grounder {
    /// Prepares the model of the config.
    ///
    /// # Errors
    /// `provider_unavailable` where none is configured, or its key cannot be read.
    pub fn new(model: Option<&VisionModel>, roots: &AllRoots) -> Result<Self, Failure> {
        let model = model.ok_or_else(|| {
            unavailable("no vision model is configured, so that pictures are sent nowhere").hint(format!(
                "{FOR_USER}`bailiwick config edit`, and set `visionModel` to the model that may see pictures, as in \
                 docs/how-to/desktop.md."
            ))
        })?;
        let url = format!("{}{}", model.base(), wire::path(model.kind));
        let url = HttpUrl::parse(&url)
            .map_err(|problem| unavailable(&format!("`visionModel.baseUrl` cannot be used: {problem}")))?;
        // The config says so too; a picture in the clear is worth a second look.
        if !url.is_https && !url.is_loopback() {
            return Err(unavailable("`visionModel.baseUrl` is not encrypted"));
        }
        let key = ModelKey::read(model, roots)?;
        Ok(Self { model: model.clone(), url, key })
    }

    /// Returns the host and the port to which pictures are sent.
    pub fn host(&self) -> String {
        format!("{}:{}", self.url.host, self.url.port)
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.model.model
    }

    /// Sends a picture, and returns the places on it that fit a description, in its pixels; the best first.
    ///
    /// # Errors
    /// `provider_unavailable` where the service gives no answer, `execution_failed` where the answer names no places of the picture.
    pub async fn ask(
        &self,
        image: &ImageFile,
        description: &str,
        cancel: &Cancel,
    ) -> Result<Vec<ModelPlace>, Failure> {
        let question = wire::Question { model: &self.model, image, description };
        let left = cancel.deadline().saturating_duration_since(std::time::Instant::now());
        let client = HttpClient::direct(left + BEYOND, MAX_ANSWER_BYTES);
        let request = wire::request(&self.url, self.key.as_ref().map(ModelKey::text), &question);
        let reply = client.send(request).await.map_err(|error| self.unanswered(&error))?;
        self.check_status(&reply)?;
        let text = wire::text(self.model.kind, &reply.body).ok_or_else(|| {
            self.malformed("it is not of the form that the service is said to have", &reply.body)
        })?;
        let scale = Scale { coordinates: self.model.coordinates, width: image.width, height: image.height };
        answer::places(&text, scale).map_err(|why| self.malformed(&why, &text))
    }

    fn check_status(&self, reply: &HttpReply) -> Result<(), Failure> {
        let (host, status) = (self.host(), reply.status);
        let hint = match status {
            200..=299 => return Ok(()),
            300..=399 => {
                return Err(unavailable(&format!(
                    "{host} answers with a redirect ({status}), and pictures are not sent on"
                ))
                .hint(format!(
                    "{FOR_USER}name the place itself as `visionModel.baseUrl`: `bailiwick config edit`."
                )));
            }
            401 | 403 => "check the key that `visionModel` refers to",
            404 => "check `baseUrl` and `model` of `visionModel`",
            429 => "the service has a limit, which is reached; ask again later",
            _ => "check the service, and `visionModel` in the config",
        };
        Err(unavailable(&format!("{host} answers with the status {status}"))
            .hint(format!("{FOR_USER}{hint}.")))
    }

    fn unanswered(&self, error: &NetworkError) -> Failure {
        unavailable(&format!("{} gave no answer: {}", self.host(), answer::shown(&error.problem)))
            .hint(format!("{FOR_USER}check that the service of `visionModel` runs and can be reached."))
    }

    /// Creates the failure of an answer that is none. What the model wrote is shown, for who asked to see why, and not recorded.
    fn malformed(&self, why: &str, text: &str) -> Failure {
        let text = match &self.key {
            Some(key) if text.contains(key.text()) => "[not shown: it has the key]".to_owned(),
            _ => answer::shown(text),
        };
        Failure::new(
            ErrorCode::ExecutionFailed,
            format!("the answer of the vision model cannot be used: {why}"),
        )
        .detail("answer", text)
        .hint("Say in other words what to find, or use screen.ocr or ui.find.")
        .hint(format!(
            "{FOR_USER}a model that counts in thousandths or from 0 to 1 needs `visionModel.coordinates`, as in docs/how-to/desktop.md."
        ))
    }
}

pub(super) fn unavailable(message: &str) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, message)
}

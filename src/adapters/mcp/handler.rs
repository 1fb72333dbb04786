//! The one handler behind every MCP transport.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestMethod,
    ReadResourceRequestParams, ReadResourceResponse, RequestId, ResourcesCapability, ServerCapabilities,
    ServerConfig, ServerJsonRpcMessage, ServerResult, Tool, UpdateTaskParams,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use bailiwick_contract::envelope::kind;
use bailiwick_contract::json::read_unambiguous;
use bailiwick_contract::{Caller, Envelope, Failure, Progress, Reply, id};
use bailiwick_engine::service::Service;

use super::super::backend::{Backend, EmbeddedService, Origin};
use super::super::chain;
use super::elicitation::{self, Elicitation};
use super::plain_call::PlainCall;
use super::render::{self, Form, StructuredContent};
use super::tasks::{LongCall, Tasks};
use super::{instructions, patience, progress, prompts, resources, tools};
use crate::scope_setup::offer::Offer;

/// The revisions that are spoken, oldest first.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];
/// The longest client name that is kept.
const MAX_CLIENT_CHARS: usize = 100;

/// Hears what the client of a conversation calls itself.
pub type ClientCallback = Box<dyn Fn(&str) + Send + Sync>;

/// Answers MCP requests. Cheap to clone.
#[derive(Clone)]
pub struct Handler {
    way: HandlerMode,
    /// Cancels what is in the works when the service stops.
    shutdown: CancellationToken,
    tasks: Arc<Tasks>,
}

#[derive(Clone)]
enum HandlerMode {
    /// One caller, fixed when the process began, over [`super::stdio_transport`].
    Fixed(Arc<Conversation>),
    /// Each request brings its caller, put there by the HTTP guard.
    PerRequest(Arc<Service>),
}

/// What the requests of a conversation have in common.
struct Conversation {
    backend: Arc<Backend>,
    session: String,
    on_client: Option<ClientCallback>,
    /// Set by `initialize`: a conversation of revision 2026-07-28 has none.
    client: OnceLock<ConversationClient>,
}

/// The client of a conversation, as it has said at its beginning.
struct ConversationClient {
    name: Option<String>,
    can_ask: bool,
    peer: Peer<RoleServer>,
}

/// What a plain call needs beside what it says.
struct PlainOrigin {
    backend: Arc<Backend>,
    origin: Origin,
    patience: Duration,
    /// Cancels it.
    gone: CancellationToken,
    /// Who is asked for approval by a request, in an older revision.
    asked: Option<Peer<RoleServer>>,
}

/// Where one request goes.
struct Route {
    backend: Arc<Backend>,
    session: Option<String>,
    /// Whose tasks it sees: there are no others on the transport with one caller.
    owner: String,
}

impl Handler {
    /// Creates the handler of a transport with one caller.
    pub fn fixed(
        backend: Arc<Backend>,
        on_client: Option<ClientCallback>,
        shutdown: CancellationToken,
    ) -> Self {
        let conversation =
            Conversation { backend, session: id::new_id(), on_client, client: OnceLock::new() };
        Self { way: HandlerMode::Fixed(Arc::new(conversation)), shutdown, tasks: Arc::default() }
    }

    /// Creates the handler of the HTTP transport.
    pub fn per_request(service: Arc<Service>, shutdown: CancellationToken) -> Self {
        Self { way: HandlerMode::PerRequest(service), shutdown, tasks: Arc::default() }
    }

    /// Finds out where a request goes and on whose behalf.
    fn route(&self, context: &RequestContext<RoleServer>) -> Result<Route, ErrorData> {
        match &self.way {
            HandlerMode::Fixed(conversation) => {
                let session = conversation.session.clone();
                let backend = Arc::clone(&conversation.backend);
                Ok(Route { backend, owner: session.clone(), session: Some(session) })
            }
            HandlerMode::PerRequest(service) => {
                let caller = context
                    .extensions
                    .get::<http::request::Parts>()
                    .and_then(|parts| parts.extensions.get::<Caller>())
                    // Only a route outside the guard could get here; it gets nothing.
                    .ok_or_else(|| ErrorData::internal_error("the request has no caller", None))?;
                let owner = caller.identity().to_owned();
                Ok(Route { backend: to_service(service, caller.clone()), session: None, owner })
            }
        }
    }

    /// Passes on what the client calls itself.
    fn hear(&self, client: Option<&str>) {
        if let HandlerMode::Fixed(conversation) = &self.way
            && let (Some(on_client), Some(client)) = (&conversation.on_client, client)
        {
            on_client(client);
        }
    }

    async fn offer(&self, context: &RequestContext<RoleServer>) -> Result<Offer, ErrorData> {
        Ok(self.route(context)?.backend.offer().await)
    }

    /// Reads the requests of a call, or why they cannot be read: then none of them is run.
    async fn requests(
        tool: &str,
        mut arguments: Map<String, Value>,
        backend: &Backend,
    ) -> Result<Result<Vec<Envelope>, Failure>, ErrorData> {
        let rest = match tool {
            tools::COMPUTER_QUERY | tools::COMPUTER_OPERATION => chain::take(&mut arguments),
            _ => Ok(Vec::new()),
        };
        let rest = match rest {
            Ok(rest) => rest,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut requests = Vec::new();
        for (at, arguments) in std::iter::once(arguments).chain(rest).enumerate() {
            match Self::envelope(tool, arguments, backend).await? {
                Ok(envelope) if at > 0 && !chain::is_known(&envelope) => return Ok(Ok(vec![envelope])),
                Ok(envelope) => requests.push(envelope),
                Err(failure) if requests.is_empty() => return Ok(Err(failure)),
                Err(failure) => {
                    return Ok(Err(failure.hint(chain::about(at))));
                }
            }
        }
        Ok(Ok(requests))
    }

    /// Reads what a request asks for, or why it cannot be read.
    async fn envelope(
        tool: &str,
        arguments: Map<String, Value>,
        backend: &Backend,
    ) -> Result<Result<Envelope, Failure>, ErrorData> {
        let mut envelope = tools::envelope_of(tool, arguments).ok_or_else(|| unknown_tool(tool))?;
        if let Err(failure) = &mut envelope
            && let Some(other) = failure.details.remove(tools::OTHER_TOOL)
        {
            // Only those who have the other tool are told of it.
            failure.hints.push(match (backend.offer().await.effects, other.as_str()) {
                (true, Some(other)) => format!("Send the same arguments to {other}."),
                _ => "Nothing that changes things is open to you.".to_owned(),
            });
        }
        Ok(envelope)
    }

    async fn submit(
        &self,
        requests: Result<Vec<Envelope>, Failure>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, ErrorData> {
        let Route { backend, session, .. } = self.route(context)?;
        let origin = Origin { client: client_name(context), session };
        let gone = context.ct.child_token();
        let patience = patience::of(origin.client.as_deref().or_else(|| user_agent(context)));
        let progress = Progress::default();
        let token = context.meta.get_progress_token();
        let told = token.is_some().then_some(&progress);
        // Boxed, since rmcp moves the futures of its handlers from place to place.
        let work = Box::pin(self.run(&backend, &origin, requests, patience, &gone, told));
        Ok(match token {
            Some(token) => {
                progress::told(work, &progress, |notice| notice.send(token.clone(), &context.peer)).await
            }
            None => work.await,
        })
    }

    /// Runs the requests of a call, unless the service stops.
    async fn run(
        &self,
        backend: &Backend,
        origin: &Origin,
        requests: Result<Vec<Envelope>, Failure>,
        patience: Duration,
        gone: &CancellationToken,
        progress: Option<&Progress>,
    ) -> Reply {
        self.hear(origin.client.as_deref());
        let mut work = std::pin::pin!(chain::run(backend, origin, requests, Some(patience), gone, progress));
        tokio::select! {
            biased;
            reply = &mut work => reply,
            () = self.shutdown.cancelled() => {
                gone.cancel();
                work.await
            }
        }
    }

    /// Returns whether the client of a conversation has said at its beginning who it is and what it can do.
    pub(super) fn has_agreed(&self) -> bool {
        matches!(&self.way, HandlerMode::Fixed(conversation) if conversation.client.get().is_some())
    }

    /// Creates what cancels a call, and is cancelled when the service stops.
    pub(super) fn call_token(&self) -> CancellationToken {
        self.shutdown.child_token()
    }

    /// Answers a plain call of a conversation until it is `gone`: rmcp would start two tasks for it.
    pub(super) async fn answer_line(
        &self,
        call: PlainCall,
        gone: CancellationToken,
        progress: &Progress,
    ) -> Vec<u8> {
        let HandlerMode::Fixed(conversation) = &self.way else { return not_plain(call.id) };
        let client = conversation.client.get();
        let name = match client {
            Some(client) => client.name.clone(),
            None => call.client.as_ref().and_then(name_of),
        };
        let from = PlainOrigin {
            backend: Arc::clone(&conversation.backend),
            patience: patience::of(name.as_deref()),
            origin: Origin { client: name, session: Some(conversation.session.clone()) },
            gone,
            asked: client.filter(|client| client.can_ask).map(|client| client.peer.clone()),
        };
        self.answer(call, from, progress).await
    }

    /// Answers a plain call over HTTP: rmcp would start four tasks for it. If the answer is not awaited, the call is
    /// cancelled.
    pub async fn answer_plain(
        &self,
        call: PlainCall,
        caller: Caller,
        user_agent: Option<String>,
        progress: Progress,
    ) -> Vec<u8> {
        let HandlerMode::PerRequest(service) = &self.way else { return not_plain(call.id) };
        let name = call.client.as_ref().and_then(name_of);
        let from = PlainOrigin {
            backend: to_service(service, caller),
            patience: patience::of(name.as_deref().or(user_agent.as_deref())),
            origin: Origin { client: name, session: None },
            gone: CancellationToken::new(),
            // Without a conversation there is nobody to send a request to.
            asked: None,
        };
        self.answer(call, from, &progress).await
    }

    async fn answer(&self, call: PlainCall, from: PlainOrigin, progress: &Progress) -> Vec<u8> {
        let PlainCall { id, tool, arguments, is_modern, can_ask, progress_token, .. } = call;
        let PlainOrigin { backend, origin, patience, gone, asked } = from;
        let mut is_whole = tools::asks_for_all(&arguments);
        let mut requests = match Self::requests(&tool, arguments, &backend).await {
            Ok(requests) => requests,
            Err(error) => return render::message(&ServerJsonRpcMessage::error(error, Some(id))),
        };
        for envelope in requests.iter_mut().flatten() {
            is_whole |= tools::take_detail(envelope);
        }
        let told = progress_token.is_some().then_some(progress);
        // One question in a call, about its only request.
        let is_one = requests.as_ref().is_ok_and(|requests| requests.len() == 1);
        let again = (is_one && asked.is_some()).then(|| requests.clone());
        let mut reply = self.run(&backend, &origin, requests, patience, &gone, told).await;
        let may_ask = is_one && (can_ask || asked.is_some());
        if let Some(question) = may_ask.then(|| Elicitation::of(&reply)).flatten() {
            let (Some(peer), Some(again)) = (asked, again) else {
                let result = ServerResult::InputRequiredResult(question.required());
                return render::message(&ServerJsonRpcMessage::response(result, id));
            };
            if let Some(accepted) = question.ask(&peer, &gone).await {
                let _ = backend.answer_in_client(&question.ticket, accepted).await;
                reply = self.run(&backend, &origin, again, patience, &gone, told).await;
            }
        }
        tools::name_fields(&tool, &mut reply);
        render::answer(reply, form(is_whole), is_modern, id)
    }

    /// Submits what may take long for a client that knows tasks.
    async fn submit_long(
        &self,
        requests: Vec<Envelope>,
        limit: Duration,
        form: Form,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Route { backend, session, owner } = self.route(context)?;
        let origin = Origin { client: client_name(context), session };
        let (gone, progress) = (self.shutdown.child_token(), Progress::default());
        let (stop, board) = (gone.clone(), progress.clone());
        // It asks for the answer again and again.
        let work =
            Box::pin(
                async move { chain::run(&backend, &origin, Ok(requests), None, &stop, Some(&board)).await },
            );
        let call = LongCall { work, gone, progress, owner, limit, form };
        Ok(self.tasks.answer(call, &context.ct).await)
    }
}

/// Returns whether a request's client takes a task for an answer.
fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|it| it.supports_tasks())
}

fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    name_of(&context.client_info()?)
}

/// Returns the library of a client over HTTP, where it has not said its own name.
fn user_agent(context: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = context.extensions.get::<http::request::Parts>()?;
    parts.headers.get(http::header::USER_AGENT)?.to_str().ok()
}

fn name_of(info: &Implementation) -> Option<String> {
    let clean = |text: &str| -> String {
        text.chars().filter(|it| !it.is_control()).take(MAX_CLIENT_CHARS / 2).collect()
    };
    // rmcp fills in its own name for stateless requests of clients that have not said theirs.
    if *info == Implementation::default() {
        return None;
    }
    Some(format!("{} {}", clean(&info.name), clean(&info.version)).trim().to_owned())
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("bailiwick", env!("CARGO_PKG_VERSION")).with_title("Bailiwick");
        ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_prompts().enable_tasks().build(),
        )
        .with_server_info(about)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        // What was agreed counts from now on, not what was asked for.
        request.protocol_version = result.protocol_version.clone();
        let name = name_of(&request.client_info);
        self.hear(name.as_deref());
        if let HandlerMode::Fixed(conversation) = &self.way {
            let can_ask = elicitation::can_ask(&request.capabilities);
            let _ = conversation.client.set(ConversationClient { name, can_ask, peer: context.peer.clone() });
        }
        context.peer.set_peer_info(request);
        let offer = self.offer(&context).await?;
        result.capabilities.resources = resources_of(&offer);
        Ok(result.with_instructions(instructions::instructions(&offer)))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let offer = self.offer(&context).await?;
        let mut info = self.get_info().with_instructions(instructions::instructions(&offer));
        info.capabilities.resources = resources_of(&offer);
        Ok(DiscoverResult::from_server_info(VERSIONS.to_vec(), info)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(tools::listed(&self.offer(&context).await?));
        // What one caller sees must not be shown to another by a cache in between.
        Ok(if is_modern(&context) { list.with_ttl_ms(0).with_cache_scope(CacheScope::Private) } else { list })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = elicitation::take_answer(&mut request);
        let arguments = request.arguments.unwrap_or_default();
        let mut is_whole = tools::asks_for_all(&arguments);
        let mut requests = Self::requests(&request.name, arguments, &self.route(&context)?.backend).await?;
        for envelope in requests.iter_mut().flatten() {
            is_whole |= tools::take_detail(envelope);
        }
        let form = form(is_whole);
        if knows_tasks(&context)
            && let Ok(requests) = &requests
            && let Some(limit) = requests.iter().filter_map(tools::may_last).reduce(|one, more| one + more)
        {
            return self.submit_long(requests.clone(), limit, form, &context).await;
        }
        if let Some((ticket, Some(accepted))) = &answered {
            // What does not count is asked for by the request itself.
            let _ = self.route(&context)?.backend.answer_in_client(ticket, *accepted).await;
        }
        // One question in a call, about its only request.
        let may_ask = answered.is_none()
            && requests.as_ref().is_ok_and(|requests| requests.len() == 1)
            && elicitation::is_supported(&context);
        let again = may_ask.then(|| requests.clone());
        let mut reply = self.submit(requests, &context).await?;
        if let (Some(again), Some(question)) = (again, may_ask.then(|| Elicitation::of(&reply)).flatten()) {
            if is_modern(&context) {
                return Ok(question.required().into());
            }
            // Without a conversation there is nobody to send a request to.
            if matches!(self.way, HandlerMode::Fixed(_))
                && let Some(accepted) = question.ask(&context.peer, &context.ct).await
            {
                let _ = self.route(&context)?.backend.answer_in_client(&question.ticket, accepted).await;
                reply = self.submit(again, &context).await?;
            }
        }
        tools::name_fields(&request.name, &mut reply);
        Ok(render::tool_result(reply, form).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let Route { backend, owner, .. } = self.route(&context)?;
        let task = self.tasks.get(&request.task_id, &owner)?;
        // Over HTTP the guard has just looked at the token.
        if matches!(self.way, HandlerMode::Fixed(_)) && backend.offer().await.scopes.is_empty() {
            let message = "no scope is open to this caller any more: its token was revoked or has expired";
            return Err(ErrorData::invalid_request(message, None));
        }
        Ok(GetTaskResult::new(task))
    }

    /// No task here asks its client for anything: there is nothing to take.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.check(&request.task_id, &self.route(&context)?.owner)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request.task_id, &self.route(&context)?.owner)
    }

    /// Gets the calls whose `arguments` are no object: rmcp cannot read those as calls of a tool.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != CallToolRequestMethod::VALUE {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let params = request.params.unwrap_or_default();
        let name = params["name"]
            .as_str()
            .ok_or_else(|| ErrorData::invalid_params("`name` must be the name of a tool", None))?;
        if tools::find(name).is_none() {
            return Err(unknown_tool(name));
        }
        let requests = match &params["arguments"] {
            Value::Object(_) | Value::Null => {
                return Err(ErrorData::invalid_params("the parameters of the call cannot be read", None));
            }
            other => match other.as_str().map(|text| read_unambiguous(text.as_bytes())) {
                Some(Ok(Value::Object(arguments))) => {
                    Self::requests(name, arguments, &self.route(&context)?.backend).await?
                }
                _ => Err(Failure::invalid(
                    "arguments",
                    format!("`arguments` must be an object, not {}", kind(other)),
                )
                .hint("Send the fields of the tool as an object.")),
            },
        };
        let reply = self.submit(requests, &context).await?;
        let mut result = render::tool_result(reply, Form::Text);
        if !is_modern(&context) {
            result.result_type = None;
        }
        Ok(CustomResult::new(serde_json::to_value(result).expect("a tool result has a JSON form")))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::listed(&self.offer(&context).await?));
        Ok(if is_modern(&context) { list.with_ttl_ms(0).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let offer = self.offer(&context).await?;
        Ok(prompts::written(&offer, &request.name, request.arguments.unwrap_or_default())?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let scopes = self.offer(&context).await?.captures;
        if scopes.is_empty() {
            return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>());
        }
        let mut replies = Vec::new();
        for scope in scopes {
            replies.push(self.submit(Ok(vec![resources::list_envelope(&scope)]), &context).await?);
        }
        let list = resources::listed(replies);
        Ok(if is_modern(&context) { list.with_ttl_ms(0).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if self.offer(&context).await?.captures.is_empty() {
            return Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>());
        }
        let list = resources::templates();
        Ok(if is_modern(&context) { list.with_ttl_ms(0).with_cache_scope(CacheScope::Private) } else { list })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if self.offer(&context).await?.captures.is_empty() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let reply = self.submit(Ok(vec![resources::read_envelope(&request.uri)?]), &context).await?;
        let content = resources::content(&request.uri, reply)?;
        Ok(if is_modern(&context) {
            content.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into()
        } else {
            content.into()
        })
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}

/// Leads to a service, on behalf of a caller whose token the guard has just looked at.
fn to_service(service: &Arc<Service>, caller: Caller) -> Arc<Backend> {
    Arc::new(Backend::Embedded(EmbeddedService { service: Arc::clone(service), caller, keys: None }))
}

/// Returns the answer to a plain call that came on a transport of the other kind.
fn not_plain(id: RequestId) -> Vec<u8> {
    let error = ErrorData::internal_error("calls on this transport are not plain", None);
    render::message(&ServerJsonRpcMessage::error(error, Some(id)))
}

const fn form(is_whole: bool) -> Form {
    if is_whole { Form::Whole(StructuredContent::Spliced) } else { Form::Text }
}

/// Declares resources to those who have some to read.
fn resources_of(offer: &Offer) -> Option<ResourcesCapability> {
    (!offer.captures.is_empty()).then(ResourcesCapability::default)
}

fn unknown_tool(name: &str) -> ErrorData {
    let name: String = name.chars().take(64).collect();
    ErrorData::new(ErrorCode::INVALID_PARAMS, format!("there is no tool `{name}`"), None)
}

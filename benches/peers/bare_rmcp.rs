//! The least that an MCP server on the same library costs: one tool that hands its argument back, with no policy, no
//! file and no history. `bare_rmcp stdio` or `bare_rmcp http PORT` (on 127.0.0.1); benches/peers/run compares with it.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let Value::Object(schema) = json!({"type": "object", "properties": {"text": {"type": "string"}}})
        else {
            unreachable!("an object was written")
        };
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "Hands the text back.", Arc::new(schema))]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request
            .arguments
            .as_ref()
            .and_then(|it| it.get("text"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn serve(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    match arguments {
        [way] if way == "stdio" => {
            Echo.serve(rmcp::transport::io::stdio_pipes()).await?.waiting().await?;
        }
        [way, port] if way == "http" => {
            let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false);
            let mcp = StreamableHttpService::new(|| Ok(Echo), LocalSessionManager::default().into(), config);
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
            let listener = listener.tap_io(|stream| {
                // Without it each answer waits for the client's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
            });
            axum::serve(listener, Router::new().nest_service("/mcp", mcp)).await?;
        }
        _ => return Err("usage: bare_rmcp stdio | bare_rmcp http PORT".into()),
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve(&arguments))
}

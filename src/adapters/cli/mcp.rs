//! `mcp`: one MCP client over standard input and output.
//!
//! Nothing but protocol goes to standard output. Starts in well under 2 ms: the usual words are read
//! without the machinery of the other commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapters::mcp::{ClientCallback, stdio};
use bailiwick_contract::{Failure, Transport};

use super::args::{McpArgs, Shared};
use crate::adapters::own_backend::backend;
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::installation::stdio_session::StdioSession;

/// How long what runs may take to end after a request to stop.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Reads `bailiwick mcp [--token NAME] [--config PATH]` by hand; `None` for anything else.
pub fn usual_words(words: &[OsString]) -> Option<(Shared, McpArgs)> {
    let (first, rest) = words.get(1..)?.split_first()?;
    if first != "mcp" {
        return None;
    }
    let (mut shared, mut args) = (Shared::default(), McpArgs::default());
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match word.to_str()? {
            "--token" | "--caller" if args.caller.is_none() => {
                args.caller = Some(value(rest.next()?)?.to_owned());
            }
            "--config" if shared.config.is_none() => {
                shared.config = Some(PathBuf::from(value(rest.next()?)?));
            }
            _ => return None,
        }
    }
    Some((shared, args))
}

/// A word that can be a value; one that looks like a flag is left to the full parser.
fn value(word: &OsString) -> Option<&str> {
    word.to_str().filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Serves the client until it goes away or the process is asked to stop.
///
/// # Errors
/// When Bailiwick is not set up, or the caller is refused.
pub fn run(home: &Home, args: McpArgs) -> Result<(), Failure> {
    let runtime = runtime::small()?;
    let ended = runtime.block_on(async {
        let token = args.caller.clone();
        let backend = backend(home, Transport::Stdio, args.caller).await?;
        let session = StdioSession::begin(&home.dirs, token.as_deref());
        let on_client =
            session.map(|session| -> ClientCallback { Box::new(move |name| session.name_client(name)) });
        let shutdown = CancellationToken::new();
        tokio::spawn({
            let shutdown = shutdown.clone();
            let asked_to_stop = runtime::asked_to_stop();
            async move {
                asked_to_stop.await;
                shutdown.cancel();
            }
        });
        Ok(stdio::run(backend, on_client, shutdown).await)
    });
    // What was cancelled writes its row; a thread that waits for input cannot be told to stop.
    runtime.shutdown_timeout(STOP_TIMEOUT);
    ended.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Option<(Option<PathBuf>, Option<String>)> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        usual_words(&words).map(|(shared, args)| (shared.config, args.caller))
    }

    #[test]
    fn the_usual_words_are_read_and_all_others_left_to_the_full_parser() {
        assert_eq!(read(&["bailiwick", "mcp"]), Some((None, None)));
        assert_eq!(
            read(&["bailiwick", "mcp", "--token", "claude", "--config", "/c"]),
            Some((Some("/c".into()), Some("claude".to_owned())))
        );
        for words in [
            &["bailiwick"][..],
            &["bailiwick", "start"],
            &["bailiwick", "mcp", "--help"],
            &["bailiwick", "mcp", "--caller"],
            &["bailiwick", "mcp", "--caller", "--help"],
            &["bailiwick", "mcp", "--caller=x"],
            &["bailiwick", "--json", "mcp"],
        ] {
            assert_eq!(read(words), None, "{words:?}");
        }
    }
}

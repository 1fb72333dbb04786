//! Asks about the windows that a screen had when it was last looked at together with the first questions, so that a
//! screen that is arranged as it was is read in one turn.
//!
//! Only which questions are sent early is remembered, never an answer: every answer is of the moment that is asked
//! about, and what was not foreseen is asked later in the same moment.

use std::collections::{BTreeMap, BTreeSet};

use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _, QueryClientIdsReply};
use x11rb::protocol::xproto::{ConnectionExt as _, QueryTreeReply, Window as WindowNumber};

use super::error::ServerError;
use super::server::Server;
use super::window_facts::{self, Answer};

/// Which questions it took to read a screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ScreenQueries {
    told: BTreeSet<WindowNumber>,
    trees: BTreeSet<WindowNumber>,
    clients: BTreeSet<u32>,
}

/// Questions about windows: those that were sent early, and those that turn out to be needed.
pub(super) struct Questions<'a> {
    server: &'a Server,
    root: WindowNumber,
    told: BTreeMap<WindowNumber, window_facts::Requests<'a>>,
    trees: BTreeMap<WindowNumber, Answer<'a, QueryTreeReply>>,
    pids: Option<Answer<'a, QueryClientIdsReply>>,
    early: BTreeSet<u32>,
    needed: ScreenQueries,
}

impl<'a> Questions<'a> {
    /// Sends what was needed the last time, without waiting.
    pub(super) fn ask(server: &'a Server, root: WindowNumber) -> Result<Self, ServerError> {
        let foreseen = server.foreseen(root);
        let mut questions = Self {
            server,
            root,
            told: BTreeMap::new(),
            trees: BTreeMap::new(),
            pids: None,
            early: foreseen.clients,
            needed: ScreenQueries::default(),
        };
        for number in foreseen.told {
            questions.told.insert(number, window_facts::ask(server, root, number)?);
        }
        for number in foreseen.trees {
            questions.trees.insert(number, server.connection.query_tree(number)?);
        }
        if !questions.early.is_empty() {
            questions.pids = Some(ask_pids(server, &questions.early)?);
        }
        Ok(questions)
    }

    /// Returns the question about all that is told of a window.
    pub(super) fn tell(&mut self, number: WindowNumber) -> Result<window_facts::Requests<'a>, ServerError> {
        self.needed.told.insert(number);
        match self.told.remove(&number) {
            Some(asked) => Ok(asked),
            None => window_facts::ask(self.server, self.root, number),
        }
    }

    /// Returns the question about what a window is in and holds.
    pub(super) fn tree(&mut self, number: WindowNumber) -> Result<Answer<'a, QueryTreeReply>, ServerError> {
        self.needed.trees.insert(number);
        match self.trees.remove(&number) {
            Some(asked) => Ok(asked),
            None => Ok(self.server.connection.query_tree(number)?),
        }
    }

    /// Returns the question about the processes of the server's clients. The early one serves only if it was about
    /// exactly these: a client that is gone could spoil the answer about the others.
    pub(super) fn pids(
        &mut self,
        clients: BTreeSet<u32>,
    ) -> Result<Option<Answer<'a, QueryClientIdsReply>>, ServerError> {
        if !self.server.abilities.processes || clients.is_empty() {
            return Ok(None);
        }
        let early = self.pids.take().filter(|_| self.early == clients);
        let asked = match early {
            Some(asked) => asked,
            None => ask_pids(self.server, &clients)?,
        };
        self.needed.clients = clients;
        Ok(Some(asked))
    }

    /// Remembers for the next time what was needed.
    pub(super) fn remember(self) {
        self.server.foresee(self.root, self.needed);
    }
}

fn ask_pids<'a>(
    server: &'a Server,
    clients: &BTreeSet<u32>,
) -> Result<Answer<'a, QueryClientIdsReply>, ServerError> {
    let mask = ClientIdMask::LOCAL_CLIENT_PID;
    let specs: Vec<ClientIdSpec> =
        clients.iter().map(|client| ClientIdSpec { client: *client, mask }).collect();
    Ok(server.connection.res_query_client_ids(&specs)?)
}

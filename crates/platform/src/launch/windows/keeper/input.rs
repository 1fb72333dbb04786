//! What waits for the program to read it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::launch::kept::MAX_INPUT_BYTES;
use crate::launch::kept::message::Answer;
use crate::launch::pipe::Sender;

/// The input of a program. Dropping it ends the input after what waits.
#[derive(Debug)]
pub(super) struct Input {
    /// None once it is closed.
    pieces: Option<mpsc::UnboundedSender<Vec<u8>>>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Input {
    /// Begins to write to a pipe; without one there is no input.
    pub(super) fn new(pipe: Option<Sender>) -> Self {
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        let pieces = pipe.map(|pipe| {
            let (sender, pieces) = mpsc::unbounded_channel();
            tokio::spawn(write(pipe, pieces, Arc::clone(&waiting_bytes)));
            sender
        });
        Self { pieces, waiting_bytes }
    }

    /// Takes input over, as a whole or not at all.
    pub(super) fn take(&self, bytes: Vec<u8>) -> Answer {
        let Some(pieces) = &self.pieces else { return Answer::NoInput };
        let waiting = self.waiting_bytes.load(Ordering::Acquire);
        if waiting > 0 && waiting + bytes.len() > MAX_INPUT_BYTES {
            return Answer::Full;
        }
        self.waiting_bytes.fetch_add(bytes.len(), Ordering::AcqRel);
        if pieces.send(bytes).is_ok() { Answer::Done } else { Answer::NoInput }
    }

    /// Ends the input after what waits.
    pub(super) fn close(&mut self) -> Answer {
        match self.pieces.take() {
            Some(pieces) if !pieces.is_closed() => Answer::Done,
            _ => Answer::NoInput,
        }
    }
}

/// Writes until nobody can read any more, or the input is closed.
async fn write(
    mut pipe: Sender,
    mut pieces: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
) {
    while let Some(piece) = pieces.recv().await {
        if pipe.write_all(&piece).await.is_err() {
            return;
        }
        waiting_bytes.fetch_sub(piece.len(), Ordering::AcqRel);
    }
}

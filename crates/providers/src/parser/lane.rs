//! The pipes of one worker.

use std::io::{self, Read};
use std::process::{ChildStdin, ChildStdout};

use super::message::{Answer, Next, READY, Request, receive_answer, send_request};

/// The pipes of a worker that has nothing to do, or of one that works for anyone who has them.
#[derive(Debug)]
pub(super) struct Lane {
    /// The worker's number.
    pub id: u64,
    /// How many requests it has answered.
    pub answered: u64,
    input: ChildStdin,
    output: ChildStdout,
}

impl Lane {
    pub fn new(id: u64, input: ChildStdin, output: ChildStdout) -> Self {
        Self { id, answered: 0, input, output }
    }

    /// Sends a request and waits for the answer.
    pub fn exchange(&mut self, request: &Request<'_>, texts: [&[u8]; 2]) -> io::Result<(Answer, Next)> {
        if self.answered == 0 {
            let mut ready = [0; READY.len()];
            self.output.read_exact(&mut ready)?;
            if ready != *READY {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        send_request(&mut self.input, request, texts)?;
        let answer = receive_answer(&mut self.output)?;
        self.answered += 1;
        Ok(answer)
    }
}

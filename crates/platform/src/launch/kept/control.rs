//! Speaking to the keeper of a running process.
//!
//! Each call is one request and its answer. Giving up a call leaves the connection in order: the answer is
//! passed over when it comes.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::net::TcpStream;

use super::line::Line;
use super::message::{self as messages};
use super::message::{Answer, LENGTH_BYTES, MAX_MESSAGE_BYTES, Request};
use super::{ControlError, Event, MAX_INPUT_BYTES, ProcessFiles, TerminalSize};

/// How long a keeper may take to answer.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A connection to the keeper of a process.
#[derive(Debug)]
pub struct Control {
    line: Line,
    unsent: Vec<u8>,
    received: Vec<u8>,
    /// How many answers are still to come.
    owed: usize,
    output: Option<u64>,
    has_ended: bool,
}

impl Control {
    /// Connects to the keeper of the process with this folder.
    ///
    /// # Errors
    /// [`ControlError::Gone`] where there is none any more.
    pub async fn connect(folder: &Path) -> Result<Self, ControlError> {
        let key = ProcessFiles::key(folder).map_err(of_folder)?;
        let line = Line::connect(folder, &key, MAX_WAIT).await.map_err(of_folder)?;
        Ok(Self {
            line,
            unsent: Request::Hello(key).encode(),
            received: Vec::new(),
            owed: 0,
            output: None,
            has_ended: false,
        })
    }

    /// Returns bytes to the program, all or none of them.
    ///
    /// # Errors
    /// [`ControlError::Full`] if the program does not read what waits; `NoInput`; `TooLong`; `Gone`.
    pub async fn input(&mut self, bytes: &[u8]) -> Result<(), ControlError> {
        if bytes.len() > MAX_INPUT_BYTES {
            return Err(ControlError::TooLong);
        }
        self.do_it(Request::Input(bytes.to_vec())).await
    }

    /// Returns bytes to the program, as [`Control::input`], which will never be kept: from now on they are
    /// masked in everything that is printed.
    ///
    /// # Errors
    /// As [`Control::input`].
    pub async fn secret(&mut self, bytes: &[u8]) -> Result<(), ControlError> {
        if bytes.len() > MAX_INPUT_BYTES {
            return Err(ControlError::TooLong);
        }
        self.do_it(Request::Secret(bytes.to_vec())).await
    }

    /// Ends the input, after what waits: closes the pipe, or types into the terminal what ends a program's input.
    ///
    /// # Errors
    /// [`ControlError::NoInput`]; `Gone`.
    pub async fn close_input(&mut self) -> Result<(), ControlError> {
        self.do_it(Request::CloseInput).await
    }

    /// Changes the size of the terminal; its programs are told.
    ///
    /// # Errors
    /// [`ControlError::NoTerminal`]; `Gone`.
    pub async fn resize(&mut self, size: TerminalSize) -> Result<(), ControlError> {
        self.do_it(Request::Resize(size)).await
    }

    /// Sends a signal to all processes of the plan.
    ///
    /// # Errors
    /// [`ControlError::System`] if there is no such signal; `Gone`.
    pub async fn signal(&mut self, signal: i32) -> Result<(), ControlError> {
        self.do_it(Request::Signal(signal)).await
    }

    /// Asks all processes to end by a signal, and kills what is left after a grace period. Nothing of the plan
    /// is started any more. [`Event::Ended`] tells when it is over.
    ///
    /// # Errors
    /// [`ControlError::System`] if there is no such signal; `Gone`.
    pub async fn stop(&mut self, signal: i32, grace: Duration) -> Result<(), ControlError> {
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        self.do_it(Request::Stop { signal, grace_ms }).await
    }

    /// Returns whether something listens at a TCP port, in the network that the process has.
    ///
    /// # Errors
    /// [`ControlError::Gone`].
    pub async fn is_listening(&mut self, port: u16) -> Result<bool, ControlError> {
        match self.ask(Request::IsListening(port)).await? {
            Answer::Yes => Ok(true),
            Answer::No => Ok(false),
            other => Err(unexpected(other)),
        }
    }

    /// Connects to a TCP port of the local machine, in the network that the process has.
    ///
    /// # Errors
    /// [`ControlError::NotListening`]; `System`; `Gone`.
    pub async fn dial(&mut self, port: u16) -> Result<TcpStream, ControlError> {
        match self.ask(Request::Dial(port)).await? {
            Answer::Socket => {}
            Answer::No => return Err(ControlError::NotListening),
            other => return Err(unexpected(other)),
        }
        let connected = async {
            let stream = self.line.take_dialled(port).await?;
            // The keeper does not wait for the connection to stand.
            stream.writable().await?;
            stream.take_error()?.map_or(Ok(stream), Err)
        };
        let connected = tokio::time::timeout(MAX_WAIT, connected).await;
        connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotConnected => ControlError::Gone,
                io::ErrorKind::ConnectionRefused => ControlError::NotListening,
                io::ErrorKind::TimedOut => ControlError::System("the port does not answer".to_owned()),
                _ => ControlError::System(error.to_string()),
            }
        })
    }

    /// Asks to be told from now on. The first event shows how much has been printed so far.
    ///
    /// # Errors
    /// [`ControlError::Gone`].
    pub async fn watch(&mut self) -> Result<(), ControlError> {
        self.do_it(Request::Watch).await
    }

    /// Waits for the next event. Can be cancelled and called again.
    ///
    /// # Errors
    /// [`ControlError::Gone`] if the keeper was killed, and after [`Event::Ended`].
    pub async fn next_event(&mut self) -> Result<Event, ControlError> {
        loop {
            self.take_messages()?;
            if let Some(end) = self.output.take() {
                return Ok(Event::Output { end });
            }
            if std::mem::take(&mut self.has_ended) {
                return Ok(Event::Ended);
            }
            self.flush().await?;
            self.receive().await?;
        }
    }

    async fn do_it(&mut self, request: Request) -> Result<(), ControlError> {
        match self.ask(request).await? {
            Answer::Done => Ok(()),
            Answer::Full => Err(ControlError::Full),
            Answer::NoInput => Err(ControlError::NoInput),
            Answer::NoTerminal => Err(ControlError::NoTerminal),
            other => Err(unexpected(other)),
        }
    }

    async fn ask(&mut self, request: Request) -> Result<Answer, ControlError> {
        self.unsent.extend_from_slice(&request.encode());
        self.owed += 1;
        let answered = async {
            self.flush().await?;
            loop {
                if let Some(answer) = self.take_messages()? {
                    return Ok(answer);
                }
                self.receive().await?;
            }
        };
        match tokio::time::timeout(MAX_WAIT, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(ControlError::System("the keeper of the process does not answer".to_owned())),
        }
    }

    async fn flush(&mut self) -> Result<(), ControlError> {
        while !self.unsent.is_empty() {
            self.line.writable().await.map_err(|_| ControlError::Gone)?;
            match self.line.try_write(&self.unsent) {
                Ok(length) => {
                    self.unsent.drain(..length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // What it said before may still be there to read.
                Err(_) => self.unsent.clear(),
            }
        }
        Ok(())
    }

    async fn receive(&mut self) -> Result<(), ControlError> {
        loop {
            self.line.readable().await.map_err(|_| ControlError::Gone)?;
            let mut chunk = [0; 256];
            match self.line.try_read(&mut chunk) {
                Ok(0) => return Err(ControlError::Gone),
                Ok(length) => {
                    self.received.extend_from_slice(&chunk[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(ControlError::Gone),
            }
        }
    }

    /// Takes what has arrived: events, and the answer to the last request, if it is there.
    fn take_messages(&mut self) -> Result<Option<Answer>, ControlError> {
        let garbled = |_| ControlError::System("the keeper of the process is not understood".to_owned());
        while let Some(length) = messages::first_length(&self.received, MAX_MESSAGE_BYTES).map_err(garbled)?
            && self.received.len() >= length
        {
            let answer = Answer::decode(&self.received[LENGTH_BYTES..length]).map_err(garbled)?;
            self.received.drain(..length);
            match answer {
                Answer::Output(end) => self.output = Some(end),
                Answer::Ended => self.has_ended = true,
                answer => {
                    self.owed = self.owed.saturating_sub(1);
                    if self.owed == 0 {
                        return Ok(Some(answer));
                    }
                    // It answers a request that was given up.
                    self.line.forget_handed();
                }
            }
        }
        Ok(None)
    }
}

fn of_folder(error: io::Error) -> ControlError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => ControlError::Gone,
        _ => ControlError::System(error.to_string()),
    }
}

fn unexpected(answer: Answer) -> ControlError {
    match answer {
        Answer::Failed(number) => ControlError::System(io::Error::from_raw_os_error(number).to_string()),
        _ => ControlError::System("the keeper of the process is not understood".to_owned()),
    }
}

//! The volume, by the socket of a sound server.
//!
//! # Source
//! PulseAudio's native protocol, version 12, which PipeWire speaks too: frames with a head of five numbers, the first of which
//! is the length; in them values, each after a letter that says its kind.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{SocketAddrUnix, sockopt};

use super::{DeviceError, Volume};
use crate::screen::own_socket;

/// How long the server may take for all that is asked of it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The version of the protocol that is spoken: later ones answer with more of what is not needed.
const VERSION: u32 = 12;
/// A longer answer is none.
const MOST_BYTES: usize = 1 << 20;
/// No number of an object: the name counts.
const BY_NAME: u32 = u32::MAX;
/// The channel of questions and answers.
const CONTROL: u32 = u32::MAX;
/// The volume at which the samples are heard as they are.
const FULL: u32 = 0x1_0000;

const ERROR: u32 = 0;
const REPLY: u32 = 2;
const AUTH: u32 = 8;
const SET_CLIENT_NAME: u32 = 9;
const GET_SINK_INFO: u32 = 21;
const SET_SINK_VOLUME: u32 = 36;

const NO_SUCH_ENTITY: u32 = 5;

/// A connection to a sound server.
#[derive(Debug)]
pub(super) struct SoundServer {
    stream: UnixStream,
    deadline: Instant,
    asked: u32,
}

/// The output that programs use unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sink {
    index: u32,
    /// The volume of each channel.
    channels: Vec<u32>,
    muted: bool,
}

impl Sink {
    /// Returns the volume of its loudest channel.
    fn loudest(&self) -> u32 {
        self.channels.iter().copied().max().unwrap_or(0)
    }
}

impl SoundServer {
    /// Connects to a server.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn connect(socket: &Path) -> Result<Self, DeviceError> {
        let deadline = Instant::now() + PATIENCE;
        let failed = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => no_server(),
            _ => refusal(error),
        };
        let address = SocketAddrUnix::new(socket).map_err(|_| no_server())?;
        let stream =
            own_socket::connect(&address, "the socket for sound", deadline).map_err(|it| failed(&it))?;
        stream.set_nonblocking(false).map_err(|it| failed(&it))?;
        // The server knows by that who asks.
        sockopt::set_socket_passcred(&stream, true).map_err(|it| failed(&it.into()))?;
        let mut server = Self { stream, deadline, asked: 0 };
        let cookie = [0; 256];
        server.ask(AUTH, &[Value::Number(VERSION), Value::Bytes(&cookie)])?;
        server.ask(SET_CLIENT_NAME, &[Value::Text("Bailiwick")])?;
        Ok(server)
    }

    /// Reads the volume.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn volume(&mut self) -> Result<Volume, DeviceError> {
        let sink = self.sink()?;
        Ok(Volume { level: level(sink.loudest()), muted: sink.muted })
    }

    /// Sets the volume of the loudest channel, and those of the others as they were to it. Returns the level that was asked for,
    /// in the steps of the server.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn set_volume(&mut self, wanted: f64) -> Result<f64, DeviceError> {
        let sink = self.sink()?;
        let (loudest, wanted) = (u64::from(sink.loudest()), steps(wanted, FULL));
        let channels: Vec<u32> = sink.channels.iter().map(|it| scaled(*it, loudest, wanted)).collect();
        self.ask(SET_SINK_VOLUME, &[Value::Number(sink.index), Value::NoText, Value::Volumes(&channels)])?;
        Ok(level(wanted))
    }

    fn sink(&mut self) -> Result<Sink, DeviceError> {
        let answer = self.ask(GET_SINK_INFO, &[Value::Number(BY_NAME), Value::Text("@DEFAULT_SINK@")])?;
        read_sink(&mut Values(&answer)).ok_or_else(unreadable)
    }

    /// Asks, and returns the values of the answer.
    fn ask(&mut self, command: u32, values: &[Value<'_>]) -> Result<Vec<u8>, DeviceError> {
        self.asked += 1;
        let tag = self.asked;
        let mut body = Vec::new();
        [Value::Number(command), Value::Number(tag)].iter().chain(values).for_each(|it| it.write(&mut body));
        let length = u32::try_from(body.len()).map_err(|_| unreadable())?;
        let mut frame: Vec<u8> =
            [length, CONTROL, 0, 0, 0].iter().flat_map(|number| number.to_be_bytes()).collect();
        frame.extend_from_slice(&body);
        self.wait(UnixStream::set_write_timeout)?;
        self.stream.write_all(&frame).map_err(|it| refusal(&it))?;
        loop {
            let answer = self.frame()?;
            let mut values = Values(&answer);
            // What else the server tells is about what was not asked.
            let Some((kind, of)) = values.number().zip(values.number()) else { continue };
            match kind {
                REPLY if of == tag => return Ok(values.0.to_vec()),
                ERROR if of == tag => {
                    return Err(match values.number() {
                        Some(NO_SUCH_ENTITY) => {
                            DeviceError::Absent("the sound server has no output".to_owned())
                        }
                        code => DeviceError::Refused(format!(
                            "the sound server refuses it (error {})",
                            code.unwrap_or_default()
                        )),
                    });
                }
                _ => {}
            }
        }
    }

    /// Reads the next frame of answers.
    fn frame(&mut self) -> Result<Vec<u8>, DeviceError> {
        loop {
            let mut head = [0; 20];
            self.fill(&mut head)?;
            let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let length = usize::try_from(number(0)).unwrap_or(usize::MAX);
            if length > MOST_BYTES {
                return Err(unreadable());
            }
            let mut body = vec![0; length];
            self.fill(&mut body)?;
            if number(4) == CONTROL {
                return Ok(body);
            }
        }
    }

    /// Reads so many bytes, until the deadline.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let mut done = 0;
        while done < bytes.len() {
            self.wait(UnixStream::set_read_timeout)?;
            match self.stream.read(&mut bytes[done..]) {
                Ok(0) => {
                    return Err(DeviceError::Refused("the sound server has ended the connection".to_owned()));
                }
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(refusal(&error)),
            }
        }
        Ok(())
    }

    fn wait(&self, set: impl Fn(&UnixStream, Option<Duration>) -> io::Result<()>) -> Result<(), DeviceError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DeviceError::Unresponsive(SERVER));
        }
        set(&self.stream, Some(left)).map_err(|it| refusal(&it))
    }
}

const SERVER: &str = "the sound server";

fn no_server() -> DeviceError {
    DeviceError::Absent("no sound server runs in this session".to_owned())
}

fn unreadable() -> DeviceError {
    DeviceError::Refused("the sound server answered with what cannot be read".to_owned())
}

fn refusal(error: &io::Error) -> DeviceError {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => DeviceError::Unresponsive(SERVER),
        _ => DeviceError::Refused(format!("the sound server cannot be asked: {error}")),
    }
}

/// Returns a level in steps of a device.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a level is from 0 to 1")]
pub(super) fn steps(level: f64, most: u32) -> u32 {
    (level.clamp(0.0, 1.0) * f64::from(most)).round() as u32
}

fn level(volume: u32) -> f64 {
    f64::from(volume) / f64::from(FULL)
}

/// Returns the volume of a channel where the loudest one becomes `wanted`.
fn scaled(channel: u32, loudest: u64, wanted: u32) -> u32 {
    let volume = (u64::from(channel) * u64::from(wanted) + loudest / 2).checked_div(loudest);
    volume.and_then(|it| u32::try_from(it).ok()).unwrap_or(wanted)
}

fn read_sink(values: &mut Values<'_>) -> Option<Sink> {
    let index = values.number()?;
    // Its name and its description.
    values.text()?;
    values.text()?;
    // The format of its samples, its channels, its module.
    values.take(b'a', 6)?;
    let count = usize::from(*values.take(b'm', 1)?.first()?);
    values.bytes(count)?;
    values.number()?;
    let count = usize::from(*values.take(b'v', 1)?.first()?);
    let channels = values.bytes(count * 4)?;
    let channels =
        channels.chunks_exact(4).map(|it| u32::from_be_bytes([it[0], it[1], it[2], it[3]])).collect();
    Some(Sink { index, channels, muted: values.flag()? })
}

/// A value of a question.
enum Value<'a> {
    Number(u32),
    Text(&'a str),
    NoText,
    Bytes(&'a [u8]),
    Volumes(&'a [u32]),
}

impl Value<'_> {
    fn write(&self, body: &mut Vec<u8>) {
        let length = |count: usize| u32::try_from(count).unwrap_or(0).to_be_bytes();
        match self {
            Self::Number(number) => {
                body.push(b'L');
                body.extend_from_slice(&number.to_be_bytes());
            }
            Self::Text(text) => {
                body.push(b't');
                body.extend_from_slice(text.as_bytes());
                body.push(0);
            }
            Self::NoText => body.push(b'N'),
            Self::Bytes(bytes) => {
                body.push(b'x');
                body.extend_from_slice(&length(bytes.len()));
                body.extend_from_slice(bytes);
            }
            Self::Volumes(volumes) => {
                body.push(b'v');
                body.push(u8::try_from(volumes.len()).unwrap_or(0));
                volumes.iter().for_each(|volume| body.extend_from_slice(&volume.to_be_bytes()));
            }
        }
    }
}

/// The values of an answer that are left to read.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (read, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(read)
    }

    /// Takes a value of a kind, or its beginning.
    fn take(&mut self, kind: u8, count: usize) -> Option<&'a [u8]> {
        (self.bytes(1)? == [kind]).then(|| self.bytes(count)).flatten()
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(b'L', 4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<()> {
        match self.bytes(1)? {
            b"N" => Some(()),
            b"t" => {
                let end = memchr::memchr(0, self.0)?;
                self.bytes(end + 1).map(drop)
            }
            _ => None,
        }
    }

    fn flag(&mut self) -> Option<bool> {
        match self.bytes(1)? {
            b"1" => Some(true),
            b"0" => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_keep_their_balance() {
        assert_eq!(scaled(FULL, FULL.into(), FULL / 2), FULL / 2);
        assert_eq!(scaled(FULL / 2, FULL.into(), FULL / 2), FULL / 4);
        assert_eq!(scaled(0, 0, FULL), FULL, "of silence nothing can be scaled");
        assert_eq!(scaled(u32::MAX, 1, u32::MAX), u32::MAX);
    }

    #[test]
    fn an_answer_that_is_cut_off_is_none() {
        let mut whole = Vec::new();
        [Value::Number(7), Value::Text("sink"), Value::NoText].iter().for_each(|it| it.write(&mut whole));
        whole.extend_from_slice(b"a\x03\x02\0\0\xac\x44m\x02\x01\x02");
        [Value::Number(1), Value::Volumes(&[FULL, 3])].iter().for_each(|it| it.write(&mut whole));
        whole.push(b'1');
        let sink = Sink { index: 7, channels: vec![FULL, 3], muted: true };
        assert_eq!(read_sink(&mut Values(&whole)), Some(sink));
        for end in 0..whole.len() {
            assert_eq!(read_sink(&mut Values(&whole[..end])), None, "{end}");
        }
    }
}

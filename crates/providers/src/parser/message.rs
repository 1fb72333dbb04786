//! What a service and its parse workers say to each other: a head in JSON, then texts as they are.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::code::{Definitions, References, SourceProblem};
use crate::document::{ConvertError, DocumentKind, DocumentText};
use crate::syntax::{Language, Region, SyntaxReport};

/// What a worker writes first, when its sandbox is in force.
pub(super) const READY: &[u8; 8] = b"parser 1";
/// How long a head can be.
const MAX_HEAD_BYTES: u32 = 1 << 20;
/// How long an answer can be.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// A request to a worker, without its texts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request<'a> {
    /// How long it may take.
    pub time_ms: u64,
    pub job: Job<'a>,
    /// How long the two texts are that follow.
    pub lengths: [usize; 2],
}

/// What is to be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Job<'a> {
    /// To check the second text. The first is the text before, if there is a version of it.
    Check {
        path: Cow<'a, str>,
        version_before: Option<Cow<'a, str>>,
        version_after: Cow<'a, str>,
        regions: Cow<'a, [Region]>,
    },
    /// To find the definitions in the first text.
    Definitions { language: Language },
    /// To find the references to a name in the first text.
    References { language: Language, name: Cow<'a, str> },
    /// To convert the first text, a document, to text.
    Document { kind: DocumentKind },
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Checked(Option<SyntaxReport>),
    Definitions(Result<Definitions, SourceProblem>),
    References(Result<References, SourceProblem>),
    Document(Result<DocumentText, ConvertError>),
}

/// Whether a worker takes another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It does.
    Ready,
    /// It has grown large or old, and ends.
    Ends,
}

/// Writes a request and its texts.
pub(super) fn send_request(to: &mut impl Write, request: &Request<'_>, texts: [&[u8]; 2]) -> io::Result<()> {
    let mut head = vec![0; 4];
    serde_json::to_writer(&mut head, request)?;
    let length = u32::try_from(head.len() - 4).map_err(io::Error::other)?;
    head[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&head)?;
    for text in texts {
        to.write_all(text)?;
    }
    to.flush()
}

/// Reads a request and its texts; `None` where no more comes.
pub(super) fn receive_request(from: &mut impl Read) -> io::Result<Option<(Request<'static>, [Vec<u8>; 2])>> {
    let mut length = [0; 4];
    if from.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length);
    if length > MAX_HEAD_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut head = vec![0; length as usize];
    from.read_exact(&mut head)?;
    let request: Request<'static> = serde_json::from_slice(&head)?;
    let mut texts = request.lengths.map(|length| vec![0; length]);
    for text in &mut texts {
        from.read_exact(text)?;
    }
    Ok(Some((request, texts)))
}

/// Writes an answer. One that is too long is none.
pub(super) fn send_answer(to: &mut impl Write, answer: &Answer, next: Next) -> io::Result<()> {
    let mut message = vec![0; 5];
    serde_json::to_writer(&mut message, answer)?;
    let length = message.len() - 5;
    if length > MAX_ANSWER_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    message[..4].copy_from_slice(&u32::try_from(length).map_err(io::Error::other)?.to_le_bytes());
    message[4] = u8::from(next == Next::Ends);
    to.write_all(&message)?;
    to.flush()
}

/// Reads an answer.
pub(super) fn receive_answer(from: &mut impl Read) -> io::Result<(Answer, Next)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [a, b, c, d, next] = head;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > MAX_ANSWER_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok((serde_json::from_slice(&message)?, if next == 0 { Next::Ready } else { Next::Ends }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_and_an_answer_arrive_as_they_were_sent() {
        let job = Job::References { language: Language::Rust, name: "a\"\n".into() };
        let request = Request { time_ms: 7, job, lengths: [3, 2] };
        let mut sent = Vec::new();
        send_request(&mut sent, &request, [b"a\xff\0", b"bc"]).expect("sent");
        let mut from = sent.as_slice();
        let (received, texts) = receive_request(&mut from).expect("read").expect("there is one");
        assert_eq!((received.time_ms, texts), (7, [b"a\xff\0".to_vec(), b"bc".to_vec()]));
        assert!(matches!(received.job, Job::References { name, .. } if name == "a\"\n"));
        assert!(receive_request(&mut from).expect("the end").is_none());
        for end in 1..sent.len() {
            assert!(receive_request(&mut &sent[..end]).is_err(), "{end}");
        }

        let mut sent = Vec::new();
        send_answer(&mut sent, &Answer::Definitions(Err(SourceProblem::Stopped)), Next::Ends).expect("sent");
        let (answer, next) = receive_answer(&mut sent.as_slice()).expect("read");
        assert!(matches!(answer, Answer::Definitions(Err(SourceProblem::Stopped))) && next == Next::Ends);
        for end in 0..sent.len() {
            assert!(receive_answer(&mut &sent[..end]).is_err(), "{end}");
        }
        assert!(receive_answer(&mut [0xff; 64].as_slice()).is_err());
    }
}

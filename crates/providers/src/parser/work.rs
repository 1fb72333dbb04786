//! What a worker does with a request: plain functions of the text.

use std::time::Instant;

use super::message::{Answer, Job};
use crate::code::{SourceProblem, definitions, references};
use crate::document::{ConvertError, MAX_TEXT_BYTES, convert};
use crate::syntax::{Side, SyntaxInput, check};

/// Does a job; `None` for texts that are none of it.
pub(super) fn work(job: &Job<'_>, texts: [&[u8]; 2], until: Instant) -> Option<Answer> {
    let stop = || Instant::now() >= until;
    Some(match job {
        Job::Check { path, version_before, version_after, regions } => {
            let [before, after] = [str::from_utf8(texts[0]).ok()?, str::from_utf8(texts[1]).ok()?];
            let before = version_before.as_deref().map(|version| Side { text: before, version });
            let after = Side { text: after, version: version_after };
            Answer::Checked(check(&SyntaxInput { path, before, after, regions }, until))
        }
        Job::Definitions { language } => Answer::Definitions(definitions(*language, texts[0], &stop)),
        Job::References { language, name } => {
            Answer::References(references(*language, texts[0], name, &stop))
        }
        Job::Document { kind } => Answer::Document(convert(*kind, texts[0], until)),
    })
}

/// Returns whether an answer fits its job and its texts. A worker that a text has taken over could say anything.
pub(super) fn is_sound(job: &Job<'_>, answer: &Answer, texts: [&[u8]; 2]) -> bool {
    let length = texts[0].len();
    let lies_in = |start: u32, end: u32| start <= end && end as usize <= length;
    match (job, answer) {
        (Job::Check { .. }, Answer::Checked(_))
        | (Job::Definitions { .. }, Answer::Definitions(Err(_)))
        | (Job::References { .. }, Answer::References(Err(_))) => !is_of_the_service(answer),
        (Job::Definitions { .. }, Answer::Definitions(Ok(found))) => {
            found.list.iter().enumerate().all(|(index, it)| {
                it.container.is_none_or(|container| (container as usize) < index)
                    && (1..=it.last_line).contains(&it.first_line)
                    && lies_in(it.bytes.start, it.bytes.end)
            })
        }
        (Job::References { .. }, Answer::References(Ok(found))) => {
            found.list.iter().all(|it| lies_in(it.bytes.start, it.bytes.end))
        }
        (Job::Document { .. }, Answer::Document(Ok(found))) => {
            let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
            found.text.len() <= MAX_TEXT_BYTES + 1 && found.text.chars().all(is_plain)
        }
        (Job::Document { .. }, Answer::Document(Err(_))) => !is_of_the_service(answer),
        _ => false,
    }
}

/// Returns whether an answer says what only the service can know.
fn is_of_the_service(answer: &Answer) -> bool {
    use crate::syntax::SyntaxTreeError;
    match answer {
        Answer::Checked(found) => {
            found.as_ref().is_some_and(|found| found.new == Err(SyntaxTreeError::Unavailable))
        }
        Answer::Definitions(Err(why)) | Answer::References(Err(why)) => *why == SourceProblem::Unavailable,
        Answer::Document(Err(why)) => *why == ConvertError::Unavailable,
        Answer::Definitions(Ok(_)) | Answer::References(Ok(_)) | Answer::Document(Ok(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::code::Definition;
    use crate::syntax::Language;

    #[test]
    fn an_answer_that_points_outside_its_text_is_refused() {
        let text: &[u8] = b"fn one() {}\nimpl A { fn two() { one() } }\n";
        let until = Instant::now() + Duration::from_secs(60);
        let job = Job::Definitions { language: Language::Rust };
        let answer = || match work(&job, [text, b""], until) {
            Some(Answer::Definitions(Ok(found))) => found,
            other => panic!("{other:?}"),
        };
        assert!(is_sound(&job, &Answer::Definitions(Ok(answer())), [text, b""]));
        let changes: [fn(&mut Definition); 5] = [
            |it| it.bytes.end = 1_000,
            |it| it.bytes.start = it.bytes.end + 1,
            |it| it.container = Some(2),
            |it| it.first_line = 0,
            |it| it.first_line = it.last_line + 1,
        ];
        for change in changes {
            let mut found = answer();
            change(&mut found.list[2]);
            assert!(!is_sound(&job, &Answer::Definitions(Ok(found)), [text, b""]));
        }
        let other = Job::References { language: Language::Rust, name: "one".into() };
        assert!(!is_sound(&other, &Answer::Definitions(Ok(answer())), [text, b""]));
        let Some(Answer::References(Ok(mut found))) = work(&other, [text, b""], until) else {
            panic!("none")
        };
        assert_eq!(found.list.len(), 2);
        found.list[1].bytes.end = 1_000;
        assert!(!is_sound(&other, &Answer::References(Ok(found)), [text, b""]));
    }
}

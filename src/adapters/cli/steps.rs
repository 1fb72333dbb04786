//! The steps of `try` and `self-test`: each is done for real, judged, told, and kept for `--json`.

use std::time::Instant;

use serde_json::{Value, json};

use crate::contract::{ErrorCode, Failure};

use super::child::McpChild;
use super::printer::{Paint, Printer, Report, one_line, paint};

/// What was done so far.
pub struct Steps {
    printer: Printer,
    told: Vec<Value>,
    failed: usize,
}

/// What was expected of an envelope.
#[derive(Debug, Clone, Copy)]
pub enum Expect {
    /// It succeeds.
    Success,
    /// It is refused with this code.
    Refusal(ErrorCode),
}

impl Steps {
    /// Begins.
    pub fn new(printer: Printer) -> Self {
        Self { printer, told: Vec::new(), failed: 0 }
    }

    /// Does a step: `work` gives what was seen, or why that is not what must be.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<(T, String), Failure>) -> Option<T> {
        let began = Instant::now();
        let result = work();
        let ms = began.elapsed().as_secs_f64() * 1_000.0;
        let (ok, saw, made) = match result {
            Ok((made, saw)) => (true, saw, Some(made)),
            Err(failure) => (false, failure.message, None),
        };
        self.failed += usize::from(!ok);
        self.told.push(json!({"step": name, "ok": ok, "saw": saw, "durationMs": ms}));
        if !self.printer.json {
            let mark = if ok { paint(Paint::Good, "ok  ") } else { paint(Paint::Bad, "FAIL") };
            self.printer.data(&format!("{mark}  {name:<24} {} ({ms:.1} ms)\n", one_line(&saw)));
        }
        made
    }

    /// Sends an envelope as a tool call, and holds the answer to what is expected of it.
    pub fn envelope(
        &mut self,
        name: &str,
        child: &mut McpChild,
        envelope: Value,
        expect: Expect,
        tell: impl FnOnce(&Value) -> Result<String, Failure>,
    ) -> Option<Value> {
        self.step(name, || {
            let mut outcome = child.call("computer_operation", envelope)?;
            let saw = match expect {
                Expect::Success if outcome["ok"] == true => {
                    let data = outcome["data"].take();
                    let saw = tell(&data)?;
                    return Ok((data, saw));
                }
                Expect::Refusal(code) if outcome["error"]["code"] == code.as_str() => {
                    let message = outcome["error"]["message"].as_str().unwrap_or_default();
                    let stage = outcome["error"]["details"]["stage"].as_str();
                    let stage = stage.map(|stage| format!(", stage {stage}")).unwrap_or_default();
                    format!("refused ({code}{stage}): {message}")
                }
                Expect::Success => {
                    return Err(wrong(format!("it failed: {}", outcome["error"]["message"])));
                }
                Expect::Refusal(code) => {
                    let got = outcome["error"]["code"].as_str().unwrap_or("success");
                    return Err(wrong(format!("{code} was expected, but the answer was {got}")));
                }
            };
            Ok((outcome, saw))
        })
    }

    /// Tells whether every step so far was as it must be.
    pub fn all_well(&self) -> bool {
        self.failed == 0
    }

    /// Ends: the report of all steps.
    pub fn report(self, text: String, mut also: Value) -> Report {
        also["ok"] = json!(self.failed == 0);
        also["steps"] = Value::from(self.told);
        let exit = if self.failed == 0 { 0 } else { ErrorCode::ExecutionFailed.facts().exit_code };
        Report { exit, ..Report::new(text, also) }
    }
}

/// Makes the failure of a step whose result is not what it must be.
pub fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, message)
}

//! What the errors of UI Automation mean. Mathematics only.
//!
//! # Source
//!
//! `UIAutomationCoreApi.h` and `winerror.h` of the Windows SDK.

use crate::accessibility::AccessibilityError;
use crate::program_error::ProgramError;

/// Returns what a call failed with.
pub(super) fn program_error(code: i32) -> ProgramError {
    match code.cast_unsigned() {
        // `UIA_E_TIMEOUT`, `RPC_E_CALL_CANCELED`, `RPC_E_TIMEOUT`
        0x8013_1505 | 0x8001_0002 | 0x8001_011f => ProgramError::Unresponsive,
        // `UIA_E_ELEMENTNOTAVAILABLE`; a window that is none any more
        0x8004_0201 | 0x8007_0578 => ProgramError::Gone,
        // The program ended, or its server did: what was asked for may have been done.
        0x8001_0105 | 0x8001_0108 | 0x8001_0007 | 0x8001_0012 | 0x8007_06ba | 0x8007_06be | 0x8004_01fd => {
            ProgramError::NoReply
        }
        // `UIA_E_NOTSUPPORTED`, `E_NOTIMPL`, `E_NOINTERFACE`; nothing at all where something was asked for
        0x8004_0204 | 0x8000_4001 | 0x8000_4002 | 0..0x8000_0000 => ProgramError::Unable,
        code => ProgramError::Refused(format!("UIA.{code:08X}")),
    }
}

/// Returns why there is no client of UI Automation on this system.
pub(super) fn no_client(code: i32) -> AccessibilityError {
    AccessibilityError::Unsupported(match code.cast_unsigned() {
        // `REGDB_E_CLASSNOTREG`
        0x8004_0154 => {
            "it has no client of UI Automation (the class CUIAutomation8 is not registered), which Windows 8 and newer have; \
             wine 8 has none"
        }
        // `E_NOINTERFACE`
        0x8000_4002 => {
            "its UI Automation has no time limits (IUIAutomation2), which that of Windows 8 and newer has"
        }
        _ => "its UI Automation (CUIAutomation8) could not be started",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_and_an_element_that_is_gone_are_told_apart() {
        let of = |code: u32| program_error(code.cast_signed());
        assert_eq!(of(0x8013_1505), ProgramError::Unresponsive);
        assert!(of(0x8013_1505).may_be_done());
        assert_eq!(of(0x8004_0201), ProgramError::Gone);
        assert_eq!(of(0x8007_06ba), ProgramError::NoReply);
        assert_eq!(of(0x8004_0204), ProgramError::Unable);
        assert_eq!(of(0), ProgramError::Unable);
        assert_eq!(of(0x8007_0005), ProgramError::Refused("UIA.80070005".to_owned()));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (code, word) in
            [(0x8004_0154_u32, "CUIAutomation8"), (0x8000_4002, "IUIAutomation2"), (0, "started")]
        {
            assert!(no_client(code.cast_signed()).to_string().contains(word), "{code:x}");
        }
    }
}

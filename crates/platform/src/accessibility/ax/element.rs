//! The calls to macOS about one element. Each takes a second at most.

#![expect(unsafe_code, reason = "calls of macOS have no safe wrapper; nothing else is done here")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::time::Instant;

use objc2_application_services::{
    AXCopyMultipleAttributeOptions, AXError, AXIsProcessTrusted, AXUIElement, AXValue, AXValueType,
};
use objc2_core_foundation::{
    CFArray, CFBoolean, CFNumber, CFRetained, CFString, CFType, CGPoint, CGRect, CGSize, Type,
};

use super::facts::{AxContent, AxFacts};
use super::names::{CALL, program_error};
use crate::program_error::ProgramError;
use crate::screen::{Point, Rect, whole_units};

/// What an element says of itself, in the order in which it is asked for. `AXValue` is not among it.
const FACTS: &[&str] = &[
    "AXRole",
    "AXSubrole",
    "AXContainsProtectedContent",
    "AXTitle",
    "AXDescription",
    "AXDOMClassList",
    "AXEnabled",
    "AXFocused",
    "AXSelected",
    "AXExpanded",
    "AXDisclosing",
    "AXModal",
    "AXElementBusy",
    "AXMain",
    "AXPosition",
    "AXSize",
    "AXChildren",
];

/// An element of a program. Two are equal if the program says so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct AxElement(CFRetained<AXUIElement>);

/// A value of an attribute, if the element has one.
type Value = Option<CFRetained<CFType>>;
/// A value of an attribute, or why there is none.
type Answer = Result<CFRetained<CFType>, ProgramError>;

/// Returns whether the user lets this process use the accessibility of the system. The user is not asked.
pub(super) fn is_trusted() -> bool {
    // SAFETY: it takes nothing.
    unsafe { AXIsProcessTrusted() }
}

/// Sets how long each call of this process may take.
pub(super) fn limit_calls() {
    // SAFETY: it takes nothing, and what it returns is kept for as long as it is used.
    let system = unsafe { AXUIElement::new_system_wide() };
    // SAFETY: it changes a number of this process. There is no error that could be met with another number.
    let _ = unsafe { system.set_messaging_timeout(CALL.as_secs_f32()) };
}

impl AxElement {
    /// Returns the element of a process itself. No call is made.
    pub(super) fn of_process(pid: i32) -> Self {
        // SAFETY: any number may be asked for; calls to one that is no process fail.
        Self(unsafe { AXUIElement::new_application(pid) })
    }

    /// Returns the element of the system as a whole. No call is made.
    pub(super) fn of_system() -> Self {
        // SAFETY: it takes nothing.
        Self(unsafe { AXUIElement::new_system_wide() })
    }

    /// Finds what is at a point of the screen, in the units of the system: the system says whose it is, and its program what.
    pub(super) fn at(point: (f64, f64)) -> Result<Self, ProgramError> {
        #[expect(clippy::cast_possible_truncation, reason = "a place on a screen")]
        let (x, y) = (point.0 as f32, point.1 as f32);
        let mut found: *const AXUIElement = ptr::null();
        let begun = Instant::now();
        // SAFETY: it writes one pointer, which is there.
        let error = unsafe { Self::of_system().0.copy_element_at_position(x, y, NonNull::from(&mut found)) };
        check(error, begun)?;
        owned(found).map(Self)
    }

    /// Returns the process that the element is of. No call is made to it.
    pub(super) fn pid(&self) -> Option<i32> {
        let mut pid = 0;
        // SAFETY: it writes one number, which is there.
        let error = unsafe { self.0.pid(NonNull::from(&mut pid)) };
        (error == AXError::Success).then_some(pid)
    }

    /// Reads attributes by one call: each, or why it has none.
    fn attributes(&self, names: &[&str]) -> Result<Vec<Answer>, ProgramError> {
        let wanted: Vec<CFRetained<CFString>> = names.iter().map(|name| CFString::from_str(name)).collect();
        let wanted = CFArray::from_retained_objects(&wanted);
        let mut values: *const CFArray = ptr::null();
        let begun = Instant::now();
        // SAFETY: the names are an array of texts, and it writes one pointer, which is there.
        let error = unsafe {
            self.0.copy_multiple_attribute_values(
                wanted.as_opaque(),
                AXCopyMultipleAttributeOptions(0),
                NonNull::from(&mut values),
            )
        };
        check(error, begun)?;
        let values = values_of(values)?;
        if values.len() != names.len() {
            return Err(ProgramError::Refused("AXError.Values".to_owned()));
        }
        let took = begun.elapsed();
        let answer = |value: CFRetained<CFType>| match error_of(&value) {
            Some(number) => Err(program_error(number, took)),
            None => Ok(value),
        };
        Ok(values.into_iter().map(answer).collect())
    }

    /// Reads an attribute.
    fn attribute(&self, name: &str) -> Result<CFRetained<CFType>, ProgramError> {
        let mut value: *const CFType = ptr::null();
        let begun = Instant::now();
        let name = CFString::from_str(name);
        // SAFETY: it writes one pointer, which is there.
        let error = unsafe { self.0.copy_attribute_value(&name, NonNull::from(&mut value)) };
        check(error, begun)?;
        owned(value)
    }

    /// Reads what the element says of itself, but for what it contains.
    pub(super) fn facts(&self) -> Result<AxFacts<Self>, ProgramError> {
        let mut values = self.attributes(FACTS)?.into_iter();
        // By these a field for a secret is known: one that does not say them is none only if it has none.
        let mut certain = || match values.next() {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(ProgramError::Unable)) | None => Ok(None),
            Some(Err(error)) => Err(error),
        };
        let role = text(certain()?).filter(|role| !role.is_empty()).ok_or(ProgramError::Unable)?;
        let (subrole, is_protected) = (text(certain()?).unwrap_or_default(), truth(certain()?) == Some(true));
        let mut next = || values.next()?.ok();
        Ok(AxFacts {
            role,
            subrole,
            is_protected,
            title: text(next()).unwrap_or_default(),
            description: text(next()).unwrap_or_default(),
            classes: array(next()).into_iter().filter_map(|class| text(Some(class))).collect(),
            enabled: truth(next()),
            focused: truth(next()),
            selected: truth(next()),
            expanded: truth(next()),
            disclosing: truth(next()),
            modal: truth(next()) == Some(true),
            busy: truth(next()) == Some(true),
            main: truth(next()) == Some(true),
            place: place(next(), next()),
            children: elements(next()),
        })
    }

    /// Reads where the element is, in the units of the system.
    pub(super) fn place(&self) -> Result<Option<Rect>, ProgramError> {
        let mut values = self.attributes(&["AXPosition", "AXSize"])?.into_iter();
        let mut next = || values.next()?.ok();
        Ok(place(next(), next()))
    }

    /// Reads what the element contains. What it is must have been asked before: nothing is read of a secure field.
    pub(super) fn content(&self) -> Result<AxContent, ProgramError> {
        let value = self.attribute("AXValue")?;
        Ok(match (value.downcast_ref::<CFString>(), number(&value)) {
            (Some(text), _) => AxContent::Text(text.to_string()),
            (None, Some(number)) => AxContent::Number(number),
            (None, None) => AxContent::Nothing,
        })
    }

    /// Reads a number that is an attribute.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, ProgramError> {
        Ok(number(&*self.attribute(name)?))
    }

    /// Reads what is true or not; nothing where the element has no such attribute.
    pub(super) fn truth(&self, name: &str) -> Result<Option<bool>, ProgramError> {
        match self.attribute(name) {
            Err(ProgramError::Unable) => Ok(None),
            value => Ok(truth(Some(value?))),
        }
    }

    /// Reads an element that is an attribute.
    pub(super) fn element(&self, name: &str) -> Result<Option<Self>, ProgramError> {
        Ok(self.attribute(name)?.downcast::<AXUIElement>().ok().map(Self))
    }

    /// Reads elements that are an attribute.
    pub(super) fn elements(&self, name: &str) -> Result<Vec<Self>, ProgramError> {
        Ok(elements(Some(self.attribute(name)?)))
    }

    /// Returns whether an attribute can be set.
    pub(super) fn is_settable(&self, name: &str) -> Result<bool, ProgramError> {
        let mut settable = 0;
        let begun = Instant::now();
        let name = CFString::from_str(name);
        // SAFETY: it writes one byte, which is there.
        let error = unsafe { self.0.is_attribute_settable(&name, NonNull::from(&mut settable)) };
        check(error, begun).map(|()| settable != 0)
    }

    fn set(&self, name: &str, value: &CFType) -> Result<(), ProgramError> {
        let begun = Instant::now();
        let name = CFString::from_str(name);
        // SAFETY: a value of another type than the attribute has is refused.
        check(unsafe { self.0.set_attribute_value(&name, value) }, begun)
    }

    pub(super) fn set_truth(&self, name: &str, value: bool) -> Result<(), ProgramError> {
        self.set(name, CFBoolean::new(value))
    }

    pub(super) fn set_number(&self, number: f64) -> Result<(), ProgramError> {
        self.set("AXValue", &CFNumber::new_f64(number))
    }

    pub(super) fn set_text(&self, text: &str) -> Result<(), ProgramError> {
        self.set("AXValue", &CFString::from_str(text))
    }

    /// Puts the upper left corner of the element somewhere, in the units of the system.
    pub(super) fn set_corner(&self, at: Point) -> Result<(), ProgramError> {
        let mut corner = CGPoint { x: at.x.into(), y: at.y.into() };
        self.set_structure("AXPosition", AXValueType::CGPoint, NonNull::from(&mut corner).cast())
    }

    /// Makes the element so wide and high, in the units of the system.
    pub(super) fn set_size(&self, width: u32, height: u32) -> Result<(), ProgramError> {
        let mut size = CGSize { width: width.into(), height: height.into() };
        self.set_structure("AXSize", AXValueType::CGSize, NonNull::from(&mut size).cast())
    }

    fn set_structure(
        &self,
        name: &str,
        kind: AXValueType,
        from: NonNull<c_void>,
    ) -> Result<(), ProgramError> {
        // SAFETY: it reads a structure of this kind, which the callers have there.
        let value = unsafe { AXValue::new(kind, from) }.ok_or(ProgramError::Unable)?;
        self.set(name, &value)
    }

    pub(super) fn set_element(&self, name: &str, element: &Self) -> Result<(), ProgramError> {
        let one = CFArray::<AXUIElement>::from_objects(&[&*element.0]);
        self.set(name, one.as_opaque())
    }

    /// Reads the names of the element's actions.
    pub(super) fn actions(&self) -> Result<Vec<String>, ProgramError> {
        let mut names: *const CFArray = ptr::null();
        let begun = Instant::now();
        // SAFETY: it writes one pointer, which is there.
        let error = unsafe { self.0.copy_action_names(NonNull::from(&mut names)) };
        check(error, begun)?;
        Ok(values_of(names)?.into_iter().filter_map(|name| text(Some(name))).collect())
    }

    /// Does an action.
    pub(super) fn perform(&self, action: &str) -> Result<(), ProgramError> {
        let begun = Instant::now();
        let action = CFString::from_str(action);
        // SAFETY: an action that the element does not have is refused.
        check(unsafe { self.0.perform_action(&action) }, begun)
    }
}

fn check(error: AXError, begun: Instant) -> Result<(), ProgramError> {
    if error == AXError::Success { Ok(()) } else { Err(program_error(error.0, begun.elapsed())) }
}

/// Takes what a call has returned, which is the caller's to release.
fn owned<T: Type>(value: *const T) -> Result<CFRetained<T>, ProgramError> {
    let value = NonNull::new(value.cast_mut()).ok_or(ProgramError::Unable)?;
    // SAFETY: calls with `Copy` in their name return what the caller has to release, and the pointer is not null.
    Ok(unsafe { CFRetained::from_raw(value) })
}

/// Takes an array that a call has returned.
fn values_of(values: *const CFArray) -> Result<Vec<CFRetained<CFType>>, ProgramError> {
    // SAFETY: arrays that come from another process hold objects of Core Foundation; what they are is checked for each.
    let values: CFRetained<CFArray<CFType>> = unsafe { CFRetained::cast_unchecked(owned(values)?) };
    Ok(values.to_vec())
}

/// Returns the error that an answer has in place of a value. A null is of no type that is asked for.
fn error_of(value: &CFType) -> Option<i32> {
    let mut error = AXError::Failure;
    let place = NonNull::from(&mut error).cast();
    // The structure of this type is the number.
    read(value, AXValueType::AXError, place).then_some(error.0)
}

fn text(value: Value) -> Option<String> {
    Some(value?.downcast_ref::<CFString>()?.to_string())
}

fn truth(value: Value) -> Option<bool> {
    let value = value?;
    let truth = value.downcast_ref::<CFBoolean>().map(CFBoolean::as_bool);
    truth.or_else(|| Some(number(&value)? != 0.0))
}

fn number(value: &CFType) -> Option<f64> {
    let truth = value.downcast_ref::<CFBoolean>().map(|it| f64::from(u8::from(it.as_bool())));
    truth.or_else(|| value.downcast_ref::<CFNumber>()?.as_f64())
}

fn array(value: Value) -> Vec<CFRetained<CFType>> {
    let Some(array) = value.and_then(|value| value.downcast::<CFArray>().ok()) else { return Vec::new() };
    // SAFETY: as for `values_of`.
    let array: CFRetained<CFArray<CFType>> = unsafe { CFRetained::cast_unchecked(array) };
    array.to_vec()
}

fn elements(value: Value) -> Vec<AxElement> {
    array(value).into_iter().filter_map(|it| it.downcast::<AXUIElement>().ok()).map(AxElement).collect()
}

/// Reads a place from its corner and its size.
fn place(corner: Value, size: Value) -> Option<Rect> {
    let (mut origin, mut extent) = (CGPoint::default(), CGSize::default());
    let (corner, size) = (corner?, size?);
    let is_read = read(&corner, AXValueType::CGPoint, NonNull::from(&mut origin).cast())
        && read(&size, AXValueType::CGSize, NonNull::from(&mut extent).cast());
    is_read.then(|| whole_units(&CGRect { origin, size: extent }))
}

/// Reads a structure, which has to be of the type of the place that it is written to.
fn read(value: &CFType, kind: AXValueType, to: NonNull<c_void>) -> bool {
    // SAFETY: it writes a structure of this kind, for which the callers have a place, and nothing if the value is of another.
    value.downcast_ref::<AXValue>().is_some_and(|value| unsafe { value.value(kind, to) })
}

//! The calls to UI Automation. Each takes a second at most.

#![expect(unsafe_code, reason = "calls of Windows have no safe wrapper; nothing else is done here")]

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::slice;

use windows::Win32::Foundation::{HWND, RECT};
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx, CoUninitialize, SAFEARRAY,
};
use windows::Win32::System::Ole::{SafeArrayAccessData, SafeArrayGetDim, SafeArrayUnaccessData};
use windows::Win32::System::Variant::{VARENUM, VARIANT, VT_ARRAY, VT_BOOL, VT_BSTR, VT_I4};
use windows::Win32::UI::Accessibility::{
    CUIAutomation8, IUIAutomation2, IUIAutomationCacheRequest, IUIAutomationCondition, IUIAutomationElement,
    IUIAutomationExpandCollapsePattern, IUIAutomationInvokePattern, IUIAutomationLegacyIAccessiblePattern,
    IUIAutomationRangeValuePattern, IUIAutomationScrollItemPattern, IUIAutomationSelectionItemPattern,
    IUIAutomationTextPattern, IUIAutomationTogglePattern, IUIAutomationTreeWalker, IUIAutomationValuePattern,
    TreeScope_Children, TreeScope_Element, UIA_AriaRolePropertyId, UIA_BoundingRectanglePropertyId,
    UIA_ClassNamePropertyId, UIA_ControlTypePropertyId, UIA_ExpandCollapseExpandCollapseStatePropertyId,
    UIA_ExpandCollapsePatternId, UIA_HasKeyboardFocusPropertyId, UIA_HeadingLevelPropertyId,
    UIA_InvokePatternId, UIA_IsDialogPropertyId, UIA_IsEnabledPropertyId,
    UIA_IsExpandCollapsePatternAvailablePropertyId, UIA_IsInvokePatternAvailablePropertyId,
    UIA_IsItemContainerPatternAvailablePropertyId, UIA_IsKeyboardFocusablePropertyId,
    UIA_IsOffscreenPropertyId, UIA_IsPasswordPropertyId, UIA_IsRangeValuePatternAvailablePropertyId,
    UIA_IsScrollPatternAvailablePropertyId, UIA_IsSelectionItemPatternAvailablePropertyId,
    UIA_IsSelectionPatternAvailablePropertyId, UIA_IsTextPatternAvailablePropertyId,
    UIA_IsTogglePatternAvailablePropertyId, UIA_IsValuePatternAvailablePropertyId,
    UIA_IsWindowPatternAvailablePropertyId, UIA_LegacyIAccessibleDefaultActionPropertyId,
    UIA_LegacyIAccessiblePatternId, UIA_LegacyIAccessibleStatePropertyId, UIA_NamePropertyId,
    UIA_NativeWindowHandlePropertyId, UIA_PATTERN_ID, UIA_PROPERTY_ID, UIA_ProcessIdPropertyId,
    UIA_RangeValueIsReadOnlyPropertyId, UIA_RangeValuePatternId, UIA_RuntimeIdPropertyId,
    UIA_ScrollItemPatternId, UIA_SelectionItemIsSelectedPropertyId, UIA_SelectionItemPatternId,
    UIA_TextPatternId, UIA_TogglePatternId, UIA_ToggleToggleStatePropertyId, UIA_ValueIsReadOnlyPropertyId,
    UIA_ValuePatternId, UIA_WindowIsModalPropertyId,
};
use windows::Win32::UI::WindowsAndMessaging::{GA_ROOT, GetAncestor, IsHungAppWindow};
use windows::core::{BSTR, Error, Interface};

use super::facts::{UiaAction, UiaFacts};
use super::names::{no_client, program_error};
use super::walk::UiaChildren;
use crate::accessibility::AccessibilityError;
use crate::program_error::ProgramError;
use crate::screen::Rect;

/// How long a program may take to answer one call, in milliseconds.
const CALL_MS: u32 = 1_000;

/// What an element says of itself, all by one call. Its value is not among it.
const FACTS: &[UIA_PROPERTY_ID] = &[
    UIA_RuntimeIdPropertyId,
    UIA_ProcessIdPropertyId,
    UIA_NativeWindowHandlePropertyId,
    UIA_ControlTypePropertyId,
    UIA_NamePropertyId,
    UIA_ClassNamePropertyId,
    UIA_AriaRolePropertyId,
    UIA_IsPasswordPropertyId,
    UIA_LegacyIAccessibleStatePropertyId,
    UIA_LegacyIAccessibleDefaultActionPropertyId,
    UIA_IsEnabledPropertyId,
    UIA_IsOffscreenPropertyId,
    UIA_IsKeyboardFocusablePropertyId,
    UIA_HasKeyboardFocusPropertyId,
    UIA_BoundingRectanglePropertyId,
    UIA_IsInvokePatternAvailablePropertyId,
    UIA_IsTogglePatternAvailablePropertyId,
    UIA_ToggleToggleStatePropertyId,
    UIA_IsSelectionItemPatternAvailablePropertyId,
    UIA_SelectionItemIsSelectedPropertyId,
    UIA_IsExpandCollapsePatternAvailablePropertyId,
    UIA_ExpandCollapseExpandCollapseStatePropertyId,
    UIA_IsValuePatternAvailablePropertyId,
    UIA_ValueIsReadOnlyPropertyId,
    UIA_IsRangeValuePatternAvailablePropertyId,
    UIA_RangeValueIsReadOnlyPropertyId,
    UIA_IsTextPatternAvailablePropertyId,
    UIA_IsSelectionPatternAvailablePropertyId,
    UIA_IsScrollPatternAvailablePropertyId,
    UIA_IsItemContainerPatternAvailablePropertyId,
    UIA_IsWindowPatternAvailablePropertyId,
    UIA_WindowIsModalPropertyId,
];
/// The same, of newer systems only.
const NEWER_FACTS: &[UIA_PROPERTY_ID] = &[UIA_HeadingLevelPropertyId, UIA_IsDialogPropertyId];
/// `HeadingLevel_None`
const NO_HEADING: i32 = 80050;

/// This thread's use of COM, until it is dropped.
#[derive(Debug)]
struct ComUse;

impl ComUse {
    fn new() -> Result<Self, Error> {
        // SAFETY: it takes no pointers; each that succeeds is taken back once, by this thread, as what is made is never sent.
        unsafe { CoInitializeEx(None, COINIT_MULTITHREADED) }.ok()?;
        Ok(Self)
    }
}

impl Drop for ComUse {
    fn drop(&mut self) {
        // SAFETY: `new` has succeeded on this thread, and nothing of COM is left: this is the last field of what has it.
        unsafe { CoUninitialize() };
    }
}

/// The client of UI Automation, of one thread.
#[derive(Debug)]
pub(super) struct Uia {
    automation: IUIAutomation2,
    /// What is asked of each element.
    request: IUIAutomationCacheRequest,
    /// Elements that are there for the user.
    controls: IUIAutomationCondition,
    /// Those of them that show.
    shown: IUIAutomationCondition,
    walker: IUIAutomationTreeWalker,
    // The last, as everything else needs it.
    _com: ComUse,
}

/// An element of a program, with what it said of itself when it was read. Two are equal if the program says so.
#[derive(Debug, Clone)]
pub(super) struct UiaElement {
    element: IUIAutomationElement,
    id: Rc<[i32]>,
    facts: Rc<UiaFacts>,
}

impl PartialEq for UiaElement {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for UiaElement {}

impl Hash for UiaElement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// A value of a property.
enum Value {
    Nothing,
    Truth(bool),
    Integer(i32),
    Text(String),
}

fn failed(error: Error) -> ProgramError {
    program_error(error.code().0)
}

/// Returns whether the program of a window hangs, as Windows itself has found.
pub(super) fn is_hung(window: u64) -> bool {
    // SAFETY: it takes no pointers; a number that is no window is answered with no.
    unsafe { IsHungAppWindow(handle(window)) }.as_bool()
}

/// Returns whether a window is another one, or within it.
pub(super) fn is_within(window: u64, top: u64) -> bool {
    // SAFETY: it takes no pointers; a number that is no window is answered with none.
    window == top || unsafe { GetAncestor(handle(window), GA_ROOT) } == handle(top)
}

fn handle(window: u64) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(usize::try_from(window).unwrap_or_default()))
}

impl Uia {
    /// Starts it.
    ///
    /// # Errors
    /// [`AccessibilityError::Unsupported`], with what is missing.
    pub(super) fn new() -> Result<Self, AccessibilityError> {
        Self::start().map_err(|error| no_client(error.code().0))
    }

    fn start() -> Result<Self, Error> {
        let com = ComUse::new()?;
        // SAFETY: this thread uses COM, and the class has this interface or answers with an error.
        let automation: IUIAutomation2 =
            unsafe { CoCreateInstance(&CUIAutomation8, None, CLSCTX_INPROC_SERVER)? };
        // SAFETY: these take numbers, or objects that live, and change what was made above.
        unsafe {
            automation.SetConnectionTimeout(CALL_MS)?;
            automation.SetTransactionTimeout(CALL_MS)?;
            // Else acting on an element would give it the keyboard.
            automation.SetAutoSetFocus(false)?;
            let request = automation.CreateCacheRequest()?;
            for property in FACTS {
                request.AddProperty(*property)?;
            }
            for property in NEWER_FACTS {
                // An older system has none of it.
                let _ = request.AddProperty(*property);
            }
            request.SetTreeScope(TreeScope_Element)?;
            let controls = automation.ControlViewCondition()?;
            let on_screen =
                automation.CreatePropertyCondition(UIA_IsOffscreenPropertyId, &VARIANT::from(false))?;
            let shown = automation.CreateAndCondition(&controls, &on_screen)?;
            let walker = automation.ControlViewWalker()?;
            Ok(Self { automation, request, controls, shown, walker, _com: com })
        }
    }

    /// Reads the element of a window.
    pub(super) fn of_window(&self, window: u64) -> Result<UiaElement, ProgramError> {
        // SAFETY: a number that is no window is an error.
        read(unsafe { self.automation.ElementFromHandleBuildCache(handle(window), &self.request) })
    }

    /// Reads an element again, which has to be the same still.
    pub(super) fn refreshed(&self, element: &UiaElement) -> Result<UiaElement, ProgramError> {
        // SAFETY: the objects are of this thread.
        let now = read(unsafe { element.element.BuildUpdatedCache(&self.request) })?;
        let is_same = now == *element
            && (now.facts.pid, now.facts.kind, now.facts.window)
                == (element.facts.pid, element.facts.kind, element.facts.window);
        if is_same { Ok(now) } else { Err(ProgramError::Gone) }
    }

    /// Reads the children of an element.
    pub(super) fn children(&self, element: &UiaElement) -> Result<UiaChildren<UiaElement>, ProgramError> {
        self.find_children(element, &self.controls)
    }

    fn find_children(
        &self,
        element: &UiaElement,
        which: &IUIAutomationCondition,
    ) -> Result<UiaChildren<UiaElement>, ProgramError> {
        let com = &element.element;
        // SAFETY: the objects are of this thread.
        let found = unsafe { com.FindAllBuildCache(TreeScope_Children, which, &self.request) };
        let found = match found.map_err(failed) {
            // There are none.
            Err(ProgramError::Unable) => return Ok(UiaChildren { elements: Vec::new(), is_all: true }),
            found => found?,
        };
        // SAFETY: it takes nothing.
        let length = unsafe { found.Length() }.map_err(failed)?;
        let mut children = UiaChildren { elements: Vec::new(), is_all: true };
        for at in 0..length {
            // SAFETY: a place that is not there is an error.
            children.add(read(unsafe { found.GetElement(at) }));
        }
        Ok(children)
    }

    /// Reads at most so many children of an element, one by one. Where it has more, those that show.
    pub(super) fn first_children(
        &self,
        element: &UiaElement,
        most: usize,
    ) -> Result<UiaChildren<UiaElement>, ProgramError> {
        let mut children = UiaChildren { elements: Vec::new(), is_all: true };
        // SAFETY: the objects are of this thread, here and below.
        let mut next = unsafe { self.walker.GetFirstChildElementBuildCache(&element.element, &self.request) };
        loop {
            let child = match next.map_err(failed) {
                Err(ProgramError::Unable) => return Ok(children),
                child => child?,
            };
            if children.elements.len() >= most {
                break;
            }
            // SAFETY: as above.
            next = unsafe { self.walker.GetNextSiblingElementBuildCache(&child, &self.request) };
            children.add(read(Ok(child)));
        }
        let shown = self.find_children(element, &self.shown).unwrap_or(children);
        Ok(UiaChildren { is_all: false, ..shown })
    }

    /// Returns whether a list has an item: directly, or as what is selected in it.
    pub(super) fn is_in(&self, item: &UiaElement, list: &UiaElement) -> Result<bool, ProgramError> {
        // SAFETY: the objects are of this thread.
        let parent = unsafe { self.walker.GetParentElementBuildCache(&item.element, &self.request) };
        if read(parent).is_ok_and(|parent| parent == *list) {
            return Ok(true);
        }
        let item: IUIAutomationSelectionItemPattern = item.pattern(UIA_SelectionItemPatternId)?;
        // SAFETY: it takes nothing.
        let holder = unsafe { item.CurrentSelectionContainer() }.map_err(failed)?;
        // SAFETY: the objects are of this thread.
        Ok(read(unsafe { holder.BuildUpdatedCache(&self.request) })? == *list)
    }

    /// Reads the element that labels another.
    pub(super) fn label(&self, element: &UiaElement) -> Result<UiaElement, ProgramError> {
        // SAFETY: it takes nothing.
        let label = unsafe { element.element.CurrentLabeledBy() }.map_err(failed)?;
        // SAFETY: the objects are of this thread.
        read(unsafe { label.BuildUpdatedCache(&self.request) })
    }
}

impl UiaChildren<UiaElement> {
    fn add(&mut self, child: Result<UiaElement, ProgramError>) {
        match child {
            Ok(child) => self.elements.push(child),
            Err(ProgramError::Gone) => {}
            // It is there, and says nothing that it could be judged by.
            Err(_) => self.is_all = false,
        }
    }
}

impl UiaElement {
    /// Returns what it said of itself when it was read.
    pub(super) fn facts(&self) -> &UiaFacts {
        &self.facts
    }

    fn pattern<T: Interface>(&self, pattern: UIA_PATTERN_ID) -> Result<T, ProgramError> {
        // SAFETY: an object that has not the interface is an error.
        unsafe { self.element.GetCurrentPatternAs(pattern) }.map_err(failed)
    }

    fn number(&self) -> Result<IUIAutomationRangeValuePattern, ProgramError> {
        self.pattern(UIA_RangeValuePatternId)
    }

    /// Does an action.
    pub(super) fn perform(&self, action: UiaAction) -> Result<(), ProgramError> {
        // SAFETY: these take nothing.
        let done = unsafe {
            match action {
                UiaAction::Invoke => {
                    self.pattern::<IUIAutomationInvokePattern>(UIA_InvokePatternId)?.Invoke()
                }
                UiaAction::Toggle => {
                    self.pattern::<IUIAutomationTogglePattern>(UIA_TogglePatternId)?.Toggle()
                }
                UiaAction::Select => {
                    self.pattern::<IUIAutomationSelectionItemPattern>(UIA_SelectionItemPatternId)?.Select()
                }
                UiaAction::Expand => {
                    self.pattern::<IUIAutomationExpandCollapsePattern>(UIA_ExpandCollapsePatternId)?.Expand()
                }
                UiaAction::Collapse => self
                    .pattern::<IUIAutomationExpandCollapsePattern>(UIA_ExpandCollapsePatternId)?
                    .Collapse(),
                UiaAction::Default => self
                    .pattern::<IUIAutomationLegacyIAccessiblePattern>(UIA_LegacyIAccessiblePatternId)?
                    .DoDefaultAction(),
            }
        };
        done.map_err(failed)
    }

    /// Gives it the keyboard.
    pub(super) fn focus(&self) -> Result<(), ProgramError> {
        // SAFETY: it takes nothing.
        unsafe { self.element.SetFocus() }.map_err(failed)
    }

    /// Has it scrolled into view.
    pub(super) fn scroll_into_view(&self) -> Result<(), ProgramError> {
        let item: IUIAutomationScrollItemPattern = self.pattern(UIA_ScrollItemPatternId)?;
        // SAFETY: it takes nothing.
        unsafe { item.ScrollIntoView() }.map_err(failed)
    }

    /// Reads its value. That it is no secret must have been asked before.
    pub(super) fn value(&self) -> Result<String, ProgramError> {
        let value: IUIAutomationValuePattern = self.pattern(UIA_ValuePatternId)?;
        // SAFETY: it takes nothing.
        unsafe { value.CurrentValue() }.map(|text| text.to_string()).map_err(failed)
    }

    /// Reads at most so many units of the text that it shows. That it is no secret must have been asked before.
    pub(super) fn text(&self, most: usize) -> Result<String, ProgramError> {
        let text: IUIAutomationTextPattern = self.pattern(UIA_TextPatternId)?;
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        // SAFETY: these take a number, and nothing.
        let text = unsafe { text.DocumentRange().and_then(|range| range.GetText(most)) };
        text.map(|text| text.to_string()).map_err(failed)
    }

    /// Replaces its value.
    pub(super) fn set_value(&self, text: &str) -> Result<(), ProgramError> {
        let value: IUIAutomationValuePattern = self.pattern(UIA_ValuePatternId)?;
        // SAFETY: the text lives until the call is over.
        unsafe { value.SetValue(&BSTR::from(text)) }.map_err(failed)
    }

    /// Reads its number.
    pub(super) fn current_number(&self) -> Result<f64, ProgramError> {
        let number = self.number()?;
        // SAFETY: it takes nothing.
        unsafe { number.CurrentValue() }.map_err(failed)
    }

    /// Reads between which bounds its number is.
    pub(super) fn range(&self) -> Result<[f64; 2], ProgramError> {
        let number = self.number()?;
        // SAFETY: these take nothing.
        unsafe { Ok([number.CurrentMinimum().map_err(failed)?, number.CurrentMaximum().map_err(failed)?]) }
    }

    /// Reads by how much its number changes with one step.
    pub(super) fn step(&self) -> Result<f64, ProgramError> {
        let number = self.number()?;
        // SAFETY: it takes nothing.
        unsafe { number.CurrentSmallChange() }.map_err(failed)
    }

    /// Sets its number.
    pub(super) fn set_number(&self, number: f64) -> Result<(), ProgramError> {
        let pattern = self.number()?;
        // SAFETY: it takes a number.
        unsafe { pattern.SetValue(number) }.map_err(failed)
    }
}

/// Reads what an element that was asked for said of itself.
fn read(element: Result<IUIAutomationElement, Error>) -> Result<UiaElement, ProgramError> {
    let element = element.map_err(failed)?;
    let value = |property| value(&element, property);
    let known = |property| value(property).unwrap_or(Value::Nothing);
    let truth = |property| matches!(known(property), Value::Truth(true));
    let integer = |property| match known(property) {
        Value::Integer(number) => Some(number),
        _ => None,
    };
    let text = |property| match known(property) {
        Value::Text(text) => text,
        _ => String::new(),
    };
    // By these it is judged: one that does not say them is left out.
    let pid = match value(UIA_ProcessIdPropertyId)? {
        Value::Integer(pid) => u32::try_from(pid).unwrap_or_default(),
        _ => return Err(ProgramError::Refused("UIA.NoProcess".to_owned())),
    };
    let is_password = matches!(value(UIA_IsPasswordPropertyId)?, Value::Truth(true));
    let legacy_states = match value(UIA_LegacyIAccessibleStatePropertyId)? {
        Value::Integer(states) => states.cast_unsigned(),
        _ => 0,
    };
    // SAFETY: it takes nothing.
    let window = unsafe { element.CachedNativeWindowHandle() }.map_err(failed)?;
    // SAFETY: it takes nothing.
    let place = unsafe { element.CachedBoundingRectangle() }.ok().map(|place| rect(&place));
    let has = |pattern, property| truth(pattern).then(|| integer(property).unwrap_or_default());
    let is = |pattern, property| truth(pattern).then(|| truth(property));
    let facts = UiaFacts {
        kind: integer(UIA_ControlTypePropertyId).unwrap_or_default(),
        pid,
        window: window.0.addr() as u64,
        name: text(UIA_NamePropertyId),
        class: text(UIA_ClassNamePropertyId),
        aria_role: text(UIA_AriaRolePropertyId),
        is_password,
        legacy_states,
        is_disabled: !truth(UIA_IsEnabledPropertyId),
        is_offscreen: truth(UIA_IsOffscreenPropertyId),
        is_focusable: truth(UIA_IsKeyboardFocusablePropertyId),
        is_focused: truth(UIA_HasKeyboardFocusPropertyId),
        is_modal: truth(UIA_IsWindowPatternAvailablePropertyId) && truth(UIA_WindowIsModalPropertyId),
        is_dialog: truth(UIA_IsDialogPropertyId),
        is_heading: integer(UIA_HeadingLevelPropertyId).is_some_and(|level| level > NO_HEADING),
        place: place.filter(|place| !place.is_empty()),
        can_invoke: truth(UIA_IsInvokePatternAvailablePropertyId),
        toggle: has(UIA_IsTogglePatternAvailablePropertyId, UIA_ToggleToggleStatePropertyId),
        selected: is(UIA_IsSelectionItemPatternAvailablePropertyId, UIA_SelectionItemIsSelectedPropertyId),
        expansion: has(
            UIA_IsExpandCollapsePatternAvailablePropertyId,
            UIA_ExpandCollapseExpandCollapseStatePropertyId,
        ),
        value: is(UIA_IsValuePatternAvailablePropertyId, UIA_ValueIsReadOnlyPropertyId),
        number: is(UIA_IsRangeValuePatternAvailablePropertyId, UIA_RangeValueIsReadOnlyPropertyId),
        has_text: truth(UIA_IsTextPatternAvailablePropertyId),
        selects: truth(UIA_IsSelectionPatternAvailablePropertyId),
        scrolls: truth(UIA_IsScrollPatternAvailablePropertyId),
        makes_items: truth(UIA_IsItemContainerPatternAvailablePropertyId),
        default_action: text(UIA_LegacyIAccessibleDefaultActionPropertyId),
    };
    let id = runtime_id(&element)?;
    Ok(UiaElement { element, id, facts: Rc::new(facts) })
}

/// Reads a property that was asked for with its element.
fn value(element: &IUIAutomationElement, property: UIA_PROPERTY_ID) -> Result<Value, ProgramError> {
    // SAFETY: a property that was not asked for is an error.
    let value = unsafe { element.GetCachedPropertyValue(property) }.map_err(failed)?;
    // SAFETY: each is read as what the value says that it is.
    unsafe {
        let inner = &value.Anonymous.Anonymous;
        Ok(match inner.vt {
            VT_BOOL => Value::Truth(inner.Anonymous.boolVal.as_bool()),
            VT_I4 => Value::Integer(inner.Anonymous.lVal),
            VT_BSTR => Value::Text(inner.Anonymous.bstrVal.to_string()),
            _ => Value::Nothing,
        })
    }
}

/// Reads the numbers by which the program knows an element.
fn runtime_id(element: &IUIAutomationElement) -> Result<Rc<[i32]>, ProgramError> {
    const NUMBERS: VARENUM = VARENUM(VT_ARRAY.0 | VT_I4.0);
    // SAFETY: as in `value`.
    let value = unsafe { element.GetCachedPropertyValue(UIA_RuntimeIdPropertyId) }.map_err(failed)?;
    // SAFETY: the array is read only where the value says that it is one of such numbers, and lives as long as the value.
    let id = unsafe {
        let inner = &value.Anonymous.Anonymous;
        if inner.vt == NUMBERS { numbers(inner.Anonymous.parray) } else { None }
    };
    id.filter(|id| !id.is_empty()).ok_or_else(|| ProgramError::Refused("UIA.NoRuntimeId".to_owned()))
}

/// Copies an array of numbers.
///
/// # Safety
/// It has to be null or an array of numbers of 32 bits.
unsafe fn numbers(array: *const SAFEARRAY) -> Option<Rc<[i32]>> {
    let mut data = std::ptr::null_mut();
    // SAFETY: the array is one, and is locked while it is read; it has as many numbers as it says.
    unsafe {
        if array.is_null() || SafeArrayGetDim(array) != 1 {
            return None;
        }
        SafeArrayAccessData(array, &raw mut data).ok()?;
        let length = usize::try_from((*array).rgsabound[0].cElements).unwrap_or_default();
        let copied = Rc::from(match data.is_null() {
            true => &[],
            false => slice::from_raw_parts(data.cast::<i32>(), length),
        });
        let _ = SafeArrayUnaccessData(array);
        Some(copied)
    }
}

fn rect(of: &RECT) -> Rect {
    let length = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
    Rect::new(of.left, of.top, length(of.left, of.right), length(of.top, of.bottom))
}

//! Trials: how the tests of this program are listed, named and run.

use libtest_mimic::Trial;

/// Creates a trial for each of some functions, named after the module and the function.
macro_rules! trials {
    [$($function:path),+ $(,)?] => {
        vec![$($crate::trials::of_function(module_path!(), stringify!($function), $function)),+]
    };
}

/// Creates a trial for each item: it calls some functions, one after the other, with the item.
///
/// Items are pairs: the end of the trial's name, and what the functions take by reference.
macro_rules! each {
    [$($function:path),+ $(,)?; $items:expr] => {
        $items
            .into_iter()
            .map(|(name, item)| {
                $crate::trials::of_item(module_path!(), &name, move || { $($function(&item);)+ })
            })
            .collect::<Vec<libtest_mimic::Trial>>()
    };
}

/// Which trials are asked for.
///
/// Where each trial has a process of its own, files that have nothing to do with it are not even read.
pub struct TrialFilter {
    /// The only trial, if one is asked for by its whole name.
    pub name: Option<String>,
}

impl TrialFilter {
    /// Returns whether a trial whose name has this part may be asked for.
    pub fn may_be_in(&self, part: &str) -> bool {
        self.name.as_ref().is_none_or(|name| name.contains(part))
    }
}

/// Creates the trial of a function.
pub fn of_function(module: &str, function: &str, test: fn()) -> Trial {
    let (inner, function) = function.rsplit_once("::").unwrap_or(("", function));
    let inner = if inner.is_empty() { String::new() } else { format!("{inner}::") };
    of_item(module, &format!("{inner}{function}"), test)
}

/// Creates the trial of an item.
pub fn of_item(module: &str, name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(trial_name(module, name), move || {
        test();
        Ok(())
    })
}

/// Returns the name of a trial: the module without the name of this program, and what the module calls it.
pub fn trial_name(module: &str, name: &str) -> String {
    let module = module.split_once("::").map_or(module, |(_, inner)| inner);
    format!("{module}::{name}")
}

/// Turns a heading into a part of a name: `Reads "a" file` becomes `reads_a_file`.
pub fn slug(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

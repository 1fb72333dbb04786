//! A grammar whose parse tables are inflated when it is first asked for.

#![expect(unsafe_code, reason = "grammars are written in C")]

use std::sync::Once;
use std::{iter, slice};

use miniz_oxide::inflate::decompress_slice_iter_to_slice;
use tree_sitter_language::LanguageFn;

/// A grammar of tree-sitter.
#[derive(Debug)]
pub struct Grammar {
    pub(crate) function: unsafe extern "C" fn() -> *const (),
    pub(crate) tables: unsafe extern "C" fn() -> *mut u16,
    pub(crate) length: usize,
    pub(crate) packed: &'static [u8],
    pub(crate) inflated: Once,
}

const _: () = assert!(u16::from_ne_bytes([1, 0]) == 1, "the build packs numbers in this order");

impl Grammar {
    /// Returns the function by which tree-sitter takes the grammar.
    pub fn function(&self) -> LanguageFn {
        self.inflated.call_once(|| {
            // SAFETY: so many numbers are there, each of which may have any value. Only this closure writes them, once,
            // and nobody reads them before it, since the grammar's function is given out behind it alone.
            let tables = unsafe { slice::from_raw_parts_mut((self.tables)().cast::<u8>(), 2 * self.length) };
            let inflated = decompress_slice_iter_to_slice(tables, iter::once(self.packed), false, true);
            assert_eq!(inflated, Ok(2 * self.length), "the build packed it");
        });
        // SAFETY: it was made by tree-sitter's generator.
        unsafe { LanguageFn::from_raw(self.function) }
    }
}

/// Names a grammar that the build made: its functions in C, the number of entries of its tables, and their file.
macro_rules! grammar {
    ($name:ident, $function:ident, $tables:ident, $length:literal, $packed:literal) => {
        #[doc = concat!("`", stringify!($function), "`.")]
        pub static $name: Grammar = {
            unsafe extern "C" {
                fn $function() -> *const ();
                fn $tables() -> *mut u16;
            }
            Grammar {
                function: $function,
                tables: $tables,
                length: $length,
                packed: include_bytes!(concat!(env!("OUT_DIR"), $packed)),
                inflated: Once::new(),
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

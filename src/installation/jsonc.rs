//! Reading JSON in which a person may have written comments and trailing commas, and nothing else that JSON lacks.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use jsonc_parser::errors::ParseError;

/// Parses a text into its syntax tree.
///
/// # Errors
/// With the place of what is not JSON, comments and trailing commas aside.
pub fn parse(text: &str) -> Result<CstRootNode, ParseError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options)
}

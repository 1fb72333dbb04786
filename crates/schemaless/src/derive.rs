//! `#[derive(JsonSchema)]` that makes no code. `bailiwick-schema` says when it is used.

use proc_macro::TokenStream;

/// Accepts what the derive of schemars accepts, and makes nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

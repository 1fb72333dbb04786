//! Nothing: brush-parser uses insta in its tests alone, and would have the program build it.

#![forbid(unsafe_code)]

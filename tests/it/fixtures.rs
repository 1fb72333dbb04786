//! The fixtures do what tests expect of them.

use std::net::TcpListener;

use crate::ports::reserve_port;
use crate::source::code_only;

#[test]
fn comments_and_literals_are_no_code() {
    let text = "a(\"crate::x // y\"); // crate::b\nlet c = '\"'; /* crate:: /* d */ */ fn f<'a>() {}\nr#\"crate::\"# e b'\\'' g";
    let code = code_only(text);
    assert!(!code.contains("crate::"), "{code}");
    assert!(code.contains("fn f<'a>() {}"), "{code}");
    assert!(code.contains(" e ") && code.contains(" g"), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn a_port_is_reserved_once() {
    let (one, other) = (reserve_port(), reserve_port());
    assert_ne!(one, other);
    drop(TcpListener::bind(("127.0.0.1", one)).expect("nothing listens on it"));
}

//! Words about the file itself lead nothing.
use std::fmt;

/// How many.
pub const MAX: usize = 10;
static NAMES: &[&str] = &[
    "one",
];

/// A point.
///
/// Twice commented.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Point<T: Copy = f64> {
    /// Across.
    pub x: T,
    y: T, // said behind
    pub r#type: u8,
}

struct Größe(u32, pub String);
struct Nothing;

union Bits { f: f32, u: u32 }

pub enum Shape {
    /// A circle.
    Circle { radius: f64 },
    Square(f64),
    Empty = 7,
}

pub trait Area: fmt::Debug {
    type Unit;
    const SIDES: u32 = 4;
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { self.area() * 2.0 }
}

impl<T> Point<T>
where
    T: Copy + Default,
{
    pub const ORIGIN: u8 = 0;

    #[must_use]
    pub fn new(
        x: T, // across
        y: T, /* up */
    ) -> Self {
        fn helper() {}
        struct Local;
        Self { x, y, r#type: 0 }
    }
    pub async extern "C" fn go<'a>(&'a self) -> &'a T { &self.x }
}

impl Area for Shape {
    type Unit = f64;
    fn area(&self) -> f64 { 0.0 }
}
impl fmt::Display for &'_ Größe { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
impl<T> Area for [T] where T: fmt::Debug { fn area(&self) -> f64 { 1. } type Unit = (); }

pub type Points<T> = Vec<Point<T>>;

mod inner {
    //! Inner words.
    pub(crate) mod deeper { pub fn leaf() {} }
}
mod elsewhere;

/* A block
   comment. */
macro_rules! make {
    ($name:ident) => { fn $name() {} };
}

extern "C" {
    fn from_c(n: i32) -> i32;
    static mut ERRNO: i32;
}

// Far away.

fn   odd  ( a :u8 ,
   b: u8 )->u8{ a+b }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn it_works() { make!(x); }
}

const _: () = {
    impl Hidden for Shape {}
};

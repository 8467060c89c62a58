//! What was said at each second: a record replayed as it streams by, or at hand as a whole.

mod course;
mod difference;
mod judging;
mod lane;
mod passage;
mod rows;
mod sweep;

pub use self::course::Course;
pub use self::difference::differences;
pub use self::sweep::Sweep;

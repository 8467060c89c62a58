//! The rules, held against a second implementation of the design that is too plain to be wrong, and against
//! each of their laws.

#![expect(clippy::unwrap_used, reason = "what is not there fails the test")]

mod check;
mod enumeration;
mod laws;
mod naive;
mod operations;
mod words;

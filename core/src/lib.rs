#![no_std]
//! The rules of Greenlight.

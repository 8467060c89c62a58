//! What std would bring, in the weight that a page can afford: an allocator, and where a panic is told.

use alloc::string::ToString;
use core::panic::PanicInfo;

use wasm_bindgen::prelude::wasm_bindgen;

#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// A panic is a bug of ours. Where it happened is enough to find it: the machinery that would print its words
/// weighs more than the rules.
#[panic_handler]
fn tell(panic: &PanicInfo<'_>) -> ! {
    if let Some(place) = panic.location() {
        error(&crate::text::joined(&["greenlight panicked at ", place.file(), ":", &place.line().to_string()]));
    }
    core::arch::wasm32::unreachable()
}

//! Takes out of the page's text files what only their readers need.

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_minifier::{CompressOptions, MangleOptions, Minifier, MinifierOptions};
use oxc_parser::Parser;
use oxc_span::SourceType;

/// A module with short local names and without comments. What it imports and exports keeps its names, so that each
/// file stays a module of its own.
pub(crate) fn module(code: &str) -> Result<String, String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, SourceType::mjs()).parse();
    if let Some(wrong) = parsed.diagnostics.first() {
        return Err(wrong.to_string());
    }
    let mut program = parsed.program;
    let options = MinifierOptions {
        mangle: Some(MangleOptions::default()),
        compress: Some(CompressOptions::smallest()),
        ..MinifierOptions::default()
    };
    let scoping = Minifier::new(options).minify(&allocator, &mut program).scoping;
    Ok(Codegen::new().with_options(CodegenOptions::minify()).with_scoping(scoping).build(&program).code)
}

/// A sheet without indentation, empty lines, and comments that have their lines to themselves.
pub(crate) fn sheet(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        if line.is_empty() || (line.starts_with("/*") && line.ends_with("*/")) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

//! Takes out of the page's text files what only their readers need: comments, indentation and empty lines. By
//! lines and nothing cleverer: the files keep their line structure, and no code is parsed.

/// `//` and `/* … */` comments that have their lines to themselves go, and `/** … */` casts within a line.
pub(crate) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_comment = false;
    for line in text.lines() {
        let line = line.trim();
        if in_comment {
            in_comment = !line.ends_with("*/");
            continue;
        }
        if line.starts_with("/*") && !line.contains("*/") {
            in_comment = true;
            continue;
        }
        let line = without_casts(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/")) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// A file that holds these characters in a string would be broken: none does, and the page's tests run what comes
/// out of here.
fn without_casts(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, comment)) = rest.split_once("/** ") {
        let Some((_, after)) = comment.split_once("*/") else { break };
        out.push_str(before);
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    out.push_str(rest);
    out
}

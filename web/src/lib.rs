//! The status page: its files as browsers get them, compressed and named by their content.
//!
//! ```
//! let page = greenlight_web::find("/").expect("the page");
//! assert_eq!(page.content_type, "text/html; charset=utf-8");
//! assert!(!page.is_immutable());
//! assert!(greenlight_web::find("/assets/nothing.js").is_none());
//! ```

mod asset;
mod export;

pub use asset::{Asset, Encoding};
pub use export::write_site;

/// What the daemon's page may do: run its own modules and its own wasm, ask its own daemon, show pictures made
/// of data. Nothing inline, nothing from elsewhere, no frame around it.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Every file of the page.
pub fn assets() -> &'static [Asset] {
    ASSETS
}

/// The file at a path of the daemon: `/` is the page, all others lie below `/assets/`.
pub fn find(path: &str) -> Option<&'static Asset> {
    let wanted = match path.strip_prefix('/')? {
        "" => "index.html",
        other => other,
    };
    ASSETS.iter().find(|asset| asset.path == wanted)
}

/// The file of that name, whatever its address in this build.
pub fn find_by_name(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name() == name)
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_page_names_is_there() {
        let index = std::str::from_utf8(find("/").unwrap().plain).unwrap();
        let named: Vec<&str> =
            index.split('"').filter(|part| part.starts_with("assets/") && !part.contains(' ')).collect();
        assert!(named.len() > 5, "{index}");
        for path in named {
            assert!(find(&format!("/{path}")).is_some_and(Asset::is_immutable), "{path}");
        }
        assert!(!index.contains("\"./"));
    }

    #[test]
    fn nothing_is_inline() {
        let index = std::str::from_utf8(find("/").unwrap().plain).unwrap();
        assert!(!index.contains("<style") && !index.contains(" style=") && !index.contains(" onload="));
        assert_eq!(index.matches("<script").count(), index.matches("<script type=\"module\" src=").count());
    }

    #[test]
    fn every_variant_is_smaller_than_the_plain_file() {
        for asset in assets() {
            for coded in [asset.gzip, asset.brotli].into_iter().flatten() {
                assert!(coded.len() < asset.plain.len(), "{}", asset.path);
            }
        }
    }
}

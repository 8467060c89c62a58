//! The page: its files with what lets a browser keep them, and what the page may do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use greenlight_web::{Asset, CONTENT_SECURITY_POLICY};

use super::Api;
use super::problem::Problem;

/// Where the page comes from.
#[derive(Clone, Debug, Default)]
pub enum PageFiles {
    /// From within the binary.
    #[default]
    Embedded,
    /// From a folder, read anew for each request, for work on the page. What is missing there, such as the wasm,
    /// comes from within the binary.
    Folder(Arc<Path>),
}

impl PageFiles {
    /// The files of `folder`, or those within the binary where none is given.
    pub fn of(folder: Option<&PathBuf>) -> Self {
        folder.map_or(Self::Embedded, |folder| Self::Folder(folder.as_path().into()))
    }
}

/// `/`, `/assets/…`, and with a folder also the plain names in it.
pub(super) async fn page(State(api): State<Api>, request: Request) -> Response {
    answer(&api.settings.page, request.uri().path(), request.headers()).await
}

async fn answer(files: &PageFiles, path: &str, headers: &HeaderMap) -> Response {
    let answer = match files {
        PageFiles::Embedded => greenlight_web::find(path).map(|asset| embedded(asset, headers)),
        PageFiles::Folder(folder) => of_folder(folder, path, headers).await,
    };
    answer.unwrap_or_else(|| Problem::not_found("no such route: /openapi.json lists them all").into_response())
}

fn embedded(asset: &Asset, headers: &HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (encoding, bytes) = asset.best_for(accepts);
    let tag = asset.etag(encoding);
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|value| is_among(value, &tag));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = Body::from(bytes).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
        if let Some(coding) = encoding.as_str() {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        response
    };
    let kept = if asset.is_immutable() { "public, max-age=31536000, immutable" } else { "no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    guard(response)
}

/// Weakly compared, as a GET asks: a proxy that compresses anew may have weakened the tag.
fn is_among(if_none_match: &HeaderValue, tag: &str) -> bool {
    let Ok(list) = if_none_match.to_str() else { return false };
    list.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

async fn of_folder(folder: &Path, path: &str, headers: &HeaderMap) -> Option<Response> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    // The page's folder is flat; a name with a separator or a leading dot leads somewhere else.
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return greenlight_web::find(path).map(|asset| embedded(asset, headers));
    }
    let same = greenlight_web::find_by_name(name);
    let Ok(bytes) = tokio::fs::read(folder.join(name)).await else {
        return same.map(|asset| guard(Body::from(asset.plain).into_response()).with_type(asset.content_type));
    };
    let kind = same.map_or("application/octet-stream", |asset| asset.content_type);
    Some(guard(Body::from(bytes).into_response()).with_type(kind))
}

trait WithType {
    fn with_type(self, kind: &'static str) -> Self;
}

impl WithType for Response {
    fn with_type(mut self, kind: &'static str) -> Self {
        self.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        self.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self
    }
}

fn guard(mut response: Response) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    async fn get(files: PageFiles, path: &str, headers: &[(&'static str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        let headers = headers
            .iter()
            .map(|(name, value)| (header::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let response = answer(&files, path, &headers).await;
        let (head, body) = response.into_parts();
        (head.status, head.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_page_that_is_known_is_not_sent_again() {
        let (status, headers, body) = get(PageFiles::Embedded, "/", &[]).await;
        assert_eq!((status, &headers["cache-control"]), (StatusCode::OK, &HeaderValue::from_static("no-cache")));
        assert!(headers["content-security-policy"].to_str().unwrap().contains("script-src 'self' 'wasm-unsafe-eval'"));
        assert!(body.starts_with(b"<!doctype html>"));
        let tag = headers["etag"].to_str().unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let (status, headers, body) = get(PageFiles::Embedded, "/", &[("if-none-match", &known)]).await;
            assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
            assert_eq!(headers["etag"], tag);
        }
        let (status, ..) = get(PageFiles::Embedded, "/", &[("if-none-match", "\"other\"")]).await;
        assert_eq!(status, StatusCode::OK);
    }

    #[tokio::test]
    async fn what_a_hash_names_is_kept_for_ever_and_comes_compressed() {
        let wasm = greenlight_web::find_by_name("greenlight_wasm_bg.wasm").unwrap();
        let path = format!("/{}", wasm.path);
        let (status, headers, body) = get(PageFiles::Embedded, &path, &[("accept-encoding", "gzip, br")]).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers["content-type"], "application/wasm");
        assert_eq!(headers["content-encoding"], "br");
        assert!(headers["cache-control"].to_str().unwrap().ends_with("immutable"));
        assert!(body.len() < wasm.plain.len());
        let (status, ..) = get(PageFiles::Embedded, "/assets/0000000000000000/main.js", &[]).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn a_folder_is_read_anew_and_nothing_outside_it_is() {
        let folder = std::env::temp_dir().join(format!("greenlight-page-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("main.js"), "mine").unwrap();
        let files = PageFiles::of(Some(&folder));
        assert_eq!(get(files.clone(), "/main.js", &[]).await.2, b"mine");
        std::fs::write(folder.join("main.js"), "mine again").unwrap();
        assert_eq!(get(files.clone(), "/main.js", &[]).await.2, b"mine again");
        assert_eq!(get(files.clone(), "/greenlight_wasm_bg.wasm", &[]).await.0, StatusCode::OK);
        for outside in ["/../Cargo.toml", "/..%2fCargo.toml", "/.hidden", "/..", "//etc/passwd"] {
            assert_eq!(get(files.clone(), outside, &[]).await.0, StatusCode::NOT_FOUND, "{outside}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

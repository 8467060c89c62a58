//! One file of the page, in every form in which it is sent.

/// A file, what it is, and what it weighs in each encoding.
#[derive(Debug)]
pub struct Asset {
    /// Its address without the leading slash: `index.html`, or `assets/<hash>/<name>`.
    pub path: &'static str,
    /// The media type.
    pub content_type: &'static str,
    /// A hash of the plain bytes, in hexadecimal digits.
    pub hash: &'static str,
    /// The file itself.
    pub plain: &'static [u8],
    /// As gzip, where that is smaller.
    pub gzip: Option<&'static [u8]>,
    /// As brotli, where that is smaller.
    pub brotli: Option<&'static [u8]>,
}

/// How the bytes of an answer are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Plain,
    /// `Content-Encoding: gzip`.
    Gzip,
    /// `Content-Encoding: br`.
    Brotli,
}

impl Encoding {
    /// The value of `Content-Encoding`; `None` where there is to be none.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
        }
    }
}

impl Asset {
    /// The last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Whether what lies at this path never changes: the path holds a hash of all that lies beside it.
    pub fn is_immutable(&self) -> bool {
        self.path.starts_with("assets/")
    }

    /// The smallest form that a reader takes, by its `Accept-Encoding`. A coding with `q=0` is refused; `*` is
    /// not taken as a wish for either.
    pub fn best_for(&self, accept_encoding: &str) -> (Encoding, &'static [u8]) {
        let takes = |coding: &str| {
            accept_encoding.split(',').any(|part| {
                let mut words = part.split(';').map(str::trim);
                let named = words.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
                let refused = words
                    .any(|word| word.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0));
                named && !refused
            })
        };
        match (self.brotli, self.gzip) {
            (Some(bytes), _) if takes("br") => (Encoding::Brotli, bytes),
            (_, Some(bytes)) if takes("gzip") => (Encoding::Gzip, bytes),
            _ => (Encoding::Plain, self.plain),
        }
    }

    /// The entity tag of the file in one encoding: two encodings are two representations.
    pub fn etag(&self, encoding: Encoding) -> String {
        format!("\"{}{}\"", self.hash, encoding.as_str().map_or_else(String::new, |name| format!("-{name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSET: Asset =
        Asset { path: "a.js", content_type: "", hash: "01", plain: b"plain", gzip: Some(b"gz"), brotli: Some(b"br") };

    #[track_caller]
    fn check(accept_encoding: &str, expected: Encoding) {
        assert_eq!(ASSET.best_for(accept_encoding).0, expected, "{accept_encoding}");
    }

    #[test]
    fn a_reader_gets_the_smallest_form_that_it_takes() {
        check("", Encoding::Plain);
        check("identity", Encoding::Plain);
        check("gzip", Encoding::Gzip);
        check("gzip, deflate, br", Encoding::Brotli);
        check("gzip;q=1.0, br;q=0", Encoding::Gzip);
        check("gzip;q=0.000, br;q=0.0", Encoding::Plain);
        check("GZIP;q=0.5", Encoding::Gzip);
        check("brotli", Encoding::Plain);
    }

    #[test]
    fn each_encoding_has_its_own_tag() {
        assert_eq!(ASSET.etag(Encoding::Plain), "\"01\"");
        assert_eq!(ASSET.etag(Encoding::Brotli), "\"01-br\"");
    }
}

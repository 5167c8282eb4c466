//! The head of a request: its first line and its headers, as far as they are heeded.

use super::status::Status;

/// Most headers; what browsers send has some twenty.
const HEADERS: usize = 64;

/// What a request says before its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub method: String,
    /// Without what follows a question mark.
    pub path: String,
    pub host: Option<String>,
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`: where a browser says that the request comes from.
    pub site: Option<String>,
    pub authorization: Option<String>,
    pub content_type: Option<String>,
    pub length: Option<usize>,
    /// The sender waits for a word before it sends the body.
    pub expects_word: bool,
    /// The connection serves another request after this one.
    pub stays: bool,
}

/// Reads a head that is whole: the head, and how many bytes it has. `None` if more has to come.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(Head, usize)>, Status> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let used = match request.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadTooLarge),
        Err(httparse::Error::Version) => return Err(Status::OtherVersion),
        Err(_) => return Err(Status::BadRequest),
    };
    let target = request.path.unwrap_or_default();
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        host: None,
        origin: None,
        site: None,
        authorization: None,
        content_type: None,
        length: None,
        expects_word: false,
        stays: request.version == Some(1),
    };
    for header in request.headers.iter() {
        let value = std::str::from_utf8(header.value).map_err(|_| Status::BadRequest)?.trim();
        let place = match header.name.to_ascii_lowercase().as_str() {
            "host" => &mut head.host,
            "origin" => &mut head.origin,
            "sec-fetch-site" => &mut head.site,
            "authorization" => &mut head.authorization,
            "content-type" => &mut head.content_type,
            "content-length" => {
                // Two of them, or signs, have been used to smuggle requests past others.
                if head.length.is_some() || value.is_empty() || !value.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(Status::BadRequest);
                }
                head.length = Some(value.parse().map_err(|_| Status::TooLong)?);
                continue;
            }
            // Bodies in pieces: their length is not known before, which is what makes a bound a bound.
            "transfer-encoding" => return Err(Status::LengthRequired),
            "expect" => {
                head.expects_word = value.eq_ignore_ascii_case("100-continue");
                continue;
            }
            "connection" => {
                head.stays &= !value.split(',').any(|word| word.trim().eq_ignore_ascii_case("close"));
                continue;
            }
            _ => continue,
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(Status::BadRequest);
        }
    }
    Ok(Some((head, used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Status {
        read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn heads_are_read() {
        let text = "POST /ask?x=1 HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nabc";
        let (head, used) = read(text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str(), head.length), ("POST", "/ask", Some(3)));
        assert!(!head.stays && &text[used..] == "abc");
        assert_eq!(read(&text.as_bytes()[..30]).unwrap(), None);
        let old = read(b"GET / HTTP/1.0\r\n\r\n").unwrap().unwrap().0;
        assert!(!old.stays && old.host.is_none());
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let with = |header: &str| refused(&format!("POST /ask HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\n"));
        assert_eq!(with("Content-Length: 1\r\nContent-Length: 2"), Status::BadRequest);
        assert_eq!(with("Content-Length: +1"), Status::BadRequest);
        assert_eq!(with("Content-Length: 99999999999999999999999"), Status::TooLong);
        assert_eq!(with("Transfer-Encoding: chunked"), Status::LengthRequired);
        assert_eq!(with("Host: other"), Status::BadRequest);
        assert_eq!(with(&"X: y\r\n".repeat(100)), Status::HeadTooLarge);
        assert_eq!(refused("GET / HTTP/3.0\r\n\r\n"), Status::OtherVersion);
        assert_eq!(refused("\u{0}\u{1}\u{2}"), Status::BadRequest);
    }
}

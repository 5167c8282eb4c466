//! Statuses of HTTP, and what is said with each.

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Found,
    BadRequest,
    NoToken,
    Forbidden,
    NotFound,
    OtherMethod,
    TooSlow,
    LengthRequired,
    TooLong,
    OtherType,
    Misdirected,
    HeadTooLarge,
    Unavailable,
    OtherVersion,
}

impl Status {
    /// Number and words of the first line.
    pub fn line(self) -> &'static str {
        match self {
            Self::Found => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NoToken => "401 Unauthorized",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::OtherMethod => "405 Method Not Allowed",
            Self::TooSlow => "408 Request Timeout",
            Self::LengthRequired => "411 Length Required",
            Self::TooLong => "413 Content Too Large",
            Self::OtherType => "415 Unsupported Media Type",
            Self::Misdirected => "421 Misdirected Request",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
            Self::OtherVersion => "505 HTTP Version Not Supported",
        }
    }

    /// The code of the error document, what it says, and what helps.
    pub fn said(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Found => ("found", "", ""),
            Self::BadRequest => ("http", "this is no request of HTTP", "send what HTTP/1.1 asks for"),
            Self::NoToken => (
                "no-token",
                "this server answers only who knows its token",
                "send the header `Authorization: Bearer TOKEN`, or open the address that the server printed",
            ),
            Self::Forbidden => (
                "other-site",
                "the request comes from a page of another site",
                "open the address that the server printed",
            ),
            Self::NotFound => {
                ("not-found", "there is nothing at this path", "the page is at /, requests go to /ask")
            }
            Self::OtherMethod => ("method", "this path takes another method", "GET /, POST /ask"),
            Self::TooSlow => ("too-slow", "the request did not come in time", "send it without pauses"),
            Self::LengthRequired => (
                "no-length",
                "the request does not say how long its body is",
                "send the header `Content-Length`",
            ),
            Self::TooLong => (
                "document-too-large",
                "the body has more bytes than this server takes",
                "send less, or start the server with a larger --request-bytes",
            ),
            Self::OtherType => (
                "content-type",
                "the body is not said to be JSON",
                "send the header `Content-Type: application/json`",
            ),
            Self::Misdirected => (
                "other-host",
                "the request is for another host",
                "open the address that the server printed, as it was printed",
            ),
            Self::HeadTooLarge => ("head-too-large", "the headers are too long", "send fewer"),
            Self::Unavailable => {
                ("busy", "the server has no room for this request now", "send it again in a second")
            }
            Self::OtherVersion => ("http-version", "this version of HTTP is not spoken here", "use HTTP/1.1"),
        }
    }
}

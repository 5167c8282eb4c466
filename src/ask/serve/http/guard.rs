//! Who may ask. A page of any site that is open in a browser can send requests to this machine, and can give its own
//! name the address of this machine (DNS rebinding). Both are told by what browsers say in headers that scripts cannot
//! change: the name that was asked for, and the site that asks.

use std::net::SocketAddr;

use super::head::Head;
use super::status::Status;

/// What a server checks.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    /// Hosts that a request may be for; any, where names of this machine are not known but a token is.
    hosts: Option<Vec<String>>,
    token: Option<String>,
}

impl Guard {
    /// For a server at this address. One that others than this machine reach has a token.
    pub fn new(address: SocketAddr, token: Option<String>) -> Self {
        let port = address.port();
        let names = [
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
            address.to_string(),
        ];
        Self { hosts: address.ip().is_loopback().then(|| names.to_vec()), token }
    }

    /// Refuses requests for other hosts. All requests are asked this.
    pub fn host(&self, head: &Head) -> Result<(), Status> {
        let Some(host) = &head.host else { return Err(Status::BadRequest) };
        match &self.hosts {
            Some(hosts) if !hosts.iter().any(|h| h.eq_ignore_ascii_case(host)) => Err(Status::Misdirected),
            _ => Ok(()),
        }
    }

    /// Refuses requests of other sites and of who does not know the token. All that cost work are asked this.
    pub fn sender(&self, head: &Head) -> Result<(), Status> {
        let host = head.host.as_deref().unwrap_or_default();
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|o| o.eq_ignore_ascii_case(host));
        if head.origin.as_deref().is_some_and(|origin| !own(origin)) {
            return Err(Status::Forbidden);
        }
        if head.site.as_deref().is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(Status::Forbidden);
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = head.authorization.as_deref().and_then(|a| a.strip_prefix("Bearer ")).unwrap_or_default();
        if same(given.as_bytes(), token.as_bytes()) { Ok(()) } else { Err(Status::NoToken) }
    }
}

/// Whether two texts are the same, in a time that does not tell how much of them is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(host: &str, more: &str) -> Head {
        let text = format!("POST /ask HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
        super::super::head::read(text.as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn only_pages_of_the_server_may_ask() {
        let guard = Guard::new("127.0.0.1:80".parse().unwrap(), None);
        let asked = |host: &str, more: &str| {
            let head = head(host, more);
            guard.host(&head).and_then(|()| guard.sender(&head))
        };
        assert_eq!(asked("127.0.0.1:80", ""), Ok(()));
        assert_eq!(asked("LOCALHOST:80", "Origin: http://localhost:80\r\n"), Ok(()));
        assert_eq!(asked("127.0.0.1:80", "Sec-Fetch-Site: same-origin\r\n"), Ok(()));
        // A name of somebody else that has the address of this machine.
        assert_eq!(asked("evil.example:80", ""), Err(Status::Misdirected));
        assert_eq!(asked("127.0.0.1:81", ""), Err(Status::Misdirected));
        assert_eq!(asked("127.0.0.1:80", "Origin: http://evil.example\r\n"), Err(Status::Forbidden));
        assert_eq!(asked("127.0.0.1:80", "Origin: null\r\n"), Err(Status::Forbidden));
        assert_eq!(asked("127.0.0.1:80", "Origin: http://localhost:81\r\n"), Err(Status::Forbidden));
        assert_eq!(asked("127.0.0.1:80", "Sec-Fetch-Site: cross-site\r\n"), Err(Status::Forbidden));
        assert_eq!(asked("127.0.0.1:80", "Sec-Fetch-Site: same-site\r\n"), Err(Status::Forbidden));
    }

    #[test]
    fn who_is_not_on_this_machine_needs_the_token() {
        let guard = Guard::new("0.0.0.0:80".parse().unwrap(), Some("abc".to_owned()));
        let asked = |more: &str| guard.sender(&head("anything", more));
        assert_eq!(guard.host(&head("anything", "")), Ok(()));
        assert_eq!(asked(""), Err(Status::NoToken));
        assert_eq!(asked("Authorization: Bearer abd\r\n"), Err(Status::NoToken));
        assert_eq!(asked("Authorization: Bearer abc\r\n"), Ok(()));
        assert_eq!(asked("Authorization: Bearer abc\r\nOrigin: http://other\r\n"), Err(Status::Forbidden));
    }
}

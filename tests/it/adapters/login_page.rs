//! What the pages of a login show of a client, and what others can do with them.

use bailiwick::adapters::http::{Access, ROUTES, Reach};
use bailiwick::contract::Cancel;
use bailiwick::history::Filter;
use serde_json::{Value, json};

use super::login::{FORM, Login, REDIRECT, URL, answer, form, hidden};
use crate::patience::PATIENCE;
use support::http_client::Reply;

const JSON: (&str, &str) = ("Content-Type", "application/json");

async fn register(login: &Login, name: &str, redirect: &str) -> Reply {
    let asked = json!({"client_name": name, "redirect_uris": [redirect]}).to_string();
    login.send("POST", "/oauth/register", &[JSON], &asked).await
}

/// Registers a client and opens its page.
async fn page(login: &Login, name: &str, redirect: &str) -> Reply {
    let made = register(login, name, redirect).await;
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.json()["client_id"].as_str().expect("an id").to_owned();
    let link = Login::link(&id, &[("redirect_uri", redirect)]);
    login.send("GET", &link, &[("Sec-Fetch-Mode", "navigate")], "").await
}

/// Holds what every page has: no script, nothing from elsewhere, no frame, no trace.
fn is_guarded(reply: &Reply) {
    let header = |name: &str| reply.header(name).unwrap_or_else(|| panic!("no {name}: {reply:?}"));
    let policy = header("content-security-policy");
    for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
    assert_eq!(header("x-frame-options"), "DENY");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("referrer-policy"), "same-origin");
    assert_eq!(header("cache-control"), "no-store");
    assert!(reply.header("access-control-allow-origin").is_none(), "{reply:?}");
    for markup in ["<script", "<img", "<iframe", "<link", "onerror", "javascript:", "src=", "url("] {
        assert!(!reply.body.contains(markup), "{markup}: {}", reply.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_client_becomes_markup_and_no_page_can_be_framed() {
    let login = Login::new().await;
    for name in [
        "\"><script>alert(1)</script>",
        "<img src=x on\u{65}rror=alert(1)>",
        "</main><iframe src=//evil.example>",
        "&lt;script&gt; ' onfocus=x '",
    ] {
        let shown = page(&login, name, REDIRECT).await;
        assert_eq!(shown.status, 200, "{name}: {shown:?}");
        assert!(!shown.body.contains(name), "{name}");
        let policy = shown.header("content-security-policy").expect("a policy");
        assert_eq!(policy.matches("form-action").count(), 1, "{policy}");
        let lower = shown.body.to_lowercase();
        for markup in ["<script", "<img", "<iframe", "<link"] {
            assert!(!lower.contains(markup), "{name}: {lower}");
        }
    }
    // An address cannot add to the page's policy either.
    for redirect in
        ["https://x.example;script-src/cb", "https://x.example'/cb", "https://x.example\"/cb", "https://*/cb"]
    {
        assert_eq!(register(&login, "x", redirect).await.status, 400, "{redirect}");
    }
    let client = login.register(REDIRECT).await;
    let proof = login.send("GET", &Login::link(&client, &[]), &[("Sec-Fetch-Mode", "navigate")], "").await;
    is_guarded(&proof);
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let wrong = login.post(&cookie, &[("request", &asked), ("code", "AAAA-AAAA-AAAA")]).await;
    is_guarded(&wrong);
    let code = login.code();
    is_guarded(&login.post(&cookie, &[("request", &asked), ("answer", "prove"), ("code", &code)]).await);
    is_guarded(
        &login.send("GET", "/oauth/authorize?client_id=x", &[("Sec-Fetch-Mode", "navigate")], "").await,
    );
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_looks_like_another_is_shown_as_what_it_is() {
    let login = Login::new().await;
    // Letters of other scripts that look like Latin ones.
    for redirect in [
        "https://ch\u{430}tgpt.com/cb",
        "https://chatgpt\u{2024}com/cb",
        "https://chatgpt.com@evil.example/cb",
    ] {
        let refused = register(&login, "ChatGPT", redirect).await;
        assert_eq!(refused.json()["error"], "invalid_redirect_uri", "{redirect}: {refused:?}");
    }
    for (redirect, shown) in [
        ("https://chatgpt.com.evil.example/cb", ">chatgpt.com.evil.example<"),
        ("https://xn--chtgpt-3ve.com/cb", ">xn--chtgpt-3ve.com<"),
        ("https://evil.example/chatgpt.com/cb", ">evil.example<"),
        ("https://evil.example:8443/cb", ">evil.example:8443<"),
    ] {
        let page = page(&login, "ChatGPT", redirect).await;
        assert!(page.body.contains(shown), "{redirect}: {}", page.body);
        assert!(page.body.contains("Nobody has checked the name of this client"), "{}", page.body);
    }
    let lookalike = page(&login, "Ch\u{430}tGPT\u{202e}", REDIRECT).await;
    assert!(lookalike.body.is_ascii() && lookalike.body.contains("ChtGPT wants"), "{}", lookalike.body);
    // One that is known by its published address needs no warning.
    let id = "https://claude.ai/oauth/claude-code-client-metadata";
    let link = Login::link(id, &[("redirect_uri", "http://localhost:5555/callback")]);
    let known = login.send("GET", &link, &[("Sec-Fetch-Mode", "navigate")], "").await;
    assert!(
        known.body.contains("Claude Code wants") && !known.body.contains("Nobody has checked"),
        "{}",
        known.body
    );
    // Its id does not help an address that is not its own.
    let link = Login::link(id, &[("redirect_uri", "https://evil.example/callback")]);
    let stolen = login.send("GET", &link, &[("Sec-Fetch-Mode", "navigate")], "").await;
    assert_eq!((stolen.status, stolen.header("location")), (400, None), "{stolen:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_who_types_codes_for_a_client_of_his_own_does_not_end_the_owners() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let code = login.code();
    for number in 0..25 {
        // A new client, a new browser and a new page each time; and the same page many times.
        let own = login.register(&format!("{REDIRECT}?{number}")).await;
        let link = Login::link(&own, &[("redirect_uri", &format!("{REDIRECT}?{number}"))]);
        let (his, browser) = login.open(&link).await;
        for typed in ["AAAA-AAAA-AAAA", "", &code[..13], &asked] {
            let wrong = login.post(&browser, &[("request", &his), ("code", typed)]).await;
            assert!(wrong.body.contains("That code is not valid"), "{typed}: {wrong:?}");
        }
    }
    let right = login.post(&cookie, &[("request", &asked), ("code", &code)]).await;
    assert!(right.body.contains("name=scope"), "{right:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_codes_leave_rows_and_never_what_was_typed() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let _code = login.code();
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let wrong = login.post(&cookie, &[("request", &asked), ("code", "AAAA-AAAA-AAAA")]).await;
    assert!(wrong.body.contains("That code is not valid"), "{wrong:?}");
    let filter = Filter { op: Some("login".to_owned()), limit: 100, ..Filter::default() };
    let rows =
        login.house.service.history().query(&filter, &Cancel::after(*PATIENCE)).expect("readable").entries;
    let reasons: Vec<String> = rows.into_iter().filter_map(|row| row.error).collect();
    assert!(
        reasons.iter().any(|it| it == "a wrong login code was typed for the client `Tester`"),
        "{reasons:?}"
    );
    assert!(!format!("{reasons:?}").contains("AAAA"), "{reasons:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_back_names_the_issuer_and_no_header_changes_it() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let back = |reply: &Reply| reply.header("location").expect("back to the client").to_owned();
    let wrong = login.send("GET", &Login::link(&client, &[("response_type", "token")]), &[], "").await;
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let refused = login.post(&cookie, &[("request", &asked), ("answer", "refuse")]).await;
    for location in [back(&wrong), back(&refused)] {
        assert!(location.starts_with(REDIRECT), "{location}");
        assert_eq!(answer(&location, "iss").as_deref(), Some(URL), "{location}");
        assert_eq!(answer(&location, "state").as_deref(), Some("its state"), "{location}");
    }
    let forged = [("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example;proto=http")];
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"] {
        let said = login.send("GET", path, &forged, "").await;
        assert!(said.status == 200 && !said.body.contains("evil"), "{said:?}");
    }
    let server: Value = login.send("GET", "/.well-known/oauth-authorization-server", &[], "").await.json();
    assert_eq!(server["authorization_response_iss_parameter_supported"], true, "{server}");
    for endpoint in
        ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
    {
        let url = server[endpoint].as_str().unwrap_or_else(|| panic!("no {endpoint}: {server}"));
        assert!(url.starts_with(&format!("{URL}/oauth/")), "{url}");
    }
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_of_one_client_is_ended_and_renewed_by_no_other() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let other = login.register("http://127.0.0.1:7777/callback?other").await;
    let (access, refresh) = login.log_in(&client).await;
    for token in [&access, &refresh] {
        let pairs = form(&[("token", token), ("client_id", &other)]);
        // The answer is the same as for a token that there is not.
        assert_eq!(login.send("POST", "/oauth/revoke", &[FORM], &pairs).await.status, 200);
    }
    assert!(login.read(&access, "app").await.body.contains("hello"), "it is not ended");
    // Another page's approval is no approval.
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let code = login.code();
    let proved = login.post(&cookie, &[("request", &asked), ("answer", "prove"), ("code", &code)]).await;
    assert!(proved.body.contains("name=scope"), "{proved:?}");
    let (foreign, _) =
        login.open(&Login::link(&other, &[("redirect_uri", "http://127.0.0.1:7777/callback?other")])).await;
    let allow = |asked: &str| {
        [
            ("request", asked.to_owned()),
            ("answer", "allow".to_owned()),
            ("scope", "app".to_owned()),
            ("capability", "fs:read".to_owned()),
        ]
    };
    let pairs = allow(&foreign);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(login.post(&cookie, &pairs).await.header("location").is_none(), "another client's page");
    let pairs = allow(&hidden(&proved));
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(login.post(&cookie, &pairs).await.status, 303);
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_routes_under_a_public_url_those_of_the_table_are_open_and_no_others() {
    let login = Login::new().await;
    let unknown = ["/oauth/", "/oauth/authorize/", "/oauth/token/x", "/oauth/other", "/mcp/x/..%2f"];
    for route in ROUTES {
        let reply = login.send(route.method.as_str(), route.path, &[JSON], "{}").await;
        match (route.access, route.reach) {
            // The public URL does not even say that it is there.
            (_, Reach::Local) => assert_eq!(reply.status, 404, "{route:?}: {reply:?}"),
            (Access::Authenticated(_), _) => assert_eq!(reply.status, 401, "{route:?}: {reply:?}"),
            (Access::Open, _) => assert!(!matches!(reply.status, 401 | 404 | 405), "{route:?}: {reply:?}"),
        }
    }
    for route in unknown {
        for method in ["GET", "POST"] {
            let reply = login.send(method, route, &[JSON], "{}").await;
            assert!(matches!(reply.status, 401 | 404), "{method} {route}: {reply:?}");
        }
    }
    login.house.end().await;
}

# Varnish 7 with the module xkey (Debian: varnish-modules) in front of svc-server.
#
# Settings of the server:
#   cache_tags = "xkey"
#   shared_max_age = 86400
#   trusted_proxies = ["127.0.0.1"]
#   [purge]
#   service = "varnish"
#   url = "http://127.0.0.1:6081/"
#
# Requests that a proxy has forwarded cannot purge. If others can reach Varnish from the addresses in `purgers` without one, set `purge.token` and compare
# `req.http.Authorization` below as well.
vcl 4.1;

import std;
import xkey;

backend svc {
    .host = "127.0.0.1";
    .port = "8080";
    .first_byte_timeout = 65s;
}

# Who may purge.
acl purgers {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (req.method == "PURGE") {
        # A proxy on this machine, such as one that handles TLS, has the address of a purger.
        if (client.ip !~ purgers || req.http.X-Forwarded-For ~ "," || !req.http.xkey-purge) {
            return (synth(403));
        }
        set req.http.n-purged = xkey.purge(req.http.xkey-purge);
        return (synth(200, "Purged"));
    }
    # Who is logged in, or has entered the password of a post, is served by the server. Other cookies change nothing.
    # With another brand, replace `wordpress` and `wp` by it.
    if (req.http.Authorization || req.http.X-WP-Nonce || req.http.X-SVC-Nonce
        || req.http.Cookie ~ "(^|; *)(wordpress_logged_in_|wordpress_sec_|wp-postpass_|svc_logged_in_|svc_sec_|svc-postpass_)") {
        return (pass);
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    # Log-in pages and the administration area set cookies of their own.
    if (req.url ~ "/(wp-login\.php|wp-admin|(wp|svc)-explorer)") {
        return (pass);
    }
    # Streams of events do not end.
    if (req.http.Accept ~ "text/event-stream") {
        return (pipe);
    }
    unset req.http.Cookie;
    return (hash);
}

sub vcl_hash {
    # URLs in responses have the scheme of the request, unless the site's own URL has https.
    hash_data(req.http.X-Forwarded-Proto);
}

sub vcl_backend_response {
    # What has no tags cannot be purged, so it is not kept. The same holds for what is about to change.
    if (!beresp.http.xkey || beresp.http.Cache-Control !~ "s-maxage=[1-9]" || beresp.http.Set-Cookie) {
        # For this time, requests for it do not wait for each other.
        set beresp.ttl = 60s;
        set beresp.grace = 0s;
        set beresp.uncacheable = true;
        return (deliver);
    }
}

sub vcl_deliver {
    # Tags are for this cache only.
    unset resp.http.xkey;
    # Browsers and proxies behind this cache cannot be purged.
    set resp.http.Cache-Control = regsub(resp.http.Cache-Control, ", s-maxage=[0-9]+(, stale-while-revalidate=[0-9]+)?", "");
    if (obj.hits > 0) {
        set resp.http.X-Cache = "hit";
    } else {
        set resp.http.X-Cache = "miss";
    }
}

sub vcl_synth {
    if (req.method == "PURGE") {
        set resp.http.Content-Type = "text/plain";
        set resp.body = req.http.n-purged;
        return (deliver);
    }
}

//! Route matching: the API's patterns against the same number of static routes in axum's router, and how the time grows
//! from 150 patterns to 1500.
//!
//! axum's router cannot match without calling: its figures include a request with an empty handler. Its underlying
//! router, matchit, is therefore measured as well, with static routes and with the same routes with parameters. matchit
//! does not check the characters of parameters and does not know an order of registration.

use std::hint::black_box;

use axum::{Router, body::Body, http::Request, routing::get};
use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::FutureExt;
use svc_routing::Matcher;
use tower::Service;

/// The structure of the default routes: five patterns for each of `n / 5` collections.
fn patterns(n: usize) -> Vec<String> {
    (0..n / 5)
        .flat_map(|i| {
            [
                format!("/svc/v2/things{i}"),
                format!(r"/svc/v2/things{i}/(?P<id>[\d]+)"),
                format!(r"/svc/v2/things{i}/(?P<parent>[\d]+)/revisions"),
                format!(r"/svc/v2/things{i}/(?P<parent>[\d]+)/revisions/(?P<id>[\d]+)"),
                format!(r"/svc/v2/things{i}/(?P<slug>[\w-]+)/extra"),
            ]
        })
        .collect()
}

/// The same number of static routes.
fn statics(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("/svc/v2/things{}/part{}", i / 5, i % 5)).collect()
}

/// Requested paths, spread over the collections.
fn paths(n: usize) -> [Vec<String>; 2] {
    let picks: Vec<usize> = (0..10).map(|k| k * (n / 5) / 10).collect();
    let dynamic = picks.iter().flat_map(|i| {
        [
            format!("/svc/v2/things{i}"),
            format!("/svc/v2/things{i}/1234"),
            format!("/svc/v2/things{i}/1234/revisions/77"),
        ]
    });
    let fixed = picks.iter().flat_map(|i| (0..3).map(move |k| format!("/svc/v2/things{i}/part{k}")));
    [dynamic.collect(), fixed.collect()]
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("thirty_lookups");
    for n in [150, 1500] {
        let [dynamic, fixed] = paths(n);
        let matcher = {
            let patterns = patterns(n);
            Matcher::new(patterns.iter().map(String::as_str))
        };
        group.bench_function(format!("svc_patterns_{n}"), |b| {
            b.iter(|| {
                for path in &dynamic {
                    black_box(matcher.find(black_box(path), |idx, captures| Some((idx, captures.iter().count()))));
                }
            });
        });
        let mut router = matchit::Router::new();
        for (i, pattern) in patterns(n).into_iter().enumerate() {
            // matchit allows only one parameter name per position.
            let named = pattern.replace(r"(?P<parent>[\d]+)", "{id}").replace(r"(?P<slug>[\w-]+)", "{id}");
            let named = named.replace(r"revisions/(?P<id>[\d]+)", "revisions/{revision}");
            router.insert(named.replace(r"(?P<id>[\d]+)", "{id}"), i).expect("routes differ");
        }
        group.bench_function(format!("matchit_parameters_{n}"), |b| {
            b.iter(|| {
                for path in &dynamic {
                    black_box(router.at(black_box(path)).map(|m| (*m.value, m.params.iter().count())).ok());
                }
            });
        });
        let mut router =
            statics(n).iter().fold(Router::<()>::new(), |router, route| router.route(route, get(async || ())));
        group.bench_function(format!("axum_static_{n}"), |b| {
            b.iter(|| {
                for path in &fixed {
                    let request =
                        Request::get(black_box(path.as_str())).body(Body::empty()).expect("a path is a valid URI");
                    let response = router.call(request).now_or_never().expect("the handler never waits");
                    assert!(black_box(response).is_ok_and(|response| response.status().is_success()));
                }
            });
        });
        let mut router = matchit::Router::new();
        for (i, route) in statics(n).into_iter().enumerate() {
            router.insert(route, i).expect("routes differ");
        }
        group.bench_function(format!("matchit_static_{n}"), |b| {
            b.iter(|| {
                for path in &fixed {
                    black_box(router.at(black_box(path)).map(|m| *m.value).ok());
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);

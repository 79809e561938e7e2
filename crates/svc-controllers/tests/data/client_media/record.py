#!/usr/bin/env python3
"""Records how WordPress answers requests of clients that process images themselves: responses, rows and files after each
request.

    record.py URL UPLOADS QUERY RESTORE [SCENARIO...]

URL is a WordPress 7.1 site with the recorded fixture, which treats requests with `X-Forwarded-Proto: https` as TLS. UPLOADS
is its uploads folder. QUERY is a command that runs the SQL in its last argument and prints raw columns; RESTORE is a command
that resets the site. Each scenario is written to NAME.json beside this file.
"""

import base64, hashlib, http.client, json, os, re, shlex, subprocess, sys, time, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
USERS = {"admin": 1, "editor1": 2, "author1": 3, "author2": 4, "contributor1": 5, "subscriber1": 6}


def up(name, file, query="generate_sub_sizes=false&convert_format=false", user="author1", **more):
    return {"name": f"create {name}", "as": user, "method": "POST", "path": "/wp/v2/media", "query": query,
            "upload": {"file": file, "name": name}, "capture": "id", **more}


def side(size, file, name, user="author1", form=None, query="", **more):
    sizes = urllib.parse.urlencode([("image_size[]", s) for s in size] if isinstance(size, list) else [("image_size", size)])
    return {"name": f"sideload {size} {name}", "as": user, "method": "POST", "path": "/wp/v2/media/{id}/sideload",
            "query": sizes + query, "upload": {"file": file, "name": name, **({"form": form} if form else {})}, **more}


def finish(about, *sizes, user="author1", **more):
    """`sizes` are numbers of earlier responses, or entries."""
    return {"name": f"finalize {about}", "as": user, "method": "POST", "path": "/wp/v2/media/{id}/finalize",
            "sub_sizes": list(sizes), **more}


def plain(name, method, path, user="author1", **more):
    return {"name": name, "as": user, "method": method, "path": path, **more}


DELETE = plain("delete", "DELETE", "/wp/v2/media/{id}", query="force=true")
NO_CONVERT = "&convert_format=false"

SCENARIOS = {
    "jpeg": [
        up("photo.jpg", "turned.jpg"),
        side("thumbnail", "150x150.jpg", "photo-150x150.jpg", query=NO_CONVERT),
        side("medium", "188x300.jpg", "photo-188x300.jpg", query=NO_CONVERT),
        side("original", "200x320.jpg", "photo-rotated.jpg", query=NO_CONVERT),
        finish("all", 1, 2, 3),
        finish("all again", 1, 2, 3),
        side("thumbnail", "150x150.jpg", "photo-150x150.jpg"),
        side("medium", "100x160.jpg", "photo-100x160.jpg"),
        finish("a later thumbnail", 6),
        plain("read", "GET", "/wp/v2/media/{id}", query="context=edit"),
        DELETE,
    ],
    "jpeg-scaled": [
        up("wide photo.JPG", "200x320.jpg"),
        side("scaled", "100x160.jpg", "wide-photo-scaled.jpg", query=NO_CONVERT),
        side("thumbnail", "150x150.jpg", "wide-photo-150x150.jpg", query=NO_CONVERT),
        side("medium", "188x300.jpg", "wide-photo-scaled-188x300.jpg", form="image/jpeg"),
        finish("some fields", 1, 2, 3, query="_fields=id,media_details,missing_image_sizes,filename,filesize,source_url"),
        DELETE,
    ],
    "png": [
        up("Picture.png", "wide.png", query="generate_sub_sizes=false&title=A+picture&alt_text=Alt"),
        side(["thumbnail", "medium"], "150x150.png", "Picture-150x150.png"),
        side("medium", "300x225.png", "Picture-300x225.png", form="image/png"),
        finish("with a shared file", 1, 2),
        finish("nothing"),
        plain("post-process", "POST", "/wp/v2/media/{id}/post-process", json={"action": "create-image-subsizes"}, query="_fields=id,missing_image_sizes", rows=False),
        DELETE,
    ],
    "heic": [
        up("still.jpg", "64x48.jpg"),
        side("source_original", "still.heic", "still.heic", query=NO_CONVERT),
        side("source_original", "still.heic", "still.heic"),
        finish("with its source", 1),
        DELETE,
    ],
    "heic-upload": [
        up("still.heic", "still.heic", user="admin"),
        side("scaled", "64x48.jpg", "still-scaled.jpg", user="admin"),
        finish("from HEIC", 1, user="admin"),
        up("still.jpg", "64x48.jpg", query="generate_sub_sizes=false", user="admin", capture="other"),
    ],
    "gif": [
        up("moving.gif", "moving.gif"),
        side("animated_video", "film.mp4", "moving.mp4", query=NO_CONVERT),
        side("animated_video_poster", "32x16.jpg", "moving-poster.jpg", query=NO_CONVERT),
        finish("with its video", 1, 2),
        DELETE,
    ],
    "pdf": [
        up("page.pdf", "page.pdf"),
        side("full", "188x300.jpg", "page-pdf.jpg"),
        side("thumbnail", "100x160.jpg", "page-pdf-100x160.jpg"),
        side("medium", "188x300.jpg", "page-pdf-188x300.jpg"),
        finish("with previews", 1, 3),
        DELETE,
    ],
    "refused": [
        up("photo.jpg", "turned.jpg"),
        side("thumbnail", "200x320.jpg", "photo-150x150.jpg"),
        side(["thumbnail", "medium"], "188x300.jpg", "photo-150x150.jpg"),
        side("original", "100x160.jpg", "photo-rotated.jpg"),
        side("nope", "150x150.jpg", "photo-150x150.jpg"),
        side(["thumbnail", "scaled"], "150x150.jpg", "photo-150x150.jpg"),
        side(["thumbnail", ""], "150x150.jpg", "photo-150x150.jpg"),
        side("thumbnail,medium", "150x150.jpg", "photo-150x150.jpg"),
        side("", "150x150.jpg", "photo-150x150.jpg"),
        plain("sideload without a size", "POST", "/wp/v2/media/{id}/sideload", upload={"file": "150x150.jpg", "name": "a.jpg"}),
        plain("sideload without a file", "POST", "/wp/v2/media/{id}/sideload", query="image_size=thumbnail"),
        side("thumbnail", "film.mp4", "photo-150x150.mp4"),
        side("scaled", "still.heic", "photo-scaled.heic"),
        side("thumbnail", "record.py", "photo-150x150.php"),
        side("animated_video", "record.py", "photo.mp4"),
        side("thumbnail", "150x150.jpg", "a.jpg", user="none"),
        side("thumbnail", "150x150.jpg", "a.jpg", user="subscriber1"),
        side("thumbnail", "150x150.jpg", "a.jpg", user="contributor1"),
        side("thumbnail", "150x150.jpg", "a.jpg", user="author2"),
        side("thumbnail", "150x150.jpg", "photo-150x150.jpg", user="editor1"),
        finish("a file of nobody", {"image_size": "thumbnail", "file": "other-150x150.jpg"}),
        finish("with a path", {"image_size": "thumbnail", "file": "../photo-150x150.jpg"}),
        finish("with an original of nobody", {"image_size": "scaled", "file": "photo.jpg", "original_image": "other.jpg"}),
        finish("an unknown size", {"image_size": "nope", "file": "photo-150x150.jpg"}),
        finish("a list with a special name", {"image_size": ["scaled"], "file": "photo-150x150.jpg"}),
        finish("a number as size", {"image_size": 5}),
        finish("an object as size", {"image_size": {"a": 1}}),
        finish("no size", {"file": "photo-150x150.jpg"}),
        finish("a wrong type", {"image_size": "thumbnail", "file": "photo-150x150.jpg", "mime_type": "text/html"}),
        finish("no width", {"image_size": "thumbnail", "width": 0}),
        finish("not a list", json={"sub_sizes": "x"}),
        finish("101 files", *[{"image_size": "thumbnail"}] * 101),
        finish("100 files that are none", *[{"image_size": "thumbnail"}] * 100),
        finish("a file as it is", {"image_size": "medium", "file": "photo.jpg", "width": "320", "mime_type": "image/jpeg", "more": 1}),
        finish("as nobody", user="none"),
        finish("as a subscriber", user="subscriber1"),
        finish("as another author", user="author2"),
        plain("sideload for a post", "POST", "/wp/v2/media/1002/sideload", user="admin", query="image_size=thumbnail", upload={"file": "150x150.jpg", "name": "a.jpg"}),
        plain("sideload for nothing", "POST", "/wp/v2/media/999999/sideload", user="admin", query="image_size=thumbnail", upload={"file": "150x150.jpg", "name": "a.jpg"}),
        plain("finalize nothing", "POST", "/wp/v2/media/999999/finalize", user="admin"),
        plain("sideload for a text", "POST", "/wp/v2/media/1205/sideload", user="admin", query="image_size=thumbnail", upload={"file": "150x150.jpg", "name": "a.jpg"}),
        up("a.bmp", "150x150.png", query="", user="admin", upload={"file": "150x150.png", "name": "a.bmp", "form": "image/bmp"}),
        up("a.heics", "still.heic", query="", user="admin", upload={"file": "still.heic", "name": "a.heics", "form": "image/heic-sequence"}),
        up("b.heic", "still.heic", query="", user="admin", upload={"file": "still.heic", "name": "b.heic", "form": "image/heic"}, rows=False, status_only=True),
        up("c.tiff", "150x150.png", user="admin", upload={"file": "150x150.png", "name": "c.tiff", "form": "image/tiff"}, rows=False, status_only=True),
    ],
    "index": [
        plain("the index", "GET", "/", query="_fields=image_sizes,image_size_threshold,image_strip_meta,image_max_bit_depth"),
        plain("the index to a subscriber", "GET", "/", user="subscriber1", query="_fields=image_sizes,image_size_threshold,namespaces"),
        plain("some settings", "GET", "/", query="_fields=image_sizes.thumbnail,image_max_bit_depth"),
        plain("the index to anybody", "GET", "/", user="none", routes=True),
        plain("the index over plain HTTP", "GET", "/", user="none", transport="plain", routes=True),
        plain("the index of localhost", "GET", "/", user="none", transport="localhost", routes=True),
        plain("the namespace", "GET", "/wp/v2", user="none", routes=True),
        plain("the namespace over plain HTTP", "GET", "/wp/v2", user="none", transport="plain", routes=True),
        plain("the arguments of sideload", "OPTIONS", "/wp/v2/media/1200/sideload", user="admin", prose=True),
        plain("the arguments of finalize", "OPTIONS", "/wp/v2/media/1200/finalize", user="none", prose=True),
        plain("no arguments over plain HTTP", "OPTIONS", "/wp/v2/media/1200/finalize", user="none", transport="plain"),
        plain("sideload over plain HTTP", "POST", "/wp/v2/media/1200/sideload", user="none", transport="plain", query="image_size=nope"),
        plain("finalize over plain HTTP", "POST", "/wp/v2/media/1200/finalize", user="none", transport="plain"),
        plain("finalize to localhost", "POST", "/wp/v2/media/1200/finalize", user="none", transport="localhost"),
        plain("read finalize", "GET", "/wp/v2/media/1200/finalize", user="none"),
    ],
}

POST_FIELDS = ["post_author", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status",
               "post_name", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count"]


class Site:
    def __init__(self, url, uploads, query, restore):
        self.url, self.uploads, self.query, self.restore = url.rstrip("/"), uploads, shlex.split(query), shlex.split(restore)

    def sql(self, statement):
        return subprocess.run(self.query + [statement], check=True, capture_output=True, text=True).stdout.splitlines()

    def send(self, step, path, query, headers, body):
        to = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(to.hostname, to.port)
        transport = step.get("transport", "tls")
        if transport == "tls":
            headers["X-Forwarded-Proto"] = "https"
        headers["Host"] = f"localhost:{to.port}" if transport == "localhost" else to.netloc
        if step["as"] != "none":
            password = f"{step['as']}:fixturepasswordforuser{USERS[step['as']]:02}"
            headers["Authorization"] = "Basic " + base64.b64encode(password.encode()).decode()
        connection.request(step["method"], "/wp-json" + path + ("?" + query if query else ""), body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, json.loads(text) if text else None, {k.lower(): v for k, v in response.getheaders()}

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.uploads):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.uploads)] = hashlib.md5(file.read()).hexdigest()
        return found


def asset(name):
    for folder in [HERE, os.path.dirname(HERE), os.path.join(HERE, "../../../../svc-media/tests/data")]:
        if os.path.exists(os.path.join(folder, name)):
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()
    raise FileNotFoundError(name)


def record(site, name, steps):
    subprocess.run(site.restore, check=True, stdout=subprocess.DEVNULL)
    newest = int(site.sql("SELECT MAX(ID) FROM wp_posts")[0])
    files, captured, responses, out, known = site.files(), {}, [], [], {"posts": [], "files": {}}
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for step in steps:
        step = json.loads(json.dumps(step))
        headers, body, query = {}, None, step.get("query", "")
        if "sub_sizes" in step and "json" not in step:
            sizes = [responses[size] if isinstance(size, int) else size for size in step.pop("sub_sizes")]
            step["json"] = {"sub_sizes": sizes} if sizes else {}
        step.pop("sub_sizes", None)
        if "json" in step:
            headers["Content-Type"], body = "application/json", json.dumps(step["json"])
        if "upload" in step:
            upload = step["upload"]
            if "form" in upload:
                mark = "----recorded"
                headers["Content-Type"] = f"multipart/form-data; boundary={mark}"
                head = f"--{mark}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{upload['name']}\"\r\nContent-Type: {upload['form']}\r\n\r\n"
                body = head.encode() + asset(upload["file"]) + f"\r\n--{mark}--\r\n".encode()
            else:
                headers["Content-Type"] = "application/octet-stream"
                headers["Content-Disposition"] = f"attachment; filename=\"{upload['name']}\""
                body = asset(upload["file"])
        path = step["path"]
        for key, value in captured.items():
            path = path.replace("{%s}" % key, str(value))
        status, found, response_headers = site.send(step, path, query, headers, body)
        responses.append(found)
        if "capture" in step and status == 201:
            captured[step["capture"]] = found["id"]
        step["status"] = status
        if step.get("routes"):
            step["routes"] = sorted(route for route in found["routes"] if "/media" in route)
            step["members"] = sorted(member for member in found if member.startswith("image_"))
        elif step.pop("status_only", False):
            pass
        elif step.pop("prose", False):
            step["args"] = without_descriptions(found["endpoints"][0]["args"])
        else:
            step["body"] = found
            if status >= 400:
                step["body"] = shortened(found)
        if "allow" in response_headers:
            step["allow"] = response_headers["allow"]
        if step.pop("rows", True):
            where = f"ID > {newest} AND post_type = 'attachment' ORDER BY ID"
            columns = ", ".join(f"'{field}', {field}" for field in POST_FIELDS)
            posts = [json.loads(row) for row in site.sql(f"SELECT JSON_OBJECT('ID', ID, {columns}) FROM wp_posts WHERE {where}")]
            for post in posts:
                rows = site.sql(f"SELECT JSON_ARRAY(meta_key, meta_value) FROM wp_postmeta WHERE post_id = {post['ID']} ORDER BY meta_id")
                post["meta"] = [json.loads(row) for row in rows]
            # Without these members, nothing has changed.
            state = {"posts": posts, "files": {path: md5 for path, md5 in sorted(site.files().items()) if path not in files}}
            step.update({name: value for name, value in state.items() if known.get(name) != value})
            known = state
        else:
            step["unknown_rows"] = True
        out.append(step)
    text = json.dumps({"now": started, "url": site.url, "steps": out}, indent=1, ensure_ascii=False)
    # The address is that of the fixture.
    text = text.replace(site.url, "http://127.0.0.1:8801").replace(site.url.replace("http:", "https:"), "https://127.0.0.1:8801")
    escaped = lambda url: url.replace("/", "\\/")
    text = text.replace(escaped(site.url), "http:\\/\\/127.0.0.1:8801")
    with open(os.path.join(HERE, f"{name}.json"), "w") as file:
        file.write(text + "\n")
    print(name, [step["status"] for step in out])


def without_descriptions(value):
    if isinstance(value, dict):
        return {key: without_descriptions(inner) for key, inner in value.items() if key != "description"}
    return [without_descriptions(inner) for inner in value] if isinstance(value, list) else value


def shortened(error):
    """Sentences are not recorded."""
    if isinstance(error, dict):
        return {key: "(prose)" if key == "message" or isinstance(value, str) and " " in value else shortened(value) for key, value in error.items()}
    return [shortened(value) for value in error] if isinstance(error, list) else error


if __name__ == "__main__":
    site = Site(*sys.argv[1:5])
    for name, steps in SCENARIOS.items():
        if not sys.argv[5:] or name in sys.argv[5:]:
            record(site, name, steps)

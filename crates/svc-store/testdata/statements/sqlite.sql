DELETE FROM "commentmeta" WHERE "comment_id" IN (?)
DELETE FROM "commentmeta" WHERE "comment_id" IN (SELECT "comment_ID" FROM "comments" WHERE "comment_post_ID" IN (?))
DELETE FROM "comments" WHERE "comment_ID" = ?
DELETE FROM "comments" WHERE "comment_ID" IN (?)
DELETE FROM "comments" WHERE "comment_post_ID" IN (?)
DELETE FROM "links" WHERE "link_owner" = ?
DELETE FROM "options" WHERE "option_name" = ?
DELETE FROM "postmeta" WHERE "meta_key" = ? AND "meta_value" = ?
DELETE FROM "postmeta" WHERE "post_id" = ? AND "meta_key" = ?
DELETE FROM "postmeta" WHERE "post_id" = ? AND "meta_key" = ? AND "meta_value" = ?
DELETE FROM "postmeta" WHERE "post_id" IN (?)
DELETE FROM "posts" WHERE "ID" IN (?)
DELETE FROM "svc_login_attempts" WHERE "id" IN (?)
DELETE FROM "term_relationships" WHERE "object_id" = ? AND "term_taxonomy_id" IN (?)
DELETE FROM "term_relationships" WHERE "object_id" IN (?)
DELETE FROM "term_relationships" WHERE "object_id" IN (?) AND (NOT EXISTS(SELECT ? FROM "term_taxonomy" AS "tt" WHERE "tt"."term_taxonomy_id" = "term_relationships"."term_taxonomy_id" AND "tt"."taxonomy" IN (?)))
DELETE FROM "term_relationships" WHERE "term_taxonomy_id" = ?
DELETE FROM "term_taxonomy" WHERE "term_taxonomy_id" = ?
DELETE FROM "termmeta" WHERE "term_id" IN (?)
DELETE FROM "terms" WHERE "term_id" = ?
DELETE FROM "usermeta" WHERE "user_id" = ? AND "meta_key" = ?
DELETE FROM "usermeta" WHERE "user_id" IN (?)
DELETE FROM "users" WHERE "ID" = ?
INSERT INTO "commentmeta" ("comment_id", "meta_key", "meta_value") VALUES (?)
INSERT INTO "comments" ("comment_post_ID", "comment_author", "comment_author_email", "comment_author_url", "comment_author_IP", "comment_date", "comment_date_gmt", "comment_content", "comment_karma", "comment_approved", "comment_agent", "comment_type", "comment_parent", "user_id") VALUES (?)
INSERT INTO "options" ("option_name", "option_value", "autoload") VALUES (?) ON CONFLICT ("option_name") DO UPDATE SET "option_value" = "excluded"."option_value"
INSERT INTO "postmeta" ("post_id", "meta_key", "meta_value") VALUES (?)
INSERT INTO "posts" ("post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count", "to_ping", "pinged", "post_content_filtered") VALUES (?)
INSERT INTO "svc_login_attempts" ("server", "kind", "counter", "n", "created") VALUES (?)
INSERT INTO "term_relationships" ("object_id", "term_taxonomy_id", "term_order") VALUES (?)
INSERT INTO "term_taxonomy" ("term_id", "taxonomy", "description", "parent", "count") VALUES (?)
INSERT INTO "terms" ("name", "slug", "term_group") VALUES (?)
INSERT INTO "usermeta" ("user_id", "meta_key", "meta_value") VALUES (?)
INSERT INTO "users" ("user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_activation_key", "user_status", "display_name") VALUES (?)
SELECT "ID" FROM "posts" WHERE "post_author" = ? AND "post_type" IN (?) ORDER BY "ID" ASC
SELECT "ID" FROM "posts" WHERE "post_author" = ? AND ("post_status" = ? AND "post_type" IN (?)) LIMIT ?
SELECT "ID" FROM "posts" WHERE "post_author" = ? AND (("post_status" = ? AND "post_type" IN (?))) LIMIT ?
SELECT "ID" FROM "posts" WHERE "post_name" = ? AND "post_status" = ? AND "post_type" IN (?) AND "ID" <> ?
SELECT "ID" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ?
SELECT "ID" FROM "posts" WHERE "post_type" <> ? LIMIT ? OFFSET ?
SELECT "ID" FROM "posts" WHERE "post_type" = ? AND "post_status" = ? LIMIT ?
SELECT "ID" FROM "posts" WHERE "post_type" IN (?) AND "post_status" = ? AND "post_date_gmt" <> ? AND "post_date_gmt" <= ? ORDER BY "post_date_gmt" ASC, "ID" ASC LIMIT ?
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "ID" IN (?)
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_name" = ? ORDER BY "ID" ASC
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_name" IN (?) AND "post_type" IN (?) ORDER BY "ID" ASC
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ? AND "post_status" = ? AND "post_name" LIKE ? AND "post_author" = ? ORDER BY "post_date" DESC, "ID" ASC LIMIT ?
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ? AND "post_status" = ? AND "post_name" LIKE ? ORDER BY "post_date" DESC, "ID" ASC LIMIT ?
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ? AND "post_status" = ? AND "post_name" LIKE ? ORDER BY "post_date" DESC, "ID" DESC
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "post_modified", "post_modified_gmt", "post_parent", "guid", "menu_order", "post_type", "post_mime_type", "comment_count" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ? AND "post_status" = ? AND "post_name" LIKE ? ORDER BY "post_date" DESC, "ID" DESC LIMIT ?
SELECT "ID", "post_author", "post_date", "post_date_gmt", "post_content", "post_title", "post_excerpt", "post_status", "comment_status", "ping_status", "post_password", "post_name", "to_ping", "pinged", "post_modified", "post_modified_gmt", "post_content_filtered", "post_parent", "guid", "menu_order", "post_type", "post_mime_type" FROM "posts" WHERE "ID" = ? ORDER BY "ID" ASC
SELECT "ID", "post_name" FROM "posts" WHERE "post_parent" = ? AND "post_type" = ? AND "post_status" = ? ORDER BY "post_date" DESC, "ID" DESC
SELECT "ID", "post_name", "post_parent" FROM "posts" WHERE "ID" IN (?)
SELECT "ID", "post_status", "post_type", "post_parent" FROM "posts" WHERE "ID" IN (?)
SELECT "ID", "post_title", "post_excerpt", "post_content", "post_date", "post_type", "post_status", "post_password" = ? FROM "posts" WHERE "ID" > ? AND "post_type" <> ? ORDER BY "ID" ASC LIMIT ?
SELECT "ID", "post_title", "post_excerpt", "post_content", "post_date", "post_type", "post_status", "post_password" = ? FROM "posts" WHERE "ID" >= ? AND "ID" <= ? AND "ID" IN (?) AND "post_type" <> ? ORDER BY "ID" ASC LIMIT ?
SELECT "ID", "post_title", "post_excerpt", "post_content", "post_date", "post_type", "post_status", "post_password" = ? FROM "posts" WHERE "ID" IN (?) AND "post_type" <> ? ORDER BY "ID" ASC LIMIT ?
SELECT "ID", "post_type", "post_status" FROM "posts" WHERE "post_author" = ?
SELECT "ID", "post_type", "post_status" FROM "posts" WHERE "post_parent" = ? AND "post_type" IN (?)
SELECT "ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_activation_key", "user_status", "display_name" FROM "users" WHERE "ID" IN (?)
SELECT "ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_activation_key", "user_status", "display_name" FROM "users" WHERE "user_email" = ? ORDER BY "ID" ASC
SELECT "ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_activation_key", "user_status", "display_name" FROM "users" WHERE "user_login" = ? ORDER BY "ID" ASC
SELECT "ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_activation_key", "user_status", "display_name" FROM "users" WHERE "user_nicename" = ? ORDER BY "ID" ASC
SELECT "ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "user_status", "display_name" FROM "users" WHERE "ID" = ? ORDER BY "ID" ASC
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? AND "c"."comment_date" > ? ORDER BY "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? AND ("c"."comment_author" LIKE ? ESCAPE '\' AND "c"."comment_author_email" LIKE ? ESCAPE '\' AND "c"."comment_author_url" LIKE ? ESCAPE '\' AND "c"."comment_author_IP" LIKE ? ESCAPE '\' AND "c"."comment_content" LIKE ? ESCAPE '\') ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? AND EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."ID" = "c"."comment_post_ID" AND "p"."post_status" IN (?)) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? ORDER BY "c"."comment_post_ID" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND "c"."comment_ID" IN (?) AND "c"."comment_ID" NOT IN (?) ORDER BY (CASE WHEN ("c"."comment_ID" = ?) THEN ? ELSE ? END) ASC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND "c"."comment_date" > ? ORDER BY "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND ("c"."comment_author" LIKE ? ESCAPE '\' AND "c"."comment_author_email" LIKE ? ESCAPE '\' AND "c"."comment_author_url" LIKE ? ESCAPE '\' AND "c"."comment_author_IP" LIKE ? ESCAPE '\' AND "c"."comment_content" LIKE ? ESCAPE '\') ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_parent" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_post_ID" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_type" ASC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" NOT IN (?) AND EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."ID" = "c"."comment_post_ID" AND "p"."post_status" IN (?)) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_parent" IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_parent" NOT IN (?) AND "c"."comment_approved" = ? AND "c"."comment_type" = ? ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_parent" NOT IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_post_ID" IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."ID" = "c"."comment_post_ID" AND "p"."post_status" IN (?)) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_post_ID" IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_post_ID" IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" ASC, "c"."comment_ID" ASC LIMIT ?
SELECT "c"."comment_ID" FROM "comments" AS "c" WHERE "c"."comment_post_ID" IN (?) AND "c"."comment_parent" IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) ORDER BY "c"."comment_date_gmt" DESC, "c"."comment_ID" DESC LIMIT ?
SELECT "c"."comment_ID", "c"."comment_date_gmt" AS "k0", "c"."comment_ID" AS "k1" FROM "comments" AS "c" WHERE "c"."comment_approved" = ? AND "c"."comment_type" = ? ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "c"."comment_ID", COUNT(*) FROM "comments" AS "c" INNER JOIN "comments" AS "o" ON "o"."comment_post_ID" = "c"."comment_post_ID" AND "o"."comment_parent" = ? AND "o"."comment_approved" = ? AND "o"."comment_date_gmt" < "c"."comment_date_gmt" WHERE "c"."comment_ID" IN (?) GROUP BY "c"."comment_ID"
SELECT "comment_ID" FROM "comments" WHERE "comment_approved" = ? AND "comment_author" = ? AND "comment_author_email" = ? LIMIT ?
SELECT "comment_ID" FROM "comments" WHERE "comment_approved" = ? AND "user_id" = ? LIMIT ?
SELECT "comment_ID" FROM "comments" WHERE "comment_parent" = ? AND "comment_type" = ? ORDER BY "comment_ID" ASC
SELECT "comment_ID" FROM "comments" WHERE "comment_post_ID" = ? AND "comment_parent" = ? AND "comment_approved" <> ? AND "comment_author" = ? AND "comment_content" = ? LIMIT ?
SELECT "comment_ID" FROM "comments" WHERE "comment_post_ID" = ? AND "comment_parent" = ? AND "comment_approved" <> ? AND ("comment_author" = ? OR "comment_author_email" = ?) AND "comment_content" = ? LIMIT ?
SELECT "comment_ID" FROM "comments" WHERE "comment_post_ID" IN (?)
SELECT "comment_ID", "comment_approved" FROM "comments" WHERE "comment_post_ID" = ? ORDER BY "comment_ID" ASC
SELECT "comment_ID", "comment_post_ID", "comment_author", "comment_author_email", "comment_author_url", "comment_author_IP", "comment_date", "comment_date_gmt", "comment_content", "comment_karma", "comment_approved", "comment_agent", "comment_type", "comment_parent", "user_id" FROM "comments" WHERE "comment_ID" = ? ORDER BY "comment_ID" ASC
SELECT "comment_ID", "comment_post_ID", "comment_author", "comment_author_email", "comment_author_url", "comment_author_IP", "comment_date", "comment_date_gmt", "comment_content", "comment_karma", "comment_approved", "comment_agent", "comment_type", "comment_parent", "user_id" FROM "comments" WHERE "comment_ID" IN (?)
SELECT "comment_approved", "comment_type", SUM(n) FROM "svc_comment_count" WHERE "comment_approved" IN (?) AND "comment_type" IN (?) AND "comment_type" NOT IN (?) GROUP BY "comment_approved", "comment_type"
SELECT "comment_approved", "comment_type", SUM(n) FROM "svc_comment_count" WHERE "comment_approved" IN (?) AND "comment_type" NOT IN (?) GROUP BY "comment_approved", "comment_type"
SELECT "comment_approved", "comment_type", SUM(n) FROM "svc_comment_count" WHERE "comment_approved" IN (?) GROUP BY "comment_approved", "comment_type"
SELECT "comment_approved", COUNT(*) FROM "comments" WHERE "comment_type" <> ? AND "comment_post_ID" = ? GROUP BY "comment_approved"
SELECT "comment_approved", COUNT(*) FROM "comments" WHERE "comment_type" <> ? GROUP BY "comment_approved"
SELECT "comment_date_gmt" FROM "comments" WHERE "comment_date_gmt" >= ? AND ("comment_author_IP" = ? OR "comment_author_email" = ?) ORDER BY "comment_date_gmt" DESC LIMIT ?
SELECT "comment_date_gmt" FROM "comments" WHERE "comment_date_gmt" >= ? AND ("user_id" = ? OR "comment_author_email" = ?) ORDER BY "comment_date_gmt" DESC LIMIT ?
SELECT "comment_id", "meta_key", "meta_value" FROM "commentmeta" WHERE "comment_id" = ? ORDER BY "meta_id" ASC
SELECT "comment_id", "meta_key", "meta_value" FROM "commentmeta" WHERE "comment_id" IN (?) ORDER BY "meta_id" ASC
SELECT "day", SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? GROUP BY "day" ORDER BY "day" ASC
SELECT "day", SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? GROUP BY "day" ORDER BY "day" DESC
SELECT "id" FROM "svc_login_attempts" WHERE "created" < ? ORDER BY "created" ASC LIMIT ?
SELECT "id", "server", "kind", "counter", "n", "created" FROM "svc_login_attempts" WHERE "id" > ? AND "created" >= ? ORDER BY "id" ASC LIMIT ?
SELECT "meta_value", "n" FROM "svc_rights_count" WHERE "meta_key" = ? AND "n" > ? AND "meta_value" <> ? LIMIT ?
SELECT "meta_value", "n" FROM "svc_rights_count" WHERE "meta_key" = ? AND "n" > ? AND "meta_value" LIKE ? ESCAPE '\' LIMIT ?
SELECT "meta_value", "n" FROM "svc_rights_count" WHERE "meta_key" = ? AND "n" > ? AND ("meta_value" LIKE ? ESCAPE '\') LIMIT ?
SELECT "object_id" FROM "term_relationships" WHERE "term_taxonomy_id" = ? ORDER BY "object_id" ASC
SELECT "object_id", "term_taxonomy_id", "term_order" FROM "term_relationships" WHERE "object_id" = ? ORDER BY "object_id" ASC, "term_taxonomy_id" ASC
SELECT "option_name", "option_value" FROM "options" WHERE "autoload" IN (?) ORDER BY "option_id" ASC
SELECT "option_name", "option_value" FROM "options" WHERE "option_name" = ?
SELECT "option_name", "option_value" FROM "options" WHERE "option_name" IN (?)
SELECT "p"."ID" FROM "postmeta" AS "o" CROSS JOIN "posts" AS "p" WHERE "o"."post_id" = "p"."ID" AND "o"."meta_key" = ('pages') AND ("o"."meta_key" = ? COLLATE BINARY) AND "o"."meta_value" IS NOT NULL AND "o"."meta_id" = (SELECT MIN("f"."meta_id") FROM "postmeta" AS "f" WHERE "f"."post_id" = "p"."ID" AND (+"f"."meta_key") = ? AND ("f"."meta_key" = ? COLLATE BINARY)) AND (+"p"."post_type") IN (?) AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?) ORDER BY CAST("o"."meta_value" AS INTEGER) ASC, "o"."post_id" ASC
SELECT "p"."ID" FROM "postmeta" AS "o" CROSS JOIN "posts" AS "p" WHERE "o"."post_id" = "p"."ID" AND "o"."meta_key" = ('pages') AND ("o"."meta_key" = ? COLLATE BINARY) AND "o"."meta_value" IS NOT NULL AND "o"."meta_id" = (SELECT MIN("f"."meta_id") FROM "postmeta" AS "f" WHERE "f"."post_id" = "p"."ID" AND (+"f"."meta_key") = ? AND ("f"."meta_key" = ? COLLATE BINARY)) AND (+"p"."post_type") IN (?) AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?) ORDER BY CAST("o"."meta_value" AS INTEGER) ASC, "o"."post_id" ASC LIMIT ?
SELECT "p"."ID" FROM "postmeta" AS "o" CROSS JOIN "posts" AS "p" WHERE "o"."post_id" = "p"."ID" AND "o"."meta_key" = ('pages') AND ("o"."meta_key" = ? COLLATE BINARY) AND "o"."meta_value" IS NOT NULL AND "o"."meta_id" = (SELECT MIN("f"."meta_id") FROM "postmeta" AS "f" WHERE "f"."post_id" = "p"."ID" AND (+"f"."meta_key") = ? AND ("f"."meta_key" = ? COLLATE BINARY)) AND (+"p"."post_type") IN (?) AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?) ORDER BY CAST("o"."meta_value" AS INTEGER) ASC, "o"."post_id" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "postmeta" AS "o" CROSS JOIN "posts" AS "p" WHERE "o"."post_id" = "p"."ID" AND "o"."meta_key" = ('pages') AND ("o"."meta_key" = ? COLLATE BINARY) AND "o"."meta_value" IS NOT NULL AND "o"."meta_id" = (SELECT MIN("f"."meta_id") FROM "postmeta" AS "f" WHERE "f"."post_id" = "p"."ID" AND (+"f"."meta_key") = ? AND ("f"."meta_key" = ? COLLATE BINARY)) AND (+"p"."post_type") IN (?) AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?) ORDER BY CAST("o"."meta_value" AS INTEGER) DESC, "o"."post_id" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" LEFT JOIN "posts" AS "above" ON "above"."ID" = "p"."post_parent" WHERE "p"."ID" IN (?) AND ("p"."post_status" = ? OR ("p"."post_type" = ? AND "p"."post_status" = ? AND "above"."post_status" = ?))
SELECT "p"."ID" FROM "posts" AS "p" LEFT JOIN "posts" AS "above" ON "above"."ID" = "p"."post_parent" WHERE "p"."ID" IN (?) AND ((p.post_status = 'publish' OR p.post_type = 'attachment' AND p.post_status = 'inherit' AND above.post_status = 'publish'))
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ("p"."ID" = ?) THEN ? ELSE ? END) ASC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ("p"."ID" = ?) THEN ? ELSE ? END) ASC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ("p"."ID" = ?) THEN ? ELSE ? END) ASC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ("p"."ID" = ?) THEN ? ELSE ? END) DESC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."menu_order" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."menu_order" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."menu_order" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."menu_order" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."menu_order" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) AND "p"."ID" NOT IN (?) AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" <= ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" <= ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_mime_type" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_mime_type" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_mime_type" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_mime_type" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ("p"."post_name" = ?) THEN ? ELSE ? END) ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ("p"."post_name" = ?) THEN ? ELSE ? END) ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ("p"."post_name" = ?) THEN ? ELSE ? END) ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ("p"."post_name" = ?) THEN ? ELSE ? END) DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) AND "p"."post_mime_type" LIKE ? ESCAPE '\' ORDER BY "p"."menu_order" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY +"p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_excerpt" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_content" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_excerpt" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_content" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_excerpt" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_content" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_excerpt" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_content" LIKE ? ESCAPE '\') THEN ? ELSE ? END) DESC, "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_date" <= ? AND ("p"."post_date" < ? OR "p"."ID" < ?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_date" >= ? AND ("p"."post_date" > ? OR "p"."ID" >= ?)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\' AND (SELECT "m"."meta_value" FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? ORDER BY "m"."meta_id" ASC LIMIT ?) LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\' AND (SELECT "m"."meta_value" FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? ORDER BY "m"."meta_id" ASC LIMIT ?) LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\' AND (SELECT "m"."meta_value" FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? ORDER BY "m"."meta_id" ASC LIMIT ?) LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\' AND (SELECT "m"."meta_value" FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? ORDER BY "m"."meta_id" ASC LIMIT ?) LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."ID") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."menu_order") = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."menu_order") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."menu_order") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."menu_order") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") IN (?) AND (+"p"."ID") NOT IN (?) AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_modified") > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_modified") > ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_modified") > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_modified") > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_modified") > ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_name") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") IN (?) ORDER BY "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") NOT IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_parent") NOT IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_title" LIKE ? ESCAPE '\' ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_password") = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1) ORDER BY "p"."menu_order" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."comment_count" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."comment_count" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."comment_count" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."comment_count" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."comment_count" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."menu_order" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."menu_order" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."menu_order" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."menu_order" ASC, "p"."post_title" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."menu_order" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_author" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_author" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_author" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_author" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_author" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_modified" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_modified" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_modified" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_modified" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_modified" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_name" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_name" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_name" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_name" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_name" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_parent" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_parent" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_parent" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_parent" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_title" ASC, "p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_title" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_title" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_title" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "p"."post_title" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) AND "p"."ID" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) AND "p"."post_name" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" IN (?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_title" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? ELSE ? END) DESC, "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_excerpt" LIKE ? ESCAPE '\') THEN ? WHEN ("p"."post_content" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY (CASE WHEN ("p"."post_title" LIKE ? ESCAPE '\') THEN ? ELSE ? END) ASC, +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "p"."post_date" ASC, "p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? ORDER BY "p"."post_date" DESC, "p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? = ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? = ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? = ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ((+"p"."ID") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ((+"p"."ID") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ((+"p"."ID") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY (CASE WHEN ((+"p"."ID") = ?) THEN ? ELSE ? END) DESC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "m"."post_id" FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) AND "m"."meta_value" = ?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")) ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" = ? ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ((+"p"."post_name") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" ASC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ((+"p"."post_name") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ((+"p"."post_name") = ?) THEN ? ELSE ? END) ASC, +"p"."ID" ASC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY (CASE WHEN ((+"p"."post_name") = ?) THEN ? ELSE ? END) DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?) ORDER BY +"p"."post_name" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (+"p"."post_author") IN (?) AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (+"p"."post_author") IN (?) AND "p"."ID" NOT IN (?) AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (+"p"."post_date") < ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (+"p"."post_date") > ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (+"p"."post_password") = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\') AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (0 = 1) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (0 = 1) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND (0 = 1) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" ASC, +"p"."ID" ASC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ? OFFSET ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") IN (?) AND "p"."ID" IN (?) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID" FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") IN (?) AND (+"p"."post_name") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)) ORDER BY +"p"."post_date" DESC, +"p"."ID" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" = ? ORDER BY "k0" ASC, "k1" ASC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" = ? ORDER BY "k0" ASC, "k1" ASC LIMIT ? OFFSET ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" = ? ORDER BY "k0" DESC, "k1" DESC
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" = ? ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" = ? ORDER BY "k0" DESC, "k1" DESC LIMIT ? OFFSET ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" <= ? ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? UNION ALL SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "k0" ASC, "k1" ASC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? UNION ALL SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "k0" DESC, "k1" DESC
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? UNION ALL SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ? UNION ALL SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (+"p"."post_author") = ? AND "p"."post_date" > ? AND "p"."post_date" < ? ORDER BY "k0" DESC, "k1" DESC LIMIT ? OFFSET ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "k0" ASC, "k1" ASC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "k0" DESC, "k1" DESC
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?) ORDER BY "k0" DESC, "k1" DESC LIMIT ? OFFSET ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "k0" ASC, "k1" ASC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "k0" DESC, "k1" DESC
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER)) ORDER BY "k0" DESC, "k1" DESC LIMIT ? OFFSET ?
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "k0" DESC, "k1" DESC
SELECT "p"."ID", "p"."post_date" AS "k0", "p"."ID" AS "k1" FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? ORDER BY "k0" DESC, "k1" DESC LIMIT ?
SELECT "p"."post_date", "p"."ID" FROM "posts" AS "p" WHERE "p"."ID" = ?
SELECT "post_date_gmt" FROM "posts" WHERE "post_type" IN (?) AND "post_status" = ? AND "post_date_gmt" <> ? ORDER BY "post_date_gmt" ASC LIMIT ?
SELECT "post_id", "meta_key", "meta_value" FROM "postmeta" WHERE "post_id" = ? AND "meta_key" = ? ORDER BY "meta_id" ASC LIMIT ?
SELECT "post_id", "meta_key", "meta_value" FROM "postmeta" WHERE "post_id" = ? ORDER BY "meta_id" ASC
SELECT "post_id", "meta_key", "meta_value" FROM "postmeta" WHERE "post_id" IN (?) ORDER BY "meta_id" ASC
SELECT "post_name" FROM "posts" WHERE "post_name" IN (?) AND "ID" <> ?
SELECT "post_name" FROM "posts" WHERE "post_name" IN (?) AND "ID" <> ? AND "post_type" = ?
SELECT "post_name" FROM "posts" WHERE "post_name" IN (?) AND "ID" <> ? AND "post_type" IN (?) AND "post_parent" = ?
SELECT "post_name", "ID" FROM "posts" WHERE "post_name" IN (?) AND "post_type" = ?
SELECT "post_name", "ID", "post_type", "post_parent" FROM "posts" WHERE "post_name" IN (?)
SELECT "post_parent", "ID" FROM "posts" WHERE "post_parent" IN (?) AND "post_type" = ? ORDER BY "ID" ASC
SELECT "post_parent", "ID" FROM "posts" WHERE ? = ? AND "post_type" = ? ORDER BY "ID" ASC
SELECT "post_parent", COUNT(*), MAX(ID) FROM "posts" WHERE "post_parent" IN (?) AND "post_type" = ? AND "post_status" = ? GROUP BY "post_parent"
SELECT "post_status", "post_type", "post_parent" FROM "posts" WHERE "ID" = ?
SELECT "post_status", COUNT(*) FROM "posts" WHERE "post_type" = ? GROUP BY "post_status"
SELECT "post_type", "post_status", "n" FROM "svc_author_count" WHERE "post_author" = ? AND "n" > ? AND "post_type" IN (?) AND "post_status" IN (?)
SELECT "post_type", "post_status", "n" FROM "svc_post_count" WHERE "post_type" IN (?) AND "post_status" IN (?) AND "n" > ?
SELECT "post_type", "post_status", "post_date", "post_author", "post_parent", "menu_order", "post_name", "post_password", "post_mime_type" FROM "posts" WHERE "ID" = ?
SELECT "slug" FROM "terms" WHERE "slug" IN (?) AND "term_id" <> ?
SELECT "t"."term_id" FROM "terms" AS "t" CROSS JOIN "term_taxonomy" AS "tt" WHERE "tt"."term_id" = "t"."term_id" AND "tt"."taxonomy" IN (?) AND ("t"."name" LIKE ? ESCAPE '\' AND "t"."slug" LIKE ? ESCAPE '\') ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."slug" IN (?) ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."slug" IN (?) ORDER BY "t"."name" DESC, "t"."term_id" ASC
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."term_id" IN (?) ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."term_id" IN (?) ORDER BY (CASE WHEN ("t"."term_id" = ?) THEN ? ELSE ? END) ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."term_id" IN (?) ORDER BY (CASE WHEN ("t"."term_id" = ?) THEN ? ELSE ? END) DESC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "t"."term_id" NOT IN (?) AND "tt"."parent" = ? ORDER BY "t"."slug" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."count" > ? ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."count" > ? ORDER BY "t"."name" DESC, "t"."term_id" ASC
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."count" > ? ORDER BY "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."count" > ? ORDER BY "tt"."count" DESC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."term_taxonomy_id" IN (SELECT "term_taxonomy_id" FROM "term_relationships" WHERE "object_id" IN (?)) ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."term_taxonomy_id" IN (SELECT "term_taxonomy_id" FROM "term_relationships" WHERE "object_id" IN (?)) ORDER BY "t"."name" DESC, "t"."term_id" ASC
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND ("t"."name" LIKE ? ESCAPE '\' AND "t"."slug" LIKE ? ESCAPE '\') ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) ORDER BY "t"."name" ASC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) ORDER BY "t"."name" DESC, "t"."term_id" ASC
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) ORDER BY "t"."term_id" ASC LIMIT ? OFFSET ?
SELECT "t"."term_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) ORDER BY "tt"."count" DESC, "t"."term_id" ASC LIMIT ?
SELECT "t"."term_id", "tt"."term_taxonomy_id", "tt"."taxonomy", "t"."name", "t"."slug", "t"."term_group", "tt"."description", "tt"."parent", "tt"."count" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "t"."name" = ? AND "tt"."taxonomy" = ? ORDER BY "t"."term_id" ASC
SELECT "t"."term_id", "tt"."term_taxonomy_id", "tt"."taxonomy", "t"."name", "t"."slug", "t"."term_group", "tt"."description", "tt"."parent", "tt"."count" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "t"."slug" = ? AND "tt"."taxonomy" = ? ORDER BY "t"."term_id" ASC
SELECT "t"."term_id", "tt"."term_taxonomy_id", "tt"."taxonomy", "t"."name", "t"."slug", "t"."term_group", "tt"."description", "tt"."parent", "tt"."count" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."term_id" IN (?) ORDER BY "tt"."term_taxonomy_id" ASC
SELECT "t"."term_id", "tt"."term_taxonomy_id", "tt"."taxonomy", "t"."name", "t"."slug", "t"."term_group", "tt"."description", "tt"."parent", "tt"."count", "tr"."object_id" FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" INNER JOIN "term_relationships" AS "tr" ON "tr"."term_taxonomy_id" = "tt"."term_taxonomy_id" WHERE "tr"."object_id" IN (?) ORDER BY "t"."name" ASC, "t"."term_id" ASC
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE "taxonomy" = ? AND "term_id" IN (?)
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE "taxonomy" = ? AND ("term_id" IN (?) OR "parent" <> ?)
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE "taxonomy" = ? AND ("term_id" IN (?) OR "parent" > ?)
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE ("taxonomy" = ? AND "term_id" IN (?))
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE ("taxonomy" = ? AND ("term_id" IN (?) OR "parent" <> ?)) OR ("taxonomy" = ? AND "term_id" IN (?))
SELECT "taxonomy", "term_id", "term_taxonomy_id", "parent", "count" FROM "term_taxonomy" WHERE ("taxonomy" = ? AND ("term_id" IN (?) OR "parent" > ?)) OR ("taxonomy" = ? AND "term_id" IN (?))
SELECT "term_id" FROM "term_taxonomy" WHERE "term_id" = ?
SELECT "term_id", "meta_key", "meta_value" FROM "termmeta" WHERE "term_id" = ? ORDER BY "meta_id" ASC
SELECT "term_id", "meta_key", "meta_value" FROM "termmeta" WHERE "term_id" IN (?) ORDER BY "meta_id" ASC
SELECT "term_id", "name", "slug", "term_group" FROM "terms" WHERE "term_id" = ? ORDER BY "term_id" ASC
SELECT "term_id", "parent" FROM "term_taxonomy" WHERE "taxonomy" = ? AND "parent" > ? ORDER BY "term_id" ASC
SELECT "term_id", "parent", "count" FROM "term_taxonomy" WHERE "taxonomy" = ? ORDER BY "term_id" ASC
SELECT "term_taxonomy_id" FROM "term_relationships" WHERE "object_id" = ? ORDER BY "term_taxonomy_id" ASC
SELECT "term_taxonomy_id", "count", "taxonomy" FROM "term_taxonomy" WHERE "term_taxonomy_id" > ? ORDER BY "term_taxonomy_id" ASC LIMIT ?
SELECT "term_taxonomy_id", "term_id", "taxonomy", "description", "parent" FROM "term_taxonomy" WHERE "term_id" = ? ORDER BY "term_taxonomy_id" ASC
SELECT "term_taxonomy_id", SUM(n) FROM "svc_term_count" WHERE "term_taxonomy_id" IN (?) AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? GROUP BY "term_taxonomy_id"
SELECT "tr"."term_taxonomy_id", COUNT(*) FROM "term_relationships" AS "tr" INNER JOIN "posts" AS "p" ON "p"."ID" = "tr"."object_id" LEFT JOIN "posts" AS "above" ON "above"."ID" = "p"."post_parent" WHERE "tr"."term_taxonomy_id" IN (?) AND ("p"."post_status" = ? OR ("p"."post_type" = ? AND "p"."post_status" = ? AND "above"."post_status" = ?)) GROUP BY "tr"."term_taxonomy_id"
SELECT "tr"."term_taxonomy_id", COUNT(*) FROM "term_relationships" AS "tr" INNER JOIN "posts" AS "p" ON "p"."ID" = "tr"."object_id" LEFT JOIN "posts" AS "above" ON "above"."ID" = "p"."post_parent" WHERE "tr"."term_taxonomy_id" IN (?) AND ((p.post_status = 'publish' OR p.post_type = 'attachment' AND p.post_status = 'inherit' AND above.post_status = 'publish')) GROUP BY "tr"."term_taxonomy_id"
SELECT "u"."ID" FROM "users" AS "u" ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" ORDER BY "u"."user_email" DESC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" ORDER BY "u"."user_nicename" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" ORDER BY "u"."user_registered" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" ORDER BY "u"."user_url" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" = ? ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (?) ORDER BY (CASE WHEN ("u"."ID" = ?) THEN ? ELSE ? END) ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (SELECT "user_id" FROM "svc_user_rights" WHERE "meta_key" = ? AND "n" > ? = ?) ORDER BY "u"."ID" ASC
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (SELECT "user_id" FROM "svc_user_rights" WHERE "meta_key" = ? AND "n" > ? = ?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (SELECT "user_id" FROM "svc_user_rights" WHERE "meta_key" = ? AND "n" > ? AND "meta_value" IN (?)) AND ("u"."user_login" LIKE ? ESCAPE '\' AND "u"."user_url" LIKE ? ESCAPE '\' AND "u"."user_email" LIKE ? ESCAPE '\' AND "u"."user_nicename" LIKE ? ESCAPE '\' AND "u"."display_name" LIKE ? ESCAPE '\') ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (SELECT "user_id" FROM "svc_user_rights" WHERE "meta_key" = ? AND "n" > ? AND "meta_value" IN (?)) ORDER BY "u"."ID" ASC
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" IN (SELECT "user_id" FROM "svc_user_rights" WHERE "meta_key" = ? AND "n" > ? AND "meta_value" IN (?)) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."ID" NOT IN (?) ORDER BY "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."user_email" LIKE ? ESCAPE '\' ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."user_login" LIKE ? ESCAPE '\' AND "u"."user_url" LIKE ? ESCAPE '\' AND "u"."user_email" LIKE ? ESCAPE '\' AND "u"."user_nicename" LIKE ? ESCAPE '\' AND "u"."display_name" LIKE ? ESCAPE '\' ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE "u"."user_nicename" IN (?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."ID" ASC LIMIT ? OFFSET ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) AND "u"."ID" IN (?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) AND "u"."user_nicename" IN (?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."ID" ASC LIMIT ? OFFSET ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?)) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "usermeta" AS "m" WHERE "m"."user_id" = "u"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" <> ?) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "usermeta" AS "m" WHERE "m"."user_id" = "u"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" LIKE ? ESCAPE '\') ORDER BY "u"."ID" ASC
SELECT "u"."ID" FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "usermeta" AS "m" WHERE "m"."user_id" = "u"."ID" AND "m"."meta_key" = ? AND ("m"."meta_value" LIKE ? ESCAPE '\')) ORDER BY "u"."display_name" ASC, "u"."ID" ASC LIMIT ?
SELECT "u"."user_login", "u"."user_email" FROM "usermeta" AS "m" INNER JOIN "users" AS "u" ON "u"."ID" = "m"."user_id" WHERE "m"."meta_key" = ? AND "m"."meta_value" <> ? ORDER BY "u"."ID" ASC LIMIT ?
SELECT "user_id", "meta_key", "meta_value" FROM "usermeta" WHERE "user_id" = ? AND "meta_key" = ? ORDER BY "umeta_id" ASC LIMIT ?
SELECT "user_id", "meta_key", "meta_value" FROM "usermeta" WHERE "user_id" = ? ORDER BY "umeta_id" ASC
SELECT "user_id", "meta_key", "meta_value" FROM "usermeta" WHERE "user_id" IN (?) ORDER BY "umeta_id" ASC
SELECT "user_nicename" FROM "users" WHERE "ID" <> ? AND "user_nicename" IN (?)
SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?)
SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?)
SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND "c"."comment_date" > ?
SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?) AND ("c"."comment_author" LIKE ? ESCAPE '\' AND "c"."comment_author_email" LIKE ? ESCAPE '\' AND "c"."comment_author_url" LIKE ? ESCAPE '\' AND "c"."comment_author_IP" LIKE ? ESCAPE '\' AND "c"."comment_content" LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_parent" NOT IN (?) AND "c"."comment_approved" IN (?) AND "c"."comment_type" IN (?) AND "c"."comment_type" NOT IN (?)
SELECT COUNT(*) FROM "postmeta" AS "o" CROSS JOIN "posts" AS "p" WHERE "o"."post_id" = "p"."ID" AND "o"."meta_key" = ('pages') AND ("o"."meta_key" = ? COLLATE BINARY) AND "o"."meta_value" IS NOT NULL AND "o"."meta_id" = (SELECT MIN("f"."meta_id") FROM "postmeta" AS "f" WHERE "f"."post_id" = "p"."ID" AND (+"f"."meta_key") = ? AND ("f"."meta_key" = ? COLLATE BINARY)) AND (+"p"."post_type") IN (?) AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."ID" NOT IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."menu_order" = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_author" NOT IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" < ? AND "p"."post_date" >= ? AND "p"."post_date" <= ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" < ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" > ? AND "p"."post_date" <= ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? AND "p"."post_date" < ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_date" >= ? AND "p"."post_date" <= ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_mime_type" LIKE ? ESCAPE '\'
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_modified" > ? AND "p"."post_modified" <= ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_name" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_parent" NOT IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_excerpt" LIKE ? ESCAPE '\'
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND "p"."post_title" LIKE ? ESCAPE '\'
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\' AND (SELECT "m"."meta_value" FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? ORDER BY "m"."meta_id" ASC LIMIT ?) LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (0 = 1)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID"))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND (NOT EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID"))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID")
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" = ? AND ("p"."post_status" = ? OR ("p"."post_author" = ? AND "p"."post_status" = ?)) AND "p"."post_date" > ? AND "p"."post_date" < ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND "p"."post_password" = ? AND ("p"."post_title" LIKE ? ESCAPE '\' AND "p"."post_excerpt" LIKE ? ESCAPE '\' AND "p"."post_content" LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND "m"."meta_value" = ?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ? AND CAST("m"."meta_value" AS INTEGER) > CAST(? AS INTEGER))
SELECT COUNT(*) FROM "posts" AS "p" WHERE "p"."post_type" IN (?) AND "p"."post_status" = ? AND EXISTS(SELECT ? FROM "postmeta" AS "m" WHERE "m"."post_id" = "p"."ID" AND "m"."meta_key" = ?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? = ?
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "m"."post_id" FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) AND "m"."meta_value" = ?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND "p"."post_name" IN (?)
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND ("p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?)))
SELECT COUNT(*) FROM "posts" AS "p" WHERE (+"p"."post_type") = ? AND (+"p"."post_status") = ? AND EXISTS(SELECT ? FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?) AND "tr"."object_id" = "p"."ID") AND "p"."ID" IN (SELECT "tr"."object_id" FROM "term_relationships" AS "tr" WHERE "tr"."term_taxonomy_id" IN (?))
SELECT COUNT(*) FROM "term_taxonomy"
SELECT COUNT(*) FROM "term_taxonomy" WHERE "taxonomy" IN (?)
SELECT COUNT(*) FROM "term_taxonomy" WHERE "taxonomy" IN (?) AND "count" > ?
SELECT COUNT(*) FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?)
SELECT COUNT(*) FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND "tt"."count" > ?
SELECT COUNT(*) FROM "terms" AS "t" INNER JOIN "term_taxonomy" AS "tt" ON "tt"."term_id" = "t"."term_id" WHERE "tt"."taxonomy" IN (?) AND ("t"."name" LIKE ? ESCAPE '\' AND "t"."slug" LIKE ? ESCAPE '\')
SELECT COUNT(*) FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "posts" AS "p" WHERE "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?))
SELECT COUNT(*) FROM "users" AS "u" WHERE EXISTS(SELECT ? FROM "svc_author_count" AS "p" WHERE "p"."n" > ? AND "p"."post_author" = "u"."ID" AND "p"."post_status" = ? AND "p"."post_type" IN (?))
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) AND "m"."meta_value" = ? LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) AND "m"."meta_value" >= ? LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) AND "m"."meta_value" IN (?) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('isbn') AND ("m"."meta_key" = ? COLLATE BINARY) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('price') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS REAL) = CAST(? AS REAL) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('price') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS REAL) >= CAST(? AS REAL) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('price') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS REAL) IN (CAST(? AS REAL)) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('price') AND ("m"."meta_key" = ? COLLATE BINARY) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('stock') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS INTEGER) = CAST(? AS INTEGER) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('stock') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS INTEGER) >= CAST(? AS INTEGER) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('stock') AND ("m"."meta_key" = ? COLLATE BINARY) AND CAST("m"."meta_value" AS INTEGER) IN (CAST(? AS INTEGER)) LIMIT ?) AS "b"
SELECT COUNT(*) FROM (SELECT ? FROM "postmeta" AS "m" WHERE "m"."meta_key" = ('stock') AND ("m"."meta_key" = ? COLLATE BINARY) LIMIT ?) AS "b"
SELECT DISTINCT "comment_ID" FROM "comments" WHERE "comment_parent" = ?
SELECT DISTINCT "comment_parent" FROM "comments" WHERE "comment_parent" IN (?) AND "comment_approved" IN (?)
SELECT DISTINCT "link_id" FROM "links" WHERE "link_owner" = ?
SELECT DISTINCT "post_author" FROM "posts" WHERE "post_author" IN (?) AND ("post_status" = ? AND "post_type" IN (?))
SELECT DISTINCT "post_author" FROM "posts" WHERE "post_author" IN (?) AND (("post_status" = ? AND "post_type" IN (?)))
SELECT DISTINCT "post_id" FROM "postmeta" WHERE "meta_key" = ? AND "meta_value" = ?
SELECT DISTINCT "post_id" FROM "postmeta" WHERE "meta_key" = ? AND "meta_value" = ? ORDER BY "post_id" ASC LIMIT ?
SELECT DISTINCT "term_id" FROM "term_taxonomy" WHERE "parent" = ? AND "taxonomy" = ?
SELECT DISTINCT "term_taxonomy_id" FROM "term_relationships" WHERE "object_id" IN (?)
SELECT SUBSTR("post_date", ?) AS "month", COUNT(*) FROM "posts" WHERE "post_type" = ? AND "post_status" = ? GROUP BY "month" ORDER BY "month" DESC LIMIT ?
SELECT SUBSTR(post_date, 1, 10), COUNT(*) FROM "posts" WHERE "post_type" = ? AND "post_status" = ? GROUP BY SUBSTR(post_date, 1, 10) ORDER BY SUBSTR(post_date, 1, 10) DESC LIMIT ?
SELECT SUM(n) FROM "svc_author_count" WHERE "post_author" IN (?) AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ?
SELECT SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? AND "day" < ?
SELECT SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? AND "day" > ?
SELECT SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? AND "day" > ? AND "day" < ?
SELECT SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? AND "day" >= ?
SELECT SUM(n) FROM "svc_day_count" WHERE "kind" = ? AND "post_type" IN (?) AND "post_status" IN (?) AND "n" > ? AND "day" >= ? AND "day" <= ?
SELECT SUM(n) FROM "svc_post_count" WHERE "post_type" <> ?
SELECT SUM(n) FROM "svc_post_count" WHERE "post_type" IN (?) AND "post_status" IN (?)
UPDATE "comments" SET "comment_approved" = ? WHERE "comment_post_ID" = ?
UPDATE "comments" SET "comment_parent" = ? WHERE "comment_parent" = ?
UPDATE "comments" SET "comment_post_ID" = ?, "comment_author" = ?, "comment_author_email" = ?, "comment_author_url" = ?, "comment_author_IP" = ?, "comment_date" = ?, "comment_date_gmt" = ?, "comment_content" = ?, "comment_karma" = ?, "comment_approved" = ?, "comment_agent" = ?, "comment_type" = ?, "comment_parent" = ?, "user_id" = ? WHERE "comment_ID" = ?
UPDATE "links" SET "link_owner" = ? WHERE "link_owner" = ?
UPDATE "postmeta" SET "meta_value" = ? WHERE "post_id" = ? AND "meta_key" = ?
UPDATE "posts" SET "comment_count" = (CASE WHEN ("comment_count" < ?) THEN (SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_post_ID" = ? AND "c"."comment_approved" = ? AND "c"."comment_type" <> ?) ELSE "comment_count" + ? END) WHERE "ID" = ?
UPDATE "posts" SET "comment_count" = (SELECT COUNT(*) FROM "comments" AS "c" WHERE "c"."comment_post_ID" = "posts"."ID" AND "c"."comment_approved" = ? AND "c"."comment_type" <> ?) WHERE "ID" IN (?)
UPDATE "posts" SET "guid" = ? WHERE "ID" = ?
UPDATE "posts" SET "post_author" = ? WHERE "ID" IN (?)
UPDATE "posts" SET "post_author" = ? WHERE "post_author" = ?
UPDATE "posts" SET "post_author" = ?, "post_date" = ?, "post_date_gmt" = ?, "post_content" = ?, "post_title" = ?, "post_excerpt" = ?, "post_status" = ?, "comment_status" = ?, "ping_status" = ?, "post_password" = ?, "post_name" = ?, "post_modified" = ?, "post_modified_gmt" = ?, "post_parent" = ?, "guid" = ?, "menu_order" = ?, "post_type" = ?, "post_mime_type" = ?, "comment_count" = ? WHERE "ID" = ?
UPDATE "posts" SET "post_parent" = ? WHERE "ID" IN (?)
UPDATE "posts" SET "post_parent" = ? WHERE "post_parent" = ? AND "post_type" IN (?)
UPDATE "posts" SET "post_status" = ? WHERE "ID" = ? AND "post_status" = ? AND "post_date_gmt" <= ?
UPDATE "term_taxonomy" SET "count" = (CASE WHEN ("count" + ? > ?) THEN "count" + ? ELSE ? END) WHERE "term_taxonomy_id" IN (?) AND "taxonomy" <> ?
UPDATE "term_taxonomy" SET "count" = (CASE WHEN ("count" + ? > ?) THEN "count" + ? ELSE ? END) WHERE "term_taxonomy_id" IN (?) AND ("taxonomy" <> ?)
UPDATE "term_taxonomy" SET "count" = (CASE WHEN ("term_taxonomy_id" = ?) THEN ? ELSE "count" END) WHERE ("term_taxonomy_id" = ? AND "count" = ?)
UPDATE "term_taxonomy" SET "count" = (SELECT COUNT(*) FROM "term_relationships" AS "tr" INNER JOIN "posts" AS "p" ON "p"."ID" = "tr"."object_id" LEFT JOIN "posts" AS "above" ON "above"."ID" = "p"."post_parent" WHERE "tr"."term_taxonomy_id" = "term_taxonomy"."term_taxonomy_id" AND ("p"."post_status" = ? OR ("p"."post_type" = ? AND "p"."post_status" = ? AND "above"."post_status" = ?))) WHERE "term_taxonomy_id" IN (?) AND "taxonomy" <> ?
UPDATE "term_taxonomy" SET "description" = ?, "parent" = ? WHERE "term_taxonomy_id" = ?
UPDATE "term_taxonomy" SET "parent" = ? WHERE "parent" = ? AND "taxonomy" = ?
UPDATE "terms" SET "name" = ?, "slug" = ?, "term_group" = ? WHERE "term_id" = ?
UPDATE "usermeta" SET "meta_value" = ? WHERE "user_id" = ? AND "meta_key" = ?
UPDATE "usermeta" SET "meta_value" = ? WHERE "user_id" = ? AND "meta_key" = ? AND HEX("meta_value") = HEX(?)
UPDATE "users" SET "user_login" = ?, "user_pass" = ?, "user_nicename" = ?, "user_email" = ?, "user_url" = ?, "user_registered" = ?, "user_activation_key" = ?, "user_status" = ?, "display_name" = ? WHERE "ID" = ?

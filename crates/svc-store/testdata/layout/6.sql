CREATE INDEX `wp_commentmeta_comment_id` ON `wp_commentmeta` (`comment_id`);
CREATE INDEX `wp_commentmeta_meta_key` ON `wp_commentmeta` (`meta_key`);
CREATE INDEX `wp_comments_approved_type` ON `wp_comments` (`comment_approved`, `comment_type`);
CREATE INDEX `wp_comments_approved_type_date` ON `wp_comments` (`comment_approved`, `comment_type`, `comment_date`);
CREATE INDEX `wp_comments_approved_type_date_gmt` ON `wp_comments` (`comment_approved`, `comment_type`, `comment_date_gmt`);
CREATE INDEX `wp_comments_approved_type_post` ON `wp_comments` (`comment_approved`, `comment_type`, `comment_post_ID`);
CREATE INDEX `wp_comments_comment_approved_date_gmt` ON `wp_comments` (`comment_approved`, `comment_date_gmt`);
CREATE INDEX `wp_comments_comment_author_email` ON `wp_comments` (`comment_author_email`);
CREATE INDEX `wp_comments_comment_date_gmt` ON `wp_comments` (`comment_date_gmt`);
CREATE INDEX `wp_comments_comment_parent` ON `wp_comments` (`comment_parent`);
CREATE INDEX `wp_comments_comment_post_ID` ON `wp_comments` (`comment_post_ID`);
CREATE INDEX `wp_links_link_visible` ON `wp_links` (`link_visible`);
CREATE INDEX `wp_options_autoload` ON `wp_options` (`autoload`);
CREATE UNIQUE INDEX `wp_options_option_name` ON `wp_options` (`option_name`);
CREATE INDEX `wp_postmeta_meta_key` ON `wp_postmeta` (`meta_key`);
CREATE INDEX `wp_postmeta_post_id` ON `wp_postmeta` (`post_id`);
CREATE INDEX `wp_posts_post_author` ON `wp_posts` (`post_author`);
CREATE INDEX `wp_posts_post_name` ON `wp_posts` (`post_name`);
CREATE INDEX `wp_posts_post_parent` ON `wp_posts` (`post_parent`);
CREATE INDEX `wp_posts_type_status` ON `wp_posts` (`post_type`, `post_status`);
CREATE INDEX `wp_posts_type_status_author` ON `wp_posts` (`post_type`, `post_status`, `post_author`);
CREATE INDEX `wp_posts_type_status_author_date` ON `wp_posts` (`post_type`, `post_status`, `post_author`, `post_date`);
CREATE INDEX `wp_posts_type_status_date` ON `wp_posts` (`post_type`, `post_status`, `post_date`, `ID`);
CREATE INDEX `wp_posts_type_status_menu_order` ON `wp_posts` (`post_type`, `post_status`, `menu_order`);
CREATE INDEX `wp_posts_type_status_menu_order_title` ON `wp_posts` (`post_type`, `post_status`, `menu_order`, `post_title`);
CREATE INDEX `wp_posts_type_status_modified` ON `wp_posts` (`post_type`, `post_status`, `post_modified`);
CREATE INDEX `wp_posts_type_status_name` ON `wp_posts` (`post_type`, `post_status`, `post_name`);
CREATE INDEX `wp_posts_type_status_parent` ON `wp_posts` (`post_type`, `post_status`, `post_parent`);
CREATE INDEX `wp_posts_type_status_title` ON `wp_posts` (`post_type`, `post_status`, `post_title`);
CREATE INDEX `wp_term_relationships_term_taxonomy_id` ON `wp_term_relationships` (`term_taxonomy_id`);
CREATE INDEX `wp_term_taxonomy_taxonomy` ON `wp_term_taxonomy` (`taxonomy`);
CREATE INDEX `wp_term_taxonomy_taxonomy_count` ON `wp_term_taxonomy` (`taxonomy`, `count`, `term_id`);
CREATE INDEX `wp_term_taxonomy_taxonomy_parent` ON `wp_term_taxonomy` (`taxonomy`, `parent`);
CREATE UNIQUE INDEX `wp_term_taxonomy_term_id_taxonomy` ON `wp_term_taxonomy` (`term_id`, `taxonomy`);
CREATE INDEX `wp_termmeta_meta_key` ON `wp_termmeta` (`meta_key`);
CREATE INDEX `wp_termmeta_term_id` ON `wp_termmeta` (`term_id`);
CREATE INDEX `wp_terms_name` ON `wp_terms` (`name`);
CREATE INDEX `wp_terms_slug` ON `wp_terms` (`slug`);
CREATE INDEX `wp_usermeta_meta_key` ON `wp_usermeta` (`meta_key`);
CREATE INDEX `wp_usermeta_user_id` ON `wp_usermeta` (`user_id`);
CREATE INDEX `wp_users_display_name` ON `wp_users` (`display_name`);
CREATE INDEX `wp_users_user_email` ON `wp_users` (`user_email`);
CREATE INDEX `wp_users_user_login_key` ON `wp_users` (`user_login`);
CREATE INDEX `wp_users_user_nicename` ON `wp_users` (`user_nicename`);
CREATE INDEX `wp_users_user_registered` ON `wp_users` (`user_registered`);
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE `wp_commentmeta` (
  `meta_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `comment_id` INTEGER NOT NULL DEFAULT 0,
  `meta_key` TEXT COLLATE NOCASE DEFAULT NULL,
  `meta_value` TEXT COLLATE PEOPLE DEFAULT NULL
);
CREATE TABLE `wp_comments` (
  `comment_ID` INTEGER PRIMARY KEY AUTOINCREMENT,
  `comment_post_ID` INTEGER NOT NULL DEFAULT 0,
  `comment_author` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_author_email` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_author_url` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_author_IP` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_date` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `comment_date_gmt` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `comment_content` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_karma` INTEGER NOT NULL DEFAULT 0,
  `comment_approved` TEXT COLLATE NOCASE NOT NULL DEFAULT '1',
  `comment_agent` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `comment_type` TEXT COLLATE NOCASE NOT NULL DEFAULT 'comment',
  `comment_parent` INTEGER NOT NULL DEFAULT 0,
  `user_id` INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE `wp_links` (
  `link_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `link_url` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_name` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_image` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_target` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_description` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_visible` TEXT COLLATE PEOPLE NOT NULL DEFAULT 'Y',
  `link_owner` INTEGER NOT NULL DEFAULT 1,
  `link_rating` INTEGER NOT NULL DEFAULT 0,
  `link_updated` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `link_rel` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_notes` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `link_rss` TEXT COLLATE PEOPLE NOT NULL DEFAULT ''
);
CREATE TABLE `wp_options` (
  `option_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `option_name` TEXT COLLATE NOCASE NOT NULL DEFAULT '',
  `option_value` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `autoload` TEXT COLLATE NOCASE NOT NULL DEFAULT 'yes'
);
CREATE TABLE `wp_postmeta` (
  `meta_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `post_id` INTEGER NOT NULL DEFAULT 0,
  `meta_key` TEXT COLLATE NOCASE DEFAULT NULL,
  `meta_value` TEXT COLLATE PEOPLE DEFAULT NULL
);
CREATE TABLE `wp_posts` (
  `ID` INTEGER PRIMARY KEY AUTOINCREMENT,
  `post_author` INTEGER NOT NULL DEFAULT 0,
  `post_date` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `post_date_gmt` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `post_content` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_title` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_excerpt` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_status` TEXT COLLATE NOCASE NOT NULL DEFAULT 'publish',
  `comment_status` TEXT COLLATE NOCASE NOT NULL DEFAULT 'open',
  `ping_status` TEXT COLLATE NOCASE NOT NULL DEFAULT 'open',
  `post_password` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_name` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `to_ping` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `pinged` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_modified` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `post_modified_gmt` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `post_content_filtered` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `post_parent` INTEGER NOT NULL DEFAULT 0,
  `guid` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `menu_order` INTEGER NOT NULL DEFAULT 0,
  `post_type` TEXT COLLATE NOCASE NOT NULL DEFAULT 'post',
  `post_mime_type` TEXT COLLATE NOCASE NOT NULL DEFAULT '',
  `comment_count` INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE `wp_svc_author_count` (post_author INTEGER NOT NULL, post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (post_author, post_type, post_status)) WITHOUT ROWID;
CREATE TABLE `wp_svc_changes` (seq INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, operation TEXT NOT NULL, object INTEGER, name TEXT, object_before TEXT, object_after TEXT, caller INTEGER, nonce INTEGER NOT NULL DEFAULT (random()));
CREATE TABLE `wp_svc_comment_count` (comment_approved TEXT COLLATE NOCASE NOT NULL, comment_type TEXT COLLATE NOCASE NOT NULL, day TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (comment_approved, comment_type, day)) WITHOUT ROWID;
CREATE TABLE `wp_svc_consumers` (name TEXT NOT NULL PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE `wp_svc_day_count` (post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, kind TEXT NOT NULL, day TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (post_type, post_status, kind, day)) WITHOUT ROWID;
CREATE TABLE `wp_svc_layout` (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE `wp_svc_post_count` (post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (post_type, post_status)) WITHOUT ROWID;
CREATE TABLE `wp_svc_rights_count` (meta_key TEXT COLLATE NOCASE NOT NULL, meta_value TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (meta_key, meta_value)) WITHOUT ROWID;
CREATE TABLE `wp_svc_term_count` (term_taxonomy_id INTEGER NOT NULL, post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (term_taxonomy_id, post_type, post_status)) WITHOUT ROWID;
CREATE TABLE `wp_svc_user_rights` (meta_key TEXT COLLATE NOCASE NOT NULL, meta_value TEXT NOT NULL, user_id INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (meta_key, meta_value, user_id)) WITHOUT ROWID;
CREATE TABLE `wp_term_relationships` (
  `object_id` INTEGER NOT NULL DEFAULT 0,
  `term_taxonomy_id` INTEGER NOT NULL DEFAULT 0,
  `term_order` INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (`object_id`,`term_taxonomy_id`)
) WITHOUT ROWID;
CREATE TABLE `wp_term_taxonomy` (
  `term_taxonomy_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `term_id` INTEGER NOT NULL DEFAULT 0,
  `taxonomy` TEXT COLLATE NOCASE NOT NULL DEFAULT '',
  `description` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `parent` INTEGER NOT NULL DEFAULT 0,
  `count` INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE `wp_termmeta` (
  `meta_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `term_id` INTEGER NOT NULL DEFAULT 0,
  `meta_key` TEXT COLLATE NOCASE DEFAULT NULL,
  `meta_value` TEXT COLLATE PEOPLE DEFAULT NULL
);
CREATE TABLE `wp_terms` (
  `term_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `name` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `slug` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `term_group` INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE `wp_usermeta` (
  `umeta_id` INTEGER PRIMARY KEY AUTOINCREMENT,
  `user_id` INTEGER NOT NULL DEFAULT 0,
  `meta_key` TEXT COLLATE NOCASE DEFAULT NULL,
  `meta_value` TEXT COLLATE PEOPLE DEFAULT NULL
);
CREATE TABLE `wp_users` (
  `ID` INTEGER PRIMARY KEY AUTOINCREMENT,
  `user_login` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_pass` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_nicename` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_email` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_url` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_registered` TEXT NOT NULL DEFAULT '0000-00-00 00:00:00',
  `user_activation_key` TEXT COLLATE PEOPLE NOT NULL DEFAULT '',
  `user_status` INTEGER NOT NULL DEFAULT 0,
  `display_name` TEXT COLLATE PEOPLE NOT NULL DEFAULT ''
);
CREATE TRIGGER `wp_svc_author_count_posts_delete` AFTER delete ON `wp_posts` WHEN OLD.post_type <> 'revision' BEGIN UPDATE `wp_svc_author_count` SET n = n - 1 WHERE (post_author, post_type, post_status) IN (SELECT OLD.post_author, OLD.post_type, OLD.post_status); END;
CREATE TRIGGER `wp_svc_author_count_posts_insert` AFTER insert ON `wp_posts` WHEN NEW.post_type <> 'revision' BEGIN INSERT INTO `wp_svc_author_count` SELECT *, 1 FROM (SELECT NEW.post_author, NEW.post_type, NEW.post_status WHERE 1) WHERE 1 ON CONFLICT (post_author, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_author_count_posts_update` AFTER update ON `wp_posts` WHEN (NEW.post_author, NEW.post_type, NEW.post_status) IS NOT (OLD.post_author, OLD.post_type, OLD.post_status) BEGIN UPDATE `wp_svc_author_count` SET n = n - 1 WHERE (post_author, post_type, post_status) IN (SELECT OLD.post_author, OLD.post_type, OLD.post_status WHERE OLD.post_type <> 'revision'); INSERT INTO `wp_svc_author_count` SELECT *, 1 FROM (SELECT NEW.post_author, NEW.post_type, NEW.post_status WHERE NEW.post_type <> 'revision') WHERE 1 ON CONFLICT (post_author, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_changes_commentmeta_0_delete` AFTER delete ON `wp_commentmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comment meta', 'update', OLD.comment_id, OLD.meta_key, NULL; END;
CREATE TRIGGER `wp_svc_changes_commentmeta_0_insert` AFTER insert ON `wp_commentmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comment meta', 'update', NEW.comment_id, NULL, NEW.meta_key; END;
CREATE TRIGGER `wp_svc_changes_commentmeta_0_update` AFTER update ON `wp_commentmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comment meta', 'update', NEW.comment_id, OLD.meta_key, NEW.meta_key; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comment meta', 'update', OLD.comment_id, OLD.meta_key, NEW.meta_key WHERE OLD.comment_id IS NOT NEW.comment_id; END;
CREATE TRIGGER `wp_svc_changes_comments_0_delete` AFTER delete ON `wp_comments` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comments', 'delete', OLD.comment_ID, OLD.comment_post_ID || ',' || OLD.user_id || ',' || OLD.comment_approved || ',' || OLD.comment_type, NULL; END;
CREATE TRIGGER `wp_svc_changes_comments_0_insert` AFTER insert ON `wp_comments` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comments', 'insert', NEW.comment_ID, NULL, NEW.comment_post_ID || ',' || NEW.user_id || ',' || NEW.comment_approved || ',' || NEW.comment_type; END;
CREATE TRIGGER `wp_svc_changes_comments_0_update` AFTER update ON `wp_comments` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comments', 'update', NEW.comment_ID, OLD.comment_post_ID || ',' || OLD.user_id || ',' || OLD.comment_approved || ',' || OLD.comment_type, NEW.comment_post_ID || ',' || NEW.user_id || ',' || NEW.comment_approved || ',' || NEW.comment_type; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'comments', 'update', OLD.comment_ID, OLD.comment_post_ID || ',' || OLD.user_id || ',' || OLD.comment_approved || ',' || OLD.comment_type, NEW.comment_post_ID || ',' || NEW.user_id || ',' || NEW.comment_approved || ',' || NEW.comment_type WHERE OLD.comment_ID IS NOT NEW.comment_ID; END;
CREATE TRIGGER `wp_svc_changes_links_0_delete` AFTER delete ON `wp_links` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'links', 'delete', OLD.link_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_links_0_insert` AFTER insert ON `wp_links` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'links', 'insert', NEW.link_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_links_0_update` AFTER update ON `wp_links` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'links', 'update', NEW.link_id, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'links', 'update', OLD.link_id, NULL, NULL WHERE OLD.link_id IS NOT NEW.link_id; END;
CREATE TRIGGER `wp_svc_changes_options_0_delete` AFTER delete ON `wp_options` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, name, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'options', 'delete', OLD.option_name, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_options_0_insert` AFTER insert ON `wp_options` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, name, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'options', 'insert', NEW.option_name, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_options_0_update` AFTER update ON `wp_options` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, name, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'options', 'update', NEW.option_name, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, name, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'options', 'update', OLD.option_name, NULL, NULL WHERE OLD.option_name IS NOT NEW.option_name; END;
CREATE TRIGGER `wp_svc_changes_postmeta_0_delete` AFTER delete ON `wp_postmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post meta', 'update', OLD.post_id, OLD.meta_key, NULL; END;
CREATE TRIGGER `wp_svc_changes_postmeta_0_insert` AFTER insert ON `wp_postmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post meta', 'update', NEW.post_id, NULL, NEW.meta_key; END;
CREATE TRIGGER `wp_svc_changes_postmeta_0_update` AFTER update ON `wp_postmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post meta', 'update', NEW.post_id, OLD.meta_key, NEW.meta_key; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post meta', 'update', OLD.post_id, OLD.meta_key, NEW.meta_key WHERE OLD.post_id IS NOT NEW.post_id; END;
CREATE TRIGGER `wp_svc_changes_posts_0_delete` AFTER delete ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND OLD.post_type <> 'revision' BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'posts', 'delete', OLD.ID, OLD.post_author || ',' || OLD.post_status || ',' || OLD.post_type || ',' || OLD.post_parent, NULL; END;
CREATE TRIGGER `wp_svc_changes_posts_0_insert` AFTER insert ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND NEW.post_type <> 'revision' BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'posts', 'insert', NEW.ID, NULL, NEW.post_author || ',' || NEW.post_status || ',' || NEW.post_type || ',' || NEW.post_parent; END;
CREATE TRIGGER `wp_svc_changes_posts_0_update` AFTER update ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND (NEW.post_type <> 'revision' OR OLD.post_type <> 'revision') BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'posts', 'update', NEW.ID, OLD.post_author || ',' || OLD.post_status || ',' || OLD.post_type || ',' || OLD.post_parent, NEW.post_author || ',' || NEW.post_status || ',' || NEW.post_type || ',' || NEW.post_parent; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'posts', 'update', OLD.ID, OLD.post_author || ',' || OLD.post_status || ',' || OLD.post_type || ',' || OLD.post_parent, NEW.post_author || ',' || NEW.post_status || ',' || NEW.post_type || ',' || NEW.post_parent WHERE OLD.ID IS NOT NEW.ID; END;
CREATE TRIGGER `wp_svc_changes_posts_1_delete` AFTER delete ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND OLD.post_type = 'revision' BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'revisions', 'update', OLD.post_parent, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_posts_1_insert` AFTER insert ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND NEW.post_type = 'revision' BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'revisions', 'update', NEW.post_parent, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_posts_1_update` AFTER update ON `wp_posts` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) AND (NEW.post_type = 'revision' OR OLD.post_type = 'revision') BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'revisions', 'update', NEW.post_parent, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'revisions', 'update', OLD.post_parent, NULL, NULL WHERE OLD.post_parent IS NOT NEW.post_parent; END;
CREATE TRIGGER `wp_svc_changes_term_relationships_0_delete` AFTER delete ON `wp_term_relationships` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post terms', 'update', OLD.object_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_term_relationships_0_insert` AFTER insert ON `wp_term_relationships` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post terms', 'update', NEW.object_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_term_relationships_0_update` AFTER update ON `wp_term_relationships` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post terms', 'update', NEW.object_id, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'post terms', 'update', OLD.object_id, NULL, NULL WHERE OLD.object_id IS NOT NEW.object_id; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_0_delete` AFTER delete ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', OLD.term_id, OLD.taxonomy, NULL; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_0_insert` AFTER insert ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', NEW.term_id, NULL, NEW.taxonomy; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_0_update` AFTER update ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', NEW.term_id, OLD.taxonomy, NEW.taxonomy; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', OLD.term_id, OLD.taxonomy, NEW.taxonomy WHERE OLD.term_id IS NOT NEW.term_id; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_1_delete` AFTER delete ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term counts', 'delete', OLD.term_taxonomy_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_1_insert` AFTER insert ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term counts', 'insert', NEW.term_taxonomy_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_term_taxonomy_1_update` AFTER update ON `wp_term_taxonomy` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term counts', 'update', NEW.term_taxonomy_id, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term counts', 'update', OLD.term_taxonomy_id, NULL, NULL WHERE OLD.term_taxonomy_id IS NOT NEW.term_taxonomy_id; END;
CREATE TRIGGER `wp_svc_changes_termmeta_0_delete` AFTER delete ON `wp_termmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term meta', 'update', OLD.term_id, OLD.meta_key, NULL; END;
CREATE TRIGGER `wp_svc_changes_termmeta_0_insert` AFTER insert ON `wp_termmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term meta', 'update', NEW.term_id, NULL, NEW.meta_key; END;
CREATE TRIGGER `wp_svc_changes_termmeta_0_update` AFTER update ON `wp_termmeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term meta', 'update', NEW.term_id, OLD.meta_key, NEW.meta_key; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'term meta', 'update', OLD.term_id, OLD.meta_key, NEW.meta_key WHERE OLD.term_id IS NOT NEW.term_id; END;
CREATE TRIGGER `wp_svc_changes_terms_0_delete` AFTER delete ON `wp_terms` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'delete', OLD.term_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_terms_0_insert` AFTER insert ON `wp_terms` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'insert', NEW.term_id, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_terms_0_update` AFTER update ON `wp_terms` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', NEW.term_id, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'terms', 'update', OLD.term_id, NULL, NULL WHERE OLD.term_id IS NOT NEW.term_id; END;
CREATE TRIGGER `wp_svc_changes_usermeta_0_delete` AFTER delete ON `wp_usermeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'user meta', 'update', OLD.user_id, OLD.meta_key, NULL; END;
CREATE TRIGGER `wp_svc_changes_usermeta_0_insert` AFTER insert ON `wp_usermeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'user meta', 'update', NEW.user_id, NULL, NEW.meta_key; END;
CREATE TRIGGER `wp_svc_changes_usermeta_0_update` AFTER update ON `wp_usermeta` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'user meta', 'update', NEW.user_id, OLD.meta_key, NEW.meta_key; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'user meta', 'update', OLD.user_id, OLD.meta_key, NEW.meta_key WHERE OLD.user_id IS NOT NEW.user_id; END;
CREATE TRIGGER `wp_svc_changes_users_0_delete` AFTER delete ON `wp_users` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'users', 'delete', OLD.ID, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_users_0_insert` AFTER insert ON `wp_users` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'users', 'insert', NEW.ID, NULL, NULL; END;
CREATE TRIGGER `wp_svc_changes_users_0_update` AFTER update ON `wp_users` WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'wp_svc_own_transaction' AND seq = 1) BEGIN INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'users', 'update', NEW.ID, NULL, NULL; INSERT INTO `wp_svc_changes` (time, kind, operation, object, object_before, object_after) SELECT 1000 * strftime('%s', 'now'), 'users', 'update', OLD.ID, NULL, NULL WHERE OLD.ID IS NOT NEW.ID; END;
CREATE TRIGGER `wp_svc_comment_count_comments_delete` AFTER delete ON `wp_comments` WHEN 1 BEGIN UPDATE `wp_svc_comment_count` SET n = n - 1 WHERE (comment_approved, comment_type, day) IN (SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)); END;
CREATE TRIGGER `wp_svc_comment_count_comments_insert` AFTER insert ON `wp_comments` WHEN 1 BEGIN INSERT INTO `wp_svc_comment_count` SELECT *, 1 FROM (SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10) WHERE 1) WHERE 1 ON CONFLICT (comment_approved, comment_type, day) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_comment_count_comments_update` AFTER update ON `wp_comments` WHEN (NEW.comment_approved, NEW.comment_type, NEW.comment_date_gmt) IS NOT (OLD.comment_approved, OLD.comment_type, OLD.comment_date_gmt) BEGIN UPDATE `wp_svc_comment_count` SET n = n - 1 WHERE (comment_approved, comment_type, day) IN (SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)); INSERT INTO `wp_svc_comment_count` SELECT *, 1 FROM (SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10) WHERE 1) WHERE 1 ON CONFLICT (comment_approved, comment_type, day) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_day_count_posts_delete` AFTER delete ON `wp_posts` WHEN OLD.post_type <> 'revision' BEGIN UPDATE `wp_svc_day_count` SET n = n - 1 WHERE (post_type, post_status, kind, day) IN (SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10)); UPDATE `wp_svc_day_count` SET n = n - 1 WHERE (post_type, post_status, kind, day) IN (SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10)); END;
CREATE TRIGGER `wp_svc_day_count_posts_insert` AFTER insert ON `wp_posts` WHEN NEW.post_type <> 'revision' BEGIN INSERT INTO `wp_svc_day_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10) WHERE 1) WHERE 1 ON CONFLICT (post_type, post_status, kind, day) DO UPDATE SET n = n + 1; INSERT INTO `wp_svc_day_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10) WHERE 1) WHERE 1 ON CONFLICT (post_type, post_status, kind, day) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_day_count_posts_update` AFTER update ON `wp_posts` WHEN (NEW.post_type, NEW.post_status, NEW.post_date, NEW.post_modified) IS NOT (OLD.post_type, OLD.post_status, OLD.post_date, OLD.post_modified) BEGIN UPDATE `wp_svc_day_count` SET n = n - 1 WHERE (post_type, post_status, kind, day) IN (SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10) WHERE OLD.post_type <> 'revision'); UPDATE `wp_svc_day_count` SET n = n - 1 WHERE (post_type, post_status, kind, day) IN (SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10) WHERE OLD.post_type <> 'revision'); INSERT INTO `wp_svc_day_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10) WHERE NEW.post_type <> 'revision') WHERE 1 ON CONFLICT (post_type, post_status, kind, day) DO UPDATE SET n = n + 1; INSERT INTO `wp_svc_day_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10) WHERE NEW.post_type <> 'revision') WHERE 1 ON CONFLICT (post_type, post_status, kind, day) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_post_count_posts_delete` AFTER delete ON `wp_posts` WHEN 1 BEGIN UPDATE `wp_svc_post_count` SET n = n - 1 WHERE (post_type, post_status) IN (SELECT OLD.post_type, OLD.post_status); END;
CREATE TRIGGER `wp_svc_post_count_posts_insert` AFTER insert ON `wp_posts` WHEN 1 BEGIN INSERT INTO `wp_svc_post_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status WHERE 1) WHERE 1 ON CONFLICT (post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_post_count_posts_update` AFTER update ON `wp_posts` WHEN (NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status) BEGIN UPDATE `wp_svc_post_count` SET n = n - 1 WHERE (post_type, post_status) IN (SELECT OLD.post_type, OLD.post_status); INSERT INTO `wp_svc_post_count` SELECT *, 1 FROM (SELECT NEW.post_type, NEW.post_status WHERE 1) WHERE 1 ON CONFLICT (post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_rights_count_usermeta_delete` AFTER delete ON `wp_usermeta` WHEN OLD.meta_key IN ('wp_capabilities', 'wp_user_level') BEGIN UPDATE `wp_svc_rights_count` SET n = n - 1 WHERE (meta_key, meta_value) IN (SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0')); END;
CREATE TRIGGER `wp_svc_rights_count_usermeta_insert` AFTER insert ON `wp_usermeta` WHEN NEW.meta_key IN ('wp_capabilities', 'wp_user_level') BEGIN INSERT INTO `wp_svc_rights_count` SELECT *, 1 FROM (SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0') WHERE 1) WHERE 1 ON CONFLICT (meta_key, meta_value) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_rights_count_usermeta_update` AFTER update ON `wp_usermeta` WHEN (NEW.meta_key IN ('wp_capabilities', 'wp_user_level') OR OLD.meta_key IN ('wp_capabilities', 'wp_user_level')) BEGIN UPDATE `wp_svc_rights_count` SET n = n - 1 WHERE (meta_key, meta_value) IN (SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0') WHERE OLD.meta_key IN ('wp_capabilities', 'wp_user_level')); INSERT INTO `wp_svc_rights_count` SELECT *, 1 FROM (SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0') WHERE NEW.meta_key IN ('wp_capabilities', 'wp_user_level')) WHERE 1 ON CONFLICT (meta_key, meta_value) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_term_count_posts_delete` AFTER delete ON `wp_posts` WHEN 1 BEGIN UPDATE `wp_svc_term_count` SET n = n - 1 WHERE (term_taxonomy_id, post_type, post_status) IN (SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM `wp_term_relationships` WHERE object_id = OLD.ID); END;
CREATE TRIGGER `wp_svc_term_count_posts_insert` AFTER insert ON `wp_posts` WHEN 1 BEGIN INSERT INTO `wp_svc_term_count` SELECT *, 1 FROM (SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM `wp_term_relationships` WHERE object_id = NEW.ID) WHERE 1 ON CONFLICT (term_taxonomy_id, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_term_count_posts_update` AFTER update ON `wp_posts` WHEN (NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status) BEGIN UPDATE `wp_svc_term_count` SET n = n - 1 WHERE (term_taxonomy_id, post_type, post_status) IN (SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM `wp_term_relationships` WHERE object_id = OLD.ID); INSERT INTO `wp_svc_term_count` SELECT *, 1 FROM (SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM `wp_term_relationships` WHERE object_id = NEW.ID) WHERE 1 ON CONFLICT (term_taxonomy_id, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_term_count_term_relationships_delete` AFTER delete ON `wp_term_relationships` WHEN 1 BEGIN UPDATE `wp_svc_term_count` SET n = n - 1 WHERE (term_taxonomy_id, post_type, post_status) IN (SELECT OLD.term_taxonomy_id, post_type, post_status FROM `wp_posts` WHERE ID = OLD.object_id); END;
CREATE TRIGGER `wp_svc_term_count_term_relationships_insert` AFTER insert ON `wp_term_relationships` WHEN 1 BEGIN INSERT INTO `wp_svc_term_count` SELECT *, 1 FROM (SELECT NEW.term_taxonomy_id, post_type, post_status FROM `wp_posts` WHERE ID = NEW.object_id) WHERE 1 ON CONFLICT (term_taxonomy_id, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_term_count_term_relationships_update` AFTER update ON `wp_term_relationships` WHEN (NEW.object_id, NEW.term_taxonomy_id) IS NOT (OLD.object_id, OLD.term_taxonomy_id) BEGIN UPDATE `wp_svc_term_count` SET n = n - 1 WHERE (term_taxonomy_id, post_type, post_status) IN (SELECT OLD.term_taxonomy_id, post_type, post_status FROM `wp_posts` WHERE ID = OLD.object_id); INSERT INTO `wp_svc_term_count` SELECT *, 1 FROM (SELECT NEW.term_taxonomy_id, post_type, post_status FROM `wp_posts` WHERE ID = NEW.object_id) WHERE 1 ON CONFLICT (term_taxonomy_id, post_type, post_status) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_user_rights_usermeta_delete` AFTER delete ON `wp_usermeta` WHEN OLD.meta_key IN ('wp_capabilities', 'wp_user_level') BEGIN UPDATE `wp_svc_user_rights` SET n = n - 1 WHERE (meta_key, meta_value, user_id) IN (SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id); END;
CREATE TRIGGER `wp_svc_user_rights_usermeta_insert` AFTER insert ON `wp_usermeta` WHEN NEW.meta_key IN ('wp_capabilities', 'wp_user_level') BEGIN INSERT INTO `wp_svc_user_rights` SELECT *, 1 FROM (SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id WHERE 1) WHERE 1 ON CONFLICT (meta_key, meta_value, user_id) DO UPDATE SET n = n + 1; END;
CREATE TRIGGER `wp_svc_user_rights_usermeta_update` AFTER update ON `wp_usermeta` WHEN (NEW.meta_key IN ('wp_capabilities', 'wp_user_level') OR OLD.meta_key IN ('wp_capabilities', 'wp_user_level')) BEGIN UPDATE `wp_svc_user_rights` SET n = n - 1 WHERE (meta_key, meta_value, user_id) IN (SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id WHERE OLD.meta_key IN ('wp_capabilities', 'wp_user_level')); INSERT INTO `wp_svc_user_rights` SELECT *, 1 FROM (SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id WHERE NEW.meta_key IN ('wp_capabilities', 'wp_user_level')) WHERE 1 ON CONFLICT (meta_key, meta_value, user_id) DO UPDATE SET n = n + 1; END;

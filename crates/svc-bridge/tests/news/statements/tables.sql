ALTER TABLE wp_postmeta MODIFY meta_key varchar(255) COLLATE utf8mb4_bin;
ALTER TABLE wp_posts MODIFY post_type varchar(20) COLLATE utf8mb4_bin NOT NULL default 'post', ADD COLUMN post_name varchar(200) NOT NULL default '', ADD COLUMN post_title text NOT NULL default '';
CREATE TABLE wp_goods (
  id int unsigned NOT NULL auto_increment PRIMARY KEY, `rank` int, `order` bigint, `key` varchar(20), `value` text, `end` varchar(10) COLLATE utf8mb4_bin,
  post_id bigint unsigned, day date, price decimal(9,2)) ENGINE=InnoDB;
CREATE TABLE `rank` (id int NOT NULL auto_increment PRIMARY KEY, `key` varchar(20), post_id int) ENGINE=InnoDB;
CREATE TABLE 2fa_log (id int NOT NULL auto_increment PRIMARY KEY, `user` int, kind varchar(20)) ENGINE=InnoDB;

CREATE TABLE wp_posts (
  ID bigint(20) unsigned NOT NULL auto_increment, post_author bigint(20) unsigned NOT NULL default '0',
  post_date datetime NOT NULL default '2026-01-01 00:00:00', post_content longtext NOT NULL default '',
  post_status varchar(20) NOT NULL default 'publish', menu_order int(11) NOT NULL default '-3',
  post_parent bigint(20) unsigned NOT NULL default '0', post_type varchar(20) NOT NULL default 'post', post_mime_type varchar(100) NOT NULL default '',
  PRIMARY KEY (ID)) ENGINE=InnoDB;
CREATE TABLE wp_postmeta (
  meta_id bigint(20) unsigned NOT NULL auto_increment, post_id bigint(20) unsigned NOT NULL default '0',
  meta_key varchar(255) default NULL, meta_value longtext, PRIMARY KEY (meta_id)) ENGINE=InnoDB;
CREATE TABLE wp_comments (
  comment_ID bigint(20) unsigned NOT NULL auto_increment, comment_post_ID bigint(20) unsigned NOT NULL default '0',
  comment_author tinytext NOT NULL default '', comment_karma int(11) NOT NULL default '0', PRIMARY KEY (comment_ID)) ENGINE=InnoDB;
CREATE TABLE wp_commentmeta (
  meta_id bigint(20) unsigned NOT NULL auto_increment, comment_id bigint(20) unsigned NOT NULL default '0',
  meta_key varchar(255) default NULL, meta_value longtext, PRIMARY KEY (meta_id)) ENGINE=InnoDB;
CREATE TABLE wp_terms (
  term_id bigint(20) unsigned NOT NULL auto_increment, name varchar(200) NOT NULL default '', PRIMARY KEY (term_id)) ENGINE=InnoDB;
CREATE TABLE wp_termmeta (
  meta_id bigint(20) unsigned NOT NULL auto_increment, term_id bigint(20) unsigned NOT NULL default '0',
  meta_key varchar(255) default NULL, meta_value longtext, PRIMARY KEY (meta_id)) ENGINE=InnoDB;
CREATE TABLE wp_term_taxonomy (
  term_taxonomy_id bigint(20) unsigned NOT NULL auto_increment, term_id bigint(20) unsigned NOT NULL default 0,
  taxonomy varchar(32) NOT NULL default '', description longtext NOT NULL default '', PRIMARY KEY (term_taxonomy_id)) ENGINE=InnoDB;
CREATE TABLE wp_term_relationships (
  object_id bigint(20) unsigned NOT NULL default 0, term_taxonomy_id bigint(20) unsigned NOT NULL default 0,
  term_order int(11) NOT NULL default 0, PRIMARY KEY (object_id, term_taxonomy_id)) ENGINE=InnoDB;
CREATE TABLE wp_users (
  ID bigint(20) unsigned NOT NULL auto_increment, user_login varchar(60) NOT NULL default '', PRIMARY KEY (ID)) ENGINE=InnoDB;
CREATE TABLE wp_usermeta (
  umeta_id bigint(20) unsigned NOT NULL auto_increment, user_id bigint(20) unsigned NOT NULL default '0',
  meta_key varchar(255) default NULL, meta_value longtext, PRIMARY KEY (umeta_id)) ENGINE=InnoDB;
CREATE TABLE wp_options (
  option_id bigint(20) unsigned NOT NULL auto_increment, option_name varchar(191) NOT NULL default '',
  option_value longtext NOT NULL, autoload varchar(20) NOT NULL default 'yes', PRIMARY KEY (option_id)) ENGINE=InnoDB;
CREATE TABLE wp_orders (
  id int NOT NULL PRIMARY KEY, price decimal(19,4), flags bit(9), kind enum('a','b'), at timestamp(3), place point, code char(80)) ENGINE=InnoDB;
CREATE TABLE wp_items (
  id int NOT NULL PRIMARY KEY, order_id int, FOREIGN KEY (order_id) REFERENCES wp_orders (id) ON DELETE CASCADE) ENGINE=InnoDB;
CREATE TABLE wp_old (id int NOT NULL PRIMARY KEY) ENGINE=MyISAM;
CREATE TABLE plugin (id int NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE other.wp_posts (ID int NOT NULL PRIMARY KEY) ENGINE=InnoDB;

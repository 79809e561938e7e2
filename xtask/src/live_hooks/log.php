<?php
/**
 * Plugin Name: Log of actions
 * Description: Writes the actions of posts, terms and comments to a file, for a test of svc-server.
 */

$svc_log_names = array( 'transition_post_status', 'edit_post', 'post_updated', 'save_post', 'wp_insert_post', 'wp_after_insert_post', 'wp_trash_post', 'trashed_post', 'before_delete_post', 'delete_post', 'deleted_post', 'after_delete_post', 'set_object_terms', 'pre_post_update', 'pre_post_insert', 'post_stuck', 'post_unstuck', 'updated_post_meta', 'added_post_meta', 'trash_post_comments', 'create_term', 'created_term', 'saved_term', 'edit_term', 'edited_term', 'edit_terms', 'edited_terms', 'edit_term_taxonomy', 'edited_term_taxonomy', 'pre_delete_term', 'delete_term', 'delete_term_taxonomy', 'deleted_term_taxonomy', 'wp_insert_comment', 'edit_comment', 'wp_set_comment_status', 'transition_comment_status', 'trash_comment', 'trashed_comment', 'spam_comment', 'spammed_comment', 'unspam_comment', 'unspammed_comment', 'delete_comment', 'deleted_comment', 'wp_update_comment_count' );
foreach ( array( 'post', 'page' ) as $svc_log_type ) {
	foreach ( array( 'edit_post', 'save_post', 'delete_post', 'deleted_post', 'rest_insert', 'rest_after_insert', 'rest_delete', 'publish', 'draft', 'future', 'trash' ) as $svc_log_name ) {
		$svc_log_names[] = "{$svc_log_name}_{$svc_log_type}";
	}
}
foreach ( array( 'category', 'comment' ) as $svc_log_type ) {
	foreach ( array( 'create', 'created', 'saved', 'edit', 'edited', 'delete', 'rest_insert', 'rest_after_insert', 'rest_delete' ) as $svc_log_name ) {
		$svc_log_names[] = "{$svc_log_name}_{$svc_log_type}";
	}
}
foreach ( array( 'new', 'draft', 'publish', 'future', 'trash' ) as $svc_log_old ) {
	foreach ( array( 'draft', 'publish', 'future', 'trash' ) as $svc_log_new ) {
		$svc_log_names[] = "{$svc_log_old}_to_{$svc_log_new}";
	}
}
foreach ( array_unique( $svc_log_names ) as $svc_log_name ) {
	add_action(
		$svc_log_name,
		static function ( ...$args ) use ( $svc_log_name ) {
			$parts = array();
			foreach ( $args as $arg ) {
				if ( $arg instanceof WP_Post ) {
					$parts[] = "post({$arg->post_type},{$arg->post_status},{$arg->post_title})";
				} elseif ( $arg instanceof WP_Term ) {
					$parts[] = "term({$arg->taxonomy},{$arg->name})";
				} elseif ( $arg instanceof WP_Comment ) {
					$parts[] = "comment({$arg->comment_approved},{$arg->comment_content})";
				} elseif ( is_object( $arg ) ) {
					$parts[] = get_class( $arg );
				} elseif ( is_array( $arg ) ) {
					$parts[] = 'array';
				} elseif ( is_bool( $arg ) ) {
					$parts[] = $arg ? 'true' : 'false';
				} elseif ( is_numeric( $arg ) ) {
					$parts[] = '#';
				} else {
					$parts[] = (string) $arg;
				}
			}
			$line = $svc_log_name . ' ' . implode( ' ', $parts ) . ' by ' . get_current_user_id() . "\n";
			file_put_contents( WP_CONTENT_DIR . '/svc-hooks.log', $line, FILE_APPEND );
		},
		1,
		10
	);
}

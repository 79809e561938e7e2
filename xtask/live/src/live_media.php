<?php
/**
 * Prints the rows of an attachment in `posts` and `postmeta` as JSON, with decoded values.
 *
 * php live_media.php SITE ID
 */

require $argv[1] . '/wp-load.php';

global $wpdb;
$id    = (int) $argv[2];
$posts = $wpdb->get_results( $wpdb->prepare( "SELECT * FROM $wpdb->posts WHERE ID = %d", $id ), ARRAY_A );
$meta  = $wpdb->get_results( $wpdb->prepare( "SELECT meta_key, meta_value FROM $wpdb->postmeta WHERE post_id = %d ORDER BY meta_key, meta_value", $id ), ARRAY_A );
foreach ( $meta as &$row ) {
	$row['meta_value'] = maybe_unserialize( $row['meta_value'] );
}
echo json_encode( array( 'posts' => $posts, 'postmeta' => $meta ) );

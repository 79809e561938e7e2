<?php
/**
 * Plugin of `cargo xtask live-inputs`: each route responds with one thing that is not in the tables that WordPress writes.
 */

namespace Svc\Inputs;

const FILE = WP_CONTENT_DIR . '/svc-inputs.txt';

/** Reads the option with a connection of its own. */
function read_elsewhere(): string {
	global $wpdb;
	$other = new \wpdb( DB_USER, DB_PASSWORD, DB_NAME, DB_HOST );
	return (string) $other->get_var( "SELECT option_value FROM $wpdb->options WHERE option_name = 'svc_input'" );
}

/** Writes an option as another program does: on a connection of its own, without WordPress's functions. */
function write_option( string $value ): void {
	global $wpdb;
	list( $host, $port, $socket ) = $wpdb->parse_db_host( DB_HOST );
	$database                     = mysqli_connect( $host, DB_USER, DB_PASSWORD, DB_NAME, (int) $port, (string) $socket );
	$database->query( "REPLACE INTO $wpdb->options (option_name, option_value, autoload) VALUES ('svc_input', '" . $database->real_escape_string( $value ) . "', 'on')" );
}

function inputs(): array {
	return array(
		'time'       => fn() => (string) time(),
		'random'     => fn() => (string) wp_rand(),
		'cookie'     => fn() => $_COOKIE['value'] ?? '',
		'header'     => fn() => $_SERVER['HTTP_X_VALUE'] ?? '',
		'language'   => fn() => $_SERVER['HTTP_ACCEPT_LANGUAGE'] ?? '',
		'agent'      => fn() => $_SERVER['HTTP_USER_AGENT'] ?? '',
		'address'    => fn() => $_SERVER['HTTP_X_FORWARDED_FOR'] ?? '',
		'file'       => fn() => (string) file_get_contents( FILE ),
		'request'    => fn() => wp_remote_retrieve_body( wp_remote_get( content_url( 'svc-inputs.txt' ) ) ),
		'option'     => fn() => (string) get_option( 'svc_input' ),
		'connection' => fn() => read_elsewhere(),
	);
}

add_action(
	'rest_api_init',
	function () {
		$is_public = array( 'permission_callback' => '__return_true' );
		foreach ( inputs() as $name => $read ) {
			register_rest_route( 'svc-inputs/v1', $name, array( 'callback' => $read ) + $is_public );
		}
		if ( 'TOKEN' === ( $_GET['token'] ?? '' ) ) {
			$write = function ( $request ) {
				file_put_contents( FILE, $request['value'] );
				write_option( $request['value'] );
			};
			register_rest_route( 'svc-inputs/v1', 'write', array( 'methods' => 'POST', 'callback' => $write ) + $is_public );
		}
	}
);

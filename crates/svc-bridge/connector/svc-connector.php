<?php
/**
 * Plugin Name: svc connector
 * Description: Reports the registrations of this site to svc-server, and renders texts for it, in signed requests. Installed by `svc-server connector install`.
 * Version: 3
 * Requires PHP: 7.4
 * License: MIT OR Apache-2.0
 */

namespace Svc\Connector;

defined( 'ABSPATH' ) || exit;

/** Name of the file with the secret, in the folder of wp-config.php. */
const SECRET_FILE = 'svc-connector-secret.php';

/** Maximum age of a request, and maximum difference of the clocks, in seconds. */
const MAX_AGE = 60;

/** Maximum size of the body of a request, in bytes. */
const MAX_BODY = 65536;

/** Time after which no further texts are rendered, in seconds. svc-server waits for 20 seconds. */
const TIME = 10;

/** Maximum size of the texts of a response, in bytes. */
const MAX_TEXTS = 8388608;

/** One in this many requests to the REST API computes the fingerprint, which takes almost a millisecond. */
const SAMPLE = 10;

/** Option with the fingerprint of the registrations and the time at which it changed, which svc-server reads. */
const VERSION_OPTION = 'svc_connector_version';

/** Prefix of options with the nonces of recent requests. */
const NONCE_PREFIX = 'svc_connector_nonce_';

/** Filters whose callbacks change responses of the REST API. */
const RESPONSE_FILTERS = '/^(the_(content|title|excerpt|permalink)|get_the_excerpt|post_link|post_type_link|term_link|rest_(prepare_.+|pre_dispatch|post_dispatch|request_.+_callbacks|pre_echo_response|pre_serve_request|.+_query|.+_collection_params))$/';

/**
 * The secret, or an empty string if none is installed.
 *
 * @param bool $again Whether the file is read even if PHP has cached it: it may have been replaced since, and PHP may not check.
 */
function secret( bool $again = false ): string {
	$folders = array( ABSPATH, dirname( ABSPATH ) . '/' );
	if ( defined( 'SVC_CONNECTOR_SECRET_FOLDER' ) ) {
		array_unshift( $folders, rtrim( (string) constant( 'SVC_CONNECTOR_SECRET_FOLDER' ), '/' ) . '/' );
	}
	foreach ( $folders as $folder ) {
		if ( @is_readable( $folder . SECRET_FILE ) ) {
			if ( $again && function_exists( 'opcache_invalidate' ) ) {
				@opcache_invalidate( $folder . SECRET_FILE, true );
			}
			$secret = include $folder . SECRET_FILE;
			return is_string( $secret ) && strlen( $secret ) >= 32 ? $secret : '';
		}
	}
	return '';
}

/**
 * Sends a JSON response and ends the request.
 *
 * @param int   $status Status code.
 * @param array $data   Content.
 */
function respond( int $status, array $data ): void {
	while ( ob_get_level() > 0 && ob_end_clean() ) {
		continue;
	}
	status_header( $status );
	header( 'Content-Type: application/json; charset=utf-8' );
	header( 'Cache-Control: no-store' );
	header( 'X-Robots-Tag: noindex' );
	$json = wp_json_encode( $data, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION );
	if ( false === $json ) {
		status_header( 500 );
		$json = '{"error":"the registrations cannot be encoded"}';
	}
	echo $json; // phpcs:ignore WordPress.Security.EscapeOutput
	exit;
}

/**
 * Stores a nonce. Returns false if it was used before.
 *
 * The options table has a unique index on names, so that two requests at the same time cannot both succeed.
 */
function use_nonce( string $nonce, int $now ): bool {
	global $wpdb;
	$like = $wpdb->esc_like( NONCE_PREFIX ) . '%';
	// phpcs:disable WordPress.DB.DirectDatabaseQuery
	$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name LIKE %s AND CAST(option_value AS SIGNED) < %d", $like, $now - 2 * MAX_AGE ) );
	return 1 === $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')", NONCE_PREFIX . $nonce, (string) $now ) );
	// phpcs:enable
}

/**
 * Checks the signature of this request. Returns its content, or ends the request.
 */
function authenticate(): array {
	$header = isset( $_SERVER['HTTP_X_SVC_CONNECTOR'] ) ? (string) $_SERVER['HTTP_X_SVC_CONNECTOR'] : '';
	$body   = (string) file_get_contents( 'php://input', false, null, 0, MAX_BODY + 1 );
	$format = '/^([0-9]{1,12})\.([A-Za-z0-9]{32})\.([0-9a-f]{64})$/D';
	if ( strlen( $body ) > MAX_BODY || ! preg_match( $format, $header, $part ) ) {
		respond( 403, array( 'error' => 'not signed' ) );
	}
	$signed = "svc-connector\n{$part[1]}\n{$part[2]}\n" . hash( 'sha256', $body );
	$is_signed = static function ( string $secret ) use ( $signed, $part ): bool {
		return '' !== $secret && hash_equals( hash_hmac( 'sha256', $signed, $secret ), $part[3] );
	};
	if ( ! $is_signed( secret() ) && ! $is_signed( secret( true ) ) ) {
		respond( 403, array( 'error' => 'not signed' ) );
	}
	// The rest is reported in detail: the caller knows the secret.
	$now = time();
	if ( abs( $now - (int) $part[1] ) > MAX_AGE ) {
		respond( 403, array( 'error' => 'the request has expired, or the clocks differ', 'now' => $now ) );
	}
	if ( is_multisite() ) {
		respond( 501, array( 'error' => 'networks of sites are not supported' ) );
	}
	$content   = json_decode( $body, true );
	$operation = is_array( $content ) ? ( $content['operation'] ?? null ) : null;
	// Texts are only read. A write of the nonce would look like a change of what they depend on.
	if ( 'texts' !== $operation && ! use_nonce( $part[2], $now ) ) {
		respond( 403, array( 'error' => 'the request was sent before' ) );
	}
	if ( null === $operation ) {
		respond( 400, array( 'error' => 'the body must be a JSON object with an operation' ) );
	}
	return $content;
}

/** Values of an object's properties by name. */
function pick( object $from, array $names ): array {
	$values = array();
	foreach ( $names as $name ) {
		$values[ $name ] = $from->$name ?? null;
	}
	return $values;
}

/** Registered post types, without those of WordPress itself. */
function types(): array {
	$types = array();
	foreach ( get_post_types( array( '_builtin' => false ), 'objects' ) as $type ) {
		$entry = pick( $type, array( 'name', 'label', 'description', 'public', 'hierarchical', 'exclude_from_search', 'publicly_queryable', 'show_ui', 'show_in_nav_menus', 'map_meta_cap', 'menu_icon', 'has_archive', 'delete_with_user', 'template', 'template_lock', 'show_in_rest', 'rest_base', 'rest_namespace', 'taxonomies' ) );

		$entry['singular']     = $type->labels->singular_name ?? $type->label;
		$entry['capabilities'] = $type->cap;
		$entry['slug']         = is_array( $type->rewrite ) ? (string) ( $type->rewrite['slug'] ?? '' ) : null;
		$entry['supports']     = get_all_post_type_supports( $type->name );
		$entry['controllers']  = array_values( array_filter( array( $type->rest_controller_class ?? '', $type->revisions_rest_controller_class ?? '', $type->autosave_rest_controller_class ?? '' ) ) );
		$types[]               = $entry;
	}
	return $types;
}

/** Registered taxonomies, without those of WordPress itself. */
function taxonomies(): array {
	$taxonomies = array();
	foreach ( get_taxonomies( array( '_builtin' => false ), 'objects' ) as $taxonomy ) {
		$entry = pick( $taxonomy, array( 'name', 'label', 'description', 'public', 'hierarchical', 'publicly_queryable', 'show_ui', 'show_in_nav_menus', 'show_tagcloud', 'show_in_quick_edit', 'show_admin_column', 'show_in_rest', 'rest_base', 'rest_namespace', 'default_term', 'sort' ) );

		$entry['singular']     = $taxonomy->labels->singular_name ?? $taxonomy->label;
		$entry['types']        = array_values( (array) $taxonomy->object_type );
		$entry['capabilities'] = $taxonomy->cap;
		$entry['slug']         = is_array( $taxonomy->rewrite ) ? (string) ( $taxonomy->rewrite['slug'] ?? '' ) : null;
		$entry['controllers']  = array_values( array_filter( array( $taxonomy->rest_controller_class ?? '' ) ) );
		$taxonomies[]          = $entry;
	}
	return $taxonomies;
}

/** Registered meta that the REST API returns, by object and subtype. */
function meta(): array {
	$all = array();
	foreach ( array( 'post', 'term', 'user', 'comment' ) as $object ) {
		foreach ( (array) ( $GLOBALS['wp_meta_keys'][ $object ] ?? array() ) as $subtype => $keys ) {
			foreach ( (array) $keys as $key => $args ) {
				if ( empty( $args['show_in_rest'] ) ) {
					continue;
				}
				$rest = is_array( $args['show_in_rest'] ) ? $args['show_in_rest'] : array();
				$auth = $args['auth_callback'] ?? null;
				$entry = array(
					'object'      => $object,
					'of'          => (string) $subtype,
					'key'         => (string) $key,
					'type'        => (string) ( $args['type'] ?? 'string' ),
					'description' => (string) ( $args['description'] ?? '' ),
					'single'      => ! empty( $args['single'] ),
					'revisions'   => ! empty( $args['revisions_enabled'] ),
					'name'        => isset( $rest['name'] ) ? (string) $rest['name'] : null,
					'schema'      => (object) ( $rest['schema'] ?? array() ),
					// Callbacks in PHP that decide what is stored, and who may store it.
					'sanitized'   => ! empty( $args['sanitize_callback'] ) || false !== has_filter( "sanitize_{$object}_meta_{$key}" ) || false !== has_filter( "sanitize_{$object}_meta_{$key}_for_{$subtype}" ),
					'guarded'     => ! in_array( $auth, array( null, '__return_true', '__return_false' ), true ),
					'prepared'    => ! empty( $rest['prepare_callback'] ),
				);
				if ( array_key_exists( 'default', $args ) ) {
					$entry['default'] = $args['default'];
				}
				$all[] = $entry;
			}
		}
	}
	return $all;
}

/** A value of the same form without texts. */
function without_texts( $value ) {
	return is_array( $value ) ? array_map( __NAMESPACE__ . '\without_texts', $value ) : ( is_string( $value ) ? '' : $value );
}

/** Registered settings that the REST API returns. Defaults of those that hold keys of other services are left out. */
function settings(): array {
	$all = array();
	foreach ( get_registered_settings() as $option => $args ) {
		if ( empty( $args['show_in_rest'] ) ) {
			continue;
		}
		$rest  = is_array( $args['show_in_rest'] ) ? $args['show_in_rest'] : array();
		$entry = array(
			'option'      => (string) $option,
			'type'        => (string) ( $args['type'] ?? 'string' ),
			'title'       => (string) ( $args['label'] ?? '' ),
			'description' => (string) ( $args['description'] ?? '' ),
			'name'        => isset( $rest['name'] ) ? (string) $rest['name'] : null,
			'schema'      => (object) ( $rest['schema'] ?? array() ),
			'secret'      => 'connectors' === ( $args['group'] ?? '' ) || preg_match( '/^connectors_|_api_key$/', (string) $option ),
			'sanitized'   => ! empty( $args['sanitize_callback'] ) || false !== has_filter( "sanitize_option_{$option}" ),
		);
		$entry['secret'] = (bool) $entry['secret'];
		if ( array_key_exists( 'default', $args ) ) {
			$entry['default'] = $entry['secret'] ? without_texts( $args['default'] ) : $args['default'];
		}
		$all[] = $entry;
	}
	return $all;
}

/** Registered sidebars, with the HTML around their widgets. */
function sidebars(): array {
	$all = array();
	foreach ( (array) ( $GLOBALS['wp_registered_sidebars'] ?? array() ) as $sidebar ) {
		$entry = array( 'show_in_rest' => ! empty( $sidebar['show_in_rest'] ) );
		foreach ( array( 'id', 'name', 'description', 'class', 'before_widget', 'after_widget', 'before_title', 'after_title' ) as $name ) {
			$entry[ $name ] = (string) ( $sidebar[ $name ] ?? '' );
		}
		$all[] = $entry;
	}
	return $all;
}

/** Menu locations of the theme. */
function menu_locations(): array {
	$all = array();
	foreach ( get_registered_nav_menus() as $name => $description ) {
		$all[] = array(
			'name'        => (string) $name,
			'description' => (string) $description,
		);
	}
	return $all;
}

/** Names of fields that are added to items of the REST API, by type of item. */
function fields(): array {
	$fields = array();
	foreach ( (array) ( $GLOBALS['wp_rest_additional_fields'] ?? array() ) as $type => $added ) {
		if ( $added ) {
			$fields[] = array( 'type' => (string) $type, 'names' => array_map( 'strval', array_keys( $added ) ) );
		}
	}
	return $fields;
}

/** The file in which a callback is defined; an empty string for functions of PHP itself. */
function file_of( $callback ): string {
	try {
		if ( is_string( $callback ) && false !== strpos( $callback, '::' ) ) {
			$callback = explode( '::', $callback, 2 );
		}
		if ( is_array( $callback ) ) {
			$function = new \ReflectionMethod( $callback[0], $callback[1] );
		} elseif ( is_object( $callback ) && ! $callback instanceof \Closure ) {
			$function = new \ReflectionMethod( $callback, '__invoke' );
		} else {
			$function = new \ReflectionFunction( $callback );
		}
		return (string) $function->getFileName();
	} catch ( \Throwable $e ) {
		return '';
	}
}

/** Filters of responses that have callbacks outside of WordPress itself, with the names of plugins or themes. */
function filters(): array {
	$core = array( wp_normalize_path( ABSPATH . WPINC ) . '/', wp_normalize_path( ABSPATH . 'wp-admin' ) . '/' );
	$dirs = array( wp_normalize_path( WPMU_PLUGIN_DIR ) . '/', wp_normalize_path( WP_PLUGIN_DIR ) . '/', wp_normalize_path( get_theme_root() ) . '/' );
	$all  = array();
	foreach ( $GLOBALS['wp_filter'] as $name => $hook ) {
		if ( ! preg_match( RESPONSE_FILTERS, (string) $name ) ) {
			continue;
		}
		$owners = array();
		foreach ( $hook->callbacks as $callbacks ) {
			foreach ( $callbacks as $callback ) {
				$file = wp_normalize_path( file_of( $callback['function'] ) );
				if ( '' === $file || 0 === strpos( $file, $core[0] ) || 0 === strpos( $file, $core[1] ) ) {
					continue;
				}
				foreach ( $dirs as $dir ) {
					if ( 0 === strpos( $file, $dir ) ) {
						$file = explode( '/', substr( $file, strlen( $dir ) ) )[0];
						break;
					}
				}
				$owners[ basename( $file ) ] = true;
			}
		}
		if ( $owners ) {
			$all[] = array( 'filter' => (string) $name, 'by' => array_keys( $owners ) );
		}
	}
	return $all;
}

/** Names of shortcodes, blocks and statuses that are not WordPress's own, and of all blocks that PHP renders. */
function others(): array {
	$core       = array( 'wp_caption', 'caption', 'gallery', 'playlist', 'audio', 'video', 'embed' );
	$shortcodes = array_values( array_diff( array_map( 'strval', array_keys( (array) ( $GLOBALS['shortcode_tags'] ?? array() ) ) ), $core ) );
	$blocks     = array();
	$dynamic    = array();
	foreach ( \WP_Block_Type_Registry::get_instance()->get_all_registered() as $name => $type ) {
		if ( 0 !== strpos( (string) $name, 'core/' ) ) {
			$blocks[] = (string) $name;
		}
		if ( $type->is_dynamic() ) {
			$dynamic[] = (string) $name;
		}
	}
	return array(
		'shortcodes' => $shortcodes,
		'blocks'     => $blocks,
		'dynamic'    => $dynamic,
		'statuses'   => array_values( get_post_stati( array( '_builtin' => false ) ) ),
	);
}

/** Namespaces of the REST API that are not WordPress's own. */
function namespaces(): array {
	$core = array( 'oembed/1.0', 'wp/v2', 'wp-site-health/v1', 'wp-block-editor/v1', 'wp-abilities/v1', 'batch/v1' );
	return array_values( array_diff( rest_get_server()->get_namespaces(), $core ) );
}

/**
 * A fingerprint of the registrations.
 */
function fingerprint(): string {
	$objects = array();
	foreach ( array_merge( get_post_types( array(), 'objects' ), get_taxonomies( array(), 'objects' ) ) as $object ) {
		$objects[] = pick( $object, array( 'name', 'label', 'description', 'public', 'hierarchical', 'publicly_queryable', 'show_in_rest', 'rest_base', 'has_archive', 'object_type', 'cap' ) );
	}
	$meta = array();
	foreach ( (array) ( $GLOBALS['wp_meta_keys'] ?? array() ) as $object => $subtypes ) {
		foreach ( (array) $subtypes as $subtype => $keys ) {
			foreach ( (array) $keys as $key => $args ) {
				// Callbacks cannot be encoded.
				$rest     = $args['show_in_rest'] ?? false;
				$values   = array( $args['type'] ?? '', $args['single'] ?? '', $args['default'] ?? null, is_array( $rest ) ? ( $rest['schema'] ?? array() ) : $rest );
				$values[] = ! empty( $args['sanitize_callback'] );
				$meta[]   = array( $object, $subtype, $key, $values );
			}
		}
	}
	$settings = array();
	foreach ( get_registered_settings() as $option => $args ) {
		$settings[] = array( $option, $args['type'] ?? '', ! empty( $args['show_in_rest'] ), $args['default'] ?? null );
	}
	return md5( (string) wp_json_encode( array( 2, $objects, $meta, $settings, fields(), sidebars(), menu_locations(), others() ), JSON_PARTIAL_OUTPUT_ON_ERROR ) );
}

/**
 * Stores the fingerprint if it has changed, so that svc-server asks for the registrations again. At most once in a minute, since
 * some registrations depend on the request.
 */
function note_changes(): void {
	$stored = get_option( VERSION_OPTION );
	$parts  = is_string( $stored ) ? explode( ' ', $stored ) : array();
	$now    = time();
	if ( isset( $parts[1] ) && abs( $now - (int) $parts[1] ) < MAX_AGE ) {
		return;
	}
	$fingerprint = fingerprint();
	if ( ( $parts[0] ?? '' ) !== $fingerprint ) {
		update_option( VERSION_OPTION, $fingerprint . ' ' . $now );
	}
}

/**
 * The texts of a post as the REST API returns them to the current user; null if it does not.
 */
function texts_of( \WP_Post $post ): ?array {
	$route = rest_get_route_for_post( $post );
	if ( '' === $route ) {
		return null;
	}
	$request = new \WP_REST_Request( 'GET', $route );
	$request->set_param( '_fields', 'title.rendered,content.rendered,excerpt.rendered' );
	$response = rest_do_request( $request );
	if ( 200 !== $response->get_status() ) {
		return null;
	}
	$data  = rest_get_server()->response_to_data( $response, false );
	$texts = array();
	foreach ( array( 'title', 'content', 'excerpt' ) as $name ) {
		$texts[ $name ] = isset( $data[ $name ]['rendered'] ) ? (string) $data[ $name ]['rendered'] : '';
	}
	return $texts;
}

/** Copies of all hooks. */
function hooks( array $hooks ): array {
	return array_map(
		static function ( $hook ) {
			return clone $hook;
		},
		$hooks
	);
}

/**
 * The texts of a post, and whether they are the same in each response; null if the user may not see the post.
 *
 * They are rendered twice: as the first text of a response, then after the same text and one with blocks. WordPress moves a filter
 * when it renders blocks, and plugins count.
 *
 * @param \WP_Post $post  Post.
 * @param array    $hooks The hooks at the beginning of a request.
 */
function texts_with_stability( \WP_Post $post, array $hooks ): ?array {
	try {
		$GLOBALS['wp_filter'] = hooks( $hooks ); // phpcs:ignore WordPress.WP.GlobalVariablesOverride
		unset( $GLOBALS['post'] );
		$texts = texts_of( $post );
		if ( ! $texts ) {
			return null;
		}
		apply_filters( 'the_content', '<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->' );
		return $texts + array( 'stable' => texts_of( $post ) === $texts );
	} catch ( \Throwable $e ) {
		return null;
	}
}

/**
 * Renders the texts of posts as a user sees them. Returns for each its texts with a hash of what was rendered, or an empty list if there
 * are none; posts for which there was no time or space are left out at the end.
 *
 * @param array $ids  Ids of posts.
 * @param int   $user Id of the user; 0 for visitors.
 */
function texts( array $ids, int $user ): array {
	wp_set_current_user( $user );
	ob_start();
	remove_action( 'shutdown', 'wp_ob_end_flush_all', 1 );
	$hooks = hooks( $GLOBALS['wp_filter'] );
	$start = microtime( true );
	$size  = 0;
	$all   = array();
	foreach ( $ids as $id ) {
		if ( $all && ( microtime( true ) - $start > TIME || $size > MAX_TEXTS ) ) {
			break;
		}
		// Another program may have written this post.
		wp_cache_delete( (int) $id, 'posts' );
		wp_cache_delete( (int) $id, 'post_meta' );
		$post  = get_post( (int) $id );
		$texts = $post instanceof \WP_Post ? texts_with_stability( $post, $hooks ) : null;
		if ( $texts ) {
			$size  += strlen( $texts['content'] ) + strlen( $texts['excerpt'] );
			$source = hash( 'sha256', "{$post->post_title}\0{$post->post_content}\0{$post->post_excerpt}" );
			$texts  = array( 'source' => $source ) + $texts;
		}
		$all[] = (array) $texts;
	}
	return $all;
}

/**
 * Runs the operation of a signed request.
 *
 * @param array $content The JSON of the request.
 */
function run( array $content ): void {
	if ( ! in_array( $content['operation'], array( 'registrations', 'texts' ), true ) ) {
		respond( 400, array( 'error' => 'unknown operation' ) );
	}
	// Plugins register fields, settings and routes for requests to the REST API only.
	if ( ! defined( 'REST_REQUEST' ) ) {
		define( 'REST_REQUEST', true );
	}
	rest_get_server();
	if ( 'texts' === $content['operation'] ) {
		respond( 200, array( 'posts' => texts( (array) ( $content['posts'] ?? array() ), (int) ( $content['user'] ?? 0 ) ) ) );
	}
	$report = array(
		'connector'  => 1,
		'wordpress'  => get_bloginfo( 'version' ),
		'types'      => types(),
		'taxonomies' => taxonomies(),
		'meta'       => meta(),
		'settings'   => settings(),
		'sidebars'   => sidebars(),
		'menu_locations' => menu_locations(),
		'fields'     => fields(),
		'filters'    => filters(),
		'namespaces' => namespaces(),
	);
	respond( 200, $report + others() );
}

if ( isset( $_GET['svc-connector'] ) || 1 === mt_rand( 1, SAMPLE ) ) {
	add_action( 'rest_api_init', __NAMESPACE__ . '\note_changes', PHP_INT_MAX );
}

if ( isset( $_GET['svc-connector'], $_SERVER['REQUEST_METHOD'] ) && 'POST' === $_SERVER['REQUEST_METHOD'] ) {
	// Before other plugins run, so that an unsigned request costs little.
	$svc_connector_request = authenticate();
	add_action(
		'wp_loaded',
		static function () use ( $svc_connector_request ) {
			run( $svc_connector_request );
		},
		PHP_INT_MAX
	);
}

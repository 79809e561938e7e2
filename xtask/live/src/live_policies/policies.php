<?php
/**
 * Plugin of `cargo xtask live-policies`: one rule at a time about log-in, rights, visibility or output.
 *
 * The option `svc_policy` has the name of the rule and its level, user meta says who is a member, and post meta which post is for members. The task
 * changes them with a request that has its token.
 */

namespace Svc\Policies;

const ROLES = array( 1 => array( 'administrator', 'editor', 'author' ), 2 => array( 'administrator' ) );

/** Whether a user is refused: visitors, and users without one of the roles who are no members. */
function refuses( $user = null ): bool {
	$user = $user ?? wp_get_current_user();
	return ! $user instanceof \WP_User || ! $user->exists() || ( ! array_intersect( $user->roles, ROLES[ level() ] ) && ! get_user_meta( $user->ID, 'svc_member', true ) );
}

function refuses_id( $id ): bool {
	return refuses( $id ? get_userdata( $id ) : false );
}

function name(): string {
	return explode( ' ', (string) get_option( 'svc_policy', '' ) )[0];
}

function level(): int {
	return (int) explode( ' ', get_option( 'svc_policy', ' 1' ) )[1];
}

/** The posts that are for members only. */
function hidden(): array {
	global $wpdb;
	return array_map( 'intval', $wpdb->get_col( "SELECT post_id FROM $wpdb->postmeta WHERE meta_key = '_svc_members_only'" ) );
}

function error( int $status = 403 ): \WP_Error {
	return new \WP_Error( 'refused', 'Only for members.', array( 'status' => $status ) );
}

function is_about( $request, string $route ): bool {
	return 0 === strpos( $request->get_route(), $route );
}

function policies(): array {
	return array(
		// Log-in.
		'authenticate'                                   => fn( $f ) => add_filter( $f, fn( $user ) => $user instanceof \WP_User && refuses( $user ) ? error() : $user, 100 ),
		'determine_current_user'                         => fn( $f ) => add_filter( $f, fn( $id ) => $id && refuses_id( $id ) ? 0 : $id, 50 ),
		'rest_authentication_errors'                     => fn( $f ) => add_filter( $f, fn( $result ) => is_wp_error( $result ) || ! refuses() ? $result : error( 401 ), 200 ),
		'wp_is_application_passwords_available'          => fn( $f ) => add_filter( $f, '__return_false' ),
		'wp_is_application_passwords_available_for_user' => fn( $f ) => add_filter( $f, fn( $is_available, $user ) => $is_available && ! refuses( $user ), 10, 2 ),
		'wp_authenticate_application_password_errors'    => fn( $f ) => add_action( $f, fn( $errors, $user ) => refuses( $user ) && $errors->add( 'refused', 'Refused.' ), 10, 2 ),
		// Rights.
		'user_has_cap'                                   => fn( $f ) => add_filter( $f, fn( $caps, $needed, $arguments, $user ) => refuses( $user ) ? array_diff_key( $caps, array( 'edit_posts' => 1 ) ) : $caps, 10, 4 ),
		'map_meta_cap'                                   => fn( $f ) => add_filter( $f, fn( $caps, $cap, $id ) => in_array( $cap, array( 'edit_posts', 'edit_post', 'list_users' ), true ) && refuses_id( $id ) ? array( 'do_not_allow' ) : $caps, 10, 3 ),
		'user_roles'                                     => fn() => add_filter(
			'option_' . $GLOBALS['wpdb']->prefix . 'user_roles',
			function ( $roles ) {
				$roles[ 1 === level() ? 'contributor' : 'editor' ]['capabilities']['edit_posts'] = false;
				return $roles;
			}
		),
		// Visibility.
		'pre_get_posts'                                  => fn( $f ) => add_action( $f, fn( $query ) => refuses() && $query->set( 'post__not_in', hidden() ) ),
		'posts_where'                                    => fn( $f ) => add_filter( $f, fn( $where ) => refuses() ? "$where AND {$GLOBALS['wpdb']->posts}.ID NOT IN (" . implode( ',', hidden() ) . ')' : $where ),
		'the_posts'                                      => fn( $f ) => add_filter( $f, fn( $posts ) => refuses() ? array_values( array_filter( $posts, fn( $post ) => ! in_array( $post->ID, hidden(), true ) ) ) : $posts ),
		'rest_post_query'                                => fn( $f ) => add_filter( $f, fn( $query ) => refuses() ? array( 'post__not_in' => hidden() ) + $query : $query ),
		'rest_post_search_query'                         => fn( $f ) => add_filter( $f, fn( $query ) => refuses() ? array( 'post__not_in' => hidden() ) + $query : $query ),
		'rest_user_query'                                => fn( $f ) => add_filter( $f, fn( $query ) => refuses() ? array( 'include' => array( 1 ) ) + $query : $query ),
		'rest_endpoints'                                 => fn( $f ) => add_filter( $f, fn( $routes ) => refuses() ? array_diff_key( $routes, array( '/wp/v2/users' => 1 ) ) : $routes ),
		'register_post_type_args'                        => fn( $f ) => add_filter( $f, fn( $arguments, $type ) => 'page' === $type && doing_action( 'init' ) ? array( 'show_in_rest' => ! refuses() ) + $arguments : $arguments, 10, 2 ),
		'rest_pre_dispatch'                              => fn( $f ) => add_filter( $f, fn( $result, $server, $request ) => is_about( $request, '/wp/v2/users' ) && refuses() ? error() : $result, 10, 3 ),
		'rest_request_before_callbacks'                  => fn( $f ) => add_filter( $f, fn( $result, $handler, $request ) => in_array( (int) $request['id'], hidden(), true ) && refuses() ? error() : $result, 10, 3 ),
		'rest_dispatch_request'                          => fn( $f ) => add_filter( $f, fn( $result, $request ) => is_about( $request, '/wp/v2/search' ) && refuses() ? rest_ensure_response( array() ) : $result, 10, 2 ),
		// Output.
		'rest_request_after_callbacks'                   => fn( $f ) => add_filter( $f, fn( $response, $handler, $request ) => is_about( $request, '/wp/v2/pages' ) && refuses() ? error() : $response, 10, 3 ),
		'rest_prepare_post'                              => fn( $f ) => add_filter(
			$f,
			function ( $response, $post ) {
				if ( in_array( $post->ID, hidden(), true ) && refuses() ) {
					$response->data['content'] = array( 'rendered' => '' );
				}
				return $response;
			},
			10,
			2
		),
		'rest_prepare_user'                              => fn( $f ) => add_filter( $f, fn( $response ) => refuses() ? rest_ensure_response( array( 'id' => $response->data['id'] ) ) : $response ),
		'rest_post_dispatch'                             => fn( $f ) => add_filter(
			$f,
			function ( $response ) {
				$response->header( 'Link', '<https://example.com/' . ( refuses() ? 'join' : 'members' ) . '>; rel="help"' );
				return $response;
			}
		),
		'rest_pre_echo_response'                         => fn( $f ) => add_filter( $f, fn( $data ) => refuses() ? array_slice( $data, 0, 2 ) : $data ),
		'rest_pre_serve_request'                         => fn( $f ) => add_filter( $f, fn( $is_served, $response, $request ) => is_about( $request, '/wp/v2/pages' ) && refuses() ? (bool) print( '{"refused":true}' ) : $is_served, 10, 3 ),
		'the_content'                                    => fn( $f ) => add_filter( $f, fn( $content ) => refuses() && in_array( get_the_ID(), hidden(), true ) ? '<p>Join us.</p>' : $content ),
		'the_title'                                      => fn( $f ) => add_filter( $f, fn( $title, $id = 0 ) => refuses() && in_array( $id, hidden(), true ) ? 'For members' : $title, 10, 2 ),
		'oembed_response_data'                           => fn( $f ) => add_filter( $f, fn( $data ) => refuses() ? array( 'title' => 'For members' ) + $data : $data ),
		// Writes.
		'rest_pre_insert_post'                           => fn( $f ) => add_filter( $f, fn( $post ) => refuses() ? error() : $post ),
		'wp_insert_post_data'                            => fn( $f ) => add_filter( $f, fn( $data ) => refuses() ? array( 'post_title' => 'Refused' ) + $data : $data ),
	);
}

/** Makes a rule the one in use, and deletes what the task has written. */
function change(): void {
	foreach ( array( 'Policy', 'Refused' ) as $title ) {
		foreach ( get_posts( array( 'title' => $title, 'post_status' => 'any', 'numberposts' => -1 ) ) as $post ) {
			wp_delete_post( $post->ID, true );
		}
	}
	delete_post_meta_by_key( '_svc_members_only' );
	if ( '' === (string) $_GET['policy'] ) {
		delete_option( 'svc_policy' );
	} else {
		update_option( 'svc_policy', wp_unslash( $_GET['policy'] ) );
		add_post_meta( (int) $_GET['hidden'], '_svc_members_only', '1' );
	}
	$subscriber = get_user_by( 'login', 'live-subscriber' );
	update_user_meta( $subscriber->ID, 'svc_member', $_GET['member'] );
	exit( implode( ' ', array_keys( policies() ) ) );
}

if ( 'TOKEN' === ( $_GET['svc-policies'] ?? '' ) ) {
	add_action( 'wp_loaded', __NAMESPACE__ . '\change' );
} elseif ( '' !== name() ) {
	policies()[ name() ]( name() );
}

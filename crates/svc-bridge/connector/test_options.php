<?php
/**
 * Tests what the plugin finds of options that are loaded together, with what it needs of WordPress. Included by test.php.
 */

/** WordPress's class for the callbacks of a filter. */
class WP_Hook {
	public $callbacks = array();

	public function apply_filters( $value, $arguments ) {
		foreach ( $this->callbacks as $callback ) {
			$value = $callback( $value, ...array_slice( $arguments, 1 ) );
		}
		return $value;
	}
}

function apply_filters( $name, $value, ...$arguments ) {
	global $wp_filter, $wp_filters;
	$wp_filters[ $name ] = 1 + ( $wp_filters[ $name ] ?? 0 );
	return isset( $wp_filter[ $name ] ) ? $wp_filter[ $name ]->apply_filters( $value, array_merge( array( $value ), $arguments ) ) : $value;
}

function get_option( $option ) {
	$value = apply_filters( 'pre_option', apply_filters( "pre_option_$option", false, $option ), $option );
	if ( false !== $value ) {
		return $value;
	}
	$all = wp_load_alloptions();
	return isset( $all[ $option ] ) ? apply_filters( "option_$option", $all[ $option ], $option ) : apply_filters( "default_option_$option", false, $option );
}

function wp_load_alloptions() {
	return apply_filters( 'alloptions', array( 'blogname' => 'a', 'home' => 'b' ) );
}

function wp_prime_option_caches() {
	wp_load_alloptions();
}

function wp_autoload_values_to_autoload() {
	return array( 'yes' );
}

/** Runs code with a callback of a filter. */
function with_filter( string $filter, callable $callback, callable $code ): void {
	$GLOBALS['wp_filter'][ $filter ]            = new WP_Hook();
	$GLOBALS['wp_filter'][ $filter ]->callbacks = array( $callback );
	$code();
	unset( $GLOBALS['wp_filter'][ $filter ] );
}

/** The names of options that are loaded together, and not to read single ones, while code runs. */
function names_of_loaded( callable $code ): array {
	$GLOBALS['wp_filters'] = array();
	$GLOBALS['wp_filter']  = array();

	$begin = static function () {
		self::$parts   = array();
		self::$unknown_loads = -self::loads( self::options_read() );
		new \Svc\Connector\Observed( 'alloptions', array( self::class, 'all_options' ), 'pre_option' );
	};
	$end   = static function () {
		self::options();
		return array_keys( self::$parts );
	};
	// What WordPress reads before it loads plugins.
	get_option( 'home' );
	wp_load_alloptions();
	Closure::bind( $begin, null, \Svc\Connector\Record::class )();
	$code();
	return Closure::bind( $end, null, \Svc\Connector\Record::class )();
}

function test_options(): void {
	$name    = static fn() => get_option( 'blogname' );
	$missing = static fn() => get_option( 'x' );
	$load    = static fn() => wp_load_alloptions();
	$other   = static fn() => 'other';
	$both    = static function () {
		get_option( 'blogname' );
		get_option( 'x' );
		get_option( 'blogname' );
	};
	foreach ( array(
		'nothing'                                         => array( static fn() => null, array() ),
		'single options'                                  => array( $both, array() ),
		'all'                                             => array( $load, array( 'options?yes' ) ),
		'all after a single one'                          => array( static fn() => array( $name(), $load() ), array( 'options?yes' ) ),
		'a function that looks for single ones'           => array( 'wp_prime_option_caches', array() ),
		'another value'                                   => array( static fn() => with_filter( 'pre_option_blogname', $other, $name ), array() ),
		'another value, and a single one'                 => array( static fn() => array( with_filter( 'pre_option_blogname', $other, $name ), $missing() ), array() ),
		// The counts of filters do not show who has loaded them.
		'another value, and all'                          => array( static fn() => array( with_filter( 'pre_option_blogname', $other, $name ), $load() ), array( 'options' ) ),
		'another value of each, and all'                  => array( static fn() => array( with_filter( 'pre_option', $other, $name ), $load() ), array( 'options' ) ),
		'another value of each'                           => array( static fn() => with_filter( 'pre_option', $other, $both ), array() ),
		'a filter that is applied to each'                => array( static fn() => with_filter( 'pre_option', static fn( $value ) => $value, $both ), array() ),
		'all, in a filter that is applied to a single one' => array( static fn() => with_filter( 'pre_option_x', static fn( $value ) => $load() ? $value : $value, $missing ), array( 'options?yes' ) ),
	) as $what => list( $code, $names ) ) {
		check( "options: $what", names_of_loaded( $code ), $names );
	}
}

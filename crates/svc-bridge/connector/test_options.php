<?php
/**
 * Tests what the plugin finds of options that are loaded together, with what it needs of WordPress. Included by test.php.
 */

use Svc\Connector\Loads;
use Svc\Connector\Record;

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

function wp_load_alloptions( $force_cache = false ) {
	$all = apply_filters( 'pre_wp_load_alloptions', null, $force_cache );
	if ( is_array( $all ) ) {
		return $all;
	}
	$all = $force_cache ? array() : $GLOBALS['wp_object_cache']->cache['options']['alloptions'] ?? array();
	return apply_filters( 'alloptions', $all ? $all : array( 'blogname' => 'a', 'home' => 'b' ) );
}

/** WordPress's own cache. */
class WP_Object_Cache {
	public $cache      = array();
	public $cache_hits = 0;
}

function wp_prime_option_caches() {
	wp_load_alloptions();
}

function wp_autoload_values_to_autoload() {
	return array( 'yes' );
}

function add_option( $option ) {
	return apply_filters( "default_option_$option", false, $option ) !== get_option( $option );
}

function add_filter() {
	return true;
}

function add_action() {
	return true;
}

function add_test_filter( string $filter, callable $callback ): void {
	$GLOBALS['wp_filter'][ $filter ]            = new WP_Hook();
	$GLOBALS['wp_filter'][ $filter ]->callbacks = array( $callback );
}

/** Runs code with a callback of a filter. */
function with_filter( string $filter, callable $callback, callable $code ): void {
	add_test_filter( $filter, $callback );
	$code();
	unset( $GLOBALS['wp_filter'][ $filter ] );
}

/** The names of options that are loaded together, and not to read single ones, while code runs. */
function names_of_loaded( callable $code, array $cache ): array {
	$GLOBALS['wp_filters']             = array();
	$GLOBALS['wp_filter']              = array();
	$GLOBALS['wp_object_cache']        = new WP_Object_Cache();
	$GLOBALS['wp_object_cache']->cache = $cache;

	$begin = static function () {
		self::$parts         = array();
		Loads::$has_value    = false;
		self::$reads_groups  = false;
		self::listen();
	};
	$end   = static function () {
		self::options();
		return array_keys( self::$parts );
	};
	// What WordPress reads before it loads plugins.
	with_filter( 'pre_option_x', static fn() => 'other', static fn() => get_option( 'x' ) );
	get_option( 'home' );
	wp_load_alloptions();
	add_test_filter( 'pre_option_gmt_offset', static fn() => 'other' );
	Closure::bind( $begin, null, Record::class )();
	add_test_filter( 'pre_option_observed', static fn() => 'other' );
	Record::watch_values();
	$code();
	return Closure::bind( $end, null, Record::class )();
}

function test_options(): void {
	$run      = static fn( ...$all ) => static fn() => array_map( static fn( $code ) => $code(), $all );
	$name     = static fn() => get_option( 'blogname' );
	$missing  = static fn() => get_option( 'x' );
	$observed = static fn() => get_option( 'observed' );
	$add      = static fn() => add_option( 'observed' );
	$load     = static fn() => wp_load_alloptions();
	$prime    = static fn() => wp_prime_option_caches();
	$other    = static fn() => 'other';
	$same     = static fn( $value ) => $value;
	$filtered = static fn( $filter, $callback, $code ) => static fn() => with_filter( $filter, $callback, $code );
	foreach ( array(
		'nothing'                                           => array( $run(), array() ),
		'single options'                                    => array( $run( $name, $missing, $name ), array() ),
		'all'                                               => array( $load, array( 'options?yes' ) ),
		'all after a single one'                            => array( $run( $name, $load ), array( 'options?yes' ) ),
		'a function that looks for single ones'             => array( $prime, array() ),
		'a value of a filter'                               => array( $run( $observed, $name, $observed ), array() ),
		'a value of a filter of WordPress, and all'         => array( $run( static fn() => get_option( 'gmt_offset' ), $load ), array( 'options?yes' ) ),
		'a value of a filter, and all'                      => array( $run( $observed, $load ), array( 'options?yes' ) ),
		'a value of a filter, and a function'               => array( $run( $observed, $prime ), array() ),
		'a value of a filter, also where one is added'      => array( $run( $add, $load ), array( 'options?yes', 'options' ) ),
		'an option with a value of a filter is added'       => array( $add, array( 'options' ) ),
		// Filters that exist for a short time are not observed. By which caller all were loaded is not known then.
		'a value of a short filter'                         => array( $filtered( 'pre_option_blogname', $other, $name ), array() ),
		'a value of a short filter, and a single one'       => array( $run( $filtered( 'pre_option_blogname', $other, $name ), $missing ), array() ),
		'a value of a short filter, and all'                => array( $run( $filtered( 'pre_option_blogname', $other, $name ), $load ), array( 'options' ) ),
		'a value of a short filter of each, and all'        => array( $run( $filtered( 'pre_option', $other, $name ), $load ), array( 'options' ) ),
		'a value of a filter of each, and all'              => array( $filtered( 'pre_option', $other, $run( $name, $load ) ), array( 'options?yes' ) ),
		'a value of a filter of each'                       => array( $filtered( 'pre_option', $other, $run( $name, $missing ) ), array() ),
		'a filter of each'                                  => array( $filtered( 'pre_option', $same, $run( $name, $missing ) ), array() ),
		'all, in a filter of a single one'                  => array( $filtered( 'pre_option_x', static fn( $value ) => $load() ? $value : $value, $missing ), array( 'options?yes' ) ),
		'a filter is applied by others, and all'            => array( $run( static fn() => apply_filters( 'option_observed', 1 ), $observed, $load ), array( 'options?yes', 'options' ) ),
		'a filter is applied twice by others'               => array( static fn() => apply_filters( 'option_home', apply_filters( 'option_home', 1 ) ), array() ),
	) as $what => list( $code, $names ) ) {
		check( "options: $what", names_of_loaded( $code, array() ), $names );
		check( "options: $what, with a cache", names_of_loaded( $code, array( 'options' => array( 'alloptions' => array( 'blogname' => 'c', 'home' => 'd' ) ) ) ), $names );
	}
	test_loaded();
}

/** The options that are loaded are those that WordPress loads, and without it where nobody else would see that it does. */
function test_loaded(): void {
	$full  = array( 'options' => array( 'alloptions' => array( 'x' => 'y' ) ) );
	$other = static fn() => array( 'x' => 'other' );
	$class = new class() extends WP_Object_Cache {};
	foreach ( array(
		'nothing is cached'          => array( array(), array(), false ),
		'an empty list is cached'    => array( array( 'options' => array( 'alloptions' => array() ) ), array(), false ),
		'the load is forced'         => array( $full, array(), false, true ),
		'a filter for the load'      => array( $full, array( Loads::FILTER => $other ), true ),
		'a filter for the result'    => array( $full, array( 'alloptions' => $other ), false ),
		'a function for all filters' => array( $full, array( 'all' => $other ), false ),
		'a cache of another class'   => array( $full, array(), false, false, $class ),
		'all are cached'             => array( $full, array(), true ),
	) as $what => $case ) {
		list( $cache, $filters, $is_skipped ) = $case;

		$GLOBALS['wp_filters']             = array();
		$GLOBALS['wp_filter']              = array();
		$GLOBALS['wp_object_cache']        = $case[4] ?? new WP_Object_Cache();
		$GLOBALS['wp_object_cache']->cache = $cache;
		array_map( 'add_test_filter', array_keys( $filters ), $filters );
		$expected              = wp_load_alloptions( $case[3] ?? false );
		$GLOBALS['wp_filters'] = array();
		new Loads( static fn() => null );
		check( "loaded: $what", wp_load_alloptions( $case[3] ?? false ), $expected );
		check( "loaded: $what, skipped", ! isset( $GLOBALS['wp_filters']['alloptions'] ), $is_skipped );
	}
	// The last case, with another cache.
	$GLOBALS['wp_object_cache'] = new WP_Object_Cache();
	check( 'loaded: the cache is replaced', wp_load_alloptions(), array( 'blogname' => 'a', 'home' => 'b' ) );
}

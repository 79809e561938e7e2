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

	public function add( $callback ) {
		$this->callbacks[] = $callback;
	}

	public function remove_all() {
		$this->callbacks = array();
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
	$all = $force_cache ? array() : $GLOBALS['wp_object_cache']->get( 'alloptions', 'options' );
	if ( ! $all ) {
		$all = get_results( "SELECT option_name, option_value FROM wp_options WHERE autoload IN ( 'yes', 'on' )" );
	}
	return apply_filters( 'alloptions', $all );
}

/** WordPress's method that sends a statement. */
function get_results( string $sql ): array {
	Record::before( $sql );
	return array( 'blogname' => 'a', 'home' => 'b' );
}

/** WordPress's own cache. */
class WP_Object_Cache {
	public $cache_hits = 0;

	private $cache;

	public function __construct( array $options = array() ) {
		$this->cache = array( 'options' => array( 'alloptions' => $options ) );
	}

	public function __get( $name ) {
		return $this->$name;
	}

	public function get( $key, $group ) {
		++$this->cache_hits;
		return $this->cache[ $group ][ $key ];
	}
}

function wp_prime_option_caches() {
	wp_load_alloptions();
}

function wp_autoload_values_to_autoload() {
	return array( 'yes', 'more' );
}

/** A plugin's function that looks for single options in the list. */
function bbp_get_default_options() {
	get_option( 'x' );
	return array( 'a' => 1 );
}

function bbp_pre_load_options() {
	wp_load_alloptions();
}

/** A method with the name of one of WordPress's functions. */
final class Loader {
	public static function get_transient() {
		wp_load_alloptions();
	}
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
	$GLOBALS['wp_filter'][ $filter ] = $GLOBALS['wp_filter'][ $filter ] ?? new WP_Hook();
	$GLOBALS['wp_filter'][ $filter ]->add( $callback );
}

/** Runs code with a callback of a filter. */
function with_filter( string $filter, callable $callback, callable $code ): void {
	add_test_filter( $filter, $callback );
	$code();
	$GLOBALS['wp_filter'][ $filter ]->remove_all();
	if ( ! $GLOBALS['wp_filter'][ $filter ]->callbacks ) {
		unset( $GLOBALS['wp_filter'][ $filter ] );
	}
}

/** A callback of a filter that runs code the first time, and changes nothing. */
function once( callable $code ): callable {
	return static function ( $value ) use ( &$code ) {
		list( $run, $code ) = array( $code, null );
		if ( $run ) {
			$run();
		}
		return $value;
	};
}

/** The names of options that are loaded together, and not to read single ones, while code runs. */
function names_of_loaded( callable $code, array $cached ): array {
	$GLOBALS['wp_filters']      = array();
	$GLOBALS['wp_filter']       = array();
	$GLOBALS['wp_object_cache'] = new WP_Object_Cache( $cached );

	$begin = static function () {
		self::$parts      = array();
		self::$groups     = self::AUTOLOADED;
		self::$reads_all  = false;
		Loads::$has_value = false;
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
	$run      = static fn( ...$codes ) => static fn() => array_map( static fn( $code ) => $code(), $codes );
	$all      = array( 'options?yes', 'options?on', 'options?auto-on', 'options?auto', 'options?more' );
	$name     = static fn() => get_option( 'blogname' );
	$missing  = static fn() => get_option( 'x' );
	$observed = static fn() => get_option( 'observed' );
	$add      = static fn() => add_option( 'observed' );
	$load     = static fn() => wp_load_alloptions();
	$prime    = static fn() => wp_prime_option_caches();
	$other    = static fn() => 'other';
	$same     = static fn( $value ) => $value;
	$list     = static fn() => array( 'x' => 'y' );
	$filtered = static fn( $filter, $callback, $code ) => static fn() => with_filter( $filter, $callback, $code );
	foreach ( array(
		'nothing'                                           => array( $run(), array() ),
		'single options'                                    => array( $run( $name, $missing, $name ), array() ),
		'all'                                               => array( $load, $all ),
		'all after a single one'                            => array( $run( $name, $load ), $all ),
		'a function that looks for single ones'             => array( $prime, array() ),
		'a method with the name of such a function'         => array( array( Loader::class, 'get_transient' ), $all ),
		'a function of a plugin that looks for single ones' => array( 'bbp_pre_load_options', array( 'options/a' ) ),
		'such a function, and all'                          => array( $run( 'bbp_pre_load_options', $load ), array_merge( array( 'options/a' ), $all ) ),
		'a value of a filter'                               => array( $run( $observed, $name, $observed ), array() ),
		'a value of a filter of WordPress, and all'         => array( $run( static fn() => get_option( 'gmt_offset' ), $load ), $all ),
		'a value of a filter, and all'                      => array( $run( $observed, $load ), $all ),
		'a value of a filter, and a function'               => array( $run( $observed, $prime ), array() ),
		'a value of a filter, also where one is added'      => array( $run( $add, $load ), array_merge( $all, array( 'options' ) ) ),
		'an option with a value of a filter is added'       => array( $add, array( 'options' ) ),
		// Filters that exist for a short time are not observed. By which caller all were loaded is not known then.
		'a value of a short filter'                         => array( $filtered( 'pre_option_blogname', $other, $name ), array() ),
		'a value of a short filter, and a single one'       => array( $run( $filtered( 'pre_option_blogname', $other, $name ), $missing ), array() ),
		'a value of a short filter, and all'                => array( $run( $filtered( 'pre_option_blogname', $other, $name ), $load ), array( 'options' ) ),
		'a value of a short filter of each, and all'        => array( $run( $filtered( 'pre_option', $other, $name ), $load ), array( 'options' ) ),
		'a value of a filter of each, and all'              => array( $filtered( 'pre_option', $other, $run( $name, $load ) ), $all ),
		'a value of a filter of each'                       => array( $filtered( 'pre_option', $other, $run( $name, $missing ) ), array() ),
		'a filter of each'                                  => array( $filtered( 'pre_option', $same, $run( $name, $missing ) ), array() ),
		'a filter has the list'                             => array( $filtered( Loads::FILTER, $list, $run( $missing, $name ) ), array() ),
		'a filter has the list, and all'                    => array( $filtered( Loads::FILTER, $list, $run( $name, $load ) ), $all ),
		'a single one in a filter of the list, and all'     => array( $filtered( Loads::FILTER, once( $name ), $run( $missing, $load ) ), $all ),
		'all, in a filter of a single one'                  => array( $filtered( 'pre_option_x', static fn( $value ) => $load() ? $value : $value, $missing ), $all ),
		'a filter is applied by others, and all'            => array( $run( static fn() => apply_filters( 'option_observed', 1 ), $observed, $load ), array_merge( $all, array( 'options' ) ) ),
		'a filter is applied twice by others'               => array( static fn() => apply_filters( 'option_home', apply_filters( 'option_home', 1 ) ), array() ),
	) as $what => list( $code, $names ) ) {
		foreach ( array( array(), array( 'blogname' => 'c', 'home' => 'd' ) ) as $cached ) {
			check( "options: $what" . ( $cached ? ', cached' : '' ), names_of_loaded( $code, $cached ), $names );
		}
	}
	test_list();
}

/** The list is that which WordPress loads, and is returned without WordPress where nobody else would see a difference. */
function test_list(): void {
	$list    = array( 'x' => 'y' );
	$other   = static fn() => array( 'x' => 'other' );
	$drop_in = WP_CONTENT_DIR . '/object-cache.php';
	foreach ( array(
		'all are cached'             => array( $list, array(), true ),
		'nothing is cached'          => array( array(), array(), false ),
		'the load is forced'         => array( $list, array(), false, true ),
		'a filter before the load'   => array( $list, array( Loads::FILTER => $other ), true ),
		'a filter for the list'      => array( $list, array( 'alloptions' => $other ), false ),
		'a function for all filters' => array( $list, array( 'all' => $other ), false ),
		'a cache of another class'   => array( $list, array(), false, false, new class( $list ) extends WP_Object_Cache {} ),
		'a drop-in'                  => array( $list, array(), false, false, null, true ),
		'the cache is replaced'      => array( $list, array(), false, false, null, false, new WP_Object_Cache( array( 'new' => 1 ) ) ),
	) as $what => $case ) {
		list( $cached, $filters, $is_skipped, $is_forced, $class, $has_drop_in, $replacement ) = $case + array( 3 => false, null, false, null );

		$GLOBALS['wp_object_cache'] = $class ?? new WP_Object_Cache( $cached );
		$GLOBALS['wp_filter']       = array();
		array_map( 'add_test_filter', array_keys( $filters ), $filters );
		if ( $has_drop_in ) {
			touch( $drop_in );
		}
		$observer = new Loads( static fn() => null );
		if ( $has_drop_in ) {
			unlink( $drop_in );
		}
		$GLOBALS['wp_object_cache'] = $replacement ?? $GLOBALS['wp_object_cache'];

		$results = array();
		foreach ( array( true, false ) as $is_observed ) {
			if ( ! $is_observed ) {
				unset( $GLOBALS['wp_filter'][ Loads::FILTER ] );
				array_map( 'add_test_filter', array_keys( $filters ), $filters );
			}
			$GLOBALS['wp_filters']                  = array();
			$GLOBALS['wp_object_cache']->cache_hits = 0;
			$results[]                              = array( wp_load_alloptions( $is_forced ), $GLOBALS['wp_object_cache']->cache_hits );
			$is_observed && check( "list: $what, skipped", ! isset( $GLOBALS['wp_filters']['alloptions'] ), $is_skipped );
		}
		check( "list: $what", $results[0], $results[1] );
	}
	foreach ( array(
		'no cache'     => array( null, array( null, false ) ),
		'one argument' => array( new WP_Object_Cache( $list ), array( null ) ),
	) as $what => list( $cache, $arguments ) ) {
		$GLOBALS['wp_object_cache'] = $cache;
		$GLOBALS['wp_filter']       = array();
		new Loads( static fn() => null );
		check( "list: $what", apply_filters( Loads::FILTER, ...$arguments ), null );
	}
	test_list_statements();
}

/** The statement that loads the list names its groups; those of callbacks before the load are statements like others. */
function test_list_statements(): void {
	$GLOBALS['wp_object_cache'] = new WP_Object_Cache();
	$GLOBALS['wp_filter']       = array();

	$sql   = "SELECT option_name, option_value FROM wp_options WHERE option_name LIKE 'a%'";
	$begin = static function () {
		self::$edge   = array();
		self::$groups = array();
	};
	$found = static function () {
		return array( self::$groups, array_keys( self::$edge ) );
	};
	Closure::bind( $begin, null, Record::class )();
	with_filter( Loads::FILTER, once( static fn() => get_results( $sql ) ), 'wp_load_alloptions' );
	check( 'list: statements', Closure::bind( $found, null, Record::class )(), array( array( 'yes', 'on' ), array( $sql ) ) );
}

<?php
/**
 * What a test registers in its own process, for the server that gets its requests: post types, taxonomies, meta, settings,
 * sidebars and features of the theme. Registrations with functions of PHP are left out, so that tests of these functions fail on every server.
 */
final class Svc_Phpunit_Registrations {
	/** Registrations of WordPress itself, which every server has. */
	private array $own_meta;
	private array $own_settings;
	private array $own_features;

	/** Is created before the first test. */
	public function __construct() {
		register_initial_settings();
		register_block_core_site_logo_setting();
		register_block_core_site_icon_setting();
		$this->own_meta     = $this->meta( array() );
		$this->own_settings = get_registered_settings();
		$this->own_features = get_registered_theme_features();
	}

	/** The present registrations, as data for `register()` and `toml()`. */
	public function collect(): array {
		global $wp_registered_sidebars, $_wp_theme_features;
		return array(
			'types'      => $this->types(),
			'taxonomies' => $this->taxonomies(),
			'meta'       => $this->meta( $this->own_meta ),
			'settings'   => $this->settings(),
			'sidebars'   => array_values( array_filter( $wp_registered_sidebars, fn( $sidebar ) => 'wp_inactive_widgets' !== $sidebar['id'] ) ),
			'features'   => array_filter( $_wp_theme_features, fn( $feature ) => json_decode( json_encode( $feature ), true ) === $feature ),
			'supports'   => $this->supports(),
		);
	}

	private function types(): array {
		$types = array();
		foreach ( get_post_types( array( '_builtin' => false ), 'objects' ) as $name => $type ) {
			$default = (object) array( 'capability_type' => $type->capability_type, 'map_meta_cap' => $type->map_meta_cap, 'capabilities' => array() );
			if ( 'post' !== $type->capability_type || get_post_type_capabilities( $default ) != $type->cap || $type->rest_controller_class || ! in_array( $type->rest_namespace, array( false, 'wp/v2' ), true ) ) {
				continue;
			}
			$supports       = array_values( array_diff( array_keys( get_all_post_type_supports( $name ) ), array( 'autosave' ) ) );
			$types[ $name ] = array( 'label' => $type->label, 'public' => $type->public, 'hierarchical' => $type->hierarchical, 'show_in_rest' => $type->show_in_rest, 'rest_base' => $type->rest_base ?: $name, 'supports' => $supports ?: false, 'taxonomies' => $type->taxonomies, 'map_meta_cap' => $type->map_meta_cap );
		}
		return $types;
	}

	private function taxonomies(): array {
		$taxonomies = array();
		foreach ( get_taxonomies( array( '_builtin' => false ), 'objects' ) as $name => $taxonomy ) {
			if ( 'manage_categories' === $taxonomy->cap->edit_terms && 'edit_posts' === $taxonomy->cap->assign_terms && ! $taxonomy->rest_controller_class && ! $taxonomy->default_term ) {
				$taxonomies[ $name ] = array( 'object_type' => $taxonomy->object_type, 'label' => $taxonomy->label, 'public' => $taxonomy->public, 'hierarchical' => $taxonomy->hierarchical, 'show_in_rest' => $taxonomy->show_in_rest, 'rest_base' => $taxonomy->rest_base ?: $name );
			}
		}
		return $taxonomies;
	}

	private function meta( array $without ): array {
		global $wp_meta_keys;
		$all = array();
		foreach ( $wp_meta_keys ?? array() as $object => $subtypes ) {
			foreach ( $subtypes as $subtype => $keys ) {
				foreach ( $keys as $key => $meta ) {
					$row         = array( 'object' => $object, 'key' => (string) $key, 'args' => array( 'object_subtype' => $subtype ) + array_diff_key( $meta, array( 'sanitize_callback' => 0 ) ) );
					$is_portable = empty( $meta['sanitize_callback'] ) && in_array( $meta['auth_callback'], array( '__return_true', '__return_false' ), true );
					if ( $is_portable && $this->is_portable( $meta ) && ! in_array( $row, $without, true ) ) {
						$all[] = $row;
					}
				}
			}
		}
		return $all;
	}

	private function settings(): array {
		$settings = array();
		foreach ( array_diff_key( get_registered_settings(), $this->own_settings ) as $name => $setting ) {
			if ( empty( $setting['sanitize_callback'] ) && $this->is_portable( $setting ) ) {
				$settings[ $name ] = array_diff_key( $setting, array( 'sanitize_callback' => 0 ) );
			}
		}
		return $settings;
	}

	/** The features of the theme, as the REST API shows them. */
	private function supports(): array {
		$controller = new WP_REST_Themes_Controller();
		$prepare    = new ReflectionMethod( $controller, 'prepare_theme_support' );
		$supports   = array( 'html5' => false );
		foreach ( $this->own_features as $feature => $args ) {
			$shown = $args['show_in_rest'];
			if ( is_array( $shown ) && current_theme_supports( $feature ) ) {
				$values                     = array( get_theme_support( $feature ), $args, $feature, new WP_REST_Request() );
				$supports[ $shown['name'] ] = isset( $shown['prepare_callback'] ) ? $shown['prepare_callback']( ...$values ) : $prepare->invoke( $controller, ...$values );
			}
		}
		return $supports;
	}

	/** Whether meta or a setting is in the REST API, with a known type and no function for it. */
	private function is_portable( array $args ): bool {
		$shown = $args['show_in_rest'] ?? false;
		return $shown && empty( $shown['prepare_callback'] ) && empty( $shown['schema']['arg_options'] )
			&& in_array( $args['type'], array( 'string', 'integer', 'number', 'boolean', 'array', 'object' ), true );
	}

	/** Registers the data in a WordPress that serves requests. */
	public static function register( array $data ): void {
		global $wp_registered_sidebars, $_wp_theme_features;
		foreach ( $data['types'] as $name => $args ) {
			register_post_type( $name, $args );
		}
		foreach ( $data['taxonomies'] as $name => $args ) {
			register_taxonomy( $name, $args['object_type'], array_diff_key( $args, array( 'object_type' => 0 ) ) );
		}
		foreach ( $data['meta'] as $meta ) {
			register_meta( $meta['object'], $meta['key'], $meta['args'] );
		}
		foreach ( $data['settings'] as $name => $args ) {
			register_setting( $args['group'], $name, $args );
		}
		$wp_registered_sidebars = array();
		array_map( 'register_sidebar', $data['sidebars'] );
		$_wp_theme_features = $data['features'];
	}

	/** The data as the server's settings. */
	public static function toml( array $data ): string {
		$tables = array();
		foreach ( $data['types'] as $name => $type ) {
			$tables[] = array( 'types', array( 'name' => $name, 'in_interface' => $type['show_in_rest'], 'supports' => $type['supports'] ?: array() ) + array_diff_key( $type, array( 'show_in_rest' => 0 ) ) );
		}
		foreach ( $data['taxonomies'] as $name => $taxonomy ) {
			$tables[] = array( 'taxonomies', array( 'name' => $name, 'types' => $taxonomy['object_type'], 'in_interface' => $taxonomy['show_in_rest'] ) + array_diff_key( $taxonomy, array( 'object_type' => 0, 'show_in_rest' => 0 ) ) );
		}
		foreach ( $data['meta'] as $meta ) {
			$args     = $meta['args'];
			$guard    = '__return_false' === $args['auth_callback'] ? array( 'capability' => 'do_not_allow' ) : array();
			$tables[] = array( 'meta', array( 'object' => $meta['object'], 'of' => $args['object_subtype'], 'key' => $meta['key'], 'list' => ! $args['single'], 'revisions' => (bool) ( $args['revisions_enabled'] ?? false ) ) + $guard + self::field( $args ) );
		}
		foreach ( $data['settings'] as $name => $args ) {
			$tables[] = array( 'settings', array( 'option' => $name ) + self::field( $args ) );
		}
		foreach ( $data['sidebars'] as $sidebar ) {
			$known    = array( 'id', 'name', 'description', 'class', 'before_widget', 'after_widget', 'before_title', 'after_title', 'show_in_rest' );
			$tables[] = array( 'sidebars', array_intersect_key( $sidebar, array_flip( $known ) ) + array( 'name' => $sidebar['id'] ) );
		}
		$lines = function ( $name, $pairs ) {
			$pairs = array_filter( $pairs, fn( $value ) => null !== $value );
			return "$name\n" . implode( array_map( fn( $key, $value ) => "$key = " . self::value( $value ) . "\n", array_keys( $pairs ), $pairs ) );
		};
		return implode( array_map( fn( $table ) => $lines( "[[{$table[0]}]]", $table[1] ), $tables ) ) . $lines( '[theme_supports]', $data['supports'] );
	}

	/** What meta and settings have in common. */
	private static function field( array $args ): array {
		$shown = is_array( $args['show_in_rest'] ) ? $args['show_in_rest'] : array();
		return array( 'type' => $args['type'], 'description' => $args['description'] ?? '', 'default' => $args['default'] ?? null, 'name' => $shown['name'] ?? null, 'schema' => $shown['schema'] ?? null );
	}

	private static function value( $value ): string {
		if ( is_scalar( $value ) ) {
			return json_encode( $value, JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION );
		}
		if ( is_array( $value ) && array_is_list( $value ) ) {
			return '[' . implode( ', ', array_map( array( self::class, 'value' ), $value ) ) . ']';
		}
		$value = (array) $value;
		return '{ ' . implode( ', ', array_map( fn( $key, $item ) => json_encode( (string) $key ) . ' = ' . self::value( $item ), array_keys( $value ), $value ) ) . ' }';
	}
}

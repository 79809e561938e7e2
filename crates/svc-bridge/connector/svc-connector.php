<?php
/**
 * Plugin Name: svc connector
 * Description: Reports to svc-server which parts of the database this site writes, and which parts a response depends on. Installed by `svc-server connector install`.
 * Version: 11
 * Requires PHP: 7.4
 * License: MIT OR Apache-2.0
 */

namespace Svc\Connector;

defined( 'ABSPATH' ) || exit;

/** Name of the file with the secret, in the folder of wp-config.php. */
const SECRET_FILE = 'svc-connector-secret.php';

/** Maximum age of a signed request, and maximum difference of the clocks, in seconds. */
const MAX_AGE = 60;

/** Maximum size of the body of a signed request, in bytes. */
const MAX_BODY = 65536;

/** Maximum size of a record, in bytes. svc-server has the same. */
const MAX_RECORD = 1048576;

/** Size from which on output is sent without a record, in bytes: svc does not store it. */
const MAX_OUTPUT = 8388608;

/** Size of the parts in which output is collected, in bytes: PHP takes the memory for one at once. */
const OUTPUT_PART = 16384;

/** Table of the reports, without the prefix. svc-server creates it. */
const CHANGES = 'svc_changes';

/** Maximum length of a name, in bytes. */
const MAX_NAME = 160;

/** Maximum number of rows and groups of a table that are named for one statement. */
const MAX_ROWS = 500;

/** Maximum length of a statement that is examined, without long texts, in bytes. */
const MAX_SQL = 65536;

/** Length from which on texts of a statement are not compared, in bytes. */
const MAX_TEXT = 256;

/** Options with planned jobs, which are in a group of their own, `options?jobs`. svc-server has the same list. */
const JOBS = array( 'cron', '_transient_doing_cron', '_transient_timeout_doing_cron' );

/** Columns that name the rows and the groups of WordPress's tables. svc-server has the same table. */
const IDENTITIES = array(
	'posts'              => array( 'id', 'post_type' ),
	'postmeta'           => array( 'post_id', '' ),
	'comments'           => array( 'comment_id', 'comment_post_id' ),
	'commentmeta'        => array( 'comment_id', '' ),
	'terms'              => array( 'term_id', '' ),
	'termmeta'           => array( 'term_id', '' ),
	'term_taxonomy'      => array( 'term_taxonomy_id', 'taxonomy' ),
	'term_relationships' => array( 'object_id', 'term_taxonomy_id' ),
	'users'              => array( 'id', '' ),
	'usermeta'           => array( 'user_id', '' ),
	'options'            => array( 'option_name', 'autoload' ),
);

/** Tables whose identity column numbers the rows by itself. */
const NUMBERED = array( 'posts', 'comments', 'terms', 'term_taxonomy', 'users' );

/** Identity columns with texts; the others are numbers. */
const TEXTS = array( 'option_name', 'autoload', 'post_type', 'post_name', 'taxonomy' );

/** Longest texts of columns, in bytes: the database cuts longer ones. */
const LENGTHS = array(
	'post_type' => 20,
	'autoload'  => 20,
	'taxonomy'  => 32,
);

/** Words in front of a parenthesis with which a condition finds the same rows again. */
const STABLE = 'IN|AND|OR|XOR|NOT|LIKE|REGEXP|RLIKE|BETWEEN|WHEN|THEN|ELSE|CASE|IF|IFNULL|NULLIF|COALESCE|CONCAT|CONCAT_WS|LOWER|UPPER|LENGTH|CHAR_LENGTH|SUBSTR|SUBSTRING|LEFT|RIGHT|TRIM|REPLACE|INSTR|LOCATE|FIND_IN_SET|FIELD|MD5|GREATEST|LEAST|ROUND|FLOOR|CEIL|ABS|MOD|CAST|CONVERT|DECIMAL|CHAR|BINARY|SIGNED|UNSIGNED|DATE|YEAR|MONTH|DAY|DATE_ADD|DATE_SUB|DATEDIFF|DATE_FORMAT|JSON_EXTRACT|JSON_UNQUOTE';

/** Words without a parenthesis with which it may find others. */
const UNSTABLE = 'SELECT|TABLE|NEXT|PREVIOUS|CURRENT_\w+|LOCALTIME\w*|UTC_\w+|SYSDATE|ROWNUM';

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

/** The secret with which this text has this signature (hexadecimal HMAC-SHA256); an empty string if there is none. */
function signed_with( string $text, string $signature ): string {
	foreach ( array( false, true ) as $again ) {
		$secret = secret( $again );
		if ( '' !== $secret && hash_equals( hash_hmac( 'sha256', $text, $secret ), $signature ) ) {
			return $secret;
		}
	}
	return '';
}

/** Logs a failure, once per request. */
function complain( string $problem ): void {
	static $is_logged = false;
	if ( ! $is_logged ) {
		$is_logged = true;
		error_log( "svc connector: $problem" ); // phpcs:ignore WordPress.PHP.DevelopmentFunctions
	}
}

/** The site's tables. */
final class Site {
	/** Prefix of the tables, in lower case. */
	public static $prefix = 'wp_';

	/** Name of the database. */
	public static $database = '';

	/** Name of a table without the prefix, in lower case. The name of its database may be in front. */
	public static function short( string $table ): string {
		$table  = strtolower( substr( strrchr( ".$table", '.' ), 1 ) );
		$table  = ltrim( $table, '`' );
		$length = strlen( self::$prefix );
		return 0 === strncmp( $table, self::$prefix, $length ) && strlen( $table ) > $length ? substr( $table, $length ) : $table;
	}
}

/**
 * What a statement writes.
 *
 * A name is `*` (everything), `posts` (a table, without the prefix), `posts/5` (the rows with this identity), or `posts?page` (those of a group).
 * Revisions have a further group by the post that they belong to, `posts?revision/5`, since each post shows whether it has some. Rows are named for
 * statements in the forms of WordPress's own; of others, the tables are, and where these are not known, everything.
 */
final class Write {
	/** Texts, quoted names, and comments. */
	const QUOTED = '~\'(?:[^\'\\\\]++|\\\\.|\'\')*+(?:\'|(*COMMIT)(*F))|"(?:[^"\\\\]++|\\\\.|"")*+(?:"|(*COMMIT)(*F))|`[^`]*+(?:`|(*COMMIT)(*F))|\#[^\n]*+|--(?=[\x00-\x20\x7f]|\z)[^\n]*+|/\*(?!M?!)(?:[^*]++|\*(?!/))*+(?:\*/|(*COMMIT)(*F))~s';

	/** The verb of a statement, after comments. */
	const VERB = '~^(?:[\s(;]++|/\*(?!M?!)(?:[^*]++|\*(?!/))*+\*/|\#[^\n]*+|--(?=[\x00-\x20\x7f])[^\n]*+)*+([a-zA-Z]++)~';

	/** Statements that write no data. */
	const HARMLESS = '/^(SELECT|SHOW|SET|DESC|DESCRIBE|EXPLAIN|USE|BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|LOCK|UNLOCK|KILL|FLUSH|CHECK|CHECKSUM|OPTIMIZE|HELP|DO|VALUES|HANDLER|GRANT|REVOKE)$/';

	// Parts of patterns for a statement as `plain` makes it: what is in front of a word and behind it that is no name, names, and single values.
	const B       = '(?<![`.$\w])';
	const E       = '(?![$\w])';
	const NAME    = '(?:`?[$\w]+\.)?`?[$\w]+';
	const VALUE   = '(?:\'\d+\'|\w[\w.]*)';
	const OPTIONS = '(?:(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE|INTO) )*';

	/** Names of what changes. @var string[] */
	public $names = array( '*' );

	/** Table whose new row is named after the statement. */
	public $inserts = '';

	/** Table of which at most this number of rows may change; more than expected means that others have changed. */
	public $table = '';

	/** See above. */
	public $expected = PHP_INT_MAX;

	/** The new value of a single option, as a part of the statement; null if anything else may change. @var string|null */
	public $value = null;

	/** Texts of the statement. @var string[] */
	private $texts = array();

	/** Finds rows in the database: SQL to lists of values; null if that is not possible. @var callable */
	private $find;

	/** Examines a statement. Returns null if it only reads. */
	public static function of( string $sql, callable $find ): ?self {
		$verb = self::verb( $sql );
		$write = new self();
		if ( preg_match( self::HARMLESS, $verb ) ) {
			// These may have another statement: SET STATEMENT … FOR …, BEGIN NOT ATOMIC ….
			return ( 'SET' === $verb || 'BEGIN' === $verb ) && preg_match( '~\b(?:STATEMENT|NOT)\b~i', $sql ) ? $write : null;
		}
		$write->find = $find;
		$plain       = $write->plain( $sql );
		if ( null === $plain ) {
			// Only the beginning: the table is enough where nothing else can be written.
			if ( preg_match( '~^\s*(?:INSERT|REPLACE)\s+' . str_replace( ' ', '\s+', self::OPTIONS ) . '(?:`?[$\w]+`?\s*\.\s*)?`?([$\w]+)`?\s*(?:\(|\s(?:VALUES?|SELECT|SET|TABLE|PARTITION)\b)~i', substr( $sql, 0, 1024 ), $match ) ) {
				$write->names = array( Site::short( $match[1] ) );
			}
		} elseif ( 'WITH' === $verb && ! preg_match( '~' . self::B . '(?:UPDATE|DELETE|INSERT|REPLACE)' . self::E . '~i', $plain ) ) {
			return null;
		} elseif ( 'INSERT' === $verb || 'REPLACE' === $verb ) {
			$write->insert( $plain );
		} elseif ( 'UPDATE' === $verb || 'DELETE' === $verb ) {
			$write->change( $plain );
		} else {
			$write->define( $plain );
		}
		$write->names = self::completed( array_values( array_unique( array_diff( $write->names, array( CHANGES, CHANGES . '/0' ) ) ) ) );
		return $write;
	}

	/** The first word of a statement, in capitals. */
	public static function verb( string $sql ): string {
		return preg_match( self::VERB, $sql, $match ) ? strtoupper( $match[1] ) : '';
	}

	/** A statement with empty texts in place of long ones. */
	public static function without_long_texts( string $sql ): string {
		$shorten = static fn( $text ) => strlen( $text[0] ) > 40 && ( '\'' === $text[0][0] || '"' === $text[0][0] ) ? "''" : $text[0];
		return preg_replace_callback( self::QUOTED, $shorten, $sql ) ?? $sql;
	}

	/**
	 * The statement without comments and superfluous spaces, with `'0'` for its first text and so on, and quoted names as `` `name ``. Null if it is too
	 * long, or has other parts that may contain anything.
	 */
	private function plain( string $sql ): ?string {
		$n_names = 0;
		$plain   = preg_replace_callback(
			self::QUOTED,
			function ( $match ) use ( &$n_names ) {
				$part = $match[0];
				if ( '\'' === $part[0] || '"' === $part[0] ) {
					$this->texts[] = $part;
					return '\'' . ( count( $this->texts ) - 1 ) . '\'';
				}
				if ( '`' === $part[0] ) {
					++$n_names;
					return preg_match( '/^`[$\w]+`$/', $part ) ? ' ' . substr( $part, 0, -1 ) . ' ' : '"';
				}
				return ' ';
			},
			$sql
		);
		// A quote that is left is the beginning of a text that does not end.
		if ( null === $plain || strlen( $plain ) > MAX_SQL || preg_match( '~["{\\\\]|/\*|[^\x00-\x7f]~', $plain ) || substr_count( $plain, '\'' ) !== 2 * count( $this->texts ) || substr_count( $plain, '`' ) !== $n_names ) {
			return null;
		}
		// A word directly after a number with a point or an exponent would be taken for a part of it.
		if ( 0 !== preg_match( '~(?<![$\w`.])\d++\.(?!\d|e[+-]?\d)\s*+[a-z_]|\.\d++(?!e[+-]?\d)[a-z_]|(?<![$\w`])(?:\d++(?:\.\d*+)?|\.\d++)e[+-]?\d++[a-z_]~i', $plain ) ) {
			return null;
		}
		$plain = trim( (string) preg_replace( array( '~\s+~', '~ ?([(),=.;]) ?~' ), array( ' ', '$1' ), $plain ), '; ' );
		return '' !== $plain && false === strpos( $plain, ';' ) ? $plain : null;
	}

	/** A part of the plain statement as SQL; null if a text in it is too long, or the database would find other rows than the statement does. */
	private function sql( string $plain ): ?string {
		$is_known = 0 === preg_match( '~@|' . self::B . '(?:' . UNSTABLE . ')' . self::E . '|(?<![$\w])(?!(?:' . STABLE . ')\()[$\w]+\(~i', $plain );
		$sql      = preg_replace( '~`([$\w]+)~', '`$1`', $plain );
		$sql      = preg_replace_callback(
			'~\'(\d+)\'~',
			function ( $match ) use ( &$is_known ) {
				$text     = $this->texts[ (int) $match[1] ];
				$is_known = $is_known && strlen( $text ) < MAX_TEXT;
				return $text;
			},
			$sql
		);
		return $is_known ? $sql : null;
	}

	/** Tables: names at the beginning of a part, after commas, and after these words. There may be others among them, which does no harm. */
	private static function tables( string $plain, string $words ): array {
		$n = preg_match_all( '~(?:^|,|' . self::B . "(?:$words)" . self::E . ')(?=[ (=]*(?!\d+\b)(' . self::NAME . ')(?![$\w(]))~i', $plain, $found );
		return $n && $n <= MAX_ROWS ? array_map( array( Site::class, 'short' ), $found[1] ) : array( '*' );
	}

	/** Statements that define tables: all of those. */
	private function define( string $plain ): void {
		if ( preg_match( '~^TRUNCATE (?!TABLE )(' . self::NAME . ')$~i', $plain, $part ) ) {
			$this->names = array( Site::short( $part[1] ) );
		} elseif ( preg_match( '~^(CREATE|ALTER|DROP|RENAME|TRUNCATE|REPAIR)(?: OR REPLACE)?(?: (?:TEMPORARY|IGNORE|ONLINE))* TABLES? (?:IF (?:NOT )?EXISTS )?(.*)$~is', $plain, $part ) ) {
			// Only the first name of one that is created: it may be a copy of another one.
			$this->names = self::tables( 'CREATE' === strtoupper( $part[1] ) ? preg_replace( '~[ (].*~s', '', $part[2] ) : $part[2], 'TABLE|TO|AS|RENAME(?! (?:TO|AS) )' );
		}
	}

	/** INSERT and REPLACE. */
	private function insert( string $plain ): void {
		if ( ! preg_match( '~^(INSERT|REPLACE) ' . self::OPTIONS . '(' . self::NAME . ')(?:\(([^()]*+)\)VALUES?((?:,?\([^()]*+\))++)(?: ?RETURNING .*|(ON DUPLICATE KEY UPDATE .*))?$)?~is', $plain, $part ) ) {
			return;
		}
		$table       = Site::short( $part[2] );
		$this->names = array( $table );
		if ( ! isset( IDENTITIES[ $table ], $part[4] ) || ! preg_match_all( '~\(([^()]*+)\)~', $part[4], $rows ) || count( $rows[1] ) > MAX_ROWS ) {
			return;
		}
		$columns = array_map( 'strtolower', preg_replace( '~^.*[.`]~', '', explode( ',', $part[3] ) ) );
		// Rows that exist may be changed or replaced.
		$is_change = 'REPLACE' === strtoupper( $part[1] ) || isset( $part[5] );
		if ( $is_change && ( ! in_array( $table, array( 'options', 'term_relationships' ), true ) || in_array( 'option_id', $columns, true ) || ! $this->keeps_identity( $table, $part[5] ?? '' ) ) ) {
			return;
		}
		list( $row, $group ) = IDENTITIES[ $table ];
		$is_numbered         = in_array( $table, NUMBERED, true );
		$names               = array();
		foreach ( $rows[1] as $values ) {
			$values = explode( ',', $values );
			if ( count( $values ) !== count( $columns ) ) {
				return;
			}
			$values = array_combine( $columns, $values );
			$id     = $this->value( $row, $values[ $row ] ?? 'NULL' );
			if ( $is_numbered && ( '0' === $id || in_array( strtoupper( $values[ $row ] ?? 'NULL' ), array( 'NULL', 'DEFAULT' ), true ) ) ) {
				if ( count( $rows[1] ) > 1 ) {
					return;
				}
				$this->inserts = $table;
				if ( '' === $group ) {
					// Until its number is known: a row that only those depend on who depend on all rows.
					$names[] = "$table/0";
				}
			} elseif ( 'terms' === $table || 'term_taxonomy' === $table ) {
				// Rows that exist may already refer to a number that is chosen.
				return;
			} elseif ( 'usermeta' === $table ) {
				$names = array_merge( $names, self::with_sessions( self::named( $table, '/', array( $id ) ), $this->are_sessions( array( $values['meta_key'] ?? 'NULL' ) ) ) );
			} else {
				$names = array_merge( $names, self::named( $table, '/', array( $id ) ) );
			}
			if ( '' !== $group ) {
				// Columns without a value have the default of WordPress's tables.
				$default = array( 'post_type' => 'post', 'taxonomy' => '', 'autoload' => 'yes' )[ $group ] ?? '0';
				$value   = isset( $values[ $group ] ) ? $this->value( $group, $values[ $group ] ) : $default;
				$parent  = 'revision' === $value ? array( $this->value( 'post_parent', $values['post_parent'] ?? '0' ) ) : array();
				$names   = array_merge( $names, self::named( $table, '?revision/', $parent ), self::named( $table, '?', array( $value ) ) );
			}
			if ( 'posts' === $table ) {
				$names = array_merge( $names, self::named( 'slugs', '/', array( isset( $values['post_name'] ) ? $this->value( 'post_name', $values['post_name'] ) : '' ) ) );
			}
		}
		if ( 'options' === $table && $is_change ) {
			$names = array_merge( $names, self::autoload_of( $names, $this->find ) );
		}
		$this->names = in_array( $table, $names, true ) ? array( $table ) : $names;
	}

	/** Whether what follows the values of INSERT leaves the columns with the identity as they are inserted. */
	private function keeps_identity( string $table, string $update ): bool {
		foreach ( array_filter( array_merge( IDENTITIES[ $table ], array( 'option_id' ) ) ) as $column ) {
			$update = preg_replace( "~(?<=,|UPDATE )`?$column=VALUES\(`?$column\)(?=,|$)~i", '', $update );
			if ( null === $update || 0 !== preg_match( "~(?<![$\w])$column(?![$\w])~i", $update ) ) {
				return false;
			}
		}
		return true;
	}

	/** The groups that options with these names are in before they are written. */
	private static function autoload_of( array $names, callable $find ): array {
		$options = array();
		foreach ( $names as $name ) {
			if ( 0 === strpos( $name, 'options/' ) ) {
				$options[] = addslashes( substr( $name, 8 ) );
			}
		}
		$table = Site::$prefix . 'options';
		$found = $options ? $find( "SELECT DISTINCT autoload FROM `$table` WHERE option_name IN ('" . implode( "','", $options ) . "')", true ) : array();
		return null === $found ? array( 'options' ) : self::named( 'options', '?', array_column( $found, 0 ) );
	}

	/** UPDATE and DELETE. */
	private function change( string $plain ): void {
		list( $b, $e ) = array( self::B, self::E );
		$target        = '(' . self::NAME . ')(?: (?:AS )?(`?[$\w]+))?';
		if ( preg_match( '~^UPDATE ' . self::OPTIONS . "$target SET (.*?)(?:{$b}WHERE{$e}(.*))?$~is", $plain, $part ) ) {
			list( , $written, $alias, $set ) = $part;
		} elseif ( preg_match( '~^DELETE ' . self::OPTIONS . "FROM $target(?: WHERE{$e}(.*)|(?: (?:ORDER|LIMIT|RETURNING) .*)?)$~is", $plain, $part ) ) {
			array_splice( $part, 3, 0, '' );
			list( , $written, $alias, $set ) = $part + array( '', '', '', '' );
		} else {
			// Several tables, of which a DELETE may name those to write by their aliases.
			$this->names = self::tables( (string) preg_replace( '~^(?:UPDATE|DELETE) ' . self::OPTIONS . '(?:FROM )?~i', '', $plain ), 'FROM|JOIN|STRAIGHT_JOIN|USING' );
			return;
		}
		$this->names = array( Site::short( $written ) );
		if ( isset( IDENTITIES[ $this->names[0] ] ) && isset( $part[4] ) ) {
			$condition   = preg_split( "~$b(?:ORDER BY|LIMIT|RETURNING)$e~i", $part[4], 2 );
			$this->names = $condition ? $this->rows( $this->names[0], $written, $alias, trim( $condition[0] ), $set ) ?? $this->names : $this->names;
		}
	}

	/** The names of the rows of a table for which a condition is true, which get other values if some are set. Null if they are not known. */
	private function rows( string $table, string $written, string $alias, string $condition, string $set ): ?array {
		list( $row, $group ) = IDENTITIES[ $table ];

		$tokens = $this->only( $condition, $row );
		$ids    = null === $tokens ? array( null ) : $this->values( $row, $tokens );
		$ids    = in_array( null, $ids, true ) ? null : $ids;
		$groups = array();
		if ( '' !== $group && 'posts' !== $table ) {
			$tokens = $this->only( $condition, $group );
			$groups = null === $tokens ? null : $this->values( $group, $tokens );
			$groups = null === $groups || in_array( null, $groups, true ) ? null : $groups;
		}
		$parents = array();
		$slugs   = array();
		if ( null === $ids || null === $groups || 'posts' === $table ) {
			$columns = $row . ( '' === $group ? '' : ", $group" ) . ( 'posts' === $table ? ', post_parent, post_name' : '' );
			$select  = "SELECT $columns, COUNT(*) FROM " . $this->sql( $written ) . ( '' === $alias ? '' : ' AS ' . $this->sql( $alias ) ) . ' WHERE ';
			// By identity if it is known, since the condition may have functions or long texts.
			$where = null === $ids ? $this->sql( $condition ) : "$row IN ('" . implode( "','", array_map( 'addslashes', $ids ) ) . "')";
			$found = null === $where ? null : ( $this->find )( "$select$where GROUP BY $columns LIMIT " . ( MAX_ROWS + 1 ), null !== $ids );
			if ( null === $found || count( $found ) > MAX_ROWS ) {
				return null;
			}
			$ids            = $ids ?? array_unique( array_column( $found, 0 ) );
			$groups         = '' === $group ? array() : ( $groups ?: array_unique( array_column( $found, 1 ) ) );
			$this->table    = $table;
			$this->expected = 0;
			foreach ( $found as $values ) {
				$this->expected += (int) end( $values );
				if ( 'posts' === $table && self::is_revision( $values[1] ) ) {
					$parents[] = $values[2];
				}
			}
			$slugs = 'posts' === $table ? array_column( $found, 3 ) : array();
		}
		$new    = '' === $group ? array() : $this->assigned( $set, $group );
		$parent = 'posts' === $table ? $this->assigned( $set, 'post_parent' ) : array();
		if ( 'term_taxonomy' === $table && $new && array_values( $groups ) !== $new ) {
			return null;
		}
		$ids    = array_merge( $ids, $this->assigned( $set, $row ) );
		$groups = array_merge( $groups, $new );
		if ( 'posts' === $table ) {
			$parents = array_filter( $groups, array( self::class, 'is_revision' ) ) && ( $new || $parent ) ? array_merge( $parents, $parent ?: array( null ) ) : $parents;
			$slugs   = array_merge( $slugs, $this->assigned( $set, 'post_name' ) );
		}
		$names = array_merge( self::named( $table, '/', $ids ), self::named( $table, '?', $groups ), self::named( $table, '?revision/', $parents ), self::named( 'slugs', '/', $slugs ) );
		if ( array_intersect( array( $table, 'slugs' ), $names ) ) {
			return null;
		}
		if ( 'options' === $table && 2 === count( array_unique( $names ) ) && preg_match( '~^\(?`?option_name=\'\d+\'\)?$~i', $condition ) && preg_match( '~^ ?`?option_value=\'(\d+)\'(?:,`?autoload=\'\d+\')? ?$~i', $set, $found ) ) {
			$this->value = $this->texts[ (int) $found[1] ];
		}
		if ( 'usermeta' === $table ) {
			$names = self::with_sessions( $names, $this->assigned( $set, 'meta_key' ) ? null : $this->are_sessions( $this->only( $condition, 'meta_key' ) ?? array() ) );
		}
		return $names;
	}

	/** Whether a type is that of revisions. */
	private static function is_revision( ?string $type ): bool {
		return 'revision' === strtolower( rtrim( (string) $type, ' ' ) );
	}

	/** The values of which a column has one in each row for which a condition is true: as in the plain statement. Null if others are possible. */
	private function only( string $condition, string $column ): ?array {
		$list = '\(' . self::VALUE . '(?:,' . self::VALUE . ')*+\)';
		while ( preg_match( "~^\(((?:[^()]|{$list})*+)\)$~", $condition, $part ) ) {
			$condition = $part[1];
		}
		// Only comparisons that must all be true.
		$flat = preg_replace( "~$list~", ' ', $condition );
		if ( null === $flat || 0 !== preg_match( '~[|&()]|' . self::B . '(?:OR|XOR|BETWEEN|CASE)' . self::E . '~i', $flat ) ) {
			return null;
		}
		foreach ( preg_split( '~' . self::B . 'AND' . self::E . '~i', $condition ) ?: array() as $part ) {
			if ( preg_match( '~^(?:' . self::NAME . "\.)?`?$column(?:=(" . self::VALUE . ")| IN($list))$~i", trim( $part ), $found ) ) {
				return explode( ',', trim( end( $found ), '()' ) );
			}
		}
		return null;
	}

	/** The value that the assignments of an UPDATE give to a column; null in its place if it is not known. Empty if they give none. */
	private function assigned( string $set, string $column ): array {
		$named = preg_match_all( "~(?<![$\w])$column(?![$\w])~i", $set );
		if ( ! $named ) {
			return array();
		}
		$is_simple = 1 === $named && preg_match( '~(?:^|,)(?:' . self::NAME . "\.)?`?$column=(" . self::VALUE . ')(?=,|$)~i', trim( $set ), $found );
		return array( $is_simple ? $this->value( $column, $found[1] ) : null );
	}

	/** A value in a column as names have it; null if it is not known. The database compares texts without regard to case and spaces at the end. */
	private function value( string $column, string $value ): ?string {
		$text = preg_match( '/^\'(\d+)\'$/', $value, $match ) ? $this->texts[ (int) $match[1] ] : null;
		if ( ! in_array( $column, TEXTS, true ) ) {
			$number = null === $text ? $value : substr( $text, 1, -1 );
			return ctype_digit( $number ) && strlen( $number ) < 20 ? ( ltrim( $number, '0' ) ?: '0' ) : null;
		}
		if ( null === $text || strlen( $text ) - 2 > ( LENGTHS[ $column ] ?? MAX_NAME - 2 ) || preg_match( '/[^\x20-\x7e]|\\\\/', $text ) ) {
			return null;
		}
		return strtolower( rtrim( str_replace( $text[0] . $text[0], $text[0], substr( $text, 1, -1 ) ), ' ' ) );
	}

	/** The same for several. */
	private function values( string $column, array $values ): array {
		return array_map( fn( $value ) => $this->value( $column, $value ), $values );
	}

	/** Names of rows or groups of a table with these values: as found in the database, or null where one is not known. */
	public static function named( string $table, string $mark, array $values ): array {
		if ( in_array( null, $values, true ) || count( $values ) > MAX_ROWS ) {
			return array( $table );
		}
		$names = array();
		foreach ( $values as $value ) {
			$name    = $table . $mark . strtolower( rtrim( (string) $value, ' ' ) );
			$names[] = strlen( $name ) > MAX_NAME || preg_match( '/[^\x20-\x7e]/', $name ) ? $table : $name;
		}
		return $names;
	}

	/** Whether rows of user meta with one of these keys hold sessions: true, false, or null for both. */
	private function are_sessions( array $keys ): ?bool {
		$keys = $this->values( 'option_name', $keys );
		return 1 === count( $keys ) && null !== $keys[0] ? 'session_tokens' === $keys[0] : null;
	}

	/** Names of rows of user meta, whose sessions have names of their own. */
	private static function with_sessions( array $names, ?bool $are_sessions ): array {
		$sessions = false === $are_sessions ? array() : preg_replace( '/^usermeta/', 'sessions', $names );
		return true === $are_sessions ? $sessions : array_merge( $sessions, $names );
	}

	/** Names of what is written, with those that follow: sessions of all metadata of users, slugs of all posts, and the group of options with planned jobs. */
	public static function completed( array $names ): array {
		foreach ( array( 'usermeta' => 'sessions', 'posts' => 'slugs' ) as $table => $part ) {
			if ( in_array( $table, $names, true ) && ! in_array( $part, $names, true ) ) {
				$names[] = $part;
			}
		}
		$jobs = array_intersect( $names, array_map( static fn( $job ) => "options/$job", JOBS ) );
		if ( $jobs ) {
			$others = preg_grep( '/^options(\/|$)/', array_diff( $names, $jobs ) );
			$names  = $others ? $names : preg_grep( '/^options\?/', $names, PREG_GREP_INVERT );
			$names  = array_merge( array_values( $names ), array( 'options?jobs' ) );
		}
		return $names;
	}
}

/**
 * Reports what this process writes, in the table of changes: before each statement what it writes, and at the end that all has ended.
 *
 * The reports are sent over a connection of their own, so that transactions, locks and LAST_INSERT_ID() of the site are not affected. If that
 * fails, they are sent over the site's connection, unless a transaction or a lock is open there. If that fails as well, the site writes
 * without a report.
 */
final class Reports {
	/** What was announced since the last end: names as keys, and of an option whose value was, the last report. @var array */
	private static $announced = array();

	/** The site's connection on which it was announced. */
	private static $writer = 0;

	/** Connection for the reports; false if there is none. @var \mysqli|false|null */
	private static $link = null;

	/** Time of the first announcement since the last end. */
	private static $begun = 0.0;

	/** Whether a transaction is open. */
	private static $is_open = false;

	/** Whether each statement begins a transaction. */
	private static $is_manual = false;

	/** Whether tables are locked. */
	private static $is_locked = false;

	/** Whether the session is marked as that of a rendering; null once this has turned out to be impossible. */
	private static $is_marked = false;

	/** Whether the end is already planned. */
	private static $is_planned = false;

	/** Number of rows that were inserted since the last end, by table: a transaction may change them, and only it sees them. @var int[] */
	private static $inserted = array();

	/** What was announced last and has not been sent yet. @var string|null */
	private static $sql = null;

	/** A statement whose new row is named after it, or whose rows are counted: its text and what it writes. @var array|null */
	private static $last = null;

	/** Called for each statement before it is sent. */
	public static function before( string $sql ): void {
		if ( self::$last ) {
			self::after_last();
		}
		// What was announced last has not been sent yet if WordPress first asks for the encodings of its table.
		$is_sent   = null === self::$sql || $GLOBALS['wpdb']->last_query === self::$sql || ! preg_match( '/^\s*+(?:SHOW FULL COLUMNS |SELECT CONVERT\()/i', $sql );
		self::$sql = $is_sent ? null : self::$sql;
		// A persistent object cache may have the former values until the end of the request.
		$is_late = self::$announced && microtime( true ) - self::$begun > ( wp_using_ext_object_cache() ? 30 : 1 );
		// This statement may be about the last one.
		if ( $is_late && $is_sent && ! preg_match( '/\b(?:FOUND_ROWS|ROW_COUNT|WARNINGS|ERRORS)\b/i', $sql ) && ! self::has_transaction() ) {
			self::end();
		}
		if ( ! self::$is_manual && 0 === substr_compare( $sql, 'SELECT', strspn( $sql, " \t\r\n(" ), 6, true ) ) {
			return;
		}
		$verb       = Write::verb( $sql );
		$write      = Write::of( $sql, array( self::class, 'find' ) );
		$is_by_read = $write && $write->names && Record::marks( $write->names );
		if ( $write && $write->names ) {
			self::announce( $write->names, $is_by_read, self::$is_open || self::$is_manual ? null : $write->value );
			self::$sql = $sql;
		}
		if ( $write && ( $write->inserts || $write->table ) ) {
			self::$last = array( $sql, $write, $is_by_read );
			self::plan();
			if ( ! preg_match( '/^\s*(?:insert|replace|update|delete)\s/i', $sql ) ) {
				// WordPress does not count the rows of these.
				self::announce( Write::completed( array( $write->inserts ?: $write->table ) ) );
			}
		}
		self::follow( $verb, $sql );
		self::mark( $is_by_read && ! self::$is_open && preg_match( '/^(INSERT|REPLACE|UPDATE|DELETE)$/', $verb ) );
	}

	/** Whether what follows in the binary log is marked as written by a rendering: MariaDB has this variable of a session, and writes it there. */
	private static function mark( bool $is_by_read ): void {
		global $wpdb;
		if ( null === self::$is_marked || $is_by_read === self::$is_marked || ! $wpdb->dbh instanceof \mysqli ) {
			return;
		}
		try {
			$is_set = @mysqli_query( $wpdb->dbh, 'SET SESSION skip_parallel_replication = ' . (int) $is_by_read );
		} catch ( \Throwable $e ) {
			$is_set = false;
		}
		self::$is_marked = $is_set ? $is_by_read : null;
	}

	/**
	 * Announces that a persistent object cache was emptied, which may have had other values than the database. If it happens again and again, the cache
	 * forgets what it is told, and what is read from it is not known.
	 */
	public static function emptied(): void {
		global $wpdb;
		try {
			$known = self::run( 'SELECT 1 FROM `' . $wpdb->prefix . CHANGES . "` WHERE name = 'cache:emptied' AND at > NOW() - INTERVAL 60 SECOND LIMIT 1" );
			if ( $known instanceof \mysqli_result && $known->num_rows > 0 ) {
				Record::refuse( 'the object cache forgets' );
				return;
			}
			self::announce( array( 'cache:emptied', '*' ) );
		} catch ( \Throwable $e ) {
			complain( $e->getMessage() );
		}
	}

	/**
	 * Announces that a transient has changed which a persistent object cache has: no statement writes it.
	 *
	 * @param int $ends Seconds until it ends; 0 if it does not.
	 */
	public static function transient( string $group, string $key, int $ends = 0 ): void {
		if ( preg_match( Record::NEUTRAL, "$group:$key" ) ) {
			return;
		}
		try {
			$names = Write::named( "cache:$group", '/', array( $key ) );
			self::announce( $names, Record::marks( $names ) );
			if ( $ends > 0 ) {
				wp_cache_set( "$group:$key", time() + $ends, Cache::GROUP, $ends );
			} else {
				wp_cache_delete( "$group:$key", Cache::GROUP );
			}
		} catch ( \Throwable $e ) {
			complain( $e->getMessage() );
		}
	}

	/** Names what the last statement wrote and was not known before. */
	private static function after_last(): void {
		global $wpdb;
		list( $sql, $write, $is_by_read ) = self::$last;
		self::$last                       = null;
		if ( $wpdb->last_query !== $sql ) {
			// It was changed, or has not been sent yet.
			self::announce( Write::completed( array( $write->inserts ?: $write->table ) ) );
		} elseif ( $write->inserts ) {
			if ( '' === (string) $wpdb->last_error && $wpdb->insert_id > 0 ) {
				self::announce( array( $write->inserts . '/' . (int) $wpdb->insert_id ) );
				self::$inserted[ $write->inserts ] = 1 + ( self::$inserted[ $write->inserts ] ?? 0 );
			}
		} elseif ( null !== $write->value && ( '' !== (string) $wpdb->last_error || 0 === (int) $wpdb->rows_affected ) ) {
			// The option does not have the announced value.
			self::announce( $write->names, $is_by_read );
		} elseif ( (int) $wpdb->rows_affected > $write->expected + ( self::$is_open ? self::$inserted[ $write->table ] ?? 0 : 0 ) ) {
			self::announce( Write::completed( array( $write->table ) ) );
		}
	}

	/** Notes whether the statement begins or ends a transaction. */
	private static function follow( string $verb, string $sql ): void {
		if ( 'SELECT' === $verb || 'INSERT' === $verb || 'UPDATE' === $verb || 'DELETE' === $verb || 'REPLACE' === $verb ) {
			self::$is_open = self::$is_open || self::$is_manual;
			return;
		}
		$text = strtoupper( substr( $sql, 0, 200 ) );
		switch ( $verb ) {
			case 'BEGIN':
			case 'START':
				self::$is_open   = true;
				self::$is_locked = false;
				break;
			case 'COMMIT':
			case 'ROLLBACK':
				if ( ! preg_match( '/\bTO\b/', $text ) ) {
					self::$is_open = (bool) preg_match( '/\bAND\s+CHAIN\b/', $text );
				}
				break;
			case 'SET':
				if ( preg_match( '/AUTOCOMMIT\W*=\s*[\'"]?(\w+)/', $text, $match ) ) {
					self::$is_manual = in_array( $match[1], array( '0', 'OFF', 'FALSE' ), true );
					self::$is_open   = self::$is_open && self::$is_manual;
				}
				break;
			case 'LOCK':
			case 'FLUSH':
				self::$is_locked = true;
				self::$is_open   = false;
				break;
			case 'UNLOCK':
				self::$is_locked = false;
				break;
			case 'ALTER':
			case 'CREATE':
			case 'DROP':
			case 'RENAME':
			case 'TRUNCATE':
				// These commit, except for temporary tables.
				self::$is_open = self::$is_open && false !== strpos( $text, 'TEMPORARY' );
				break;
			case 'XA':
			case 'CALL':
			case 'EXECUTE':
				self::$is_open = true;
				break;
		}
	}

	/**
	 * Announces that these names will be written. Writes of a rendering that svc-server has requested are of another kind. If only the value of an option
	 * is, svc-server compares it with the value before.
	 */
	private static function announce( array $names, bool $is_by_read = false, ?string $value = null ): void {
		global $wpdb;
		try {
			$writer = isset( $wpdb->dbh->thread_id ) ? (int) $wpdb->dbh->thread_id : self::$writer;
		} catch ( \Throwable $e ) {
			$writer = self::$writer;
		}
		if ( $writer !== self::$writer && self::$announced ) {
			// The site has connected again, and its last statement may have been sent again.
			$names           = array_merge( explode( "\n", implode( "\n", array_keys( self::$announced ) ) ), $names );
			self::$announced = array();
			$value           = null;
		}
		$kind = $is_by_read ? 'r' : 'b';
		$rows = array();
		if ( null !== $value && ! array_intersect_key( self::$announced, array( $names[0] => 0, 'options' => 0, '*' => 0 ) ) && ! in_array( 'options?jobs', $names, true ) ) {
			$option = implode( "\n", $names );
			$report = "$option\n" . self::summary( $value );
			if ( strlen( $report ) <= MAX_NAME ) {
				if ( $report !== ( self::$announced[ $option ] ?? '' ) ) {
					$rows[] = "($writer,'" . ( $is_by_read ? 'p' : 'o' ) . "',0x" . bin2hex( $report ) . ')';
				}
				self::$announced[ $option ] = $report;
				$names                      = array();
			}
		}
		foreach ( $names as $name ) {
			$table = strtok( (string) $name, '/?^' );
			if ( ! isset( self::$announced[ $name ] ) && ! isset( self::$announced[ $table ] ) && ! isset( self::$announced['*'] ) ) {
				self::$announced[ $name ] = true;
				$rows[]                   = "($writer,'$kind',0x" . bin2hex( (string) $name ) . ')';
			}
		}
		if ( ! $rows ) {
			return;
		}
		self::plan();
		self::$begun  = self::$begun ?: microtime( true );
		self::$writer = $writer;
		self::send( $rows );
	}

	/** Plans the end, after the functions that are registered now, such as that which runs the action `shutdown`. */
	private static function plan(): void {
		if ( self::$is_planned ) {
			return;
		}
		self::$is_planned = true;
		register_shutdown_function(
			static function () {
				register_shutdown_function( array( self::class, 'finish' ) );
			}
		);
	}

	/** A value as svc-server compares it: hashes of it without digits, and without times, and the times. */
	private static function summary( string $value ): string {
		$times = array();
		$rest  = preg_replace_callback(
			'/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|(?<!\d)[12]\d{9}(?!\d)/',
			static function ( $match ) use ( &$times ) {
				$time = ctype_digit( $match[0] ) ? $match[0] : strtotime( "$match[0] UTC" );
				if ( false === $time ) {
					return $match[0];
				}
				$times[] = $time;
				return 't';
			},
			$value
		);
		$parts = array( preg_replace( '/\d+/', '', $value ) ?? $value, $rest ?? $value );
		return implode( ' ', array_merge( array_map( static fn( $part ) => substr( md5( $part ), 0, 16 ), $parts ), $times ) );
	}

	/** At the end of the process. What is written still later is announced again. */
	public static function finish(): void {
		self::$is_planned = false;
		if ( self::$last ) {
			self::after_last();
		}
		// If a transaction is open, svc-server notices that the connection is closed.
		if ( self::$announced && ! self::has_transaction() ) {
			self::end();
		}
	}

	/** Whether a transaction is open on the site's connection. Of those that no statement has begun, only MariaDB says so. */
	private static function has_transaction(): bool {
		global $wpdb;
		if ( self::$is_open || ! $wpdb->dbh instanceof \mysqli ) {
			return self::$is_open;
		}
		try {
			$result = @mysqli_query( $wpdb->dbh, 'SELECT @@in_transaction' );
			return $result instanceof \mysqli_result && '1' === (string) $result->fetch_row()[0];
		} catch ( \Throwable $e ) {
			return false;
		}
	}

	/** Reports that all announced writes have ended. */
	private static function end(): void {
		// Again, if the site has connected again.
		self::announce( array() );
		self::$announced = array();
		self::$inserted  = array();
		self::$begun     = 0.0;
		self::send( array( '(' . self::$writer . ",'e','')" ) );
		if ( 1 === mt_rand( 1, 200 ) ) {
			self::forget();
		}
	}

	/** The connection for reports, which is opened when it is first needed. */
	private static function link(): ?\mysqli {
		global $wpdb;
		if ( null === self::$link ) {
			self::$link = false;
			if ( ! function_exists( 'mysqli_init' ) ) {
				return null;
			}
			$host = $wpdb->parse_db_host( $wpdb->dbhost ?? DB_HOST );
			if ( ! $host ) {
				return null;
			}
			list( $name, $port, $socket, $is_ipv6 ) = $host;

			$link = mysqli_init();
			$link->options( MYSQLI_OPT_CONNECT_TIMEOUT, 2 );
			$link->options( MYSQLI_OPT_READ_TIMEOUT, 3 );
			$link->options( MYSQLI_INIT_COMMAND, "SET SESSION lock_wait_timeout = 1, sql_mode = ''" );
			$name  = $is_ipv6 && extension_loaded( 'mysqlnd' ) ? "[$name]" : $name;
			$flags = defined( 'MYSQL_CLIENT_FLAGS' ) ? (int) constant( 'MYSQL_CLIENT_FLAGS' ) : 0;
			if ( @$link->real_connect( $name, $wpdb->dbuser ?? DB_USER, $wpdb->dbpassword ?? DB_PASSWORD, $wpdb->dbname ?? DB_NAME, (int) $port, $socket, $flags ) ) {
				self::$link = $link;
				if ( ! empty( $wpdb->charset ) ) {
					$link->set_charset( $wpdb->charset );
					// It finds the same rows as the site's connection only if it compares texts in the same way.
					if ( preg_match( '/^\w+$/D', (string) $wpdb->collate ) ) {
						@$link->query( "SET NAMES '$wpdb->charset' COLLATE '$wpdb->collate'" );
					}
				}
			}
		}
		return self::$link ?: null;
	}

	/** Runs a statement over the connection for reports. Returns its result, or the number of its error. */
	private static function run( string $sql ) {
		try {
			$link = self::link();
			if ( ! $link ) {
				return -1;
			}
			$result = @$link->query( $sql );
			if ( false !== $result ) {
				return $result;
			}
			$problem = $link->errno;
		} catch ( \Throwable $e ) {
			$problem = (int) $e->getCode();
		}
		if ( in_array( $problem, array( 2006, 2013, 2014 ), true ) ) {
			// The connection was closed: a new one, next time.
			$is_first   = false !== self::$link;
			self::$link = $is_first ? null : false;
		}
		return $problem ?: -1;
	}

	/** Stores reports. */
	private static function send( array $rows ): void {
		global $wpdb;
		$table = '`' . $wpdb->prefix . CHANGES . '`';
		$sql   = "INSERT INTO $table (writer, kind, name) VALUES " . implode( ',', $rows );
		for ( $attempt = 0; $attempt < 3; $attempt++ ) {
			$result = self::run( $sql );
			if ( true === $result || 1146 === $result ) {
				// Without the table, svc-server reads the binary log or is not used.
				return;
			}
			if ( 1114 === $result && 0 === $attempt ) {
				self::forget();
			} elseif ( 1114 === $result ) {
				// It is full of new ones. svc-server sees that some are missing, and ends all responses.
				self::run( "DELETE FROM $table" );
			} elseif ( ! in_array( $result, array( 2006, 2013 ), true ) ) {
				break;
			}
		}
		if ( ! self::$is_open && ! self::$is_locked ) {
			try {
				if ( true === @mysqli_query( $wpdb->dbh, $sql ) ) {
					complain( "reports are sent over the site's connection (error $result)" );
					return;
				}
			} catch ( \Throwable $e ) {
				unset( $e );
			}
		}
		complain( "a write could not be reported (error $result)" );
	}

	/** Deletes old reports. */
	private static function forget(): void {
		global $wpdb;
		self::run( 'DELETE FROM `' . $wpdb->prefix . CHANGES . '` WHERE at < NOW() - INTERVAL 300 SECOND' );
	}

	/**
	 * Rows found by a statement, as lists of texts; null if they cannot be known: the site may have locked them, or see others because of its
	 * transaction. Rows by identity are known even then: what the transaction has changed in them is already announced.
	 */
	public static function find( string $sql, bool $is_by_identity = false ): ?array {
		if ( self::$is_locked || ( ! $is_by_identity && ( self::$is_open || self::$is_manual ) ) ) {
			return null;
		}
		$result = self::run( $sql );
		if ( ! $result instanceof \mysqli_result ) {
			return null;
		}
		$rows = $result->fetch_all( MYSQLI_NUM );
		$result->free();
		return $rows;
	}

	/** Whether a report can be stored. The number of the error if not. */
	public static function test() {
		global $wpdb;
		return self::run( 'INSERT INTO `' . $wpdb->prefix . CHANGES . "` (writer, kind, name) VALUES (0,'e','')" );
	}
}

/**
 * Stands for the callbacks of a filter, and sees what they return. WordPress applies some filters very often, and this costs a tenth of what a
 * callback does.
 */
class Observed implements \IteratorAggregate, \ArrayAccess {
	/** The callbacks. @var \WP_Hook */
	protected $hook;

	/** Called with the result and the arguments of the filter. @var callable */
	protected $see;

	public function __construct( string $filter, callable $see ) {
		$this->hook                      = $GLOBALS['wp_filter'][ $filter ] ?? new \WP_Hook();
		$this->see                       = $see;
		$GLOBALS['wp_filter'][ $filter ] = $this; // phpcs:ignore WordPress.WP.GlobalVariablesOverride
	}

	public function apply_filters( $value, $arguments ) {
		if ( $this->hook->callbacks ) {
			$value = $this->hook->apply_filters( $value, $arguments );
		}
		( $this->see )( $value, $arguments );
		return $value;
	}

	public function __call( $name, $arguments ) {
		return $this->hook->$name( ...$arguments );
	}

	public function __get( $name ) {
		// With callbacks, so that WordPress keeps this when the last one is removed.
		return 'callbacks' === $name ? $this->hook->callbacks + array( PHP_INT_MAX => array() ) : $this->hook->$name;
	}

	public function __isset( $name ) {
		return isset( $this->hook->$name );
	}

	public function getIterator(): \Traversable {
		return new \ArrayIterator( $this->hook->callbacks );
	}

	public function offsetExists( $at ): bool {
		return isset( $this->hook[ $at ] );
	}

	#[\ReturnTypeWillChange]
	public function offsetGet( $at ) {
		return $this->hook[ $at ];
	}

	public function offsetSet( $at, $value ): void {
		$this->hook[ $at ] = $value;
	}

	public function offsetUnset( $at ): void {
		unset( $this->hook[ $at ] );
	}
}

/**
 * Stands for the callbacks of the filter that WordPress applies before it loads all options, and notices when these are read as a list, rather than to
 * look up one: WordPress loads them for each option that it reads. So that this costs no time, it returns what WordPress would load, the list in its own
 * cache, if nothing filters that.
 */
final class Loads extends Observed {
	/** The filter. WordPress has it since 6.2. */
	const FILTER = 'pre_wp_load_alloptions';

	/** Whether a filter had a value for an option since all were last loaded, so that nothing was loaded for it. */
	public static $has_value = false;

	/** How often single options had been read when all were last loaded. */
	private $single_reads;

	/** WordPress's own object cache; null if the site has another one. @var \WP_Object_Cache|null */
	private $cache = null;

	public function __construct( callable $see ) {
		parent::__construct( self::FILTER, $see );
		$this->single_reads = $GLOBALS['wp_filters']['pre_option'] ?? 0;

		$cache = $GLOBALS['wp_object_cache'] ?? null;
		// Some drop-ins say that they are no external cache.
		if ( is_object( $cache ) && 'WP_Object_Cache' === get_class( $cache ) && ! file_exists( WP_CONTENT_DIR . '/object-cache.php' ) ) {
			$this->cache = $cache;
		}
	}

	public function apply_filters( $value, $arguments ) {
		$single_reads = $GLOBALS['wp_filters']['pre_option'] ?? 0;
		$is_single    = $single_reads !== $this->single_reads && ! self::$has_value && ! isset( $GLOBALS['wp_filter']['pre_option'] );

		$this->single_reads = $single_reads;
		self::$has_value    = false;
		if ( ! $is_single ) {
			( $this->see )();
		}
		if ( $this->hook->callbacks ) {
			$value = $this->hook->apply_filters( $value, $arguments );
		}
		$is_filtered = isset( $GLOBALS['wp_filter']['alloptions'] ) || isset( $GLOBALS['wp_filter']['all'] );
		$is_forced   = $arguments[1] ?? true;
		if ( null === $value && ! $is_filtered && ! $is_forced && $this->cache && $this->cache === $GLOBALS['wp_object_cache'] ) {
			$groups = $this->cache->cache;
			$list   = $groups['options']['alloptions'] ?? null;
			if ( $list && is_array( $list ) ) {
				++$this->cache->cache_hits;
				return $list;
			}
		}
		return $value;
	}
}

/**
 * Records what a request reads: its statements, which svc-server examines, options, and entries of a persistent object cache. svc-server requests
 * this in a signed header; the record is sent before the body.
 */
final class Record {
	/** Options that WordPress reads before it loads plugins. */
	const EARLY = array( 'siteurl', 'home', 'blog_charset', 'active_plugins', 'template', 'stylesheet', 'WPLANG' );

	/** Groups of options that WordPress loads together before it loads plugins. Some versions have only the first. */
	const AUTOLOADED = array( 'yes', 'on', 'auto-on', 'auto' );

	/** Functions of WordPress that read single options of those that are loaded together. */
	const LOADERS = array( 'get_option', 'wp_prime_option_caches', 'wp_set_option_autoload_values', 'update_option', 'add_option', 'delete_option', 'get_transient', 'is_blog_installed' );

	/** Filters of WordPress that may have a value for a single option. */
	const VALUES = array( 'pre_option_gmt_offset', 'pre_option_embed_autourls' );

	/** Functions of plugins that look for single options among those: what returns these, as keys. */
	const SELECTIVE = array( 'bbp_pre_load_options' => 'bbp_get_default_options' );

	/** Statements that read nothing. */
	const NO_READS = '/^\s*+(?:START|COMMIT|ROLLBACK)\b/i';

	/** Statements that write rows, and may read others. */
	const WRITES = '/^\s*+(?:INSERT|REPLACE|UPDATE|DELETE)\b/i';

	/** Maximum length of the statements of a request, in bytes. One that reads more has read everything. */
	const MAX_STATEMENTS = 300000;

	/**
	 * Groups and keys of the object cache that need no name: what is derived from files, options, which are named one by one, and options of
	 * networks, which other sites read as options.
	 */
	const NEUTRAL = '/^((themes|plugins|theme_files|theme_json|image_editor|translation_files|icon_files|fonts):|options:(alloptions|notoptions)$|site-options:\d+:notoptions$|(site-)?transient:wp_(theme_files_patterns-|core_block_css_files$|styles_for_blocks$)|default:is_blog_installed$)/';

	/** Whether this request is recorded. */
	public static $is_on = false;

	/** What the request has read besides statements and options: names as keys. @var true[] */
	private static $parts = array();

	/** Statements: as keys; results of those of which the rows matter. @var array[] */
	private static $statements = array();

	/** Those at the beginning and the end of the request, when WordPress looks for planned jobs. @var array[] */
	private static $edge = array();

	/** Length of the statements, in bytes. */
	private static $size = 0;

	/** A statement whose rows matter. */
	private static $last = '';

	/** Whether WordPress looks for planned jobs: each request does so when it begins and ends. They change often. */
	private static $is_edge = true;

	/** How often options with planned jobs had been read at the beginning, and up to the end. @var int[] */
	private static $jobs = array();

	/** Entries of the object cache. @var array[] */
	private static $cached = array();

	/** Why the response cannot be stored. */
	private static $why = '';

	/** Time until which the response is valid. @var int|null */
	private static $until = null;

	/** The route of the REST API. @var string|null */
	private static $route = null;

	/** Whether the request has nothing that might identify its sender. */
	private static $is_anonymous = false;

	/** Number used once of the request. */
	private static $nonce = '';

	/** The secret. */
	private static $secret = '';

	/** Whether the response is no longer complete in the buffer. */
	private static $is_gone = false;

	/** What was sent so far and is collected. */
	private static $body = '';

	/** Whether all functions that run at shutdown have ended, so that nothing more is read. */
	private static $is_over = false;

	/** Groups of options that were loaded together. @var string[] */
	private static $groups = self::AUTOLOADED;

	/** Whether all options were read as a list. */
	private static $reads_all = false;

	/** How often all options were loaded before this was observed, and since then by callers that are known, without those that read single ones. */
	private static $known_loads = 0;

	/** Number of statements that were seen. */
	public static $n_statements = 0;

	/** Number of statements that WordPress had sent before. */
	private static $n_queries = 0;

	/** Number of filters before plugins were loaded. */
	private static $n_filters = 0;

	/** Begins to record if the request is signed. */
	public static function start(): void {
		$header = (string) ( $_SERVER['HTTP_X_SVC_RECORD'] ?? '' );
		$method = (string) ( $_SERVER['REQUEST_METHOD'] ?? '' );
		if ( ! in_array( $method, array( 'GET', 'HEAD' ), true ) || ! preg_match( '/^([0-9]{1,12})\.([A-Za-z0-9]{32})\.([0-9a-f]{64})$/D', $header, $part ) || abs( time() - (int) $part[1] ) > MAX_AGE ) {
			return;
		}
		$uri          = (string) ( $_SERVER['REQUEST_URI'] ?? '' );
		self::$secret = signed_with( "svc-record\n{$part[1]}\n{$part[2]}\n$method\n$uri", $part[3] );
		if ( '' === self::$secret || isset( $_GET['_method'] ) || ob_get_length() || array_diff( ob_list_handlers(), array( 'default output handler' ) ) ) {
			return;
		}
		self::$nonce = $part[2];
		self::$is_on = true;
		self::$is_anonymous = ! preg_grep( '/^(HTTP_(?!SEC_).*(AUTH|COOKIE|TOKEN|NONCE|SESSION|SECRET|SIGNATURE|PASSWORD|JWT|CERT|KEY|USER$|EMAIL$)|PHP_AUTH|AUTH_|REMOTE_USER)/', array_keys( $_SERVER ) ) && empty( $_COOKIE ) && ! isset( $_GET['_wpnonce'] );
		ob_start( array( self::class, 'output' ), OUTPUT_PART );
		// After all functions that run at shutdown, so that these are recorded as well.
		$is_flushed = remove_action( 'shutdown', 'wp_ob_end_flush_all', 1 );
		register_shutdown_function(
			static function () use ( $is_flushed ) {
				register_shutdown_function(
					static function () use ( $is_flushed ) {
						self::$is_over = true;
						if ( $is_flushed ) {
							wp_ob_end_flush_all();
						}
					}
				);
			}
		);
		if ( version_compare( $GLOBALS['wp_version'], '6.2', '<' ) ) {
			// No filter shows when it reads all options.
			self::$parts['options'] = true;
		}
		self::$n_queries = $GLOBALS['wpdb']->num_queries;
		// Besides the query that loads options: those of plugins that are loaded first.
		if ( self::$n_queries > 1 ) {
			self::$parts['*'] = true;
		}
		self::listen();
		if ( wp_using_ext_object_cache() ) {
			foreach ( array( 'transient', 'site-transient' ) as $group ) {
				if ( false === wp_cache_get( 'svc_connector', $group ) ) {
					wp_cache_set( 'svc_connector', 1, $group );
					Reports::emptied();
				}
			}
			self::observes_cache() || self::refuse( 'the object cache cannot be observed' );
		}
	}

	/** Listens to what else a response may depend on. */
	private static function listen(): void {
		$last = PHP_INT_MAX;
		self::$known_loads = self::loads( self::filters() );
		new Loads( array( self::class, 'all_options' ) );
		self::watch( self::VALUES );
		self::$n_filters = count( $GLOBALS['wp_filter'] );
		add_action( 'plugins_loaded', array( self::class, 'watch_values' ), $last );
		new Observed( 'get_user_metadata', array( self::class, 'user_metadata' ) );
		add_filter( 'nonce_life', array( self::class, 'nonce_life' ), $last );
		add_action( 'auth_cookie_valid', array( self::class, 'cookie' ), $last );
		add_action( 'application_password_did_authenticate', array( self::class, 'password' ), $last, 2 );
		add_filter( 'rest_dispatch_request', array( self::class, 'dispatch' ), $last, 3 );
		add_filter( 'pre_http_request', array( self::class, 'http_request' ), $last, 3 );
		add_filter( 'wp_mail', array( self::class, 'mail' ), $last );
		add_action( 'wp_loaded', array( self::class, 'edge' ), $last );
		add_action( 'shutdown', array( self::class, 'edge' ), PHP_INT_MIN );
	}

	/**
	 * Whether writes of these names by this request are reported as those of a read. Those of known users and of visitors with cookies are not, except
	 * of single options and transients: a later read of the same person may show them.
	 */
	public static function marks( array $names ): bool {
		return self::$is_on && ( self::$is_anonymous || ! preg_grep( '~^(options[/?]|cache:(site-)?transient/)~', $names, PREG_GREP_INVERT ) );
	}

	/** The response cannot be stored. */
	public static function refuse( string $why ): void {
		self::$why = self::$why ?: $why;
	}

	/** The response is valid until then at most. */
	private static function until( int $time ): void {
		self::$until = null === self::$until ? $time : min( self::$until, $time );
	}

	/** At the end of the time when WordPress first looks for planned jobs, and when it does so again. */
	public static function edge(): void {
		self::after_last();
		self::$is_edge = doing_action( 'shutdown' );
		foreach ( JOBS as $option ) {
			self::$jobs[ $option ][] = $GLOBALS['wp_filters'][ "pre_option_$option" ] ?? 0;
		}
	}

	/** Called for each statement before it is sent. */
	public static function before( string $sql ): void {
		self::after_last();
		if ( 0 !== strncmp( $sql, 'SELECT', 6 ) ) {
			if ( preg_match( self::NO_READS, $sql ) ) {
				return;
			}
			// What these read is in other tables, whatever their texts are.
			$sql = preg_match( self::WRITES, $sql ) ? Write::without_long_texts( $sql ) : $sql;
		}
		if ( 0 === strpos( $sql, 'SELECT option_name, option_value FROM ' ) && self::is_load() ) {
			// Named if they are read as a list.
			self::$groups = array_merge( self::$groups, preg_match_all( "/'([\w-]*)'/", $sql, $match ) ? $match[1] : array( '' ) );
			return;
		}
		if ( self::$is_edge ) {
			$known = &self::$edge;
		} else {
			$known = &self::$statements;
		}
		if ( ! isset( $known[ $sql ] ) ) {
			self::$size += strlen( $sql );
			if ( self::$size > self::MAX_STATEMENTS ) {
				self::$parts['*'] = true;
				return;
			}
			$known[ $sql ] = array();
		}
		if ( false !== strpos( $sql, 'term_' ) || false !== strpos( $sql, 'user_login' ) ) {
			self::$last = $sql;
		}
	}

	/** Whether WordPress sends a statement to load all options. */
	private static function is_load(): bool {
		$callers = array_column( debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS, 16 ), 'function' );
		return 'wp_load_alloptions' === ( $callers[ 1 + (int) array_search( 'get_results', $callers, true ) ] ?? '' );
	}

	/** Notes the rows that the last statement found. */
	private static function after_last(): void {
		global $wpdb;
		if ( '' === self::$last ) {
			return;
		}
		$sql        = self::$last;
		self::$last = '';
		$rows       = null;
		if ( $wpdb->last_query === $sql && '' === (string) $wpdb->last_error && count( (array) $wpdb->last_result ) <= 4 * MAX_ROWS ) {
			$rows = self::ids( (array) $wpdb->last_result );
		}
		if ( isset( self::$edge[ $sql ] ) && ! in_array( $rows, self::$edge[ $sql ], true ) ) {
			self::$edge[ $sql ][] = $rows;
		}
		if ( isset( self::$statements[ $sql ] ) && ! in_array( $rows, self::$statements[ $sql ], true ) ) {
			self::$statements[ $sql ][] = $rows;
		}
	}

	/** Ids of rows: of the term, or the user, and of the row in term_taxonomy. */
	private static function ids( array $rows ): array {
		$ids = array();
		foreach ( $rows as $row ) {
			$ids[] = is_object( $row ) ? array( abs( (int) ( $row->term_id ?? $row->ID ?? 0 ) ), abs( (int) ( $row->term_taxonomy_id ?? 0 ) ) ) : array( is_numeric( $row ) ? abs( (int) $row ) : 0, 0 );
		}
		return $ids;
	}

	/** All options were loaded, and not by a look-up of one that WordPress counts. */
	public static function all_options(): void {
		$calls = debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS, 9 );
		$call  = $calls[ 1 + (int) array_search( 'wp_load_alloptions', array_column( $calls, 'function' ), true ) ] ?? array( 'class' => '' );
		// A method of a plugin may have the name of one of WordPress's functions.
		$caller = isset( $call['class'] ) ? '' : $call['function'];

		self::$known_loads += 'get_option' === $caller ? 0 : 1;
		if ( isset( self::SELECTIVE[ $caller ] ) ) {
			foreach ( (array) ( self::SELECTIVE[ $caller ] )() as $option => $value ) {
				self::$parts[ "options/$option" ] = true;
			}
		} elseif ( ! in_array( $caller, self::LOADERS, true ) ) {
			self::$reads_all = true;
			if ( function_exists( 'wp_autoload_values_to_autoload' ) ) {
				self::$groups = array_merge( self::$groups, wp_autoload_values_to_autoload() );
			}
		}
	}

	/** Observes the filters of plugins that may have a value for a single option. */
	public static function watch_values(): void {
		self::watch( preg_grep( '/^pre_option_/', array_keys( array_slice( $GLOBALS['wp_filter'], self::$n_filters ) ) ) );
	}

	private static function watch( array $filters ): void {
		foreach ( $filters as $filter ) {
			if ( isset( $GLOBALS['wp_filter'][ $filter ] ) ) {
				new Observed( $filter, array( self::class, 'option_value' ) );
			}
		}
	}

	public static function option_value( $value ): void {
		Loads::$has_value = Loads::$has_value || false !== $value;
	}

	/** The filters of the options that were read: WordPress counts how often it applies each, also without callbacks. */
	private static function filters(): array {
		return preg_grep( '/^pre_option_/', array_keys( $GLOBALS['wp_filters'] ?? array() ) );
	}

	/** How often all options were loaded, and not to read a single one with one of these filters, by the counts of filters. */
	private static function loads( array $filters ): int {
		$counts = $GLOBALS['wp_filters'] ?? array();
		$loads  = ( $counts[ Loads::FILTER ] ?? 0 ) - ( $counts['pre_option'] ?? 0 );
		foreach ( $filters as $filter ) {
			$option = substr( $filter, 4 );
			$others = $counts[ $filter ] - ( $counts[ $option ] ?? 0 );
			if ( $others > 0 ) {
				// Those that do not exist, and those for which a filter had a value, so that nothing was loaded.
				$loads += max( 0, $others - ( $counts[ "default_$option" ] ?? 0 ) );
			}
		}
		return $loads;
	}

	/** The options that were read, without those with planned jobs, except if they were read in between. */
	private static function options(): array {
		$filters = self::filters();
		$options = array();
		foreach ( $filters as $filter ) {
			$options[] = substr( $filter, 11 );
		}
		$counts = $GLOBALS['wp_filters'] ?? array();
		foreach ( preg_grep( '/transient_timeout_/', $options ) as $option ) {
			$value = ( wp_cache_get( 'alloptions', 'options' ) ?: array() )[ $option ] ?? wp_cache_get( $option, 'options' );
			if ( is_numeric( $value ) && $value > 0 ) {
				self::until( (int) $value );
			}
		}
		foreach ( self::$reads_all ? self::$groups : array() as $group ) {
			self::$parts[ '' === $group ? 'options' : "options?$group" ] = true;
		}
		// All were loaded by a caller that is not known, after a filter that was not observed had a value.
		if ( self::loads( $filters ) !== self::$known_loads ) {
			self::$parts['options'] = true;
		}
		$is_unread = static function ( $job ) use ( $counts ) {
			$count = $counts[ "pre_option_$job" ] ?? 0;
			return ( self::$jobs[ $job ][1] ?? $count ) <= ( self::$jobs[ $job ][0] ?? $count );
		};
		return array_merge( self::EARLY, array_diff( $options, array_filter( JOBS, $is_unread ) ) );
	}

	public static function user_metadata( $value, $arguments ): void {
		if ( 'session_tokens' === $arguments[2] || '' === (string) $arguments[2] ) {
			self::$parts[ 'sessions/' . (int) $arguments[1] ] = true;
		}
	}

	public static function nonce_life( $life ) {
		$half = (float) $life / 2;
		if ( $half > 0 ) {
			self::until( (int) ( ceil( time() / $half ) * $half ) );
		}
		return $life;
	}

	public static function cookie( $cookie ): void {
		self::until( (int) ( $cookie['expiration'] ?? 0 ) );
	}

	/** WordPress writes the time of the last use of an application password if that was a day ago. */
	public static function password( $user, $password ): void {
		$next = (int) ( $password['last_used'] ?? 0 ) + DAY_IN_SECONDS;
		if ( $next > time() ) {
			self::until( $next );
		}
	}

	public static function http_request( $value, $arguments, $url ) {
		// The request with which WordPress starts its due jobs has no response.
		if ( ! isset( $arguments['blocking'] ) || false !== $arguments['blocking'] || false === strpos( (string) $url, '/wp-cron.php' ) ) {
			self::refuse( 'a request to another server' );
		}
		return $value;
	}

	public static function mail( $value ) {
		self::refuse( 'an e-mail' );
		return $value;
	}

	/** Requests inside the first do not change its route. */
	public static function dispatch( $result, $request, $route ) {
		if ( null === self::$route && defined( 'REST_REQUEST' ) && untrailingslashit( (string) ( $GLOBALS['wp']->query_vars['rest_route'] ?? '' ) ) === untrailingslashit( $request->get_route() ) ) {
			self::$route = (string) $route;
		}
		return $result;
	}

	/** Puts an object before the persistent object cache that sees what is read from it. Returns whether it does. */
	public static function observes_cache(): bool {
		global $wp_object_cache;
		if ( ! is_object( $wp_object_cache ) ) {
			return false;
		}
		$wp_object_cache = new Cache( $wp_object_cache ); // phpcs:ignore WordPress.WP.GlobalVariablesOverride
		wp_cache_get( 'probe', Cache::GROUP );
		$seen = Cache::$probes;
		if ( ! function_exists( 'wp_cache_get_multiple' ) ) {
			return $seen > 0;
		}
		wp_cache_get_multiple( array( 'probe' ), Cache::GROUP );
		return $seen > 0 && Cache::$probes > $seen;
	}

	/** Notes what was read from the persistent object cache. */
	public static function cached( string $group, string $key, $value ): void {
		if ( preg_match( self::NEUTRAL, "$group:$key" ) || ( self::$is_edge && in_array( $key, 'options' === $group ? JOBS : array( 'doing_cron' ), true ) ) ) {
			return;
		}
		if ( 'transient' === $group || 'site-transient' === $group ) {
			self::$parts[ Write::named( "cache:$group", '/', array( $key ) )[0] ] = true;
			$end = wp_cache_get( "$group:$key", Cache::GROUP );
			if ( is_numeric( $end ) && $end > 0 ) {
				self::until( (int) $end );
			}
		} else {
			$has_ids = preg_match( '/^(terms|userlogins|.*_relationships)$/', $group );

			self::$cached[ "$group:$key" ] = array( $group, $key, $has_ids ? self::ids( is_array( $value ) ? $value : array( $value ) ) : array() );
		}
	}

	/** Handles the output of the request. */
	public static function output( string $part, int $phase ): string {
		if ( $phase & PHP_OUTPUT_HANDLER_CLEAN ) {
			self::$body = '';
			return '';
		}
		self::$body .= $part;
		$is_end      = (bool) ( $phase & PHP_OUTPUT_HANDLER_FINAL );
		if ( ! $is_end && ! ( $phase & PHP_OUTPUT_HANDLER_FLUSH ) && ! self::$is_gone && strlen( self::$body ) <= MAX_OUTPUT ) {
			return '';
		}
		$body       = self::$body;
		self::$body = '';
		// A plugin may end the buffers before everything is read.
		if ( ! $is_end || self::$is_gone || ! ( self::$is_over || doing_action( 'shutdown' ) ) ) {
			self::$is_gone = true;
			return $body;
		}
		self::$is_gone = true;
		try {
			return self::record() . $body;
		} catch ( \Throwable $e ) {
			complain( $e->getMessage() );
			return $body;
		}
	}

	/** The record before the body; an empty string if there is none. */
	private static function record(): string {
		$status = (int) http_response_code();
		if ( headers_sent() || 204 === $status || 304 === $status || preg_grep( '/^(Content-Encoding|Transfer-Encoding):/i', headers_list() ) ) {
			return '';
		}
		self::after_last();
		$error = error_get_last();
		if ( $error && in_array( $error['type'], array( E_ERROR, E_PARSE, E_CORE_ERROR, E_COMPILE_ERROR ), true ) ) {
			self::refuse( 'an error of PHP' );
		}
		if ( defined( 'DONOTCACHEPAGE' ) && constant( 'DONOTCACHEPAGE' ) ) {
			self::refuse( 'DONOTCACHEPAGE' );
		}
		// It may have been closed already.
		if ( function_exists( 'session_id' ) && '' !== session_id() ) {
			self::refuse( 'a session of PHP' );
		}
		if ( wp_using_ext_object_cache() && ! $GLOBALS['wp_object_cache'] instanceof Cache ) {
			self::refuse( 'the object cache cannot be observed' );
		}
		// Another object of WordPress's class sends statements elsewhere, and without the filter they are not seen. Other classes count some that they send themselves.
		$n_unseen = $GLOBALS['wpdb']->num_queries - self::$n_queries - self::$n_statements;
		if ( $n_unseen < 0 || ( $n_unseen > 0 && 'wpdb' === get_class( $GLOBALS['wpdb'] ) ) ) {
			self::refuse( 'statements that were not seen, or of another database' );
		}
		foreach ( array( Loads::FILTER, 'get_user_metadata' ) as $filter ) {
			if ( ! ( $GLOBALS['wp_filter'][ $filter ] ?? null ) instanceof Observed ) {
				self::refuse( "the filter $filter cannot be observed" );
			}
		}
		$options = self::options();
		$user    = $GLOBALS['current_user'] ?? null;
		$record  = array(
			'v'        => 2,
			'parts'    => array_keys( self::$parts ),
			'prefix'   => Site::$prefix,
			'database' => Site::$database,
			'start'    => (int) ( $_SERVER['REQUEST_TIME'] ?? 0 ),
			'end'      => time(),
			// PHP loads time zones slowly.
			'offset'   => preg_grep( '/\d{4}-\d\d-\d\d \d\d:/', array_keys( self::$statements + self::$edge ) ) ? (int) ( (float) get_option( 'gmt_offset' ) * HOUR_IN_SECONDS ) : 0,
			'sql'      => self::listed( self::$statements ),
			'edge'     => self::listed( self::$edge ),
			'options'  => $options,
			'cached'   => array_values( self::$cached ),
			'age'      => null === self::$until ? null : max( 0, self::$until - time() ),
			'store'    => '' === self::$why,
			'why'      => self::$why,
			'route'    => self::$route,
			'cache'    => (bool) wp_using_ext_object_cache(),
			'user'     => $user instanceof \WP_User ? (int) $user->ID : 0,
		);
		$json    = self::json( $record );
		if ( strlen( $json ) > MAX_RECORD ) {
			$json = self::json( array_merge( $record, array_fill_keys( array( 'sql', 'edge', 'options', 'cached' ), array() ), array( 'parts' => array( '*' ) ) ) );
		}
		// It proves that this plugin made the record for this request. Whoever can change the record on its way can change the body as well.
		$signature = hash_hmac( 'sha256', "svc-recorded\n" . self::$nonce, self::$secret );
		if ( 'HEAD' === $_SERVER['REQUEST_METHOD'] ) {
			$compressed = function_exists( 'gzcompress' ) ? (string) gzcompress( $json ) : '';
			if ( '' !== $compressed && strlen( $compressed ) <= 3000 ) {
				header( 'X-Svc-Record: ' . base64_encode( $compressed ) . ".$signature" );
			}
			return '';
		}
		header( 'X-Svc-Record: 1' );
		header_remove( 'Content-Length' );
		return sprintf( '%08d', strlen( $json ) ) . "$signature\n$json";
	}

	/** A record as it is sent. */
	private static function json( array $record ): string {
		return (string) json_encode( $record, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE );
	}

	/** Statements, with the results of those that have some. */
	private static function listed( array $statements ): array {
		$list = array();
		foreach ( $statements as $sql => $results ) {
			$list[] = $results ? array( (string) $sql, $results ) : (string) $sql;
		}
		return $list;
	}
}

/**
 * Stands for the object of a persistent object cache, and notes what is read from it.
 */
final class Cache {
	/** The group of this plugin's own entries. */
	const GROUP = 'svc-connector';

	/** How often it was read. */
	public static $probes = 0;

	/** The object of the site. @var object */
	private $site;

	public function __construct( $site ) {
		$this->site = $site;
	}

	private static function note( $group, $key, $value ): void {
		if ( self::GROUP === $group ) {
			++self::$probes;
			return;
		}
		Record::cached( (string) $group ?: 'default', (string) $key, $value );
	}

	public function get( $key, $group = 'default', $force = false, &$found = null ) {
		$value = $this->site->get( $key, $group, $force, $found );
		self::note( $group, $key, $value );
		return $value;
	}

	public function get_multiple( $keys, $group = 'default', $force = false ) {
		$values = method_exists( $this->site, 'get_multiple' ) ? $this->site->get_multiple( $keys, $group, $force ) : array();
		if ( ! method_exists( $this->site, 'get_multiple' ) ) {
			foreach ( $keys as $key ) {
				$values[ $key ] = $this->site->get( $key, $group, $force );
			}
		}
		foreach ( $keys as $key ) {
			self::note( $group, $key, $values[ $key ] ?? false );
		}
		return $values;
	}

	public function __call( $name, $arguments ) {
		if ( 0 === stripos( $name, 'get' ) ) {
			Record::refuse( "object cache method $name" );
		}
		return $this->site->$name( ...$arguments );
	}

	public function &__get( $name ) {
		return $this->site->$name;
	}

	public function __set( $name, $value ) {
		$this->site->$name = $value;
	}

	public function __isset( $name ) {
		return isset( $this->site->$name );
	}

	public function __unset( $name ) {
		unset( $this->site->$name );
	}
}

/** Sees each statement before it is sent; changes nothing. */
function on_query( $query ) {
	if ( is_string( $query ) && '' !== $query ) {
		try {
			Reports::before( $query );
		} catch ( \Throwable $e ) {
			complain( $e->getMessage() );
		}
		if ( Record::$is_on ) {
			++Record::$n_statements;
			try {
				Record::before( $query );
			} catch ( \Throwable $e ) {
				Record::refuse( 'an error of the connector: ' . $e->getMessage() );
			}
		}
	}
	return $query;
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
	echo wp_json_encode( $data, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PARTIAL_OUTPUT_ON_ERROR ); // phpcs:ignore WordPress.Security.EscapeOutput
	exit;
}

/**
 * Checks the signature of this request, and ends it if it is not right. A request that is sent again does no harm: it gets the same response.
 */
function authenticate(): void {
	$header = isset( $_SERVER['HTTP_X_SVC_CONNECTOR'] ) ? (string) $_SERVER['HTTP_X_SVC_CONNECTOR'] : '';
	$body   = (string) file_get_contents( 'php://input', false, null, 0, MAX_BODY + 1 );
	if ( strlen( $body ) > MAX_BODY || ! preg_match( '/^([0-9]{1,12})\.([A-Za-z0-9]{32})\.([0-9a-f]{64})$/D', $header, $part )
		|| '' === signed_with( "svc-connector\n{$part[1]}\n{$part[2]}\n" . hash( 'sha256', $body ), $part[3] ) ) {
		respond( 403, array( 'error' => 'not signed' ) );
	}
	// The rest is reported in detail: the caller knows the secret.
	$now = time();
	if ( abs( $now - (int) $part[1] ) > MAX_AGE ) {
		respond( 403, array( 'error' => 'the request has expired, or the clocks differ', 'now' => $now ) );
	}
	$content   = json_decode( $body, true );
	$operation = is_array( $content ) ? ( $content['operation'] ?? null ) : null;
	if ( 'status' !== $operation ) {
		respond( 400, array( 'error' => null === $operation ? 'the body must be a JSON object with an operation' : 'unknown operation' ) );
	}
}

/** Where the site's code is, and what decides when PHP uses a file that has changed. */
function code(): array {
	$looks    = (bool) ini_get( 'opcache.validate_timestamps' );
	$compiled = ! $looks && function_exists( 'opcache_get_status' ) && ! ini_get( 'opcache.restrict_api' ) ? opcache_get_status( false ) : false;
	$compiled = $compiled['opcache_statistics'] ?? array();
	$folders  = static fn( array $paths ) => array_values( array_unique( array_filter( array_map( 'realpath', array_filter( $paths, 'is_dir' ) ) ) ) );
	return array(
		'deep'     => $folders( array_merge( array( ABSPATH . WPINC, WP_PLUGIN_DIR, WPMU_PLUGIN_DIR, WP_LANG_DIR ), (array) ( $GLOBALS['wp_theme_directories'] ?? array() ) ) ),
		'flat'     => $folders( array( ABSPATH, WP_CONTENT_DIR, is_file( ABSPATH . 'wp-config.php' ) ? ABSPATH : dirname( ABSPATH ) ) ),
		// The cache compares the times of requests, in whole seconds.
		'delay'    => ini_get( 'opcache.enable' ) && $looks ? max( 0, (int) ini_get( 'opcache.revalidate_freq' ) ) + 1 : 0,
		'compiled' => (int) max( $compiled['start_time'] ?? 0, $compiled['last_restart_time'] ?? 0 ),
	);
}

/** The state of the site and of this plugin. */
function status(): array {
	$is_network = is_multisite();
	$test       = $is_network ? null : Reports::test();
	$cache      = wp_using_ext_object_cache();
	return array(
		'connector'    => 11,
		'wordpress'    => get_bloginfo( 'version' ),
		'php'          => PHP_VERSION,
		'multisite'    => $is_network,
		'plugins'      => array_values( (array) get_option( 'active_plugins', array() ) ),
		'object_cache' => $cache ? ( Record::observes_cache() ? 'observed' : 'not observed' ) : 'none',
		'code'         => code(),
		'reports'      => $is_network ? 'networks of sites are not supported' : ( true === $test ? 'ok' : ( 1146 === $test ? 'no table' : "error $test" ) ),
	);
}

if ( ! is_multisite() && isset( $GLOBALS['wpdb'] ) ) {
	Site::$prefix   = strtolower( $GLOBALS['wpdb']->prefix );
	Site::$database = (string) ( $GLOBALS['wpdb']->dbname ?? DB_NAME );
	add_filter( 'query', __NAMESPACE__ . '\on_query', PHP_INT_MAX );
	if ( wp_using_ext_object_cache() ) {
		foreach ( array( 'transient', 'site_transient' ) as $kind ) {
			$see = static function ( $name, $value = null, $ends = 0 ) use ( $kind ) {
				Reports::transient( str_replace( '_', '-', $kind ), (string) $name, (int) $ends );
			};
			add_action( version_compare( $GLOBALS['wp_version'], '6.8', '<' ) ? "setted_$kind" : "set_$kind", $see, PHP_INT_MIN, 3 );
			add_action( "deleted_$kind", $see, PHP_INT_MIN );
		}
	}
	if ( isset( $_SERVER['HTTP_X_SVC_RECORD'] ) ) {
		Record::start();
	}
}

if ( isset( $_GET['svc-connector'], $_SERVER['REQUEST_METHOD'] ) && 'POST' === $_SERVER['REQUEST_METHOD'] ) {
	// Before other plugins run, so that an unsigned request costs little.
	authenticate();
	add_action(
		'wp_loaded',
		static function () {
			respond( 200, status() );
		},
		PHP_INT_MAX
	);
}

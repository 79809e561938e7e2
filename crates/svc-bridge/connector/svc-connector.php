<?php
/**
 * Plugin Name: svc connector
 * Description: Reports to svc-server which parts of the database this site writes, and which parts a response depends on. Installed by `svc-server connector install`.
 * Version: 7
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

/** Table of the reports, without the prefix. svc-server creates it. */
const CHANGES = 'svc_changes';

/** Maximum length of a name, in bytes. */
const MAX_NAME = 160;

/** Maximum number of rows and groups of a table that are named for one statement. */
const MAX_ROWS = 500;

/** Maximum length of a statement that is examined, without long texts, in bytes. */
const MAX_SQL = 65536;

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

/** Functions of time and chance, and of the session. */
const UNSTABLE = '/^(NOW|CUR(DATE|TIME)|CURRENT_(DATE|TIME|TIMESTAMP|USER)|LOCALTIME(STAMP)?|UTC_(DATE|TIME|TIMESTAMP)|SYSDATE|RAND|RANDOM_BYTES|UUID(_SHORT)?|SLEEP|BENCHMARK|(GET|RELEASE|IS_FREE|IS_USED)(_ALL)?_LOCKS?|LAST_INSERT_ID|LASTVAL|NEXTVAL|SETVAL|CONNECTION_ID|ROW_COUNT|LOAD_FILE)$/';

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

/**
 * Reads SQL as far as names of parts of the database need it.
 *
 * A name is `*` (everything), `posts` (a table, without the prefix), `posts/5` (the rows with this identity), or `posts?page` (those of a group).
 * What is not understood becomes the whole table, and where the tables are not known, everything. Revisions have a further group by the post that
 * they belong to, `posts?revision/5`, since each post shows whether it has some.
 */
final class Sql {
	/** Tokens: texts, quoted identifiers, words and variables, numbers, operators. White space and comments are skipped. */
	const TOKEN = '~\G(?:\s++|\#[^\n]*+|--(?=\s|\z)[^\n]*+|/\*(?!M?!)(?:[^*]++|\*(?!/))*+\*/)*+\K(?:\'(?:[^\'\\\\]++|\\\\.|\'\')*+\'|"(?:[^"\\\\]++|\\\\.|"")*+"|`(?:[^`]++|``)*+`|[a-zA-Z_$@\x80-\xff][\w$@\x80-\xff]*+|\d[\w.]*+|<=>|<=|>=|<>|!=|:=|\|\||&&|/\*|\S)~s';

	/** Texts, and what may contain quotes besides them. */
	const QUOTED = '~\'(?:[^\'\\\\]++|\\\\.|\'\')*+\'|"(?:[^"\\\\]++|\\\\.|"")*+"|`[^`]*+`|\#[^\n]*+|--(?=\s|\z)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/~s';

	/** Words after a table that are not its alias. */
	const NO_ALIAS = '/^(ON|USING|USE|FORCE|IGNORE|PARTITION|SET|WHERE|GROUP|HAVING|ORDER|LIMIT|FOR|LOCK|UNION|EXCEPT|INTERSECT|WINDOW|PROCEDURE|INTO|JOIN|STRAIGHT_JOIN|INNER|LEFT|RIGHT|CROSS|NATURAL|OUTER|VALUES?|SELECT|TABLESAMPLE|RETURNING)$/';

	/** Words that end the tables and the condition of a statement: as keys. */
	const CLAUSES = array(
		'WHERE'     => 1,
		'GROUP'     => 1,
		'HAVING'    => 1,
		'ORDER'     => 1,
		'LIMIT'     => 1,
		'WINDOW'    => 1,
		'PROCEDURE' => 1,
		'INTO'      => 1,
		'FOR'       => 1,
		'LOCK'      => 1,
		'SET'       => 1,
		'RETURNING' => 1,
		'OFFSET'    => 1,
		'FETCH'     => 1,
	);

	/** Words between conditions: those of which one must be true, and those which must all be. */
	const JUNCTIONS = array(
		array(
			'OR'  => 1,
			'||'  => 1,
			'XOR' => 1,
		),
		array(
			'AND' => 1,
			'&&'  => 1,
		),
	);

	/** Characters with which an identifier begins; others are those after ASCII. */
	const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$`';

	/** Prefix of the site's tables, in lower case. */
	public static $prefix = 'wp_';

	/** Name of the site's database. */
	public static $database = '';

	/** Whether a part of the last statement was left out. */
	public static $is_cut = false;

	/**
	 * The tokens of a statement. Long texts are left out, which makes them values that are not known. Null if it is too long, or ends in a text.
	 */
	public static function tokens( string $sql ): ?array {
		self::$is_cut = false;
		if ( strlen( $sql ) > 8192 ) {
			$sql = preg_replace_callback(
				self::QUOTED,
				static function ( $text ) {
					if ( strlen( $text[0] ) < 256 ) {
						return $text[0];
					}
					self::$is_cut = true;
					return ' ? ? ';
				},
				$sql
			);
			if ( null === $sql || strlen( $sql ) > MAX_SQL ) {
				return null;
			}
		}
		// A quote alone is the beginning of a text that does not end.
		return preg_match_all( self::TOKEN, $sql, $tokens ) && ! array_intersect( array( '\'', '"', '`' ), $tokens[0] ) ? $tokens[0] : null;
	}

	/** A statement with empty texts in place of long ones. */
	public static function without_long_texts( string $sql ): string {
		$shorten = static fn( $text ) => strlen( $text[0] ) > 40 && ( '\'' === $text[0][0] || '"' === $text[0][0] ) ? "''" : $text[0];
		return preg_replace_callback( self::QUOTED, $shorten, $sql ) ?? $sql;
	}

	/** The first word of a statement, in capitals. */
	public static function verb( string $sql ): string {
		if ( preg_match( '~^[\s(;]*+([a-zA-Z]++)~', $sql, $match ) ) {
			return strtoupper( $match[1] );
		}
		foreach ( self::tokens( substr( $sql, 0, 4096 ) ) ?? array() as $token ) {
			if ( ctype_alpha( $token ) ) {
				return strtoupper( $token );
			}
		}
		return '';
	}

	/** Name of a table without the site's prefix, in lower case. */
	public static function short( string $table ): string {
		$table  = strtolower( trim( $table, '`' ) );
		$length = strlen( self::$prefix );
		return 0 === strncmp( $table, self::$prefix, $length ) && strlen( $table ) > $length ? substr( $table, $length ) : $table;
	}

	/** The value of a token in a column as names have it; null if it is not known. The database compares texts without regard to case and spaces at the end. */
	public static function value( string $column, string $token ): ?string {
		$is_text = '\'' === $token[0] || '"' === $token[0];
		if ( in_array( $column, TEXTS, true ) ) {
			$text = $is_text && strlen( $token ) <= MAX_NAME && false === strpos( $token, '\\' ) ? substr( $token, 1, -1 ) : null;
			return null === $text || preg_match( '/[^\x20-\x7e]/', $text ) ? null : strtolower( rtrim( str_replace( $token[0] . $token[0], $token[0], $text ), ' ' ) );
		}
		$number = $is_text ? substr( $token, 1, -1 ) : $token;
		return ctype_digit( $number ) ? ( ltrim( $number, '0' ) ?: '0' ) : null;
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

	/** The index after the parenthesis that is closed for the one at an index; the number of tokens if none is. */
	public static function after( array $t, int $i ): int {
		$count = count( $t );
		for ( $depth = 0; $i < $count; $i++ ) {
			if ( '(' === $t[ $i ] ) {
				++$depth;
			} elseif ( ')' === $t[ $i ] && 0 === --$depth ) {
				return $i + 1;
			}
		}
		return $count;
	}

	/** The index of the first of these words, which are keys, outside of parentheses; the end if there is none. */
	public static function find( array $u, array $words, int $i, int $end ): int {
		for ( $depth = 0; $i < $end; $i++ ) {
			$token = $u[ $i ];
			if ( '(' === $token ) {
				++$depth;
			} elseif ( ')' === $token ) {
				--$depth;
			} elseif ( 0 === $depth && isset( $words[ $token ] ) ) {
				return $i;
			}
		}
		return $end;
	}

	/** Whether a token is an identifier. */
	public static function is_identifier( string $token ): bool {
		return false !== strpos( self::LETTERS, $token[0] ) || $token[0] >= "\x80";
	}

	/**
	 * The table at an index, as the database names it; an empty string if there is none. Moves the index behind it.
	 */
	public static function table_at( array $t, int &$i ): string {
		if ( ! isset( $t[ $i ] ) || ! self::is_identifier( $t[ $i ] ) ) {
			return '';
		}
		$table = $t[ $i++ ];
		if ( '.' === ( $t[ $i ] ?? '' ) && isset( $t[ $i + 1 ] ) ) {
			$table = $t[ $i + 1 ];
			$i    += 2;
		}
		return strtolower( trim( $table, '`' ) );
	}

	/**
	 * The tables of a list such as that after FROM, by alias; both as written, in lower case.
	 *
	 * @param array $t Tokens.
	 * @param array $u The same in capitals.
	 */
	public static function tables( array $t, array $u, int $i, int $end ): array {
		$tables = array();
		$depth  = 0;
		$list   = 0;
		$expect = true;
		while ( $i < $end ) {
			$token = $u[ $i ];
			if ( '(' === $token ) {
				++$depth;
				$list = $expect ? $depth : $list;
			} elseif ( ')' === $token ) {
				--$depth;
				$list = min( $list, $depth );
			} elseif ( 'JOIN' === $token || 'STRAIGHT_JOIN' === $token || ( ',' === $token && $depth === $list ) ) {
				$expect = true;
			} elseif ( $expect && 'LATERAL' !== $token && self::is_identifier( $token ) ) {
				$table = self::table_at( $t, $i );
				$i    += 'AS' === ( $u[ $i ] ?? '' ) ? 1 : 0;
				$alias = $table;
				if ( $i < $end && self::is_identifier( $t[ $i ] ) && ! preg_match( self::NO_ALIAS, $u[ $i ] ) ) {
					$alias = strtolower( trim( $t[ $i++ ], '`' ) );
				}
				$tables[ $alias ] = $table;
				$expect           = false;
				continue;
			} else {
				$expect = false;
			}
			++$i;
		}
		return $tables;
	}

	/**
	 * What each row for which a condition is true has in its columns: lists of tokens, by `alias.column` or `.column` in lower case.
	 */
	public static function constraints( array $t, array $u, int $i, int $end ): array {
		while ( $i < $end && '(' === $t[ $i ] && self::after( $t, $i ) === $end ) {
			++$i;
			--$end;
		}
		foreach ( self::JUNCTIONS as $is_and => $words ) {
			$parts   = array();
			$from    = $i;
			$between = 0;
			$depth   = 0;
			for ( $k = $i; $k < $end; $k++ ) {
				$token = $u[ $k ];
				if ( '(' === $token || 'CASE' === $token ) {
					++$depth;
				} elseif ( ')' === $token || 'END' === $token ) {
					--$depth;
				} elseif ( $depth > 0 ) {
					continue;
				} elseif ( 'BETWEEN' === $token ) {
					++$between;
				} elseif ( 'AND' === $token && $between > 0 ) {
					--$between;
				} elseif ( isset( $words[ $token ] ) ) {
					if ( 'XOR' === $token ) {
						return array();
					}
					$parts[] = array( $from, $k );
					$from    = $k + 1;
				}
			}
			if ( ! $parts ) {
				continue;
			}
			$parts[] = array( $from, $end );
			$all     = null;
			foreach ( $parts as $part ) {
				$found = self::constraints( $t, $u, $part[0], $part[1] );
				if ( null === $all ) {
					$all = $found;
				} elseif ( $is_and ) {
					foreach ( $found as $column => $values ) {
						$all[ $column ] = isset( $all[ $column ] ) && count( $all[ $column ] ) <= count( $values ) ? $all[ $column ] : $values;
					}
				} else {
					$all = array_intersect_key( $all, $found );
					foreach ( $all as $column => $values ) {
						$all[ $column ] = array_merge( $values, $found[ $column ] );
					}
				}
			}
			return $all;
		}
		return self::comparison( $t, $u, $i, $end );
	}

	/** The same for a single comparison: column = value, value = column, column IN ( values ). */
	private static function comparison( array $t, array $u, int $i, int $end ): array {
		$length = $end - $i;
		if ( 3 === $length && '=' === $t[ $i + 1 ] && ! self::is_identifier( $t[ $i ] ) && self::is_identifier( $t[ $i + 2 ] ) ) {
			return array( '.' . strtolower( trim( $t[ $i + 2 ], '`' ) ) => array( $t[ $i ] ) );
		}
		if ( $length < 3 || ! self::is_identifier( $t[ $i ] ) || 'NOT' === $u[ $i ] ) {
			return array();
		}
		$table = '';
		while ( '.' === $t[ $i + 1 ] && $i + 4 < $end ) {
			$table = strtolower( trim( $t[ $i ], '`' ) );
			$i    += 2;
		}
		$column = $table . '.' . strtolower( trim( $t[ $i ], '`' ) );
		if ( '=' === $t[ $i + 1 ] && $i + 3 === $end ) {
			return array( $column => array( $t[ $i + 2 ] ) );
		}
		if ( 'IN' !== $u[ $i + 1 ] || '(' !== $t[ $i + 2 ] || self::after( $t, $i + 2 ) !== $end ) {
			return array();
		}
		$values = array();
		for ( $k = $i + 3; $k < $end; $k += 2 ) {
			if ( ',' !== $t[ $k + 1 ] && $k + 2 !== $end ) {
				return array();
			}
			$values[] = $t[ $k ];
		}
		return array( $column => $values );
	}

	/** The values that a column of a table must have, as names have them; null if any is possible. One that is not known is null. */
	public static function only( array $constraints, string $alias, string $column ): ?array {
		$tokens = $constraints[ "$alias.$column" ] ?? $constraints[ ".$column" ] ?? null;
		if ( null === $tokens ) {
			return null;
		}
		$values = array();
		foreach ( $tokens as $token ) {
			$values[] = self::value( $column, $token );
		}
		return in_array( null, $values, true ) ? null : array_values( array_unique( $values ) );
	}

	/** Whether rows of user meta with these constraints hold sessions: true, false, or null for both. */
	public static function are_sessions( array $constraints, string $alias ): ?bool {
		$keys = array();
		foreach ( $constraints[ "$alias.meta_key" ] ?? $constraints['.meta_key'] ?? array() as $token ) {
			$key    = self::value( 'option_name', $token );
			$keys[] = null === $key ? null : 'session_tokens' === $key;
		}
		return 1 === count( array_unique( $keys, SORT_REGULAR ) ) ? $keys[0] : null;
	}

	/** Names of rows of user meta, whose sessions have names of their own. */
	public static function with_sessions( array $names, ?bool $are_sessions ): array {
		$all = false === $are_sessions ? $names : array();
		if ( false !== $are_sessions ) {
			foreach ( $names as $name ) {
				$all[] = preg_replace( '/^usermeta/', 'sessions', $name );
				if ( null === $are_sessions ) {
					$all[] = $name;
				}
			}
		}
		return $all;
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
 * The parts of the database that a statement writes.
 */
final class Write {
	/** Words between a verb and its table. */
	const MODIFIERS = array( 'LOW_PRIORITY', 'HIGH_PRIORITY', 'DELAYED', 'IGNORE', 'QUICK', 'INTO' );

	/** Statements that write no data. */
	const HARMLESS = '/^(SELECT|SHOW|SET|DESC|DESCRIBE|EXPLAIN|USE|BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|LOCK|UNLOCK|KILL|FLUSH|CHECK|CHECKSUM|OPTIMIZE|HELP|DO|VALUES|HANDLER|GRANT|REVOKE)$/';

	/** Names of what changes. @var string[] */
	public $names = array( '*' );

	/** Table whose new row is named after the statement. */
	public $inserts = '';

	/** Table of which at most this number of rows may change; more than expected means that others have changed. */
	public $table = '';

	/** See above. */
	public $expected = PHP_INT_MAX;

	/** Tokens of the statement. @var string[] */
	private $t;

	/** The same in capitals. @var string[] */
	private $u;

	/** Whether long texts were left out. @var bool */
	private $is_cut;

	/** Finds rows in the database: SQL to lists of values; null if that is not possible. @var callable */
	private $find;

	/** Examines a statement. Returns null if it only reads. */
	public static function of( string $sql, callable $find ): ?self {
		$verb = Sql::verb( $sql );
		if ( preg_match( self::HARMLESS, $verb ) ) {
			return null;
		}
		$write       = new self();
		$write->find = $find;
		$write->t    = Sql::tokens( $sql );

		$write->is_cut = Sql::$is_cut;
		if ( null === $write->t ) {
			// Only the beginning: the table is enough where nothing else can be written.
			$write->t = Sql::tokens( substr( $sql, 0, min( 1024, strcspn( $sql, '\'"' ) ) ) ) ?? array();
			$write->u = array_map( 'strtoupper', $write->t );
			if ( 'INSERT' === $verb || 'REPLACE' === $verb ) {
				$i            = $write->start();
				$write->names = Sql::completed( array( Sql::short( Sql::table_at( $write->t, $i ) ) ?: '*' ) );
			}
			return $write;
		}
		$write->u = array_map( 'strtoupper', $write->t );
		foreach ( array_keys( $write->t, '.', true ) as $point ) {
			// A name after a point is no keyword.
			$write->u[ $point + 1 ] = '`' . ( $write->u[ $point + 1 ] ?? '' );
		}
		if ( 'WITH' === $verb && ! array_intersect( $write->u, array( 'UPDATE', 'DELETE', 'INSERT', 'REPLACE' ) ) ) {
			return null;
		}
		$last = end( $write->t );
		if ( ';' === $last ) {
			array_pop( $write->t );
			array_pop( $write->u );
		}
		$method = array(
			'INSERT'   => 'insert',
			'REPLACE'  => 'insert',
			'UPDATE'   => 'update',
			'DELETE'   => 'delete',
			'TRUNCATE' => 'define',
			'ALTER'    => 'define',
			'DROP'     => 'define',
			'RENAME'   => 'define',
			'CREATE'   => 'define',
			'REPAIR'   => 'define',
		)[ $verb ] ?? '';
		if ( '' !== $method && ! in_array( ';', $write->t, true ) && ! in_array( '/*', $write->t, true ) ) {
			$write->$method();
		}
		$write->names = Sql::completed( array_values( array_unique( array_diff( $write->names, array( CHANGES, CHANGES . '/0' ) ) ) ) );
		return $write;
	}

	/** The index of the table. */
	private function start(): int {
		$i = '(' === ( $this->t[0] ?? '' ) ? 2 : 1;
		while ( in_array( $this->u[ $i ] ?? '', self::MODIFIERS, true ) ) {
			++$i;
		}
		return $i;
	}

	/** Statements that define tables: all of those. */
	private function define(): void {
		$count = count( $this->t );
		$i     = array_search( 'TABLE', $this->u, true );
		$i     = false === $i ? array_search( 'TABLES', $this->u, true ) : $i;
		if ( 'TRUNCATE' === $this->u[0] && 1 !== $i ) {
			$i = 0;
		}
		if ( false === $i || $i > 3 ) {
			return;
		}
		$names = array();
		for ( ++$i; $i < $count; ) {
			if ( preg_match( '/^(IF|NOT|EXISTS|TO|AS|RENAME|,)$/', $this->u[ $i ] ) ) {
				++$i;
				continue;
			}
			$table = Sql::table_at( $this->t, $i );
			if ( '' === $table ) {
				break;
			}
			$names[] = Sql::short( $table );
			if ( 'ALTER' === $this->u[0] || 'CREATE' === $this->u[0] ) {
				// A new name, of the table or of a part of it.
				$renamed = array_search( 'RENAME', $this->u, true );
				if ( 'CREATE' === $this->u[0] || false === $renamed || $renamed < $i ) {
					break;
				}
				$i = $renamed;
			}
		}
		$this->names = $names ?: array( '*' );
	}

	/** INSERT and REPLACE. */
	private function insert(): void {
		$t     = $this->t;
		$u     = $this->u;
		$count = count( $t );
		$i     = $this->start();
		$table = Sql::short( Sql::table_at( $t, $i ) );
		if ( '' === $table ) {
			return;
		}
		$this->names = array( $table );
		if ( ! isset( IDENTITIES[ $table ] ) || 'PARTITION' === ( $u[ $i ] ?? '' ) ) {
			return;
		}
		$columns = array();
		if ( '(' === ( $t[ $i ] ?? '' ) ) {
			$end = Sql::after( $t, $i );
			for ( $k = $i + 1; $k < $end - 1; $k++ ) {
				if ( ',' !== $t[ $k ] && '.' !== ( $t[ $k + 1 ] ?? '' ) && '.' !== $t[ $k ] ) {
					$columns[] = strtolower( trim( $t[ $k ], '`' ) );
				}
			}
			$i = $end;
		}
		$rows = array();
		$end  = $count;
		if ( 'SET' === ( $u[ $i ] ?? '' ) ) {
			$end  = Sql::find( $u, array( 'ON' => 1, 'RETURNING' => 1 ), $i, $count );
			$rows = array( $this->assigned( $i + 1, $end ) );
		} elseif ( $columns && in_array( $u[ $i ] ?? '', array( 'VALUES', 'VALUE' ), true ) ) {
			for ( $end = $i + 1; '(' === ( $t[ $end ] ?? '' ); $end = ',' === ( $t[ $after ] ?? '' ) ? $after + 1 : $after ) {
				$after  = Sql::after( $t, $end );
				$values = array();
				foreach ( $this->split( $end + 1, $after - 1 ) as $part ) {
					$values[] = $part[0] + 1 === $part[1] ? $t[ $part[0] ] : '?';
				}
				if ( count( $values ) !== count( $columns ) || count( $rows ) > MAX_ROWS ) {
					return;
				}
				$rows[] = array_combine( $columns, $values );
			}
		}
		list( $row, $group ) = IDENTITIES[ $table ];
		$is_numbered         = in_array( $table, NUMBERED, true );
		// Rows that exist may be changed or replaced.
		$is_change = 'REPLACE' === $u[0] || $end < $count;
		if ( ! $rows || ( $is_change && ( ! in_array( $table, array( 'options', 'term_relationships' ), true ) || ! $this->keeps_identity( $end, $row, $group ) ) ) ) {
			return;
		}
		$names = array();
		foreach ( $rows as $values ) {
			if ( $is_change && isset( $values['option_id'] ) ) {
				return;
			}
			$id = isset( $values[ $row ] ) ? Sql::value( $row, $values[ $row ] ) : null;
			if ( $is_numbered && ( null === $id || '0' === $id ) && ( ! isset( $values[ $row ] ) || in_array( strtoupper( $values[ $row ] ), array( 'NULL', 'DEFAULT', '0', "'0'", "''" ), true ) ) ) {
				if ( count( $rows ) > 1 ) {
					return;
				}
				$this->inserts = $table;
				if ( '' === $group ) {
					// Until its number is known: a row that only those depend on who depend on all rows.
					$names[] = "$table/0";
				}
			} elseif ( in_array( $table, array( 'terms', 'term_taxonomy' ), true ) ) {
				// Rows that exist may already refer to a number that is chosen.
				return;
			} else {
				$names = array_merge( $names, Sql::named( $table, '/', array( $id ) ) );
			}
			if ( '' !== $group ) {
				// Columns without a value have the default of WordPress's tables.
				$default = array( 'post_type' => "'post'", 'taxonomy' => "''", 'autoload' => "'yes'" )[ $group ] ?? '0';
				$value   = Sql::value( $group, $values[ $group ] ?? $default );
				$parent  = 'revision' === $value ? Sql::value( 'post_parent', $values['post_parent'] ?? '0' ) : '';
				if ( '' !== $parent ) {
					$names[] = null === $parent ? $table : "$table?revision/$parent";
				}
				$names       = array_merge( $names, Sql::named( $table, '?', array( $value ) ) );
			}
			if ( 'posts' === $table ) {
				$names = array_merge( $names, Sql::named( 'slugs', '/', array( Sql::value( 'post_name', $values['post_name'] ?? "''" ) ) ) );
			}
			if ( 'usermeta' === $table ) {
				$name  = array_pop( $names );
				$names = array_merge( $names, Sql::with_sessions( array( $name ), Sql::are_sessions( array( '.meta_key' => array( $values['meta_key'] ?? 'NULL' ) ), '' ) ) );
			}
		}
		if ( 'options' === $table && $is_change ) {
			$names = array_merge( $names, self::autoload_of( $names, $this->find ) );
		}
		$this->names = in_array( $table, $names, true ) ? array( $table ) : $names;
	}

	/** The groups that options with these names are in before they are written. */
	private static function autoload_of( array $names, callable $find ): array {
		$options = array();
		foreach ( $names as $name ) {
			if ( 0 === strpos( $name, 'options/' ) ) {
				$options[] = addslashes( substr( $name, 8 ) );
			}
		}
		$table = Sql::$prefix . 'options';
		$found = $options ? $find( "SELECT DISTINCT autoload FROM `$table` WHERE option_name IN ('" . implode( "','", $options ) . "')", true ) : array();
		return null === $found ? array( 'options' ) : Sql::named( 'options', '?', array_column( $found, 0 ) );
	}

	/** Whether what follows the values of INSERT leaves the columns with the identity as they are inserted. */
	private function keeps_identity( int $end, string $row, string $group ): bool {
		if ( $end >= count( $this->t ) ) {
			return true;
		}
		if ( array( 'ON', 'DUPLICATE', 'KEY', 'UPDATE' ) !== array_slice( $this->u, $end, 4 ) ) {
			return false;
		}
		foreach ( $this->split( $end + 4, count( $this->t ) ) as $part ) {
			$text = strtolower( str_replace( '`', '', implode( '', array_slice( $this->t, $part[0], $part[1] - $part[0] ) ) ) );
			foreach ( array_filter( array( $row, $group, 'option_id' ) ) as $column ) {
				if ( preg_match( "/^([^=]*\\.)?$column=/", $text ) && "$column=values($column)" !== $text ) {
					return false;
				}
			}
		}
		return true;
	}

	/** The parts between commas, as pairs of indices. */
	private function split( int $i, int $end ): array {
		$parts = array();
		for ( ; $i < $end; $i = $next + 1 ) {
			$next    = Sql::find( $this->u, array( ',' => 1 ), $i, $end );
			$parts[] = array( $i, $next );
		}
		return $parts;
	}

	/** Assignments: tokens by column in lower case; `?` where there is more than one token. */
	private function assigned( int $i, int $end ): array {
		$values = array();
		foreach ( $this->split( $i, $end ) as $part ) {
			$equals = Sql::find( $this->u, array( '=' => 1, ':=' => 1 ), $part[0], $part[1] );
			$column = strtolower( trim( $this->t[ max( $equals - 1, 0 ) ], '`' ) );

			$values[ $column ] = $equals + 2 === $part[1] ? $this->t[ $equals + 1 ] : '?';
		}
		return $values;
	}

	/** UPDATE. */
	private function update(): void {
		$count  = count( $this->t );
		$set    = Sql::find( $this->u, array( 'SET' => 1 ), 1, $count );
		$where  = Sql::find( $this->u, array( 'WHERE' => 1, 'ORDER' => 1, 'LIMIT' => 1 ), $set, $count );
		$tables = Sql::tables( $this->t, $this->u, $this->start(), $set );
		if ( ! $tables || $set === $count ) {
			return;
		}
		if ( count( $tables ) > 1 || ',' === ( $this->t[ $set - 1 ] ?? '' ) || in_array( 'SELECT', array_slice( $this->u, 0, $set ), true ) ) {
			$this->all_of( $tables );
			return;
		}
		$this->rows( (string) key( $tables ), current( $tables ), $where, $this->assigned( $set + 1, $where ) );
	}

	/** DELETE, of one table or several. */
	private function delete(): void {
		$count = count( $this->t );
		$i     = $this->start();
		if ( 'FROM' === ( $this->u[ $i ] ?? '' ) ) {
			$where  = Sql::find( $this->u, array( 'WHERE' => 1, 'ORDER' => 1, 'LIMIT' => 1, 'RETURNING' => 1 ), $i, $count );
			// Those after FROM may be aliases of those after USING.
			$using  = Sql::find( $this->u, array( 'USING' => 1 ), $i, $where );
			$tables = Sql::tables( $this->t, $this->u, ( $using < $where ? $using : $i ) + 1, $where );
			if ( 1 === count( $tables ) && $using === $where && ! in_array( 'SELECT', array_slice( $this->u, 0, $where ), true ) ) {
				$this->rows( (string) key( $tables ), current( $tables ), $where, array() );
				return;
			}
			$this->all_of( $tables );
			return;
		}
		// DELETE a, b FROM options a, options b WHERE …: WordPress deletes expired transients so.
		$from   = Sql::find( $this->u, array( 'FROM' => 1 ), $i, $count );
		$where  = Sql::find( $this->u, array( 'WHERE' => 1 ), $from, $count );
		$tables = Sql::tables( $this->t, $this->u, $from + 1, $where );
		$this->all_of( $tables );
		if ( array( 'options' ) !== array_values( array_unique( array_map( array( Sql::class, 'short' ), $tables ) ) ) ) {
			return;
		}
		$columns = array();
		foreach ( $this->split( $i, $from ) as $part ) {
			if ( $part[0] + 1 !== $part[1] || ! isset( $tables[ strtolower( trim( $this->t[ $part[0] ], '`' ) ) ] ) ) {
				return;
			}
			array_unshift( $columns, $this->t[ $part[0] ] . '.option_name' );
			$columns[] = $this->t[ $part[0] ] . '.autoload';
		}
		$found = $this->find( 'SELECT ' . implode( ', ', $columns ), $from, $count );
		if ( null !== $found ) {
			$options = array();
			$groups  = array();
			foreach ( $found as $values ) {
				$half    = intdiv( count( $values ), 2 );
				$options = array_merge( $options, array_slice( $values, 0, $half ) );
				$groups  = array_merge( $groups, array_slice( $values, $half ) );
			}
			$options        = array_unique( $options );
			$this->names    = array_merge( Sql::named( 'options', '/', $options ), Sql::named( 'options', '?', array_unique( $groups ) ) );
			$this->table    = 'options';
			$this->expected = count( $options );
		}
	}

	/** All rows of these tables. */
	private function all_of( array $tables ): void {
		$this->names = array_map( array( Sql::class, 'short' ), array_values( $tables ) ) ?: array( '*' );
	}

	/** Rows found with the tokens of this statement from an index on; null if they cannot be looked for. */
	private function find( string $select, int $i, int $end, string $suffix = '' ): ?array {
		$condition = array_slice( $this->u, $i, $end - $i );
		if ( $this->is_cut || in_array( 'SELECT', $condition, true ) || preg_grep( '/^(@|[?]$)/', $condition ) || preg_grep( UNSTABLE, $condition ) ) {
			return null;
		}
		$sql = $select;
		foreach ( array_slice( $this->t, $i, $end - $i ) as $token ) {
			$sql .= '(' === $token ? $token : " $token";
		}
		$found = ( $this->find )( "$sql$suffix LIMIT " . ( MAX_ROWS + 1 ) );
		return null === $found || count( $found ) > MAX_ROWS ? null : $found;
	}

	/**
	 * The rows of a table for which a condition is true.
	 *
	 * @param string $alias    How the statement names the table.
	 * @param string $written  The table's name in the database.
	 * @param int    $where    Index of WHERE, or of what follows the tables.
	 * @param array  $assigned Tokens that are assigned, by column; empty if rows are deleted.
	 */
	private function rows( string $alias, string $written, int $where, array $assigned ): void {
		$table = Sql::short( $written );
		$this->all_of( array( $written ) );
		if ( ! isset( IDENTITIES[ $table ] ) || 'WHERE' !== ( $this->u[ $where ] ?? '' ) ) {
			return;
		}
		list( $row, $group ) = IDENTITIES[ $table ];

		$end         = Sql::find( $this->u, array( 'ORDER' => 1, 'LIMIT' => 1, 'RETURNING' => 1 ), $where, count( $this->t ) );
		$constraints = Sql::constraints( $this->t, $this->u, $where + 1, $end );
		$ids         = Sql::only( $constraints, $alias, $row );
		$parents     = array();
		$slugs       = array();
		$groups      = '' === $group ? array() : Sql::only( $constraints, $alias, $group );
		if ( null === $ids || null === $groups || 'posts' === $table ) {
			$groups  = '' === $group ? array() : null;
			$columns = $row . ( '' === $group ? '' : ", $group" ) . ( 'posts' === $table ? ', post_parent, post_name' : '' );
			$select  = "SELECT $columns, COUNT(*) FROM `$written`" . ( $alias === $written ? '' : " AS `$alias`" );
			if ( null !== $ids ) {
				// By identity, since the condition may have functions or long texts.
				$found = count( $ids ) > MAX_ROWS ? null : ( $this->find )( "$select WHERE $row IN ('" . implode( "','", array_map( 'addslashes', $ids ) ) . "') GROUP BY $columns", true );
			} else {
				$found = $this->find( $select, $where, $end, " GROUP BY $columns" );
			}
			if ( null === $found ) {
				return;
			}
			$ids            = $ids ?? array_unique( array_column( $found, 0 ) );
			$groups         = $groups ?? array_unique( array_column( $found, 1 ) );
			$this->table    = $table;
			$this->expected = 0;
			foreach ( $found as $values ) {
				$this->expected += (int) end( $values );
				if ( 'posts' === $table && 'revision' === strtolower( $values[1] ) ) {
					$parents[] = $values[2];
				}
			}
			$slugs = 'posts' === $table ? array_column( $found, 3 ) : array();
		}
		foreach ( array( $row => 'ids', $group => 'groups' ) as $column => $values ) {
			if ( '' !== $column && isset( $assigned[ $column ] ) ) {
				$value = Sql::value( $column, $assigned[ $column ] );
				if ( 'taxonomy' === $column && array( $value ) !== array_values( $groups ) ) {
					return;
				}
				$$values = array_merge( $$values, array( $value ) );
			}
		}
		if ( 'posts' === $table && in_array( 'revision', $groups, true ) && array_intersect_key( $assigned, array( 'post_parent' => 0, 'post_type' => 0 ) ) ) {
			$parents[] = Sql::value( 'post_parent', $assigned['post_parent'] ?? '?' );
		}
		if ( 'posts' === $table && isset( $assigned['post_name'] ) ) {
			$slugs[] = Sql::value( 'post_name', $assigned['post_name'] );
		}
		$names = array_merge( Sql::named( $table, '/', $ids ), Sql::named( $table, '?', $groups ), Sql::named( $table, '?revision/', $parents ), Sql::named( 'slugs', '/', $slugs ) );
		if ( in_array( $table, $names, true ) ) {
			return;
		}
		if ( 'usermeta' === $table ) {
			$names = Sql::with_sessions( $names, isset( $assigned['meta_key'] ) ? null : Sql::are_sessions( $constraints, $alias ) );
		}
		$this->names = $names;
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
	/** What was announced since the last end: names as keys. @var true[] */
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

	/** A statement whose new row is named after it, or whose rows are counted: its text and what it writes. @var array|null */
	private static $last = null;

	/** Called for each statement before it is sent. */
	public static function before( string $sql ): void {
		if ( self::$last ) {
			self::after_last();
		}
		// A persistent object cache may have the former values until the end of the request.
		if ( self::$announced && ! self::$is_open && microtime( true ) - self::$begun > ( wp_using_ext_object_cache() ? 30 : 1 ) ) {
			self::end();
		}
		if ( ! self::$is_manual && 0 === substr_compare( $sql, 'SELECT', strspn( $sql, " \t\r\n(" ), 6, true ) ) {
			return;
		}
		$verb       = Sql::verb( $sql );
		$write      = Write::of( $sql, array( self::class, 'find' ) );
		$is_by_read = $write && $write->names && Record::marks( $write->names );
		if ( $write && $write->names ) {
			self::announce( $write->names, $is_by_read );
		}
		if ( $write && ( $write->inserts || $write->table ) ) {
			self::$last = array( $sql, $write );
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

	/** Names what the last statement wrote and was not known before. */
	private static function after_last(): void {
		global $wpdb;
		list( $sql, $write ) = self::$last;
		self::$last          = null;
		if ( $wpdb->last_query !== $sql ) {
			// It was changed, or has not been sent yet.
			self::announce( Sql::completed( array( $write->inserts ?: $write->table ) ) );
		} elseif ( $write->inserts ) {
			if ( '' === (string) $wpdb->last_error && $wpdb->insert_id > 0 ) {
				self::announce( array( $write->inserts . '/' . (int) $wpdb->insert_id ) );
				self::$inserted[ $write->inserts ] = 1 + ( self::$inserted[ $write->inserts ] ?? 0 );
			}
		} elseif ( (int) $wpdb->rows_affected > $write->expected + ( self::$is_open ? self::$inserted[ $write->table ] ?? 0 : 0 ) ) {
			self::announce( Sql::completed( array( $write->table ) ) );
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

	/** Announces that these names will be written. Writes of a rendering that svc-server has requested are of another kind. */
	private static function announce( array $names, bool $is_by_read = false ): void {
		global $wpdb;
		try {
			$writer = isset( $wpdb->dbh->thread_id ) ? (int) $wpdb->dbh->thread_id : self::$writer;
		} catch ( \Throwable $e ) {
			$writer = self::$writer;
		}
		if ( $writer !== self::$writer && self::$announced ) {
			// The site has connected again, and its last statement may have been sent again.
			$names           = array_merge( array_keys( self::$announced ), $names );
			self::$announced = array();
		}
		$rows = array();
		foreach ( $names as $name ) {
			$table = strtok( (string) $name, '/?^' );
			if ( ! isset( self::$announced[ $name ] ) && ! isset( self::$announced[ $table ] ) && ! isset( self::$announced['*'] ) ) {
				self::$announced[ $name ] = true;
				$rows[]                   = "($writer,'" . ( $is_by_read ? 'r' : 'b' ) . "',0x" . bin2hex( (string) $name ) . ')';
			}
		}
		if ( ! $rows ) {
			return;
		}
		if ( ! self::$is_planned ) {
			self::$is_planned = true;
			// After the functions that are registered now, such as that which runs the action `shutdown`.
			register_shutdown_function(
				static function () {
					register_shutdown_function( array( self::class, 'finish' ) );
				}
			);
		}
		self::$begun  = self::$begun ?: microtime( true );
		self::$writer = $writer;
		self::send( $rows );
	}

	/** At the end of the process. What is written still later is announced again. */
	public static function finish(): void {
		self::$is_planned = false;
		if ( self::$last ) {
			self::after_last();
		}
		// If a transaction is open, svc-server notices that the connection is closed.
		if ( self::$announced && ! self::$is_open ) {
			self::end();
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
		for ( $attempt = 0; $attempt < 2; $attempt++ ) {
			$result = self::run( $sql );
			if ( true === $result || 1146 === $result ) {
				// Without the table, svc-server reads the binary log or is not used.
				return;
			}
			if ( 1114 === $result ) {
				self::forget();
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
final class Observed implements \IteratorAggregate, \ArrayAccess {
	/** Whether WordPress is about to read a single option, for which it loads all. */
	private static $is_single = false;

	/** The callbacks. @var \WP_Hook */
	private $hook;

	/** Called with the result and the arguments of the filter; for `alloptions` only if it is not applied for a single option. @var callable|null */
	private $see;

	/** Whether this is `pre_option`. */
	private $is_option;

	/** Whether this is `alloptions`. */
	private $is_all;

	public function __construct( string $filter, ?callable $see = null ) {
		$this->hook                      = $GLOBALS['wp_filter'][ $filter ] ?? new \WP_Hook();
		$this->see                       = $see;
		$this->is_option                 = 'pre_option' === $filter;
		$this->is_all                    = 'alloptions' === $filter;
		$GLOBALS['wp_filter'][ $filter ] = $this; // phpcs:ignore WordPress.WP.GlobalVariablesOverride
	}

	public function apply_filters( $value, $arguments ) {
		if ( $this->hook->callbacks ) {
			$value = $this->hook->apply_filters( $value, $arguments );
		}
		if ( $this->is_option ) {
			self::$is_single = false === $value;
		} elseif ( $this->is_all && self::$is_single ) {
			self::$is_single = false;
		} else {
			( $this->see )( $value, $arguments );
		}
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
 * Records what a request reads: its statements, which svc-server examines, options, and entries of a persistent object cache. svc-server requests
 * this in a signed header; the record is sent before the body.
 */
final class Record {
	/** Options that WordPress reads before it loads plugins. */
	const EARLY = array( 'siteurl', 'home', 'blog_charset', 'active_plugins', 'template', 'stylesheet', 'WPLANG' );

	/** Functions of WordPress that read single options of those that are loaded together. */
	const LOADERS = array( 'get_option', 'wp_prime_option_caches', 'wp_set_option_autoload_values', 'update_option', 'add_option', 'delete_option', 'get_transient', 'is_blog_installed' );

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

	/** Groups of options that were loaded together. @var string[] */
	private static $groups = array();

	/** Begins to record if the request is signed. */
	public static function start(): void {
		$header = (string) ( $_SERVER['HTTP_X_SVC_RECORD'] ?? '' );
		$method = (string) ( $_SERVER['REQUEST_METHOD'] ?? '' );
		if ( ! in_array( $method, array( 'GET', 'HEAD' ), true ) || ! preg_match( '/^([0-9]{1,12})\.([A-Za-z0-9]{32})\.([0-9a-f]{64})$/D', $header, $part ) || abs( time() - (int) $part[1] ) > MAX_AGE ) {
			return;
		}
		$uri          = (string) ( $_SERVER['REQUEST_URI'] ?? '' );
		self::$secret = signed_with( "svc-record\n{$part[1]}\n{$part[2]}\n$method\n$uri", $part[3] );
		if ( '' === self::$secret || array_diff( ob_list_handlers(), array( 'default output handler' ) ) ) {
			return;
		}
		self::$nonce = $part[2];
		self::$is_on = true;
		self::$is_anonymous = ! preg_grep( '/^(HTTP_(?!SEC_).*(AUTH|COOKIE|TOKEN|NONCE|SESSION|SECRET|SIGNATURE|PASSWORD|JWT|CERT|KEY|USER$|EMAIL$)|PHP_AUTH|AUTH_|REMOTE_USER)/', array_keys( $_SERVER ) ) && empty( $_COOKIE ) && ! isset( $_GET['_wpnonce'] );
		ob_start( array( self::class, 'output' ) );
		// After all functions that run at shutdown, so that these are recorded as well.
		if ( remove_action( 'shutdown', 'wp_ob_end_flush_all', 1 ) ) {
			register_shutdown_function(
				static function () {
					register_shutdown_function( 'wp_ob_end_flush_all' );
				}
			);
		}
		if ( ! isset( $GLOBALS['wp_filters'] ) ) {
			// WordPress before 6.1 does not count what it reads.
			self::$parts['options'] = true;
		}
		// Besides the query that loads options: those of plugins that are loaded first.
		if ( $GLOBALS['wpdb']->num_queries > 1 ) {
			self::$parts['*'] = true;
		}
		self::listen();
		if ( wp_using_ext_object_cache() ) {
			self::observes_cache() || self::refuse( 'the object cache cannot be observed' );
		}
	}

	/** Listens to what else a response may depend on. */
	private static function listen(): void {
		$last = PHP_INT_MAX;
		new Observed( 'pre_option' );
		new Observed( 'alloptions', array( self::class, 'all_options' ) );
		new Observed( 'get_user_metadata', array( self::class, 'user_metadata' ) );
		add_filter( 'nonce_life', array( self::class, 'nonce_life' ), $last );
		add_action( 'auth_cookie_valid', array( self::class, 'cookie' ), $last );
		add_filter( 'rest_dispatch_request', array( self::class, 'dispatch' ), $last, 3 );
		add_filter( 'pre_http_request', array( self::class, 'http_request' ), $last, 3 );
		add_filter( 'wp_mail', array( self::class, 'mail' ), $last );
		add_action( 'wp_loaded', array( self::class, 'edge' ), $last );
		add_action( 'shutdown', array( self::class, 'edge' ), PHP_INT_MIN );
	}

	/**
	 * Whether writes of these names by this request are reported as those of a read. Those of known users and of visitors with cookies are not, except
	 * of single options: a later read of the same person may show them.
	 */
	public static function marks( array $names ): bool {
		return self::$is_on && ( self::$is_anonymous || ! preg_grep( '/^options[\/?]/', $names, PREG_GREP_INVERT ) );
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
			$sql = preg_match( self::WRITES, $sql ) ? Sql::without_long_texts( $sql ) : $sql;
		}
		if ( 0 === strpos( $sql, 'SELECT option_name, option_value FROM ' ) && in_array( 'wp_load_alloptions', array_column( debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS, 16 ), 'function' ), true ) ) {
			// Named if somebody reads all of them.
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

	/** All options were loaded, and not to read a single one. */
	public static function all_options(): void {
		$callers = array_column( debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS, 9 ), 'function' );
		$caller  = $callers[ 1 + (int) array_search( 'wp_load_alloptions', $callers, true ) ] ?? '';
		if ( isset( self::SELECTIVE[ $caller ] ) ) {
			foreach ( (array) ( self::SELECTIVE[ $caller ] )() as $option => $value ) {
				self::$parts[ "options/$option" ] = true;
			}
		} elseif ( ! in_array( $caller, self::LOADERS, true ) ) {
			$groups = function_exists( 'wp_autoload_values_to_autoload' ) ? wp_autoload_values_to_autoload() : array( '' );
			foreach ( array_merge( self::$groups, $groups ) as $group ) {
				self::$parts[ '' === $group ? 'options' : "options?$group" ] = true;
			}
		}
	}

	/** The options that were read, without those with planned jobs, except if they were read in between. */
	private static function options(): array {
		$options = self::EARLY;
		$counts  = $GLOBALS['wp_filters'] ?? array();
		foreach ( preg_grep( '/^pre_option_/', array_keys( $counts ) ) as $filter ) {
			$option = substr( $filter, 11 );
			$count  = $counts[ $filter ];
			if ( ! in_array( $option, JOBS, true ) || ( self::$jobs[ $option ][1] ?? $count ) > ( self::$jobs[ $option ][0] ?? $count ) ) {
				$options[] = $option;
			}
			if ( false !== strpos( $option, 'transient_timeout_' ) ) {
				$value = ( wp_cache_get( 'alloptions', 'options' ) ?: array() )[ $option ] ?? wp_cache_get( $option, 'options' );
				if ( is_numeric( $value ) && $value > 0 ) {
					self::until( (int) $value );
				}
			}
		}
		return $options;
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
		wp_cache_get( 'probe', Cache::PROBE );
		$seen = Cache::$probes;
		if ( ! function_exists( 'wp_cache_get_multiple' ) ) {
			return $seen > 0;
		}
		wp_cache_get_multiple( array( 'probe' ), Cache::PROBE );
		return $seen > 0 && Cache::$probes > $seen;
	}

	/** Notes what was read from the persistent object cache. */
	public static function cached( string $group, string $key, $value ): void {
		if ( ! preg_match( self::NEUTRAL, "$group:$key" ) && ! ( self::$is_edge && 'options' === $group && in_array( $key, JOBS, true ) ) ) {
			$has_ids = preg_match( '/^(terms|userlogins|.*_relationships)$/', $group );

			self::$cached[ "$group:$key" ] = array( $group, $key, $has_ids ? self::ids( is_array( $value ) ? $value : array( $value ) ) : array() );
		}
	}

	/** Handles the output of the request. */
	public static function output( string $body, int $phase ): string {
		if ( $phase & PHP_OUTPUT_HANDLER_CLEAN ) {
			return '';
		}
		if ( ! ( $phase & PHP_OUTPUT_HANDLER_FINAL ) || self::$is_gone ) {
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
		if ( function_exists( 'session_status' ) && PHP_SESSION_ACTIVE === session_status() ) {
			self::refuse( 'a session of PHP' );
		}
		if ( wp_using_ext_object_cache() && ! $GLOBALS['wp_object_cache'] instanceof Cache ) {
			self::refuse( 'the object cache cannot be observed' );
		}
		foreach ( array( 'pre_option', 'alloptions', 'get_user_metadata' ) as $filter ) {
			if ( ! ( $GLOBALS['wp_filter'][ $filter ] ?? null ) instanceof Observed ) {
				self::refuse( "the filter $filter cannot be observed" );
			}
		}
		$options = self::options();
		$user    = $GLOBALS['current_user'] ?? null;
		$record  = array(
			'v'        => 2,
			'parts'    => array_keys( self::$parts ),
			'prefix'   => Sql::$prefix,
			'database' => Sql::$database,
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
		$signature = hash_hmac( 'sha256', 'svc-recorded' . "\n" . self::$nonce . "\n" . $json, self::$secret );
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
	/** A group that no plugin uses. */
	const PROBE = 'svc-connector';

	/** How often it was read. */
	public static $probes = 0;

	/** The object of the site. @var object */
	private $site;

	public function __construct( $site ) {
		$this->site = $site;
	}

	private static function note( $group, $key, $value ): void {
		if ( self::PROBE === $group ) {
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

/** The state of the site and of this plugin. */
function status(): array {
	$is_network = is_multisite();
	$test       = $is_network ? null : Reports::test();
	$cache      = wp_using_ext_object_cache();
	return array(
		'connector'    => 7,
		'wordpress'    => get_bloginfo( 'version' ),
		'php'          => PHP_VERSION,
		'multisite'    => $is_network,
		'plugins'      => array_values( (array) get_option( 'active_plugins', array() ) ),
		'object_cache' => $cache ? ( Record::observes_cache() ? 'observed' : 'not observed' ) : 'none',
		'reports'      => $is_network ? 'networks of sites are not supported' : ( true === $test ? 'ok' : ( 1146 === $test ? 'no table' : "error $test" ) ),
	);
}

if ( ! is_multisite() && isset( $GLOBALS['wpdb'] ) ) {
	Sql::$prefix   = strtolower( $GLOBALS['wpdb']->prefix );
	Sql::$database = (string) ( $GLOBALS['wpdb']->dbname ?? DB_NAME );
	add_filter( 'query', __NAMESPACE__ . '\on_query', PHP_INT_MAX );
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

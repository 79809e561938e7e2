<?php
/**
 * Compares the names that the plugin finds in writes with the rows that change in a database.
 *
 * php test_writes.php SOCKET [COUNT [SEED]]    the database `wp` with WordPress's tables, which are written
 *
 * Prints the statements of which a changed row has no name, and how many statements have changed something; exits with 1 if there is one, and with 2
 * without the extension mysqli.
 */

define( 'ABSPATH', __DIR__ . '/' );
function is_multisite() {
	return true;
}
require __DIR__ . '/svc-connector.php';

use Svc\Connector\Write;
use const Svc\Connector\IDENTITIES;

/** Columns of the tables: the primary key, the identity, the group, and others. */
const COLUMNS = array(
	'posts'              => array( 'ID', 'post_type', 'post_parent', 'post_name', 'post_title', 'menu_order' ),
	'postmeta'           => array( 'meta_id', 'post_id', 'meta_key', 'meta_value' ),
	'comments'           => array( 'comment_ID', 'comment_post_ID', 'comment_author', 'comment_karma' ),
	'terms'              => array( 'term_id', 'name' ),
	'term_taxonomy'      => array( 'term_taxonomy_id', 'taxonomy', 'term_id', 'description' ),
	'term_relationships' => array( 'object_id', 'term_taxonomy_id', 'term_order' ),
	'users'              => array( 'ID', 'user_login' ),
	'usermeta'           => array( 'umeta_id', 'user_id', 'meta_key', 'meta_value' ),
	'options'            => array( 'option_id', 'option_name', 'autoload', 'option_value' ),
);

/** Columns with texts. */
const TEXT_COLUMNS = '/type$|name$|title$|_key$|_value$|author$|taxonomy$|description$|login$|autoload$/';

/** Texts that are alike to the database, or look like parts of a statement. */
const WORDS = array( 'post', 'page', 'Page ', 'revision', 'a', 'A', 'b', 'a ', '', '5', '05', 'é', "it's", 'a\\', 'session_tokens', 'yes', 'off', 'cron', 'category', "x' WHERE ID = 1 -- ", '/* a', 'ID = 2 OR 1', '`', ';' );

if ( ! class_exists( 'mysqli' ) ) {
	fwrite( STDERR, "the extension mysqli is missing\n" );
	exit( 2 );
}
$database = new mysqli( 'localhost', 'root', '', 'wp', 0, $argv[1] );
$database->query( "SET sql_mode = ''" );
mysqli_report( MYSQLI_REPORT_OFF );
mt_srand( (int) ( $argv[3] ?? 1 ) );

function one( array $list ) {
	return $list[ mt_rand( 0, count( $list ) - 1 ) ];
}

function once_in( int $n ): bool {
	return 1 === mt_rand( 1, $n );
}

/** A text in quotes. */
function quoted( string $text ): string {
	if ( once_in( 4 ) ) {
		return '"' . str_replace( array( '\\', '"' ), array( '\\\\', '""' ), $text ) . '"';
	}
	return "'" . str_replace( array( '\\', "'" ), array( '\\\\', one( array( "''", "\\'" ) ) ), $text ) . "'";
}

/** A value of a column, sometimes one that is computed. */
function value( string $column, bool $is_simple = false ): string {
	$number = (string) mt_rand( 0, 6 );
	if ( ! $is_simple && once_in( 12 ) ) {
		return one( array( "$number + 1", "CONCAT('a', '')", 'NULL', 'DEFAULT', "IF(1 = 1, $number, 2)", "-$number", "x'3" . mt_rand( 0, 6 ) . "'", '@a', "'1' '2'", "'$number'", "0$number", "$number.0" ) );
	}
	return preg_match( TEXT_COLUMNS, $column ) ? quoted( one( WORDS ) ) : one( array( $number, $number, "'$number'", "'0$number'" ) );
}

/** A name of a column, in one of its forms. */
function named( string $column, string $alias = '' ): string {
	$column = once_in( 3 ) ? "`$column`" : $column;
	return '' !== $alias && once_in( 2 ) ? "$alias.$column" : $column;
}

/** A condition. */
function condition( string $table, string $alias = '', int $depth = 3 ): string {
	$column = one( once_in( 2 ) ? array_slice( COLUMNS[ $table ], 0, 2 ) : COLUMNS[ $table ] );
	$name   = named( $column, $alias );
	if ( $depth > 0 && once_in( 2 ) ) {
		$first  = condition( $table, $alias, $depth - 1 );
		$second = condition( $table, $alias, $depth - 1 );
		return sprintf( one( array( '%s AND %s', '%s AND %s', '%s and %s', '%s OR %s', '(%s) AND %s', '(%s OR %s)', 'NOT %s AND %s', '%s && %s', '%s || %s', '0 = (%s AND %s)', 'COALESCE(%s AND %s, 1)', '(%s AND %s) IS NOT NULL', '%s XOR %s', 'CASE WHEN %s AND %s THEN 1 END', 'IF(%s, 1, %s)' ) ), $first, $second );
	}
	$value = value( $column, once_in( 2 ) );
	return sprintf( one( array( '%1$s = %2$s', '%1$s = %2$s', '%1$s=%2$s', '%1$s IN (%2$s)', '%1$s IN (%2$s, %3$s)', '%1$s in( %2$s,%3$s )', '%2$s = %1$s', '%1$s <> %2$s', '%1$s NOT IN (%2$s)', '%1$s BETWEEN %2$s AND %3$s', '%1$s LIKE %2$s', '%1$s > %2$s', '(%1$s = %2$s)', '%1$s = %4$s', '%1$s = (SELECT MAX(%1$s) FROM wp_' . $table . ')', '%1$s BETWEEN 0 AND %4$s = %2$s', '%1$s = %2$s COLLATE utf8mb4_bin', '%1$s IS NOT NULL' ) ), $name, $value, value( $column ), named( one( COLUMNS[ $table ] ), $alias ) );
}

/** Assignments. */
function assignments( string $table, string $alias = '' ): string {
	$all = array();
	for ( $n = mt_rand( 1, 3 ); $n > 0; $n-- ) {
		$column = one( COLUMNS[ $table ] );
		$all[]  = named( $column, $alias ) . ' = ' . ( once_in( 10 ) ? 'IF(1, ' . named( one( COLUMNS[ $table ] ) ) . ' = 5, 2)' : value( $column, once_in( 2 ) ) );
	}
	return implode( one( array( ', ', ',' ) ), $all );
}

/** Rows for INSERT. */
function rows( array $columns ): string {
	$rows = array();
	for ( $n = once_in( 3 ) ? 2 : 1; $n > 0; $n-- ) {
		$rows[] = '(' . implode( ', ', array_map( fn( $column ) => value( $column, ! once_in( 4 ) ), $columns ) ) . ')';
	}
	return implode( ', ', $rows );
}

/** A statement that writes. */
function statement(): string {
	$table = one( array_keys( COLUMNS ) );
	$other = one( array_keys( COLUMNS ) );
	$name  = one( array( "wp_$table", "`wp_$table`", "wp.wp_$table" ) );
	$all   = COLUMNS[ $table ];
	shuffle( $all );
	$some = array_slice( $all, 0, mt_rand( 1, count( $all ) ) );
	$into = '(' . implode( one( array( ', ', ',' ) ), array_map( fn( $column ) => named( $column ), $some ) ) . ')';
	$end  = once_in( 6 ) ? ' ORDER BY ' . $all[0] . ' LIMIT ' . mt_rand( 1, 3 ) : '';
	switch ( mt_rand( 0, 11 ) ) {
		case 0:
		case 1:
		case 2:
			return one( array( 'UPDATE', 'update', 'UPDATE IGNORE' ) ) . " $name SET " . assignments( $table ) . ' WHERE ' . condition( $table ) . $end;
		case 3:
			return "UPDATE $name AS p SET " . assignments( $table, 'p' ) . ' WHERE ' . condition( $table, 'p' );
		case 4:
		case 5:
			return "DELETE FROM $name WHERE " . condition( $table ) . $end;
		case 6:
			return one( array( "DELETE p, q FROM wp_$table p, wp_$other q", "DELETE q FROM wp_$table p JOIN wp_$other q", "DELETE FROM p USING wp_$table p JOIN wp_$other q", "DELETE p FROM (SELECT 1 AS x WHERE 1) d JOIN wp_$table p" ) ) . ' WHERE ' . condition( $table, 'p', 1 );
		case 7:
			return one( array( "UPDATE wp_$table p, wp_$other q", "UPDATE wp_$other q JOIN wp_$table p ON 1", "UPDATE (SELECT 1 AS x) d, wp_$table p" ) ) . ' SET p.' . one( $all ) . ' = ' . mt_rand( 0, 6 ) . ' WHERE ' . condition( $table, 'p', 1 );
		case 8:
			return one( array( "REPLACE $name", "INSERT INTO $name", "INSERT IGNORE INTO $name" ) ) . one( array( ' ', '' ) ) . $into . one( array( ' VALUES ', ' VALUE' ) ) . rows( $some );
		case 9:
			$update = one( array( one( $some ) . ' = VALUES(' . one( $some ) . ')', assignments( $table ), implode( ', ', array_map( fn( $column ) => "`$column` = VALUES(`$column`)", $some ) ) ) );
			return "INSERT INTO $name $into VALUES " . rows( $some ) . " ON DUPLICATE KEY UPDATE $update";
		case 10:
			return one( array( "INSERT INTO $name SET " . assignments( $table ), "INSERT INTO $name $into SELECT " . implode( ', ', $some ) . " FROM wp_$table", once_in( 5 ) ? "TRUNCATE $name" : "DELETE FROM $name LIMIT 1" ) );
		default:
			return "INSERT INTO $name $into VALUES " . rows( $some );
	}
}

/** Rows found by a statement; null if it fails. */
function find( string $sql ): ?array {
	global $database;
	$result = $database->query( $sql );
	return $result instanceof mysqli_result ? $result->fetch_all( MYSQLI_NUM ) : null;
}

/** All rows, by table and primary key. */
function snapshot(): array {
	global $database;
	$all = array();
	foreach ( COLUMNS as $table => $columns ) {
		foreach ( $database->query( 'SELECT ' . implode( ', ', $columns ) . " FROM wp_$table" )->fetch_all( MYSQLI_ASSOC ) as $row ) {
			$all[ "$table " . ( 'term_relationships' === $table ? $row['object_id'] . ' ' . $row['term_taxonomy_id'] : reset( $row ) ) ] = array( $table, array_change_key_case( $row ) );
		}
	}
	return $all;
}

/** Names that must be among those of a write that changes a row: each as a list of possible ones. */
function needed( string $table, array $row ): array {
	list( $id, $group ) = IDENTITIES[ $table ];

	$plain = static fn( $text ) => preg_match( '/[^\x20-\x7e]/', (string) $text ) ? null : strtolower( rtrim( (string) $text, ' ' ) );
	$name  = static fn( $table, $mark, $text ) => array( null === $plain( $text ) ? $table : $table . $mark . $plain( $text ), $table );
	$part  = 'usermeta' === $table && 'session_tokens' === $plain( $row['meta_key'] ) ? 'sessions' : $table;
	if ( 'options/cron' === $name( $table, '/', $row[ $id ] )[0] ) {
		return array( $name( $table, '/', 'cron' ), array( 'options?jobs', 'options' ) );
	}
	$needed = array( $name( $part, '/', $row[ $id ] ) );
	if ( '' !== $group ) {
		$needed[] = $name( $table, '?', $row[ $group ] );
	}
	if ( 'posts' === $table ) {
		$needed[] = $name( 'slugs', '/', $row['post_name'] );
		$needed[] = 'revision' === $plain( $row['post_type'] ) ? $name( 'posts', '?revision/', $row['post_parent'] ) : $needed[0];
	}
	return $needed;
}

foreach ( array( 'ALTER TABLE wp_posts ADD COLUMN IF NOT EXISTS post_name varchar(200) NOT NULL default \'\', ADD COLUMN IF NOT EXISTS post_title text', 'ALTER TABLE wp_options ADD UNIQUE (option_name)' ) as $sql ) {
	$database->query( $sql );
}
$n      = array_fill_keys( array( 'statements', 'changes', 'rows', 'tables' ), 0 );
$failed = 0;
$before = snapshot();
for ( $left = (int) ( $argv[2] ?? 1000 ); $left > 0; $left-- ) {
	$sql   = statement();
	$sql   = once_in( 10 ) ? preg_replace( '/ (?=[a-z(])/i', one( array( ' /* a\'b */ ', "\n", ' # "b' . "\n", " -- c`\n" ) ), $sql, 1 ) : $sql;
	$write = Write::of( $sql, 'find' );
	if ( ! $write ) {
		echo "no write: $sql\n";
		++$failed;
		continue;
	}
	$is_done = $database->query( $sql );
	$names   = $write->names;
	if ( $write->inserts && $is_done && $database->insert_id > 0 ) {
		$names[] = "$write->inserts/$database->insert_id";
	} elseif ( $write->table && $database->affected_rows > $write->expected ) {
		$names[] = $write->table;
		$names[] = array( 'posts' => 'slugs', 'usermeta' => 'sessions' )[ $write->table ] ?? $write->table;
	}
	$after = snapshot();
	++$n['statements'];
	$n['changes'] += $before == $after ? 0 : 1;
	$n['tables']  += preg_grep( '/[\/?]/', $names ) ? 0 : 1;
	foreach ( array_keys( $before + $after ) as $key ) {
		$old = $before[ $key ] ?? null;
		$new = $after[ $key ] ?? null;
		if ( $old === $new || in_array( '*', $names, true ) ) {
			continue;
		}
		++$n['rows'];
		foreach ( array_filter( array( $old, $new ) ) as $row ) {
			foreach ( needed( ...$row ) as $possible ) {
				if ( ! array_intersect( $possible, $names ) ) {
					echo "$sql\n    has " . implode( ' ', $names ) . "\n    not $possible[0]\n";
					++$failed;
					break 3;
				}
			}
		}
	}
	$before = $after;
	if ( count( $before ) > 150 ) {
		foreach ( COLUMNS as $table => $columns ) {
			$database->query( "DELETE FROM wp_$table ORDER BY RAND() LIMIT 10" );
		}
		$before = snapshot();
	}
}
echo json_encode( $n ) . "\n";
$is_good = 0 === $failed && $n['changes'] * 3 > $n['statements'] && $n['tables'] * 5 < 4 * $n['statements'];
echo $is_good ? "ok\n" : "$failed failed\n";
exit( $is_good ? 0 : 1 );

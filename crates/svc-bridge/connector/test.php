<?php
/**
 * Tests the plugin.
 *
 * php test.php                    the names of the statements in statements.txt, without WordPress
 * php test.php names              prints statements.txt with the names that the plugin finds
 * php test.php URL SECRET_FILE    signed requests to a running WordPress where the plugin is installed with the secret of the file
 *
 * Prints a line per failure; exits with 1 if there is one.
 */

$failed = 0;

/** Compares what was found with what is right. */
function check( string $name, $found, $right ): void {
	if ( $found !== $right ) {
		echo "FAIL  $name\n      found: " . json_encode( $found, JSON_UNESCAPED_SLASHES ) . "\n      right: " . json_encode( $right, JSON_UNESCAPED_SLASHES ) . "\n";
		++$GLOBALS['failed'];
	}
}

if ( isset( $argv[2] ) ) {
	test_requests( rtrim( $argv[1], '/' ), include $argv[2] );
} else {
	// What the plugin needs of WordPress when it is loaded, and then does nothing.
	define( 'ABSPATH', __DIR__ . '/' );
	define( 'HOUR_IN_SECONDS', 3600 );
	function is_multisite() {
		return true;
	}
	function get_option() {
		return 0;
	}
	require __DIR__ . '/svc-connector.php';
	\Svc\Connector\Sql::$database = 'site';
	test_statements( 'names' === ( $argv[1] ?? '' ) );
	test_sizes();
	test_joins();
}
echo $failed ? "$failed failed\n" : "ok\n";
exit( $failed ? 1 : 0 );

/** Rows as the database would find them, for statements that do not name what they write. */
function find( string $sql ): ?array {
	$rows = array(
		'posts'              => array( '5', 'post', '0', '1' ),
		'postmeta'           => array( '5', '1' ),
		'comments'           => array( '7', '5', '1' ),
		'commentmeta'        => array( '7', '1' ),
		'terms'              => array( '3', '1' ),
		'termmeta'           => array( '3', '1' ),
		'term_taxonomy'      => array( '4', 'category', '1' ),
		'term_relationships' => array( '5', '4', '1' ),
		'users'              => array( '2', '1' ),
		'usermeta'           => array( '2', '1' ),
		'options'            => array( '_transient_a', 'off', '1' ),
	);
	if ( preg_match( '/^SELECT b\.option_name/', $sql ) ) {
		$rows['options'] = array( '_transient_a', '_transient_timeout_a', 'off', 'off' );
	} elseif ( 0 === strpos( $sql, 'SELECT DISTINCT autoload' ) ) {
		$rows['options'] = array( 'off' );
	}
	if ( false !== strpos( $sql, "'revision'" ) ) {
		$rows['posts'] = array( '6', 'revision', '5', '1' );
	}
	return preg_match( '/FROM\s+`?wp_(\w+)/', $sql, $table ) && isset( $rows[ $table[1] ] ) ? array( $rows[ $table[1] ] ) : null;
}

/** What the plugin finds in a statement. */
function names( string $sql ): string {
	$write = \Svc\Connector\Write::of( $sql, 'find' );
	if ( $write ) {
		return rtrim( 'writes ' . implode( ' ', $write->names ) . ( $write->inserts ? " +$write->inserts" : '' ) );
	}
	$read = \Svc\Connector\Read::of( $sql );
	if ( '' !== $read->why ) {
		return "unstable: $read->why";
	}
	$names = implode( ' ', array_keys( $read->names ) );
	$terms = null === $read->terms ? '' : ' rows or ' . implode( ' ', $read->terms );
	foreach ( $read->joins as $join ) {
		$terms .= ' joined ' . implode( ' ', $join['open'] );
	}
	return rtrim( "reads $names$terms" . ( $read->is_login ? ' row or users' : '' ) . ( $read->is_clocked ? ' and the clock' : '' ) );
}

function test_statements( bool $is_printed ): void {
	$lines = file( __DIR__ . '/statements.txt', FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES );
	$count = 0;
	foreach ( $lines as $i => $line ) {
		if ( 0 === strncmp( $line, '    ', 4 ) ) {
			continue;
		}
		if ( '#' === $line[0] ) {
			echo $is_printed ? "\n$line\n" : '';
			continue;
		}
		$sql = str_replace( '\n', "\n", $line );
		if ( $is_printed ) {
			echo "$line\n    " . names( $sql ) . "\n";
		} else {
			check( $line, names( $sql ), trim( $lines[ $i + 1 ] ?? '' ) );
			++$count;
		}
	}
	if ( ! $is_printed && $count < 200 ) {
		check( 'number of statements', $count, 'at least 200' );
	}
}

/** What joins read, with the rows that the database finds. */
function test_joins(): void {
	$rows = array(
		"SELECT DISTINCT `id` FROM `wp_posts` WHERE (post_type IN ('page')) AND `id` IS NOT NULL LIMIT 501" => array( '5', '6' ),
		"SELECT DISTINCT `id` FROM `wp_posts` WHERE (post_type IN ('none')) AND `id` IS NOT NULL LIMIT 501" => array(),
		"SELECT DISTINCT `term_taxonomy_id` FROM `wp_term_relationships` WHERE (object_id IN (5,6)) AND `term_taxonomy_id` IS NOT NULL LIMIT 501" => array( '4' ),
		"SELECT DISTINCT `meta_value` FROM `wp_postmeta` WHERE (post_id IN ('5')) AND `meta_value` IS NOT NULL LIMIT 501" => array( '7a' ),
	);
	\Svc\Connector\Joins::$find = static function ( string $sql ) use ( $rows ) {
		return $rows[ $sql ] ?? null;
	};
	$posts = 'SELECT p.ID FROM wp_posts p INNER JOIN wp_term_relationships r ON (p.ID = r.object_id) LEFT JOIN wp_term_taxonomy tt ON r.term_taxonomy_id = tt.term_taxonomy_id AND tt.count > 0';
	foreach (
		array(
			"$posts WHERE p.post_type = 'page'"   => 'term_relationships/5 term_relationships/6 term_taxonomy/4',
			"$posts WHERE p.post_type = 'none'"   => '',
			"$posts WHERE p.post_type = 'other'"  => 'term_relationships term_taxonomy',
			"SELECT * FROM wp_posts p, wp_postmeta m WHERE p.ID = m.post_id AND p.post_type = 'page'" => 'postmeta/5 postmeta/6',
			"SELECT * FROM wp_posts p JOIN wp_postmeta m ON p.ID = m.post_id OR m.meta_key = 'a' WHERE p.post_type = 'page'" => 'none',
			"SELECT * FROM wp_posts p RIGHT JOIN wp_postmeta m ON p.ID = m.post_id WHERE p.post_type = 'page'" => 'none',
			"SELECT * FROM wp_posts p JOIN wp_comments c ON p.post_title = 'a' LEFT JOIN wp_users u ON p.ID = c.comment_ID WHERE p.post_type = 'page'" => 'none',
			// No number, so that the database compares it in its own way.
			"SELECT * FROM wp_postmeta m JOIN wp_posts p ON m.meta_value = p.ID WHERE m.post_id = 5" => 'posts',
			// A table of a plugin, if there are pages.
			"SELECT * FROM wp_posts p JOIN wp_orders o ON o.post = p.ID WHERE p.post_type = 'page'" => 'orders',
			"SELECT * FROM wp_posts p JOIN wp_orders o ON o.post = p.ID WHERE p.post_type = 'none'" => '',
		) as $sql => $right
	) {
		$joins = \Svc\Connector\Read::of( $sql )->joins;
		$found = $joins ? implode( ' ', \Svc\Connector\Joins::names( $joins[0] ) ) : 'none';
		check( $sql, $found, $right );
	}
}

/** Long statements. */
function test_sizes(): void {
	$long = str_repeat( "it''s \\\"a\\\" text \\\\ ", 200000 );
	check( 'a long text', names( "INSERT INTO `wp_posts` (`post_content`, `post_type`) VALUES ('$long', 'page')" ), 'writes posts?page +posts' );
	check( 'a long text before the condition', names( "UPDATE `wp_posts` SET `post_content` = '$long' WHERE `ID` = 9" ), 'writes posts/9 posts?post' );
	check( 'a long text in a condition', names( "DELETE FROM wp_postmeta WHERE meta_value = '$long'" ), 'writes postmeta' );
	check( 'a long identity', names( "UPDATE wp_options SET option_value = '1' WHERE option_name = '" . str_repeat( 'a', 300 ) . "'" ), 'writes options/_transient_a options?off' );
	check( 'many rows', names( 'INSERT INTO wp_postmeta (post_id, meta_key) VALUES ' . implode( ',', array_fill( 0, 50000, "(5,'a')" ) ) ), 'writes postmeta' );
	check( 'many rows of an unknown statement', names( 'MERGE INTO wp_postmeta VALUES ' . implode( ',', array_fill( 0, 50000, "(5,'a')" ) ) ), 'writes *' );
	check( 'many ids', names( 'SELECT * FROM wp_posts WHERE ID IN (' . implode( ',', range( 1, 600 ) ) . ')' ), 'reads posts' );
	check( 'too many ids', names( 'SELECT * FROM wp_posts WHERE ID IN (' . implode( ',', range( 1, 60000 ) ) . ')' ), 'unstable: a statement that cannot be read' );
	check( 'nested parentheses', names( 'SELECT 1 FROM wp_posts WHERE ' . str_repeat( '(', 2000 ) . 'ID = 5' . str_repeat( ')', 2000 ) ), 'reads posts/5' );
	check( 'a text that does not end', names( "UPDATE wp_posts SET post_title = 'a WHERE ID = 5" ), 'writes *' );
	check( 'the time', names( "SELECT ID FROM wp_posts WHERE post_date < '" . gmdate( 'Y-m-d H:i:s' ) . "'" ), 'reads posts and the clock' );
	check( 'the time that is selected', names( 'SELECT ID, ' . time() . ' FROM wp_posts' ), 'unstable: the time in a statement' );
	check( 'another time', names( "SELECT ID FROM wp_posts WHERE post_date < '2024-01-01 00:00:00'" ), 'reads posts' );
	check( 'the time as a number', names( 'SELECT option_name FROM wp_options WHERE option_value < ' . time() ), 'reads options and the clock' );
	foreach ( array( 8, 15, 8 ) as $id ) {
		check( "the same statement about $id", names( "SELECT * FROM wp_comments WHERE comment_ID IN ($id, 9) LIMIT $id" ), "reads comments/$id comments/9" );
	}
	foreach ( array( '7', '07', '7e1', '7.5', '-7', "'7'", "'7a'", '0x7' ) as $i => $number ) {
		check( "the number $number", names( "SELECT * FROM wp_posts WHERE ID = $number" ), in_array( $i, array( 0, 1, 5 ), true ) ? 'reads posts/7' : ( 6 === $i ? 'reads posts#id=7a' : 'reads posts' ) );
	}
}

/** Sends a request. Returns the status, the body, and the header of a record. */
function send( string $url, string $method, array $headers, string $body = '' ): array {
	$http = array(
		'method'          => $method,
		'header'          => array_merge( array( 'Content-Type: application/json', 'Connection: close' ), $headers ),
		'ignore_errors'   => true,
		'follow_location' => 0,
	);
	if ( 'POST' === $method ) {
		$http['content'] = $body;
	}
	$content = (string) file_get_contents( $url, false, stream_context_create( array( 'http' => $http ) ) );
	preg_match( '/ ([0-9]{3})/', $http_response_header[0], $status );
	$record = preg_replace( '/^x-svc-record: /i', '', implode( '', preg_grep( '/^x-svc-record: /i', $http_response_header ) ) );
	return array( (int) $status[1], $content, $record );
}

/** Sends an operation. */
function operate( string $url, string $body, ?string $header, string $method = 'POST' ): array {
	return send( "$url/?svc-connector=1", $method, null === $header ? array() : array( "X-Svc-Connector: $header" ), $body );
}

/** The header of an operation. */
function signed( string $secret, string $body, int $time, ?string $nonce = null ): string {
	$nonce = $nonce ?? bin2hex( random_bytes( 16 ) );
	return "$time.$nonce." . hash_hmac( 'sha256', "svc-connector\n$time\n$nonce\n" . hash( 'sha256', $body ), $secret );
}

/** Asks for a record. Returns the status, the body, and the record; null if there is none. */
function recorded( string $url, string $path, string $secret, int $time, string $method = 'GET', ?string $signed_path = null ): array {
	$nonce     = bin2hex( random_bytes( 16 ) );
	$signature = hash_hmac( 'sha256', "svc-record\n$time\n$nonce\n$method\n" . ( $signed_path ?? $path ), $secret );

	list( $status, $body, $header ) = send( $url . $path, $method, array( "X-Svc-Record: $time.$nonce.$signature" ) );
	if ( '' === $header ) {
		return array( $status, $body, null );
	}
	if ( 'HEAD' === $method ) {
		list( $json, $signature ) = explode( '.', $header );
		$json                     = base64_decode( $json );
	} else {
		$length    = (int) substr( $body, 0, 8 );
		$signature = substr( $body, 8, 64 );
		$json      = substr( $body, 73, $length );
		$body      = substr( $body, 73 + $length );
	}
	check( "the signature of $path", $signature, hash_hmac( 'sha256', "svc-recorded\n$nonce\n$json", $secret ) );
	return array( $status, $body, json_decode( $json, true ) );
}

function test_requests( string $url, string $secret ): void {
	$contains = static function ( string $name, array $response, int $status, string $text ): void {
		check( $name, array( $response[0], false !== strpos( $response[1], $text ) ? $text : substr( $response[1], 0, 200 ) ), array( $status, $text ) );
	};

	$body = '{"operation":"status"}';
	$now  = time();
	$contains( 'a signed request', operate( $url, $body, signed( $secret, $body, $now ) ), 200, '"reports":"ok"' );
	$contains( 'no signature', operate( $url, $body, null ), 403, 'not signed' );
	$contains( 'another secret', operate( $url, $body, signed( strrev( $secret ), $body, $now ) ), 403, 'not signed' );
	$contains( 'another body', operate( $url, '{"operation":"other"}', signed( $secret, $body, $now ) ), 403, 'not signed' );
	$contains( 'another time', operate( $url, $body, preg_replace( '/^[0-9]+/', (string) ( $now + 1 ), signed( $secret, $body, $now ) ) ), 403, 'not signed' );
	$contains( 'a nonce of another form', operate( $url, $body, signed( $secret, $body, $now, "' OR 1=1 --" ) ), 403, 'not signed' );
	$contains( 'an old request', operate( $url, $body, signed( $secret, $body, $now - 120 ) ), 403, 'expired' );
	$contains( 'a request of the future', operate( $url, $body, signed( $secret, $body, $now + 120 ) ), 403, 'expired' );
	$contains( 'an unknown operation', operate( $url, '{"operation":"x"}', signed( $secret, '{"operation":"x"}', $now ) ), 400, 'unknown operation' );
	$contains( 'no operation', operate( $url, '[]', signed( $secret, '[]', $now ) ), 400, 'JSON object' );
	$large = '{"operation":"' . str_repeat( 'x', 70000 ) . '"}';
	$contains( 'a large body', operate( $url, $large, signed( $secret, $large, $now ) ), 403, 'not signed' );
	$get = operate( $url, '', signed( $secret, '', $now ), 'GET' );
	check( 'GET is the site itself', strpos( $get[1], '"reports"' ), false );

	foreach ( array( '/wp-json/', '/wp-json/wp/v2/posts?per_page=2', '/wp-json/wp/v2/posts/999999999' ) as $path ) {
		list( $status, $plain )            = send( $url . $path, 'GET', array() );
		list( $same, $body, $record ) = recorded( $url, $path, $secret, $now );
		check( "the response of $path", array( $same, $body ), array( $status, $plain ) );
		check( "the record of $path", array( $record['v'] ?? 0, $record['store'] ?? null, $record['user'] ?? null, in_array( 'options/home', $record['names'] ?? array(), true ) ), array( 1, true, 0, true ) );
	}
	list( , , $record ) = recorded( $url, '/wp-json/wp/v2/posts/999999999', $secret, $now, 'HEAD' );
	check( 'a post that is missing', array( in_array( 'posts/999999999', $record['names'] ?? array(), true ), in_array( 'posts', $record['names'] ?? array(), true ) ), array( true, false ) );
	foreach ( array(
		'an old signature' => recorded( $url, '/wp-json/', $secret, $now - 120 ),
		'another secret'   => recorded( $url, '/wp-json/', strrev( $secret ), $now ),
		'another path'     => recorded( $url, '/wp-json/', $secret, $now, 'GET', '/' ),
		'another method'   => recorded( $url, '/wp-json/', $secret, $now, 'OPTIONS' ),
	) as $name => $response ) {
		check( "no record: $name", array( $response[0], $response[2] ), array( 200, null ) );
	}
}

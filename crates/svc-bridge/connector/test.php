<?php
/**
 * Tests the plugin.
 *
 * php test.php                    the names of the writes in statements.txt, and of options that are loaded together, without WordPress
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
	define( 'WP_CONTENT_DIR', __DIR__ );
	function is_multisite() {
		return true;
	}
	require __DIR__ . '/svc-connector.php';
	test_statements( 'names' === ( $argv[1] ?? '' ) );
	test_sizes();
	test_ages();
	require __DIR__ . '/test_options.php';
	test_options();
}
echo $failed ? "$failed failed\n" : "ok\n";
exit( $failed ? 1 : 0 );

/** When WordPress would write the next time of use of an application password, after this one. */
function test_ages(): void {
	define( 'DAY_IN_SECONDS', 86400 );
	$until = new ReflectionProperty( Svc\Connector\Record::class, 'until' );
	$until->setAccessible( true );
	$used = time() - 3600;
	foreach ( array(
		'never used before'     => array( null, null ),
		'used two days ago'     => array( $used - 2 * DAY_IN_SECONDS, null ),
		'used today'            => array( $used, $used + DAY_IN_SECONDS ),
		'used almost a day ago' => array( $used - 82000, $used - 82000 + DAY_IN_SECONDS ),
	) as $what => list( $last, $right ) ) {
		$until->setValue( null, null );
		Svc\Connector\Record::password( null, array( 'last_used' => $last ) );
		check( "an application password $what", $until->getValue(), $right );
	}
	$until->setValue( null, null );
}

/** Rows as the database would find them, for statements that do not name what they write. */
function find( string $sql ): ?array {
	$rows = array(
		'posts'              => array( '5', 'post', '0', 'b', '1' ),
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
	if ( 0 === strpos( $sql, 'SELECT DISTINCT autoload' ) ) {
		$rows['options'] = array( 'off' );
	}
	if ( false !== strpos( $sql, "'revision'" ) ) {
		$rows['posts'] = array( '6', 'revision', '5', '5-revision-v1', '1' );
	}
	return preg_match( '/FROM\s+(?:\w+\.)?`?wp_(\w+)/', $sql, $table ) && isset( $rows[ $table[1] ] ) ? array( $rows[ $table[1] ] ) : null;
}

/** What the plugin finds in a statement. */
function names( string $sql ): string {
	$write = \Svc\Connector\Write::of( $sql, 'find' );
	return $write ? rtrim( 'writes ' . implode( ' ', $write->names ) . ( $write->inserts ? " +$write->inserts" : '' ) ) : 'reads';
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
	if ( ! $is_printed && $count < 140 ) {
		check( 'number of statements', $count, 'at least 140' );
	}
}

/** Long statements. */
function test_sizes(): void {
	$long = str_repeat( "it''s \\\"a\\\" text \\\\ ", 200000 );
	check( 'a long text', names( "INSERT INTO `wp_posts` (`post_content`, `post_type`) VALUES ('$long', 'page')" ), 'writes posts?page slugs/ +posts' );
	check( 'a long text before the condition', names( "UPDATE `wp_posts` SET `post_content` = '$long' WHERE `ID` = 9" ), 'writes posts/9 posts?post slugs/b' );
	check( 'a long text in a condition', names( "DELETE FROM wp_postmeta WHERE meta_value = '$long'" ), 'writes postmeta' );
	check( 'a long identity', names( "UPDATE wp_options SET option_value = '1' WHERE option_name = '" . str_repeat( 'a', 300 ) . "'" ), 'writes options' );
	check( 'many rows', names( 'INSERT INTO wp_postmeta (post_id, meta_key) VALUES ' . implode( ',', array_fill( 0, 50000, "(5,'a')" ) ) ), 'writes postmeta' );
	check( 'many rows of an unknown statement', names( 'MERGE INTO wp_postmeta VALUES ' . implode( ',', array_fill( 0, 50000, "(5,'a')" ) ) ), 'writes *' );
	check( 'a text that does not end', names( "UPDATE wp_posts SET post_title = 'a WHERE ID = 5" ), 'writes *' );
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
		$json                     = gzuncompress( base64_decode( $json ) );
	} else {
		$length    = (int) substr( $body, 0, 8 );
		$signature = substr( $body, 8, 64 );
		$json      = substr( $body, 73, $length );
		$body      = substr( $body, 73 + $length );
	}
	check( "the signature of $path", $signature, hash_hmac( 'sha256', "svc-recorded\n$nonce", $secret ) );
	return array( $status, $body, json_decode( $json, true ) );
}

function test_requests( string $url, string $secret ): void {
	$contains = static function ( string $name, array $response, int $status, string $text ): void {
		check( $name, array( $response[0], false !== strpos( $response[1], $text ) ? $text : substr( $response[1], 0, 200 ) ), array( $status, $text ) );
	};

	$body = '{"operation":"status"}';
	$now  = time();
	$status = operate( $url, $body, signed( $secret, $body, $now ) );
	$contains( 'a signed request', $status, 200, '"reports":"ok"' );
	$code    = json_decode( $status[1], true )['code'] ?? array();
	$folders = array_merge( $code['deep'] ?? array(), $code['flat'] ?? array() );
	foreach ( array( '/wp-includes', '/wp-content/plugins', '/wp-content/mu-plugins', '/wp-content/themes', '/wp-content' ) as $folder ) {
		check( "the folder $folder", (bool) preg_grep( "~$folder$~", $folders ), true );
	}
	check( 'all folders exist', array_filter( $folders, 'is_dir' ), $folders );
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
		check( "the record of $path", array( $record['v'] ?? 0, $record['store'] ?? null, $record['user'] ?? null, in_array( 'home', $record['options'] ?? array(), true ) ), array( 2, true, 0, true ) );
	}
	list( , , $record ) = recorded( $url, '/wp-json/wp/v2/posts/999999999', $secret, $now, 'HEAD' );
	check( 'a post that is missing', preg_grep( '/ID = 999999999 /', $record['sql'] ?? array() ) ? true : $record, true );
	foreach ( array(
		'an old signature' => recorded( $url, '/wp-json/', $secret, $now - 120 ),
		'another secret'   => recorded( $url, '/wp-json/', strrev( $secret ), $now ),
		'another path'     => recorded( $url, '/wp-json/', $secret, $now, 'GET', '/' ),
		'another method'   => recorded( $url, '/wp-json/', $secret, $now, 'OPTIONS' ),
	) as $name => $response ) {
		check( "no record: $name", array( $response[0], $response[2] ), array( 200, null ) );
	}
}

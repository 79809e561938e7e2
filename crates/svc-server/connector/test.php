<?php
/**
 * Tests the plugin on a running WordPress: php test.php URL SECRET_FILE
 *
 * The plugin must be installed there with the secret of the file. Prints a line per test; exits with 1 if one fails.
 */

list( , $url, $file ) = array_pad( $argv, 3, '' );
if ( '' === $file ) {
	fwrite( STDERR, "php test.php URL SECRET_FILE\n" );
	exit( 2 );
}
$secret = include $file;
$failed = 0;

/** Sends a request. Returns the status and the body. */
function send( string $url, string $body, ?string $header, string $method = 'POST' ): array {
	$headers = array( 'Content-Type: application/json', 'Connection: close' );
	if ( null !== $header ) {
		$headers[] = 'X-Svc-Connector: ' . $header;
	}
	$http = array( 'method' => $method, 'header' => $headers, 'ignore_errors' => true, 'follow_location' => 0 );
	if ( 'POST' === $method ) {
		$http['content'] = $body;
	}
	$content = (string) file_get_contents( rtrim( $url, '/' ) . '/?svc-connector=1', false, stream_context_create( array( 'http' => $http ) ) );
	preg_match( '/ ([0-9]{3})/', $http_response_header[0], $status );
	return array( (int) $status[1], $content );
}

/** The header of a request. */
function signed( string $secret, string $body, int $time, ?string $nonce = null ): string {
	$nonce = $nonce ?? substr( bin2hex( random_bytes( 16 ) ), 0, 32 );
	return "$time.$nonce." . hash_hmac( 'sha256', "svc-connector\n$time\n$nonce\n" . hash( 'sha256', $body ), $secret );
}

/** Compares the status, and a text in the body. */
function check( string $name, array $response, int $status, string $text ): void {
	$is_right = $response[0] === $status && false !== strpos( $response[1], $text );
	echo ( $is_right ? 'ok    ' : 'FAIL  ' ) . $name . ( $is_right ? '' : ": {$response[0]} " . substr( $response[1], 0, 200 ) ) . "\n";
	$GLOBALS['failed'] += $is_right ? 0 : 1;
}

$body = '{"operation":"registrations"}';
$now  = time();

check( 'a signed request', send( $url, $body, signed( $secret, $body, $now ) ), 200, '"types":' );
$replayed = signed( $secret, $body, $now );
check( 'a request that is sent once', send( $url, $body, $replayed ), 200, '"meta":' );
check( 'the same request again', send( $url, $body, $replayed ), 403, 'sent before' );
check( 'no signature', send( $url, $body, null ), 403, 'not signed' );
check( 'another secret', send( $url, $body, signed( strrev( $secret ), $body, $now ) ), 403, 'not signed' );
check( 'another body', send( $url, '{"operation":"other"}', signed( $secret, $body, $now ) ), 403, 'not signed' );
check( 'another time', send( $url, $body, preg_replace( '/^[0-9]+/', (string) ( $now + 1 ), signed( $secret, $body, $now ) ) ), 403, 'not signed' );
check( 'a header of another form', send( $url, $body, signed( $secret, $body, $now, "a\tb" ) ), 403, 'not signed' );
check( 'a nonce of another form', send( $url, $body, signed( $secret, $body, $now, "' OR 1=1 --" ) ), 403, 'not signed' );
check( 'an old request', send( $url, $body, signed( $secret, $body, $now - 120 ) ), 403, 'expired' );
check( 'a request of the future', send( $url, $body, signed( $secret, $body, $now + 120 ) ), 403, 'expired' );
check( 'an unknown operation', send( $url, '{"operation":"x"}', signed( $secret, '{"operation":"x"}', $now ) ), 400, 'unknown operation' );
check( 'no operation', send( $url, '[]', signed( $secret, '[]', $now ) ), 400, 'JSON object' );
$large = '{"operation":"' . str_repeat( 'x', 70000 ) . '"}';
check( 'a large body', send( $url, $large, signed( $secret, $large, $now ) ), 403, 'not signed' );
$get = send( $url, '', signed( $secret, '', $now ), 'GET' );
check( 'GET is the site itself', array( false === strpos( $get[1], '"types":' ) ? 200 : 0, 'site' ), 200, 'site' );
$secret_page = (string) @file_get_contents( rtrim( $url, '/' ) . '/' . basename( $file ) );
check( 'the secret is not sent', array( false === strpos( $secret_page, $secret ) ? 200 : 0, 'hidden' ), 200, 'hidden' );
exit( $failed ? 1 : 0 );

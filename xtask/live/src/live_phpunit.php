<?php
/**
 * Sends the requests of WordPress's own PHPUnit tests of its REST API to a server. `live_phpunit.rs` runs it.
 *
 * It is PHPUnit's bootstrap file and its extension. With PHP's web server it is the router script, which serves WordPress itself on
 * the same site, so that both servers are tested in the same way.
 *
 * The tests call WordPress's functions in their own process to create posts and users, and to look at what a request has changed. So
 * before each request what they have written is committed, after it WordPress's cache is emptied, and after each test the tables are
 * put back.
 *
 * Environment variables: SVC_PHPUNIT_CONFIG, the site's wp-config.php; SVC_PHPUNIT_TESTS, the folder `tests/phpunit` of WordPress;
 * SVC_PHPUNIT_POLYFILLS, the folder of PHPUnit Polyfills; SVC_PHPUNIT_PROGRAM, the program that serves the site, or nothing if that is
 * WordPress; SVC_PHPUNIT_RESULTS, a file to which a line of JSON is added for each test.
 */

require __DIR__ . '/live_phpunit_registrations.php';

if ( PHP_SAPI === 'cli-server' ) {
	$_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = '/index.php';
	require getenv( 'SVC_PHPUNIT_CONFIG' );
	require ABSPATH . 'wp-settings.php';
	Svc_Phpunit_Registrations::register( json_decode( file_get_contents( dirname( getenv( 'SVC_PHPUNIT_CONFIG' ) ) . '/registrations.json' ), true ) );
	wp();
	http_response_code( 404 );
	return;
}

/** The tables of the site, and copies of them in databases next to it. The connection is not that of WordPress. */
final class Svc_Phpunit_Tables {
	private mysqli $db;

	public function __construct( private string $prefix ) {
		mysqli_report( MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT );
		list( $host, $socket ) = explode( ':', DB_HOST, 2 );
		$this->db              = new mysqli( $host, DB_USER, DB_PASSWORD, null, 0, $socket );
	}

	public function query( string $sql ) {
		return $this->db->query( $sql );
	}

	/** Whether there is a copy with this name. */
	public function has( string $copy ): bool {
		return $this->query( "SHOW DATABASES LIKE '" . DB_NAME . "_$copy'" )->num_rows > 0;
	}

	/** Updates a copy. */
	public function save( string $copy ): void {
		$this->query( 'CREATE DATABASE IF NOT EXISTS ' . DB_NAME . "_$copy" );
		$this->copy( DB_NAME, DB_NAME . "_$copy" );
	}

	/** Puts the tables back as they are in a copy. */
	public function restore( string $copy ): void {
		$this->copy( DB_NAME . "_$copy", DB_NAME );
	}

	/** Copies the tables that differ. */
	private function copy( string $from, string $to ): void {
		$tables = array();
		foreach ( $this->query( "SHOW TABLES FROM `$from`" )->fetch_all() as list( $table ) ) {
			if ( str_starts_with( $table, $this->prefix ) && ! str_starts_with( $table, "{$this->prefix}svc_" ) ) {
				$this->query( "CREATE TABLE IF NOT EXISTS `$to`.`$table` LIKE `$from`.`$table`" );
				$tables[] = $table;
			}
		}
		$sums = fn( $in ) => $this->query( 'CHECKSUM TABLE ' . implode( ',', array_map( fn( $t ) => "`$in`.`$t`", $tables ) ) )->fetch_all();
		foreach ( array_map( null, $tables, $sums( $from ), $sums( $to ) ) as list( $table, $ours, $theirs ) ) {
			if ( $ours[1] !== $theirs[1] ) {
				$this->db->begin_transaction();
				$this->query( "DELETE FROM `$to`.`$table`" );
				$this->query( "INSERT INTO `$to`.`$table` SELECT * FROM `$from`.`$table`" );
				$this->db->commit();
			}
		}
	}
}

/** The server that gets the requests. */
final class Svc_Phpunit_Server {
	/** Host and port. */
	public readonly string $address;
	private Svc_Phpunit_Registrations $registrations;
	private string $registered = '';
	private $process           = null;

	/** The program is that of the server, or nothing if WordPress serves. */
	public function __construct( private string $program ) {
		$socket              = stream_socket_server( 'tcp://127.0.0.1:0' );
		$this->address       = stream_socket_get_name( $socket, false );
		$this->registrations = new Svc_Phpunit_Registrations();
	}

	/** Lets the server have the registrations of this process. It is started again if they have changed; WordPress reads them itself. */
	public function update(): void {
		$data   = $this->registrations->collect();
		$text   = json_encode( $data );
		$folder = dirname( WP_TESTS_CONFIG_FILE_PATH );
		if ( $text === $this->registered ) {
			return;
		}
		$this->registered = $text;
		file_put_contents( "$folder/registrations.json", $text );
		file_put_contents( "$folder/svc.toml", "wrong_application_password = \"anonymous\"\nappend_root_link = false\n" . Svc_Phpunit_Registrations::toml( $data ) );
		if ( $this->program ) {
			$this->stop();
			$this->start( array( $this->program, '--wp-config', WP_TESTS_CONFIG_FILE_PATH, '--listen', $this->address, '--log', 'warn', 'serve' ), array() );
		} elseif ( ! $this->process ) {
			$limits = array( '-d', 'opcache.enable_cli=1', '-d', 'display_errors=0', '-d', 'upload_max_filesize=64M', '-d', 'post_max_size=64M' );
			$this->start( array( PHP_BINARY, ...$limits, '-S', $this->address, __FILE__ ), null );
		}
	}

	private function start( array $command, ?array $variables ): void {
		$log           = array( 'file', getenv( 'SVC_PHPUNIT_RESULTS' ) . '.server.log', 'a' );
		$this->process = proc_open( $command, array( array( 'file', '/dev/null', 'r' ), $log, $log ), $pipes, dirname( WP_TESTS_CONFIG_FILE_PATH ), $variables );
		for ( $n = 0; ! @fsockopen( "tcp://{$this->address}" ); $n++ ) {
			if ( $n > 3000 || ! proc_get_status( $this->process )['running'] ) {
				throw new Exception( 'the server does not start' );
			}
			usleep( 10000 );
		}
	}

	public function stop(): void {
		if ( $this->process ) {
			proc_terminate( $this->process, SIGKILL );
			proc_close( $this->process );
		}
	}
}

/** Sends requests to the server. */
final class Svc_Phpunit_Client {
	/** Number of requests since the test began. */
	public int $n_requests = 0;

	public function __construct( private Svc_Phpunit_Server $server, private Svc_Phpunit_Tables $tables ) {}

	/** The filter `rest_pre_dispatch`. */
	public function dispatch( $response, $server, WP_REST_Request $request ) {
		global $wpdb;
		if ( null !== $response ) {
			return $response;
		}
		++$this->n_requests;
		mysqli_query( $wpdb->dbh, 'COMMIT' );
		$this->server->update();
		$user    = get_current_user_id() ? get_userdata( get_current_user_id() ) : false;
		$headers = $user ? $this->log_in( $user->ID ) : array();
		$answer  = $this->send( $request, $headers );
		if ( $user ) {
			$this->tables->query( "DELETE FROM {$wpdb->usermeta} WHERE meta_key = 'session_tokens' AND user_id = {$user->ID}" );
		}
		mysqli_query( $wpdb->dbh, 'COMMIT' );
		wp_cache_flush();
		return $answer;
	}

	/** Stores a session of the user. Returns the headers of its cookie and nonce. */
	private function log_in( int $user ): array {
		global $wpdb;
		$wpdb_table = DB_NAME . '.' . $wpdb->usermeta;
		$token      = str_repeat( 't', 43 );
		$until      = time() + DAY_IN_SECONDS;
		$session    = serialize( array( hash( 'sha256', $token ) => array( 'expiration' => $until, 'login' => time() ) ) );
		$this->tables->query( "INSERT INTO $wpdb_table (user_id, meta_key, meta_value) VALUES ($user, 'session_tokens', '$session')" );
		$nonce = substr( wp_hash( wp_nonce_tick( 'wp_rest' ) . "|wp_rest|$user|$token", 'nonce' ), -12, 10 );
		return array( 'Cookie: ' . LOGGED_IN_COOKIE . '=' . rawurlencode( wp_generate_auth_cookie( $user, $until, 'logged_in', $token ) ), "X-WP-Nonce: $nonce" );
	}

	private function send( WP_REST_Request $request, array $headers ): WP_REST_Response {
		$query         = array( 'rest_route' => $request->get_route() ) + $request->get_query_params();
		list( $type, $body ) = $this->body( $request, $query );
		foreach ( $request->get_headers() as $name => $values ) {
			if ( ! in_array( $name, array( 'content_type', 'content_length', 'host' ), true ) ) {
				$headers[] = strtr( ucwords( $name, '_' ), '_', '-' ) . ': ' . implode( ',', $values );
			}
		}
		array_push( $headers, 'Host: ' . WP_TESTS_DOMAIN, 'Connection: close' );
		if ( '' !== $body ) {
			$headers[] = "Content-Type: $type";
		}
		$http = array( 'method' => $request->get_method(), 'header' => $headers, 'content' => $body, 'protocol_version' => 1.1, 'ignore_errors' => true, 'follow_location' => 0, 'timeout' => 60 );
		$text = file_get_contents( "http://{$this->server->address}/?" . http_build_query( $query ), false, stream_context_create( array( 'http' => $http ) ) );
		// Of `HEAD`, WordPress's own process has an empty list.
		return $this->response( 'HEAD' === $request->get_method() ? '[]' : $text, $http_response_header );
	}

	/** Type and bytes of the body. Parameters are JSON, so that they keep their types. */
	private function body( WP_REST_Request $request, array &$query ): array {
		$type   = $request->get_header( 'content_type' ) ?? '';
		$raw    = $request->get_body() ?? '';
		$params = in_array( $request->get_method(), array( 'POST', 'PUT', 'PATCH', 'DELETE' ), true ) ? $request->get_body_params() : array();
		if ( $request->get_file_params() ) {
			return $this->multipart( $request->get_file_params(), $params );
		}
		if ( '' !== $raw && $request->is_json_content_type() ) {
			$set = $request->get_json_params();
			return array( $type, null === $set || json_decode( $raw, true ) === $set ? $raw : json_encode( $set ) );
		}
		if ( '' !== $raw ) {
			$query += $params;
			return array( $type, $raw );
		}
		$params += $request->get_json_params() ?? array();
		$json    = $params ? json_encode( $params, JSON_PRESERVE_ZERO_FRACTION ) : '';
		return false === $json ? array( 'application/x-www-form-urlencoded', http_build_query( $params ) ) : array( 'application/json', $json );
	}

	private function multipart( array $files, array $params ): array {
		$parts = array();
		foreach ( array_filter( explode( '&', http_build_query( $params ) ) ) as $pair ) {
			list( $name, $value ) = array_map( 'urldecode', explode( '=', $pair, 2 ) );
			$parts[]              = "name=\"$name\"\r\n\r\n$value";
		}
		foreach ( $files as $name => $file ) {
			$type    = $file['type'] ?? 'application/octet-stream';
			$parts[] = "name=\"$name\"; filename=\"{$file['name']}\"\r\nContent-Type: $type\r\n\r\n" . file_get_contents( $file['tmp_name'] );
		}
		$body = implode( '', array_map( fn( $part ) => "--svcphpunit\r\nContent-Disposition: form-data; $part\r\n", $parts ) );
		return array( 'multipart/form-data; boundary=svcphpunit', "$body--svcphpunit--\r\n" );
	}

	/** The response as the server's own process has it: numbers in headers, links next to the data. */
	private function response( $text, array $lines ): WP_REST_Response {
		$response = new WP_REST_Response( json_decode( (string) $text, true ), (int) explode( ' ', $lines[0] )[1] );
		foreach ( array_slice( $lines, 1 ) as $line ) {
			list( $name, $value ) = array_map( 'trim', explode( ':', $line, 2 ) );
			$name                 = str_replace( 'Wp-', 'WP-', ucwords( strtolower( $name ), '-' ) );
			$is_root              = 'Link' === $name && preg_match( '/^[^,]*rel="https:\/\/api\.w\.org\/"$/', $value );
			if ( ! $is_root && in_array( $name, array( 'Allow', 'Link', 'Location', 'X-WP-Total', 'X-WP-TotalPages', 'X-WP-Totalpages' ), true ) ) {
				$name = str_replace( 'Totalpages', 'TotalPages', $name );
				$response->header( $name, ctype_digit( $value ) ? (int) $value : $value, 'Link' !== $name );
			}
		}
		$data = $response->get_data();
		if ( is_array( $data ) && isset( $data['_links'] ) ) {
			unset( $data['_links']['curies'] );
			foreach ( $data['_links'] as $relation => $links ) {
				foreach ( $links as $link ) {
					$response->add_link( preg_replace( '/^wp:/', 'https://api.w.org/', $relation ), $link['href'], array_diff_key( $link, array( 'href' => 0 ) ) );
				}
			}
			unset( $data['_links'] );
			$response->set_data( $data );
		}
		return $response;
	}
}

/** Puts the tables back after each test, and records the result. */
final class Svc_Phpunit_Extension implements PHPUnit\Runner\BeforeTestHook, PHPUnit\Runner\AfterTestHook, PHPUnit\Runner\AfterTestFailureHook, PHPUnit\Runner\AfterTestErrorHook, PHPUnit\Runner\AfterTestWarningHook, PHPUnit\Runner\AfterSkippedTestHook, PHPUnit\Runner\AfterIncompleteTestHook, PHPUnit\Runner\AfterRiskyTestHook {
	public static Svc_Phpunit_Tables $tables;
	public static Svc_Phpunit_Client $client;
	private array $result = array();

	public function executeBeforeTest( string $test ): void {
		$this->result = array( 'outcome' => 'pass', 'message' => '' );
		self::$client->n_requests = 0;
		self::$tables->save( 'before' );
	}

	public function executeAfterTestFailure( string $test, string $message, float $time ): void {
		$this->result = array( 'outcome' => 'fail', 'message' => $message );
	}

	public function executeAfterTestError( string $test, string $message, float $time ): void {
		$this->executeAfterTestFailure( $test, $message, $time );
	}

	public function executeAfterTestWarning( string $test, string $message, float $time ): void {
		$this->executeAfterTestFailure( $test, $message, $time );
	}

	public function executeAfterRiskyTest( string $test, string $message, float $time ): void {
		$this->executeAfterTestFailure( $test, $message, $time );
	}

	public function executeAfterSkippedTest( string $test, string $message, float $time ): void {
		$this->result = array( 'outcome' => 'skip', 'message' => $message );
	}

	public function executeAfterIncompleteTest( string $test, string $message, float $time ): void {
		$this->executeAfterSkippedTest( $test, $message, $time );
	}

	public function executeAfterTest( string $test, float $time ): void {
		if ( self::$client->n_requests ) {
			self::$tables->restore( 'before' );
		}
		$line = array( 'test' => $test, 'requests' => self::$client->n_requests ) + $this->result;
		file_put_contents( getenv( 'SVC_PHPUNIT_RESULTS' ), json_encode( $line, JSON_INVALID_UTF8_SUBSTITUTE ) . "\n", FILE_APPEND );
	}
}

define( 'WP_RUN_CORE_TESTS', true );
define( 'WP_TESTS_CONFIG_FILE_PATH', getenv( 'SVC_PHPUNIT_CONFIG' ) );
define( 'WP_TESTS_PHPUNIT_POLYFILLS_PATH', getenv( 'SVC_PHPUNIT_POLYFILLS' ) );
require WP_TESTS_CONFIG_FILE_PATH;
Svc_Phpunit_Extension::$tables = new Svc_Phpunit_Tables( $table_prefix );
if ( Svc_Phpunit_Extension::$tables->has( 'installed' ) ) {
	Svc_Phpunit_Extension::$tables->restore( 'installed' );
	putenv( 'WP_TESTS_SKIP_INSTALL=1' );
}
require getenv( 'SVC_PHPUNIT_TESTS' ) . '/includes/bootstrap.php';
if ( ! Svc_Phpunit_Extension::$tables->has( 'installed' ) ) {
	Svc_Phpunit_Extension::$tables->save( 'installed' );
}
$server = new Svc_Phpunit_Server( getenv( 'SVC_PHPUNIT_PROGRAM' ) );
register_shutdown_function( array( $server, 'stop' ) );
Svc_Phpunit_Extension::$client = new Svc_Phpunit_Client( $server, Svc_Phpunit_Extension::$tables );
add_filter( 'rest_pre_dispatch', array( Svc_Phpunit_Extension::$client, 'dispatch' ), PHP_INT_MAX, 3 );

<?php
/**
 * Title: A note beside the text
 * Slug: paper/note
 * Description: A paragraph set apart by a line.
 * Categories: text
 */
?>
<!-- wp:quote -->
<blockquote class="wp-block-quote"><!-- wp:paragraph -->
<p><?php esc_html_e( 'Something worth saying beside the text.', 'paper' ); ?></p>
<!-- /wp:paragraph --></blockquote>
<!-- /wp:quote -->
